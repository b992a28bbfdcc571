"""Kernel ridge regression on columns of numbers, what is left of others, and how far one row can move both.

Pure functions of arrays, without privacy. Definitions and proofs of what is used here: ``kernels.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from discreet.arrays import FloatArray
from discreet.bisection import bisect
from discreet.errors import SettingError
from discreet.statistics.hsic import CHUNK, REACH, Waves, check_width, gaussian, waves_needed

MIN_RIDGE = 1e-8
"""With less, rounding could spoil a fit."""

RIDGES = (1e-4, 1e4)
"""The least and the largest ridge of a fit whose residuals are asked for."""

CUT = 2.0
"""Residuals are cut off here, on a scale from -1 to 1."""

MOST_ROWS = {1: 100_000, 2: 4_000}
"""Rows that can be fitted: on one column, and on several, whose kernel is a matrix of all rows by all rows."""


@dataclass(frozen=True)
class Fit:
    """A fitted function: a weighted sum of kernels at points, or of waves within ``reach`` of their middle."""

    width: float
    coefficients: FloatArray
    points: FloatArray
    waves: Waves | None = None
    reach: float = 0.0

    def predict(self, x: FloatArray) -> FloatArray:
        """Return the fitted values."""
        rows = max(CHUNK // max(len(self.coefficients), 1), 1)
        found = np.empty(len(x))
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            for start in range(0, len(x), rows):
                found[start : start + rows] = self._predict(x[start : start + rows])
        return found

    def _predict(self, x: FloatArray) -> FloatArray:
        if self.waves is None:
            return gaussian(x, self.points, self.width) @ self.coefficients
        near = np.abs(x - self.waves.middle) <= self.reach
        inside = np.where(near, x, self.waves.middle)
        values = self.waves.features(inside) @ self.coefficients[1:] + self.coefficients[0]
        found: FloatArray = np.where(near, values, 0.0)
        return found


def ridge_fit(x: FloatArray, y: FloatArray, width: float, ridge: float) -> Fit:
    """Return the function that minimises (ridge/2) |w|^2 + the mean of (w.phi(x) - y)^2 under a Gaussian kernel.

    Rows with equal x are fitted as one, with their number as weight. Takes the cube of the number of distinct values,
    or of about 3 (spread/width + 20) if that is less, and memory of its square. Without rows it is 0.
    """
    check_width(width)
    _check_ridge(ridge)
    if len(x) == 0:
        return Fit(width, np.zeros(0), np.zeros(0))
    points, where, many = np.unique(x, return_inverse=True, return_counts=True)
    means = np.bincount(where, weights=y, minlength=len(points)) / many
    shift = 0.5 * ridge * len(x)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        spread = float(points[-1] - points[0])
        if 2 * waves_needed(spread, width, REACH) + 1 < len(points):
            return _by_waves(points, means, many.astype(np.float64), width, shift)
        return _by_points(points, means, np.sqrt(many), width, shift)


def _by_points(points: FloatArray, means: FloatArray, roots: FloatArray, width: float, shift: float) -> Fit:
    """Return the fit as a sum of kernels, from the weighted problem on distinct values."""
    gram = gaussian(points, points, width)
    gram *= roots
    gram *= roots[:, None]
    return Fit(width, roots * _solve(gram, shift, roots * means), points)


def _by_waves(points: FloatArray, means: FloatArray, many: FloatArray, width: float, shift: float) -> Fit:
    """Return the fit as a sum of waves, exact up to ``REACH`` widths beyond the points and 0 from there on."""
    spread = float(points[-1] - points[0])
    waves = Waves.over(float(points[0]), spread, width, REACH)
    roots = np.sqrt(np.concatenate([[waves.constant], waves.weights]))
    gram, right = np.zeros((len(roots), len(roots))), np.zeros(len(roots))
    rows = max(CHUNK // len(roots), 1)
    for start in range(0, len(points), rows):
        block = slice(start, start + rows)
        features = np.insert(waves.features(points[block]), 0, 1.0, axis=1)
        features *= roots
        weighted = features.T * many[block]
        gram += weighted @ features
        right += weighted @ means[block]
    return Fit(width, roots * _solve(gram, shift, right), np.zeros(0), waves, spread / 2 + REACH * width)


def _solve(gram: FloatArray, shift: float, right: FloatArray) -> FloatArray:
    """Return what ``gram`` with ``shift`` on its diagonal takes to ``right``. Uses up ``gram``."""
    gram.flat[:: len(gram) + 1] += shift
    factor = cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
    found: FloatArray = cho_solve(factor, right, check_finite=False)
    return found


def _check_ridge(ridge: float) -> None:
    if not MIN_RIDGE <= ridge <= 1e100:
        raise SettingError(f"the ridge is a number between {MIN_RIDGE:g} and 1e100")


def stability(rows: int, ridge: float) -> float:
    """Return how far substituting one of the rows can move any fitted value, if no y is beyond -1 or 1.

    Never less than 4 g/(rows ridge), g the maximum of q + sqrt(2/ridge) q^1.5 (1 - q)^0.5 over q from 0 to 1; more by
    less than a millionth.
    """
    _check_ridge(ridge)
    if rows < 1:
        raise SettingError("at least one row is needed")
    factor = math.sqrt(2 / ridge)

    def past(left: float) -> bool:  # left = 1 - q: whether the maximum is at a larger q
        return factor * math.sqrt(1 - left) * (0.5 - 2 * left) <= math.sqrt(left)

    low, high = bisect(past, 1e-300, 0.25, steps=100, geometric=True)
    most = 1 - low + factor * (1 - low) * math.sqrt((1 - low) * high)
    return 4 * most / (rows * ridge) * (1 + 1e-9)


def check_fit(rows: int, given: int, ridge: float) -> None:
    """Refuse what cannot be fitted. From public facts alone."""
    if not RIDGES[0] <= ridge <= RIDGES[1]:
        raise SettingError(f"ridge: a number from {RIDGES[0]:g} to {RIDGES[1]:g}")
    most = MOST_ROWS[min(given, 2)]
    if rows > most:
        many = "one column is" if given == 1 else f"{given} columns are"
        raise SettingError(
            f"rows: at most {most:,} for a kernel regression where {many} given; another test takes more"
        )


def residuals(of: Sequence[FloatArray], given: Sequence[FloatArray], width: float, ridge: float) -> list[FloatArray]:
    """Return what columns exceed their kernel ridge regression on the given ones by, cut off at ``CUT``."""
    if len(given) == 1:
        left = [y - ridge_fit(given[0], y, width, ridge).predict(given[0]) for y in of]
    else:
        left = list(_by_matrix(np.stack(of, axis=1), given, width, ridge).T)
    return [np.clip(column, -CUT, CUT) for column in left]


def _by_matrix(of: FloatArray, given: Sequence[FloatArray], width: float, ridge: float) -> FloatArray:
    """Return residuals from the whole kernel: if (K + mu) a = y, then y - K a = mu a."""
    gram = gaussian(given[0], given[0], width)
    for column in given[1:]:
        gram *= gaussian(column, column, width)
    shift = 0.5 * ridge * len(of)
    return shift * _solve(gram, shift, of)


def moved_residual(rows: int, given: int, ridge: float) -> float:
    """Return how far substituting one row can move the residual of any other, rounding on both sides included."""
    error = 5e-8 * max(1 / (ridge * math.sqrt(ridge)), 1.0)
    if given > 1:
        error = 7e-16 * rows**2 * math.sqrt(rows) * (1 / ridge + 0.5)
    return min(stability(rows, ridge) + 2 * error, 2 * CUT)
