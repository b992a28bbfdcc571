"""NOT PRIVATE: EM-PC as published (Xu, Yuan, Wu 2017; Wang, Pang, Song 2020).

For every order and node the exponential mechanism draws how many and which neighbours to drop. A neighbour's score is
how many rows have to be deleted, greedily, before its G-test would say the opposite. That is the code's: the score of
2017 is a distance that takes too long to compute, and Wang, Pang and Song say in their introduction that its bound on
what one row moves no longer holds for the greedy one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from heapq import heapify, heapreplace
from itertools import combinations, pairwise
from math import prod

import numpy as np
from scipy.special import chdtrc, chdtri

from discreet.arrays import IntArray
from discreet.baselines.exact import ExactCounts, g_statistic
from discreet.domain.knowledge import Knowledge
from discreet.progress import SEARCH, Progress, tell
from discreet.sealed import Sealed
from discreet.search.graph import Pair
from discreet.search.oracle import Verdict
from discreet.search.pc import Separation, Skeleton

DELETED_PART = 100
"""A cell loses this part of its rows at once."""

Around = dict[str, set[str]]
"""The neighbours that each node has left."""


def em_skeleton(
    nodes: Sequence[str],
    scores: Distances,
    epsilon: float,
    rng: np.random.Generator,
    knowledge: Knowledge,
    max_order: int | None,
    progress: Progress | None,
) -> tuple[Skeleton, int]:
    """NOT PRIVATE: return the skeleton that EM-PC finds, and how often it visited a node."""
    names = sorted(nodes)
    around: Around = {n: {m for m in names if m != n and knowledge.may_touch(n, m)} for n in names}
    separations: dict[Pair, Separation] = {}
    visits = order = 0
    orders = len(names) - 1 if max_order is None else max_order + 1
    while any(len(near) > order for near in around.values()) and (max_order is None or order <= max_order):
        pairs_left = sum(map(len, around.values())) // 2
        tell(progress, f"order {order}: {pairs_left} pairs", SEARCH.at(order, orders))
        for node in names:
            found = list(_weigh(node, order, around, scores, knowledge))
            visits += bool(found)
            for i in draw_dropped([score for _, _, score in found], epsilon, rng):
                other, given, _ = found[i]
                around[node].remove(other)
                around[other].remove(node)
                separations[frozenset((node, other))] = Separation(given, Verdict(independent=True, evidence=-1.0))
        order += 1
    pairs = {frozenset((a, b)): math.inf for a in names for b in around[a]}
    return Skeleton(tuple(nodes), pairs, separations), visits


def _weigh(
    node: str, order: int, around: Around, scores: Distances, knowledge: Knowledge
) -> Iterator[tuple[str, frozenset[str], Score]]:
    """Yield each neighbour that may go, with the set that separates it best and the score of that test.

    The best set is the first of those with the largest p-value.
    """
    for other in sorted(around[node]):
        if knowledge.requires(node, other):
            continue
        causes = [z for z in sorted(around[node]) if z != other and knowledge.allows(z, node)]
        sets = [s for s in map(frozenset, combinations(causes, order)) if scores.answers(node, other, s)]
        if sets:
            given = max(sets, key=lambda s: scores.p_value(node, other, s))
            yield other, given, scores.score(node, other, given)


def draw_dropped(scores: Sequence[Score], epsilon: float, rng: np.random.Generator) -> list[int]:
    """Draw how many neighbours go, with half of epsilon, then which, with the other half in equal parts."""
    if not scores:
        return []
    number = _draw(scores_of_numbers(scores), epsilon / 2, rng)
    left, gone = list(range(len(scores))), []
    for _ in range(number):
        gone.append(left.pop(_draw([scores[i].signed for i in left], epsilon / 2 / number, rng)))
    return gone


def scores_of_numbers(scores: Sequence[Score]) -> list[int]:
    """Return the score of dropping the best 0, 1, 2, ... neighbours: how clear the cut there is."""
    best = sorted(scores, key=lambda s: (s.independent, s.signed), reverse=True)
    found = [-best[0].signed - best[0].independent]
    for a, b in pairwise(best):
        if a.independent and not b.independent:
            found.append(min(a.signed, -b.signed) - 1)
        else:
            found.append(-b.signed if a.independent else a.signed)
    return [*found, best[-1].signed - (not best[-1].independent)]


def _draw(scores: Sequence[int], epsilon: float, rng: np.random.Generator) -> int:
    """Draw by the exponential mechanism, as if one row moved a score by one."""
    weights = epsilon / 2 * np.array(scores, dtype=np.float64)
    chances = np.exp(weights - weights.max())
    return int(rng.choice(len(chances), p=chances / chances.sum()))


@dataclass(frozen=True)
class Score:
    """NOT PRIVATE: a signed distance: positive if the test finds nothing, and the distance itself may be 0."""

    signed: int
    independent: bool


class Distances(Sealed):
    """NOT PRIVATE: p-values of G-tests on exact counts, and signed greedy distances. Freedom is of declared levels.

    Each is computed once; ``tests`` are counted as in the code, where a test is made anew whenever it is looked at.

    Parameters
    ----------
    counts
        Exact counts.
    alpha
        Independent above this p-value.
    block
        Rows that are deleted at once; see ``distance``.
    """

    def __init__(self, counts: ExactCounts, alpha: float, block: int | None = None) -> None:
        self._counts = counts
        self._alpha = alpha
        self._block = block
        self._scored: dict[tuple[frozenset[str], frozenset[str]], Score] = {}
        self._tested: dict[tuple[frozenset[str], frozenset[str]], float] = {}
        self.tests = 0

    def answers(self, x: str, y: str, given: frozenset[str]) -> bool:
        """Whether the table it takes is small enough to be counted."""
        return self._counts.countable((x, y, *given))

    def p_value(self, x: str, y: str, given: frozenset[str]) -> float:
        """Return the p-value of a question."""
        self.tests += 1
        return self._p_value(x, y, given)

    def _p_value(self, x: str, y: str, given: frozenset[str]) -> float:
        key = (frozenset((x, y)), given)
        if key not in self._tested:
            freedom = self._freedom(x, y, given)
            statistic, _ = g_statistic(self._strata(x, y, given))
            self._tested[key] = float(chdtrc(freedom, statistic)) if freedom else 1.0
        return self._tested[key]

    def score(self, x: str, y: str, given: frozenset[str]) -> Score:
        """Return the signed distance of a question."""
        key = (frozenset((x, y)), given)
        if key not in self._scored:
            independent = self._p_value(x, y, given) > self._alpha
            freedom = self._freedom(x, y, given)
            limit = float(chdtri(freedom, self._alpha)) if freedom else math.inf
            rows = distance(self._strata(x, y, given), limit, block=self._block)
            self._scored[key] = Score(rows if independent else -rows, independent)
        return self._scored[key]

    def _strata(self, x: str, y: str, given: frozenset[str]) -> IntArray:
        table = self._counts.table((*sorted(given), *sorted((x, y))))
        return table.reshape(-1, *table.shape[-2:])

    def _freedom(self, x: str, y: str, given: frozenset[str]) -> int:
        sizes = self._counts.sizes
        return (sizes[x] - 1) * (sizes[y] - 1) * prod(sizes[z] for z in given)


def distance(strata: IntArray, limit: float, *, block: int | None = None) -> int:
    """Return how many rows are deleted before G^2 of tables (stratum, x, y) would cross a limit.

    Rows go from the cell whose loss of one row moves G^2 most towards the limit, one less than there are at most.
    With ``block=1`` one after the other, as published. By default a hundredth of the cell goes at once, in smaller
    blocks near the limit: that is far faster with many rows, and distances are off by less than a thousandth, which
    changes nothing that is shown with them.
    """
    table = _Deletion(strata[strata.any(axis=(1, 2))], limit)
    most = int(strata.sum()) - 1
    while table.deleted < most:
        rows = table.rows_at_steepest()
        size = min(block or max(1, rows // DELETED_PART), rows, most - table.deleted)
        while size and table.would_cross(size):
            size //= 2
        if not size:
            break
        table.delete(size)
    return table.deleted


class _Deletion:
    """Tables that lose rows from the cell whose loss of one row moves G^2 most towards a limit.

    A heap holds that cell of every stratum. Only the stratum on top of it ever changes.
    """

    def __init__(self, strata: IntArray, limit: float) -> None:
        down, across = strata.sum(axis=2), strata.sum(axis=1)
        total = down.sum(axis=1)
        self._limit = limit
        self._value = g_statistic(strata)[0]
        self._upwards = self._value < limit
        self._cells: list[list[int]] = strata.reshape(len(strata), -1).tolist()
        self._down: list[list[int]] = down.tolist()
        self._across: list[list[int]] = across.tolist()
        self._total: list[int] = total.tolist()
        self._gains = _gains(int(total.max(initial=0)).bit_length())
        self._heap = [(*self._best(k), k) for k in range(len(strata))]
        heapify(self._heap)
        self.deleted = 0

    def rows_at_steepest(self) -> int:
        """Return the rows in the cell that loses some next."""
        _, cell, k = self._heap[0]
        return self._cells[k][cell]

    def would_cross(self, size: int) -> bool:
        """Whether the value crosses the limit if that cell loses so many rows."""
        value = self._value + self._change(size)
        return value >= self._limit if self._upwards else value < self._limit

    def delete(self, size: int) -> None:
        """Delete rows from that cell."""
        self._value += self._change(size)
        _, cell, k = self._heap[0]
        i, j = divmod(cell, len(self._across[k]))
        self._cells[k][cell] -= size
        self._down[k][i] -= size
        self._across[k][j] -= size
        self._total[k] -= size
        heapreplace(self._heap, (*self._best(k), k))
        self.deleted += size

    def _change(self, size: int) -> float:
        _, cell, k = self._heap[0]
        i, j = divmod(cell, len(self._across[k]))
        margins = _loss(self._down[k][i], size) + _loss(self._across[k][j], size)
        return 2 * (margins - _loss(self._cells[k][cell], size) - _loss(self._total[k], size))

    def _best(self, k: int) -> tuple[float, int]:
        """Return a stratum's steepest cell, and how far its loss of one row moves half the value away from the limit.

        Infinitely far if there are no rows.
        """
        gains, cells = self._gains, self._cells[k]
        sign = -1 if self._upwards else 1
        least, place, cell = math.inf, 0, 0
        for down in self._down[k]:
            rest = gains[down] - gains[self._total[k]]
            for across in self._across[k]:
                if cells[cell]:
                    away = sign * (rest + gains[across] - gains[cells[cell]])
                    if away < least:
                        least, place = away, cell
                cell += 1
        return least, place


def _loss(rows: int, size: int) -> float:
    """Return by how much t log t shrinks when t loses so many rows."""
    left = rows - size
    return rows * math.log(rows) - (left * math.log(left) if left else 0.0)


@cache
def _gains(bits: int) -> list[float]:
    """Return t log t - (t - 1) log(t - 1) for t from 0 to all numbers of so many bits."""
    t = np.arange(1 << bits, dtype=np.float64)
    gains: list[float] = np.diff(t * np.log(np.maximum(t, 1)), prepend=0.0).tolist()
    return gains
