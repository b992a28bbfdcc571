"""Raw rows of files (CSV, TSV, Parquet, DuckDB) and in-memory frames, read and encoded by DuckDB.

This is the custodian's side. What goes wrong here is told to the custodian, by column and never by value; engine
messages are dropped, because they quote data.

Reading is row by row: what one row holds never changes how another is read. So nothing is sniffed: the dialect of a CSV
file is fixed but for its delimiter, which the header line tells, and every field is text until the domain says more.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from discreet.data.encoding import beyond_sql, code_sql, missing_sql, number_sql, quote_name, quote_text
from discreet.data.engines.engine import silence
from discreet.data.formats import READERS, read_columns
from discreet.data.frames import NAME, as_frame
from discreet.data.misfits import Look, Misfit, check_names, check_present, check_rows, refuse_misfits
from discreet.data.people import check_id, chosen_sql, count_made_up, left_sql, person_sql
from discreet.domain import Categorical, Domain, Numeric
from discreet.errors import DiscreetError, TableError
from discreet.progress import Progress
from discreet.sealed import Sealed

if TYPE_CHECKING:
    import duckdb

T = TypeVar("T")

CHOSEN = "discreet_chosen"
"""Temporary table of the rows of people that are used."""

KEPT = "discreet_kept"
KEPT_VALUES = 20_000_000
"""Temporary table of all values, and how many there may be."""

HEADER_BYTES = 1 << 20
"""The header line of a CSV file is no longer than this."""

_NOT_UTF8 = "{name} is not UTF-8 text; convert it, as in: iconv -f latin1 -t utf-8 {path} > utf8-{path}"
DELIMITERS = (",", ";", "\t", "|")
_DATABASES = (".duckdb", ".db")
_SETTINGS = (
    "pandas_analyze_sample = 0",  # object columns are text, whatever their first values are
    "disabled_optimizers = 'statistics_propagation'",  # Parquet statistics do not know of NaN
    "TimeZone = 'UTC'",
    "autoinstall_known_extensions = false",
    "autoload_known_extensions = false",
    "preserve_insertion_order = false",
)


@dataclass(frozen=True)
class Choice:
    """The rows of people that are used: a query for those of the table, and how many are made up."""

    sql: str
    made_up: int


class Source(Sealed):
    """Raw rows that have not been encoded yet, with the names and types of their columns."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, relation: str, name: str, hint: str = "") -> None:
        self._connection = connection
        self._hint = hint
        self.close = connection.close
        self.relation = relation
        self.name = name
        described = self.query(f"DESCRIBE SELECT * FROM {relation}")
        self.kinds = {str(row[0]): _kind(str(row[1])) for row in described}
        self.rows = int(self.query(f"SELECT count(*) FROM {relation}")[0][0])

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Run SQL and return all rows; an engine's message never gets out."""
        return quietly(self.name, lambda: self._connection.execute(sql).fetchall(), self._hint)

    def encoded_sql(self, domain: Domain) -> str:
        """Return the query for the codes of all declared columns, after checking that they exist."""
        check_present(self.name, self.kinds, domain)
        codes = [f"{code_sql(c, domain[c], self.kinds[c])} AS {quote_name(c)}" for c in domain]
        return f"SELECT {', '.join(codes)} FROM {self.relation}"

    def arrays(self, sql: str) -> dict[str, np.ndarray[Any, Any]]:
        """Return the query's columns as arrays."""
        return quietly(self.name, lambda: dict(self._connection.execute(sql).fetchnumpy()), self._hint)

    def batches(self, sql: str, rows: int) -> Iterator[dict[str, np.ndarray[Any, Any]]]:
        """Yield the query's columns as arrays, some rows at a time."""
        reader = quietly(self.name, lambda: self._connection.sql(sql).to_arrow_reader(rows))
        while (batch := quietly(self.name, lambda: next(reader, None))) is not None:
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

    def count_clipped(self, domain: Domain) -> dict[str, int]:
        """Count the values of continuous columns that lie beyond their bounds, where there are any."""
        numeric = {name: c for name, c in domain.columns.items() if isinstance(c, Numeric)}
        if not numeric:
            return {}
        beyond = [f"count(*) FILTER ({beyond_sql(name, c, self.kinds[name])})" for name, c in numeric.items()]
        found = self.query(f"SELECT {', '.join(beyond)} FROM {self.relation}")[0]
        return {name: int(count) for name, count in zip(numeric, found, strict=True) if count}

    def mark(self, domain: Domain) -> bytes:
        """Return what tells the declared columns' rows from others, in whatever order. For a ledger's secret key."""
        import duckdb

        texts = ", ".join(f"CAST({quote_name(column)} AS VARCHAR)" for column in sorted(domain))
        found = self.query(f"SELECT sum(hash({texts})::HUGEINT) FROM {self.relation}")[0][0]
        return f"duckdb {duckdb.__version__} {self.rows} {found}".encode()

    def check_rows(self, domain: Domain) -> None:
        """Refuse a table whose number of rows is not the declared one."""
        check_rows(self.name, self.rows, domain)

    def rows_left(self, domain: Domain) -> int:
        """Return how many rows there are if at most ``max_rows`` of each person are kept. For the custodian only."""
        people = check_id(self.name, self.kinds, domain)
        if people.id is None:
            return self.rows
        person = person_sql(people.id, self.kinds)
        return int(self.query(left_sql(self.relation, person, people.max_rows))[0][0])

    def choose(self, domain: Domain, key: str, doubt: Progress | None = None) -> Choice:
        """Choose the rows of people that are used, once: the engine keeps them.

        Raises
        ------
        MisfitError
            If a column is absent, values have no declared place, or there are far fewer rows than declared.
        """
        self.encoded_sql(domain)
        left = self.rows_left(domain)
        refuse_misfits(self.misfits(domain), self.name)
        missing = count_made_up(self.name, domain, left, doubt)
        chosen = chosen_sql(self.relation, self.kinds, domain, key)
        self.query(f"CREATE OR REPLACE TEMP TABLE {CHOSEN} AS {chosen}")
        return Choice(f"SELECT * FROM {CHOSEN}", missing)

    def keep(self) -> None:
        """Hold the values in memory if they are not too many: a draft looks at them often."""
        if self.rows * len(self.kinds) <= KEPT_VALUES:
            self.query(f"CREATE OR REPLACE TEMP TABLE {KEPT} AS SELECT * FROM {self.relation}")
            self.relation = KEPT

    def which(self, name: str, column: Categorical) -> tuple[str, ...]:
        """Return the categories that occur in a column, for a draft."""
        code = code_sql(name, column, self.kinds[name])
        met = {int(row[0]) for row in self.query(f"SELECT DISTINCT {code} FROM ({self._values(name)})")}
        return tuple(label for i, label in enumerate(column.categories) if i in met)

    def look(self, name: str, most: int, reading: Numeric) -> Look:
        """Look at one column, for a draft: as text, and as the numbers that it is read as."""
        kind = self.kinds[name]
        gone, number = missing_sql(name, reading, kind), number_sql(name, reading, kind)
        kept = (
            f"SELECT CAST({quote_name(name)} AS VARCHAR) AS label, rows, {number} AS value "
            f"FROM ({self._values(name)}) WHERE NOT ({gone})"
        )
        labels = self.query(f"SELECT label, sum(rows) AS n FROM ({kept}) GROUP BY 1 ORDER BY n DESC, 1 LIMIT {most}")
        finite = "FILTER (isfinite(value))"
        different, present, strange, low, high, whole = self.query(
            "SELECT count(DISTINCT label), coalesce(sum(rows), 0), coalesce(sum(rows) FILTER (value IS NULL), 0), "
            f"min(value) {finite}, max(value) {finite}, bool_and(value = floor(value)) {finite} FROM ({kept})"
        )[0]
        timed = kind.startswith(("DATE", "TIME", "INTERVAL"))
        common = {str(label): int(count) for label, count in labels}
        return Look(common, different, self.rows - int(present), int(strange), low, high, bool(whole), timed)

    def _values(self, name: str) -> str:
        """Return the query for the different values of a column, with the number of rows that have them."""
        return f"SELECT {quote_name(name)}, count(*) AS rows FROM {self.relation} GROUP BY 1"


