"""How far two columns of numbers are from independent, by Gaussian kernels (HSIC): exact, and with given features.

A kernel is a sum of waves wherever columns spread over few of its widths. Pure functions of arrays, without privacy.
Definitions and proofs of what is used here: ``kernels.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import ndtri

from discreet.arrays import FloatArray
from discreet.errors import SettingError

REACH = 9.8
"""Beyond so many widths a Gaussian kernel is less than 1.5e-21, and so are the weights of its waves."""

MOST_WAVES = 1000
"""More waves are never worth it."""

KERNEL_ERROR = 6e-11
"""No further does a sum of waves in place of the kernel move the root of HSIC, before rounding."""

ROOT_ERROR = 1e-10
"""No further is a computed root from the real one, if fewer than ``MANY`` rows or tables of steps are added up."""

CHUNK = 1 << 19
"""Numbers in a block of features: 4 MB."""

_TILE = 256
"""Rows of a tile."""

_CHEAP = 10_000
"""Up to so many products of waves a row, waves are always used: their root is exact near 0."""

_FARTHEST = -350.0
"""Exponents stop here, since numbers next to 0 are slow: the kernel is 1e-152 instead."""

LEVELS = 256
"""Steps of the scale from -1 to 1 in which columns are compared."""

MANY = 1_024
"""From so many rows on, rows are counted in tables of steps by steps."""

WIDTHS = (0.05, 2.0)
"""The narrowest and the widest kernel on that scale."""

Features = Callable[[FloatArray], FloatArray]


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

    def weighted(self, x: FloatArray) -> FloatArray:
        """Return features whose products are the kernel's, but for the constant wave."""
        found: FloatArray = self.features(x) * np.sqrt(self.weights)
        return found

    def weighted_levels(self) -> FloatArray:
        """Return them for all steps of the scale."""
        return self.weighted((2 * np.arange(LEVELS) + 1) / LEVELS - 1)


