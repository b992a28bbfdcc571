"""Claims: what is promised about any two neighbouring tables, and the least of each kind that two laws need."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp, ndtri

from discreet.arrays import FloatArray, IntArray
from discreet.errors import SettingError
from discreet.privacy.accounting import Currency, gdp_delta, zcdp_delta
from discreet.privacy.budget import Cost

ORDERS = np.array([1.01, 1.1, 1.25, 1.5, 2, 2.5, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64])
"""Orders at which Renyi divergences are compared."""

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


def smallest_epsilon(p: FloatArray, q: FloatArray, delta: float = 0.0) -> tuple[float, tuple[int, ...]]:
    """Return the smallest epsilon >= 0 with p(E) <= e^epsilon q(E) + delta for all events E, and one that needs it.

    The event is empty if epsilon is 0; epsilon is infinite if nothing would do.
    """
    order, ratios = _ratios(p, q, delta)
    best = int(ratios.argmax())
    if ratios[best] <= 1:
        return 0.0, ()
    return float(np.log(ratios[best])), tuple(sorted(order[: best + 1].tolist()))


def smallest_epsilons(p: FloatArray, q: FloatArray, delta: float = 0.0) -> FloatArray:
    """Return the same for many pairs of laws at once, without events: the outputs are the last axis."""
    _, ratios = _ratios(p, q, delta)
    found: FloatArray = np.log(np.maximum(ratios.max(axis=-1), 1.0))
    return found


def _ratios(p: FloatArray, q: FloatArray, delta: float) -> tuple[IntArray, FloatArray]:
    """Return outputs from the most telling down, and (p(E) - delta)/q(E) of the first one, two, three ... of them."""
    order = _telling(p, q)
    first, second = (np.cumsum(np.take_along_axis(law, order, -1), -1) for law in (p, q))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return order, np.where(second > 0, (first - delta) / second, np.where(first > delta, np.inf, 0.0))


def _telling(p: FloatArray, q: FloatArray) -> IntArray:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(q > 0, p / q, np.where(p > 0, np.inf, -1.0))
    order: IntArray = np.argsort(-ratio, axis=-1, kind="stable")
    return order


def smallest_mu(p: FloatArray, q: FloatArray) -> tuple[float, IntArray]:
    """Return the smallest mu for which p against q is no easier to tell than N(mu, 1) against N(0, 1), and an event."""
    order = _telling(p, q)
    z = []
    for law in (p, q):
        inside, outside = np.cumsum(law[order]), np.cumsum(law[order][::-1])[::-1]
        outside = np.append(outside[1:], 0.0)
        z.append(np.where(inside < 0.5, ndtri(np.minimum(inside, 0.5)), -ndtri(np.minimum(outside, 0.5))))
    with np.errstate(invalid="ignore"):
        gaps = np.nan_to_num(z[0] - z[1], nan=0.0, posinf=np.inf)
    best = int(gaps.argmax())
    return max(0.0, float(gaps[best])), order[: best + 1]


def renyi(log_p: FloatArray, log_q: FloatArray) -> FloatArray:
    """Return the Renyi divergences of p from q at all ``ORDERS``, from logarithms of the probabilities."""
    there = log_p > -np.inf
    if (log_q[there] == -np.inf).any():
        return np.full(len(ORDERS), np.inf)
    p, q = log_p[there], log_q[there]
    found: FloatArray = logsumexp(ORDERS[:, None] * p + (1 - ORDERS[:, None]) * q, axis=1) / (ORDERS - 1)
    return found


def smallest_rho(divergences: FloatArray) -> tuple[float, float]:
    """Return the smallest rho with divergences of at most rho times their order, and the order that needs it."""
    rhos = divergences / ORDERS
    best = int(rhos.argmax())
    return max(0.0, float(rhos[best])), float(ORDERS[best])
