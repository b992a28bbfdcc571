"""MST and AIM: noisy marginals whose choice follows from what is released, for neighbours that replace one row.

MST is McKenna, Miklau, Sheldon 2021 (*Winning the NIST contest*): one-way marginals, a spanning tree of pairs, each for
a third of the budget. AIM is McKenna, Mullins, Sheldon, Miklau 2022 (*AIM: an adaptive and iterative mechanism*): in
each round the marginal that the model gets most wrong, and more budget a round once one tells nothing new. Both were
stated for neighbours that have one row more or less; here the number of rows is public and one row is replaced:

- a marginal moves in two cells, by one each, so its L2 sensitivity is sqrt(2), not 1: noise of deviation sigma costs
  2/(2 sigma^2) = 1/sigma^2 in zCDP, not 1/(2 sigma^2);
- the score of a candidate, a weight times an L1 distance to a marginal, moves by twice the weight, not once: the
  exponential mechanism divides by twice as much, and costs epsilon^2/8 as before.

Costs add up in zCDP (Bun, Steinke 2016), also where they are chosen as one goes, since the total is fixed. Noise comes
from a seeded generator in floats: good for simulated rows, never for real ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from math import pi, prod, sqrt
from typing import Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]
Clique = tuple[int, ...]
"""Columns by their places, in order."""

L2_SQUARED = 2.0
"""The square of how far replacing one row moves a marginal, in L2."""

L1 = 2.0
"""How far it moves a marginal in L1, and so a score of weight one."""

MEASURED = 0.9
"""AIM: the share of a round's budget that is spent on noise; the rest selects."""

MAX_MEGABYTES = 80.0
"""AIM: the largest model, as published. As much of it may be used up as of the budget."""


@dataclass(frozen=True)
class Measurement:
    """A noisy marginal, and the deviation of its noise in every cell."""

    clique: Clique
    noisy: Floats
    sigma: Floats


class Model(Protocol):
    """A distribution that was fitted to measurements."""

    def marginal(self, clique: Clique) -> Floats:
        """Return the expected counts over some columns."""

    def fits(self, clique: Clique, megabytes: float) -> bool:
        """Whether the model would be no larger with one more clique."""

    def draw(self, rows: int, rng: np.random.Generator) -> Codes:
        """Draw rows independently of each other."""


Fit = Callable[[Sequence[int], int, Sequence[Measurement], Model | None], Model]
"""Fit a model to the numbers of levels, the number of rows and measurements, starting from another one."""


@dataclass
class Table:
    """Rows, what was spent on them, and all that was measured."""

    codes: Codes
    sizes: Sequence[int]
    rng: np.random.Generator
    spent: float = 0.0
    measurements: list[Measurement] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """How many there are, which is public."""
        return len(self.codes)

    def marginal(self, clique: Clique) -> Floats:
        """Return the exact counts over some columns."""
        shape = [self.sizes[c] for c in clique]
        at = np.ravel_multi_index(tuple(self.codes[:, c] for c in clique), shape)
        return np.bincount(at, minlength=prod(shape)).astype(np.float64).reshape(shape)

    def measure(self, clique: Clique, rho: float) -> None:
        """Measure a marginal for so much."""
        sigma = deviation(rho)
        exact = self.marginal(clique)
        self.spent += rho
        noisy = exact + self.rng.normal(0.0, sigma, exact.shape)
        self.measurements.append(Measurement(clique, noisy, np.full(exact.shape, sigma)))

    def select(self, scores: Floats, weight: float, rho: float, allowed: Callable[[int], bool] | None = None) -> int:
        """Return the place of a large score, by the exponential mechanism, for so much.

        Drawing again, without what is not allowed, until one is, is the mechanism among those that are, without their
        list. What is allowed follows from releases alone.
        """
        self.spent += rho
        left = np.arange(len(scores))
        while True:
            drawn = int(self.rng.choice(left, p=choice(scores[left], weight, rho)))
            if allowed is None or allowed(drawn):
                return drawn
            left = left[left != drawn]


def deviation(rho: float) -> float:
    """Return the deviation of the noise at which a marginal costs so much."""
    return sqrt(L2_SQUARED / (2 * rho))


def choice(scores: Floats, weight: float, rho: float) -> Floats:
    """Return the probabilities of the exponential mechanism that costs so much, for scores of such a largest weight."""
    logits = sqrt(8 * rho) * scores / (2 * L1 * weight)
    chances = np.exp(logits - logits.max())
    return np.asarray(chances / chances.sum(), dtype=np.float64)


