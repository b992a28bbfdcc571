"""Mechanisms: how an exact value is blurred, and what that costs."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from discreet.arrays import IntArray
from discreet.errors import SettingError
from discreet.privacy.budget import Cost
from discreet.statistics import Sensitivity

if TYPE_CHECKING:
    from discreet.privacy.noise import Noise


class Mechanism(Protocol):
    """Blurs a vector of integers; states its cost for a given sensitivity."""

    @property
    def name(self) -> str:
        """What it is, with its parameters. Public."""
        ...

    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return what one use costs."""
        ...

    def blur(self, exact: IntArray, noise: Noise) -> IntArray:
        """Add noise, or choose by it."""
        ...


MAX_SCALE = 2.0**40
"""Noise beyond this drowns anything countable, and sums of it must fit in 64 bits."""


def check_scale(scale: float, what: str) -> None:
    """Refuse noise that no answer would survive."""
    if not (math.isfinite(scale) and 0 < scale <= MAX_SCALE):
        raise SettingError(f"{what}: the noise would drown everything; raise epsilon or ask for less")


def at_least(number: Fraction) -> float:
    """Return a float that is no smaller than a fraction."""
    rounded = float(number)
    while Fraction(rounded) < number:
        rounded = math.nextafter(rounded, math.inf)
    return rounded


def root_below(square: Fraction) -> Fraction:
    """Return a fraction whose square is at most that."""
    root = Fraction(math.sqrt(float(square)))
    while root * root > square:
        root *= 1 - Fraction(1, 1 << 50)
    return root


def root_at_least(square: Fraction) -> float:
    """Return a float whose square is no smaller than a fraction."""
    root = math.sqrt(at_least(square))
    while Fraction(root) ** 2 < square:
        root = math.nextafter(root, math.inf)
    return root
