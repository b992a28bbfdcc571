"""NOT PRIVATE: the spread between quartiles by proposing, testing and releasing, as printed and repaired.

Algorithm 1 in the appendix of Kusner, Sun, Sridharan, Weinberger 2016. As printed it does not keep its promise: a bin
need not hold the spread it is tested for, though the text says that both do, and its threshold is right for an epsilon
of 1 only. Repaired, an answer is (2 epsilon, delta)-differentially private in exact arithmetic, but noise here comes
from a seed: for experiments.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.arrays import FloatArray
from discreet.errors import SettingError

LEAST_VALUES = 4
"""Fewer values have no quartiles."""


@dataclass(frozen=True)
class Spread:
    """NOT PRIVATE: a spread, and how far it is from leaving its bins.

    Parameters
    ----------
    log
        The spread's natural logarithm, minus infinity for 0.
    steps
        For each of two bins: the fewest rows to substitute for the spread to be outside, or fewer.
    printed
        Whether it is tested as printed, each bin on its own; if not, the further one of both.
    """

    log: float
    steps: tuple[int, int]
    printed: bool

    def answer_probability(self, epsilon: float, delta: float) -> float:
        """Return the probability of an answer, exactly. As printed, the logarithm of 0 is none."""
        if not self.printed:
            return laplace_tail(threshold(epsilon, delta, printed=False) - max(self.steps), epsilon)
        if math.isinf(self.log):
            return 0.0
        first, second = (laplace_tail(threshold(epsilon, delta, printed=True) - steps, epsilon) for steps in self.steps)
        return first + second - first * second

    def release(self, epsilon: float, delta: float, rng: np.random.Generator) -> float | None:
        """Return the logarithm with Laplace noise of scale 1/epsilon, or None if the test fails."""
        if rng.random() >= self.answer_probability(epsilon, delta):
            return None
        return self.log + float(rng.laplace(0, 1 / epsilon))


def spread(values: FloatArray, *, printed: bool, by: float = 0.0, replaced: bool = True) -> Spread:
    """NOT PRIVATE: return the spread between order statistics m/4 and 3m/4, and how far it is from leaving its bins.

    Bins of its logarithm have length 1. The first begins at a whole number, the second half-way between: as printed
    that is half a bin below the first, and may not hold the spread at all. Repaired, it is the one that does, and 0 is
    a bin of its own. ``by`` and ``replaced`` say what one row does: see ``steps_away``.
    """
    if len(values) < LEAST_VALUES:
        raise SettingError(f"a spread takes at least {LEAST_VALUES} values")
    ordered = np.sort(values)
    first, third = _places(len(ordered))
    width = float(ordered[third] - ordered[first])
    if width <= 0:
        steps = 0 if printed else 1 if by else steps_from_zero(ordered)
        return Spread(-math.inf, (steps, steps), printed)
    log = math.log(width)
    low = math.floor(log)
    other = low - 0.5 if printed else math.floor(log + 0.5) - 0.5
    steps, also = (
        steps_away(ordered, math.exp(begin), math.exp(begin + 1), by, replaced=replaced) for begin in (low, other)
    )
    return Spread(log, (steps, also) if printed else (max(steps, 1), max(also, 1)), printed)


def threshold(epsilon: float, delta: float, *, printed: bool) -> float:
    """Return what a noisy number of steps must exceed."""
    return 1 + math.log(1 / delta) / (1 if printed else epsilon)


def steps_out(ordered: FloatArray, low: float, high: float) -> int:
    """Return the fewest of some sorted values to replace for their spread to be below ``low``, or ``high`` or more.

    Replacing a values within by values above, and b by values below, takes the upper quartile a places up and the
    lower one b places down; beyond the ends it is as far as one likes. Replacing a values above and b below by values
    within takes them a and b places towards each other.
    """
    first, third = _places(len(ordered))
    if not low <= ordered[third] - ordered[first] < high:
        return 0
    fewest = np.searchsorted(ordered, ordered[first : third + 1] - low, side="right") - first
    inwards = np.arange(third - first, -1, -1)
    narrower = inwards + np.clip(fewest, 0, third - first - inwards)
    return min(int(narrower.min()), _steps_wider(ordered, high, "right"))


def steps_away(ordered: FloatArray, low: float, high: float, by: float, *, replaced: bool = True) -> int:
    """Return the fewest rows to substitute for a spread to be outside, or fewer. One row never moves that by 2.

    A training row moves all values by at most ``by``, if that is above 0; a test row replaces one value, if
    ``replaced``. The paper has either: with ``by`` alone, quartiles that move apart or together by ``by`` a row.

    Proof for both
    --------------
    Let a(b) be the fewest values to replace for the spread to leave the bin cut by 2 b by at either end. b training
    rows move a spread by 2 b by at most, whatever was replaced, so leaving the bin takes the minimum J of b + a(b)
    rows at least. A test row moves each a(b) by 1 at most, and so J. After a training row, replacing a'(b) values
    leaves the bin cut b times, so before it the bin cut b + 1 times: a(b + 1) <= a'(b), and J <= J' + 1.
    """
    if by <= 0:
        return steps_out(ordered, low, high)
    first, third = _places(len(ordered))
    width = float(ordered[third] - ordered[first])
    if not low <= width < high:
        return 0
    fewest = min(math.floor((width - low) / (2 * by)) + 1, math.ceil((high - width) / (2 * by)))
    moved = 0
    while replaced and moved < fewest:
        fewest = min(fewest, moved + steps_out(ordered, low + 2 * moved * by, high - 2 * moved * by))
        moved += 1
    return fewest


def steps_from_zero(ordered: FloatArray) -> int:
    """Return the fewest of some sorted values to replace for their spread to be above 0."""
    return _steps_wider(ordered, 0.0, "left")


def _steps_wider(ordered: FloatArray, least: float, side: str) -> int:
    first, third = _places(len(ordered))
    tops = ordered[third:]
    low_enough = np.searchsorted(ordered[: first + 1], tops - least, side="left" if side == "left" else "right")
    steps = np.arange(len(tops)) + first + 1 - low_enough
    return min(int(steps.min()), len(tops))


def _places(many: int) -> tuple[int, int]:
    return many // 4, 3 * many // 4


def laplace_tail(beyond: float, epsilon: float) -> float:
    """Return the probability of Laplace noise of scale 1/epsilon above a number."""
    half = math.exp(-abs(beyond) * epsilon) / 2
    return half if beyond >= 0 else 1 - half
