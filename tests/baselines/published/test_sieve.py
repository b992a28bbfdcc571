"""Theorems 1 and 2 of Wang, Pang, Song 2020: what holds of sieve-and-examine, by exact sums and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.baselines.published.priv_pc import default_share
from discreet.baselines.published.sieve import Round, difference_tail


def test_errors_are_those_of_the_algorithm():
    rng = np.random.default_rng(0)
    runs, alpha = 400_000, 1.5
    for one in (Round(1.0), Round(2.0, share=0.3, tweak=1.0), Round(1.0, printed=True)):
        question, threshold = one.noise
        bar, asked, examined = (rng.laplace(0, scale, runs) for scale in (threshold, question, 2 / one.epsilon))
        for place, error in ((alpha, 0), (-alpha, 1)):
            passed = (place + asked >= bar - one.tweak) & (place + examined >= 0)
            share = np.mean(passed if error else ~passed)
            assert share == pytest.approx(one.errors(alpha)[error], abs=4 * math.sqrt(0.25 / runs))


def test_the_tail_of_a_difference_is_an_integral():
    x = np.linspace(-400, 400, 400_001)
    for distance in (-3.0, 0.0, 2.5):
        density = np.exp(-np.abs(x) / 2) / 4
        above = np.where(
            distance + x > 0, np.exp(-np.abs(distance + x) / 8) / 2, 1 - np.exp(-np.abs(distance + x) / 8) / 2
        )
        assert difference_tail(distance, 8.0, 2.0) == pytest.approx(np.trapezoid(density * above, x), abs=1e-5)


@pytest.mark.parametrize(("alpha", "error", "bound"), [(1.0, 0.1391, 0.0959), (2.0, 0.0769, 0.0122)])
def test_the_printed_bound_of_type_two_is_exceeded(alpha, error, bound):
    assert Round(1.0).errors(alpha)[1] == pytest.approx(error, abs=1e-4)
    assert Round(1.0).printed_bounds(alpha)[1] == pytest.approx(bound, abs=1e-4)
    spent = Round(1.0).spent
    printed = math.exp(-(12 * alpha + spent * alpha) / 6) - math.exp(-(6 * alpha + spent * alpha) / 3) / 4
    assert Round(1.0).printed_bounds(alpha)[1] == pytest.approx(printed)


def test_the_printed_bound_of_type_one_is_the_sieves_alone():
    one = Round(1.0, tweak=20.0)
    printed, error = one.printed_bounds(1.0)[0], one.errors(1.0)[0]
    assert (printed, error) == (pytest.approx(0.166, abs=1e-3), pytest.approx(0.336, abs=1e-3))
    assert difference_tail(21.0, *one.noise) < printed


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("share", [0.05, 0.5, 1.0])
def test_bounds_hold(epsilon, share):
    for tweak in (0.0, 1.0, 10.0):
        one = Round(epsilon, share, tweak)
        for alpha in np.linspace(tweak, tweak + 40, 41).tolist():
            (first, second), (least, other) = one.bounds(alpha), one.errors(alpha)
            assert least <= first
            assert other <= second
            assert (one.printed_bounds(alpha)[1] < second) == (1.5 * epsilon * alpha > math.log(2))


def loss_of_sieve(one, passes=1, asked=1e12):
    """The loss of many questions that do not pass, then some that do, in exact sums over a grid of thresholds.

    On the second table what does not pass lies one higher, and what passes one lower; on a sample without the replaced
    row all is as on the second.
    """
    question, threshold = one.noise
    shift = np.linspace(0, 600, 60_001)

    def log_chance(moved):
        tail = np.exp(-(shift - moved) / question) / 2
        none = np.where(tail < 0.5, asked * np.log1p(-np.minimum(tail, 0.5)), -np.inf)
        return np.logaddexp.reduce(-shift / threshold + none - passes * (shift + moved) / question)

    return math.log1p(one.share * math.expm1(log_chance(0) - log_chance(1)))


def test_line_4_of_algorithm_1_costs_the_sieve_half_as_much_again():
    assert Round(1.0).sieve_cost() == pytest.approx(0.5)
    assert Round(1.0, printed=True).sieve_cost() == pytest.approx(0.75)
    assert loss_of_sieve(Round(1.0)) == pytest.approx(0.5, rel=1e-3)
    assert loss_of_sieve(Round(1.0, printed=True)) == pytest.approx(0.75, rel=1e-3)


def test_what_a_kept_threshold_and_a_kept_sample_cost():
    assert Round(1.0).sieve_cost(4) == pytest.approx((1 + 4) / 4)  # below the four halves that section 3.1 bills
    assert Round(1.0, share=0.165).sieve_cost(2) < 2 * 0.5
    assert Round(1.0, share=0.165).sieve_cost(4) > 4 * 0.5
    assert Round(1.0, share=0.05).sieve_cost(2) > 2 * 0.5
    usual = Round(0.1, share=default_share(0.05))
    assert loss_of_sieve(usual, 10) == pytest.approx(usual.sieve_cost(10), rel=1e-2)
    assert loss_of_sieve(usual, 10) > 1.1 * 10 * usual.epsilon  # more than ten rounds are billed in all
