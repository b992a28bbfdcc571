"""Published methods as a whole, run on tables in which a column is constant but for one row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.arrays import IntArray
from discreet.audit import Neighbours, table_of
from discreet.audit.broken import Broken, Sampled
from discreet.audit.broken.making import domain_of, pair
from discreet.audit.claims import Claim
from discreet.baselines.published import PCD
from discreet.baselines.published.discover import Settings, reported_epsilon, run
from discreet.baselines.published.pcd import PcdSettings, run_pcd
from discreet.privacy.accounting import Currency

EPSILON, DELTA = 0.2, 1e-3
"""What a round is said to cost, and the delta of the total."""

CONSTANT = pair({(0, 0): 500, (0, 1): 499}, (0, 0), (1, 0))
"""The first column is constant, or has one row of another level."""

TURNED = pair({(0, 0): 34, (1, 0): 5}, (0, 0), (1, 1))
"""The second column is constant, or depends on the first by one row."""


SURE = pair({(1, 1): 56, (0, 0): 143}, (1, 1), (1, 0))
"""Two equal columns, just so clear that no row seems able to change that; with one row changed they are not."""


def kept(method: str) -> Callable[[IntArray, np.random.Generator], bool]:
    """Say whether the edge between two columns is found."""
    settings = Settings(method, round_epsilon=EPSILON, delta=DELTA)

    def find(rows: IntArray, rng: np.random.Generator) -> bool:
        domain = domain_of(len(rows), x=2, y=2)
        sizes = domain.sizes
        return bool(run(table_of(rows, domain), sizes, settings, rng).graph.skeleton)

    return find


def _reproduced(method: str, wrong: str, shown: Neighbours, *, rounds: int) -> Broken:
    """Return a method that promises what its paper would report, at most, for two columns."""
    claim = Claim(Currency.PURE, reported_epsilon(method, rounds, EPSILON, DELTA), DELTA)
    origin = "Xu, Yuan, Wu 2017" if method.startswith("em") else "Wang, Pang, Song 2020"
    return Broken(method, wrong, f"{origin}, whole method", "black box", Sampled(kept(method), claim, (shown,)))


def kept_by_pcd(rows: IntArray, rng: np.random.Generator) -> bool:
    """Say whether the edge between two columns of -1 and 1 is found, at most at the price of one noisy test."""
    columns = {name: 2.0 * codes - 1.0 for name, codes in zip("xy", rows.T, strict=True)}
    return bool(run_pcd(columns, PcdSettings(epsilon=1.0), rng).graph.skeleton)


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
    Broken(
        PCD,
        "an edge that seems sure gets no noise, and whether it seems so depends on one row",
        "Zhang et al. 2023, whole method",
        "black box",
        Sampled(kept_by_pcd, Claim(Currency.PURE, 1.0), (SURE,)),
    ),
)
