"""Rows too many for memory: every call streams the encoded rows once, whatever the number of tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from discreet.arrays import IntArray
from discreet.data.counting import Codes, count, count_weighted, recode
from discreet.data.files import Choice, Source
from discreet.data.memory import MemoryTable
from discreet.data.people import fillers
from discreet.domain import Domain
from discreet.errors import TableError
from discreet.sealed import Sealed
from discreet.statistics import Weight

BATCH = 1 << 20
"""Rows a batch."""


class StreamTable(Sealed):
    """Encoded rows that are streamed.

    Parameters
    ----------
    source
        Raw rows.
    domain
        The public domain.
    choice
        Which of them are used, where the domain names people.
    """

    sampled = False

    def __init__(self, source: Source, domain: Domain, choice: Choice | None = None) -> None:
        self._source = source
        self._domain = domain
        self._choice = choice
        self._sql = source.encoded_sql(domain) if choice is None else choice.sql
        self._sizes: Mapping[str, int] = domain.sizes
        self._places: Mapping[str, IntArray] = {}

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self._source.rows if self._choice is None else self._domain.rows

    def counts(self, sets: Sequence[tuple[str, ...]]) -> list[IntArray]:
        """Contingency tables over sets of columns, from one pass."""
        totals: list[IntArray] = []
        for batch in self._batches():
            part = count(batch, self._sizes, sets)
            totals = [a + b for a, b in zip(totals, part, strict=True)] if totals else part
        return totals

    def weighted(self, sets: Sequence[tuple[str, ...]], weight: Weight) -> list[IntArray]:
        """Contingency tables in which every row counts by its weight, from one pass."""
        totals: list[IntArray] = []
        for batch in self._batches():
            part = count_weighted(batch, self._sizes, sets, weight)
            totals = [a + b for a, b in zip(totals, part, strict=True)] if totals else part
        return totals

    def sums(self, sets: Sequence[tuple[str, ...]]) -> list[int]:
        """Sums of products of one or two columns' codes, from one pass."""
        totals = [0] * len(sets)
        for batch in self._batches():
            part = MemoryTable(batch, self._sizes).sums(sets)
            totals = [a + b for a, b in zip(totals, part, strict=True)]
        return totals

    def values(self, columns: Sequence[str]) -> list[IntArray]:
        """The codes of some columns, row by row, from one pass."""
        parts = [MemoryTable(batch, self._sizes).values(columns) for batch in self._batches()]
        return [np.concatenate(column) for column in zip(*parts, strict=True)]

    def recode(self, places: Mapping[str, IntArray], sizes: Mapping[str, int]) -> StreamTable:
        """Return the same rows with each code of the named columns replaced by its place."""
        table = StreamTable(self._source, self._domain, self._choice)
        table._sizes = dict(sizes)
        table._places = {
            **self._places,
            **{c: p[self._places[c]] if c in self._places else p for c, p in places.items()},
        }
        return table

    def hold(self) -> MemoryTable:
        """Load the same rows into memory."""
        batches = list(self._batches())
        return MemoryTable({c: np.concatenate([batch[c] for batch in batches]) for c in self._domain}, self._sizes)

    def take(self, rows: IntArray) -> StreamTable:
        """Refuse: a stream has no places to go to."""
        raise TableError("a method that samples rows needs them in memory, and this table is too large for that")

    def _batches(self) -> Iterator[Codes]:
        for batch in self._source.batches(self._sql, BATCH):
            yield recode(batch, self._places, self._sizes)
        made_up = 0 if self._choice is None else self._choice.made_up
        for start in range(0, made_up, BATCH):
            more = fillers(self._domain, start, min(start + BATCH, made_up))
            yield recode(more, self._places, self._sizes)
