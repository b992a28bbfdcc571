"""NOT PRIVATE: what sieve-and-examine costs and how often it errs (Wang, Pang, Song 2020, Theorems 1 and 2).

Distances and noise are in units of the sensitivity. The sieve lets a score pass that lies a distance d above its
threshold if X - Y >= -d, with Laplace noise X of the question, scale a, and Y of the threshold, scale b; the
examination adds noise Z of scale c = 2/epsilon.

Theorem 2 in its two parts, for a score that lies alpha beyond the threshold T, on the sample as on all rows:

- *The sieve.* X - Y is at least s >= 0 only if X >= 2s/3 or -Y >= s/3. With a = 4/epsilon' and b = 2/epsilon' each has
  the probability p = exp(-epsilon' s/6)/2, and the two are independent: 2p - p^2 at most. This is the printed factor,
  with s = alpha + t where independent columns are filtered out (type I), s = alpha - t where others pass (type II).
- *The examination.* Z exceeds alpha with probability exp(-epsilon alpha/2)/2, exactly. The printed type II bound has
  exp(-2 epsilon alpha) in its place, which is smaller from alpha = log(2)/(1.5 epsilon) on, and false. The printed
  type I bound leaves the examination out, which may fail too: it holds for the sieve alone.

So what is proved of both together is e (2p - p^2) for type II, and 1 - (1 - e)(1 - (2p - p^2)) for type I, with
e = exp(-epsilon alpha/2)/2. All bound the chance that a question is asked and answered wrongly, however many stand
before it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.baselines.published.priv_pc import epsilon_of_sample


@dataclass(frozen=True)
class Round:
    """One sieve-and-examine.

    Parameters
    ----------
    epsilon
        What it is said to cost.
    share
        Share of the rows in the sample.
    tweak
        How much lower the sieve's threshold lies.
    printed
        Whether the threshold's noise is as line 4 of Algorithm 1 prints it, 2/epsilon; if not 2/epsilon', as in
        Algorithm 2 and as Theorem 1 needs it.
    """

    epsilon: float
    share: float = 1.0
    tweak: float = 0.0
    printed: bool = False

    @property
    def spent(self) -> float:
        """Epsilon': what the sieve may spend on its sample."""
        return epsilon_of_sample(self.epsilon / 2, self.share)

    @property
    def noise(self) -> tuple[float, float]:
        """Scales of the noise of questions and of the threshold."""
        return 4 / self.spent, 2 / (self.epsilon if self.printed else self.spent)

    def sieve_cost(self, passes: int = 1) -> float:
        """Return what a sieve costs that keeps threshold and sample for so many passes: 1/b, and 2/a a pass.

        A share of that is, in the end, what all rows pay; attained where the replaced row matters only if it is drawn.
        """
        question, threshold = self.noise
        return math.log1p(self.share * math.expm1(2 * passes / question + 1 / threshold))

    def printed_bounds(self, alpha: float) -> tuple[float, float]:
        """Return Theorem 2's bounds of type I and type II errors as printed."""
        first, second = (self._sieve_bound(alpha + sign * self.tweak) for sign in (1, -1))
        return first, math.exp(-2 * self.epsilon * alpha) * second

    def bounds(self, alpha: float) -> tuple[float, float]:
        """Return bounds of type I and type II errors that hold."""
        first, second = (self._sieve_bound(alpha + sign * self.tweak) for sign in (1, -1))
        return self._with_examination(alpha, first, second)

    def errors(self, alpha: float) -> tuple[float, float]:
        """Return the probabilities of type I and type II errors of a question that is asked first."""
        first, second = (difference_tail(alpha + sign * self.tweak, *self.noise) for sign in (1, -1))
        return self._with_examination(alpha, first, second)

    def _with_examination(self, alpha: float, first: float, second: float) -> tuple[float, float]:
        """Return both errors of the whole from those of the sieve."""
        failed = math.exp(-self.epsilon * alpha / 2) / 2
        return 1 - (1 - failed) * (1 - first), failed * second

    def _sieve_bound(self, distance: float) -> float:
        """Return a bound on noise turning the sieve over so far, for a distance of 0 or more."""
        each = math.exp(-self.spent * distance / 6) / 2
        return 2 * each - each**2


def difference_tail(distance: float, a: float, b: float) -> float:
    """Return P(X - Y >= distance) for Laplace noise of two different scales."""
    tail = (a**2 * math.exp(-abs(distance) / a) - b**2 * math.exp(-abs(distance) / b)) / (2 * (a**2 - b**2))
    return tail if distance >= 0 else 1 - tail
