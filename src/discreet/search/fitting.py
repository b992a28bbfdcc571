"""Directions by the best fit to all triples at once: which of them are common effects, weighed by evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from discreet.graph import Graph, Pair, colliders
from discreet.knowledge import Knowledge
from discreet.oracles import Question
from discreet.search.arrange import arrange
from discreet.search.orient import Claim, extension, orient
from discreet.search.pattern import Triple as Place
from discreet.search.pattern import unshielded
from discreet.search.sieve import Triple

COLLIDER = 2.0
"""Evidence that it takes to call something a common effect."""

RESTARTS = 10
"""Restarts of the search for directions."""


def triple_weights(around: list[Triple], evidence: Mapping[Question, float]) -> dict[Place, float]:
    """Return by how much each triple would rather be a common effect."""
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
    weights: Mapping[Place, float],
    knowledge: Knowledge,
    rng: np.random.Generator,
    *,
    unasked: frozenset[Pair] = frozenset(),
    restarts: int = RESTARTS,
) -> Graph:
    """Return the class of the acyclic graph that fits the triples best: ``weights`` is what speaks for common effects.

    Triples without a weight are unclear, as those over pairs that nobody asked about.
    """
    unclear = frozenset(place for place in unshielded(nodes, pairs) if place not in weights)

    def oriented(effects: Iterable[Place]) -> Graph:
        claims = [Claim(ends, middle, weights[ends, middle]) for ends, middle in effects if (ends, middle) in weights]
        return orient(nodes, pairs, claims, knowledge, unclear=unclear, unasked=unasked)

    start = extension(oriented(place for place, weight in weights.items() if weight > 0))
    arrows = arrange(nodes, pairs, weights, rng, knowledge=knowledge, start=start, restarts=restarts)
    return oriented(colliders(Graph(nodes, arrows)))
