"""Broken noise: too little, the wrong kind, not everywhere, not fresh, or billed for less than it costs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import FloatArray, IntArray
from discreet.audit import Neighbours
from discreet.audit.broken import PURE, Blurred, Broken, Finite, Output, Rng, Run, Sampled, Whole, domain_of, pair
from discreet.audit.claims import Claim
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Cost
from discreet.privacy.mechanisms.additive import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.privacy.mechanisms.exponential import Selection
from discreet.privacy.mechanisms.noisy_rank import NoisyRank
from discreet.statistics import Sensitivity
from discreet.statistics.counts import Counts

if TYPE_CHECKING:
    from discreet.privacy.noise import Noise

EPSILON = PURE.amount

TRUTH = math.exp(EPSILON) / (1 + math.exp(EPSILON))
"""How often an answer is true that costs as much."""

ASKED, EACH = 4, 2.0
"""Persons of whom one is drawn, and what one answer about that one costs before amplification."""

ONE = pair({(0,): 9, (1,): 10}, (0,), (1,))
"""One binary column in which one row changes."""

LONE = pair({(0,): 19}, (0,), (1,))
"""One binary column that is empty, or filled by one row."""

ALL_UP = pair({(0,) * 10: 9}, (0,) * 10, (1,) * 10)
"""Ten binary columns that are empty, or all filled by one row."""

COLUMN = domain_of(20, a=2)
TALLY = Counts((("a",),))
UTILITIES = Whole(
    "counts as utilities", ("a",), lambda counted: counted, Sensitivity(Fraction(2), Fraction(2), largest=Fraction(1))
)
RIVALS = Whole(
    "a count and its rival",
    ("a",),
    lambda counted: counted,
    Sensitivity(Fraction(2), Fraction(2), largest=Fraction(1), first=Fraction(1)),
)
TWICE = Whole(
    "counts as utilities, twice",
    ("a",),
    lambda counted: np.tile(counted, 2),
    Sensitivity(Fraction(4), Fraction(4), largest=Fraction(1)),
)


class _HalfBilled(DiscreteLaplace):
    """Bills half of what its scale costs."""

    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return half of the cost."""
        return DiscreteLaplace(2 * self.scale).cost(sensitivity)


class _HalfSigma(RoundedGaussian):
    """Bills as if its noise were twice as wide."""

    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return the cost of twice the noise."""
        return RoundedGaussian(2 * self.sigma).cost(sensitivity)


class _GaussianAsPure(RoundedGaussian):
    """Bills the L2 sensitivity over sigma as pure epsilon."""

    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return mu in the name of epsilon, rounded up."""
        return Cost({Currency.PURE: Fraction(math.sqrt(sensitivity.l2_squared) / self.sigma * (1 + 1e-12))})


class _DiscreteAsGdp(DiscreteGaussian):
    """Bills as if it were the rounded Gaussian."""

    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return the rounded Gaussian's cost."""
        return RoundedGaussian(self.sigma).cost(sensitivity)


class _OneSidedSelection(Selection):
    """Forgets that one utility may rise while another falls."""

    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return the cost of utilities that all move the same way."""
        return Selection(2 * self.scale, self.choices).cost(sensitivity)


class _FirstOnly(NoisyRank):
    """Forgets that the numbers it compares the first one with move, too."""

    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return the cost of moving the first number alone."""
        epsilon = (sensitivity.first or Fraction(0)) / Fraction(self.scale)
        return Cost({Currency.PURE: epsilon, Currency.ZCDP: epsilon**2 / 2})


class _TwiceForOnce(Selection):
    """Bills one choice, however many it makes."""

    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return the cost of one choice."""
        return Selection(self.scale, 1).cost(sensitivity)


@dataclass(frozen=True)
class _LastCellBare:
    """Adds discrete Laplace noise to all cells but the last."""

    scale: float

    @property
    def name(self) -> str:
        """What it is."""
        return f"discrete Laplace noise, scale {self.scale:g}, but for the last cell"

    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return the cost of noise on all cells."""
        return DiscreteLaplace(self.scale).cost(sensitivity)

    def blur(self, exact: IntArray, noise: Noise) -> IntArray:
        """Add noise to all cells but the last."""
        blurred = exact.copy()
        blurred[:-1] += noise.discrete_laplace(self.scale, len(exact) - 1)
        return blurred


def _blurred(name: str, wrong: str, subject: Blurred) -> Broken:
    return Broken(name, wrong, "planted", "exact", subject)


