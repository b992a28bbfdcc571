"""Tables whose codes are in memory: row by row, some rows of another, or as combinations with their numbers.

An engine hands over combinations where these are few. Whatever the table, its codes can be made coarser.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod

import numpy as np

from discreet.arrays import IntArray
from discreet.data import Recodable
from discreet.data.counting import Codes, Columns, count, count_weighted, narrowest, recode
from discreet.domain import STEPS, Domain, Numeric
from discreet.sealed import Sealed
from discreet.statistics import Weight


class MemoryTable(Sealed):
    """Encoded rows in memory.

    Parameters
    ----------
    codes
        One array of codes a column, all below the column's size.
    sizes
        Number of levels of each column, from the public domain.
    """

    sampled = True

    def __init__(self, codes: Codes, sizes: Mapping[str, int]) -> None:
        self._codes = dict(codes)
        self._sizes = dict(sizes)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self._codes.values())))

    def counts(self, sets: Sequence[Columns]) -> list[IntArray]:
        """Contingency tables over sets of columns."""
        return count(self._codes, self._sizes, sets)

    def weighted(self, sets: Sequence[Columns], weight: Weight) -> list[IntArray]:
        """Contingency tables in which every row counts by its weight."""
        return count_weighted(self._codes, self._sizes, sets, weight)

    def sums(self, sets: Sequence[Columns]) -> list[int]:
        """Sums of products of one or two columns' codes, exactly."""
        return [self._sum(columns) for columns in sets]

    def values(self, columns: Sequence[str]) -> list[IntArray]:
        """The codes of some columns, row by row."""
        return [self._codes[column].astype(np.int64) for column in columns]

    def recode(self, places: Mapping[str, IntArray], sizes: Mapping[str, int]) -> MemoryTable:
        """Return the same rows with each code of the named columns replaced by its place."""
        return MemoryTable(recode(self._codes, places, sizes), sizes)

    def take(self, rows: IntArray) -> MemoryTable:
        """Return only the rows at these places."""
        return _SampledTable(self._codes, self._sizes, rows)

    def _sum(self, columns: Columns) -> int:
        product = self._codes[columns[0]].astype(np.int64)
        for column in columns[1:]:
            product *= self._codes[column]
        return int(product.sum())


class _SampledTable(MemoryTable):
    """Some rows of a table; a column is gathered when it is first asked for."""

    def __init__(self, codes: Codes, sizes: Mapping[str, int], rows: IntArray) -> None:
        super().__init__({}, sizes)
        self._all = codes
        self._rows = rows

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self._rows)

    def counts(self, sets: Sequence[Columns]) -> list[IntArray]:
        """Contingency tables over sets of columns."""
        self._gather(c for columns in sets for c in columns)
        return super().counts(sets)

    def weighted(self, sets: Sequence[Columns], weight: Weight) -> list[IntArray]:
        """Contingency tables in which every row counts by its weight."""
        self._gather([*weight.loads, *(c for columns in sets for c in columns)])
        return super().weighted(sets, weight)

    def sums(self, sets: Sequence[Columns]) -> list[int]:
        """Sums of products of one or two columns' codes, exactly."""
        self._gather(c for columns in sets for c in columns)
        return super().sums(sets)

    def values(self, columns: Sequence[str]) -> list[IntArray]:
        """The codes of some columns, row by row."""
        self._gather(columns)
        return super().values(columns)

    def recode(self, places: Mapping[str, IntArray], sizes: Mapping[str, int]) -> MemoryTable:
        """Return the same rows with each code of the named columns replaced by its place."""
        return MemoryTable(self._all, self._sizes).recode(places, sizes).take(self._rows)

    def take(self, rows: IntArray) -> MemoryTable:
        """Return only the rows at these places."""
        return _SampledTable(self._all, self._sizes, self._rows[rows])

    def _gather(self, columns: Iterable[str]) -> None:
        for column in columns:
            if column not in self._codes:
                self._codes[column] = self._all[column][self._rows]


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

    sampled = True

    def __init__(self, codes: Mapping[str, IntArray], weights: IntArray, sizes: Mapping[str, int]) -> None:
        self._codes = dict(codes)
        self._weights = weights
        self._sizes = dict(sizes)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self._weights.sum())

    def counts(self, sets: Sequence[Columns]) -> list[IntArray]:
        """Contingency tables over sets of columns."""
        return [self._count(columns, self._weights) for columns in sets]

    def weighted(self, sets: Sequence[Columns], weight: Weight) -> list[IntArray]:
        """Contingency tables in which every row counts by its weight."""
        each = weight.of(self._codes)
        return [self._count(columns, self._weights * each) for columns in sets]

    def sums(self, sets: Sequence[Columns]) -> list[int]:
        """Sums of products of one or two columns' codes, exactly."""
        return [self._sum(columns) for columns in sets]

    def values(self, columns: Sequence[str]) -> list[IntArray]:
        """The codes of some columns, row by row."""
        return [np.repeat(self._codes[column], self._weights) for column in columns]

    def recode(self, places: Mapping[str, IntArray], sizes: Mapping[str, int]) -> JointTable:
        """Return the same rows with each code of the named columns replaced by its place."""
        codes = {c: places[c][array] if c in places else array for c, array in self._codes.items()}
        return JointTable(codes, self._weights, sizes)

    def take(self, rows: IntArray) -> MemoryTable:
        """Return only the rows at these places."""
        return self._spread_rows().take(rows)

    def _spread_rows(self) -> MemoryTable:
        """Return every row by itself."""
        narrow = {c: array.astype(narrowest(self._sizes[c])) for c, array in self._codes.items()}
        return MemoryTable({c: np.repeat(array, self._weights) for c, array in narrow.items()}, self._sizes)

    def _count(self, columns: Columns, weights: IntArray) -> IntArray:
        shape = tuple(self._sizes[c] for c in columns)
        counted = np.zeros(prod(shape), dtype=np.int64)
        np.add.at(counted, np.ravel_multi_index([self._codes[c] for c in columns], shape), weights)
        return counted.reshape(shape)

    def _sum(self, columns: Columns) -> int:
        codes = [self._codes[c].tolist() for c in columns]
        return sum(prod(row) * weight for *row, weight in zip(*codes, self._weights.tolist(), strict=True))


def coarsen(table: Recodable, fine: Domain, settled: Domain) -> Recodable:
    """Return the rows of a table encoded by ``fine`` as ``settled`` encodes them.

    Each row's new code is a function of its own old code and of public edges, so what is proved of tables encoded row
    by row still holds.
    """
    places = {name: places_of(fine, settled, name) for name in fine.unsettled if name not in settled.unsettled}
    return table.recode(places, settled.sizes)


def places_of(fine: Domain, settled: Domain, name: str) -> IntArray:
    """Return the new code of every old code of a column: the bin of each step, then the extra levels in their order."""
    before, after = fine[name], settled[name]
    if not isinstance(before, Numeric) or not isinstance(after, Numeric):
        raise TypeError("only numeric columns have steps")
    inner = np.array(after.edges[1:-1])
    steps = np.searchsorted(inner, np.array(before.edges[:-1]), side="right")
    extra = len(inner) + 1 + np.arange(before.size - STEPS)
    return np.concatenate([steps, extra]).astype(np.int64)
