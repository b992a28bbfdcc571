"""NOT PRIVATE: PC and greedy search on exact counts, to compare private results with.

What these functions return depends on the exact rows and promises nothing to anybody: a graph from here PUBLISHES
EXACT ANSWERS about the rows. Use them on simulated or public tables, or for the custodian's eyes only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import combinations
from math import log, prod

import numpy as np
from scipy.special import chdtrc, gammaln, xlogy

from discreet.arrays import IntArray
from discreet.data import Recodable
from discreet.data.load import load
from discreet.data.memory import MemoryTable
from discreet.data.stream import StreamTable
from discreet.domain import Domain
from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge, check_knowledge
from discreet.errors import SettingError, UnansweredError
from discreet.progress import Progress
from discreet.sealed import Sealed
from discreet.search.graph import Graph
from discreet.search.greedy import greedy
from discreet.search.oracle import Verdict
from discreet.search.orientation import equivalents
from discreet.search.pc import pc as search
from discreet.statistics import Table

MAX_CELLS = 1 << 22
"""Cells of the largest table that is counted."""

MAX_HELD_CELLS = 1 << 24
"""Cells of all tables that are held for the next question."""

SMALLEST_P = 1e-290
"""Below this a p-value's logarithm comes from a series, since the p-value itself is about to vanish."""


class ExactCounts(Sealed):
    """NOT PRIVATE: exact contingency tables of a table, each counted once.

    Parameters
    ----------
    table
        Encoded rows.
    sizes
        Number of levels of each column, from the public domain.
    """

    def __init__(self, table: Table, sizes: Mapping[str, int]) -> None:
        self._table = table
        self._held: dict[tuple[str, ...], IntArray] = {}
        self._cells = 0
        self.sizes = dict(sizes)
        self.rows = table.rows

    def countable(self, columns: Iterable[str]) -> bool:
        """Whether the table over some columns is small enough to be counted."""
        return prod(self.sizes[c] for c in columns) <= MAX_CELLS

    def table(self, columns: tuple[str, ...]) -> IntArray:
        """Return the exact table over some different columns, one axis each in the order given."""
        ordered = tuple(sorted(columns))
        if ordered not in self._held:
            self._count(ordered)
        return self._held[ordered].transpose([ordered.index(c) for c in columns])

    def _count(self, ordered: tuple[str, ...]) -> None:
        """Count a table; all pairs at the first question about one, which takes one pass over the rows."""
        wanted = [ordered]
        if len(ordered) == 2:
            wanted = [pair for pair in combinations(sorted(self.sizes), 2) if self.countable(pair)]
        if self._cells > MAX_HELD_CELLS:
            self._held.clear()
            self._cells = 0
        for columns, counted in zip(wanted, self._table.counts(wanted), strict=True):
            self._held[columns] = counted
            self._cells += counted.size


class GTest(Sealed):
    """NOT PRIVATE: an oracle that tests independence on exact counts by likelihood ratio (a G-test), of any order.

    Degrees of freedom are those of the levels that occur: a level of x or of y that is empty within a stratum of the
    given columns adds none there. A question whose table has more than ``MAX_CELLS`` cells is not answered.

    Parameters
    ----------
    counts
        Exact counts.
    alpha
        Level of the tests: the share of independent pairs called dependent.
    free
        Whether a search may ask for every set of an order and take the clearest answer, as it does with releases; if
        not, the first set that separates a pair is taken, as in the textbook.
    """

    max_order = None

    def __init__(self, counts: ExactCounts, *, alpha: float = 0.01, free: bool = True) -> None:
        if not isinstance(alpha, float | int) or not 0 < alpha < 1:
            raise SettingError("alpha: a number between 0 and 1")
        self.free = free
        self._counts = counts
        self._alpha = alpha
        self._asked: dict[tuple[frozenset[str], frozenset[str]], Verdict] = {}

    def answers(self, x: str, y: str, given: frozenset[str]) -> bool:
        """Whether the table it takes is small enough to be counted."""
        return self._counts.countable((x, y, *given))

    def ask(self, x: str, y: str, given: frozenset[str]) -> Verdict:
        """Test whether x and y are independent given any set of columns."""
        if not self.answers(x, y, given):
            raise UnansweredError(f"the table that this question takes has more than {MAX_CELLS:,} cells")
        key = (frozenset((x, y)), given)
        if key not in self._asked:
            columns = (*sorted(given), *sorted((x, y)))
            table = self._counts.table(columns)
            self._asked[key] = self._verdict(*g_statistic(table.reshape(-1, *table.shape[-2:])))
        return self._asked[key]

    def _verdict(self, statistic: float, freedom: int) -> Verdict:
        """Weigh a statistic: the evidence is how far, as a logarithm, its p-value lies below the level."""
        p_value = float(chdtrc(freedom, statistic)) if freedom else 1.0
        logarithm = math.log(p_value) if p_value > SMALLEST_P else _log_tail(statistic, freedom)
        return Verdict(p_value > self._alpha, math.log(self._alpha) - logarithm, p_value)


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


def g_statistic(strata: IntArray) -> tuple[float, int]:
    """Return the likelihood-ratio statistic of tables (stratum, x, y), and its degrees of freedom."""
    strata = strata[strata.any(axis=(1, 2))]
    down, across = strata.sum(axis=2), strata.sum(axis=1)
    statistic = 2 * (_information(strata) - _information(down) - _information(across) + _information(down.sum(axis=1)))
    freedom = (np.count_nonzero(down, axis=1) - 1) * (np.count_nonzero(across, axis=1) - 1)
    return max(statistic, 0.0), int(freedom.sum())


def log_likelihood(table: IntArray) -> float:
    """Return the largest log-likelihood of the last axis given all others."""
    return _information(table) - _information(table.sum(axis=-1))


def _information(counts: IntArray) -> float:
    return float(xlogy(counts, counts).sum())


def _log_tail(statistic: float, freedom: int) -> float:
    """Return the logarithm of a chi-square's far tail: the leading terms of its asymptotic series."""
    shape, x = freedom / 2, statistic / 2
    series, term = 1.0, 1.0
    for i in range(1, 8):
        term *= (shape - i) / x
        series += term
    return (shape - 1) * math.log(x) - x - float(gammaln(shape)) + math.log(max(series, 1.0))


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


def _exact_counts(data: object, domain: Domain, knowledge: Knowledge) -> ExactCounts:
    return ExactCounts(load_checked(data, domain, knowledge), domain.sizes)


def load_checked(data: object, domain: Domain, knowledge: Knowledge) -> Recodable:
    """NOT PRIVATE: check what is declared, then load the table."""
    check_knowledge(knowledge, domain)
    domain.check_graph()
    return load_unless_loaded(data, domain)


def load_unless_loaded(data: object, domain: Domain) -> Recodable:
    """NOT PRIVATE: load a table, or take what ``load`` returned."""
    return data if isinstance(data, MemoryTable | StreamTable) else load(data, domain)
