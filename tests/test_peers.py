"""Graphs in the hands of other libraries, with those libraries there."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.graph import Graph
from discreet.interop import to_causal_learn, to_pgmpy
from discreet.networks import network
from discreet.oracles.exact import ExactCounts, GTest
from discreet.tables.memory import MemoryTable

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

GRAPH = Graph(("a", "b", "c", "d", "e"), frozenset({("a", "c"), ("b", "c")}), frozenset({frozenset("cd")}))


def test_causal_learn_reads_the_same_edges():
    from causallearn.graph.Edge import Edge
    from causallearn.graph.Endpoint import Endpoint
    from causallearn.graph.GeneralGraph import GeneralGraph
    from causallearn.graph.GraphNode import GraphNode

    nodes = {name: GraphNode(name) for name in GRAPH.nodes}
    theirs = GeneralGraph(list(nodes.values()))
    theirs.add_directed_edge(nodes["a"], nodes["c"])
    theirs.add_directed_edge(nodes["b"], nodes["c"])
    theirs.add_edge(Edge(nodes["c"], nodes["d"], Endpoint.TAIL, Endpoint.TAIL))
    np.testing.assert_array_equal(to_causal_learn(GRAPH), theirs.graph)


def test_pgmpy_reads_the_same_edges():
    theirs = to_pgmpy(GRAPH)
    assert set(theirs.nodes) == set(GRAPH.nodes)
    assert set(theirs.directed_edges) == GRAPH.directed
    assert {frozenset(pair) for pair in theirs.undirected_edges} == GRAPH.undirected


def test_causal_learn_finds_the_same_p_values():
    from causallearn.utils.cit import CIT

    net, rng = network("child"), np.random.default_rng(0)
    codes = net.sample_codes(5_000, rng)
    names, sizes = list(codes), {name: len(node.levels) for name, node in net.nodes.items()}
    ours = GTest(ExactCounts(MemoryTable(codes, sizes), sizes))
    theirs = CIT(np.column_stack([codes[name].astype(np.int64) for name in names]), "gsq")
    for order in (0, 1, 2, 3) * 10:
        x, y, *given = rng.choice(len(names), 2 + order, replace=False).tolist()
        verdict = ours.ask(names[x], names[y], frozenset(names[z] for z in given))
        assert verdict.p_value == pytest.approx(theirs(x, y, given), abs=1e-8)
