"""A score of a node and its parents from evidence alone, for searches that climb by scores.

The evidence that x depends on y given S is the logarithm of how much better a graph with y among x's parents S fits
than one without: so a set of parents scores the evidence of adding them one by one, averaged over the orders in
which they may come, less a price for every one.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from functools import cache

from discreet.graph import Pair
from discreet.knowledge import NOTHING_KNOWN, Knowledge
from discreet.oracles import Scorer
from discreet.search.greedy import Score


def evidence_score(
    scorer: Scorer, candidates: Collection[Pair], price: float, knowledge: Knowledge = NOTHING_KNOWN
) -> Score:
    """Return a noise-aware score; parents that are no candidates, or that nobody can judge, score minus infinity."""
    allowed = frozenset(candidates)

    @cache
    def score(node: str, parents: frozenset[str]) -> float:
        if not parents:
            return 0.0
        questions = [(node, parent, parents - {parent}) for parent in sorted(parents)]
        if not all(frozenset(q[:2]) in allowed and scorer.answers(*q) for q in questions):
            free = frozenset(parent for parent in parents if not knowledge.requires(parent, node))
            return score(node, free) if free < parents else -math.inf  # what is required need not be judged
        gains = scorer.weigh(questions)
        steps = [score(node, rest) + gain - price for (_, _, rest), gain in zip(questions, gains, strict=True)]
        return sum(steps) / len(steps)

    return score
