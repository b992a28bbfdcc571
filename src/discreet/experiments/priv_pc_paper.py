"""What Wang, Pang, Song 2020 print, and what the graphs are that their code compares with.

Their Tables 1 to 3, each of their claims beside the tables that it is drawn from and beside what is measured here, and
F1 as their code computes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np

from discreet.baselines.published.sieve import Round
from discreet.experiments.harness import Row
from discreet.search.graph import Arc, Graph
from discreet.simulation.networks import network

SMALL, LARGE = ("earthquake", "cancer", "asia", "survey"), ("alarm", "sachs", "child")
"""As the paper groups them."""

EM_PC, SVT_PC, PRIV_PC, WHOLE = "EM-PC", "SVT-PC", "Priv-PC", "Priv-PC without sub-sampling"
"""Headings of Table 2."""

PUBLISHED_DATA = {
    "earthquake": (5, 4, "binary"),
    "cancer": (5, 4, "binary"),
    "asia": (8, 10, "binary"),
    "survey": (6, 6, "discrete"),
    "alarm": (37, 46, "discrete"),
    "sachs": (11, 17, "discrete"),
    "child": (20, 25, "discrete"),
}
"""The paper's Table 1: features, edges and type. All have 100,000 samples."""

PUBLISHED_SECONDS = {
    "earthquake": (176.04, 3.38, 6.62, 11.01),
    "cancer": (64.62, 2.94, 6.09, 10.83),
    "asia": (531.80, 10.06, 16.19, 19.40),
    "survey": (68.13, 1.21, 2.13, 5.12),
    "alarm": (10601.33, 71.23, 143.01, 315.32),
    "sachs": (4858.42, 4.29, 16.65, 72.98),
    "child": (25140.67, 32.85, 85.55, 191.31),
}
"""The paper's Table 2, one number a system: mean seconds, 100,000 rows, a round's epsilon of 1, a 32-core server."""

PUBLISHED_TESTS = {
    "earthquake": (61, 40),
    "cancer": (57, 37),
    "asia": (216, 95),
    "survey": (38, 29),
    "alarm": (12979, 1843),
    "sachs": (1224, 165),
    "child": (7393, 1162),
}
"""The paper's Table 3: tests of EM-PC and of Priv-PC."""

STORED = {
    "earthquake": "Alarm>JohnCalls Alarm>MaryCalls Burglary>Alarm Earthquake>Alarm",
    "cancer": "Cancer>Xray Dyspnoea>Cancer Pollution>Cancer Smoker>Cancer",
    "survey": "E>O T>O E-R R-T",
    "asia": "lung>either tub>either asia-tub bronc-dysp bronc-smoke lung-smoke",
    "sachs": "Mek>Raf P38>PKA P38>Raf PKA>Raf PKC>PKA Akt-Erk Erk-Mek Erk-PKA Jnk-PKC Mek-PKA Mek-PKC "
    "PIP2-PIP3 PIP2-Plcg PIP3-Plcg",
    "child": "Age>LungFlow BirthAsphyxia>LungFlow CardiacMixing>HypDistrib ChestXray>LungFlow ChestXray>XrayReport "
    "Disease>LungFlow DuctFlow>HypDistrib Grunting>GruntingReport HypDistrib>LowerBodyO2 HypoxiaInO2>LowerBodyO2 "
    "HypoxiaInO2>XrayReport LungParench>Grunting Sick>Grunting Age-Disease Age-Sick CO2-CO2Report CO2-LungParench "
    "CardiacMixing-Disease CardiacMixing-HypoxiaInO2 ChestXray-LungParench Disease-DuctFlow Disease-LVH "
    "GruntingReport-RUQO2 HypoxiaInO2-RUQO2 LVH-LVHreport",
    "alarm": "ANAPHYLAXIS>TPR ARTCO2>CATECHOL ARTCO2>EXPCO2 CO>BP ERRLOWOUTPUT>DISCONNECT ERRLOWOUTPUT>HRBP FIO2>TPR "
    "HISTORY>DISCONNECT HR>CATECHOL HR>CO HR>HRBP INSUFFANESTH>CATECHOL INTUBATION>SHUNT KINKEDTUBE>VENTALV "
    "MINVOL>KINKEDTUBE MINVOL>VENTALV PRESS>KINKEDTUBE PULMEMBOLUS>SHUNT SAO2>CATECHOL STROKEVOLUME>CO TPR>BP "
    "TPR>CATECHOL VENTALV>ARTCO2 VENTLUNG>EXPCO2 VENTTUBE>DISCONNECT CVP-LVEDVOLUME ERRCAUTER-HREKG "
    "ERRCAUTER-HRSAT FIO2-PVSAT HISTORY-LVFAILURE HREKG-HRSAT HYPOVOLEMIA-LVEDVOLUME HYPOVOLEMIA-STROKEVOLUME "
    "KINKEDTUBE-VENTLUNG LVEDVOLUME-PCWP LVFAILURE-STROKEVOLUME MINVOL-VENTLUNG MINVOLSET-VENTMACH "
    "PAP-PULMEMBOLUS PRESS-VENTLUNG PVSAT-SAO2 VENTALV-VENTLUNG VENTMACH-VENTTUBE",
}
"""The graphs that the paper's code compares with, read from it: > is an arc, - is an arc each way.

They are not the networks' own. Columns are numbered there; the numbers are taken to be those of the networks' files.
"""


