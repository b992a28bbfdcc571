"""Small domains, and how far a statistic of contrasts moves between their tables."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.data.memory import MemoryTable
from discreet.domain import Categorical, Domain


def domain_of(sizes, rows):
    return Domain({f"c{i}": Categorical(categories=tuple(map(str, range(s)))) for i, s in enumerate(sizes)}, rows=rows)


def values_of(statistic, domain, rows):
    codes = {c: np.array([row[i] for row in rows], dtype=np.uint8) for i, c in enumerate(domain)}
    return statistic.evaluate(MemoryTable(codes, {c: domain.size(c) for c in domain}))


def scaled_change(statistic, domain, a, b):
    """The exact squared change in coordinates divided by their scales."""
    squares = statistic.squares(domain)
    return sum((Fraction(int(d)) ** 2 / s for d, s in zip(a - b, squares, strict=True)), start=Fraction(0))
