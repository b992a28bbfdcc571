"""Answers about numeric columns in bins: dependence is smooth there, and bins are coarser than what they stand for.

How it works: ``curved.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import prod

import numpy as np

from discreet.arrays import FloatArray
from discreet.oracles import Question
from discreet.oracles.components import Components, contrasts
from discreet.oracles.released import Released
from discreet.oracles.spectrum import Batch
from discreet.oracles.within import Within

DECAY = 0.4
"""How much less a dependence is expected of a curve with one more turn, in variance."""

INNER, OUTER = 1 / 12, 0.1
"""Spread of a column within a bin, in squares of the step to the next bin: even in the middle, wider at the ends."""

DOUBTED = 0.4
"""How far the correction for coarse bins may be off, in parts of itself."""


class Curved(Released):
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
        batch = self._smooth(super().residuals(group), group, 1)
        given = sorted(group[0][2])
        if not self._bins.keys() & {z for q in group for z in q[2]}:
            return batch
        sx, sy, strata, _, _ = self._inputs(group)
        steps = [self._steps(sorted(q[2])) for q in group]
        left = np.zeros_like(batch.values)
        for axis in range(len(given)):
            within = np.stack([s[axis] for s in steps])
            gx, gy = (_along(side, within) for side in (sx, sy))
            left += ((gx * strata.size[:, None, :]) @ gy.mT).reshape(left.shape)
        spread = np.einsum("nii->n", batch.sampled)
        doubt = DOUBTED**2 * (left**2).sum(axis=1) / np.where(spread > 0, spread, 1.0)
        return replace(batch, values=batch.values - left, blurred=batch.blurred + doubt[:, None, None] * batch.sampled)

    def _apart_batch(self, group: Sequence[Question]) -> Batch:
        levels = self.parts.sizes[next(iter(group[0][2]))]
        return self._smooth(super()._apart_batch(group), group, levels)

    def _smooth(self, batch: Batch, group: Sequence[Question], strata: int) -> Batch:
        """Expect less of directions with many turns."""
        roots = []
        for x, y, _ in group:
            ex, ey = (_expected(self.parts.sizes[c], self._bins.get(c, 0)) for c in (x, y))
            roots.append(np.kron(np.kron(ex, ey), np.eye(strata)))
        root = np.stack(roots)
        return replace(batch, prior=root @ batch.prior @ root)

    def _steps(self, given: Sequence[str]) -> list[FloatArray]:
        """Return, for each column that is given, the map from shares in strata to slopes along it."""
        sizes = [self.parts.sizes[z] for z in given]
        maps = []
        for axis, z in enumerate(given):
            before, after = (np.eye(prod(part)) for part in (sizes[:axis], sizes[axis + 1 :]))
            maps.append(np.kron(np.kron(before, slopes(sizes[axis], self._bins.get(z, 0))), after))
        return maps


def _along(side: Within, steps: FloatArray) -> FloatArray:
    return np.asarray(side.shares @ steps.mT)


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
def _expected(levels: int, bins: int) -> FloatArray:
    """Return the root of how much dependence is expected in each direction of a column, in contrasts."""
    if bins < 2:
        return np.eye(levels - 1)
    turns = np.arange(1, bins)
    waves = np.zeros((levels, bins - 1))
    waves[:bins] = np.sqrt(2 / bins) * np.cos(np.pi * np.outer(np.arange(bins) + 0.5, turns) / bins)
    rotated = contrasts(levels).T @ waves
    rest = np.eye(levels - 1) - rotated @ rotated.T
    return np.asarray((rotated * DECAY ** ((turns - 1) / 2)) @ rotated.T + rest)
