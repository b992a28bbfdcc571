"""NOT PRIVATE as published: the direction of cause between two columns, with noise for one half of the rows or both.

Kusner, Sun, Sridharan, Weinberger 2016 (*Private causal inference*): rows are halved at random, curves are fitted on
the training half and judged on the test half. The paper has noise for either half and says that both can be used
jointly, but neither accounts for that nor tries it; ``"both halves"`` does, for the larger of both costs. Its proofs
are about substituting a row, and so is all that is here; its definition of neighbours also has rows that are added or
removed. What protects every row with noise that can be relied on is ``discreet.direction``.
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

Protects = Literal["test half", "training half", "both halves"]
Sensitivities = Literal["paper", "proved"]
EpsilonIs = Literal["per score", "total"]

REASONS: dict[Protects, str] = {
    "test half": "the training half, on which curves are fitted, is not protected at all",
    "training half": "the test half, on which curves are judged, is not protected at all",
    "both halves": "noise is made of floating-point numbers, by an ordinary generator",
}
"""Why it is not private, by what is protected."""

RANKS = ("spearman", "kendall")
SCORES = (*RANKS, "hsic", "root-hsic", "reci", "iqr")
PRINTED = (*RANKS, "hsic", "iqr")
"""Scores of the paper."""

BROKEN = "and the printed test of spreads does not keep its promise for protected rows either"
LEAST_ROWS = 20
LARGEST_RIDGE = 1.0
"""What the paper says of training rows is for a ridge up to this."""

SPREAD_PARTS: dict[tuple[Sensitivities, Protects], tuple[int, int]] = {
    ("paper", "test half"): (9, 3),
    ("paper", "training half"): (6, 2),
    ("paper", "both halves"): (9, 3),
    ("proved", "test half"): (8, 4),
    ("proved", "training half"): (4, 2),
    ("proved", "both halves"): (8, 4),
}
"""How many epsilons and deltas of one spread make the promise: as the paper counts, and what repaired ones cost.

