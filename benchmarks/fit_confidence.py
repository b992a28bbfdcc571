"""Fit the curves of `discreet.release.confidence`. Run: python benchmarks/fit_confidence.py [networks] [jobs].

Half of the networks have categories only and are searched by `marginals`; the other half have numbers among them and
are searched by `moments`.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from discreet.data.memory import MemoryTable
from discreet.domain import Categorical, Column, Domain, Numeric
from discreet.domain.knowledge import NOTHING_KNOWN
from discreet.experiments.calibration import EPSILONS, ROWS, fit_curve
from discreet.methods.discover import discover_in
from discreet.methods.registry import budget_for, method_of
from discreet.privacy.budget import Budget
from discreet.release import confidence
from discreet.release.discovery import Discovery
from discreet.release.settings import Marginals, Moments
from discreet.room import Room
from discreet.search.graph import Graph
from discreet.search.orientation import cpdag
from discreet.simulation.declared import KINDS, WIDEST, draw_over
from discreet.simulation.drawn import COLUMNS, draw_network
from discreet.simulation.processes import run_all

APART = 1_000_000
"""Seeds from here on, far from those the confidences are checked on."""

FEW_ROWS = (1_000, 2_000)
"""Rows of small tables, among those of the check."""

Lines = list[tuple[float, ...]]


def features(seed: int) -> tuple[Lines, Lines]:
    """Return features and truth of all edges, and of all arrowheads, of one network drawn at random."""
    rng = np.random.default_rng([seed, 3])
    rows, epsilon = int(rng.choice((*FEW_ROWS, *ROWS))), float(rng.choice(EPSILONS))
    room, settings, dag = (_draw_numbers if seed % 2 else _draw_categories)(seed // 2, rows, epsilon, rng)
    seen: dict[str, Any] = {}
    kept = confidence.edge_features, confidence.mark_features

    def record(name: str, make: Any) -> Any:
        return lambda *given: seen.setdefault(name, make(*given))

    confidence.edge_features, confidence.mark_features = record("edges", kept[0]), record("marks", kept[1])
    try:
        found = discover_in(room, settings)
    finally:
        confidence.edge_features, confidence.mark_features = kept
    return _lines(found, cpdag(dag), seen)


def _lines(found: Discovery, truth: Graph, seen: dict[str, Any]) -> tuple[Lines, Lines]:
    edges = [(*seen["edges"][pair], float(pair in truth.skeleton)) for pair in found.confidence]
    arrows = [
        (*seen["marks"][frozenset(arc)], *seen["edges"][frozenset(arc)], float(arc in truth.directed))
        for arc in found.graph.directed
    ]
    return edges, arrows


def _draw_categories(
    _number: int, rows: int, epsilon: float, rng: np.random.Generator
) -> tuple[Room, Marginals, Graph]:
    net = draw_network(rng)
    domain = net.domain(rows)
    table = MemoryTable(net.sample_codes(rows, rng), {c: domain.size(c) for c in domain})
    return Room(table, domain, Budget(epsilon=epsilon, delta=1e-6)), Marginals(), net.dag


def _draw_numbers(number: int, rows: int, epsilon: float, rng: np.random.Generator) -> tuple[Room, Marginals, Graph]:
    columns: dict[str, Column] = {}
    for i in range(int(rng.choice(COLUMNS[:-1]))):
        levels = tuple(f"l{k}" for k in range(int(rng.choice([2, 2, 2, 3, 3, 4, 6]))))
        number_here = i == 0 or rng.random() < 0.4
        columns[f"c{i:02d}"] = Numeric(bounds=(-WIDEST, WIDEST)) if number_here else Categorical(categories=levels)
    settings = Moments()
    budget = budget_for(settings, epsilon, 1e-6)
    domain = method_of(settings).encode(settings, Domain(columns, rows=rows), budget, NOTHING_KNOWN)
    net = draw_over(domain, rng, KINDS[number % len(KINDS)])
    codes, _ = net.sample(rows, rng)
    table = MemoryTable(codes, {c: domain.size(c) for c in domain})
    return Room(table, domain, budget), settings, net.dag


def main() -> None:
    """Print both curves."""
    networks = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    edges: Lines = []
    arrows: Lines = []
    for e, a in run_all(features, list(range(APART, APART + networks)), jobs):
        edges += e
        arrows += a
    table = np.array(edges)
    edge_curve = fit_curve(table[:, :2], table[:, 2])
    marks = np.array(arrows)
    odds = np.clip(edge_curve[0] + marks[:, 3:5] @ edge_curve[1:], -math.log(99), math.log(99))
    mark_curve = fit_curve(np.column_stack([marks[:, :3], odds]), marks[:, 5])
    for name, curve, lines in (("EDGE_CURVE", edge_curve, table), ("MARK_CURVE", mark_curve, marks)):
        print(f"{name} = {tuple(np.round(curve, 3).tolist())}  # {len(lines)} claims, {lines[:, -1].mean():.3f} right")


if __name__ == "__main__":
    main()
