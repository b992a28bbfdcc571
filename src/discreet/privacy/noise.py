"""The only place that draws privacy noise: exact samplers fed by the operating system's entropy.

The rounded Gaussian and the exponential choice are ours (proofs: ``noise.md``); discrete Laplace and
discrete Gaussian are OpenDP's.
"""

from __future__ import annotations

import secrets
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from flint import arb
from scipy.special import ndtri

from discreet.arrays import IntArray
from discreet.privacy.precision import precision

CHOICE_BITS = 128
"""Bits of the uniform number that are drawn at first; they settle all but one in 2^100 choices."""

GUARD = 32
"""Bits by which weights are finer than the uniform number: room for the rounding of four thousand millions of them."""

WORD = 64
"""Bits of a word of entropy, and so of every further step of a comparison."""

TABLE_REACH = 10
"""The table of thresholds spans this many standard deviations; what lies outside is bisected."""

Words = npt.NDArray[np.uint64]


class RandomBits(Protocol):
    """A source of further random bits."""

    def __call__(self, bits: int, /) -> int:
        """Return an integer of that many random bits."""
        ...


class Noise(Protocol):
    """A source of integer noise."""

    @property
    def private(self) -> bool:
        """Whether nobody can predict it."""
        ...

    def rounded_gaussian(self, sigma: float, size: int) -> IntArray:
        """Independent draws of a normal variable rounded to the nearest integer."""
        ...

    def discrete_gaussian(self, sigma: float, size: int) -> IntArray:
        """Independent draws with probability proportional to exp(-k^2 / (2 sigma^2))."""
        ...

    def discrete_laplace(self, scale: float, size: int) -> IntArray:
        """Independent draws with probability proportional to exp(-|k| / scale)."""
        ...

    def one_sided(self, scale: float, size: int) -> IntArray:
        """Independent draws of k = 0, 1, ... with probability proportional to exp(-k / scale)."""
        ...

    def exponential_choices(self, utilities: IntArray, scale: float) -> IntArray:
        """One index a row of a matrix, independent, with probability proportional to exp(utility / scale)."""
        ...

    def subset(self, size: int, of: int) -> IntArray:
        """That many of the first integers, in order; every set is equally likely."""
        ...

    def order(self, of: int) -> IntArray:
        """All of the first integers; every order of them is equally likely."""
        ...


class ExactNoise:
    """Noise from exact samplers and the operating system's entropy: the only private source."""

    @property
    def private(self) -> bool:
        """Whether nobody can predict it: yes."""
        return True

    def rounded_gaussian(self, sigma: float, size: int) -> IntArray:
        """Independent draws of a normal variable rounded to the nearest integer, exactly."""
        words = np.frombuffer(secrets.token_bytes(8 * size), dtype=np.uint64)
        return invert_rounded_gaussian(sigma, words, secrets.randbits)

    def discrete_gaussian(self, sigma: float, size: int) -> IntArray:
        """Independent draws of the discrete Gaussian, by OpenDP."""
        from opendp.measurements import make_gaussian
        from opendp.metrics import l2_distance

        return _opendp_draws(make_gaussian, l2_distance(T="f64"), sigma, size)

    def discrete_laplace(self, scale: float, size: int) -> IntArray:
        """Independent draws of the discrete Laplace, by OpenDP."""
        return _laplace_draws(scale, size)

    def one_sided(self, scale: float, size: int) -> IntArray:
        """Independent draws of geometric noise from 0 on: discrete Laplace draws, those below 0 drawn again."""
        return from_zero(lambda wanted: _laplace_draws(scale, wanted), size)

    def subset(self, size: int, of: int) -> IntArray:
        """That many of the first integers: those with the smallest of independent keys, drawn again if keys tie."""
        return smallest_keys(lambda: np.frombuffer(secrets.token_bytes(8 * of), dtype=np.uint64), size)

    def order(self, of: int) -> IntArray:
        """All of the first integers, as independent keys would sort them; keys that tie are drawn again."""
        return sorted_keys(lambda: np.frombuffer(secrets.token_bytes(8 * of), dtype=np.uint64))

    def exponential_choices(self, utilities: IntArray, scale: float) -> IntArray:
        """One index a row of a matrix, with probability proportional to exp(utility / scale), exactly."""
        return np.array([invert_choice(row, scale, secrets.randbits) for row in utilities.tolist()], dtype=np.int64)


