"""Exact output laws of mechanisms, found by listening.

A mechanism blurs with numbers that are no noise: what it asks of the noise, and where that ends up in the output, is
its law. That the samplers draw what they are asked for is not looked at here. Only made-up rows come here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from flint import arb, ctx
from scipy.special import logsumexp

from discreet.arrays import FloatArray, IntArray
from discreet.audit import table_of
from discreet.domain import Domain
from discreet.mechanisms import Mechanism
from discreet.privacy.accounting import PRECISION
from discreet.statistics import Statistic

_FAR = 7_000_003


@dataclass(frozen=True, order=True)
class Draw:
    """How one coordinate of an output is drawn.

    Parameters
    ----------
    kind
        The noise, or "choice", or "none".
    scale
        Of the noise, or of the utilities.
    at
        The integer to which noise is added.
    utilities
        Only of a choice.
    """

    kind: str
    scale: float = 0.0
    at: int = 0
    utilities: tuple[int, ...] = ()


class _Listener:
    """Stands in for noise: writes down what is asked, and answers with numbers that can be recognised."""

    def __init__(self, factor: int) -> None:
        self.factor = factor
        self.draws: list[Draw] = []

    @property
    def private(self) -> bool:
        return False

    def rounded_gaussian(self, sigma: float, size: int) -> IntArray:
        return self._answer("rounded Gaussian", sigma, size)

    def discrete_gaussian(self, sigma: float, size: int) -> IntArray:
        return self._answer("discrete Gaussian", sigma, size)

    def discrete_laplace(self, scale: float, size: int) -> IntArray:
        return self._answer("discrete Laplace", scale, size)

    def exponential_choices(self, utilities: IntArray, scale: float) -> IntArray:
        rows = [tuple(row) for row in np.asarray(utilities).tolist()]
        self.draws += [Draw("choice", float(scale), 0, row) for row in rows]
        chosen = [(self.factor * (i + 1)) % len(row) for i, row in enumerate(rows)]
        return np.array(chosen, dtype=np.int64)

    def _answer(self, kind: str, scale: float, size: int) -> IntArray:
        start = len(self.draws)
        self.draws += [Draw(kind, float(scale))] * size
        return self.factor * (_FAR + np.arange(start, start + size))


def law_of(mechanism: Mechanism, exact: IntArray) -> tuple[Draw, ...] | None:
    """Return how each coordinate of the output is drawn, all independently; None if that cannot be told."""
    heard = []
    for factor in (0, 1, -1):
        listener = _Listener(factor)
        heard.append((np.asarray(mechanism.blur(exact.copy(), listener)), listener))
    draws = heard[0][1].draws
    if any(listener.draws != draws for _, listener in heard):
        return None
    if draws and all(draw.kind == "choice" for draw in draws):
        return _choices(draws, heard)
    base = heard[0][0]
    if any(draw.kind == "choice" for draw in draws) or any(output.shape != base.shape for output, _ in heard):
        return None
    added = heard[1][0] - base
    if (heard[2][0] - base != -added).any():
        return None
    places = np.where(added == 0, -1, added - _FAR)
    noisy = places[added != 0]
    if ((noisy < 0) | (noisy >= len(draws))).any() or len(set(noisy.tolist())) != len(noisy):
        return None
    pairs = zip(places.tolist(), base.tolist(), strict=True)
    return tuple(Draw("none", at=at) if i < 0 else replace(draws[i], at=at) for i, at in pairs)


def law_on(mechanism: Mechanism, statistic: Statistic, rows: IntArray, domain: Domain) -> tuple[Draw, ...] | None:
    """Return the law of a blurred statistic on made-up rows (codes); None if it cannot be told."""
    return law_of(mechanism, statistic.evaluate(table_of(rows, domain)))


def _choices(draws: list[Draw], heard: list[tuple[IntArray, _Listener]]) -> tuple[Draw, ...] | None:
    """Return the draws if the output is just what was chosen."""
    for output, listener in heard:
        chosen = [(listener.factor * (i + 1)) % len(draw.utilities) for i, draw in enumerate(draws)]
        if output.tolist() != chosen:
            return None
    return tuple(draws)


def log_law(draw: Draw, low: int, high: int) -> FloatArray:
    """Return the logarithms of the probabilities of low ... high, where both ends hold all that lies beyond."""
    if draw.kind == "none":
        return _clamped(np.array([draw.at]), np.zeros(1), low, high)
    if draw.kind == "choice":
        weights = np.array(draw.utilities) / draw.scale
        return _clamped(np.arange(len(weights)), weights - logsumexp(weights), low, high)
    return np.array(_noise(draw.kind, draw.scale, low - draw.at, high - draw.at))


def _clamped(outputs: IntArray, logs: FloatArray, low: int, high: int) -> FloatArray:
    found = np.full(high - low + 1, -np.inf)
    np.logaddexp.at(found, np.clip(outputs, low, high) - low, logs)
    return found


@cache
def _noise(kind: str, scale: float, low: int, high: int) -> tuple[float, ...]:
    """Return the logarithms of the probabilities of noise from low to high with clamped ends, in ball arithmetic."""
    with ctx.workprec(PRECISION):
        mass, tail = _KINDS[kind](arb(scale))

        def end(k: int) -> arb:
            return tail(k) if k > 0 else 1 - tail(1 - k)

        balls = [end(-low), *(mass(abs(k)) for k in range(low + 1, high)), end(high)]
        return tuple(float(ball.log().mid()) for ball in balls)


Balls = tuple[Callable[[int], arb], Callable[[int], arb]]
"""The probability of an integer k from 0, and that of k and all beyond, for k from 1."""


def _rounded(sigma: arb) -> Balls:
    def tail(k: int) -> arb:
        return (arb(2 * k - 1) / (2 * sigma * arb(2).sqrt())).erfc() / 2

    return lambda k: tail(k) - tail(k + 1) if k else 1 - 2 * tail(1), tail


def _laplace(scale: arb) -> Balls:
    ratio = (-1 / scale).exp()
    return lambda k: ratio**k * (1 - ratio) / (1 + ratio), lambda k: ratio**k / (1 + ratio)


def _gaussian(sigma: arb) -> Balls:
    def weight(k: int) -> arb:
        return (-(arb(k) ** 2) / (2 * sigma**2)).exp()

    def beyond(k: int) -> arb:
        first, total = weight(k), arb(0)
        while weight(k) > first * arb(2) ** -100:
            total, k = total + weight(k), k + 1
        return total

    whole = 1 + 2 * beyond(1)
    return lambda k: weight(k) / whole, lambda k: beyond(k) / whole


_KINDS = {"rounded Gaussian": _rounded, "discrete Gaussian": _gaussian, "discrete Laplace": _laplace}