def hsic_v(x: FloatArray, y: FloatArray, width_x: float, width_y: float, *, block: int = _TILE) -> float:
    """Return the squared norm of the cross-covariance under Gaussian kernels: tr(KHLH) over the squared rows.

    Within ``rounding_error`` of the real value for finite numbers; never negative, and 0 if a column is constant.
    Linear in the rows where both columns spread over few widths, and their square in tiles of ``block`` rows elsewhere.
    """
    check_width(width_x)
    check_width(width_y)
    if block < 1:
        raise SettingError("a block has at least one row")
    if len(x) < 2:
        return 0.0
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        low_x, low_y, spread_x, spread_y = float(x.min()), float(y.min()), float(np.ptp(x)), float(np.ptp(y))
        if spread_x == 0 or spread_y == 0:
            return 0.0
        if not _few_waves(len(x), (spread_x, spread_y), (width_x, width_y)):
            return _by_tiles(x, y, width_x, width_y, block)
        waves_x, waves_y = Waves.over(low_x, spread_x, width_x), Waves.over(low_y, spread_y, width_y)
        rows = max(CHUNK // (waves_x.size + waves_y.size), 1)
        crossed = _cross_covariance(x, y, waves_x.features, waves_y.features, rows)
        return float(waves_x.weights @ np.square(crossed) @ waves_y.weights)


def rounding_error(rows: int) -> float:
    """Return how far rounding can move HSIC, or its root made of features, if sums have so many terms at most.

    Proof
    -----
    ``kernels.md``.
    """
    return 13 * rows * 2.0**-53 + 2e-11


def wave_error(rows: int) -> float:
    """Return how far the root of HSIC made of waves may be from the real one, rounding included."""
    return KERNEL_ERROR + rounding_error(rows)


def root_error(rows: int, ranges: tuple[float, float], widths: tuple[float, float]) -> float:
    """Return how far the root of `hsic_v` may be from the real one, for columns within public ranges of these lengths.

    A column within its range needs no more waves than the range does.
    """
    return wave_error(rows) if _few_waves(rows, ranges, widths) else math.sqrt(rounding_error(rows))


def _few_waves(rows: int, spreads: tuple[float, float], widths: tuple[float, float]) -> bool:
    of_x, of_y = (waves_needed(spread, width) for spread, width in zip(spreads, widths, strict=True))
    return of_x * of_y <= 4 * rows + _CHEAP


def hsic_rff(x: FloatArray, y: FloatArray, frequencies_x: FloatArray, frequencies_y: FloatArray) -> float:
    """Return the squared norm of the cross-covariance of cosines and sines of the given frequencies."""
    many = len(frequencies_x), len(frequencies_y)
    if min(many) < 1:
        raise SettingError("at least one frequency is needed for each column")
    if len(x) < 2:
        return 0.0
    rows = max(CHUNK // (2 * sum(many)), 1)
    crossed = _cross_covariance(x, y, _features_of(frequencies_x), _features_of(frequencies_y), rows)
    return float(np.square(crossed).sum()) / many[0] / many[1]


def frequencies(width: float, count: int) -> FloatArray:
    """Return public frequencies for a Gaussian kernel: the upper half of 2 ``count`` even quantiles of its law.

    The lower half would mirror them, and a mirrored frequency adds the same cosine.
    """
    check_width(width)
    if count < 1:
        raise SettingError("at least one frequency is needed")
    found: FloatArray = ndtri(0.5 + (np.arange(count) + 0.5) / (2 * count)) / width
    return found


def _features_of(frequencies: FloatArray) -> Features:
    """Return the features of given frequencies: cosines, then sines."""

    def features(x: FloatArray) -> FloatArray:
        phase = np.multiply.outer(x, frequencies)
        return np.concatenate([np.cos(phase), np.sin(phase)], axis=1)

    return features


def _cross_covariance(x: FloatArray, y: FloatArray, of_x: Features, of_y: Features, rows: int) -> FloatArray:
    """Return the cross-covariance of features, in one pass over blocks of rows.

    Features are taken from their means in the first block, so that little is left to cancel at the end, and nothing
    if a column is constant.
    """
    crossed: FloatArray = np.zeros((0, 0))
    first_x = first_y = sum_x = sum_y = np.zeros(0)
    for start in range(0, len(x), rows):
        a, b = of_x(x[start : start + rows]), of_y(y[start : start + rows])
        if start == 0:
            first_x, first_y = a.mean(axis=0), b.mean(axis=0)
            sum_x, sum_y = np.zeros_like(first_x), np.zeros_like(first_y)
            crossed = np.zeros((len(first_x), len(first_y)))
        a -= first_x
        b -= first_y
        crossed += a.T @ b
        sum_x += a.sum(axis=0)
        sum_y += b.sum(axis=0)
    crossed -= np.multiply.outer(sum_x, sum_y / len(x))
    crossed /= len(x)
    return crossed


def _by_tiles(x: FloatArray, y: FloatArray, width_x: float, width_y: float, block: int) -> float:
    """Return the same by summing both kernels over tiles of the upper triangle."""
    many = len(x)
    of_x, of_y = np.zeros(many), np.zeros(many)
    products = []
    for i in range(0, many, block):
        for j in range(i, many, block):
            a, b = slice(i, i + block), slice(j, j + block)
            kernel_x, kernel_y = gaussian(x[a], x[b], width_x), gaussian(y[a], y[b], width_y)
            products.append((1 + (i != j)) * float(np.vdot(kernel_x, kernel_y)))
            of_x[a] += kernel_x.sum(axis=1)
            of_y[a] += kernel_y.sum(axis=1)
            if i != j:
                of_x[b] += kernel_x.sum(axis=0)
                of_y[b] += kernel_y.sum(axis=0)
    of_x /= many
    of_y /= many
    mean_x, mean_y = math.fsum(of_x) / many, math.fsum(of_y) / many
    together = float(np.dot(of_x - mean_x, of_y - mean_y)) / many
    return max(math.fsum(products) / many**2 - mean_x * mean_y - 2 * together, 0.0)


def gaussian(a: FloatArray, b: FloatArray, width: float) -> FloatArray:
    """Return the Gaussian kernel between all of ``a`` and all of ``b``."""
    apart = np.subtract.outer(a, b)
    apart *= math.sqrt(0.5) / width
    np.square(apart, out=apart)
    np.negative(apart, out=apart)
    np.maximum(apart, _FARTHEST, out=apart)
    return np.exp(apart, out=apart)
