"""A Gaussian kernel as a short sum of cosines, on points that are not too far apart.

Pure functions of arrays, without privacy. Definitions and proofs of what is used here: ``numeric.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from discreet.arrays import FloatArray
from discreet.errors import SettingError

REACH = 9.8
"""Beyond so many widths a Gaussian kernel is less than 1.5e-21, and so are the weights of its waves."""

KERNEL_ERROR = 3e-21
"""No further is the sum of cosines from the kernel, before floats are rounded."""

MOST_WAVES = 1000
"""More waves are never worth it."""

CHUNK = 1 << 19
"""Numbers in a block of features: 4 MB."""


def check_width(width: float) -> None:
    """Refuse a width that is not a positive number of usual size."""
    if not 1e-100 <= width <= 1e100:
        raise SettingError("the width of a kernel is a positive number between 1e-100 and 1e100")


def waves_needed(spread: float, width: float, margin: float = 0.0) -> float:
    """Return how many waves stand for the kernel on points ``spread`` apart; ``margin`` is in widths."""
    return math.ceil(x) if (x := REACH / math.tau * (spread / width + margin + REACH)) <= MOST_WAVES else math.inf


@dataclass(frozen=True)
class Waves:
    """Cosines and sines around a middle; ``squares`` holds the weight of each wave in the kernel, from frequency 1."""

    middle: float
    step: float
    constant: float
    squares: FloatArray

    @classmethod
    def over(cls, low: float, spread: float, width: float, margin: float = 0.0) -> Self:
        """Return the waves for the kernel between points from ``low`` on, and ``margin`` widths beyond."""
        period = spread + (margin + REACH) * width
        step = math.tau / period
        constant = math.sqrt(math.tau) * width / period
        many = int(waves_needed(spread, width, margin))
        squares = 2 * constant * np.exp(-0.5 * np.square(width * step * np.arange(1, many + 1)))
        return cls(low + spread / 2, step, constant, squares)

    @property
    def size(self) -> int:
        """Number of features of a row."""
        return 2 * len(self.squares)

    @property
    def weights(self) -> FloatArray:
        """The weight of each feature."""
        return np.repeat(self.squares, 2)

    def features(self, x: FloatArray) -> FloatArray:
        """Return a cosine and a sine for each row and wave, without weights."""
        many = len(self.squares)
        turns = np.empty((len(x), many), dtype=np.complex128)
        phase = self.step * (x - self.middle)
        turns[:, 0].real, turns[:, 0].imag = np.cos(phase), np.sin(phase)
        done = 1
        while done < many:
            more = min(done, many - done)
            np.multiply(turns[:, :more], turns[:, done - 1 : done], out=turns[:, done : done + more])
            done += more
        found: FloatArray = turns.view(np.float64)
        return found
