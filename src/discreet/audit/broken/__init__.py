"""Broken on purpose: wrong mechanisms and methods that the auditors must catch. Nothing here is private.

Each stands under the auditor that must catch it. None can be reached from the library or from another command. Here are
the forms in which they are put before the auditors, and the small tables and statistics that they are made from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.arrays import IntArray
from discreet.audit import Auditor, Neighbours
from discreet.audit.claims import Claim
from discreet.domain import Categorical, Domain
from discreet.privacy.accounting import Currency
from discreet.privacy.mechanisms import Mechanism
from discreet.statistics import Sensitivity, Statistic, Table

Output = object
"""What a mechanism gives out: a number, a vector of numbers, or anything that can be compared and hashed."""

Rng = np.random.Generator
Run = Callable[[IntArray, Rng], Output]
Codes = tuple[int, ...]

PURE = Claim(Currency.PURE, 1.0)
"""What most of them claim."""

KUSNER = "Kusner et al. 2016"

GRID = 1_000_000
"""Real values are rounded to multiples of one GRID-th."""


@dataclass(frozen=True)
class Sampled:
    """Something that runs on rows (codes) with a generator, and claims something. For the black box."""

    run: Run
    claim: Claim
    pairs: tuple[Neighbours, ...]


@dataclass(frozen=True)
class Asking:
    """A method that opens rooms of its own on rows (codes) and returns something comparable. For replay."""

    run: Callable[[IntArray], object]
    claim: Claim
    domain: Domain
    pairs: tuple[Neighbours, ...] = ()
    """Hand-made neighbours that are tried before the generators'."""


@dataclass(frozen=True)
class Measured:
    """A statistic that states a sensitivity. For replay, which measures it on neighbours."""

    statistic: Statistic
    domain: Domain
    pairs: tuple[Neighbours, ...] = ()


@dataclass(frozen=True)
class Blurred:
    """A mechanism that states a cost, used on a statistic. For the exact auditor or the black box."""

    mechanism: Mechanism
    statistic: Statistic
    domain: Domain
    pairs: tuple[Neighbours, ...] = ()


@dataclass(frozen=True)
class Finite:
    """A mechanism whose whole law is known: the probabilities of all outputs for a table of few cells. For exact."""

    law: Callable[[tuple[int, ...]], dict[object, float]]
    cells: int
    values: int
    claim: Claim


@dataclass(frozen=True)
class Code:
    """A module's text, and the place in the library where it pretends to stand. For the reader of sources."""

    module: str
    text: str


@dataclass(frozen=True)
class Broken:
    """Something wrong, what is wrong with it, where it comes from, and who must catch it."""

    name: str
    wrong: str
    origin: str
    catcher: Auditor
    subject: Sampled | Asking | Measured | Blurred | Finite | Code


def pair(others: Mapping[Codes, int], before: Codes, after: Codes) -> Neighbours:
    """Return two tables: one row that is replaced, then groups of equal rows."""
    rest = [codes for codes, times in others.items() for _ in range(times)]
    first, second = (np.array([codes, *rest], dtype=np.int64) for codes in (before, after))
    return Neighbours(first, second, "by hand")


def domain_of(rows: int, **sizes: int) -> Domain:
    """Return a domain with so many levels a column."""
    columns = {name: Categorical(categories=tuple(map(str, range(size)))) for name, size in sizes.items()}
    return Domain(columns, rows=rows)


@dataclass(frozen=True)
class Whole:
    """Whole-number functions of one contingency table, with the sensitivity that is claimed for them."""

    name: str
    columns: tuple[str, ...]
    value: Callable[[IntArray], IntArray]
    claimed: Sensitivity

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return what is claimed."""
        return self.claimed

    def evaluate(self, table: Table) -> IntArray:
        """Return the values."""
        (counted,) = table.counts([self.columns])
        return self.value(counted)


def moving(step: Fraction | int) -> Sensitivity:
    """Return the sensitivity of one number that moves by a step at most."""
    return Sensitivity(l1=Fraction(step), l2_squared=Fraction(step) ** 2, largest=Fraction(step))


def on_grid(name: str, columns: tuple[str, ...], value: Callable[[IntArray], float], claimed: float) -> Whole:
    """Return a real function of one contingency table, rounded to the grid, with its claimed sensitivity.

    The latter is counted in steps of the grid, rounding included.
    """

    def steps(counted: IntArray) -> IntArray:
        return np.array([round(GRID * value(counted))], dtype=np.int64)

    return Whole(name, columns, steps, moving(math.ceil(claimed * GRID) + 1))
