"""Samplers against the laws they are to draw from, with the real source of noise.

A law is known in ball arithmetic, so that whatever has a probability can be counted: single values, tails, and sums of
two draws that should have nothing to do with each other. How often each occurred is tested exactly, all of it together
at one level. Where a draw changes from one value to the next is looked at with given bits instead of random ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
from flint import arb, ctx
from scipy.special import bdtr, bdtrc, ndtr

from discreet.arrays import FloatArray, IntArray
from discreet.audit import Finding
from discreet.audit.laws import Draw, log_law
from discreet.privacy.noise import (
    WORD,
    ExactNoise,
    Noise,
    invert_choice,
    invert_rounded_gaussian,
    smallest_keys,
    sorted_keys,
)

CALLS = 8
"""Draws are asked for in so many calls: what one call shares with another shows."""

REACH = 12
"""Values further out than so many scales are one."""


@dataclass(frozen=True)
class Sampler:
    """Something that draws whole numbers from 0 or around it, and the probability of each.

    Parameters
    ----------
    name
        What is drawn.
    draw
        Draws so many, from a source.
    low, law
        The least number, and the probabilities of all from there on; both ends hold all that lies beyond.
    share
        How many draws of all that an audit may make are made of it: some are slow.
    """

    name: str
    draw: Callable[[Noise, int], IntArray]
    low: int
    law: FloatArray
    share: float = 1.0


def audit_sampler(sampler: Sampler, draws: int, alpha: float) -> Finding:
    """Draw often, and test whether every event is as frequent as its law says."""
    noise, size = ExactNoise(), max(int(draws * sampler.share) // CALLS, 2)
    high = sampler.low + len(sampler.law) - 1
    drawn = np.stack([np.clip(sampler.draw(noise, size), sampler.low, high) for _ in range(CALLS)]) - sampler.low
    half = size // 2
    samples = [("one draw", drawn.ravel(), sampler.law)]
    twice, apart = np.convolve(sampler.law, sampler.law), np.convolve(sampler.law, sampler.law[::-1])
    pairs = {
        "two draws of one call": (drawn[:, :half], drawn[:, half : 2 * half]),
        "a draw and the next": (drawn[:, 0 : 2 * half : 2], drawn[:, 1 : 2 * half : 2]),
        "draws of two calls": (drawn[::2], drawn[1::2]),
    }
    for words, (one, other) in pairs.items():
        samples.append((f"the sum of {words}", (one + other).ravel(), twice))
        samples.append((f"the difference of {words}", (one - other).ravel() + len(sampler.law) - 1, apart))
    tested = [(words, *_tests(values, law)) for words, values, law in samples]
    events = sum(len(each[1]) for each in tested)
    words, names, seen, expected, rare = min(tested, key=lambda each: each[-1].min())
    rarest = int(rare.argmin())
    violated = bool(rare[rarest] * events < alpha)
    what = (
        f"{words}: {names[rarest]} (from the least, 0) {seen[rarest]:,} times, expected {expected[rarest]:,.1f} times"
    )
    evidence = what if violated else ""
    return Finding(sampler.name, "fit", "draws have their law", 1.0, None, drawn.size, violated, evidence)


def _tests(values: IntArray, law: FloatArray) -> tuple[list[str], IntArray, FloatArray, FloatArray]:
    """Return events, how often each occurred, how often it should, and how likely that or rarer is, exactly."""
    number, places = len(values), np.arange(len(law))
    both = np.stack([np.bincount(values, minlength=len(law)).astype(np.float64), law])
    outwards = np.argsort(-np.abs(places - float(places @ law)), kind="stable")
    kinds = {"the value": both, "a value up to": both.cumsum(axis=1), "as far out as": both[:, outwards].cumsum(axis=1)}
    words = [f"{kind} {place}" for kind in kinds for place in (outwards if kind == "as far out as" else places)]
    seen, chance = np.concatenate(list(kinds.values()), axis=1)
    chance = np.minimum(chance, 1.0)
    few, many = bdtr(seen, number, chance), np.where(seen > 0, bdtrc(seen - 1, number, chance), 1.0)
    return words, seen.astype(np.int64), chance * number, np.minimum(2 * np.minimum(few, many), 1.0)


def _noise(
    kind: str, scale: float, draw: Callable[[Noise, int], IntArray], share: float = 1.0, how: str = ""
) -> Sampler:
    reach = math.ceil(REACH * scale) + 1
    law = np.exp(log_law(Draw(kind, scale), -reach, reach))
    return Sampler(f"{kind} noise of scale {scale:g}{how}", draw, -reach, law / law.sum(), share)


def _one_sided(scale: float) -> Sampler:
    ratio, reach = math.exp(-1 / scale), math.ceil(3 * REACH * scale) + 1
    law: FloatArray = np.power(ratio, np.arange(reach + 1.0)) * (1 - ratio)
    law[-1] = ratio**reach
    return Sampler(f"geometric noise of scale {scale:g}", lambda noise, n: noise.one_sided(scale, n), 0, law, 0.25)


def _choice(utilities: tuple[int, ...], scale: float) -> Sampler:
    matrix = np.array(utilities)
    law = np.exp(log_law(Draw("choice", scale, 0, utilities), 0, len(utilities) - 1))

    def draw(noise: Noise, number: int) -> IntArray:
        return noise.exponential_choices(np.tile(matrix, (number, 1)), scale)

    return Sampler(f"a choice of {len(utilities)}, scale {scale:g}", draw, 0, law, 0.1)


def _uniform(name: str, outcomes: list[tuple[int, ...]], draw: Callable[[Noise], IntArray]) -> Sampler:
    """Return a sampler of what is equally likely, by its place in a list."""
    places = {outcome: i for i, outcome in enumerate(outcomes)}

    def draws(noise: Noise, number: int) -> IntArray:
        return np.array([places.get(tuple(draw(noise).tolist()), 0) for _ in range(number)])

    return Sampler(name, draws, 0, np.full(len(outcomes), 1 / len(outcomes)), 0.1)


def _scaled(method: str, scale: float) -> Callable[[Noise, int], IntArray]:
    def draw(noise: Noise, number: int) -> IntArray:
        drawn: IntArray = getattr(noise, method)(scale, number)
        return drawn

    return draw


FAR, RESIDUES, CELL = 1e7, 64, 4
"""A scale at which single values are too rare to be counted; their last bits are, and their size in parts of it."""


def _last_bits(kind: str, method: str) -> Sampler:
    """Return the last bits of noise of a large scale: all equally likely, to far beyond what draws could show."""
    name = f"{kind} noise of scale {FAR:g}, last bits"
    draw = _scaled(method, FAR)
    return Sampler(name, lambda noise, n: draw(noise, n) % RESIDUES, 0, np.full(RESIDUES, 1 / RESIDUES), 0.1)


def _sizes(kind: str, method: str, tail: Callable[[FloatArray], FloatArray]) -> Sampler:
    """Return the size of noise of a large scale, in quarters of it; ``tail`` is the law's, of a scale of 1."""
    step, cells = int(FAR) // CELL, np.arange(-CELL * REACH, CELL * REACH + 1.0)
    above = tail(np.asarray((cells * step - 0.5) / FAR, dtype=np.float64))
    law = np.concatenate([1 - above[:1], above[:-1] - above[1:], above[-1:]])
    draw = _scaled(method, FAR)
    name = f"{kind} noise of scale {FAR:g}, size"
    return Sampler(name, lambda noise, n: draw(noise, n) // step, int(cells[0]) - 1, law, 0.1)


def _laplace_tail(x: FloatArray) -> FloatArray:
    """Return the probability beyond x, which that of whole numbers equals to a ten-millionth of a ten-millionth."""
    return np.where(x > 0, np.exp(-np.abs(x)) / 2, 1 - np.exp(-np.abs(x)) / 2)


def _few_at_a_time(noise: Noise, number: int) -> IntArray:
    """Draw so few at a time that no table of thresholds is made."""
    return np.concatenate([noise.rounded_gaussian(60.0, 100) for _ in range(-(-number // 100))])[:number]


def samplers() -> list[Sampler]:
    """Return every sampler of the exact source, at small and large scales."""
    found = [_noise("rounded Gaussian", scale, _scaled("rounded_gaussian", scale)) for scale in (0.4, 1.5, 60.0)]
    found.append(_noise("rounded Gaussian", 60.0, _few_at_a_time, 0.1, ", a few at a time"))
    for kind, method, scales in (
        ("discrete Gaussian", "discrete_gaussian", (0.7, 8.0)),
        ("discrete Laplace", "discrete_laplace", (0.6, 8.0)),
    ):
        found += [_noise(kind, scale, _scaled(method, scale), 0.25) for scale in scales]
    for kind, method, tail in (
        ("rounded Gaussian", "rounded_gaussian", lambda x: ndtr(-x)),
        ("discrete Gaussian", "discrete_gaussian", lambda x: ndtr(-x)),
        ("discrete Laplace", "discrete_laplace", _laplace_tail),
        ("geometric", "one_sided", lambda x: np.exp(-np.maximum(x, 0.0))),
    ):
        found += [_last_bits(kind, method), _sizes(kind, method, tail)]
    found += [_one_sided(0.8), _one_sided(6.0), _choice((0, 3, 5, 5), 2.0), _choice((-400, 0), 300.0)]
    found.append(_uniform("a sample of rows", list(combinations(range(5), 2)), lambda noise: noise.subset(2, 5)))
    found.append(_uniform("an order of rows", list(permutations(range(4))), lambda noise: noise.order(4)))
    return found


def audit_thresholds(name: str) -> Finding:
    """Draw with given bits, just below and just above where the draw changes, and compare with the law itself."""
    looked = 0
    for wrong in (*_gaussian_thresholds(), *_choice_thresholds(), *_ties()):
        looked += 1
        if wrong:
            return Finding(name, "exact", "draws change where their law says", 1.0, None, looked, True, wrong)
    return Finding(name, "exact", "draws change where their law says", 1.0, None, looked, False)


PRECISION = 400


def _floor(value: arb) -> int:
    """Return the whole number below a value that lies between two of them."""
    return int(value.floor().unique_fmpz())


def _gaussian_thresholds() -> Iterator[str]:
    """Yield what is wrong, or nothing, for every threshold of some scales."""
    for sigma, many in ((0.4, 1), (3.0, 100), (3.0, 1), (5e3, 1), (1e9, 1)):  # a table of thresholds, and one by one
        reach = math.ceil((REACH if sigma < 5 else 5) * sigma)  # beyond the table; where there is none, a few
        with ctx.workprec(PRECISION):
            for k in range(-reach, reach, max(reach // 36, 1)):
                share = (1 + (arb(2 * k + 1) / (2 * arb(sigma) * arb(2).sqrt())).erf()) / 2
                word = _floor(share * arb(2) ** WORD)
                inner = _floor(share * arb(2) ** (2 * WORD)) - (word << WORD)
                for bits, expected in ((inner - 1, k), (inner + 1, k + 1)):
                    words = np.full(many, word, dtype=np.uint64)
                    drawn = invert_rounded_gaussian(sigma, words, lambda _, bits=bits: bits)
                    yield "" if (drawn == expected).all() else f"{int(drawn[0])} for {expected}, sigma {sigma:g}"


def _choice_thresholds() -> Iterator[str]:
    for utilities, scale in (((0, 3, 5, 5), 2.0), ((-400, 0, 1), 300.0)):
        with ctx.workprec(PRECISION):
            weights = [(arb(u) / arb(scale)).exp() for u in utilities]
            total = sum(weights[1:], start=weights[0])
            for i in range(len(weights) - 1):
                share = sum(weights[1 : i + 1], start=weights[0]) / total
                word = _floor(share * arb(2) ** 256)
                for bits, expected in ((word - 1, i), (word + 1, i + 1)):
                    found = invert_choice(utilities, scale, _Given(bits, 256))
                    yield "" if found == expected else f"candidate {found} for {expected}"


def _ties() -> Iterator[str]:
    """Keys that tie are drawn again: else orders and samples would not be equally likely."""
    tied, apart = np.array([3, 1, 1, 2], dtype=np.uint64), np.array([4, 3, 2, 1], dtype=np.uint64)
    drawn = iter((tied, apart, tied, apart))
    yield "" if sorted_keys(lambda: next(drawn)).tolist() == [3, 2, 1, 0] else "an order by keys that tie"
    yield "" if smallest_keys(lambda: next(drawn), 1).tolist() == [3] else "a sample by keys that tie"


class _Given:
    """Hands out given bits, the first ones first."""

    def __init__(self, word: int, bits: int) -> None:
        self._word, self._bits = word, bits

    def __call__(self, bits: int, /) -> int:
        self._bits -= bits
        return (self._word >> self._bits) & ((1 << bits) - 1)
