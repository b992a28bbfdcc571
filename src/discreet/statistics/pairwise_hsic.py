"""How far columns of numbers depend on each other, pair by pair, and how far each varies, by kernels.

Columns are put on one public scale from -1 to 1 in steps. The dependence of two is the root of the Hilbert-Schmidt
independence criterion with Gaussian kernels; how far a column varies is told by the length of its mean feature, which
is 1 for a constant and the shorter the further values lie apart.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.arrays import FloatArray, IntArray
from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.statistics import Sensitivity, Table
from discreet.statistics.curves import UNIT, check_ordered, on_scale
from discreet.statistics.dependence import MOVED, STEPS
from discreet.statistics.hsic import LEVELS, MANY, ROOT_ERROR, WIDTHS, Waves
from discreet.statistics.margins import each_moved

WIDTH = 0.3
"""Width of the kernels, on a scale from -1 to 1."""

LEAST_ROWS, MAX_ROWS = 50, 1 << 31


@dataclass(frozen=True)
class Kernels(ABC):
    """Some numbers about columns, each in steps of a thousandth of what one row can move it by.

    Parameters
    ----------
    names
        The columns, each once.
    levels
        Their public numbers of levels.
    width
        Width of the kernels on a scale from -1 to 1.

    Guarantee
    ---------
    Substituting one row changes each number by at most 1001 steps.

    Proof
    -----
    ``pairwise_hsic.md``.
    """

    kind: ClassVar[str]

    names: tuple[str, ...]
    levels: tuple[int, ...]
    width: float = WIDTH

    def __post_init__(self) -> None:
        if len(self.names) != len(set(self.names)) or len(self.names) != len(self.levels):
            raise SettingError("columns: each once, with its number of levels")
        if not WIDTHS[0] <= self.width <= WIDTHS[1]:
            raise SettingError(f"width: a number from {WIDTHS[0]:g} to {WIDTHS[1]:g}")

    @property
    def name(self) -> str:
        """What it is, for the ledger."""
        return f"{self.kind} of {len(self.names)} columns"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it sees."""
        return self.names

    @property
    @abstractmethod
    def size(self) -> int:
        """How many numbers there are."""

    @abstractmethod
    def change(self, rows: int) -> float:
        """Return how far substituting one row can move a computed value."""

    def unit(self, rows: int) -> float:
        """Return the real value of one step."""
        return self.change(rows) / STEPS

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return 1001 steps for each number."""
        check_ordered(self.names, domain)
        if domain.shape(self.names) != self.levels:
            raise SettingError("columns: they have other numbers of levels in this domain")
        if not 2 <= domain.rows <= MAX_ROWS:
            raise SettingError(f"rows: from 2 to {MAX_ROWS:,}")
        return each_moved(self.size, MOVED)

    def evaluate(self, table: Table) -> IntArray:
        """Return the numbers in steps."""
        placed = [
            (on_scale(codes, levels) + UNIT) * LEVELS // (2 * UNIT)
            for codes, levels in zip(table.values(self.names), self.levels, strict=True)
        ]
        waves = Waves.over(-1.0, 2.0, self.width)
        values = self._values(placed, waves.weighted_levels(), waves.constant)
        found: IntArray = np.rint(values / self.unit(table.rows)).astype(np.int64)
        return found

    @abstractmethod
    def _values(self, placed: list[IntArray], features: FloatArray, constant: float) -> FloatArray:
        """Return the real values, from the step that each row is in and the features of all steps."""


def _mean(placed: IntArray, features: FloatArray) -> FloatArray:
    found: FloatArray = np.bincount(placed, minlength=LEVELS) @ features / len(placed)
    return found


@dataclass(frozen=True)
class MeanLengths(Kernels):
    """For each column the length of its mean feature: the root of the mean kernel of two rows.

    Guarantee
    ---------
    Substituting one row changes each real value by at most sqrt(2)/n, and each number by at most 1001 steps.

    Proof
    -----
    ``pairwise_hsic.md``, Mean features.
    """

    kind: ClassVar[str] = "mean features"

    @property
    def size(self) -> int:
        """One a column."""
        return len(self.names)

    def change(self, rows: int) -> float:
        """Return sqrt(2)/n and what rounding adds."""
        return math.sqrt(2) / rows + 2 * ROOT_ERROR

    def _values(self, placed: list[IntArray], features: FloatArray, constant: float) -> FloatArray:
        squares = [float(np.square(_mean(column, features)).sum()) + constant for column in placed]
        found: FloatArray = np.sqrt(np.array(squares))
        return found


@dataclass(frozen=True)
class PairwiseHSIC(Kernels):
    """For some pairs of columns the root of the Hilbert-Schmidt independence criterion.

    Parameters
    ----------
    pairs
        Places of both columns of each pair in ``names``.

    Guarantee
    ---------
    Substituting one row changes each real value by at most sqrt(6) (n - 1)/n^2, and each number by at most 1001 steps.

    Proof
    -----
    ``pairwise_hsic.md``, Dependence.
    """

    kind: ClassVar[str] = "dependence of pairs"

    pairs: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.pairs or any(not 0 <= i < j < len(self.names) for i, j in self.pairs):
            raise SettingError("pairs: at least one, of places of two columns, the smaller one first")

    @property
    def size(self) -> int:
        """One a pair."""
        return len(self.pairs)

    def change(self, rows: int) -> float:
        """Return sqrt(6) (n - 1)/n^2 and what rounding adds."""
        return math.sqrt(6) * (rows - 1) / rows**2 + 2 * ROOT_ERROR

    def _values(self, placed: list[IntArray], features: FloatArray, constant: float) -> FloatArray:
        means = [_mean(column, features) for column in placed]
        found = []
        for i, j in self.pairs:
            crossed = _crossed(placed[i], placed[j], features)
            found.append(float(np.linalg.norm(crossed - np.multiply.outer(means[i], means[j]))))
        return np.array(found)


def _crossed(x: IntArray, y: IntArray, features: FloatArray) -> FloatArray:
    """Return the mean product of the features of both, row by row or from a table of steps by steps."""
    if len(x) < MANY:
        by_rows: FloatArray = features[x].T @ features[y] / len(x)
        return by_rows
    counted = np.bincount(x * LEVELS + y, minlength=LEVELS**2).reshape(LEVELS, LEVELS)
    by_table: FloatArray = features.T @ counted.astype(np.float64) @ features / len(x)
    return by_table
