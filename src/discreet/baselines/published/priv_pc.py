"""NOT PRIVATE: the oracle of Priv-PC as published (Wang, Pang, Song 2020): sieves on a sample, examines on all rows."""

from __future__ import annotations

import math

import numpy as np

from discreet.baselines.exact import ExactCounts
from discreet.baselines.published.reading import TWEAK, Reading
from discreet.baselines.published.svt_pc import Threshold
from discreet.data import Recodable
from discreet.search.oracle import Verdict

LEAST_SHARE = 1 / 20
"""Smallest share of the rows that is sampled by default."""

SHARE_FACTOR = 3.9216
"""e^epsilon - 1 over this is the share at which the sieve's noise is least."""


class Sieve(Threshold):
    """NOT PRIVATE: sieves scores of a sample; what passes is examined on all rows, and only that removes an edge.

    Half of epsilon is for each. Every pass of the sieve counts as a round. By the code it brings a fresh threshold and
    a fresh sample whatever the examination says; by the text only if that succeeds.

    Parameters
    ----------
    counts, alpha, epsilon, reading, rng
        See ``Threshold``.
    table
        The same rows, to draw samples from.
    sample
        Share of the rows in a sample; by default the one at which the noise of the sieve is least.
    """

    def __init__(
        self,
        counts: ExactCounts,
        table: Recodable,
        alpha: float,
        epsilon: float,
        reading: Reading,
        sample: float | None,
        rng: np.random.Generator,
    ) -> None:
        super().__init__(counts, alpha, epsilon, reading, rng)
        half = epsilon / 2
        share = default_share(half) if sample is None else sample
        moved = reading.sensitivity(counts.rows)
        self._whole = table
        self._drawn = max(1, int(share * counts.rows))
        self._scale = 2 * moved / math.sqrt(share) / epsilon_of_sample(half, share)
        self._examined = moved / half
        self._sieved = reading.threshold(alpha - TWEAK)
        self._renew()

    def ask(self, x: str, y: str, given: frozenset[str]) -> Verdict:
        """Say whether a question passes the sieve and the examination."""
        self.tests += 1
        passed = self._noisy(self._sample, 2 * self._scale, x, y, given) >= self._bar
        independent = False
        if passed:
            self.rounds += 1
            self.tests += 1
            independent = self._noisy(self._counts, self._examined, x, y, given) >= self._aim
            if independent or self._reading.refreshes:
                self._renew()
        return Verdict(independent, -1.0 if independent else 1.0)

    def _renew(self) -> None:
        """Draw a threshold and a sample."""
        self._bar = self._sieved + self._rng.laplace(0, self._scale)
        self._sample: ExactCounts | Recodable = self._counts
        if self._drawn < self._counts.rows:
            chosen = self._rng.choice(self._counts.rows, self._drawn, replace=False, shuffle=False)
            self._sample = self._whole.take(chosen)


def default_share(epsilon: float) -> float:
    """Return the share of the rows at which the sieve's noise is least, a twentieth at least."""
    return min(1.0, max(LEAST_SHARE, math.expm1(min(epsilon, 2.0)) / SHARE_FACTOR))


def epsilon_of_sample(epsilon: float, share: float) -> float:
    """Return log(1 + (e^epsilon - 1)/share): what may be spent on a sample so that all rows pay epsilon."""
    return epsilon + math.log1p((share - 1) * math.exp(-epsilon)) - math.log(share)
