"""Marks at the ends of edges, in every form in which people and other libraries see a graph."""

from __future__ import annotations

import re

import networkx as nx
import numpy as np
import pytest

from discreet.errors import SettingError
from discreet.report.svg import graph_svg
from discreet.report.terminal import ASCII, graph_text
from discreet.search.graph import Edge, Graph, Kind, Mark, cpdag_f1, shd, skeleton_f1
from discreet.search.interop import to_causal_learn, to_dot, to_dowhy, to_gml, to_networkx, to_pgmpy

TAIL, ARROW, CIRCLE = Mark.TAIL, Mark.ARROW, Mark.CIRCLE
PAG = Graph(
    "abcde",
    edges=[
        Edge("a", "b", TAIL, ARROW),
        Edge("b", "c", CIRCLE, ARROW),
        Edge("c", "d", ARROW, ARROW),
        Edge("d", "e", CIRCLE, CIRCLE),
        Edge("a", "e", TAIL, TAIL),
    ],
    kind=Kind.PAG,
)


def test_an_edge_is_the_same_either_way_round():
    assert Edge("a", "b", TAIL, ARROW) == Edge("b", "a", ARROW, TAIL)
    assert Edge("b", "a", ARROW, TAIL).a == "a"
    assert Edge("a", "b", CIRCLE, CIRCLE) == Edge("b", "a", CIRCLE, CIRCLE)
    assert Edge("a", "b", TAIL, ARROW) != Edge("a", "b", ARROW, TAIL)
    assert len({Edge("a", "b", TAIL, TAIL), Edge("b", "a", TAIL, TAIL)}) == 1


def test_what_is_no_mark_or_kind_is_refused():
    with pytest.raises(SettingError, match="tail, arrow, circle"):
        Edge("a", "b", "tail", "dot")
    with pytest.raises(SettingError, match="cpdag, pag"):
        Graph("ab", kind="dag")
    assert Edge("a", "b", "tail", "arrow") == Edge("a", "b", TAIL, ARROW)
    assert repr(Graph("ab", [("b", "a")])) == "<Graph (cpdag) over a, b: b --> a>"


def test_the_kind_decides_which_marks_there_are():
    with pytest.raises(SettingError, match="CPDAG"):
        Graph("ab", edges=[Edge("a", "b", CIRCLE, ARROW)])
    line = [Edge("a", "b", TAIL, TAIL)]
    assert Graph("ab", edges=line) != Graph("ab", edges=line, kind=Kind.PAG)


def test_metrics_look_at_both_marks():
    other = Graph(
        "abcde", edges=[*PAG.marked - {Edge("b", "c", CIRCLE, ARROW)}, Edge("b", "c", TAIL, ARROW)], kind="pag"
    )
    assert skeleton_f1(other, PAG) == 1
    assert cpdag_f1(other, PAG) == pytest.approx(4 / 5)
    assert shd(other, PAG) == 1


def test_other_libraries_get_the_marks():
    ends = to_causal_learn(PAG)
    assert ends.dtype == np.int_
    assert [ends[0, 1], ends[1, 0], ends[1, 2], ends[2, 1], ends[2, 3], ends[3, 2], ends[3, 4]] == [
        -1,
        1,
        2,
        1,
        1,
        1,
        2,
    ]
    arcs = to_networkx(PAG).edges(data=True)
    assert {(a, b): (d["from_mark"], d["to_mark"]) for a, b, d in arcs if "c" in (a, b)} == {
        ("b", "c"): ("circle", "arrow"),
        ("c", "b"): ("arrow", "circle"),
        ("c", "d"): ("arrow", "arrow"),
        ("d", "c"): ("arrow", "arrow"),
    }
    gml = nx.parse_gml(to_gml(PAG))
    assert gml.edges["b", "c"] == {"kind": "partial", "from_mark": "circle", "to_mark": "arrow"}
    assert gml.edges["a", "b"] == {"kind": "directed"}
    assert "dir=both, arrowtail=odot, arrowhead=normal" in to_dot(PAG)
    for convert in (to_pgmpy, to_dowhy):
        with pytest.raises(SettingError):
            convert(PAG)


def test_people_see_the_marks():
    drawn = [line.split() for line in graph_text(PAG, marks=ASCII, width=80).splitlines()]
    links = {(" ".join(words[:-2]), words[-1]): words[-2] for words in drawn if words}
    assert set(links.values()) == {"-->", "o->", "<->", "o-o", "---"}
    picture = graph_svg(PAG)
    said = re.findall(r"<title>([^<]*)</title>", picture)
    assert "a causes b" in said
    assert "c does not cause b" in said
    assert "c and d have a hidden common cause" in said
    assert picture.count("<circle") == 3
    assert picture.count("dc-head") == 4
