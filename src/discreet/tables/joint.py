"""A table as a joint table: how often each combination of codes occurs. An engine hands it over where it is small."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from discreet.arrays import IntArray
from discreet.sealed import Sealed
from discreet.tables.counting import narrowest
from discreet.tables.memory import MemoryTable


class JointTable(Sealed):
    """Every combination of codes that occurs, with the number of its rows.

    Parameters
    ----------
    codes
        One array a column: its code in each combination.
    weights
        How many rows each combination has.
    sizes
        Number of levels of each column, from the public domain.
    """

    trouble: str | None = None

    def __init__(self, codes: Mapping[str, IntArray], weights: IntArray, sizes: Mapping[str, int]) -> None:
        self._codes = dict(codes)
        self._weights = weights
        self._sizes = dict(sizes)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self._weights.sum())

    def counts(self, sets: Sequence[tuple[str, ...]]) -> list[IntArray]:
        """Contingency tables over sets of columns."""
        return [self._count(columns) for columns in sets]

    def sums(self, sets: Sequence[tuple[str, ...]]) -> list[int]:
        """Sums of products of one or two columns' codes, exactly."""
        return [self._sum(columns) for columns in sets]

    def values(self, columns: Sequence[str]) -> list[IntArray]:
        """The codes of some columns, row by row."""
        return [np.repeat(self._codes[column], self._weights) for column in columns]

    def recoded(self, places: Mapping[str, IntArray], sizes: Mapping[str, int]) -> JointTable:
        """Return the same rows with each code of the named columns replaced by its place."""
        codes = {c: places[c][array] if c in places else array for c, array in self._codes.items()}
        return JointTable(codes, self._weights, sizes)

    def sampled(self, rows: IntArray) -> MemoryTable:
        """Return only the rows at these places."""
        return self._spread().sampled(rows)

    def _spread(self) -> MemoryTable:
        """Return every row by itself."""
        narrow = {c: array.astype(narrowest(self._sizes[c])) for c, array in self._codes.items()}
        return MemoryTable({c: np.repeat(array, self._weights) for c, array in narrow.items()}, self._sizes)

    def _count(self, columns: tuple[str, ...]) -> IntArray:
        shape = tuple(self._sizes[c] for c in columns)
        counted = np.zeros(prod(shape), dtype=np.int64)
        np.add.at(counted, np.ravel_multi_index([self._codes[c] for c in columns], shape), self._weights)
        return counted.reshape(shape)

    def _sum(self, columns: tuple[str, ...]) -> int:
        codes = [self._codes[c].tolist() for c in columns]
        return sum(prod(row) * weight for *row, weight in zip(*codes, self._weights.tolist(), strict=True))
