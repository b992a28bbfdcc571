"""Answers about numeric columns in bins: dependence is smooth there, and bins are coarser than what they stand for.

How it works: ``smooth.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import prod

import numpy as np

from discreet.arrays import FloatArray
from discreet.release.oracles.components import Components, contrasts
from discreet.release.oracles.released import Batch, Released
from discreet.search.oracle import EMPTY, Question

DECAY = 0.3
"""How much less a dependence is expected of a curve with one more turn, in variance."""

TURNS = 4
"""Turns, of both columns together, beyond which no dependence is looked for."""

INNER, OUTER = 1 / 12, 0.1
"""Spread of a column within a bin, in squares of the step to the next bin: even in the middle, wider at the ends."""

UNSURE = 0.6
"""How far the correction for coarse bins may be off, in parts of itself."""

UNEXPLAINED = 3.0
"""How much of what bins explain they may miss beyond that, times the square of their number."""


class Smooth(Released):
    """An oracle from released components of columns some of which are numbers in bins.

    Parameters
    ----------
    parts
        What was released.
    bins
        The number of bins of each numeric column; further levels (missing, other) come after them. Columns that are
        not named are categories.
    alpha, rng
        As for ``Released``.
    """

    def __init__(self, parts: Components, *, bins: Mapping[str, int], alpha: float, rng: np.random.Generator) -> None:
        super().__init__(parts, alpha=alpha, rng=rng)
        self._bins = dict(bins)

    def looks_inside(self, z: str) -> bool:
        """Whether single strata of a column are looked at: within a bin of numbers there may be a trend."""
        return z not in self._bins and super().looks_inside(z)

    def residuals(self, group: Sequence[Question]) -> Batch:
        """Return what the strata leave over of each pair's table, corrected for bins that are too coarse."""
        batch = super().residuals(group)
        if not self._bins.keys() & {z for q in group for z in q[2]}:
            return self._smooth(batch, group)
        sx, sy, strata, _, _ = self._stack_inputs(group)
        steps = [self._steps(sorted(q[2])) for q in group]
        left = np.zeros_like(batch.values)
        for along in zip(*steps, strict=True):
            gx, gy = (side.shares @ np.stack(along).mT for side in (sx, sy))
            left += ((gx * strata.size[:, None, :]) @ gy.mT).reshape(left.shape)
        whole = super().residuals([(x, y, EMPTY) for x, y, _ in group]).values
        spread = np.einsum("nii->n", batch.sampled)
        fewest = np.array([min((self._bins[z] for z in q[2] if z in self._bins), default=np.inf) for q in group])
        missed = (UNEXPLAINED / fewest**2) ** 2
        doubt = UNSURE**2 * (left**2).sum(axis=1) + missed * ((whole - batch.values) ** 2).sum(axis=1)
        doubt = doubt / np.where(spread > 0, spread, 1.0)
        blurred = batch.blurred + doubt[:, None, None] * batch.sampled
        return self._smooth(replace(batch, values=batch.values - left, blurred=blurred), group)

    def kind(self, q: Question) -> tuple[int, ...]:
        """Return how many levels of each side are bins."""
        return tuple(self._bins.get(c, 0) for c in q[:2])

    def directions(self, q: Question) -> FloatArray:
        """Return the smooth directions of a pair's table, in contrasts."""
        return self._waves(q)[0]

    def _waves(self, q: Question, strata: int = 1) -> tuple[FloatArray, FloatArray]:
        x, y = ((self.parts.sizes[c], self._bins.get(c, 0)) for c in q[:2])
        return waves(x, y, strata)

    def _apart_batch(self, group: Sequence[Question]) -> Batch:
        levels = self.parts.sizes[next(iter(group[0][2]))]
        return self._smooth(super()._apart_batch(group), group, levels)

    def _smooth(self, batch: Batch, group: Sequence[Question], strata: int = 1) -> Batch:
        """Look along smooth directions alone, and expect less of those with more turns."""
        basis, expected = self._waves(group[0], strata)
        sampled, blurred, prior = (basis.T @ part @ basis for part in (batch.sampled, batch.blurred, batch.prior))
        return Batch(batch.values @ basis, sampled, blurred, prior * np.outer(expected, expected))

    def _steps(self, given: Sequence[str]) -> list[FloatArray]:
        """Return, for each column that is given, the map from shares in strata to slopes along it."""
        sizes = [self.parts.sizes[z] for z in given]
        maps = []
        for axis, z in enumerate(given):
            before, after = (np.eye(prod(part)) for part in (sizes[:axis], sizes[axis + 1 :]))
            maps.append(np.kron(np.kron(before, slopes(sizes[axis], self._bins.get(z, 0))), after))
        return maps


@cache
def slopes(levels: int, bins: int) -> FloatArray:
    """Return the map from a value in every level to how much it varies within it: none where there are no bins."""
    change = np.zeros((levels, levels))
    if bins < 2:
        return change
    for b in range(bins):
        low, high = max(b - 1, 0), min(b + 1, bins - 1)
        scale = np.sqrt(INNER if high - low == 2 else OUTER) / (high - low)
        change[b, high] += scale
        change[b, low] -= scale
    change.flags.writeable = False
    return change


@cache
def waves(x: tuple[int, int], y: tuple[int, int], strata: int) -> tuple[FloatArray, FloatArray]:
    """Return the directions of a table of two columns that are looked along, in contrasts, and what each may expect.

    A column is its number of levels and how many of them are bins.
    """
    (bx, tx), (by, ty) = _turning(*x), _turning(*y)
    turns = tx[:, None] + ty[None, :]
    kept = turns.ravel() <= TURNS
    basis, expected = np.kron(bx, by)[:, kept], DECAY ** (turns.ravel()[kept] / 2)
    return np.kron(basis, np.eye(strata)), np.repeat(expected, strata)


def _turning(levels: int, bins: int) -> tuple[FloatArray, FloatArray]:
    """Return directions of a column in contrasts, and how often each turns: cosines of the bins, then the rest."""
    if bins < 2:
        return np.eye(levels - 1), np.zeros(levels - 1)
    counts = np.arange(1, bins)
    cosines = np.zeros((levels, bins - 1))
    cosines[:bins] = np.sqrt(2 / bins) * np.cos(np.pi * np.outer(np.arange(bins) + 0.5, counts) / bins)
    smooth = contrasts(levels).T @ cosines
    others = np.linalg.svd(smooth)[0][:, bins - 1 :]
    return np.hstack([smooth, others]), np.concatenate([counts - 1.0, np.zeros(levels - bins)])
