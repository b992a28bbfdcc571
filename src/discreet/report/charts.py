"""Charts as SVG: lines, panels of lines, and dots on a common scale. Readable across a room."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#555555")
GRID = "#e5e5e5"

Point = tuple[float, float, float]
"""x, y, and the half-length of its error bar."""

Placed = tuple[float, float, float, float]
"""Where a point lies on the page: across, down, and the lower and upper end of its error bar."""


@dataclass(frozen=True)
class Axis:
    """An axis: its words, its ends and its ticks."""

    label: str
    low: float
    high: float
    ticks: Sequence[float]
    log: bool = False

    def place(self, value: float) -> float:
        """Return where a value lies between the ends, from 0 to 1; in the middle if they are the same."""
        value, low, high = map(math.log, (value, self.low, self.high)) if self.log else (value, self.low, self.high)
        return (value - low) / (high - low) if high != low else 0.5


@dataclass(frozen=True)
class Line:
    """How a line looks: its words in the legend, the heading they stand under, and its stroke."""

    label: str
    group: str
    colour: str
    dashes: str = ""
    width: float = 2.5

    @property
    def look(self) -> str:
        """The attributes of its stroke."""
        dashes = f' stroke-dasharray="{self.dashes}"' if self.dashes else ""
        return f'stroke="{self.colour}" stroke-width="{self.width:g}" stroke-linejoin="round"{dashes}'


@dataclass(frozen=True)
class Frame:
    """A rectangle on the page, with one axis along its lower edge and one along its left."""

    x: Axis
    y: Axis
    left: float
    right: float
    top: float
    bottom: float

    def across(self, value: float) -> float:
        """Return where a value of the first axis lies on the page."""
        return self.left + self.x.place(value) * (self.right - self.left)

    def down(self, value: float) -> float:
        """Return where a value of the second axis lies on the page."""
        return self.bottom - self.y.place(value) * (self.bottom - self.top)

    def grid(self, *, size: int = 12, words: str = "g") -> list[str]:
        """Return a line and a number a tick; ``words`` is the format of the numbers below."""
        parts = []
        for tick in self.x.ticks:
            at = self.across(tick)
            parts.append(svg_line(at, self.bottom, at, self.top, GRID))
            parts.append(svg_text(at, self.bottom + 18, f"{tick:{words}}", size=size))
        for tick in self.y.ticks:
            at = self.down(tick)
            parts.append(svg_line(self.left, at, self.right, at, GRID))
            parts.append(svg_text(self.left - 8, at + 4, f"{tick:g}", size=size, anchor="end"))
        return parts

    def place(self, points: Sequence[Point]) -> list[Placed]:
        """Return where points lie; those that a logarithmic axis has no place for are left out."""
        return [
            self.place_between(px, py, max(py - spread, self.y.low), min(py + spread, self.y.high))
            for px, py, spread in points
            if px > 0 or not self.x.log
        ]

    def place_between(self, x: float, y: float, low: float, high: float) -> Placed:
        """Return where a point with an error bar from low to high lies."""
        return self.across(x), self.down(y), self.down(low), self.down(high)


def svg_page(
    title: str, width: float, height: float, parts: Sequence[str], style: str = 'font-family="sans-serif"'
) -> str:
    """Return a picture on white."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" {style} '
        f'role="img"><title>{escape(title)}</title><rect width="{width:g}" height="{height:g}" fill="white"/>'
        + "".join(parts)
        + "</svg>\n"
    )


def svg_text(x: float, y: float, words: str, *, size: int = 12, anchor: str = "middle", weight: str = "normal") -> str:
    """Return a line of words."""
    style = f'font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" fill="#222222"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(words)}</text>'


def svg_head(x: float, title: str, words: str, *, size: int = 24) -> list[str]:
    """Return a title, and a line of words below it."""
    return [
        svg_text(x, 34, title, size=size, anchor="start", weight="bold"),
        svg_text(x, 58, words, size=15, anchor="start"),
    ]


