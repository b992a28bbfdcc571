"""Additive integer noise: rounded Gaussian (GDP), discrete Gaussian (zCDP), discrete Laplace (pure)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.arrays import IntArray
from discreet.errors import SettingError
from discreet.mechanisms.scales import at_least, check_scale, root_at_least
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Cost
from discreet.statistics import Sensitivity

if TYPE_CHECKING:
    from discreet.privacy.noise import Noise


@dataclass(frozen=True)
class RoundedGaussian:
    """Adds a normal variable rounded to the nearest integer.

    Guarantee
    ---------
    mu-GDP with mu = (L2 sensitivity)/sigma, exactly, and so rho-zCDP with rho = mu^2/2.

    Proof
    -----
    ``additive.md``: for integers it is the continuous Gaussian mechanism followed by rounding.
    """

    sigma: float

    def __post_init__(self) -> None:
        check_scale(self.sigma, "sigma")

    @property
    def name(self) -> str:
        """What it is."""
        return f"rounded Gaussian noise, sigma {self.sigma:.6g}"

    @property
    def variance(self) -> float:
        """Variance of one draw, up to terms of order exp(-2 pi^2 sigma^2)."""
        return self.sigma**2 + 1 / 12

    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return mu^2 (and rho = mu^2/2)."""
        squared = sensitivity.l2_squared / Fraction(self.sigma) ** 2
        return Cost({Currency.GDP: squared, Currency.ZCDP: squared / 2})

    def blur(self, exact: IntArray, noise: Noise) -> IntArray:
        """Add rounded Gaussian noise."""
        return exact + noise.rounded_gaussian(self.sigma, len(exact))


@dataclass(frozen=True)
class DiscreteGaussian:
    """Adds discrete Gaussian noise.

    Guarantee
    ---------
    rho-zCDP with rho = (L2 sensitivity)^2/(2 sigma^2). It is not mu-GDP.

    Proof
    -----
    ``additive.md``.
    """

    sigma: float

    def __post_init__(self) -> None:
        check_scale(self.sigma, "sigma")

    @property
    def name(self) -> str:
        """What it is."""
        return f"discrete Gaussian noise, sigma {self.sigma:.6g}"

    @property
    def variance(self) -> float:
        """Upper bound on the variance of one draw."""
        return self.sigma**2

    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return rho."""
        return Cost({Currency.ZCDP: sensitivity.l2_squared / (2 * Fraction(self.sigma) ** 2)})

    def blur(self, exact: IntArray, noise: Noise) -> IntArray:
        """Add discrete Gaussian noise."""
        return exact + noise.discrete_gaussian(self.sigma, len(exact))


@dataclass(frozen=True)
class DiscreteLaplace:
    """Adds discrete Laplace noise.

    Guarantee
    ---------
    epsilon-DP with epsilon = (L1 sensitivity)/scale, and so rho-zCDP with rho = epsilon^2/2.

    Proof
    -----
    ``additive.md``.
    """

    scale: float

    def __post_init__(self) -> None:
        check_scale(self.scale, "scale")

    @property
    def name(self) -> str:
        """What it is."""
        return f"discrete Laplace noise, scale {self.scale:.6g}"

    @property
    def variance(self) -> float:
        """Variance of one draw."""
        ratio = math.exp(-1 / self.scale)
        return 2 * ratio / math.expm1(-1 / self.scale) ** 2

    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return epsilon (and rho = epsilon^2/2)."""
        epsilon = sensitivity.l1 / Fraction(self.scale)
        return Cost({Currency.PURE: epsilon, Currency.ZCDP: epsilon**2 / 2})

    def blur(self, exact: IntArray, noise: Noise) -> IntArray:
        """Add discrete Laplace noise."""
        return exact + noise.discrete_laplace(self.scale, len(exact))


Additive = RoundedGaussian | DiscreteGaussian | DiscreteLaplace


def additive_for(currency: Currency, amount: Fraction, sensitivity: Sensitivity) -> Additive:
    """Return the additive mechanism that spends at most ``amount`` of a currency: scales are rounded up."""
    if amount <= 0:
        raise SettingError("budget: nothing is left for this release")
    if currency is Currency.PURE:
        return DiscreteLaplace(at_least(sensitivity.l1 / amount))
    if currency is Currency.ZCDP:
        return DiscreteGaussian(root_at_least(sensitivity.l2_squared / (2 * amount)))
    return RoundedGaussian(root_at_least(sensitivity.l2_squared / amount))
