"""Scales of noise: floats that are rounded up, so that the exact cost fits."""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.errors import SettingError

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
