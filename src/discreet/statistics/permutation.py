"""How far two columns of numbers depend on each other, for the rows as they are and for public permutations of them.

The dependence is the root of the Hilbert-Schmidt independence criterion with Gaussian kernels: of both columns or, if
others are given, of what both exceed their ridge regressions on these by.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, TypeVar

import numpy as np

from discreet.arrays import FloatArray, IntArray
from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.statistics import Between, Sensitivity, Table
from discreet.statistics.curves import UNIT, on_scale
from discreet.statistics.dependence import STEPS
from discreet.statistics.hsic import LEVELS, MANY, ROOT_ERROR, WIDTHS, Waves, wave_error
from discreet.statistics.ridge import CUT, check_fit, moved_residual, residuals

SIZES = (20, 60, 120, 240, 360, 720, 840, 1260, 2520, 5040)
"""Sizes of groups: with many divisors, hardly a row is left that a permutation does not move."""

BEYOND = 10
"""A group is so large that as many of its permutations may lie beyond the data at the level."""

WIDTH, BEHIND = 0.2, 0.3
"""Widths of Gaussian kernels on a scale from -1 to 1: of both columns; of residuals, and of columns that are given."""

RIDGE = 0.1
"""How much regressions on given columns are held back."""

MAX_ROWS = 1 << 24
MOST_GIVEN = 5

A = TypeVar("A", IntArray, FloatArray)


@dataclass(frozen=True)
class Shifts:
    """Permutations of rows: these are put into cycles, and the j-th permutation moves each row j places on.

    Parameters
    ----------
    rows
        How many rows there are.
    size
        Number of permutations, the first of which moves nothing.
    arrangement
        Number of the public arrangement of rows in cycles. Which row stands where is secret: the room shuffles them.
    """

    rows: int
    size: int
    arrangement: int = 0

    def __post_init__(self) -> None:
        if self.rows < 2 or self.size < 2 or self.arrangement < 0:
            raise SettingError("permutations: at least two, of at least two rows; arrangements count from 0")

    def order(self) -> IntArray:
        """Return which row stands at each place of the cycles."""
        rng = np.random.default_rng(self.arrangement)
        return rng.permutation(self.rows)

    def cycles(self) -> list[tuple[int, int]]:
        """Return how many cycles there are of each length, longest first; every length divides the size."""
        found, left = [], self.rows
        for length in range(self.size, 0, -1):
            if self.size % length == 0 and left >= length:
                found.append((left // length, length))
                left %= length
        return found

    def shifted(self, values: A, by: int) -> A:
        """Return values, given in the order of places, each moved to where the permutation takes it."""
        found, start = np.empty_like(values), 0
        for many, length in self.cycles():
            part = slice(start, start + many * length)
            shape = (many, length, *values.shape[1:])
            found[part] = np.roll(values[part].reshape(shape), -by, axis=1).reshape(values[part].shape)
            start = part.stop
        return found


def exactly(alpha: float) -> Fraction:
    """Return a level as the decimal number that was written, after refusing one that is none."""
    if isinstance(alpha, bool) or not isinstance(alpha, float | int) or not 0 < alpha < 1:
        raise SettingError("alpha: a number between 0 and 1")
    return Fraction(repr(float(alpha)))


def size_for(alpha: float) -> int:
    """Return the size of a group of permutations that can tell a level."""
    wanted = BEYOND / exactly(alpha)
    fitting = [size for size in SIZES if size >= wanted]
    if fitting:
        return fitting[0]
    if SIZES[-1] * exactly(alpha) < 1:
        raise SettingError(f"alpha: at least {math.ceil(1e5 / SIZES[-1]) / 1e5:g}, for {SIZES[-1]:,} permutations")
    return SIZES[-1]


def beyond(alpha: float, size: int) -> int:
    """Return how many of the permutations may lie at or beyond the data, these included, at a level."""
    found = math.floor(exactly(alpha) * size)
    if found < 1:
        raise SettingError(f"alpha: {size} permutations tell no level below 1/{size}")
    return found


@dataclass(frozen=True)
class Compared(Between):
    """Two columns and those that are given, all with an order, and their public numbers of levels."""

    levels: tuple[int, ...]

    def __post_init__(self) -> None:
        if list(self.given) != sorted(set(self.given)) or len(self.given) > MOST_GIVEN:
            raise SettingError(f"given: at most {MOST_GIVEN} columns, in sorted order, each once")
        if len(set(self.columns)) != 2 + len(self.given):
            raise SettingError("columns: two different ones, and neither of them is given")

    @classmethod
    def of(cls, x: str, y: str, given: Sequence[str], domain: Domain) -> Compared:
        """Return the columns, after refusing those that are no numbers."""
        found = cls(x, y, tuple(given), tuple(domain.size(name) for name in (x, y, *given)))
        found.check(domain)
        return found

    def check(self, domain: Domain) -> None:
        """Refuse columns that are no numbers, and another domain than the one the levels are of."""
        for name in self.columns:
            column = domain[name]
            if not column.ordered:
                raise SettingError(
                    f"column {name!r}: its categories are no numbers; declare bounds, or `ordered: true`"
                )
            if column.missing is not None or column.other is not None:
                raise SettingError(
                    f"column {name!r}: the test takes a value in every row, and the domain has a place for missing or "
                    "other ones; take `moments` or `tables`, for which that is a level"
                )
            if column.size < 2:
                raise SettingError(f"column {name!r}: a single value depends on nothing")
        if domain.shape(self.columns) != self.levels:
            raise SettingError("columns: they have other numbers of levels in this domain")

    def scaled(self, codes: Sequence[IntArray]) -> list[IntArray]:
        """Return codes on the scale from -UNIT to UNIT."""
        return [on_scale(column, levels) for column, levels in zip(codes, self.levels, strict=True)]


@dataclass(frozen=True)
class PermutedHSIC:
    """The dependence of rows as they are, then of each permutation of them, in steps.

    Parameters
    ----------
    of
        The columns.
    size
        Number of permutations, the rows as they are included.
    width
        Of the kernels on a scale from -1 to 1 where nothing is given.
    behind, ridge
        Where columns are given: the width of the kernels of these and of residuals, and the ridge of the regressions.
    arrangement
        Number of the public arrangement of rows that permutations are made of.

    Guarantee
    ---------
    Substituting one row changes the first number and each other by at most what is declared, together 1001 or 1002
    steps: of the real values sqrt(6) (n - 1)/n^2 and 4 (n - 1)/n^2, and if columns are given both more by 2R/behind.

    Proof
    -----
    ``permutation.md``, Claim 1 and Claim 2.
    """

    symmetric: ClassVar[bool] = False
    """Not the same for rows in another order, which an amplification by samples would need."""

    of: Compared
    size: int = 240
    width: float = WIDTH
    behind: float = BEHIND
    ridge: float = RIDGE
    arrangement: int = 0

    def __post_init__(self) -> None:
        if not all(WIDTHS[0] <= width <= WIDTHS[1] for width in (self.width, self.behind)):
            raise SettingError(f"width: a number from {WIDTHS[0]:g} to {WIDTHS[1]:g}")
        Shifts(2, self.size, self.arrangement)

    @property
    def name(self) -> str:
        """What it is, for the ledger."""
        return f"dependence of {self.of.words}, and of {self.size - 1} permutations"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it sees."""
        return self.of.columns

    def check(self, domain: Domain) -> None:
        """Refuse columns that are no numbers, and too few or too many rows. From public facts alone."""
        self.of.check(domain)
        if not 2 <= domain.rows <= MAX_ROWS:
            raise SettingError(f"rows: permutations take from 2 to {MAX_ROWS:,}")
        if self.of.given:
            check_fit(domain.rows, len(self.of.given), self.ridge)

    def changes(self, rows: int) -> tuple[float, float]:
        """Return how far one row can move the real values: of the rows as they are, and of permuted ones."""
        each = (rows - 1) / rows**2
        by_fit = 2 * moved_residual(rows, len(self.of.given), self.ridge) / self.behind if self.of.given else 0.0
        rounding = 2 * (wave_error(rows) if self.of.given else ROOT_ERROR)
        first, others = (min(factor * each + by_fit, 0.5) + rounding for factor in (math.sqrt(6), 4))
        return first, others

    def unit(self, rows: int) -> float:
        """Return the real value of one step: a thousandth of both changes together."""
        return sum(self.changes(rows)) / STEPS

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return the change of the first number, and of each other."""
        self.check(domain)
        unit = self.unit(domain.rows)
        first, others = (math.floor(change / unit * (1 + 1e-9)) + 1 for change in self.changes(domain.rows))
        l1 = first + (self.size - 1) * others
        l2_squared = first**2 + (self.size - 1) * others**2
        return Sensitivity(Fraction(l1), Fraction(l2_squared), Fraction(others), first=Fraction(first))

    def evaluate(self, table: Table) -> IntArray:
        """Return the dependences in steps."""
        found: IntArray = np.rint(self._values(table) / self.unit(table.rows)).astype(np.int64)
        return found

    def _values(self, table: Table) -> FloatArray:
        shifts = Shifts(table.rows, self.size, self.arrangement)
        order = shifts.order()
        scaled = self.of.scaled([column[order] for column in table.values(self.columns)])
        if self.of.given:
            floats = [column / UNIT for column in scaled]
            left_x, left_y = residuals(floats[:2], floats[2:], self.behind, self.ridge)
            waves = Waves.over(-CUT, 2 * CUT, self.behind)
            return _by_rows(waves.weighted(left_x), waves.weighted(left_y), shifts)
        x, y = ((column + UNIT) * LEVELS // (2 * UNIT) for column in scaled)
        steps = Waves.over(-1.0, 2.0, self.width).weighted_levels()
        return _by_rows(steps[x], steps[y], shifts) if table.rows < MANY else _by_tables(x, y, steps, shifts)


def _by_rows(x: FloatArray, y: FloatArray, shifts: Shifts) -> FloatArray:
    """Return the norms of the cross-covariances of features, row by row, for all permutations."""
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    norms = [np.linalg.norm(x.T @ shifts.shifted(y, by)) for by in range(shifts.size)]
    return np.array(norms) / len(x)


def _by_tables(x: IntArray, y: IntArray, features: FloatArray, shifts: Shifts) -> FloatArray:
    """Return the same where rows have one of few levels each, from tables of both columns."""
    rows, levels = len(x), len(features)
    expected = np.multiply.outer(np.bincount(x, minlength=levels), np.bincount(y, minlength=levels)) / rows
    shifted = x * levels
    norms = []
    for by in range(shifts.size):
        counted = np.bincount(shifted + shifts.shifted(y, by), minlength=levels**2).reshape(levels, levels)
        norms.append(np.linalg.norm(features.T @ (counted - expected) @ features))
    return np.array(norms) / rows
