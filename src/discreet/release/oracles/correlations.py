"""Correlations between columns as a release has them, each with what its noise and sampling leave uncertain."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Self

import numpy as np

from discreet.arrays import FloatArray
from discreet.release.oracles.components import contrasts
from discreet.release.oracles.strata import Estimates
from discreet.search.structural import Correlations

MISFIT = 0.05
"""How far a strong correlation may be off because the model is no more than linear, in parts of itself."""

LEAST_COUNT, LEAST_SHARE = 0.5, 0.2
"""A level holds so many rows or standard deviations of its noise at least, but no more than this part of an even one:
what is not seen is not worth dividing by."""


@dataclass(frozen=True)
class Standard:
    """A column in standardised coordinates: the axes of its covariance, their scales, and its mean along them."""

    axes: FloatArray
    scales: FloatArray
    mean: FloatArray
    variance: float

    @classmethod
    def of(cls, estimates: Estimates, column: str) -> Self:
        """Standardise a column."""
        parts, shares = estimates.parts, estimates.shares[column]
        variance = parts.variance(column) if parts.has(column) else 0.0
        least = min(LEAST_COUNT * max(1.0, math.sqrt(variance)) / parts.rows, LEAST_SHARE / len(shares))
        shares = np.maximum(shares, least)
        shares = shares / shares.sum()
        basis = contrasts(len(shares))
        squares, axes = np.linalg.eigh(basis.T @ (np.diag(shares) - np.outer(shares, shares)) @ basis)
        return cls(axes, np.sqrt(squares), axes.T @ basis.T @ (shares - parts.centre(column)), variance)


def correlations(estimates: Estimates, price: float) -> tuple[tuple[str, ...], Correlations, float]:
    """Return the columns in order, their correlations, and how much more noise there is than sampling."""
    parts = estimates.parts
    names = tuple(sorted(parts.sizes))
    columns = [Standard.of(estimates, name) for name in names]
    starts = np.concatenate([[0], np.cumsum([len(column.scales) for column in columns])])
    seen = np.zeros((starts[-1], starts[-1]))
    weights, ratios = np.zeros_like(seen), []
    for i, j in combinations(range(len(names)), 2):
        if not parts.has(names[i], names[j]):
            continue
        x, y = columns[i], columns[j]
        scale = np.outer(x.scales, y.scales)
        found = x.axes.T @ parts.values(names[i], names[j]) @ y.axes / parts.rows - np.outer(x.mean, y.mean)
        noise = parts.variance(names[i], names[j]) + x.variance * y.mean**2 + (y.variance * x.mean**2)[:, None]
        value, ratio = found / scale, noise / (parts.rows * scale**2)
        spread = (ratio + 1) / parts.rows
        spread = spread + MISFIT**2 * np.maximum(value**2 - spread, 0.0)
        rows, across = slice(starts[i], starts[i + 1]), slice(starts[j], starts[j + 1])
        seen[rows, across], weights[rows, across] = value, 1 / spread
        seen[across, rows], weights[across, rows] = value.T, 1 / spread.T
        ratios.append(ratio.ravel())
    noise_ratio = float(np.median(np.concatenate(ratios))) if ratios else 0.0
    return names, Correlations(starts, seen, weights, price), noise_ratio
