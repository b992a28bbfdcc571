"""Charts of many panels, and dots on a logarithmic scale, as SVG: readable across a room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from discreet.experiments.chart import Axis, Point, svg_line, svg_text

COLUMNS = 4
PANEL, TALL = 320, 250
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 34, 34
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
    x0, x1, y0, y1 = left + LEFT, left + PANEL - RIGHT, top + TALL - BOTTOM, top + TOP
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
    parts, at = [], top + TOP - 9
    for group in dict.fromkeys(style.group for style in styles):
        parts.append(svg_text(left + LEFT, at, group, size=15, anchor="start", weight="bold"))
        for style in (s for s in styles if s.group == group):
            at += 18
            x0 = left + LEFT
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
