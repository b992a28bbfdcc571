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


def smallest(holds: Callable[[float], bool], start: float, *, most: float = math.inf) -> float:
    """Return the smallest float above 0 at which a condition that then stays true holds; infinite if none to ``most``.

    It is one at which the condition was seen to hold.
    """
    around = bracket(holds, 0.0, start, most=most)
    return math.inf if around is None else bisect(holds, *around)[1]


def largest(holds: Callable[[float], bool], start: float) -> float:
    """Return the largest float at which a condition that then stays false holds; 0 if none above it does.

    It is one at which the condition was seen to hold.
    """

    def fails(x: float) -> bool:
        return not holds(x)

    around = bracket(fails, 0.0, start)
    return math.inf if around is None else bisect(fails, *around)[0]
