"""How far pairs of columns stay clear of independence, many pairs at once, and what follows from that.

A margin is the least value of some statistics of one pair, each less its own public threshold, in steps of its own
sensitivity: above 0 the pair depends whatever is given, at or below 0 something separates it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

import numpy as np

from discreet.arrays import IntArray
from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.statistics import Sensitivity, Table, columns_of
from discreet.statistics.dependence import MOVED, Dependence
from discreet.statistics.ranks import Ranked

CHUNK = 32
"""Tables that are counted at once and held in memory."""


@dataclass(frozen=True)
class Margin:
    """Some statistics of one pair of columns, each with the threshold that its value must pass."""

    statistics: tuple[Dependence, ...]
    thresholds: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.statistics or len(self.statistics) != len(self.thresholds):
            raise SettingError("margin: at least one statistic, and a threshold for each")
        if len({frozenset((s.x, s.y)) for s in self.statistics}) != 1:
            raise SettingError("margin: all statistics are about the same two columns")
        if any(isinstance(s, Ranked) and s.signed for s in self.statistics):
            raise SettingError("margin: statistics without a sign")


@dataclass(frozen=True)
class Margins:
    """The margins of some pairs, one number each.

    Guarantee
    ---------
    Substituting one row changes each number by at most 1001 steps, however many statistics it is the least of.

    Proof
    -----
    ``margins.md``, Claim 1.
    """

    parts: tuple[Margin, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise SettingError("margins: at least one pair")

    @property
    def name(self) -> str:
        """What it is, for the ledger."""
        if len(self.parts) > 1:
            return f"margins of {len(self.parts)} pairs"
        first = self.parts[0].statistics[0]
        return f"margin of {first.x} and {first.y}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it sees."""
        return columns_of([s.columns for part in self.parts for s in part.statistics])

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return 1001 steps for each number."""
        check_margins(self.parts, domain)
        return each_moved(len(self.parts), MOVED)

    def evaluate(self, table: Table) -> IntArray:
        """Return the margins in steps."""
        return margins(self.parts, table)


@dataclass(frozen=True)
class Separators(Margins):
    """Minus the margins: how well each candidate separates its pair.

    Guarantee
    ---------
    Substituting one row changes each number by at most 1001 steps.

    Proof
    -----
    ``margins.md``, Claim 1.
    """

    @property
    def name(self) -> str:
        """What it is, for the ledger."""
        return f"how well {len(self.parts)} candidates separate"

    def evaluate(self, table: Table) -> IntArray:
        """Return minus the margins in steps."""
        return -margins(self.parts, table)


@dataclass(frozen=True)
class HowMany(Margins):
    """How well each number k, from none to all, answers how many of the pairs have a margin below 0.

    With the pairs sorted by margin, k is right if the k-th margin is below 0 and the next one is not: its utility is
    the smaller of minus the former and the latter.

    Guarantee
    ---------
    Substituting one row changes each utility by at most 1001 steps.

    Proof
    -----
    ``margins.md``, Claim 2.
    """

    @property
    def name(self) -> str:
        """What it is, for the ledger."""
        return f"how many of {len(self.parts)} pairs are separated"

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return 1001 steps for each utility."""
        check_margins(self.parts, domain)
        return each_moved(len(self.parts) + 1, MOVED)

    def evaluate(self, table: Table) -> IntArray:
        """Return the utilities of 0, 1, ..., all."""
        ordered = np.sort(margins(self.parts, table))
        inner = np.minimum(-ordered[:-1], ordered[1:])
        return np.concatenate([ordered[:1], inner, -ordered[-1:]])


@dataclass(frozen=True)
class Contrasts:
    """For some pairs: the margin without a third column less the margin with it, both counted from 0 up.

    Above 0 the third column is needed to separate the pair; below 0 it makes the pair depend.

    Guarantee
    ---------
    Substituting one row changes each number by at most 2002 steps.

    Proof
    -----
    ``margins.md``, Claim 3.
    """

    without: tuple[Margin, ...]
    given: tuple[Margin, ...]

    def __post_init__(self) -> None:
        if not self.without or len(self.without) != len(self.given):
            raise SettingError("contrasts: at least one, and both margins of each")

    @property
    def name(self) -> str:
        """What it is, for the ledger."""
        return f"contrasts of {len(self.without)} triples"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it sees."""
        return columns_of([s.columns for part in (*self.without, *self.given) for s in part.statistics])

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return 2002 steps for each number."""
        check_margins((*self.without, *self.given), domain)
        return each_moved(len(self.without), 2 * MOVED)

    def evaluate(self, table: Table) -> IntArray:
        """Return the contrasts in steps."""
        both = np.maximum(margins((*self.without, *self.given), table), 0)
        return both[: len(self.without)] - both[len(self.without) :]


def each_moved(numbers: int, steps: int) -> Sensitivity:
    """Return the sensitivity of so many numbers, each of which a row may move by so many steps."""
    return Sensitivity(l1=Fraction(numbers * steps), l2_squared=Fraction(numbers * steps**2), largest=Fraction(steps))


def check_margins(parts: Sequence[Margin], domain: Domain) -> None:
    """Refuse columns that cannot be counted, and tables that are too large; tables are counted a few at a time."""
    for part in parts:
        for statistic in part.statistics:
            statistic.sensitivity(domain)


def margins(parts: Sequence[Margin], table: Table) -> IntArray:
    """Return the least value over thresholds of each part. Every set of columns is counted once."""
    wanted: dict[tuple[str, ...], list[tuple[int, Dependence, int]]] = {}
    for i, part in enumerate(parts):
        for statistic, threshold in zip(part.statistics, part.thresholds, strict=True):
            wanted.setdefault(tuple(sorted(statistic.columns)), []).append((i, statistic, threshold))
    least: list[int | None] = [None] * len(parts)
    sets = iter(wanted)
    while chunk := list(islice(sets, CHUNK)):
        for columns, counted in zip(chunk, table.counts(chunk), strict=True):
            for i, statistic, threshold in wanted[columns]:
                turned = counted.transpose([columns.index(c) for c in statistic.columns])
                value = statistic.steps(turned, table.rows) - threshold
                before = least[i]
                least[i] = value if before is None else min(before, value)
    return np.array(least, dtype=np.int64)
