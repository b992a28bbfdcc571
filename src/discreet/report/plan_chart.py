"""A plan as a picture: F1 against epsilon and against rows, one line a method, with its spread."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from discreet.expectations import WITHIN, Expected, Forecast, Spread
from discreet.experiments.chart import svg_text

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
        spreads = [(across(float(getattr(e, key))), _spread(e, score)) for e in lines.get(method, [])]
        band = [(x, up(s.high)) for x, s in spreads] + [(x, up(s.low)) for x, s in reversed(spreads)]
        colour = COLOURS[i % len(COLOURS)]
        parts.append(f'<polygon points="{_points(band)}" fill="{colour}" fill-opacity="0.14"/>')
        means = [(x, up(s.mean)) for x, s in spreads]
        parts.append(f'<polyline points="{_points(means)}" fill="none" {_look(i)}/>')
        parts += [_mark(x, y, up(s.low), up(s.high), colour) for (x, y), (_, s) in zip(means, spreads, strict=True)]
    return "".join(parts)


def _spread(line: Expected, score: str) -> Spread:
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
