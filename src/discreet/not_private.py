"""NOT PRIVATE: PC and greedy search on exact counts, to compare private results with.

What these functions return depends on the exact rows and promises nothing to anybody: a graph from here PUBLISHES
EXACT ANSWERS about the rows. Use them on simulated or public tables, or for the custodian's eyes only.
"""

from __future__ import annotations

from math import log, prod

import numpy as np

from discreet.domain import Domain
from discreet.graph import Graph
from discreet.knowledge import NOTHING_KNOWN, Knowledge
from discreet.oracles.exact import ExactCounts, GTest, log_likelihood
from discreet.search.greedy import greedy
from discreet.search.orient import equivalents
from discreet.search.pc import Progress
from discreet.search.pc import pc as search
from discreet.tables import Recodable
from discreet.tables.load import load
from discreet.tables.memory import MemoryTable
from discreet.tables.stream import StreamTable


def pc(
    data: object,
    domain: Domain,
    alpha: float = 0.01,
    max_order: int | None = None,
    knowledge: Knowledge = NOTHING_KNOWN,
    textbook: bool = False,
    progress: Progress | None = None,
) -> Graph:
    """NOT PRIVATE: return the CPDAG that PC finds with G-tests on exact counts.

    The graph PUBLISHES EXACT ANSWERS about the rows: no noise is added and nothing is promised to anybody.

    Parameters
    ----------
    data
        A path, a table in memory, or what ``load`` returned.
    domain
        The columns and their levels.
    alpha
        Level of the tests.
    max_order
        Largest conditioning set; None for any.
    knowledge
        Required and forbidden arrows, and tiers.
    textbook
        Take the first set that separates a pair, and every other neighbour of both for a common effect. If not, the
        clearest answer counts, as in private searches: the same skeleton but for chance, and fewer wrong arrows.
    progress
        Called with a line of words at each order. They depend on exact answers.
    """
    oracle = GTest(_exact_counts(data, domain, knowledge), alpha=alpha, free=not textbook)
    return search(tuple(domain), oracle, knowledge=knowledge, max_order=max_order, progress=progress)


def greedy_bic(
    data: object,
    domain: Domain,
    max_parents: int = 5,
    restarts: int = 40,
    knowledge: Knowledge = NOTHING_KNOWN,
    seed: int = 0,
    progress: Progress | None = None,
) -> Graph:
    """NOT PRIVATE: return the CPDAG of the graph that greedy search finds with the exact BIC score.

    The graph PUBLISHES EXACT ANSWERS about the rows: no noise is added and nothing is promised to anybody.

    Parameters
    ----------
    data
        A path, a table in memory, or what ``load`` returned.
    domain
        The columns and their levels.
    max_parents, restarts
        See ``discreet.search.greedy.greedy``.
    knowledge
        Required and forbidden arrows, and tiers.
    seed
        Seed of the restarts.
    progress
        Called with a line of words at each restart.
    """
    score = ExactBIC(_exact_counts(data, domain, knowledge))
    dag = greedy(
        tuple(domain),
        score,
        rng=np.random.default_rng(seed),
        knowledge=knowledge,
        max_parents=max_parents,
        restarts=restarts,
        progress=progress,
    )
    return equivalents(dag, knowledge)


class ExactBIC:
    """NOT PRIVATE: the Bayesian information criterion of a column given its parents, from exact counts.

    The largest log-likelihood less log(n)/2 for every parameter; minus infinity for a table too large to be counted.
    """

    def __init__(self, counts: ExactCounts) -> None:
        self._counts = counts
        self._price = log(counts.rows) / 2

    def __call__(self, node: str, parents: frozenset[str]) -> float:
        """Return the score of a column with some parents."""
        if not self._counts.countable((node, *parents)):
            return -np.inf
        sizes = self._counts.sizes
        parameters = (sizes[node] - 1) * prod(sizes[p] for p in parents)
        table = self._counts.table((*sorted(parents), node))
        return log_likelihood(table) - self._price * parameters


def _exact_counts(data: object, domain: Domain, knowledge: Knowledge) -> ExactCounts:
    return ExactCounts(checked_table(data, domain, knowledge), {column: domain.size(column) for column in domain})


def checked_table(data: object, domain: Domain, knowledge: Knowledge) -> Recodable:
    """NOT PRIVATE: check what is declared, then read the table."""
    knowledge.check(domain)
    domain.check_graph()
    return data if isinstance(data, MemoryTable | StreamTable) else load(data, domain)
