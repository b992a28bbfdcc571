"""A private curve through two columns: numbers of rows and sums within equal bins, both ways.

Every column is put on one public scale, from -UNIT to UNIT, so that columns can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from discreet.arrays import FloatArray, IntArray
from discreet.domain import GRID, Column, Domain, Numeric
from discreet.errors import SettingError
from discreet.statistics import Sensitivity, Table

UNIT = 1 << 15
"""The ends of the scale."""

MAX_BINS = 64

RISES = 3.0
"""A curve that varies so many times further than noise and chance would make it is one."""


def on_scale(codes: IntArray, levels: int) -> IntArray:
    """Return codes on the scale: the middle of each level's part of it. Row by row, from public facts alone."""
    scaled: IntArray = (2 * codes + 1) * UNIT // levels - UNIT
    return scaled


@dataclass(frozen=True)
class Scaled:
    """Two different columns whose codes are put on the scale, with their public numbers of levels on it.

    Codes beyond these are places for missing and foreign values: a row with one of them is absent, and counts nowhere.
    """

    x: str
    y: str
    levels: tuple[int, int]

    def __post_init__(self) -> None:
        if self.x == self.y:
            raise SettingError("direction: two different columns")

    @classmethod
    def of(cls, x: str, y: str, domain: Domain) -> Scaled:
        """Return both columns, after refusing those without an order."""
        return cls(x, y, (_levels(x, domain[x]), _levels(y, domain[y])))

    def check(self, domain: Domain) -> None:
        """Refuse another domain than the one the levels are of."""
        if (_levels(self.x, domain[self.x]), _levels(self.y, domain[self.y])) != self.levels:
            raise SettingError("direction: the columns have other numbers of levels in this domain")

    def whole(self, domain: Domain) -> bool:
        """Whether no row can be absent."""
        return domain.shape((self.x, self.y)) == self.levels

    def values(self, table: Table) -> tuple[IntArray, IntArray]:
        """Return both columns on the scale, for every row that has both."""
        x, y = table.values((self.x, self.y))
        there = (x < self.levels[0]) & (y < self.levels[1])
        return on_scale(x[there], self.levels[0]), on_scale(y[there], self.levels[1])


def between_bounds(domain: Domain) -> Domain:
    """Return the domain with numeric columns between their bounds: bins are for tables."""

    def plain(column: Column) -> Column:
        return replace(column, bins=None, at="equal-width") if isinstance(column, Numeric) else column

    return replace(domain, columns={name: plain(column) for name, column in domain.columns.items()})


def check_ordered(names: Sequence[str], domain: Domain) -> None:
    """Refuse columns whose codes have no order, only one value, or places for what is no value."""
    for name in names:
        if _levels(name, domain[name]) != domain.size(name):
            raise SettingError(
                f"column {name!r}: takes a value in every row, and the domain has a place for missing or other ones"
            )


def _levels(name: str, column: Column) -> int:
    """Return how many levels of a column that is taken between its bounds have an order."""
    if isinstance(column, Numeric) and column.bins is not None:
        raise SettingError(f"column {name!r}: a direction takes numbers between bounds; declare it without bins")
    return ordered_levels(name, column)


def ordered_levels(name: str, column: Column) -> int:
    """Return how many levels of a column have an order: all but places of their own for missing and other values."""
    if not column.ordered:
        raise SettingError(f"column {name!r}: its categories have no order; declare `ordered: true`, or bounds")
    if isinstance(column, Numeric):
        return GRID if column.bins is None else len(column.edges) - 1
    if {column.missing, column.other} & set(column.categories):
        raise SettingError(f"column {name!r}: give missing and other values levels of their own, outside the order")
    if len(column.categories) < 2:
        raise SettingError(f"column {name!r}: a single value has no direction")
    return len(column.categories)


@dataclass(frozen=True)
class BinnedSums:
    """For equal bins of each of two columns: UNIT times the number of rows, and the sum of the other column.

    Guarantee
    ---------
    Substituting one row changes the vector by at most 8 UNIT in L1 norm and sqrt(8) UNIT in L2 norm; absent rows, and
    rows that become absent, included.

    Proof
    -----
    ``curves.md``, Claim.
    """

    of: Scaled
    bins: int

    def __post_init__(self) -> None:
        if not 2 <= self.bins <= MAX_BINS:
            raise SettingError(f"bins: from 2 to {MAX_BINS}")

    @property
    def name(self) -> str:
        """What it is, for the ledger."""
        return f"curves of {self.of.x} and {self.of.y} in {self.bins} bins"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it sees."""
        return (self.of.x, self.of.y)

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return 8 UNIT in L1 and 8 UNIT^2 in squared L2."""
        self.of.check(domain)
        return Sensitivity(l1=Fraction(8 * UNIT), l2_squared=Fraction(8 * UNIT**2), largest=Fraction(2 * UNIT))

    def evaluate(self, table: Table) -> IntArray:
        """Return numbers and sums by bins of the first column, then of the second."""
        x, y = self.of.values(table)
        return np.concatenate([*self._parts(x, y), *self._parts(y, x)])

    def _parts(self, by: IntArray, of: IntArray) -> tuple[IntArray, IntArray]:
        places = np.minimum((by + UNIT) * self.bins // (2 * UNIT), self.bins - 1)
        sums = np.zeros(self.bins, dtype=np.int64)
        np.add.at(sums, places, of)
        return UNIT * np.bincount(places, minlength=self.bins), sums

    def curves(self, vector: IntArray, noise: float) -> tuple[Curve, Curve]:
        """Return the curve of y over x, and that of x over y, from a blurred vector and the noise's deviation."""
        forward, backward = vector.reshape(2, 2, self.bins)
        return _curve(forward, noise), _curve(backward, noise)

    def clear(self, vector: IntArray, noise: float) -> bool:
        """Whether one of both curves rises or falls further than the noise and chance would make it."""
        return any(_rises(part, noise) for part in vector.reshape(2, 2, self.bins))


def _rises(part: IntArray, noise: float) -> bool:
    """Compare how far the means of well-filled bins vary with how far they would if nothing depended."""
    rows, blur = part[0] / UNIT, noise / UNIT
    filled = rows > 3 * blur
    if filled.sum() < 2:
        return False
    weights = rows[filled] / rows[filled].sum()
    means = np.clip(part[1][filled] / UNIT / rows[filled], -1, 1)
    middle = float(weights @ means)
    varied = float(weights @ (means - middle) ** 2)
    blurred = (blur / rows[filled]) ** 2 * (1 + means**2)
    by_chance = (1 - middle**2) / rows[filled]  # no column from -1 to 1 with this mean varies more
    return varied > RISES * float(weights @ (blurred + by_chance))


@dataclass(frozen=True)
class Curve:
    """Heights at the middles of equal bins, with straight lines between; flat beyond the outer ones."""

    heights: tuple[int, ...]

    def residuals(self, by: IntArray, of: IntArray) -> IntArray:
        """Return what a column exceeds the curve by, row by row."""
        middles = [UNIT * (2 * i + 1 - len(self.heights)) / len(self.heights) for i in range(len(self.heights))]
        return of - np.rint(np.interp(by, middles, self.heights)).astype(np.int64)


def _curve(part: IntArray, noise: float) -> Curve:
    """Divide sums by numbers; a bin that may be empty for all one knows is drawn to the middle of the scale."""
    rows = np.maximum(part[0] / UNIT, 2 * noise / UNIT)
    heights: FloatArray = np.clip(part[1] / np.maximum(rows, 1.0), -UNIT, UNIT)
    return Curve(tuple(np.rint(heights).astype(np.int64).tolist()))
