"""Public permutations of rows: a cyclic group of them, so that a test by permutations has its level with any of them.

They depend on the number of rows alone, and are part of the statistic that uses them: which row stands in which
place is secret, and drawn by the room.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np

from discreet.arrays import FloatArray, IntArray
from discreet.errors import SettingError

SIZES = (20, 60, 120, 240, 360, 720, 840, 1260, 2520, 5040)
"""Sizes of groups: with many divisors, hardly a row is left that a permutation does not move."""

BEYOND = 10
"""A group is so large that as many of its permutations may lie beyond the data at the level."""

A = TypeVar("A", IntArray, FloatArray)


@dataclass(frozen=True)
class Shifts:
    """Permutations of rows: these are put into cycles, and the j-th permutation moves each row j places on.

    Parameters
    ----------
    rows
        How many rows there are.
    size
        Number of permutations, the first of which moves nothing.
    arrangement
        Number of the public arrangement of rows in cycles. Which row stands where is secret: the room shuffles them.
    """

    rows: int
    size: int
    arrangement: int = 0

    def __post_init__(self) -> None:
        if self.rows < 2 or self.size < 2 or self.arrangement < 0:
            raise SettingError("permutations: at least two, of at least two rows; arrangements count from 0")

    def order(self) -> IntArray:
        """Return which row stands at each place of the cycles."""
        rng = np.random.default_rng(self.arrangement)
        return rng.permutation(self.rows)

    def cycles(self) -> list[tuple[int, int]]:
        """Return how many cycles there are of each length, longest first; every length divides the size."""
        found, left = [], self.rows
        for length in range(self.size, 0, -1):
            if self.size % length == 0 and left >= length:
                found.append((left // length, length))
                left %= length
        return found

    def shifted(self, values: A, by: int) -> A:
        """Return values, given in the order of places, each moved to where the permutation takes it."""
        found, start = np.empty_like(values), 0
        for many, length in self.cycles():
            part = slice(start, start + many * length)
            shape = (many, length, *values.shape[1:])
            found[part] = np.roll(values[part].reshape(shape), -by, axis=1).reshape(values[part].shape)
            start = part.stop
        return found


def exactly(alpha: float) -> Fraction:
    """Return a level as the decimal number that was written, after refusing one that is none."""
    if isinstance(alpha, bool) or not isinstance(alpha, float | int) or not 0 < alpha < 1:
        raise SettingError("alpha: a number between 0 and 1")
    return Fraction(repr(float(alpha)))


def size_for(alpha: float) -> int:
    """Return the size of a group of permutations that can tell a level."""
    wanted = BEYOND / exactly(alpha)
    fitting = [size for size in SIZES if size >= wanted]
    if fitting:
        return fitting[0]
    if SIZES[-1] * exactly(alpha) < 1:
        raise SettingError(f"alpha: at least {math.ceil(1e5 / SIZES[-1]) / 1e5:g}, for {SIZES[-1]:,} permutations")
    return SIZES[-1]


def beyond(alpha: float, size: int) -> int:
    """Return how many of the permutations may lie at or beyond the data, these included, at a level."""
    found = math.floor(exactly(alpha) * size)
    if found < 1:
        raise SettingError(f"alpha: {size} permutations tell no level below 1/{size}")
    return found
