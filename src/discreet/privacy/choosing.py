"""Choosing one of several with probabilities proportional to exponentials of integers, exactly.

Nothing is drawn here: uniform bits are handed in by ``noise``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from flint import arb, ctx

if TYPE_CHECKING:
    from discreet.privacy.noise import RandomBits

START = 128
"""Bits of the uniform number that are drawn at first; they settle all but one in 2^100 choices."""

MORE = 64
"""Bits that are drawn whenever those so far do not settle the choice."""

GUARD = 32
"""Bits by which weights are finer than the uniform number: room for the rounding of four thousand millions of them."""


def invert_choice(utilities: Sequence[int], scale: float, more: RandomBits) -> int:
    """Turn uniform bits into a draw of i with probability proportional to ``exp(utilities[i] / scale)``, exactly.

    Proof
    -----
    ``choosing.md``.
    """
    best = max(utilities)
    drops = [best - utility for utility in utilities]
    word, bits = more(START), START
    while True:
        bounds = {drop: _weight(drop, scale, bits + GUARD) for drop in set(drops)}
        lows = list(accumulate(bounds[drop][0] for drop in drops))
        highs = list(accumulate(bounds[drop][1] for drop in drops))
        # i = how many cumulated weights certainly lie at or below U times their total.
        i = bisect_right(highs, (word * lows[-1]) >> bits)
        if (word + 1) * highs[-1] <= lows[i] << bits:
            return i
        word, bits = (word << MORE) | more(MORE), bits + MORE


def _weight(drop: int, scale: float, bits: int) -> tuple[int, int]:
    """Return integers certainly at or below, and at or above, ``2^bits exp(-drop/scale)``."""
    over, under = scale.as_integer_ratio()
    if drop * under >= bits * over:
        return 0, 1
    with ctx.workprec(bits + GUARD):
        scaled = (-arb(drop * under) / arb(over)).exp() * arb(2) ** bits
        low, high = scaled.lower().floor().unique_fmpz(), scaled.upper().ceil().unique_fmpz()
    return max(0, int(low)), int(high)
