"""Runs that are killed at every moment: what was reserved stays spent, and what was handed out was committed."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count, cycle
from pathlib import Path
from threading import Timer
from typing import Any
from unittest.mock import patch

import numpy as np
import psycopg

from discreet.errors import BudgetError
from discreet.ledger.account import Account
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.methods.discover import discover
from discreet.room import Room
from discreet.simulation.networks import network
from ledgers.outcomes import EITHER, LIMIT, POINTS, RAN, REFUSED, SHOWN, Outcome, check, table
from ledgers.places import DATASET, PLACES, folder

ROWS, EPSILON = 300, 1.0
AT_ONCE = 2
LONGEST = 60
"""Seconds after which a run hangs."""


def die() -> None:
    """Go without a word."""
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(LONGEST)


def die_soon() -> None:
    """Go while the next statement runs, or right after it."""
    Timer(random.uniform(0, 0.003), die).start()  # noqa: S311


def wrap(
    owner: type, name: str, before: Callable[[], None] | None = None, after: Callable[[], None] | None = None
) -> None:
    """Have something done before or after a method; a look whether the limit allows a run is none yet."""
    method = getattr(owner, name)

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("only_refuse"):
            return method(*args, **kwargs)
        if before is not None:
            before()
        found = method(*args, **kwargs)
        if after is not None:
            after()
        return found

    patch.object(owner, name, wrapped).start()


def at_commit(act: Callable[[], None]) -> Callable[[], None]:
    """Return what has something done when a transaction is about to be committed."""

    class Watched(sqlite3.Connection):
        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            if sql == "COMMIT":
                act()
            return super().execute(sql, *values)

    def arm() -> None:
        connect = sqlite3.connect
        patch.object(sqlite3, "connect", lambda *a, **k: connect(*a, factory=Watched, **k)).start()
        wrap(psycopg.Connection, "commit", before=act)

    return arm


def arm(point: str) -> None:
    """Lay what kills this process."""
    match point.split():
        case ["before", "reserve" | "commit" as name]:
            wrap(Ledger, name, before=die)
        case ["after", "reserve" | "commit" as name]:
            wrap(Ledger, name, after=die)
        case ["inside", "reserve" | "commit" as name]:
            wrap(Ledger, name, before=at_commit(die))
        case ["in", "the", "COMMIT", "of", name]:
            wrap(Ledger, name, before=at_commit(die_soon))
        case ["computing"]:
            wrap(Room, "_blurred", **{random.choice(["before", "after"]): die})  # noqa: S311


@dataclass
class Run:
    """A run in a process of its own."""

    url: str
    request: str
    point: str
    out: Path
    ends: float
    again: bool = False
    started: float = 0.0

    def start(self) -> int:
        """Begin it, and return its process."""
        self.started = time.monotonic()
        if pid := os.fork():
            return pid
        code = 1
        try:
            random.seed()
            warnings.simplefilter("ignore")
            arm(self.point)
            code = self._go()
        except BudgetError:
            code = REFUSED
        except BaseException:  # noqa: BLE001 - told, and found by its exit code
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)

    def _go(self) -> int:
        told: list[str] = []
        account = Account(DATASET, self.url, request=self.request)
        found = discover(DATA, domain=DOMAIN, epsilon=EPSILON, account=account, progress=told.append)
        if self.point == "before emit":
            die()
        draft = self.out.with_suffix(".part")
        draft.write_text(found.to_json(), encoding="utf-8")
        if self.point == "inside emit":
            die()
        draft.replace(self.out)
        if self.point == "after emit":
            die()
        return SHOWN if "its release is shown again" in told[0] else RAN


NET = network("asia")
DOMAIN = NET.domain(ROWS)
DATA = NET.sample(ROWS, np.random.default_rng(0))


class Kills:
    """Starts runs, kills them, and asks some again."""

    def __init__(self, url: str, folder: Path, number: int) -> None:
        self.url, self.number = url, number
        self.outcome = Outcome(url, folder)
        self._running: dict[int, Run] = {}
        self._waiting: list[Run] = []
        self._missed: list[str] = []
        open_ledger(url).declare(DATASET, LIMIT)
        start = time.monotonic()
        status = os.waitpid(self._run("request-first", "").start(), 0)[1]
        self._takes = time.monotonic() - start
        if status:
            self.outcome.problems.append("a run that nobody kills fails")

    def all(self) -> None:
        """Go on until so many were killed."""
        points = cycle([*POINTS, "at random", "at random"])
        runs = (self._run(f"request-{i:04}", self._missed.pop() if self._missed else next(points)) for i in count())
        while len(self.outcome.points) < self.number or self._running or self._waiting:
            fresh = sum(not run.again for run in self._running.values())
            while len(self._running) < AT_ONCE and (self._waiting or len(self.outcome.points) + fresh < self.number):
                run = self._waiting.pop() if self._waiting else next(runs)
                fresh += not run.again
                self._running[run.start()] = run
            time.sleep(0.001)
            for pid, run in list(self._running.items()):
                self._look(pid, run)

    def _run(self, request: str, point: str, *, again: bool = False) -> Run:
        ends = random.uniform(0, 1.2 * self._takes) if point == "at random" else LONGEST  # noqa: S311
        out = self.outcome.folder / f"{request}{'.again' if again else ''}.json"
        return Run(self.url, request, point, out, ends, again)

    def _look(self, pid: int, run: Run) -> None:
        if time.monotonic() > run.started + run.ends:
            os.kill(pid, signal.SIGKILL)
            if run.point != "at random":
                self.outcome.problems.append(f"{run.request} ({run.point}) hangs")
        ended, status = os.waitpid(pid, os.WNOHANG)
        if not ended:
            return
        del self._running[pid]
        if run.again:
            self._check_again(run.request, os.waitstatus_to_exitcode(status))
        elif os.WIFSIGNALED(status):
            self._check_kill(run)
        elif run.point not in EITHER or status:
            self.outcome.problems.append(f"{run.request} was to be killed {run.point}, and ended by itself")
        else:
            self._takes = time.monotonic() - run.started
            self._missed.append(run.point)

    def _check_kill(self, run: Run) -> None:
        self.outcome.points[run.request] = run.point
        try:
            open_ledger(self.url).standing(DATASET)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
            self.outcome.problems.append(f"the ledger does not open after a kill {run.point}: {error!r}")
        if random.random() < 1 / 3:  # noqa: S311
            self._waiting.append(self._run(run.request, "", again=True))

    def _check_again(self, request: str, code: int) -> None:
        """Check what the same request gets the second time."""
        self.outcome.again[request] = code
        found = [entry.kind for entry in open_ledger(self.url).book().entries if entry.request == request]
        expected = {RAN: ["reserved", "committed"], SHOWN: ["reserved", "committed"], REFUSED: ["reserved"]}.get(code)
        if found != expected:
            at = self.outcome.points[request]
            self.outcome.problems.append(f"{request}, asked again after a kill {at}: {code}, {found}")


def kill_all(where: str, number: int) -> bool:
    """Kill so many runs, print what became of them, and return whether all is well."""
    store, place = PLACES[where]
    print(store)
    with place() as fresh, folder() as path:
        return _kill_and_check(Kills(fresh(), path, number))


def _kill_and_check(kills: Kills) -> bool:
    start = time.monotonic()
    kills.all()
    outcome = kills.outcome
    lines = list(table(outcome))
    problems = [line for line in lines if line.startswith("!")] + list(check(outcome))
    print("\n".join(line for line in lines if not line.startswith("!")))
    standing = open_ledger(kills.url).standing(DATASET)
    print(f"{len(outcome.again)} were asked again; {LIMIT.share(standing.spent):.1%} of the limit is spent")
    print(f"{len(outcome.points)} kills in {time.monotonic() - start:.0f} s: {len(problems)} violations")
    for problem in problems:
        print(f"VIOLATED: {problem}")
    return not problems and len(outcome.points) >= kills.number
