"""Broken mechanisms of the library's own kind: their noise is one thing, the cost that they state another."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import IntArray
from discreet.audit.broken import Blurred, Broken
from discreet.audit.broken.making import Whole, domain_of, pair
from discreet.mechanisms.additive import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.mechanisms.rank import NoisyRank
from discreet.mechanisms.selection import Selection
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Cost
from discreet.statistics import Sensitivity
from discreet.statistics.counts import Counts

if TYPE_CHECKING:
    from discreet.privacy.noise import Noise

ONE = pair({(0,): 9, (1,): 10}, (0,), (1,))
"""One binary column in which one row changes."""

COLUMN = domain_of(20, a=2)
TALLY = Counts((("a",),))
UTILITIES = Whole(
    "counts as utilities", ("a",), lambda counted: counted, Sensitivity(Fraction(2), Fraction(2), largest=Fraction(1))
)
RIVALS = Whole(
    "a count and its rival",
    ("a",),
    lambda counted: counted,
    Sensitivity(Fraction(2), Fraction(2), largest=Fraction(1), first=Fraction(1)),
)
TWICE = Whole(
    "counts as utilities, twice",
    ("a",),
    lambda counted: np.tile(counted, 2),
    Sensitivity(Fraction(4), Fraction(4), largest=Fraction(1)),
)


class _HalfBilled(DiscreteLaplace):
    """Bills half of what its scale costs."""

    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return half of the cost."""
        return DiscreteLaplace(2 * self.scale).cost(sensitivity)


class _HalfSigma(RoundedGaussian):
    """Bills as if its noise were twice as wide."""

    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return the cost of twice the noise."""
        return RoundedGaussian(2 * self.sigma).cost(sensitivity)


class _GaussianAsPure(RoundedGaussian):
    """Bills the L2 sensitivity over sigma as pure epsilon."""

    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return mu in the name of epsilon, rounded up."""
        return Cost({Currency.PURE: Fraction(math.sqrt(sensitivity.l2_squared) / self.sigma * (1 + 1e-12))})


class _DiscreteAsGdp(DiscreteGaussian):
    """Bills as if it were the rounded Gaussian."""

    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return the rounded Gaussian's cost."""
        return RoundedGaussian(self.sigma).cost(sensitivity)


class _OneSidedSelection(Selection):
    """Forgets that one utility may rise while another falls."""

    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return the cost of utilities that all move the same way."""
        return Selection(2 * self.scale, self.choices).cost(sensitivity)


class _FirstOnly(NoisyRank):
    """Forgets that the numbers it compares the first one with move, too."""

    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return the cost of moving the first number alone."""
        epsilon = (sensitivity.first or Fraction(0)) / Fraction(self.scale)
        return Cost({Currency.PURE: epsilon, Currency.ZCDP: epsilon**2 / 2})


class _TwiceForOnce(Selection):
    """Bills one choice, however many it makes."""

    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return the cost of one choice."""
        return Selection(self.scale, 1).cost(sensitivity)


@dataclass(frozen=True)
class _LastCellBare:
    """Adds discrete Laplace noise to all cells but the last."""

    scale: float

    @property
    def name(self) -> str:
        """What it is."""
        return f"discrete Laplace noise, scale {self.scale:g}, but for the last cell"

    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return the cost of noise on all cells."""
        return DiscreteLaplace(self.scale).cost(sensitivity)

    def blur(self, exact: IntArray, noise: Noise) -> IntArray:
        """Add noise to all cells but the last."""
        blurred = exact.copy()
        blurred[:-1] += noise.discrete_laplace(self.scale, len(exact) - 1)
        return blurred


def _blurred(name: str, wrong: str, subject: Blurred) -> Broken:
    return Broken(name, wrong, "planted", "exact", subject)


BILLED: tuple[Broken, ...] = (
    _blurred("laplace-half-billed", "states half of its cost", Blurred(_HalfBilled(2.0), TALLY, COLUMN, (ONE,))),
    _blurred("gaussian-half-sigma", "bills twice its sigma", Blurred(_HalfSigma(2.0), TALLY, COLUMN, (ONE,))),
    _blurred(
        "gaussian-billed-pure",
        "states a pure epsilon, which Gaussian noise does not have",
        Blurred(_GaussianAsPure(2.0), TALLY, COLUMN, (ONE,)),
    ),
    _blurred(
        "discrete-gaussian-as-gdp",
        "the discrete Gaussian is not mu-GDP",
        Blurred(_DiscreteAsGdp(0.8), TALLY, COLUMN, (ONE,)),
    ),
    _blurred(
        "selection-without-two",
        "bills utilities that may move both ways as if all moved one way",
        Blurred(_OneSidedSelection(2.0, 1), UTILITIES, COLUMN, (ONE,)),
    ),
    _blurred(
        "rank-of-first-alone",
        "bills the first number, but the numbers it is compared with move as well",
        Blurred(_FirstOnly(1.5, 1), RIVALS, domain_of(3, a=2), (pair({(0,): 1, (1,): 1}, (0,), (1,)),)),
    ),
    _blurred(
        "two-choices-billed-once",
        "bills one of two choices",
        Blurred(_TwiceForOnce(2.0, 2), TWICE, COLUMN, (ONE,)),
    ),
    Broken(
        "last-cell-bare",
        "the last cell gets no noise",
        "planted",
        "black box",
        Blurred(_LastCellBare(2.0), TALLY, COLUMN, (ONE,)),
    ),
)
