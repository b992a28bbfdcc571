"""Few kinds of rows, each of which occurs millions of times: sums over them must not overflow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from itertools import chain
from math import prod

import numpy as np

from discreet.arrays import IntArray
from discreet.audit.replay import change, share
from discreet.audit.subjects import STATISTICS
from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.statistics import Weight

MOST_PILES = 5_000
"""Kinds of rows that are piled up, at most."""


class Piled:
    """A table of few kinds of rows, each of which occurs very often: sums over it must not overflow."""

    def __init__(self, joint: IntArray, domain: Domain) -> None:
        self._joint, self._places = joint, {name: i for i, name in enumerate(domain)}

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self._joint.sum())

    def counts(self, sets: Sequence[tuple[str, ...]]) -> list[IntArray]:
        """Return contingency tables."""
        found = []
        for names in sets:
            kept = [self._places[name] for name in names]
            others = tuple(i for i in range(self._joint.ndim) if i not in kept)
            table = self._joint.sum(axis=others)
            found.append(np.transpose(table, [sorted(kept).index(place) for place in kept]))
        return found

    def weighted(self, sets: Sequence[tuple[str, ...]], weight: Weight) -> list[IntArray]:
        """Return contingency tables in which every row counts by its weight."""
        grid = np.indices(self._joint.shape, sparse=True)
        shown = copy(self)
        shown._joint = self._joint * weight.of({name: grid[place] for name, place in self._places.items()})
        return shown.counts(sets)

    def values(self, columns: Sequence[str]) -> list[IntArray]:
        """Refuse: there are too many rows."""
        raise SettingError("piles: only counts can be had")

    def sums(self, sets: Sequence[tuple[str, ...]]) -> list[int]:
        """Refuse: there are too many rows."""
        raise SettingError("piles: only counts can be had")


def piles() -> Iterator[str]:
    """Whether one row moves statistics of counts no further than declared where there are millions or billions."""
    rng = np.random.default_rng(7)
    for statistic, small in chain.from_iterable(STATISTICS.values()):
        shape = small.shape(list(small))
        for rows in (4_000_000, (1 << 31) - 1) if prod(shape) <= MOST_PILES else ():
            domain = small.with_rows(rows)
            for _ in range(10):
                shares = rng.dirichlet(np.full(prod(shape), rng.choice([0.1, 1.0, 10.0])))
                piled = np.tile(rng.multinomial(rows - 1, shares).astype(np.int64), (2, 1))
                piled[(0, 1), rng.integers(0, prod(shape), 2)] += 1
                try:
                    declared = statistic.sensitivity(domain)
                    values = [statistic.evaluate(Piled(each.reshape(shape), domain)) for each in piled]
                except SettingError:  # too many rows, or it looks at rows
                    break
                used = share(change(values[0], values[1], declared), declared)
                yield "" if used <= 1 else f"{type(statistic).__name__} moves {used:.4g} times as far at {rows:,} rows"
