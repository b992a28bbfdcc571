"""Above threshold: its law, its price, its sample, and what a gate tells."""

from __future__ import annotations

import math
import time
from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from threading import Thread

import numpy as np
import pytest
from scipy import stats

from discreet.audit import Neighbours, replay, subjects, table_of
from discreet.audit.claims import Claim
from discreet.audit.finite import exact_finite
from discreet.audit.gates import RowsAt
from discreet.audit.replay import audit_method
from discreet.domain import Categorical, Domain
from discreet.errors import BudgetError, RoomError, SettingError
from discreet.privacy.accounting import Currency, amplified, sample_epsilon
from discreet.privacy.budget import Budget
from discreet.privacy.mechanisms.additive import DiscreteLaplace
from discreet.privacy.mechanisms.sparse_vector import AboveThreshold, above_threshold_for
from discreet.privacy.noise import ExactNoise, smallest_keys
from discreet.room import Room
from discreet.statistics import Sensitivity
from discreet.statistics.counts import Counts
from discreet.testing import SeededNoise

DOMAIN = Domain({"a": Categorical(categories=("0", "1")), "b": Categorical(categories=("0", "1"))}, rows=12)
ROWS = np.array([[0, 0]] * 7 + [[1, 1]] * 5)
ONE = Sensitivity(l1=Fraction(1), l2_squared=Fraction(1), largest=Fraction(1))


class Ones(Counts):
    """How many ones a column has."""

    def sensitivity(self, domain):
        return ONE

    def evaluate(self, table):
        return super().evaluate(table)[1:]


class Failing(Ones):
    def evaluate(self, table):
        raise ValueError("a datum")


ONES = Ones((("a",),))


def room(epsilon=1000.0, noise=None):
    return Room(table_of(ROWS, DOMAIN), DOMAIN, Budget(epsilon=epsilon, delta=0), noise=noise)


def noise_law(scale, one_sided, reach=250):
    ks = np.arange(0 if one_sided else -reach, reach + 1)
    weights = np.exp(-np.abs(ks) / scale)
    return ks, weights / weights.sum()


def transcript_law(numbers, threshold, mechanism):
    """Return the law of all answers to a stream of numbers, by summing over the threshold's noise."""
    shifts, weights = noise_law(mechanism.threshold_scale, mechanism.geometric)
    ks, law = noise_law(mechanism.question_scale, mechanism.geometric)
    tails = np.append(np.cumsum(law[::-1])[::-1], 0.0)
    paths = {(): weights}
    for q in numbers:
        chance = tails[np.clip(threshold + shifts - q - ks[0], 0, len(ks))]
        longer = Counter()
        for path, mass in paths.items():
            if sum(path) == mechanism.passes:
                longer[path] = longer[path] + mass
            else:
                longer[(*path, 1)] = longer[(*path, 1)] + mass * chance
                longer[(*path, 0)] = longer[(*path, 0)] + mass * (1 - chance)
        paths = longer
    return {path: float(mass.sum()) for path, mass in paths.items()}


def largest_loss(numbers, moves, mechanism):
    laws = [transcript_law(np.add(numbers, m), 1, mechanism) for m in (np.zeros_like(moves), moves)]
    return exact_finite("stream", lambda cell: laws[cell[0]], 1, 2, Claim(Currency.PURE, 1.0)).found


@pytest.mark.parametrize("one_sided", [False, True])
@pytest.mark.parametrize("passes", [1, 2])
def test_the_price_is_right_for_every_way_in_which_numbers_move(one_sided, passes):
    mechanism = AboveThreshold(3.0, 5.0, passes, one_sided)
    price = float(mechanism.cost(ONE).amount(Currency.PURE))
    short = [largest_loss(n, m, mechanism) for n in ((0, 0, 0), (4, -4, 0), (-6, 6, 6))
             for m in product((-1, 0, 1), repeat=3)]  # fmt: skip
    long = largest_loss((0,) * 7 + (-20,) * passes, (1,) * 7 + (-1,) * passes, mechanism)
    assert max(*short, long) <= price * (1 + 1e-9)
    assert max(*short, long) > 0.9 * price


def test_a_kept_threshold_that_is_paid_once_would_be_found_out():
    once, kept = AboveThreshold(3.0, 6.0, 1), AboveThreshold(3.0, 6.0, 3)
    found = largest_loss((0,) * 7 + (-20,) * 3, (1,) * 7 + (-1,) * 3, kept)
    assert found > once.cost(ONE).amount(Currency.PURE)
    assert found <= kept.cost(ONE).amount(Currency.PURE)


def test_the_split_and_the_price_fit():
    for passes in (1, 4, 50):
        mechanism = above_threshold_for(Fraction(1), ONE, passes=passes)
        paid = mechanism.cost(ONE)
        assert Fraction(999, 1000) < paid.amount(Currency.PURE) <= 1
        assert paid.amount(Currency.ZCDP) == paid.amount(Currency.PURE) ** 2 / 2
        ratio = (2 * passes / mechanism.question_scale) * mechanism.threshold_scale
        assert ratio == pytest.approx((2 * passes) ** (2 / 3))


