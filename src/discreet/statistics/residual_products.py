"""Sums of products over rows: of polynomials of given columns and two others, then of what these two exceed a fit by.

The first is released to fit both columns on the given ones. With that fit public, residuals are row by row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np

from discreet.arrays import FloatArray, IntArray
from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.statistics import Sensitivity, Table
from discreet.statistics.curves import UNIT
from discreet.statistics.permutation import Compared

FINE = 1 << 12
"""The ends of the scale on which products are made: sums of them fit in 64 bits."""

DEGREES = {1: 8, 2: 6, 3: 3}
"""Largest degree of the polynomials, by how many columns are given."""

LARGEST_WEIGHT, STEP = 1 << 20, 1 << 16
"""Weights of a fit: the largest, and one over the step in which they are rounded. Sums fit in 64 bits."""

MAX_ROWS = 1 << 30


def powers_of(given: int) -> list[tuple[int, ...]]:
    """Return the degree of each polynomial in each given column; the first one is constant."""
    most = DEGREES[given]
    return sorted((d for d in product(range(most + 1), repeat=given) if sum(d) <= most), key=lambda d: (sum(d), d))


def polynomials(given: list[IntArray]) -> IntArray:
    """Return Chebyshev polynomials of given columns on the fine scale, one row each. Row by row."""
    angles = [np.arccos(column / UNIT) for column in given]
    found = [
        math.prod((np.cos(degree * angle) for degree, angle in zip(degrees, angles, strict=True)), start=np.float64(1))
        for degrees in powers_of(len(given))
    ]
    rounded: IntArray = np.rint(FINE * np.stack(np.broadcast_arrays(*found))).astype(np.int64)
    return rounded


@dataclass(frozen=True)
class FitSums:
    """Sums over rows of products of polynomials of given columns with each other, with x and with y; of x^2 and y^2.

    Guarantee
    ---------
    With p polynomials, substituting one row changes all sums by at most FINE^2 sqrt(p^2 + 5p + 5) in L2 norm, and in L1
    norm by the root of their number times that.

    Proof
    -----
    ``residual_products.md``, Claim 1.
    """

    of: Compared

    def __post_init__(self) -> None:
        if len(self.of.given) not in DEGREES:
            raise SettingError(f"given: from 1 to {max(DEGREES)} columns for a fit by polynomials")

    @property
    def name(self) -> str:
        """What it is, for the ledger."""
        return f"sums for a fit of {self.of.words}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it sees."""
        return self.of.columns

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Which polynomials are multiplied; the constant with itself is the number of rows, and public."""
        return list(combinations_with_replacement(range(len(powers_of(len(self.of.given)))), 2))[1:]

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return what all sums change by together."""
        self.of.check(domain)
        check_rows(domain)
        many = len(powers_of(len(self.of.given)))
        l2_squared = FINE**4 * (many**2 + 5 * many + 5)
        numbers = len(self.pairs) + 2 * many + 2
        return Sensitivity(l1=Fraction(math.isqrt(numbers * l2_squared) + 1), l2_squared=Fraction(l2_squared))

    def evaluate(self, table: Table) -> IntArray:
        """Return the sums."""
        x, y, *given = self.of.scaled(table.values(self.columns))
        x, y = _on_fine_scale(x), _on_fine_scale(y)
        features = polynomials(given)
        found = [int(features[i] @ features[j]) for i, j in self.pairs]
        found += [int(feature @ side) for side in (x, y) for feature in features]
        return np.array([*found, int(x @ x), int(y @ y)], dtype=np.int64)

    def moments(self, values: IntArray, rows: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Cut released sums into mean products: of polynomials, of them with x and y, and both squares."""
        scaled = values / (FINE**2 * rows)
        many = len(powers_of(len(self.of.given)))
        square = np.eye(many)
        for (i, j), value in zip(self.pairs, scaled, strict=False):
            square[i, j] = square[j, i] = value
        start = len(self.pairs)
        return square, scaled[start : start + 2 * many].reshape(2, many), scaled[-2:]


@dataclass(frozen=True)
class ResidualProduct:
    """The sum over rows of the product of what x and y exceed their public fits by, each cut off.

    Parameters
    ----------
    of
        The columns.
    fits
        For x and for y, the weight of each polynomial of the given columns.
    cuts
        Where both residuals are cut off, on a scale on which FINE is 1.

    Guarantee
    ---------
    Substituting one row changes the sum by at most twice the product of both cuts.

    Proof
    -----
    ``residual_products.md``, Claim 2.
    """

    of: Compared
    fits: tuple[tuple[float, ...], tuple[float, ...]]
    cuts: tuple[int, int]

    def __post_init__(self) -> None:
        if any(len(fit) != len(powers_of(len(self.of.given))) for fit in self.fits):
            raise SettingError("fits: a weight for each polynomial")
        if not all(abs(weight) <= LARGEST_WEIGHT for fit in self.fits for weight in fit):  # nor what is no number
            raise SettingError(f"fits: weights of at most {LARGEST_WEIGHT:,}")
        if not all(1 <= cut <= 2 * FINE for cut in self.cuts):
            raise SettingError(f"cuts: from 1 to {2 * FINE}")

    @property
    def name(self) -> str:
        """What it is, for the ledger."""
        return f"product of residuals of {self.of.words}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it sees."""
        return self.of.columns

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return twice the product of both cuts."""
        self.of.check(domain)
        check_rows(domain)
        moved = Fraction(2 * self.cuts[0] * self.cuts[1])
        return Sensitivity(l1=moved, l2_squared=moved**2, largest=moved)

    def evaluate(self, table: Table) -> IntArray:
        """Return the sum."""
        x, y, *given = self.of.scaled(table.values(self.columns))
        features = polynomials(given)
        left = [
            np.clip(_on_fine_scale(side) - _fitted(fit, features), -cut, cut)
            for side, fit, cut in zip((x, y), self.fits, self.cuts, strict=True)
        ]
        return np.array([int(left[0] @ left[1])], dtype=np.int64)


def _fitted(fit: tuple[float, ...], features: IntArray) -> IntArray:
    """Return a fit, rounded, in whole numbers: row by row, whatever the order of rows."""
    weights = np.array([round(weight * STEP) for weight in fit], dtype=np.int64)
    return (weights @ features + STEP // 2) // STEP


def check_rows(domain: Domain) -> None:
    """Refuse more rows than sums can hold."""
    if domain.rows > MAX_ROWS:
        raise SettingError(f"rows: sums of products take at most {MAX_ROWS:,}")


def _on_fine_scale(column: IntArray) -> IntArray:
    return column * FINE // UNIT
