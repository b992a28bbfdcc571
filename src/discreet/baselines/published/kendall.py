"""NOT PRIVATE: conditional Kendall's statistic and its p-value, as Wang, Pang, Song 2020 use them."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from discreet.arrays import IntArray
from discreet.baselines.exact import ExactCounts
from discreet.statistics import Table
from discreet.statistics.ranks import kendall_parts


def statistic(strata: IntArray) -> float:
    """Return the size of the statistic of exact tables (stratum, x, y): standard normal, all strata kept, 0 if none."""
    above, weights = kendall_parts(strata)
    return abs(above) / math.sqrt(weights) if weights else 0.0


def p_value(strata: IntArray) -> float:
    """Return the p-value of exact tables (stratum, x, y), of one side; NaN where no stratum is left.

    Strata with two rows or fewer, and those in which a column is constant, are dropped: this is what makes one row
    matter without limit.
    """
    several = [np.count_nonzero(strata.any(axis=axis), axis=1) > 1 for axis in (1, 2)]
    kept = strata[(strata.sum(axis=(1, 2)) > 2) & several[0] & several[1]]
    return float(ndtr(-statistic(kept))) if len(kept) else math.nan


def strata_of(source: ExactCounts | Table, x: str, y: str, given: frozenset[str]) -> IntArray:
    """Return the exact tables (stratum, x, y) of a question."""
    columns = (*sorted(given), x, y)
    table = source.table(columns) if isinstance(source, ExactCounts) else source.counts([columns])[0]
    return table.reshape(-1, *table.shape[-2:])