def svg_line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1, opacity: float = 1) -> str:
    """Return a straight line."""
    faint = f' stroke-opacity="{opacity:g}"' if opacity < 1 else ""
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{colour}" stroke-width="{width:g}"{faint}/>'


def svg_key(x: float, y: float, style: Line, *, long: float, size: int) -> str:
    """Return a line of a legend: a piece of stroke, and its words."""
    stroke = f'<path d="M{x:.1f} {y:.1f}L{x + long:.1f} {y:.1f}" {style.look}/>'
    return stroke + svg_text(x + long + 8, y + size // 3, style.label, size=size, anchor="start")


def svg_band(placed: Sequence[Placed], colour: str, opacity: float) -> str:
    """Return the area between the ends of the error bars."""
    outline = [(at, high) for at, _, _, high in placed] + [(at, low) for at, _, low, _ in reversed(placed)]
    return f'<polygon points="{_path(outline)}" fill="{colour}" fill-opacity="{opacity:g}"/>'


def svg_stroke(points: Sequence[tuple[float, float]], style: Line) -> str:
    """Return a line through points."""
    return f'<polyline points="{_path(points)}" fill="none" {style.look}/>'


def svg_marks(placed: Sequence[Placed], colour: str, opacity: float = 1) -> list[str]:
    """Return a dot and an error bar a point."""
    return [
        svg_line(at, low, at, high, colour, opacity=opacity)
        + f'<circle cx="{at:.1f}" cy="{mean:.1f}" r="3" fill="{colour}"/>'
        for at, mean, low, high in placed
    ]


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in points)


def line_chart(title: str, x: Axis, y: Axis, lines: Mapping[str, Sequence[Point]], *, diagonal: bool = False) -> str:
    """Return a chart with one line a name."""
    width, height = 560, 360
    frame = Frame(x, y, left=60, right=430, top=40, bottom=310)
    middle = (frame.top + frame.bottom) / 2
    parts = [svg_text(frame.left, frame.top - 18, title, size=15, anchor="start", weight="bold"), *frame.grid()]
    parts.append(svg_text((frame.left + frame.right) / 2, height - 12, x.label))
    parts.append(f'<g transform="rotate(-90 16 {middle:.1f})">{svg_text(16, middle, y.label)}</g>')
    if diagonal:
        parts.append(svg_line(frame.left, frame.bottom, frame.right, frame.top, "#999999"))
    for i, (name, points) in enumerate(lines.items()):
        style = Line(name, "", COLOURS[i % len(COLOURS)], width=2)
        placed = frame.place(points)
        parts += [svg_stroke([(at, mean) for at, mean, _, _ in placed], style), *svg_marks(placed, style.colour)]
        parts.append(svg_key(frame.right + 14, frame.top + 12 + 20 * i, style, long=20, size=12))
    return svg_page(title, width, height, parts)


ACROSS = 4
"""Panels side by side."""

WIDE, TALL = 320, 250
"""A panel with its margins."""

HEAD, FOOT, SIDE = 74, 34, 24
"""What is left above, below and beside all panels."""


