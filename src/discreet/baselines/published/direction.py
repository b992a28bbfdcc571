"""NOT PRIVATE as a whole: the direction of cause between two columns, with noise that protects one half of the rows.

Kusner, Sun, Sridharan, Weinberger 2016 (*Private causal inference*): rows are halved at random, curves are fitted on
the training half and judged on the test half. Noise for the test half leaves the training half without any protection,
and the other way round. What protects every row is ``discreet.direction``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from discreet.arrays import FloatArray, IntArray
from discreet.baselines.exact import load_unless_loaded
from discreet.baselines.published.iqr import Spread, spread
from discreet.data.memory import MemoryTable
from discreet.data.stream import StreamTable
from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.statistics.curves import UNIT, Scaled, between_bounds
from discreet.statistics.hsic import hsic_v
from discreet.statistics.ranks import concordance_sum, rank_product_sum
from discreet.statistics.ridge import ridge_fit, stability

Half = Literal["test half", "training half"]
Sensitivities = Literal["paper", "proved"]

HALVES: dict[Half, str] = {
    "test half": "the training half, on which curves are fitted, is not protected at all",
    "training half": "the test half, on which curves are judged, is not protected at all",
}
"""What is not protected, by what is."""

RANKS = ("spearman", "kendall")
SCORES = (*RANKS, "hsic", "root-hsic", "reci", "iqr")
PRINTED = (*RANKS, "hsic", "iqr")
"""Scores of the paper."""

BROKEN = "and the printed test of spreads does not keep its promise for the test half either"
LEAST_ROWS = 20

CLAIMED, SPENT = (9, 3), (8, 4)
"""Parts of epsilon and delta: what the paper counts for all spreads as printed, and what the repaired ones cost."""


@dataclass(frozen=True)
class HalfSettings:
    """NOT PRIVATE as a whole: settings; see ``half_direction``."""

    protects: Half
    score: str
    epsilon: float
    delta: float = 1e-6
    sensitivities: Sensitivities = "paper"
    draws: int = 2
    width: float = 0.5
    ridge: float = 1e-3

    def __post_init__(self) -> None:
        if self.protects not in HALVES:
            raise SettingError(f"protects: one of {', '.join(HALVES)}")
        if self.score not in SCORES:
            raise SettingError(f"score: one of {', '.join(SCORES)}")
        if self.score == "iqr" and self.protects == "training half":
            raise SettingError("score: spreads are tested for the test half only")
        if not 0 < self.epsilon < math.inf or not 0 < self.delta < 1:
            raise SettingError("epsilon, delta: a finite number above 0, and one between 0 and 1")
        if self.sensitivities not in ("paper", "proved"):
            raise SettingError("sensitivities: paper or proved")
        if self.draws not in (1, 2):
            raise SettingError("draws: 2 for noise on each score, 1 for noise on their difference")

    def scale(self, rows: int, train: int) -> float:
        """Return the scale of noise on a score or on the difference: both are twice one score's change."""
        if self.protects == "test half":
            return 2 * change_by_test_row(self.score, rows, self.sensitivities) / self.epsilon
        by = residual_change(train, self.ridge, self.sensitivities)
        return 2 * change_by_training_row(self.score, rows, by, self.width, self.sensitivities) / self.epsilon


@dataclass(frozen=True)
class HalfOutcome:
    """NOT PRIVATE as a whole: what was found.

    Parameters
    ----------
    cause
        The column that causes the other; None if no direction is told.
    scores
        Noisy scores of x and of y as the cause, the lower one tells; None where only their difference, or nothing but
        the direction, is released.
    margin
        Noisy difference of both scores: above 0 for x as the cause. None where nothing but the direction is released.
    protects
        Which half the noise is for.
    epsilon, delta
        What is promised to the rows of that half.
    abstained
        Whether a test failed, so that no direction is told.
    reason
        Why it is not private as a whole.
    """

    cause: str | None
    scores: tuple[float, float] | None
    margin: float | None
    protects: Half
    epsilon: float
    delta: float
    abstained: bool
    reason: str


def half_direction(
    data: object,
    x: str,
    y: str,
    domain: Domain,
    *,
    protects: Half,
    score: str,
    epsilon: float,
    delta: float = 1e-6,
    sensitivities: Sensitivities = "paper",
    draws: int = 2,
    width: float = 0.5,
    ridge: float = 1e-3,
    seed: int | None = None,
) -> HalfOutcome:
    """NOT PRIVATE as a whole: say which of two columns causes the other, protecting one half of the rows only.

    Use it on simulated or public tables only.

    Parameters
    ----------
    data
        A path, a table in memory, or what ``load`` returned.
    x, y
        The columns; both need an order.
    domain
        What is public about the table.
    protects
        ``"test half"``: noise on scores. ``"training half"``: noise on scores by the stability of the fit, or for
        ranks the exact direction if no few training rows could change it.
    score
        One of ``SCORES``.
    epsilon, delta
        The promise to that half. Delta counts for spreads, and for ranks and the training half.
    sensitivities
        What noise is made for: as the paper says, or as is proved, which is less.
    draws
        2 for noise on each score, as published; 1 for noise on their difference, which does better. Spreads have 4.
    width, ridge
        Of the Gaussian kernels on a scale from -1 to 1, and of the fits.
    seed
        Seed of halves and noise, which protect nobody from who knows it; None for fresh ones.
    """
    settings = HalfSettings(protects, score, epsilon, delta, sensitivities, draws, width, ridge)
    if not isinstance(data, MemoryTable | StreamTable):
        domain = between_bounds(domain)
    pair = Scaled.of(x, y, domain)
    if domain.rows < LEAST_ROWS:
        raise SettingError(f"rows: a direction by halves takes at least {LEAST_ROWS}")
    narrow = replace(domain, columns={name: domain[name] for name in (x, y)})
    values_x, values_y = (codes / UNIT for codes in pair.values(load_unless_loaded(data, narrow)))
    rng = np.random.default_rng(seed)
    return judge(fit_halves(values_x, values_y, width, ridge, rng), (x, y), settings, rng)


