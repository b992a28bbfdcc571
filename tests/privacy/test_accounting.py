"""Conversions between currencies: certified, rounded towards privacy, and checked against another library."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction
from threading import Thread

import pytest
from dp_accounting import GaussianDpEvent
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from discreet.errors import BudgetError, RoomError, SettingError
from discreet.privacy.accounting import Currency, check_guarantee, delta_for, gdp_delta, limit_of, mu_of, rho_of
from discreet.privacy.budget import Budget, Cost


def plain_gdp_delta(mu, epsilon):
    return norm.cdf(-epsilon / mu + mu / 2) - math.exp(epsilon) * norm.cdf(-epsilon / mu - mu / 2)


def plain_zcdp_delta(rho, epsilon):
    def log_delta(t):
        a = 1 + math.exp(t)
        return (a - 1) * (a * rho - epsilon) + a * math.log1p(-1 / a) - t

    return math.exp(minimize_scalar(log_delta, bounds=(-5, 15), method="bounded", options={"xatol": 1e-10}).fun)


@pytest.mark.parametrize(("epsilon", "mu"), [(0.1, 0.0275), (0.3, 0.07696), (1, 0.2367), (3, 0.6477), (10, 1.848)])
def test_mu_of_known_cases(epsilon, mu):
    found = mu_of(epsilon, 1e-6)
    assert mu <= found < mu * 1.002
    assert plain_gdp_delta(found, epsilon) == pytest.approx(1e-6, rel=1e-6)
    assert gdp_delta(found, epsilon) <= 1e-6 * (1 + 1e-12)
    assert gdp_delta(found * 1.0001, epsilon) > 1e-6


def test_rho_of_known_case():
    rho = rho_of(1, 1e-6)
    assert rho == pytest.approx(0.024356, abs=1e-6)
    assert plain_zcdp_delta(rho, 1) == pytest.approx(1e-6, rel=1e-4)
    assert plain_zcdp_delta(0.0244, 1) == pytest.approx(1.02e-6, rel=2e-3)


@settings(max_examples=30, deadline=None)
@given(st.floats(0.01, 20), st.floats(1e-12, 0.1))
def test_conversions_are_tight_and_never_over(epsilon, delta):
    mu, rho = mu_of(epsilon, delta), rho_of(epsilon, delta)
    assert plain_gdp_delta(mu, epsilon) <= delta * (1 + 1e-5)
    assert plain_zcdp_delta(rho, epsilon) <= delta * (1 + 1e-5)
    assert mu**2 / 2 >= rho * (1 - 1e-9)  # Gaussian accounting is never worse than zCDP
    assert limit_of(Currency.GDP, epsilon, delta) == Fraction(mu) ** 2


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_against_dp_accounting(epsilon):
    mu = mu_of(epsilon, 1e-6)
    pld = PLDAccountant(value_discretization_interval=1e-4).compose(GaussianDpEvent(1 / mu))
    assert pld.get_epsilon(1e-6) == pytest.approx(epsilon, rel=2e-3)
    rho = rho_of(epsilon, 1e-6)
    rdp = RdpAccountant().compose(GaussianDpEvent(1 / math.sqrt(2 * rho)))
    assert rdp.get_epsilon(1e-6) == pytest.approx(epsilon, rel=2e-2)


@pytest.mark.parametrize("epsilon", [0, -1, math.inf, math.nan, "1", None])
def test_epsilons_that_promise_nothing(epsilon):
    with pytest.raises(SettingError, match="epsilon"):
        Budget(epsilon=epsilon, delta=1e-6)


@pytest.mark.parametrize("delta", [1, 1.5, -1e-9, math.nan, math.inf])
def test_deltas_that_promise_nothing(delta):
    with pytest.raises(SettingError, match="delta"):
        Budget(epsilon=1, delta=delta)


def test_extreme_promises_are_refused_in_words():
    with pytest.raises(SettingError, match="promise nothing"):
        Budget(epsilon=1e13, delta=1e-6)


def cost(amount, currency=Currency.PURE):
    return Cost({currency: Fraction(amount)})


def test_the_budget_is_a_filter():
    budget = Budget(epsilon=1, delta=0)
    assert budget.currency is Currency.PURE
    budget.charge(cost("0.6"), statistic="a", mechanism="m")
    with pytest.raises(BudgetError, match="refuses b"):
        budget.charge(cost("0.41"), statistic="b", mechanism="m")
    assert Fraction("0.6") <= budget.spent < Fraction("0.6") + Fraction(1, 10**30)
    budget.charge(cost(budget.left), statistic="c", mechanism="m")
    assert budget.left == 0
    with pytest.raises(BudgetError):
        budget.charge(cost(Fraction(1, 10**30)), statistic="d", mechanism="m")
    assert [e.statistic for e in budget.entries] == ["a", "c"]


def test_sums_are_exact_over_thousands_of_charges():
    budget = Budget(epsilon=1e-6, delta=0)
    shares = [Fraction(i, 8192 * 8191 // 2) * budget.limit for i in range(1, 8192)]
    for share in shares[:-1]:
        budget.charge(Cost({Currency.PURE: share}), statistic="s", mechanism="m")
    assert shares[-1] - Fraction(8192, 1 << 128) <= budget.left <= shares[-1]
    with pytest.raises(BudgetError):
        budget.charge(Cost({Currency.PURE: shares[-1] * Fraction(1000001, 1000000)}), statistic="s", mechanism="m")


def test_two_halves_fit():
    budget = Budget(epsilon=1e-6, delta=0)
    for _ in range(2):
        budget.charge(Cost({Currency.PURE: Fraction("1e-6") / 2}), statistic="s", mechanism="m")
    assert budget.left < Fraction(1, 10**30)


@pytest.mark.parametrize(("epsilon", "delta"), [(1e-48, 0), (1e-24, 1e-29)])
def test_promises_too_small_for_any_release(epsilon, delta):
    with pytest.raises(SettingError, match="too small"):
        Budget(epsilon=epsilon, delta=delta)


def test_costs_are_fractions():
    for amount in (math.nan, math.inf, 0.5):
        with pytest.raises(SettingError, match="fractions"):
            Cost({Currency.PURE: amount})


def test_threads_cannot_overspend():
    budget = Budget(epsilon=1, delta=0)
    admitted = []

    def spend():
        for _ in range(200):
            try:
                admitted.append(budget.charge(cost("0.01"), statistic="s", mechanism="m"))
            except BudgetError:
                return

    threads = [Thread(target=spend) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(admitted) == 100  # a hundredth is a whole number of grains
    assert budget.spent == budget.limit


def test_charges_between_grains_are_rounded_up():
    budget = Budget(epsilon=1, delta=0)
    for _ in range(2):
        budget.charge(cost(Fraction(1, 3)), statistic="s", mechanism="m")
    with pytest.raises(BudgetError):
        budget.charge(cost(Fraction(1, 3)), statistic="s", mechanism="m")


@pytest.mark.parametrize("forbidden", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_budget_cannot_be_forked(forbidden):
    with pytest.raises(RoomError):
        forbidden(Budget(epsilon=1, delta=0))


def test_a_currency_is_never_switched():
    budget = Budget(epsilon=1, delta=1e-6)
    with pytest.raises(SettingError, match="no proved cost"):
        budget.charge(cost("0.001", Currency.ZCDP), statistic="s", mechanism="m")
    assert not budget.entries
    with pytest.raises(SettingError, match="delta"):
        Budget(epsilon=1, delta=1e-6, currency=Currency.PURE)
    with pytest.raises(SettingError, match="delta"):
        Budget(epsilon=1, delta=0, currency=Currency.GDP)
    with pytest.raises(SettingError):
        cost(-1)


@pytest.mark.parametrize(
    ("rows", "delta"),
    [(None, 1e-6), (1, 1e-6), (999_999, 1e-6), (1_000_000, 1e-7), (1_000_001, 1e-8), (10**7, 1e-8), (10**12, 1e-13)],
)
def test_the_delta_that_nobody_named_stays_below_one_row(rows, delta):
    assert delta_for(rows) == delta
    check_guarantee(1.0, delta_for(rows), rows)