def _ones(rows: IntArray) -> int:
    return int(rows[:, 0].sum())


def laplace(scale: float) -> Run:
    """Count the ones of the first column with Laplace noise."""
    return lambda rows, rng: _ones(rows) + rng.laplace(0, scale)


def gaussian(sigma: float) -> Run:
    """Count the ones of the first column with Gaussian noise."""
    return lambda rows, rng: _ones(rows) + rng.normal(0, sigma)


def table_with(scale: float) -> Run:
    """Count both levels of the first column with Laplace noise on each."""
    return lambda rows, rng: np.bincount(rows[:, 0], minlength=2) + rng.laplace(0, scale, 2)


def noisy_maximum(scale: float, *, value: bool) -> Run:
    """Choose the column with the largest noisy count; also tell this count if asked."""

    def run(rows: IntArray, rng: Rng) -> Output:
        noisy = rows.sum(axis=0) + rng.laplace(0, scale, rows.shape[1])
        best = int(noisy.argmax())
        return np.array([noisy[best], best]) if value else best

    return run


def two_counts(scale: float, *, fresh: bool) -> Run:
    """Count the ones of the first two columns, with noise of their own or with the same."""

    def run(rows: IntArray, rng: Rng) -> FloatArray:
        noise = rng.laplace(0, scale, 2 if fresh else 1)
        return np.asarray(rows[:, :2].sum(axis=0) + noise, dtype=np.float64)

    return run


def _free_branch(rows: IntArray, rng: Rng) -> str:
    noise = rng.laplace(0, 1 / EPSILON) if rng.random() >= 0.01 else 0.0
    return f"{_ones(rows) + noise:.6f}"


def _filled_cells(rows: IntArray, rng: Rng) -> float:
    found = _ones(rows)
    return found + rng.laplace(0, 1 / EPSILON) if found else 0.0


def _filled_keys(rows: IntArray, rng: Rng) -> tuple[int, ...]:
    """Return the levels for which a noisy count is shown."""
    return tuple(np.flatnonzero(np.bincount(rows[:, 0], minlength=2)).tolist())


def _clipped(rows: IntArray, rng: Rng) -> float:
    return _ones(rows) + float(np.clip(rng.laplace(0, 1 / EPSILON), -2, 2))


def _one_sided(rows: IntArray, rng: Rng) -> float:
    return _ones(rows) + rng.exponential(1 / EPSILON)


def _from_data(rows: IntArray, rng: Rng) -> float:
    """Return a count with noise that is computed from the rows."""
    uniform = math.modf(float(rows.sum() + 1) * 0.6180339887498949)[0]
    return _ones(rows) - math.copysign(math.log1p(-2 * abs(uniform - 0.5)), 0.5 - uniform)


def _local(rows: IntArray, rng: Rng) -> float:
    """Return a median with noise in proportion to how far one row could move it here."""
    values = np.sort(rows[:, 0])
    middle = len(values) // 2
    local = max(values[middle + 1] - values[middle], values[middle] - values[middle - 1])
    return float(values[middle] + rng.laplace(0, 1 / EPSILON) * local)


def _response(keep: float) -> Callable[[tuple[int, ...]], dict[object, float]]:
    """Return the law of answers that are true with some probability each."""

    def law(cells: tuple[int, ...]) -> dict[object, float]:
        answers = product((0, 1), repeat=len(cells))
        return {a: math.prod(keep if x == y else 1 - keep for x, y in zip(a, cells, strict=True)) for a in answers}

    return law


def randomised_response(*, coin: bool) -> Finite:
    """Answer truly with the right probability; or else toss a coin, which tells the truth as well at times."""
    return Finite(_response(TRUTH + (1 - TRUTH) / 2 if coin else TRUTH), cells=2, values=2, claim=PURE)


def drawn_twice(*, fresh: bool) -> Finite:
    """Draw one person at random and ask for two noisy answers; the second about the same person or a fresh one."""
    keep = math.exp(EACH) / (1 + math.exp(EACH))

    def law(cells: tuple[int, ...]) -> dict[object, float]:
        first = {a: [keep if x == a else 1 - keep for x in cells] for a in (0, 1)}
        mean = {a: sum(p) / len(cells) for a, p in first.items()}
        together = {
            (a, b): sum(map(math.prod, zip(first[a], first[b], strict=True))) / len(cells) for a in first for b in first
        }
        return {(a, b): mean[a] * mean[b] if fresh else together[a, b] for a in first for b in first}

    return Finite(law, ASKED, 2, Claim(Currency.PURE, 2 * math.log1p(math.expm1(EACH) / ASKED)))


