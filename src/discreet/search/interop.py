"""The graph in other libraries' words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from discreet.errors import SettingError
from discreet.search import orientation as orient
from discreet.search.graph import Edge, Graph, Kind, Mark

if TYPE_CHECKING:
    import networkx


def to_networkx(graph: Graph, facts: Mapping[Edge, Mapping[str, Any]] | None = None) -> networkx.DiGraph[str]:
    """Return a networkx graph. An edge without a direction is two arcs; the attribute ``directed`` tells them apart.

    An arc's ``from_mark`` and ``to_mark`` are the marks at its ends; ``facts`` are further attributes.
    """
    import networkx

    result: networkx.DiGraph[str] = networkx.DiGraph()
    result.add_nodes_from(graph.nodes)
    for edge in graph.edges():
        marks, known = (edge.at_a.value, edge.at_b.value), (facts or {}).get(edge, {})
        result.add_edge(edge.a, edge.b, directed=edge.directed, from_mark=marks[0], to_mark=marks[1], **known)
        if not edge.directed:
            result.add_edge(edge.b, edge.a, directed=False, from_mark=marks[1], to_mark=marks[0], **known)
    return result


def from_networkx(graph: networkx.Graph[Any]) -> Graph:
    """Return a graph from networkx. In a directed graph two opposite arcs are one undirected edge."""
    nodes = tuple(str(node) for node in graph.nodes)
    arcs = {(str(a), str(b)) for a, b in graph.edges}
    if not graph.is_directed():
        return Graph(nodes, undirected=frozenset(frozenset(arc) for arc in arcs))
    lines = {frozenset((a, b)) for a, b in arcs if (b, a) in arcs}
    return Graph(nodes, frozenset(arc for arc in arcs if frozenset(arc) not in lines), frozenset(lines))


def to_causal_learn(graph: Graph) -> npt.NDArray[np.int_]:
    """Return causal-learn's endpoint matrix: m[i, j] is the mark at i of the edge i-j.

    -1 is a tail, 1 an arrowhead, 2 a circle.
    """
    place = {node: i for i, node in enumerate(graph.nodes)}
    marks = np.zeros((len(place), len(place)), dtype=np.int_)
    numbers = {Mark.TAIL: -1, Mark.ARROW: 1, Mark.CIRCLE: 2}
    for edge in graph.edges():
        marks[place[edge.a], place[edge.b]] = numbers[edge.at_a]
        marks[place[edge.b], place[edge.a]] = numbers[edge.at_b]
    return marks


def to_general_graph(graph: Graph) -> Any:
    """Return causal-learn's GeneralGraph, which its own functions read. Needs causal-learn."""
    try:
        from causallearn.graph.Edge import Edge as Line
        from causallearn.graph.Endpoint import Endpoint
        from causallearn.graph.GeneralGraph import GeneralGraph
        from causallearn.graph.GraphNode import GraphNode
    except ImportError:
        raise SettingError("causal-learn is not installed: pip install causal-learn") from None
    nodes = {name: GraphNode(name) for name in graph.nodes}
    result = GeneralGraph(list(nodes.values()))
    ends = {Mark.TAIL: Endpoint.TAIL, Mark.ARROW: Endpoint.ARROW, Mark.CIRCLE: Endpoint.CIRCLE}
    for edge in graph.edges():
        result.add_edge(Line(nodes[edge.a], nodes[edge.b], ends[edge.at_a], ends[edge.at_b]))
    return result


def to_pgmpy(graph: Graph) -> Any:
    """Return pgmpy's PDAG. Needs pgmpy."""
    try:
        from pgmpy.base import PDAG
    except ImportError:
        raise SettingError("pgmpy is not installed: pip install pgmpy") from None
    if graph.kind is not Kind.CPDAG:
        raise SettingError("graph: pgmpy's PDAG has no marks for hidden causes; hand over a CPDAG")
    arrows = [(edge.a, edge.b) for edge in graph.edges() if edge.directed]
    lines = [(edge.a, edge.b) for edge in graph.edges() if edge.undirected]
    result = PDAG(directed_ebunch=arrows, undirected_ebunch=lines)
    result.add_nodes_from(graph.nodes)
    return result


def extensions(graph: Graph) -> Iterator[Graph]:
    """Yield every directed acyclic graph that the released one stands for, by names, each once; there may be very many.

    The rows do not tell them apart. An effect that differs between them is not known. Take the class (``found.graph``):
    what is drawn for people (``found.drawn``) may have no such graph.
    """
    yield from orient.extensions(graph)


def to_dowhy(graph: Graph) -> networkx.DiGraph[str]:
    """Return a directed acyclic graph as DoWhy's ``CausalModel(graph=...)`` takes it.

    DoWhy reads no lines: hand over one graph of ``extensions`` after the other.
    """
    import networkx

    if len(graph.directed) < len(graph.marked):
        raise SettingError("graph: DoWhy needs every edge directed; take the graphs that extensions(graph) yields")
    result: networkx.DiGraph[str] = networkx.DiGraph()
    result.add_nodes_from(graph.nodes)
    result.add_edges_from((edge.a, edge.b) for edge in graph.edges())
    if not networkx.is_directed_acyclic_graph(result):
        raise SettingError("graph: DoWhy needs a graph without a circle of causes")
    return result


def to_gml(graph: Graph, facts: Mapping[Edge, Mapping[str, Any]] | None = None) -> str:
    """Return GML text: one edge an adjacency, with ``kind`` directed, undirected or partial, and the marks of a PAG.

    ``facts`` are further attributes of edges; those that are None are left out.
    """
    import networkx

    result: networkx.DiGraph[str] = networkx.DiGraph()
    result.add_nodes_from(graph.nodes)
    for edge in graph.edges():
        kind = "directed" if edge.directed else "undirected" if edge.undirected else "partial"
        marks = {} if kind != "partial" else {"from_mark": edge.at_a.value, "to_mark": edge.at_b.value}
        known = {name: fact for name, fact in (facts or {}).get(edge, {}).items() if fact is not None}
        result.add_edge(edge.a, edge.b, kind=kind, **marks, **known)
    return "\n".join(networkx.generate_gml(result)) + "\n"


def to_dot(graph: Graph) -> str:
    """Return DOT text. Every name is quoted, so that none is taken for HTML, an entity or an escape."""
    names = {node: f"n{i}" for i, node in enumerate(graph.nodes)}
    lines = [f"  {names[node]} [label={_dot_text(node)}];" for node in graph.nodes]
    for edge in graph.edges():
        lines.append(f"  {names[edge.a]} -> {names[edge.b]}{_dot_ends(edge)};")
    return "\n".join(["digraph discreet {", *lines, "}"]) + "\n"


def _dot_ends(edge: Edge) -> str:
    """Return how the ends of an edge are drawn; nothing is said of an arrow."""
    if edge.directed or edge.undirected:
        return "" if edge.directed else " [dir=none]"
    shapes = {Mark.TAIL: "none", Mark.ARROW: "normal", Mark.CIRCLE: "odot"}
    return f" [dir=both, arrowtail={shapes[edge.at_a]}, arrowhead={shapes[edge.at_b]}]"


def _dot_text(text: str) -> str:
    return '"' + text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"') + '"'


def to_json(graph: Graph) -> str:
    """Return JSON text."""
    return json.dumps(graph.to_dict(), ensure_ascii=False)
