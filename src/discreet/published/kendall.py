"""NOT PRIVATE: the p-value of stratified Kendall as published, which drops strata, and what is claimed about it."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from discreet.arrays import IntArray
from discreet.oracles.exact import ExactCounts
from discreet.statistics.ranks import kendall_parts
from discreet.tables import Table


def p_value(strata: IntArray) -> float:
    """Return the p-value of exact tables (stratum, x, y); NaN where no stratum is left.

    Strata with two rows or fewer, and those in which a column is constant, are dropped: this is what makes one row
    matter without limit.
    """
    several = [np.count_nonzero(strata.any(axis=axis), axis=1) > 1 for axis in (1, 2)]
    kept = strata[(strata.sum(axis=(1, 2)) > 2) & several[0] & several[1]]
    if not len(kept):
        return math.nan
    above, weights = kendall_parts(kept)
    return float(ndtr(-abs(above) / math.sqrt(weights)))


def p_value_of(source: ExactCounts | Table, x: str, y: str, given: frozenset[str]) -> float:
    """Return the p-value of a question."""
    columns = (*sorted(given), x, y)
    table = source.table(columns) if isinstance(source, ExactCounts) else source.counts([columns])[0]
    return p_value(table.reshape(-1, *table.shape[-2:]))


def claimed_sensitivity(rows: int, constant: float) -> float:
    """Return how far one row is said to move the p-value, if it moved the statistic by constant / sqrt(rows)."""
    return float(ndtr(constant / math.sqrt(rows))) - 0.5