def published_seconds(name: str, heading: str) -> float | None:
    """Return a number of the paper's Table 2."""
    at = (EM_PC, SVT_PC, PRIV_PC, WHOLE).index(heading)
    return PUBLISHED_SECONDS[name][at] if name in PUBLISHED_SECONDS else None


def published_tests(name: str, heading: str) -> int | None:
    """Return a number of the paper's Table 3, which has two of the systems."""
    if heading not in (EM_PC, PRIV_PC) or name not in PUBLISHED_TESTS:
        return None
    return PUBLISHED_TESTS[name][heading == PRIV_PC]


@lru_cache
def stored_graph(name: str) -> Graph:
    """Return the graph that the paper's code compares with."""
    edges = STORED[name].split()
    arrows = frozenset((a, b) for a, _, b in (e.partition(">") for e in edges) if b)
    lines = frozenset(frozenset((a, b)) for a, _, b in (e.partition("-") for e in edges) if b)
    return Graph(tuple(network(name).nodes), arrows, lines)


def arcs(graph: Graph) -> frozenset[Arc]:
    """Return all arcs; an edge without direction is an arc each way."""
    return graph.directed | {(a, b) for pair in graph.undirected for a in pair for b in pair if a != b}


def arc_f1(found: Graph, stored: Graph) -> float:
    """Return F1 as the paper's code computes it: of arcs, so that an edge without direction counts twice."""
    one, other = arcs(found), arcs(stored)
    return 2 * len(one & other) / (len(one) + len(other)) if one & other else 0.0


def data_table() -> list[Row]:
    """Return Table 1: what is printed, the network, and the graph that the paper's code compares with."""
    lines: list[Row] = []
    for name, (features, edges, kind) in PUBLISHED_DATA.items():
        net, stored = network(name), stored_graph(name)
        binary = all(len(node.levels) == 2 for node in net.nodes.values())
        lines.append(
            {
                "network": name,
                "published_features": features,
                "features": len(net.nodes),
                "published_edges": edges,
                "edges": len(net.dag.skeleton),
                "published_type": kind,
                "type": "binary" if binary else "discrete",
                "stored_arcs": len(arcs(stored)),
                "stored_edges": len(stored.skeleton),
                "stored_edges_in_network": len(stored.skeleton & net.dag.skeleton),
            }
        )
    return lines


def error_table(epsilon: float = 1.0) -> list[Row]:
    """Return Theorem 2 at m = n: errors of sieve-and-examine, the printed bounds, and bounds that hold.

    That of type II errors is for an alpha that is no smaller than the tweak.
    """
    lines: list[Row] = []
    for tweak in (0.0, 20.0):
        one = Round(epsilon, tweak=tweak)
        for alpha in (0.5, 1.0, 2.0, 4.0):
            line: Row = {"tweak": tweak, "alpha": alpha}
            for kind, what in enumerate(("type_1", "type_2")):
                found = (one.errors(alpha), one.printed_bounds(alpha), one.bounds(alpha))
                cells = [round(both[kind], 4) if alpha >= tweak or not kind else "" for both in found]
                line |= dict(zip((what, f"{what}_printed", f"{what}_proved"), cells, strict=True))
            lines.append(line)
    return lines


Numbers = Callable[[str, str], float | None]
"""A number by network and heading."""

_SPEED = (
    ("times as fast as EM-PC: Priv-PC", EM_PC, PRIV_PC, ("10.61 to 32.85", "74.13 to 293.87")),
    ("of that, without sub-sampling", EM_PC, WHOLE, ("5.97 to 27.41", "33.62 to 131.41")),
    ("of that, by sub-sampling", WHOLE, PRIV_PC, ("1.20 to 2.40", "2.20 to 4.38")),
    ("times as fast as SVT-PC: Priv-PC", SVT_PC, PRIV_PC, ("sometimes above 1", "sometimes above 1")),
)
_SAVED = ("34.4 to 56.0", "84.3 to 86.8")


