"""The custodian's load: check a source against the domain and encode it. Costs nothing, releases nothing.

Where codes are counted follows from public facts alone: the declared rows and columns, and what kind of source it is.
Files and frames are loaded once as narrow codes, if these fit into memory, else streamed. Tables in an engine stay
there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from discreet.data import Recodable
from discreet.data.counting import JOINT_CELLS, block_cells, narrowest
from discreet.data.engines.engine import closed_if_it_fails
from discreet.data.engines.registry import in_engine, open_engine
from discreet.data.engines.source import EngineSource
from discreet.data.files import Source, open_local
from discreet.data.memory import MemoryTable
from discreet.data.misfits import Misfit, refuse_misfits
from discreet.data.people import fresh_key
from discreet.data.stream import StreamTable
from discreet.domain import Domain
from discreet.domain.domain import check_domain
from discreet.errors import SettingError, TableError
from discreet.progress import Progress

MEMORY_BYTES = 4 << 30
"""Codes that take more than this (by the declared rows and columns) are streamed instead of held."""

LEAST_MARKED = 64
"""Rows that can take fewer values than this are not marked."""


@dataclass(frozen=True)
class Reading:
    """How rows are read.

    Parameters
    ----------
    pull
        Load the codes of all rows into memory, also from a server, and whatever memory that takes.
    progress
        Called with a line of words at each step, about public facts only.
    doubt
        Told about rows that had to be made up, where the domain names people. For the custodian only.
    key
        What decides which rows of a person are used; by default fresh entropy.
    """

    pull: bool = False
    progress: Progress | None = None
    doubt: Progress | None = None
    key: str | None = None


PLAIN = Reading()


def load(
    data: object,
    domain: Domain,
    *,
    seen: Callable[[bytes], None] | None = None,
    rows: str | None = None,
    reading: Reading = PLAIN,
) -> Recodable:
    """Open, check and encode a table.

    Parameters
    ----------
    data
        A path (CSV, TSV, Parquet, DuckDB), a table in memory (pandas, Polars, Arrow, NumPy), or a table in an engine (a
        URL, or an expression of Ibis).
    domain
        What is public about the table.
    seen
        Told by what the rows are known, once the table fits: a ledger recognises them by that. Not told where so few
        tables are possible that one could try them all.
    rows
        Who needs rows and not counts alone, in words; None if nobody does.
    reading
        How rows are read.

    Raises
    ------
    TableError
        If the data cannot be read as a table.
    MisfitError
        If a declared column is absent, the number of rows is not the declared one, or values have no
        declared place. Only columns are named. Nothing was spent.
    SettingError
        If rows are needed and would have to leave their engine, or do not fit into memory.
    EngineError
        If the engine that holds the table cannot be reached, or fails.
    """
    check_domain(domain, published=False)
    if rows is not None and not reading.pull:
        _refuse_rows(rows, domain, remote=in_engine(data))
    source = open_source(data, domain)
    with closed_if_it_fails(source.close):
        if isinstance(source, EngineSource):
            return _load_engine(source, domain, seen, reading)
        return _load_local(source, domain, seen, reading)


def open_source(data: object, domain: Domain | None = None) -> Source | EngineSource:
    """Open a file, a table in memory, or one in an engine."""
    source = open_engine(data) if in_engine(data) else open_local(data, domain)
    if not source.rows:
        source.close()
        raise TableError(f"{source.name} has no rows")
    return source


def _load_local(source: Source, domain: Domain, seen: Callable[[bytes], None] | None, reading: Reading) -> Recodable:
    """Load the codes of a file or a frame, or stream them."""
    streamed = _bytes(domain) > MEMORY_BYTES and not reading.pull
    if domain.people is not None:
        choice = source.choose(domain, reading.key or fresh_key(), reading.doubt)
        _show(source, domain, seen)
        table = StreamTable(source, domain, choice)
        return table if streamed else table.hold()
    source.encoded_sql(domain)
    source.check_rows(domain)
    if streamed:
        refuse_misfits(source.misfits(domain), source.name)
        _show(source, domain, seen)
        return StreamTable(source, domain)
    held = _hold(source, domain)
    _show(source, domain, seen)
    return held


def _hold(source: Source, domain: Domain) -> MemoryTable:
    """Load all codes, and refuse those that have no place."""
    codes = source.arrays(source.encoded_sql(domain))
    sizes = domain.sizes
    misfits = []
    for column in domain:
        if int(codes[column].max()) >= sizes[column]:
            missing = int((codes[column] == sizes[column]).sum())
            misfits.append(Misfit(column, missing, int((codes[column] > sizes[column]).sum())))
    refuse_misfits(misfits, source.name)
    return MemoryTable(codes, sizes)


def _load_engine(
    source: EngineSource, domain: Domain, seen: Callable[[bytes], None] | None, reading: Reading
) -> Recodable:
    """Encode a table where it is, or load its codes."""
    if domain.people is None:
        source.check_rows(domain)
    refuse_misfits(source.misfits(domain), source.name)
    coded = source.encode(domain, reading.key or fresh_key(), reading.doubt)
    _show(source, domain, seen)
    if reading.pull:
        return source.pull(domain, coded, reading.progress)
    return source.table(domain, coded, reading.progress)


def _refuse_rows(who: str, domain: Domain, *, remote: bool) -> None:
    """Refuse what needs rows where they would have to leave an engine, or do not fit into memory."""
    size = f"about {_bytes(domain) / (1 << 30):.2g} GiB of memory"
    if remote and prod(domain.sizes.values()) > block_cells(domain.rows, JOINT_CELLS):
        raise SettingError(
            f"engine-pull: {who} looks at rows, and those of a server stay there. --engine-pull loads them as codes "
            f"({domain.rows:,} rows, {size}); or take a method that counts, such as marginals or moments"
        )
    if not remote and _bytes(domain) > MEMORY_BYTES:
        raise SettingError(
            f"engine-pull: {who} looks at rows, which take {size}. --engine-pull loads them all the same; or take a "
            "method that counts, such as marginals or moments"
        )


def _bytes(domain: Domain) -> int:
    """Return what the codes of all rows take, from public facts."""
    return domain.rows * sum(1 if narrowest(domain.size(c) + 2) == narrowest(2) else 2 for c in domain)


def _show(source: Source | EngineSource, domain: Domain, seen: Callable[[bytes], None] | None) -> None:
    if seen is None or prod(domain.sizes.values()) < LEAST_MARKED:
        return
    mark = source.mark(domain)
    if mark is not None:
        seen(mark)
