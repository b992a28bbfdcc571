"""Which of two columns causes the other: how much worse one direction fits than the other, as one number in steps.

If x causes y with noise that does not depend on x, then what y exceeds its curve over x by is independent of x and
small, and the other way round it is not. Curves are released before, so that residuals are row by row.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.arrays import IntArray
from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.statistics import Sensitivity, Table
from discreet.statistics.curves import UNIT, Curve, Scaled
from discreet.statistics.dependence import STEPS, moved_by_steps
from discreet.statistics.hsic import frequencies, hsic_rff, hsic_v, root_error, rounding_error
from discreet.statistics.ranks import concordance_sum, rank_product_sum

WIDTH = 0.3
"""Width of the Gaussian kernels, on a scale from -1 to 1."""

FEATURES = 20
"""Frequencies of the kernel's features."""

MAX_ROWS = 1 << 24
"""Up to so many rows sums of squares fit in 64 bits."""

REACH = (2.0, 4.0)
"""How far apart two inputs, and two residuals, can be."""


@dataclass(frozen=True)
class Difference(ABC):
    """How much worse x over y fits than y over x, in steps: above 0 for x as the cause.

    Guarantee
    ---------
    Substituting one row changes the value by at most 1001 steps.

    Proof
    -----
    ``direction.md``.
    """

    kind: ClassVar[str]
    takes_absent: ClassVar[bool] = False
    """Whether rows may be absent: they count nowhere but in the public number of rows."""

    of: Scaled
    forward: Curve
    backward: Curve

    @property
    def name(self) -> str:
        """What it is, for the ledger."""
        return f"{self.kind}: {self.of.y} over {self.of.x} against {self.of.x} over {self.of.y}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it sees."""
        return (self.of.x, self.of.y)

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return 1001 steps."""
        self.of.check(domain)
        if not 2 <= domain.rows <= MAX_ROWS:
            raise SettingError(f"{self.kind}: from 2 to {MAX_ROWS:,} rows")
        if not self.takes_absent and not self.of.whole(domain):
            raise SettingError(f"{self.kind}: takes a value in every row; `reci`, `kendall` and `iqr` do not")
        return moved_by_steps()

    def unit(self, rows: int) -> float:
        """Return the real value of one step."""
        return self._change(rows) / STEPS

    def evaluate(self, table: Table) -> IntArray:
        """Return the value in steps."""
        x, y = self.of.values(table)
        worse = self._score(y, self.backward.residuals(y, x), table.rows)
        better = self._score(x, self.forward.residuals(x, y), table.rows)
        return np.array([round((worse - better) / self.unit(table.rows))], dtype=np.int64)

    @abstractmethod
    def _score(self, by: IntArray, left: IntArray, rows: int) -> float:
        """Return how badly a curve fits: its residuals are large, or depend on what it is drawn over.

        ``rows`` is the public number of rows, absent ones included.
        """

    @abstractmethod
    def _change(self, rows: int) -> float:
        """Return how far substituting one row can move the difference of both scores."""


@dataclass(frozen=True)
class SquaredErrors(Difference):
    """Mean squared residuals, each cut off at 1 on a scale from -1 to 1 (RECI).

    Guarantee
    ---------
    Substituting one row changes the difference by at most 2/n.

    Proof
    -----
    ``direction.md``, Squared errors.
    """

    kind: ClassVar[str] = "squared errors"
    takes_absent: ClassVar[bool] = True

    def _score(self, by: IntArray, left: IntArray, rows: int) -> float:
        cut = np.minimum(np.abs(left), UNIT)
        return int((cut * cut).sum()) / (UNIT**2 * rows)

    def _change(self, rows: int) -> float:
        return 2 / rows


@dataclass(frozen=True)
class KendallResiduals(Difference):
    """Kendall's tau-a between residuals and what the curve is drawn over, without its sign.

    Guarantee
    ---------
    Substituting one row changes the difference by at most 8/n.

    Proof
    -----
    ``direction.md``, Kendall.
    """

    kind: ClassVar[str] = "Kendall of residuals"
    takes_absent: ClassVar[bool] = True

    def _score(self, by: IntArray, left: IntArray, rows: int) -> float:
        return abs(2 * concordance_sum(by, left)) / (rows * (rows - 1))

    def _change(self, rows: int) -> float:
        return 8 / rows


@dataclass(frozen=True)
class SpearmanResiduals(Difference):
    """Spearman's rho-a between residuals and what the curve is drawn over, without its sign.

    Guarantee
    ---------
    Substituting one row changes the difference by at most 12/(n + 1).

    Proof
    -----
    ``direction.md``, Spearman.
    """

    kind: ClassVar[str] = "Spearman of residuals"

    def _score(self, by: IntArray, left: IntArray, rows: int) -> float:
        return abs(3 * rank_product_sum(by, left)) / (rows * (rows - 1) * (rows + 1))

    def _change(self, rows: int) -> float:
        return 12 / (rows + 1)


@dataclass(frozen=True)
class RootHSIC(Difference):
    """Root of the Hilbert-Schmidt independence criterion between residuals and what the curve is drawn over.

    Guarantee
    ---------
    Substituting one row changes the difference by at most 2 sqrt(6) (n - 1)/n^2.

    Proof
    -----
    ``direction.md``, HSIC.
    """

    kind: ClassVar[str] = "root of HSIC of residuals"

    def _score(self, by: IntArray, left: IntArray, rows: int) -> float:
        return math.sqrt(max(hsic_v(by / UNIT, left / UNIT, WIDTH, WIDTH), 0.0))

    def _change(self, rows: int) -> float:
        return 2 * math.sqrt(6) * (rows - 1) / rows**2 + 4 * root_error(rows, REACH, (WIDTH, WIDTH))


@dataclass(frozen=True)
class HSIC(Difference):
    """The Hilbert-Schmidt independence criterion itself, over (n - 1)^2 as in the paper.

    Guarantee
    ---------
    Substituting one row changes the difference by at most 2 sqrt(6)/(n - 1).

    Proof
    -----
    ``direction.md``, HSIC.
    """

    kind: ClassVar[str] = "HSIC of residuals"

    def _score(self, by: IntArray, left: IntArray, rows: int) -> float:
        return hsic_v(by / UNIT, left / UNIT, WIDTH, WIDTH) * (rows / (rows - 1)) ** 2

    def _change(self, rows: int) -> float:
        return 2 * math.sqrt(6) / (rows - 1) + 4 * rounding_error(rows) * (rows / (rows - 1)) ** 2


@dataclass(frozen=True)
class FeatureHSIC(Difference):
    """Root of HSIC with a few public frequencies in place of the whole kernel: linear in rows.

    Guarantee
    ---------
    Substituting one row changes the difference by at most 4 sqrt(6) (n - 1)/n^2.

    Proof
    -----
    ``direction.md``, By features.
    """

    kind: ClassVar[str] = "root of HSIC of residuals by features"

    def _score(self, by: IntArray, left: IntArray, rows: int) -> float:
        chosen = frequencies(WIDTH, FEATURES)
        return math.sqrt(max(hsic_rff(by / UNIT, left / UNIT, chosen, chosen), 0.0))

    def _change(self, rows: int) -> float:
        return 4 * math.sqrt(6) * (rows - 1) / rows**2 + 4 * rounding_error(rows)