def from_zero(draw: Callable[[int], IntArray], size: int) -> IntArray:
    """Return so many draws that are 0 or above; given that, their law is the one that was drawn from."""
    kept: list[IntArray] = []
    while (wanted := size - sum(map(len, kept))) > 0:
        drawn = draw(2 * wanted + 8)
        kept.append(drawn[drawn >= 0][:wanted])
    return np.concatenate([np.zeros(0, dtype=np.int64), *kept])


def smallest_keys(draw: Callable[[], Words], size: int) -> IntArray:
    """Return the places of the smallest keys, in order.

    Independent keys of the same law are exchangeable, so if the largest key inside differs from the smallest outside,
    every set of places is equally likely; if not, all keys are drawn again.
    """
    while True:
        keys = draw()
        if size == len(keys):
            return np.arange(size, dtype=np.int64)
        order = np.argpartition(keys, size - 1)
        if keys[order[:size]].max() < keys[order[size:]].min():
            return np.sort(order[:size]).astype(np.int64)


def sorted_keys(draw: Callable[[], Words]) -> IntArray:
    """Return the places of all keys, smallest first: exchangeable keys without ties make every order equally likely."""
    while True:
        keys = draw()
        order = np.argsort(keys)
        if (np.diff(keys[order]) > 0).all():
            return order.astype(np.int64)


def _laplace_draws(scale: float, size: int) -> IntArray:
    from opendp.measurements import make_laplace
    from opendp.metrics import l1_distance

    return _opendp_draws(make_laplace, l1_distance(T="i64"), scale, size)


def _opendp_draws(make: Callable[..., Any], metric: object, scale: float, size: int) -> IntArray:
    """Let OpenDP blur a vector of zeros."""
    from opendp.domains import atom_domain, vector_domain
    from opendp.mod import enable_features

    enable_features("contrib")
    measurement = make(vector_domain(atom_domain(T="i64")), metric, scale=scale)
    return np.array(measurement([0] * size), dtype=np.int64)


def invert_rounded_gaussian(sigma: float, words: Words, more: RandomBits) -> IntArray:
    """Turn uniform 64-bit words into draws of ``round(N(0, sigma^2))``, exactly.

    Each word holds the first 64 bits of a uniform number U; the draw is the integer k with
    ``Phi((k - 1/2)/sigma) <= U < Phi((k + 1/2)/sigma)``. A table of certified bounds on these thresholds settles
    almost every word; where the first 64 bits do not decide, further bits are drawn with ``more``.

    Proof
    -----
    ``noise.md``.
    """
    if 2 * TABLE_REACH * sigma > 4 * len(words):  # a table would be larger than it is worth
        return _one_by_one(sigma, words, more)
    points, lows, highs = _threshold_table(sigma)
    drawn = np.zeros(len(words), dtype=np.int64)
    # i = how many thresholds certainly lie at or below U; settled if the next one certainly lies above.
    i = np.searchsorted(highs, words, side="right")
    following = np.minimum(i, len(points) - 1)
    settled = (i > 0) & (i < len(points)) & (words < lows[following])
    drawn[settled] = points[following[settled]]
    for j in np.flatnonzero(~settled):
        low, high = points[max(int(i[j]) - 1, 0)], points[following[j]]
        drawn[j] = _refine(int(words[j]), sigma, more, (int(low), int(high)))
    return drawn


