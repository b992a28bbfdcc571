"""Tables of a PostgreSQL server, read as of one moment, in a transaction that cannot write."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

import numpy as np

from discreet.data.encoding import quote_name
from discreet.data.engines.engine import CONNECT, Engine, Expr, arrays_of, closed_if_it_fails, double
from discreet.errors import EngineError, SettingError, TableError

if TYPE_CHECKING:
    import numpy.typing as npt
    import psycopg

SETTINGS = (
    "SET client_encoding = 'UTF8'",
    "SET standard_conforming_strings = on",
    "SET DateStyle = 'ISO'",
    "SET IntervalStyle = 'postgres'",
    "SET extra_float_digits = 1",
    "SET default_transaction_read_only = on",
    "SET statement_timeout = 0",
)
"""What our queries mean does not depend on how the server is set up."""

QUIET = 60
"""Seconds without an answer after which a server is asked whether it is still there, and again each time."""

KEEPALIVE = {"keepalives_idle": 60, "keepalives_interval": 15, "keepalives_count": 4, "tcp_user_timeout": 120_000}
"""When a connection that the network has lost is given up."""

_URL = "postgresql://user@host/database?table=NAME"
_EXPECTED = f"data: expected {_URL}"
_LARGEST, _SMALLEST = "1.7976931348623157e308", "1e-307"
_SECRETS = ("password", "passfile", "sslpassword", "scram_client_key", "scram_server_key", "oauth_client_secret")
_FIND = """
    SELECT c.oid, n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND has_schema_privilege(n.oid, 'USAGE')
      AND ((c.relname = %(name)s AND pg_table_is_visible(c.oid)) OR n.nspname || '.' || c.relname = %(name)s)
"""


_COLUMNS = """
    WITH RECURSIVE met AS (
        SELECT a.attnum, a.attname, t.typname, t.typtype, t.typbasetype, t.typcategory
        FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
        WHERE a.attrelid = %(table)s AND a.attnum > 0 AND NOT a.attisdropped
        UNION ALL
        SELECT m.attnum, m.attname, t.typname, t.typtype, t.typbasetype, t.typcategory
        FROM met m JOIN pg_type t ON t.oid = m.typbasetype WHERE m.typtype = 'd'
    )
    SELECT attname, CASE typcategory WHEN 'A' THEN 'array' ELSE typname END
    FROM met WHERE typtype <> 'd' ORDER BY attnum
