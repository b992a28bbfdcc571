"""Choosing candidates by their utilities: the exponential mechanism."""

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
from discreet.privacy.mechanisms import at_least, check_scale, root_at_least
from discreet.statistics import Sensitivity

if TYPE_CHECKING:
    from discreet.privacy.noise import Noise


SPREAD = math.pi / math.sqrt(6)
"""Standard deviation of Gumbel noise of scale 1: choosing is taking the largest sum of a utility and such noise."""


@dataclass(frozen=True)
class Selection:
    """Chooses one candidate for each of several questions: the exact value is their utilities, in equal parts.

    A candidate of utility u is chosen with probability proportional to exp(u/scale).

    Guarantee
    ---------
    With epsilon = 2 (largest change of a utility)/scale each choice is epsilon-DP, (epsilon^2/8)-zCDP and mu-GDP with
    mu = 2 Phi^-1(e^(epsilon/2) / (1 + e^(epsilon/2))). The costs of all choices are added.

    Proof
    -----
    ``exponential.md``, Bounded range.
    """

    scale: float
    choices: int

    def __post_init__(self) -> None:
        check_scale(self.scale, "scale")
        if self.choices < 1:
            raise SettingError("choices: at least one")

    @property
    def name(self) -> str:
        """What it is."""
        number = "one choice" if self.choices == 1 else f"{self.choices} choices"
        return f"exponential mechanism, {number}, scale {self.scale:.6g}"

    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return epsilon, rho = epsilon^2/8 and mu^2, times the number of choices."""
        epsilon = 2 * _largest(sensitivity) / Fraction(self.scale)
        mu = Fraction(mu_of_range(epsilon))
        each = {Currency.PURE: epsilon, Currency.ZCDP: epsilon**2 / 8, Currency.GDP: mu**2}
        return Cost({currency: self.choices * amount for currency, amount in each.items()})

    def blur(self, exact: IntArray, noise: Noise) -> IntArray:
        """Return the chosen candidate of each question, counted from 0."""
        return noise.exponential_choices(exact.reshape(self.choices, -1), self.scale)


@dataclass(frozen=True)
class TopK:
    """Chooses several different candidates, one after the other: the exact value is their utilities.

    Each is chosen among those that are left, of utility u with probability proportional to exp(u/scale). That is the
    law of the largest sums of a utility and Gumbel noise, drawn once for all, in their order.

    Parameters
    ----------
    scale
        Scale of the noise, in the utilities' own steps.
    choices
        How many are chosen.
    groups
        The group of each candidate, where a choice also takes out all others of its group.

    Guarantee
    ---------
    As many choices by ``Selection`` with the same scale, whose costs are added.

    Proof
    -----
    ``exponential.md``, The best k.
    """

    scale: float
    choices: int
    groups: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        check_scale(self.scale, "scale")
        if self.choices < 1:
            raise SettingError("choices: at least one")
        if self.groups is not None and len(set(self.groups)) < self.choices:
            raise SettingError("choices: fewer than groups, or as many")

    @property
    def name(self) -> str:
        """What it is."""
        return f"exponential mechanism, the best {self.choices}, scale {self.scale:.6g}"

    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return epsilon, rho = epsilon^2/8 and mu^2, times the number of choices."""
        return Selection(self.scale, self.choices).cost(sensitivity)

    def blur(self, exact: IntArray, noise: Noise) -> IntArray:
        """Return the chosen candidates, counted from 0, in the order in which they were chosen."""
        if self.groups is not None and len(self.groups) != len(exact):
            raise SettingError("groups: one for each candidate")
        groups = np.arange(len(exact)) if self.groups is None else np.array(self.groups)
        left = np.arange(len(exact))
        chosen = []
        for _ in range(self.choices):
            (place,) = noise.exponential_choices(exact[left].reshape(1, -1), self.scale).tolist()
            chosen.append(left[place])
            left = left[groups[left] != groups[left[place]]]
        return np.array(chosen, dtype=np.int64)


def selection_for(currency: Currency, amount: Fraction, sensitivity: Sensitivity, choices: int) -> Selection:
    """Return the mechanism whose choices together spend at most ``amount`` of a currency: scales are rounded up."""
    if amount <= 0:
        raise SettingError("budget: nothing is left for this release")
    largest, each = _largest(sensitivity), amount / choices
    if currency is Currency.PURE:
        return Selection(at_least(2 * largest / each), choices)
    if currency is Currency.ZCDP:
        return Selection(root_at_least(largest**2 / (2 * each)), choices)
    scale = at_least(2 * largest / Fraction(range_of_mu(math.sqrt(each))))
    while Selection(scale, choices).cost(sensitivity).amount(currency) > amount:
        scale *= 1 + 2.0**-50
    return Selection(scale, choices)


def top_k_for(
    currency: Currency, amount: Fraction, sensitivity: Sensitivity, choices: int, groups: tuple[int, ...] | None = None
) -> TopK:
    """Return the mechanism that chooses so many candidates for at most ``amount`` of a currency."""
    return TopK(selection_for(currency, amount, sensitivity, choices).scale, choices, groups)


def _largest(sensitivity: Sensitivity) -> Fraction:
    if sensitivity.largest is None or sensitivity.largest <= 0:
        raise SettingError("selection: the statistic does not state its utilities' largest change")
    return sensitivity.largest
