"""Tail probabilities of weighted sums of chi-square variables.

Kuonen 1999, *Saddlepoint approximations for distributions of quadratic forms in normal variables*.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.arrays import FloatArray

_EQUAL = 1e-9


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
