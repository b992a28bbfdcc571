"""A ledger in one SQLite file, and the line in which those who use it take turns."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import RLock, Thread
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from discreet.errors import LedgerError
from discreet.ledger.stores import CREATE, NOT_YET, TABLES, WAIT, Session, check_version, find_faults

try:
    import fcntl
except ImportError:  # Windows has none
    fcntl = None  # type: ignore[assignment]


DAMAGED = "is damaged: restore a backup, then check it with `discreet ledger verify`"
NO_CODE = 0

SCHEMA = (
    *(sql.format(big="INTEGER") for sql in CREATE),
    "CREATE INDEX discreet_again ON discreet_entries (number, dataset)",
    *(
        f"CREATE TRIGGER {table}_no_{change.lower()} BEFORE {change} ON {table} "
        "BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END"
        for table in TABLES
        for change in ("UPDATE", "DELETE")
    ),
)
"""What a ledger is made with; SQLite keeps it word by word."""

_MADE = re.compile(r"CREATE (?:UNIQUE )?(\w+) (\w+)")


class Turn:
    """A context that begins when it is one's turn, or when that takes too long.

    Parameters
    ----------
    beside
        The file to stand in line for. The line is at another one: closing any handle of the file itself would drop
        the locks that SQLite has on it.
    wait
        Seconds after which to go on without.
    """

    def __init__(self, beside: Path, wait: float) -> None:
        self._beside = beside
        self._wait = wait
        self._handle: int | None = None
        self._waiting = self._over = False
        self._lock = RLock()  # an interruption may have left it locked

    def __enter__(self) -> Self:
        if fcntl is None:
            return self
        try:
            handle = self._handle = _open_line(self._beside)
        except OSError:
            return self
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._wait_in_line(handle)
        except OSError:
            self.end()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.end()

    def end(self) -> None:
        """Let the next one go on."""
        with self._lock:
            self._over = True
            if not self._waiting:
                self._close()

    def _wait_in_line(self, handle: int) -> None:
        """Wait in a thread, since a lock that blocks cannot be waited for with a limit."""
        self._waiting = True
        try:
            waiter = Thread(target=self._take, args=(handle,), daemon=True)
            waiter.start()
        except RuntimeError:  # the system has no more threads
            self._waiting = False
            return
        try:
            waiter.join(self._wait)
        except BaseException:
            self.end()
            raise

    def _take(self, handle: int) -> None:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        with self._lock:
            self._waiting = False
            if self._over:  # it took too long; nobody waits for it any more
                self._close()

    def _close(self) -> None:
        handle, self._handle = self._handle, None  # first: a number that was closed may be another file's by now
        if handle is not None:
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_UN)  # also for a copy of the process that has the handle
            os.close(handle)


def line_at(beside: Path) -> Path:
    """Return the file at which the line for another one is."""
    return beside.with_name(beside.name + ".lock")


def _open_line(beside: Path) -> int:
    """Open the file of the line, made at its first use for whoever may read what they stand in line for."""
    path = line_at(beside)
    with suppress(FileNotFoundError):
        return os.open(path, os.O_RDONLY)
    whose = beside.stat()
    mode = whose.st_mode & 0o666
    with suppress(FileExistsError):
        handle = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_EXCL, mode)
        with suppress(OSError):
            os.fchmod(handle, mode)
            os.fchown(handle, whose.st_uid, whose.st_gid)
        return handle
    return os.open(path, os.O_RDONLY)


class _Transaction:
    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._opened = connection
        self._name = name

    def run(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._opened.execute(sql, values).fetchall()

    def last(self, dataset: str | None) -> int | None:
        """Ask the table and its indexes, which must agree.

        SQLite has no checksums: a flipped bit in one of them could hide the last entries, and what they spent.
        """
        table, again = (
            self.run(f"SELECT max(number) FROM discreet_entries {by}")[0][0]
            for by in ("NOT INDEXED", "INDEXED BY discreet_again")
        )
        agree = table == again
        if dataset is not None:
            by = "SELECT max(number) FROM discreet_entries INDEXED BY"
            table = self.run(f"{by} discreet_by_dataset WHERE dataset = ?", (dataset,))[0][0]
            hidden = self.run(f"{by} discreet_again WHERE number > ? AND dataset = ?", (table or 0, dataset))[0][0]
            agree = agree and hidden is None
        if not agree:
            raise LedgerError(f"{self._name} {DAMAGED}")
        return None if table is None else int(table)

    def faults(self) -> list[str]:
        whole = self.run("PRAGMA integrity_check(1)") == [("ok",)]
        damage = [] if whole else ["the file is damaged: its tables and indexes do not fit together; restore a backup"]
        wanted = {f"{made[1].lower()} {made[2]}": sql for sql in SCHEMA if (made := _MADE.match(sql))}
        kept = self.run("SELECT type, name, sql FROM sqlite_master")
        return damage + find_faults(wanted, {f"{kind} {name}": sql for kind, name, sql in kept})


class SQLite:
    """A ledger in one file.

    Every transaction opens the file anew, and is synced to the disk before it ends (``synchronous = EXTRA``): what
    was reserved stays so after a power loss. If a process dies in the middle, the next one rolls back what it left.

    The journal is deleted after each transaction, so that whenever nobody writes, the one file is all there is, and
    can be copied. Other ways to keep it would save little: where a file is opened anew for each transaction, each of
    them syncs five times (`benchmarks/ledger.py writers --journals`).
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = f"the ledger {path.name!r}"
        self.place = os.fsencode(path).decode(errors="replace")

    @property
    def key_name(self) -> Path:
        """Where the key of marks lies."""
        return self._path.with_name(self._path.name + ".key")

    def user(self, session: Session) -> None:
        """Return nothing: a file knows no users."""

    def begin(self, first: Callable[[Session], object]) -> None:
        """Make the file, its tables and the first entry if there are none, in one transaction."""
        if self._path.is_file() and self._path.stat().st_size:
            with self.read():
                return
        self._is_empty()
        with translate_errors(self.name, "nothing was changed"):
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
            except OSError:
                raise LedgerError(
                    f"{self.name} cannot be made: its folder cannot be made or written; name another place"
                ) from None
            with closing(self._open("rwc")) as connection, _write_alone(connection):
                tables = self._tables(connection)
                if tables:
                    self._check(connection, tables)
                    return
                for sql in SCHEMA:
                    connection.execute(sql)
                first(_Transaction(connection, self.name))

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Return a context of one transaction, while which nobody else writes."""
        self._check_there()
        with (
            translate_errors(self.name, "nothing was written"),
            Turn(self._path, WAIT / 2),
            closing(self._open("rw")) as connection,
            _write_alone(connection),
        ):
            self._check(connection, self._tables(connection))
            self._check_length(connection)
            yield _Transaction(connection, self.name)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Return a context in which everything is seen as of one moment; a file that cannot be written will do."""
        self._check_there()
        with (
            translate_errors(self.name, "nothing was changed"),
            Turn(self._path, WAIT / 2) as turn,
            closing(self._open_to_read()) as connection,
        ):
            connection.execute("BEGIN")
            self._check(connection, self._tables(connection))
            turn.end()  # others may come now: SQLite keeps them from changing what is read
            yield _Transaction(connection, self.name)

    def _open_to_read(self) -> sqlite3.Connection:
        """Open for reading; if a process died while writing, let SQLite roll that back first."""
        try:
            return self._open("ro")
        except sqlite3.OperationalError:
            return self._open("rw")

    def _open(self, mode: str) -> sqlite3.Connection:
        url = f"file:{quote(os.fsencode(self._path))}?mode={mode}"
        connection = sqlite3.connect(url, uri=True, timeout=WAIT, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
        except BaseException:
            connection.close()
            raise
        return connection

    def _check_length(self, connection: sqlite3.Connection) -> None:
        """Refuse a file that is longer than it says: what it forgot would be written over."""
        says = (
            connection.execute("PRAGMA page_count").fetchone()[0] * connection.execute("PRAGMA page_size").fetchone()[0]
        )
        if self._path.stat().st_size > says:
            raise LedgerError(f"{self.name} {DAMAGED}")

    def _check_there(self) -> None:
        if self._is_empty():
            raise LedgerError(NOT_YET.format(self.name.removeprefix("the ledger ")))

    def _is_empty(self) -> bool:
        """Whether there is no ledger yet; refuse a file that is something else, and one that was deleted or emptied."""
        if self._path.exists() and not self._path.is_file():
            raise LedgerError(f"{self.name} is not a file")
        left = [path.name for path in (self.key_name, line_at(self._path)) if path.exists()]
        there = self._path.exists()  # looked at last: another process may be beginning it
        if there and self._path.stat().st_size:
            return False
        if left:
            lost = "is empty, and was not before" if there else "is gone"
            also = " and ".join(map(repr, [self._path.name, *left] if there else left))
            raise LedgerError(
                f"{self.name} {lost}: what was spent is not known any more. Restore it or a backup; only to begin "
                f"another one on purpose, delete {also}"
            )
        return True

    def _tables(self, connection: sqlite3.Connection) -> set[str]:
        return {str(row[0]) for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def _check(self, connection: sqlite3.Connection, tables: set[str]) -> None:
        if not tables:
            raise LedgerError(NOT_YET.format(self.name.removeprefix("the ledger ")))
        if tables.isdisjoint(TABLES):
            raise LedgerError(f"{self.name} is a database of something else; name another file")
        if "discreet_ledger" in tables:
            check_version(connection.execute("SELECT version FROM discreet_ledger").fetchall(), self.name)
        if not tables.issuperset(TABLES):
            raise LedgerError(f"{self.name} is damaged: a table is missing; restore a backup")


@contextmanager
def _write_alone(connection: sqlite3.Connection) -> Iterator[None]:
    """Write alone, and undo everything if something fails."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def translate_errors(name: str, so: str) -> Iterator[None]:
    """Turn SQLite's errors into ours."""
    try:
        yield
    except sqlite3.Error as error:
        failed = _reason(error)
    except (UnicodeDecodeError, MemoryError):  # SQLite quotes a damaged name, or believes a damaged size
        failed = DAMAGED
    else:
        return
    raise LedgerError(f"{name} {failed}; {so}")


def _reason(error: sqlite3.Error) -> str:
    code = (getattr(error, "sqlite_errorcode", None) or NO_CODE) & 0xFF
    reasons = {
        sqlite3.SQLITE_BUSY: f"was written by others for {WAIT} seconds: try again",
        sqlite3.SQLITE_LOCKED: "is locked by others: try again",
        sqlite3.SQLITE_FULL: "cannot be written, the disk is full: make room and try again",
        sqlite3.SQLITE_READONLY: "cannot be written, the file or its folder is read-only",
        sqlite3.SQLITE_PERM: "cannot be opened: permission denied",
        sqlite3.SQLITE_CANTOPEN: "cannot be opened: no such folder, or permission denied",
        sqlite3.SQLITE_IOERR: "cannot be read or written: the disk reports an error, or is full",
        sqlite3.SQLITE_CORRUPT: DAMAGED,
        sqlite3.SQLITE_ERROR: DAMAGED,  # a statement that makes no sense in these tables
        sqlite3.SQLITE_TOOBIG: DAMAGED,
        NO_CODE: DAMAGED,  # a text that is none
        sqlite3.SQLITE_NOTADB: "is not a ledger: the file is something else, or damaged",
        sqlite3.SQLITE_CONSTRAINT: "refuses to be changed, since it only grows",
    }
    return reasons.get(code, f"cannot be used ({type(error).__name__})")
