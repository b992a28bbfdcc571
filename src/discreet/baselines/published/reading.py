"""NOT PRIVATE: SVT-PC and Priv-PC by the text of Wang, Pang, Song 2020, and by their published code.

Text is the paper without its appendices, with Algorithm 2 where that lists a step; code is what its authors published
with it. What is the same in both is no field here: Algorithm 2's noise, with its factor sqrt(n/m) for a sample of m of
n rows, and that every pass of the sieve is billed (section 3.1 bills what the examination takes back; the listing does
not say what is composed).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import ndtr, ndtri

from discreet.arrays import IntArray
from discreet.baselines.published.kendall import p_value, statistic

LEVEL = 0.1
"""Independent from this p-value on. Code; the text names a threshold T and gives no number."""

TWEAK = 0.02
"""So much lower the sieve's threshold lies, as a p-value. Code; the text names a tweak t and gives no number."""


@dataclass(frozen=True)
class Reading:
    """Where text and code differ, one value each.

    Parameters
    ----------
    p_values
        What is compared. Text (Algorithm 2, Theorem 3): Kendall's statistic, turned so that larger is more independent.
        Code: its p-value, and strata with a constant column are dropped.
    constant
        One row is said to move the statistic by so much over the root of the rows. Text (Theorem 3): 4.5, in the limit.
        Code: 6.
    alphabetical
        Order of levels. Text: says nothing, so as declared. Code: of their labels as text.
    largest_order
        Whether conditioning sets end at log2(rows) - 5 columns. Text: no end. Code: so.
    question_noise
        SVT-PC: noise of a question, over that of the threshold. Text: 2, as in the technique that it cites; it lists
        nothing of its own. Code: 4.
    gaussian
        SVT-PC: noise of thresholds after the first. Text: Laplace, as above. Code: Gaussian.
    refreshes
        Priv-PC: whether a failed examination brings a fresh threshold and a fresh sample. Text (Algorithm 2, lines 12
        to 15): no. Code: yes.
    halves
        Priv-PC: how the total is composed. Text (Algorithm 2, line 18): rounds as a whole. Code: sieves and
        examinations apart, with half of delta each.
    """

    p_values: bool
    constant: float
    alphabetical: bool
    largest_order: bool
    question_noise: float
    gaussian: bool
    refreshes: bool
    halves: bool

    def score(self, strata: IntArray) -> float:
        """Return what is compared with a threshold; the larger, the more independent."""
        return p_value(strata) if self.p_values else -statistic(strata)

    def threshold(self, level: float) -> float:
        """Return the score from which columns pass as independent, at a level; at a negative one, all do."""
        return level if self.p_values else float(ndtri(max(level, 0.0)))

    def sensitivity(self, rows: int) -> float:
        """Return how far one row is said to move a score."""
        moved = self.constant / math.sqrt(rows)
        return float(ndtr(moved)) - 0.5 if self.p_values else moved

    def order(self, rows: int, asked: int | None) -> int | None:
        """Return the size of the largest conditioning set, where one was asked for or not."""
        known = [asked] if asked is not None else []
        return min([*known, max(int(math.log2(rows)) - 5, 0)]) if self.largest_order else asked


READINGS: dict[str, Reading] = {
    "text": Reading(
        p_values=False,
        constant=4.5,
        alphabetical=False,
        largest_order=False,
        question_noise=2.0,
        gaussian=False,
        refreshes=False,
        halves=False,
    ),
    "code": Reading(
        p_values=True,
        constant=6.0,
        alphabetical=True,
        largest_order=True,
        question_noise=4.0,
        gaussian=True,
        refreshes=True,
        halves=True,
    ),
}
"""By the name that is asked for."""
