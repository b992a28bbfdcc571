"""A ledger on a PostgreSQL server, for teams."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Timer
from typing import TYPE_CHECKING, Any

from discreet.errors import LedgerError, SettingError
from discreet.ledger.stores import CREATE, NOT_YET, TABLES, WAIT, Session, check_version, find_faults

if TYPE_CHECKING:
    import psycopg

SCHEMA = "discreet"
"""The schema that holds the tables."""

CONNECT = 15
"""Seconds to wait for the server."""

LONGEST = 3 * WAIT
"""Seconds after which a transaction is cut off: a server that has gone silent would be waited for without end."""

_REFUSES = " BEGIN RAISE EXCEPTION 'the ledger only grows'; END "
_ONLY_GROWS = f"CREATE FUNCTION discreet_only_grows() RETURNS trigger LANGUAGE plpgsql AS $${_REFUSES}$$"
_CHANGES = 2 + 8 + 16 + 32
"""The server's sign of a trigger before deletes, updates and truncates."""

_INDEXES = {
    "discreet_by_dataset": False,
    "discreet_one_reservation": True,
    "discreet_one_commit": True,
    **{f"{table}_pkey": True for table in TABLES[1:]},
}
"""Indexes, and whether each keeps what it holds unique."""

_KEPT = f"""
    SELECT 'index ' || i.relname, x.indisvalid, x.indisunique
    FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid WHERE i.relnamespace = '{SCHEMA}'::regnamespace
    UNION ALL
    SELECT 'trigger ' || t.tgname, t.tgenabled IN ('O', 'A'), t.tgtype = {_CHANGES} AND f.prosrc = ?
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc f ON f.oid = t.tgfoid
    WHERE c.relnamespace = '{SCHEMA}'::regnamespace AND NOT t.tgisinternal
"""


