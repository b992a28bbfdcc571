"""NOT PRIVATE: methods as published, to reproduce what was reported about them.

Priv-PC, SVT-PC and EM-PC: Wang, Pang, Song 2020 (with their published code where the paper says less) and, for EM-PC,
Xu, Yuan, Wu 2017. Their noise and their accounting are made again as they are, and promise nothing: see ``REASONS``.
The methods `svt-pc` and `priv-pc` of this library are the repaired ones. Direction of cause by halves (Kusner, Sun,
Sridharan, Weinberger 2016) is in ``halves``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from discreet.domain import Domain
from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.search.graph import Graph

METHODS = ("em-pc-published", "svt-pc-published", "priv-pc-published")
"""Those that count."""

PCD = "pcd-published"
"""The one that takes numbers: ``discreet.baselines.published.pcd`` (Zhang, Xia, Ren, Guan, Zhou 2023)."""

_KENDALL = (
    "one row moves the p-value further than its noise is made for, since strata with a constant column are dropped, "
    "and a constant column has no p-value, so that its edge can never go"
)
_AFTERWARDS = "the total is added up afterwards, over a number of rounds that depends on the rows"

REASONS: dict[str, str] = {
    "em-pc-published": "one row moves the greedy distances, which are taken to move by one, by nearly all rows; "
    f"{_AFTERWARDS}",
    "svt-pc-published": f"{_KENDALL}; fresh thresholds get Gaussian noise where Laplace noise is needed; {_AFTERWARDS}",
    "priv-pc-published": f"{_KENDALL}; {_AFTERWARDS}",
    PCD: "an edge that seems sure gets no noise, and whether it seems so depends on every row; noise is scaled to how "
    "far the p-value could move on these rows; the bound on what a row moves is false where columns are given; widths "
    f"are read off the rows; {_AFTERWARDS}",
}
"""Why none of them is private, by method."""


@dataclass(frozen=True)
class Outcome:
    """NOT PRIVATE: what a method found, and what its paper would report about it.

    Parameters
    ----------
    graph
        The CPDAG.
    method
        The method's name.
    tests
        Tests that were evaluated.
    rounds
        What the paper composes: passes of the threshold or the sieve, or nodes visited by EM-PC.
    round_epsilon
        What a round is said to cost.
    reported, delta
        Epsilon and delta by the paper's own accounting, afterwards. They do not hold.
    reason
        Why they do not.
    """

    graph: Graph
    method: str
    tests: int
    rounds: int
    round_epsilon: float
    reported: float
    delta: float
    reason: str


def discover_published(
    data: object,
    domain: Domain,
    method: str,
    *,
    round_epsilon: float = 1.0,
    delta: float = 1e-3,
    alpha: float = 0.1,
    max_order: int | None = None,
    sample: float | None = None,
    constant: float = 4.5,
    knowledge: Knowledge = NOTHING_KNOWN,
    seed: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Outcome:
    """NOT PRIVATE: return what a published method finds, with the noise that its paper adds.

    The graph promises nothing to anybody: use it on simulated or public tables only.

    Parameters
    ----------
    data
        A path, a table in memory, or what ``load`` returned.
    domain
        The columns and their levels; levels count as ordered, as they are declared.
    method
        One of ``METHODS``.
    round_epsilon
        What a round is said to cost.
    delta
        For the total that is reported.
    alpha
        Independent from this p-value on.
    max_order
        Largest conditioning set; None for any. Tables with more than 4 million cells are not asked about.
    sample
        Share of the rows that the sieve of Priv-PC looks at; by default the paper's, 1 for all rows.
    constant
        One row is taken to move Kendall's statistic by so much over the root of the rows: 4.5 in the paper, 6 in the
        code. Not used by EM-PC.
    knowledge
        Required and forbidden arrows, and tiers.
    seed
        Seed of noise and samples, which protect nobody; None for fresh ones.
    progress
        Called with a line of words at each order. They depend on exact answers.
    """
    import numpy as np

    from discreet.baselines.exact import checked_table
    from discreet.baselines.published.running import Settings, run

    settings = Settings(method, round_epsilon, delta, alpha, max_order, sample, constant)
    table = checked_table(data, domain, knowledge)
    sizes = {column: domain.size(column) for column in domain}
    return run(table, sizes, settings, np.random.default_rng(seed), knowledge=knowledge, progress=progress)
