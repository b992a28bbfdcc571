"""A noisy table of two columns with an order, and what a reader of directions sees of it.

Cells are made even: what is looked at is the joint law of both columns' ranks (their copula), by the means of products
of one wave of each. So units, logarithms and bounds do not matter, as long as the bins tell rows apart.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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

FEWEST_LEVELS, MOST_LEVELS = 4, 256
"""A column with fewer levels has no shape to speak of, and more would drown in noise."""

LARGEST = 1 << 53
"""No count is larger."""


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
        sound = len(shape) == 1 and all(1 <= size <= MOST_LEVELS for size in (len(self.counts), *shape))
        if not sound or any(type(c) is not int or abs(c) > LARGEST for row in self.counts for c in row):
            raise ReleaseError(f"a table of two columns has up to {MOST_LEVELS} levels of each, and whole numbers")
        known = math.isfinite(self.noise) and self.noise >= 0 and type(self.rows) is int and self.rows > 0
        if not known or not isinstance(self.whole, bool):
            raise ReleaseError("a table of two columns has rows, and noise of some deviation")

    @property
    def array(self) -> IntArray:
        """The cells."""
        return np.array(self.counts, dtype=np.int64)

    @cached_property
    def even(self) -> FloatArray:
        """The table with few enough levels of each column, and as few of the other where one has hardly any.

        Neighbours are put together, so that rows are about as many in each level: else the coarser column would look
        like the cause of the finer one, or the other way round.
        """
        found = self.array.astype(float)
        fewest = min(found.shape)
        most = fewest if fewest < COARSE else FINE
        for axis in (0, 1):
            if found.shape[axis] > most:
                found = np.add.reduceat(found, _starts(found.sum(axis=1 - axis), most), axis=axis)
        return found

    @property
    def degree(self) -> int:
        """How many waves of each column are looked at."""
        return degree_of(max(self.even.shape))

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
        return wave_means(self.even[None] if redrawn is None else redrawn, self.present, self.degree)

    def redraw(self, draws: int, rng: np.random.Generator) -> FloatArray:
        """Return tables as they could have been released of rows like these."""
        likely = nearest(self.even[None], self.present)[0]
        scale = self.noise * math.sqrt(self.array.size / likely.size / 2)
        return np.asarray(likely + np.rint(rng.laplace(scale=scale, size=(draws, *likely.shape))))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"counts": [list(row) for row in self.counts], "noise": self.noise, "whole": self.whole}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], rows: int) -> PairTable:
        """Read it back."""
        counts = tuple(tuple(row) for row in data["counts"])
        return cls(counts, float(data["noise"]), rows, data["whole"])


def has_shape(levels: int) -> bool:
    """Whether a column with so many levels has a shape that can be seen."""
    return FEWEST_LEVELS <= levels <= MOST_LEVELS


def degree_of(levels: int) -> int:
    """Return how many waves of a column tell something in so many levels: three in four."""
    return (COARSE if levels <= COARSE else FINE) * 3 // 4


def _starts(margin: FloatArray, most: int) -> IntArray:
    """Return at which levels of a column new ones begin, so that at most so many hold about as many rows each."""
    shares = np.maximum(margin, 0.0) + SMOOTH
    middles = (np.cumsum(shares) - shares / 2) / shares.sum()
    return np.unique(np.minimum((middles * most).astype(np.int64), most - 1), return_index=True)[1]


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
