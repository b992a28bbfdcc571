"""Ledgers and budgets in use by several at once, broken off, and asked again: against a reckoning of their own.

A second run breaks in at every step of a first one; runs and all else that a ledger can be told come in any order; and
threads share a budget and its noise. Whatever happens, what was admitted is within the limit, and none of it is lost.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from fractions import Fraction
from functools import partial
from pathlib import Path
from threading import Barrier, Thread
from typing import Any
from unittest.mock import patch

import numpy as np

from discreet.audit.books import Check
from discreet.errors import BudgetError, DiscreetError
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.prices import Limit, Price
from discreet.ledger.records import Asked
from discreet.ledger.stores import sqlite
from discreet.ledger.verify import verify_ledger
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import GRAINS, Budget, Cost
from discreet.privacy.mechanisms.additive import RoundedGaussian
from discreet.privacy.noise import ExactNoise

LIMIT = Fraction(1)
"""Of every data set here, in pure epsilon."""

MOST_STEPS = 200
"""Steps of one reservation, at most."""


def _asked(epsilon: float) -> Asked:
    return Asked("discover", "em-pc", epsilon, 0.0, "parameters")


def _reserve(ledger: Ledger, request: str, epsilon: float, dataset: str = "d") -> None:
    price = Price.of_budget(Budget(epsilon=epsilon, delta=0.0))
    ledger.reserve(dataset, request, _asked(epsilon), price)


def _spent(ledger: Ledger, dataset: str = "d") -> Fraction:
    return Fraction(ledger.standing(dataset).spent.pure or 0) / GRAINS


@contextmanager
def _ledger() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder, patch.object(sqlite, "WAIT", 0.02):
        path = Path(folder) / "ledger.db"
        open_ledger(path).declare("d", Limit(float(LIMIT), 0.0))
        yield path


@contextmanager
def _interrupted(at: int, by: Callable[[], None]) -> Iterator[list[int]]:
    """Do something before one step of what is done to a ledger: a transaction that begins, or a statement."""
    steps, busy = [0], [False]

    def before(real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **kwargs: Any) -> Any:
            if not busy[0]:
                busy[0] = True
                if steps[0] == at:
                    by()
                steps[0] += 1
                busy[0] = False
            return real(*args, **kwargs)

        return step

    with ExitStack() as hooks:
        for owner, name in ((sqlite.SQLite, "read"), (sqlite.SQLite, "write"), (sqlite._Transaction, "run")):
            hooks.enter_context(patch.object(owner, name, before(getattr(owner, name))))
        yield steps


def turns() -> Iterator[str]:
    """Whether two runs that fit one by one and not together are never both admitted, wherever the second breaks in."""
    for at in range(MOST_STEPS):
        with _ledger() as path:
            admitted = Counter[str]()
            first, second = (_try(open_ledger(path), name, admitted) for name in ("first", "second"))
            with _interrupted(at, second) as steps:
                first()
            for again in (first, second):  # whoever was kept waiting
                again()
            spent, ledger = _spent(open_ledger(path)), open_ledger(path)
            fine = sum(admitted.values()) == 1 and spent == Fraction(3, 5) and verify_ledger(ledger).whole
            yield "" if fine else f"{sum(admitted.values())} runs at {float(spent):g} in all (step {at})"
        if steps[0] <= at:
            return


def _try(ledger: Ledger, request: str, admitted: Counter[str]) -> Callable[[], None]:
    def reserve() -> None:
        with suppress(DiscreetError):
            _reserve(ledger, request, 0.6)
            admitted[request] += 1

    return reserve


def steps() -> Iterator[str]:
    """Whether a ledger keeps its books in whatever order it is told of runs, breaks, repeats, limits and merges."""
    rng = np.random.default_rng(5)
    for _ in range(6):
        with _ledger() as path:
            yield from _play(path, rng, 40)


def _play(path: Path, rng: np.random.Generator, moves: int) -> Iterator[str]:
    """Tell a ledger of all kinds of things, each time through a fresh handle, and keep books beside it."""
    limits, spent = {"d": LIMIT, "e": Fraction(100)}, {"d": Fraction(0), "e": Fraction(0)}
    bodies: dict[str, str | None] = {}
    open_ledger(path).declare("e", Limit(100.0, 0.0))
    for move in range(moves):
        ledger, dataset = open_ledger(path), str(rng.choice(["d", "d", "e"]))
        epsilon = round(float(rng.uniform(0.01, 0.4)), 2)
        request = f"r{move}"
        kind = rng.choice(["run", "run", "broken off", "again", "spent", "limit"])
        fits = spent[dataset] + Fraction(repr(epsilon)) <= limits[dataset]
        if kind == "spent":
            ledger.spend(dataset, Price.of_outside(epsilon, 0.0), what={"command": "outside"}, purpose="")
            spent[dataset] += Fraction(repr(epsilon))
        elif kind == "limit":
            wanted = spent[dataset] + Fraction(int(rng.integers(-20, 30)), 100)
            allowed = wanted > 0 and not _refused(partial(ledger.declare, dataset, Limit(float(wanted), 0.0)))
            yield "" if not allowed or wanted >= spent[dataset] else "a limit below what was spent is taken"
            limits[dataset] = Fraction(repr(float(wanted))) if allowed else limits[dataset]
        elif kind == "again" and bodies:
            yield _ask_again(ledger, str(rng.choice(list(bodies))), bodies)
        else:
            admitted = not _refused(partial(_reserve, ledger, request, epsilon, dataset))
            yield "" if admitted == fits else f"a run that {'fits is refused' if fits else 'does not fit is admitted'}"
            if admitted:
                spent[dataset] += Fraction(repr(epsilon))
                bodies[f"{dataset} {request} {epsilon}"] = None if kind == "broken off" else f"body {move}"
                if kind != "broken off":
                    ledger.commit(dataset, request, f"body {move}", [])
        for name, total in spent.items():
            yield "" if abs(_spent(ledger, name) - total) < Fraction(1, 10**9) else "the ledger lost count"
    ledger.merge("d", "e")
    yield "" if _spent(ledger, "e") >= sum(spent.values()) - Fraction(1, 10**9) else "what was spent is lost by merging"
    yield "" if _refused(partial(_reserve, ledger, "late", 0.01)) else "a name that was merged is used again"


def _ask_again(ledger: Ledger, known: str, bodies: dict[str, str | None]) -> str:
    """A request that was answered shows the same; one that was broken off, or asks for something else, is refused."""
    dataset, request, epsilon = known.split()
    if not _refused(partial(_reserve, ledger, request, float(epsilon), dataset)):
        return "a request is reserved twice"
    other = "e" if dataset == "d" else "d"
    for where, at in ((dataset, float(epsilon) / 2), (other, float(epsilon))):
        if not _refused(partial(ledger.find_answer, where, request, _asked(at))):
            return "a request's release is shown for another question, or of another data set"
    if not _refused(partial(ledger.commit, dataset, request, "another body", [])):
        return "a request is committed twice" if bodies[known] else ""
    try:
        found = ledger.find_answer(dataset, request, _asked(float(epsilon)))
    except BudgetError:
        return "" if bodies[known] is None else "a release that was kept is not shown"
    return "" if found is not None and found.body == bodies[known] else "another release is shown"


def _refused(ask: Callable[[], object]) -> bool:
    try:
        ask()
    except DiscreetError:
        return True
    return False


def threads() -> Iterator[str]:
    """Whether threads that share a budget stay within it, and those that share noise never get the same draws."""
    for _ in range(10):
        budget, admitted = Budget(epsilon=1.0, delta=0.0), list[int]()
        at_once(partial(_charge, budget, admitted), times=30)
        fine = len(admitted) == 10 and budget.spent == 1 and len(budget.entries) == 10
        yield "" if fine else f"{len(admitted)} charges of a tenth were admitted at once"
        noise, drawn = ExactNoise(), list[tuple[int, ...]]()
        at_once(partial(_draw, noise, drawn), times=30)
        yield "" if len(set(drawn)) == len(drawn) else "two threads get the same draws"


def _charge(budget: Budget, admitted: list[int]) -> None:
    with suppress(BudgetError):
        budget.charge(Cost({Currency.PURE: Fraction(1, 10)}), statistic="s", mechanism="m")
        admitted.append(1)


def _draw(noise: ExactNoise, drawn: list[tuple[int, ...]]) -> None:
    drawn.append(tuple(RoundedGaussian(1e9).blur(np.zeros(4, dtype=np.int64), noise).tolist()))


def at_once(do: Callable[[], None], *, times: int, of: int = 4) -> None:
    """Do something often in several threads that take turns as quickly as can be; what fails in one fails here."""
    ready, interval, failed = Barrier(of), sys.getswitchinterval(), list[Exception]()

    def work() -> None:
        ready.wait()
        try:
            for _ in range(times):
                do()
        except Exception as error:  # noqa: BLE001 - raised below
            failed.append(error)

    sys.setswitchinterval(1e-6)
    try:
        workers = [Thread(target=work) for _ in range(of)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        sys.setswitchinterval(interval)
    if failed:
        raise failed[0]


LEDGERS: dict[str, tuple[str, str, Check]] = {
    "a ledger, by turns": ("ledger", "runs at the same time keep the limit", turns),
    "a ledger, step by step": ("ledger", "nothing is lost, given back or shown to others", steps),
    "a budget, by threads": ("budget", "threads keep the limit, and share no draw", threads),
}
"""All checks by name: what they are about, and what is promised."""
