"""Where rows come from: files and in-memory frames, read and encoded by DuckDB.

This is the custodian's side. What goes wrong here is told to the custodian, by column and never by
value; engine messages are dropped, because they quote data.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.domain import Domain
from discreet.errors import MisfitError, TableError
from discreet.tables.encode import code_sql, quote_name, quote_text
from discreet.tables.memory import Sealed

if TYPE_CHECKING:
    import duckdb

_READERS = {
    ".csv": "read_csv({}, all_varchar = true, header = true)",
    ".tsv": "read_csv({}, all_varchar = true, header = true, delim = '\t')",
    ".parquet": "read_parquet({})",
}
_DATABASES = (".duckdb", ".db")


@dataclass(frozen=True)
class Misfit:
    """How many values of one column have no declared place. For the custodian only."""

    column: str
    missing: int
    foreign: int


class Source(Sealed):
    """Raw rows that have not been encoded yet, with the names and types of their columns."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, relation: str, name: str) -> None:
        self._connection = connection
        self.relation = relation
        self.name = name
        described = self.query(f"DESCRIBE SELECT * FROM {relation}")
        self.kinds = {str(row[0]): _kind(str(row[1])) for row in described}
        self.rows = int(self.query(f"SELECT count(*) FROM {relation}")[0][0])
        if not self.rows:
            raise TableError(f"{name} has no rows")

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Run SQL and return all rows; an engine's message never gets out."""
        with quiet(self.name):
            return self._connection.execute(sql).fetchall()
        raise AssertionError

    def encoded_sql(self, domain: Domain) -> str:
        """Return the query for the codes of all declared columns, after checking that they exist."""
        absent = [column for column in domain if column not in self.kinds]
        if absent:
            raise MisfitError(f"{self.name} has no column {absent[0]!r}, which the domain declares")
        codes = [f"{code_sql(c, domain[c], self.kinds[c])} AS {quote_name(c)}" for c in domain]
        return f"SELECT {', '.join(codes)} FROM {self.relation}"

    def arrays(self, sql: str) -> dict[str, np.ndarray[Any, Any]]:
        """Return the query's columns as arrays."""
        with quiet(self.name):
            return dict(self._connection.execute(sql).fetchnumpy())
        raise AssertionError

    def batches(self, sql: str, rows: int) -> Iterator[dict[str, np.ndarray[Any, Any]]]:
        """Yield the query's columns as arrays, some rows at a time."""
        with quiet(self.name):
            for batch in self._connection.sql(sql).to_arrow_reader(rows):
                yield {name: batch.column(i).to_numpy() for i, name in enumerate(batch.schema.names)}

    def misfits(self, domain: Domain) -> list[Misfit]:
        """Count, column by column, the values without a declared place."""
        inner = self.encoded_sql(domain)
        wanted = []
        for column in domain:
            code, size = quote_name(column), domain.size(column)
            wanted += [f"count(*) FILTER ({code} = {size})", f"count(*) FILTER ({code} = {size + 1})"]
        found = self.query(f"SELECT {', '.join(wanted)} FROM ({inner})")[0]
        misfits = [Misfit(c, int(found[2 * i]), int(found[2 * i + 1])) for i, c in enumerate(domain)]
        return [m for m in misfits if m.missing or m.foreign]

    def check_rows(self, domain: Domain) -> None:
        """Refuse a table whose number of rows is not the declared one."""
        if self.rows != domain.rows:
            raise MisfitError(f"rows: {self.name} has {self.rows} rows, the domain declares {domain.rows}")


@contextmanager
def quiet(name: str) -> Iterator[None]:
    """Turn an engine's error into ours without its message, which may quote data."""
    import duckdb

    failed = ""
    try:
        yield
    except duckdb.Error as error:
        failed = type(error).__name__
    if failed:
        raise TableError(f"{name} cannot be read as a table ({failed})")


def refuse_misfits(misfits: list[Misfit], name: str) -> None:
    """Stop the custodian's load where a value has no declared place."""
    if misfits:
        parts = []
        for m in misfits:
            kinds = [k for k, number in (("missing", m.missing), ("foreign", m.foreign)) if number]
            keys = " and ".join(f"`{'missing' if k == 'missing' else 'other'}:`" for k in kinds)
            parts.append(f"column {m.column!r} holds {' and '.join(kinds)} values (declare {keys})")
        raise MisfitError(f"{name} does not fit the domain: " + "; ".join(parts))


def _kind(kind: str) -> str:
    """Return a type's name; enumerations are text."""
    return "VARCHAR" if kind.startswith("ENUM") else kind


