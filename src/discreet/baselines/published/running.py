"""NOT PRIVATE: runs of the published methods, and the totals that their papers would report."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from discreet.baselines.exact import ExactCounts
from discreet.baselines.published import METHODS, REASONS, Outcome
from discreet.baselines.published.em_pc import Distances, em_skeleton
from discreet.baselines.published.priv_pc import Sieve
from discreet.baselines.published.svt_pc import Threshold
from discreet.data import Recodable
from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.errors import SettingError
from discreet.search.pc import orient_skeleton, pc

MOST_EPSILON = 500.0
"""Beyond this a round has no noise to speak of, and totals have no number."""


@dataclass(frozen=True)
class Settings:
    """NOT PRIVATE: settings of a published method; see ``discover_published``."""

    method: str
    round_epsilon: float = 1.0
    delta: float = 1e-3
    alpha: float = 0.1
    max_order: int | None = None
    sample: float | None = None
    constant: float = 4.5

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise SettingError(f"method: {self.method!r} is not one of {', '.join(METHODS)}")
        if not 0 < self.round_epsilon <= MOST_EPSILON:
            raise SettingError(f"round-epsilon: a number above 0, {MOST_EPSILON:g} at most")
        if not 0 < self.alpha < 1 or not 0 < self.delta < 1:
            raise SettingError("alpha, delta: numbers between 0 and 1")
        if self.max_order is not None and self.max_order < 0:
            raise SettingError("max-order: a whole number from 0")
        if self.sample is not None and self.method != "priv-pc-published":
            raise SettingError(f"sample: the method `{self.method}` has no such setting")
        if self.sample is not None and not 0 < self.sample <= 1:
            raise SettingError("sample: a share of the rows, above 0 and at most 1")
        if not 0 < self.constant < math.inf:
            raise SettingError("constant: a finite number above 0")


def run(
    table: Recodable,
    sizes: Mapping[str, int],
    settings: Settings,
    rng: np.random.Generator,
    *,
    knowledge: Knowledge = NOTHING_KNOWN,
    progress: Callable[[str], None] | None = None,
) -> Outcome:
    """NOT PRIVATE: run a published method on encoded rows, with the generator that is handed in."""
    nodes, epsilon, order = tuple(sizes), settings.round_epsilon, settings.max_order
    counts = ExactCounts(table, sizes)
    if settings.method == "em-pc-published":
        scores = Distances(counts, settings.alpha)
        skeleton, rounds = em_skeleton(nodes, scores, epsilon, rng, knowledge, order, progress)
        graph, tests = orient_skeleton(skeleton, None, knowledge), scores.tests
    else:
        oracle: Threshold
        if settings.method == "svt-pc-published":
            oracle = Threshold(counts, settings.alpha, epsilon, settings.constant, rng)
        else:
            oracle = Sieve(counts, table, settings.alpha, epsilon, settings.constant, settings.sample, rng)
        graph = pc(nodes, oracle, knowledge=knowledge, max_order=order, progress=progress, stable=False)
        tests, rounds = oracle.tests, oracle.rounds
    total = reported(settings.method, rounds, epsilon, settings.delta)
    return Outcome(graph, settings.method, tests, rounds, epsilon, total, settings.delta, REASONS[settings.method])


def reported(method: str, rounds: int, epsilon: float, delta: float) -> float:
    """Return the epsilon that a paper would report for so many rounds. It does not hold."""
    if method == "priv-pc-published":
        return 2 * composed(rounds, epsilon / 2, delta / 2)
    return composed(rounds, epsilon, delta)


def composed(rounds: int, epsilon: float, delta: float) -> float:
    """Return the total of so many rounds by advanced composition."""
    return math.sqrt(2 * rounds * math.log(1 / delta)) * epsilon + rounds * epsilon * math.expm1(epsilon)
