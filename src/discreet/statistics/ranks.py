"""Dependence of ordered columns by ranks: Kendall's and Spearman's statistics, with ties and strata kept.

A pair of rows that one of the columns does not tell apart counts 0. No stratum is dropped, and nothing is divided by
what ties leave: both would make one row matter without limit. Sums are made of codes row by row, or of contingency
tables with one stratum along the first axis.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.arrays import FloatArray, IntArray
from discreet.statistics.dependence import Dependence, Size

_HALF = 31
"""Bits of the lower part of a product of two ranks; both parts add up in 64 bits over 2^31 rows."""

_RUN = 6
"""Bits of a place within a run of rows that are compared one by one."""

MAX_CUBED = 1 << 20
"""Up to so many rows their third power fits in 64 bits; beyond, sums over triples are Python's integers."""


def concordance_sum(x: IntArray, y: IntArray) -> int:
    """Return the concordant pairs of rows less the discordant ones; ties count 0. Exact, for up to 2^31 rows."""
    if len(x) < 2:
        return 0
    (x, many_x), (y, many_y) = _codes(x), _codes(y)
    both = x * len(many_y)
    both += y
    both.sort()
    untied = _pairs(np.array([len(x)])) - _pairs(many_x) - _pairs(many_y) + _pairs(_runs(both))
    both %= len(many_y)
    return untied - 2 * _inversions(both)


def rank_product_sum(x: IntArray, y: IntArray) -> int:
    """Return the sum of products of both twice centred middle ranks. Exact, for up to 2^31 rows."""
    if len(x) < 2:
        return 0
    (x, many_x), (y, many_y) = _codes(x), _codes(y)
    products = _twice_ranks(many_x)[x] * _twice_ranks(many_y)[y]
    low = int((products & ((1 << _HALF) - 1)).sum())
    return (int((products >> _HALF).sum()) << _HALF) + low


def _codes(values: IntArray) -> tuple[IntArray, IntArray]:
    """Return whole numbers from 0 in the same order, and how many rows have each."""
    low = int(values.min())
    if int(values.max()) - low < len(values):
        codes = values - low
        return codes, np.bincount(codes)
    _, codes, many = np.unique(values, return_inverse=True, return_counts=True)
    return codes, many


