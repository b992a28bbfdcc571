"""The graph as an SVG element: one piece, no script, no style sheet, everything escaped.

Colours and widths are attributes, so that the picture stands by itself and touches nothing around it; a page may
override them by class. Arrows and lines differ by arrowhead and dashes as well as by colour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import hypot

from discreet.release.discovery import Confidence
from discreet.report.layout import FONT_SIZE, Box, Curve, Layout, lay_out, text_width, visible
from discreet.report.words import casts_doubt
from discreet.search.graph import Edge, Graph, Mark, Pair

FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', Arial, 'DejaVu Sans', sans-serif"
INK, PAPER, FILL, LINE = "#16202b", "#ffffff", "#eef3f8", "#4a6785"
ARROW, UNKNOWN, STAMP = "#1f4e79", "#8a3f00", "#a3001c"
"""Arrows, edges whose direction is unknown, and the stamp of what is not private."""

DASHES = "6 4"
DOTS = "1.5 4"
FAINTEST, THINNEST, THICKEST = 0.65, 0.9, 2.8
PLAIN_WIDTH = 1.7
"""Width of an edge whose confidence is not known."""

NUMBER = 12.0
STAMP_HEIGHT = 26.0


def graph_svg(
    graph: Graph,
    confidence: Mapping[Pair, Confidence] | None = None,
    *,
    notes: Mapping[Pair, Sequence[str]] | None = None,
    turns: Mapping[Pair, Edge] | None = None,
    stamp: str = "",
    focusable: bool = False,
    background: str | None = PAPER,
    layout: Layout | None = None,
) -> str:
    """Return the graph as an SVG element: arrows where the direction is known, dashed lines where it is not.

    The surer an edge, the wider and darker it is. A stamp is written above the picture. With ``focusable`` nodes and
    edges can be reached by the keyboard. ``turns`` holds edges as they are with their direction withheld, or shown,
    where a page may turn it on and off.
    """
    found = layout or lay_out(graph)
    sure, noted, other = confidence or {}, notes or {}, turns or {}
    top = STAMP_HEIGHT if stamp else 0.0
    width, height = max(found.width, text_width(stamp) + 28 if stamp else 0.0), found.height + top
    said = f"Causal graph of {len(graph.nodes)} columns with {len(graph.skeleton)} edges"
    edges = [
        _edge(i, curve, edge, sure.get(edge.pair), noted.get(edge.pair, ()), other.get(edge.pair), focusable)
        for i, (curve, edge) in enumerate(zip(found.curves, graph.edges(), strict=True))
    ]
    nodes = [_node(i, box, name, focusable) for i, (box, name) in enumerate(zip(found.boxes, graph.nodes, strict=True))]
    paper = f'<rect class="dc-paper" width="100%" height="100%" fill="{background}"/>' if background else ""
    above = (
        f'<text class="dc-stamp" x="14" y="20" font-weight="bold" fill="{STAMP}">{escape(stamp)}</text>'
        if stamp
        else ""
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="dc-graph" role="{"group" if focusable else "img"}" '
        f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'font-family="{FONTS}" font-size="{FONT_SIZE:g}" aria-label="{said}"><title>{said}</title>{paper}{above}'
        f'<g transform="translate({(width - found.width) / 2:.1f} {top:g})"><g class="dc-edges" fill="none">'
        f'{"".join(edges)}</g><g class="dc-nodes">{"".join(nodes)}</g></g></svg>'
    )


CIRCLE = 4.0
"""Radius of the circle at an end that is not known."""


def verb_of(edge: Edge) -> str:
    """Return what an edge says between the names of its ends."""
    if edge.directed:
        return "causes"
    if edge.at_b is not Mark.ARROW:
        return "linked to"
    return "hidden common cause with" if edge.at_a is Mark.ARROW else "not caused by"


def said_of(edge: Edge, sure: Confidence | None, notes: Sequence[str] = ()) -> str:
    """Return an edge in words, with its confidence and what else is told of it."""
    a, b = visible(edge.a), visible(edge.b)
    words = f"{a} causes {b}" if edge.directed else f"{a} and {b} are linked, direction unknown"
    if edge.at_b is Mark.ARROW and not edge.directed:
        words = f"{a} and {b} have a hidden common cause" if edge.at_a is Mark.ARROW else f"{b} does not cause {a}"
    told = [] if sure is None else [f"edge {sure.edge:.0%}"]
    told += [f"arrow {sure.arrow:.0%}"] if sure and sure.arrow is not None and edge.directed else []
    return f"{words}: {', '.join([*told, *notes])}" if told or notes else words


def stroke_of(sure: Confidence | None, *, warned: bool = False) -> tuple[float, float]:
    """Return how wide and how opaque an edge is drawn: one with a warning like the least sure."""
    if warned:
        return THINNEST, FAINTEST
    if sure is None:
        return PLAIN_WIDTH, 1.0
    return THINNEST + (THICKEST - THINNEST) * sure.edge, FAINTEST + (1 - FAINTEST) * sure.edge


def head_of(curve: Curve) -> tuple[tuple[float, float], ...]:
    """Return the corners of the arrowhead; none without an arrow."""
    return () if curve.tip is None else _corners(curve.points[-1], curve.tip)


def _corners(
    base: tuple[float, float], tip: tuple[float, float]
) -> tuple[tuple[float, float], tuple[float, float], tuple[float, float]]:
    (bx, by), (tx, ty) = base, tip
    length = hypot(tx - bx, ty - by) or 1.0
    dx, dy = (tx - bx) / length, (ty - by) / length
    bx, by = tx - dx * 10, ty - dy * 10
    return (tx, ty), (bx - dy * 4.6, by + dx * 4.6), (bx + dy * 4.6, by - dx * 4.6)


def _edge(
    index: int,
    curve: Curve,
    edge: Edge,
    sure: Confidence | None,
    notes: Sequence[str],
    other: Edge | None,
    focusable: bool,
) -> str:
    words, colour = escape(said_of(edge, sure, notes)), ARROW if edge.directed else UNKNOWN
    warned = casts_doubt(notes)
    width, opacity = stroke_of(sure, warned=warned)
    (x, y), *rest = curve.points
    path = f"M{x:.1f} {y:.1f}C" + " ".join(f"{px:.1f} {py:.1f}" for px, py in rest)
    dashes = "" if edge.directed else f' stroke-dasharray="{DASHES}"'
    dashes = f' stroke-dasharray="{DOTS}"' if warned else dashes
    arrow = _triangle(head_of(curve), colour) + _other_ends(curve, edge, colour)
    first, second, turn = curve.tail, curve.head, ""
    if other is not None and sure is not None and sure.arrow is not None:
        arrow += _turned(curve, edge, other, f' stroke="{colour}" stroke-width="{width:.2f}"')
        turn = f' data-arrow="{sure.arrow:.3f}" data-other="{escape(said_of(other, sure, notes))}"'
        first, second = (second, first) if other.directed and other.a != edge.a else (first, second)
    reach = f' tabindex="0" role="img" aria-label="{words}"' if focusable else ""
    number = "" if sure is None else f' data-sure="{sure.edge:.3f}"'
    return (
        f'<g class="dc-edge dc-{"arrow" if edge.directed else "unknown"}{" dc-warned" * warned}" data-edge="{index}" '
        f'data-from="{first}" data-to="{second}"{number}{turn}{reach}><title>{words}</title>'
        f'<path class="dc-reach" d="{path}" stroke="{colour}" stroke-opacity="0" stroke-width="14"/>'
        f'<g opacity="{opacity:.2f}"><path class="dc-line" d="{path}" stroke="{colour}" stroke-width="{width:.2f}"'
        f"{dashes}/>{arrow}</g>{_number(curve, sure) if focusable else ''}</g>"
    )


def _triangle(corners: tuple[tuple[float, float], ...], colour: str) -> str:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    return f'<polygon class="dc-head" points="{points}" fill="{colour}"/>' if points else ""


def _other_ends(curve: Curve, edge: Edge, colour: str) -> str:
    """Return the marks that only PAGs have: circles, and an arrowhead at the first end."""
    points = curve.points
    ends = ((edge.at_a, points[0], points[1]), (edge.at_b, points[-1], points[-2]))
    drawn = _triangle(_corners(curve.points[1], curve.points[0]), colour) if edge.at_a is Mark.ARROW else ""
    for mark, (x, y), (nx, ny) in ends:
        if mark is Mark.CIRCLE:  # beside the node, not under it
            away = CIRCLE / (hypot(nx - x, ny - y) or 1.0)
            cx, cy = x + (nx - x) * away, y + (ny - y) * away
            drawn += f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="{CIRCLE:g}" fill="{PAPER}" stroke="{colour}"/>'
    return drawn


def _turned(curve: Curve, edge: Edge, other: Edge, stroke: str) -> str:
    """Return what is seen of an edge once its direction is turned on: a head; or off: the end of its line."""
    points = curve.points
    if other.directed:
        return _triangle(_corners(*(points[-2:] if other.a == edge.a else (points[1], points[0]))), ARROW)
    if curve.tip is None:
        return ""
    (x, y), (tx, ty) = points[-1], curve.tip
    return f'<path class="dc-line dc-stub" d="M{x:.1f} {y:.1f}L{tx:.1f} {ty:.1f}"{stroke}/>'


def _number(curve: Curve, sure: Confidence | None) -> str:
    """Return the confidence on an edge; a page shows it when the edge is pointed at."""
    if sure is None:
        return ""
    x, y = curve.label
    return (
        f'<text class="dc-number" x="{x:.1f}" y="{y:.1f}" dy="0.35em" text-anchor="middle" font-size="{NUMBER:g}" '
        f'fill="{INK}" stroke="{PAPER}" stroke-width="4" stroke-linejoin="round" paint-order="stroke" '
        f'visibility="hidden">{sure.edge:.0%}</text>'
    )


def _node(index: int, box: Box, name: str, focusable: bool) -> str:
    full = escape(visible(name))
    reach = f' tabindex="0" role="button" aria-pressed="false" aria-label="{full}"' if focusable else ""
    return (
        f'<g class="dc-node" data-node="{index}"{reach}><title>{full}</title>'
        f'<rect x="{box.x - box.width / 2:.1f}" y="{box.y - box.height / 2:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:g}" rx="6" fill="{FILL}" stroke="{LINE}"/>'
        f'<text x="{box.x:.1f}" y="{box.y:.1f}" dy="0.35em" text-anchor="middle" fill="{INK}">'
        f"{escape(box.label)}</text></g>"
    )
