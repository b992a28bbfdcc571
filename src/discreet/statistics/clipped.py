"""Clipped interactions: pairs of columns less their centres, every row cut to a public length.

The worst row of plain interactions hardly exists. Here a row counts less, the farther its levels are from what is
common, so that no row moves the sums by more than a public limit, for which typical rows need not be clipped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import prod

import numpy as np

from discreet.arrays import IntArray
from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.statistics import Sensitivity, Table, Weight, check_countable, cut
from discreet.statistics.interactions import squares_of, whole_contrasts

GRID = 256
"""Steps in which shares of levels are given."""

UNIT = 16
"""Scale of an even column."""

MOST_SCALE, MOST_LIMIT = 1 << 16, 1 << 44
"""No scale, base or limit may be larger: engines divide lengths of rows as floats, and must not round them up."""

CLIPPED = "rows clipped"
"""How the ledger says that rows were clipped."""

LARGEST = 1 << 62
"""No sum may become larger."""


@dataclass(frozen=True)
class Centre:
    """What a column is told from: common shares of its levels, in steps of 1 / ``GRID``, and how much it counts."""

    steps: tuple[int, ...]
    scale: int

    def __post_init__(self) -> None:
        if any(type(k) is not int or k < 0 for k in (*self.steps, self.scale)) or sum(self.steps) != GRID:
            raise SettingError(f"centre: whole numbers from 0 that add up to {GRID}")
        if len(self.steps) < 2 or not 1 <= self.scale <= MOST_SCALE:
            raise SettingError(f"centre: at least two levels, and a scale from 1 to {MOST_SCALE:,}")

    @cached_property
    def distances(self) -> IntArray:
        """The squared distance of every level from the centre, in squared steps."""
        steps = np.array(self.steps, dtype=np.int64)
        return GRID**2 - 2 * GRID * steps + int(steps @ steps)

    @property
    def contrasts(self) -> IntArray:
        """Whole-number contrasts of every level, in steps, less those of the centre: one level a row."""
        basis = whole_contrasts(len(self.steps))
        return GRID * basis - np.array(self.steps, dtype=np.int64) @ basis


@dataclass(frozen=True)
class Frame:
    """Public facts by which rows are clipped.

    Parameters
    ----------
    centres
        What every column is told from.
    base
        The part of a row's length that is the same for all rows.
    limit
        The squared length to which longer rows are clipped.
    """

    centres: Mapping[str, Centre]
    base: int
    limit: int

    def __post_init__(self) -> None:
        if type(self.base) is not int or type(self.limit) is not int or len(self.centres) < 2:
            raise SettingError("frame: at least two columns, with whole numbers as base and limit")
        if not 1 <= self.base <= MOST_SCALE or not self.base * GRID**2 <= self.limit <= MOST_LIMIT:
            raise SettingError(f"frame: a base from 1 to {MOST_SCALE:,}, and a limit above the base")

    def __hash__(self) -> int:
        return hash((tuple(sorted(self.centres.items())), self.base, self.limit))

    @cached_property
    def weight(self) -> Weight:
        """How much a row counts."""
        loads = {name: centre.scale * centre.distances for name, centre in self.centres.items()}
        return Weight(self.base * GRID**2, loads, self.limit)


@dataclass(frozen=True)
class ClippedInteractions:
    """Weighted sums over rows of the contrasts of columns less their centres: of none, of each, and of each pair.

    Guarantee
    ---------
    Substituting one row moves them, each divided by the root of its square, by at most the frame's limit, in L2.

    Proof
    -----
    ``clipped.md``, Claim.
    """

    frame: Frame

    @cached_property
    def sets(self) -> tuple[tuple[str, ...], ...]:
        """All that is summed: how much all rows count, columns, and pairs of columns."""
        names = sorted(self.frame.centres)
        return ((), *((name,) for name in names), *combinations(names, 2))

    @property
    def name(self) -> str:
        """What it is, for the ledger."""
        return f"{len(self.sets) - 1} interactions (1-way, 2-way), {CLIPPED}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it sees."""
        return tuple(sorted(self.frame.centres))

    def check(self, domain: Domain) -> None:
        """Refuse what cannot be counted."""
        check_countable(self.sets[1:], domain, "interactions")
        centres = self.frame.centres
        if any(len(centre.steps) != domain.size(name) for name, centre in centres.items()):
            raise SettingError("frame: every column has as many shares as levels")
        if domain.rows * Weight.WHOLE * max(GRID * domain.size(name) for name in centres) ** 2 > LARGEST:
            raise SettingError("frame: too many rows for columns with so many levels")

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return the frame's limit, in the statistic's own units."""
        self.check(domain)
        squares = self.squares(domain)
        squared = Fraction(self.frame.limit) ** 2
        l1 = Fraction(math.isqrt(math.ceil(squared * len(squares))) + 1)  # by Cauchy and Schwarz
        return Sensitivity(l1=l1, l2_squared=squared, squares=squares)

    def squares(self, domain: Domain) -> tuple[Fraction, ...]:
        """Return the square of every contrast's length, divided by how much its set counts."""
        found: list[Fraction] = []
        for columns in self.sets:
            found += squares_of(domain.shape(columns), self.importance(columns) / Weight.WHOLE**2)
        return tuple(found)

    def importance(self, columns: Sequence[str]) -> Fraction:
        """Return how much a set counts: what its sums have in common with the length of a row."""
        same = self.frame.base * GRID**2
        scales = prod(self.frame.centres[name].scale for name in columns)
        return Fraction(scales * same ** (2 - len(columns)), 1 if columns else 2)

    def evaluate(self, table: Table) -> IntArray:
        """Return the sums of all sets, flattened one after the other."""
        counted = table.weighted(self.sets[1:], self.frame.weight)
        parts = [counted[0].sum(keepdims=True)]
        for columns, value in zip(self.sets[1:], counted, strict=True):
            found = value
            for name in columns:
                found = np.tensordot(found, self.frame.centres[name].contrasts, axes=(0, 0))
            parts.append(found.ravel())
        return np.concatenate(parts)

    def split(self, vector: IntArray, domain: Domain) -> list[IntArray]:
        """Cut a vector of sums into one array a set."""
        return cut(vector, [tuple(size - 1 for size in domain.shape(s)) for s in self.sets])