def _pairs(many: IntArray) -> int:
    """Return the number of pairs of rows within groups."""
    return int((many * (many - 1) // 2).sum())


def _runs(ordered: IntArray) -> IntArray:
    """Return the lengths of runs of equal values."""
    ends = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    found: IntArray = np.diff(ends, prepend=0, append=len(ordered))
    return found


def _inversions(values: IntArray) -> int:
    """Return the pairs of which the first value is larger.

    The rows' places, in the order of values, are cut into halves by their highest bit, then the halves by the next
    one, and so on. A pair is met where its places part: it counts if the later place stands first. Runs of 64 places
    are left, in which all pairs are compared.
    """
    bits = max((len(values) - 1).bit_length(), _RUN)
    keys = values << bits
    keys += np.arange(len(values))
    keys.sort()
    keys &= (1 << bits) - 1
    places = np.append(keys, np.arange(len(values), 1 << bits)).astype(np.uint32)
    total = 0
    for bit in range(bits - 1, _RUN - 1, -1):
        half = 1 << bit
        later = (places & np.uint32(half)).astype(np.bool_)
        early = np.flatnonzero(~later)
        total += int((early & (2 * half - 1)).sum()) - len(early) * (half - 1) // 2
        parts = [places[some].reshape(-1, half) for some in (early, np.flatnonzero(later))]
        places = np.stack(parts, axis=1).reshape(-1)
    return total + _inversions_within(values)


def _inversions_within(values: IntArray) -> int:
    """Return the inversions within runs of 64 places."""
    length = 1 << _RUN
    missing = -len(values) % length
    padded = np.append(values, np.full(missing, np.iinfo(np.int64).max))
    across = np.ascontiguousarray(padded.reshape(-1, length).T)
    return sum(int(np.count_nonzero(across[:-apart] > across[apart:])) for apart in range(1, length))


def concordance(strata: IntArray) -> IntArray:
    """Return the concordant pairs of rows less the discordant ones, for each stratum."""
    before = strata.cumsum(axis=1) - strata
    smaller = before.cumsum(axis=2) - before
    larger = before.sum(axis=2, keepdims=True) - before - smaller
    found: IntArray = (strata * (smaller - larger)).sum(axis=(1, 2))
    return found


def rank_products(strata: IntArray, rows: int) -> FloatArray:
    """Return four times the sum of products of both centred ranks, for each stratum."""
    x, y = (_twice_ranks(strata.sum(axis=axis)) for axis in (2, 1))
    inner = (strata * x[:, :, None]).sum(axis=1)
    outer = inner.astype(object) * y if rows > MAX_CUBED else inner * y
    found: FloatArray = outer.sum(axis=1).astype(np.float64)
    return found


def _twice_ranks(many: IntArray) -> IntArray:
    """Return the rows below each level less those above it, along the last axis."""
    found: IntArray = 2 * many.cumsum(axis=-1) - many - many.sum(axis=-1, keepdims=True)
    return found


def weight(rows: int) -> float:
    """Return what a stratum counts in stratified Kendall: about 9/4 a row."""
    return 9 * rows * (rows - 1) / (4 * rows + 10)


def kendall_parts(strata: IntArray) -> tuple[float, float]:
    """Return the weighted sum of all strata's taus, and the sum of their weights."""
    rows = strata.sum(axis=(1, 2))
    above = 9 * (concordance(strata) / (2 * rows + 5))
    return math.fsum(above.tolist()), math.fsum((9 * (rows * (rows - 1) / (4 * rows + 10))).tolist())


def kendall_change(size: Size) -> float:
    """Return how far substituting one row can move the weighted sum of all strata's taus."""

    def removed(rows: int) -> float:
        if size.both_binary:
            return 9 * (rows - 1) / (2 * rows + 5)
        return 9 * (rows - 1) * (3 * rows + 1) / ((2 * rows + 3) * (2 * rows + 5))

    within = (9 if size.both_binary else 18) * (size.rows - 1) / (2 * size.rows + 5)
    across = removed((size.rows + 1) // 2) + removed(size.rows // 2 + 1)
    return within if size.strata == 1 else max(within, across)


@dataclass(frozen=True)
class Ranked(Dependence):
    """A statistic of ranks: its absolute value, unless the sign is asked for."""

    signed: bool = False

    def _value(self, strata: IntArray, rows: int) -> float:
        value = self._signed(strata, rows)
        return value if self.signed else abs(value)

    def _range(self, size: Size) -> float:
        return (2 if self.signed else 1) * self._most(size)

    @abstractmethod
    def _signed(self, strata: IntArray, rows: int) -> float:
        """Return the real value with its sign."""

    @abstractmethod
    def _most(self, size: Size) -> float:
        """Return the largest absolute value."""


@dataclass(frozen=True)
class StratifiedKendallDet(Ranked):
    """Weighted sum of all strata's taus over 1.5 sqrt n: stratified Kendall with a public denominator.

    Guarantee
    ---------
    Substituting one row changes the real value by less than 9/sqrt n, and 6/sqrt n if both columns are binary, for any
    number of strata; one stratum: 12 (n - 1)/((2 n + 5) sqrt n), and half of it if both are binary.

    Proof
    -----
    ``ranks.md``, Public denominator.
    """

    kind: ClassVar[str] = "stratified Kendall with a public denominator"

    def _signed(self, strata: IntArray, rows: int) -> float:
        return kendall_parts(strata)[0] / (1.5 * math.sqrt(rows))

    def _change(self, size: Size) -> float:
        return kendall_change(size) / (1.5 * math.sqrt(size.rows))

    def _most(self, size: Size) -> float:
        return weight(size.rows) / (1.5 * math.sqrt(size.rows))


@dataclass(frozen=True)
class StratifiedSpearman(Ranked):
    """Sum of all strata's (rows - 1) rho over sqrt n: Spearman with a public denominator.

    Guarantee
    ---------
    Substituting one row changes the real value by less than 10/sqrt n, and 6/sqrt n if both columns are binary, for any
    number of strata; one stratum: 6 (n - 1)/((n + 1) sqrt n), and half of it if both are binary.

    Proof
    -----
    ``ranks.md``, Stratified Spearman.
    """

    kind: ClassVar[str] = "stratified Spearman"

    def _signed(self, strata: IntArray, rows: int) -> float:
        each = strata.sum(axis=(1, 2))
        parts = 3 * (rank_products(strata, rows) / np.maximum(each * (each + 1), 1))
        return math.fsum(parts.tolist()) / math.sqrt(rows)

    def _change(self, size: Size) -> float:
        def removed(rows: int) -> float:
            return max(3 * rows - 3 if size.both_binary else 5 * rows - 7, 0) / (rows + 1)

        within = (3 if size.both_binary else 6) * (size.rows - 1) / (size.rows + 1)
        across = removed((size.rows + 1) // 2) + removed(size.rows // 2 + 1)
        return (within if size.strata == 1 else max(within, across)) / math.sqrt(size.rows)

    def _most(self, size: Size) -> float:
        return (size.rows - 1) / math.sqrt(size.rows)
