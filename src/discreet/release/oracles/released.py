"""Answers from a release: evidence of order 0 to 2, and tests whose null distribution includes the privacy noise.

A residual is cut into independent directions, its spectrum. Evidence is the Bayes factor of their scores; a test
weighs their squares, whose law is a mixture of chi-squared ones. How it works, and why the test has its level:
``released.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from numbers import Real
from typing import Self

import numpy as np

from discreet.arrays import FloatArray
from discreet.errors import SettingError, UnansweredError
from discreet.release.oracles.components import Components, Law, contrasts
from discreet.release.oracles.determined import find_determined, is_determined
from discreet.release.oracles.strata import Estimates, Strata, Within
from discreet.search.hybrid import NO_FUNCTIONS, Functions
from discreet.search.oracle import EMPTY, Question, Verdict

EFFECT = 0.1
"""Prior variance of a standardised dependence: decides which directions of a table carry weight."""

SPARSE = 1.0
"""Variance added to every cell: with hardly any noise the counts of rare cells are far from normal."""

HEAVY = 2.0
"""Products of two noises have heavy tails: their 1 % quantile is that of a normal with twice the variance."""

DRAWS = 4000
"""Draws of the simulated null where the noise is not Gaussian."""

DOUBT = 0.1
"""A null is simulated only where the Gaussian one gives a smaller p-value: the laws differ in their tails."""

BATCH = 20_000_000
"""Numbers in one batch of matrices."""

LARGEST = 2_000_000
"""Numbers that one question of order 2 may take."""

_EQUAL = 1e-9
"""Weights that differ by less, as a part of the largest, are taken for equal; smaller ones count nothing."""


@dataclass(frozen=True)
class Spectrum:
    """A residual in independent directions: standard scores, and how much a dependence would add to their variance.

    ``evidence`` is the log Bayes factor for dependence.
    """

    scores: FloatArray
    gains: FloatArray
    evidence: float

    def redraw(self, draws: int, rng: np.random.Generator) -> FloatArray:
        """Return the evidence of scores as they might have been."""
        return evidence_of(self.scores + rng.standard_normal((draws, len(self.scores))), self.gains)


@dataclass(frozen=True)
class Batch:
    """Residuals of one shape, and their null covariance by where it comes from."""

    values: FloatArray
    sampled: FloatArray
    blurred: FloatArray
    prior: FloatArray


def evidence_of(scores: FloatArray, gains: FloatArray) -> FloatArray:
    """Return log Bayes factors for dependence, along the last axis."""
    return np.asarray((scores**2 * (gains / (1 + gains)) - np.log1p(gains)).sum(axis=-1) / 2)


def whiten(batch: Batch) -> tuple[FloatArray, FloatArray]:
    """Return, for each residual, the map to independent directions with unit null variance, and the gain of each."""
    root = np.linalg.cholesky(batch.sampled + batch.blurred)
    half = np.linalg.solve(root, batch.prior)
    ratio = np.linalg.solve(root, half.mT)
    gains, directions = np.linalg.eigh((ratio + ratio.mT) / 2)
    return directions.mT @ np.linalg.inv(root), np.maximum(gains, 0.0)


def spectra(batch: Batch) -> list[Spectrum]:
    """Return the spectrum of every residual."""
    whitener, gains = whiten(batch)
    scores = (whitener @ batch.values[..., None])[..., 0]
    weighed = evidence_of(scores, gains).tolist()
    return [Spectrum(z, g, e) for z, g, e in zip(scores, gains, weighed, strict=True)]


def tail(weights: FloatArray, value: float) -> float:
    """Return P(sum_i w_i Z_i^2 > value) for independent standard normal Z_i and weights >= 0.

    Exact for equal weights; else the Lugannani-Rice saddlepoint formula, whose relative error stays within a few
    percent down to the far tail.
    """
    top = float(weights.max(initial=0.0))
    if top <= 0 or value <= 0:
        return 1.0
    kept = weights[weights > _EQUAL * top] / top
    value = value / top
    if np.ptp(kept) < _EQUAL:
        return _chi2_tail(len(kept), value / float(kept[0]))
    mean = float(kept.sum())
    if abs(value - mean) < 1e-4 * mean:  # the formula is singular at the mean; its value there is interpolated
        return (tail(kept, 0.999 * mean) + tail(kept, 1.001 * mean)) / 2
    return _lugannani_rice(kept, value)


def _chi2_tail(freedom: int, value: float) -> float:
    from scipy.special import gammaincc

    return float(gammaincc(freedom / 2, value / 2))


def _lugannani_rice(weights: FloatArray, value: float) -> float:
    """Return the saddlepoint tail probability; the largest weight is 1."""
    t = _saddle(weights, value)
    left = 1 - 2 * weights * t
    k0 = -0.5 * float(np.log(left).sum())
    k2 = 2 * float(((weights / left) ** 2).sum())
    w = math.copysign(math.sqrt(max(2 * (t * value - k0), 0.0)), t)
    u = t * math.sqrt(k2)
    if w == 0 or u == 0 or u / w <= 0:
        return 0.5
    shifted = w + math.log(u / w) / w
    return 0.5 * math.erfc(shifted / math.sqrt(2))


def _saddle(weights: FloatArray, value: float) -> float:
    """Solve K'(t) = value by Newton steps inside a bracket.

    K'(t) = sum w/(1 - 2wt) rises with t, and with weights of at most 1, the largest being 1, it lies between
    1/(1 - 2t) and len(w)/(1 - 2t): that brackets the root.
    """
    low, high = 0.5 * (1 - len(weights) / value), 0.5 * (1 - 1 / value)
    t = (low + high) / 2
    for _ in range(60):
        first, second = _slope(weights, t)
        low, high = (t, high) if first < value else (low, t)
        # Newton on 1/K', which is close to linear in t.
        step = t + first * (value - first) / (second * value)
        nearer = step if low < step < high else (low + high) / 2
        if abs(nearer - t) <= 1e-9 * max(1e-3, abs(t)):
            return nearer
        t = nearer
    return t


def _slope(weights: FloatArray, t: float) -> tuple[float, float]:
    """Return K'(t) and K''(t)."""
    terms = weights / (1 - 2 * weights * t)
    return float(terms.sum()), 2 * float(terms @ terms)


