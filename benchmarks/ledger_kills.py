"""Runs that are killed at every moment: what was reserved stays spent, and what was handed out was committed."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, cycle
from pathlib import Path
from threading import Timer
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import psycopg
from ledger_places import DATASET

from discreet.discovering import discover
from discreet.errors import BudgetError
from discreet.ledger.accounts import Account
from discreet.ledger.entries import Entry, digest
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.prices import NOTHING, Limit, Price
from discreet.ledger.records import Book
from discreet.ledger.verifying import anchor_of, verified
from discreet.networks import network
from discreet.room import Room

ROWS, EPSILON, LIMIT = 300, 1.0, Limit(100.0, 1e-6)
AT_ONCE = 2
LONGEST = 60
"""Seconds after which a run hangs."""
EITHER = ("in the COMMIT of reserve", "in the COMMIT of commit", "at random")
"""Points at which a run may be over before it is killed; then another one is."""
RAN, REFUSED, SHOWN = 0, 3, 4
"""How a run ends that nobody kills."""


class State(NamedTuple):
    """What a kill at some point leaves; None where it may or may not be."""

    reserved: bool | None
    committed: bool | None
    emitted: bool | None


POINTS = {
    "before reserve": State(False, False, False),
    "inside reserve": State(False, False, False),
    "in the COMMIT of reserve": State(None, False, False),
    "after reserve": State(True, False, False),
    "computing": State(True, False, False),
    "before commit": State(True, False, False),
    "inside commit": State(True, False, False),
    "in the COMMIT of commit": State(True, None, None),
    "after commit": State(True, True, False),
    "before emit": State(True, True, False),
    "inside emit": State(True, True, False),
    "after emit": State(True, True, True),
    "at random": State(None, None, None),
}


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
    """Have something done before or after a method."""
    method = getattr(owner, name)

    def wrapped(*args: Any, **kwargs: Any) -> Any:
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
        self.url, self.folder, self.number = url, folder, number
        self.problems: list[str] = []
        self.points: dict[str, str] = {}
        self.again: dict[str, int] = {}
        self._running: dict[int, Run] = {}
        self._waiting: list[Run] = []
        self._missed: list[str] = []
        open_ledger(url).declare(DATASET, LIMIT)
        start = time.monotonic()
        status = os.waitpid(self._run("request-first", "").start(), 0)[1]
        self._takes = time.monotonic() - start
        if status:
            self.problems.append("a run that nobody kills fails")

    def all(self) -> None:
        """Go on until so many were killed."""
        points = cycle([*POINTS, "at random", "at random"])
        runs = (self._run(f"request-{i:04}", self._missed.pop() if self._missed else next(points)) for i in count())
        while len(self.points) < self.number or self._running or self._waiting:
            fresh = sum(not run.again for run in self._running.values())
            while len(self._running) < AT_ONCE and (self._waiting or len(self.points) + fresh < self.number):
                run = self._waiting.pop() if self._waiting else next(runs)
                fresh += not run.again
                self._running[run.start()] = run
            time.sleep(0.001)
            for pid, run in list(self._running.items()):
                self._look(pid, run)

    def _run(self, request: str, point: str, *, again: bool = False) -> Run:
        ends = random.uniform(0, 1.2 * self._takes) if point == "at random" else LONGEST  # noqa: S311
        out = self.folder / f"{request}{'.again' if again else ''}.json"
        return Run(self.url, request, point, out, ends, again)

    def _look(self, pid: int, run: Run) -> None:
        if time.monotonic() > run.started + run.ends:
            os.kill(pid, signal.SIGKILL)
            if run.point != "at random":
                self.problems.append(f"{run.request} ({run.point}) hangs")
        ended, status = os.waitpid(pid, os.WNOHANG)
        if not ended:
            return
        del self._running[pid]
        if run.again:
            self._asked_again(run.request, os.waitstatus_to_exitcode(status))
        elif os.WIFSIGNALED(status):
            self._killed(run)
        elif run.point not in EITHER or status:
            self.problems.append(f"{run.request} was to be killed {run.point}, and ended by itself")
        else:
            self._takes = time.monotonic() - run.started
            self._missed.append(run.point)

    def _killed(self, run: Run) -> None:
        self.points[run.request] = run.point
        try:
            open_ledger(self.url).standing(DATASET)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
            self.problems.append(f"the ledger does not open after a kill {run.point}: {error!r}")
        if random.random() < 1 / 3:  # noqa: S311
            self._waiting.append(self._run(run.request, "", again=True))

    def _asked_again(self, request: str, code: int) -> None:
        """Check what the same request gets the second time."""
        self.again[request] = code
        found = [entry.kind for entry in open_ledger(self.url).book().entries if entry.request == request]
        expected = {RAN: ["reserved", "committed"], SHOWN: ["reserved", "committed"], REFUSED: ["reserved"]}.get(code)
        if found != expected:
            self.problems.append(f"{request}, asked again after a kill {self.points[request]}: {code}, {found}")


def checked(kills: Kills) -> Iterator[str]:
    """Return what is wrong when all is over."""
    ledger = open_ledger(kills.url)
    book, outs = ledger.book(), sorted(kills.folder.glob("*.json"))
    yield from kills.problems
    for kind in ("reserved", "committed"):
        twice = [r for r, times in Counter(e.request for e in book.entries if e.kind == kind).items() if times > 1]
        if twice:
            yield f"{twice} were {kind} twice"
    committed = {entry.request: entry for entry in book.entries if entry.kind == "committed"}
    for out in outs:
        yield from _emitted(out, committed.get(out.name.split(".")[0]), book)
    for request in {out.name.split(".")[0] for out in outs}:
        if len({out.read_text() for out in kills.folder.glob(f"{request}.*json")}) > 1:
            yield f"{request} has two different releases"
    spent = _reserved(book)
    if spent != ledger.standing(DATASET).spent or not LIMIT.allows(spent):
        yield "what was reserved is not what is spent, or more than the limit"
    for anchors in ([], [anchor_of(str(out)) for out in outs]):
        verdict = verified(ledger, anchors)
        yield from verdict.problems
        if len(verdict.confirmed) != len(anchors) or any("searched again" in note for note in verdict.notes):
            yield "a release does not stand where it says, or differs"


def _reserved(book: Book) -> Price:
    spent = NOTHING
    for entry in book.entries:
        if entry.kind == "reserved":
            spent = spent.plus(Price.from_dict(entry.facts["cost"]))
    return spent


def _emitted(out: Path, entry: Entry | None, book: Book) -> Iterator[str]:
    anchor = anchor_of(str(out))
    if entry is None or anchor.stamp is None:
        yield f"{out.name} was handed out and not committed"
    elif (anchor.stamp.ledger, anchor.stamp.entry, anchor.stamp.head) != (book.identity, entry.number, entry.hash):
        yield f"{out.name} has another stamp than its entry"
    elif digest(json.dumps(anchor.data, ensure_ascii=False)) != entry.facts["release"]:
        yield f"{out.name} differs from what was committed"


def table(kills: Kills) -> Iterator[str]:
    """Return a line for each point, and what is wrong there, after an exclamation mark."""
    entries = open_ledger(kills.url).book().entries
    reserved, committed = ({entry.request for entry in entries if entry.kind == k} for k in ("reserved", "committed"))
    ran = {request for request, code in kills.again.items() if code == RAN}  # it was not there before
    emitted = {out.stem for out in kills.folder.glob("*.json")}
    yield f"{'':25} {'':6} {'':9} {'':10} {'':8}      asked again:"
    yield f"{'killed':25}  kills  reserved  committed  emitted              ran  shown  refused"
    for point, expected in POINTS.items():
        ours = {request for request, at in kills.points.items() if at == point}
        left = [ours & reserved - ran, ours & committed - ran, ours & emitted]
        codes = Counter(kills.again.get(request) for request in ours)
        again = f"{codes[RAN]:16} {codes[SHOWN]:6} {codes[REFUSED]:8}"
        yield f"{point:25} {len(ours):6} {len(left[0]):9} {len(left[1]):10} {len(left[2]):8} {again}"
        for word, found, wanted in zip(State._fields, left, expected, strict=True):
            if wanted is not None and len(found) != wanted * len(ours):
                yield f"! {point}: {word} is not as it should be"


def kill_all(url: str, folder: Path, number: int) -> bool:
    """Kill so many runs, print what became of them, and return whether all is well."""
    start = time.monotonic()
    kills = Kills(url, folder, number)
    kills.all()
    lines = list(table(kills))
    problems = [line for line in lines if line.startswith("!")] + list(checked(kills))
    print("\n".join(line for line in lines if not line.startswith("!")))
    standing = open_ledger(url).standing(DATASET)
    print(f"{len(kills.again)} were asked again; {LIMIT.share(standing.spent):.1%} of the limit is spent")
    print(f"{len(kills.points)} kills in {time.monotonic() - start:.0f} s: {len(problems)} violations")
    for problem in problems:
        print(f"VIOLATED: {problem}")
    return not problems and len(kills.points) >= number
