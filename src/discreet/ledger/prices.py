"""What runs cost, in every currency in which that is proved, and limits of data sets. Proofs: ``prices.md``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, inf, isinf, log10, nextafter, sqrt
from typing import Any

from discreet.errors import LedgerError, SettingError
from discreet.privacy.accounting import (
    Currency,
    as_written,
    check_guarantee,
    epsilon_of_mu,
    epsilon_of_rho,
    limit_of,
    mu_of_range,
    rho_of,
)
from discreet.privacy.budget import GRAINS, Budget

MOST_DIGITS = 100
"""Digits of a number of grains: far more than any cost has."""

SHOWN_DELTA = 1e-6
"""The delta at which a total is shown where no limit names one."""


def grains_up(amount: Fraction | float) -> int:
    """Return an amount in grains, rounded up."""
    return ceil(Fraction(amount) * GRAINS)


def grains_down(amount: Fraction | float) -> int:
    """Return an amount in grains, rounded down."""
    return floor(Fraction(amount) * GRAINS)


@dataclass(frozen=True)
class Price:
    """A cost, or a sum of costs, in grains.

    Parameters
    ----------
    zcdp
        In zCDP; everything has a cost in it.
    pure
        In pure epsilon; None where no such cost is proved.
    gdp
        In Gaussian accounting (mu squared); None where no such cost is proved.
    delta
        What approximate parts add to delta, in any currency.
    """

    zcdp: int
    pure: int | None
    gdp: int | None
    delta: int = 0

    @classmethod
    def of_budget(cls, budget: Budget) -> Price:
        """Return what a run costs that may spend a whole budget: for all rows that it promises to protect together."""
        limit = budget.promised
        if budget.currency is Currency.PURE:
            return cls.of_pure(limit)
        if budget.currency is Currency.GDP:
            return cls(grains_up(limit / 2), None, grains_up(limit))
        return cls(grains_up(limit), None, None)

    @classmethod
    def of_pure(cls, epsilon: Fraction) -> Price:
        """Return what a pure promise costs."""
        mu = Fraction(mu_of_range(2 * epsilon))
        return cls(grains_up(min(epsilon * epsilon / 2, epsilon)), grains_up(epsilon), grains_up(mu * mu))

    @classmethod
    def of_outside(cls, epsilon: float, delta: float) -> Price:
        """Return what a release by other means costs, of which only epsilon and delta are known."""
        check_guarantee(epsilon, delta)
        pure = cls.of_pure(as_written(epsilon))
        return pure if delta == 0 else cls(pure.zcdp, None, None, grains_up(as_written(delta)))

    def plus(self, other: Price) -> Price:
        """Return the sum; a currency that one of both lacks is lacking."""
        return Price(
            self.zcdp + other.zcdp, _sum(self.pure, other.pure), _sum(self.gdp, other.gdp), self.delta + other.delta
        )

    def amount(self, currency: Currency) -> int | None:
        """Return the cost in a currency."""
        return {Currency.PURE: self.pure, Currency.ZCDP: self.zcdp, Currency.GDP: self.gdp}[currency]

    def to_dict(self) -> dict[str, str | None]:
        """Return plain data: whole numbers of grains, as text."""
        return {name: None if value is None else str(value) for name, value in vars(self).items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Price:
        """Read it back."""
        pure, gdp = (None if data[name] is None else _grains(data[name]) for name in ("pure", "gdp"))
        return cls(_grains(data["zcdp"]), pure, gdp, _grains(data["delta"]))

    def epsilon(self, delta: float, *currencies: Currency) -> float | None:
        """Return an epsilon that it amounts to at a delta, rounded up; None if there is none.

        The smallest of those that follow from the given currencies, or from all.
        """
        found: list[float] = []
        spare = _at_most(max(Fraction(delta) - Fraction(self.delta, GRAINS), Fraction(0)))
        for currency in currencies or tuple(Currency):
            grains = self.amount(currency)
            if grains is None:
                continue
            amount = _at_least(Fraction(grains, GRAINS))
            if not grains:
                found.append(0.0)
            elif currency is Currency.PURE:
                found.append(amount)
            elif spare > 0 and currency is Currency.ZCDP:
                found.append(epsilon_of_rho(amount, spare))
            elif spare > 0:
                found.append(epsilon_of_mu(nextafter(sqrt(amount), inf), spare))
        return None if not found or isinf(min(found)) else min(found)


NOTHING = Price(0, 0, 0)


@dataclass(frozen=True)
class Limit:
    """What may be spent on a data set in all, in one currency that is fixed when it is declared.

    Parameters
    ----------
    epsilon, delta
        The promise for everything together. A delta of 0 means pure epsilon, any other zCDP.
    approximate
        The part of delta that is put by for approximate parts, such as releases by other means with a delta.
    """

    epsilon: float
    delta: float
    approximate: float = 0.0

    def __post_init__(self) -> None:
        try:
            for name in ("epsilon", "delta", "approximate"):
                object.__setattr__(self, name, float(getattr(self, name)))
        except (TypeError, ValueError, OverflowError):
            raise SettingError("epsilon, delta, approximate: numbers") from None
        check_guarantee(self.epsilon, self.delta)
        if not 0 <= self.approximate <= self.delta or (self.delta and self.approximate == self.delta):
            raise SettingError("approximate: a part of delta, and less than all of it")

    @property
    def currency(self) -> Currency:
        """In what costs add up."""
        return Currency.ZCDP if self.delta else Currency.PURE

    @property
    def amount(self) -> int:
        """What may be spent, in grains, rounded down."""
        spare = self.delta
        if self.approximate:
            spare = _at_most(Fraction(self.delta) - Fraction(self.put_by, GRAINS))
        amount = grains_down(limit_of(self.currency, self.epsilon, spare))
        if not amount:
            raise SettingError("epsilon, delta: too small for any release")
        return amount

    @property
    def put_by(self) -> int:
        """What approximate parts may add to delta, in grains, rounded up: as much as one part of that size costs."""
        return grains_up(as_written(self.approximate))

    def left(self, spent: Price) -> int:
        """Return what is left of the amount, in grains; below 0 if more is spent."""
        found = spent.amount(self.currency)
        return -1 if found is None else self.amount - found

    def allows(self, spent: Price) -> bool:
        """Whether a total keeps to it."""
        return self.left(spent) >= 0 and spent.delta <= self.put_by

    def share(self, spent: Price) -> float:
        """Return the share of the amount that is spent; 1 if it cannot be told in the limit's currency."""
        found = spent.amount(self.currency)
        return 1.0 if found is None else float(Fraction(found, self.amount))

    def largest(self, spent: Price, *, pure: bool, delta: float) -> float:
        """Return about the largest epsilon that a further run could have, rounded down; 0 if none."""
        left = Fraction(max(self.left(spent), 0), GRAINS)
        if not left or spent.delta > self.put_by:
            return 0.0
        if self.currency is Currency.PURE:
            found = float(left)
        elif pure:
            found = max(sqrt(2 * left), float(left))
        else:
            found = epsilon_of_rho(float(left), delta) if delta else 0.0
        for shrink in (1.0, 0.999, 0.99):
            epsilon = _round_down(found * shrink)
            if epsilon and self._fits(epsilon, left, pure=pure, delta=delta):
                return epsilon
        return 0.0

    def _fits(self, epsilon: float, left: Fraction, *, pure: bool, delta: float) -> bool:
        if self.currency is Currency.PURE:
            return as_written(epsilon) <= left
        try:
            asks = Price.of_pure(as_written(epsilon)).zcdp if pure else grains_up(rho_of(epsilon, delta))
            return asks <= left * GRAINS
        except SettingError:
            return False

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"epsilon": self.epsilon, "delta": self.delta, "approximate": self.approximate}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Limit:
        """Read it back."""
        return cls(float(data["epsilon"]), float(data["delta"]), float(data["approximate"]))


