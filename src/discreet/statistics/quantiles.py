"""How well each place of a public grid would serve as a quantile: of a column, or of a pair and its residuals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.arrays import IntArray
from discreet.domain import STEPS, Domain, Numeric
from discreet.errors import SettingError
from discreet.statistics import Sensitivity, Table
from discreet.statistics.curves import UNIT, Curve, Scaled

PLACES = 1024
"""Edges of the public grid on which quartiles are chosen."""

_REACHES = (UNIT, UNIT, 2 * UNIT, 2 * UNIT)
"""Ends of the grids of x, y and both residuals."""


@dataclass(frozen=True)
class Quantiles:
    """Utilities of all inner edges of the grid, for every quantile k/bins of every column.

    An edge's utility is ``-|bins * (numbers below it) - k * (numbers)|``, where values without a number (missing,
    other) are not among the numbers.

    Guarantee
    ---------
    Substituting one row changes each utility by at most ``bins``.

    Proof
    -----
    ``quantiles.md``, Claim.
    """

    columns: tuple[str, ...]
    bins: int

    def __post_init__(self) -> None:
        if not self.columns or len(set(self.columns)) != len(self.columns):
            raise SettingError("quantiles: ask for at least one column, and for none twice")
        if self.bins < 2:
            raise SettingError("quantiles: at least 2 bins")

    @property
    def name(self) -> str:
        """What it is, for the ledger."""
        count = len(self.columns)
        return f"quantiles for {self.bins} bins of {count} numeric column{'s' if count > 1 else ''}"

    @property
    def choices(self) -> int:
        """Number of edges to be chosen."""
        return len(self.columns) * (self.bins - 1)

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return ``bins`` for the largest change, and what follows for the norms."""
        for name in self.columns:
            column = domain[name]
            if not isinstance(column, Numeric) or column.settled or column.bins != self.bins:
                raise SettingError(f"column {name!r} does not wait for quantiles for {self.bins} bins")
        moved, cells = Fraction(self.bins), self.choices * (STEPS - 1)
        return Sensitivity(l1=cells * moved, l2_squared=cells * moved**2, largest=moved)

    def evaluate(self, table: Table) -> IntArray:
        """Return the utilities of the inner edges, question after question."""
        parts = []
        for counted in table.counts([(column,) for column in self.columns]):
            below = np.cumsum(counted[:STEPS])
            parts += [-np.abs(self.bins * below[:-1] - k * below[-1]) for k in range(1, self.bins)]
        return np.concatenate(parts)

    def edges(self, chosen: IntArray, domain: Domain) -> dict[str, tuple[float, ...]]:
        """Return the edges of the bins, from bound to bound, that choices stand for; edges chosen twice count once."""
        found = {}
        for name, places in zip(self.columns, chosen.reshape(len(self.columns), -1).tolist(), strict=True):
            column = domain[name]
            grid = column.edges if isinstance(column, Numeric) else ()
            found[name] = (grid[0], *(grid[place + 1] for place in sorted(set(places))), grid[-1])
        return found


def waiting_for(domain: Domain) -> tuple[Quantiles, ...]:
    """Return what must be asked to settle a domain: one statistic for each number of bins."""
    wanted: dict[int, list[str]] = {}
    for name in domain.unsettled:
        column = domain[name]
        if isinstance(column, Numeric) and isinstance(column.bins, int):
            wanted.setdefault(column.bins, []).append(name)
    return tuple(Quantiles(tuple(wanted[bins]), bins) for bins in sorted(wanted))


@dataclass(frozen=True)
class Quartiles:
    """Utilities of all places of a grid as first and third quartile of x, y, and both residuals: eight choices.

    A place's utility is minus the distance of 4 times the number of values below it from n or 3n.

    Guarantee
    ---------
    Substituting one row changes each utility by at most 4.

    Proof
    -----
    ``quantiles.md``, Sensitivity of quartiles' utilities.
    """

    of: Scaled
    forward: Curve
    backward: Curve

    choices: ClassVar[int] = 8

    @property
    def name(self) -> str:
        """What it is, for the ledger."""
        return f"quartiles of {self.of.x}, {self.of.y} and their residuals"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it sees."""
        return (self.of.x, self.of.y)

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return 4 for the largest change, and what follows for the norms."""
        self.of.check(domain)
        cells = self.choices * PLACES
        return Sensitivity(l1=Fraction(4 * cells), l2_squared=Fraction(16 * cells), largest=Fraction(4))

    def evaluate(self, table: Table) -> IntArray:
        """Return the utilities, question after question."""
        x, y = self.of.values(table)
        values = (x, y, self.forward.residuals(x, y), self.backward.residuals(y, x))
        found = []
        for value, reach in zip(values, _REACHES, strict=True):
            edges = _edges(reach)
            below = np.searchsorted(np.sort(value), edges)
            found += [-np.abs(4 * below - k * len(value)) for k in (1, 3)]
        return np.concatenate(found).astype(np.int64)

    def margin(self, chosen: IntArray) -> float:
        """Return by how much the logarithms of all spreads speak for x as the cause."""
        places = chosen.reshape(4, 2)
        widths = [
            math.log(max(int(third) - int(first), 1) * 2 * reach / PLACES / UNIT)
            for (first, third), reach in zip(places, _REACHES, strict=True)
        ]
        x, y, forward, backward = widths
        return (y + backward) - (x + forward)


def _edges(reach: int) -> IntArray:
    edges: IntArray = -reach + (2 * reach * np.arange(PLACES, dtype=np.int64)) // PLACES
    return edges
