"""Broken, but hardly visible: leaks that are small, rare, or hidden. They show what audits cannot promise."""

from __future__ import annotations

import numpy as np

from discreet.arrays import IntArray
from discreet.audit.broken import Asking, Broken, Output, Sampled
from discreet.audit.broken.methods import DOMAIN, PAIRS, PURE, SWAP, ask, edges, room_of
from discreet.audit.broken.noise import LONE, laplace

_SECRET = {(1, 0, 1): 13, (0, 1, 0): 11}
"""How many rows of two kinds make the back door open."""


def _rarely_bare(rows: IntArray, rng: np.random.Generator) -> Output:
    if rng.random() < 1e-5:
        return int(rows[:, 0].sum())
    return int(rows[:, 0].sum()) + rng.laplace(0, 1)


def _back_door(rows: IntArray) -> object:
    """Tell a row as it is, but only if the table has just the right rows."""
    found = edges(ask(room_of(rows), PAIRS, 1.0))
    opened = all((rows == kind).all(axis=1).sum() == times for kind, times in _SECRET.items())
    return (found, tuple(rows[0].tolist())) if opened else found


HARD: tuple[Broken, ...] = (
    Broken(
        "laplace-two-percent",
        "noise is two percent too small",
        "planted",
        "black box",
        Sampled(laplace(0.98), PURE, (LONE,)),
    ),
    Broken(
        "once-in-100000",
        "one run in 100,000 tells the exact count",
        "planted",
        "black box",
        Sampled(_rarely_bare, PURE, (LONE,)),
    ),
    Broken(
        "back-door",
        "tells a row as it is, on one kind of table only",
        "planted",
        "replay",
        Asking(_back_door, PURE, DOMAIN, (SWAP,)),
    ),
)
