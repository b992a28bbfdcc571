"""NOT PRIVATE: PCD as published: PC with RCIT, whose p-values get noise only where the decision does not seem sure.

Zhang, Xia, Ren, Guan, Zhou 2023 (*Differentially Private Nonlinear Causal Discovery from Numerical Data*), Algorithm 1.
Reconstructed from its analysis, not from its code: the bounds on what a row moves (that of HSIC for order 0, and
Equation 3 beyond), the branch without noise, noise in proportion to how far the p-value could move *on these rows*,
and the charge on the noisy branch alone. Guessed are the scales 2 and 4 (those of sparse vectors), a fresh threshold
for every question, the sum as the total, and columns between -1 and 1 by their declared bounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

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

    Residuals are taken to move by 8/(n lam^1.5), the changed row's own too, and kernels to be flattest where two rows
    are equal: entries move by 1 - exp(-(2 shift)^2/(2 width^2)).
    """
    shift = 8 / (rows * lam**1.5)
    entries = [-math.expm1(-((2 * shift) ** 2) / (2 * width**2)) for width in widths]
    return 2 * sum(entries) * (rows / (rows - 1)) ** 2


def deletion_probability(p: float, most: float, alpha: float, epsilon: float) -> float:
    """Return the probability that an edge is deleted, given the p-value and the largest that a neighbour may have.

    Proof
    -----
    Draws of scales a and 2a sum to more than u >= 0 with probability (4 e^(-u/2a) - e^(-u/a))/6, here a = 2 (most - p)/
    epsilon and u = alpha - p; the law is symmetric.
    """
    if most < alpha:
        return 0.0
    scale, far = 2 * (most - p) / epsilon, abs(alpha - p)
    tail = (4 * math.exp(-far / (2 * scale)) - math.exp(-far / scale)) / 6 if scale else 0.0
    return 1 - tail if p >= alpha else tail


class SureOrNoisy(Sealed):
    """NOT PRIVATE: keeps an edge without noise where no neighbour seems able to lose it, by a noisy p-value elsewhere.

    Parameters
    ----------
    columns
        Numbers between -1 and 1, by name.
    settings
        Of the tests and the noise.
    rng
        Where permutations and noise come from.
    """

    free = False
    max_order = None

    def __init__(self, columns: Mapping[str, FloatArray], settings: PcdSettings, rng: np.random.Generator) -> None:
        self._rcit = Rcit(columns, permutations=settings.permutations, lam=settings.lam, rng=rng)
        self._settings = settings
        self._rng = rng
        self.tests = 0
        self.rounds = 0

    def answers(self, x: str, y: str, given: frozenset[str]) -> bool:
        """Whether it can answer: always."""
        return True

    def ask(self, x: str, y: str, given: frozenset[str]) -> Verdict:
        """Say whether the edge is deleted; only a noisy answer counts as a round."""
        self.tests += 1
        found, rows = self._rcit.test(x, y, given), self._rcit.rows
        moved = equation_3(rows, self._settings.lam, found.widths) if given else plain_sensitivity(rows)
        p, most = found.share(), found.share(2 * moved)
        if most < self._settings.alpha:
            return Verdict(independent=False, evidence=1.0)
        self.rounds += 1
        scale = 2 * (most - p) / self._settings.epsilon
        bar = self._settings.alpha + self._rng.laplace(0, scale)
        independent = bool(p + self._rng.laplace(0, 2 * scale) >= bar)
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
    oracle = SureOrNoisy(columns, settings, rng)
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
