"""Record and replay: the same answers must lead to the same questions and the same result."""

from __future__ import annotations

import math
import sys
import warnings
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from logging import getLogger

import numpy as np
import pytest

from discreet.audit import Neighbours, table_of
from discreet.audit.claims import Claim
from discreet.audit.neighbours import hand_made, random_pairs
from discreet.audit.replay import audit_method, audit_statistic, change, loss, share, unlike
from discreet.audit.subjects import FEW, TWO, method_subjects
from discreet.audit.tape import exact_value, record
from discreet.errors import SettingError
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Budget
from discreet.privacy.mechanisms.additive import DiscreteLaplace, RoundedGaussian
from discreet.room import Room
from discreet.statistics import Sensitivity
from discreet.statistics.counts import Counts

CLAIM = Claim(Currency.PURE, 1.0)
A, B = Counts((("a",),)), Counts((("b",),))
ROWS = np.array([[0, 0]] * 8 + [[1, 1]] * 4)
OTHER = np.array([[1, 0]] + [[0, 0]] * 7 + [[1, 1]] * 4)
PAIR = Neighbours(ROWS, OTHER, "by hand")


def room(rows, epsilon=1.0):
    return Room(table_of(rows, TWO), TWO, Budget(epsilon=epsilon, delta=0))


def ask(place, statistic, epsilon):
    return place.release(statistic, DiscreteLaplace(2 / epsilon)).values.tolist()


def sound(rows):
    place = room(rows)
    first = ask(place, A, 0.5)
    return first, ask(place, A if first[0] > 6 else B, 0.5)


def peeking(rows):
    place = room(rows)
    return ask(place, A if (rows[:, 0] == 0).sum() > 7 else B, 1.0)


def stopping(rows):
    place = room(rows)
    first = ask(place, A, 0.5)
    return first, ask(place, B, 0.5) if (rows[:, 0] == 0).sum() > 7 else None


def telling(rows):
    return ask(room(rows), A, 1.0), int(rows[:, 0].sum())


def failing(rows):
    if (rows[:, 0] == 0).sum() > 7:
        raise ValueError("constant")
    return ask(room(rows), A, 1.0)


def unpaid(rows):
    return room(rows)._blurred(A, DiscreteLaplace(2.0)).tolist()


def twice(rows):
    return ask(room(rows), A, 1.0), ask(room(rows), A, 1.0)


class Half(Counts):
    def sensitivity(self, domain):
        return Sensitivity(l1=Fraction(1), l2_squared=Fraction(1))


def understated(rows):
    return room(rows).release(Half((("a",),)), DiscreteLaplace(1.0)).values.tolist()


def test_a_sound_method_passes_and_its_loss_is_within_the_claim():
    finding = audit_method("sound", sound, CLAIM, [PAIR] * 20)
    assert not finding.violated
    assert 0.5 <= finding.found <= 1


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (peeking, "question 1 is"),
        (stopping, "2 questions on one table and 1"),
        (telling, "another result"),
        (failing, "1 on the other"),
        (unpaid, "not booked"),
        (twice, "2 times what the claim allows"),
        (understated, "2 times its declared sensitivity"),
    ],
)
def test_each_kind_of_disagreement_is_found_and_shown(method, words):
    finding = audit_method("wrong", method, CLAIM, [PAIR])
    assert finding.violated
    assert words in finding.evidence
    assert "one row (0, 0) -> (1, 0)" in finding.evidence


def test_the_replay_hands_out_the_recorded_answers():
    first = record(sound, ROWS)
    second = record(sound, OTHER, first)
    assert first.result == second.result
    for one, other in zip(first.asked, second.asked, strict=True):
        assert one.answer.tolist() == other.answer.tolist()
    assert first.asked[0].exact.tolist() == [8, 4]
    assert second.asked[0].exact.tolist() == [7, 5]


def test_what_was_asked_is_what_was_booked():
    first = record(sound, ROWS)
    assert sum((a.budget is first.asked[0].budget) for a in first.asked) == 2
    assert first.asked[0].budget.spent == 1
    assert not list(unlike(first, first))
    assert loss(first, first, CLAIM) == 0


def test_the_door_is_as_it_was_after_a_run_that_fails():
    before = Room._blurred
    assert record(failing, ROWS).error.startswith("ValueError: constant")
    assert Room._blurred is before
    nested = record(lambda rows: record(sound, rows), ROWS)
    assert "one run is watched at a time" in nested.error


def test_an_error_on_both_sides_is_no_disagreement():
    def at_first(rows):
        if (rows == rows[0]).all():
            raise ValueError("public reason")
        return ask(room(rows), A, 1.0)

    same = Neighbours(np.zeros_like(ROWS), np.zeros_like(ROWS), "all the same")
    first = record(at_first, same.first)
    assert not list(unlike(first, record(at_first, same.second, first)))


def test_a_method_that_never_works_shows_nothing():
    def always(rows):
        raise TypeError("my own mistake")

    with pytest.raises(SettingError, match="my own mistake"):
        audit_method("fails", always, CLAIM, [PAIR])
    with pytest.raises(SettingError, match="no pairs"):
        audit_method("nothing", sound, CLAIM, [])
    with pytest.raises(SettingError, match="cannot be compared"):
        audit_method("opaque", lambda rows: object(), CLAIM, [PAIR])


