"""A plan for a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from discreet.release.expectation import SURE, WITHIN, Expected, Forecast, Spread
from discreet.report.charts import svg_text
from discreet.report.terminal import fold


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


COLOURS = ("#4477aa", "#ee6677", "#228833", "#aa3377", "#66ccee", "#ccbb44", "#555555", "#994455")
DASHES = ("", "8 4", "2 4", "10 4 2 4")
WIDE, TALL = 300, 200
LEFT, GAP = 64, 92
HEAD, LINE = 84, 22
DOWN = TALL + 90

Lines = dict[str, list[Expected]]


def plan_svg(found: Forecast) -> str:
    """Return the picture."""
    methods = list(dict.fromkeys(line.method for line in found.expected))
    axes = [key for key in ("epsilon", "rows") if len(_places(_along(found, key), key)) > 1] or ["epsilon"]
    width = LEFT + 2 * WIDE + GAP + 24
    start = HEAD + LINE * len(methods) + 30
    height = start + DOWN * len(axes) - 20
    title = f"What to expect: {found.columns} columns"
    words = f"Mean of {found.expected[0].networks} simulated networks; {WITHIN:.0%} of them lie in the band."
    parts = [
        svg_text(20, 34, title, size=20, anchor="start", weight="bold"),
        svg_text(20, 58, words, size=14, anchor="start"),
    ]
    for i, method in enumerate(methods):
        at = HEAD + 4 + LINE * i
        parts += [f'<path d="M20 {at}H58" {_look(i)}/>', svg_text(68, at + 5, method, size=14, anchor="start")]
    for row, key in enumerate(axes):
        for column, score in enumerate(("skeleton_f1", "cpdag_f1")):
            left, top = LEFT + column * (WIDE + GAP), start + row * DOWN
            parts.append(_panel(found, methods, key, score, left, top))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="Helvetica, Arial, sans-serif" role="img"><title>{escape(title)}</title>'
        f'<rect width="{width}" height="{height}" fill="white"/>{"".join(parts)}</svg>\n'
    )


def _along(found: Forecast, key: str) -> Lines:
    """Return the settings of each method that differ in one number only, in its order."""
    other, held = ("rows", found.rows) if key == "epsilon" else ("epsilon", found.epsilon)
    lines: Lines = {}
    for line in sorted(found.expected, key=lambda e: float(getattr(e, key))):
        if line.skeleton_f1 is not None and getattr(line, other) == held:
            lines.setdefault(line.method, []).append(line)
    return lines


def _places(lines: Lines, key: str) -> list[float]:
    return sorted({float(getattr(e, key)) for same in lines.values() for e in same})


def _panel(found: Forecast, methods: Sequence[str], key: str, score: str, left: float, top: float) -> str:
    lines = _along(found, key)
    places = _places(lines, key)
    low, high = (math.log(places[0]), math.log(places[-1])) if places else (0.0, 1.0)

    def across(value: float) -> float:
        return left + WIDE * ((math.log(value) - low) / (high - low) if high > low else 0.5)

    def up(value: float) -> float:
        return top + TALL * (1 - value)

    kept = f"{found.rows:,} rows" if key == "epsilon" else f"epsilon {found.epsilon:g}"
    name = "Skeleton F1" if score == "skeleton_f1" else "CPDAG F1"
    parts = [svg_text(left, top - 12, f"{name}, {kept}", size=14, anchor="start", weight="bold")]
    for tick in (0, 0.2, 0.4, 0.6, 0.8, 1):
        parts.append(f'<path d="M{left:.1f} {up(tick):.1f}h{WIDE}" stroke="#dddddd"/>')
        parts.append(svg_text(left - 8, up(tick) + 4, f"{tick:g}", anchor="end"))
    for place in places:
        words = f"{place:g}" if key == "epsilon" else f"{place:,.0f}"
        parts.append(f'<path d="M{across(place):.1f} {top}v{TALL + 5}" stroke="#dddddd"/>')
        parts.append(svg_text(across(place), top + TALL + 20, words))
    parts.append(svg_text(left + WIDE / 2, top + TALL + 42, "epsilon" if key == "epsilon" else "rows", size=13))
    for i, method in enumerate(methods):
        spreads = [(across(float(getattr(e, key))), _drawn_spread(e, score)) for e in lines.get(method, [])]
        band = [(x, up(s.high)) for x, s in spreads] + [(x, up(s.low)) for x, s in reversed(spreads)]
        colour = COLOURS[i % len(COLOURS)]
        parts.append(f'<polygon points="{_points(band)}" fill="{colour}" fill-opacity="0.14"/>')
        means = [(x, up(s.mean)) for x, s in spreads]
        parts.append(f'<polyline points="{_points(means)}" fill="none" {_look(i)}/>')
        parts += [_mark(x, y, up(s.low), up(s.high), colour) for (x, y), (_, s) in zip(means, spreads, strict=True)]
    return "".join(parts)


def _drawn_spread(line: Expected, score: str) -> Spread:
    spread: Spread = getattr(line, score)
    return spread


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _mark(x: float, y: float, low: float, high: float, colour: str) -> str:
    return (
        f'<path d="M{x:.1f} {low:.1f}V{high:.1f}" stroke="{colour}" stroke-opacity="0.6"/>'
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>'
    )


def _look(place: int) -> str:
    dashes = DASHES[place % len(DASHES)]
    return f'stroke="{COLOURS[place % len(COLOURS)]}" stroke-width="2.5"' + (
        f' stroke-dasharray="{dashes}"' if dashes else ""
    )