def judge(found: Residuals, names: tuple[str, str], settings: HalfSettings, rng: np.random.Generator) -> HalfOutcome:
    """NOT PRIVATE as a whole: judge residuals with noise for one half."""
    if settings.score == "iqr":
        return _judge_by_spreads(found, names, settings, rng)
    forward, backward = found.scores(settings.score, settings.width)
    if settings.protects == "training half" and settings.score in RANKS:
        steps = steps_to_instability(found.gap(), found.train, settings.ridge, settings.sensitivities)
        told = steps + rng.laplace(0, 1 / settings.epsilon) > math.log(1 / settings.delta) / settings.epsilon
        cause = _cause(names, backward - forward) if told else None
        return _outcome(settings, cause, None, None, delta=settings.delta, abstained=not told)
    scale = settings.scale(found.rows, found.train)
    if settings.draws == 1:
        margin = backward - forward + float(rng.laplace(0, scale))
        return _outcome(settings, _cause(names, margin), None, margin)
    scores = forward + float(rng.laplace(0, scale)), backward + float(rng.laplace(0, scale))
    return _outcome(settings, _cause(names, scores[1] - scores[0]), scores, scores[1] - scores[0])


def _judge_by_spreads(
    found: Residuals, names: tuple[str, str], settings: HalfSettings, rng: np.random.Generator
) -> HalfOutcome:
    """Release all four spreads, each with its part of epsilon and delta; no direction if one of them has no answer."""
    printed = settings.sensitivities == "paper"
    parts, deltas = CLAIMED if printed else SPENT
    answers = [
        spread.release(settings.epsilon / parts, settings.delta / deltas, rng)
        for spread in found.spreads(printed=printed)
    ]
    given = [answer for answer in answers if answer is not None]
    if len(given) < len(answers):
        return _outcome(settings, None, None, None, delta=settings.delta, abstained=True)
    x, y, of_x, of_y = given
    scores = x + of_y, y + of_x
    margin = scores[1] - scores[0]
    return _outcome(settings, _cause(names, margin), scores, margin, delta=settings.delta)


def _cause(names: tuple[str, str], margin: float) -> str | None:
    """Return the cause; None for a tie, and where widths of 0 stand against each other."""
    return names[0] if margin > 0 else names[1] if margin < 0 else None


def _outcome(
    settings: HalfSettings,
    cause: str | None,
    scores: tuple[float, float] | None,
    margin: float | None,
    *,
    delta: float = 0.0,
    abstained: bool = False,
) -> HalfOutcome:
    reason = HALVES[settings.protects]
    if settings.score == "iqr" and settings.sensitivities == "paper":
        reason = f"{reason}, {BROKEN}"
    return HalfOutcome(cause, scores, margin, settings.protects, settings.epsilon, delta, abstained, reason)


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
            x, y, of_x, of_y = (part.log for part in self.spreads(printed=True))
            return x + of_y, y + of_x
        return score(name, self.x, self.of_y, width), score(name, self.y, self.of_x, width)

    def spreads(self, *, printed: bool) -> tuple[Spread, Spread, Spread, Spread]:
        """Return the spreads of x, y and what each exceeds its fit by."""
        x, y, of_x, of_y = (spread(values, printed=printed) for values in (self.x, self.y, self.of_x, self.of_y))
        return x, y, of_x, of_y

    def gap(self) -> float:
        """Return the least difference between two residuals of one column."""
        return min(float(np.diff(np.sort(residuals)).min()) for residuals in (self.of_x, self.of_y))


def fit_halves(x: FloatArray, y: FloatArray, width: float, ridge: float, rng: np.random.Generator) -> Residuals:
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


def change_by_test_row(name: str, rows: int, source: Sensitivities) -> float:
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


def residual_change(train: int, ridge: float, source: Sensitivities) -> float:
    """Return how far substituting one of so many training rows can move a residual.

    The paper's 8/(n ridge^1.5) is true for a ridge up to 1, though not by its proof, and false above 4.
    """
    return 8 / (train * ridge**1.5) if source == "paper" else stability(train, ridge)


def change_by_training_row(name: str, rows: int, by: float, width: float, source: Sensitivities) -> float:
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


def steps_to_instability(gap: float, train: int, ridge: float, source: Sensitivities) -> int:
    """Return so many training rows that can be substituted without moving any rank of a residual, or fewer.

    One row moves a gap by twice what it moves a residual by, so it moves this number by one at most.
    """
    shares = gap / (2 * residual_change(train, ridge, source))
    return max(math.floor(shares) if source == "paper" else math.ceil(shares) - 1, 0)


def _check_printed(name: str) -> None:
    if name not in PRINTED:
        raise SettingError(f"sensitivities: the paper has none for {name}; ask for the proved ones")


def _places(values: FloatArray) -> IntArray:
    """Return whole numbers in the same order, with the same ties."""
    return np.unique(values, return_inverse=True)[1].astype(np.int64)