def quietly(name: str, work: Callable[[], T], hint: str = "") -> T:
    """Do something with raw data; turn any error into ours, without its message and without its traceback."""
    failed = "error"
    try:
        return work()
    except DiscreetError:
        raise
    except Exception as error:  # noqa: BLE001 - told below, without the cause: it may quote data
        failed = type(error).__name__
    if failed == "RuntimeError":  # what the engine makes of a key that was pressed
        raise TableError(f"{name} cannot be read as a table, or reading it was broken off")
    raise TableError(f"{name} cannot be read as a table ({failed}){hint}")


def _kind(kind: str) -> str:
    """Return a type's name; enumerations are text."""
    return "VARCHAR" if kind.startswith("ENUM") else kind


def _connect() -> duckdb.DuckDBPyConnection:
    return quietly("the engine DuckDB", _set_up)


def _set_up() -> duckdb.DuckDBPyConnection:
    import duckdb

    connection = duckdb.connect(":memory:")
    for setting in _SETTINGS:
        connection.execute(f"SET {setting}")
    silence(connection)
    return connection


def open_local(data: object, domain: Domain | None = None) -> Source:
    """Open a file (CSV, TSV, Parquet, DuckDB, and those of ``formats``) or a table in memory."""
    return _open_path(os.fspath(data), domain) if isinstance(data, str | os.PathLike) else _open_frame(data, domain)


