"""Above threshold: a stream of questions, each answered yes or no; only the yeses cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.arrays import IntArray
from discreet.errors import SettingError
from discreet.privacy.accounting import Currency, amplified
from discreet.privacy.budget import Cost
from discreet.privacy.mechanisms import at_least, check_scale
from discreet.statistics import Sensitivity

if TYPE_CHECKING:
    from discreet.privacy.noise import Noise


@dataclass(frozen=True)
class AboveThreshold:
    """Says of one number after another whether it lies at or above its threshold, until so many did.

    The threshold gets noise once, every number gets fresh noise. With ``sample``, all numbers are about one fresh
    sample of so many rows, drawn without replacement.

    Parameters
    ----------
    threshold_scale, question_scale
        Scales of the noise, in the numbers' own steps.
    passes
        After so many yeses it is closed.
    geometric
        Whether noise is geometric from 0 on, which has half the variance, in place of discrete Laplace.
    sample, rows
        Rows of the sample and of the table; None where all rows are asked.

    Guarantee
    ---------
    If one row moves each number by at most D: epsilon = D/threshold_scale + passes 2 D/question_scale; in a sample of m
    of n rows log(1 + (m/n)(e^epsilon - 1)), D being what a row moves in a table of m rows. And so (epsilon^2/2)-zCDP.

    Proof
    -----
    ``sparse_vector.md``, epsilon = D/s_1.
    """

    threshold_scale: float
    question_scale: float
    passes: int = 1
    geometric: bool = False
    sample: int | None = None
    rows: int | None = None

    def __post_init__(self) -> None:
        check_scale(self.threshold_scale, "threshold scale")
        check_scale(self.question_scale, "question scale")
        if self.passes < 1:
            raise SettingError("passes: at least one")
        if (self.sample is None) != (self.rows is None):
            raise SettingError("sample: say of how many rows")
        if self.sample is not None and self.rows is not None and not 1 <= self.sample <= self.rows:
            raise SettingError("sample: from one row to all of them")

    @property
    def name(self) -> str:
        """What it is."""
        kind = "geometric" if self.geometric else "discrete Laplace"
        part = "" if self.sample is None else f", {self.sample:,} rows"
        times = "" if self.passes == 1 else f", {self.passes} passes"
        return f"above threshold, {kind} scales {self.threshold_scale:.4g} and {self.question_scale:.4g}{times}{part}"

    @property
    def shift(self) -> int:
        """What the noise adds to a threshold against a number on average: thresholds are moved back by it."""
        if not self.geometric:
            return 0
        return round(_mean(self.question_scale) - _mean(self.threshold_scale))

    @property
    def deviation(self) -> float:
        """About the standard deviation of a comparison."""
        return math.hypot(self.threshold_scale, self.question_scale) * (1 if self.geometric else math.sqrt(2))

    def draw(self, noise: Noise, scale: float, size: int) -> IntArray:
        """Draw the noise of the threshold, or that of several numbers."""
        return noise.one_sided(scale, size) if self.geometric else noise.discrete_laplace(scale, size)

    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return epsilon and rho = epsilon^2/2."""
        if sensitivity.largest is None or sensitivity.largest <= 0:
            raise SettingError("above threshold: the numbers do not state their largest change")
        moved = sensitivity.largest
        epsilon = moved / Fraction(self.threshold_scale) + 2 * self.passes * moved / Fraction(self.question_scale)
        if self.sample is not None and self.rows is not None:
            epsilon = amplified(epsilon, Fraction(self.sample, self.rows))
        return Cost({Currency.PURE: epsilon, Currency.ZCDP: epsilon**2 / 2})


def _mean(scale: float) -> float:
    """Return the mean of geometric noise from 0 on."""
    return 1 / math.expm1(1 / scale)


def above_threshold_for(
    epsilon: Fraction, sensitivity: Sensitivity, *, passes: int = 1, geometric: bool = False
) -> AboveThreshold:
    """Return the mechanism that costs at most epsilon: split 1 : (2 passes)^(2/3), scales rounded up.

    The split makes the variance of one comparison least.
    """
    if epsilon <= 0:
        raise SettingError("budget: nothing is left for this round")
    if sensitivity.largest is None:
        raise SettingError("above threshold: the numbers do not state their largest change")
    first = Fraction(1 / (1 + (2 * passes) ** (2 / 3)))
    moved = sensitivity.largest
    return AboveThreshold(
        at_least(moved / (epsilon * first)), at_least(2 * passes * moved / (epsilon * (1 - first))), passes, geometric
    )
