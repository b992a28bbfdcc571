"""The room: charge first, stay charged, let nothing out but releases."""

from __future__ import annotations

import copy
import pickle
import traceback
from fractions import Fraction

import numpy as np
import pytest

from discreet.data.load import load
from discreet.domain import Categorical, Domain
from discreet.errors import BudgetError, DomainError, RoomError, SettingError
from discreet.privacy.budget import Budget
from discreet.privacy.mechanisms.additive import RoundedGaussian
from discreet.room import Room
from discreet.statistics import Sensitivity
from discreet.statistics.counts import Counts
from discreet.testing import SeededNoise

DOMAIN = Domain({c: Categorical(categories=("no", "yes")) for c in ("a", "b", "c")}, rows=4)
DATA = {"a": ["no", "yes", "no", "yes"], "b": ["no", "no", "no", "yes"], "c": ["yes"] * 4}
SECRET = "SECRET-4711"
PAIR = Counts((("a", "b"),))


def room(epsilon=1.0, noise=None):
    return Room(load(DATA, DOMAIN), DOMAIN, Budget(epsilon=epsilon, delta=1e-6), noise=noise)


class Spy:
    """A statistic that notes what was charged when it was evaluated, and asks for what it likes."""

    name = "a spy"

    def __init__(self, columns=("a",), asks=("a",), fails=False):
        self.columns, self.asks, self.fails = columns, asks, fails
        self.spent_when_evaluated = None
        self.room = None

    def sensitivity(self, domain):
        return Sensitivity(Fraction(2), Fraction(2))

    def evaluate(self, table):
        self.spent_when_evaluated = self.room.budget.spent
        if self.fails:
            raise ValueError(SECRET)
        return table.counts([self.asks])[0].ravel()


def test_a_release_holds_the_noisy_value_its_noise_and_its_price():
    here = room()
    release = here.release(PAIR, RoundedGaussian(12.0))
    assert release.values.shape == (4,)
    assert release.private
    assert release.price.amount == here.budget.spent > 0
    assert release.mechanism.variance == pytest.approx(144 + 1 / 12)
    assert set(vars(release)) == {"statistic", "mechanism", "values", "price", "private"}


def test_the_noise_is_really_added():
    exact = np.array([2, 0, 1, 1])
    drawn = np.array([room().release(PAIR, RoundedGaussian(50.0)).values - exact for _ in range(100)])
    assert 40 < drawn.std() < 60
    assert abs(drawn.mean()) < 15


def test_the_charge_comes_before_the_value():
    spy = Spy()
    spy.room = room()
    spy.room.release(spy, RoundedGaussian(12.0))
    assert spy.spent_when_evaluated == spy.room.budget.spent > 0


def test_a_refused_charge_evaluates_nothing():
    spy = Spy()
    spy.room = room()
    with pytest.raises(BudgetError):
        spy.room.release(spy, RoundedGaussian(0.5))
    assert spy.spent_when_evaluated is None
    assert spy.room.budget.spent == 0


def test_a_failure_stays_charged_and_does_not_say_why():
    spy = Spy(fails=True)
    spy.room = room()
    with pytest.raises(RoomError, match="stays booked") as caught:
        spy.room.release(spy, RoundedGaussian(12.0))
    assert spy.room.budget.spent > 0
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_failing_mechanism_leaves_no_exact_value_behind():
    class Broken(RoundedGaussian):
        def blur(self, exact, noise):
            raise ValueError(SECRET)

    with pytest.raises(RoomError) as caught:
        room().release(PAIR, Broken(12.0))
    shown = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    assert "exact = " not in "".join(shown.format())
    assert "array(" not in "".join(shown.format())


def test_a_statistic_sees_only_the_columns_it_named():
    spy = Spy(columns=("a",), asks=("a", "b"))
    spy.room = room()
    with pytest.raises(RoomError):
        spy.room.release(spy, RoundedGaussian(12.0))


def test_undeclared_columns_are_refused_before_anything_is_charged():
    here = room()
    with pytest.raises(DomainError, match="'z'"):
        here.release(Counts((("a", "z"),)), RoundedGaussian(12.0))
    assert here.budget.spent == 0


def test_a_spent_budget_refuses():
    here = room()
    cost = RoundedGaussian(12.0).cost(PAIR.sensitivity(DOMAIN))
    times = int(here.budget.limit / cost.amount(here.budget.currency))
    for _ in range(times):
        here.release(PAIR, RoundedGaussian(12.0))
    with pytest.raises(BudgetError, match="refuses"):
        here.release(PAIR, RoundedGaussian(12.0))
    assert len(here.budget.entries) == times


@pytest.mark.parametrize("forbidden", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_room_cannot_be_copied_or_pickled(forbidden):
    with pytest.raises(RoomError):
        forbidden(room())


def test_a_room_does_not_show_its_rows():
    assert repr(room()) == "<Room: rows are held here>"
    assert str(room()._table) == "<MemoryTable: rows are held here>"


def test_predictable_noise_is_stamped():
    release = room(noise=SeededNoise(1)).release(PAIR, RoundedGaussian(12.0))
    again = room(noise=SeededNoise(1)).release(PAIR, RoundedGaussian(12.0))
    assert not release.private
    np.testing.assert_array_equal(release.values, again.values)


def test_a_room_takes_the_declared_number_of_rows_only():
    with pytest.raises(RoomError, match="rows"):
        Room(load(DATA, DOMAIN), DOMAIN.with_rows(5), Budget(epsilon=1, delta=1e-6))


def test_a_room_refuses_a_delta_that_could_publish_a_row():
    with pytest.raises(SettingError, match="delta"):
        Room(load(DATA, DOMAIN), DOMAIN, Budget(epsilon=1, delta=0.25))