@dataclass(frozen=True)
class Change:
    """A change of a limit, or the first one: what is None stays as it was declared.

    Parameters
    ----------
    epsilon, delta, approximate
        As of a ``Limit``. Where there is none yet, delta is 1e-6 and approximate 0 unless they are named.
    """

    epsilon: float
    delta: float | None = None
    approximate: float | None = None

    def of(self, before: Limit | None) -> Limit:
        """Return the limit that it makes of another one."""
        delta, put_by = (SHOWN_DELTA, 0.0) if before is None else (before.delta, before.approximate)
        if self.delta is not None:
            delta = Limit(self.epsilon, self.delta).delta
        if self.approximate is not None:
            put_by = self.approximate
        elif 0 < delta <= put_by:
            raise SettingError(
                f"approximate: {put_by:g} of the limit's delta is put by, and stays so unless it is named; name less "
                "than delta"
            )
        elif not delta:
            put_by = 0.0
        return Limit(self.epsilon, delta, put_by)


def smallest_limit(limit: Limit, spent: Price) -> Limit | None:
    """Return the smallest limit, in three digits, that holds what is spent: like another one as far as possible."""
    delta, put_by = limit.delta, limit.approximate
    if spent.amount(limit.currency) is None:
        delta = SHOWN_DELTA
    if spent.delta > limit.put_by:
        put_by = round_up(float(Fraction(spent.delta, GRAINS)))
        if grains_up(as_written(put_by)) < spent.delta:  # floats are not exact
            put_by = round_up(1.001 * put_by)
    if put_by >= delta > 0:
        delta = round_up(2 * put_by)
    currency = Currency.ZCDP if delta else Currency.PURE
    epsilon = Price(spent.zcdp, spent.pure, None, grains_up(as_written(put_by))).epsilon(delta, currency)
    for raised in (1.0, 1.001, 1.01):
        try:
            found = Limit(round_up((epsilon or inf) * raised), delta, put_by)
            if found.allows(spent):
                return found
        except SettingError:
            return None
    return None


def _grains(text: object) -> int:
    """Read a number of grains."""
    if not isinstance(text, str) or not text.isascii() or not text.isdigit() or len(text) > MOST_DIGITS:
        raise LedgerError("the ledger holds a cost that is none")
    return int(text)


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def _at_least(value: Fraction) -> float:
    """Return a float that is not below a fraction."""
    found = float(value)
    return found if Fraction(found) >= value else nextafter(found, inf)


def _at_most(value: Fraction) -> float:
    """Return a float that is not above a fraction."""
    found = float(value)
    return found if Fraction(found) <= value else nextafter(found, 0.0)


def _round_down(value: float) -> float:
    """Round down to three digits."""
    if value <= 0:
        return 0.0
    step = 10.0 ** (floor(log10(value)) - 2)
    return float(f"{floor(value / step) * step:.6g}")


def round_up(value: float) -> float:
    """Round up to three digits."""
    if value <= 0 or isinf(value):
        return value
    step = 10.0 ** (floor(log10(value)) - 2)
    return float(f"{ceil(value / step - 1e-9) * step:.6g}")
