"""A plan: as text for a terminal, and as a chart."""

from __future__ import annotations

import math
from collections.abc import Sequence

from discreet.release.expectation import SURE, WITHIN, Expected, Forecast, Spread
from discreet.report.charts import (
    Axis,
    Frame,
    Line,
    svg_band,
    svg_head,
    svg_key,
    svg_marks,
    svg_page,
    svg_stroke,
    svg_text,
)
from discreet.report.terminal import fold
from discreet.statistics.clipped import CLIPPED


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
        where = "If rows are not clipped, then in" if any(CLIPPED in step.what for step in line.steps) else "In"
        lines.append(
            fold(f"  {where} the first release {each}; its noise is at most {noise:.2g} in correlation.", "  ")
        )
    return "\n".join(lines)


COLOURS = ("#4477aa", "#ee6677", "#228833", "#aa3377", "#66ccee", "#ccbb44", "#555555", "#994455")
DASHES = ("", "8 4", "2 4", "10 4 2 4")
WIDE, TALL, LEFT, GAP = 300, 200, 64, 92
HEAD, KEY, DOWN = 84, 22, TALL + 90
SCORES = {"skeleton_f1": "Skeleton F1", "cpdag_f1": "CPDAG F1"}

Along = dict[str, list[Expected]]
"""Settings of each method that differ in one number only, in its order."""


def plan_svg(found: Forecast) -> str:
    """Return the picture."""
    methods = list(dict.fromkeys(line.method for line in found.expected))
    styles = [Line(method, "", COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)]) for i, method in enumerate(methods)]
    axes = [key for key in ("epsilon", "rows") if len(_places(_along(found, key), key)) > 1] or ["epsilon"]
    width, start = LEFT + 2 * WIDE + GAP + 24, HEAD + KEY * len(methods) + 30
    height = start + DOWN * len(axes) - 20
    title = f"What to expect: {found.columns} columns"
    words = f"Mean of {found.expected[0].networks} simulated networks; {WITHIN:.0%} of them lie in the band."
    parts = svg_head(20, title, words, size=20)
    parts += [svg_key(20, HEAD + 4 + KEY * i, style, long=38, size=14) for i, style in enumerate(styles)]
    for row, key in enumerate(axes):
        for column, score in enumerate(SCORES):
            left, top = LEFT + column * (WIDE + GAP), start + row * DOWN
            parts += _panel(found, styles, key, score, left, top)
    look = f'width="{width}" height="{height}" font-family="Helvetica, Arial, sans-serif"'
    return svg_page(title, width, height, parts, look)


def _along(found: Forecast, key: str) -> Along:
    other, held = ("rows", found.rows) if key == "epsilon" else ("epsilon", found.epsilon)
    lines: Along = {}
    for line in sorted(found.expected, key=lambda e: float(getattr(e, key))):
        if line.skeleton_f1 is not None and getattr(line, other) == held:
            lines.setdefault(line.method, []).append(line)
    return lines


def _places(lines: Along, key: str) -> list[float]:
    return sorted({float(getattr(e, key)) for same in lines.values() for e in same})


def _panel(found: Forecast, styles: Sequence[Line], key: str, score: str, left: float, top: float) -> list[str]:
    lines = _along(found, key)
    places = _places(lines, key)
    x = Axis(key, places[0], places[-1], places, log=True) if places else Axis(key, 0, 1, ())
    frame = Frame(x, Axis("", 0, 1, (0, 0.2, 0.4, 0.6, 0.8, 1)), left, left + WIDE, top, top + TALL)
    held = f"{found.rows:,} rows" if key == "epsilon" else f"epsilon {found.epsilon:g}"
    parts = [svg_text(left, top - 12, f"{SCORES[score]}, {held}", size=14, anchor="start", weight="bold")]
    parts += frame.grid(words="g" if key == "epsilon" else ",.0f")
    parts.append(svg_text(left + WIDE / 2, top + TALL + 42, key, size=13))
    for style in styles:
        spreads = [(float(getattr(e, key)), _drawn_spread(e, score)) for e in lines.get(style.label, [])]
        placed = [frame.place_between(at, s.mean, s.low, s.high) for at, s in spreads]
        parts.append(svg_band(placed, style.colour, 0.14))
        parts.append(svg_stroke([(at, mean) for at, mean, _, _ in placed], style))
        parts += svg_marks(placed, style.colour, 0.6)
    return parts


def _drawn_spread(line: Expected, score: str) -> Spread:
    spread: Spread = getattr(line, score)
    return spread