def _open_path(text: str, domain: Domain | None) -> Source:
    path_text, _, table = text.partition("?table=")
    path = Path(path_text)
    name = f"file {path.name!r}"
    if _is_pattern(path):
        return _open_parquets(path)
    try:
        size = path.stat().st_size if path.is_file() else None
    except (OSError, ValueError):
        raise TableError(f"{name} cannot be opened") from None
    if size is None:
        raise TableError(f"file {path_text!r} does not exist or is not a file")
    if size == 0:
        raise TableError(f"{name} is empty")
    suffixes = [s.lower() for s in path.suffixes if s.lower() != ".gz"]
    suffix = suffixes[-1] if suffixes else ""
    literal = _literal_path(path)
    if suffix in _DATABASES:
        return _open_database(path, table, name)
    if suffix in (".csv", ".tsv"):
        return _open_csv(path, literal, name)
    if suffix == ".parquet":
        return _open_parquet(path, literal, name)
    if suffix in READERS:
        return _open_frame(quietly(name, lambda: read_columns(path, suffix, table, name)), domain, name)
    raise TableError(
        f"{name}: expected a name that ends in .csv, .tsv, .parquet, .duckdb, or {', '.join(READERS)}; whatever wrote "
        "it can save the table as CSV in UTF-8"
    )


def _literal_path(path: Path) -> str:
    """Return a path in which nothing is taken for a pattern."""
    return quote_text("".join(f"[{c}]" if c in "*?[" else c for c in str(path)))


def _is_pattern(path: Path) -> bool:
    """Whether a path stands for several Parquet files; a file of that very name comes first."""
    return path.suffix.lower() == ".parquet" and any(c in "*?[" for c in str(path)) and not path.exists()


def _open_csv(path: Path, literal: str, name: str) -> Source:
    header = read_header(path, name)
    columns = ", ".join(f"{quote_text(column)}: 'VARCHAR'" for column in header.names)
    options = (
        f"{literal}, auto_detect = false, header = true, delim = {quote_text(header.delimiter)}, "
        f"quote = '\"', escape = '\"', comment = '', skip = 0, nullstr = '', null_padding = false, "
        f"ignore_errors = false, parallel = false, hive_partitioning = false, columns = {{{columns}}}"
    )
    quoted = quietly(name, lambda: _has_quotes(path, name))
    hint = ": do all lines have as many fields as the header, the first of them?"
    source = Source(_connect(), f"read_csv({options}, strict_mode = true)", name, hint)
    if quoted:
        counted = source.query(f"SELECT count(*) FROM read_csv({options}, strict_mode = false)")
        if counted != [(source.rows,)]:
            raise TableError(f"{name}: a quote is opened and never closed, and what follows it would not be read")
    return source


def _has_quotes(path: Path, name: str) -> bool:
    """Whether there are quotes: DuckDB drops all that follows one that is not closed, without a word, if strict.

    Refuses what is not UTF-8 text.
    """
    decode, quoted = codecs.getincrementaldecoder("utf-8")().decode, False
    with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
        try:
            for block in iter(lambda: file.read(1 << 20), b""):
                decode(block)
                quoted = quoted or b'"' in block
            decode(b"", final=True)
        except UnicodeDecodeError:
            raise TableError(_NOT_UTF8.format(name=name, path=path.name)) from None
    return quoted


@dataclass(frozen=True)
class Header:
    """Names of columns and what stands between them."""

    names: tuple[str, ...]
    delimiter: str


