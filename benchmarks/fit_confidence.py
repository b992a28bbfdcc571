"""Fit the curves of `discreet.release.confidence`. Run: python benchmarks/fit_confidence.py [networks] [jobs]."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from discreet.data.memory import MemoryTable
from discreet.experiments.calibration import EPSILONS, ROWS, fit_curve
from discreet.methods.discover import discover_in
from discreet.privacy.budget import Budget
from discreet.release import confidence
from discreet.release.settings import Marginals
from discreet.room import Room
from discreet.search.orientation import cpdag
from discreet.simulation.drawn import draw_network
from discreet.simulation.processes import run_all

APART = 1_000_000
"""Seeds from here on, far from those the confidences are checked on."""

Lines = list[tuple[float, ...]]


def features(seed: int) -> tuple[Lines, Lines]:
    """Return features and truth of all edges, and of all arrowheads, of one network drawn at random."""
    rng = np.random.default_rng([seed, 3])
    net = draw_network(rng)
    rows, epsilon = int(rng.choice(ROWS)), float(rng.choice(EPSILONS))
    domain, truth = net.domain(rows), cpdag(net.dag)
    table = MemoryTable(net.sample_codes(rows, rng), {c: domain.size(c) for c in domain})
    seen: dict[str, Any] = {}
    kept = confidence.edge_features, confidence.mark_features

    def record(name: str, make: Any) -> Any:
        return lambda *given: seen.setdefault(name, make(*given))

    confidence.edge_features, confidence.mark_features = record("edges", kept[0]), record("marks", kept[1])
    try:
        found = discover_in(Room(table, domain, Budget(epsilon=epsilon, delta=1e-6)), Marginals())
    finally:
        confidence.edge_features, confidence.mark_features = kept
    edges = [(*seen["edges"][pair], float(pair in truth.skeleton)) for pair in found.confidence]
    arrows = [
        (seen["marks"][frozenset(arc)], *seen["edges"][frozenset(arc)], float(arc in truth.directed))
        for arc in found.graph.directed
    ]
    return edges, arrows


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
    odds = np.clip(edge_curve[0] + marks[:, 1:3] @ edge_curve[1:], -math.log(99), math.log(99))
    mark_curve = fit_curve(np.column_stack([marks[:, 0], odds]), marks[:, 3])
    for name, curve, lines in (("EDGE_CURVE", edge_curve, table), ("MARK_CURVE", mark_curve, marks)):
        print(f"{name} = {tuple(np.round(curve, 3).tolist())}  # {len(lines)} claims, {lines[:, -1].mean():.3f} right")


if __name__ == "__main__":
    main()
