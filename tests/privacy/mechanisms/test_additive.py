"""Sensitivities by brute force, and the loss of every mechanism by exact summation."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data.memory import MemoryTable
from discreet.domain import Categorical, Domain, Numeric
from discreet.errors import SettingError
from discreet.privacy.accounting import Currency, gdp_delta
from discreet.privacy.mechanisms import at_least, root_at_least, root_below
from discreet.privacy.mechanisms.additive import (
    DiscreteGaussian,
    DiscreteLaplace,
    RoundedGaussian,
    ShapedGaussian,
    additive_for,
)
from discreet.statistics import Sensitivity
from discreet.statistics.counts import Counts, all_pairs
from discreet.statistics.quantiles import Quantiles


def domain_of(sizes, rows):
    return Domain({f"c{i}": Categorical(categories=tuple(map(str, range(s)))) for i, s in enumerate(sizes)}, rows=rows)


def values(statistic, domain, rows):
    """Evaluate a statistic on rows given as tuples of codes."""
    codes = {c: np.array([row[i] for row in rows], dtype=np.uint8) for i, c in enumerate(domain)}
    return statistic.evaluate(MemoryTable(codes, {c: domain.size(c) for c in domain}))


STATISTICS = [
    (("c0", "c1"),),
    (("c0", "c1"), ("c0", "c2"), ("c1", "c2")),
    (("c0",), ("c1", "c2"), ("c0", "c1", "c2")),
]


@pytest.mark.parametrize("sets", STATISTICS)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_sensitivity_of_counts_over_all_neighbours(sets, n):
    sizes = (2, 2, 3)
    domain, statistic = domain_of(sizes, n), Counts(sets)
    claimed = statistic.sensitivity(domain)
    cells = list(product(*(range(s) for s in sizes)))
    worst1 = worst2 = 0
    for rest in product(cells, repeat=n - 1):
        found = [values(statistic, domain, [*rest, cell]) for cell in cells]
        for a, b in combinations(found, 2):
            worst1 = max(worst1, int(np.abs(a - b).sum()))
            worst2 = max(worst2, int(((a - b) ** 2).sum()))
    assert worst1 == claimed.l1  # never above, and attained
    assert worst2 == claimed.l2_squared


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_sensitivity_of_counts_on_larger_tables(data):
    sizes = data.draw(st.lists(st.integers(1, 5), min_size=2, max_size=5))
    n = data.draw(st.integers(1, 40))
    row = st.tuples(*(st.integers(0, s - 1) for s in sizes))
    rows = data.draw(st.lists(row, min_size=n, max_size=n))
    i, other = data.draw(st.integers(0, n - 1)), data.draw(row)
    domain = domain_of(sizes, n)
    statistic = Counts(all_pairs(tuple(domain)))
    moved = values(statistic, domain, rows) - values(statistic, domain, [*rows[:i], other, *rows[i + 1 :]])
    claimed = statistic.sensitivity(domain)
    assert np.abs(moved).sum() <= claimed.l1
    assert (moved**2).sum() <= claimed.l2_squared


def test_counts_refuse_what_cannot_be_counted():
    with pytest.raises(SettingError, match="twice"):
        Counts((("a", "b"), ("b", "a")))
    with pytest.raises(SettingError, match="twice"):
        Counts((("a", "a"),))
    with pytest.raises(SettingError, match="at least one"):
        Counts(())
    with pytest.raises(SettingError, match="bins"):
        Counts((("x",),)).sensitivity(Domain({"x": Numeric(bounds=(0, 1))}, rows=5))
    with pytest.raises(SettingError, match="cells"):
        Counts((("c0", "c1"),)).sensitivity(domain_of((8000, 8000), 5))


def _phi(z):
    return (-z / arb(2).sqrt()).erfc() / 2


def hockey_stick(probability, shift, epsilon, reach):
    """Sum over k of max(0, P(k) - e^epsilon P(k - shift)): the exact delta of one cell moved by ``shift``."""
    with ctx.workprec(200):
        factor = arb(epsilon).exp()
        terms = (probability(k) - factor * probability(k - shift) for k in range(-reach, reach + 1))
        return float(sum((t for t in terms if t > 0), start=arb(0)))


def rounded_gaussian(sigma):
    s = arb(sigma)
    return lambda k: _phi((arb(2 * k + 1) / 2) / s) - _phi((arb(2 * k - 1) / 2) / s)


def discrete_gaussian(sigma, reach=400):
    with ctx.workprec(200):
        total = sum(((-arb(k * k)) / (2 * arb(sigma) ** 2)).exp() for k in range(-reach, reach + 1))
    return lambda k: (-arb(k * k) / (2 * arb(sigma) ** 2)).exp() / total


@pytest.mark.parametrize("sigma", [0.54, 1.54, 4.22])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_rounded_gaussian_is_gdp_and_the_discrete_one_is_not(sigma, epsilon):
    allowed = gdp_delta(1 / sigma, epsilon)
    with ctx.workprec(200):
        assert hockey_stick(rounded_gaussian(sigma), 1, epsilon, int(14 * sigma) + 8) <= allowed * (1 + 1e-9)
    mechanism = RoundedGaussian(sigma)
    one = Sensitivity(Fraction(1), Fraction(1))
    assert mechanism.cost(one).amount(Currency.GDP) == 1 / Fraction(sigma) ** 2
    assert mechanism.cost(one).amount(Currency.ZCDP) == 1 / (2 * Fraction(sigma) ** 2)
    assert set(DiscreteGaussian(sigma).cost(one).amounts) == {Currency.ZCDP}


def test_a_discrete_gaussian_would_break_a_gdp_claim():
    """Why the discrete Gaussian is not sold as GDP: at sigma 4.22 its delta at epsilon 1 is 2 % above."""
    sigma = 1 / 0.236704
    found = hockey_stick(discrete_gaussian(sigma), 1, 1.0, 80)
    assert found == pytest.approx(1.0197e-6, rel=1e-3)
    assert found > gdp_delta(1 / sigma, 1.0)


@pytest.mark.parametrize("alpha", [1.5, 2, 8, 32])
def test_the_discrete_gaussian_is_zcdp(alpha):
    sigma, shift = 1.54, 2
    p = discrete_gaussian(sigma)
    rho = DiscreteGaussian(sigma).cost(Sensitivity(Fraction(2), Fraction(4))).amount(Currency.ZCDP)
    with ctx.workprec(400):
        a = arb(alpha)
        total = sum(p(k) ** a * p(k - shift) ** (1 - a) for k in range(-150, 151))
        assert float(total.log() / (a - 1)) <= float(a) * float(rho) * (1 + 1e-9)


@pytest.mark.parametrize("scale", [0.5, 3.0, 40.0])
def test_the_discrete_laplace_is_pure(scale):
    epsilon = DiscreteLaplace(scale).cost(Sensitivity(Fraction(3), Fraction(9))).amount(Currency.PURE)
    losses = [(abs(k - 3) - abs(k)) / scale for k in range(-50, 50)]
    assert max(losses) == pytest.approx(float(epsilon))


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(list(Currency)), st.floats(1e-6, 100), st.integers(1, 5000))
def test_scales_are_rounded_up(currency, amount, tables):
    sensitivity = Sensitivity(Fraction(2 * tables), Fraction(2 * tables))
    limit = Fraction(amount)
    if tables / amount > 1e10:
        return
    spent = additive_for(currency, limit, sensitivity).cost(sensitivity).amount(currency)
    assert limit * (1 - Fraction(1, 10**14)) < spent <= limit


def test_scales_that_drown_everything_are_refused():
    with pytest.raises(SettingError, match="drown"):
        additive_for(Currency.PURE, Fraction(1, 10**15), Sensitivity(Fraction(2), Fraction(2)))
    with pytest.raises(SettingError, match="nothing is left"):
        additive_for(Currency.PURE, Fraction(0), Sensitivity(Fraction(2), Fraction(2)))


def test_variances():
    for mechanism, law in (
        (RoundedGaussian(1.7), rounded_gaussian(1.7)),
        (DiscreteGaussian(1.7), discrete_gaussian(1.7)),
        (DiscreteLaplace(1.7), lambda k: math.tanh(1 / 3.4) * math.exp(-abs(k) / 1.7)),
    ):
        exact = sum(k * k * float(law(k)) for k in range(-150, 151))
        assert mechanism.variance == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("number", [Fraction(k, d) for k in range(1, 40) for d in (1, 3, 7, 16)])
def test_roundings_are_on_the_side_of_privacy_and_no_further_than_they_must(number):
    assert math.nextafter(at_least(number), 0) < number <= at_least(number)
    assert math.nextafter(root_at_least(number), 0) ** 2 < number * (1 + Fraction(1, 1 << 52))
    assert Fraction(root_at_least(number)) ** 2 >= number
    assert number * (1 - Fraction(1, 1 << 48)) <= root_below(number) ** 2 <= number


def test_what_is_a_number_already_is_not_rounded():
    assert at_least(Fraction(3, 4)) == 0.75
    assert root_below(Fraction(9, 4)) == Fraction(3, 2) == root_at_least(Fraction(9, 4))


class Counting:
    """Noise that counts up, so that a draw that is used twice is seen."""

    def rounded_gaussian(self, scale, size):
        return np.arange(1, size + 1)

    discrete_gaussian = discrete_laplace = rounded_gaussian


@pytest.mark.parametrize("mechanism", [RoundedGaussian(3.0), DiscreteGaussian(3.0), DiscreteLaplace(3.0)])
def test_every_number_gets_a_draw_of_its_own(mechanism):
    assert mechanism.blur(np.array([10, 20, 30]), Counting()).tolist() == [11, 22, 33]


@pytest.mark.parametrize("square", [Fraction(0), Fraction(-1)])
def test_scales_that_are_none_are_refused(square):
    with pytest.raises(SettingError, match="positive"):
        ShapedGaussian(1.0, (Fraction(1), square))


def test_norms_of_quantiles_follow_from_the_largest_change():
    domain = Domain({"x": Numeric(bounds=(0.0, 1.0), bins=3, at="quantiles")}, rows=9)
    moved = Quantiles(("x",), 3).sensitivity(domain)
    assert moved.largest == 3
    assert moved.l2_squared == moved.l1 * moved.largest
