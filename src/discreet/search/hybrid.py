"""Hybrid search by evidence: first the skeleton, then the directions that fit all unshielded triples best.

A pair is dropped if some set explains its dependence, at bars that evidence must reach. What is left says of every
triple how much speaks for a collider; the acyclic graph with the most evidence on its colliders is handed out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.search.colliders import arrange
from discreet.search.graph import Graph, Pair, colliders
from discreet.search.oracle import EMPTY, Question, Scorer
from discreet.search.orientation import Claim, Triple, extension, neighbours, orient, pairs_left, unshielded

PASSING = 0.3
"""A column explains a dependence only if it shares at least this part of its evidence with both sides."""

WIDEST = 6
"""Columns tried together with the middle of a triple."""

COLLIDER = 2.0
"""Evidence that it takes to call something a collider."""

Functions = Mapping[str, Sequence[frozenset[str]]]
"""Columns that are functions of others, with the smallest sets of which they are."""

NO_FUNCTIONS: Functions = {}

RESTARTS = 10
"""Restarts of the search for directions."""


@dataclass(frozen=True, kw_only=True)
class Bar:
    """What evidence decides.

    Parameters
    ----------
    keep
        A pair is looked at further if its evidence is above this.
    drop
        It is dropped if a set leaves less evidence than this,
    bridge
        or less than this if the pair is the strongest link between two parts of the graph.
    """

    keep: float
    drop: float
    bridge: float


@dataclass(frozen=True)
class EvidenceSkeleton:
    """Adjacent pairs with the least evidence of each and the question that left it, and what separates the others."""

    nodes: tuple[str, ...]
    pairs: dict[Pair, float]
    weakest: dict[Pair, Question]
    separations: dict[Pair, frozenset[str]]
    evidence: dict[Pair, float]

    def around(self) -> dict[str, set[str]]:
        """Return the neighbours of every node."""
        return neighbours(self.nodes, self.pairs)

    def shared(self, a: str, b: str) -> float:
        """Return the evidence that two columns depend on each other; 0 if nobody asked."""
        return self.evidence.get(frozenset((a, b)), 0.0)

    @property
    def unasked(self) -> frozenset[Pair]:
        """Pairs that are not adjacent and about which nothing is known."""
        return pairs_left(self.nodes, self.pairs, self.separations)


def find_by_evidence(
    nodes: Sequence[str],
    scorer: Scorer,
    bar: Bar,
    *,
    knowledge: Knowledge = NOTHING_KNOWN,
    max_order: int = 2,
    earlier: EvidenceSkeleton | None = None,
    determined: Functions = NO_FUNCTIONS,
) -> EvidenceSkeleton:
    """Return the skeleton that the evidence speaks for.

    ``earlier`` narrows it to what was not dropped before; ``determined`` tells which columns are functions of which.
    """
    names = sorted(nodes)
    asked = [(a, b) for a, b in combinations(names, 2) if knowledge.may_touch(a, b) and scorer.answers(a, b, EMPTY)]
    weighed = scorer.weigh((a, b, EMPTY) for a, b in asked)
    evidence = {frozenset(pair): e for pair, e in zip(asked, weighed, strict=True)}
    separations: dict[Pair, frozenset[str]] = {}
    pairs: dict[Pair, float] = {}
    weakest: dict[Pair, Question] = {}
    for a, b in asked:
        pair = frozenset((a, b))
        gone = earlier is not None and pair not in earlier.pairs
        if not knowledge.requires(a, b) and (gone or evidence[pair] <= bar.keep):
            separations[pair] = earlier.separations[pair] if gone and earlier and evidence[pair] > bar.keep else EMPTY
        else:
            pairs[pair], weakest[pair] = evidence[pair], (a, b, EMPTY)
    for a, b in combinations(names, 2):
        if knowledge.requires(a, b):  # whether or not anybody could ask
            pairs.setdefault(frozenset((a, b)), math.inf)
    found = EvidenceSkeleton(tuple(nodes), pairs, weakest, separations, evidence)
    bridges = _bridges(found)
    for order in range(1, max_order + 1):
        around = found.around()
        open_pairs = [p for p in sorted(map(sorted, pairs)) if not knowledge.requires(*p)]
        asks = {(x, y): list(_sets(x, y, order, around, found, knowledge, scorer)) for x, y in open_pairs}
        questions = [(x, y, given) for (x, y), sets in asks.items() for given in sets]
        answers = dict(zip(questions, scorer.weigh(questions), strict=True))
        for (x, y), sets in asks.items():
            if not sets:
                continue
            pair = frozenset((x, y))
            least, _, best = min((answers[x, y, g], sorted(g), g) for g in sets)  # sorted sets are all different
            if least < (bar.bridge if pair in bridges else bar.drop):
                del pairs[pair], weakest[pair]
                separations[pair] = best
            elif least < pairs[pair]:
                pairs[pair], weakest[pair] = least, (x, y, best)
    _drop_functions(found, determined, knowledge, scorer)
    return found


def _drop_functions(found: EvidenceSkeleton, determined: Functions, knowledge: Knowledge, scorer: Scorer) -> None:
    """Drop links of a function to columns with which all that it is a function of have more to do than it has.

    Given what determines it, a function depends on nothing, whatever is true: so that alone drops no link.
    """
    for function, sets in determined.items():
        for other in sorted(found.around()[function]):
            pair = frozenset((function, other))
            for given in sets:
                questions = [(z, other, frozenset((function,))) for z in sorted(given - {other})]
                if len(questions) < len(given) or knowledge.requires(function, other) or pair not in found.pairs:
                    continue
                linked = all(frozenset(q[:2]) in found.pairs and scorer.answers(*q) for q in questions)
                if linked and min(scorer.weigh(questions)) > 0:
                    del found.pairs[pair], found.weakest[pair]
                    found.separations[pair] = given


def _sets(
    x: str,
    y: str,
    order: int,
    around: Mapping[str, set[str]],
    found: EvidenceSkeleton,
    knowledge: Knowledge,
    scorer: Scorer,
) -> Iterator[frozenset[str]]:
    """Yield the sets that might explain a pair: possible causes of one side that have to do with the other."""
    seen = set()
    for side, other in ((x, y), (y, x)):
        causes = sorted(z for z in around[side] - {other} if knowledge.allows(z, side))
        for given in map(frozenset, combinations(causes, order)):
            if given not in seen and _may_explain(x, y, other, given, found) and scorer.answers(x, y, given):
                seen.add(given)
                yield given


def _may_explain(x: str, y: str, other: str, given: frozenset[str], found: EvidenceSkeleton) -> bool:
    if len(given) == 1:
        (z,) = given
        return min(found.shared(x, z), found.shared(y, z)) >= PASSING * found.shared(x, y)
    return max(found.shared(other, z) for z in given) > 0


def _bridges(found: EvidenceSkeleton) -> set[Pair]:
    """Return the pairs of the spanning forest with the most evidence."""
    part = {n: n for n in found.nodes}

    def root(n: str) -> str:
        while part[n] != n:
            n = part[n]
        return n

    chosen = set()
    for pair in sorted(found.pairs, key=lambda p: (-found.evidence.get(p, 0.0), sorted(p))):
        a, b = (root(n) for n in sorted(pair))
        if a != b:
            part[a] = b
            chosen.add(pair)
    return chosen


@dataclass(frozen=True)
class TripleQuestions:
    """Two nodes that are not adjacent and one between them, with the questions that say what it is.

    If it is a collider, some set without it separates the two, and none with it. ``step`` is from the separating
    set without it to the same set with it, where both can be asked.
    """

    ends: tuple[str, str]
    middle: str
    without: tuple[Question, ...]
    including: tuple[Question, ...]
    step: tuple[Question, Question] | None

    @property
    def questions(self) -> tuple[Question, ...]:
        """All of them."""
        return (*self.without, *self.including, *(self.step or ()))


def list_triples(found: EvidenceSkeleton, scorer: Scorer, *, max_order: int = 2) -> list[TripleQuestions]:
    """Return every unshielded triple of a skeleton about whose ends something was asked."""
    around = found.around()
    result = []
    for middle in sorted(found.nodes):
        for x, y in combinations(sorted(around[middle]), 2):
            pair = frozenset((x, y))
            if pair in found.separations:
                result.append(_question_triple(x, y, middle, found, around, scorer, max_order))
    return result


def _question_triple(
    x: str,
    y: str,
    middle: str,
    found: EvidenceSkeleton,
    around: Mapping[str, set[str]],
    scorer: Scorer,
    max_order: int,
) -> TripleQuestions:
    separating = found.separations[frozenset((x, y))]
    near = (around[x] | around[y] | separating) - {x, y, middle}
    strength = {z: min(found.shared(x, z), found.shared(y, z)) for z in near}
    others = sorted((z for z in near if strength[z] > 0), key=lambda z: (-strength[z], z))[:WIDEST]
    without = [EMPTY, *(frozenset((z,)) for z in others)]
    including = [frozenset((middle,))] + ([frozenset((middle, z)) for z in others] if max_order > 1 else [])
    (including if middle in separating else without).append(separating)
    step = _keep_answered(x, y, [separating - {middle}, separating | {middle}], scorer)
    return TripleQuestions(
        (x, y),
        middle,
        _keep_answered(x, y, without, scorer),
        _keep_answered(x, y, including, scorer),
        (step[0], step[1]) if len(step) == 2 else None,
    )


def _keep_answered(x: str, y: str, sets: list[frozenset[str]], scorer: Scorer) -> tuple[Question, ...]:
    return tuple((x, y, given) for given in dict.fromkeys(sets) if scorer.answers(x, y, given))


def weigh_triples(around: list[TripleQuestions], evidence: Mapping[Question, float]) -> dict[Triple, float]:
    """Return by how much each triple would rather be a collider."""
    weights = {}
    for t in around:
        if t.without and t.including:
            apart, joined = (min(evidence[q] for q in side) for side in (t.without, t.including))
            gain = joined - apart
            if t.step is not None:
                gain = (gain + evidence[t.step[1]] - evidence[t.step[0]]) / 2
            weights[frozenset(t.ends), t.middle] = gain - COLLIDER
    return weights


def direct(
    nodes: tuple[str, ...],
    pairs: Mapping[Pair, object],
    weights: Mapping[Triple, float],
    knowledge: Knowledge,
    rng: np.random.Generator,
    *,
    unasked: frozenset[Pair] = frozenset(),
    restarts: int = RESTARTS,
) -> Graph:
    """Return the class of the acyclic graph that fits the triples best: ``weights`` is what speaks for colliders.

    Triples without a weight are unclear, as those over pairs that nobody asked about.
    """
    unclear = frozenset(place for place in unshielded(nodes, pairs) if place not in weights)

    def orient_with(effects: Iterable[Triple]) -> Graph:
        claims = [Claim(ends, middle, weights[ends, middle]) for ends, middle in effects if (ends, middle) in weights]
        return orient(nodes, pairs, claims, knowledge, unclear=unclear, unasked=unasked)

    start = extension(orient_with(place for place, weight in weights.items() if weight > 0))
    arrows = arrange(nodes, pairs, weights, rng, knowledge=knowledge, start=start, restarts=restarts)
    return orient_with(colliders(Graph(nodes, arrows)))
