"""NOT PRIVATE: exact scores of both directions on the residuals of one half, and how far one row can move them.

Kusner, Sun, Sridharan, Weinberger 2016 (*Private causal inference*): their scores, and two that were not theirs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from discreet.arrays import FloatArray, IntArray
from discreet.errors import SettingError
from discreet.published.iqr import Spread, spread
from discreet.statistics.hsic import hsic_v
from discreet.statistics.numeric import concordance_sum, rank_product_sum
from discreet.statistics.ridge import ridge_fit, stability

Source = Literal["paper", "proved"]

RANKS = ("spearman", "kendall")
SCORES = (*RANKS, "hsic", "root-hsic", "reci", "iqr")
PRINTED = (*RANKS, "hsic", "iqr")
"""Scores of the paper."""


@dataclass(frozen=True)
class Residuals:
    """NOT PRIVATE: the test half on a scale from -1 to 1, what each column exceeds its fit by, and the training rows.

    Fits are of the training half alone.
    """

    x: FloatArray
    y: FloatArray
    of_x: FloatArray
    of_y: FloatArray
    train: int

    @property
    def rows(self) -> int:
        """Rows of the test half."""
        return len(self.x)

    def scores(self, name: str, width: float) -> tuple[float, float]:
        """Return the scores of x causing y and of y causing x: the lower one tells."""
        if name == "iqr":
            x, y, of_x, of_y = (found.log for found in self.spreads(printed=True))
            return x + of_y, y + of_x
        return score(name, self.x, self.of_y, width), score(name, self.y, self.of_x, width)

    def spreads(self, *, printed: bool) -> tuple[Spread, Spread, Spread, Spread]:
        """Return the spreads of x, y and what each exceeds its fit by."""
        x, y, of_x, of_y = (spread(values, printed=printed) for values in (self.x, self.y, self.of_x, self.of_y))
        return x, y, of_x, of_y

    def gap(self) -> float:
        """Return the least difference between two residuals of one column."""
        return min(float(np.diff(np.sort(left)).min()) for left in (self.of_x, self.of_y))


def fitted(x: FloatArray, y: FloatArray, width: float, ridge: float, rng: np.random.Generator) -> Residuals:
    """NOT PRIVATE: halve the rows at random, fit both columns over each other on one half, and look at the other."""
    places = rng.permutation(len(x))
    train, test = places[: len(x) // 2], places[len(x) // 2 :]
    of_y = y[test] - ridge_fit(x[train], y[train], width, ridge).predict(x[test])
    of_x = x[test] - ridge_fit(y[train], x[train], width, ridge).predict(y[test])
    return Residuals(x[test], y[test], of_x, of_y, len(train))


def score(name: str, by: FloatArray, left: FloatArray, width: float) -> float:
    """NOT PRIVATE: return how much residuals depend on the other column, or how large they are."""
    n = len(by)
    if name == "spearman":
        return abs(3 * rank_product_sum(_places(by), _places(left))) / (n * (n - 1) * (n + 1))
    if name == "kendall":
        return abs(2 * concordance_sum(_places(by), _places(left))) / (n * (n - 1))
    if name == "hsic":
        return hsic_v(by, left, width, width) * (n / (n - 1)) ** 2
    if name == "root-hsic":
        return math.sqrt(hsic_v(by, left, width, width))
    if name == "reci":
        return float(np.square(np.minimum(np.abs(left), 1.0)).mean())
    raise SettingError(f"score: one of {', '.join(SCORES)}")


def change_by_test_row(name: str, rows: int, source: Source) -> float:
    """Return how far substituting one of so many test rows can move a score, as the paper says or as is proved.

    The paper's are valid but too large, except Kendall's. Proofs are with the statistics of directions.
    """
    if source == "paper":
        _check_printed(name)
        return {"spearman": 30 / rows, "kendall": 4 / rows, "hsic": (12 * rows - 11) / (rows - 1) ** 2}[name]
    return {
        "spearman": 6 / (rows + 1),
        "kendall": 4 / rows,
        "hsic": math.sqrt(6) / (rows - 1),
        "root-hsic": math.sqrt(6) * (rows - 1) / rows**2,
        "reci": 1 / rows,
    }[name]


def moved(train: int, ridge: float, source: Source) -> float:
    """Return how far substituting one of so many training rows can move a residual.

    The paper's 8/(n ridge^1.5) is true for a ridge up to 1, though not by its proof, and false above 4.
    """
    return 8 / (train * ridge**1.5) if source == "paper" else stability(train, ridge)


def change_by_training_row(name: str, rows: int, by: float, width: float, source: Source) -> float:
    """Return how far a score moves if all residuals of the test half move by at most so much.

    Proof
    -----
    Kernels of residuals at most ``by`` away have entries that change by 2 by/(width sqrt(e)) at most, and none on the
    diagonal; with |HKH| <= m/2 that makes HSIC (m/(m-1))^1.5 by/(width sqrt(e)). Features move by by/width, and centred
    ones of the other column have a mean norm of 1 at most: so does the root. Squares up to 1 have slope 2 at most. The
    paper's bound is printed with a defect; this is its smaller reading.
    """
    slope = by / (width * math.sqrt(math.e))
    if source == "paper":
        _check_printed(name)
        return 32 * slope
    factor: float = (rows / (rows - 1)) ** 1.5
    return {"hsic": factor * slope, "root-hsic": by / width, "reci": min(2 * by, 1.0)}[name]


def steps_to_instability(gap: float, train: int, ridge: float, source: Source) -> int:
    """Return so many training rows that can be substituted without moving any rank of a residual, or fewer.

    One row moves a gap by twice what it moves a residual by, so it moves this number by one at most.
    """
    shares = gap / (2 * moved(train, ridge, source))
    return max(math.floor(shares) if source == "paper" else math.ceil(shares) - 1, 0)


def _check_printed(name: str) -> None:
    if name not in PRINTED:
        raise SettingError(f"sensitivities: the paper has none for {name}; ask for the proved ones")


def _places(values: FloatArray) -> IntArray:
    """Return whole numbers in the same order, with the same ties."""
    return np.unique(values, return_inverse=True)[1].astype(np.int64)
