"""The result: a graph whose edges have a mark at either end, and how near it is to another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import combinations
from typing import Any

from discreet.errors import SettingError

Arc = tuple[str, str]
Pair = frozenset[str]


SHOWN = 12
"""Nodes and edges that a repr names."""


class Mark(StrEnum):
    """What stands at an end of an edge."""

    TAIL = "tail"
    ARROW = "arrow"
    CIRCLE = "circle"


class Kind(StrEnum):
    """What a graph stands for, and so what its marks mean.

    In a CPDAG, a class of directed acyclic graphs, tail and arrow are a cause and its effect, two tails a direction
    that the class does not share. In a PAG, a class of graphs with hidden causes, a circle is a mark that the class
    does not share, two arrows have a hidden common cause, and two tails are selected together.
    """

    CPDAG = "cpdag"
    PAG = "pag"


_RANK = {Mark.TAIL: 0, Mark.CIRCLE: 1, Mark.ARROW: 2}


@dataclass(frozen=True, eq=False)
class Edge:
    """Two different nodes, and the mark at each: equal whichever way round it is written.

    ``a`` has the weaker mark, from tail over circle to arrow: an arrow points from a to b.
    """

    a: str
    b: str
    at_a: Mark
    at_b: Mark

    def __post_init__(self) -> None:
        if self.a == self.b:
            raise SettingError("graph: an edge joins two different nodes of the graph")
        try:
            ends = [(self.a, Mark(self.at_a)), (self.b, Mark(self.at_b))]
        except ValueError:
            raise SettingError(f"graph: a mark is one of {', '.join(Mark)}") from None
        (a, at_a), (b, at_b) = sorted(ends, key=lambda end: _RANK[end[1]])
        for name, value in {"a": a, "b": b, "at_a": at_a, "at_b": at_b}.items():
            object.__setattr__(self, name, value)

    def _ends(self) -> frozenset[tuple[str, Mark]]:
        return frozenset(((self.a, self.at_a), (self.b, self.at_b)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Edge) and self._ends() == other._ends()

    def __hash__(self) -> int:
        return hash(self._ends())

    def turned(self) -> Edge:
        """Return it the other way round, if its marks are equal."""
        return Edge(self.b, self.a, self.at_b, self.at_a)

    @property
    def pair(self) -> Pair:
        """The two nodes."""
        return frozenset((self.a, self.b))

    @property
    def directed(self) -> bool:
        """Whether it says that the first node causes the second."""
        return (self.at_a, self.at_b) == (Mark.TAIL, Mark.ARROW)

    @property
    def undirected(self) -> bool:
        """Whether it has two tails."""
        return (self.at_a, self.at_b) == (Mark.TAIL, Mark.TAIL)


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Graph:
    """A graph over named nodes, with a mark at either end of every edge.

    Two graphs are equal if they are of the same kind and have the same nodes and the same marked edges, in whatever
    order.

    Parameters
    ----------
    nodes
        Their names.
    directed, undirected
        Edges from a tail to an arrow, and edges with two tails.
    edges
        Edges with any marks.
    kind
        What the graph stands for.
    """

    nodes: tuple[str, ...]
    marked: frozenset[Edge]
    """All edges, with their marks."""
    kind: Kind

    def __init__(
        self,
        nodes: Iterable[str],
        directed: Iterable[Arc] = (),
        undirected: Iterable[Iterable[str]] = (),
        *,
        edges: Iterable[Edge] = (),
        kind: Kind = Kind.CPDAG,
    ) -> None:
        try:
            nodes = tuple(nodes)
            given = [Edge(a, b, Mark.TAIL, Mark.ARROW) for a, b in directed]
            given += [_undirected(pair) for pair in undirected]
            given += edges
        except (TypeError, ValueError):
            raise SettingError("graph: names of nodes, and pairs of them") from None
        if kind not in tuple(Kind):
            raise SettingError(f"graph: the kind is one of {', '.join(Kind)}")
        for name, value in {"nodes": nodes, "marked": frozenset(given), "kind": Kind(kind)}.items():
            object.__setattr__(self, name, value)
        pairs = [edge.pair for edge in given]
        if not set(self.nodes).issuperset(n for pair in pairs for n in pair):
            raise SettingError("graph: an edge joins two different nodes of the graph")
        if len(set(pairs)) != len(pairs) or len(set(self.nodes)) != len(self.nodes):
            raise SettingError("graph: a node or an edge stands twice")
        if self.kind is Kind.CPDAG and not all(edge.directed or edge.undirected for edge in self.marked):
            raise SettingError("graph: a CPDAG has arrows and lines only; circles and double arrows are for a PAG")

    def __repr__(self) -> str:
        drawn = {Mark.TAIL: "--", Mark.ARROW: "<>", Mark.CIRCLE: "oo"}
        edges = [f"{e.a} {drawn[e.at_a][0]}-{drawn[e.at_b][1]} {e.b}" for e in self.edges()]
        more = [f"and {len(edges) - SHOWN} more"] if len(edges) > SHOWN else []
        nodes = f"over {', '.join(self.nodes)}" if len(self.nodes) <= SHOWN else f"of {len(self.nodes)} nodes"
        return f"<Graph ({self.kind}) {nodes}: {', '.join(edges[:SHOWN] + more) or 'no edges'}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return (set(self.nodes), self.marked, self.kind) == (set(other.nodes), other.marked, other.kind)

    def __hash__(self) -> int:
        return hash((frozenset(self.nodes), self.marked, self.kind))

    @cached_property
    def directed(self) -> frozenset[Arc]:
        """Edges from a cause to its effect."""
        return frozenset((edge.a, edge.b) for edge in self.marked if edge.directed)

    @cached_property
    def undirected(self) -> frozenset[Pair]:
        """Edges with two tails."""
        return frozenset(edge.pair for edge in self.marked if edge.undirected)

    @cached_property
    def skeleton(self) -> frozenset[Pair]:
        """All adjacent pairs."""
        return frozenset(edge.pair for edge in self.marked)

    def neighbors(self, node: str) -> frozenset[str]:
        """Return all nodes adjacent to a node."""
        return frozenset(other for pair in self.skeleton if node in pair for other in pair if other != node)

    def edges(self) -> Iterator[Edge]:
        """Yield all edges in node order; of two equal marks, that of the earlier node comes first."""
        place = {node: i for i, node in enumerate(self.nodes)}
        found = [e.turned() if e.at_a is e.at_b and place[e.a] > place[e.b] else e for e in self.marked]
        yield from sorted(found, key=lambda e: (place[e.a], place[e.b]))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; ``from_dict`` reads it back."""
        edges = [
            {
                "from": edge.a,
                "to": edge.b,
                "directed": edge.directed,
                "from_mark": edge.at_a.value,
                "to_mark": edge.at_b.value,
                "confidence": None,
                "arrow_confidence": None,
            }
            for edge in self.edges()
        ]
        return {"kind": self.kind.value, "nodes": list(self.nodes), "edges": edges}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Graph:
        """Read a graph from plain data; without marks, as before they were written, edges are directed or not."""
        edges = []
        for e in data["edges"]:
            usual = Mark.TAIL, Mark.ARROW if e["directed"] else Mark.TAIL
            edges.append(Edge(e["from"], e["to"], Mark(e.get("from_mark", usual[0])), Mark(e.get("to_mark", usual[1]))))
        return cls(data["nodes"], edges=edges, kind=Kind(data.get("kind", Kind.CPDAG)))


def _undirected(pair: Iterable[str]) -> Edge:
    ends = tuple(pair)
    if len(ends) != 2:
        raise SettingError("graph: an edge joins two different nodes of the graph")
    return Edge(*ends, Mark.TAIL, Mark.TAIL)


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
    return _f1(found.marked, true.marked)


def shd(found: Graph, true: Graph) -> int:
    """Structural Hamming distance: one for each missing, extra or wrongly marked edge."""
    return len({edge.pair for edge in found.marked ^ true.marked})
