"""NOT PRIVATE: the oracle of SVT-PC as published (Wang, Pang, Song 2020): Kendall's test and a noisy threshold."""

from __future__ import annotations

import numpy as np

from discreet.baselines.exact import ExactCounts
from discreet.baselines.published.kendall import strata_of
from discreet.baselines.published.reading import Reading
from discreet.sealed import Sealed
from discreet.search.oracle import Verdict
from discreet.statistics import Table


class Threshold(Sealed):
    """NOT PRIVATE: compares noisy scores with a noisy threshold; a pass removes an edge and counts as a round.

    With S for what one row is said to move, the first threshold has Laplace noise of scale 2 S/epsilon; questions have
    4 S/epsilon by the text, 8 S/epsilon by the code. After a pass the threshold is drawn again, by the code with
    Gaussian noise whose deviation is that scale.

    Parameters
    ----------
    counts
        Exact counts.
    alpha
        Independent from this p-value on.
    epsilon
        What a round is said to cost; infinite for no noise.
    reading
        By the text or by the code.
    rng
        Where noise comes from.
    """

    free = False
    max_order = None

    def __init__(
        self, counts: ExactCounts, alpha: float, epsilon: float, reading: Reading, rng: np.random.Generator
    ) -> None:
        self._counts = counts
        self._rng = rng
        self._reading = reading
        self._aim = reading.threshold(alpha)
        self._scale = 2 * reading.sensitivity(counts.rows) / epsilon
        self._bar = self._aim + rng.laplace(0, self._scale)
        self.tests = 0
        self.rounds = 0

    def answers(self, x: str, y: str, given: frozenset[str]) -> bool:
        """Whether the table it takes is small enough to be counted."""
        return self._counts.countable((x, y, *given))

    def ask(self, x: str, y: str, given: frozenset[str]) -> Verdict:
        """Say whether a noisy score reaches the threshold; what is not a number never does."""
        self.tests += 1
        noise = self._reading.question_noise * self._scale
        passed = self._noisy(self._counts, noise, x, y, given) >= self._bar
        if passed:
            self.rounds += 1
            draw = self._rng.normal if self._reading.gaussian else self._rng.laplace
            self._bar = self._aim + draw(0, self._scale)
        return Verdict(passed, -1.0 if passed else 1.0)

    def _noisy(self, source: ExactCounts | Table, scale: float, x: str, y: str, given: frozenset[str]) -> float:
        return self._reading.score(strata_of(source, x, y, given)) + float(self._rng.laplace(0, scale))
