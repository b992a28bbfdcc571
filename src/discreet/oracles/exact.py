"""NOT PRIVATE: answers from exact counts, by a G-test of any order. What private answers are compared with.

Nothing here blurs anything: whoever sees an answer learns something exact about the rows. So this module counts among
those that hold rows, and nothing that handles releases may import it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import combinations
from math import prod

import numpy as np
from scipy.special import chdtrc, gammaln, xlogy

from discreet.arrays import IntArray
from discreet.errors import SettingError, UnansweredError
from discreet.oracles import Verdict
from discreet.sealed import Sealed
from discreet.tables import Table

MAX_CELLS = 1 << 22
"""Cells of the largest table that is counted."""

MAX_HELD = 1 << 24
"""Cells of all tables that are held for the next question."""

SMALLEST = 1e-290
"""Below this a p-value's logarithm comes from a series, since the p-value itself is about to vanish."""


class ExactCounts(Sealed):
    """NOT PRIVATE: exact contingency tables of a table, each counted once.

    Parameters
    ----------
    table
        Encoded rows.
    sizes
        Number of levels of each column, from the public domain.
    """

    def __init__(self, table: Table, sizes: Mapping[str, int]) -> None:
        self._table = table
        self._held: dict[tuple[str, ...], IntArray] = {}
        self._cells = 0
        self.sizes = dict(sizes)
        self.rows = table.rows

    def countable(self, columns: Iterable[str]) -> bool:
        """Whether the table over some columns is small enough to be counted."""
        return prod(self.sizes[c] for c in columns) <= MAX_CELLS

    def table(self, columns: tuple[str, ...]) -> IntArray:
        """Return the exact table over some different columns, one axis each in the order given."""
        ordered = tuple(sorted(columns))
        if ordered not in self._held:
            self._count(ordered)
        return self._held[ordered].transpose([ordered.index(c) for c in columns])

    def _count(self, ordered: tuple[str, ...]) -> None:
        """Count a table; all pairs at the first question about one, which takes one pass over the rows."""
        wanted = [ordered]
        if len(ordered) == 2:
            wanted = [pair for pair in combinations(sorted(self.sizes), 2) if self.countable(pair)]
        if self._cells > MAX_HELD:
            self._held.clear()
            self._cells = 0
        for columns, counted in zip(wanted, self._table.counts(wanted), strict=True):
            self._held[columns] = counted
            self._cells += counted.size


class GTest(Sealed):
    """NOT PRIVATE: an oracle that tests independence on exact counts by likelihood ratio (a G-test), of any order.

    Degrees of freedom are those of the levels that occur: a level of x or of y that is empty within a stratum of the
    given columns adds none there. A question whose table has more than ``MAX_CELLS`` cells is not answered.

    Parameters
    ----------
    counts
        Exact counts.
    alpha
        Level of the tests: the share of independent pairs called dependent.
    free
        Whether a search may ask for every set of an order and take the clearest answer, as it does with releases; if
        not, the first set that separates a pair is taken, as in the textbook.
    """

    max_order = None

    def __init__(self, counts: ExactCounts, *, alpha: float = 0.01, free: bool = True) -> None:
        if not 0 < alpha < 1:
            raise SettingError("alpha: a number between 0 and 1")
        self.free = free
        self._counts = counts
        self._alpha = alpha
        self._asked: dict[tuple[frozenset[str], frozenset[str]], Verdict] = {}

    def answers(self, x: str, y: str, given: frozenset[str]) -> bool:
        """Whether the table it takes is small enough to be counted."""
        return self._counts.countable((x, y, *given))

    def ask(self, x: str, y: str, given: frozenset[str]) -> Verdict:
        """Test whether x and y are independent given any set of columns."""
        if not self.answers(x, y, given):
            raise UnansweredError(f"the table that this question takes has more than {MAX_CELLS:,} cells")
        key = (frozenset((x, y)), given)
        if key not in self._asked:
            columns = (*sorted(given), *sorted((x, y)))
            table = self._counts.table(columns)
            self._asked[key] = self._verdict(*g_statistic(table.reshape(-1, *table.shape[-2:])))
        return self._asked[key]

    def _verdict(self, statistic: float, freedom: int) -> Verdict:
        """Weigh a statistic: the evidence is how far, as a logarithm, its p-value lies below the level."""
        p_value = float(chdtrc(freedom, statistic)) if freedom else 1.0
        logarithm = math.log(p_value) if p_value > SMALLEST else _log_tail(statistic, freedom)
        return Verdict(p_value > self._alpha, math.log(self._alpha) - logarithm, p_value)


def g_statistic(strata: IntArray) -> tuple[float, int]:
    """Return the likelihood-ratio statistic of tables (stratum, x, y), and its degrees of freedom."""
    strata = strata[strata.any(axis=(1, 2))]
    down, across = strata.sum(axis=2), strata.sum(axis=1)
    statistic = 2 * (_information(strata) - _information(down) - _information(across) + _information(down.sum(axis=1)))
    freedom = (np.count_nonzero(down, axis=1) - 1) * (np.count_nonzero(across, axis=1) - 1)
    return max(statistic, 0.0), int(freedom.sum())


def log_likelihood(table: IntArray) -> float:
    """Return the largest log-likelihood of the last axis given all others."""
    return _information(table) - _information(table.sum(axis=-1))


def _information(counts: IntArray) -> float:
    return float(xlogy(counts, counts).sum())


def _log_tail(statistic: float, freedom: int) -> float:
    """Return the logarithm of a chi-square's far tail: the leading terms of its asymptotic series."""
    shape, x = freedom / 2, statistic / 2
    series, term = 1.0, 1.0
    for i in range(1, 8):
        term *= (shape - i) / x
        series += term
    return (shape - 1) * math.log(x) - x - float(gammaln(shape)) + math.log(max(series, 1.0))