"""
_KINDS = {"int2": "int16", "int4": "int32", "int8": "int64", "float4": "float32", "float8": "float64"}
_KINDS |= {"numeric": "decimal", "bool": "boolean", "date": "date", "timestamp": "timestamp", "time": "time"}
_KINDS |= {
    "timestamptz": "timestamp('UTC')",
    "json": "json",
    "jsonb": "json",
    "bytea": "binary",
    "array": "array<string>",
}
"""Types that are more than their text."""


class PostgresEngine(Engine):
    """A connection to a server. Its decimals have any size, may be NaN, and fail where no float is near."""

    schemes = ("postgresql", "postgres")
    url = _URL
    ibis_name = "postgres"

    @classmethod
    def open(cls, url: str) -> tuple[Engine, Expr]:
        """Open a table by its URL.

        Raises
        ------
        SettingError
            If the URL is not one, or holds a password.
        EngineError
            If the server cannot be reached.
        TableError
            If there is no such table.
        """
        try:
            import ibis
            import psycopg
        except ImportError:
            raise SettingError("data: PostgreSQL takes `pip install discreet[postgresql]`") from None
        server, table = split_url(url)
        name = f"table {table!r}"
        try:
            server = psycopg.conninfo.make_conninfo(
                server, connect_timeout=CONNECT, application_name="discreet", **KEEPALIVE
            )
        except psycopg.Error:
            raise SettingError(_EXPECTED) from None
        connection = None
        with suppress(psycopg.Error):
            connection = psycopg.connect(server, autocommit=True)
        if connection is None:
            raise EngineError(f"{name}: {_explain_unreached(server)}. Nothing was spent")
        engine = cls(ibis.postgres.from_connection(connection), name, connection.close)
        with closed_if_it_fails(engine.close):
            query, kinds = engine.ask(lambda backend: _find_table(connection, table, name))
            return engine, engine.ask(lambda backend: backend.sql(query, schema=ibis.schema(kinds)))

    def explain(self, error: type[Exception]) -> str | None:
        """Say why a server failed, from the kind of its error."""
        from psycopg import InterfaceError, OperationalError, errors

        reasons: dict[tuple[type[Exception], ...], str] = {
            (errors.InsufficientPrivilege,): "this user may not read it",
            (errors.UndefinedTable, errors.InvalidSchemaName): "it does not exist, or this user may not see it",
            (errors.QueryCanceled,): "the server broke the query off",
            (errors.DiskFull, errors.OutOfMemory): "the server's disk or memory is full",
            (OperationalError, InterfaceError): "the server went away, or the connection to it was lost",
        }
        return next((reason for kinds, reason in reasons.items() if issubclass(error, kinds)), None)

    def ask(self, work: Callable[[Any], Any]) -> Any:
        """Do something with the connection; cut it if the server has gone silent."""
        return super().ask(lambda backend: _run_watched(backend.con, lambda: work(backend)))

    def table(self, expr: Expr) -> dict[str, npt.NDArray[Any]]:
        """Return the columns of a small table, without a cursor on the server: with one it would not use its cores."""
        rows = self.ask(lambda backend: backend.con.execute(backend.compile(expr)).fetchall())
        return {name: np.array([row[i] for row in rows]) for i, name in enumerate(expr.columns)}

    def batches(self, expr: Expr, rows: int) -> Iterator[Mapping[str, npt.NDArray[Any]]]:
        """Yield the columns of a large table, some rows at a time."""
        reader = self.ask(lambda backend: backend.to_pyarrow_batches(expr, chunk_size=rows))
        while (batch := self.ask(lambda backend: next(reader, None))) is not None:
            yield arrays_of(batch)

    def sha256(self, text: Expr) -> Expr:
        """Return the hash of a text, in lower-case hexadecimal digits."""
        import ibis

        def sha256(raw: bytes) -> bytes: ...  # type: ignore[empty-body]
        def convert_to(text: str, to: str) -> bytes: ...  # type: ignore[empty-body]
        def encode(raw: bytes, form: str) -> str: ...  # type: ignore[empty-body]

        make, to, write = (ibis.udf.scalar.builtin(function) for function in (sha256, convert_to, encode))
        return write(make(to(text, "UTF8")), "hex")

    def hash(self, text: Expr) -> Expr:
        """Return a fast hash of a text, a whole number."""
        import ibis

        def hashtextextended(text: str, start: int) -> int: ...  # type: ignore[empty-body]

        return ibis.udf.scalar.builtin(hashtextextended)(text, 0)

    def to_double(self, number: Expr) -> Expr:
        """Return a number as a float: decimals that are too large or too small for one would fail."""
        import ibis

        if not number.type().is_decimal():
            return super().to_double(number)
        largest, smallest = ibis.literal(_LARGEST).cast("decimal"), ibis.literal(_SMALLEST).cast("decimal")
        clipped = ibis.least(ibis.greatest(number, -largest), largest)
        return ibis.cases(((number < smallest) & (number > -smallest), double(0.0)), else_=clipped.cast("float64"))

    def read_number(self, text: Expr) -> Expr:
        """Return the number that a text is written as, as a float."""
        return self.to_double(text.cast("decimal"))

    def write_decimal(self, raw: Expr) -> Expr:
        """Return a decimal as text, without zeros at the end: 1 and 1.00 are equal."""
        return raw.cast("string").re_replace(r"[.]0+$", "").re_replace(r"([.][0-9]*[1-9])0+$", r"\1")

    def decimal_is_gone(self, raw: Expr) -> Expr:
        """Whether a decimal is missing: NaN is one too."""
        import ibis

        return raw.isnull() | (raw == ibis.literal("NaN").cast("decimal"))

    def decimal_is(self, raw: Expr, label: str, number: float) -> Expr:
        """Whether a decimal is the number that a label is written as, exactly."""
        import ibis

        return raw == ibis.literal(label).cast("decimal")


def split_url(url: str) -> tuple[str, str]:
    """Return the server's own URL and the table's name; a password is refused, also one that breaks the URL."""
    try:
        parts = urlsplit(url)
        options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        secret = bool(parts.password) or "@" in parts.path or "@" in parts.query.partition("table=")[0]
        secret = secret or any(key in _SECRETS for key, _ in options)
        _ = parts.port  # refuses one that is no number
    except ValueError:
        raise SettingError(_EXPECTED) from None
    if secret:
        raise SettingError(
            "data: leave the password out, since others on the machine can read command lines: PGPASSWORD or "
            "~/.pgpass hold it"
        )
    tables = [value for key, value in options if key == "table"]
    if len(tables) != 1 or not tables[0]:
        raise SettingError(_EXPECTED)
    query = "&".join(f"{quote(key, safe='')}={quote(value, safe='')}" for key, value in options if key != "table")
    return urlunsplit(("postgresql", parts.netloc, parts.path, query, "")), tables[0]


def _find_table(connection: psycopg.Connection[Any], table: str, name: str) -> tuple[str, dict[str, str]]:
    """Begin to read as of one moment, and return a query for the table and the types of its columns.

    Whatever is only text is made text, in the order of its bytes: enumerations, and texts that compare as others.
    """
    for setting in SETTINGS:
        connection.execute(setting)
    connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
    found = connection.execute(_FIND, {"name": table}).fetchall()
    if not found:
        raise TableError(f"{name} does not exist in that database, or this user may not see it")
    if len(found) > 1:
        raise TableError(f"{name}: say which one as ?table=schema.name")
    number, schema, only = found[0]
    kinds = {str(n): _KINDS.get(kind, "string") for n, kind in connection.execute(_COLUMNS, {"table": number})}
    columns = [
        f'CAST({quote_name(n)} AS text) COLLATE "C" AS {quote_name(n)}' if kind == "string" else quote_name(n)
        for n, kind in kinds.items()
    ]
    return f"SELECT {', '.join(columns)} FROM {quote_name(schema)}.{quote_name(only)}", kinds


def _run_watched(connection: psycopg.Connection[Any], work: Callable[[], Any]) -> Any:
    """Do something; meanwhile a thread sees whether the server is still there."""
    over = Event()
    line = socket.fromfd(connection.fileno(), socket.AF_INET, socket.SOCK_STREAM)
    Thread(target=_watch, args=(line, connection.info.dsn, over), daemon=True).start()
    try:
        return work()
    finally:
        over.set()


def _watch(line: socket.socket, server: str, over: Event) -> None:
    """Close the line to a server that neither answers nor closes it: one that twice does not answer newcomers either.

    A query may take hours, so that time alone tells nothing.
    """
    from psycopg.conninfo import make_conninfo
    from psycopg.pq import PGconn, Ping

    knock, unheard = make_conninfo(server, connect_timeout=CONNECT).encode(), 0
    with line, suppress(OSError):
        while not over.wait(QUIET):
            unheard = unheard + 1 if PGconn.ping(knock) == Ping.NO_RESPONSE else 0
            if unheard > 1 and not over.is_set():
                line.shutdown(socket.SHUT_RDWR)
                return


def _explain_unreached(server: str) -> str:
    """Say why a server cannot be reached: ask once more, and look at what it says of itself."""
    from psycopg.pq import PGconn

    tried = PGconn.connect(server.encode())
    words = tried.error_message.decode(errors="replace")
    refused = tried.needs_password or tried.used_password
    tried.finish()
    if refused or any(word in words for word in ("authentication", "role", "pg_hba")):
        return "the server refused the user or the password (PGPASSWORD or ~/.pgpass hold it)"
    if "does not exist" in words and "database" in words:
        return "there is no such database on that server"
    return "the server cannot be reached: it is down, or host and port are wrong"
