"""The graph in other libraries' words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from discreet.errors import SettingError
from discreet.graph import Graph
from discreet.search import orient

if TYPE_CHECKING:
    import networkx


def to_networkx(graph: Graph) -> networkx.DiGraph[str]:
    """Return a networkx graph. An undirected edge is two arcs; the attribute ``directed`` tells them apart."""
    import networkx

    result: networkx.DiGraph[str] = networkx.DiGraph()
    result.add_nodes_from(graph.nodes)
    for a, b, directed in graph.edges():
        result.add_edge(a, b, directed=directed)
        if not directed:
            result.add_edge(b, a, directed=False)
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
    """Return causal-learn's endpoint matrix: m[i, j] is the mark at i of the edge i-j, -1 a tail and 1 an arrowhead."""
    place = {node: i for i, node in enumerate(graph.nodes)}
    marks = np.zeros((len(place), len(place)), dtype=np.int_)
    for a, b, directed in graph.edges():
        marks[place[a], place[b]] = -1
        marks[place[b], place[a]] = 1 if directed else -1
    return marks


def to_general_graph(graph: Graph) -> Any:
    """Return causal-learn's GeneralGraph, which its own functions read. Needs causal-learn."""
    try:
        from causallearn.graph.Edge import Edge
        from causallearn.graph.Endpoint import Endpoint
        from causallearn.graph.GeneralGraph import GeneralGraph
        from causallearn.graph.GraphNode import GraphNode
    except ImportError:
        raise SettingError("causal-learn is not installed: pip install causal-learn") from None
    nodes = {name: GraphNode(name) for name in graph.nodes}
    result = GeneralGraph(list(nodes.values()))
    for a, b, directed in graph.edges():
        result.add_edge(Edge(nodes[a], nodes[b], Endpoint.TAIL, Endpoint.ARROW if directed else Endpoint.TAIL))
    return result


def to_pgmpy(graph: Graph) -> Any:
    """Return pgmpy's PDAG. Needs pgmpy."""
    try:
        from pgmpy.base import PDAG
    except ImportError:
        raise SettingError("pgmpy is not installed: pip install pgmpy") from None
    arrows = [(a, b) for a, b, directed in graph.edges() if directed]
    lines = [(a, b) for a, b, directed in graph.edges() if not directed]
    result = PDAG(directed_ebunch=arrows, undirected_ebunch=lines)
    result.add_nodes_from(graph.nodes)
    return result


def extensions(graph: Graph) -> Iterator[Graph]:
    """Yield every directed acyclic graph that the released one stands for, by names, each once; there may be very many.

    The rows do not tell them apart. An effect that differs between them is not known.
    """
    yield from orient.extensions(graph)


def to_dowhy(graph: Graph) -> networkx.DiGraph[str]:
    """Return a directed acyclic graph as DoWhy's ``CausalModel(graph=...)`` takes it.

    DoWhy reads no lines: hand over one graph of ``extensions`` after the other.
    """
    import networkx

    if graph.undirected:
        raise SettingError("graph: DoWhy needs every edge directed; take the graphs that extensions(graph) yields")
    result: networkx.DiGraph[str] = networkx.DiGraph()
    result.add_nodes_from(graph.nodes)
    result.add_edges_from((a, b) for a, b, _ in graph.edges())
    if not networkx.is_directed_acyclic_graph(result):
        raise SettingError("graph: DoWhy needs a graph without a circle of causes")
    return result


def to_gml(graph: Graph) -> str:
    """Return GML text: one edge an adjacency, with ``kind`` directed or undirected."""
    import networkx

    result: networkx.DiGraph[str] = networkx.DiGraph()
    result.add_nodes_from(graph.nodes)
    for a, b, directed in graph.edges():
        result.add_edge(a, b, kind="directed" if directed else "undirected")
    return "\n".join(networkx.generate_gml(result)) + "\n"


def to_dot(graph: Graph) -> str:
    """Return DOT text. Every name is quoted, so that none is taken for HTML, an entity or an escape."""
    names = {node: f"n{i}" for i, node in enumerate(graph.nodes)}
    lines = [f"  {names[node]} [label={_dot_text(node)}];" for node in graph.nodes]
    for a, b, directed in graph.edges():
        lines.append(f"  {names[a]} -> {names[b]}{'' if directed else ' [dir=none]'};")
    return "\n".join(["digraph discreet {", *lines, "}"]) + "\n"


def _dot_text(text: str) -> str:
    return '"' + text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"') + '"'


def to_json(graph: Graph) -> str:
    """Return JSON text."""
    return json.dumps(graph.to_dict(), ensure_ascii=False)
