"""Record and replay: what a method asked of the room, and whether it would ask and say the same of a neighbour.

Rows are reached through one door, ``Room.release``. While a method runs, the door notes every question, the exact value
and the noisy answer. Then the method runs on a neighbouring table and gets the SAME noisy answers. It must ask the same
questions and come to the same result; the exact values may differ by the declared sensitivity, not more; and what the
questions cost must have been booked and be within the claim. Proof of what that shows: ``replay.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from threading import Lock
from unittest.mock import patch

import numpy as np

from discreet.arrays import IntArray
from discreet.audit import Finding, Neighbours, table_of
from discreet.audit.claims import Claim
from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.mechanisms import Mechanism
from discreet.privacy.accounting import Currency, limit_of
from discreet.privacy.budget import Budget, Cost
from discreet.privacy.noise import Noise
from discreet.room import Room
from discreet.statistics import Sensitivity, Statistic

_ONE_AT_A_TIME = Lock()


@dataclass(frozen=True)
class Asked:
    """One question: what was asked of which room, the exact value and the answer that was handed out."""

    statistic: Statistic
    mechanism: Mechanism
    domain: Domain
    budget: Budget
    exact: IntArray | None
    answer: IntArray | None

    def same(self, other: Asked) -> bool:
        """Whether another question is the same."""
        return (self.statistic, self.mechanism, self.domain) == (other.statistic, other.mechanism, other.domain)

    @property
    def words(self) -> str:
        """What was asked."""
        return f"{self.statistic.name}, {self.mechanism.name}"


@dataclass
class Tape:
    """All that a run asked, what it returned, and the error it ended with. Holds exact values: of made-up rows."""

    asked: list[Asked] = field(default_factory=list)
    result: object = None
    error: str | None = None


class _Tap:
    """Stands in for a mechanism: notes the exact value, and answers as the mechanism would or as it did before."""

    def __init__(self, mechanism: Mechanism, answer: IntArray | None) -> None:
        self._mechanism = mechanism
        self._answer = answer
        self.exact: IntArray | None = None

    @property
    def name(self) -> str:
        return self._mechanism.name

    def cost(self, sensitivity: Sensitivity) -> Cost:
        return self._mechanism.cost(sensitivity)

    def blur(self, exact: IntArray, noise: Noise) -> IntArray:
        self.exact = exact.copy()
        return self._mechanism.blur(exact, noise) if self._answer is None else self._answer.copy()


@contextmanager
def _watched(tape: Tape, before: Tape | None) -> Iterator[None]:
    """Note what passes the door; as long as questions are those of a run before, hand out its answers."""
    blurred = Room._blurred

    def noted(room: Room, statistic: Statistic, mechanism: Mechanism) -> IntArray | None:
        place = len(tape.asked)
        earlier = before.asked[place] if before is not None and place < len(before.asked) else None
        now = Asked(statistic, mechanism, room.domain, room.budget, None, None)
        kept = earlier.answer if earlier is not None and earlier.same(now) else None
        tap = _Tap(mechanism, kept)
        answer = blurred(room, statistic, tap)
        tape.asked.append(Asked(statistic, mechanism, room.domain, room.budget, tap.exact, answer))
        return answer

    if not _ONE_AT_A_TIME.acquire(blocking=False):
        raise SettingError("replay: one run is watched at a time")
    try:
        with patch.object(Room, "_blurred", noted):
            yield
    finally:
        _ONE_AT_A_TIME.release()


def record(run: Callable[[IntArray], object], rows: IntArray, before: Tape | None = None) -> Tape:
    """Run a method on rows and note all that it asks; with ``before``, hand out the answers of an earlier run."""
    tape = Tape()
    with _watched(tape, before):
        try:
            tape.result = run(rows)
        except Exception as error:  # noqa: BLE001 - an error is a result like any other
            tape.error = f"{type(error).__name__}: {error}"
    return tape


def exact_value(statistic: Statistic, rows: IntArray, domain: Domain) -> IntArray:
    """Return what the room would compute before it blurs; for made-up rows."""
    tap = _Tap(_NoAnswer(), np.zeros(0, dtype=np.int64))
    Room(table_of(rows, domain), domain, Budget(epsilon=1, delta=0))._blurred(statistic, tap)
    if tap.exact is None:
        raise SettingError(f"{statistic.name}: not defined for every table, which is a violation in itself")
    return tap.exact


class _NoAnswer:
    """A mechanism that is never used."""

    name = "none"

    def cost(self, sensitivity: Sensitivity) -> Cost:
        raise NotImplementedError

    def blur(self, exact: IntArray, noise: Noise) -> IntArray:
        raise NotImplementedError


def change(first: IntArray, second: IntArray, declared: Sensitivity) -> Sensitivity:
    """Return how far two exact values are apart, in the norms in which a sensitivity is declared."""
    if first.shape != second.shape:
        raise SettingError("the statistic has another length on a neighbour")
    moved = [abs(int(m)) for m in (first - second)]
    squares = declared.squares or (Fraction(1),) * len(moved)
    scaled = [m * m / square for m, square in zip(moved, squares, strict=True) if m]
    largest = None if declared.largest is None else Fraction(max(moved, default=0))
    l1 = sum((Fraction(math.sqrt(square)) for square in scaled), start=Fraction(0))
    return Sensitivity(l1, sum(scaled, start=Fraction(0)), largest, declared.squares)


def share(seen: Sensitivity, declared: Sensitivity) -> float:
    """Return the largest part of the declared sensitivity that a change makes use of; above 1 breaks it."""
    used = [_part(seen.l1, declared.l1), math.sqrt(_part(seen.l2_squared, declared.l2_squared))]
    if declared.largest is not None and seen.largest is not None:
        used.append(_part(seen.largest, declared.largest))
    return max(used)


def _part(moved: Fraction, allowed: Fraction) -> float:
    return float(moved / allowed) if allowed else (math.inf if moved else 0.0)


def audit_statistic(name: str, statistic: Statistic, domain: Domain, pairs: Iterable[Neighbours]) -> Finding:
    """Measure a statistic's change on neighbours against its declared sensitivity."""
    declared = statistic.sensitivity(domain)
    best, runs, evidence = 0.0, 0, ""
    for pair in pairs:
        runs += 1
        try:
            first, second = (exact_value(statistic, rows, domain) for rows in (pair.first, pair.second))
            used = share(change(first, second, declared), declared)
        except SettingError as error:
            return Finding(name, "replay", "sensitivity", 1.0, None, runs, True, f"{error}; {pair.words()}")
        if used > best:
            best, evidence = used, pair.words()
        if used > 1:
            words = f"changes by {used:.4g} times the declared sensitivity; {evidence}"
            return Finding(name, "replay", "sensitivity (as a share)", 1.0, used, runs, True, words)
    return Finding(name, "replay", "sensitivity (as a share)", 1.0, best, runs, False, evidence)


