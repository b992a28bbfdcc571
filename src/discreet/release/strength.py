"""How strongly two columns go together, from their released table: an association, and no effect.

Ordered columns have a rank correlation, whose sign says whether one rises with the other; other pairs have Cramer's V.
Rows in which a value is missing are left out. Intervals know the rows that were drawn and the noise: of a rank
correlation by its gradient, of V by what a noncentral chi-squared law of the same mean and variance leaves open, with
levels counted together that are too rare for the noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from discreet.arrays import FloatArray
from discreet.domain import Categorical, Column
from discreet.domain.yaml import parse_number
from discreet.release.discovery import Discovery
from discreet.release.oracles.components import Components, to_simplex
from discreet.release.selection import components
from discreet.release.tables import PairTable, has_table, known_levels

LEVEL = 0.95
"""Share of intervals that hold the true value."""

SIZES = ((0.5, "strong"), (0.3, "moderate"), (0.1, "weak"), (0.0, "very weak"))
"""Words for strengths, from these on."""

WIDEST = 0.5
"""A strength whose interval is wider than this is unclear."""

LOW_HIGH = (("no", "yes"), ("false", "true"))
"""Labels of two levels that have an order though none is declared."""

DROWNED, BLURRED = 0.3, 0.1
"""V that noise alone may give: levels are counted together down to the first, and to bound V from below the second."""

SMALLEST = 1e-9
"""Squares below this are 0."""

STEP = 1e-4
"""Step of numerical derivatives, as a part of the rows."""


@dataclass(frozen=True)
class Strength:
    """An association of two columns with its interval: a rank correlation (from -1 to 1), or Cramer's V (0 to 1)."""

    value: float
    low: float
    high: float
    measure: Literal["rank correlation", "Cramer's V"]

    @property
    def trend(self) -> Literal["rising", "falling"] | None:
        """Whether one column rises or falls with the other; None where that is not clear, or they have no order."""
        if self.measure == "Cramer's V" or self.low <= 0 <= self.high:
            return None
        return "rising" if self.value > 0 else "falling"

    @property
    def words(self) -> str:
        """Return it in a few words, with the numbers."""
        size = next(word for least, word in SIZES if abs(self.value) >= least)
        kind = f"{size}, {self.trend}" if self.trend else size
        if self.low <= 0 <= self.high or self.high - self.low > WIDEST:
            kind = "unclear"
        value, low, high = (f"{round(number, 2) + 0.0:.2f}" for number in (self.value, self.low, self.high))
        return f"{kind}: {self.measure} {value} ({low} to {high})"


def strength(found: Discovery, x: str, y: str) -> Strength | None:
    """Return how strongly two columns go together; None where their table was not released."""
    return strength_in(components(found.measurements, found.domain), found.domain[x], found.domain[y], (x, y))


def strength_in(parts: Components, first: Column, second: Column, pair: tuple[str, str]) -> Strength | None:
    """Return how strongly two columns go together in released components."""
    if not has_table(parts, *pair):
        return None
    x_order, y_order = ordered_levels(first), ordered_levels(second)
    ordered = x_order is not None and y_order is not None
    chosen = (x_order, y_order) if ordered else (known_levels(first), known_levels(second))
    if min(len(codes or ()) for codes in chosen) < 2:
        return None
    views = [np.eye(size)[codes] for size, codes in zip((first.size, second.size), chosen, strict=True)]
    table = PairTable.of(parts, *pair)
    ones = [view.sum(axis=0, keepdims=True) for view in views]
    if table.seen(*ones)[0, 0] < max(1.0, 2 * float(table.noise(*ones)[0, 0]) ** 0.5):  # hardly a row has both values
        return None
    return _rank_correlation(table, views) if ordered else _cramer(table, views)


def _spread(table: PairTable, views: list[FloatArray]) -> tuple[FloatArray, FloatArray, tuple[float, float]]:
    """Return a table in views, its covariance by sampling and noise, and the least shares of its levels."""
    counts, noise = table.seen(*views), table.noise(*views)
    sampled = np.diag(to_simplex(counts.ravel() / counts.sum()) * counts.sum())
    return counts, sampled + noise, _floors(noise, counts)


def _merge_rare(table: PairTable, views: list[FloatArray], noise_v: float) -> list[FloatArray]:
    """Return views with the rarest levels added up until noise alone would give no larger V."""
    views = list(views)
    while max(map(len, views)) > 2:
        counts, noise = table.seen(*views), table.noise(*views)
        _, rows, columns = _margins(counts[None], _floors(noise, counts))
        drowned = np.trace(noise) / counts.size / counts.sum() ** 2 * (1 / rows).sum() * (1 / columns).sum()
        if drowned <= noise_v**2 * (min(counts.shape) - 1):
            break
        loads = [(1 / shares).sum() * (shares.size > 2) for shares in (rows, columns)]
        side = int(np.argmax(loads))
        rarest = np.argsort((rows, columns)[side][0])[:2]
        merged = views[side][rarest].sum(axis=0, keepdims=True)
        views[side] = np.vstack([np.delete(views[side], rarest, axis=0), merged])
    return views


