"""Where a ledger's entries are kept, as its URL says: one transaction at a time, durable when it ends."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from discreet.errors import LedgerError, SettingError

SCHEMA_VERSION = 1
"""The form of the tables that this version knows."""

WAIT = 60
"""Seconds to wait for others who write."""

TABLES = ("discreet_ledger", "discreet_entries", "discreet_releases", "discreet_marks")
"""Nothing in them is ever changed or deleted."""

NOT_YET = "there is no ledger at {}; `discreet ledger init` begins one"

CREATE = (
    "CREATE TABLE discreet_ledger (version INTEGER NOT NULL)",
    "CREATE TABLE discreet_entries (number {big} PRIMARY KEY, dataset TEXT NOT NULL, kind TEXT NOT NULL, request TEXT, "
    "body TEXT NOT NULL, hash TEXT NOT NULL)",
    "CREATE INDEX discreet_by_dataset ON discreet_entries (dataset, number)",
    "CREATE UNIQUE INDEX discreet_one_reservation ON discreet_entries (request) WHERE kind = 'reserved'",
    "CREATE UNIQUE INDEX discreet_one_commit ON discreet_entries (request) WHERE kind = 'committed'",
    "CREATE TABLE discreet_releases (request TEXT PRIMARY KEY, body TEXT NOT NULL)",
    "CREATE TABLE discreet_marks (dataset TEXT NOT NULL, mark TEXT NOT NULL, PRIMARY KEY (dataset, mark))",
    f"INSERT INTO discreet_ledger VALUES ({SCHEMA_VERSION})",
)


class Session(Protocol):
    """One transaction."""

    def run(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a statement with `?` for each value, and return the rows it gives."""

    def last(self, dataset: str | None) -> int | None:
        """Return the number of the last entry, of all or of a data set; None if there is none."""

    def faults(self) -> list[str]:
        """Say what is wrong with the tables, indexes and triggers themselves, as far as the store can tell."""


class Store(Protocol):
    """A place where entries are kept."""

    @property
    def name(self) -> str:
        """What it is called, without any password."""

    @property
    def place(self) -> str:
        """Where it is, without any password."""

    @property
    def key_name(self) -> Path | None:
        """Where the key of marks lies beside it; None if that is in the user's folder."""

    def user(self, session: Session) -> str | None:
        """Return the name that a server knows the user by; None where there is no server."""

    def begin(self, first: Callable[[Session], object]) -> None:
        """Make the tables if there are none, and the first entry, in one transaction."""

    def write(self) -> AbstractContextManager[Session]:
        """Return a context of one transaction, while which nobody else writes."""

    def read(self) -> AbstractContextManager[Session]:
        """Return a context in which everything is seen as of one moment."""


def find_faults(wanted: Mapping[str, object], there: Mapping[str, object]) -> list[str]:
    """Say which of a ledger's indexes and triggers are missing or were changed, and which triggers were added."""
    gone = [f"the {name} is missing" for name in wanted if name not in there]
    other = [f"the {name} was changed" for name in wanted if name in there and there[name] != wanted[name]]
    new = [f"the {name} was added" for name in there if name not in wanted and name.startswith("trigger")]
    return gone + other + new


def check_version(found: list[tuple[Any, ...]], name: str) -> None:
    """Refuse tables that this version does not know."""
    if len(found) != 1 or not isinstance(found[0][0], int):
        raise LedgerError(f"{name} is damaged: it does not say in what form it is; restore a backup")
    if found[0][0] > SCHEMA_VERSION:
        raise LedgerError(
            f"{name} was written by a newer version of discreet (schema {found[0][0]}, this one knows "
            f"{SCHEMA_VERSION}): upgrade discreet; nothing was changed"
        )


def store_for(url: str | os.PathLike[str]) -> Store:
    """Return the place that a URL or a path names: ``sqlite:///path``, a path, or ``postgresql://...``."""
    text = os.fspath(url) if isinstance(url, str | os.PathLike) else ""
    if not text or "\0" in text:
        raise SettingError("ledger: name a file, sqlite:///path or postgresql://host/database")
    scheme, separator, rest = text.partition("://")
    if not separator and scheme.partition(":")[0] in ("sqlite", "postgresql", "postgres"):
        raise SettingError("ledger: sqlite:///path with three slashes, or postgresql://host/database with two")
    if not separator:
        return _file_store(text)
    if scheme == "sqlite":
        if not rest.startswith("/") or len(rest) < 2:
            raise SettingError("ledger: sqlite:///path with three slashes, and a fourth if the path is absolute")
        return _file_store(rest[1:])
    if scheme in ("postgresql", "postgres"):
        from discreet.ledger.stores.postgres import PostgreSQL

        return PostgreSQL(text)
    raise SettingError("ledger: expected a file, sqlite:///path or postgresql://host/database")


def _file_store(path: str) -> Store:
    """Return the ledger in a file, found once: a later change of the folder does not matter."""
    from discreet.ledger.stores.sqlite import SQLite

    if re.match(r"\w+=", path):
        raise SettingError("ledger: a PostgreSQL server is named as postgresql://user@host/database")
    try:
        return SQLite(Path(path).expanduser().resolve())
    except (OSError, RuntimeError, ValueError):
        raise SettingError("ledger: that is no name of a file") from None
