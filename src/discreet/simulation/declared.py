"""Networks drawn at random over a declared domain: what a table of these columns might look like.

Every column follows from its causes: categories by a table of shares, numbers by a curve plus noise. Where a number is
a cause of categories it acts by which of a few groups it lies in; where a category is a cause of a number, each level
moves it. No rows of anybody are needed, nor looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from discreet.domain import Column, Domain, Numeric
from discreet.domain.columns import GRID, STEPS
from discreet.errors import NetworkError
from discreet.search.graph import Arc, Graph, from_parents
from discreet.simulation.bayesian import draw_codes
from discreet.simulation.drawn import MAX_PARENTS, REACH, draw_graded

CodeArray = npt.NDArray[np.uint16]
Codes = dict[str, CodeArray]
Values = npt.NDArray[np.float64]

DENSITIES = (0.8, 1.2, 1.6)
"""Arrows a column."""

WIDEST = 3.5
"""A number's bounds lie so many standard deviations from its middle."""

CUTS = (-0.84, -0.25, 0.25, 0.84)
"""Where a number, on a scale with deviation 1, falls into another group: fifths of a bell."""

CURVES: tuple[Callable[[Values], Values], ...] = (lambda x: x, np.tanh, np.sin, np.cos, np.square)

RARE = (0.02, 0.2)
"""Between which shares all levels but one lie together in half of the columns without causes, where these are rare."""

MISSING = 0.03
"""Share of rows without a number, where a column has a level for these."""

LARGEST_TABLE, MOST_CELLS = 4_096, 1 << 22
"""A column has fewer causes if the table of its shares would be larger; if required causes alone make it larger than
the second, it is refused."""


@dataclass(frozen=True)
class Strength:
    """How much a column follows its causes.

    Parameters
    ----------
    name
        In a word.
    logits
        Between which deviations the log odds of categories move from cause to cause.
    sharpness
        Concentration of shares that are drawn anew for each constellation of causes; the smaller, the sharper.
    explained
        Between which shares of a number's variance its causes explain.
    """

    name: str
    logits: tuple[float, float]
    sharpness: float
    explained: tuple[float, float]


STRENGTHS = (
    Strength("weak", (0.3, 1.0), 3.0, (0.05, 0.25)),
    Strength("medium", (0.6, 2.0), 1.0, (0.2, 0.6)),
    Strength("strong", (1.5, 3.0), 0.6, (0.5, 0.9)),
)


@dataclass(frozen=True)
class Kind:
    """What kind of network is drawn: arrows a column, how strong they are, and whether first causes may be rare."""

    density: float
    strength: Strength
    rare: bool

    @property
    def words(self) -> str:
        """What kind it is, in words."""
        return f"{self.density:g} arrows a column, {self.strength.name}, {'rare' if self.rare else 'even'} causes"


KINDS = tuple(
    Kind(DENSITIES[(i + j) % 3], STRENGTHS[i], rare) for j in range(3) for rare in (False, True) for i in range(3)
)
"""All kinds, in an order in which any three that stand together have all strengths and all densities."""


@dataclass(frozen=True)
class Shares:
    """A column of categories: one row of shares for each constellation of its causes."""

    table: Values


@dataclass(frozen=True)
class Curve:
    """A column of numbers: curves of its causes, and noise."""

    curves: tuple[int, ...]
    weights: tuple[float, ...]
    explained: float


