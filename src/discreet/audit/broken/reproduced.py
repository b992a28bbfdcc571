"""Published methods as a whole, run on tables in which a column is constant but for one row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.arrays import IntArray
from discreet.audit import Neighbours, table_of
from discreet.audit.broken import Broken, Sampled
from discreet.audit.broken.making import domain_of, pair
from discreet.audit.claims import Claim
from discreet.privacy.accounting import Currency
from discreet.published.running import Settings, reported, run

EPSILON, DELTA = 0.2, 1e-3
"""What a round is said to cost, and the delta of the total."""

CONSTANT = pair({(0, 0): 500, (0, 1): 499}, (0, 0), (1, 0))
"""The first column is constant, or has one row of another level."""

TURNED = pair({(0, 0): 34, (1, 0): 5}, (0, 0), (1, 1))
"""The second column is constant, or depends on the first by one row."""


def kept(method: str) -> Callable[[IntArray, np.random.Generator], bool]:
    """Say whether the edge between two columns is found."""
    settings = Settings(method, round_epsilon=EPSILON, delta=DELTA)

    def find(rows: IntArray, rng: np.random.Generator) -> bool:
        domain = domain_of(len(rows), x=2, y=2)
        sizes = {column: domain.size(column) for column in domain}
        return bool(run(table_of(rows, domain), sizes, settings, rng).graph.skeleton)

    return find


def _reproduced(method: str, wrong: str, shown: Neighbours, *, rounds: int) -> Broken:
    """Return a method that promises what its paper would report, at most, for two columns."""
    claim = Claim(Currency.PURE, reported(method, rounds, EPSILON, DELTA), DELTA)
    origin = "Xu, Yuan, Wu 2017" if method.startswith("em") else "Wang, Pang, Song 2020"
    return Broken(method, wrong, f"{origin}, whole method", "black box", Sampled(kept(method), claim, (shown,)))


REPRODUCED: tuple[Broken, ...] = (
    _reproduced(
        "svt-pc-published",
        "an edge of a constant column can never go, with one row changed it goes",
        CONSTANT,
        rounds=1,
    ),
    _reproduced(
        "priv-pc-published",
        "an edge of a constant column can never go, with one row changed it may",
        CONSTANT,
        rounds=1,
    ),
    _reproduced(
        "em-pc-published", "one row moves a distance, and with it all chances, by nearly all rows", TURNED, rounds=2
    ),
)
