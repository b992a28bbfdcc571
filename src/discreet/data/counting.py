"""Contingency tables: counted from codes in memory, and planned in blocks where an engine counts.

Codes in memory are counted by keys, many pairs at once by bits. An engine looks at all rows for every table that it
counts, so sets of columns are put into blocks, from whose joint tables theirs are added up. Ten columns with two levels
each have a joint table of 1,024 cells, in which all 45 pairs are found: one look instead of 45.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np
import numpy.typing as npt

from discreet.arrays import IntArray
from discreet.statistics import Weight

Codes = Mapping[str, npt.NDArray[np.unsignedinteger]]
"""One narrow array of codes a column, all of the same length."""

Columns = tuple[str, ...]

CHUNK = 1 << 17
"""Rows a chunk: the packed bits of a chunk stay in the processor's cache."""

WEIGHTED_CHUNK = 1 << 14
"""Rows a chunk where rows have weights: their sums stay below 2^24."""

MAX_BIT_LEVELS = 64
"""Columns with more levels than this are counted by keys: their bit rows would be mostly zeros."""

LEAST_CELLS = 1 << 12
"""A table of so few cells may always be asked for."""

MOST_CELLS = 1 << 16
"""Cells of a block at the most."""

JOINT_CELLS = 1 << 20
"""Cells of a joint table of all columns at the most."""

ROWS_A_CELL = 10
"""Tables with more cells have at least so many rows a cell in the mean: else rows would leave one by one."""

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


def count(codes: Codes, sizes: Mapping[str, int], sets: Sequence[Columns]) -> list[IntArray]:
    """Return the contingency table of each set of columns."""
    by_bits = {s for s in sets if len(s) == 2 and max(sizes[c] for c in s) <= MAX_BIT_LEVELS}
    if len(by_bits) < 4:
        by_bits = set()
    tables = _count_pairs(codes, sizes, sorted(by_bits)) if by_bits else {}
    return [tables[s] if s in tables else _count_by_key(codes, sizes, s) for s in sets]


def count_weighted(codes: Codes, sizes: Mapping[str, int], sets: Sequence[Columns], weight: Weight) -> list[IntArray]:
    """Return the contingency table of each set of columns with every row counted by its weight."""
    rows = len(next(iter(codes.values())))
    starts = range(0, rows, WEIGHTED_CHUNK)
    parts = ({c: array[start : start + WEIGHTED_CHUNK] for c, array in codes.items()} for start in starts)
    few = {c for s in sets for c in s if sizes[c] <= MAX_BIT_LEVELS}
    small = {s for s in sets if len(s) <= 2 and few.issuperset(s)}
    tables = {s: np.zeros(tuple(sizes[c] for c in s), dtype=np.int64) for s in sets if s not in small}
    names = sorted({c for s in small for c in s})
    ends = np.cumsum([0, *(sizes[c] for c in names)]).tolist()
    place = {c: slice(start, end) for c, start, end in zip(names, ends[:-1], ends[1:], strict=True)}
    together = np.zeros((ends[-1], ends[-1]), dtype=np.int64)
    for part in parts:
        weights = weight.of(part)
        shown = np.zeros((len(weights), ends[-1]), dtype=np.float32)
        for c in names:
            shown[np.arange(len(weights)), place[c].start + part[c].astype(np.int64)] = 1
        # whole numbers below 2^24, which this kind of float holds exactly, in whatever order they are added up
        together += ((shown * weights[:, None].astype(np.float32)).T @ shown).astype(np.int64)
        for columns, table in tables.items():
            np.add.at(table, tuple(part[c] for c in columns), weights)
    for s in small:
        both = together[place[s[0]], place[s[-1]]]
        tables[s] = both.diagonal().copy() if len(s) == 1 else both.copy()
    return [tables[s] for s in sets]


