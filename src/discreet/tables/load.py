"""The custodian's load: check a source against the domain and encode it. Costs nothing, releases nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod

import numpy as np

from discreet.arrays import IntArray
from discreet.domain import Domain
from discreet.errors import TableError
from discreet.sealed import Sealed
from discreet.tables import Recodable
from discreet.tables.counting import Codes, count, narrowest, recode
from discreet.tables.memory import MemoryTable
from discreet.tables.people import Chosen, choose, fillers, fresh_key
from discreet.tables.source import Misfit, Source, open_source, refuse_misfits

MEMORY_BYTES = 4 << 30
"""Codes that take more than this (by the declared rows and columns) are streamed instead of held."""

BATCH = 1 << 20
"""Rows a batch of a streamed table."""


LEAST_CELLS = 64
"""Rows that can take fewer values than this are not marked."""


class StreamTable(Sealed):
    """Rows too many for memory: every call streams the encoded rows once, whatever the number of tables."""

    def __init__(self, source: Source, domain: Domain, chosen: Chosen | None = None) -> None:
        self._source = source
        self._domain = domain
        self._chosen = chosen
        self._sql = source.encoded_sql(domain) if chosen is None else chosen.sql
        self._sizes: Mapping[str, int] = {column: domain.size(column) for column in domain}
        self._places: Mapping[str, IntArray] = {}

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self._source.rows if self._chosen is None else self._domain.rows

    def counts(self, sets: Sequence[tuple[str, ...]]) -> list[IntArray]:
        """Contingency tables over sets of columns, from one pass."""
        totals: list[IntArray] = []
        for batch in self._batches():
            part = count(batch, self._sizes, sets)
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

    def recoded(self, places: Mapping[str, IntArray], sizes: Mapping[str, int]) -> StreamTable:
        """Return the same rows with each code of the named columns replaced by its place."""
        table = StreamTable(self._source, self._domain, self._chosen)
        table._sizes = dict(sizes)
        table._places = {
            **self._places,
            **{c: p[self._places[c]] if c in self._places else p for c, p in places.items()},
        }
        return table

    def held(self) -> MemoryTable:
        """Return the same rows in memory."""
        batches = list(self._batches())
        return MemoryTable({c: np.concatenate([batch[c] for batch in batches]) for c in self._domain}, self._sizes)

    def sampled(self, rows: IntArray) -> StreamTable:
        """Refuse: a stream has no places to go to."""
        raise TableError("a method that samples rows needs them in memory, and this table is too large for that")

    def _batches(self) -> Iterator[Codes]:
        for batch in self._source.batches(self._sql, BATCH):
            yield recode(batch, self._places, self._sizes)
        made_up = 0 if self._chosen is None else self._chosen.made_up
        for start in range(0, made_up, BATCH):
            more = fillers(self._domain, start, min(start + BATCH, made_up))
            yield recode(more, self._places, self._sizes)


def load(
    data: object,
    domain: Domain,
    *,
    seen: Callable[[bytes], None] | None = None,
    doubt: Callable[[str], None] | None = None,
    key: str | None = None,
) -> Recodable:
    """Open, check and encode a table.

    Parameters
    ----------
    data
        A path (CSV, TSV, Parquet, DuckDB) or a table in memory (pandas, Polars, Arrow, NumPy).
    domain
        What is public about the table.
    seen
        Told by what the rows are known, once the table fits: a ledger recognises them by that. Not told where so few
        tables are possible that one could try them all.
    doubt
        Told about rows that had to be made up, where the domain names people. For the custodian only.
    key
        What decides which rows of a person are used; by default fresh entropy.

    Raises
    ------
    TableError
        If the data cannot be read as a table.
    MisfitError
        If a declared column is absent, the number of rows is not the declared one, or values have no
        declared place. Only columns are named. Nothing was spent.
    """
    source = open_source(data, domain)
    sql = source.encoded_sql(domain)
    width = sum(1 if narrowest(domain.size(c) + 2) == narrowest(2) else 2 for c in domain)
    if domain.people is not None:
        chosen = choose(source, domain, key or fresh_key(), doubt)
        _show(source, domain, seen)
        table = StreamTable(source, domain, chosen)
        return table if width * domain.rows > MEMORY_BYTES else table.held()
    source.check_rows(domain)
    if width * domain.rows > MEMORY_BYTES:
        refuse_misfits(source.misfits(domain), source.name)
        _show(source, domain, seen)
        return StreamTable(source, domain)
    codes = source.arrays(sql)
    sizes = {column: domain.size(column) for column in domain}
    misfits = []
    for column in domain:
        if int(codes[column].max()) >= sizes[column]:
            missing = int((codes[column] == sizes[column]).sum())
            misfits.append(Misfit(column, missing, int((codes[column] > sizes[column]).sum())))
    refuse_misfits(misfits, source.name)
    _show(source, domain, seen)
    return MemoryTable(codes, sizes)


def _show(source: Source, domain: Domain, seen: Callable[[bytes], None] | None) -> None:
    if seen is not None and prod(domain.size(column) for column in domain) >= LEAST_CELLS:
        seen(source.mark(domain))
