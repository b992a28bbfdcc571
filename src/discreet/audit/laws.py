"""Exact output laws of mechanisms, found by listening.

A mechanism blurs with numbers that are no noise: what it asks of the noise, and where that ends up in the output, is
its law. That the samplers draw what they are asked for is not looked at here. Only made-up rows come here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import numpy as np
from flint import arb, ctx
from scipy.special import logsumexp

from discreet.arrays import FloatArray, IntArray
from discreet.audit import table_of
from discreet.domain import Domain
from discreet.privacy.accounting import PRECISION
from discreet.privacy.mechanisms import Mechanism
from discreet.statistics import Statistic

_FAR = 7_000_003
"""Answers of a listener are larger than this many scales, so that they can be recognised."""

MOST_DRAWS = 100_000
"""A mechanism that asks for more is not listened to any longer."""

MOST_OUTPUTS = 10_000
"""Outputs of choices that depend on each other are listed up to so many."""

TRIED_REACH, FEW_OUTPUTS = 30, 4
"""Where noise decides between a few outputs, it is tried up to so many scales."""

PROBES = 60
"""Answers as real noise might give them, on which a law that was heard is tried."""


class _TooManyDrawsError(Exception):
    """A mechanism goes on asking."""


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
    listed
        Only of choices that depend on each other ("listed"): every output, with the logarithm of its probability.
    """

    kind: str
    scale: float = 0.0
    at: int = 0
    utilities: tuple[int, ...] = ()
    listed: tuple[tuple[tuple[int, ...], float], ...] = ()


class _Listener:
    """Stands in for noise: writes down what is asked, and answers with given numbers or recognisable ones."""

    def __init__(self, answer: Callable[[Draw, int], int]) -> None:
        self.answer = answer
        self.draws: list[Draw] = []
        self.given: list[int] = []

    @property
    def private(self) -> bool:
        return False

    def rounded_gaussian(self, sigma: float, size: int) -> IntArray:
        return self._hear([Draw("rounded Gaussian", float(sigma))] * size)

    def discrete_gaussian(self, sigma: float, size: int) -> IntArray:
        return self._hear([Draw("discrete Gaussian", float(sigma))] * size)

    def discrete_laplace(self, scale: float, size: int) -> IntArray:
        return self._hear([Draw("discrete Laplace", float(scale))] * size)

    def one_sided(self, scale: float, size: int) -> IntArray:
        raise _TooManyDrawsError  # no mechanism that blurs asks for it

    def subset(self, size: int, of: int) -> IntArray:
        raise _TooManyDrawsError

    def order(self, of: int) -> IntArray:
        raise _TooManyDrawsError

    def exponential_choices(self, utilities: IntArray, scale: float) -> IntArray:
        rows = np.asarray(utilities).tolist()
        return self._hear([Draw("choice", float(scale), 0, tuple(row)) for row in rows])

    def _hear(self, asked: list[Draw]) -> IntArray:
        if len(self.draws) + len(asked) > MOST_DRAWS:
            raise _TooManyDrawsError
        answers = [self.answer(draw, len(self.draws) + i) for i, draw in enumerate(asked)]
        self.draws += asked
        self.given += answers
        return np.array(answers, dtype=np.int64)


def _far(sign: int) -> Callable[[Draw, int], int]:
    """Answer with numbers that no noise would reach, all different; choices in turn."""

    def answer(draw: Draw, place: int) -> int:
        if draw.kind == "choice":
            return (sign * (place + 1)) % len(draw.utilities)
        return sign * (_FAR * (math.ceil(draw.scale) + 1) + place)

    return answer


def _scripted(script: tuple[int, ...]) -> Callable[[Draw, int], int]:
    """Answer the first draws as written, and all others with 0."""

    def answer(draw: Draw, place: int) -> int:
        return script[place] if place < len(script) else 0

    return answer


def _likely(rng: np.random.Generator, probe: int) -> Callable[[Draw, int], int]:
    """Answer as noise might: none, small, typical or large; any candidate of a choice."""
    reach = (0.0, 1.0, 2.0, 0.5, 1.0, 3.0, 20.0)[probe % 7]

    def answer(draw: Draw, place: int) -> int:
        if draw.kind == "choice":
            return probe % len(draw.utilities) if probe < PROBES // 2 else int(rng.integers(len(draw.utilities)))
        sign = 1 if rng.random() < 0.5 else -1
        return round(sign * reach * (1.0 if probe % 7 <= 2 else draw.scale * rng.random()))

    return answer


def _listen(mechanism: Mechanism, exact: IntArray, answer: Callable[[Draw, int], int]) -> tuple[IntArray, _Listener]:
    listener = _Listener(answer)
    return np.asarray(mechanism.blur(exact.copy(), listener)), listener


def law_of(mechanism: Mechanism, exact: IntArray) -> tuple[Draw, ...] | None:
    """Return how each coordinate of the output is drawn, all independently; None if that cannot be told.

    What is heard from three probes must also hold for answers as noise might give them.
    """
    try:
        law, places = _hear_law(mechanism, exact)
        if law is None:
            return _list_law(mechanism, exact) or _try_law(mechanism, exact)
        rng = np.random.default_rng(0)
        for probe in range(PROBES):
            output, listener = _listen(mechanism, exact, _likely(rng, probe))
            if listener.draws != places[1]:
                return None
            noise = [0 if place < 0 else listener.given[place] for place in places[0]]
            if output.tolist() != [draw.at + z for draw, z in zip(law, noise, strict=True)]:
                return _try_law(mechanism, exact)
    except _TooManyDrawsError:
        return None
    return law


