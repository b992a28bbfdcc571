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

Meek 1995, *Causal inference and causal explanation with background knowledge* (rules 1-4); Dor & Tarsi 1992, *A simple
algorithm to construct a consistent extension of a partially oriented graph*.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby

from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.errors import KnowledgeError
from discreet.search.graph import Arc, Graph, Pair, colliders

Triple = tuple[Pair, str]
"""Two nodes that are not adjacent, and a node adjacent to both."""


class Pattern:
    """A partially directed graph while it is being oriented."""

    def __init__(self, nodes: Iterable[str], pairs: Iterable[Pair], unclear: frozenset[Triple] = frozenset()) -> None:
        self.unclear = unclear
        self.parents: dict[str, set[str]] = {n: set() for n in nodes}
        self.children: dict[str, set[str]] = {n: set() for n in self.parents}
        self.lines: dict[str, set[str]] = {n: set() for n in self.parents}
        for pair in pairs:
            a, b = pair
            self.lines[a].add(b)
            self.lines[b].add(a)

    def copy(self) -> Pattern:
        """Return an independent copy."""
        other = Pattern(self.parents, (), self.unclear)
        for name in ("parents", "children", "lines"):
            setattr(other, name, {n: set(s) for n, s in getattr(self, name).items()})
        return other

    def around(self, node: str) -> set[str]:
        """Return all nodes adjacent to a node."""
        return self.parents[node] | self.children[node] | self.lines[node]

    def adjacent(self, a: str, b: str) -> bool:
        """Whether two nodes are adjacent."""
        return b in self.lines[a] or b in self.parents[a] or b in self.children[a]

    def silent(self, a: str, middle: str, b: str) -> bool:
        """Whether a triple says nothing: its ends are adjacent, or it is unclear."""
        return self.adjacent(a, b) or (frozenset((a, b)), middle) in self.unclear

    def direct(self, a: str, b: str) -> None:
        """Turn the line a - b into a -> b."""
        self.lines[a].discard(b)
        self.lines[b].discard(a)
        self.children[a].add(b)
        self.parents[b].add(a)

    def reaches(self, a: str, b: str) -> bool:
        """Whether arrows lead from a to b."""
        stack, seen = [a], {a}
        while stack:
            for child in self.children[stack.pop()]:
                if child == b:
                    return True
                if child not in seen:
                    seen.add(child)
                    stack.append(child)
        return False

    def graph(self, nodes: Sequence[str]) -> Graph:
        """Return it as a graph."""
        arrows = {(a, b) for a, children in self.children.items() for b in children}
        lines = {frozenset((a, b)) for a, others in self.lines.items() for b in others}
        return Graph(tuple(nodes), frozenset(arrows), frozenset(lines))


def close(pattern: Pattern, knowledge: Knowledge = NOTHING_KNOWN) -> None:
    """Apply Meek's four rules until nothing changes."""
    changed = True
    while changed:
        changed = False
        for a in pattern.lines:
            for b in sorted(pattern.lines[a]):
                if _meek(pattern, a, b) and knowledge.allows(a, b):
                    pattern.direct(a, b)
                    changed = True


def _meek(p: Pattern, a: str, b: str) -> bool:
    """Whether a - b must become a -> b."""
    if any(not p.silent(c, a, b) for c in p.parents[a]):  # 1: c -> a - b would be a new collider
        return True
    if p.children[a] & p.parents[b]:  # 2: b -> a would close a cycle
        return True
    inner = p.lines[a] & p.parents[b]
    if any(not p.silent(c, a, d) for c, d in combinations(inner, 2)):  # 3
        return True
    for d in p.lines[a]:  # 4: d - a, d -> c -> b, c adjacent to a, d not adjacent to b
        if d != b and not p.silent(d, a, b) and any(p.adjacent(c, a) for c in p.children[d] & p.parents[b]):
            return True
    return False


def extend(pattern: Pattern, unclear: frozenset[Triple] = frozenset()) -> list[Arc] | None:
    """Return the arrows of a directed acyclic graph with the same skeleton, arrows and colliders, if there is one.

    Triples in ``unclear`` may become colliders.
    """
    rest = pattern.copy()
    rest.unclear = unclear
    remaining = sorted(rest.parents)
    arcs: list[Arc] = []
    while remaining:
        sink = next((n for n in remaining if _can_be_sink(rest, n)), None)
        if sink is None:
            return None
        arcs += remove_sink(rest, sink)
        remaining.remove(sink)
    return arcs


def _can_be_sink(p: Pattern, node: str) -> bool:
    """Whether a node has no children and its lines can point to it without a new collider."""
    if p.children[node]:
        return False
    around = p.around(node)
    return all(other == line or p.silent(other, node, line) for line in p.lines[node] for other in around)


def remove_sink(p: Pattern, sink: str) -> list[Arc]:
    """Take a node out and return the arrows that point to it."""
    arcs = [(other, sink) for other in sorted(p.around(sink))]
    for other in p.around(sink):
        p.lines[other].discard(sink)
        p.children[other].discard(sink)
    for side in (p.parents, p.children, p.lines):
        side.pop(sink)
    return arcs


def neighbours(nodes: Iterable[str], pairs: Iterable[Pair]) -> dict[str, set[str]]:
    """Return the nodes adjacent to each."""
    around: dict[str, set[str]] = {node: set() for node in nodes}
    for a, b in pairs:
        around[a].add(b)
        around[b].add(a)
    return around


def unshielded(nodes: Iterable[str], pairs: Iterable[Pair]) -> list[Triple]:
    """Return all triples of two nodes that are not adjacent and a node adjacent to both, in an order of names only."""
    held = set(pairs)
    around = sorted(neighbours(nodes, held).items())
    places = [(frozenset(ends), z) for z, near in around for ends in combinations(sorted(near), 2)]
    return [place for place in places if place[0] not in held]


def pairs_left(nodes: Iterable[str], *known: Iterable[Pair]) -> frozenset[Pair]:
    """Return all pairs of nodes but those that are known."""
    return frozenset(map(frozenset, combinations(nodes, 2))).difference(*known)


def arcs_on_cycles(arcs: Iterable[Arc]) -> set[Arc]:
    """Return the arrows that lie on a directed cycle."""
    remaining = set(arcs)
    while remaining:
        ends = {b for _, b in remaining} & {a for a, _ in remaining}
        inner = {(a, b) for a, b in remaining if a in ends and b in ends}
        if inner == remaining:
            return _keep_cyclic(remaining)
        remaining = inner
    return set()


def _keep_cyclic(arcs: set[Arc]) -> set[Arc]:
    """Return the arrows from whose head their tail can be reached."""
    pattern = Pattern({n for arc in arcs for n in arc}, {frozenset(arc) for arc in arcs})
    for a, b in arcs:
        pattern.direct(a, b)
    return {(a, b) for a, b in arcs if pattern.reaches(b, a)}


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
