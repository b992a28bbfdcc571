"""A ledger with a history, of which faults are tried; and checks of what its user is told."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from click.testing import CliRunner

from discreet.cli import main
from discreet.errors import DiscreetError, LedgerError
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.prices import Limit, Price
from discreet.ledger.records import Kept
from discreet.ledger.stores.postgres import SCHEMA
from discreet.methods.discover import discover
from discreet.methods.session import with_stamp
from discreet.release.discovery import Discovery
from discreet.simulation.networks import network
from ledgers.places import ASKED

PRICE = Price(10**30, 10**30, 10**30)
LIMITS = {"people": Limit(5.0, 1e-6), "others": Limit(5.0, 0.0)}
RAW = (
    "sqlite3",
    "psycopg",
    "Traceback",
    "malformed",
    "Error(",
    "no such table",
    "no such column",
    "unable to",
    "I/O",
    "SQLITE",
    "relation ",
)
"""Words of those below, which nobody should have to read."""


class ViolationError(Exception):
    """Something was not as it should be."""


def insist(holds: object, words: str) -> None:
    """Insist on something."""
    if not holds:
        raise ViolationError(words)


@cache
def release() -> Discovery:
    """Return a release, of which copies are committed."""
    net = network("asia")
    return discover(net.sample(300, np.random.default_rng(0)), domain=net.domain(300), epsilon=1.0)


@dataclass
class Case:
    """A ledger, what was handed out of it, and what it held then."""

    url: str
    folder: Path
    ledger: Ledger
    handed: list[Path]
    kept: Kept
    spent: dict[str, Price]

    @property
    def path(self) -> Path:
        """Its file."""
        return Path(self.url.removeprefix("sqlite:///"))

    @property
    def sqlite(self) -> bool:
        """Whether it is in a file."""
        return self.url.startswith("sqlite")

    def check_unchanged(self) -> None:
        """Insist that nothing was lost or spent since."""
        insist(self.ledger.read_all() == self.kept, "the ledger is not as it was")
        for name, spent in self.spent.items():
            insist(self.ledger.standing(name).spent == spent, "what was spent is not as it was")

    def check_works(self) -> None:
        """Insist that a run can be reserved and committed, at its price."""
        before = self.ledger.standing("people").spent
        self.ledger.reserve("people", "further", ASKED, PRICE)
        self.ledger.commit("people", "further", release().to_json(), [])
        insist(self.ledger.standing("people").spent == before.plus(PRICE), "a run was not spent once")

    @contextmanager
    def database(self) -> Iterator[Callable[[str, Sequence[Any]], list[Any]]]:
        """Give what whoever owns the database can do with it: no trigger holds them back, and all are put back."""
        if self.sqlite:
            with closing(sqlite3.connect(self.path, isolation_level=None)) as file:
                triggers = file.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
                for name, _ in triggers:
                    file.execute(f"DROP TRIGGER {name}")
                yield lambda sql, values: file.execute(sql, values).fetchall()
                for _, sql in triggers:
                    with suppress(sqlite3.OperationalError):  # its table is gone
                        file.execute(sql)
        else:
            with psycopg.connect(self.url) as server:
                server.execute("SET session_replication_role = replica")
                server.execute(f"SET search_path = {SCHEMA}".encode())

                def run(sql: str, values: Sequence[Any]) -> list[Any]:
                    cursor = server.execute(sql.replace("?", "%s").encode(), list(values))
                    return cursor.fetchall() if cursor.description else []

                yield run


def make_case(url: str, folder: Path, runs: int = 8) -> Case:
    """Make a ledger of two data sets, with runs of which one in four was never committed."""
    ledger = open_ledger(url)
    folder.mkdir(exist_ok=True)
    for name, limit in LIMITS.items():
        ledger.declare(name, limit)
    handed = []
    for i in range(runs):
        name, request = ("people", "others", "people")[i % 3], f"request-{i}"
        ledger.reserve(name, request, ASKED, PRICE, mark=f"{i:064}")
        if i % 4:
            stamp = ledger.commit(name, request, release().to_json(), [])
            handed.append(folder / f"{request}.json")
            handed[-1].write_text(with_stamp(release(), stamp).to_json(), encoding="utf-8")
    return Case(url, folder, ledger, handed, ledger.read_all(), {name: ledger.standing(name).spent for name in LIMITS})


def check_plain(words: str) -> str:
    """Insist that words are for people, and in one line."""
    insist(not any(raw in words for raw in RAW), f"raw words: {words}")
    insist("\n" not in words.strip(), f"more than a line: {words}")
    return words.strip()


def expect_refusal(act: Callable[[], object], words: str, kind: type[DiscreetError] = LedgerError) -> str:
    """Insist that something is refused with words, and return them."""
    try:
        act()
    except kind as error:
        insist(words in str(error), f"refused with other words: {error}")
        return check_plain(str(error))
    except Exception as error:
        raise ViolationError(f"{type(error).__name__}: {error}") from error
    raise ViolationError("not refused")


def expect_problem(case: Case, words: str, *against: Path) -> str:
    """Insist that `discreet ledger verify` finds a problem, and return what it says of it."""
    found = _run_verify(case, *against)
    insist(found.exit_code == 1, f"verify exits with {found.exit_code}: {found.output}")
    lines = [line.removeprefix("  ✗ ") for line in found.output.splitlines() if "✗" in line or "error:" in line]
    told = [line for line in lines if words in line]
    insist(told, f"verify says other things: {found.output}")
    return check_plain(told[0]).replace(f"{case.folder}{os.sep}", "")


def expect_whole(case: Case, *against: Path) -> None:
    """Insist that `discreet ledger verify` finds nothing."""
    found = _run_verify(case, *against)
    insist(found.exit_code == 0 and "the chain is whole" in found.output, f"verify says: {found.output}")


def _run_verify(case: Case, *against: Path) -> Any:
    named = [word for path in against for word in ("--against", str(path))]
    found = CliRunner().invoke(main, ["ledger", "verify", "--ledger", case.url, *named])
    insist("something failed inside" not in found.output, f"verify fails: {found.output}")
    return found
