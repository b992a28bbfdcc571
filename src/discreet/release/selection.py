"""Which marginals are measured: first every pair, then what the first look calls for.

Adaptive selection from public facts and released values only: it costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import prod

import numpy as np

from discreet.arrays import FloatArray
from discreet.domain import Domain
from discreet.domain.knowledge import Knowledge
from discreet.errors import SettingError
from discreet.privacy.accounting import Currency
from discreet.privacy.mechanisms.additive import DiscreteLaplace, additive_for
from discreet.release.oracles.components import Component, Components, Law, in_orthonormal, pool, taken_apart
from discreet.release.release import Measurement
from discreet.search.hybrid import EvidenceSkeleton
from discreet.statistics import Weight
from discreet.statistics.clipped import GRID, ClippedInteractions
from discreet.statistics.counts import Counts, all_pairs
from discreet.statistics.interactions import Interactions, largest_change

SETTLING = Fraction(1, 10)
"""Share of the budget that quantiles are bought with, where bins wait for them."""

MAX_DIRECTIONS = 400
"""Degrees of freedom of the largest pair table (21 by 21 levels): tests take time and memory with its square."""

MAX_TRIPLE = 350
"""Degrees of freedom of the largest interaction of three columns."""

TRIPLES = 3
"""At least so many interactions of three a column are measured between categories, if there are as many to measure,"""

SMALL_NOISE = 0.05
"""and more as long as the variance of the noise stays below this part of the number of rows."""

BEARABLE = 4.0
"""Noise that interactions of three may bring where numbers are among the columns, in deviations of sampling."""

LATER = 2
"""Weight of pairs and triples in the second release, in which single columns weigh 1: they are known already."""


def pairs_to_ask(domain: Domain, knowledge: Knowledge) -> tuple[tuple[str, str], ...]:
    """Return the pairs that may be adjacent; a column with one level depends on nothing."""
    several = [column for column in domain if domain.size(column) > 1]
    return tuple(pair for pair in all_pairs(several) if knowledge.may_touch(*pair))


def select_first(domain: Domain, knowledge: Knowledge, currency: Currency) -> Counts | Interactions | None:
    """Return what will be asked first: all pairs that may touch. None if there is no pair to ask about.

    Interactions where the noise is Gaussian; whole tables under a pure promise, whose Laplace noise has no shape to
    exploit.
    """
    knowledge.check(domain)
    if len(domain.columns) < 2:
        raise SettingError("domain: a causal graph takes at least two columns")
    several = [column for column in domain if domain.size(column) > 1]
    pairs = pairs_to_ask(domain, knowledge)
    if not pairs:
        return None
    _refuse_large(pairs, domain)
    paired = {column for pair in pairs for column in pair}
    tables = Counts((*pairs, *((column,) for column in sorted(several) if column not in paired)))
    if currency is not Currency.PURE:
        singles = tuple((column,) for column in sorted(several))
        weights = (single_weight(len(singles)),) * len(singles) + (1,) * len(pairs)
        interactions = Interactions((*singles, *pairs), weights)
        interactions.check(domain)  # refuses what cannot be counted before anything is read
        return interactions
    tables.sensitivity(domain)
    return tables


def _refuse_large(pairs: Sequence[tuple[str, str]], domain: Domain) -> None:
    """Refuse tables of two columns with too many levels, and name all columns that have more than two could have."""
    large = [pair for pair in pairs if prod(domain.size(column) - 1 for column in pair) > MAX_DIRECTIONS]
    if not large:
        return
    most = math.isqrt(MAX_DIRECTIONS) + 1
    columns = sorted({c for pair in large for c in pair if domain.size(c) > most}, key=lambda c: (-domain.size(c), c))
    named = ", ".join(f"{column!r} ({domain.size(column):,})" for column in columns)
    raise SettingError(
        f"columns with too many levels for a table of two: {named}. Declare fewer categories or bins, at most {most} "
        "levels each"
    )


def select_next(
    found: EvidenceSkeleton,
    domain: Domain,
    currency: Currency,
    amount: Fraction,
    *,
    triples: int = TRIPLES,
    noise: float = SMALL_NOISE,
) -> Counts | Interactions | None:
    """Return what the releases so far call for: the pairs that are left, and three columns at a time around them.

    At least ``triples`` interactions of three a column, and more as long as the variance of the noise stays below
    ``noise`` times the number of rows.
    """
    pairs = sorted((a, b) for a, b in map(sorted, found.pairs) if min(domain.shape((a, b))) > 1)
    if not pairs:
        return None
    wanted = [
        s for s in _triples_by_need(found) if prod(size - 1 for size in domain.shape(s)) in range(1, MAX_TRIPLE + 1)
    ]
    least = triples * len(domain.columns)
    if currency is Currency.PURE:
        affordable = int(float(amount) * (noise * domain.rows / 2) ** 0.5 / 2)
        chosen = wanted[: max(least, affordable)]
        covered = {pair for s in chosen for pair in combinations(s, 2)}
        return Counts((*chosen, *(pair for pair in pairs if pair not in covered)))
    singles = [(c,) for c in sorted(domain) if domain.size(c) > 1]
    base = _weight(singles, domain) / LATER + _weight(pairs, domain)
    limit = noise * domain.rows * squared_mu(currency, amount)
    loads = np.cumsum([float(_weight([s], domain)) for s in wanted]) + float(base)
    chosen = wanted[: max(least, int((loads <= limit).sum()))]
    sets = (*singles, *pairs, *chosen)
    return Interactions(sets, (1,) * len(singles) + (LATER,) * (len(sets) - len(singles)))


def squared_mu(currency: Currency, amount: Fraction) -> float:
    """Return an amount of a budget for Gaussian noise as the square of mu."""
    return float(amount if currency is Currency.GDP else 2 * amount)


def noise_of(domain: Domain, knowledge: Knowledge, currency: Currency, amount: Fraction) -> float:
    """Return the noise of the first release, in correlation: the standard deviation of its noisiest coefficient."""
    statistic = select_first(domain, knowledge, currency)
    if statistic is None:
        return 0.0
    variance = additive_for(currency, amount, statistic.sensitivity(domain)).variance
    cells = max(prod(domain.shape(s)) for s in statistic.sets if len(s) == 2)
    return math.sqrt(variance * cells) / domain.rows


def even_noise(domain: Domain) -> float:
    """Return how much noise interactions of three may bring, in parts of the rows.

    The finer the columns, the less a contrast of two varies by sampling, and the less noise it bears.
    """
    cells = max(domain.size(name) for name in domain) ** 2
    return LATER * BEARABLE**2 / cells


def single_weight(columns: int) -> int:
    """Return how much single columns weigh against pairs in the first release.

    Every test needs them, but the fewer pairs there are, the more they would take away: about a third of the root of
    the number of columns makes the variance of a residual smallest.
    """
    return max(1, round(math.sqrt(columns) / 3))


def _weight(sets: Sequence[tuple[str, ...]], domain: Domain) -> Fraction:
    return largest_change({s: domain.shape(s) for s in sets}, dict.fromkeys(sets, 1))


def _triples_by_need(found: EvidenceSkeleton) -> list[tuple[str, ...]]:
    """Return sets of three columns: first connected ones, then those that order 2 asks about, strongest first."""
    around = found.around()
    connected: dict[tuple[str, ...], float] = {}
    for middle, near in around.items():
        for x, y in combinations(sorted(near), 2):
            links = sorted((found.shared(x, y), found.shared(x, middle), found.shared(y, middle)))
            connected[tuple(sorted((x, y, middle)))] = links[1]
    others: dict[tuple[str, ...], float] = {}
    for pair in found.pairs:
        for side, other in (sorted(pair), sorted(pair, reverse=True)):
            for z, w in combinations(sorted(around[side] - {other}), 2):
                strongest = max(found.shared(other, z), found.shared(other, w))
                key = tuple(sorted((other, z, w)))
                if strongest > 0 and key not in connected:
                    others[key] = max(others.get(key, 0.0), strongest)
    return [*_strongest(connected), *_strongest(others)]


def _strongest(weighed: Mapping[tuple[str, ...], float]) -> list[tuple[str, ...]]:
    return sorted(weighed, key=lambda s: (-weighed[s], s))


def components(measurements: Sequence[Measurement], domain: Domain) -> Components:
    """Combine all that was released. What was measured of clipped rows stands alone: they count for less."""
    sizes = {column: domain.size(column) for column in domain}
    for measured in measurements:
        if isinstance(measured.statistic, ClippedInteractions):
            return _clipped_components(measured, measured.statistic, domain, sizes)
    found: list[tuple[tuple[str, ...], FloatArray, float]] = []
    for measured in measurements:
        variance = measured.mechanism.variance
        for i, (columns, values) in enumerate(zip(measured.statistic.sets, measured.values, strict=True)):
            if isinstance(measured.statistic, Interactions):
                found.append((columns, in_orthonormal(values), variance / measured.statistic.weights[i]))
            else:
                found += taken_apart(columns, values.astype(np.float64), variance)
    law: Law = "laplace" if any(isinstance(m.mechanism, DiscreteLaplace) for m in measurements) else "gaussian"
    return Components(domain.rows, sizes, pool(found), law)


def _clipped_components(
    measured: Measurement, statistic: ClippedInteractions, domain: Domain, sizes: dict[str, int]
) -> Components:
    """Return weighted sums as if of so many rows as their weights add up to."""
    parts = {}
    for columns, values in zip(statistic.sets, measured.values, strict=True):
        steps = GRID ** len(columns)
        variance = measured.mechanism.variance / float(statistic.importance(columns) * steps**2)
        parts[columns] = Component(in_orthonormal(values) / (Weight.WHOLE * steps), variance)
    rows = min(max(float(parts.pop(()).values), 1.0), domain.rows)
    centres = {name: np.array(centre.steps) / GRID for name, centre in statistic.frame.centres.items()}
    return Components(rows, sizes, parts, centres=centres)
