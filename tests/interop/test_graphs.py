"""A released graph in the hands of causal-learn, pgmpy and networkx: they read what was released."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from discreet.baselines.exact import ExactCounts, GTest
from discreet.data.memory import MemoryTable
from discreet.search.graph import Graph
from discreet.search.interop import extensions, from_networkx, to_causal_learn, to_general_graph, to_networkx, to_pgmpy
from discreet.search.orientation import cpdag
from discreet.simulation.networks import network
from truth import share


def _read_back(theirs) -> Graph:
    """Return causal-learn's graph in our words, by causal-learn's own questions."""
    names = [node.get_name() for node in theirs.get_nodes()]
    arrows, lines = set(), set()
    for edge in theirs.get_graph_edges():
        a, b = edge.get_node1(), edge.get_node2()
        pair = (a.get_name(), b.get_name())
        if theirs.is_directed_from_to(a, b):
            arrows.add(pair)
        elif theirs.is_directed_from_to(b, a):
            arrows.add(pair[::-1])
        else:
            assert theirs.is_undirected_from_to(a, b)
            lines.add(frozenset(pair))
    return Graph(tuple(names), frozenset(arrows), frozenset(lines))


def test_the_truth_was_found(handed):
    """What follows speaks of this graph: all arrows but one are known, and the line is between age and glasses."""
    assert handed.found.graph == cpdag(handed.network.dag)
    assert handed.found.graph.undirected == {frozenset(("age", "glasses"))}


def test_causal_learn_reads_the_same_edges_and_marks(handed):
    theirs = to_general_graph(handed.found.graph)
    assert _read_back(theirs) == handed.found.graph
    np.testing.assert_array_equal(to_causal_learn(handed.found.graph), theirs.graph)


def test_causal_learn_works_with_it(handed):
    """Its functions extend the graph to one of the class, return from there, and find no distance to itself."""
    from causallearn.graph.SHD import SHD
    from causallearn.utils.DAG2CPDAG import dag2cpdag
    from causallearn.utils.PDAG2DAG import pdag2dag

    graph = handed.found.graph
    dag = pdag2dag(to_general_graph(graph))
    assert _read_back(dag) in set(extensions(graph))
    assert _read_back(dag2cpdag(dag)) == graph
    assert SHD(to_general_graph(cpdag(handed.network.dag)), to_general_graph(graph)).get_shd() == 0
    wrong = Graph(graph.nodes, graph.directed - {("treated", "recovered")}, graph.undirected)
    assert SHD(to_general_graph(graph), to_general_graph(wrong)).get_shd() == 1


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


def test_pgmpy_reads_the_same_edges(handed):
    theirs, ours = to_pgmpy(handed.found.graph), handed.found.graph
    assert set(theirs.nodes) == set(ours.nodes)
    assert set(theirs.directed_edges) == ours.directed
    assert {frozenset(pair) for pair in theirs.undirected_edges} == ours.undirected
    dag = theirs.to_dag()
    assert Graph(ours.nodes, frozenset(dag.edges)) in set(extensions(ours))


def test_pgmpy_fits_synthetic_rows_and_answers(handed):
    """A Bayesian network over the released graph, fitted on released rows, answers as the true one does."""
    from pgmpy.inference import VariableElimination
    from pgmpy.models import DiscreteBayesianNetwork

    dag = next(extensions(handed.found.graph))
    model = DiscreteBayesianNetwork(list(to_networkx(dag).edges))
    model.fit(handed.rows)
    assert model.check_model()
    answer = VariableElimination(model).query(["returned"], evidence={"treated": "yes", "age": "old"})
    seen = {"treated": "yes", "age": "old"}
    true = share(handed.network, {"returned": "yes", **seen}) / share(handed.network, seen)
    assert answer.get_value(returned="yes") == pytest.approx(true, abs=0.02)


def test_networkx_reads_it_from_memory_and_from_the_file(handed):
    ours = handed.found.graph
    assert from_networkx(handed.found.to_networkx()) == ours
    file = nx.read_gml(handed.folder / "release" / "graph.gml")
    kinds = {"directed": set(), "undirected": set()}
    for a, b, kind in file.edges(data="kind"):
        kinds[kind].add((a, b))
    assert kinds["directed"] == ours.directed
    assert {frozenset(pair) for pair in kinds["undirected"]} == ours.undirected
    for dag in extensions(ours):
        theirs = to_networkx(dag)
        assert nx.is_d_separator(theirs, {"distance"}, {"recovered"}, {"treated", "age"})
        assert not nx.is_d_separator(theirs, {"distance"}, {"recovered"}, {"treated"})
