"""Additive integer noise: rounded Gaussian (GDP), also shaped; discrete Gaussian (zCDP); discrete Laplace (pure)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.arrays import IntArray
from discreet.errors import SettingError
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Cost
from discreet.privacy.mechanisms import at_least, check_scale, root_at_least
from discreet.statistics import Sensitivity

if TYPE_CHECKING:
    from discreet.privacy.noise import Noise


def _plain(sensitivity: Sensitivity) -> Sensitivity:
    """Refuse a sensitivity that is about scaled coordinates: even noise would not keep its promise."""
    if sensitivity.squares is not None:
        raise SettingError("this statistic takes noise in the proportions of its scales")
    return sensitivity


@dataclass(frozen=True)
class RoundedGaussian:
    """Adds a normal variable rounded to the nearest integer.

    Guarantee
    ---------
    mu-GDP with mu = (L2 sensitivity)/sigma, exactly, and so rho-zCDP with rho = mu^2/2.

    Proof
    -----
    ``additive.md``, Rounded Gaussian: for integers it is the continuous Gaussian mechanism followed by rounding.
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
        squared = _plain(sensitivity).l2_squared / Fraction(self.sigma) ** 2
        return Cost({Currency.GDP: squared, Currency.ZCDP: squared / 2})

    def blur(self, exact: IntArray, noise: Noise) -> IntArray:
        """Add rounded Gaussian noise."""
        return exact + noise.rounded_gaussian(self.sigma, len(exact))


@dataclass(frozen=True)
class ShapedGaussian:
    """Adds normal noise rounded to the nearest integer, larger on coordinates with larger scales.

    Coordinate j gets the standard deviation sigma sqrt(squares[j]), rounded up.

    Guarantee
    ---------
    mu-GDP with mu = (L2 sensitivity of the coordinates divided by their scales)/sigma, and so rho-zCDP with
    rho = mu^2/2.

    Proof
    -----
    ``additive.md``, Shaped Gaussian.
    """

    sigma: float
    squares: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        check_scale(self.sigma, "sigma")
        if any(square <= 0 for square in self.squares):
            raise SettingError("squares: scales are positive")
        for square in {float(square) for square in self.squares}:
            check_scale(self.sigma * math.sqrt(square), "sigma")

    @property
    def name(self) -> str:
        """What it is."""
        return f"rounded Gaussian noise, sigma {self.sigma:.6g} in proportion to scales"

    @property
    def variance(self) -> float:
        """Variance of one draw on a coordinate of scale 1; on others in proportion, up to 1/12 for rounding."""
        return self.sigma**2 + 1 / 12

    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return mu^2 (and rho = mu^2/2)."""
        if sensitivity.squares != self.squares:
            raise SettingError("the statistic has other scales than the noise was shaped for")
        squared = sensitivity.l2_squared / Fraction(self.sigma) ** 2
        return Cost({Currency.GDP: squared, Currency.ZCDP: squared / 2})

    def blur(self, exact: IntArray, noise: Noise) -> IntArray:
        """Add rounded Gaussian noise, one group of equal scales after the other."""
        if len(exact) != len(self.squares):
            raise SettingError("the statistic has another length than the noise was shaped for")
        places: dict[Fraction, list[int]] = {}
        for j, square in enumerate(self.squares):
            places.setdefault(square, []).append(j)
        blurred = exact.copy()
        for square, where in places.items():
            deviation = root_at_least(Fraction(self.sigma) ** 2 * square)
            blurred[where] += noise.rounded_gaussian(deviation, len(where))
        return blurred


@dataclass(frozen=True)
class DiscreteGaussian:
    """Adds discrete Gaussian noise.

    Guarantee
    ---------
    rho-zCDP with rho = (L2 sensitivity)^2/(2 sigma^2). It is not mu-GDP.

    Proof
    -----
    ``additive.md``, Discrete Gaussian.
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
        return Cost({Currency.ZCDP: _plain(sensitivity).l2_squared / (2 * Fraction(self.sigma) ** 2)})

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
    ``additive.md``, Discrete Laplace.
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
        epsilon = _plain(sensitivity).l1 / Fraction(self.scale)
        return Cost({Currency.PURE: epsilon, Currency.ZCDP: epsilon**2 / 2})

    def blur(self, exact: IntArray, noise: Noise) -> IntArray:
        """Add discrete Laplace noise."""
        return exact + noise.discrete_laplace(self.scale, len(exact))


Additive = RoundedGaussian | ShapedGaussian | DiscreteGaussian | DiscreteLaplace


def additive_for(currency: Currency, amount: Fraction, sensitivity: Sensitivity) -> Additive:
    """Return the additive mechanism that spends at most ``amount`` of a currency: scales are rounded up."""
    if amount <= 0:
        raise SettingError("budget: nothing is left for this release")
    if sensitivity.squares is not None:
        if currency is Currency.PURE:
            raise SettingError("budget: shaped Gaussian noise cannot keep a pure promise (delta 0)")
        mu_squared = amount if currency is Currency.GDP else 2 * amount
        return ShapedGaussian(root_at_least(sensitivity.l2_squared / mu_squared), sensitivity.squares)
    if currency is Currency.PURE:
        return DiscreteLaplace(at_least(sensitivity.l1 / amount))
    if currency is Currency.ZCDP:
        return DiscreteGaussian(root_at_least(sensitivity.l2_squared / (2 * amount)))
    return RoundedGaussian(root_at_least(sensitivity.l2_squared / amount))