@dataclass(frozen=True)
class Declared:
    """A network over the columns of a domain."""

    domain: Domain
    parents: dict[str, tuple[str, ...]]
    laws: dict[str, Shares | Curve]
    scores: dict[str, Values]
    """By how much each level of a column of categories moves numbers."""

    @property
    def dag(self) -> Graph:
        """The true graph."""
        return from_parents({name: self.parents[name] for name in self.domain})

    def sample(self, rows: int, rng: np.random.Generator) -> tuple[Codes, Codes]:
        """Draw rows, as codes of the domain, and the groups they fall into."""
        groups: Codes = {}
        scales: dict[str, Values] = {}
        codes: Codes = {}
        for name, law in self.laws.items():  # causes stand before their effects
            causes, column = self.parents[name], self.domain[name]
            if isinstance(law, Shares):
                groups[name] = codes[name] = _draw_codes(law, [(groups[p], self._groups(p)) for p in causes], rows, rng)
            elif isinstance(column, Numeric):
                near = [scales[p] if p in scales else self.scores[p][groups[p]] for p in causes]
                scales[name] = _follow(law, near, rng.standard_normal(rows))
                groups[name] = np.searchsorted(CUTS, scales[name]).astype(np.uint16)
                codes[name] = _encode(scales[name], column, rng)
        return {name: codes[name] for name in self.domain}, groups

    def _groups(self, name: str) -> int:
        return groups_of(self.domain[name])


def groups_of(column: Column) -> int:
    """Return how many groups a column falls into where it is a cause of categories."""
    return len(CUTS) + 1 if isinstance(column, Numeric) else column.size


def draw_over(
    domain: Domain,
    rng: np.random.Generator,
    kind: Kind,
    *,
    allowed: Callable[[str, str], bool] = lambda a, b: True,
    required: Collection[Arc] = (),
) -> Declared:
    """Draw a network over a domain's columns.

    Parameters
    ----------
    domain
        Columns, with the codes they have in a table.
    rng
        Where chance comes from.
    kind
        What kind of network.
    allowed
        Whether the first column may be a cause of the second.
    required
        Arrows that are there in any case. They lead in no circle.

    Raises
    ------
    NetworkError
        If a column's required causes have too many constellations.
    """
    order = _draw_order(list(domain), rng, allowed, required)
    parents = _draw_parents(domain, order, rng, kind.density, allowed, required)
    laws: dict[str, Shares | Curve] = {}
    scores: dict[str, Values] = {}
    for name in order:
        column, causes = domain[name], parents[name]
        if isinstance(column, Numeric):
            laws[name] = _draw_curve(len(causes), kind.strength, rng)
        else:
            shape = [groups_of(domain[p]) for p in causes]
            if prod(shape, start=column.size) > MOST_CELLS:
                raise NetworkError(f"column {name!r}: its required causes have too many constellations to be simulated")
            laws[name] = Shares(_draw_table(column.size, shape, kind, rng))
            drawn = rng.normal(size=column.size)
            scores[name] = drawn / max(float(np.sqrt(np.mean(drawn**2))), 1e-9)
    return Declared(domain, {name: tuple(ps) for name, ps in parents.items()}, laws, scores)


def _draw_order(
    names: list[str], rng: np.random.Generator, allowed: Callable[[str, str], bool], required: Collection[Arc]
) -> list[str]:
    """Draw an order in which required causes stand before their effects and, if possible, so do all that may be causes.

    What is forbidden one way may lead in a circle, which no order keeps to; what is required does not.
    """
    must = {b: {a for a, effect in required if effect == b} for b in names}
    may = {b: {a for a in names if allowed(a, b) and not allowed(b, a)} for b in names}
    order: list[str] = []
    left = [names[i] for i in rng.permutation(len(names))]
    while left:
        ready = [n for n in left if must[n].issubset(order)]
        order.append(next((n for n in ready if may[n].issubset(order)), ready[0]))
        left.remove(order[-1])
    return order