def test_the_claim_may_have_a_delta_or_be_gaussian():
    for setting in method_subjects("marginals")[:1]:
        pairs = list(islice(random_pairs(FEW, np.random.default_rng(0)), 3))
        exact = audit_method("gdp", setting.release, setting.claim, pairs)
        approximate = Claim(Currency.PURE, setting.epsilon, setting.delta)
        assert not exact.violated
        assert not audit_method("dp", setting.release, approximate, pairs).violated
        less = Claim(Currency.PURE, setting.epsilon / 2, setting.delta)
        assert audit_method("less", setting.release, less, pairs).violated


def test_changes_are_measured_in_the_declared_norms():
    plain = Sensitivity(l1=Fraction(2), l2_squared=Fraction(2))
    seen = change(np.array([1, 5]), np.array([2, 3]), plain)
    assert (seen.l1, seen.l2_squared, seen.largest) == (3, 5, None)
    assert share(seen, plain) == pytest.approx((5 / 2) ** 0.5)
    scaled = Sensitivity(l1=Fraction(9), l2_squared=Fraction(5), squares=(Fraction(1), Fraction(4)))
    assert change(np.array([1, 5]), np.array([2, 3]), scaled).l2_squared == 2
    chosen = Sensitivity(l1=Fraction(9), l2_squared=Fraction(9), largest=Fraction(1))
    assert share(change(np.array([1, 5]), np.array([2, 3]), chosen), chosen) == 2
    with pytest.raises(SettingError, match="another length"):
        change(np.array([1]), np.array([1, 2]), plain)


@dataclass
class Kept:
    shown: int
    hidden: int = field(compare=False)


def hiding(rows):
    answer = ask(room(rows), A, 1.0)
    return Kept(len(answer), int(rows[:, 0].sum()))


def ordering(rows):
    answer = ask(room(rows), A, 1.0)
    return dict.fromkeys(("a", "b") if rows[:, 0].sum() > 4 else ("b", "a"), answer)


def printing(rows):
    sys.stdout.write(str(rows[:, 0].sum()))
    return ask(room(rows), A, 1.0)


def warning(rows):
    warnings.warn(f"{rows[:, 0].sum()} ones", UserWarning, stacklevel=1)
    return ask(room(rows), A, 1.0)


def leaving(rows):
    if (rows[:, 0] == 0).sum() > 7:
        raise SystemExit(1)
    return ask(room(rows), A, 1.0)


class Bare(Room):
    def _blurred(self, statistic, mechanism):
        return np.array([8, 4])


def own_room(rows):
    return Bare(table_of(rows, TWO), TWO, Budget(epsilon=1, delta=0)).release(A, DiscreteLaplace(2.0)).values.tolist()


def gaussian_as_pure(rows):
    place = Room(table_of(rows, TWO), TWO, Budget(epsilon=1, delta=1e-3))
    return place.release(A, RoundedGaussian(10.0)).values.tolist()


def logging(rows):
    getLogger("discreet.methods").debug("%d ones", rows[:, 0].sum())
    return ask(room(rows), A, 1.0)


class Real(Counts):
    def evaluate(self, table):
        return super().evaluate(table) / 40


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (hiding, "another result"),
        (ordering, "another result"),
        (printing, "words on the screen"),
        (warning, "words on the screen"),
        (logging, "words on the screen"),
        (leaving, "1 on the other"),
        (own_room, "room of another kind"),
        (gaussian_as_pure, "no proved cost"),
        (lambda rows: room(rows).release(Real((("a",),)), DiscreteLaplace(2.0)).values.tolist(), "not whole numbers"),
    ],
)
def test_what_hides_is_found(method, words):
    finding = audit_method("wrong", method, CLAIM, [PAIR])
    assert finding.violated
    assert words in finding.evidence


def in_place(rows):
    values = room(rows).release(A, DiscreteLaplace(2.0)).values
    values += 1
    return values


def not_a_number(rows):
    return ask(room(rows), A, 1.0), math.nan, Room


@pytest.mark.parametrize("method", [in_place, not_a_number])
def test_what_is_sound_is_not_flagged_for_its_form(method):
    assert not audit_method("sound", method, CLAIM, [PAIR, PAIR.swapped]).violated


def test_a_pure_method_may_be_claimed_with_a_delta():
    assert not audit_method("sound", sound, Claim(Currency.PURE, 1.0, 1e-6), [PAIR]).violated


def test_tables_far_apart_show_what_neighbours_hide():
    def far_away(rows):
        return ask(room(rows), A, 1.0), bool(rows[:, 1].sum() > 8)

    high = Neighbours(np.ones_like(ROWS), np.vstack([[0, 1], np.ones((11, 2), dtype=np.int64)]), "all ones")
    assert not audit_method("near", far_away, CLAIM, [PAIR]).violated
    finding = audit_method("far", far_away, CLAIM, [PAIR, high])
    assert finding.violated
    assert "walked from one table to another" in finding.evidence


class Partial(Counts):
    def evaluate(self, table):
        counts = super().evaluate(table)
        return counts[: 100 // int(counts[1])]


def test_a_statistic_that_is_not_total_is_a_violation():
    finding = audit_statistic("partial", Partial((("a",),)), TWO, hand_made(TWO))
    assert finding.violated
    assert "not defined for every table" in finding.evidence or "another length" in finding.evidence


def test_the_exact_value_is_that_of_the_room():
    assert exact_value(A, ROWS, TWO).tolist() == [8, 4]
