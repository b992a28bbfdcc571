"""Statistics: what may be asked of the rows, each with its sensitivity and the proof of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from discreet.arrays import IntArray
from discreet.domain import Domain
from discreet.errors import SettingError


@dataclass(frozen=True, eq=False)
class Weight:
    """How much a row counts, by public facts: wholly up to a limit of its load, and in proportion less beyond.

    Parameters
    ----------
    base
        The load of every row.
    loads
        What each level of a column adds to it.
    limit
        The load up to which a row counts wholly.
    """

    WHOLE: ClassVar[int] = 256
    """The weight of a row that counts wholly."""

    base: int
    loads: Mapping[str, IntArray]
    limit: int

    def of(self, codes: Mapping[str, npt.NDArray[np.integer[Any]]]) -> IntArray:
        """Return the weights of rows with these levels."""
        load = np.array(self.base, dtype=np.int64)
        for column, added in self.loads.items():
            load = load + added[codes[column]]
        return np.minimum(self.WHOLE, self.WHOLE * self.limit // load)


class Table(Protocol):
    """What a statistic may ask of rows.

    Once encoded, every answer is total: no question raises or branches on a datum.
    """

    @property
    def rows(self) -> int:
        """Number of rows."""
        ...

    def counts(self, sets: Sequence[tuple[str, ...]]) -> list[IntArray]:
        """Contingency tables over sets of columns, shaped by the public domain."""
        ...

    def weighted(self, sets: Sequence[tuple[str, ...]], weight: Weight) -> list[IntArray]:
        """Contingency tables in which every row counts by its weight, in parts of ``Weight.WHOLE``."""
        ...

    def sums(self, sets: Sequence[tuple[str, ...]]) -> list[int]:
        """Sums over all rows of the product of one or two columns' codes."""
        ...

    def values(self, columns: Sequence[str]) -> list[IntArray]:
        """The codes of some columns, row by row."""
        ...


@dataclass(frozen=True)
class Sensitivity:
    """How far substituting one row can move an integer-valued statistic.

    ``l1`` bounds the sum of absolute changes, ``l2_squared`` the sum of squared ones, and ``largest`` the largest
    absolute change of a coordinate, where that is stated, and ``first`` that of the first one; all are exact numbers.
    Where ``squares`` is given they are about the statistic whose j-th coordinate is divided by the root of
    ``squares[j]``, and only a mechanism whose noise grows in the same proportions may use them.
    """

    l1: Fraction
    l2_squared: Fraction
    largest: Fraction | None = None
    squares: tuple[Fraction, ...] | None = None
    first: Fraction | None = None


class Statistic(Protocol):
    """A function of some columns with integer values and a proved sensitivity.

    Only the room calls ``evaluate``. It must be total: defined for every encoded table, without a branch
    or an error that depends on a datum. Rows come in a fresh secret order; if the value depends on it, the statistic
    says ``symmetric = False`` and cannot be asked of a sample.
    """

    @property
    def name(self) -> str:
        """What it is, for the ledger. Public."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it sees."""
        ...

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return the proved sensitivity under substitution of one row."""
        ...

    def evaluate(self, table: Table) -> IntArray:
        """Return the exact value as one vector of integers."""
        ...


MAX_CELLS = 50_000_000
"""Cells of one release; more would be mostly noise and would not fit in a file."""

Sets = Sequence[tuple[str, ...]]


@dataclass(frozen=True)
class Between:
    """Two columns, and those that are given."""

    x: str
    y: str
    given: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns: both, then the given ones."""
        return (self.x, self.y, *self.given)

    @property
    def words(self) -> str:
        """Which columns are meant."""
        return f"{self.x} and {self.y}" + (f" given {', '.join(self.given)}" if self.given else "")


def columns_of(sets: Sets) -> tuple[str, ...]:
    """Return the columns of all sets, each once."""
    return tuple(dict.fromkeys(c for s in sets for c in s))


def check_countable(sets: Sets, domain: Domain, what: str) -> None:
    """Refuse what cannot be counted."""
    for column in columns_of(sets):
        if not domain[column].tabulable:
            raise SettingError(
                f"column {column!r} is numeric: declare `bins` to count it, and settle those at quantiles"
            )
    if sum(prod(domain.shape(s)) for s in sets) > MAX_CELLS:
        raise SettingError(f"{what}: more than {MAX_CELLS:,} cells; declare fewer categories or bins")


def cut(vector: IntArray, shapes: Sequence[tuple[int, ...]]) -> list[IntArray]:
    """Cut a vector into arrays of these shapes, one after the other."""
    ends = np.cumsum([prod(shape) for shape in shapes])
    parts = np.split(vector, ends[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
