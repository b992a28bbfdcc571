"""Small tables, neighbours and statistics from which the broken set is made."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.arrays import IntArray
from discreet.audit import Neighbours
from discreet.domain import Categorical, Domain
from discreet.statistics import Sensitivity, Table

GRID = 1_000_000
"""Real values are rounded to multiples of one GRID-th."""

Codes = tuple[int, ...]


def pair(others: Mapping[Codes, int], before: Codes, after: Codes) -> Neighbours:
    """Return two tables: one row that is replaced, then groups of equal rows."""
    rest = [codes for codes, times in others.items() for _ in range(times)]
    first, second = (np.array([codes, *rest], dtype=np.int64) for codes in (before, after))
    return Neighbours(first, second, "by hand")


def domain_of(rows: int, **sizes: int) -> Domain:
    """Return a domain with so many levels a column."""
    columns = {name: Categorical(categories=tuple(map(str, range(size)))) for name, size in sizes.items()}
    return Domain(columns, rows=rows)


@dataclass(frozen=True)
class Whole:
    """Whole-number functions of one contingency table, with the sensitivity that is claimed for them."""

    name: str
    columns: tuple[str, ...]
    value: Callable[[IntArray], IntArray]
    claimed: Sensitivity

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return what is claimed."""
        return self.claimed

    def evaluate(self, table: Table) -> IntArray:
        """Return the values."""
        (counted,) = table.counts([self.columns])
        return self.value(counted)


def moving(step: Fraction | int) -> Sensitivity:
    """Return the sensitivity of one number that moves by a step at most."""
    return Sensitivity(l1=Fraction(step), l2_squared=Fraction(step) ** 2, largest=Fraction(step))


def on_grid(name: str, columns: tuple[str, ...], value: Callable[[IntArray], float], claimed: float) -> Whole:
    """Return a real function of one contingency table, rounded to the grid, with its claimed sensitivity.

    The latter is counted in steps of the grid, rounding included.
    """

    def steps(counted: IntArray) -> IntArray:
        return np.array([round(GRID * value(counted))], dtype=np.int64)

    return Whole(name, columns, steps, moving(math.ceil(claimed * GRID) + 1))
