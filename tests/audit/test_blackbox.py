"""The black box: refutes what is wrong, never (but for alpha) what is right, and says what it found as an effect."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

from discreet.audit import Neighbours
from discreet.audit.blackbox import LEVELS, STAKES, Bet, Line, audit, black_box, bound_below, growth, lines
from discreet.audit.claims import Claim
from discreet.audit.events import Among, Cut, Equals, Outputs, candidates, flat
from discreet.errors import SettingError
from discreet.privacy.accounting import Currency
from discreet.search.graph import Graph

PURE = Claim(Currency.PURE, 1.0)
GDP = Claim(Currency.GDP, 1.0)
PAIR = Neighbours(np.array([[0], [0], [0]]), np.array([[1], [0], [0]]), "by hand")


def laplace(scale, seed):
    rng = np.random.default_rng(seed)
    return lambda rows, times: (rows.sum() + rng.laplace(0, scale, times)).tolist()


def gaussian(sigma, seed):
    rng = np.random.default_rng(seed)
    return lambda rows, times: (rows.sum() + rng.normal(0, sigma, times)).tolist()


def vector(scale, seed):
    rng = np.random.default_rng(seed)
    return lambda rows, times: [
        np.array([rows.sum(), 3 - rows.sum(), 7]) + rng.laplace(0, scale, 3) for _ in range(times)
    ]


def free_branch(seed):
    rng = np.random.default_rng(seed)

    def sample(rows, times):
        noisy = rows.sum() + rng.laplace(0, 1, times)
        return [int(rows.sum()) if u < 0.02 else float(x) for u, x in zip(rng.random(times), noisy, strict=True)]

    return sample


def no_answer(seed):
    rng = np.random.default_rng(seed)
    return lambda rows, times: [None if rng.random() < 0.1 + 0.5 * rows.sum() else "yes" for _ in range(times)]


@pytest.mark.parametrize(
    ("sample", "claim", "most"),
    [
        (laplace(0.5, 1), PURE, 2_000),
        (laplace(1 / 1.5, 2), PURE, 4_000),
        (gaussian(0.5, 3), GDP, 2_000),
        (gaussian(0.8, 4), GDP, 16_000),
        (gaussian(0.5, 5), Claim(Currency.ZCDP, 0.5), 4_000),
        (gaussian(1.0, 6), Claim(Currency.PURE, 1.0, 1e-3), 8_000),
        (vector(1.0, 7), PURE, 8_000),
        (free_branch(8), PURE, 16_000),
        (no_answer(9), PURE, 2_000),
    ],
)
def test_what_is_wrong_is_refuted(sample, claim, most):
    finding = audit("wrong", sample, [PAIR], claim, alpha=0.001, most_runs=most)
    assert finding.violated
    assert finding.found >= finding.claimed
    assert "do(row = (0))" in finding.evidence
    assert "do(row = (1))" in finding.evidence
    assert "risk ratio" in finding.evidence


@pytest.mark.parametrize(("sample", "least"), [(laplace(1, 1), 0.7), (vector(2, 2), 0.4)])
def test_what_is_right_is_not_refuted_and_the_bound_comes_near(sample, least):
    finding = audit("right", sample, [PAIR, PAIR.swapped], PURE, alpha=0.001, most_runs=8_000)
    assert not finding.violated
    assert least <= finding.found < 1
    assert finding.runs == 2 * 2 * 8_000


def test_gaussian_noise_has_the_bound_of_its_curve():
    finding = audit("right", gaussian(1, 3), [PAIR], GDP, alpha=0.001, most_runs=8_000)
    assert not finding.violated
    assert 0.7 <= finding.found < 1


def test_the_bound_stays_below_the_truth():
    bounds = [
        bound_below(laplace(0.5, seed), PAIR.first, PAIR.second, PURE, alpha=0.01, most_runs=4_000)
        for seed in range(30)
    ]
    assert all(bound.refuted for bound in bounds)
    assert max(bound.amount for bound in bounds) < 2


def test_stopping_early_and_often_raises_no_more_alarms_than_alpha():
    """At a level of 20 %, looking after every batch, with the truth exactly at the claim."""
    alarms = sum(
        bound_below(laplace(1, seed), PAIR.first, PAIR.second, PURE, alpha=0.2, most_runs=1_000).refuted
        for seed in range(200)
    )
    assert alarms <= 40 + 17  # three standard deviations


@pytest.mark.nightly
def test_at_most_one_of_a_thousand_sound_audits_raises_an_alarm():
    kinds = [laplace, gaussian, vector]
    claims = [(PURE, 1.0), (GDP, 1.0), (PURE, 2.0)]
    alarms = 0
    for seed in range(1_000):
        claim, scale = claims[seed % 3]
        sample = kinds[seed % 3](scale, seed)
        alarms += audit("sound", sample, [PAIR], claim, alpha=0.001, most_runs=750).violated
    assert alarms <= 1


def test_nobody_can_expect_to_win_against_a_promise_that_holds():
    rng = np.random.default_rng(0)
    for _ in range(300):
        line = Line(float(rng.uniform(0, 3)), float(rng.choice([0, 0.01, 0.2])))
        q = rng.uniform(0, 1)
        p = min(1, line.factor * q + line.delta) * rng.uniform(0, 1)
        for stake in STAKES * line.largest_stake:
            bet = Bet(Equals(0, 1), False, line, float(stake))
            mean = sum(
                (p if x else 1 - p) * (q if y else 1 - q) * np.exp(bet.capital(np.array([x]), np.array([y])))
                for x, y in product((True, False), repeat=2)
            )
            assert mean <= 1 + 1e-12


def test_growth_is_the_mean_of_the_logarithm():
    line, p, q = Line(1.0, 0.01), 0.6, 0.1
    speeds = growth(np.array([p]), np.array([q]), line)[0]
    for stake, speed in zip(STAKES * line.largest_stake, speeds, strict=True):
        bet = Bet(Equals(0, 1), False, line, float(stake))
        mean = sum(
            (p if x else 1 - p) * (q if y else 1 - q) * bet.capital(np.array([x]), np.array([y]))
            for x, y in product((True, False), repeat=2)
        )
        assert speed == pytest.approx(mean)


@pytest.mark.parametrize("claim", [Claim(Currency.GDP, 0.7), Claim(Currency.ZCDP, 0.7**2 / 2)])
def test_the_lines_follow_from_the_promise(claim):
    cuts = np.linspace(-6, 6, 2_001)
    p, q = norm.sf(cuts - 0.7), norm.sf(cuts)
    for line in lines(claim):
        assert (p <= line.factor * q + line.delta + 1e-12).all()


def test_a_turned_bet_looks_at_the_other_side():
    first, second = np.array([True, True, False]), np.array([False, False, False])
    bet = Bet(Equals(0, 1), False, Line(0.5, 0.0), 0.3)
    turned = Bet(Equals(0, 1), True, Line(0.5, 0.0), 0.3)
    assert bet.capital(first, second) > 0
    assert turned.capital(second, first) == bet.capital(first, second)


def test_events_hold_where_they_should():
    outputs = Outputs.of([(1, "a"), (2.5, "b"), (None, "a"), np.array([7, 8, 9]), True])
    assert Cut((1,), (1.0,), 2.0, True).holds(outputs).tolist() == [False, True, False, True, False]
    assert Equals(2, "'a'").holds(outputs).tolist() == [True, False, True, False, False]
    assert Among(frozenset({("True",)})).holds(outputs).tolist() == [False, False, False, False, True]
    shape = Among(frozenset({("tuple of 2", "#", "'a'")}), shape=True)
    assert shape.holds(outputs).tolist() == [True, False, False, False, False]
    assert outputs.numbers(1)[0] == 1
    assert np.isnan(outputs.numbers(1)[2])


def test_outputs_of_any_kind_are_taken_apart():
    @dataclass(frozen=True)
    class Answer:
        count: object
        note: str

    assert [part for part in flat({"a": [1, {2}], "b": None}) if isinstance(part, int)] == [1, 2]
    assert flat(Answer(np.array([1.5, 2.5]), "ok")) == ("Answer", "array (2,)", 1.5, 2.5, "'ok'")
    assert flat('{"count": -12.5e1}') == ("'{\"count\": #}'", -125.0)
    assert flat((math.nan, math.inf, True, 10**400, Decimal("1.5"), 1 + 2j))[1:4] == ("nan", "inf", "True")
    different = [None, "None", True, "True", 1, [], [[]], [1], [[1]], {1}, ((1, 2), (3,)), ((1,), (2, 3)), 1j]
    different += [np.zeros((2, 1)), np.zeros((1, 2)), Graph(("a", "b")), Graph(("a", "b"), frozenset({("a", "b")}))]
    different += [Graph(("a", "b"), frozenset(), frozenset({frozenset(("a", "b"))}))]
    assert len({flat(output) for output in different}) == len(different)
    with pytest.raises(SettingError, match="cannot be compared"):
        black_box(lambda rows: object(), 1, 2, epsilon=1)


def test_a_word_that_is_rarer_on_one_table_is_seen():
    rng = np.random.default_rng(0)

    def mostly(rows):
        return math.nan if rows and rng.random() < 0.1 else float(rng.laplace())

    assert black_box(mostly, 0, 1, epsilon=1).violated


def test_candidates_find_the_part_that_differs():
    first = Outputs.of([("no", float(x)) for x in range(50)])
    second = Outputs.of([("yes" if x < 25 else "no", float(x)) for x in range(50)])
    assert Equals(1, "'yes'") in candidates(first, second)


def test_any_function_on_tables_of_any_kind():
    rng = np.random.default_rng(0)

    def mean_age(people):
        return sum(age for _, age in people) + rng.laplace(0, 50), len(people)

    first, second = [("ann", 30), ("bob", 90)], [("ann", 30), ("eve", 0)]
    finding = black_box(mean_age, first, second, epsilon=1)
    assert finding.violated
    assert "do(the row of the first table)" in finding.evidence
    assert not black_box(mean_age, first, second, epsilon=2).violated


def test_settings_that_mean_nothing_are_refused():
    with pytest.raises(SettingError, match="alpha"):
        bound_below(laplace(1, 1), PAIR.first, PAIR.second, PURE, alpha=0, most_runs=1_000)
    with pytest.raises(SettingError, match="bet against"):
        black_box(lambda rows: 1, 0, 1, epsilon=1000)
    with pytest.raises(SettingError, match="most_runs"):
        bound_below(laplace(1, 1), PAIR.first, PAIR.second, PURE, alpha=0.01, most_runs=10)
    with pytest.raises(SettingError, match="claim"):
        Claim(Currency.GDP, 1.0, 1e-6)
    with pytest.raises(SettingError, match="claim"):
        Claim(Currency.PURE, -1.0)


def test_the_claim_itself_is_among_the_levels():
    assert 1.0 in LEVELS
    assert list(LEVELS) == sorted(LEVELS)