def read_header(path: Path, name: str) -> Header:
    """Read the first line. Its delimiter is the one that occurs most often outside quotes."""
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            raw = file.read(HEADER_BYTES)
    except (OSError, EOFError, zlib.error):
        raise TableError(f"{name} cannot be opened") from None
    line = re.split(rb"\r\n|\n|\r", raw.removeprefix(b"\xef\xbb\xbf"), maxsplit=1)[0]
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        raise TableError(_NOT_UTF8.format(name=name, path=path.name)) from None
    if "\x00" in text or not text.strip():
        raise TableError(f"{name}: the first line must hold the names of the columns")
    split = {d: _split(text, d) for d in DELIMITERS}
    delimiter = max(DELIMITERS, key=lambda d: len(split[d]))
    names = split[delimiter]
    if not names or any(not n for n in names):
        raise TableError(f"{name}: a column has no name, or the header line is not closed")
    check_names(name, names)
    return Header(tuple(names), delimiter)


def _split(text: str, delimiter: str) -> list[str]:
    """Split a line at a delimiter, respecting double quotes; an open quote gives no columns."""
    if text.count('"') % 2:
        return []
    try:
        return next(csv.reader(io.StringIO(text), delimiter=delimiter), [])
    except csv.Error:
        return []


def _open_parquet(path: Path, literal: str, name: str) -> Source:
    import pyarrow.parquet

    names = quietly(name, lambda: pyarrow.parquet.read_schema(path).names)
    check_names(name, names)
    return Source(_connect(), f"read_parquet({literal}, hive_partitioning = false)", name)


def _open_parquets(pattern: Path) -> Source:
    """Open several Parquet files as one table: all must have the same columns, with the same types."""
    import pyarrow.parquet

    name = f"files {pattern.name!r}"
    found = sorted(glob(str(pattern), recursive=True))  # noqa: PTH207 - the pattern may be an absolute path
    paths = [Path(path) for path in found if Path(path).is_file()]
    if not paths:
        raise TableError(f"{name}: there are none")
    kinds = quietly(name, lambda: [pyarrow.parquet.read_schema(path) for path in paths])
    for path, kind in zip(paths, kinds, strict=True):
        if [(f.name, f.type) for f in kind] != [(f.name, f.type) for f in kinds[0]]:
            raise TableError(f"{name}: {path.name!r} has other columns, or other types, than {paths[0].name!r}")
    check_names(name, kinds[0].names)
    listed = ", ".join(_literal_path(path) for path in paths)
    return Source(_connect(), f"read_parquet([{listed}], hive_partitioning = false)", name)


def _open_database(path: Path, table: str, name: str) -> Source:
    connection = _connect()
    quietly(name, lambda: connection.execute(f"ATTACH {quote_text(str(path))} AS source (READ_ONLY)"))
    listing = (
        "SELECT table_schema, table_name FROM information_schema.tables "
        "WHERE table_catalog = 'source' AND table_type = 'BASE TABLE'"  # a view may infer types from values
    )
    found = quietly(name, lambda: connection.execute(listing).fetchall())
    if table:
        found = [row for row in found if table in (row[1], f"{row[0]}.{row[1]}")]
    if not found:
        raise TableError(f"{name}: no such table (views are not read)")
    if len(found) > 1:
        raise TableError(f"{name}: say which table with ?table=NAME behind the path")
    schema, only = found[0]
    return Source(connection, f"source.{quote_name(schema)}.{quote_name(only)}", name)


def _open_frame(data: object, domain: Domain | None, name: str = NAME) -> Source:
    frame = quietly(name, lambda: as_frame(data, domain))
    connection = _connect()
    try:
        quietly(name, lambda: connection.register("frame", frame))
        return Source(connection, "frame", name)
    except TableError:
        culprit = _unreadable_column(frame)
    which = "it" if culprit is None else f"column {culprit!r}"
    raise TableError(f"{name} cannot be read: {which} has a type or values that DuckDB does not know")


def _unreadable_column(frame: Any) -> str | None:
    """Return the first column that cannot be read alone."""
    plain, arrow = isinstance(frame, dict), hasattr(frame, "column_names")
    for name in list(frame) if plain else frame.column_names if arrow else list(frame.columns):
        connection = _connect()
        try:
            part = {name: frame[name]} if plain else frame.select([name]) if arrow else frame[[name]]
            connection.register("part", part)
            connection.execute("SELECT * FROM part").fetchall()
        except Exception:  # noqa: BLE001 - any failure names the column, and nothing else
            return str(name)
    return None
