"""The reckoning beside the books: conversions, costs, budgets, limits and the room's door that are wrong are found."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.audit import books
from discreet.audit.books import CHECKS, audit_check, concentrated_delta, domains, gaussian_delta
from discreet.domain import Domain
from discreet.errors import RoomError
from discreet.ledger.prices import Limit, Price
from discreet.privacy import accounting, budget
from discreet.privacy.mechanisms import additive, exponential
from discreet.room import Room, _View
from discreet.sealed import Sealed


def found(name):
    _, promise, check = CHECKS[name]
    return audit_check(name, promise, check)


@pytest.mark.parametrize("name", CHECKS)
def test_the_books_are_right(name):
    result = found(name)
    assert not result.violated, result.evidence
    assert result.runs > 7


def test_deltas_are_those_of_the_papers():
    """Dong, Roth, Su 2022 and Canonne, Kamath, Steinke 2020, by formulae that are not ours."""
    phi = lambda x: math.erfc(-x / math.sqrt(2)) / 2  # noqa: E731
    assert gaussian_delta(0.8, 1.3) == pytest.approx(
        phi(0.4 - 1.3 / 0.8) - math.exp(1.3) * phi(-0.4 - 1.3 / 0.8), rel=1e-9
    )
    best = min(
        math.exp((a - 1) * (a * 0.05 - 1)) * (1 - 1 / a) ** a / (a - 1)
        for a in (1 + i / 1000 for i in range(1, 40_000))
    )
    assert concentrated_delta(0.05, 1.0) == pytest.approx(best, rel=1e-6)


def halved(real):
    return lambda *args, **settings: real(*args, **settings) / 2


def grown(real):
    return lambda *args, **settings: real(*args, **settings) * (1 + 1e-6)


WRONG = [
    ("conversions", books, "limit_of", grown),
    ("conversions", accounting, "mu_of", grown),
    ("conversions", accounting, "rho_of", grown),
    ("conversions", accounting, "epsilon_of_mu", lambda real: lambda *a: real(*a) * (1 - 1e-6)),
    ("conversions", accounting, "epsilon_of_rho", lambda real: lambda *a: real(*a) * (1 - 1e-6)),
    ("conversions", accounting, "gdp_delta", halved),
    ("conversions", accounting, "zcdp_delta", halved),
    ("conversions", accounting, "amplified", halved),
    ("conversions", accounting, "sample_epsilon", grown),
    ("conversions", accounting, "mu_of_range", lambda real: lambda e: real(e) * (1 - 1e-6)),
    ("conversions", accounting, "delta_for", lambda real: lambda rows: 1e-6),
    ("conversions", accounting, "check_guarantee", lambda real: lambda *a: None),
    ("made for an amount", additive, "root_at_least", lambda real: lambda square: real(square) * (1 - 1e-9)),
    ("made for an amount", exponential, "at_least", lambda real: lambda number: real(number) * (1 - 1e-9)),
    ("budgets", budget, "limit_of", lambda real: lambda *a: real(*a[:3])),
    ("budgets", budget, "ceil", lambda real: lambda amount: 0),
    ("limits", Price, "of_pure", lambda real: classmethod(lambda cls, e: real(e / 2))),
    ("limits", Limit, "left", lambda real: lambda self, spent: 1),
    ("doors", Sealed, "refuse_copies", lambda real: lambda self: None),
    ("doors", Sealed, "__copy__", lambda real: lambda self: self),
    ("doors", _View, "_check", lambda real: lambda self, sets: None),
]


@pytest.mark.parametrize(
    ("name", "where", "what", "change"), WRONG, ids=lambda part: getattr(part, "__name__", str(part))
)
def test_what_is_wrong_is_found(monkeypatch, name, where, what, change):
    monkeypatch.setattr(where, what, change(getattr(where, what)))
    assert found(name).violated


def test_a_statistic_that_is_evaluated_before_it_is_paid_for_is_found(monkeypatch):
    real = Room.release

    def release(self, statistic, mechanism):
        self._blurred(statistic, mechanism)
        return real(self, statistic, mechanism)

    monkeypatch.setattr(Room, "release", release)
    assert found("doors").violated


def test_an_error_that_tells_why_is_found(monkeypatch):
    def blurred(self, statistic, mechanism):
        try:
            return mechanism.blur(self._evaluated(statistic, self._table), self._noise)
        except ValueError as error:
            raise RoomError("failed") from error

    monkeypatch.setattr(Room, "_blurred", blurred)
    assert found("doors").violated


def test_a_charge_that_is_not_booked_is_found(monkeypatch):
    monkeypatch.setattr(budget.Budget, "spent", property(lambda self: Fraction(0)))
    assert found("budgets").violated


def test_a_rank_that_is_told_is_found(monkeypatch):
    def blur(self, exact, noise):
        noisy = exact + noise.discrete_laplace(self.scale, len(exact))
        return (noisy[1:] >= noisy[0]).sum(keepdims=True)

    monkeypatch.setattr(books.NoisyRank, "blur", blur)
    assert found("bits").violated


@pytest.mark.parametrize("forgotten", [{"draft": False}, {"people": None}, {"unit": "row"}])
def test_a_domain_that_forgets_its_guards_is_found(monkeypatch, forgotten):
    real = Domain.select
    monkeypatch.setattr(Domain, "select", lambda self, columns: replace(real(self, columns), **forgotten))
    assert "after select" in next(filter(None, domains()))
