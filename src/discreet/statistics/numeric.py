"""Ranks of two columns of whole numbers: sums over all pairs and of products of ranks, exact and fast.

Pure functions of arrays, without privacy. Definitions and proofs of what is used here: ``numeric.md``.
"""

from __future__ import annotations

import numpy as np

from discreet.arrays import IntArray

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
    products = _twice_ranks(x) * _twice_ranks(y)
    low = int((products & ((1 << _HALF) - 1)).sum())
    return (int((products >> _HALF).sum()) << _HALF) + low


def _twice_ranks(values: IntArray) -> IntArray:
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
