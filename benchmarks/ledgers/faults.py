"""What disks, clocks, rights and servers do to a ledger: each fault is told in a line, and nothing is lost by it."""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, tzinfo
from functools import partial
from typing import Any
from unittest.mock import patch

import psycopg

from discreet.errors import DoubtWarning
from discreet.ledger import ledger as ledger_module
from discreet.ledger.account import Account
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.stores import SCHEMA_VERSION, TABLES, postgres
from discreet.ledger.stores import sqlite as sqlite_store
from discreet.ledger.verify import verify_ledger
from ledgers.cases import PRICE, Case, ViolationError, expect_refusal, expect_whole, insist, make_case, release
from ledgers.damage import DAMAGES, flip_bytes
from ledgers.disks import disk_full, read_only, read_only_folder, unreadable
from ledgers.places import ASKED, PLACES, Fresh, folder, postgresql, sqlite
from ledgers.tampering import TAMPERINGS

Fault = Callable[[Case, Fresh], str]


def clock_back(its: Case, fresh: Fresh) -> str:
    """Set the clock back by years: the chain goes by numbers."""

    class Early(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Early:
            return cls(2001, 1, 1, tzinfo=tz or UTC)

    account = Account("people", its.ledger, request="early")
    with patch.object(ledger_module, "datetime", Early), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        account.start(ASKED)._book(PRICE)
    insist([w.category for w in caught] == [DoubtWarning], "not warned once")
    insist(its.ledger.standing("people").spent == its.spent["people"].plus(PRICE), "not spent once")
    insist(any("clock" in note for note in verify_ledger(its.ledger).notes), "verify does not note it")
    expect_whole(its, *its.handed)
    return str(caught[0].message)


def newer_schema(its: Case, fresh: Fresh) -> str:
    """Use a ledger of a version to come."""
    with its.database() as run:
        run("UPDATE discreet_ledger SET version = ?", (SCHEMA_VERSION + 1,))
    told = expect_refusal(lambda: open_ledger(its.url), "newer version")
    expect_refusal(lambda: its.ledger.reserve("people", "new", ASKED, PRICE), "newer version")
    with its.database() as run:
        run("UPDATE discreet_ledger SET version = ?", (SCHEMA_VERSION,))
    its.check_unchanged()
    its.check_works()
    return told


def missing_table(its: Case, fresh: Fresh) -> str:
    """Drop a table, each in turn."""
    told = ""
    for i, table in enumerate(TABLES):
        one = make_case(fresh(), its.folder / str(i), runs=2)
        with one.database() as run:
            run(f"DROP TABLE {table}", ())
        told = expect_refusal(partial(open_ledger, one.url), "a table is missing")
        expect_refusal(partial(one.ledger.reserve, "people", "new", ASKED, PRICE), "a table is missing")
        expect_refusal(one.ledger.read_all, "a table is missing")
    return told


def something_else(its: Case, fresh: Fresh) -> str:
    """Name a database of another program."""
    with closing(sqlite3.connect(its.path.with_name("other.db"))) as other, other:
        other.execute("CREATE TABLE recipes (name TEXT)")
    return expect_refusal(lambda: open_ledger(its.path.with_name("other.db")), "something else")


def held_up(its: Case, fresh: Fresh) -> str:
    """Have somebody write and never end."""
    lock = "SELECT pg_advisory_xact_lock('discreet.discreet_entries'::regclass::oid::bigint)"
    with its.database() as run, patch.object(sqlite_store, "WAIT", 1), patch.object(postgres, "WAIT", 1):
        run("BEGIN IMMEDIATE" if its.sqlite else lock, ())
        told = expect_refusal(lambda: its.ledger.reserve("people", "new", ASKED, PRICE), "written by others")
    its.check_unchanged()
    return told


def lost_answer(its: Case, fresh: Fresh) -> str:
    """Have the server commit, and go before it says so."""
    its.ledger.reserve("people", "new", ASKED, PRICE)
    commit, times = psycopg.Connection.commit, []

    def gone(self: psycopg.Connection[Any]) -> None:
        commit(self)
        times.append(1)
        if len(times) == 1:
            raise psycopg.OperationalError("server closed the connection unexpectedly")

    with patch.object(psycopg.Connection, "commit", gone):
        stamp = its.ledger.commit("people", "new", release().to_json(), [])
    stored = its.ledger.find_answer("people", "new", ASKED)
    insist(stored is not None and stored.stamp == stamp, "what was committed was not handed out")
    expect_whole(its)
    return "(nothing: what was committed is looked up, and handed out)"


def no_rights(its: Case, fresh: Fresh) -> str:
    """Come as a user whom nobody granted anything."""
    with psycopg.connect(its.url) as server:
        server.execute("CREATE ROLE stranger LOGIN")
    stranger = psycopg.conninfo.make_conninfo(its.url.replace("postgres:@", "stranger@"))
    ledger = Ledger(postgres.PostgreSQL(stranger))
    told = expect_refusal(ledger.begin, "may not be read or written by this user")
    its.check_unchanged()
    return told


def other_settings(its: Case, fresh: Fresh) -> str:
    """Let the server isolate transactions otherwise, and not wait for its disk."""
    with psycopg.connect(its.url, autocommit=True) as server:
        name = server.info.dbname
        for setting in ("default_transaction_isolation = 'serializable'", "synchronous_commit = off"):
            server.execute(f"ALTER DATABASE {name} SET {setting}".encode())
    its.check_works()
    expect_whole(its, *its.handed)
    return "(nothing: it does not matter)"


def no_database(its: Case, fresh: Fresh) -> str:
    """Name a database that is not there."""
    return expect_refusal(lambda: open_ledger(its.url.replace("/ledger", "/no-such-ledger")), "does not exist")


def no_server(its: Case, fresh: Fresh) -> str:
    """Name a server that is not there."""
    url = "postgresql://somebody:secret@127.0.0.1:1/ledgers?connect_timeout=2"
    told = expect_refusal(lambda: open_ledger(url), "cannot be reached")
    insist("secret" not in told, "the password is told")
    return told


def cut_off(its: Case, fresh: Fresh) -> str:
    """Have the server end the connection in the middle of a reservation."""
    append = Ledger._append

    def cut(self: Ledger, session: Any, *args: Any) -> Any:
        found = append(self, session, *args)
        session.run("SELECT pg_terminate_backend(pg_backend_pid())")
        return found

    with patch.object(Ledger, "_append", cut):
        told = expect_refusal(lambda: its.ledger.reserve("people", "new", ASKED, PRICE), "went away")
    its.check_unchanged()
    its.check_works()
    return told


ANYWHERE: dict[str, Fault] = {
    "a clock set back": clock_back,
    "a newer schema": newer_schema,
    "a missing table": missing_table,
    "a writer who never ends": held_up,
    **TAMPERINGS,
}
SQLITE: dict[str, Fault] = {
    "a full disk": disk_full,
    "a read-only file": read_only,
    "a read-only folder": read_only_folder,
    "an unreadable file": unreadable,
    "a database of something else": something_else,
    **ANYWHERE,
}
POSTGRESQL: dict[str, Fault] = {
    "a server that is not there": no_server,
    "a database that is not there": no_database,
    "a connection that is cut": cut_off,
    "a user without rights": no_rights,
    "an answer that is lost": lost_answer,
    "other settings of the server": other_settings,
    **ANYWHERE,
}


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtWarning)
        yield


def _damage(damage: Callable[[Case, int], str], flips: int, its: Case, fresh: Fresh) -> str:
    return damage(its, flips if damage is flip_bytes else min(flips, 100))


def fault_all(places: list[str], flips: int) -> bool:
    """Try every fault, print what the user is told, and return whether all is well."""
    damages: dict[str, Fault] = {name: partial(_damage, damage, flips) for name, damage in DAMAGES.items()}
    problems = 0
    for where in places:
        faults = {**SQLITE, **damages} if where == "sqlite" else POSTGRESQL
        print(PLACES[where][0])
        with sqlite() if where == "sqlite" else postgresql(synced=False) as fresh, folder() as path, _quiet():
            for i, (name, fault) in enumerate(faults.items()):
                try:
                    print(f"  {name:30} {fault(make_case(fresh(), path / str(i)), fresh)}", flush=True)
                except ViolationError as error:
                    problems += 1
                    print(f"  {name:30} VIOLATED: {error}", flush=True)
    print(f"{problems} violations")
    return not problems
