"""Columns that look like functions of one or two others: sums, codes, copies.

What is given and determines x says nothing about whether x and y depend on each other: all that is left of x is noise.
x is taken for determined if the rows that do not have the commonest level of x among those that agree in what is given
may be none but for the noise, and are few among those that do not have the commonest level of x at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import prod

import numpy as np

from discreet.arrays import FloatArray
from discreet.release.oracles.components import Components, contrasts
from discreet.release.oracles.strata import Estimates
from discreet.search.hybrid import Functions

SURELY = 3.0
"""Standard deviations of the noise that are allowed for."""

FEW = 0.1
"""The largest share of the rows without the commonest level that may be left, with noise allowed for."""

NEAREST = 8
"""Columns that are tried two at a time: those that share most with the column,"""

MOST_CELLS = 256
"""in tables of at most so many cells."""


def find_determined(estimates: Estimates, shared: Mapping[frozenset[str], float], largest: int) -> Functions:
    """Return the columns that look like functions of up to so many others; ``shared`` is the evidence of each pair."""
    parts = estimates.parts
    near: dict[str, list[str]] = {column: [] for column in parts.sizes}
    for pair, _ in sorted(shared.items(), key=lambda item: (-item[1], sorted(item[0]))):
        x, z = sorted(pair)
        if shared[pair] > 0 and min(parts.sizes[x], parts.sizes[z]) > 1:
            near[x].append(z)
            near[z].append(x)
    ones = [(x, (z,)) for x, others in near.items() for z in others]
    found: dict[str, list[frozenset[str]]] = {}
    for x, given in _functions(estimates, ones):
        found.setdefault(x, []).append(frozenset(given))
    if largest < 2:
        return found
    twos = [(x, given) for x, others in near.items() for given in _twos(parts, x, others, found.get(x, []))]
    for x, given in _functions(estimates, twos):
        found.setdefault(x, []).append(frozenset(given))
    return found


def is_determined(determined: Functions, x: str, given: frozenset[str]) -> bool:
    """Whether what is given determines a column."""
    return any(cause <= given for cause in determined.get(x, ()))


def _twos(
    parts: Components, x: str, others: Sequence[str], known: Sequence[frozenset[str]]
) -> Iterator[tuple[str, str]]:
    for z, w in combinations(sorted(others[:NEAREST]), 2):
        cells = prod(parts.sizes[c] for c in (x, z, w))
        if cells <= MOST_CELLS and parts.has(z, w) and not any(cause <= {z, w} for cause in known):
            yield z, w


def _functions(
    estimates: Estimates, asked: Sequence[tuple[str, tuple[str, ...]]]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield those that look like functions of what is given."""
    parts = estimates.parts
    for (x, given), within in zip(asked, estimates.all_within(asked), strict=True):
        strata = estimates.strata(given)
        centre = parts.centre(x)
        basis = contrasts(len(centre))
        counts = np.outer(centre, strata.size) + basis @ within.counts
        rest = np.ones_like(counts)
        rest[counts.argmax(axis=0), np.arange(counts.shape[1])] = 0.0
        across, along = basis.T @ rest, centre @ rest
        noise = float(np.einsum("ik,kl,il->", across, within.noise, across) + along @ strata.noise @ along)
        noise += _unmeasured(parts, x, given) * float(((across @ _together(parts, given)) ** 2).sum())
        left, allowed = float((rest * counts).sum()), SURELY * max(noise, 0.0) ** 0.5 + 1
        varied = parts.rows * (1 - float(estimates.shares[x].max()))
        if left <= allowed and max(left, 0.0) + allowed <= FEW * varied:
            yield x, given


def _unmeasured(parts: Components, x: str, given: tuple[str, ...]) -> float:
    """Return the variance that an interaction is taken to have if it was fitted only: that of the noisiest pair."""
    return 0.0 if parts.has(x, *given) else max(parts.variance(x, z) for z in given)


def _together(parts: Components, given: tuple[str, ...]) -> FloatArray:
    """Return the directions of strata that no single column tells."""
    bases = [contrasts(parts.sizes[z]) for z in given]
    return bases[0] if len(bases) == 1 else np.asarray(np.kron(*bases), dtype=np.float64)