def panels(
    title: str,
    words: str,
    x: Axis,
    y: Axis,
    styles: Mapping[str, Line],
    lines: Mapping[str, Mapping[str, Sequence[Point]]],
) -> str:
    """Return one panel a name, each with one line a style and its spread, and a legend in the last place.

    Lines are drawn in the order of the styles, the first below all others, and named the other way round.
    A line of a single point is drawn level across the panel.
    """
    places = [(SIDE + (i % ACROSS) * WIDE, HEAD + (i // ACROSS) * TALL) for i in range(len(lines) + 1)]
    width, height = 2 * SIDE + min(ACROSS, len(places)) * WIDE, places[-1][1] + TALL + FOOT
    parts = [*svg_head(SIDE + 6, title, words), svg_text(width / 2, height - 10, x.label, size=15)]
    for i, (name, inside) in enumerate(lines.items()):
        left, top = places[i]
        frame = Frame(x, y, left + 46, left + WIDE - 14, top + 34, top + TALL - 34)
        drawn = [(style, inside[key]) for key, style in styles.items() if key in inside]
        parts.append(_panel(f"inside-{i}", name, frame, drawn))
    used = {key for inside in lines.values() for key in inside}
    left, top = places[-1]
    parts.append(_legend(left + 46, top + 25, [styles[key] for key in reversed(list(styles)) if key in used]))
    return svg_page(title, width, height, parts)


def _panel(clip: str, name: str, frame: Frame, lines: Sequence[tuple[Line, Sequence[Point]]]) -> str:
    wide, tall = frame.right - frame.left, frame.bottom - frame.top
    parts = [svg_text(frame.left, frame.top - 9, name, size=17, anchor="start", weight="bold"), *frame.grid(size=13)]
    inside = f'<rect x="{frame.left}" y="{frame.top - 4}" width="{wide}" height="{tall + 8}"/>'
    parts.append(f'<clipPath id="{clip}">{inside}</clipPath><g clip-path="url(#{clip})">')
    drawn = [(style, frame.place(points)) for style, points in lines]
    parts += [svg_band(placed, style.colour, 0.1) for style, placed in drawn if len(placed) > 1]
    for style, placed in drawn:
        ends = [(at, mean) for at, mean, _, _ in placed]
        level = [(at, mean) for _, mean in ends for at in (frame.left, frame.right)]
        parts += [svg_stroke(ends if len(ends) > 1 else level, style)] if ends else []
    return "".join([*parts, "</g>"])


def _legend(left: float, top: float, styles: Sequence[Line]) -> str:
    parts, at = [], top
    for group in dict.fromkeys(style.group for style in styles):
        parts.append(svg_text(left, at, group, size=15, anchor="start", weight="bold"))
        for style in (s for s in styles if s.group == group):
            at += 18
            parts.append(svg_key(left, at - 5, style, long=44, size=15))
        at += 25
    return "".join(parts)


@dataclass(frozen=True)
class Dot:
    """A mark in the dot plot: its words, its colour, and whether it is hollow."""

    label: str
    colour: str
    hollow: bool = False

    def at(self, x: float, y: float) -> str:
        """Return the mark."""
        fill = "white" if self.hollow else self.colour
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{fill}" stroke="{self.colour}" stroke-width="2.5"/>'


def dot_plot(
    title: str,
    words: str,
    x: Axis,
    dots: Mapping[str, Dot],
    rows: Mapping[str, Mapping[str, Mapping[str, float]]],
) -> str:
    """Return one row a group and name, with one dot a kind on a common axis."""
    step, left, width = 24, 130, 1080
    height = HEAD + 40 + sum(len(group) * step + 16 for group in rows.values()) + 50
    frame = Frame(x, Axis("", 0, 1, ()), left + 250, width - 30, HEAD + 34, height - 48)
    parts = [*svg_head(20, title, words), svg_text((frame.left + frame.right) / 2, height - 10, x.label, size=15)]
    for i, dot in enumerate(dots.values()):
        parts += [
            dot.at(28 + 250 * i, HEAD + 13),
            svg_text(42 + 250 * i, HEAD + 18, dot.label, size=15, anchor="start"),
        ]
    parts += frame.grid(size=13, words=",g")
    at = frame.top + 18.0
    for group, inside in rows.items():
        parts.append(svg_text(20, at + 5, group, size=16, anchor="start", weight="bold"))
        for name, values in inside.items():
            places = {kind: frame.across(value) for kind, value in values.items()}
            parts.append(svg_text(left, at + 5, name, size=14, anchor="start"))
            if places:
                parts.append(svg_line(min(places.values()), at, max(places.values()), at, "#bbbbbb", width=1.5))
            parts += [dots[kind].at(place, at) for kind, place in places.items()]
            at += step
        at += 16
    return svg_page(title, width, height, parts)
