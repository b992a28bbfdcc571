"""Many processes that reserve at once: the limit holds to the grain, and how long they wait."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from discreet.errors import BudgetError
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.prices import Limit, Price
from discreet.ledger.stores import sqlite
from discreet.ledger.stores.sqlite import SQLite
from discreet.ledger.verify import verify_ledger
from ledgers.places import ASKED, DATASET, PLACES, Fresh, folder
from ledgers.places import sqlite as sqlite_place

LIMIT = Limit(5.0, 1e-6)
JOURNALS = ("DELETE", "TRUNCATE", "PERSIST", "WAL")


class Measured(NamedTuple):
    """What some processes did: the requests that were granted with the seconds each took, and the seconds of all."""

    granted: dict[str, float]
    seconds: float


def write_all(url: str, processes: int, price: Price) -> Measured:
    """Let processes reserve until each is refused."""
    ledger = open_ledger(url)
    ledger.declare(DATASET, LIMIT)
    with folder() as path:
        ready, go = os.pipe()
        pids = [_start(ledger, price, path / f"{i}.json", (ready, go)) for i in range(processes)]
        os.close(ready)
        start = time.perf_counter()
        os.close(go)
        codes = [os.waitpid(pid, 0)[1] for pid in pids]
        seconds = time.perf_counter() - start
        if any(codes):
            raise SystemExit("a process failed")
        found = [json.loads(file.read_text()) for file in path.iterdir()]
    return Measured({request: took for each in found for request, took in each.items()}, seconds)


def _start(ledger: Ledger, price: Price, out: Path, gate: tuple[int, int]) -> int:
    """Start a process that waits until the gate opens, and then reserves until it is refused."""
    if pid := os.fork():
        return pid
    code = 1
    try:
        os.close(gate[1])
        os.read(gate[0], 1)
        granted: dict[str, float] = {}
        try:
            while True:
                request, start = f"{out.stem}-{len(granted)}", time.perf_counter()
                ledger.reserve(DATASET, request, ASKED, price)
                granted[request] = time.perf_counter() - start
        except BudgetError:
            out.write_text(json.dumps(granted))
        code = 0
    finally:
        os._exit(code)


def check(url: str, measured: Measured, expected: int, price: Price) -> Iterator[str]:
    """Return what is wrong when all were refused."""
    ledger = open_ledger(url)
    left = LIMIT.left(ledger.standing(DATASET).spent)
    reserved = [entry.request for entry in ledger.book().entries if entry.kind == "reserved"]
    if left != LIMIT.amount - expected * price.zcdp or not 0 < left < price.zcdp:
        yield f"{left} grains are left"
    if len(reserved) != expected or set(reserved) != set(measured.granted):
        yield "what was granted is not what is in the chain"
    ledger.reserve(DATASET, "the last grains", ASKED, Price(left, None, None))
    try:
        ledger.reserve(DATASET, "a grain", ASKED, Price(1, None, None))
        yield "a grain more than the limit was granted"
    except BudgetError:
        pass
    if ledger.standing(DATASET).spent.zcdp != LIMIT.amount:
        yield "what is spent is not the limit"
    yield from verify_ledger(ledger).problems


def measure(fresh: Fresh, store: str, processes: int, reservations: int) -> list[str]:
    """Print a line for a number of processes, and return what is wrong."""
    url, price = fresh(), Price((LIMIT.amount - 1) // reservations, None, None)
    measured = write_all(url, processes, price)
    took = sorted(1000 * seconds for seconds in measured.granted.values())
    each = [took[len(took) * share // 100] for share in (50, 99)] + took[-1:]
    print(
        f"{store:12} {processes:10} {len(took):13} {len(took) / measured.seconds:9.0f} "
        + " ".join(f"{ms:8.1f}" for ms in each),
        flush=True,
    )
    return [f"{store}, {processes} processes: {words}" for words in check(url, measured, reservations, price)]


def measure_journals(most: int, reservations: int) -> list[str]:
    """Measure SQLite's ways to keep a journal, all durable; and without the line in which writers stand."""
    opened, problems = SQLite._open, []
    for journal in JOURNALS:

        def changed(self: SQLite, mode: str, journal: str = journal) -> sqlite3.Connection:
            connection = opened(self, mode)
            if mode != "ro":
                connection.execute(f"PRAGMA journal_mode = {journal}")
            return connection

        with sqlite_place() as fresh, patch.object(SQLite, "_open", changed):
            for processes in sorted({1, most}):
                problems += measure(fresh, journal, processes, reservations)
    with sqlite_place() as fresh, patch.object(sqlite, "fcntl", None):
        problems += measure(fresh, "without line", most, reservations)
    return problems


def write_and_print(places: list[str], most: int, reservations: int, *, journals: bool) -> bool:
    """Measure stores with more and more processes, and return whether all is well."""
    problems: list[str] = []
    print("store         processes  reservations  a second   p50 ms   p99 ms   most ms")
    for name in places:
        store, place = PLACES[name]
        with place() as fresh:
            for processes in sorted({n for n in (1, 2, 8, 32) if n < most} | {most}):
                problems += measure(fresh, store, processes, reservations)
    if journals:
        problems += measure_journals(most, reservations)
    for problem in problems:
        print(f"VIOLATED: {problem}")
    return not problems
