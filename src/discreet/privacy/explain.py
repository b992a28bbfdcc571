"""What (epsilon, delta) promises and what it does not, in numbers for a custodian and for a person in the data.

Proofs of what rows that are alike give away: ``../audit/exact.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

from scipy.special import ndtr, ndtri

from discreet.bisection import smallest
from discreet.errors import SettingError
from discreet.privacy.accounting import Currency, check_guarantee, gdp_delta, mu_of
from discreet.privacy.statement import Privacy

CHANCES = (0.01, 0.1, 0.5)
"""Chances and beliefs for which numbers are told."""

GROUPS = (2, 5)
"""Numbers of rows of one family for which numbers are told."""

MAX_ALIKE = 1_000_000

USUAL = "marginals"
"""The method that numbers are for where none was run."""


@dataclass(frozen=True)
class Promise:
    """What is promised for replacing one row.

    Parameters
    ----------
    epsilon, delta
        The promise.
    method
        What kept it, where it was kept; else the usual method would.
    gaussian
        Whether the method's noise keeps the whole curve of Gaussian differential privacy, where there is a delta.
    people
        Whose rows are protected all together, in a word; None where it is one row.
    """

    epsilon: float
    delta: float
    method: str | None = None
    gaussian: bool = True
    people: str | None = None

    def __post_init__(self) -> None:
        check_guarantee(self.epsilon, self.delta)

    @classmethod
    def of(cls, privacy: Privacy, method: str) -> Promise:
        """Return what a release promises: more than epsilon and delta only if all of it was paid for as Gaussian."""
        paid = {spending.currency for spending in privacy.spent}
        whose = None if privacy.max_rows is None else privacy.unit
        return cls(privacy.epsilon, privacy.delta, method, paid == {Currency.GDP.value}, whose)

    @cached_property
    def mu(self) -> float | None:
        """The noise as mu of Gaussian differential privacy; None where it is another."""
        return mu_of(self.epsilon, self.delta) if self.delta and self.gaussian else None

    @property
    def plain(self) -> bool:
        """Whether epsilon and a delta are all that is promised."""
        return bool(self.delta) and not self.gaussian

    @property
    def factor(self) -> float:
        """How many times as likely at most; infinite if it does not fit in a float."""
        return _exp(self.epsilon)

    def chance(self, other: float) -> float:
        """Return the most that an event can have with your row if it has ``other`` with another row in its place."""
        return min(self.factor * other + self.delta, 1 - math.exp(-self.epsilon) * (1 - other - self.delta), 1.0)

    def chance_here(self, other: float) -> float:
        """Return the same for the method's noise, whose curve may be lower."""
        return self.chance(other) if self.mu is None else min(self.chance(other), float(ndtr(ndtri(other) + self.mu)))

    @property
    def guess_by_definition(self) -> float:
        """How often at most the best guess is right by epsilon and delta alone, whatever the method."""
        return 1 - (1 - self.delta) / (1 + self.factor)

    @property
    def guess(self) -> float:
        """How often at most the best guess between two equally likely rows is right."""
        return self.guess_by_definition if self.mu is None else float(ndtr(self.mu / 2))

    @cached_property
    def surprise(self) -> float:
        """The log factor that a belief moves by at most, but for a share ``delta`` of cases.

        Let L be the log likelihood ratio of what came out, between your row and others in its place. The Gaussian curve
        d(e) bounds its tail: P(L > t) <= d(e)/(1 - exp(e - t)) for every e < t (``../audit/exact.md``).
        """
        mu = self.mu
        if mu is None:
            return self.epsilon

        def rare(t: float) -> bool:
            tries = (t - self.epsilon * share for share in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5))
            return any(gdp_delta(mu, e) <= -math.expm1(e - t) * self.delta for e in tries)

        return smallest(rare, self.epsilon)

    def belief(self, prior: float) -> float:
        """Return the most that a belief can become that was ``prior``; see ``surprise``."""
        return believed(prior, self.surprise)

    @property
    def odds(self) -> float | None:
        """The log factor that odds after a release differ by, with your row or another, whatever is known before.

        None with a delta, where a share of cases has no such factor. (Proof: ``../audit/exact.md``.)
        """
        return None if self.delta else 2 * self.epsilon

    def group(self, rows: int) -> float:
        """Return the epsilon, at the same delta, for replacing so many rows at once."""
        mu = self.mu
        if mu is None:
            return rows * self.epsilon
        return smallest(lambda epsilon: gdp_delta(rows * mu, epsilon) <= self.delta, self.epsilon)


