"""The exponential mechanism: its law is exact, and its cost in every currency covers its loss."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, norm

from discreet.errors import SettingError
from discreet.privacy.accounting import Currency, gdp_delta, mu_of_range, range_of_mu
from discreet.privacy.mechanisms.exponential import Selection, selection_for
from discreet.privacy.noise import CHOICE_BITS, WORD, ExactNoise, _weight, invert_choice
from discreet.statistics import Sensitivity
from discreet.testing import SeededNoise


@pytest.mark.parametrize("source", [ExactNoise(), SeededNoise(5)], ids=["exact", "seeded"])
@pytest.mark.parametrize("scale", [0.7, 3.0, 50.0])
def test_choices_have_the_law_of_the_exponential_mechanism(source, scale):
    us = np.array([0, -1, -1, -4, -2, -7, -300, -3])
    draws = 20_000
    chosen = source.exponential_choices(np.tile(us, (draws, 1)), scale)

    def p_value(wrong):
        weights = np.exp(us / (scale * wrong))
        expected = draws * weights / weights.sum()
        seen = np.bincount(chosen, minlength=len(us))
        rare = expected < 10
        if rare.any():
            expected, seen = [np.append(a[~rare], a[rare].sum()) for a in (expected, seen)]
            expected[-1] = max(expected[-1], 1e-3)
        return chi2.sf(((seen - expected) ** 2 / expected).sum(), len(expected) - 1)

    assert chosen.dtype == np.int64
    assert p_value(1) > 1e-6
    assert p_value(0.6) < 1e-6
    assert p_value(1.8) < 1e-6


def test_the_inversion_is_exact():
    """The choice changes at the very word that holds a threshold, and there by the bits that follow."""
    us, scale = [-3, 0, -1, -2, 0], 1.7
    for i in range(len(us) - 1):
        with ctx.workprec(600):
            weights = [(arb(u) / arb(scale)).exp() for u in us]
            threshold = sum(weights[: i + 1], arb(0)) / sum(weights, arb(0))
            word = int((threshold * arb(2) ** CHOICE_BITS).floor().unique_fmpz())
            following = int((threshold * arb(2) ** (CHOICE_BITS + WORD)).floor().unique_fmpz()) - (word << WORD)
        assert invert_choice(us, scale, bits_of(word - 1)) == i
        assert invert_choice(us, scale, bits_of(word + 1)) == i + 1
        assert invert_choice(us, scale, bits_of(word, following - 1)) == i
        assert invert_choice(us, scale, bits_of(word, following + 1)) == i + 1
        assert invert_choice(us, scale, bits_of(word, following, 0)) == i
        assert invert_choice(us, scale, bits_of(word, following, (1 << WORD) - 1)) == i + 1


def bits_of(*words):
    """A source of these bits and no others."""
    rest = list(words)
    return lambda bits: rest.pop(0)


def test_weights_are_enclosed():
    for drop, scale, bits in (
        (0, 1.0, 100),
        (3, 0.7, 100),
        (50, 1e-3, 200),
        (199, 1.0, 200),
        (200, 1.0, 200),
        (7, 1e9, 300),
    ):
        low, high = _weight(drop, scale, bits)
        with ctx.workprec(1000):
            assert arb(low) <= (-arb(drop) / arb(scale)).exp() * arb(2) ** bits <= arb(high)
        assert 0 <= high - low <= 1


def test_extreme_utilities():
    far = np.array([[-(2**58), 0, -(2**58)]] * 20)
    assert set(ExactNoise().exponential_choices(far, 1e-9).tolist()) == {1}
    assert set(ExactNoise().exponential_choices(-far, 2.0**40).tolist()) <= {0, 2}
    flat = ExactNoise().exponential_choices(np.zeros((300, 50), dtype=np.int64), 1.0)
    assert len(set(flat.tolist())) > 35


def coin_delta(p, q, epsilon):
    """The exact delta of a coin against another, both ways."""
    e = math.exp(epsilon)
    return max(
        max(0, p - e * q) + max(0, (1 - p) - e * (1 - q)),
        max(0, q - e * p) + max(0, (1 - q) - e * (1 - p)),
    )


@pytest.mark.parametrize("spread", [0.01, 0.3, 1.0, 4.0, 9.0])
def test_bounded_range_is_gdp_and_zcdp(spread):
    """Over all two-point laws of bounded range: hockey-stick divergences below those of mu, and attained."""
    mu = mu_of_range(Fraction(spread))
    assert mu == pytest.approx(2 * norm.ppf(1 / (1 + math.exp(-spread / 2))), rel=1e-12)
    nearest = 0.0
    for x in np.linspace(-spread - 4, 4, 81):
        q, p = 1 / (1 + math.exp(-x)), 1 / (1 + math.exp(-x - spread))
        nearest = max(nearest, (norm.ppf(p) - norm.ppf(q)) / mu)
        for epsilon in np.linspace(0, spread, 40):
            assert coin_delta(p, q, epsilon) <= gdp_delta(mu, float(epsilon)) * (1 + 1e-9) + 1e-14
        for alpha in (1.01, 2, 5, 30):
            renyi = math.log(p**alpha * q ** (1 - alpha) + (1 - p) ** alpha * (1 - q) ** (1 - alpha)) / (alpha - 1)
            assert renyi <= alpha * spread**2 / 8 + 1e-12
    assert nearest <= 1 + 1e-9
    p = 1 / (1 + math.exp(-spread / 2))
    assert norm.ppf(p) - norm.ppf(1 - p) == pytest.approx(mu, rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-30, 30), st.integers(-3, 3)), min_size=2, max_size=12), st.floats(0.5, 40))
def test_losses_of_the_mechanism_itself(pairs, scale):
    """Any utilities and any change of each by at most 3."""
    cost = Selection(scale, 1).cost(Sensitivity(Fraction(99), Fraction(99), Fraction(3)))
    epsilon, mu = float(cost.amount(Currency.PURE)), math.sqrt(cost.amount(Currency.GDP))
    u, v = np.array([a for a, _ in pairs]) / scale, np.array([a + b for a, b in pairs]) / scale
    p, q = np.exp(u - u.max()), np.exp(v - v.max())
    p, q = p / p.sum(), q / q.sum()
    losses = np.log(p / q)
    assert losses.max() - losses.min() <= epsilon + 1e-9
    assert np.abs(losses).max() <= epsilon + 1e-9
    for e in np.linspace(0, epsilon, 15):
        assert np.maximum(p - math.exp(e) * q, 0).sum() <= gdp_delta(mu, float(e)) * (1 + 1e-9) + 1e-13
    rho = float(cost.amount(Currency.ZCDP))
    for alpha in (1.5, 4.0):
        assert math.log((p**alpha * q ** (1 - alpha)).sum()) / (alpha - 1) <= alpha * rho + 1e-12


def test_mu_is_rounded_up_and_bounded():
    with ctx.workprec(400):
        for spread in (Fraction(1, 10**9), Fraction(1, 3), Fraction(7), Fraction(5000)):
            mu = mu_of_range(spread)
            tail = 1 / (1 + (arb(spread.numerator) / (2 * spread.denominator)).exp())
            for value, holds in ((mu, True), (mu * (1 - 1e-14), False)):
                assert bool((arb(value) / (2 * arb(2).sqrt())).erfc() / 2 <= tail) is holds
            assert range_of_mu(mu) == pytest.approx(float(spread), rel=1e-9)
    assert mu_of_range(Fraction(0)) == 0
    with pytest.raises(SettingError, match="epsilon"):
        mu_of_range(Fraction(10**9))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(list(Currency)), st.floats(1e-6, 100), st.integers(1, 300), st.integers(2, 20))
def test_scales_spend_what_they_may(currency, amount, choices, bins):
    sensitivity = Sensitivity(Fraction(1), Fraction(1), Fraction(bins))
    mechanism = selection_for(currency, Fraction(amount), sensitivity, choices)
    spent = mechanism.cost(sensitivity).amount(currency)
    assert Fraction(amount) * (1 - Fraction(1, 10**12)) < spent <= Fraction(amount)


def test_what_cannot_be_chosen():
    with pytest.raises(SettingError, match="largest change"):
        Selection(1.0, 1).cost(Sensitivity(Fraction(1), Fraction(1)))
    with pytest.raises(SettingError, match="at least one"):
        Selection(1.0, 0)
    with pytest.raises(SettingError, match="drown"):
        Selection(math.inf, 1)
    with pytest.raises(SettingError, match="nothing is left"):
        selection_for(Currency.PURE, Fraction(0), Sensitivity(Fraction(1), Fraction(1), Fraction(1)), 1)
