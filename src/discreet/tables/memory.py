"""A table in memory: narrow integer codes, one array a column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from discreet.arrays import IntArray
from discreet.sealed import Sealed
from discreet.tables.counting import Codes, count, recode


class MemoryTable(Sealed):
    """Encoded rows in memory.

    Parameters
    ----------
    codes
        One array of codes a column, all below the column's size.
    sizes
        Number of levels of each column, from the public domain.
    """

    def __init__(self, codes: Codes, sizes: Mapping[str, int]) -> None:
        self._codes = dict(codes)
        self._sizes = dict(sizes)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self._codes.values())))

    trouble: str | None = None

    def counts(self, sets: Sequence[tuple[str, ...]]) -> list[IntArray]:
        """Contingency tables over sets of columns."""
        return count(self._codes, self._sizes, sets)

    def sums(self, sets: Sequence[tuple[str, ...]]) -> list[int]:
        """Sums of products of one or two columns' codes, exactly."""
        return [self._sum(columns) for columns in sets]

    def values(self, columns: Sequence[str]) -> list[IntArray]:
        """The codes of some columns, row by row."""
        return [self._codes[column].astype(np.int64) for column in columns]

    def recoded(self, places: Mapping[str, IntArray], sizes: Mapping[str, int]) -> MemoryTable:
        """Return the same rows with each code of the named columns replaced by its place."""
        return MemoryTable(recode(self._codes, places, sizes), sizes)

    def sampled(self, rows: IntArray) -> MemoryTable:
        """Return only the rows at these places."""
        return _SampledTable(self._codes, self._sizes, rows)

    def _sum(self, columns: tuple[str, ...]) -> int:
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

    def counts(self, sets: Sequence[tuple[str, ...]]) -> list[IntArray]:
        """Contingency tables over sets of columns."""
        self._gather(c for columns in sets for c in columns)
        return super().counts(sets)

    def sums(self, sets: Sequence[tuple[str, ...]]) -> list[int]:
        """Sums of products of one or two columns' codes, exactly."""
        self._gather(c for columns in sets for c in columns)
        return super().sums(sets)

    def values(self, columns: Sequence[str]) -> list[IntArray]:
        """The codes of some columns, row by row."""
        self._gather(columns)
        return super().values(columns)

    def recoded(self, places: Mapping[str, IntArray], sizes: Mapping[str, int]) -> MemoryTable:
        """Return the same rows with each code of the named columns replaced by its place."""
        return MemoryTable(self._all, self._sizes).recoded(places, sizes).sampled(self._rows)

    def sampled(self, rows: IntArray) -> MemoryTable:
        """Return only the rows at these places."""
        return _SampledTable(self._all, self._sizes, self._rows[rows])

    def _gather(self, columns: Iterable[str]) -> None:
        for column in columns:
            if column not in self._codes:
                self._codes[column] = self._all[column][self._rows]
