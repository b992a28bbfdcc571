"""Zhang, Xia, Ren, Guan, Zhou 2023 (*Differentially Private Nonlinear Causal Discovery from Numerical Data*) again.

Tests of independence and graphs over columns of numbers: as published, which is NOT PRIVATE, and by this library. Where
the noise of a published test can be computed instead of drawn, it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from time import perf_counter

import numpy as np

from discreet.baselines.published.pcd import (
    PcdSettings,
    deletion_probability,
    equation_3,
    on_unit_scale,
    plain_sensitivity,
    run_pcd,
)
from discreet.baselines.published.rcit import LAM, Rcit
from discreet.data.memory import MemoryTable
from discreet.domain import Domain
from discreet.errors import BudgetError
from discreet.experiments.harness import Record
from discreet.experiments.pcd_plan import ALPHA, PUBLISHED_ORDER, Sample, Task, sample_of
from discreet.methods.discover import discover, discover_in
from discreet.methods.independence.examine import examine
from discreet.methods.pcd import Pcd
from discreet.methods.registry import METHODS
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Budget
from discreet.privacy.mechanisms.noisy_rank import noisy_rank_for
from discreet.room import Room
from discreet.search.graph import Graph
from discreet.statistics.permutation import Compared, PermutedHSIC, beyond

DELTA = 1e-6

Tested = Callable[[MemoryTable, Domain, Sequence[float], int], list[float]]
"""Returns for each epsilon how probably, or whether, x and y are called independent given all other columns."""

Found = Callable[[Sample, float, int], tuple[Graph, int]]
"""Returns a graph and how many tests it took."""


def encoded(sample: Sample) -> MemoryTable:
    """Return rows as codes of the public grid."""
    sizes = {name: sample.domain.size(name) for name in sample.domain}
    codes = {}
    for name, values in sample.values.items():
        low, high = sample.domain[name].bounds  # type: ignore[union-attr]
        places = np.floor((values - low) / (high - low) * sizes[name])
        codes[name] = np.clip(places, 0, sizes[name] - 1).astype(np.uint16)
    return MemoryTable(codes, sizes)


def _others(domain: Domain) -> list[str]:
    return sorted(name for name in domain if name not in ("x", "y"))


def tested_as_published(table: MemoryTable, domain: Domain, epsilons: Sequence[float], seed: int) -> list[float]:
    """NOT PRIVATE: return the exact probabilities, for one draw of permutations."""
    oracle = Rcit(on_unit_scale(table, domain), rng=np.random.default_rng([seed, 23]))
    given = _others(domain)
    found = oracle.test("x", "y", frozenset(given))
    moved = equation_3(table.rows, LAM, found.widths) if given else plain_sensitivity(table.rows)
    return [deletion_probability(found.share(), found.share(2 * moved), ALPHA, epsilon) for epsilon in epsilons]


def tested_without_noise(table: MemoryTable, domain: Domain, epsilons: Sequence[float], seed: int) -> list[float]:
    """NOT PRIVATE: return whether the published test finds nothing without noise."""
    oracle = Rcit(on_unit_scale(table, domain), alpha=ALPHA, rng=np.random.default_rng([seed, 23]))
    return [float(oracle.ask("x", "y", frozenset(_others(domain))).independent)] * len(epsilons)


def tested_by_ranks(table: MemoryTable, domain: Domain, epsilons: Sequence[float], seed: int) -> list[float]:
    """Return what the noisy test by permutations says; of residuals, if columns are given."""
    statistic = PermutedHSIC(Compared.of("x", "y", _others(domain), domain))
    answers = []
    for epsilon in epsilons:
        room = Room(table, domain, Budget(epsilon=epsilon, delta=0.0))
        places = beyond(ALPHA, statistic.size)
        mechanism = noisy_rank_for(Currency.PURE, Fraction(epsilon), statistic.sensitivity(domain), places)
        answers.append(1.0 - float(room.release(statistic, mechanism).values[0]))
    return answers


def tested_by_pcd(table: MemoryTable, domain: Domain, epsilons: Sequence[float], seed: int) -> list[float]:
    """Return whether the private method leaves x and y apart, all of the budget being for this pair."""
    apart = []
    for epsilon in epsilons:
        room = Room(table, domain, Budget(epsilon=epsilon, delta=0.0))
        try:
            apart.append(float(not discover_in(room, Pcd(max_order=0)).graph.skeleton))
        except BudgetError:  # nothing could be seen, so nothing was asked
            apart.append(1.0)
    return apart


def tested_by_moments(table: MemoryTable, domain: Domain, epsilons: Sequence[float], seed: int) -> list[float]:
    """Return what the private test by moments says."""
    values = {}
    for name, codes in zip(domain, table.values(list(domain)), strict=True):
        low, high = domain[name].bounds  # type: ignore[union-attr]
        values[name] = low + (high - low) * (codes + 0.5) / domain.size(name)
    delta = min(DELTA, 0.1 / domain.rows)
    return [
        float(
            examine(
                values, "x", "y", _others(domain), domain=domain, epsilon=e, delta=delta, test="moments", alpha=ALPHA
            ).independent
        )
        for e in epsilons
    ]


TESTS: dict[str, Tested] = {
    "pcd-published": tested_as_published,
    "no-privacy": tested_without_noise,
    "permutations": tested_by_ranks,
    "pcd": tested_by_pcd,
    "moments": tested_by_moments,
}
"""Tests by name: one line each."""

MOST_GIVEN = {"pcd": 0, "moments": 2}
"""Tests that take so many given columns at most."""


def found_as_published(sample: Sample, epsilon: float, seed: int) -> tuple[Graph, int]:
    """NOT PRIVATE: run PCD as published, each noisy test at epsilon."""
    settings = PcdSettings(epsilon=epsilon, alpha=ALPHA, max_order=PUBLISHED_ORDER)
    columns = on_unit_scale(encoded(sample), sample.domain)
    found = run_pcd(columns, settings, np.random.default_rng([seed, 29]))
    return found.graph, found.tests


def privately(method: str) -> Found:
    """Return a run of a private method at a total epsilon."""

    def found(sample: Sample, epsilon: float, seed: int) -> tuple[Graph, int]:
        delta = min(DELTA, 0.1 / sample.domain.rows)
        try:
            told = discover(sample.values, domain=sample.domain, epsilon=epsilon, delta=delta, method=method)
        except BudgetError:  # nothing could be seen, so nothing was asked
            return Graph(tuple(sample.domain)), 0
        return told.graph, int(told.settings.get("pairs") or 0)

    return found


GRAPHS: dict[str, Found] = {
    "pcd-published": found_as_published,
    **{name: privately(name) for name in ("pcd", "moments") if name in METHODS},
}
"""Methods by name: one line each."""


def perform(task: Task, sachs: Path | None = None, edges: Path | None = None, epsilons: Sequence[float] = ()) -> Record:
    """Draw rows, do a run, and return all that tables and charts are made of."""
    sample = sample_of(task, sachs, edges)
    start = perf_counter()
    if task.part == "tests":
        told = TESTS[task.method](encoded(sample), sample.domain, epsilons, task.seed)
        wrong = [p if task.dependent else 1 - p for p in told]
        return {"task": task.to_dict(), "epsilons": list(epsilons), "wrong": wrong, "seconds": perf_counter() - start}
    graph, tests = GRAPHS[task.method](sample, task.epsilon, task.seed)
    right, found, true = len(graph.skeleton & sample.truth.skeleton), len(graph.skeleton), len(sample.truth.skeleton)
    counted = {"right": right, "found": found, "true": true, "tests": tests}
    return {"task": task.to_dict(), **counted, "seconds": perf_counter() - start}