def mst(table: Table, rho: float, fit: Fit) -> Codes:
    """Return as many rows as there are, by MST."""
    columns = range(len(table.sizes))
    for column in columns:
        table.measure((column,), rho / 3 / len(columns))
    narrow, merged = compress(table)
    model = fit(narrow.sizes, narrow.rows, narrow.measurements, None)
    pairs = list(combinations(columns, 2))
    scores = np.array([np.abs(narrow.marginal(pair) - model.marginal(pair)).sum() for pair in pairs])
    parts = list(columns)
    for _ in columns[1:]:
        apart = [i for i, (a, b) in enumerate(pairs) if parts[a] != parts[b]]
        a, b = pairs[apart[narrow.select(scores[apart], 1.0, rho / 3 / (len(columns) - 1))]]
        parts = [parts[a] if part == parts[b] else part for part in parts]
        narrow.measure((a, b), rho / 3 / (len(columns) - 1))
    table.spent = narrow.spent
    rows = fit(narrow.sizes, narrow.rows, narrow.measurements, model).draw(table.rows, table.rng)
    for column, levels in enumerate(merged):
        wide = np.append(np.setdiff1d(np.arange(table.sizes[column]), levels), -1)[rows[:, column]]
        wide[wide < 0] = table.rng.choice(levels, (wide < 0).sum()) if len(levels) else 0
        rows[:, column] = wide
    return rows


def compress(table: Table) -> tuple[Table, list[Codes]]:
    """Return the rows with levels of less than three deviations of noise merged into one, and those levels."""
    codes, sizes, merged = table.codes.copy(), list(table.sizes), []
    measured = []
    for m in table.measurements:
        (column,) = m.clique
        small = m.noisy < 3 * m.sigma
        merged.append(np.flatnonzero(small))
        if small.any():
            places = np.where(small, (~small).sum(), np.cumsum(~small) - 1)
            codes[:, column] = places[codes[:, column]]
            sizes[column] = int((~small).sum()) + 1
            noisy = np.append(m.noisy[~small], m.noisy[small].sum())
            sigma = np.append(m.sigma[~small], sqrt(small.sum()) * m.sigma[0])
            measured.append(Measurement(m.clique, noisy, sigma))
        else:
            measured.append(m)
    return Table(codes, sizes, table.rng, table.spent, measured), merged


def aim(table: Table, rho: float, fit: Fit, *, degree: int) -> Codes:
    """Return as many rows as there are, by AIM for all marginals of so many columns."""
    columns = range(len(table.sizes))
    step = rho / (16 * len(columns))
    weights = workload(len(columns), degree)
    candidates, weight = list(weights), max(weights.values())
    exact = {clique: table.marginal(clique) for clique in candidates}
    for column in columns:
        table.measure((column,), MEASURED * step)
    model = fit(table.sizes, table.rows, table.measurements, None)
    last = False
    while not last:
        if last := rho - table.spent < 2 * step:
            step = rho - table.spent
        sigma = deviation(MEASURED * step)
        expected = {clique: model.marginal(clique) for clique in candidates}
        scores = np.array([weights[c] * _excess(exact[c], expected[c], sigma) for c in candidates])
        allowed = partial(_fits, model, candidates, MAX_MEGABYTES * (table.spent + step) / rho)
        clique = candidates[table.select(scores, weight, (1 - MEASURED) * step, allowed)]
        table.measure(clique, MEASURED * step)
        model = fit(table.sizes, table.rows, table.measurements, model)
        if _excess(model.marginal(clique), expected[clique], sigma) <= 0:
            step *= 4
    return model.draw(table.rows, table.rng)


def workload(columns: int, degree: int) -> Mapping[Clique, float]:
    """Return all sets of so many columns and all that are in them, weighted by how much of the workload they share."""
    whole = [frozenset(clique) for clique in combinations(range(columns), min(degree, columns))]
    inside = [c for size in range(1, degree + 1) for c in combinations(range(columns), size)]
    return {clique: float(sum(len(other.intersection(clique)) for other in whole)) for clique in inside}


def _fits(model: Model, candidates: Sequence[Clique], megabytes: float, place: int) -> bool:
    return model.fits(candidates[place], megabytes)


def _excess(one: Floats, other: Floats, sigma: float) -> float:
    """Return the L1 distance of two marginals beyond what noise would be expected to make."""
    return float(np.abs(one - other).sum()) - sqrt(2 / pi) * sigma * one.size
