"""Whole commands under replay: from a file to what is printed, written and kept in the ledger.

The command line runs as a custodian would run it, with progress, a ledger with a limit, and files for everything. With
the same noisy answers all of that must be the same on any table. What is not compared: the mark by which a ledger
recognises rows, which is made to differ (``../ledger/keys.md``) and is never shown.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, chdir, closing, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from io import StringIO
from itertools import chain
from math import prod
from pathlib import Path
from runpy import run_module
from typing import Any, Self
from unittest.mock import patch
from warnings import catch_warnings

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import yaml

from discreet.arrays import IntArray
from discreet.audit import FOREIGN, Finding, Neighbours
from discreet.audit.books import SLACK
from discreet.audit.claims import Claim
from discreet.audit.replay import audit_method, unlike
from discreet.audit.tape import record
from discreet.domain import Domain
from discreet.errors import LedgerError, RoomError
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import GRAINS
from discreet.privacy.statement import ANY_ROW, ONE_PERSON, ONE_ROW
from discreet.room import Room

HELD = "discreet_marks"
"""The table of a ledger that holds marks of rows."""

LEAST_MARKED = 64
"""Rows that can take fewer values are not marked."""

EPSILON = 8.0
"""What every line asks for; delta is one in a million, or 0 where costs are pure."""

LEDGER, TEMPORARY = "ledger.db", "temporary"

AFTER = ("ledger show --all --ledger {ledger}", "ledger verify --ledger {ledger}")
"""What is looked at after every command that ends as it must."""

WRITERS: dict[str, Callable[..., Any]] = {".csv": pyarrow.csv.write_csv, ".parquet": pyarrow.parquet.write_table}

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
    dataset
        The name that the ledger counts it under.
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
    dataset: str = "d"

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
            first = f"limit --dataset {self.dataset} {self.limit}" if self.limit else "init"
            with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
                self._type(f"ledger {first} --ledger {{ledger}}", begun)

            def run(rows: IntArray, *, counted: bool = True, spoil: Callable[[Any], Any] = lambda table: table) -> Any:
                shutil.rmtree(folder, ignore_errors=True)
                shutil.copytree(begun, folder)
                self._write(spoil(write(rows, self.domain)), folder)
                (folder / TEMPORARY).mkdir()
                with redirect_stdout(StringIO()) as printed, chdir(folder):
                    codes = tuple(self._type(words, folder, f"out{i}") for i, words in enumerate(self.words))
                    looked = [self._type(words, folder) for words in AFTER if codes == self.codes]
                shown = {"stdout": printed.getvalue()} if printed.getvalue() else {}
                return (*codes, *looked), shown | _files(folder), self._entries(folder / LEDGER) if counted else None

            yield run, folder / LEDGER

    def booked(self, run: Callable[..., Any], ledger: Path, rows: IntArray) -> Iterator[str]:
        """Yield what is wrong with how the lines end, and with what the ledger says was spent, and when."""
        reserved: list[float] = []
        asked = {name: getattr(Room, name) for name in ("_blurred", "_passes")}

        def look(name: str) -> Callable[..., Any]:
            def door(room: Room, *args: Any) -> Any:
                reserved.append(self._entries(ledger)[1])
                return asked[name](room, *args)

            return door

        with ExitStack() as doors:
            for name in asked:
                doors.enter_context(patch.object(Room, name, look(name)))
            codes, shown, (_, spent) = run(rows)
        yield from filter(None, map(self._misstated, shown.values()))
        if codes != (*self.codes, *(0 for _ in AFTER)):
            yield f"the lines end with {codes}, and must with {self.codes}"
        if spent < self.paid * self.rho * (1 - SLACK):
            yield f"the ledger says that rho {spent:.6g} was spent, of {self.paid} x {self.rho:.6g}"
        if prod(self.domain.sizes.values()) >= LEAST_MARKED and not _marks(ledger):
            yield "the ledger would not know these rows again under another name"
        if not reserved or min(reserved) < self.rho * (1 - SLACK):
            yield "rows are asked before it is reserved in the ledger"

    def broken(self, run: Callable[..., Any], rows: IntArray) -> Iterator[str]:
        """Yield what goes on although the ledger fails, and what is shown or given back once a run is broken off."""
        for name in ("standing", "reserve", "commit"):
            with patch.object(Ledger, name, _fail):
                codes, shown, _ = run(rows, counted=False)
            if 0 in codes or shown:
                yield f"it goes on although the ledger fails ({name})"
        with patch.object(Room, "_blurred", _break), patch.object(Room, "_passes", _break):
            codes, shown, (_, spent) = run(rows)
        if 0 in codes or shown or spent < self.rho * (1 - SLACK):
            yield "a run that is broken off shows something, or is given back"

    def unfit(self, run: Callable[..., Any], rows: IntArray) -> Iterator[str]:
        """Yield what a table that does not fit the domain leaves behind, where it must leave nothing."""
        for what, spoil in SPOILED.items():
            with redirect_stderr(StringIO()) as said:
                codes, shown, (_, spent) = run(rows, spoil=spoil)
            if 0 in codes or shown or spent:
                yield f"something is shown or spent of a table with {what}"
            if FOREIGN in said.getvalue():
                yield f"a value is told of a table with {what}"

    def other_numbers(self, run: Callable[..., Any], rows: IntArray) -> Iterator[str]:
        """Yield what shows how many rows there are, where that is secret: with the same answers nothing does."""
        if self.domain.people is None:
            return
        first = record(run, rows)
        for many in (rows[: -max(len(rows) // 40, 1)], np.vstack([rows, rows[:1]]), np.vstack([rows, rows, rows])):
            second = record(run, many, first)
            second.said = first.said  # what the custodian is told may tell of it
            yield next(unlike(first, second), "") and "what is shown tells how many rows there are"

    def _misstated(self, shown: str) -> str:
        """Return what a release says otherwise than it was promised, or nothing: also if it is no release."""
        try:
            stated = json.JSONDecoder().raw_decode(shown)[0]["privacy"]
        except (ValueError, KeyError, TypeError):
            return ""
        people, pure = self.domain.people, self.claim.currency is Currency.PURE
        named: dict[str, object] = {"epsilon": EPSILON, "delta": 0.0 if pure else 1e-6, "private": True}
        named |= {"unit": self.domain.unit, "neighbors": ONE_ROW if people is None else ANY_ROW}
        if people is not None and people.id is not None:
            named |= {"neighbors": ONE_PERSON, "max_rows": people.max_rows}
        wrong = [name for name, value in named.items() if stated.get(name) != value]
        return f"a release states another {wrong[0]} than was promised" if wrong else ""

    def _type(self, words: str, folder: Path, out: str = "out") -> int:
        """Run what is typed in this process, and return its exit code."""
        places = {"data": f"data{self.suffix}", "domain": "domain.yaml", "ledger": LEDGER, "out": out}
        if (folder / places["data"]).exists():  # as if it had been copied, or written again, on another day
            another_day = 86_400 * sum(map(ord, out))
            os.utime(folder / places["data"], (another_day, another_day))
        typed = words.format(**{name: folder / place for name, place in places.items()})
        still = patch.object(tempfile, "tempdir", str(folder / TEMPORARY))
        with catch_warnings(), still, patch.object(sys, "argv", ["discreet", *typed.split()]):
            try:
                run_module("discreet", run_name="__main__")
            except SystemExit as end:
                return int(end.code or 0)
        return 0

    def _entries(self, path: Path) -> tuple[object, float]:
        """Return all that the ledger holds, but for marks of rows, and what it says was spent, in zCDP."""
        with closing(sqlite3.connect(path)) as store:
            tables = sorted(name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'"))
            held = [(name, store.execute(f'SELECT * FROM "{name}"').fetchall()) for name in tables if name != HELD]
        spent = open_ledger(str(path)).standing(self.dataset).spent
        return held, spent.zcdp / GRAINS

    def _write(self, table: Any, folder: Path) -> None:
        """Write the table and its domain as a custodian would have them."""
        if self.domain.people is not None and self.domain.people.id is not None:
            who = [str(i // self.domain.people.max_rows) for i in range(table.num_rows)]
            table = table.append_column(self.domain.people.id, [who])
        WRITERS[self.suffix](table, folder / f"data{self.suffix}")
        (folder / "domain.yaml").write_text(yaml.safe_dump(self.domain.to_dict(), sort_keys=False), encoding="utf-8")


def audit_command(command: Command, pairs: Iterable[Neighbours], write: Writer) -> Finding:
    """Replay a command on neighbours; then look at how it ended, and at what the ledger says was spent."""
    with command.runner(write) as (run, ledger):
        given = list(pairs)
        found = audit_method(command.name, run, command.claim, given)
        if found.violated:
            return found
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            rows = given[0].first
            checks = chain(command.booked(run, ledger, rows), command.broken(run, rows), command.unfit(run, rows))
            wrong = next(filter(None, checks), "")
        wrong = wrong or next(filter(None, command.other_numbers(run, given[0].first)), "")
    return replace(found, violated=bool(wrong), evidence=wrong)


def _spoil_cell(table: Any, value: str | None) -> Any:
    """Put a value into the first cell of a table of Arrow."""
    import pyarrow as pa

    column = [value, *table.column(0).to_pylist()[1:]]
    return table.set_column(0, table.column_names[0], pa.array(column, pa.string()))


SPOILED: dict[str, Callable[[Any], Any]] = {
    "a foreign value": lambda table: _spoil_cell(table, FOREIGN),
    "a missing value": lambda table: _spoil_cell(table, None),
    "a column too few": lambda table: table.drop_columns(table.column_names[:1]),
    "a few rows": lambda table: table.slice(0, 3),
}
"""Tables that do not fit a domain without a place for what is missing or foreign."""


def _break(*_: object, **__: object) -> None:
    raise RoomError("broken off")


def _fail(*_: object, **__: object) -> None:
    raise LedgerError("the ledger cannot be used")


def _files(folder: Path) -> dict[str, str]:
    """Return all that was written, but for what was there and the ledger: for others, or left lying about."""
    kept = {f"data{suffix}" for suffix in WRITERS} | {"domain.yaml", LEDGER, f"{LEDGER}.key", f"{LEDGER}.lock"}
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in kept)
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8", errors="replace") for path in paths}


def _marks(path: Path) -> int:
    """Return how many tables the ledger would know again."""
    with closing(sqlite3.connect(path)) as store:
        return int(store.execute(f"SELECT count(*) FROM {HELD}").fetchone()[0])
