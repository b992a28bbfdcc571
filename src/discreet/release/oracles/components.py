"""What a release says, in orthonormal contrasts: one component a set of columns, with the variance of its noise.

A contingency table is the sum of the interactions of all subsets of its columns, and these are orthogonal: even
noise on a table is independent noise on its components. So tables and interactions that overlap are combined
component by component, by inverse variance, which is least squares over everything that was released.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from math import prod
from typing import Literal

import numpy as np

from discreet.arrays import FloatArray, IntArray

Law = Literal["gaussian", "laplace"]
"""The law of the noise."""

Columns = tuple[str, ...]


@dataclass(frozen=True)
class Component:
    """The interaction of a set of columns in orthonormal contrasts, and the variance of the noise on each."""

    values: FloatArray
    variance: float


@dataclass(frozen=True)
class Components:
    """All that was released, keyed by sets of columns in sorted order.

    Interactions are those of the columns less their ``centres``: public shares of a column's levels, even ones where
    none are named.
    """

    rows: float
    sizes: Mapping[str, int]
    parts: Mapping[Columns, Component]
    law: Law = "gaussian"
    centres: Mapping[str, FloatArray] = field(default_factory=dict)

    def centre(self, column: str) -> FloatArray:
        """Return the shares of a column's levels that its interactions are told from."""
        levels = self.sizes[column]
        return self.centres.get(column, np.full(levels, 1 / levels))

    def has(self, *columns: str) -> bool:
        """Whether the interaction of a set of columns was released."""
        return tuple(sorted(columns)) in self.parts

    def values(self, *columns: str) -> FloatArray:
        """Return an interaction with its axes in the order asked for."""
        key = tuple(sorted(columns))
        return self.parts[key].values.transpose([key.index(c) for c in columns])

    def variance(self, *columns: str) -> float:
        """Return the variance of an interaction's noise."""
        return self.parts[tuple(sorted(columns))].variance


def pool(found: Iterable[tuple[Columns, FloatArray, float]]) -> dict[Columns, Component]:
    """Combine components that were released more than once by inverse variance."""
    parts: dict[Columns, Component] = {}
    for columns, values, variance in found:
        if columns in parts:
            before = parts[columns]
            total = before.variance + variance
            share = before.variance / total if total > 0 else 0.5
            merged = before.values + share * (values - before.values)
            parts[columns] = Component(merged, share * variance)
        else:
            parts[columns] = Component(values, variance)
    return parts


def taken_apart(columns: Columns, table: FloatArray, variance: float) -> Iterable[tuple[Columns, FloatArray, float]]:
    """Yield the components of a table with even noise, smallest sets first; columns in sorted order."""
    axes = range(len(columns))
    for order in range(1, len(columns) + 1):
        for kept in combinations(axes, order):
            summed = tuple(axis for axis in axes if axis not in kept)
            values = np.asarray(table.sum(axis=summed))
            for size in values.shape:
                values = np.tensordot(values, contrasts(size), axes=(0, 0))
            yield tuple(columns[i] for i in kept), values, variance * prod(table.shape[i] for i in summed)


def in_orthonormal(values: IntArray) -> FloatArray:
    """Return whole-number contrasts along every axis as orthonormal ones."""
    scaled = values.astype(np.float64)
    for axis, size in enumerate(values.shape):
        j = np.arange(1, size + 1)
        scaled = scaled / np.sqrt(j * (j + 1)).reshape([-1 if k == axis else 1 for k in range(values.ndim)])
    return scaled


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


def to_simplex(vectors: FloatArray) -> FloatArray:
    """Return the nearest vectors of shares, along the last axis."""
    ordered = -np.sort(-vectors, axis=-1)
    excess = (np.cumsum(ordered, axis=-1) - 1) / np.arange(1, vectors.shape[-1] + 1)
    last = (ordered > excess).sum(axis=-1, keepdims=True) - 1
    return np.asarray(np.clip(vectors - np.take_along_axis(excess, last, axis=-1), 0.0, None))
