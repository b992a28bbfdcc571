"""NOT PRIVATE: PCD as published: PC with RCIT, whose p-values get noise only where the decision does not seem sure.

Zhang, Xia, Ren, Guan, Zhou 2023 (*Differentially Private Nonlinear Causal Discovery from Numerical Data*), Algorithm 1
to the letter: strict counts, both branches with their own bound (Equations 7 and 8), edges that seem sure deleted or
kept without noise, and the sum of epsilons over noisy tests. Two things are read into the text. Sets are those of PC,
order by order from the neighbours, as the text says; line 2 of the listing runs over all subsets. Columns of a declared
domain are put between -1 and 1, where the proof of the bound on residuals needs them; the paper names no range.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from discreet.arrays import FloatArray
from discreet.baselines.exact import load_unless_loaded
from discreet.baselines.published.outcome import MOST_EPSILON, PCD, REASONS, Outcome
from discreet.baselines.published.rcit import LAM, PERMUTATIONS, Rcit
from discreet.domain import Domain
from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.errors import SettingError
from discreet.progress import Progress
from discreet.sealed import Sealed
from discreet.search.oracle import Verdict
from discreet.search.pc import pc
from discreet.statistics import Table
from discreet.statistics.curves import UNIT, on_scale

KENDALL = 4.5
"""One row is said to move Kendall's statistic by so much over the root of the rows (Wang, Pang, Song 2020)."""


@dataclass(frozen=True)
class PcdSettings:
    """NOT PRIVATE: settings; see ``discover_pcd``."""

    epsilon: float = 1.0
    alpha: float = 0.05
    max_order: int | None = None
    permutations: int = PERMUTATIONS
    lam: float = LAM

    def __post_init__(self) -> None:
        if not 0 < self.epsilon <= MOST_EPSILON:
            raise SettingError(f"round-epsilon: a number above 0, {MOST_EPSILON:g} at most")
        if not 0 < self.alpha < 1 or not 1e-12 <= self.lam <= 1e6:
            raise SettingError("alpha, lam: a number between 0 and 1, and one between 1e-12 and 1e6")
        if self.permutations < 1 or (self.max_order is not None and self.max_order < 0):
            raise SettingError("permutations, max-order: whole numbers from 1 and from 0")


def plain_sensitivity(rows: int) -> float:
    """Return what a row is said to move HSIC by where nothing is given. True for unpermuted rows, ten times over."""
    return (12 * rows - 11) / (rows - 1) ** 2


def equation_3(rows: int, lam: float, widths: tuple[float, float]) -> float:
    """Return what a row is said to move HSIC of residuals by. It does not hold.

    Residuals are taken to move by 8/(n lam^1.5), the changed row's own too, and kernels to be steepest where two rows
    are equal, while a Gaussian one is at a distance of its width: entries move by 1 - exp(-(2 shift)^2/(2 width^2)).
    """
    shift = 8 / (rows * lam**1.5)
    entries = [-math.expm1(-((2 * shift) ** 2) / (2 * width**2)) for width in widths]
    return 2 * sum(entries) * rows / (rows - 1)


class Reach(NamedTuple):
    """A p-value, and the smallest and largest that a neighbour is said to have (Equations 7 and 8)."""

    p: float
    least: float
    most: float

    def moved(self, alpha: float) -> float:
        """Return how far it could move towards the level."""
        return self.p - self.least if self.p > alpha else self.most - self.p

    def sure(self, alpha: float) -> bool:
        """Whether no neighbour seems able to change the decision: there is no noise then."""
        return self.least > alpha if self.p > alpha else self.most < alpha

    def deletion_probability(self, alpha: float, epsilon: float) -> float:
        """Return the probability that Algorithm 1 deletes the edge; an infinite epsilon adds no noise.

        Proof
        -----
        Draws of scales a and 2a sum to more than u >= 0 with probability (4 e^(-u/2a) - e^(-u/a))/6, here
        a = 2 moved/epsilon and u = alpha - p; the law is symmetric.
        """
        if self.sure(alpha) or math.isinf(epsilon):
            return float(self.p > alpha)
        scale, far = 2 * self.moved(alpha) / epsilon, abs(alpha - self.p)
        tail = (4 * math.exp(-far / (2 * scale)) - math.exp(-far / scale)) / 6 if scale else 0.0
        return 1 - tail if self.p >= alpha else tail


Test = Callable[[str, str, frozenset[str]], Reach]
"""Returns the p-value of a question, with what one row is said to do to it."""


def make_rcit_test(columns: Mapping[str, FloatArray], permutations: int, lam: float, rng: np.random.Generator) -> Test:
    """NOT PRIVATE: return the paper's test."""
    rcit = Rcit(columns, permutations=permutations, lam=lam, rng=rng)

    def test(x: str, y: str, given: frozenset[str]) -> Reach:
        found = rcit.test(x, y, given)
        moved = equation_3(rcit.rows, lam, found.widths) if given else plain_sensitivity(rcit.rows)
        return Reach(found.share(), found.share(-2 * moved), found.share(2 * moved))

    return test


