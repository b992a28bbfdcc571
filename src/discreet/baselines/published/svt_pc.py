"""NOT PRIVATE: the oracle of SVT-PC as published (Wang, Pang, Song 2020): Kendall's p-values and a noisy threshold."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from discreet.arrays import IntArray
from discreet.baselines.exact import ExactCounts
from discreet.sealed import Sealed
from discreet.search.oracle import Verdict
from discreet.statistics import Table
from discreet.statistics.ranks import kendall_parts


def p_value(strata: IntArray) -> float:
    """Return the p-value of exact tables (stratum, x, y); NaN where no stratum is left.

    Strata with two rows or fewer, and those in which a column is constant, are dropped: this is what makes one row
    matter without limit.
    """
    several = [np.count_nonzero(strata.any(axis=axis), axis=1) > 1 for axis in (1, 2)]
    kept = strata[(strata.sum(axis=(1, 2)) > 2) & several[0] & several[1]]
    if not len(kept):
        return math.nan
    above, weights = kendall_parts(kept)
    return float(ndtr(-abs(above) / math.sqrt(weights)))


def p_value_of(source: ExactCounts | Table, x: str, y: str, given: frozenset[str]) -> float:
    """Return the p-value of a question."""
    columns = (*sorted(given), x, y)
    table = source.table(columns) if isinstance(source, ExactCounts) else source.counts([columns])[0]
    return p_value(table.reshape(-1, *table.shape[-2:]))


def claimed_sensitivity(rows: int, constant: float) -> float:
    """Return how far one row is said to move the p-value, if it moved the statistic by constant / sqrt(rows)."""
    return float(ndtr(constant / math.sqrt(rows))) - 0.5


class Threshold(Sealed):
    """NOT PRIVATE: compares noisy p-values with a noisy threshold; a pass removes an edge and counts as a round.

    The first threshold has Laplace noise of scale 2 S/epsilon, questions have 4 S/epsilon as in the paper. After a pass
    the threshold is drawn again, with Gaussian noise whose deviation is that scale, as in the published code.

    Parameters
    ----------
    counts
        Exact counts.
    alpha
        Independent from this p-value on.
    epsilon
        What a round is said to cost.
    constant
        One row is taken to move Kendall's statistic by so much over the root of the rows.
    rng
        Where noise comes from.
    """

    free = False
    max_order = None

    def __init__(
        self, counts: ExactCounts, alpha: float, epsilon: float, constant: float, rng: np.random.Generator
    ) -> None:
        self._counts = counts
        self._rng = rng
        self._alpha = alpha
        self._scale = 2 * claimed_sensitivity(counts.rows, constant) / epsilon
        self._bar = alpha + rng.laplace(0, self._scale)
        self.tests = 0
        self.rounds = 0

    def answers(self, x: str, y: str, given: frozenset[str]) -> bool:
        """Whether the table it takes is small enough to be counted."""
        return self._counts.countable((x, y, *given))

    def ask(self, x: str, y: str, given: frozenset[str]) -> Verdict:
        """Say whether a noisy p-value reaches the threshold; what is not a number never does."""
        self.tests += 1
        p = p_value_of(self._counts, x, y, given)
        passed = bool(p + self._rng.laplace(0, 2 * self._scale) >= self._bar)
        if passed:
            self.rounds += 1
            self._bar = self._alpha + self._rng.normal(0, self._scale)
        return Verdict(passed, -1.0 if passed else 1.0)
