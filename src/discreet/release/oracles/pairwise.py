"""An oracle from released dependences of pairs: free questions about pairs, and about a third column in between."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy.special import ndtr, ndtri

from discreet.arrays import FloatArray
from discreet.errors import SettingError
from discreet.search.graph import Pair
from discreet.search.oracle import Verdict

LARGEST_ALPHA = 0.2
"""Up to this level the half-normal law bounds all others that chance may have."""

SLACK = 0.5
"""A third column explains a pair only if that one is weaker by so many standard deviations of the noise."""

_NODES = 200
_HALF_NORMAL: FloatArray = ndtri(0.5 + (np.arange(_NODES) + 0.5) / (2 * _NODES))

Law = Literal["gaussian", "laplace"]


@dataclass(frozen=True)
class NoiseLaw:
    """Noise of a released number: its law and its standard deviation."""

    law: Law
    deviation: float

    def beyond(self, at: FloatArray) -> FloatArray:
        """Return the probability that noise is larger."""
        if not self.deviation:
            found: FloatArray = (at < 0).astype(np.float64)
            return found
        if self.law == "gaussian":
            tail: FloatArray = ndtr(-at / self.deviation)
            return tail
        far = 0.5 * np.exp(-np.abs(at) * math.sqrt(2) / self.deviation)
        return np.where(at >= 0, far, 1 - far)


def thresholds(spreads: FloatArray, noise: NoiseLaw, alpha: float) -> FloatArray:
    """Return what noise and chance, half-normal with each of some spreads, together exceed with probability alpha."""
    if not 0 < alpha <= LARGEST_ALPHA:
        raise SettingError(f"alpha: above 0, and at most {LARGEST_ALPHA:g}")
    chance = np.multiply.outer(spreads, _HALF_NORMAL)
    high = 5 * (spreads + noise.deviation) * (1 - math.log(alpha)) + 1e-300
    low = np.zeros_like(high)
    for _ in range(40):
        middle = (low + high) / 2
        over = noise.beyond(middle[:, None] - chance).mean(axis=1) > alpha
        low, high = np.where(over, middle, low), np.where(over, high, middle)
    return high


@dataclass(frozen=True)
class PairwiseReleased:
    """Answers from released dependences: at order 0 by a level, at order 1 by the weakest of three.

    Order 0: a pair is independent if its dependence is no more than noise and chance make at the level. Order 1: a
    third column explains a pair if the pair clearly depends less than either of its columns does on the third. That is
    a rule of thumb and no test: what is passed on along a path gets weaker, so the weakest pair of a triangle is taken
    for the one that is passed on.

    Parameters
    ----------
    dependence
        Released dependences by pair.
    spread
        What chance gives a pair at most, as the spread of a half-normal law.
    noise
        Noise of the dependences.
    alpha
        Level.
    """

    dependence: Mapping[Pair, float]
    spread: Mapping[Pair, float]
    noise: NoiseLaw
    alpha: float = 0.05
    _bars: dict[Pair, float] = field(init=False, repr=False, compare=False)

    free = False
    max_order = 1

    def __post_init__(self) -> None:
        found = thresholds(np.array([self.spread[pair] for pair in self.dependence]), self.noise, self.alpha)
        object.__setattr__(self, "_bars", dict(zip(self.dependence, found.tolist(), strict=True)))

    def answers(self, x: str, y: str, given: frozenset[str]) -> bool:
        """Whether all pairs that it takes were released."""
        pairs = [frozenset((x, y)), *(frozenset((side, z)) for side in (x, y) for z in given)]
        return len(given) <= 1 and all(pair in self.dependence for pair in pairs)

    def ask(self, x: str, y: str, given: frozenset[str]) -> Verdict:
        """Say whether two columns look independent, or a third one explains their dependence."""
        if not given:
            return self._verdict(self.clear(x, y))
        (z,) = given
        if min(self.clear(x, z), self.clear(y, z)) <= 0:
            return self._verdict(self.clear(x, y))
        own = self.dependence[frozenset((x, y))]
        others = min(self.dependence[frozenset((side, z))] for side in (x, y))
        return self._verdict(own - others + SLACK * self.noise.deviation)

    def clear(self, x: str, y: str) -> float:
        """Return how far a pair's dependence lies above what noise and chance make."""
        pair = frozenset((x, y))
        return self.dependence[pair] - self._bars[pair]

    def _verdict(self, clear: float) -> Verdict:
        return Verdict(clear <= 0, clear)
