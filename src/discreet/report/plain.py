"""Layers without Graphviz: for machines on which its wheel finds no system libraries. Plainer, never absent.

Every edge leads from an upper layer to a lower one; where it passes layers in between, a place is kept for it there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

Point = tuple[float, float]
Edge = tuple[int, int, bool]

ROW = 66.0
"""From one layer to the next."""

BETWEEN = 18.0
PASSING = 12.0
"""Width of the place that an edge takes where it passes a layer."""

ARROW = 9.0
SWEEPS = 12


def plain_layers(
    sizes: Sequence[tuple[float, float]], edges: Sequence[Edge], linked: Sequence[int]
) -> tuple[float, float, dict[int, Point], list[tuple[list[Point], Point | None]]]:
    """Return width, height, the centre of every linked box, and the points and the tip of every edge."""
    depth = _depths(edges, _order(edges, linked))
    paths = _paths(edges, depth)
    rows = _swept(linked, depth, paths)
    widths = {key: sizes[key][0] if isinstance(key, int) else PASSING for row in rows for key in row}
    width = max(sum(widths[key] for key in row) + BETWEEN * (len(row) - 1) for row in rows)
    places: dict[int | tuple[int, int], Point] = {}
    for level, row in enumerate(rows):
        x = (width - sum(widths[key] for key in row) - BETWEEN * (len(row) - 1)) / 2
        for key in row:
            places[key] = x + widths[key] / 2, level * ROW + sizes[linked[0]][1] / 2
            x += widths[key] + BETWEEN
    curves = [
        _curve([places[key] for key in path], sizes[linked[0]][1], edge)
        for path, edge in zip(paths, edges, strict=True)
    ]
    height = (len(rows) - 1) * ROW + sizes[linked[0]][1]
    return width, height, {i: places[i] for i in linked}, curves


def _order(edges: Sequence[Edge], linked: Sequence[int]) -> dict[int, int]:
    """Return the place of every node in an order in which causes stand before their effects."""
    left, order = list(linked), dict[int, int]()
    while left:
        ready = [n for n in left if all(not d or b != n or a in order for a, b, d in edges)]
        order[ready[0] if ready else left[0]] = len(order)
        left = [n for n in left if n not in order]
    return order


def _depths(edges: Sequence[Edge], order: dict[int, int]) -> dict[int, int]:
    """Return the layer of every node: below all that stand before it, and first causes close to their effects."""
    near = {node: [a if b == node else b for a, b, _ in edges if node in (a, b)] for node in order}
    depth = dict.fromkeys(order, 0)
    for node, place in order.items():
        depth[node] = max((depth[o] + 1 for o in near[node] if order[o] < place), default=0)
    for node, place in order.items():
        if all(order[o] > place for o in near[node]):
            depth[node] = min(depth[o] for o in near[node]) - 1
    return depth


Key = int | tuple[int, int]


def _paths(edges: Sequence[Edge], depth: dict[int, int]) -> list[list[Key]]:
    """Return every edge's places from its upper to its lower end: a box, places that it passes, a box."""
    paths: list[list[Key]] = []
    for number, (a, b, _) in enumerate(edges):
        upper, lower = (a, b) if depth[a] < depth[b] else (b, a)
        paths.append([upper, *((number, level) for level in range(depth[upper] + 1, depth[lower])), lower])
    return paths


def _swept(linked: Sequence[int], depth: dict[int, int], paths: Sequence[list[Key]]) -> list[list[Key]]:
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


def _curve(through: list[Point], tall: float, edge: Edge) -> tuple[list[Point], Point | None]:
    """Return the points of a Bezier curve through places, and where its arrow points."""
    (x0, y0), (x1, y1) = through[0], through[-1]
    directed = edge[2]
    top = y1 - tall / 2
    stops = [(x0, y0 + tall / 2), *through[1:-1], (x1, top - ARROW if directed else top)]
    points = [stops[0]]
    for (xa, ya), (xb, yb) in pairwise(stops):
        middle = (ya + yb) / 2
        points += [(xa, middle), (xb, middle), (xb, yb)]
    return points, (x1, top) if directed else None
