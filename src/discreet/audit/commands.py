"""Whole commands under replay: from a file to what is printed, written and kept in the ledger.

The command line runs as a custodian would run it, with progress, a ledger with a limit, and files for everything. With
the same noisy answers all of that must be the same on any table. What is not compared: the mark by which a ledger
recognises rows, which is made to differ (``../ledger/keys.md``) and is never shown.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from io import StringIO
from pathlib import Path
from runpy import run_module
from typing import Any, Self
from unittest.mock import patch
from warnings import catch_warnings

import yaml

from discreet.arrays import IntArray
from discreet.audit import Finding, Neighbours
from discreet.audit.books import SLACK
from discreet.audit.claims import Claim
from discreet.audit.replay import audit_method
from discreet.domain import Domain
from discreet.errors import LedgerError
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import GRAINS
from discreet.room import Room

HELD = "discreet_marks"
"""The table of a ledger that holds marks of rows."""

LEDGER = "ledger.db"

Writer = Callable[[IntArray, Domain], Any]
"""Makes a table with labels of codes."""


class _Still(datetime):
    """A clock that stands still: when something was done is public, and differs from run to run."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls(2026, 1, 1, tzinfo=tz)


@dataclass(frozen=True)
class Command:
    """A command with the table that it is run on.

    Parameters
    ----------
    name
        What tells it from others.
    method
        Whose command it is.
    words
        What is typed, one line after the other, with {data}, {domain}, {ledger} and {out} for what lies in the folder.
    domain
        The domain, which is written beside the table.
    claim
        What each line that is answered promises.
    paid
        How many of the lines are to be paid for.
    limit
        The data set's limit in the ledger.
    codes
        How the lines must end.
    suffix
        What kind of file the table is.
    """

    name: str
    method: str
    words: tuple[str, ...]
    domain: Domain
    claim: Claim
    paid: int
    limit: str = "--epsilon 40"
    codes: tuple[int, ...] = (0,)
    suffix: str = ".csv"

    @property
    def rho(self) -> float:
        """What a line costs everybody in a group, in zCDP."""
        amount, group = self.claim.amount, self.domain.group
        return {
            Currency.PURE: min((group * amount) ** 2 / 2, group * amount),
            Currency.ZCDP: group**2 * amount,
            Currency.GDP: (group * amount) ** 2 / 2,
        }[self.claim.currency]

    @contextmanager
    def runner(self, write: Writer) -> Iterator[tuple[Callable[..., Any], Path]]:
        """Yield what runs it on rows, in a folder of its own that has the same name each time, and its ledger."""
        with tempfile.TemporaryDirectory() as outer, ExitStack() as still:
            for module in ("discreet.ledger.ledger", "discreet.methods.discover"):
                still.enter_context(patch(f"{module}.datetime", _Still))
            still.enter_context(patch("discreet.data.load.fresh_key", lambda: "0" * 64))
            folder, begun = Path(outer) / "run", Path(outer) / "begun"
            begun.mkdir()
            with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
                self._type(f"ledger limit --dataset d {self.limit} --ledger {{ledger}}", begun)

            def run(rows: IntArray, *, counted: bool = True) -> Any:
                shutil.rmtree(folder, ignore_errors=True)
                shutil.copytree(begun, folder)
                self._write(write(rows, self.domain), folder)
                codes = tuple(self._type(words, folder, f"out{i}") for i, words in enumerate(self.words))
                return codes, _files(folder), _entries(folder / LEDGER) if counted else None

            yield run, folder / LEDGER

    def booked(self, run: Callable[..., Any], ledger: Path, rows: IntArray) -> Iterator[str]:
        """Yield what is wrong with how the lines end, and with what the ledger says was spent, and when."""
        reserved: list[float] = []
        asked = {name: getattr(Room, name) for name in ("_blurred", "_passes")}

        def look(name: str) -> Callable[..., Any]:
            def door(room: Room, *args: Any) -> Any:
                reserved.append(_entries(ledger)[1])
                return asked[name](room, *args)

            return door

        with ExitStack() as doors:
            for name in asked:
                doors.enter_context(patch.object(Room, name, look(name)))
            codes, _, (_, spent) = run(rows)
        if codes != self.codes:
            yield f"the lines end with {codes}, and must with {self.codes}"
        if spent < self.paid * self.rho * (1 - SLACK):
            yield f"the ledger says that rho {spent:.6g} was spent, of {self.paid} x {self.rho:.6g}"
        if not reserved or min(reserved) < self.rho * (1 - SLACK):
            yield "rows are asked before it is reserved in the ledger"
        for name in ("standing", "reserve", "commit"):
            with patch.object(Ledger, name, _fail):
                codes, files, _ = run(rows, counted=False)
            if 0 in codes or files:
                yield f"it goes on although the ledger fails ({name})"

    def _type(self, words: str, folder: Path, out: str = "out") -> int:
        """Run what is typed in this process, and return its exit code."""
        places = {"data": f"data{self.suffix}", "domain": "domain.yaml", "ledger": LEDGER, "out": out}
        typed = words.format(**{name: folder / place for name, place in places.items()})
        with catch_warnings(), patch.object(sys, "argv", ["discreet", *typed.split()]):
            try:
                run_module("discreet", run_name="__main__")
            except SystemExit as end:
                return int(end.code or 0)
        return 0

    def _write(self, table: Any, folder: Path) -> None:
        """Write the table and its domain as a custodian would have them."""
        import pyarrow.csv
        import pyarrow.parquet

        if self.domain.people is not None:
            who = [str(i // self.domain.people.max_rows) for i in range(table.num_rows)]
            table = table.append_column(self.domain.people.id, [who])
        writers = {".csv": pyarrow.csv.write_csv, ".parquet": pyarrow.parquet.write_table}
        writers[self.suffix](table, folder / f"data{self.suffix}")
        (folder / "domain.yaml").write_text(yaml.safe_dump(self.domain.to_dict(), sort_keys=False), encoding="utf-8")


def audit_command(command: Command, pairs: Iterable[Neighbours], write: Writer) -> Finding:
    """Replay a command on neighbours; then look at how it ended, and at what the ledger says was spent."""
    with command.runner(write) as (run, ledger):
        given = list(pairs)
        found = audit_method(command.name, run, command.claim, given)
        if found.violated:
            return found
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            wrong = next(command.booked(run, ledger, given[0].first), "")
    return replace(found, violated=bool(wrong), evidence=wrong)


def _fail(*_: object, **__: object) -> None:
    raise LedgerError("the ledger cannot be used")


def _files(folder: Path) -> Mapping[str, str]:
    """Return all that was written for others."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.parent.name.startswith("out"))
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8", errors="replace") for path in paths}


def _entries(path: Path) -> tuple[object, float]:
    """Return all that the ledger holds, but for marks of rows, and what it says was spent, in zCDP."""
    with closing(sqlite3.connect(path)) as store:
        tables = sorted(name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'"))
        held = [(name, store.execute(f'SELECT * FROM "{name}"').fetchall()) for name in tables if name != HELD]
    spent = open_ledger(str(path)).standing("d").spent
    return held, spent.zcdp / GRAINS
