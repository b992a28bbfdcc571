"""NOT PRIVATE: discovery by the published methods that count, and the totals that their papers would report."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discreet.baselines.exact import ExactCounts, GTest, load_checked
from discreet.baselines.published.em_pc import Distances, em_skeleton
from discreet.baselines.published.outcome import METHODS, MOST_EPSILON, Outcome, reason_for
from discreet.baselines.published.priv_pc import Sieve
from discreet.baselines.published.reading import LEVEL, READINGS, Reading
from discreet.baselines.published.svt_pc import Threshold
from discreet.data import Recodable
from discreet.domain import Categorical, Domain
from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.errors import SettingError
from discreet.progress import Progress
from discreet.search.graph import Graph
from discreet.search.pc import orient_skeleton, pc


@dataclass(frozen=True)
class Settings:
    """NOT PRIVATE: settings of a published method; see ``discover_published``."""

    method: str
    round_epsilon: float = 1.0
    delta: float = 1e-3
    alpha: float = LEVEL
    max_order: int | None = None
    sample: float | None = None
    reading: str = "code"

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
        if self.reading not in READINGS:
            raise SettingError(f"as: {self.reading!r} is not one of {', '.join(READINGS)}")
        if self.reading != "code" and self.method == "em-pc-published":
            raise SettingError(f"as: the method `{self.method}` is made by the code only")


def discover_published(
    data: object,
    domain: Domain,
    method: str,
    *,
    round_epsilon: float = 1.0,
    delta: float = 1e-3,
    alpha: float = LEVEL,
    max_order: int | None = None,
    sample: float | None = None,
    reading: str = "code",
    knowledge: Knowledge = NOTHING_KNOWN,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """NOT PRIVATE: return what a published method finds, with the noise that its paper adds.

    The graph promises nothing to anybody: use it on simulated or public tables only.

    Parameters
    ----------
    data
        A path, a table in memory, or what ``load`` returned.
    domain
        The columns and their levels; levels count as ordered.
    method
        One of ``METHODS``.
    round_epsilon
        What a round is said to cost.
    delta
        For the total that is reported.
    alpha
        Independent from this p-value on.
    max_order
        Largest conditioning set; None for as large as the reading has them. Tables with more than 4 million cells are
        not asked about.
    sample
        Share of the rows that the sieve of Priv-PC looks at; by default the paper's, 1 for all rows.
    reading
        SVT-PC and Priv-PC by the paper's ``"text"`` or by its ``"code"``: see ``Reading``. EM-PC is by the code.
    knowledge
        Required and forbidden arrows, and tiers.
    seed
        Seed of noise and samples, which protect nobody; None for fresh ones.
    progress
        Called with a line of words at each order. They depend on exact answers.
    """
    settings = Settings(method, round_epsilon, delta, alpha, max_order, sample, reading)
    table = load_checked(data, domain, knowledge)
    if READINGS[reading].alphabetical:
        table = in_alphabet(table, domain)
    return run(table, domain.sizes, settings, np.random.default_rng(seed), knowledge=knowledge, progress=progress)


def run(
    table: Recodable,
    sizes: Mapping[str, int],
    settings: Settings,
    rng: np.random.Generator,
    *,
    knowledge: Knowledge = NOTHING_KNOWN,
    progress: Progress | None = None,
) -> Outcome:
    """NOT PRIVATE: run a published method on encoded rows, with the generator that is handed in."""
    nodes, epsilon, reading = tuple(sizes), settings.round_epsilon, READINGS[settings.reading]
    counts = ExactCounts(table, sizes)
    if settings.method == "em-pc-published":
        scores = Distances(counts, settings.alpha)
        skeleton, rounds = em_skeleton(nodes, scores, epsilon, rng, knowledge, settings.max_order, progress)
        graph, tests = orient_skeleton(skeleton, None, knowledge), scores.tests
    else:
        oracle: Threshold
        if settings.method == "svt-pc-published":
            oracle = Threshold(counts, settings.alpha, epsilon, reading, rng)
        else:
            oracle = Sieve(counts, table, settings.alpha, epsilon, reading, settings.sample, rng)
        order = reading.order(counts.rows, settings.max_order)
        graph = pc(nodes, oracle, knowledge=knowledge, max_order=order, progress=progress, stable=False)
        tests, rounds = oracle.tests, oracle.rounds
    total = reported_epsilon(settings.method, rounds, epsilon, settings.delta, reading)
    reason = reason_for(settings.method, settings.reading)
    return Outcome(graph, settings.method, tests, rounds, epsilon, total, settings.delta, reason)


def pc_without_noise(data: object, domain: Domain, method: str, alpha: float = LEVEL, reading: str = "code") -> Graph:
    """NOT PRIVATE: return what PC finds by a published method's own test without noise."""
    table = load_checked(data, domain, NOTHING_KNOWN)
    read = READINGS[reading]
    if method == "em-pc-published":
        return pc(tuple(domain), GTest(ExactCounts(table, domain.sizes), alpha=alpha, free=False), stable=False)
    counts = ExactCounts(in_alphabet(table, domain) if read.alphabetical else table, domain.sizes)
    oracle = Threshold(counts, alpha, math.inf, read, np.random.default_rng(0))
    return pc(tuple(domain), oracle, max_order=read.order(counts.rows, None), stable=False)


def in_alphabet(table: Recodable, domain: Domain) -> Recodable:
    """NOT PRIVATE: return the same rows with every category's codes in the order of the labels."""
    named = {name: column.levels for name in domain if isinstance(column := domain[name], Categorical)}
    places = {name: np.argsort(np.argsort(levels)) for name, levels in named.items()}
    return table.recode(places, domain.sizes)


def reported_epsilon(
    method: str, rounds: int, epsilon: float, delta: float, reading: Reading = READINGS["code"]
) -> float:
    """Return the epsilon that a paper would report for so many rounds. It does not hold."""
    if method == "priv-pc-published" and reading.halves:
        return 2 * compose(rounds, epsilon / 2, delta / 2)
    return compose(rounds, epsilon, delta)


def compose(rounds: int, epsilon: float, delta: float) -> float:
    """Return the total of so many rounds by advanced composition."""
    return math.sqrt(2 * rounds * math.log(1 / delta)) * epsilon + rounds * epsilon * math.expm1(epsilon)
