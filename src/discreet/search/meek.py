"""A graph while it is being oriented: Meek's rules, and whether it can be extended to a directed acyclic graph.

Meek 1995, *Causal inference and causal explanation with background knowledge* (rules 1-4); Dor & Tarsi 1992, *A simple
algorithm to construct a consistent extension of a partially oriented graph*.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.search.graph import Arc, Graph, Pair

Triple = tuple[Pair, str]
"""Two nodes that are not adjacent, and a node adjacent to both."""


class Pattern:
    """A partially directed graph while it is being oriented."""

    def __init__(self, nodes: Iterable[str], pairs: Iterable[Pair], unclear: frozenset[Triple] = frozenset()) -> None:
        self.unclear = unclear
        self.parents: dict[str, set[str]] = {n: set() for n in nodes}
        self.children: dict[str, set[str]] = {n: set() for n in self.parents}
        self.lines: dict[str, set[str]] = {n: set() for n in self.parents}
        for pair in pairs:
            a, b = pair
            self.lines[a].add(b)
            self.lines[b].add(a)

    def copy(self) -> Pattern:
        """Return an independent copy."""
        other = Pattern(self.parents, (), self.unclear)
        for name in ("parents", "children", "lines"):
            setattr(other, name, {n: set(s) for n, s in getattr(self, name).items()})
        return other

    def around(self, node: str) -> set[str]:
        """Return all nodes adjacent to a node."""
        return self.parents[node] | self.children[node] | self.lines[node]

    def adjacent(self, a: str, b: str) -> bool:
        """Whether two nodes are adjacent."""
        return b in self.lines[a] or b in self.parents[a] or b in self.children[a]

    def silent(self, a: str, middle: str, b: str) -> bool:
        """Whether a triple says nothing: its ends are adjacent, or it is unclear."""
        return self.adjacent(a, b) or (frozenset((a, b)), middle) in self.unclear

    def direct(self, a: str, b: str) -> None:
        """Turn the line a - b into a -> b."""
        self.lines[a].discard(b)
        self.lines[b].discard(a)
        self.children[a].add(b)
        self.parents[b].add(a)

    def reaches(self, a: str, b: str) -> bool:
        """Whether arrows lead from a to b."""
        stack, seen = [a], {a}
        while stack:
            for child in self.children[stack.pop()]:
                if child == b:
                    return True
                if child not in seen:
                    seen.add(child)
                    stack.append(child)
        return False

    def graph(self, nodes: Sequence[str]) -> Graph:
        """Return it as a graph."""
        arrows = {(a, b) for a, children in self.children.items() for b in children}
        lines = {frozenset((a, b)) for a, others in self.lines.items() for b in others}
        return Graph(tuple(nodes), frozenset(arrows), frozenset(lines))


def close(pattern: Pattern, knowledge: Knowledge = NOTHING_KNOWN) -> None:
    """Apply Meek's four rules until nothing changes."""
    changed = True
    while changed:
        changed = False
        for a in pattern.lines:
            for b in sorted(pattern.lines[a]):
                if _meek(pattern, a, b) and knowledge.allows(a, b):
                    pattern.direct(a, b)
                    changed = True


def _meek(p: Pattern, a: str, b: str) -> bool:
    """Whether a - b must become a -> b."""
    if any(not p.silent(c, a, b) for c in p.parents[a]):  # 1: c -> a - b would be a new collider
        return True
    if p.children[a] & p.parents[b]:  # 2: b -> a would close a cycle
        return True
    inner = p.lines[a] & p.parents[b]
    if any(not p.silent(c, a, d) for c, d in combinations(inner, 2)):  # 3
        return True
    for d in p.lines[a]:  # 4: d - a, d -> c -> b, c adjacent to a, d not adjacent to b
        if d != b and not p.silent(d, a, b) and any(p.adjacent(c, a) for c in p.children[d] & p.parents[b]):
            return True
    return False


def extend(pattern: Pattern, unclear: frozenset[Triple] = frozenset()) -> list[Arc] | None:
    """Return the arrows of a directed acyclic graph with the same skeleton, arrows and colliders, if there is one.

    Triples in ``unclear`` may become colliders.
    """
    rest = pattern.copy()
    rest.unclear = unclear
    remaining = sorted(rest.parents)
    arcs: list[Arc] = []
    while remaining:
        sink = next((n for n in remaining if _can_be_sink(rest, n)), None)
        if sink is None:
            return None
        arcs += remove_sink(rest, sink)
        remaining.remove(sink)
    return arcs


def _can_be_sink(p: Pattern, node: str) -> bool:
    """Whether a node has no children and its lines can point to it without a new collider."""
    if p.children[node]:
        return False
    around = p.around(node)
    return all(other == line or p.silent(other, node, line) for line in p.lines[node] for other in around)


def remove_sink(p: Pattern, sink: str) -> list[Arc]:
    """Take a node out and return the arrows that point to it."""
    arcs = [(other, sink) for other in sorted(p.around(sink))]
    for other in p.around(sink):
        p.lines[other].discard(sink)
        p.children[other].discard(sink)
    for side in (p.parents, p.children, p.lines):
        side.pop(sink)
    return arcs


def neighbours(nodes: Iterable[str], pairs: Iterable[Pair]) -> dict[str, set[str]]:
    """Return the nodes adjacent to each."""
    around: dict[str, set[str]] = {node: set() for node in nodes}
    for a, b in pairs:
        around[a].add(b)
        around[b].add(a)
    return around


def unshielded(nodes: Iterable[str], pairs: Iterable[Pair]) -> list[Triple]:
    """Return all triples of two nodes that are not adjacent and a node adjacent to both, in an order of names only."""
    held = set(pairs)
    around = sorted(neighbours(nodes, held).items())
    places = [(frozenset(ends), z) for z, near in around for ends in combinations(sorted(near), 2)]
    return [place for place in places if place[0] not in held]


def pairs_left(nodes: Iterable[str], *known: Iterable[Pair]) -> frozenset[Pair]:
    """Return all pairs of nodes but those that are known."""
    return frozenset(map(frozenset, combinations(nodes, 2))).difference(*known)


def arcs_on_cycles(arcs: Iterable[Arc]) -> set[Arc]:
    """Return the arrows that lie on a directed cycle."""
    remaining = set(arcs)
    while remaining:
        ends = {b for _, b in remaining} & {a for a, _ in remaining}
        inner = {(a, b) for a, b in remaining if a in ends and b in ends}
        if inner == remaining:
            return _keep_cyclic(remaining)
        remaining = inner
    return set()


def _keep_cyclic(arcs: set[Arc]) -> set[Arc]:
    """Return the arrows from whose head their tail can be reached."""
    pattern = Pattern({n for arc in arcs for n in arc}, {frozenset(arc) for arc in arcs})
    for a, b in arcs:
        pattern.direct(a, b)
    return {(a, b) for a, b in arcs if pattern.reaches(b, a)}