A test row moves four spreads, of which the paper counts three, 3 epsilon each; a training row moves two.
"""


@dataclass(frozen=True)
class HalfSettings:
    """NOT PRIVATE as published: settings; see ``half_direction``."""

    protects: Protects
    score: str
    epsilon: float
    delta: float = 1e-6
    sensitivities: Sensitivities = "paper"
    draws: int = 2
    width: float = 0.5
    ridge: float = 1e-3
    epsilon_is: EpsilonIs = "total"

    def __post_init__(self) -> None:
        if self.protects not in REASONS:
            raise SettingError(f"protects: one of {', '.join(REASONS)}")
        if self.score not in SCORES:
            raise SettingError(f"score: one of {', '.join(SCORES)}")
        if not 0 < self.epsilon < math.inf or not 0 < self.delta < 1:
            raise SettingError("epsilon, delta: a finite number above 0, and one between 0 and 1")
        if self.sensitivities not in ("paper", "proved"):
            raise SettingError("sensitivities: paper or proved")
        if self.draws not in (1, 2):
            raise SettingError("draws: 2 for noise on each score, 1 for noise on their difference")
        if self.epsilon_is not in ("per score", "total"):
            raise SettingError("epsilon_is: per score or total")
        if self.epsilon_is == "per score" and self.draws == 1:
            raise SettingError("epsilon_is: one draw of noise has an epsilon in total only")
        if self.sensitivities == "paper" and self.protects != "test half" and self.ridge > LARGEST_RIDGE:
            raise SettingError(f"ridge: at most {LARGEST_RIDGE:g} in the paper; ask for the proved sensitivities")

    @property
    def mechanism(self) -> Literal["noise", "stability", "spreads"]:
        """Noise by the global sensitivity; else tests how stable scores or spreads are on these rows."""
        if self.score == "iqr":
            return "spreads"
        return "stability" if self.score in RANKS and self.protects == "training half" else "noise"

    @property
    def parts(self) -> tuple[int, int]:
        """How many epsilons and deltas of one score, or one spread, make the promise."""
        if self.mechanism == "spreads":
            return SPREAD_PARTS[self.sensitivities, self.protects]
        return (self.draws, self.draws) if self.mechanism == "stability" else (2, 0)

    @property
    def each(self) -> tuple[float, float]:
        """Epsilon and delta of one score, or one spread."""
        if self.epsilon_is == "per score":
            return self.epsilon, self.delta
        epsilons, deltas = self.parts
        return self.epsilon / epsilons, self.delta / max(deltas, 1)

    @property
    def promised(self) -> tuple[float, float]:
        """Epsilon and delta in all. They hold for a row of a protected half, but for spreads as printed."""
        epsilons, deltas = self.parts
        if self.epsilon_is == "per score":
            return epsilons * self.epsilon, deltas * self.delta
        return self.epsilon, self.delta if deltas else 0.0

    def scale(self, rows: int, train: int) -> float:
        """Return the scale of noise on each score, which is that of one draw on the difference too.

        Proof
        -----
        Both scores move by ``change`` at most, each: two draws of scale change/e cost 2 e, and so does one draw of that
        scale on their difference, which moves by twice as much.
        """
        return self.change(rows, train) / self.each[0]

    def change(self, rows: int, train: int) -> float:
        """Return how far substituting a row of a protected half can move a score.

        Proof for both halves
        ---------------------
        Halves are drawn without looking at the rows; fix them. The substituted row is in one half, the same one before
        and after. In the test half it leaves the fits alone and moves a score by the first bound at most; in the
        training half it leaves the test rows alone and moves it by the second. So any row moves it by the larger one,
        and noise for that is epsilon-differentially private given the halves, so also over the draw of halves. The
        paper's bounds are no smaller than the proved ones for a ridge up to 1: with them it holds too.
        """
        by_row = []
        if self.protects != "training half":
            by_row.append(change_by_test_row(self.score, rows, self.sensitivities))
        if self.protects != "test half":
            by = residual_change(train, self.ridge, self.sensitivities)
            by_row.append(change_by_training_row(self.score, rows, by, self.width, self.sensitivities))
        return max(by_row)


@dataclass(frozen=True)
class HalfOutcome:
    """NOT PRIVATE as published: what was found.

    Parameters
    ----------
    cause
        The column that causes the other; None if no direction is told.
    scores
        Released scores of x and of y as the cause, the lower one tells; None where only their difference, or nothing
        but the direction, is released.
    margin
        Released difference of both scores: above 0 for x as the cause. None where nothing but the direction is.
    protects
        Which half the noise is for.
    epsilon, delta
        What is promised to the rows of that half, in all.
    abstained
        Whether a test failed, so that no direction is told.
    reason
        Why it is not private.
    """

    cause: str | None
    scores: tuple[float, float] | None
    margin: float | None
    protects: Protects
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
    protects: Protects,
    score: str,
    epsilon: float,
    delta: float = 1e-6,
    sensitivities: Sensitivities = "paper",
    draws: int = 2,
    width: float = 0.5,
    ridge: float = 1e-3,
    epsilon_is: EpsilonIs = "total",
    seed: int | None = None,
) -> HalfOutcome:
    """NOT PRIVATE as published: say which of two columns causes the other, with noise for one half of the rows or both.

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
        ranks exact scores if no few training rows could change them. ``"both halves"``: noise for the larger change.
        Spreads are tested for how many rows of the protected halves could change them.
    score
        One of ``SCORES``.
    epsilon, delta
        The promise. Delta counts for spreads, and for ranks and the training half.
    sensitivities
        What noise is made for: as the paper says, or as is proved, which is less.
    draws
        2 for noise on each score, as published; 1 for noise on their difference, which does better. Spreads have a draw
        each: four for the test half, two for the training half.
    width, ridge
        Of the Gaussian kernels on a scale from -1 to 1, and of the fits.
    epsilon_is
        ``"per score"``: each score, or each spread, has this epsilon and delta, as printed; the promise is a multiple
        of them. ``"total"``: they are the promise.
    seed
        Seed of halves and noise, which protect nobody from who knows it; None for fresh ones.
    """
    settings = HalfSettings(protects, score, epsilon, delta, sensitivities, draws, width, ridge, epsilon_is)
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
    """NOT PRIVATE as published: judge residuals with noise for the protected half."""
    if settings.mechanism == "spreads":
        return _judge_by_spreads(found, names, settings, rng)
    forward, backward = found.scores(settings.score, settings.width)
    if settings.mechanism == "stability":
        epsilon, delta = settings.each
        least = math.log(1 / delta) / epsilon
        if not all(steps + rng.laplace(0, 1 / epsilon) > least for steps in found.stable_steps(settings)):
            return _outcome(settings, None, None, None, abstained=True)
        if settings.draws == 1:
            return _outcome(settings, _cause(names, backward - forward), None, None)
        return _outcome(settings, _cause(names, backward - forward), (forward, backward), backward - forward)
    scale = settings.scale(found.rows, found.train)
    if settings.draws == 1:
        margin = backward - forward + float(rng.laplace(0, scale))
        return _outcome(settings, _cause(names, margin), None, margin)
    scores = forward + float(rng.laplace(0, scale)), backward + float(rng.laplace(0, scale))
    return _outcome(settings, _cause(names, scores[1] - scores[0]), scores, scores[1] - scores[0])


def _judge_by_spreads(
    found: Residuals, names: tuple[str, str], settings: HalfSettings, rng: np.random.Generator
) -> HalfOutcome:
    """Release the spreads that protected rows can move; no direction if one of them has no answer."""
    noisy = found.spreads(settings)
    answers = [spread.release(*settings.each, rng) for spread in noisy]
    given = [answer for answer in answers if answer is not None]
    if len(given) < len(noisy):
        return _outcome(settings, None, None, None, abstained=True)
    of_x, of_y, x, y = given if len(given) == 4 else (*given, *found.input_logs())
    scores = x + of_y, y + of_x
    margin = scores[1] - scores[0]
    return _outcome(settings, _cause(names, margin), scores, margin)


def _cause(names: tuple[str, str], margin: float) -> str | None:
    """Return the cause; None for a tie, and where widths of 0 stand against each other."""
    return names[0] if margin > 0 else names[1] if margin < 0 else None


def _outcome(
    settings: HalfSettings,
    cause: str | None,
    scores: tuple[float, float] | None,
    margin: float | None,
    *,
    abstained: bool = False,
) -> HalfOutcome:
    reason = REASONS[settings.protects]
    if settings.score == "iqr" and settings.sensitivities == "paper":
        reason = f"{reason}, {BROKEN}"
    return HalfOutcome(cause, scores, margin, settings.protects, *settings.promised, abstained, reason)


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
            x, y = self.input_logs()
            return x + spread(self.of_y, printed=True).log, y + spread(self.of_x, printed=True).log
        return score(name, self.x, self.of_y, width), score(name, self.y, self.of_x, width)

    def input_logs(self) -> tuple[float, float]:
        """Return the logarithms of the spreads of x and y, which no training row can move."""
        return spread(self.x, printed=True).log, spread(self.y, printed=True).log

    def spreads(self, settings: HalfSettings) -> tuple[Spread, ...]:
        """Return the spreads that protected rows can move: of what x and y exceed their fits by, then of x and y."""
        printed, tested = settings.sensitivities == "paper", settings.protects != "training half"
        trained = settings.protects != "test half"
        by = residual_change(self.train, settings.ridge, settings.sensitivities) if trained else 0.0
        fitted = [spread(values, printed=printed, by=by, replaced=tested) for values in (self.of_x, self.of_y)]
        return (*fitted, *(spread(values, printed=printed) for values in (self.x, self.y) if tested))

    def gaps(self) -> tuple[float, float]:
        """Return the least difference between two residuals of each column."""
        of_x, of_y = (float(np.diff(np.sort(residuals)).min()) for residuals in (self.of_x, self.of_y))
        return of_x, of_y

    def stable_steps(self, settings: HalfSettings) -> list[int]:
        """Return how many training rows leave the ranks alone: of each column, or of both for one draw of noise."""
        gaps = self.gaps() if settings.draws == 2 else (min(self.gaps()),)
        return [steps_to_instability(gap, self.train, settings.ridge, settings.sensitivities) for gap in gaps]


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

    The paper's are valid but too large, except Kendall's. For HSIC its Theorem 3 proves (16m - 8)/(m - 1)^2 and names
    (12m - 11)/(m - 1)^2, taken here, whose proof in the appendix ends in N^2 - 1 where its own first line has
    (N - 1)^2; all three are valid for kernels between 0 and 1, as the proved one is smaller. Proofs of that and the
    others are with the statistics of directions.
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

    The paper's Theorem 5 has 8/(n ridge^1.5) for a ridge up to 1. That is true, since the bound proved with the kernels
    is smaller there, but not by its own proof: a weight vector's norm is at most sqrt(2/ridge), as the objective at 0
    is 1 and half of the ridge multiplies the square, not 1/sqrt(ridge); and even with 1/sqrt(ridge) its last step,
    (4/(n ridge)) (2/sqrt(ridge) + 2), gives 16/(n ridge^1.5).
    """
    return 8 / (train * ridge**1.5) if source == "paper" else stability(train, ridge)


def change_by_training_row(name: str, rows: int, by: float, width: float, source: Sensitivities) -> float:
    """Return how far a score moves if all residuals of the test half move by at most so much.

    Theorem 7 of the paper has 32 L sqrt(m) by, L the kernel's Lipschitz constant: 1/(width sqrt(e)) for a Gaussian one
    in each argument. It is valid, but neither the sqrt(m) nor the 32 is needed; with them, and a width of 0.5, it is
    more than all that HSIC can be (1/4) for any ridge up to 1 and halves of up to 1.5 million rows. For ranks the paper
    has 1, all that they can be.

    Proof
    -----
    Kernels of residuals at most ``by`` away have entries that change by 2 by/(width sqrt(e)) at most, and none on the
    diagonal; with |HKH| <= m/2 that makes HSIC (m/(m-1))^1.5 by/(width sqrt(e)). Features move by by/width, and centred
    ones of the other column have a mean norm of 1 at most: so does the root. Squares up to 1 have slope 2 at most.
    """
    if source == "paper":
        _check_printed(name)
    if name in RANKS:
        return 1.0
    slope = by / (width * math.sqrt(math.e))
    if source == "paper":
        return 32 * math.sqrt(rows) * slope
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
