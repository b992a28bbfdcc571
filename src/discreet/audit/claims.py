"""Claims: what a mechanism promises about any two neighbouring tables, as a curve from epsilon to delta."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from discreet.errors import SettingError
from discreet.privacy.accounting import Currency, gdp_delta, zcdp_delta
from discreet.privacy.budget import Cost

_UNITS = {Currency.PURE: "epsilon", Currency.ZCDP: "rho", Currency.GDP: "mu"}


@dataclass(frozen=True)
class Claim:
    """A promise for any two neighbours.

    Parameters
    ----------
    currency
        Pure (also approximate) epsilon, zCDP or GDP.
    amount
        epsilon, rho or mu.
    delta
        Only beside epsilon.
    """

    currency: Currency
    amount: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.currency, Currency):
            raise SettingError("claim: the currency is Currency.PURE, Currency.ZCDP or Currency.GDP")
        if not 0 <= self.amount < math.inf or not 0 <= self.delta < 1:
            raise SettingError("claim: an amount from 0, and a delta from 0 to below 1")
        if self.delta and self.currency is not Currency.PURE:
            raise SettingError("claim: a delta stands beside epsilon only")

    @property
    def words(self) -> str:
        """The promise, in short."""
        beside = f", delta = {self.delta:g}" if self.delta else ""
        return f"{_UNITS[self.currency]} = {self.amount:.4g}{beside}"

    def at(self, amount: float) -> Claim:
        """Return the same kind of promise with another amount."""
        return replace(self, amount=amount)

    def delta_at(self, epsilon: float) -> float:
        """Return the delta that the promise grants at an epsilon, rounded up; 1 where it grants everything."""
        if self.currency is Currency.PURE:
            return self.delta if epsilon >= self.amount else 1.0
        if not self.amount:
            return 0.0
        curve = gdp_delta if self.currency is Currency.GDP else zcdp_delta
        return min(1.0, curve(self.amount, epsilon))


def claim_of(cost: Cost) -> Claim:
    """Return the strongest promise that a cost states: GDP, else pure epsilon, else zCDP."""
    if Currency.GDP in cost.amounts:
        return Claim(Currency.GDP, math.sqrt(cost.amounts[Currency.GDP]))
    currency = Currency.PURE if Currency.PURE in cost.amounts else Currency.ZCDP
    return Claim(currency, float(cost.amounts[currency]))


def claims_of(cost: Cost) -> list[Claim]:
    """Return every promise that a cost states."""
    roots = {Currency.GDP: math.sqrt}
    return [Claim(currency, roots.get(currency, float)(amount)) for currency, amount in cost.amounts.items()]
