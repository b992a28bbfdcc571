"""How sure an edge and an arrowhead are: rows and noise are redrawn within what was released, which costs nothing.

A redrawn residual is the one that was seen plus a draw of its whole null covariance (sampling and noise). An edge
is as sure as often as its weakest questions keep it, and as strong as its weakest evidence; an arrowhead as often
as it comes out again when all triples are redrawn. Both go through a logistic curve that was fitted on random
networks (``benchmarks/fit_confidence.py``), since even what never wavers may be wrong: a hidden path, a set that was
not asked. An arrowhead that knowledge settles is as sure as its edge.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from discreet.arrays import FloatArray
from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.release.discovery import Confidence
from discreet.release.oracles.released import Released
from discreet.search.graph import Graph, Pair
from discreet.search.hybrid import Bar, EvidenceSkeleton, TripleQuestions
from discreet.search.oracle import EMPTY, Question

EDGE_DRAWS = 200
MARK_DRAWS = 16

EDGE_CURVE = (0.11, 0.194, 0.843)
"""Weight of a constant, of how often the edge stays (log odds), and of the logarithm of its weakest evidence."""

MARK_CURVE = (-1.457, 0.613, 0.435)
"""Weight of a constant, of how often the arrowhead comes out again (log odds), and of the edge's own log odds."""

LEAST_STATED, MOST_STATED = 0.01, 0.99
"""No confidence is stated beyond these."""


def confidences(
    graph: Graph,
    found: EvidenceSkeleton,
    bar: Bar,
    around: Sequence[TripleQuestions],
    oracle: Released,
    direct: Callable[[Mapping[Question, float]], Graph],
    rng: np.random.Generator,
    *,
    knowledge: Knowledge = NOTHING_KNOWN,
) -> dict[Pair, Confidence]:
    """Return the confidence of every edge and arrowhead of a graph; ``direct`` makes a graph of redrawn evidence."""
    edges = edge_features(found, bar, oracle, rng)
    marks = mark_features(graph, around, oracle, direct, rng)
    result = {pair: Confidence(_round(_curve(EDGE_CURVE, edges[pair])), None) for pair in graph.skeleton}
    for a, b in graph.directed:
        pair = frozenset((a, b))
        edge = arrow = result[pair].edge
        if not knowledge.forces(a, b):
            arrow = min(_round(_curve(MARK_CURVE, (marks[pair], _log_odds(edge)))), edge)
        result[pair] = Confidence(edge, arrow)
    return result


def edge_features(
    found: EvidenceSkeleton, bar: Bar, oracle: Released, rng: np.random.Generator
) -> dict[Pair, tuple[float, float]]:
    """Return, for every edge, the log odds that it stays, and the logarithm of its weakest evidence."""
    pairs = sorted(found.pairs, key=sorted)
    first: list[Question] = [(*_ends(pair), EMPTY) for pair in pairs]
    asked = [pair in found.weakest and oracle.answers(*q) for pair, q in zip(pairs, first, strict=True)]
    last = [found.weakest.get(pair, q) for pair, q in zip(pairs, first, strict=True)]
    known = [i for i, a in enumerate(asked) if a]
    alone = oracle.redraw([first[i] for i in known], EDGE_DRAWS, rng) > bar.keep
    given = oracle.redraw([last[i] for i in known], EDGE_DRAWS, rng)
    held = alone & (given > [bar.drop if last[i][2] else bar.keep for i in known])
    stays = {i: _smooth_log_odds(column) for i, column in zip(known, held.T, strict=True)}
    return {
        pair: (stays.get(i, _log_odds(MOST_STATED)), math.log1p(max(found.pairs[pair], 0.0)) if i in stays else 10.0)
        for i, pair in enumerate(pairs)
    }


def mark_features(
    graph: Graph,
    around: Sequence[TripleQuestions],
    oracle: Released,
    direct: Callable[[Mapping[Question, float]], Graph],
    rng: np.random.Generator,
) -> dict[Pair, float]:
    """Return, for every arrow, the log odds that it comes out again."""
    questions = list(dict.fromkeys(q for t in around for q in t.questions))
    drawn = oracle.redraw(questions, MARK_DRAWS, rng)
    again = []
    for row in drawn:
        marks = direct(dict(zip(questions, row.tolist(), strict=True))).directed
        again.append([arc in marks for arc in graph.directed])
    shares = np.array(again, dtype=np.float64).reshape(len(drawn), -1)
    return {frozenset(arc): _smooth_log_odds(column) for arc, column in zip(graph.directed, shares.T, strict=True)}


def _ends(pair: Pair) -> tuple[str, str]:
    a, b = sorted(pair)
    return a, b


def _smooth_log_odds(hits: FloatArray) -> float:
    """Return the log odds of a share, half a hit either way."""
    return math.log((float(hits.sum()) + 0.5) / (len(hits) - float(hits.sum()) + 0.5))


def _log_odds(share: float) -> float:
    return math.log(share / (1 - share))


def _curve(weights: tuple[float, float, float], features: tuple[float, float]) -> float:
    value = weights[0] + weights[1] * features[0] + weights[2] * features[1]
    return 1 / (1 + math.exp(-min(max(value, -30.0), 30.0)))


def _round(confidence: float) -> float:
    return round(min(max(confidence, LEAST_STATED), MOST_STATED), 3)
