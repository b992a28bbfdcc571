"""A graph that was found by evidence, refined by a fit to all released pairs at once where noise rules.

Pair by pair, evidence that drowns in noise decides nothing, and a collider that is wrongly claimed turns others. Where
the noise of the release is not far below that of sampling, all pairs together are explained by one graph
(``search/structural.py``), which starts from what evidence found. Arrows that the fit adds must be borne out by
evidence as well, since parents that interact look to it like more arrows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from discreet.arrays import FloatArray
from discreet.domain.knowledge import Knowledge
from discreet.release.oracles.correlations import correlations
from discreet.release.oracles.released import Released
from discreet.search.graph import Arc, Graph, Pair, colliders
from discreet.search.hybrid import EvidenceSkeleton, list_triples, weigh_triples
from discreet.search.oracle import Question
from discreet.search.orientation import Claim, extension, orient, unshielded
from discreet.search.structural import Fit, Parents, Rules, Triple, misfit, search

NOISY = 0.5
"""Noise against sampling, in variance of a typical correlation, from which on the fit to all pairs decides."""

POSSIBLE = -0.5
"""A pair is a candidate if the evidence for its dependence is above this."""

SEPARATED = -5.0
"""Pairs that some set separates with less evidence for dependence than this are no candidates."""

BORNE_OUT = 2.0
"""Evidence that an arrow needs that the fit adds to what evidence found."""

MOST_MISFIT = 1.2
"""A model that misses the correlations by more than this, in squares of what is uncertain, does not fit."""

DOUBT = 5.0
"""Evidence on a collider that is left out of account: the fit has looked at the same pairs."""

MOST_MARGIN = 1e3
"""No graph is known to cost more than this beyond the best."""


@dataclass(frozen=True)
class GlobalFit:
    """What the fit found.

    ``found`` is the skeleton with the evidence for it; ``edges`` says how much more the best graph costs that was
    tried without a pair, and ``arrows`` the best one with an arrow turned.
    """

    graph: Graph
    found: EvidenceSkeleton
    edges: Mapping[Pair, float]
    arrows: Mapping[Arc, float]


def refine(
    graph: Graph, found: EvidenceSkeleton, oracle: Released, price: float, knowledge: Knowledge, max_order: int
) -> GlobalFit | None:
    """Return what a fit to all pairs makes of a graph; None where noise is too small to need it, or it does not fit."""
    names, data, noise = correlations(oracle.estimates, price)
    if noise < NOISY or not max_order:
        return None
    refiner = _Refiner(names, found, oracle, max_order, {})
    rules = refiner.rules(knowledge)
    rough, _ = search(data, refiner.parents_in(graph), rules, refiner.unfounded, thorough=False)
    if misfit(data, rough) > MOST_MISFIT:
        return None
    best, tried = search(data, rough.parents, rules, refiner.unfounded)
    heard = replace(data, colliders=refiner.colliders(best))
    turned, directed = search(heard, best.parents, rules.keep(best), lambda _: ())
    return refiner.tell(graph.nodes, turned, tried.apart - best.cost, directed.directed.T - turned.cost, knowledge)


@dataclass(frozen=True)
class _Refiner:
    """Goes between names and numbers."""

    names: tuple[str, ...]
    found: EvidenceSkeleton
    oracle: Released
    max_order: int
    asked: dict[Question, float]

    def parents_in(self, graph: Graph) -> Parents:
        """Return the parents in a graph of the class."""
        place = {name: i for i, name in enumerate(self.names)}
        arcs = extension(graph)
        return tuple(tuple(sorted(place[a] for a, b in arcs if b == name)) for name in self.names)

    def rules(self, knowledge: Knowledge) -> Rules:
        """Return what knowledge says, and which pairs may be adjacent by their evidence."""
        names, pairs = self.names, self._candidates()
        near = [frozenset(j for j, b in enumerate(names) if frozenset((a, b)) in pairs) for a in names]
        allowed = np.array([[knowledge.allows(a, b) for b in names] for a in names])
        required = np.array([[knowledge.requires(a, b) for b in names] for a in names])
        return Rules(near, allowed, required)

    def _candidates(self) -> set[Pair]:
        """Return the pairs that evidence found, and those that it gave up without being sure."""
        found, fixed = self.found, self.oracle.determined
        possible = [
            pair
            for pair, evidence in found.evidence.items()
            if evidence > POSSIBLE and pair not in found.pairs and not any(column in fixed for column in pair)
        ]
        questions: dict[Pair, Question] = {}
        for pair in possible:
            a, b = sorted(pair)
            if self.oracle.answers(a, b, found.separations[pair]):
                questions[pair] = a, b, found.separations[pair]
        evidence = self.oracle.weigh(questions.values())
        apart = {pair for pair, e in zip(questions, evidence, strict=True) if e < SEPARATED}
        return {*found.pairs, *possible} - apart

    def unfounded(self, at: Fit) -> list[tuple[int, int]]:
        """Return the arrows that evidence did not find, and that it does not bear out among the other parents."""
        return [(a, b) for a, b, question in self._added(at) if self._weigh(question) < BORNE_OUT]

    def _added(self, at: Fit) -> list[tuple[int, int, Question]]:
        arrows = [(a, b) for b, given in enumerate(at.parents) for a in given]
        asked = [(a, b, self._question(at, a, b)) for a, b in arrows if self._pair(a, b) not in self.found.pairs]
        return [(a, b, question) for a, b, question in asked if question is not None]

    def _question(self, at: Fit, a: int, b: int) -> Question | None:
        """Return the question whether an arrow is needed beside the parents that share most with both of its ends."""
        shared = self.found.shared
        x, y = self.names[a], self.names[b]
        others = [self.names[z] for z in at.parents[b] if z != a]
        others = sorted(others, key=lambda z: (-min(shared(x, z), shared(y, z)), z))[: self.max_order]
        sets = (frozenset(others[:size]) for size in range(len(others), -1, -1))
        return next(((x, y, given) for given in sets if self.oracle.answers(x, y, given)), None)

    def _weigh(self, question: Question) -> float:
        if question not in self.asked:
            self.asked[question] = self.oracle.weigh([question])[0]
        return self.asked[question]

    def _pair(self, a: int, b: int) -> Pair:
        return frozenset((self.names[a], self.names[b]))

    def colliders(self, at: Fit) -> dict[Triple, float]:
        """Return what evidence clearly says of the unshielded triples of a graph, beyond doubt on either side."""
        place = {name: i for i, name in enumerate(self.names)}
        pairs = {self._pair(a, b): 0.0 for b, given in enumerate(at.parents) for a in given}
        around = list_triples(replace(self.found, pairs=pairs), self.oracle, max_order=self.max_order)
        around = [t for t in around if frozenset(t.ends) not in pairs]
        questions = list(dict.fromkeys(q for t in around for q in t.questions))
        weights = weigh_triples(around, dict(zip(questions, self.oracle.weigh(questions), strict=True)))
        clear = {}
        for (ends, middle), weight in weights.items():
            if abs(weight) > DOUBT:
                a, b = sorted(place[end] for end in ends)
                clear[(a, b), place[middle]] = math.copysign(abs(weight) - DOUBT, weight)
        return clear

    def tell(
        self, nodes: tuple[str, ...], best: Fit, apart: FloatArray, turned: FloatArray, knowledge: Knowledge
    ) -> GlobalFit:
        """Return what was found by name: the class of the best graph, and how much more others cost."""
        names = self.names
        arcs = [(a, b) for b, given in enumerate(best.parents) for a in given]
        dag = Graph(nodes, frozenset((names[a], names[b]) for a, b in arcs))
        unasked = self.found.unasked - dag.skeleton
        unclear = frozenset(place for place in unshielded(nodes, dag.skeleton) if place[0] in unasked)
        claims = [Claim(*place, 1.0) for place in colliders(dag) - unclear]
        graph = orient(nodes, dag.skeleton, claims, knowledge, unclear=unclear, unasked=unasked)
        apart, turned = (np.minimum(margin, MOST_MARGIN) for margin in (apart, turned))
        edges = {self._pair(a, b): float(apart[a, b]) for a, b in arcs}
        place = {name: i for i, name in enumerate(names)}
        arrows = {(a, b): float(turned[place[a], place[b]]) for a, b in graph.directed}
        return GlobalFit(graph, self._skeleton(graph, best), edges, arrows)

    def _skeleton(self, graph: Graph, best: Fit) -> EvidenceSkeleton:
        """Return the skeleton of the graph, with the question that each of its edges had to stand and its evidence."""
        found, pairs = self.found, graph.skeleton
        added = {self._pair(a, b): question for a, b, question in self._added(best)}
        weakest = {**found.weakest, **added}
        evidence = {**found.pairs, **{pair: self._weigh(question) for pair, question in added.items()}}
        return replace(
            found,
            pairs={pair: evidence.get(pair, 0.0) for pair in pairs},
            weakest={pair: weakest[pair] for pair in pairs & weakest.keys()},
            separations={pair: given for pair, given in found.separations.items() if pair not in pairs},
        )
