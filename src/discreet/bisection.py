"""Bisection: where a monotone condition begins to hold."""

from __future__ import annotations

import math
from collections.abc import Callable

ALL_BITS = 200
"""Steps after which low and high are neighbouring floats, wherever they began."""


def bracket(
    holds: Callable[[float], bool], low: float, high: float, *, most: float = math.inf
) -> tuple[float, float] | None:
    """Double ``high`` until the condition holds there, and return it with the last point at which it did not.

    None if it does not hold up to ``most``. It is taken not to hold at ``low``.
    """
    while not holds(high):
        if high > most:
            return None
        low, high = high, 2 * high
    return low, high


def bisect(
    holds: Callable[[float], bool], low: float, high: float, *, steps: int = ALL_BITS, geometric: bool = False
) -> tuple[float, float]:
    """Return a narrower bracket of the point from which on a condition holds: not at the first, but at the second.

    Neither end is a guess: what is rounded towards more privacy takes the end at which the condition is certain.
    """
    for _ in range(steps):
        middle = math.sqrt(low * high) if geometric else (low + high) / 2
        if not low < middle < high:  # neighbouring floats
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return low, high
