"""What statistics of dependence share: two columns, the columns that are given, and values in steps.

A value is counted in steps of a thousandth of its own proved sensitivity, at the public number of rows and levels. So
all of them declare the same sensitivity, and values of different statistics can be compared.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import ClassVar

import numpy as np

from discreet.arrays import IntArray
from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.statistics import Sensitivity, Table, check_countable

STEPS = 1000
"""Steps that the sensitivity of the real value is cut into."""

MOVED = STEPS + 1
"""Steps that substituting one row can move a value by, rounding included."""

MAX_ROWS = 1 << 31
"""Up to so many rows sums over pairs fit in 64 bits and floats are exact enough."""


@dataclass(frozen=True)
class Size:
    """The public size of a question: rows, levels of both columns, and strata (combinations of given levels)."""

    rows: int
    x: int
    y: int
    strata: int

    @property
    def both_binary(self) -> bool:
        """Whether neither column has more than two levels."""
        return max(self.x, self.y) <= 2

    @property
    def one_binary(self) -> bool:
        """Whether one of the columns has no more than two levels."""
        return min(self.x, self.y) <= 2


@dataclass(frozen=True)
class Dependence(ABC):
    """How far two columns depend on each other given others, as one number in steps.

    Guarantee
    ---------
    Substituting one row changes the value by at most 1001 steps.

    Proof
    -----
    ``dependence.md``, for a bound on the change of the real value that each statistic proves.
    """

    kind: ClassVar[str]

    x: str
    y: str
    given: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if list(self.given) != sorted(set(self.given)):
            raise SettingError(f"{self.kind}: the given columns stand in sorted order, each once")
        if len({self.x, self.y, *self.given}) != 2 + len(self.given):
            raise SettingError(f"{self.kind}: two different columns, and neither is given")

    @property
    def name(self) -> str:
        """What it is, for the ledger."""
        behind = f" given {', '.join(self.given)}" if self.given else ""
        return f"{self.kind} of {self.x} and {self.y}{behind}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it sees, in the order in which they are counted."""
        return (*self.given, self.x, self.y)

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return 1001 steps."""
        self._size(domain)
        return moved_by_steps()

    def largest_change(self, domain: Domain) -> float:
        """Return the proved sensitivity of the real value."""
        return self._bound(self._size(domain))

    def unit(self, domain: Domain) -> float:
        """Return the real value of one step; 0 where the value is always 0."""
        return self.largest_change(domain) / STEPS

    def real(self, steps: float, domain: Domain) -> float:
        """Return the real value that steps stand for."""
        return steps * self.unit(domain)

    def evaluate(self, table: Table) -> IntArray:
        """Return the value in steps."""
        (counted,) = table.counts([self.columns])
        return np.array([self.steps(counted, table.rows)], dtype=np.int64)

    def steps(self, counted: IntArray, rows: int) -> int:
        """Return the value in steps, from the contingency table of all its columns."""
        *behind, x, y = counted.shape
        unit = self._bound(Size(rows, x, y, prod(behind))) / STEPS
        return round(self._value(counted.reshape(-1, x, y), rows) / unit) if unit else 0

    def _size(self, domain: Domain) -> Size:
        check_countable([self.columns], domain, self.kind)
        if domain.rows > MAX_ROWS:
            raise SettingError(f"{self.kind}: more than {MAX_ROWS:,} rows")
        *behind, x, y = domain.shape(self.columns)
        return Size(domain.rows, x, y, prod(behind))

    def _bound(self, size: Size) -> float:
        return min(self._change(size), self._range(size))

    @abstractmethod
    def _value(self, strata: IntArray, rows: int) -> float:
        """Return the real value, from one table of both columns a stratum."""

    @abstractmethod
    def _change(self, size: Size) -> float:
        """Return how far substituting one row can move the real value."""

    @abstractmethod
    def _range(self, size: Size) -> float:
        """Return how far any two real values can be apart."""


def moved_by_steps() -> Sensitivity:
    """Return the sensitivity of one number that moves by 1001 steps at most."""
    return Sensitivity(l1=Fraction(MOVED), l2_squared=Fraction(MOVED**2), largest=Fraction(MOVED))