def _draw_parents(
    domain: Domain,
    order: list[str],
    rng: np.random.Generator,
    density: float,
    allowed: Callable[[str, str], bool],
    required: Collection[Arc],
) -> dict[str, list[str]]:
    count = len(order)
    parents: dict[str, list[str]] = {name: sorted(a for a, b in required if b == name) for name in order}
    wanted = min(round(density * count), count * (count - 1) // 2)
    for _ in range(100 * count):
        if sum(map(len, parents.values())) >= wanted:
            break
        first, second = sorted(rng.choice(count, 2, replace=False).tolist())
        cause, effect = order[first], order[second]
        near = count <= 12 or second - first <= REACH
        if near and allowed(cause, effect) and cause not in parents[effect] and _fits(domain, parents, cause, effect):
            parents[effect].append(cause)
    return parents


def _fits(domain: Domain, parents: dict[str, list[str]], cause: str, effect: str) -> bool:
    """Whether a column may have one more cause."""
    causes = [*parents[effect], cause]
    size = domain[effect].size if not isinstance(domain[effect], Numeric) else 1
    return len(causes) <= MAX_PARENTS and prod((groups_of(domain[p]) for p in causes), start=size) <= LARGEST_TABLE


def _draw_base(levels: int, rare: bool, rng: np.random.Generator) -> Values:
    """Draw how common the levels of a column are; where they may be rare, one takes nearly all in half of the cases."""
    if not rare or rng.random() >= 0.5:
        return np.asarray(0.8 * rng.dirichlet(np.full(levels, 1.5)) + 0.2 / levels)
    shares = rng.dirichlet(np.full(levels, 1.5)) * 10 ** rng.uniform(*np.log10(RARE))
    common = rng.integers(levels)
    shares[common] += 1 - shares.sum()
    return np.asarray(np.maximum(shares, 1e-4) / np.maximum(shares, 1e-4).sum())


def _draw_table(levels: int, shape: list[int], kind: Kind, rng: np.random.Generator) -> Values:
    """Draw a column's shares for every constellation of its causes."""
    rows, strength = prod(shape), kind.strength
    base = _draw_base(levels, kind.rare and not shape, rng)
    if not shape:
        return base[None, :]
    if rng.random() < 0.5:
        return np.asarray(rng.dirichlet(strength.sharpness * levels * base, size=rows))
    return draw_graded(rng, np.log(base), shape, strength.logits)


def _draw_curve(causes: int, strength: Strength, rng: np.random.Generator) -> Curve:
    curves = rng.integers(len(CURVES), size=causes)
    weights = rng.uniform(0.5, 1.5, size=causes) * rng.choice([-1.0, 1.0], size=causes)
    explained = float(rng.uniform(*strength.explained)) if causes else 0.0
    return Curve(tuple(curves.tolist()), tuple(weights.tolist()), explained)


def _draw_codes(law: Shares, causes: list[tuple[CodeArray, int]], rows: int, rng: np.random.Generator) -> CodeArray:
    """Draw codes by the shares of each row's constellation."""
    at = np.zeros(rows, dtype=np.uint32)
    for codes, groups in causes:
        at = at * np.uint32(groups) + codes
    return draw_codes(law.table, at if causes else None, rows, rng)


def _follow(law: Curve, causes: list[Values], noise: Values) -> Values:
    """Return numbers with deviation 1 that follow their causes."""
    if not causes:
        return noise
    total = np.zeros(len(noise))
    for values, curve, weight in zip(causes, law.curves, law.weights, strict=True):
        total += weight * _standard(CURVES[curve](np.clip(values, -WIDEST, WIDEST)))
    return np.asarray(np.sqrt(law.explained) * _standard(total) + np.sqrt(1 - law.explained) * noise)


def _standard(values: Values) -> Values:
    return np.asarray((values - values.mean()) / max(float(values.std()), 1e-9))


def _encode(scale: Values, column: Numeric, rng: np.random.Generator) -> CodeArray:
    """Return numbers as codes of a column, some of them missing where that is a level."""
    places = np.clip((scale / WIDEST + 1) / 2, 0, 1)
    if column.tabulable:
        low, high = column.bounds
        edges = (np.array(column.edges) - low) / (high - low)
        numbers, found = len(edges) - 1, np.searchsorted(edges[1:-1], places, side="right")
    else:
        numbers = STEPS if column.bins is not None else GRID
        found = np.minimum((places * numbers).astype(np.int64), numbers - 1)
    code = found.astype(np.uint16)
    for extra in range(numbers, column.size):
        code[rng.random(len(code)) < MISSING] = extra
    return code
