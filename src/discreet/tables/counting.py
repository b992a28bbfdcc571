"""Counting encoded rows: pairs by bit-packed popcounts, larger sets by packed keys.

Measured on two cores for 37 columns and 100,000 rows (``benchmarks/counting.py``): popcounts are the
fastest way to all pairs, a bincount of the narrowest packed key the fastest way to larger tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np
import numpy.typing as npt

from discreet.arrays import IntArray

Codes = Mapping[str, npt.NDArray[np.unsignedinteger]]
"""One narrow array of codes a column, all of the same length."""

BLOCK = 1 << 17
"""Rows a block: the packed bits of a block stay in the processor's cache."""

MAX_BIT_LEVELS = 64
"""Columns with more levels than this are counted by keys: their bit rows would be mostly zeros."""


Code = type[np.uint8] | type[np.uint16] | type[np.uint32] | type[np.int64]


def narrowest(levels: int) -> Code:
    """Return the narrowest type for codes below ``levels``."""
    if levels > 1 << 32:
        return np.int64
    return np.uint8 if levels <= 1 << 8 else np.uint16 if levels <= 1 << 16 else np.uint32


def recode(codes: Codes, places: Mapping[str, IntArray], sizes: Mapping[str, int]) -> Codes:
    """Replace each code of the named columns by its place, row by row."""
    narrow: Codes = {column: place.astype(narrowest(sizes[column])) for column, place in places.items()}
    return {column: narrow[column][array] if column in narrow else array for column, array in codes.items()}


def count(codes: Codes, sizes: Mapping[str, int], sets: Sequence[tuple[str, ...]]) -> list[IntArray]:
    """Return the contingency table of each set of columns."""
    by_bits = {s for s in sets if len(s) == 2 and max(sizes[c] for c in s) <= MAX_BIT_LEVELS}
    if len(by_bits) < 4:
        by_bits = set()
    tables = _count_pairs(codes, sizes, sorted(by_bits)) if by_bits else {}
    return [tables[s] if s in tables else _count_by_key(codes, sizes, s) for s in sets]


def _count_by_key(codes: Codes, sizes: Mapping[str, int], columns: tuple[str, ...]) -> IntArray:
    """Count one set by packing its codes into one narrow key."""
    shape = tuple(sizes[c] for c in columns)
    cells = prod(shape)
    rows = len(codes[columns[0]])
    counted = np.zeros(cells, dtype=np.int64)
    kind = narrowest(max(cells, max(shape) + 1))  # the key, and the number of levels as a factor
    for start in range(0, rows, BLOCK):
        part = slice(start, start + BLOCK)
        key: npt.NDArray[np.integer] = codes[columns[0]][part].astype(kind)
        for column in columns[1:]:
            key = key * kind(sizes[column]) + codes[column][part].astype(kind, copy=False)
        counted += _histogram(key, cells)
    return counted.reshape(shape)


def _histogram(key: npt.NDArray[np.integer], cells: int) -> IntArray:
    """Count keys; if there are few cells, four or two rows at once by a joint key, whose margins are added up."""
    for together in (4, 2):
        if cells**together <= min(len(key) // 8, 1 << 16):
            break
    else:
        return np.bincount(key, minlength=cells)
    length = len(key) // together
    rest = key[together * length :]
    joint = key[:length].astype(np.uint16)
    for k in range(1, together):
        joint = joint * np.uint16(cells) + key[k * length : (k + 1) * length]
    counted = np.bincount(joint, minlength=cells**together)
    while together > 1:
        together //= 2
        square = counted.reshape(cells**together, cells**together)
        counted = square.sum(axis=0) + square.sum(axis=1)
    total: IntArray = counted + np.bincount(rest, minlength=cells)
    return total


def _count_pairs(
    codes: Codes, sizes: Mapping[str, int], pairs: Sequence[tuple[str, str]]
) -> dict[tuple[str, ...], IntArray]:
    """Count many pairs at once: one bit row a level, an AND and a popcount a cell."""
    columns = sorted({c for pair in pairs for c in pair})
    start = dict(zip(columns, np.cumsum([0] + [sizes[c] for c in columns]).tolist(), strict=False))
    partners: dict[str, list[str]] = {c: [] for c in columns}
    for x, y in pairs:
        partners[x].append(y)
    total = sum(sizes[c] for c in columns)
    counted = np.zeros((total, total), dtype=np.int64)
    rows = len(codes[columns[0]])
    for first in range(0, rows, BLOCK):
        bits = _bit_rows({c: codes[c][first : first + BLOCK] for c in columns}, sizes, columns)
        for x in columns:
            for i in range(start[x], start[x] + sizes[x]):
                _add_popcounts(counted, bits, i, partners[x], start, sizes)
    return {(x, y): counted[start[x] : start[x] + sizes[x], start[y] : start[y] + sizes[y]].copy() for x, y in pairs}


def _add_popcounts(
    counted: IntArray,
    bits: npt.NDArray[np.uint64],
    i: int,
    partners: Sequence[str],
    start: Mapping[str, int],
    sizes: Mapping[str, int],
) -> None:
    """Add the popcounts of bit row ``i`` with the bit rows of its partners, run by run."""
    for low, high in _runs([(start[c], start[c] + sizes[c]) for c in partners]):
        both = np.bitwise_count(bits[low:high] & bits[i])
        counted[i, low:high] += both.sum(axis=1, dtype=np.int64)


def _runs(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge adjacent spans."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(spans):
        if merged and merged[-1][1] == low:
            merged[-1] = (merged[-1][0], high)
        else:
            merged.append((low, high))
    return merged


def _bit_rows(codes: Codes, sizes: Mapping[str, int], columns: Sequence[str]) -> npt.NDArray[np.uint64]:
    """Return one packed bit row a level, padded to whole 64-bit words."""
    rows = len(codes[columns[0]])
    words = -(-rows // 64)
    bits = np.zeros((sum(sizes[c] for c in columns), words * 8), dtype=np.uint8)
    i = 0
    for c in columns:
        for level in range(sizes[c]):
            packed = np.packbits(codes[c] == level)
            bits[i, : len(packed)] = packed
            i += 1
    return bits.view(np.uint64)
