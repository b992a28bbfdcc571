"""Graphs: equality, distances, and other libraries' words for them."""

from __future__ import annotations

import itertools
import json
import sys

import networkx as nx
import numpy as np
import pytest

from discreet.errors import SettingError
from discreet.search.graph import Graph, colliders, cpdag_f1, shd, skeleton_f1
from discreet.search.interop import (
    extensions,
    from_networkx,
    to_causal_learn,
    to_dot,
    to_dowhy,
    to_general_graph,
    to_gml,
    to_json,
    to_networkx,
    to_pgmpy,
)
from discreet.search.orientation import cpdag

TRUE = Graph(("a", "b", "c", "d"), frozenset({("a", "c"), ("b", "c")}), frozenset({frozenset("cd")}))


def test_order_does_not_matter_for_equality():
    other = Graph(("d", "c", "b", "a"), frozenset({("b", "c"), ("a", "c")}), frozenset({frozenset("dc")}))
    assert other == TRUE
    assert hash(other) == hash(TRUE)
    assert Graph(("a", "b", "c", "d"), frozenset({("c", "a"), ("b", "c")})) != TRUE
    assert TRUE != "graph"


def test_metrics_by_hand():
    # found: a -> c right, c -> b wrong mark, a - d extra, c - d missing
    found = Graph(TRUE.nodes, frozenset({("a", "c"), ("c", "b")}), frozenset({frozenset("ad")}))
    assert skeleton_f1(found, TRUE) == pytest.approx(2 * 2 / 6)
    assert cpdag_f1(found, TRUE) == pytest.approx(2 * 1 / 6)
    assert shd(found, TRUE) == 3
    assert (skeleton_f1(TRUE, TRUE), cpdag_f1(TRUE, TRUE), shd(TRUE, TRUE)) == (1, 1, 0)
    empty = Graph(TRUE.nodes)
    assert (skeleton_f1(empty, TRUE), skeleton_f1(empty, empty), shd(empty, TRUE)) == (0, 1, 3)


@pytest.mark.parametrize(
    ("directed", "undirected"),
    [
        ({("a", "a")}, set()),
        ({("a", "z")}, set()),
        ({("a", "b"), ("b", "a")}, set()),
        ({("a", "b")}, {frozenset("ab")}),
        (set(), {frozenset("a")}),
    ],
)
def test_graphs_that_make_no_sense(directed, undirected):
    with pytest.raises(SettingError):
        Graph(("a", "b"), frozenset(directed), frozenset(undirected))


def test_networkx_and_back():
    assert from_networkx(to_networkx(TRUE)) == TRUE
    assert to_networkx(TRUE).edges["c", "d"]["directed"] is False
    lines = nx.Graph([("a", "b")])
    assert from_networkx(lines) == Graph(("a", "b"), undirected=frozenset({frozenset("ab")}))


def test_causal_learn_matrix():
    matrix = to_causal_learn(TRUE)
    expected = np.zeros((4, 4), dtype=int)
    expected[0, 2], expected[2, 0] = -1, 1  # a -> c: a tail at a, an arrowhead at c
    expected[1, 2], expected[2, 1] = -1, 1
    expected[2, 3] = expected[3, 2] = -1
    np.testing.assert_array_equal(matrix, expected)


def test_gml_dot_json():
    back = nx.parse_gml(to_gml(TRUE))
    assert set(back.nodes) == set("abcd")
    assert back.edges["c", "d"]["kind"] == "undirected"
    assert back.edges["a", "c"]["kind"] == "directed"
    assert "n2 -> n3 [dir=none];" in to_dot(TRUE)
    assert Graph.from_dict(json.loads(to_json(TRUE))) == TRUE


def test_hostile_names_stay_names():
    hostile = ('<b>x</b>"', "back\\slash\\N", "a -> b; evil [URL=x]", "ünïcode 😀", "A&amp;E", "&#1;")
    graph = Graph(hostile, frozenset({(hostile[0], hostile[1])}))
    assert set(nx.parse_gml(to_gml(graph)).nodes) == set(hostile)
    assert '[label="<b>x</b>\\""]' in to_dot(graph)
    assert '[label="back\\\\slash\\\\N"]' in to_dot(graph)


def _by_brute_force(graph):
    """All directions of the lines that make no circle and no new collider."""
    lines = [tuple(sorted(line)) for line in graph.undirected]
    for turned in itertools.product((False, True), repeat=len(lines)):
        arcs = {(b, a) if turn else (a, b) for (a, b), turn in zip(lines, turned, strict=True)}
        dag = Graph(graph.nodes, graph.directed | arcs)
        if nx.is_directed_acyclic_graph(nx.DiGraph(list(dag.directed))) and colliders(dag) == colliders(graph):
            yield dag


def test_extensions_are_all_graphs_of_the_class_each_once():
    rng = np.random.default_rng(5)
    sizes = []
    for _ in range(60):
        nodes = tuple(rng.permutation(list("abcdef")))
        arcs = frozenset(arc for arc in itertools.combinations(nodes, 2) if rng.random() < 0.5)
        graph = cpdag(Graph(nodes, arcs))
        found = list(extensions(graph))
        assert len(found) == len(set(found))
        assert set(found) == set(_by_brute_force(graph))
        assert Graph(nodes, arcs) in found
        sizes.append(len(found))
    assert max(sizes) > 20


def test_extensions_keep_arrows_and_there_is_always_one():
    chain = Graph(("a", "b", "c"), frozenset({("b", "c")}), frozenset({frozenset("ab")}))
    assert list(extensions(chain)) == [Graph(chain.nodes, chain.directed | {arc}) for arc in (("a", "b"), ("b", "a"))]
    ring = Graph(tuple("abcd"), undirected=frozenset(map(frozenset, ("ab", "bc", "cd", "da"))))
    (only,) = extensions(ring)
    assert only.skeleton == ring.skeleton
    assert not only.undirected


def test_dowhy_gets_directed_acyclic_graphs_only():
    for dag in extensions(TRUE):
        assert set(to_dowhy(dag).edges) == dag.directed
        assert set(to_dowhy(dag).nodes) == set(TRUE.nodes)
    with pytest.raises(SettingError, match="extensions"):
        to_dowhy(TRUE)
    with pytest.raises(SettingError, match="circle"):
        to_dowhy(Graph(tuple("abc"), frozenset({("a", "b"), ("b", "c"), ("c", "a")})))


@pytest.mark.parametrize(("to_theirs", "package"), [(to_general_graph, "causal-learn"), (to_pgmpy, "pgmpy")])
def test_a_library_that_is_not_there_is_named(to_theirs, package, monkeypatch):
    for name in ("causallearn.graph.Edge", "pgmpy.base"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(SettingError, match=f"pip install {package}"):
        to_theirs(TRUE)
