"""Graphs: equality, distances, and other libraries' words for them."""

from __future__ import annotations

import json

import networkx as nx
import numpy as np
import pytest

from discreet.errors import SettingError
from discreet.graph import Graph, cpdag_f1, shd, skeleton_f1
from discreet.interop import from_networkx, to_causal_learn, to_dot, to_gml, to_json, to_networkx

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
