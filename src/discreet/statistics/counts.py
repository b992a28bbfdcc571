"""Contingency tables over sets of columns, many at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.arrays import IntArray
from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.statistics import Sensitivity, Table, check_countable, columns_of, cut


@dataclass(frozen=True)
class Counts:
    """The contingency tables over some sets of columns.

    Guarantee
    ---------
    Substituting one row changes the stacked tables by at most 2K in L1 norm and sqrt(2K) in L2 norm, where K
    is the number of sets.

    Proof
    -----
    ``counts.md``, Claim.
    """

    sets: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        if not self.sets or any(not s for s in self.sets):
            raise SettingError("counts: ask for at least one table, over at least one column each")
        if any(len(set(s)) != len(s) for s in self.sets):
            raise SettingError("counts: a column stands twice in one set")
        if len({frozenset(s) for s in self.sets}) != len(self.sets):
            raise SettingError("counts: the same table is asked for twice, which would only cost")

    @property
    def name(self) -> str:
        """What it is, for the ledger."""
        orders = sorted({len(s) for s in self.sets})
        return f"{len(self.sets)} contingency tables ({', '.join(f'{k}-way' for k in orders)})"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it sees."""
        return columns_of(self.sets)

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return 2K in L1 and 2K in squared L2."""
        check_countable(self.sets, domain, "counts")
        moved = Fraction(2 * len(self.sets))
        return Sensitivity(l1=moved, l2_squared=moved)

    def evaluate(self, table: Table) -> IntArray:
        """Return all tables, flattened one after the other."""
        return np.concatenate([counted.ravel() for counted in table.counts(self.sets)])

    def split(self, vector: IntArray, domain: Domain) -> list[IntArray]:
        """Cut a vector of cells into tables of the public shapes."""
        return cut(vector, [domain.shape(s) for s in self.sets])


def all_pairs(columns: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return all pairs of columns in an order that depends on their names only."""
    names = sorted(columns)
    return tuple((a, b) for i, a in enumerate(names) for b in names[i + 1 :])