def _connect() -> duckdb.DuckDBPyConnection:
    import duckdb

    connection = duckdb.connect(":memory:")
    for setting in (
        "pandas_analyze_sample = 0",
        "autoinstall_known_extensions = false",
        "autoload_known_extensions = false",
        "preserve_insertion_order = false",
        "enable_progress_bar = false",
    ):
        connection.execute(f"SET {setting}")
    return connection


def open_source(data: object, domain: Domain | None = None) -> Source:
    """Open a file (CSV, TSV, Parquet, DuckDB) or an in-memory table (pandas, Polars, Arrow, NumPy)."""
    if isinstance(data, str | os.PathLike):
        return _open_path(os.fspath(data))
    frame = _frame(data, domain)
    connection = _connect()
    with quiet("the table"):
        connection.register("frame", frame)
    return Source(connection, "frame", "the table")


def _open_path(text: str) -> Source:
    path_text, _, query = text.partition("?table=")
    path = Path(path_text)
    name = f"file {path.name!r}"
    if not path.is_file():
        raise TableError(f"{name} does not exist" if not path.exists() else f"{name} is not a file")
    if path.stat().st_size == 0:
        raise TableError(f"{name} is empty")
    suffixes = [s.lower() for s in path.suffixes if s.lower() not in (".gz", ".zst")]
    suffix = suffixes[-1] if suffixes else ""
    connection = _connect()
    if suffix in _DATABASES:
        return _open_database(connection, path, query, name)
    if suffix not in _READERS:
        raise TableError(f"{name}: expected a name that ends in .csv, .tsv, .parquet or .duckdb")
    literal = quote_text("".join(f"[{c}]" if c in "*?[" else c for c in str(path)))
    return Source(connection, _READERS[suffix].format(literal), name)


def _open_database(connection: duckdb.DuckDBPyConnection, path: Path, table: str, name: str) -> Source:
    with quiet(name):
        connection.execute(f"ATTACH {quote_text(str(path))} AS source (READ_ONLY)")
        found = connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = 'source'"
        ).fetchall()
    if table:
        found = [row for row in found if table in (row[1], f"{row[0]}.{row[1]}")]
    if len(found) != 1:
        raise TableError(
            f"{name}: say which table with ?table=NAME behind the path" if found else f"{name}: no such table"
        )
    schema, only = found[0]
    return Source(connection, f"source.{quote_name(schema)}.{quote_name(only)}", name)


def _frame(data: object, domain: Domain | None) -> object:
    """Return something DuckDB can scan."""
    module = type(data).__module__.partition(".")[0]
    if module in ("pandas", "polars", "pyarrow"):
        return _frame_of(module, data)
    if isinstance(data, dict):
        return _frame_of_columns({str(k): np.asarray(v) for k, v in data.items()})
    if isinstance(data, np.ndarray) and data.dtype.names:
        return _frame_of_columns({n: data[n] for n in data.dtype.names})
    if isinstance(data, np.ndarray) and data.ndim == 2 and domain is not None:
        if data.shape[1] != len(domain.columns):
            raise TableError(f"the array has {data.shape[1]} columns, the domain declares {len(domain.columns)}")
        return _frame_of_columns({c: data[:, i] for i, c in enumerate(domain)})
    raise TableError(
        "expected a path, a pandas, Polars or Arrow table, a dictionary of columns, or a NumPy array with one column "
        "for each declared one"
    )


def _frame_of(module: str, data: Any) -> object:
    """Return a frame of a known library as one DuckDB scans, after a look at its names."""
    kind = f"{module}.{type(data).__name__}"
    if kind == "polars.LazyFrame":
        data = data.collect()
    elif kind == "pyarrow.RecordBatch":
        import pyarrow

        data = pyarrow.Table.from_batches([data])
    elif kind not in ("pandas.DataFrame", "polars.DataFrame", "pyarrow.Table"):
        raise TableError(f"expected a table, not a {kind}")
    names = data.schema.names if module == "pyarrow" else list(data.columns)
    if len({str(name).lower() for name in names}) != len(names):
        raise TableError("the table has two columns whose names are the same or differ only in case")
    return data


def _frame_of_columns(columns: dict[str, np.ndarray[Any, Any]]) -> dict[str, np.ndarray[Any, Any]]:
    lengths = {column.shape for column in columns.values()}
    if len(lengths) != 1 or len(next(iter(lengths))) != 1:
        raise TableError("the columns must be one-dimensional and of one length")
    return {name: np.ascontiguousarray(column) for name, column in columns.items()}
