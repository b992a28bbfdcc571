"""Releases as files: those of an earlier schema are read, searched to the same graph, and written with marks."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import discreet as dc
from discreet.errors import ReleaseError
from discreet.release.discovery import Discovery
from discreet.release.search import search_again
from discreet.search.graph import Edge, Graph, Kind, Mark

FOLDER = Path(__file__).parent / "schema1"
GRAPHS = json.loads((FOLDER / "graphs.json").read_text(encoding="utf-8"))
RELEASES = ("marginals", "marginals-pure", "moments", "svt-pc")


@pytest.mark.parametrize("name", RELEASES)
def test_a_release_without_marks_is_read_and_written_with_them(name):
    before = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    assert before["schema"] == 1
    found = Discovery.load(FOLDER / f"{name}.json")
    after = json.loads(found.to_json())
    assert after["schema"] == 2
    assert after["graph"]["kind"] == "cpdag"
    old, new = before["graph"]["edges"], after["graph"]["edges"]
    assert [{key: edge[key] for key in old[0]} for edge in new] == old if old else not new
    for edge in new:
        assert (edge["from_mark"], edge["to_mark"]) == ("tail", "arrow" if edge["directed"] else "tail")
    assert {key: after[key] for key in ("measurements", "domain", "privacy")} == {
        key: before[key] for key in ("measurements", "domain", "privacy")
    }
    assert Discovery.from_json(found.to_json()).graph == found.graph


@pytest.mark.parametrize("search", sorted(GRAPHS))
def test_a_release_of_the_version_before_is_searched_to_the_same_graph(search):
    name, way = search.split(" ")
    graph = search_again(Discovery.load(FOLDER / f"{name}.json"), search_by=way).graph
    assert [[edge.a, edge.b, edge.directed] for edge in graph.edges()] == GRAPHS[search]


def test_another_schema_is_refused():
    data = json.loads((FOLDER / "marginals.json").read_text(encoding="utf-8"))
    with pytest.raises(ReleaseError, match="schema 3"):
        Discovery.from_json(json.dumps({**data, "schema": 3}))


def test_marks_of_hidden_causes_go_there_and_back():
    edges = [Edge("a", "b", Mark.CIRCLE, Mark.ARROW), Edge("b", "c", Mark.ARROW, Mark.ARROW)]
    graph = Graph("abc", edges=edges, kind=Kind.PAG)
    assert Graph.from_dict(json.loads(json.dumps(graph.to_dict()))) == graph
    assert not graph.directed
    assert graph.skeleton == {frozenset("ab"), frozenset("bc")}


@pytest.mark.parametrize("delta", [None, 0.0])
@pytest.mark.parametrize("method", ["marginals", "svt-pc", "em-pc", "flipped-top-k"])
def test_a_discovery_equals_itself_after_a_round_trip(method, delta, tmp_path):
    net = dc.network("cancer")
    data = net.sample(2_000, np.random.default_rng(0))
    found, other = (dc.discover(data, domain=net.domain(2_000), epsilon=9.0, delta=delta, method=method) for _ in "ab")
    found.save(tmp_path)
    for same in (pickle.loads(pickle.dumps(found)), dc.Discovery.load(tmp_path / "release.json")):  # noqa: S301
        assert same == found
        assert hash(same) == hash(found)
    assert other.measurements != found.measurements or not found.measurements
    if found.measurements:
        assert other != found
        assert dc.search_again(dc.Discovery.load(tmp_path / "release.json")) == found
        assert dc.search_again(found).confidence == found.confidence
        assert found.confidence
        with pytest.raises(dc.InputError, match="not overwritten"):
            other.save(tmp_path)
        dc.search_again(found, search_by="pc").save(tmp_path)


def test_reprs_are_a_short_line():
    net = dc.network("alarm")
    known = dc.Knowledge(tiers=(("CVP",), ("BP", "CO")), forbidden={("BP", "CO")})
    assert repr(known) == "<Knowledge: 1 forbidden, 2 tiers>"
    assert repr(dc.Knowledge()) == "<Knowledge: nothing>"
    assert "of 37 nodes" in repr(net.dag)
    assert repr(net.dag).endswith("and 34 more>")
    found = dc.discover(
        dc.network("cancer").sample(500, np.random.default_rng(0)), domain=dc.network("cancer").domain(500), epsilon=1.0
    )
    charges = "1 charge" if len(found.privacy.spent) == 1 else f"{len(found.privacy.spent)} charges"
    assert repr(found.privacy) == f"<Privacy: epsilon 1, delta 1e-06 for any one row; {charges}>"
    assert "interactions" in repr(found.measurements[0])
    assert all(len(repr(one)) < 400 for one in (net.dag, found, found.privacy, *found.measurements))