def check_alpha(alpha: float, law: Law) -> None:
    """Refuse a level that is none, or that simulated nulls cannot resolve."""
    if not isinstance(alpha, Real) or not 0 < alpha < 1:
        raise SettingError("alpha: a number between 0 and 1")
    if law == "laplace" and alpha * DRAWS < 10:
        raise SettingError(f"alpha: at least {10 / DRAWS:g} with Laplace noise (delta 0), whose tails are simulated")


class Released:
    """An oracle from released components.

    Order 0 and 1 take interactions of pairs; order 2 also fits what was not released of three columns. Where the
    interaction of a pair and a third column was released, evidence of order 1 also looks into each stratum.

    Parameters
    ----------
    parts
        What was released.
    alpha
        Level of the tests: the share of independent pairs called dependent.
    rng
        Generator for simulated null distributions (Laplace noise only). Not privacy noise.
    """

    free = True
    max_order = 2

    def __init__(self, parts: Components, *, alpha: float, rng: np.random.Generator) -> None:
        check_alpha(alpha, parts.law)
        self.parts = parts
        self.estimates = Estimates(parts)
        self._alpha = alpha
        self._rng = rng
        self._pooled: dict[Question, Spectrum] = {}
        self._apart: dict[Question, Spectrum] = {}
        self._asked: dict[Question, Verdict] = {}
        self._known = frozenset(map(frozenset, parts.parts))
        self.determined: Functions = NO_FUNCTIONS

    def leave_out_determined(self, largest: int = max_order) -> Self:
        """Give no answer any more where up to so many of the given columns determine one side; returns itself."""
        pairs = [(x, y) for x, y in combinations(sorted(self.parts.sizes), 2) if self.answers(x, y, EMPTY)]
        evidence = self.weigh((x, y, EMPTY) for x, y in pairs)
        self.determined = find_determined(
            self.estimates, dict(zip(map(frozenset, pairs), evidence, strict=True)), largest
        )
        return self

    def answers(self, x: str, y: str, given: frozenset[str]) -> bool:
        """Whether everything it takes was released, and what is given determines neither side."""
        inside = sorted(given)
        if len(inside) > self.max_order or any(is_determined(self.determined, side, given) for side in (x, y)):
            return False
        if min(self.parts.sizes[x], self.parts.sizes[y]) < 2:
            return True  # a column with one level depends on nothing
        needed = [{x, y}, {x}, {y}, *({side, z} for z in inside for side in (x, y))]
        needed += [{z} for z in inside] + ([set(inside)] if len(inside) == 2 else [])
        return all(map(self._has, needed)) and self._load(x, y, inside) <= LARGEST

    def _has(self, columns: set[str]) -> bool:
        return frozenset(columns) in self._known

    def _load(self, x: str, y: str, inside: Sequence[str]) -> int:
        """Return about how many numbers a question of order 2 takes."""
        sizes = self.parts.sizes
        return prod(sizes[z] for z in inside) * (sizes[x] * sizes[y]) ** 2 if len(inside) == 2 else 0

    def looks_inside(self, z: str) -> bool:
        """Whether single strata of a column are looked at, where the interaction with it was released."""
        return self.parts.sizes[z] > 1

    def kind(self, q: Question) -> tuple[int, ...]:
        """Return what questions of one shape must agree in to be worked out together."""
        del q
        return ()

    def directions(self, q: Question) -> FloatArray | None:
        """Return the directions of a pair's table that are looked along, in contrasts; None for all of them."""
        del q
        return None

    def weigh(self, questions: Iterable[Question]) -> list[float]:
        """Return the evidence for dependence in each question, all worked out together."""
        asked = [_order(q) for q in questions]
        self._work_out(asked)
        return [self._evidence(q) for q in asked]

    def redraw(self, questions: Iterable[Question], draws: int, rng: np.random.Generator) -> FloatArray:
        """Return evidence as it might have been with other rows and noise: one row a draw, one column a question."""
        asked = [_order(q) for q in questions]
        self._work_out(asked)
        columns = []
        for q in asked:
            found = [s for s in (self._pooled.get(q), self._apart.get(q)) if s is not None]
            drawn = [s.redraw(draws, rng) for s in found]
            columns.append(np.logaddexp.reduce(drawn, axis=0) - np.log(len(drawn)) if drawn else np.zeros(draws))
        return np.stack(columns, axis=1) if columns else np.zeros((draws, 0))

    def ask(self, x: str, y: str, given: frozenset[str]) -> Verdict:
        """Test whether x and y are independent given at most two columns."""
        q = _order((x, y, given))
        if q not in self._asked:
            self._work_out([q], apart=False)
            self._asked[q] = self._test(q)
        return self._asked[q]

    def _test(self, q: Question) -> Verdict:
        spectrum = self._pooled.get(q)
        if spectrum is None:  # a column with one level depends on nothing
            return Verdict(independent=True, evidence=0.0, p_value=1.0)
        weights = spectrum.gains / (1 + spectrum.gains)
        seen = float(spectrum.scores**2 @ weights)
        p_value = tail(weights, seen)
        if self.parts.law == "laplace" and p_value < DOUBT:
            p_value = self._simulate(q)
        return Verdict(independent=p_value > self._alpha, evidence=spectrum.evidence, p_value=p_value)

    def _evidence(self, q: Question) -> float:
        """Return the log of the mean Bayes factor of all that was looked at."""
        found = [s.evidence for s in (self._pooled.get(q), self._apart.get(q)) if s is not None]
        if len(found) < 2:
            return found[0] if found else 0.0
        high, low = max(found), min(found)
        return high + math.log1p(math.exp(low - high)) - math.log(2)

    def _work_out(self, questions: Sequence[Question], *, apart: bool = True) -> None:
        """Work out the spectra of all questions that are still open, those of one shape together."""
        pooled: dict[tuple[tuple[int, ...], tuple[int, ...]], list[Question]] = {}
        inner: dict[tuple[tuple[int, ...], tuple[int, ...]], list[Question]] = {}
        sizes = self.parts.sizes
        for q in dict.fromkeys(questions):
            x, y, given = q
            if not self.answers(*q):
                raise UnansweredError("the release does not answer this question")
            shape = (sizes[x], sizes[y], *(sizes[z] for z in sorted(given)))
            if min(shape[:2]) < 2:
                continue
            if q not in self._pooled:
                pooled.setdefault((shape, self.kind(q)), []).append(q)
            if apart and len(given) == 1 and q not in self._apart and self.parts.has(x, y, *given):
                (z,) = given
                if self.looks_inside(z):
                    inner.setdefault((shape, self.kind(q)), []).append(q)
        for groups, known, make in (
            (pooled, self._pooled, self.residuals),
            (inner, self._apart, self._apart_batch),
        ):
            for (shape, _), group in groups.items():
                directions = (shape[0] - 1) * (shape[1] - 1) * (shape[2] if known is self._apart else 1)
                step = max(1, BATCH // directions**2)
                for start in range(0, len(group), step):
                    part = group[start : start + step]
                    known.update(zip(part, spectra(make(part)), strict=True))

    def _stack_inputs(self, group: Sequence[Question]) -> tuple[Within, Within, Strata, FloatArray, FloatArray]:
        """Stack both sides within the strata, the strata, the pairs' interactions and their variances."""
        keys = [tuple(sorted(given)) for _, _, given in group]
        xs, ys = (
            _stack(self.estimates.all_within([(str(q[side]), key) for q, key in zip(group, keys, strict=True)]))
            for side in (0, 1)
        )
        strata = [self.estimates.strata(key) for key in keys]
        size, noise = np.stack([s.size for s in strata]), np.stack([s.noise for s in strata])
        table = np.stack([self.parts.values(x, y) for x, y, _ in group])
        variance = np.array([self.parts.variance(x, y) for x, y, _ in group])
        return xs, ys, Strata(size, noise), table, variance

    def residuals(self, group: Sequence[Question]) -> Batch:
        """Return what is left of each pair's table when the part that the strata explain is taken away."""
        sx, sy, strata, table, variance = self._stack_inputs(group)
        size = strata.size
        values = table - sx.shares @ sy.counts.mT - sx.counts @ sy.shares.mT
        values = values + (sx.shares * size[:, None, :]) @ sy.shares.mT
        count, directions = len(group), values[0].size
        square = (count, directions, directions)
        sampled = _summed_products(sx.covariance * size[:, :, None, None], sy.covariance)
        by_x = sx.shares @ sy.noise @ sx.shares.mT
        by_y = sy.shares @ sx.noise @ sy.shares.mT
        ix, iy = np.eye(values.shape[1]), np.eye(values.shape[2])
        blurred = by_x[:, :, None, :, None] * iy[:, None, :] + ix[:, None, :, None] * by_y[:, None, :, None, :]
        products = (size**2 * sx.error * sy.error).sum(axis=1)
        joint = (sx.shares[:, :, None] * sy.shares[:, None, :]).reshape(count, directions, -1)
        blurred = blurred.reshape(square) + joint @ strata.noise @ joint.mT
        blurred = blurred + (variance + SPARSE + HEAVY * products)[:, None, None] * np.eye(directions)
        return Batch(values.reshape(count, -1), sampled, blurred, EFFECT * self.parts.rows * sampled)

    def _apart_batch(self, group: Sequence[Question]) -> Batch:
        """Return what is left of each pair's table in every stratum of a third column."""
        sx, sy, strata, table, variance = self._stack_inputs(group)
        size, (count, levels) = strata.size, strata.size.shape
        triples = [self.parts.values(x, y, *given) for x, y, given in group]
        third = np.array([self.parts.variance(x, y, *given) for x, y, given in group])
        basis, centre = contrasts(levels), np.stack([self.parts.centre(*given) for _, _, given in group])
        values = table[..., None] * centre[:, None, None, :] + np.stack(triples) @ basis.T
        values = (
            values - np.einsum("nik,njk->nijk", sx.shares, sy.counts) - np.einsum("nik,njk->nijk", sx.counts, sy.shares)
        )
        values = values + np.einsum("nik,njk,nk->nijk", sx.shares, sy.shares, size)
        even, around = centre[:, :, None] * centre[:, None, :], basis @ basis.T
        kernel = variance[:, None, None] * even + third[:, None, None] * around
        a, b = values.shape[1:3]
        ix, iy = np.eye(a), np.eye(b)
        blurred = np.einsum("nkl,ij,uv->niukjvl", kernel, ix, iy, optimize=True)
        blurred += np.einsum("nkl,nik,njl,uv->niukjvl", sy.noise, sx.shares, sx.shares, iy, optimize=True)
        blurred += np.einsum("nkl,ij,nuk,nvl->niukjvl", sx.noise, ix, sy.shares, sy.shares, optimize=True)
        same = np.eye(levels)
        sampled = np.einsum("nk,nkij,nkuv,kl->niukjvl", size, sx.covariance, sy.covariance, same, optimize=True)
        prior = sampled * (EFFECT * size[:, None, None, None, None, None, :])
        square = (count, a * b * levels, a * b * levels)
        blurred = blurred.reshape(square)
        extra = np.tile((SPARSE / levels + HEAVY * size**2 * sx.error * sy.error)[:, None, :], (1, a * b, 1))
        diagonal = np.arange(square[1])
        blurred[:, diagonal, diagonal] += extra.reshape(count, -1)
        return Batch(values.reshape(count, -1), sampled.reshape(square), blurred, prior.reshape(square))

    def _simulate(self, q: Question) -> float:
        """Return the p-value with Laplace noise on the components that matter most."""
        x, y, given = q
        batch = self.residuals([q])
        sizes, key = self.parts.sizes, tuple(sorted(given))
        drawn = self._draw_laplace(x, y).reshape(DRAWS, -1)
        heavy = self.parts.variance(x, y) * np.eye(drawn.shape[1])
        if len(key) == 1:
            cz = contrasts(sizes[key[0]])
            around_x, around_y = (self.estimates.within(side, key).shares @ cz for side in (x, y))
            from_x = self._draw_laplace(x, key[0]) @ around_y.T
            from_y = around_x @ self._draw_laplace(y, key[0]).mT
            drawn = drawn - (from_x + from_y).reshape(DRAWS, -1)
            heavy = heavy + self.parts.variance(y, key[0]) * np.kron(around_x @ around_x.T, np.eye(len(around_y)))
            heavy = heavy + self.parts.variance(x, key[0]) * np.kron(np.eye(len(around_x)), around_y @ around_y.T)
        along = self.directions(q)
        if along is not None:
            drawn, heavy = drawn @ along, along.T @ heavy @ along
        values, vectors = np.linalg.eigh(batch.sampled[0] + batch.blurred[0] - heavy)
        root = vectors * np.sqrt(np.maximum(values, 0))
        draws = drawn + self._rng.standard_normal(drawn.shape) @ root.T
        whitener, gains = whiten(batch)
        weights = gains[0] / (1 + gains[0])
        seen = float((whitener[0] @ batch.values[0]) ** 2 @ weights)
        return float(1 + (((draws @ whitener[0].T) ** 2) @ weights >= seen).sum()) / (1 + DRAWS)

    def _draw_laplace(self, x: str, y: str) -> FloatArray:
        """Draw Laplace noise on a table of two columns, in contrasts."""
        a, b = self.parts.sizes[x], self.parts.sizes[y]
        cells = self._rng.laplace(scale=np.sqrt(self.parts.variance(x, y) / 2), size=(DRAWS, a, b))
        return np.asarray(contrasts(a).T @ cells @ contrasts(b))


def _order(question: Question) -> Question:
    x, y, given = question
    return (x, y, given) if x < y else (y, x, given)


def _summed_products(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the sum over strata of the Kronecker products of two stacks of matrices."""
    count, strata, a, _ = left.shape
    b = right.shape[2]
    summed = left.reshape(count, strata, -1).mT @ right.reshape(count, strata, -1)
    return summed.reshape(count, a, a, b, b).transpose(0, 1, 3, 2, 4).reshape(count, a * b, a * b)


def _stack(items: Sequence[Within]) -> Within:
    fields = ("counts", "shares", "covariance", "error", "noise")
    return Within(*(np.stack([getattr(item, field) for item in items]) for field in fields))
