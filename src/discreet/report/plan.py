"""A plan for a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from discreet.expectations import SURE, WITHIN, Expected, Forecast, Spread
from discreet.report.text import fold


def plan_text(found: Forecast) -> str:
    """Return one line a setting: what to expect, and the weakest effect that could be seen."""
    heads = ("method", "rows", "epsilon", "skeleton F1", "CPDAG F1", "seen from")
    table = [heads] + [_row(line) for line in found.expected]
    wide = [max(len(row[i]) for row in table) for i in range(len(heads))]
    lines = []
    for row in table:
        cells = [f"{cell:{'>' if i in (1, 2) else '<'}{wide[i]}}" for i, cell in enumerate(row)]
        lines.append(("  " + "  ".join(cells)).rstrip())
    return "\n".join(lines)


def _row(line: Expected) -> tuple[str, str, str, str, str, str]:
    start = (line.method, f"{line.rows:,}", f"{line.epsilon:g}")
    if line.refused is not None or line.skeleton_f1 is None or line.cpdag_f1 is None:
        return (*start, "refused", "refused", "")
    weakest = line.weakest_seen
    seen = "none" if weakest is None else "under 0.01" if weakest < 0.01 else f"{weakest:.2f}"
    return (*start, _spread(line.skeleton_f1), _spread(line.cpdag_f1), seen)


def _spread(spread: Spread) -> str:
    return f"{spread.mean:.2f} ({spread.low:.2f} to {spread.high:.2f})"


def plan_words(found: Forecast) -> str:
    """Return how the plan was made, what would be measured, and what gives reason to doubt."""
    networks = found.expected[0].networks
    kinds = len(set(found.kinds))
    errors = [2 * s.error for e in found.expected for s in (e.skeleton_f1, e.cpdag_f1) if s is not None]
    parts = [
        "Skeleton F1: how right the links are, whatever their direction (1: all found and none too many). CPDAG F1: "
        "the same with directions. Seen from: of the arrows whose ends depend on each other with Cramer's V (0: not at "
        f"all, 1: a copy) of this or more, {SURE:.0%} were found.",
        f"Simulated on {networks} networks drawn at random over the {found.columns} declared columns, of {kinds} "
        f"kinds: {_range(found.kinds)}. Nothing was read, and nothing was spent. In brackets: where {WITHIN:.0%} of "
        "the runs lie. Your table's own graph may be easier or harder than these.",
        f"The means are known to within about {max(errors):.2f}; more networks (--networks) make them surer.",
    ]
    if any(line.rows > found.simulated_rows for line in found.expected):
        parts.append(f"No more than {found.simulated_rows:,} rows were simulated: more can only show more.")
    blocks = ["\n\n".join(fold(part, "") for part in parts)]
    blocks += [_measured(e) for e in found.expected if e.steps and (e.rows, e.epsilon) == (found.rows, found.epsilon)]
    refused = [f"{_setting(line)}: {line.refused}" for line in found.expected if line.refused]
    doubts = dict.fromkeys(f"{line.method}: {doubt}" for line in found.expected for doubt in line.doubts)
    for title, points in (("Refused", refused), ("Doubts", list(doubts))):
        if points:
            blocks.append("\n".join([f"{title}:"] + [fold(f"  - {point}", "    ") for point in points]))
    return "\n\n".join(blocks)


def _setting(line: Expected) -> str:
    return f"{line.method}, {line.rows:,} rows, epsilon {line.epsilon:g}"


def _range(kinds: Sequence[str]) -> str:
    """Return the kinds by what they have in common."""
    parts = list(zip(*(kind.split(", ") for kind in kinds), strict=True))
    densities, strengths, levels = (list(dict.fromkeys(part)) for part in parts)
    arrows = " or ".join(sorted(d.split()[0] for d in densities))
    causes = " or ".join(level.split()[0] for level in levels)
    return f"{arrows} arrows a column; {' or '.join(strengths)} effects; {causes} first causes"


def _measured(line: Expected) -> str:
    """Return what a method would ask, and what each thing costs."""
    lines = [f"What {line.method} would ask at epsilon {line.epsilon:g}, {line.rows:,} rows:"]
    for step in line.steps:
        often = f"{step.times:g} times " if step.times >= 1 else f"in {step.times:.0%} of runs "
        times = "" if step.times == 1 else often
        lines.append(fold(f"  - {step.share:>5.1%} of the budget: {times}{step.what}; {step.mechanism}", "    "))
    pairs = [table for table in line.tables if len(table.columns) == 2]
    if pairs:
        low, high = min(t.share for t in pairs), max(t.share for t in pairs)
        cost = f"{low:.2%}" if math.isclose(low, high, rel_tol=0.01) else f"{low:.2%} to {high:.2%}"
        noise = max(t.noise for t in pairs)
        each = f"each of the {len(pairs)} tables of two columns costs {cost} of the budget"
        lines.append(fold(f"  In the first release {each}; its noise is at most {noise:.2g} in correlation.", "  "))
    return "\n".join(lines)
