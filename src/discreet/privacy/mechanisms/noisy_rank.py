"""A noisy rank: whether the first of several numbers, with noise on all of them, is among the largest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import IntArray
from discreet.errors import SettingError
from discreet.privacy.accounting import Currency, mu_of_range, range_of_mu
from discreet.privacy.budget import Cost
from discreet.privacy.mechanisms import at_least, check_scale, root_below
from discreet.statistics import Sensitivity

if TYPE_CHECKING:
    from discreet.privacy.noise import Noise


@dataclass(frozen=True)
class NoisyRank:
    """Says 1 if the first number is among the largest, and 0 if not; all get discrete Laplace noise of one scale.

    Only that bit is handed out: neither the rank nor any of the noisy numbers may be had for the same price.

    Parameters
    ----------
    scale
        Scale of the noise, in the numbers' own steps.
    places
        1 is said if fewer than so many other noisy numbers are at or above the first one.

    Guarantee
    ---------
    epsilon-DP with epsilon = (change of the first number + largest change of another)/scale, and so (epsilon^2/2)-zCDP
    and mu-GDP with mu = 2 Phi^-1(e^epsilon / (1 + e^epsilon)).

    Proof
    -----
    ``noisy_rank.md``, Claim.
    """

    scale: float
    places: int

    def __post_init__(self) -> None:
        check_scale(self.scale, "scale")
        if self.places < 1:
            raise SettingError("places: at least one")

    @property
    def name(self) -> str:
        """What it is."""
        return f"noisy rank, discrete Laplace scale {self.scale:.6g}, among the first {self.places}"

    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return epsilon, rho = epsilon^2/2 and mu^2."""
        epsilon = _together(sensitivity) / Fraction(self.scale)
        mu = Fraction(mu_of_range(2 * epsilon))
        return Cost({Currency.PURE: epsilon, Currency.ZCDP: epsilon**2 / 2, Currency.GDP: mu**2})

    def blur(self, exact: IntArray, noise: Noise) -> IntArray:
        """Return the bit."""
        noisy = exact + noise.discrete_laplace(self.scale, len(exact))
        return np.array([int((noisy[1:] >= noisy[0]).sum() < self.places)], dtype=np.int64)


def noisy_rank_for(currency: Currency, amount: Fraction, sensitivity: Sensitivity, places: int) -> NoisyRank:
    """Return the mechanism that spends at most ``amount`` of a currency: scales are rounded up."""
    if amount <= 0:
        raise SettingError("budget: nothing is left for this release")
    together = _together(sensitivity)
    if currency is Currency.PURE:
        return NoisyRank(at_least(together / amount), places)
    if currency is Currency.ZCDP:
        return NoisyRank(at_least(together / root_below(2 * amount)), places)
    scale = at_least(2 * together / Fraction(range_of_mu(math.sqrt(amount))))
    while NoisyRank(scale, places).cost(sensitivity).amount(currency) > amount:
        scale *= 1 + 2.0**-50
    return NoisyRank(scale, places)


def _together(sensitivity: Sensitivity) -> Fraction:
    if sensitivity.first is None or sensitivity.largest is None or sensitivity.squares is not None:
        raise SettingError("noisy rank: the statistic does not state how far its first number and the others move")
    return sensitivity.first + sensitivity.largest
