"""Broken sparse vectors: many questions against one noisy threshold, with a step of the proof left out."""

from __future__ import annotations

import math
from collections.abc import Callable

from discreet.arrays import IntArray
from discreet.audit import Neighbours
from discreet.audit.broken import PURE, Broken, Finite, Rng, Run, Sampled, pair
from discreet.audit.claims import Claim
from discreet.privacy.accounting import Currency

_AIM, _SLACK = 0.04, 0.4
"""A mean counts from here on; the sieve lets through what is a little lower."""

HALF = 40
"""Questions of each kind: those that the replaced row raises, and those that it lowers."""

TURNED = pair({(0,) * (2 * HALF): 9}, (0,) * HALF + (1,) * HALF, (1,) * HALF + (0,) * HALF)
RAISED = pair({(0,) * HALF: 9}, (0,) * HALF, (1,) * HALF)
RAISED_AMONG_MANY = pair({(0,) * HALF: 99}, (0,) * HALF, (1,) * HALF)


def first_pass(threshold: float, blur: float, each: float) -> Run:
    """Return which column's noisy count is the first above a noisy threshold; the number of columns if none is."""

    def run(rows: IntArray, rng: Rng) -> int:
        asked = rows.sum(axis=0)
        bar = threshold + (rng.laplace(0, blur) if blur else 0.0)
        noisy = asked + (rng.laplace(0, each, len(asked)) if each else 0.0)
        above = noisy >= bar
        return int(above.argmax()) if above.any() else len(asked)

    return run


def _in_words(run: Run) -> Run:
    return lambda rows, rng: f"column {run(rows, rng)}"


def all_passes(threshold: float, blur: float, each: float, cut: int) -> Run:
    """Return how many columns pass, in the first half and in the second, up to a number of passes."""

    def run(rows: IntArray, rng: Rng) -> IntArray:
        noisy = rows.sum(axis=0) + rng.laplace(0, each, rows.shape[1])
        above = noisy >= threshold + rng.laplace(0, blur)
        above &= above.cumsum() <= cut
        passed: IntArray = above.reshape(2, -1).sum(axis=1)
        return passed

    return run


def sieve(*, refresh: bool) -> Run:
    """Sieve each column's mean in a sample, examine what passes in all rows, and stop at the first that is found.

    Half of epsilon is for the sieve, half for the examination. Without ``refresh`` a failed examination is free, and
    the sample and the threshold go on being used, as in the listing of Algorithm 2 of Wang, Pang, Song 2020; their
    section 3.1 bills it all the same, and their code also draws both anew. With it a failed examination ends the run
    like one that succeeds.
    """

    def run(rows: IntArray, rng: Rng) -> int:
        n, asked = rows.shape
        drawn = n // 2
        spent = math.log1p(n / drawn * math.expm1(0.5))
        sample = rows[rng.permutation(n)[:drawn]].mean(axis=0)
        bar = _AIM - _SLACK + rng.laplace(0, 2 / (drawn * spent))
        sieved = sample + rng.laplace(0, 4 / (drawn * spent), asked) >= bar
        examined = rows.mean(axis=0) + rng.laplace(0, 1 / (n * 0.5), asked) >= _AIM
        found = sieved & (examined if not refresh else True)
        place = int(found.argmax()) if found.any() else asked
        return place if not refresh or (place < asked and examined[place]) else asked

    return run


def _tail(scale: float) -> Callable[[int], float]:
    """Return P(noise >= x) of the discrete Laplace."""
    ratio = math.exp(-1 / scale)
    return lambda x: ratio**x / (1 + ratio) if x > 0 else 1 - ratio ** (1 - x) / (1 + ratio)


def _discrete_laplace(scale: float, reach: int) -> dict[int, float]:
    weights = {k: math.exp(-abs(k) / scale) for k in range(-reach, reach + 1)}
    return {k: w / sum(weights.values()) for k, w in weights.items()}


def _rounded_gaussian(sigma: float, reach: int) -> dict[int, float]:
    weights = {k: math.exp(-0.5 * (k / sigma) ** 2) for k in range(-reach, reach + 1)}
    return {k: w / sum(weights.values()) for k, w in weights.items()}


def _law(asked: list[int], threshold: int, blur: dict[int, float], tail: Callable[[int], float]) -> dict[object, float]:
    """Return the law of the first pass of whole-number questions."""
    found: dict[object, float] = dict.fromkeys(range(len(asked) + 1), 0.0)
    for shift, probability in blur.items():
        left = probability
        for place, value in enumerate(asked):
            passes = tail(threshold + shift - value)
            found[place] += left * passes
            left *= 1 - passes
        found[len(asked)] += left
    return found


def _with_answer() -> Finite:
    """Return the law of the first pass together with the noisy answer that passed, clipped to a public range."""
    blur, tail, reach = _discrete_laplace(2.0, 60), _tail(2.0), 8

    def shown(value: int, bar: int) -> dict[int, float]:
        reached = {a: tail(max(a, bar) - value) for a in range(-reach + 1, reach + 1)}
        reached = {-reach: tail(bar - value), **reached, reach + 1: 0.0}
        return {a: reached[a] - reached[a + 1] for a in range(-reach, reach + 1)}

    def law(cells: tuple[int, ...]) -> dict[object, float]:
        asked = [sum(cells)] * 6 + [len(cells) - sum(cells)]
        found: dict[object, float] = {(j, a): 0.0 for j in range(len(asked)) for a in range(-reach, reach + 1)}
        found["none"] = 0.0
        for bar, probability in blur.items():
            left = probability
            for place, value in enumerate(asked):
                for answer, p in shown(value, bar).items():
                    found[place, answer] += left * p
                left *= 1 - tail(bar - value)
            found["none"] += left
        return found

    return Finite(law, 2, 2, PURE)