def make_kendall_test(columns: Mapping[str, FloatArray]) -> Test:
    """NOT PRIVATE: return conditional Kendall's tau, with which the paper compares.

    The paper puts it into Algorithm 1 without saying how: here its p-value and what a row is said to move that by take
    the place of RCIT's. Given anything, no two rows are alike, nothing can be counted, and the edge is kept.
    """
    from scipy.stats import kendalltau

    rows = len(next(iter(columns.values())))
    root = 3 * math.sqrt(rows * (rows - 1) / (2 * (2 * rows + 5)))
    moved = 2 * float(ndtr(KENDALL / math.sqrt(rows))) - 1

    def test(x: str, y: str, given: frozenset[str]) -> Reach:
        if given:
            return Reach(0.0, 0.0, 0.0)
        p = 2 * float(ndtr(-root * abs(kendalltau(columns[x], columns[y]).statistic)))
        return Reach(p, p - moved, p + moved)

    return test


class SureOrNoisy(Sealed):
    """NOT PRIVATE: lines 3 to 17 of Algorithm 1, which decide about one edge.

    Parameters
    ----------
    test
        Tells p-values, and what one row is said to do to them.
    alpha
        The level.
    epsilon
        What a noisy test is said to cost; an infinite one adds no noise.
    rng
        Where noise comes from.
    """

    free = False
    max_order = None

    def __init__(self, test: Test, alpha: float, epsilon: float, rng: np.random.Generator) -> None:
        self._test, self._alpha, self._epsilon, self._rng = test, alpha, epsilon, rng
        self.tests = 0
        self.rounds = 0

    def answers(self, x: str, y: str, given: frozenset[str]) -> bool:
        """Whether it can answer: always."""
        return True

    def ask(self, x: str, y: str, given: frozenset[str]) -> Verdict:
        """Say whether the edge is deleted; only a noisy answer counts as a round."""
        self.tests += 1
        found = self._test(x, y, given)
        independent = found.p > self._alpha
        if not found.sure(self._alpha) and not math.isinf(self._epsilon):
            self.rounds += 1
            scale = 2 * found.moved(self._alpha) / self._epsilon
            bar = self._alpha + self._rng.laplace(0, scale)
            independent = bool(found.p + self._rng.laplace(0, 2 * scale) >= bar)
        return Verdict(independent, -1.0 if independent else 1.0)


def on_unit_scale(table: Table, domain: Domain) -> dict[str, FloatArray]:
    """NOT PRIVATE: return all columns as numbers between -1 and 1."""
    names = tuple(domain)
    codes = table.values(names)
    return {name: on_scale(c, domain.size(name)) / UNIT for name, c in zip(names, codes, strict=True)}


def run_pcd(
    columns: Mapping[str, FloatArray],
    settings: PcdSettings,
    rng: np.random.Generator,
    *,
    knowledge: Knowledge = NOTHING_KNOWN,
    progress: Progress | None = None,
) -> Outcome:
    """NOT PRIVATE: run it on columns of numbers, with the generator that is handed in."""
    oracle = SureOrNoisy(
        make_rcit_test(columns, settings.permutations, settings.lam, rng), settings.alpha, settings.epsilon, rng
    )
    order = settings.max_order
    graph = pc(tuple(columns), oracle, knowledge=knowledge, max_order=order, progress=progress, stable=False)
    total = oracle.rounds * settings.epsilon
    return Outcome(graph, PCD, oracle.tests, oracle.rounds, settings.epsilon, total, 0.0, REASONS[PCD])


def discover_pcd(
    data: object,
    domain: Domain,
    *,
    round_epsilon: float = 1.0,
    alpha: float = 0.05,
    max_order: int | None = None,
    permutations: int = PERMUTATIONS,
    lam: float = LAM,
    knowledge: Knowledge = NOTHING_KNOWN,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """NOT PRIVATE: return what PCD finds, with the noise that its paper adds.

    The graph promises nothing to anybody: use it on simulated or public tables only.

    Parameters
    ----------
    data
        A path, a table in memory, or what ``load`` returned.
    domain
        The columns: numbers between bounds, without bins.
    round_epsilon
        What a noisy test is said to cost.
    alpha
        Independent from this p-value on.
    max_order
        Largest conditioning set; None for any.
    permutations, lam
        See ``discreet.baselines.published.rcit.rcit``.
    knowledge
        Required and forbidden arrows, and tiers.
    seed
        Seed of permutations and noise, which protect nobody; None for fresh ones.
    progress
        Called with a line of words at each order. They depend on exact answers.
    """
    settings = PcdSettings(round_epsilon, alpha, max_order, permutations, lam)
    knowledge.check(domain)
    domain.check_numeric()
    if domain.rows < 2:
        raise SettingError("rows: a test takes at least two")
    columns = on_unit_scale(load_unless_loaded(data, domain), domain)
    return run_pcd(columns, settings, np.random.default_rng(seed), knowledge=knowledge, progress=progress)
