"""The result: a graph with directed and undirected edges (a CPDAG), and how near it is to another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from discreet.errors import SettingError

Arc = tuple[str, str]
Pair = frozenset[str]


@dataclass(frozen=True, eq=False)
class Graph:
    """A partially directed graph over named nodes.

    Two graphs are equal if they have the same nodes and the same marked edges, in whatever order.
    """

    nodes: tuple[str, ...]
    directed: frozenset[Arc] = field(default_factory=frozenset)
    undirected: frozenset[Pair] = field(default_factory=frozenset)

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", tuple(self.nodes))
        object.__setattr__(self, "directed", frozenset(self.directed))
        object.__setattr__(self, "undirected", frozenset(frozenset(pair) for pair in self.undirected))
        pairs = [frozenset(arc) for arc in self.directed] + list(self.undirected)
        if any(len(pair) != 2 for pair in pairs) or not set(self.nodes).issuperset(n for p in pairs for n in p):
            raise SettingError("graph: an edge joins two different nodes of the graph")
        if len(set(pairs)) != len(pairs) or len(set(self.nodes)) != len(self.nodes):
            raise SettingError("graph: a node or an edge stands twice")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return set(self.nodes) == set(other.nodes) and self.marks == other.marks

    def __hash__(self) -> int:
        return hash((frozenset(self.nodes), self.marks))

    @property
    def marks(self) -> frozenset[Arc | Pair]:
        """All marked edges: a tuple for an arrow, a frozenset for a line."""
        return frozenset(self.directed) | frozenset(self.undirected)

    @property
    def skeleton(self) -> frozenset[Pair]:
        """All adjacent pairs."""
        return frozenset(frozenset(arc) for arc in self.directed) | self.undirected

    def neighbors(self, node: str) -> frozenset[str]:
        """Return all nodes adjacent to a node."""
        return frozenset(other for pair in self.skeleton if node in pair for other in pair if other != node)

    def edges(self) -> Iterator[tuple[str, str, bool]]:
        """Yield (from, to, directed) in node order."""
        place = {node: i for i, node in enumerate(self.nodes)}
        ordered = [sorted(pair, key=place.__getitem__) for pair in self.undirected]
        edges = [(a, b, False) for a, b in ordered] + [(a, b, True) for a, b in self.directed]
        yield from sorted(edges, key=lambda e: (place[e[0]], place[e[1]]))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; ``from_dict`` reads it back."""
        edges = [
            {"from": a, "to": b, "directed": d, "confidence": None, "arrow_confidence": None}
            for a, b, d in self.edges()
        ]
        return {"nodes": list(self.nodes), "edges": edges}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Graph:
        """Read a graph from plain data."""
        arrows = {(e["from"], e["to"]) for e in data["edges"] if e["directed"]}
        lines = {frozenset((e["from"], e["to"])) for e in data["edges"] if not e["directed"]}
        return cls(tuple(data["nodes"]), frozenset(arrows), frozenset(lines))


def from_parents(parents: Mapping[str, Iterable[str]]) -> Graph:
    """Return the directed graph in which each node has the given parents."""
    return Graph(tuple(parents), frozenset((p, node) for node, ps in parents.items() for p in ps))


def colliders(graph: Graph) -> frozenset[tuple[Pair, str]]:
    """Return the v-structures: ({x, y}, z) with x -> z <- y and x, y not adjacent."""
    parents: dict[str, list[str]] = {}
    for a, b in graph.directed:
        parents.setdefault(b, []).append(a)
    pairs = graph.skeleton
    return frozenset(
        (frozenset((x, y)), z)
        for z, causes in parents.items()
        for x, y in combinations(causes, 2)
        if frozenset((x, y)) not in pairs
    )


def _f1(found: frozenset[Any], true: frozenset[Any]) -> float:
    if not found and not true:
        return 1.0
    return 2 * len(found & true) / (len(found) + len(true))


def skeleton_f1(found: Graph, true: Graph) -> float:
    """F1 of the two sets of adjacent pairs."""
    return _f1(found.skeleton, true.skeleton)


def cpdag_f1(found: Graph, true: Graph) -> float:
    """F1 of the two sets of marked edges: right only if adjacency and mark agree. Compare two CPDAGs."""
    return _f1(found.marks, true.marks)


def shd(found: Graph, true: Graph) -> int:
    """Structural Hamming distance: one for each missing, extra or wrongly marked edge."""
    wrong_marks = {frozenset(mark) for mark in found.marks ^ true.marks}
    return len(wrong_marks)
