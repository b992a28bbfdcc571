"""What two columns exceed their ridge regression on others by, and how far one row can move that.

Pure functions of arrays, without privacy. Definitions and proofs of what is used here: ``permuted.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from discreet.arrays import FloatArray
from discreet.errors import SettingError
from discreet.statistics.hsic import gaussian
from discreet.statistics.ridge import ridge_fit, stability

CUT = 2.0
"""Residuals are cut off here, on a scale from -1 to 1."""

MOST_ROWS = {1: 100_000, 2: 4_000}
"""Rows that can be fitted: on one column, and on several, whose kernel is a matrix of all rows by all rows."""

RIDGES = (1e-4, 1e4)


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
    gram.flat[:: len(gram) + 1] += shift
    factor = cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
    found: FloatArray = shift * cho_solve(factor, of, check_finite=False)
    return found


def moved_residual(rows: int, given: int, ridge: float) -> float:
    """Return how far substituting one row can move the residual of any other, rounding on both sides included."""
    error = 5e-8 * max(1 / (ridge * math.sqrt(ridge)), 1.0)
    if given > 1:
        error = 7e-16 * rows**2 * math.sqrt(rows) * (1 / ridge + 0.5)
    return min(stability(rows, ridge) + 2 * error, 2 * CUT)