class _Transaction:
    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._opened = connection

    def run(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        cursor = self._opened.execute(sql.replace("?", "%s").encode(), list(values))
        return cursor.fetchall() if cursor.description else []

    def last(self, dataset: str | None) -> int | None:
        where, values = ("", ()) if dataset is None else ("WHERE dataset = ?", (dataset,))
        found = self.run(f"SELECT max(number) FROM discreet_entries {where}", values)[0][0]
        return None if found is None else int(found)

    def faults(self) -> list[str]:
        """Look at indexes and triggers; to the rest the server sees."""
        wanted = {f"index {name}": (True, unique) for name, unique in _INDEXES.items()}
        wanted |= {f"trigger {table}_only_grows": (True, True) for table in TABLES}
        return find_faults(wanted, {name: (on, right) for name, on, right in self.run(_KEPT, (_REFUSES,))})


class PostgreSQL:
    """A ledger in a database that several people share.

    Whoever writes holds a lock of the table of entries until the transaction ends; others wait in line. It takes the
    rights to select and insert, no others. Commits wait for the server's disk, unless its own ``fsync`` is off.
    """

    key_name = None

    def __init__(self, url: str) -> None:
        try:
            import psycopg
        except ImportError:
            raise SettingError("ledger: PostgreSQL takes `pip install discreet[postgresql]`") from None
        self._driver = psycopg
        try:
            known = psycopg.conninfo.conninfo_to_dict(url)
        except psycopg.Error:
            raise SettingError("ledger: not a PostgreSQL URL; expected postgresql://user@host/database") from None
        self._url = psycopg.conninfo.make_conninfo(
            url, connect_timeout=known.get("connect_timeout", CONNECT), application_name="discreet"
        )
        self.name = f"the ledger in database {known.get('dbname', 'postgres')!r}"
        self.place = f"database {known.get('dbname', 'postgres')!r} on {known.get('host', 'this machine')}"

    def user(self, session: Session) -> str:
        """Return the name that the server knows the user by."""
        return str(session.run("SELECT session_user")[0][0])

    def begin(self, first: Callable[[Session], object]) -> None:
        """Make the tables and the first entry if there are none, in one transaction."""
        with self._connect() as session:
            if self._is_there(session):
                return
            session.run("SELECT pg_advisory_xact_lock(hashtext('discreet ledger'))")
            if self._is_there(session):
                return
            session.run(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            for sql in CREATE:
                session.run(sql.format(big="BIGINT"))
            session.run(_ONLY_GROWS)
            for table in TABLES:
                session.run(
                    f"CREATE TRIGGER {table}_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
                    "EXECUTE FUNCTION discreet_only_grows()"
                )
            first(session)

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Return a context of one transaction, while which nobody else writes."""
        with self._connect() as session:
            self._check_there(session)
            session.run(f"SELECT pg_advisory_xact_lock('{SCHEMA}.discreet_entries'::regclass::oid::bigint)")
            self._check_there(session)  # as it is now that nobody else writes
            yield session

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Return a context in which everything is seen as of one moment."""
        with self._connect("REPEATABLE READ, READ ONLY") as session:
            self._check_there(session)
            yield session

    def _check_there(self, session: Session) -> None:
        if not self._is_there(session):
            raise LedgerError(NOT_YET.format(self.name.removeprefix("the ledger in ")))

    def _is_there(self, session: Session) -> bool:
        """Whether there is a ledger; one that this version does not know, or that is damaged, is refused."""
        wanted = ", ".join(f"to_regclass('{SCHEMA}.{table}') IS NOT NULL" for table in TABLES)
        there = session.run(f"SELECT {wanted}")[0]
        if there[0]:
            check_version(session.run("SELECT version FROM discreet_ledger"), self.name)
        if any(there) and not all(there):
            raise LedgerError(f"{self.name} is damaged: a table is missing; restore a backup")
        return all(there)

    @contextmanager
    def _connect(self, isolation: str = "READ COMMITTED") -> Iterator[_Transaction]:
        """One connection, one transaction: committed at the end, undone if anything fails.

        Names are looked up in the ledger's own schema, whatever the user's search path is.
        """
        driver = self._driver
        try:
            with driver.connect(self._url) as connection, _cut_off(connection):
                connection.execute(f"SET TRANSACTION ISOLATION LEVEL {isolation}".encode())
                connection.execute("SET LOCAL synchronous_commit = on")
                connection.execute(f"SET LOCAL search_path = {SCHEMA}, pg_temp".encode())
                connection.execute(f"SET LOCAL lock_timeout = '{WAIT}s'".encode())
                yield _Transaction(connection)
        except driver.errors.LockNotAvailable:
            failed = f"was written by others for {WAIT} seconds: try again"
        except (driver.errors.InsufficientPrivilege, driver.errors.ReadOnlySqlTransaction):
            failed = "may not be read or written by this user"
        except (driver.errors.DiskFull, driver.errors.OutOfMemory):
            failed = "cannot be written, the server's disk or memory is full"
        except (driver.errors.RaiseException, driver.errors.IntegrityError):
            failed = "refuses to be changed, since it only grows"
        except driver.OperationalError as error:
            failed = _reason(str(error))
        except driver.Error as error:
            failed = f"cannot be used ({type(error).__name__})"
        else:
            return
        raise LedgerError(f"{self.name} {failed}")


@contextmanager
def _cut_off(connection: psycopg.Connection[Any]) -> Iterator[None]:
    """Close the line to a server that neither answers nor closes it; commits and undoes before that ends."""
    with socket.fromfd(connection.fileno(), socket.AF_INET, socket.SOCK_STREAM) as line:
        timer = Timer(LONGEST, line.shutdown, [socket.SHUT_RDWR])
        timer.daemon = True
        timer.start()
        try:
            yield
            connection.commit()
        except BaseException:
            with suppress(Exception):  # the first error is told, not that of undoing
                connection.rollback()
            raise
        finally:
            timer.cancel()


def _reason(message: str) -> str:
    """Say why a server cannot be reached, in our own words."""
    if "password" in message or "authentication" in message or "role" in message:
        return "refused the user or the password (PGPASSWORD or ~/.pgpass hold it)"
    if "connection" in message and any(word in message for word in ("closed", "terminating", "lost")):
        return "went away: the connection was lost. What was reserved before stays reserved"
    if "does not exist" in message:
        return "does not exist on that server; make it with `createdb`"
    return "cannot be reached: the server is down, or host and port are wrong"
