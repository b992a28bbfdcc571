"""What holds rows, budget, gates or noise is not multiplied: not by copying, not by forking, not by threads."""

from __future__ import annotations

import copy
import os
import pickle
import warnings
from collections.abc import Callable
from fractions import Fraction
from threading import Barrier, Thread

import numpy as np
import pytest

from discreet.audit import table_of
from discreet.domain import Categorical, Domain
from discreet.errors import BudgetError, DiscreetError, RoomError
from discreet.ledger.account import Account
from discreet.methods.session import asked
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Budget, Cost
from discreet.privacy.mechanisms.additive import DiscreteLaplace
from discreet.privacy.mechanisms.sparse_vector import AboveThreshold
from discreet.privacy.noise import ExactNoise
from discreet.room import Room, _Ahead, _View
from discreet.statistics import Sensitivity
from discreet.statistics.counts import Counts

DOMAIN = Domain({"a": Categorical(categories=("0", "1"))}, rows=4)
ONE = Sensitivity(l1=Fraction(1), l2_squared=Fraction(1), largest=Fraction(1))
HALF = Cost({Currency.PURE: Fraction(1, 2)})
GATE = AboveThreshold(2.0, 4.0)


class Ones(Counts):
    def sensitivity(self, domain):
        return ONE

    def evaluate(self, table):
        return super().evaluate(table)[1:]


ONES = Ones((("a",),))


def room() -> Room:
    return Room(table_of(np.array([[0], [1], [1], [1]]), DOMAIN), DOMAIN, Budget(epsilon=100, delta=0))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_what_holds_rows_or_budget_is_not_copied(copied):
    here = room()
    gate = here.open(GATE, ONE, purpose="x")
    view = _View(here._table, ("a",), here._ordered)
    for held in (here, here.budget, here._table, here._table.take([0]), gate, *here._ahead.values(), view):
        with pytest.raises(RoomError, match=type(held).__name__):
            copied(held)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda held: pickle.loads(pickle.dumps(held))])  # noqa: S301
def test_copies_of_an_account_spend_from_one_ledger(tmp_path, copied):
    first = Account("people", str(tmp_path / "ledger.db"))
    first.limit(epsilon=1.5, delta=0.0)
    second = copied(first)
    budgets = [
        account.start(asked("discover", "marginals", 1.0, 0.0, {})).budget(
            lambda _, reserve: Budget(epsilon=1, delta=0, reserve=reserve)
        )
        for account in (first, second)
    ]
    budgets[0].charge(HALF, statistic="s", mechanism="m")
    with pytest.raises(BudgetError, match="people"):
        budgets[1].charge(HALF, statistic="s", mechanism="m")


def in_a_copy(work: Callable[[], object]) -> str:
    """Do something in a fork of this process; return what it came to, or the name of the error."""
    reads, writes = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other tests may have left threads
        child = os.fork()
    if not child:
        try:
            found = repr(work())
        except DiscreetError as error:
            found = type(error).__name__
        os.write(writes, found.encode())
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads, "rb") as file:
        found = file.read().decode()
    os.waitpid(child, 0)
    return found


@pytest.mark.parametrize("reserve", [None, lambda _: None])
def test_a_copy_of_a_budget_is_not_spent(reserve):
    budget = Budget(epsilon=1, delta=0, reserve=reserve)
    assert in_a_copy(lambda: budget.charge(HALF, statistic="s", mechanism="m")) == BudgetError.__name__
    assert in_a_copy(lambda: in_a_copy(lambda: budget.charge(HALF, statistic="s", mechanism="m"))) == repr(
        BudgetError.__name__
    )
    budget.charge(HALF, statistic="s", mechanism="m")
    assert in_a_copy(lambda: Budget(epsilon=1, delta=0).charge(HALF, statistic="s", mechanism="m").amount) == repr(
        Fraction(1, 2)
    )


def test_a_copy_of_a_room_answers_nothing():
    here = room()
    assert in_a_copy(lambda: here.release(ONES, DiscreteLaplace(1.0))) == BudgetError.__name__
    assert in_a_copy(lambda: here.open(GATE, ONE, purpose="x")) == BudgetError.__name__
    here.release(ONES, DiscreteLaplace(1.0))


def test_a_copy_of_a_gate_lets_nothing_pass():
    gate = room().open(GATE, ONE, purpose="x")
    assert not gate.passes(ONES, 1_000)
    assert in_a_copy(lambda: gate.passes(ONES, -1_000)) == RoomError.__name__
    assert gate.passes(ONES, -1_000)
    assert not gate.open


def test_noise_that_was_drawn_ahead_is_not_used_by_a_copy():
    ahead, noise = _Ahead(GATE, 4.0), ExactNoise()
    ahead.pop(noise)
    assert in_a_copy(lambda: ahead.pop(noise)) == RoomError.__name__
    ahead.pop(noise)


@pytest.mark.parametrize(
    "draw",
    [
        lambda noise: noise.rounded_gaussian(1e9, 4),
        lambda noise: noise.discrete_gaussian(1e9, 4),
        lambda noise: noise.discrete_laplace(1e9, 4),
        lambda noise: noise.one_sided(1e9, 4),
        lambda noise: noise.order(30),
        lambda noise: noise.subset(15, 30),
        lambda noise: noise.exponential_choices(np.zeros((8, 1_000), dtype=np.int64), 1.0),
    ],
    ids=["rounded-gaussian", "discrete-gaussian", "discrete-laplace", "one-sided", "order", "subset", "choices"],
)
def test_copies_draw_noise_of_their_own(draw):
    noise = ExactNoise()
    draw(noise)
    drawn = [in_a_copy(lambda: draw(noise).tolist()) for _ in range(3)] + [repr(draw(noise).tolist())]
    assert len(set(drawn)) == len(drawn)


def at_once(work: Callable[[], object], threads: int = 16) -> list[object]:
    """Do the same in several threads at once; return what each came to, or its error's type."""
    barrier, found = Barrier(threads), []

    def run() -> None:
        barrier.wait()
        try:
            found.append(work())
        except DiscreetError as error:
            found.append(type(error))

    workers = [Thread(target=run) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return found


def test_threads_share_one_budget():
    calls = []
    budget = Budget(epsilon=1, delta=0, reserve=lambda _: calls.append(1))
    found = at_once(lambda: budget.charge(HALF, statistic="s", mechanism="m").amount)
    assert sorted(map(str, found)) == sorted(["1/2"] * 2 + [str(BudgetError)] * 14)
    assert budget.spent == 1
    assert calls == [1]


def test_threads_do_not_pass_a_gate_more_often_than_was_paid_for():
    gate = room().open(AboveThreshold(2.0, 4.0, passes=3), ONE, purpose="x")
    found = at_once(lambda: gate.passes(ONES, -1_000))
    assert found.count(True) == 3
    assert found.count(RoomError) == 13


def test_of_gates_that_threads_open_at_once_one_answers():
    here = room()
    gates = at_once(lambda: here.open(GATE, ONE, purpose="x"))
    assert len(here.budget.entries) == 16
    assert sum(gate.open for gate in gates) == 1


def test_threads_never_get_the_same_noise():
    ahead, noise = _Ahead(AboveThreshold(1e9, 1e9), 1e9), ExactNoise()
    found = at_once(lambda: tuple(ahead.pop(noise) for _ in range(50)))
    numbers = [number for drawn in found for number in drawn]
    assert len(set(numbers)) == len(numbers)
