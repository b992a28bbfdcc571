"""How far two output laws are apart: the smallest epsilon, mu or rho that fits them, and the event that shows it.

Proofs: ``exact.md``.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp, ndtri

from discreet.arrays import FloatArray, IntArray

ORDERS = np.array([1.01, 1.1, 1.25, 1.5, 2, 2.5, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64])
"""Orders at which Renyi divergences are compared."""


def smallest_epsilon(p: FloatArray, q: FloatArray, delta: float = 0.0) -> tuple[float, tuple[int, ...]]:
    """Return the smallest epsilon >= 0 with p(E) <= e^epsilon q(E) + delta for all events E, and one that needs it.

    The event is empty if epsilon is 0; epsilon is infinite if nothing would do.
    """
    order, ratios = _ratios(p, q, delta)
    best = int(ratios.argmax())
    if ratios[best] <= 1:
        return 0.0, ()
    return float(np.log(ratios[best])), tuple(sorted(order[: best + 1].tolist()))


def smallest_epsilons(p: FloatArray, q: FloatArray, delta: float = 0.0) -> FloatArray:
    """Return the same for many pairs of laws at once, without events: the outputs are the last axis."""
    _, ratios = _ratios(p, q, delta)
    found: FloatArray = np.log(np.maximum(ratios.max(axis=-1), 1.0))
    return found


def _ratios(p: FloatArray, q: FloatArray, delta: float) -> tuple[IntArray, FloatArray]:
    """Return outputs from the most telling down, and (p(E) - delta)/q(E) of the first one, two, three ... of them."""
    order = _telling(p, q)
    first, second = (np.cumsum(np.take_along_axis(law, order, -1), -1) for law in (p, q))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return order, np.where(second > 0, (first - delta) / second, np.where(first > delta, np.inf, 0.0))


def _telling(p: FloatArray, q: FloatArray) -> IntArray:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(q > 0, p / q, np.where(p > 0, np.inf, -1.0))
    order: IntArray = np.argsort(-ratio, axis=-1, kind="stable")
    return order


def smallest_mu(p: FloatArray, q: FloatArray) -> tuple[float, IntArray]:
    """Return the smallest mu for which p against q is no easier to tell than N(mu, 1) against N(0, 1), and an event."""
    order = _telling(p, q)
    z = []
    for law in (p, q):
        inside, outside = np.cumsum(law[order]), np.cumsum(law[order][::-1])[::-1]
        outside = np.append(outside[1:], 0.0)
        z.append(np.where(inside < 0.5, ndtri(np.minimum(inside, 0.5)), -ndtri(np.minimum(outside, 0.5))))
    with np.errstate(invalid="ignore"):
        gaps = np.nan_to_num(z[0] - z[1], nan=0.0, posinf=np.inf)
    best = int(gaps.argmax())
    return max(0.0, float(gaps[best])), order[: best + 1]


def renyi(log_p: FloatArray, log_q: FloatArray) -> FloatArray:
    """Return the Renyi divergences of p from q at all ``ORDERS``, from logarithms of the probabilities."""
    there = log_p > -np.inf
    if (log_q[there] == -np.inf).any():
        return np.full(len(ORDERS), np.inf)
    p, q = log_p[there], log_q[there]
    found: FloatArray = logsumexp(ORDERS[:, None] * p + (1 - ORDERS[:, None]) * q, axis=1) / (ORDERS - 1)
    return found


def smallest_rho(divergences: FloatArray) -> tuple[float, float]:
    """Return the smallest rho with divergences of at most rho times their order, and the order that needs it."""
    rhos = divergences / ORDERS
    best = int(rhos.argmax())
    return max(0.0, float(rhos[best])), float(ORDERS[best])