def test_the_name_says_how_often_it_lets_pass():
    names = [AboveThreshold(3.0, 5.0, passes).name for passes in (1, 2, 3)]
    assert [name.partition("5")[2] for name in names] == ["", ", 2 passes", ", 3 passes"]


@pytest.mark.parametrize("largest", [None, Fraction(0), Fraction(-1)])
def test_numbers_that_do_not_say_how_far_they_move_have_no_price(largest):
    with pytest.raises(SettingError, match="largest change"):
        AboveThreshold(1.0, 1.0).cost(Sensitivity(Fraction(1), Fraction(1), largest))


@pytest.mark.parametrize("noise", [ExactNoise(), SeededNoise(1)], ids=["exact", "seeded"])
def test_geometric_noise_has_its_law(noise):
    drawn = noise.one_sided(2.5, 4_000)
    assert drawn.min() == 0
    ks = np.arange(12)
    law = np.exp(-ks / 2.5) * -np.expm1(-1 / 2.5)
    seen = [(drawn == k).sum() for k in ks] + [(drawn >= 12).sum()]
    assert stats.chisquare(seen, 4_000 * np.append(law, 1 - law.sum())).pvalue > 1e-4
    wrong = np.exp(-ks / 3.3) * -np.expm1(-1 / 3.3)
    assert stats.chisquare(seen, 4_000 * np.append(wrong, 1 - wrong.sum())).pvalue < 1e-4


@pytest.mark.parametrize("noise", [ExactNoise(), SeededNoise(2)], ids=["exact", "seeded"])
def test_every_sample_is_equally_likely(noise):
    seen = Counter(tuple(noise.subset(2, 5).tolist()) for _ in range(3_000))
    assert set(seen) == set(combinations(range(5), 2))
    assert stats.chisquare(list(seen.values())).pvalue > 1e-4
    assert noise.subset(5, 5).tolist() == [0, 1, 2, 3, 4]


def test_keys_that_tie_are_drawn_again():
    drawn = iter([np.array([3, 3, 9], dtype=np.uint64), np.array([5, 1, 7], dtype=np.uint64)])
    assert smallest_keys(lambda: next(drawn), 1).tolist() == [1]


def test_what_a_sample_costs():
    for epsilon, share in ((0.5, 0.05), (2.0, 0.3), (10.0, 0.01)):
        found = amplified(Fraction(epsilon), Fraction(share))
        assert float(found) == pytest.approx(math.log1p(share * math.expm1(epsilon)), rel=1e-13)
        back = sample_epsilon(found, Fraction(share))
        assert float(back) == pytest.approx(epsilon, rel=1e-6)
        assert amplified(back, Fraction(share)) <= found
    assert amplified(Fraction(1), Fraction(1)) == 1
    with pytest.raises(SettingError, match="share"):
        amplified(Fraction(1), Fraction(2))


def test_amplification_holds_on_all_small_tables():
    """Two of four rows are drawn, their count of ones answered with geometric noise."""
    epsilon, cells, size = 1.0, 4, 2
    ratio = math.exp(-epsilon)

    def law(database):
        found = Counter()
        subsets = list(combinations(database, size))
        for subset in subsets:
            for output in range(-12, 15):
                mass = (1 - ratio) / (1 + ratio) * ratio ** abs(output - sum(subset))
                found[output] += mass / len(subsets)
        total = sum(found.values())
        return {output: mass / total for output, mass in found.items()}

    claim = Claim(Currency.PURE, float(amplified(Fraction(epsilon), Fraction(size, cells))))
    found = exact_finite("sampled", law, cells, 2, claim)
    assert not found.violated
    assert found.found > 0.95 * claim.amount


def test_a_gate_charges_first_and_closes_after_its_passes():
    place = room()
    gate = place.open(AboveThreshold(0.01, 0.01, 2), ONE, purpose="ones")
    assert place.budget.entries[0].statistic == "ones"
    assert [gate.passes(ONES, t) for t in (9, 3, 7, 5)] == [False, True, False, True]
    assert not gate.open
    with pytest.raises(RoomError, match="closed"):
        gate.passes(ONES, 0)


def test_whatever_else_is_charged_closes_a_gate():
    place = room()
    gate = place.open(AboveThreshold(1.0, 1.0), ONE, purpose="x")
    gate.passes(ONES, 1000)
    assert gate.open
    place.release(ONES, DiscreteLaplace(1.0))
    assert not gate.open
    with pytest.raises(RoomError, match="something else was asked"):
        gate.passes(ONES, 1000)
    first = place.open(AboveThreshold(1.0, 1.0), ONE, purpose="x")
    place.open(AboveThreshold(1.0, 1.0), ONE, purpose="x")
    assert not first.open


