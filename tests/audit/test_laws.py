"""Laws of mechanisms by listening; what mechanisms state, checked exactly on all small tables; errors caught."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats

from discreet.audit.claims import Claim, smallest_epsilon
from discreet.audit.finite import all_neighbours, exact_finding, exact_finite
from discreet.audit.laws import Draw, law_of, log_law
from discreet.audit.vectors import Vectors
from discreet.domain import Categorical, Domain, Numeric
from discreet.errors import SettingError
from discreet.privacy.accounting import Currency, mu_of
from discreet.privacy.budget import Cost
from discreet.privacy.mechanisms.additive import (
    DiscreteGaussian,
    DiscreteLaplace,
    RoundedGaussian,
    ShapedGaussian,
    additive_for,
)
from discreet.privacy.mechanisms.exponential import Selection, TopK, selection_for
from discreet.statistics import Sensitivity
from discreet.statistics.counts import Counts
from discreet.statistics.interactions import Interactions
from discreet.statistics.quantiles import Quantiles

MU = 0.236704  # of (1, 1e-6)


def domain_of(sizes, rows):
    return Domain({f"c{i}": Categorical(categories=tuple(map(str, range(s)))) for i, s in enumerate(sizes)}, rows=rows)


ONE, TWO = domain_of((2,), 3), domain_of((2, 3), 3)
TABLE = Counts((("c0",),))


@dataclass(frozen=True)
class Ones:
    """How many rows have a one: a single count."""

    name = "ones"
    columns = ("c0",)

    def sensitivity(self, domain):
        return Sensitivity(Fraction(1), Fraction(1), largest=Fraction(1))

    def evaluate(self, table):
        return table.counts([("c0",)])[0][1:2]


@dataclass(frozen=True)
class Popular:
    """Utilities: how often each level occurs."""

    name = "popular"
    columns = ("c0",)

    def sensitivity(self, domain):
        return Sensitivity(Fraction(2), Fraction(2), largest=Fraction(1))

    def evaluate(self, table):
        return table.counts([("c0",)])[0]


def billed(mechanism, **amounts):
    """Return the mechanism with another bill."""

    class Billed(type(mechanism)):
        def cost(self, sensitivity):
            return Cost({Currency[key]: Fraction(amount) for key, amount in amounts.items()})

    return Billed(**{key: getattr(mechanism, key) for key in mechanism.__dataclass_fields__})


def blurring(function, **amounts):
    """Return a mechanism that blurs by a function."""

    class Blurring:
        name = "planted"

        def cost(self, sensitivity):
            return Cost({Currency[key]: Fraction(amount) for key, amount in amounts.items()})

        def blur(self, exact, noise):
            return function(exact, noise)

    return Blurring()


def test_the_law_of_each_mechanism():
    exact = np.array([3, -1, 4])
    for mechanism, kind, scale in (
        (RoundedGaussian(1.5), "rounded Gaussian", 1.5),
        (DiscreteGaussian(2.5), "discrete Gaussian", 2.5),
        (DiscreteLaplace(0.5), "discrete Laplace", 0.5),
    ):
        assert law_of(mechanism, exact) == tuple(Draw(kind, scale, at) for at in (3, -1, 4))
    shaped = law_of(ShapedGaussian(2.0, (Fraction(1), Fraction(4), Fraction(1))), exact)
    assert shaped == tuple(Draw("rounded Gaussian", s, at) for s, at in ((2.0, 3), (4.0, -1), (2.0, 4)))
    chosen = law_of(Selection(2.0, 2), np.array([3, -1, 4, 0]))
    assert chosen == (Draw("choice", 2.0, 0, (3, -1)), Draw("choice", 2.0, 0, (4, 0)))


def test_what_is_not_blurred_has_a_law_too():
    half = blurring(lambda exact, noise: exact + np.append(noise.discrete_laplace(1.0, 1), 0), PURE=1)
    assert law_of(half, np.array([3, 5])) == (Draw("discrete Laplace", 1.0, 3), Draw("none", 0.0, 5))


@pytest.mark.parametrize(
    "function",
    [
        lambda exact, noise: np.maximum(exact + noise.discrete_laplace(1.0, len(exact)), 0),
        lambda exact, noise: exact + noise.discrete_laplace(1.0, 1),  # one draw for all coordinates
        lambda exact, noise: exact + 2 * noise.discrete_laplace(1.0, len(exact)),
        lambda exact, noise: exact + noise.discrete_laplace(1.0, len(exact)) + noise.discrete_laplace(1.0, len(exact)),
        lambda exact, noise: np.append(noise.exponential_choices(exact[None], 1.0), noise.discrete_laplace(1.0, 1)),
        lambda exact, noise: exact + noise.discrete_laplace(1.0, 2) // 2,
    ],
)
def test_other_laws_cannot_be_told(function):
    mechanism = blurring(function, PURE=1)
    assert law_of(mechanism, np.array([3, 5])) is None
    with pytest.raises(SettingError, match="cannot be told"):
        exact_finding("x", mechanism, TABLE, ONE)


def test_laws_of_noise():
    outputs = np.arange(-6, 9)
    rounded = np.exp(log_law(Draw("rounded Gaussian", 1.7, 2), -6, 8))
    sf = stats.norm(2, 1.7).sf
    assert rounded[1:-1] == pytest.approx(sf(outputs[1:-1] - 0.5) - sf(outputs[1:-1] + 0.5), rel=1e-9)
    assert rounded[-1] == pytest.approx(sf(7.5), rel=1e-12)
    assert np.exp(log_law(Draw("discrete Laplace", 1.7, 2), -6, 8))[1:-1] == pytest.approx(
        np.tanh(0.5 / 1.7) * np.exp(-np.abs(outputs[1:-1] - 2) / 1.7), rel=1e-12
    )
    weights = np.exp(-(np.arange(-60, 61) ** 2) / (2 * 1.7**2))
    gaussian = np.exp(log_law(Draw("discrete Gaussian", 1.7, 2), -6, 8))
    assert gaussian[1:-1] == pytest.approx(
        np.exp(-((outputs[1:-1] - 2) ** 2) / (2 * 1.7**2)) / weights.sum(), rel=1e-12
    )
    assert gaussian[-1] == pytest.approx(weights[66:].sum() / weights.sum(), rel=1e-12)
    choice = np.exp(log_law(Draw("choice", 2.0, 0, (1, 4, 0)), 0, 2))
    assert choice == pytest.approx(np.exp([0.5, 2, 0]) / np.exp([0.5, 2, 0]).sum(), rel=1e-12)
    assert np.exp(log_law(Draw("choice", 2.0, 0, (1, 4, 0)), 0, 1)) == pytest.approx([choice[0], choice[1:].sum()])
    assert log_law(Draw("none", at=9), 0, 2).tolist() == [-np.inf, -np.inf, 0.0]


@pytest.mark.parametrize("kind", ["rounded Gaussian", "discrete Gaussian", "discrete Laplace"])
@pytest.mark.parametrize(("scale", "at"), [(0.3, 0), (1.0, 5), (4.2, -40), (20.0, 3)])
def test_laws_sum_to_one_and_reach_far(kind, scale, at):
    law = log_law(Draw(kind, scale, at), -30, 30)
    assert np.isfinite(law).all()
    assert np.exp(law).sum() == pytest.approx(1, rel=1e-13)


def test_all_neighbours_are_all():
    pairs = list(all_neighbours(domain_of((3,), 2)))
    seen = {(tuple(sorted(p.first.ravel())), tuple(sorted(p.second.ravel()))) for p in pairs}
    tables = [(a, b) for a in range(3) for b in range(a, 3)]
    # neighbours share a row
    expected = {(s, t) for s in tables for t in tables if s != t and set(s) & set(t)}
    assert seen == expected
    with pytest.raises(SettingError, match="pairs"):
        list(all_neighbours(domain_of((3, 3, 3), 4)))


@pytest.mark.parametrize("domain", [ONE, TWO, domain_of((3,), 4)])
@pytest.mark.parametrize("currency", list(Currency))
@pytest.mark.parametrize("amount", [Fraction(1, 10), Fraction(1), Fraction(4)])
def test_additive_noise_keeps_what_it_states_and_wastes_little(domain, currency, amount):
    statistic = Counts((tuple(domain),))
    mechanism = additive_for(currency, amount, statistic.sensitivity(domain))
    finding = exact_finding("x", mechanism, statistic, domain)
    assert finding.runs > 5
    assert finding.verdict == "no violation"
    exactly = 1e-9 if currency is not Currency.GDP else 0.01  # two counts move, and rounding is worth a little
    assert finding.found == pytest.approx(finding.claimed, rel=exactly)


@pytest.mark.parametrize("sigma", [0.03, 0.1, 0.5, 1.0, 3.0, 10.0])
def test_gaussian_noise_on_one_count_is_used_up(sigma):
    finding = exact_finding("x", RoundedGaussian(sigma), Ones(), ONE)
    assert (finding.claim[:2], finding.verdict) == ("mu", "no violation")
    assert finding.found == pytest.approx(1 / sigma, rel=1e-12)


def test_hardly_any_noise_raises_no_false_alarm():
    domain = domain_of((2, 2), 2)
    for sigma in (0.05, 0.1, 0.2, 0.5):
        finding = exact_finding("x", RoundedGaussian(sigma), Counts((("c0",), ("c1",), ("c0", "c1"))), domain)
        assert finding.verdict == "no violation"


@pytest.mark.parametrize("sets", [(("c0",),), (("c0",), ("c1",)), (("c0",), ("c1",), ("c0", "c1"))])
def test_shaped_noise_keeps_what_it_states(sets):
    statistic = Interactions(sets, tuple(range(1, len(sets) + 1)))
    mechanism = additive_for(Currency.GDP, Fraction(1), statistic.sensitivity(TWO))
    finding = exact_finding("x", mechanism, statistic, TWO)
    assert finding.verdict == "no violation"
    assert finding.found / finding.claimed > 0.97


@pytest.mark.parametrize("scale", [0.3, 1.0, 5.0])
def test_choices_keep_what_they_state(scale):
    finding = exact_finding("x", Selection(scale, 1), Popular(), domain_of((2,), 1))
    assert (finding.claim[:2], finding.verdict) == ("mu", "no violation")
    assert finding.found == pytest.approx(finding.claimed, rel=1e-9)  # two candidates that swap: the worst case


def test_quantiles_keep_what_they_state():
    domain = Domain({"x": Numeric(bounds=(0, 1), bins=3, at="quantiles")}, rows=3)
    statistic = Quantiles(("x",), 3)
    rows = np.array([[0], [60], [128], [255]])
    for currency in Currency:
        mechanism = selection_for(currency, Fraction(1), statistic.sensitivity(domain), statistic.choices)
        finding = exact_finding("x", mechanism, statistic, domain, rows)
        assert finding.verdict == "no violation"
        assert finding.found > 0.2 * finding.claimed


@pytest.mark.parametrize("factor", [0.5, 1 / 1.05, 1 - 1e-6])
def test_laplace_noise_that_is_too_small_is_caught(factor):
    planted = blurring(lambda exact, noise: exact + noise.discrete_laplace(2 * factor, len(exact)), PURE=1)
    finding = exact_finding("x", planted, TABLE, ONE)
    assert finding.violated
    assert finding.found == pytest.approx(1 / factor, rel=1e-9)
    assert "one row (0) -> (1)" in finding.evidence


def test_a_discrete_gaussian_is_not_gdp():
    mu = mu_of(1.0, 1e-6)
    assert mu == pytest.approx(MU, abs=1e-6)
    finding = exact_finding("x", billed(DiscreteGaussian(1 / mu), GDP=Fraction(mu) ** 2), Ones(), ONE)
    assert finding.violated
    assert finding.found / finding.claimed > 1 + 1e-4
    draws = Draw("discrete Gaussian", 1 / mu, 1), Draw("discrete Gaussian", 1 / mu)
    p, q = (np.exp(log_law(draw, -50, 50)) for draw in draws)
    assert np.maximum(0, p - math.e * q).sum() == pytest.approx(1.0197e-6, rel=1e-4)
    assert smallest_epsilon(p, q, 1e-6)[0] > 1
    assert not exact_finding("x", billed(RoundedGaussian(1 / mu), GDP=Fraction(mu) ** 2), Ones(), ONE).violated


def test_other_wrong_bills_are_caught():
    wrong = [
        (billed(Selection(1.0, 1), PURE=1), Popular(), domain_of((2,), 3)),  # without the factor 2
        (billed(RoundedGaussian(5.0), PURE=1), Ones(), ONE),
        (billed(DiscreteGaussian(5.0), ZCDP=Fraction(1, 51)), Ones(), ONE),
        (billed(DiscreteLaplace(2.0), PURE=1, ZCDP=Fraction(1, 20)), TABLE, ONE),  # one of two promises is wrong
        (blurring(lambda exact, noise: exact.copy(), PURE=1), TABLE, ONE),
        (blurring(lambda exact, noise: exact + noise.rounded_gaussian(1.0 + exact[0], len(exact)), GDP=2), TABLE, ONE),
        (blurring(lambda exact, noise: (exact + noise.discrete_laplace(9.0, 2))[: exact[0]], PURE=1), TABLE, ONE),
    ]
    for mechanism, statistic, domain in wrong:
        finding = exact_finding("x", mechanism, statistic, domain)
        assert finding.violated, mechanism
        assert finding.found > finding.claimed


def test_noise_that_depends_on_the_rows_is_caught():
    mechanism = blurring(lambda e, noise: e + (noise.discrete_laplace(2.0, 2) if e[0] else 0 * e), PURE=1)
    finding = exact_finding("x", mechanism, TABLE, ONE)
    assert math.isinf(finding.found)
    assert finding.violated


def randomised_response(lie):
    return lambda database: {database[0]: 1 - lie, 1 - database[0]: lie}


@pytest.mark.parametrize(
    ("claim", "violated"),
    [
        (Claim(Currency.PURE, math.log(3)), False),
        (Claim(Currency.PURE, math.log(2.99)), True),
        (Claim(Currency.PURE, math.log(2.99), 0.01), False),
        (Claim(Currency.GDP, 2 * stats.norm.ppf(0.75)), False),
        (Claim(Currency.GDP, 1.99 * stats.norm.ppf(0.75)), True),
        (Claim(Currency.ZCDP, math.log(3) ** 2 / 2), False),
        (Claim(Currency.ZCDP, 0.3), True),
    ],
)
def test_a_finite_mechanism(claim, violated):
    finding = exact_finite("x", randomised_response(0.25), 2, 2, claim)
    assert finding.violated is violated
    assert (finding.runs, finding.claimed, finding.auditor) == (8, claim.amount, "exact")
    assert "->" in finding.evidence


def test_a_law_must_sum_to_one():
    with pytest.raises(SettingError, match="sum to 1"):
        exact_finite("x", lambda database: {0: 0.5}, 1, 2, Claim(Currency.PURE, 1.0))
    with pytest.raises(SettingError, match="databases"):
        exact_finite("x", randomised_response(0.25), 20, 2, Claim(Currency.PURE, 1.0))
    nothing = exact_finite("x", lambda database: {0: 1.0}, 0, 2, Claim(Currency.PURE, 1.0))
    assert (nothing.found, nothing.violated) == (0.0, False)


def redrawn(exact, noise):
    while True:
        drawn = noise.discrete_laplace(2.0, 2)
        if (np.abs(drawn) <= 8).all() and drawn.any():
            return exact + drawn


@pytest.mark.parametrize(
    "blur",
    [
        lambda e, noise: e + np.where(np.abs(z := noise.discrete_laplace(2.0, 2)) <= 1, 0, z),
        lambda e, noise: np.sort(e + noise.discrete_laplace(2.0, 2)),
        lambda e, noise: e + np.clip(noise.discrete_laplace(4e6, 2), -8_000_000, 8_000_000),
        lambda e, noise: (e + noise.discrete_laplace(2.0, 2)).reshape(1, -1),
        redrawn,
    ],
    ids=["small noise dropped", "sorted", "clipped far out", "another shape", "redrawn until small"],
)
def test_what_only_looks_like_a_sum_has_no_law(blur):
    assert law_of(blurring(blur, PURE=1), np.array([1, 3])) is None


def test_a_choice_that_is_replaced_has_no_law():
    def best_for_two(exact, noise):
        chosen = noise.exponential_choices(np.array([[1, 5, 2, 0, 3]]), 2.0)
        return np.where(chosen == 2, 1, chosen)

    assert law_of(blurring(best_for_two, PURE=1), np.array([1, 3])) is None


@pytest.mark.parametrize("groups", [None, (0, 0, 1)])
def test_choices_that_depend_on_each_other_are_listed(groups):
    """The law of the best two is that of choosing one by one, written out."""
    utilities, scale = [3, 0, 1], 2.0
    (draw,) = law_of(TopK(scale, 2, groups), np.array(utilities))
    weights = np.exp(np.array(utilities) / scale)
    expected = {}
    for i in range(3):
        for j in range(3):
            left = [k for k in range(3) if (k != i if groups is None else groups[k] != groups[i])]
            if j in left:
                expected[i, j] = weights[i] / weights.sum() * weights[j] / weights[left].sum()
    assert draw.kind == "listed"
    assert dict(draw.listed).keys() == expected.keys()
    for output, log in draw.listed:
        assert math.exp(log) == pytest.approx(expected[output], rel=1e-12)
    assert sum(expected.values()) == pytest.approx(1)


def test_the_best_two_at_the_price_of_one_are_caught():
    class Cheap(TopK):
        def cost(self, sensitivity):
            return Selection(self.scale, 1).cost(sensitivity)

    few = domain_of((3,), 3)
    assert not exact_finding("best two", TopK(2.0, 2), Popular(), few).violated
    assert exact_finding("best two", Cheap(2.0, 2), Popular(), few).violated


def test_choices_that_stop_by_exact_values_are_caught():
    class Short(TopK):
        def blur(self, exact, noise):
            return super().blur(exact, noise)[: 1 + int((exact >= 0).sum() > 1)]

    every = Vectors(tuple(product((-2, 0, 1), repeat=3)))
    assert not exact_finding("all", TopK(3.0, 2), every, every.domain).violated
    assert exact_finding("short", Short(3.0, 2), every, every.domain).violated
