"""Interactions: the part of a contingency table that none of its margins shows, many at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from math import lcm, prod

import numpy as np

from discreet.arrays import IntArray
from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.statistics import Sensitivity, Table, check_countable, columns_of, cut

MAX_ENUMERATED = 12
"""Up to so many columns every set of columns in which rows may differ is looked at, if whole numbers stay small."""


@cache
def whole_contrasts(levels: int) -> IntArray:
    """Return whole-number contrasts (1, ..., 1, -j, 0, ...), one column each: orthogonal, with squares j (j + 1)."""
    basis = np.zeros((levels, levels - 1), dtype=np.int64)
    for j in range(1, levels):
        basis[:j, j - 1] = 1
        basis[j, j - 1] = -j
    basis.flags.writeable = False
    return basis


@dataclass(frozen=True)
class Interactions:
    """The interactions of some sets of columns: contrasts of each set's contingency table over all its columns at once.

    The interaction of one column is its counts but for their known total; that of two is what their table holds beyond
    both counts. A table is the sum of the interactions of all subsets of its columns.

    Parameters
    ----------
    sets
        Sets of columns, each in sorted order.
    weights
        How precisely each set is measured: twice the weight means half the variance.

    Guarantee
    ---------
    Substituting one row moves the contrasts, each divided by the root of its square and times the root of its
    set's weight, by at most the declared ``l2_squared``.

    Proof
    -----
    ``interactions.md``, Claim.
    """

    sets: tuple[tuple[str, ...], ...]
    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.sets or any(not s for s in self.sets):
            raise SettingError("interactions: ask for at least one set, of at least one column each")
        if any(list(s) != sorted(set(s)) for s in self.sets):
            raise SettingError("interactions: the columns of a set stand in sorted order, each once")
        if len(set(self.sets)) != len(self.sets):
            raise SettingError("interactions: the same set is asked for twice, which would only cost")
        if len(self.weights) != len(self.sets) or any(w < 1 for w in self.weights):
            raise SettingError("interactions: one weight a set, a whole number from 1")

    @property
    def name(self) -> str:
        """What it is, for the ledger."""
        orders = sorted({len(s) for s in self.sets})
        return f"{len(self.sets)} interactions ({', '.join(f'{k}-way' for k in orders)})"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it sees."""
        return columns_of(self.sets)

    def check(self, domain: Domain) -> None:
        """Refuse what cannot be counted."""
        check_countable(self.sets, domain, "interactions")

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return the squared L2 norm of the largest change, in weighted orthonormal contrasts."""
        self.check(domain)
        squared = largest_change(
            {s: domain.shape(s) for s in self.sets}, dict(zip(self.sets, self.weights, strict=True))
        )
        squares = self.squares(domain)
        l1 = Fraction(math.isqrt(math.ceil(squared * len(squares))) + 1)  # by Cauchy and Schwarz
        return Sensitivity(l1=l1, l2_squared=squared, squares=squares)

    def squares(self, domain: Domain) -> tuple[Fraction, ...]:
        """Return the square of every contrast's length, divided by its set's weight."""
        found: list[Fraction] = []
        for columns, weight in zip(self.sets, self.weights, strict=True):
            found += squares_of(domain.shape(columns), weight)
        return tuple(found)

    def evaluate(self, table: Table) -> IntArray:
        """Return the contrasts of all sets, flattened one after the other."""
        parts = []
        for counted in table.counts(self.sets):
            value = counted
            for size in counted.shape:
                value = np.tensordot(value, whole_contrasts(size), axes=(0, 0))
            parts.append(value.ravel())
        return np.concatenate(parts)

    def split(self, vector: IntArray, domain: Domain) -> list[IntArray]:
        """Cut a vector of contrasts into one array a set."""
        return cut(vector, [tuple(size - 1 for size in domain.shape(s)) for s in self.sets])


@cache
def squares_of(shape: tuple[int, ...], weight: int | Fraction) -> tuple[Fraction, ...]:
    """Return the square of every contrast's length, divided by its set's weight."""
    steps = product(*(range(1, size) for size in shape))
    return tuple(Fraction(prod(j * (j + 1) for j in js), weight) for js in steps)


Sizes = dict[tuple[str, ...], tuple[int, ...]]
Weights = dict[tuple[str, ...], int]


def largest_change(sizes: Sizes, weights: Weights) -> Fraction:
    """Return a bound on the weighted squared change when one row is replaced: the least of those that are at hand."""
    sizes = {s: shape for s, shape in sizes.items() if min(shape) > 1}  # a column with one level has no contrasts
    if not sizes:
        return Fraction(0)
    levels = {c: a for s, shape in sizes.items() for c, a in zip(s, shape, strict=True)}
    if len(levels) <= MAX_ENUMERATED:
        exact = _enumerated(sizes, weights, levels)
        if exact is not None:
            return exact
    apart = {s: weights[s] * _apart(shape) for s, shape in sizes.items()}
    small = {s for s in sizes if len(s) <= 2}
    together = _all_pairs(
        sorted(levels.values()),
        max((weights[s] for s in small if len(s) == 1), default=0),
        max((weights[s] for s in small if len(s) == 2), default=0),
    )
    larger = sum((apart[s] for s in sizes if s not in small), start=Fraction(0))
    return min(sum(apart.values(), start=Fraction(0)), together + larger)


def _apart(shape: tuple[int, ...]) -> Fraction:
    """Return the largest squared change of one set's orthonormal contrasts."""
    same = prod(a - 1 for a in shape)
    differing = min(
        prod(-1 if d else a - 1 for a, d in zip(shape, which, strict=True)) for which in _subsets(len(shape))
    )
    return Fraction(2 * (same - differing), prod(shape))


def _subsets(columns: int) -> list[tuple[bool, ...]]:
    return list(product((False, True), repeat=columns))


def _all_pairs(levels: list[int], one: int, two: int) -> Fraction:
    """Return the largest change of all single columns (weight ``one``) and all pairs (weight ``two``) together.

    ``levels`` in rising order. With m differing columns it is largest if they are those with the fewest levels.
    """
    shares = [1 - Fraction(1, a) for a in levels]
    total, squares = sum(shares, start=Fraction(0)), sum((r * r for r in shares), start=Fraction(0))
    same = (total**2 - squares) / 2
    best, shift = Fraction(0), Fraction(0)
    for m, a in enumerate(levels, start=1):
        shift += Fraction(2, a) - 1
        differing = ((total - m) ** 2 - squares - shift) / 2
        best = max(best, 2 * two * (same - differing) + 2 * one * m)
    return best


def _enumerated(sizes: Sizes, weights: Weights, levels: dict[str, int]) -> Fraction | None:
    """Return the exact maximum over all sets of differing columns, in whole numbers; None if they grow too large."""
    scale = lcm(*(prod(shape) for shape in sizes.values()))
    if scale * sum(2 * weights[s] for s in sizes) * 2 >= 1 << 62:
        return None
    place = {c: i for i, c in enumerate(levels)}
    differs = (np.arange(1 << len(levels))[:, None] >> np.arange(len(levels))) & 1
    changed = np.zeros(len(differs), dtype=np.int64)
    for columns, shape in sizes.items():
        inner = np.ones(len(differs), dtype=np.int64)
        for c, a in zip(columns, shape, strict=True):
            inner *= np.where(differs[:, place[c]] == 1, -1, a - 1)
        changed += 2 * weights[columns] * (scale // prod(shape)) * (prod(a - 1 for a in shape) - inner)
    return Fraction(int(changed.max()), scale)
