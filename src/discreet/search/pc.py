"""PC: from answers about independence to a CPDAG. Sees an oracle, never data.

Colombo & Maathuis 2014, *Order-independent constraint-based causal structure learning*: neighbours are fixed at
the start of every order ("PC-stable"). What differs: where asking is free, every set of an order is asked and the
one that speaks most clearly for independence separates the pair, so that no answer depends on the order of columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from discreet.errors import SettingError
from discreet.graph import Graph, Pair
from discreet.knowledge import NOTHING_KNOWN, Knowledge
from discreet.oracles import Oracle, Verdict
from discreet.search.orient import Claim, orient

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Separation:
    """Why a pair is not adjacent: the set that separates it, and how clearly."""

    given: frozenset[str]
    verdict: Verdict


@dataclass(frozen=True)
class Skeleton:
    """Adjacent pairs, and for every other pair that was asked about the set that separates it."""

    nodes: tuple[str, ...]
    pairs: frozenset[Pair]
    separations: dict[Pair, Separation]


def pc(
    nodes: Sequence[str],
    oracle: Oracle,
    *,
    knowledge: Knowledge = NOTHING_KNOWN,
    max_order: int | None = None,
    progress: Progress | None = None,
) -> Graph:
    """Return the CPDAG that an oracle's answers speak for.

    The result always has a consistent extension to a directed acyclic graph, keeps to ``knowledge``, and does not
    depend on the order of ``nodes``.
    """
    skeleton = find_skeleton(nodes, oracle, knowledge=knowledge, max_order=max_order, progress=progress)
    claims = collider_claims(skeleton, oracle)
    return orient(skeleton.nodes, skeleton.pairs, claims, knowledge)


def find_skeleton(
    nodes: Sequence[str],
    oracle: Oracle,
    *,
    knowledge: Knowledge = NOTHING_KNOWN,
    max_order: int | None = None,
    progress: Progress | None = None,
) -> Skeleton:
    """Return the skeleton: start from all pairs that may touch, remove those that some set separates."""
    knowledge.check(nodes)
    if max_order is not None and max_order < 0:
        raise SettingError("max-order: a whole number from 0")
    names = sorted(nodes)
    pairs = {frozenset(p) for p in combinations(names, 2) if knowledge.may_touch(*p)}
    separations: dict[Pair, Separation] = {}
    for order in range(_last_order(len(names), oracle, max_order) + 1):
        fixed = {n: sorted(m for m in names if frozenset((n, m)) in pairs) for n in names}
        open_pairs = [p for p in sorted(map(sorted, pairs)) if not knowledge.requires(*p)]
        if not any(len(fixed[n]) > order for p in open_pairs for n in p):
            break
        if progress is not None:
            progress(f"order {order}: {len(open_pairs)} pairs")
        for x, y in open_pairs:
            sets = _candidates(x, y, order, fixed, knowledge)
            separation = _separate(x, y, sets, oracle)
            if separation is not None:
                pairs.discard(frozenset((x, y)))
                separations[frozenset((x, y))] = separation
    return Skeleton(tuple(nodes), frozenset(pairs), separations)


def _last_order(nodes: int, oracle: Oracle, max_order: int | None) -> int:
    limits = [limit for limit in (oracle.max_order, max_order) if limit is not None]
    return min([max(nodes - 2, 0), *limits])


def _candidates(
    x: str, y: str, order: int, fixed: dict[str, list[str]], knowledge: Knowledge
) -> Iterator[frozenset[str]]:
    """Yield the sets of one size among possible causes of x or of y, each once."""
    seen = set()
    for node, other in ((x, y), (y, x)):
        around = [z for z in fixed[node] if z != other and knowledge.allows(z, node)]
        for given in map(frozenset, combinations(around, order)):
            if given not in seen:
                seen.add(given)
                yield given


def _separate(x: str, y: str, sets: Iterator[frozenset[str]], oracle: Oracle) -> Separation | None:
    """Return the separating set: the clearest where asking is free, else the first."""
    best: Separation | None = None
    for given in sets:
        if not oracle.answers(x, y, given):
            continue
        verdict = oracle.ask(x, y, given)
        if verdict.independent and (best is None or verdict.evidence < best.verdict.evidence):
            best = Separation(given, verdict)
            if not oracle.free:
                return best
    return best


def collider_claims(skeleton: Skeleton, oracle: Oracle) -> list[Claim]:
    """Return what unshielded triples x - z - y say: z is a common effect if it does not separate x and y.

    The strength of a claim is how much evidence for dependence conditioning on z adds. Where asking is free, a
    claim needs that to be positive: a true common effect makes its causes dependent.
    """
    around: dict[str, set[str]] = {n: set() for n in skeleton.nodes}
    for pair in skeleton.pairs:
        a, b = pair
        around[a].add(b)
        around[b].add(a)
    claims = []
    for pair, separation in skeleton.separations.items():
        x, y = sorted(pair)
        for z in around[x] & around[y] - separation.given:
            strength = _strength(x, y, z, separation, oracle)
            if strength > 0:
                claims.append(Claim(pair, z, strength))
    return claims


def _strength(x: str, y: str, z: str, separation: Separation, oracle: Oracle) -> float:
    wider = separation.given | {z}
    if oracle.free and oracle.answers(x, y, wider):
        return oracle.ask(x, y, wider).evidence - separation.verdict.evidence
    return abs(separation.verdict.evidence)
