"""The least of several statistics about one pair of columns: how far the pair depends whatever is given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.arrays import IntArray
from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.statistics import Sensitivity
from discreet.statistics.dependence import Dependence, moved_by_steps
from discreet.statistics.ranks import Ranked
from discreet.statistics.sets import check_countable, columns_of
from discreet.tables import Table


@dataclass(frozen=True)
class LeastOf:
    """The least value of some statistics of the same two columns, each in steps of its own sensitivity.

    Guarantee
    ---------
    Substituting one row changes the value by at most 1001 steps, however many statistics there are.

    Proof
    -----
    ``least.md``.
    """

    statistics: tuple[Dependence, ...]

    def __post_init__(self) -> None:
        if not self.statistics or len(set(self.statistics)) != len(self.statistics):
            raise SettingError("least: at least one statistic, and none twice")
        if len({frozenset((s.x, s.y)) for s in self.statistics}) != 1:
            raise SettingError("least: all statistics are about the same two columns")
        if any(isinstance(s, Ranked) and s.signed for s in self.statistics):
            raise SettingError("least: statistics without a sign")

    @property
    def name(self) -> str:
        """What it is, for the ledger."""
        first = self.statistics[0]
        kinds = " or ".join(dict.fromkeys(s.kind for s in self.statistics))
        return f"least of {len(self.statistics)} ({kinds}) of {first.x} and {first.y}"

    @property
    def sets(self) -> tuple[tuple[str, ...], ...]:
        """The sets of columns that are counted, each once."""
        return tuple(dict.fromkeys(s.columns for s in self.statistics))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it sees."""
        return columns_of(self.sets)

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return 1001 steps."""
        check_countable(self.sets, domain, "least")
        for statistic in self.statistics:
            statistic.sensitivity(domain)
        return moved_by_steps()

    def evaluate(self, table: Table) -> IntArray:
        """Return the least value in steps."""
        counted = dict(zip(self.sets, table.counts(self.sets), strict=True))
        least = min(s.steps(counted[s.columns], table.rows) for s in self.statistics)
        return np.array([least], dtype=np.int64)


@dataclass(frozen=True)
class Opposite:
    """Minus a statistic of dependence: what is small becomes large.

    Guarantee
    ---------
    Substituting one row changes the value by at most 1001 steps, as it does the other's.

    Proof
    -----
    ``least.md``.
    """

    of: Dependence

    @property
    def name(self) -> str:
        """What it is, for the ledger."""
        return f"minus {self.of.name}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it sees."""
        return self.of.columns

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return that of the other: changes have the same size."""
        return self.of.sensitivity(domain)

    def evaluate(self, table: Table) -> IntArray:
        """Return minus the other's value."""
        (counted,) = table.counts([self.columns])
        return np.array([-self.of.steps(counted, table.rows)], dtype=np.int64)
