"""Quartiles of two columns and of what each exceeds its curve over the other by: how wide they are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.arrays import IntArray
from discreet.domain import Domain
from discreet.statistics import Sensitivity
from discreet.statistics.curves import UNIT, Curve, Scaled
from discreet.tables import Table

PLACES = 1024
"""Edges of the public grid on which quartiles are chosen."""


@dataclass(frozen=True)
class Quartiles:
    """Utilities of all places of a grid as first and third quartile of x, y, and both residuals: eight choices.

    A place's utility is minus the distance of 4 times the number of values below it from n or 3n.

    Guarantee
    ---------
    Substituting one row changes each utility by at most 4.

    Proof
    -----
    ``spreads.md``.
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


_REACHES = (UNIT, UNIT, 2 * UNIT, 2 * UNIT)


def _edges(reach: int) -> IntArray:
    edges: IntArray = -reach + (2 * reach * np.arange(PLACES, dtype=np.int64)) // PLACES
    return edges
