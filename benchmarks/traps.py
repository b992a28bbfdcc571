"""Traps and strengths on drawn networks: false alarms, what is caught, and how often intervals hold the truth.

python benchmarks/traps.py [networks] [processes]

Each network is drawn three times over: whole; with values missing by chance; and with questions asked in three
rotating blocks, so that values are missing together. Columns with two levels are called 0 and 1.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

import discreet as dc
from discreet.release.selection import components
from discreet.release.strength import strength_in
from discreet.release.traps import traps
from discreet.search.graph import skeleton_f1
from discreet.simulation.drawn import draw_network
from discreet.simulation.processes import run_all

ROWS, EPSILONS, MANY = (2_000, 10_000, 50_000), (0.5, 1.0, 3.0), 1_000_000
HOW = ("whole", "by chance", "in blocks")


def holes(how: str, columns: int, rows: int, rng: np.random.Generator) -> np.ndarray:
    """Return which values are missing, one row a column."""
    if how == "whole":
        return np.zeros((columns, rows), dtype=bool)
    if how == "by chance":
        return rng.random((columns, rows)) < rng.uniform(0, 0.4, columns)[:, None]
    asked = rng.integers(3, size=rows)
    block = rng.integers(-1, 3, size=columns)  # a quarter is asked of everybody
    return np.asarray((block[:, None] == asked) & (rng.random((columns, rows)) < 0.97))


def true_strength(codes: Mapping[str, np.ndarray], sizes: Mapping[str, int], a: str, b: str, ordered: bool) -> float:
    """Return a strength as it is among very many rows."""
    table = np.zeros((sizes[a], sizes[b]))
    np.add.at(table, (codes[a], codes[b]), 1 / MANY)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    if not ordered:
        expected = np.outer(rows, columns)
        away = np.divide((table - expected) ** 2, expected, out=np.zeros_like(table), where=expected > 0)
        return float(np.sqrt(away.sum() / (min(table.shape) - 1)))
    scores = [np.cumsum(s) - s / 2 - 0.5 for s in (rows, columns)]
    spread = np.prod([np.sqrt((s * u**2).sum()) for s, u in zip((rows, columns), scores, strict=True)])
    return float(scores[0] @ table @ scores[1] / spread)


def one(seed: int) -> dict[str, list[float]]:
    """Run one network in all three ways."""
    rng = np.random.default_rng(seed)
    told: dict[str, list[float]] = defaultdict(list)
    net = draw_network(rng, int(rng.choice([6, 8, 11, 16])))
    rows, epsilon, ordered = int(rng.choice(ROWS)), float(rng.choice(EPSILONS)), bool(rng.random() < 0.5)
    nodes = {n: replace(v, levels=tuple(map(str, range(len(v.levels))))) for n, v in net.nodes.items()}
    net, sizes = replace(net, nodes=nodes), {n: len(v.levels) for n, v in nodes.items()}
    many, true = net.sample_codes(MANY, rng), net.dag.skeleton
    for how in HOW:
        gone = holes(how, len(nodes), rows, rng)
        table = {c: np.where(m, "", v) for (c, v), m in zip(net.sample(rows, rng).items(), gone, strict=True)}
        columns = {
            c: dc.Categorical(categories=v.levels, ordered=ordered, missing="missing" if m.any() else None)
            for (c, v), m in zip(nodes.items(), gone, strict=True)
        }
        found = dc.discover(table, domain=dc.Domain(columns, rows=rows), epsilon=epsilon)
        warned, parts = traps(found), components(found.measurements, found.domain)
        for edge in found.graph.edges():
            real = "true edges" if edge.pair in true else "other edges"
            kinds = {trap.kind for trap in warned if trap.concerns(edge.a, edge.b)}
            told[f"{how}: {real}, warned of missing"].append("missing" in kinds)
            told[f"{how}: {real}, warned of dummies"].append("dummies" in kinds)
        for a, b in combinations(sorted(columns), 2):
            strong = strength_in(parts, columns[a], columns[b], (a, b))
            if strong is not None:
                holds = strong.low <= true_strength(many, sizes, a, b, strong.measure != "Cramer's V") <= strong.high
                told[f"{how}: {strong.measure} in the interval, all pairs"].append(holds)
                if frozenset((a, b)) in found.graph.skeleton:
                    told[f"{how}: {strong.measure} in the interval, edges"].append(holds)
        told[f"{how}: skeleton F1"].append(skeleton_f1(found.graph, net.dag))
        left = dc.search_again(found, missing="leave-out")
        told[f"{how}: skeleton F1, missing left out"].append(skeleton_f1(left.graph, net.dag))
    return dict(told)


if __name__ == "__main__":
    networks = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    total: dict[str, list[Any]] = defaultdict(list)
    for told in run_all(one, range(networks), int(sys.argv[2]) if len(sys.argv) > 2 else 1):
        for what, values in told.items():
            total[what] += values
    for what in sorted(total):
        print(f"{what:60} {np.mean(total[what]):6.3f}  of {len(total[what]):6,}")