def _list_law(mechanism: Mechanism, exact: IntArray) -> tuple[Draw, ...] | None:
    """Return the law of a mechanism that makes one choice after another: every answer to every choice is tried."""
    found: dict[tuple[int, ...], float] = {}
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        script = waiting.pop()
        output, listener = _listen(mechanism, exact, _scripted(script))
        if not listener.draws or any(draw.kind != "choice" for draw in listener.draws) or output.ndim != 1:
            return None
        given = tuple(listener.given)
        for place in range(len(script), len(given)):
            others = range(1, len(listener.draws[place].utilities))
            waiting += [(*given[:place], other) for other in others]
        log = sum(_log_choice(draw)[answer] for draw, answer in zip(listener.draws, given, strict=True))
        key = tuple(output.tolist())
        found[key] = float(np.logaddexp(found.get(key, -np.inf), log))
        if len(found) + len(waiting) > MOST_OUTPUTS:
            return None
    return (Draw("listed", listed=tuple(sorted(found.items()))),)


def _try_law(mechanism: Mechanism, exact: IntArray) -> tuple[Draw, ...] | None:
    """Return the law of a mechanism that decides by a few draws of noise: all that they may be is tried."""
    draws = _listen(mechanism, exact, lambda draw, place: 0)[1].draws
    reaches = [math.ceil(TRIED_REACH * draw.scale) for draw in draws]
    if not draws or any(d.kind == "choice" for d in draws) or math.prod(2 * r + 1 for r in reaches) > MOST_OUTPUTS:
        return None
    logs = [log_law(draw, -reach, reach) for draw, reach in zip(draws, reaches, strict=True)]
    found: dict[tuple[int, ...], float] = {}
    for places in product(*(range(2 * reach + 1) for reach in reaches)):
        script = tuple(place - reach for place, reach in zip(places, reaches, strict=True))
        output, listener = _listen(mechanism, exact, _scripted(script))
        if listener.draws != draws or output.ndim != 1:
            return None
        log = sum(float(one[place]) for one, place in zip(logs, places, strict=True))
        key = tuple(output.tolist())
        found[key] = float(np.logaddexp(found.get(key, -np.inf), log))
        if len(found) > FEW_OUTPUTS:
            return None
    return (Draw("listed", listed=tuple(sorted(found.items()))),)


def _hear_law(mechanism: Mechanism, exact: IntArray) -> tuple[tuple[Draw, ...] | None, tuple[list[int], list[Draw]]]:
    """Return the law, and for each coordinate the place of its draw among all; -1 if it has none."""
    silent = _listen(mechanism, exact, lambda draw, place: 0)
    heard = [silent, *(_listen(mechanism, exact, _far(sign)) for sign in (1, -1))]
    base, draws = silent[0], silent[1].draws
    none: tuple[None, tuple[list[int], list[Draw]]] = (None, ([], draws))
    if base.ndim != 1 or any(o.shape != base.shape or listener.draws != draws for o, listener in heard):
        return none
    if draws and all(draw.kind == "choice" for draw in draws):
        chosen = all(output.tolist() == listener.given for output, listener in heard)
        return (tuple(draws), (list(range(len(draws))), draws)) if chosen else none
    if any(draw.kind == "choice" for draw in draws):
        return none
    where = {answer: place for place, answer in enumerate(heard[1][1].given)}
    added = (heard[1][0] - base).tolist()
    if (heard[2][0] - base != base - heard[1][0]).any():
        return none
    places = [-1 if not moved else where.get(moved, -2) for moved in added]
    noisy = [place for place in places if place != -1]
    if -2 in noisy or len(set(noisy)) != len(noisy):
        return none
    pairs = zip(places, base.tolist(), strict=True)
    return tuple(Draw("none", at=at) if i < 0 else replace(draws[i], at=at) for i, at in pairs), (places, draws)


def law_on(mechanism: Mechanism, statistic: Statistic, rows: IntArray, domain: Domain) -> tuple[Draw, ...] | None:
    """Return the law of a blurred statistic on made-up rows (codes); None if it cannot be told."""
    return law_of(mechanism, statistic.evaluate(table_of(rows, domain)))


def log_law(draw: Draw, low: int, high: int) -> FloatArray:
    """Return the logarithms of the probabilities of low ... high, where both ends hold all that lies beyond."""
    if draw.kind == "none":
        return _clamp(np.array([draw.at]), np.zeros(1), low, high)
    if draw.kind == "choice":
        return _clamp(np.arange(len(draw.utilities)), _log_choice(draw), low, high)
    return np.array(_noise(draw.kind, draw.scale, low - draw.at, high - draw.at))


def _log_choice(draw: Draw) -> FloatArray:
    """Return the logarithms of the probabilities of all candidates."""
    weights = np.array(draw.utilities) / draw.scale
    logs: FloatArray = weights - logsumexp(weights)
    return logs


def _clamp(outputs: IntArray, logs: FloatArray, low: int, high: int) -> FloatArray:
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
