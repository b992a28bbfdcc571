"""Charts of many panels, and dots on a logarithmic scale, as SVG: readable across a room."""

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


COLUMNS = 4
PANEL, TALL = 320, 250
PANEL_LEFT, PANEL_RIGHT, PANEL_TOP, PANEL_BOTTOM = 46, 14, 34, 34
HEAD, FOOT, SIDE = 74, 34, 24


@dataclass(frozen=True)
class Line:
    """How a line looks: its words in the legend, the heading they stand under, and its stroke."""

    label: str
    group: str
    colour: str
    dashes: str = ""
    width: float = 2.5


def panels(
    title: str,
    words: str,
    x: Axis,
    y: Axis,
    styles: dict[str, Line],
    lines: Mapping[str, Mapping[str, Sequence[Point]]],
) -> str:
    """Return one panel a name, each with one line a style and its spread, and a legend in the last place.

    Lines are drawn in the order of the styles, the first below all others, and named the other way round.
    A line of a single point is drawn level across the panel.
    """
    down = -(-(len(lines) + 1) // COLUMNS)
    across = min(COLUMNS, len(lines) + 1)
    width, height = 2 * SIDE + across * PANEL, HEAD + down * TALL + FOOT
    parts = [
        svg_text(SIDE + 6, 34, title, size=24, anchor="start", weight="bold"),
        svg_text(SIDE + 6, 58, words, size=15, anchor="start"),
        svg_text(width / 2, height - 10, x.label, size=15),
    ]
    for i, (name, inside) in enumerate(lines.items()):
        left, top = SIDE + (i % COLUMNS) * PANEL, HEAD + (i // COLUMNS) * TALL
        drawn = [(style, inside[key]) for key, style in styles.items() if key in inside]
        parts.append(_panel(i, name, left, top, x, y, drawn))
    i = len(lines)
    used = {key for inside in lines.values() for key in inside}
    shown = [styles[key] for key in reversed(styles) if key in used]
    parts.append(_legend(SIDE + (i % COLUMNS) * PANEL, HEAD + (i // COLUMNS) * TALL, shown))
    return _svg(title, width, height, parts)


def _panel(
    number: int, name: str, left: float, top: float, x: Axis, y: Axis, lines: Sequence[tuple[Line, Sequence[Point]]]
) -> str:
    x0, x1, y0, y1 = left + PANEL_LEFT, left + PANEL - PANEL_RIGHT, top + TALL - PANEL_BOTTOM, top + PANEL_TOP
    clip = f"inside-{number}"
    parts = [svg_text(x0, y1 - 9, name, size=17, anchor="start", weight="bold")]
    for tick in x.ticks:
        at = x0 + x.place(tick) * (x1 - x0)
        parts += [svg_line(at, y0, at, y1, "#e8e8e8"), svg_text(at, y0 + 17, f"{tick:g}", size=13)]
    for tick in y.ticks:
        at = y0 - y.place(tick) * (y0 - y1)
        parts += [svg_line(x0, at, x1, at, "#e8e8e8"), svg_text(x0 - 7, at + 5, f"{tick:g}", size=13, anchor="end")]
    parts.append(
        f'<clipPath id="{clip}"><rect x="{x0}" y="{y1 - 4}" width="{x1 - x0}" height="{y0 - y1 + 8}"/></clipPath>'
    )
    parts.append(f'<g clip-path="url(#{clip})">')
    drawn = [(style, _placed(points, x, y, x0, x1, y0, y1)) for style, points in lines]
    parts += [_band(style, placed) for style, placed in drawn if len(placed) > 1]
    parts += [_stroke(style, placed, x0, x1) for style, placed in drawn if placed]
    return "".join([*parts, "</g>"])


def _placed(
    points: Sequence[Point], x: Axis, y: Axis, x0: float, x1: float, y0: float, y1: float
) -> list[tuple[float, float, float, float]]:
    """Return across, up, and the two ends of the spread, for points whose place is known."""
    placed = []
    for px, py, spread in points:
        if px > 0 or not x.log:
            ups = (py, max(py - spread, y.low), min(py + spread, y.high))
            mean, low, high = (y0 - y.place(value) * (y0 - y1) for value in ups)
            placed.append((x0 + x.place(px) * (x1 - x0), mean, low, high))
    return placed


def _band(style: Line, placed: Sequence[tuple[float, float, float, float]]) -> str:
    outline = [(a, high) for a, _, _, high in placed] + [(a, low) for a, _, low, _ in reversed(placed)]
    path = " ".join(f"{a:.1f},{b:.1f}" for a, b in outline)
    return f'<polygon points="{path}" fill="{style.colour}" fill-opacity="0.1"/>'


def _stroke(style: Line, placed: Sequence[tuple[float, float, float, float]], x0: float, x1: float) -> str:
    ends = [(a, b) for a, b, _, _ in placed] if len(placed) > 1 else [(x0, placed[0][1]), (x1, placed[0][1])]
    path = " ".join(f"{a:.1f},{b:.1f}" for a, b in ends)
    return f'<polyline points="{path}" fill="none" {_look(style)}/>'


def _look(style: Line) -> str:
    dashes = f' stroke-dasharray="{style.dashes}"' if style.dashes else ""
    return f'stroke="{style.colour}" stroke-width="{style.width:g}" stroke-linejoin="round"{dashes}'


def _legend(left: float, top: float, styles: Sequence[Line]) -> str:
    parts, at = [], top + PANEL_TOP - 9
    for group in dict.fromkeys(style.group for style in styles):
        parts.append(svg_text(left + PANEL_LEFT, at, group, size=15, anchor="start", weight="bold"))
        for style in (s for s in styles if s.group == group):
            at += 18
            x0 = left + PANEL_LEFT
            parts.append(f'<path d="M{x0:.1f} {at - 5:.1f}L{x0 + 44:.1f} {at - 5:.1f}" {_look(style)}/>')
            parts.append(svg_text(x0 + 54, at, style.label, size=15, anchor="start"))
        at += 25
    return "".join(parts)


@dataclass(frozen=True)
class Dot:
    """A mark in the dot plot: its words, its colour, and whether it is hollow."""

    label: str
    colour: str
    hollow: bool = False


def dot_plot(
    title: str,
    words: str,
    x: Axis,
    dots: Mapping[str, Dot],
    rows: Mapping[str, Mapping[str, Mapping[str, float]]],
) -> str:
    """Return one row a group and name, with one dot a kind on a common axis."""
    step, left, right, names = 24, 130, 1080, 250
    height = HEAD + 40 + sum(len(group) * step + 16 for group in rows.values()) + 50
    low, high = left + names, right - 30
    parts = [
        svg_text(20, 34, title, size=24, anchor="start", weight="bold"),
        svg_text(20, 58, words, size=15, anchor="start"),
        svg_text((low + high) / 2, height - 10, x.label, size=15),
    ]
    for i, dot in enumerate(dots.values()):
        parts += [
            _mark(28 + 250 * i, HEAD + 13, dot),
            svg_text(42 + 250 * i, HEAD + 18, dot.label, size=15, anchor="start"),
        ]
    top, bottom = HEAD + 34, height - 48
    for tick in x.ticks:
        at = low + x.place(tick) * (high - low)
        parts += [svg_line(at, top, at, bottom, "#e8e8e8"), svg_text(at, bottom + 18, f"{tick:,g}", size=13)]
    at = top + 18.0
    for group, inside in rows.items():
        parts.append(svg_text(20, at + 5, group, size=16, anchor="start", weight="bold"))
        for name, values in inside.items():
            places = {kind: low + x.place(value) * (high - low) for kind, value in values.items()}
            parts.append(svg_text(left, at + 5, name, size=14, anchor="start"))
            if places:
                parts.append(svg_line(min(places.values()), at, max(places.values()), at, "#bbbbbb", width=1.5))
            parts += [_mark(place, at, dots[kind]) for kind, place in places.items()]
            at += step
        at += 16
    return _svg(title, right, height, parts)


def _mark(x: float, y: float, dot: Dot) -> str:
    fill = "white" if dot.hollow else dot.colour
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{fill}" stroke="{dot.colour}" stroke-width="2.5"/>'


def _svg(title: str, width: float, height: float, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" font-family="sans-serif" '
        f'role="img"><title>{escape(title)}</title><rect width="{width:g}" height="{height:g}" fill="white"/>'
        + "".join(parts)
        + "</svg>\n"
    )
