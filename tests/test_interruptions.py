"""An interruption at any point may lose budget, never gain it: a key is pressed before every instruction in turn."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from threading import Barrier, Event, Thread

import numpy as np
import pytest

import discreet
from discreet.audit import table_of
from discreet.domain import Categorical, Domain
from discreet.errors import BudgetError, RoomError
from discreet.ledger.account import Account
from discreet.methods.session import asked
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Budget, Cost
from discreet.privacy.mechanisms.additive import DiscreteLaplace
from discreet.privacy.mechanisms.sparse_vector import AboveThreshold
from discreet.room import FAILED, Room
from discreet.statistics import Sensitivity
from discreet.statistics.counts import Counts

HOME = Path(discreet.__file__).parent
DOMAIN = Domain({"a": Categorical(categories=("0", "1"))}, rows=4)
ONE = Sensitivity(l1=Fraction(1), l2_squared=Fraction(1), largest=Fraction(1))
GATE = AboveThreshold(2.0, 4.0)
SECRET = 4711


class Watched(Counts):
    """A number of rows that notes how often it was looked at."""

    seen = 0

    def sensitivity(self, domain):
        return ONE

    def evaluate(self, table):
        type(self).seen += 1
        return super().evaluate(table)[1:]


class Breaking(Watched):
    """Fails when it has met a value."""

    error: BaseException = KeyboardInterrupt()

    def evaluate(self, table):
        exact = super().evaluate(table) + SECRET
        raise self.error from ValueError(str(exact))


@pytest.fixture(autouse=True)
def _unseen():
    Watched.seen = 0


def room(**settings) -> Room:
    return Room(table_of(np.array([[0], [1], [1], [1]]), DOMAIN), DOMAIN, Budget(epsilon=1, delta=0, **settings))


class PressedError(KeyboardInterrupt):
    """A key."""


def pressed_everywhere(
    prepare: Callable[[], Callable[[], object]], *, by: str = "opcode", within: tuple[str, ...] = ("",)
) -> Iterator[None]:
    """Do something again and again, interrupted one instruction (or line) of ours later each time; last not at all."""
    ours = tuple(str(HOME / part) for part in within)
    step, over = 0, False
    while not over:
        step, work, left = step + 1, prepare(), [step]
        Watched.seen = 0

        def trace(frame, event, _arg, left=left):
            if not frame.f_code.co_filename.startswith(ours):
                return None
            frame.f_trace_opcodes = by == "opcode"
            left[0] -= event == by
            if not left[0]:
                sys.settrace(None)
                raise PressedError
            return trace

        before = sys.gettrace()
        try:
            sys.settrace(trace)
            work()
            over = True
        except PressedError:
            pass
        finally:
            sys.settrace(before)
        yield
    assert step > 20, "nothing was interrupted"


def test_what_is_booked_counts_whatever_breaks_it_off():
    budgets, cost = [], Cost({Currency.PURE: Fraction(1, 2)})

    def prepare():
        budgets.append(Budget(epsilon=1, delta=0))
        return lambda: budgets[-1].charge(cost, statistic="s", mechanism="m")

    for _ in pressed_everywhere(prepare):
        assert sum(entry.amount for entry in budgets[-1].entries) <= budgets[-1].spent


def test_no_value_is_looked_at_that_was_not_charged():
    here = []

    def prepare():
        here.append(room())
        return lambda: here[-1].release(Watched((("a",),)), DiscreteLaplace(2.0))

    for _ in pressed_everywhere(prepare):
        assert here[-1].budget.spent == Fraction(1, 2) or not Watched.seen


@pytest.mark.parametrize("threshold", [-1_000, 1_000])
def test_a_question_that_was_broken_off_is_the_last_one(threshold):
    gates = []

    def prepare():
        gates.append(room().open(AboveThreshold(4.0, 16.0, passes=2), ONE, purpose="x"))
        return lambda: gates[-1].passes(Watched((("a",),)), threshold)

    left = set()
    for _ in pressed_everywhere(prepare):
        gate = gates[-1]
        left.add((Watched.seen, gate._left))
        assert not Watched.seen or gate._left in (0, 2 - (threshold < 0))
    assert {(0, 2), (1, 0), (1, 2 - (threshold < 0))} <= left


def test_a_gate_that_was_broken_off_when_it_was_opened_is_paid_for():
    here = []

    def prepare():
        here.append(room())
        mechanism = AboveThreshold(4.0, 8.0, sample=2, rows=4)
        return lambda: here[-1].open(mechanism, ONE, purpose="x")

    spent = set()
    for _ in pressed_everywhere(prepare):
        assert sum(entry.amount for entry in here[-1].budget.entries) <= here[-1].budget.spent
        spent.add(here[-1].budget.spent)
    assert len(spent) == 2


def test_a_run_that_was_broken_off_is_reserved_before_a_value_is_looked_at(tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.ledger.stores.sqlite.WAIT", 0.1)  # what was broken off may still stand in line
    accounts = []

    def prepare():
        accounts.append(Account("people", str(tmp_path / f"{len(accounts)}.db")))
        run = accounts[-1].start(asked("discover", "marginals", 1.0, 0.0, {}))
        budget = run.budget(lambda _, reserve: Budget(epsilon=1, delta=0, reserve=reserve))
        here = Room(table_of(np.array([[0], [1], [1], [1]]), DOMAIN), DOMAIN, budget)
        return lambda: here.release(Watched((("a",),)), DiscreteLaplace(2.0))

    reserved = set()
    for _ in pressed_everywhere(prepare, by="line", within=("room.py", "privacy/budget.py", "ledger/")):
        runs = accounts[-1].standing().runs
        reserved.add((runs, Watched.seen))
        assert runs == 1 or not Watched.seen
        if (1, 1) in reserved:
            break
    assert reserved == {(0, 0), (1, 0), (1, 1)}


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
def test_an_interruption_carries_no_value_away(error):
    def release(here):
        here.release(Breaking((("a",),)), DiscreteLaplace(2.0))

    def ask(here):
        here.open(GATE, ONE, purpose="x").passes(Breaking((("a",),)), 0)

    for work in (release, ask):
        Breaking.error = error
        here = Room(table_of(np.array([[0]] * 4), DOMAIN), DOMAIN, Budget(epsilon=9, delta=0))
        with pytest.raises(type(error)) as caught:
            work(here)
        assert caught.value is not error
        assert (caught.value.__cause__, caught.value.__context__) == (None, None)
        assert here.budget.spent > 0
        shown = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
        assert str(SECRET) not in "".join(shown.format())
        assert "exact" not in {
            name for frame, _ in traceback.walk_tb(caught.value.__traceback__) for name in frame.f_locals
        }


def test_memory_that_is_used_up_is_a_failure_like_any():
    Breaking.error = MemoryError(SECRET)
    here = room()
    with pytest.raises(RoomError) as failed:
        here.release(Breaking((("a",),)), DiscreteLaplace(2.0))
    assert str(failed.value) == FAILED.format(Watched((("a",),)).name)
    gate = here.open(AboveThreshold(8.0, 16.0, passes=2), ONE, purpose="x")
    with pytest.raises(RoomError):
        gate.passes(Breaking((("a",),)), 0)
    assert not gate.open


def test_a_gate_whose_rows_cannot_be_taken_says_no_more_than_that():
    here = room()
    here._table.take = lambda rows: [].index(SECRET)
    with pytest.raises(RoomError) as failed:
        here.open(AboveThreshold(8.0, 16.0, sample=2, rows=4), ONE, purpose="a sieve")
    assert str(failed.value) == FAILED.format("a sieve")
    assert here.budget.spent > 0


def test_a_reservation_that_was_broken_off_is_not_taken_for_none():
    calls = []

    def reserve(_):
        calls.append(1)
        if len(calls) == 1:
            raise KeyboardInterrupt
        raise BudgetError("it was reserved before")

    here = room(reserve=reserve)
    with pytest.raises(KeyboardInterrupt):
        here.release(Watched((("a",),)), DiscreteLaplace(2.0))
    with pytest.raises(BudgetError):
        here.release(Watched((("a",),)), DiscreteLaplace(2.0))
    assert not Watched.seen


def test_a_question_is_not_answered_once_a_thread_has_charged_something_else():
    """One that was asked before is: it was fixed by then, so the answer is as if it had come first. The next is not."""
    here, met, charged = room(), Barrier(2), Event()

    class Slow(Watched):
        def evaluate(self, table):
            met.wait()
            charged.wait()
            return super().evaluate(table)

    gate = here.open(AboveThreshold(8.0, 16.0, passes=2), ONE, purpose="x")
    found = []
    asking = Thread(target=lambda: found.append(gate.passes(Slow((("a",),)), -1_000)))
    asking.start()
    met.wait()
    here.release(Watched((("a",),)), DiscreteLaplace(4.0))
    charged.set()
    asking.join()
    assert found == [True]
    with pytest.raises(RoomError, match="closed"):
        gate.passes(Watched((("a",),)), -1_000)