@dataclass(frozen=True)
class Alike:
    """What a release may tell about you through others whose rows are like yours.

    Parameters
    ----------
    share
        How often another row has the same value as yours, of two values.
    rows
        How many such rows there are, besides yours.
    epsilon, delta
        What a belief about you may move by: a log factor, and what may exceed it.
    without_you
        The log factor with your own row overwritten.
    guess, guess_without_you
        How often at most the best guess between both values is right, if they were equally likely; and with your own
        row overwritten.
    """

    share: float
    rows: int
    epsilon: float
    delta: float
    without_you: float
    guess: float
    guess_without_you: float


def alike(promise: Promise, share: float, rows: int = 1) -> Alike:
    """Return what others that are like you give away about you: the most that any mechanism with this promise may.

    Proof
    -----
    ``../audit/exact.md``. Without a delta it is exact: a count with geometric noise attains it.
    """
    if not isinstance(share, Real) or not 0.5 <= share <= 1:
        raise SettingError("correlation: a share from 0.5 (nothing in common) to 1 (always the same value)")
    if not isinstance(rows, int) or not 1 <= rows <= MAX_ALIKE:
        raise SettingError(f"alike: a whole number from 1 to {MAX_ALIKE:,}")
    small = math.exp(-promise.epsilon)
    down = (1 - share) + share * small
    step = math.log(share + (1 - share) * small) - math.log(down) if down else promise.epsilon
    return Alike(
        share,
        rows,
        epsilon=promise.epsilon + rows * step,
        delta=_alike_delta(promise, share, rows, step),
        without_you=rows * step,
        guess=_alike_guess(promise, share, rows, promise.epsilon + rows * step, own=1),
        guess_without_you=_alike_guess(promise, share, rows, rows * step, own=0),
    )


def _alike_guess(promise: Promise, share: float, rows: int, loss: float, own: int) -> float:
    """Return the least of two bounds: all rows differ; each row adds its part of what one row can change."""
    together = believed(0.5, loss) if promise.mu is None else float(ndtr((rows + own) * promise.mu / 2))
    return min(together, 0.5 + (promise.guess - 0.5) * (own + rows * (2 * share - 1)))


def _alike_delta(promise: Promise, share: float, rows: int, step: float) -> float:
    """Return what may exceed the factor: each row adds a part of delta, which the rows after it multiply."""
    if not promise.delta or not step:
        return promise.delta
    if rows * step > 700:
        return 1.0
    small = math.exp(-promise.epsilon)
    added = (2 * share - 1) * small / ((1 - share) + share * small) * math.expm1(rows * step) / math.expm1(step)
    return min(1.0, promise.delta * min(1 + promise.factor * added, math.exp(rows * step) + added))


def believed(prior: float, loss: float) -> float:
    """Return what a belief becomes when its odds move by a log factor."""
    return 1 / (1 + (1 / prior - 1) * math.exp(-loss))


def numbers(promise: Promise, rows: int | None = None, like: Alike | None = None) -> dict[str, Any]:
    """Return all numbers as plain dictionaries; None in place of what is infinite or does not apply."""
    found: dict[str, Any] = {
        "schema": 1,
        "epsilon": promise.epsilon,
        "delta": promise.delta,
        "rows": rows,
        "method": promise.method or USUAL,
        "mu": promise.mu,
        "factor": _finite(promise.factor),
        "chances": [
            {"other": p, "yours_at_most": promise.chance_here(p), "by_definition": promise.chance(p)} for p in CHANCES
        ],
        "best_guess": promise.guess,
        "best_guess_by_definition": promise.guess_by_definition,
        "beliefs": [] if promise.plain else [{"before": p, "after_at_most": promise.belief(p)} for p in CHANCES],
        "beliefs_exceeded_at_most": promise.delta,
        "odds_with_another_row": None if promise.odds is None else _finite(_exp(promise.odds)),
        "overwritten_with": ["any row", "a row that says nothing"],
        "without_any_effect": {"epsilon": 0, "delta": 0},
        "causal_definition": "Tschantz, Sen and Datta 2020, Definitions 7 and 8, Proposition 4",
        "groups": [] if promise.plain else [{"rows": k, "epsilon": promise.group(k)} for k in GROUPS],
        "alike": None,
    }
    if like is not None:
        found["alike"] = {
            "correlation": like.share,
            "rows": like.rows,
            "epsilon": like.epsilon,
            "delta": like.delta,
            "epsilon_without_your_row": like.without_you,
            "best_guess": like.guess,
            "best_guess_without_your_row": like.guess_without_you,
        }
    return found


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _exp(number: float) -> float:
    return math.exp(number) if number < 700 else math.inf
