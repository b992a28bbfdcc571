"""Ledgers and budgets that are used at once, broken off and asked again: whatever is lost or given away is found."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from time import sleep

import pytest

from discreet.audit.ledgers import LEDGERS, steps, threads, turns
from discreet.ledger import ledger as ledgers
from discreet.ledger.ledger import Ledger
from discreet.ledger.prices import Limit, Price
from discreet.ledger.records import Standing
from discreet.privacy import budget
from discreet.privacy.noise import ExactNoise


@pytest.mark.parametrize("check", [check for _, _, check in LEDGERS.values()])
def test_the_library_keeps_its_books(check):
    looked = list(check())
    assert len(looked) > 10
    assert not any(looked)


def first_fault(check):
    return next(filter(None, check()), "")


def test_a_ledger_that_looks_before_it_locks_is_found(monkeypatch):
    real, read, looked = Ledger.reserve, ledgers._read_standing, []

    def reserve(self, dataset, *given, **settings):
        looked.append(self.standing(dataset))
        try:
            real(self, dataset, *given, **settings)
        finally:
            looked.pop()

    monkeypatch.setattr(Ledger, "reserve", reserve)
    monkeypatch.setattr(ledgers, "_read_standing", lambda *given: looked[-1] if looked else read(*given))
    assert "2 runs" in first_fault(turns)


def test_a_limit_that_is_a_little_too_wide_is_found(monkeypatch):
    real = Limit.allows
    monkeypatch.setattr(Limit, "allows", lambda self, spent: real(replace(self, epsilon=1.2 * self.epsilon), spent))
    assert "not fit is admitted" in first_fault(steps)


def test_a_run_that_is_not_counted_is_found(monkeypatch):
    monkeypatch.setattr(Standing, "with_run", lambda self, price, what, *, owner: replace(self, owner=owner, runs=1))
    assert first_fault(steps) == "the ledger lost count"


def test_a_release_shown_for_another_question_is_found(monkeypatch):
    monkeypatch.setattr(
        Ledger, "_find_answer", lambda self, session, dataset, request, asked: ledgers._read_stored(session, request)
    )
    assert "another question" in first_fault(steps)


def test_outside_spending_that_is_forgotten_is_found(monkeypatch):
    real = Ledger.spend
    nothing = Price(0, 0, 0)
    monkeypatch.setattr(Ledger, "spend", lambda self, dataset, price, **named: real(self, dataset, nothing, **named))
    assert first_fault(steps) == "the ledger lost count"


def test_a_budget_without_its_lock_is_found(monkeypatch):
    monkeypatch.setattr(budget, "Lock", nullcontext)
    real = budget.Budget.left.fget

    def left(self):
        found = real(self)
        sleep(1e-3)  # others come between looking and booking
        return found

    monkeypatch.setattr(budget.Budget, "left", property(left))
    assert "at once" in first_fault(threads)


def test_draws_that_threads_share_are_found(monkeypatch):
    real, kept = ExactNoise.rounded_gaussian, {}

    def cached(self, sigma, size):
        return kept.setdefault((id(self), sigma, size), real(self, sigma, size))

    monkeypatch.setattr(ExactNoise, "rounded_gaussian", cached)
    assert "same draws" in first_fault(threads)
