"""Which tables to count at once: sets of columns are put into blocks, from whose joint tables theirs are added up.

An engine looks at all rows for every table that it counts. Ten columns with two levels each have a joint table of 1,024
cells, in which all 45 pairs are found: one look instead of 45.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from discreet.arrays import IntArray

LEAST_CELLS = 1 << 12
"""A table of so few cells may always be asked for."""

MOST_CELLS = 1 << 16
"""Cells of a block at the most."""

JOINT_CELLS = 1 << 20
"""Cells of a joint table of all columns at the most."""

ROWS_A_CELL = 10
"""Tables with more cells have at least so many rows a cell in the mean: else rows would leave one by one."""

Columns = tuple[str, ...]


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
        block = _grown(first, open_sets, size, cells)
        open_sets = {mask for mask in open_sets if mask & ~block}
        found.append(tuple(name for name in names if bit[name] & block))
    return found


def _grown(block: int, open_sets: set[int], size: Mapping[int, int], cells: int) -> int:
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
