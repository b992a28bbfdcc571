"""A noisy table of two columns with an order, and what a reader of directions sees of it.

Cells are made even: what is looked at is the joint law of both columns' ranks (their copula), by the means of products
of one wave of each. So units, logarithms and bounds do not matter, as long as the bins tell rows apart.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from discreet.arrays import FloatArray, IntArray
from discreet.errors import ReleaseError

QUARTERS = 4
"""Bins at private quantiles; these are then halved without asking anything more."""

COARSE, FINE = 8, 16
"""Levels of a column that are looked at, by how clear its table is."""

CLEAR = 400.0
"""So many rows for each deviation of a cell's noise make a table worth ``FINE`` levels."""

WEAK = 50.0
"""With fewer rows for each deviation of a cell's noise, answers are hardly better than a coin."""

SMOOTH = 0.5
"""Rows that are added to each bin of a column, so that none is empty."""

MOST_LEVELS = 4096


def levels_for(rows: int, noise: float) -> int:
    """Return how many levels of a column a table is to have, from public facts alone."""
    return FINE if rows >= CLEAR * noise else COARSE


def halved(edges: Sequence[int], bins: int) -> list[int]:
    """Return edges of bins, halved until another time would make more than ``bins`` of them.

    An inner bin is cut in its middle. An outer one is cut no farther from its neighbour than that is wide, since beyond
    it there may be a long tail, or nothing.
    """
    while len(edges) > 1 and 2 * (len(edges) - 1) <= bins:
        cuts = [(a + b) // 2 for a, b in pairwise(edges)]
        if len(cuts) > 1:
            cuts[0] = max(cuts[0], 2 * edges[1] - edges[2])
            cuts[-1] = min(cuts[-1], 2 * edges[-2] - edges[-3])
        finer = sorted({*edges, *cuts})
        if finer == list(edges):
            break
        edges = finer
    return list(edges)


@dataclass(frozen=True)
class PairTable:
    """A noisy table of the rows that have both values, as it was released.

    Parameters
    ----------
    counts
        One tuple for each level of the first column.
    noise
        Standard deviation of the noise in each cell.
    rows
        The public number of rows.
    whole
        Whether every row has both values.
    """

    counts: tuple[tuple[int, ...], ...]
    noise: float
    rows: int
    whole: bool = True

    def __post_init__(self) -> None:
        shape = {len(row) for row in self.counts}
        sound = len(shape) == 1 and all(2 <= size <= MOST_LEVELS for size in (len(self.counts), *shape))
        if not sound or any(type(count) is not int for row in self.counts for count in row):
            raise ReleaseError("a table of two columns has at least two levels of each, and whole numbers")
        if not (math.isfinite(self.noise) and self.noise >= 0 and type(self.rows) is int and self.rows > 0):
            raise ReleaseError("a table of two columns has rows, and noise of some deviation")

    @property
    def array(self) -> IntArray:
        """The cells."""
        return np.array(self.counts, dtype=np.int64)

    @property
    def degree(self) -> int:
        """How many waves of each column are looked at."""
        return degree_of(max(len(self.counts), len(self.counts[0])))

    @property
    def present(self) -> float:
        """How many rows have both values, as far as the noise tells; all of them where none can lack one."""
        return float(self.rows) if self.whole else float(np.clip(self.array.sum(), 1, self.rows))

    @property
    def wave_noise(self) -> float:
        """The noise's deviation in a mean of products of waves."""
        return self.noise * math.sqrt(self.array.size) / self.present

    def waves(self, redrawn: FloatArray | None = None) -> FloatArray:
        """Return the means of products of waves; of redrawn tables, one after the other, where such are given."""
        tables = self.array[None].astype(float) if redrawn is None else redrawn
        return wave_means(even(tables, FINE), self.present, self.degree)

    def redraw(self, draws: int, rng: np.random.Generator) -> FloatArray:
        """Return tables as they could have been released of rows like these."""
        likely = nearest(self.array[None].astype(float), self.present)[0]
        scale = self.noise / math.sqrt(2)
        return np.asarray(likely + np.rint(rng.laplace(scale=scale, size=(draws, *likely.shape))))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"counts": [list(row) for row in self.counts], "noise": self.noise, "whole": self.whole}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], rows: int) -> PairTable:
        """Read it back."""
        counts = tuple(tuple(row) for row in data["counts"])
        return cls(counts, float(data["noise"]), rows, bool(data["whole"]))


def degree_of(levels: int) -> int:
    """Return how many waves of a column tell something in so many levels: three in four."""
    return (COARSE if levels <= COARSE else FINE) * 3 // 4


def even(tables: FloatArray, most: int) -> FloatArray:
    """Return tables in which each column has at most so many levels: neighbours are put together."""
    for axis in (1, 2):
        levels = tables.shape[axis]
        if levels > most:
            tables = np.add.reduceat(tables, np.arange(most) * levels // most, axis=axis)
    return tables


def nearest(tables: FloatArray, rows: float) -> FloatArray:
    """Return the nearest tables of so many rows without negative cells: what noise put into empty cells goes."""
    flat = tables.reshape(len(tables), -1)
    falling = -np.sort(-flat, axis=1)
    above = (np.cumsum(falling, axis=1) - rows) / np.arange(1, flat.shape[1] + 1)
    last = (falling > above).sum(axis=1) - 1
    return np.asarray(np.maximum(flat - above[np.arange(len(flat)), last][:, None], 0.0).reshape(tables.shape))


def wave_means(tables: FloatArray, rows: float, degree: int) -> FloatArray:
    """Return the means of products of waves over the ranks of both columns, for noisy tables of so many rows."""
    found = nearest(tables, rows)
    x, y = _waves(found.sum(axis=2), degree), _waves(found.sum(axis=1), degree)
    return x @ (found / rows) @ y.transpose(0, 2, 1)


def _waves(margins: FloatArray, degree: int) -> FloatArray:
    """Return the means of root 2 cos(pi k u) over the ranks u of each bin, centred; one row for each k from 1."""
    shares = (margins + SMOOTH) / (margins + SMOOTH).sum(axis=1, keepdims=True)
    ends = np.concatenate([np.zeros((len(shares), 1)), np.cumsum(shares, axis=1)], axis=1)
    k = np.arange(1, degree + 1)[:, None]
    sines = np.sin(np.pi * k * ends[:, None, :])
    means = math.sqrt(2) * np.diff(sines, axis=2) / (np.pi * k * shares[:, None, :])
    return np.asarray(means - (means * shares[:, None, :]).sum(axis=2, keepdims=True))
