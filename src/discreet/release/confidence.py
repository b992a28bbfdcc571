"""How sure an edge and an arrowhead are: rows and noise are redrawn within what was released, which costs nothing.

A redrawn residual is the one that was seen plus a draw of its whole null covariance (sampling and noise). An edge
is as sure as often as its weakest questions keep it, and as strong as its weakest evidence; an arrowhead as often
as it comes out again when all triples are redrawn, and more if it is an arm of a collider that no other neighbour
explains away. Where a fit to all pairs decided, what counts is how much worse the best graph fits that was tried
without the edge, or with the arrow turned. All go through logistic curves that were fitted on random networks
(``benchmarks/fit_confidence.py``), since even what never wavers may be wrong: a hidden path, a set that was not asked.
An arrowhead that knowledge settles is as sure as its edge.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.arrays import FloatArray
from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.release.discovery import Confidence
from discreet.release.global_fit import GlobalFit
from discreet.release.oracles.released import Released
from discreet.search.graph import Arc, Graph, Pair, colliders
from discreet.search.hybrid import COLLIDER, Bar, EvidenceSkeleton, TripleQuestions
from discreet.search.oracle import EMPTY, Question

EDGE_DRAWS = 200
MARK_DRAWS = 16

ROWS = 10_000


@dataclass(frozen=True)
class Curves:
    """Logistic curves: the weight of a constant, then of every feature.

    Parameters
    ----------
    edge
        Of an edge: how often it stays (log odds), the logarithm of its weakest evidence, and where a fit decided, those
        of how much more the best graph costs without it and of the rows (in units of ``ROWS``).
    mark
        Of an arrowhead: how often it comes out again (log odds), whether it is an arm of a collider, and what speaks
        against that. Where a fit decided, instead of these the logarithms of how much more the best graph costs with
        the arrow turned and of the rows. Then the edge's own log odds.
    """

    edge: tuple[float, ...]
    mark: tuple[float, ...]


BY_EVIDENCE = Curves(edge=(0.54, 0.023, 0.715), mark=(-2.715, 0.659, 1.274, 0.53, 0.63))
BY_FIT = Curves(edge=(-0.492, 0.286, 0.412, 0.401, -0.122), mark=(-1.171, 0.265, 0.112, 0.444))

MOST_AGAINST = -5.0
"""Evidence against a collider counts no further than this."""

LEAST_STATED, MOST_STATED = 0.01, 0.99
"""No confidence is stated beyond these."""


def confidences(
    graph: Graph,
    edges: Mapping[Pair, tuple[float, ...]],
    marks: Mapping[Arc, tuple[float, ...]],
    curves: Curves,
    knowledge: Knowledge = NOTHING_KNOWN,
) -> dict[Pair, Confidence]:
    """Return the confidence of every edge and arrowhead of a graph, from their features."""
    result = {pair: Confidence(_round(_curve(curves.edge, edges[pair])), None) for pair in graph.skeleton}
    for a, b in graph.directed:
        pair = frozenset((a, b))
        edge = arrow = result[pair].edge
        if not knowledge.forces(a, b):
            arrow = min(_round(_curve(curves.mark, (*marks[a, b], _log_odds(edge)))), edge)
        result[pair] = Confidence(edge, arrow)
    return {pair: sure for pair, sure in result.items() if not knowledge.requires(*pair)}


def fit_features(
    fitted: GlobalFit, bar: Bar, oracle: Released, rng: np.random.Generator
) -> tuple[dict[Pair, tuple[float, ...]], dict[Arc, tuple[float, ...]]]:
    """Return the features of every edge, and of every arrow, of a graph that a fit decided."""
    size = math.log(oracle.parts.rows / ROWS)
    known = edge_features(fitted.found, bar, oracle, rng)
    edges = {pair: (*known[pair], math.log1p(max(margin, 0.0)), size) for pair, margin in fitted.edges.items()}
    return edges, {arc: (math.log1p(max(margin, 0.0)), size) for arc, margin in fitted.arrows.items()}


def edge_features(
    found: EvidenceSkeleton, bar: Bar, oracle: Released, rng: np.random.Generator
) -> dict[Pair, tuple[float, ...]]:
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
    found: EvidenceSkeleton,
    around: Sequence[TripleQuestions],
    oracle: Released,
    direct: Callable[[Mapping[Question, float]], Graph],
    rng: np.random.Generator,
) -> dict[Arc, tuple[float, ...]]:
    """Return, for every arrow, the log odds that it comes out again, and what is said of the colliders it rests on."""
    questions = list(dict.fromkeys(q for t in around for q in t.questions))
    drawn = oracle.redraw(questions, MARK_DRAWS, rng)
    again = []
    for row in drawn:
        marks = direct(dict(zip(questions, row.tolist(), strict=True))).directed
        again.append([arc in marks for arc in graph.directed])
    shares = np.array(again, dtype=np.float64).reshape(len(drawn), -1)
    rests = collider_features(graph, found, oracle)
    return {arc: (_smooth_log_odds(column), *rests[arc]) for arc, column in zip(graph.directed, shares.T, strict=True)}


def collider_features(graph: Graph, found: EvidenceSkeleton, oracle: Released) -> dict[Arc, tuple[float, float]]:
    """Return, for every arrow, whether it is an arm of a collider, and what speaks against the best of these.

    Any neighbour of its ends may explain a collider away, also one that seems to have to do with one end only.
    """
    near = found.around()
    asked: dict[tuple[Pair, str], tuple[list[Question], list[Question]]] = {}
    for causes, effect in colliders(graph):
        x, y = _ends(causes)
        others = [EMPTY, *(frozenset((z,)) for z in sorted((near[x] | near[y]) - {x, y, effect}))]
        without, including = ([(x, y, given | more) for given in others] for more in (EMPTY, frozenset((effect,))))
        asked[causes, effect] = [q for q in without if oracle.answers(*q)], [q for q in including if oracle.answers(*q)]
    questions = list(dict.fromkeys(q for pair in asked.values() for side in pair for q in side))
    evidence = dict(zip(questions, oracle.weigh(questions), strict=True))
    rests = dict.fromkeys(graph.directed, (0.0, 0.0))
    for (causes, effect), (without, including) in asked.items():
        if without and including:
            gain = min(evidence[q] for q in including) - min(evidence[q] for q in without) - COLLIDER
            for cause in causes:
                best = rests[cause, effect][1] if rests[cause, effect][0] else MOST_AGAINST
                rests[cause, effect] = (1.0, max(best, min(gain, 0.0)))
    return rests


def _ends(pair: Pair) -> tuple[str, str]:
    a, b = sorted(pair)
    return a, b


def _smooth_log_odds(hits: FloatArray) -> float:
    """Return the log odds of a share, half a hit either way."""
    return math.log((float(hits.sum()) + 0.5) / (len(hits) - float(hits.sum()) + 0.5))


def _log_odds(share: float) -> float:
    return math.log(share / (1 - share))


def _curve(weights: Sequence[float], features: Sequence[float]) -> float:
    value = weights[0] + sum(weight * feature for weight, feature in zip(weights[1:], features, strict=True))
    return 1 / (1 + math.exp(-min(max(value, -30.0), 30.0)))


def _round(confidence: float) -> float:
    return round(min(max(confidence, LEAST_STATED), MOST_STATED), 3)