def claims(seconds: Sequence[Row], tests: Sequence[Row], figure: Sequence[Row]) -> Iterator[Row]:
    """Yield the paper's claims: as printed, by its own tables, and as measured here, as published and private."""
    timed, counted = (_by_variant(lines, what) for lines, what in ((seconds, "seconds"), (tests, "tests")))
    for words, slow, fast, printed in _SPEED:
        for (size, group), said in zip((("small", SMALL), ("large", LARGE)), printed, strict=True):
            columns = [_spread(group, _ratio(found, slow, fast)) for found in (published_seconds, *timed)]
            yield _claim(words, size, said, *columns)
    for (size, group), said in zip((("small", SMALL), ("large", LARGE)), _SAVED, strict=True):
        columns = [_spread(group, _saved(found)) for found in (published_tests, *counted)]
        yield _claim("% of tests saved by Priv-PC against EM-PC", size, said, *columns)
    for words, said, method, other, total in (
        ("F1 of Priv-PC above SVT-PC's at a total of 10", "always", "priv-pc-published", "svt-pc-published", 10.0),
        ("F1 of Priv-PC above EM-PC's at a total of 100", "yes", "priv-pc-published", "em-pc-published", 100.0),
        ("F1 of EM-PC above Priv-PC's at a total of 1", "yes", "em-pc-published", "priv-pc-published", 1.0),
    ):
        yield _claim(words, "all", said, "", _wins(figure, method, other, total), "")
    for words, score in (
        ("F1 of {} at the largest budget", "arcs_f1_stored"),
        ("skeleton F1 of {} against PC by the same test, there", "skeleton_f1_same"),
    ):
        for name, said in ((PRIV_PC, "1"), (SVT_PC, ""), (EM_PC, "below 1")):
            found = _converged(figure, f"{name.lower()}-published", score)
            yield _claim(words.format(name), "all", said, "", found, "")


def _claim(words: str, size: str, said: str, tables: str, published: str, private: str) -> Row:
    told = {"printed": said, "printed_tables": tables, "as_published": published, "private": private}
    return {"claim": words, "graphs": size, **told}


def _by_variant(lines: Sequence[Row], what: str) -> list[Numbers]:
    """Return what was measured, as published and then private."""
    known = {(line["variant"], line["network"], line["system"]): line[what] for line in lines if line[what] != ""}

    def of(variant: str) -> Numbers:
        return lambda name, heading: known.get((variant, name, heading))  # type: ignore[return-value]

    return [of("published"), of("repaired")]


def _ratio(found: Numbers, above: str, below: str) -> Callable[[str], float | None]:
    def ratio(name: str) -> float | None:
        one, other = found(name, above), found(name, below)
        return one / other if one and other else None

    return ratio


def _saved(found: Numbers) -> Callable[[str], float | None]:
    def saved(name: str) -> float | None:
        left = _ratio(found, PRIV_PC, EM_PC)(name)
        return None if left is None else 100 * (1 - left)

    return saved


def _spread(group: Sequence[str], number: Callable[[str], float | None]) -> str:
    """Return the least and the largest of some networks' numbers."""
    return _range([value for name in group if (value := number(name)) is not None])


def _range(values: Sequence[float]) -> str:
    return f"{min(values):.2f} to {max(values):.2f}" if values else ""


def _lines_of(figure: Sequence[Row], method: str) -> Mapping[str, list[Row]]:
    """Return a method's lines by network, by the code, with the total going up."""
    chosen = [line for line in figure if line["method"] == method and line["reading"] == "code"]
    names = dict.fromkeys(str(line["network"]) for line in chosen)
    return {
        name: sorted((line for line in chosen if line["network"] == name), key=lambda line: float(line["setting"]))
        for name in names
    }


def _wins(figure: Sequence[Row], method: str, other: str, total: float) -> str:
    """Return on how many networks one method's F1, as the code computes it, is above another's at a total."""
    one, two = _lines_of(figure, method), _lines_of(figure, other)
    pairs = [(_at(one[name], total), _at(two[name], total)) for name in one if name in two]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    return f"{sum(a > b for a, b in known)} of {len(known)}" if known else ""


def _at(lines: Sequence[Row], total: float) -> float | None:
    """Return F1 at a total, between those that were measured; None beyond them."""
    points = sorted((float(n["total_epsilon"]), float(n["arcs_f1_stored"])) for n in lines if n["arcs_f1_stored"] != "")
    if not points or not points[0][0] <= total <= points[-1][0]:
        return None
    return float(np.interp(np.log(total), np.log([t for t, _ in points]), [f for _, f in points]))


def _converged(figure: Sequence[Row], method: str, score: str) -> str:
    """Return the least and the largest F1 at the largest budget."""
    last = [lines[-1][score] for lines in _lines_of(figure, method).values()]
    return _range([float(value) for value in last if value != ""])