def _one_by_one(sigma: float, words: Words, more: RandomBits) -> IntArray:
    """Start from the inverse in floating point, which is only a guess, and let certified thresholds decide."""
    middle = (words.astype(np.float64) + 0.5) / 2.0**WORD
    guessed = np.rint(np.clip(sigma * ndtri(middle), -TABLE_REACH * sigma, TABLE_REACH * sigma)).astype(np.int64)
    found = [_refine(int(w), sigma, more, (int(k) - 1, int(k))) for w, k in zip(words, guessed, strict=True)]
    return np.array(found, dtype=np.int64)


def _threshold_table(sigma: float) -> tuple[IntArray, Words, Words]:
    """Return integers, and certified bounds on their thresholds as 64-bit words."""
    reach = int(TABLE_REACH * sigma) + 1
    bounds = {k: _threshold(k, sigma, WORD) for k in range(-reach, reach + 1)}
    fitting = {k: bound for k, bound in bounds.items() if bound[1] < 1 << WORD}
    lows = np.array([low for low, _ in fitting.values()], dtype=np.uint64)
    highs = np.array([high for _, high in fitting.values()], dtype=np.uint64)
    # Thresholds rise with k, so the running maximum of upper bounds (and minimum of lower ones) bounds them too.
    highs = np.maximum.accumulate(highs)
    lows = np.minimum.accumulate(lows[::-1])[::-1]
    return np.array(list(fitting), dtype=np.int64), lows, highs


def _threshold(k: int, sigma: float, bits: int) -> tuple[int, int]:
    """Return integers certainly at or below, and at or above, ``2^bits Phi((k + 1/2)/sigma)``."""
    with precision(bits + 96):
        z = -(arb(2 * k + 1) / 2) / (arb(sigma) * arb(2).sqrt())
        scaled = z.erfc() / 2 * arb(2) ** bits
        return max(0, int(scaled.lower().floor().unique_fmpz())), int(scaled.upper().ceil().unique_fmpz())


def _refine(word: int, sigma: float, more: RandomBits, bracket: tuple[int, int]) -> int:
    """Find the draw by bisection, drawing further bits of U whenever a comparison is open."""
    bits = WORD

    def reached(k: int) -> bool:
        """Whether Phi((k + 1/2)/sigma) <= U."""
        nonlocal word, bits
        while True:
            low, high = _threshold(k, sigma, bits)
            if high <= word:
                return True
            if word + 1 <= low:
                return False
            word, bits = (word << WORD) | more(WORD), bits + WORD

    low, high = bracket
    width = max(1, high - low)
    while not reached(low):
        low, width = low - width, 2 * width
    while reached(high):
        high, width = high + width, 2 * width
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if reached(middle) else (low, middle)
    return high


def invert_choice(utilities: Sequence[int], scale: float, more: RandomBits) -> int:
    """Turn uniform bits into a draw of i with probability proportional to ``exp(utilities[i] / scale)``, exactly.

    Proof
    -----
    ``noise.md``.
    """
    best = max(utilities)
    drops = [best - utility for utility in utilities]
    word, bits = more(CHOICE_BITS), CHOICE_BITS
    while True:
        bounds = {drop: _weight(drop, scale, bits + GUARD) for drop in set(drops)}
        lows = list(accumulate(bounds[drop][0] for drop in drops))
        highs = list(accumulate(bounds[drop][1] for drop in drops))
        # i = how many cumulated weights certainly lie at or below U times their total.
        i = bisect_right(highs, (word * lows[-1]) >> bits)
        if (word + 1) * highs[-1] <= lows[i] << bits:
            return i
        word, bits = (word << WORD) | more(WORD), bits + WORD


def _weight(drop: int, scale: float, bits: int) -> tuple[int, int]:
    """Return integers certainly at or below, and at or above, ``2^bits exp(-drop/scale)``."""
    over, under = scale.as_integer_ratio()
    if drop * under >= bits * over:
        return 0, 1
    with precision(bits + GUARD):
        scaled = (-arb(drop * under) / arb(over)).exp() * arb(2) ** bits
        low, high = scaled.lower().floor().unique_fmpz(), scaled.upper().ceil().unique_fmpz()
    return max(0, int(low)), int(high)