def test_threads_do_not_get_more_than_was_paid_for():
    class Slow(Ones):
        def evaluate(self, table):
            time.sleep(0.02)
            return super().evaluate(table)

    gate = room().open(AboveThreshold(0.01, 0.01), ONE, purpose="x")
    answers = []

    def ask():
        try:
            answers.append(gate.passes(Slow((("a",),)), 1))
        except RoomError:
            answers.append(None)

    threads = [Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers.count(True) == 1


def test_a_failure_closes_the_gate():
    gate = room().open(AboveThreshold(1.0, 1.0, 5), ONE, purpose="x")
    with pytest.raises(RoomError, match="failed"):
        gate.passes(Failing((("a",),)), 1)
    assert not gate.open


def test_replay_sees_a_gate_that_is_used_again(monkeypatch):
    def twice(rows):
        place = Room(table_of(rows, DOMAIN), DOMAIN, Budget(epsilon=100, delta=0))
        gate = place.open(AboveThreshold(0.1, 0.1), ONE, purpose="x")
        first = gate.passes(ONES, 0)
        gate._left = 1
        return first, gate.passes(ONES, 0)

    def kept(rows):
        place = Room(table_of(rows, DOMAIN), DOMAIN, Budget(epsilon=100, delta=0))
        gate = place.open(AboveThreshold(0.1, 0.1), ONE, purpose="x")
        first = gate.passes(ONES, 1000)
        place.release(ONES, DiscreteLaplace(1.0))
        gate._price = place.budget.entries[-1]
        return first, gate.passes(ONES, 1000)

    other = ROWS.copy()
    other[0] = (1, 0)
    pair = Neighbours(ROWS, other, "by hand")
    claim = Claim(Currency.PURE, 100.0)
    assert "not paid for so often" in audit_method("twice", twice, claim, [pair]).evidence
    assert "should be closed" in audit_method("kept", kept, claim, [pair]).evidence

    def sampled(rows):
        place = Room(table_of(rows, DOMAIN), DOMAIN, Budget(epsilon=1000, delta=0))
        gates = [place.open(AboveThreshold(0.1, 0.1, 1, False, 6, 12), ONE, purpose="x") for _ in range(2)]
        return [gate.passes(ONES, 0) for gate in gates if gate.open]

    assert not audit_method("sampled", sampled, Claim(Currency.PURE, 1000.0), [pair]).violated
    monkeypatch.setattr(replay, "MANY_SAMPLES", 100)
    monkeypatch.setattr(Room, "_chosen", lambda self, size: np.arange(size))
    finding = audit_method("same sample", sampled, Claim(Currency.PURE, 1000.0), [pair])
    assert "used for more than one gate" in finding.evidence


def test_one_sided_noise_is_moved_back_by_its_mean():
    hits = [room(noise=SeededNoise(i)).open(AboveThreshold(5.0, 9.0, 1, True), ONE, purpose="x").passes(ONES, 5)
            for i in range(600)]  # fmt: skip
    assert 0.4 < np.mean(hits) < 0.6


def test_a_sample_is_asked_in_its_own_domain():
    mechanism = AboveThreshold(0.01, 0.01, 1, False, 4, 12)
    gate = room().open(mechanism, ONE, purpose="x")
    assert gate.domain.rows == 4
    assert not gate.passes(ONES, 5)  # a sample of four rows has four ones at most
    with pytest.raises(RoomError, match="another number of rows"):
        room().open(AboveThreshold(1.0, 1.0, 1, False, 4, 13), ONE, purpose="x")


def test_what_was_not_paid_for_is_refused():
    gate = room().open(AboveThreshold(1.0, 1.0), Sensitivity(Fraction(1), Fraction(1), Fraction(1, 2)), purpose="x")
    with pytest.raises(RoomError, match="further than was paid for"):
        gate.passes(ONES, 1)
    with pytest.raises(BudgetError, match="refuses x"):
        room(0.1).open(AboveThreshold(1.0, 1.0), ONE, purpose="x")
    with pytest.raises(RoomError, match="failed; its charge stays booked") as error:
        room().open(AboveThreshold(1.0, 1.0), ONE, purpose="x").passes(Failing((("a",),)), 1)
    assert "datum" not in str(error.value)
    assert error.value.__cause__ is None


@pytest.mark.parametrize(
    "settings", [(0.0, 1.0), (1.0, math.inf), (1.0, 1.0, 0), (1.0, 1.0, 1, False, 3), (1.0, 1.0, 1, False, 13, 12)]
)
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(SettingError):
        AboveThreshold(*settings)
    with pytest.raises(SettingError, match="nothing is left"):
        above_threshold_for(Fraction(0), ONE)


def test_every_gate_of_a_room_has_a_threshold_of_its_own():
    domain = subjects.TWO
    room = Room(table_of(np.zeros((12, 2), dtype=np.int64), domain), domain, Budget(epsilon=1000, delta=0))
    number = RowsAt("a")
    gates = [room.open(AboveThreshold(50.0, 50.0), number.sensitivity(domain), purpose="x") for _ in range(40)]
    assert len({gate._threshold for gate in gates}) > 15
