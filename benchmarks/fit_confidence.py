"""Fit the curves of `discreet.release.confidence`. Run: python benchmarks/fit_confidence.py [networks] [jobs].

Two thirds of the networks have categories only, even and skewed, and are searched by `marginals`; the others have
numbers among them and are searched by `moments`. Releases and columns vary as widely as tables do.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import Any
from unittest.mock import patch

import numpy as np

from discreet.data.memory import MemoryTable
from discreet.domain import Categorical, Column, Domain, Numeric
from discreet.domain.knowledge import NOTHING_KNOWN
from discreet.experiments.calibration import draw_setting, fit_curve
from discreet.methods.discover import discover_in
from discreet.methods.registry import budget_for, method_of
from discreet.privacy.budget import Budget
from discreet.release import search
from discreet.release.confidence import BY_EVIDENCE, BY_FIT, Curves, confidences
from discreet.release.settings import Marginals, Moments
from discreet.room import Room
from discreet.search.graph import Graph
from discreet.search.orientation import cpdag
from discreet.simulation.declared import KINDS, WIDEST, draw_over
from discreet.simulation.drawn import COLUMNS
from discreet.simulation.networks import network
from discreet.simulation.processes import run_all

APART = 1_000_000
"""Seeds from here on, far from those the confidences are checked on."""

Lines = list[tuple[float, ...]]


def features(seed: int) -> tuple[str, Lines, Lines]:
    """Return features and truth of all edges and all arrowheads of one network drawn at random, and by which curves."""
    rng = np.random.default_rng([seed, 3])
    name, rows, epsilon = draw_setting(rng)
    number = seed // 3
    room, settings, dag = (
        _draw_categories(name, rows, epsilon, rng) if seed % 3 else _draw_numbers(number, rows, epsilon, rng)
    )
    seen: dict[str, Any] = {}

    def record(
        graph: Graph, edges: Mapping[Any, Any], marks: Mapping[Any, Any], curves: Curves, *given: Any
    ) -> Mapping[Any, Any]:
        truth = cpdag(dag)
        seen["edges"] = [(*edges[pair], float(pair in truth.skeleton)) for pair in graph.skeleton]
        seen["marks"] = [
            (*marks[arc], *edges[frozenset(arc)], float(arc in truth.directed)) for arc in sorted(graph.directed)
        ]
        seen["curves"] = "fit" if curves is BY_FIT else "evidence"
        return confidences(graph, edges, marks, curves, *given)

    with patch.object(search, "confidences", record):
        discover_in(room, settings)
    return seen.get("curves", "evidence"), seen.get("edges", []), seen.get("marks", [])


def _draw_categories(name: str, rows: int, epsilon: float, rng: np.random.Generator) -> tuple[Room, Marginals, Graph]:
    net = network(name)
    domain = net.domain(rows)
    table = MemoryTable(net.sample_codes(rows, rng), {c: domain.size(c) for c in domain})
    return Room(table, domain, Budget(epsilon=epsilon, delta=min(1e-6, 0.1 / rows))), Marginals(), net.dag


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
    """Print both pairs of curves."""
    networks = int(sys.argv[1]) if len(sys.argv) > 1 else 900
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    edges: dict[str, Lines] = {"evidence": [], "fit": []}
    arrows: dict[str, Lines] = {"evidence": [], "fit": []}
    for kind, e, a in run_all(features, list(range(APART, APART + networks)), jobs):
        edges[kind] += e
        arrows[kind] += a
    for kind, curves in (("evidence", BY_EVIDENCE), ("fit", BY_FIT)):
        table, marks, width = np.array(edges[kind]), np.array(arrows[kind]), len(curves.edge) - 1
        edge = fit_curve(table[:, :width], table[:, width])
        own = len(curves.mark) - 2
        odds = np.clip(edge[0] + marks[:, own:-1] @ edge[1:], -math.log(99), math.log(99))
        mark = fit_curve(np.column_stack([marks[:, :own], odds]), marks[:, -1])
        fitted = (tuple(np.round(curve, 3).tolist()) for curve in (edge, mark))
        print(f"BY_{kind.upper()} = Curves(edge={next(fitted)}, mark={next(fitted)})")
        print(f"# {len(table)} edges, {table[:, -1].mean():.3f} right; {len(marks)} arrows, {marks[:, -1].mean():.3f}")


if __name__ == "__main__":
    main()