def _sampled(name: str, wrong: str, run: Run, shown: Neighbours = ONE, claim: Claim = PURE) -> Broken:
    return Broken(name, wrong, "planted", "black box", Sampled(run, claim, (shown,)))


BILLED: tuple[Broken, ...] = (
    _blurred("laplace-half-billed", "states half of its cost", Blurred(_HalfBilled(2.0), TALLY, COLUMN, (ONE,))),
    _blurred("gaussian-half-sigma", "bills twice its sigma", Blurred(_HalfSigma(2.0), TALLY, COLUMN, (ONE,))),
    _blurred(
        "gaussian-billed-pure",
        "states a pure epsilon, which Gaussian noise does not have",
        Blurred(_GaussianAsPure(2.0), TALLY, COLUMN, (ONE,)),
    ),
    _blurred(
        "discrete-gaussian-as-gdp",
        "the discrete Gaussian is not mu-GDP",
        Blurred(_DiscreteAsGdp(0.8), TALLY, COLUMN, (ONE,)),
    ),
    _blurred(
        "selection-without-two",
        "bills utilities that may move both ways as if all moved one way",
        Blurred(_OneSidedSelection(2.0, 1), UTILITIES, COLUMN, (ONE,)),
    ),
    _blurred(
        "rank-of-first-alone",
        "bills the first number, but the numbers it is compared with move as well",
        Blurred(_FirstOnly(1.5, 1), RIVALS, domain_of(3, a=2), (pair({(0,): 1, (1,): 1}, (0,), (1,)),)),
    ),
    _blurred(
        "two-choices-billed-once",
        "bills one of two choices",
        Blurred(_TwiceForOnce(2.0, 2), TWICE, COLUMN, (ONE,)),
    ),
    Broken(
        "last-cell-bare",
        "the last cell gets no noise",
        "planted",
        "black box",
        Blurred(_LastCellBare(2.0), TALLY, COLUMN, (ONE,)),
    ),
)

NOISE: tuple[Broken, ...] = (
    _sampled("laplace-half-scale", "half of the noise that epsilon needs", laplace(0.5)),
    _sampled("laplace-two-thirds", "two thirds of the noise that epsilon needs", laplace(1 / 1.5)),
    _sampled(
        "variance-for-deviation",
        "the deviation that is needed is used as a variance",
        gaussian(math.sqrt(4)),
        claim=Claim(Currency.GDP, 1 / 4),
    ),
    _sampled("gaussian-as-epsilon", "Gaussian noise keeps no pure promise", gaussian(1.0)),
    _sampled("one-row-two-cells", "noise for adding a row; replacing one moves two cells", table_with(1 / EPSILON)),
    _sampled(
        "maximum-with-value",
        "the noisy count that decided is published as well",
        noisy_maximum(2 / EPSILON, value=True),
        ALL_UP,
    ),
    _sampled("empty-cells-bare", "an empty cell gets no noise", _filled_cells, LONE),
    _sampled("filled-cells-only", "cells are shown if somebody is in them", _filled_keys, LONE),
    _sampled("noise-cut-off", "noise is clipped, so far answers tell the count", _clipped),
    _sampled("one-sided-noise", "noise is never negative, so low answers tell the count", _one_sided),
    _sampled("free-branch", "one answer in a hundred has no noise", _free_branch),
    _sampled("noise-from-data", "the noise is computed from the rows", _from_data),
    _sampled(
        "local-noise", "noise in proportion to the local sensitivity", _local, pair({(0,): 11, (8,): 8}, (0,), (8,))
    ),
    _sampled(
        "same-noise-twice",
        "two counts share one draw of noise, so their difference is exact",
        two_counts(2 / EPSILON, fresh=False),
        pair({(0, 0): 9, (1, 1): 10}, (0, 0), (1, 0)),
    ),
    Broken(
        "response-with-coin",
        "the coin's lucky truths are not counted",
        "planted",
        "exact",
        randomised_response(coin=True),
    ),
    Broken(
        "same-sample-twice",
        "two answers about the same sample, each billed as if the sample were fresh",
        "planted",
        "exact",
        drawn_twice(fresh=False),
    ),
    *BILLED,
)