def ordered_levels(column: Column) -> list[int] | None:
    """Return the codes of the levels that have an order, from low to high; None if the column has none."""
    if not isinstance(column, Categorical):
        return list(range(len(column.edges) - 1))
    codes = [code for code in known_levels(column) if column.levels[code] in column.categories]
    if column.ordered or len(codes) != 2:
        return codes if column.ordered else None
    labels = [column.levels[code] for code in codes]
    numbers = [parse_number(label) for label in labels]
    if None not in numbers:
        return sorted(codes, key=lambda code: parse_number(column.levels[code]) or 0)
    if tuple(sorted(label.lower() for label in labels)) in LOW_HIGH:
        return sorted(codes, key=lambda code: column.levels[code].lower())
    return None


def _floors(noise: FloatArray, counts: FloatArray) -> tuple[float, float]:
    """Return the least share that a level of each column is taken to have: less would drown in its noise."""
    a, b = counts.shape
    cells = noise.reshape(a, b, a, b)
    spreads = np.einsum("ijiv->i", cells).max(), np.einsum("ijuj->j", cells).max()
    rows, columns = ((1 + float(np.sqrt(max(s, 0.0)))) / float(counts.sum()) for s in spreads)
    return min(rows, 1 / a), min(columns, 1 / b)


def _margins(tables: FloatArray, floors: tuple[float, float]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return tables as shares, with the shares of rows and of columns, none below its floor."""
    cells = tables / tables.sum(axis=(-2, -1), keepdims=True)
    rows, columns = (np.maximum(cells.sum(axis=axis), floor) for axis, floor in zip((-1, -2), floors, strict=True))
    return cells, rows / rows.sum(axis=-1, keepdims=True), columns / columns.sum(axis=-1, keepdims=True)


def _rank_correlation(table: PairTable, views: list[FloatArray]) -> Strength:
    counts, covariance, floors = _spread(table, views)

    def measure(tables: FloatArray) -> FloatArray:
        cells, rows, columns = _margins(tables, floors)
        scores = []
        for shares in (rows, columns):
            ranks = np.cumsum(shares, axis=-1) - shares / 2 - 0.5
            scores.append(ranks / np.sqrt((shares * ranks**2).sum(axis=-1, keepdims=True)))
        return np.asarray(np.einsum("nij,ni,nj->n", cells, *scores)[:, None])

    from scipy.special import ndtri

    value = float(np.clip(measure(counts[None])[0, 0], -1, 1))
    slope = _jacobian(measure, counts)
    reach = float(ndtri((1 + LEVEL) / 2) * np.sqrt(slope @ covariance @ slope.T)[0, 0])
    return Strength(value, max(value - reach, -1.0), min(value + reach, 1.0), "rank correlation")


def _cramer(table: PairTable, views: list[FloatArray]) -> Strength:
    """Return V. Levels counted together can only take away from it: they say how small it is at least."""
    fine, coarse = (_merge_rare(table, views, noise) for noise in (DROWNED, BLURRED))
    value, _, high = _noncentrality(*_spread(table, fine))
    _, low, _ = _noncentrality(*_spread(table, coarse))
    value, high = (min(float(np.sqrt(v / (min(map(len, fine)) - 1))), 1.0) for v in (value, high))
    low = min(float(np.sqrt(low / (min(map(len, views)) - 1))), 1.0)
    high = max(low, high)
    return Strength(min(max(value, low), high), low, high, "Cramer's V")


def _noncentrality(
    counts: FloatArray, covariance: FloatArray, floors: tuple[float, float]
) -> tuple[float, float, float]:
    """Return the squared distance of a table from independence, chi-squared a row, with its interval."""

    def measure(tables: FloatArray) -> FloatArray:
        cells, rows, columns = _margins(tables, floors)
        expected = rows[:, :, None] * columns[:, None, :]
        return np.asarray(((cells - expected) / np.sqrt(expected)).reshape(len(tables), -1))

    from scipy.special import chndtrinc

    seen, slope = measure(counts[None])[0], _jacobian(measure, counts)
    spread = slope @ covariance @ slope.T
    total, squares = float(np.trace(spread)), float((spread**2).sum())
    square = max(float(seen @ seen) - total, 0.0)
    if total <= 0:  # nothing could have come out otherwise
        return square, square, square
    along = max(float(seen @ spread @ seen) - squares, 0.0)
    scale = (squares + 2 * along) / (total + 2 * square)
    at, freedom = (square + total) / scale, total / scale
    low, high = (float(chndtrinc(at, freedom, p)) * scale for p in ((1 + LEVEL) / 2, (1 - LEVEL) / 2))
    return square, low if low > SMALLEST else 0.0, high


def _jacobian(function: Callable[[FloatArray], FloatArray], counts: FloatArray) -> FloatArray:
    """Return the derivatives of a function of tables by their cells, one column a cell."""
    steps = np.eye(counts.size).reshape(-1, *counts.shape) * STEP * counts.sum()
    return np.asarray((function(counts + steps) - function(counts - steps)).T / (2 * STEP * counts.sum()))
