"""NOT PRIVATE: what the published methods are called, why none of them is private, and what one of them found."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.search.graph import Graph

METHODS = ("em-pc-published", "svt-pc-published", "priv-pc-published")
"""Those that count."""

PCD = "pcd-published"
"""The one that takes numbers: ``discreet.baselines.published.pcd`` (Zhang, Xia, Ren, Guan, Zhou 2023)."""

MOST_EPSILON = 500.0
"""Beyond this a round has no noise to speak of, and totals have no number."""

_KENDALL = (
    "one row moves the p-value further than its noise is made for, since strata with a constant column are dropped, "
    "and a constant column has no p-value, so that its edge can never go"
)
_AFTERWARDS = "the total is added up afterwards, over a number of rounds that depends on the rows"

REASONS: dict[str, str] = {
    "em-pc-published": "one row moves the greedy distances, which are taken to move by one, by nearly all rows (Wang, "
    f"Pang and Song say themselves that the bound does not hold for them); {_AFTERWARDS}",
    "svt-pc-published": f"{_KENDALL}; fresh thresholds get Gaussian noise where Laplace noise is needed; {_AFTERWARDS}",
    "priv-pc-published": f"{_KENDALL}; {_AFTERWARDS}",
    PCD: "an edge that seems sure gets no noise, and whether it seems so depends on every row; noise is scaled to how "
    "far the p-value could move on these rows; the bound on what a row moves is false where columns are given; widths "
    f"are read off the rows; {_AFTERWARDS}",
}
"""Why none of them is private, by method; of SVT-PC and Priv-PC as they are coded."""

_TEXT = "one row moves Kendall's statistic by up to twice what its noise is made for"
TEXT_REASONS: dict[str, str] = {
    "svt-pc-published": f"{_TEXT}; {_AFTERWARDS}",
    "priv-pc-published": f"{_TEXT}; sample and threshold stay in use after a failed examination; {_AFTERWARDS}",
}
"""Why the two are not private by the paper's text either."""


def reason_for(method: str, reading: str) -> str:
    """Return why a method is not private, by the text or by the code."""
    return TEXT_REASONS.get(method, REASONS[method]) if reading == "text" else REASONS[method]


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