def audit_method(name: str, run: Callable[[IntArray], object], claim: Claim, pairs: Iterable[Neighbours]) -> Finding:
    """Record a method on one table, replay it on a neighbour, and check what must be the same."""
    best, runs = 0.0, 0
    for pair in pairs:
        runs += 1
        first = record(run, pair.first)
        second = record(run, pair.second, first)
        wrong = next(iter(disagreements(first, second, claim)), None)
        if wrong is not None:
            return Finding(name, "replay", claim.words, claim.amount, None, runs, True, f"{wrong}; {pair.words()}")
        best = max(best, loss(first, second, claim))
    return Finding(name, "replay", claim.words, claim.amount, best, runs, False)


def disagreements(first: Tape, second: Tape, claim: Claim) -> Iterator[str]:
    """Yield in words what must not differ between a run and its replay, and does."""
    for i, (one, other) in enumerate(zip(first.asked, second.asked, strict=False), start=1):
        if not one.same(other):
            yield f"question {i} is {one.words!r} on one table and {other.words!r} on its neighbour"
            return
        if (one.exact is None) != (other.exact is None):
            yield f"question {i} ({one.words}) fails on one table only"
            return
        if one.exact is not None and other.exact is not None:
            declared = one.statistic.sensitivity(one.domain)
            try:
                used = share(change(one.exact, other.exact, declared), declared)
            except SettingError as error:
                yield f"question {i} ({one.words}): {error}"
                return
            if used > 1:
                yield f"question {i} ({one.words}) changes by {used:.4g} times its declared sensitivity"
    if len(first.asked) != len(second.asked):
        yield f"{len(first.asked)} questions on one table and {len(second.asked)} on its neighbour"
    if first.error != second.error:
        yield "an error on one table that the neighbour does not meet"
    if first.result != second.result:
        yield "the same answers led to another result"
    yield from _unpaid(first, claim)


def _unpaid(tape: Tape, claim: Claim) -> Iterator[str]:
    """Yield what was asked and not booked, or not covered by the claim."""
    for budget in {id(asked.budget): asked.budget for asked in tape.asked}.values():
        costs = [cost_of(a) for a in tape.asked if a.budget is budget]
        missing = [c for c in costs if budget.currency not in c.amounts]
        if missing or sum((c.amount(budget.currency) for c in costs), start=Fraction(0)) > budget.spent:
            yield f"{len(costs)} questions were answered, but their cost was not booked"
    if tape.asked:
        currency, limit = limit_for(claim, tape)
        spent = sum((cost_of(a).amount(currency) for a in tape.asked), start=Fraction(0))
        if spent > limit:
            yield f"all questions together cost {float(spent / limit):.4g} times what the claim allows"


def cost_of(asked: Asked) -> Cost:
    """Return what a question costs at its declared sensitivity."""
    return asked.mechanism.cost(asked.statistic.sensitivity(asked.domain))


def limit_for(claim: Claim, tape: Tape) -> tuple[Currency, Fraction]:
    """Return a currency in which all questions have a cost, and how much of it the claim allows."""
    if claim.currency is Currency.GDP:
        return Currency.GDP, Fraction(claim.amount) ** 2
    if claim.currency is Currency.ZCDP or not claim.delta:
        return claim.currency, Fraction(claim.amount)
    everywhere = set.intersection(*(set(cost_of(a).amounts) for a in tape.asked))
    for currency in (Currency.GDP, Currency.ZCDP):
        if currency in everywhere:
            return currency, limit_of(currency, claim.amount, claim.delta)
    return Currency.PURE, Fraction(claim.amount)


def loss(first: Tape, second: Tape, claim: Claim) -> float:
    """Return the claim's own number at the changes that were seen (for a delta beside epsilon: a share of it)."""
    if not first.asked:
        return 0.0
    currency, limit = limit_for(claim, first)
    total = Fraction(0)
    for one, other in zip(first.asked, second.asked, strict=True):
        if one.exact is not None and other.exact is not None and (one.exact != other.exact).any():
            seen = change(one.exact, other.exact, one.statistic.sensitivity(one.domain))
            total += one.mechanism.cost(seen).amount(currency)
    used = float(total / limit)
    return claim.amount * (math.sqrt(used) if currency is Currency.GDP else used)
