"""Statistics with a proof that no method asks for: kept to be audited, tested and compared with those that are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.arrays import IntArray
from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.statistics import Sensitivity, Table
from discreet.statistics.dependence import Size, moved_by_steps
from discreet.statistics.information import ConditionalInformation, information_sum
from discreet.statistics.permutation import PermutedHSIC, beyond
from discreet.statistics.ranks import Ranked, concordance, kendall_change, kendall_parts, rank_products, weight

FARTHEST = 6 * math.sqrt(4 / 33)
"""No row moves stratified Kendall further, whatever the numbers of rows and strata."""


@dataclass(frozen=True)
class Marginal(Ranked):
    """A statistic of ranks of two columns with nothing given."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.given:
            raise SettingError(f"{self.kind}: nothing may be given; ask for a stratified statistic")

    def _most(self, size: Size) -> float:
        return float(size.rows > 1)


@dataclass(frozen=True)
class KendallA(Marginal):
    """Kendall's tau-a: concordant pairs of rows less discordant ones, as a share of all pairs.

    Guarantee
    ---------
    Substituting one row changes the real value by at most 4/n; 2/n if both columns are binary.

    Proof
    -----
    ``../statistics/ranks.md``.
    """

    kind: ClassVar[str] = "Kendall's tau"

    def _signed(self, strata: IntArray, rows: int) -> float:
        return 2 * int(concordance(strata).sum()) / max(rows * (rows - 1), 1)

    def _change(self, size: Size) -> float:
        return (2 if size.both_binary else 4) / size.rows


@dataclass(frozen=True)
class SpearmanA(Marginal):
    """Spearman's rho-a: products of centred middle ranks, over what they add up to in equal orders without ties.

    Guarantee
    ---------
    Substituting one row changes the real value by at most 6/(n + 1); 3/(n + 1) if both columns are binary.

    Proof
    -----
    ``../statistics/ranks.md``.
    """

    kind: ClassVar[str] = "Spearman's rho"

    def _signed(self, strata: IntArray, rows: int) -> float:
        return 3 * float(rank_products(strata, rows).sum()) / max(rows * (rows - 1) * (rows + 1), 1)

    def _change(self, size: Size) -> float:
        return (3 if size.both_binary else 6) / (size.rows + 1)


@dataclass(frozen=True)
class StratifiedKendall(Ranked):
    """Weighted sum of all strata's taus over the root of the sum of weights: near normal if nothing depends.

    Guarantee
    ---------
    With K strata and n > K, substituting one row changes the real value by at most
    (9/sqrt n) sqrt((n + 2.5 K)/(n - K)), with 6 for 9 if both columns are binary; the proof has less for few rows, and
    n <= K. One stratum: 6 sqrt((n - 1)/(n (n + 2.5))), and half of it if both are binary.

    Proof
    -----
    ``../statistics/ranks.md``.
    """

    kind: ClassVar[str] = "stratified Kendall"

    def _signed(self, strata: IntArray, rows: int) -> float:
        above, below = kendall_parts(strata)
        return above / math.sqrt(below) if below else 0.0

    def _change(self, size: Size) -> float:
        moved = kendall_change(size)
        if size.strata > 1:
            shifted = (weight(size.rows) - weight(size.rows - 1)) / 2
            moved = min(moved + shifted, 9 if size.both_binary else 13.5)
        each, more = divmod(size.rows, size.strata)
        least = (size.strata - more) * weight(each) + more * weight(each + 1)
        return min(moved / math.sqrt(max(least, 1.0)), 2 if size.both_binary else FARTHEST)

    def _most(self, size: Size) -> float:
        return math.sqrt(weight(size.rows))


@dataclass(frozen=True)
class AverageTau(Ranked):
    """Kendall's tau-a of all strata, averaged over rows.

    Guarantee
    ---------
    Substituting one row changes the real value by at most 6/n, and 4/n if both columns are binary; one stratum: 4/n,
    and 2/n if both are binary.

    Proof
    -----
    ``../statistics/ranks.md``.
    """

    kind: ClassVar[str] = "average tau"

    def _signed(self, strata: IntArray, rows: int) -> float:
        each = strata.sum(axis=(1, 2))
        return math.fsum((2 * (concordance(strata) / np.maximum(each - 1, 1))).tolist()) / rows

    def _change(self, size: Size) -> float:
        if size.strata == 1:
            return (2 if size.both_binary else 4) / size.rows
        return (4 if size.both_binary else 6) / size.rows

    def _most(self, size: Size) -> float:
        return float(size.rows > 1)


@dataclass(frozen=True)
class GStatistic(ConditionalInformation):
    """The G-statistic: 2n times the information, near chi-squared if nothing depends. In steps both are the same.

    Guarantee
    ---------
    Substituting one row changes the real value by at most 4 g((n + 1)/2); with one stratum and a binary column by at
    most 2 g(n).

    Proof
    -----
    ``../statistics/information.md``.
    """

    kind: ClassVar[str] = "G-statistic"

    def _value(self, strata: IntArray, rows: int) -> float:
        return 2 * information_sum(strata)

    def _change(self, size: Size) -> float:
        return 2 * size.rows * super()._change(size)

    def _range(self, size: Size) -> float:
        return 2 * size.rows * super()._range(size)


@dataclass(frozen=True)
class SeparationHSIC(PermutedHSIC):
    """How far permuted rows depend more than rows as they are, as one number in steps: above 0 for independence.

    With m = floor(alpha size), it is the m-th largest dependence of permuted rows, less that of the rows as they are.
    It is below 0 exactly where the test by permutations rejects independence at the level alpha. With ``opposite`` its
    sign is turned: above 0 for dependence.

    Guarantee
    ---------
    Substituting one row changes the number by at most 1001 steps, whatever is given.

    Proof
    -----
    ``../statistics/permutation.md``.
    """

    alpha: float = 0.05
    opposite: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        beyond(self.alpha, self.size)

    @property
    def name(self) -> str:
        """What it is, for the ledger."""
        side = "dependence" if self.opposite else "independence"
        return f"margin for {side} of {self.of.words}, {self.size} permutations"

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return 1001 steps."""
        self.check(domain)
        return moved_by_steps()

    def evaluate(self, table: Table) -> IntArray:
        """Return the margin in steps."""
        values = self._values(table)
        margin = np.sort(values[1:])[-beyond(self.alpha, self.size)] - values[0]
        found: IntArray = np.rint(np.array([-margin if self.opposite else margin]) / self.unit(table.rows))
        return found.astype(np.int64)
