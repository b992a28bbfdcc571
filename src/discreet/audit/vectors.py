"""Any numbers at all, for mechanisms: what they promise does not depend on what statistic the numbers are of."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import ClassVar

import numpy as np

from discreet.arrays import IntArray
from discreet.domain import Categorical, Domain
from discreet.statistics import Sensitivity, Table


def levels(number: int) -> Categorical:
    """Return a column of so many levels."""
    return Categorical(categories=tuple(map(str, range(number))))


@dataclass(frozen=True)
class Vectors:
    """Any numbers at all: one row, whose level says which of these vectors is the exact value.

    What a mechanism promises it promises of every two vectors that are so far apart, whatever statistic they are of:
    below 0, tied, or all the same.
    """

    vectors: tuple[tuple[int, ...], ...]
    name: ClassVar[str] = "any numbers"
    columns: ClassVar[tuple[str, ...]] = ("x",)

    @property
    def domain(self) -> Domain:
        """One row that may be any of them."""
        return Domain({"x": levels(len(self.vectors))}, rows=1)

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return how far two of them are apart at most."""
        apart = np.abs([np.subtract(*pair) for pair in combinations(self.vectors, 2)])
        norms = apart.sum(1), (apart**2).sum(1), apart.max(1), apart[:, 0]
        l1, squared, largest, first = (Fraction(int(norm.max())) for norm in norms)
        return Sensitivity(l1, squared, largest, first=first)

    def evaluate(self, table: Table) -> IntArray:
        """Return the row's."""
        (counted,) = table.counts([("x",)])
        return np.array(self.vectors[int(counted.argmax())], dtype=np.int64)
