"""One noisy table for each of some pairs of columns, in cells that are about equally filled: what directions need."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from discreet.arrays import IntArray
from discreet.domain import Domain, Numeric
from discreet.errors import DoubtWarning
from discreet.privacy.mechanisms.additive import additive_for
from discreet.release.pair_table import WEAK, PairTable, halved, levels_for
from discreet.room import Room
from discreet.statistics.counts import Counts
from discreet.statistics.curves import ordered_levels

QUANTILES_SHARE = Fraction(3, 10)
"""Share of the budget that quartiles of continuous columns cost; the rest is for the tables."""

Pairs = Sequence[tuple[str, str]]


def measure_pairs(room: Room, pairs: Pairs, amount: Fraction, edges: Mapping[str, Sequence[float]]) -> list[PairTable]:
    """Release a table for each pair, for an amount of the budget.

    Columns that wait for their bins get halves of those that were released, as many as the noise bears.
    """
    statistic = _counts(pairs)
    mechanism = additive_for(room.budget.currency, amount, statistic.sensitivity(room.domain.widest()))
    noise = math.sqrt(mechanism.variance)
    levels = levels_for(room.domain.rows, noise)
    room = room.settle({name: _finer(room.domain, name, edges[name], levels) for name in room.domain.unsettled})
    released = statistic.split(room.release(statistic, mechanism).values, room.domain)
    return [_table(pair, found, noise, room.domain) for pair, found in zip(pairs, released, strict=True)]


def warn_of_noise(room: Room, pairs: Pairs, amount: Fraction) -> None:
    """Warn if a table for each pair would be mostly noise. Nothing is spent."""
    moved = _counts(pairs).sensitivity(room.domain.widest())
    noise = math.sqrt(additive_for(room.budget.currency, amount, moved).variance)
    rows, budget = room.domain.rows, room.budget
    if rows < WEAK * noise:
        warnings.warn(
            f"with {rows:,} rows and epsilon {budget.epsilon:g} for {len(pairs)} pair{'s' * (len(pairs) > 1)}, tables "
            f"are mostly noise; about {math.ceil(WEAK * noise):,} rows would do",
            DoubtWarning,
            stacklevel=4,
        )


def _counts(pairs: Pairs) -> Counts:
    return Counts(tuple(tuple(sorted(pair)) for pair in pairs))


def _finer(domain: Domain, name: str, edges: Sequence[float], levels: int) -> list[float]:
    """Return released edges of bins with halves between them, on the column's public grid."""
    column = domain[name]
    grid = np.array(column.edges if isinstance(column, Numeric) else ())
    return [float(grid[place]) for place in halved(np.searchsorted(grid, edges).tolist(), levels)]


def _table(pair: tuple[str, str], released: IntArray, noise: float, domain: Domain) -> PairTable:
    """Return the part of a released table in which both columns have a value, the pair's first column first."""
    turned = released if list(pair) == sorted(pair) else released.T
    x, y = (ordered_levels(name, domain[name]) for name in pair)
    whole = domain.shape(pair) == (x, y)
    return PairTable(tuple(map(tuple, turned[:x, :y].tolist())), noise, domain.rows, whole)
