"""Orientation: colliders by strength, Meek's rules, and a directed extension that always exists.

Conflicts between colliders are resolved by strength: the strongest claim is heard first, and a claim that contradicts
what stands is dropped; of two equally strong claims that contradict each other neither is heard. If what results has no
consistent extension, the weakest claims give way until it has.

Of an unclear triple x - z - y it is not known whether z is a collider: nothing was asked about x and y (knowledge
forbids the pair), or the answers speak neither way. No rule concludes anything from it.

What is handed out always has a consistent extension: a directed acyclic graph with the same skeleton, arrows and
colliders; only over pairs that knowledge forbids, about which nobody asked, may it have further colliders. Where all
that is known has none (a chordless cycle without a collider, or unclear triples of which one must be a collider),
sinks are taken greedily so that few new colliders are needed, unclear triples first, names breaking ties: the one case
in which an arrow is a guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby

from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.errors import KnowledgeError
from discreet.search.graph import Arc, Graph, Pair, colliders
from discreet.search.meek import Pattern, Triple, arcs_on_cycles, close, extend, remove_sink


@dataclass(frozen=True)
class Claim:
    """That z is a collider between a pair of nodes that are not adjacent."""

    causes: Pair
    effect: str
    strength: float

    @property
    def arcs(self) -> frozenset[Arc]:
        """The two arrows."""
        return frozenset((cause, self.effect) for cause in self.causes)


def orient(
    nodes: Sequence[str],
    pairs: Iterable[Pair],
    claims: Iterable[Claim],
    knowledge: Knowledge = NOTHING_KNOWN,
    *,
    unclear: frozenset[Triple] = frozenset(),
    unasked: frozenset[Pair] = frozenset(),
) -> Graph:
    """Return the CPDAG of a skeleton under collider claims and knowledge.

    ``unclear`` holds triples x - z - y of which it is not known whether z is a collider; ``unasked`` the pairs
    that are not adjacent and about which nothing was asked, whose triples are among the unclear ones.
    """
    base = Pattern(sorted(nodes), pairs, unclear)
    _apply_knowledge(base, knowledge)
    accepted = _accept(base, claims, knowledge)
    kept = _keep_extendable(base, accepted, knowledge)
    open_triples = frozenset(triple for triple in unclear if triple[0] in unasked)
    if kept is None:
        return _force(_direct_claims(base, accepted), nodes, knowledge, open_triples)
    pattern = _direct_and_close(base, kept, knowledge)
    if extend(pattern, open_triples) is None:
        return _force(pattern, nodes, knowledge, open_triples)
    return pattern.graph(nodes)


def _keep_extendable(base: Pattern, accepted: list[Claim], knowledge: Knowledge) -> list[Claim] | None:
    """Return the claims that stay: the longest run of strongest ones with an extension, then whatever still fits."""
    for length in range(len(accepted), -1, -1):
        kept = accepted[:length]
        if extend(_direct_and_close(base, kept, knowledge), base.unclear) is not None:
            break
    else:
        return None
    for claim in accepted[length + 1 :]:
        if extend(_direct_and_close(base, [*kept, claim], knowledge), base.unclear) is not None:
            kept.append(claim)
    return kept


def _direct_and_close(base: Pattern, claims: Iterable[Claim], knowledge: Knowledge) -> Pattern:
    pattern = _direct_claims(base, claims)
    close(pattern, knowledge)
    return pattern


def cpdag(dag: Graph) -> Graph:
    """Return the CPDAG of a directed acyclic graph: its Markov equivalence class."""
    return equivalents(dag)


def equivalents(dag: Graph, knowledge: Knowledge = NOTHING_KNOWN) -> Graph:
    """Return the graphs that are Markov equivalent to a directed acyclic one and keep to knowledge, as it does."""
    claims = [Claim(causes, effect, 1.0) for causes, effect in colliders(dag)]
    return orient(dag.nodes, dag.skeleton, claims, knowledge)


def extension(graph: Graph) -> list[Arc]:
    """Return the arrows of a directed acyclic graph of the class; only if there is none, one with further colliders."""
    pattern = Pattern(sorted(graph.nodes), graph.skeleton)
    for a, b in graph.directed:
        pattern.direct(a, b)
    pairs = [frozenset(pair) for pair in combinations(sorted(graph.nodes), 2)]
    arcs = extend(pattern) or extend(pattern, frozenset((pair, node) for node in graph.nodes for pair in pairs))
    if arcs is None:
        raise KnowledgeError("the graph has a circle of causes")
    return arcs


def extensions(graph: Graph) -> Iterator[Graph]:
    """Yield every directed acyclic graph of the class, each once: lines directed, no arrow changed, no new collider.

    There may be very many. If there is none, the one with further colliders that ``extension`` returns is yielded.
    """
    pattern = Pattern(sorted(graph.nodes), graph.skeleton)
    _direct_all(pattern, sorted(graph.directed))
    if extend(pattern) is None:
        yield Graph(graph.nodes, frozenset(extension(graph)))
        return
    stack = [pattern]
    while stack:
        pattern = stack.pop()
        close(pattern)
        line = min(((a, b) for a, others in pattern.lines.items() for b in others), default=None)
        if line is None:
            yield pattern.graph(graph.nodes)
            continue
        for a, b in (line[::-1], line):
            other = pattern.copy()
            other.direct(a, b)
            if extend(other) is not None:
                stack.append(other)


def _apply_knowledge(pattern: Pattern, knowledge: Knowledge) -> None:
    """Direct every line of which knowledge allows one direction only."""
    for a in sorted(pattern.lines):
        for b in sorted(pattern.lines[a]):
            if knowledge.forces(a, b):
                pattern.direct(a, b)
    if arcs_on_cycles([(a, b) for a, children in pattern.children.items() for b in children]):
        raise KnowledgeError("knowledge forces a circle of causes among adjacent columns")


def _accept(base: Pattern, claims: Iterable[Claim], knowledge: Knowledge) -> list[Claim]:
    """Hear claims from the strongest to the weakest; drop what contradicts what stands."""
    pattern = base.copy()
    accepted: list[Claim] = []
    ranked = sorted(claims, key=lambda c: (-c.strength, c.effect, sorted(c.causes)))
    for _, tied in groupby(ranked, key=lambda c: c.strength):
        heard = [c for c in tied if _fits(pattern, c, knowledge)]
        rivals = {arc for claim in heard for arc in claim.arcs}
        for claim in heard:
            opposed = any((b, a) in rivals for a, b in claim.arcs)
            if not opposed and _fits(pattern, claim, knowledge):
                _direct_all(pattern, claim.arcs)
                accepted.append(claim)
    return accepted


def _fits(pattern: Pattern, claim: Claim, knowledge: Knowledge) -> bool:
    """Whether a claim contradicts no arrow, no knowledge, and closes no cycle."""
    return all(
        a not in pattern.children[b] and knowledge.allows(a, b) and not pattern.reaches(b, a) for a, b in claim.arcs
    )


def _direct_all(pattern: Pattern, arcs: Iterable[Arc]) -> None:
    for a, b in arcs:
        if b in pattern.lines[a]:
            pattern.direct(a, b)


def _direct_claims(base: Pattern, claims: Iterable[Claim]) -> Pattern:
    pattern = base.copy()
    for claim in claims:
        _direct_all(pattern, claim.arcs)
    return pattern


def _force(pattern: Pattern, nodes: Sequence[str], knowledge: Knowledge, open_triples: frozenset[Triple]) -> Graph:
    """Extend with as few new colliders as a greedy choice of sinks needs, and return the resulting class.

    Colliders over pairs that were not asked about are not drawn: they need not be guessed.
    """
    rest = pattern.copy()
    remaining = sorted(rest.parents)
    arcs: list[Arc] = []
    while remaining:
        free = [n for n in remaining if not rest.children[n]]
        sink = min(free, key=lambda n: (_new_colliders(rest, n), n))
        arcs += remove_sink(rest, sink)
        remaining.remove(sink)
    dag = Graph(tuple(nodes), frozenset(arcs))
    result = Pattern(sorted(nodes), dag.skeleton, pattern.unclear)
    _apply_knowledge(result, knowledge)
    for causes, effect in colliders(dag) - open_triples:
        _direct_all(result, [(cause, effect) for cause in causes])
    close(result, knowledge)
    return result.graph(nodes)


def _new_colliders(p: Pattern, node: str) -> int:
    around = sorted(p.around(node))
    fresh = [(a, b) for a, b in combinations(around, 2) if not p.silent(a, node, b)]
    return sum(1 for a, b in fresh if a in p.lines[node] or b in p.lines[node])
