"""NOT PRIVATE: the loop of EM-PC as published: for every order and node, how many and which neighbours to drop."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, pairwise

import numpy as np

from discreet.graph import Pair
from discreet.knowledge import Knowledge
from discreet.oracles import Verdict
from discreet.published.distance import Distances, Score
from discreet.search.pc import Separation, Skeleton

Around = dict[str, set[str]]


def em_skeleton(
    nodes: Sequence[str],
    scores: Distances,
    epsilon: float,
    rng: np.random.Generator,
    knowledge: Knowledge,
    max_order: int | None,
    progress: Callable[[str], None] | None,
) -> tuple[Skeleton, int]:
    """NOT PRIVATE: return the skeleton that EM-PC finds, and how often it visited a node."""
    names = sorted(nodes)
    around: Around = {n: {m for m in names if m != n and knowledge.may_touch(n, m)} for n in names}
    separations: dict[Pair, Separation] = {}
    visits = order = 0
    while any(len(near) > order for near in around.values()) and (max_order is None or order <= max_order):
        if progress is not None:
            progress(f"order {order}: {sum(map(len, around.values())) // 2} pairs")
        for node in names:
            found = list(_weighed(node, order, around, scores, knowledge))
            visits += bool(found)
            for i in dropped([score for _, _, score in found], epsilon, rng):
                other, given, _ = found[i]
                around[node].remove(other)
                around[other].remove(node)
                separations[frozenset((node, other))] = Separation(given, Verdict(independent=True, evidence=-1.0))
        order += 1
    pairs = {frozenset((a, b)): math.inf for a in names for b in around[a]}
    return Skeleton(tuple(nodes), pairs, separations), visits


def _weighed(
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


def dropped(scores: Sequence[Score], epsilon: float, rng: np.random.Generator) -> list[int]:
    """Draw how many neighbours go, with half of epsilon, then which, with the other half in equal parts."""
    if not scores:
        return []
    number = _drawn(scores_of_numbers(scores), epsilon / 2, rng)
    left, gone = list(range(len(scores))), []
    for _ in range(number):
        gone.append(left.pop(_drawn([scores[i].signed for i in left], epsilon / 2 / number, rng)))
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


def _drawn(scores: Sequence[int], epsilon: float, rng: np.random.Generator) -> int:
    """Draw by the exponential mechanism, as if one row moved a score by one."""
    weights = epsilon / 2 * np.array(scores, dtype=np.float64)
    chances = np.exp(weights - weights.max())
    return int(rng.choice(len(chances), p=chances / chances.sum()))
