"""What a release of noisy pair tables says about columns, alone and within the levels of another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from discreet.arrays import FloatArray

Law = Literal["gaussian", "laplace"]
"""The law of the noise on a cell."""

FARTHEST = 2.0
"""Largest squared distance between two vectors of shares."""


@dataclass(frozen=True)
class PairTables:
    """Noisy pair tables, keyed by pairs in sorted order, and the law of the noise on each cell."""

    rows: int
    sizes: Mapping[str, int]
    tables: Mapping[tuple[str, str], FloatArray]
    variance: float
    law: Law = "gaussian"

    def has(self, x: str, y: str) -> bool:
        """Whether the table of a pair was released."""
        return (min(x, y), max(x, y)) in self.tables

    def table(self, x: str, y: str) -> FloatArray:
        """Return the noisy table with x down and y across."""
        return self.tables[(x, y)] if x < y else self.tables[(y, x)].T


@dataclass(frozen=True)
class Margin:
    """One column's counts and shares, pooled from all its tables, and the variance of their noise."""

    counts: FloatArray
    shares: FloatArray
    variance: float


@dataclass(frozen=True)
class Strata:
    """A column within the levels of another (or within the whole), in contrasts.

    ``counts`` and ``shares`` have one column a level of the other; ``covariance`` is that of one draw in each level,
    ``error`` the variance of the shares' error.
    """

    counts: FloatArray
    shares: FloatArray
    covariance: FloatArray
    error: FloatArray


def pooled_margin(pairs: PairTables, column: str) -> Margin:
    """Pool a column's counts over all its tables by inverse variance, and make them add up to the public total."""
    a = pairs.sizes[column]
    total, weight = np.zeros(a), 0.0
    for (x, y), table in pairs.tables.items():
        if column in (x, y):
            precision = a / table.size
            total += precision * table.sum(axis=1 if column == x else 0)
            weight += precision
    if not weight:  # in no table: nothing is known, and nothing can be asked
        return Margin(np.full(a, pairs.rows / a), np.full(a, 1 / a), float(pairs.rows) ** 2)
    counts = total / weight
    shares = to_simplex((counts + (pairs.rows - counts.sum()) / a) / pairs.rows)
    return Margin(shares * pairs.rows, shares, pairs.variance / weight)


def whole(margin: Margin) -> Strata:
    """Return a column within the whole table."""
    return _in_contrasts(margin.counts[:, None], margin.shares[:, None], np.zeros(1))


def within(pairs: PairTables, x: str, z: str, margins: Mapping[str, Margin]) -> Strata:
    """Return column x within the levels of z, from their table moved to the pooled margins.

    Shares in a level that drowns in noise are shrunk towards the shares in the whole table, as far as a bound on the
    squared distance between the two allows: what was seen plus its noise, and at most 2.
    """
    mx, mz = margins[x], margins[z]
    a, c = len(mx.counts), len(mz.counts)
    cx, cz = contrasts(a), contrasts(c)
    inner = cx @ (cx.T @ pairs.table(x, z) @ cz) @ cz.T
    counts = inner + mx.counts[:, None] / c + mz.counts[None, :] / a - pairs.rows / (a * c)
    size = np.maximum(mz.counts, 1e-9)
    blur = pairs.variance / size**2
    seen = ((counts / size - mx.shares[:, None]) ** 2).sum(axis=0)
    distance = np.minimum(seen + blur, FARTHEST)
    weight = distance / (distance + blur)
    raw = weight * counts / size + (1 - weight) * mx.shares[:, None]
    shares = np.stack([to_simplex(column) for column in raw.T], axis=1)
    return _in_contrasts(counts, shares, weight * blur)


def _in_contrasts(counts: FloatArray, shares: FloatArray, error: FloatArray) -> Strata:
    basis = contrasts(len(counts))
    projected = basis.T @ shares
    spread = np.einsum("ai,ak,aj->kij", basis, shares, basis) - np.einsum("ik,jk->kij", projected, projected)
    return Strata(basis.T @ counts, projected, spread, error)


@cache
def contrasts(levels: int) -> FloatArray:
    """Return an orthonormal basis of the vectors that add up to 0, one column each."""
    basis = np.zeros((levels, levels - 1))
    for j in range(1, levels):
        basis[:j, j - 1] = 1.0
        basis[j, j - 1] = -j
        basis[:, j - 1] /= np.sqrt(j * (j + 1))
    basis.flags.writeable = False
    return basis


def to_simplex(vector: FloatArray) -> FloatArray:
    """Return the nearest vector of shares."""
    ordered = np.sort(vector)[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, len(vector) + 1)
    k = int(np.flatnonzero(ordered > excess)[-1])
    return np.asarray(np.clip(vector - excess[k], 0.0, None))