def whole_sieve(threshold: float) -> Finite:
    """Sieve on all rows for half of epsilon 1: questions have noise for that, the threshold has this scale."""
    blur, tail = _discrete_laplace(threshold, 40 * round(threshold)), _tail(4 / 0.5)

    def law(cells: tuple[int, ...]) -> dict[object, float]:
        up = sum(cells)
        return _law([up] * HALF + [len(cells) - up], 0, blur, tail)

    return Finite(law, 2, 2, Claim(Currency.PURE, 0.5))


def _sampled_sieve() -> Finite:
    """Sieve on one of four rows with noise for all four: the statistic moves twice as far there."""
    epsilon, rows, moved = 1.0, 4, 2
    amplified = math.log1p(rows * math.expm1(epsilon / 2))
    blur, tail = _discrete_laplace(2 / amplified, 60), _tail(4 / amplified)

    def law(cells: tuple[int, ...]) -> dict[object, float]:
        laws = [_law([moved * cell] * 6 + [moved * (1 - cell)], 0, blur, tail) for cell in cells]
        return {place: sum(one[place] for one in laws) / rows for place in laws[0]}

    return Finite(law, rows, 2, Claim(Currency.PURE, epsilon / 2))


def _gaussian_threshold() -> Finite:
    """Blur the threshold with Gaussian noise of the deviation that Laplace noise would have as its scale."""
    epsilon = 1.0
    blur, tail = _rounded_gaussian(2 / epsilon, 40), _tail(8 / epsilon)

    def law(cells: tuple[int, ...]) -> dict[object, float]:
        up = sum(cells)
        return _law([up + 8] * HALF + [len(cells) - up], 0, blur, tail)

    return Finite(law, 2, 2, Claim(Currency.PURE, epsilon))


def _free_below() -> Finite:
    """Compare every question, with noise of its own, with a fixed threshold; only the one that passes is billed.

    The bill is that of one question by advanced composition, as the published code adds up.
    """
    each, delta = 0.5, 1e-14
    tail = _tail(1 / each)

    def law(cells: tuple[int, ...]) -> dict[object, float]:
        return _law([sum(cells)] * HALF, 2, {0: 1.0}, tail)

    return Finite(law, 1, 2, Claim(Currency.PURE, each**2 + math.sqrt(2 * math.log(1 / delta)) * each, delta))


def _sampled(name: str, wrong: str, origin: str, run: Run, shown: Neighbours, claim: Claim = PURE) -> Broken:
    return Broken(name, wrong, origin, "black box", Sampled(run, claim, (shown,)))


SPARSE: tuple[Broken, ...] = (
    _sampled(
        "sparse-bare-questions",
        "only the threshold has noise",
        "Lyu, Su, Li 2017, algorithm 5",
        _in_words(first_pass(0, 2.0, 0.0)),
        pair({(0, 0): 9}, (0, 1), (1, 0)),
    ),
    _sampled(
        "sparse-bare-threshold",
        "the threshold has no noise, so every answer below it costs",
        "planted",
        first_pass(4, 0.0, 2.0),
        RAISED,
    ),
    _sampled(
        "sparse-threshold-kept",
        "goes on with the same noisy threshold after a pass, and bills one pass",
        "planted",
        all_passes(0, 2.0, 4.0, 2 * HALF),
        TURNED,
    ),
    _sampled(
        "sparse-noise-not-scaled",
        "the questions' noise does not grow with the number of passes",
        "Lyu, Su, Li 2017, algorithm 4",
        all_passes(0, 4.0, 4 / 3, HALF),
        TURNED,
    ),
    _sampled(
        "sparse-without-end",
        "any number of passes for the price of one",
        "Lyu, Su, Li 2017, algorithm 6",
        all_passes(0, 2.0, 2.0, 2 * HALF),
        TURNED,
    ),
    _sampled(
        "sieve-kept",
        "a failed examination is not billed, and sample and threshold stay in use",
        "Wang, Pang, Song 2020, algorithm 2 as listed (section 3.1 bills it, the code also draws anew)",
        sieve(refresh=False),
        RAISED_AMONG_MANY,
    ),
    Broken(
        "sparse-with-answer",
        "publishes the noisy answer that it compared",
        "Lyu, Su, Li 2017, algorithm 3",
        "exact",
        _with_answer(),
    ),
    Broken(
        "sieve-full-data-noise",
        "the sieve looks at a sample with the noise for all rows",
        "planted",
        "exact",
        _sampled_sieve(),
    ),
    Broken(
        "sieve-threshold-slip",
        "the threshold's noise is for all of epsilon, the sieve's share is half of it",
        "Wang, Pang, Song 2020, algorithm 1, line 4",
        "exact",
        whole_sieve(2 / 1.0),
    ),
    Broken(
        "free-below-threshold",
        "questions that stay below a fixed threshold are not billed",
        "Bhattacharjee, Tandon 2024 (CURATE), code",
        "exact",
        _free_below(),
    ),
    Broken(
        "sparse-gaussian-threshold",
        "the threshold gets Gaussian noise, and a pure epsilon is billed",
        "Wang, Pang, Song 2020, code of SVT-PC",
        "exact",
        _gaussian_threshold(),
    ),
)
