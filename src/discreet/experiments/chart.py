"""A small line chart as SVG: no dependency, readable in a page and on paper."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#555555")
WIDTH, HEIGHT = 560, 360
LEFT, RIGHT, TOP, BOTTOM = 60, 130, 40, 50


@dataclass(frozen=True)
class Axis:
    """An axis: its words, its ends and its ticks."""

    label: str
    low: float
    high: float
    ticks: Sequence[float]
    log: bool = False

    def place(self, value: float) -> float:
        """Return where a value lies between the ends, from 0 to 1."""
        if self.log:
            return (math.log(value) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))
        return (value - self.low) / (self.high - self.low)


Point = tuple[float, float, float]
"""x, y, and the half-length of its error bar."""


def line_chart(title: str, x: Axis, y: Axis, lines: Mapping[str, Sequence[Point]], *, diagonal: bool = False) -> str:
    """Return a chart with one line a name."""

    def at(px: float, py: float) -> tuple[float, float]:
        across = LEFT + x.place(px) * (WIDTH - LEFT - RIGHT)
        return across, HEIGHT - BOTTOM - y.place(py) * (HEIGHT - TOP - BOTTOM)

    parts = [svg_text(LEFT, TOP - 18, title, size=15, anchor="start", weight="bold")]
    for tick in x.ticks:
        across, base = at(tick, y.low)
        parts += [svg_line(across, base, across, TOP, "#e5e5e5"), svg_text(across, base + 18, f"{tick:g}")]
    for tick in y.ticks:
        start, up = at(x.low, tick)
        parts += [
            svg_line(start, up, WIDTH - RIGHT, up, "#e5e5e5"),
            svg_text(start - 8, up + 4, f"{tick:g}", anchor="end"),
        ]
    parts.append(svg_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, x.label))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(f'<g transform="rotate(-90 16 {middle:.1f})">{svg_text(16, middle, y.label)}</g>')
    if diagonal:
        parts.append(svg_line(*at(x.low, y.low), *at(x.high, y.high), "#999999"))
    for i, (name, points) in enumerate(lines.items()):
        colour = COLOURS[i % len(COLOURS)]
        placed = [at(px, py) for px, py, _ in points]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in placed)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for (px, py, error), (a, b) in zip(points, placed, strict=True):
            low, high = at(px, max(py - error, y.low))[1], at(px, min(py + error, y.high))[1]
            parts += [svg_line(a, low, a, high, colour), f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>']
        key = TOP + 12 + 20 * i
        parts += [svg_line(WIDTH - RIGHT + 14, key, WIDTH - RIGHT + 34, key, colour, width=3)]
        parts.append(svg_text(WIDTH - RIGHT + 40, key + 4, name, anchor="start"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'role="img"><title>{escape(title)}</title><rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>'
        + "".join(parts)
        + "</svg>\n"
    )


def svg_line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1) -> str:
    """Return a straight line."""
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{colour}" stroke-width="{width:g}"/>'


def svg_text(x: float, y: float, words: str, *, size: int = 12, anchor: str = "middle", weight: str = "normal") -> str:
    """Return a line of words."""
    style = f'font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" fill="#222222"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(words)}</text>'
