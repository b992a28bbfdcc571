"""Dependence of ordered columns by ranks: Kendall's and Spearman's statistics, with ties and strata kept.

A pair of rows that one of the columns does not tell apart counts 0. No stratum is dropped, and nothing is divided by
what ties leave: both would make one row matter without limit.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.arrays import FloatArray, IntArray
from discreet.errors import SettingError
from discreet.statistics.dependence import Dependence, Size

_HALF = 31
"""Bits of the lower part of a product of two ranks; both parts add up in 64 bits over 2^31 rows."""

_RUN = 6
"""Bits of a place within a run of rows that are compared one by one."""


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
    products = _twice_int_ranks(x) * _twice_int_ranks(y)
    low = int((products & ((1 << _HALF) - 1)).sum())
    return (int((products >> _HALF).sum()) << _HALF) + low


def _twice_int_ranks(values: IntArray) -> IntArray:
    """Return for each row the rows below it less those above it."""
    codes, many = _codes(values)
    found: IntArray = (2 * many.cumsum() - many - len(values))[codes]
    return found


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


FARTHEST = 6 * math.sqrt(4 / 33)
"""No row moves stratified Kendall further, whatever the numbers of rows and strata."""

MAX_CUBED = 1 << 20
"""Up to so many rows their third power fits in 64 bits; beyond, sums over triples are Python's integers."""


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


def _twice_ranks(margins: IntArray) -> IntArray:
    """Return the rows below each level less those above it."""
    found: IntArray = 2 * margins.cumsum(axis=1) - margins - margins.sum(axis=1, keepdims=True)
    return found


def weight(rows: int) -> float:
    """Return what a stratum counts in stratified Kendall: about 9/4 a row."""
    return 9 * rows * (rows - 1) / (4 * rows + 10)


def _kendall_moved(size: Size) -> float:
    """Return how far substituting one row can move the weighted sum of all strata's taus."""

    def removed(rows: int) -> float:
        if size.both_binary:
            return 9 * (rows - 1) / (2 * rows + 5)
        return 9 * (rows - 1) * (3 * rows + 1) / ((2 * rows + 3) * (2 * rows + 5))

    within = (9 if size.both_binary else 18) * (size.rows - 1) / (2 * size.rows + 5)
    across = removed((size.rows + 1) // 2) + removed(size.rows // 2 + 1)
    return within if size.strata == 1 else max(within, across)


def kendall_parts(strata: IntArray) -> tuple[float, float]:
    """Return the weighted sum of all strata's taus, and the sum of their weights."""
    rows = strata.sum(axis=(1, 2))
    above = 9 * (concordance(strata) / (2 * rows + 5))
    return math.fsum(above.tolist()), math.fsum((9 * (rows * (rows - 1) / (4 * rows + 10))).tolist())


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
class Marginal(Ranked):
    """A statistic of ranks of two columns with nothing given."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.given:
            raise SettingError(f"{self.kind}: nothing may be given; ask for a stratified statistic")

    def _most(self, size: Size) -> float:
        return float(size.rows > 1)


@dataclass(frozen=True)
class KendallA(Marginal):
    """Kendall's tau-a: concordant pairs of rows less discordant ones, as a share of all pairs.

    Guarantee
    ---------
    Substituting one row changes the real value by at most 4/n; 2/n if both columns are binary.

    Proof
    -----
    ``ranks.md``.
    """

    kind: ClassVar[str] = "Kendall's tau"

    def _signed(self, strata: IntArray, rows: int) -> float:
        return 2 * int(concordance(strata).sum()) / max(rows * (rows - 1), 1)

    def _change(self, size: Size) -> float:
        return (2 if size.both_binary else 4) / size.rows


@dataclass(frozen=True)
class SpearmanA(Marginal):
    """Spearman's rho-a: products of centred middle ranks, over what they add up to in equal orders without ties.

    Guarantee
    ---------
    Substituting one row changes the real value by at most 6/(n + 1); 3/(n + 1) if both columns are binary.

    Proof
    -----
    ``ranks.md``.
    """

    kind: ClassVar[str] = "Spearman's rho"

    def _signed(self, strata: IntArray, rows: int) -> float:
        return 3 * float(rank_products(strata, rows).sum()) / max(rows * (rows - 1) * (rows + 1), 1)

    def _change(self, size: Size) -> float:
        return (3 if size.both_binary else 6) / (size.rows + 1)


@dataclass(frozen=True)
class StratifiedKendall(Ranked):
    """Weighted sum of all strata's taus over the root of the sum of weights: near normal if nothing depends.

    Guarantee
    ---------
    With K strata and n > K, substituting one row changes the real value by at most
    (9/sqrt n) sqrt((n + 2.5 K)/(n - K)), with 6 for 9 if both columns are binary; ``ranks.md`` has less for few rows,
    and n <= K. One stratum: 6 sqrt((n - 1)/(n (n + 2.5))), and half of it if both are binary.

    Proof
    -----
    ``ranks.md``.
    """

    kind: ClassVar[str] = "stratified Kendall"

    def _signed(self, strata: IntArray, rows: int) -> float:
        above, below = kendall_parts(strata)
        return above / math.sqrt(below) if below else 0.0

    def _change(self, size: Size) -> float:
        moved = _kendall_moved(size)
        if size.strata > 1:
            shifted = (weight(size.rows) - weight(size.rows - 1)) / 2
            moved = min(moved + shifted, 9 if size.both_binary else 13.5)
        each, more = divmod(size.rows, size.strata)
        least = (size.strata - more) * weight(each) + more * weight(each + 1)
        return min(moved / math.sqrt(max(least, 1.0)), 2 if size.both_binary else FARTHEST)

    def _most(self, size: Size) -> float:
        return math.sqrt(weight(size.rows))


@dataclass(frozen=True)
class StratifiedKendallDet(Ranked):
    """Weighted sum of all strata's taus over 1.5 sqrt n: stratified Kendall with a public denominator.

    Guarantee
    ---------
    Substituting one row changes the real value by less than 9/sqrt n, and 6/sqrt n if both columns are binary, for any
    number of strata; one stratum: 12 (n - 1)/((2 n + 5) sqrt n), and half of it if both are binary.

    Proof
    -----
    ``ranks.md``.
    """

    kind: ClassVar[str] = "stratified Kendall with a public denominator"

    def _signed(self, strata: IntArray, rows: int) -> float:
        return kendall_parts(strata)[0] / (1.5 * math.sqrt(rows))

    def _change(self, size: Size) -> float:
        return _kendall_moved(size) / (1.5 * math.sqrt(size.rows))

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
    ``ranks.md``.
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


@dataclass(frozen=True)
class AverageTau(Ranked):
    """Kendall's tau-a of all strata, averaged over rows.

    Guarantee
    ---------
    Substituting one row changes the real value by at most 6/n, and 4/n if both columns are binary; one stratum: 4/n,
    and 2/n if both are binary.

    Proof
    -----
    ``ranks.md``.
    """

    kind: ClassVar[str] = "average tau"

    def _signed(self, strata: IntArray, rows: int) -> float:
        each = strata.sum(axis=(1, 2))
        return math.fsum((2 * (concordance(strata) / np.maximum(each - 1, 1))).tolist()) / rows

    def _change(self, size: Size) -> float:
        if size.strata == 1:
            return (2 if size.both_binary else 4) / size.rows
        return (4 if size.both_binary else 6) / size.rows

    def _most(self, size: Size) -> float:
        return float(size.rows > 1)