def _count_by_key(codes: Codes, sizes: Mapping[str, int], columns: Columns) -> IntArray:
    """Count one set by packing its codes into one narrow key."""
    shape = tuple(sizes[c] for c in columns)
    cells = prod(shape)
    rows = len(codes[columns[0]])
    counted = np.zeros(cells, dtype=np.int64)
    kind = narrowest(max(cells, max(shape) + 1))  # the key, and the number of levels as a factor
    for start in range(0, rows, CHUNK):
        part = slice(start, start + CHUNK)
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


def _count_pairs(codes: Codes, sizes: Mapping[str, int], pairs: Sequence[tuple[str, str]]) -> dict[Columns, IntArray]:
    """Count many pairs at once: one bit row a level, an AND and a popcount a cell."""
    columns = sorted({c for pair in pairs for c in pair})
    start = dict(zip(columns, np.cumsum([0] + [sizes[c] for c in columns]).tolist(), strict=False))
    partners: dict[str, list[str]] = {c: [] for c in columns}
    for x, y in pairs:
        partners[x].append(y)
    total = sum(sizes[c] for c in columns)
    counted = np.zeros((total, total), dtype=np.int64)
    rows = len(codes[columns[0]])
    for first in range(0, rows, CHUNK):
        bits = _bit_rows({c: codes[c][first : first + CHUNK] for c in columns}, sizes, columns)
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
    for low, high in _merge([(start[c], start[c] + sizes[c]) for c in partners]):
        both = np.bitwise_count(bits[low:high] & bits[i])
        counted[i, low:high] += both.sum(axis=1, dtype=np.int64)


def _merge(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
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


def block_cells(rows: int, most: int = MOST_CELLS) -> int:
    """Return how many cells a table may have that is asked for to save looks at the rows. From public facts alone."""
    return min(most, max(LEAST_CELLS, rows // ROWS_A_CELL))


def blocks(sets: Sequence[Columns], sizes: Mapping[str, int], cells: int) -> list[Columns]:
    """Return blocks of columns such that every set lies in one of them.

    A block has at most ``cells`` cells, unless a set alone has more. It begins with the largest set that is in none
    yet, and takes in whatever column completes the most sets, as long as there is room.
    """
    names = sorted({column for columns in sets for column in columns})
    bit = {name: 1 << i for i, name in enumerate(names)}
    open_sets = {sum(bit[c] for c in set(columns)) for columns in sets}
    size = {bit[name]: sizes[name] for name in names}
    found = []
    for first in sorted(open_sets, key=lambda mask: (-prod(size[b] for b in _bits(mask)), mask)):
        if first not in open_sets:
            continue
        block = _grow(first, open_sets, size, cells)
        open_sets = {mask for mask in open_sets if mask & ~block}
        found.append(tuple(name for name in names if bit[name] & block))
    return found


def _grow(block: int, open_sets: set[int], size: Mapping[int, int], cells: int) -> int:
    """Take in columns, one after the other."""
    held = prod(size[b] for b in _bits(block))
    while True:
        gains: dict[int, int] = {}
        for mask in open_sets:
            rest = mask & ~block
            if rest and not rest & (rest - 1):
                gains[rest] = gains.get(rest, 0) + 1
        fitting = [b for b in gains if held * size[b] <= cells]
        if not fitting:
            return block
        best = max(fitting, key=lambda b: (gains[b] / size[b], b))
        block |= best
        held *= size[best]


def _bits(mask: int) -> list[int]:
    found = []
    while mask:
        low = mask & -mask
        found.append(low)
        mask ^= low
    return found


def margin(joint: IntArray, block: Columns, wanted: Columns) -> IntArray:
    """Return the table of some columns from the joint table of a block."""
    others = tuple(i for i, column in enumerate(block) if column not in wanted)
    summed = joint.sum(axis=others, dtype=np.int64)
    left = [column for column in block if column in wanted]
    if len(left) == len(wanted):
        return np.ascontiguousarray(summed.transpose([left.index(column) for column in wanted]))
    size = dict(zip(left, summed.shape, strict=True))
    found = np.zeros([size[column] for column in wanted], dtype=np.int64)
    places = np.indices(summed.shape)
    found[tuple(places[left.index(column)] for column in wanted)] = summed  # a column that stands twice: the diagonal
    return found
