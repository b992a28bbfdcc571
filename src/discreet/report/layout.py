"""Where nodes and edges go: layers by Graphviz (which comes inside the pygraphviz wheel), sizes by our own table.

No font of the machine is asked, so that a graph looks the same everywhere. Where Graphviz cannot be loaded, layers are
laid out here. Lengths are in CSS pixels, y grows down.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from discreet.search.graph import Graph, Mark

Point = tuple[float, float]
Link = tuple[int, int, bool]
"""An edge: the numbers of its ends, and whether it is an arrow to the second."""

Key = int | tuple[int, int]
"""A place in a layer: that of a node, or of an edge that passes."""

FONT_SIZE = 13.0
LONGEST_LABEL = 32
"""Characters of a name in a picture; the full name is in its title."""

PAD = 14.0
BOX_HEIGHT, BOX_PADDING, GAP = 28.0, 11.0, 14.0
NARROWEST_ROW = 560.0
"""Columns without an edge stand in rows below the graph, as wide as it is, and no narrower than this."""

LABEL = (34.0, 17.0)
"""Room for a number on an edge."""

_SHARES = tuple(0.5 + sign * step / 40 for step in range(17) for sign in (1, -1))
_POINTS = 72.0
_ASCII = (
    *(32, 41, 46, 84, 64, 95, 78, 28, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 34, 34),
    *(84, 84, 84, 53, 100, 69, 69, 70, 77, 64, 58, 78, 76, 30, 30, 66, 56, 87, 75, 79, 61, 79, 70, 64, 61, 74, 69),
    *(99, 69, 61, 69, 39, 34, 39, 84, 50, 50, 62, 64, 55, 64, 62, 36, 64, 64, 28, 28, 58, 28, 98, 64, 61, 64, 64),
    *(42, 52, 40, 64, 59, 82, 60, 60, 53, 64, 34, 64, 84),
)
"""Hundredths of an em from space to tilde in DejaVu Sans, which is wider than what most systems have."""

LAYER = 66.0
"""From one layer to the next, where these are laid out here."""

BETWEEN = 18.0
PASSING = 12.0
"""Width of the place that an edge takes where it passes a layer."""

ARROW_LENGTH = 9.0
SWEEPS = 12


@dataclass(frozen=True)
class Box:
    """A node: its centre and its size."""

    x: float
    y: float
    width: float
    height: float
    label: str


@dataclass(frozen=True)
class Curve:
    """An edge: its ends' numbers, the points of its Bezier curve, and where the arrow points if it has one."""

    tail: int
    head: int
    points: tuple[Point, ...]
    tip: Point | None
    label: Point = (0.0, 0.0)

    def at(self, share: float) -> Point:
        """Return the point at a share of the way, piece by piece."""
        pieces = (len(self.points) - 1) // 3
        piece = min(int(share * pieces), pieces - 1)
        t = share * pieces - piece
        weights = ((1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t * t, t**3)
        x, y = (sum(w * p[i] for w, p in zip(weights, self.points[3 * piece :], strict=False)) for i in (0, 1))
        return x, y


@dataclass(frozen=True)
class Layout:
    """A graph's boxes, in the order of its nodes, and its curves, in the order of its edges."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    curves: tuple[Curve, ...]


def lay_out(graph: Graph) -> Layout:
    """Return where everything goes: linked columns in layers, causes above effects, the others in rows below."""
    place = {node: i for i, node in enumerate(graph.nodes)}
    edges = [(place[e.a], place[e.b], e.at_b is Mark.ARROW) for e in graph.edges()]
    linked = {i for a, b, _ in edges for i in (a, b)}
    sizes = [_box(node) for node in graph.nodes]
    layers = Layout(0.0, 0.0, (), ())
    boxes = dict(enumerate(sizes))
    if edges:
        layers, placed = _layers(sizes, edges, sorted(linked))
        boxes |= placed
    alone = [i for i in range(len(sizes)) if i not in linked]
    width, height = _rows(boxes, alone, layers)
    ordered = tuple(boxes[i] for i in range(len(sizes)))
    return Layout(width, height, ordered, _place_labels(layers.curves, ordered))


def shorten(name: str, most: int = LONGEST_LABEL) -> str:
    """Return a name that fits: its beginning and its end."""
    name = visible(name)
    if len(name) <= most:
        return name
    end = most // 3
    return f"{name[: most - end - 1].rstrip()}…{name[-end:].lstrip()}"


def visible(name: str) -> str:
    """Return a name without characters that no page may hold, or that turn the text around them."""
    turning = {"RLE", "LRE", "RLO", "LRO", "PDF", "RLI", "LRI", "FSI", "PDI"}
    kept = (
        "\N{REPLACEMENT CHARACTER}"
        if unicodedata.category(c) in ("Cc", "Cs", "Cn", "Zl", "Zp") or unicodedata.bidirectional(c) in turning
        else c
        for c in name
    )
    return "".join(kept)


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """Return about how wide a text is, rather too wide than too narrow."""
    return sum(_em(c) for c in text) * size


def _em(character: str) -> float:
    if " " <= character <= "~":
        return _ASCII[ord(character) - 32] / 100
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Cf"):
        return 0.0
    return 1.35 if unicodedata.east_asian_width(character) in "WF" else 0.85


def _box(name: str) -> Box:
    label = shorten(name)
    return Box(0.0, 0.0, max(text_width(label) + 2 * BOX_PADDING, 44.0), BOX_HEIGHT, label)


def _layers(sizes: Sequence[Box], edges: Sequence[Link], linked: Sequence[int]) -> tuple[Layout, dict[int, Box]]:
    """Ask Graphviz for the positions. Labels are not handed over: no name can be taken for a command."""
    try:
        import pygraphviz
    except ImportError:  # its wheel looks for libraries of the system (glib, X11)
        return _plain_layers(sizes, edges, linked)
    lines = [
        "digraph g {",
        "graph [rankdir=TB, nodesep=0.22, ranksep=0.52, pad=0];",
        'node [shape=box, fixedsize=true, label=""]; edge [arrowsize=0.9];',
        *(f"{i} [width={sizes[i].width / _POINTS:.4f}, height={sizes[i].height / _POINTS:.4f}];" for i in linked),
        *(f"{a} -> {b}{'' if directed else ' [dir=none]'};" for a, b, directed in edges),
        "}",
    ]
    drawn = json.loads(pygraphviz.AGraph(string="\n".join(lines)).draw(format="json", prog="dot"))
    *_, width, height = (float(v) for v in drawn["bb"].split(","))

    def point(text: str) -> Point:
        x, y = text.split(",")
        return float(x) + PAD, height - float(y) + PAD

    placed, names = {}, {}
    for item in drawn["objects"]:
        names[item["_gvid"]] = index = int(item["name"])
        x, y = point(item["pos"])
        placed[index] = replace(sizes[index], x=x, y=y)
    found = {(names[item["tail"]], names[item["head"]]): item for item in drawn["edges"]}
    curves = tuple(_read_curve(a, b, found[a, b], point) for a, b, _ in edges)
    return Layout(width, height, (), curves), placed


def _read_curve(tail: int, head: int, item: dict[str, Any], point: Callable[[str], Point]) -> Curve:
    parts = item["pos"].split(" ")
    tip = point(parts.pop(0)[2:]) if parts[0].startswith("e,") else None
    return Curve(tail, head, tuple(point(part) for part in parts), tip)


def _plain_layers(sizes: Sequence[Box], edges: Sequence[Link], linked: Sequence[int]) -> tuple[Layout, dict[int, Box]]:
    """Lay the layers out ourselves."""
    tall = sizes[linked[0]].height
    depth = _depths(edges, _order(edges, linked))
    paths = _paths(edges, depth)
    rows = _sweep(linked, depth, paths)
    widths = {key: sizes[key].width if isinstance(key, int) else PASSING for row in rows for key in row}
    width = max(sum(widths[key] for key in row) + BETWEEN * (len(row) - 1) for row in rows)
    places: dict[Key, Point] = {}
    for level, row in enumerate(rows):
        x = (width - sum(widths[key] for key in row) - BETWEEN * (len(row) - 1)) / 2
        for key in row:
            places[key] = x + widths[key] / 2, level * LAYER + tall / 2
            x += widths[key] + BETWEEN
    curves = tuple(_bend(edge, [places[key] for key in path], tall) for path, edge in zip(paths, edges, strict=True))
    placed = {i: replace(sizes[i], x=places[i][0] + PAD, y=places[i][1] + PAD) for i in linked}
    return Layout(width, (len(rows) - 1) * LAYER + tall, (), curves), placed


def _order(edges: Sequence[Link], linked: Sequence[int]) -> dict[int, int]:
    """Return the place of every node in an order in which causes stand before their effects."""
    left, order = list(linked), dict[int, int]()
    while left:
        ready = [n for n in left if all(not d or b != n or a in order for a, b, d in edges)]
        order[ready[0] if ready else left[0]] = len(order)
        left = [n for n in left if n not in order]
    return order


def _depths(edges: Sequence[Link], order: dict[int, int]) -> dict[int, int]:
    """Return the layer of every node: below all that stand before it, and first causes close to their effects."""
    near = {node: [a if b == node else b for a, b, _ in edges if node in (a, b)] for node in order}
    depth = dict.fromkeys(order, 0)
    for node, place in order.items():
        depth[node] = max((depth[o] + 1 for o in near[node] if order[o] < place), default=0)
    for node, place in order.items():
        if all(order[o] > place for o in near[node]):
            depth[node] = min(depth[o] for o in near[node]) - 1
    return depth


def _paths(edges: Sequence[Link], depth: dict[int, int]) -> list[list[Key]]:
    """Return every edge's places from its upper to its lower end: a box, places that it passes, a box."""
    paths: list[list[Key]] = []
    for number, (a, b, _) in enumerate(edges):
        upper, lower = (a, b) if depth[a] < depth[b] else (b, a)
        paths.append([upper, *((number, level) for level in range(depth[upper] + 1, depth[lower])), lower])
    return paths


def _sweep(linked: Sequence[int], depth: dict[int, int], paths: Sequence[list[Key]]) -> list[list[Key]]:
    """Return the layers, each ordered by where what is above and below it stands."""
    rows: list[list[Key]] = [[] for _ in range(max(depth.values()) + 1)]
    near: dict[Key, list[Key]] = {}
    for node in linked:
        rows[depth[node]].append(node)
    for path in paths:
        for key in path[1:-1]:
            rows[key[1] if isinstance(key, tuple) else 0].append(key)
        for one, other in pairwise(path):
            near.setdefault(one, []).append(other)
            near.setdefault(other, []).append(one)
    for _ in range(SWEEPS):
        at = {key: (i + 0.5) / len(row) for row in rows for i, key in enumerate(row)}
        for row in rows:
            row.sort(key=lambda key: sum(at[other] for other in near[key]) / len(near[key]))
            at |= {key: (i + 0.5) / len(row) for i, key in enumerate(row)}
    return rows


def _bend(edge: Link, through: list[Point], tall: float) -> Curve:
    """Return a curve through places."""
    tail, head, directed = edge
    (x0, y0), (x1, y1) = through[0], through[-1]
    top = y1 - tall / 2
    stops = [(x0, y0 + tall / 2), *through[1:-1], (x1, top - ARROW_LENGTH if directed else top)]
    points = [stops[0]]
    for (xa, ya), (xb, yb) in pairwise(stops):
        middle = (ya + yb) / 2
        points += [(xa, middle), (xb, middle), (xb, yb)]
    padded = tuple((x + PAD, y + PAD) for x, y in points)
    return Curve(tail, head, padded, (x1 + PAD, top + PAD) if directed else None)


def _rows(boxes: dict[int, Box], alone: Sequence[int], layers: Layout) -> tuple[float, float]:
    """Put columns without an edge into rows below the layers; return the size of the whole."""
    wide = max(layers.width, NARROWEST_ROW)
    x, y = 0.0, layers.height + (2 * GAP if layers.curves else 0.0) + BOX_HEIGHT / 2
    right, bottom = layers.width, layers.height
    for i in alone:
        box = boxes[i]
        if x and x + box.width > wide:
            x, y = 0.0, y + BOX_HEIGHT + GAP
        boxes[i] = replace(box, x=x + box.width / 2 + PAD, y=y + PAD)
        x += box.width + GAP
        right, bottom = max(right, x - GAP), y + BOX_HEIGHT / 2
    return right + 2 * PAD, bottom + 2 * PAD


def _place_labels(curves: Sequence[Curve], boxes: Sequence[Box]) -> tuple[Curve, ...]:
    """Return the curves with a place for a number on each: near its middle, on no box and if possible on no other."""
    taken: list[Point] = []
    found = []
    for curve in curves:
        places = [curve.at(share) for share in _SHARES]
        free = [p for p in places if not any(_overlaps(p, (b.x, b.y), b.width, b.height) for b in boxes)]
        alone = [p for p in free if not any(_overlaps(p, other, *LABEL) for other in taken)]
        place = (alone or free or places)[0]
        taken.append(place)
        found.append(replace(curve, label=place))
    return tuple(found)


def _overlaps(label: Point, other: Point, width: float, height: float) -> bool:
    return abs(label[0] - other[0]) < (LABEL[0] + width) / 2 and abs(label[1] - other[1]) < (LABEL[1] + height) / 2
