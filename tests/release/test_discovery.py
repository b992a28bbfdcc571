"""Releases as files: those of an earlier schema are read, searched to the same graph, and written with marks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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
