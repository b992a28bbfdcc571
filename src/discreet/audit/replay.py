"""Record and replay: what a method asked of the room, and whether it would ask and say the same of a neighbour.

Rows are reached through one door, ``Room.release``. While a method runs, the door notes every question, the exact value
and the noisy answer. Then the method runs on a neighbouring table and gets the SAME noisy answers. It must ask the same
questions and come to the same result; the exact values may differ by the declared sensitivity, not more; and what the
questions cost must have been booked and be within the claim. Proof of what that shows: ``replay.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain

from discreet.arrays import IntArray
from discreet.audit import Finding, Neighbours
from discreet.audit.claims import Claim
from discreet.audit.tape import Opening, Tape, cost_of, exact_value, record
from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.privacy.accounting import Currency, limit_of
from discreet.privacy.budget import Cost
from discreet.statistics import Sensitivity, Statistic

MANY_SAMPLES = 10**12
"""Possible samples, from which on two that are equal were not drawn afresh."""


def change(first: IntArray, second: IntArray, declared: Sensitivity) -> Sensitivity:
    """Return how far two exact values are apart, in the norms in which a sensitivity is declared."""
    if first.shape != second.shape or first.ndim != 1:
        raise SettingError("the statistic has another length on a neighbour")
    if first.dtype.kind not in "iu" or second.dtype.kind not in "iu":
        raise SettingError("the statistic's values are not whole numbers")
    moved = [abs(a - b) for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    largest = None if declared.largest is None else Fraction(max(moved, default=0))
    first_moved = None if declared.first is None else Fraction(moved[0])
    if declared.squares is None:
        return Sensitivity(Fraction(sum(moved)), Fraction(sum(m * m for m in moved)), largest, first=first_moved)
    scaled = [m * m / square for m, square in zip(moved, declared.squares, strict=True) if m]
    l1 = sum((Fraction(math.sqrt(square)) for square in scaled), start=Fraction(0))
    return Sensitivity(l1, sum(scaled, start=Fraction(0)), largest, declared.squares)


def share(seen: Sensitivity, declared: Sensitivity) -> float:
    """Return the largest part of the declared sensitivity that a change makes use of; above 1 breaks it."""
    used = [_part(seen.l1, declared.l1), math.sqrt(_part(seen.l2_squared, declared.l2_squared))]
    if declared.largest is not None and seen.largest is not None:
        used.append(_part(seen.largest, declared.largest))
    if declared.first is not None and seen.first is not None:
        used.append(_part(seen.first, declared.first))
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
    if not runs:
        raise SettingError("replay: no pairs")
    return Finding(name, "replay", "sensitivity (as a share)", 1.0, best, runs, False, evidence)


def audit_method(name: str, run: Callable[[IntArray], object], claim: Claim, pairs: Iterable[Neighbours]) -> Finding:
    """Record a method on one table, replay it on a neighbour, and check what must be the same.

    Equal answers must lead to equal questions and results on any two tables, not on neighbours only: so each pair is
    also replayed on the first table of the pair before. Where that differs, the way from one to the other is walked
    row by row, to the two neighbours that differ.
    """
    best, runs, worked = 0.0, 0, False
    before: Neighbours | None = None
    for pair in pairs:
        runs += 1
        first = record(run, pair.first)
        second = record(run, pair.second, first)
        worked |= first.error is None or second.error is None
        shown = pair
        wrong = next(chain(_unpaid(first, claim), unlike(first, second), _too_far(first, second)), None)
        if wrong is None and before is not None and before.first.shape == pair.first.shape:
            wrong, shown = _walk(run, first, pair, before.first)
        if wrong is not None:
            return Finding(name, "replay", claim.words, claim.amount, None, runs, True, f"{wrong}; {shown.words()}")
        best = max(best, loss(first, second, claim))
        before = pair
    if not worked:
        raise SettingError(f"replay: {'no run ended without an error: ' + (first.error or '') if runs else 'no pairs'}")
    return Finding(name, "replay", claim.words, claim.amount, best, runs, False)


def _walk(
    run: Callable[[IntArray], object], first: Tape, pair: Neighbours, far: IntArray
) -> tuple[str | None, Neighbours]:
    """Replay a run on a table far away; if it differs there, find neighbours on the way between which it differs."""
    if next(unlike(first, record(run, far, first)), None) is None:
        return None, pair
    here, at = pair.first, record(run, pair.first, first)
    for row in range(len(far)):
        there = here.copy()
        there[row] = far[row]
        then = record(run, there, first)
        wrong = next(unlike(at, then), None)
        if wrong is not None:
            return wrong, Neighbours(here, there, "walked from one table to another")
        here, at = there, then
    return "not the same twice on one table", pair


def unlike(first: Tape, second: Tape) -> Iterator[str]:
    """Yield in words what must not differ between a run and its replay on any other table, and does."""
    if first.strange or second.strange:
        yield "it opens a room of another kind, which nobody watches"
    for i, (one, other) in enumerate(zip(first.asked, second.asked, strict=False), start=1):
        if not one.same(other):
            yield f"question {i} is {one.words!r} on one table and {other.words!r} on the other"
            return
        if (one.answer is None) != (other.answer is None):
            yield f"question {i} ({one.words}) fails on one table only"
            return
    if len(first.asked) != len(second.asked):
        yield f"{len(first.asked)} questions on one table and {len(second.asked)} on the other"
    if first.error != second.error:
        yield "an error on one table that the other does not meet"
    if first.result != second.result:
        yield "the same answers led to another result"
    if first.said != second.said:
        yield "the same answers led to other words on the screen"


def _too_far(first: Tape, second: Tape) -> Iterator[str]:
    """Yield which exact values are further apart than was declared."""
    for i, (one, other) in enumerate(zip(first.asked, second.asked, strict=True), start=1):
        if one.exact is None or other.exact is None:
            continue
        declared = one.statistic.sensitivity(one.domain)
        try:
            used = share(change(one.exact, other.exact, declared), declared)
        except SettingError as error:
            yield f"question {i} ({one.words}): {error}"
            return
        if used > 1:
            yield f"question {i} ({one.words}) changes by {used:.4g} times its declared sensitivity"


def _unpaid(tape: Tape, claim: Claim) -> Iterator[str]:
    """Yield what was asked and not booked, or not covered by the claim."""
    for budget in {id(asked.budget): asked.budget for asked in tape.asked}.values():
        costs = [cost_of(a) for a in tape.asked if a.budget is budget]
        missing = [c for c in costs if budget.currency not in c.amounts]
        if missing or sum((c.amount(budget.currency) for c in costs), start=Fraction(0)) > budget.spent:
            yield f"{len(costs)} questions were answered, but their cost was not booked"
    yield from _reused(tape)
    if tape.asked:
        shares = used_up(claim, [cost_of(asked) for asked in tape.asked])
        if not shares:
            yield "the questions have no proved cost in which the claim can be paid"
        elif min(shares.values()) > 1:
            yield f"all questions together cost {min(shares.values()):.4g} times what the claim allows"


def _reused(tape: Tape) -> Iterator[str]:
    """Yield which gates let pass more than was paid for, or were asked after something else was; and used samples."""
    latest: int | None = None
    passed = 0
    for place, asked in enumerate(tape.asked):
        if asked.threshold is None:
            latest, passed = place, 0
            continue
        passed += int(asked.answer is not None and asked.answer[0])
        if asked.gate != latest:
            yield f"question {place + 1} ({asked.words}) is asked of a gate that should be closed"
            return
        if passed > getattr(asked.mechanism, "passes", 0):
            yield f"question {place + 1} ({asked.words}) passes a gate that was not paid for so often"
            return
    sampled = [a for a in tape.asked if isinstance(a.statistic, Opening) and getattr(a.mechanism, "sample", None)]
    distinct = {sample.tobytes() for sample in tape.samples}
    many = all(math.comb(a.domain.rows, getattr(a.mechanism, "sample", 0)) > MANY_SAMPLES for a in sampled)
    if len(sampled) != len(tape.samples) or (many and len(distinct) < len(tape.samples)):
        yield "a sample of rows is used for more than one gate"


def used_up(claim: Claim, costs: Sequence[Cost]) -> dict[Currency, float]:
    """Return which part of a claim costs use up, in every currency that they have in common and that implies it."""
    common = set.intersection(*(set(cost.amounts) for cost in costs))
    limits: dict[Currency, Fraction] = {claim.currency: Fraction(claim.amount)}
    if claim.currency is Currency.GDP:
        limits = {Currency.GDP: Fraction(claim.amount) ** 2}
    elif claim.currency is Currency.ZCDP:
        limits[Currency.GDP] = 2 * Fraction(claim.amount)  # mu-GDP is (mu^2/2)-zCDP
    elif claim.delta:
        limits |= {c: limit_of(c, claim.amount, claim.delta) for c in (Currency.GDP, Currency.ZCDP)}
    totals = {c: sum((cost.amount(c) for cost in costs), start=Fraction(0)) for c in common & limits.keys()}
    return {c: float(total / limits[c]) for c, total in totals.items()}


def loss(first: Tape, second: Tape, claim: Claim) -> float:
    """Return the claim's own number at the changes that were seen."""
    seen = []
    for one, other in zip(first.asked, second.asked, strict=True):
        if isinstance(one.statistic, Opening):
            seen.append(cost_of(one))  # what a gate costs at the changes seen is for its proof to say
        elif one.threshold is None and one.exact is not None and other.exact is not None:
            moved = change(one.exact, other.exact, one.statistic.sensitivity(one.domain))
            if (one.exact != other.exact).any():
                seen.append(one.mechanism.cost(moved))
    if not seen:
        return 0.0
    shares = used_up(claim, seen)
    return claim.amount * min(math.sqrt(s) if c is Currency.GDP else s for c, s in shares.items())
