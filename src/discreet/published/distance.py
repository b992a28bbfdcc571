"""NOT PRIVATE: the scores of EM-PC: how many rows can be deleted before a G-test changes its mind, found greedily."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from math import prod

import numpy as np
from scipy.special import chdtrc, chdtri

from discreet.arrays import FloatArray, IntArray
from discreet.oracles.exact import ExactCounts, g_statistic
from discreet.sealed import Sealed

FINE = 100
"""A cell loses this part of its rows at once."""


@dataclass(frozen=True)
class Score:
    """NOT PRIVATE: a signed distance: positive if the test finds nothing, and the distance itself may be 0."""

    signed: int
    independent: bool


class Distances(Sealed):
    """NOT PRIVATE: p-values of G-tests on exact counts, and signed greedy distances. Freedom is of declared levels.

    Parameters
    ----------
    counts
        Exact counts.
    alpha
        Independent above this p-value.
    block
        Rows that are deleted at once; see ``distance``.
    """

    def __init__(self, counts: ExactCounts, alpha: float, block: int | None = None) -> None:
        self._counts = counts
        self._alpha = alpha
        self._block = block
        self._scored: dict[tuple[frozenset[str], frozenset[str]], Score] = {}
        self._tested: dict[tuple[frozenset[str], frozenset[str]], float] = {}
        self.tests = 0

    def answers(self, x: str, y: str, given: frozenset[str]) -> bool:
        """Whether the table it takes is small enough to be counted."""
        return self._counts.countable((x, y, *given))

    def p_value(self, x: str, y: str, given: frozenset[str]) -> float:
        """Return the p-value of a question."""
        key = (frozenset((x, y)), given)
        if key not in self._tested:
            self.tests += 1
            freedom = self._freedom(x, y, given)
            statistic, _ = g_statistic(self._strata(x, y, given))
            self._tested[key] = float(chdtrc(freedom, statistic)) if freedom else 1.0
        return self._tested[key]

    def score(self, x: str, y: str, given: frozenset[str]) -> Score:
        """Return the signed distance of a question."""
        key = (frozenset((x, y)), given)
        if key not in self._scored:
            independent = self.p_value(x, y, given) > self._alpha
            freedom = self._freedom(x, y, given)
            limit = float(chdtri(freedom, self._alpha)) if freedom else math.inf
            rows = distance(self._strata(x, y, given), limit, block=self._block)
            self._scored[key] = Score(rows if independent else -rows, independent)
        return self._scored[key]

    def _strata(self, x: str, y: str, given: frozenset[str]) -> IntArray:
        table = self._counts.table((*sorted(given), *sorted((x, y))))
        return table.reshape(-1, *table.shape[-2:])

    def _freedom(self, x: str, y: str, given: frozenset[str]) -> int:
        sizes = self._counts.sizes
        return (sizes[x] - 1) * (sizes[y] - 1) * prod(sizes[z] for z in given)


def distance(strata: IntArray, limit: float, *, block: int | None = None) -> int:
    """Return how many rows are deleted before G^2 of tables (stratum, x, y) would cross a limit.

    Rows go from the cell whose loss of one row moves G^2 most towards the limit, one less than there are at most.
    With ``block=1`` one after the other, as published. By default a hundredth of the cell goes at once, in smaller
    blocks near the limit: that is far faster with many rows, and distances are off by less than a thousandth, which
    changes nothing that is shown with them.
    """
    table = _Deleting(strata[strata.any(axis=(1, 2))], limit)
    most = int(strata.sum()) - 1
    while table.deleted < most:
        place = table.steepest()
        size = min(block or max(1, table.rows_at(place) // FINE), table.rows_at(place), most - table.deleted)
        while size and table.would_cross(place, size):
            size //= 2
        if not size:
            break
        table.delete(place, size)
    return table.deleted


Place = tuple[int, int, int]


class _Deleting:
    """Tables that lose rows, with what the next loss of one row would change in every cell."""

    def __init__(self, strata: IntArray, limit: float) -> None:
        self._cells = strata.copy()
        self._down, self._across = strata.sum(axis=2), strata.sum(axis=1)
        self._total = self._down.sum(axis=1)
        self._gains = _gains(int(self._total.max(initial=0)))
        self._limit = limit
        self._value = g_statistic(strata)[0]
        self._upwards = self._value < limit
        towards = [self._towards(k) for k in range(len(strata))]
        self._best = np.array([t.max() for t in towards])
        self._where = [int(t.argmax()) for t in towards]
        self.deleted = 0

    def steepest(self) -> Place:
        """Return the cell whose loss of a row moves the value most towards the limit."""
        k = int(self._best.argmax())
        return k, *divmod(self._where[k], self._cells.shape[2])

    def rows_at(self, place: Place) -> int:
        """Return the rows in a cell."""
        return int(self._cells[place])

    def would_cross(self, place: Place, size: int) -> bool:
        """Whether the value crosses the limit if a cell loses so many rows."""
        value = self._value + self._change(place, size)
        return value >= self._limit if self._upwards else value < self._limit

    def delete(self, place: Place, size: int) -> None:
        """Delete rows from a cell."""
        k, i, j = place
        self._value += self._change(place, size)
        self._cells[place] -= size
        self._down[k, i] -= size
        self._across[k, j] -= size
        self._total[k] -= size
        towards = self._towards(k)
        self._where[k] = place_of_best = int(towards.argmax())
        self._best[k] = towards[place_of_best]
        self.deleted += size

    def _change(self, place: Place, size: int) -> float:
        k, i, j = place
        cell, down, across, total = self._cells[place], self._down[k, i], self._across[k, j], self._total[k]
        return 2 * (_lost(down, size) + _lost(across, size) - _lost(cell, size) - _lost(total, size))

    def _towards(self, k: int) -> FloatArray:
        """Return how far towards the limit the loss of one row would move the value; minus infinity without rows."""
        gains, cells = self._gains, self._cells[k]
        margins = gains[self._down[k]][:, None] + gains[self._across[k]]
        change = margins - gains[cells] - gains[self._total[k]]
        towards: FloatArray = np.where(cells > 0, change if self._upwards else -change, -np.inf).ravel()
        return towards


def _lost(rows: int, size: int) -> float:
    """Return by how much t log t shrinks when t loses so many rows."""
    left = rows - size
    return rows * math.log(rows) - (left * math.log(left) if left else 0.0)


@cache
def _gains(rows: int) -> FloatArray:
    """Return t log t - (t - 1) log(t - 1) for t from 0 to a number of rows."""
    t = np.arange(rows + 1, dtype=np.float64)
    information = t * np.log(np.maximum(t, 1))
    gains: FloatArray = np.diff(information, prepend=0.0)
    return gains
