"""Dependence of any columns, ordered or not: total variation and information, also given other columns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.arrays import IntArray
from discreet.statistics.dependence import Dependence, Size


@dataclass(frozen=True)
class ConditionalTotalVariation(Dependence):
    """Total variation between both columns and their product within each stratum, averaged over rows.

    Guarantee
    ---------
    Substituting one row changes the real value by less than 4/n; with one stratum by at most 3 (n - 1)/n^2, and
    2 (n - 1)/n^2 if one of the columns is binary.

    Proof
    -----
    ``information.md``, Conditional total variation.
    """

    kind: ClassVar[str] = "total variation"

    def _value(self, strata: IntArray, rows: int) -> float:
        each = strata.sum(axis=(1, 2))
        expected = strata.sum(axis=2)[:, :, None] * strata.sum(axis=1)[:, None, :]
        above = np.maximum(strata * each[:, None, None] - expected, 0).sum(axis=(1, 2))
        return math.fsum((above / np.maximum(each, 1)).tolist()) / rows

    def _change(self, size: Size) -> float:
        n = size.rows
        within = (2 if size.one_binary else 3) * (n - 1) / n
        across = 4 * (n - 1) / (n + 1)
        return (within if size.strata == 1 else max(within, across)) / n

    def _range(self, size: Size) -> float:
        return 1 - 1 / min(size.x, size.y)


def gain(rows: float) -> float:
    """Return t ln t - (t - 1) ln (t - 1): what the t-th row adds to a cell's part of the information."""
    return rows * math.log(rows) - ((rows - 1) * math.log(rows - 1) if rows > 1 else 0.0)


def _entropy_terms(counted: IntArray) -> list[float]:
    """Return t ln t of every count; 0 and 1 have none."""
    filled = counted[counted > 1]
    terms: list[float] = (filled * np.log(filled)).tolist()
    return terms


def information_sum(strata: IntArray) -> float:
    """Return rows times the conditional mutual information, in nats."""
    given = _entropy_terms(strata.sum(axis=(1, 2)))
    apart = _entropy_terms(strata.sum(axis=2)) + _entropy_terms(strata.sum(axis=1))
    return max(math.fsum([*_entropy_terms(strata), *given, *(-term for term in apart)]), 0.0)


@dataclass(frozen=True)
class ConditionalInformation(Dependence):
    """Mutual information of both columns given others, in nats.

    Guarantee
    ---------
    With g(t) = t ln t - (t - 1) ln (t - 1), substituting one row changes the real value by at most
    (2/n) g((n + 1)/2); with one stratum and a binary column by at most g(n)/n.

    Proof
    -----
    ``information.md``, Information.
    """

    kind: ClassVar[str] = "information"

    def _value(self, strata: IntArray, rows: int) -> float:
        return information_sum(strata) / rows

    def _change(self, size: Size) -> float:
        if size.strata == 1 and size.one_binary:
            return gain(size.rows) / size.rows
        return 2 * gain((size.rows + 1) / 2) / size.rows

    def _range(self, size: Size) -> float:
        return math.log(min(size.x, size.y))
