"""From (epsilon, delta) to the currencies in which costs add up, always rounded towards more privacy.

Every conversion is certified: the inequality that makes it valid is evaluated in Arb's ball arithmetic
(python-flint), whose enclosures contain the true value, and the answer is accepted only if the whole
enclosure satisfies it. Proofs: ``accounting.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from numbers import Real

from flint import arb

from discreet.bisection import largest, smallest
from discreet.errors import SettingError
from discreet.privacy.precision import precision

PRECISION = 256
"""Bits of the certified evaluations."""

GOLDEN_STEPS = 200
"""Steps of a golden section: more than the bits of a float."""

MAX_EPSILON = 100_000

DELTA = 1e-6
"""The delta that is promised where none is named, for tables of fewer than a million rows."""

MAX_RANGE = 10**7
"""Bounded range beyond which a choice has no cost worth the name."""


class Currency(Enum):
    """In what costs add up. Fixed before a run, never switched during it."""

    PURE = "pure epsilon"
    ZCDP = "zCDP rho"
    GDP = "GDP mu^2"


def check_guarantee(epsilon: float, delta: float, rows: int | None = None) -> None:
    """Refuse promises that mean nothing."""
    if not (isinstance(epsilon, Real) and 0 < epsilon < math.inf):
        raise SettingError("epsilon: a finite number above 0")
    if epsilon > MAX_EPSILON:
        raise SettingError("epsilon: so large that it would promise nothing")
    if not (isinstance(delta, Real) and 0 <= delta < 1):
        raise SettingError("delta: a number from 0 (pure epsilon) to below 1")
    if rows is not None and delta >= 1 / rows:
        raise SettingError(f"delta: must be below 1/rows = {1 / rows:.3g}; else it allows to publish a whole row")


def delta_for(rows: int | None = None) -> float:
    """Return the delta that is promised where none is named: a tenth of 1/rows at most from a million rows on."""
    return DELTA if rows is None or rows < 1 / DELTA else float(f"1e-{len(str(rows - 1)) + 1}")


def as_written(number: float) -> Fraction:
    """Return the decimal number that a float is written as: ten times 0.1 is 1."""
    return Fraction(repr(float(number)))


def limit_of(currency: Currency, epsilon: float, delta: float, group: int = 1) -> Fraction:
    """Return the most that may be spent on one row under (epsilon, delta) for so many rows at once, rounded down.

    Proof
    -----
    ``accounting.md``, several rows at once: for ``group`` rows pure epsilon counts ``group`` times, and rho and the
    square of mu count ``group`` squared times.
    """
    if currency is Currency.PURE:
        return as_written(epsilon) / group
    if delta == 0:
        raise SettingError("delta: 0 means pure epsilon, which only Laplace noise can give")
    if currency is Currency.ZCDP:
        return Fraction(rho_of(epsilon, delta)) / group**2
    return Fraction(mu_of(epsilon, delta)) ** 2 / group**2


@lru_cache
def mu_of(epsilon: float, delta: float) -> float:
    """Return the largest float mu such that mu-GDP certainly implies (epsilon, delta)-DP.

    Proof
    -----
    Corollary 2.13 of Dong, Roth, Su 2022: mu-GDP is (epsilon, delta(mu, epsilon))-DP for every epsilon, with
    ``delta = Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2)``, increasing in mu.
    """
    return _largest(lambda mu: _certainly_below(_gdp_delta(mu, epsilon), delta), "epsilon, delta")


@lru_cache
def rho_of(epsilon: float, delta: float) -> float:
    """Return a float rho, as large as certifiable, such that rho-zCDP implies (epsilon, delta)-DP.

    Proof
    -----
    Proposition 7 of Canonne, Kamath, Steinke 2020: for every alpha > 1, rho-zCDP is (epsilon, delta)-DP with
    ``delta = e^((alpha-1)(alpha rho - epsilon)) (1 - 1/alpha)^alpha / (alpha - 1)``. Any alpha gives a valid
    delta; the best one is searched in floats and the inequality certified for it.
    """
    return _largest(lambda rho: _certainly_below(_zcdp_delta(rho, epsilon), delta), "epsilon, delta")


@lru_cache(maxsize=4096)
def epsilon_of_rho(rho: float, delta: float) -> float:
    """Return an epsilon, as small as certifiable, such that rho-zCDP implies (epsilon, delta)-DP; infinite if none."""
    return smallest(lambda epsilon: _certainly_below(_zcdp_delta(rho, epsilon), delta), 1.0, most=MAX_EPSILON)


@lru_cache(maxsize=4096)
def epsilon_of_mu(mu: float, delta: float) -> float:
    """Return the smallest float epsilon such that mu-GDP certainly implies (epsilon, delta)-DP; infinite if none."""
    return smallest(lambda epsilon: _certainly_below(_gdp_delta(mu, epsilon), delta), 1.0, most=MAX_EPSILON)


@lru_cache(maxsize=256)
def mu_of_range(epsilon: Fraction) -> float:
    """Return the smallest float mu such that a mechanism of bounded range epsilon is certainly mu-GDP.

    Proof
    -----
    ``accounting.md``: it is mu-GDP as soon as ``Phi(-mu/2) <= 1 / (1 + e^(epsilon/2))``, which is certified.
    """
    if epsilon > MAX_RANGE:
        raise SettingError("epsilon: so large that it would promise nothing")
    if not epsilon:
        return 0.0
    with precision(PRECISION):
        tail = 1 / (1 + (arb(epsilon.numerator) / arb(2 * epsilon.denominator)).exp())
        return smallest(lambda mu: bool(_two_sided_tail(mu) <= 2 * tail), 1.0)


def amplified(epsilon: Fraction, share: Fraction) -> Fraction:
    """Return log(1 + share (e^epsilon - 1)), rounded up: what epsilon-DP on a sample of that share costs.

    Proof
    -----
    ``accounting.md``.
    """
    if not 0 < share <= 1 or epsilon < 0:
        raise SettingError("sample: a share above 0 and at most 1")
    if share == 1 or epsilon > MAX_RANGE:
        return epsilon
    with precision(PRECISION):
        e, w = (arb(f.numerator) / arb(f.denominator) for f in (epsilon, share))
        grown = (1 + w * e.expm1()).log()
        return min(epsilon, Fraction(math.nextafter(float(grown.upper()), math.inf)))


def sample_epsilon(epsilon: Fraction, share: Fraction) -> Fraction:
    """Return an epsilon on a sample of that share which costs at most ``epsilon``, as large as can be certified."""
    low, high = epsilon, 2 * epsilon
    while amplified(high, share) <= epsilon:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if amplified(middle, share) <= epsilon else (low, middle)
    return low


def range_of_mu(mu: float) -> float:
    """Return a bounded range that costs about mu, a little below the exact one: a place to start from."""
    with precision(PRECISION):
        tail = _two_sided_tail(mu)
        return math.nextafter(float((2 * ((2 - tail) / tail).log()).lower()), 0)


def _two_sided_tail(mu: float) -> arb:
    """Return an enclosure of 2 Phi(-mu/2)."""
    return (arb(mu) / (2 * arb(2).sqrt())).erfc()


@lru_cache(maxsize=4096)
def gdp_delta(mu: float, epsilon: float) -> float:
    """Return the delta at epsilon of mu-GDP, rounded up."""
    return math.nextafter(float(_gdp_delta(mu, epsilon).upper()), math.inf)


@lru_cache(maxsize=4096)
def zcdp_delta(rho: float, epsilon: float) -> float:
    """Return a delta at epsilon of rho-zCDP, rounded up."""
    return math.nextafter(float(_zcdp_delta(rho, epsilon).upper()), math.inf)


def _gdp_delta(mu: float, epsilon: float) -> arb:
    with precision(PRECISION):
        m, e, root = arb(mu), arb(epsilon), arb(2).sqrt()
        first = ((e / m - m / 2) / root).erfc() / 2
        return first - e.exp() * (((e / m + m / 2) / root).erfc() / 2)


def _zcdp_delta(rho: float, epsilon: float) -> arb:
    alpha = _best_alpha(rho, epsilon)
    with precision(PRECISION):
        a, r, e = arb(alpha), arb(rho), arb(epsilon)
        return ((a - 1) * (a * r - e)).exp() * (1 - 1 / a) ** a / (a - 1)


def _best_alpha(rho: float, epsilon: float) -> float:
    """Minimise the logarithm of the conversion over alpha (unimodal in log(alpha - 1)) by golden section."""

    def log_delta(t: float) -> float:
        a = 1 + math.exp(t)
        return (a - 1) * (a * rho - epsilon) + a * math.log1p(-1 / a) - t

    low, high = -20.0, 40.0
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(GOLDEN_STEPS):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, right) if log_delta(left) < log_delta(right) else (left, high)
    return 1 + math.exp((low + high) / 2)


def _certainly_below(enclosure: arb, bound: float) -> bool:
    with precision(PRECISION):
        return bool(enclosure <= arb(bound))


def _largest(holds: Callable[[float], bool], what: str) -> float:
    """Return the largest float found by bisection at which a monotone condition certainly holds."""
    found = largest(holds, 1.0)
    if found == 0:
        raise SettingError(f"{what}: too small for any release")
    return found
