"""What statistics over sets of columns share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from discreet.arrays import IntArray
from discreet.domain import Domain
from discreet.errors import SettingError

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
