"""PC: from answers about independence to a CPDAG. Sees an oracle, never data.

Colombo & Maathuis 2014, *Order-independent constraint-based causal structure learning*: neighbours are fixed at
the start of every order ("PC-stable"). What differs: where asking is free, every set of an order is asked and the
one that speaks most clearly for independence separates the pair, so that no answer depends on the order of columns.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations

from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.errors import BudgetError, SettingError
from discreet.progress import SEARCH, Progress, tell
from discreet.search.graph import Graph, Pair
from discreet.search.oracle import Oracle, Verdict
from discreet.search.orientation import Claim, Triple, arcs_on_cycles, neighbours, orient, pairs_left

CLEAR = 0.5
"""Evidence (a logarithm of odds) that decides whether a triple is a collider."""


@dataclass(frozen=True)
class Separation:
    """Why a pair is not adjacent: the set that separates it, and how clearly."""

    given: frozenset[str]
    verdict: Verdict


@dataclass(frozen=True)
class Skeleton:
    """Adjacent pairs with the weakest evidence met for each, and for every pair that was removed what separates it.

    Pairs that knowledge forbids are neither adjacent nor separated: nothing was asked about them.
    """

    nodes: tuple[str, ...]
    pairs: dict[Pair, float]
    separations: dict[Pair, Separation]

    @property
    def unasked(self) -> frozenset[Pair]:
        """Pairs that are not adjacent and about which nothing is known."""
        return pairs_left(self.nodes, self.pairs, self.separations)


def pc(
    nodes: Sequence[str],
    oracle: Oracle,
    *,
    knowledge: Knowledge = NOTHING_KNOWN,
    max_order: int | None = None,
    progress: Progress | None = None,
    stable: bool = True,
) -> Graph:
    """Return the CPDAG that an oracle's answers speak for.

    The result always has a consistent extension to a directed acyclic graph, keeps to ``knowledge``, and does not
    depend on the order of ``nodes``. With ``stable=False`` it depends on their names; see ``find_skeleton``.
    """
    skeleton = find_skeleton(nodes, oracle, knowledge=knowledge, max_order=max_order, progress=progress, stable=stable)
    return orient_skeleton(skeleton, oracle, knowledge)


def orient_skeleton(skeleton: Skeleton, oracle: Oracle | None, knowledge: Knowledge = NOTHING_KNOWN) -> Graph:
    """Return the CPDAG of a skeleton: its triples are judged, then oriented. Without an oracle, by the textbook."""
    skeleton = replace(skeleton, pairs=break_cycles(skeleton.pairs, knowledge))
    claims, unclear = judge_triples(skeleton, oracle)
    return orient(skeleton.nodes, skeleton.pairs, claims, knowledge, unclear=unclear, unasked=skeleton.unasked)


def find_skeleton(
    nodes: Sequence[str],
    oracle: Oracle,
    *,
    knowledge: Knowledge = NOTHING_KNOWN,
    max_order: int | None = None,
    progress: Progress | None = None,
    stable: bool = True,
) -> Skeleton:
    """Return the skeleton: start from all pairs that may touch, remove those that some set separates.

    If the oracle's budget is used up, what was found until then is returned. With ``stable=False`` neighbours are those
    of the moment, as in the first form of PC: an edge that was removed is gone for the next question, and what is found
    depends on the names.
    """
    knowledge.check(nodes)
    if max_order is not None and max_order < 0:
        raise SettingError("max-order: a whole number from 0")
    names = sorted(nodes)
    pairs = {frozenset(p): math.inf for p in combinations(names, 2) if knowledge.may_touch(*p)}
    separations: dict[Pair, Separation] = {}
    orders = _last_order(len(names), oracle, max_order) + 1
    for order in range(orders):
        fixed = {n: sorted(m for m in names if frozenset((n, m)) in pairs) for n in names}
        open_pairs = [p for p in sorted(map(sorted, pairs)) if not knowledge.requires(*p)]
        if not any(len(fixed[n]) > order for p in open_pairs for n in p):
            break
        tell(progress, f"order {order}: {len(open_pairs)} pairs", SEARCH.at(order, orders))
        for x, y in open_pairs:
            try:
                weakest = _weakest(x, y, _candidates(x, y, order, fixed, knowledge), oracle)
            except BudgetError:  # nothing more may be asked: what was found so far stands
                return Skeleton(tuple(nodes), pairs, separations)
            pair = frozenset((x, y))
            if weakest is not None and weakest.verdict.independent:
                del pairs[pair]
                separations[pair] = weakest
                if not stable:
                    fixed[x].remove(y)
                    fixed[y].remove(x)
            elif weakest is not None:
                pairs[pair] = min(pairs[pair], weakest.verdict.evidence)
    return Skeleton(tuple(nodes), pairs, separations)


def break_cycles(pairs: Mapping[Pair, float], knowledge: Knowledge) -> dict[Pair, float]:
    """Remove the weakest edges of cycles that knowledge would force: no acyclic graph can hold them all.

    An edge that may point one way only is forced. Required edges stay; they form no cycle by themselves.
    """
    kept = dict(pairs)
    while True:
        forced = [(a, b) for pair in kept for a, b in permutations(pair) if knowledge.forces(a, b)]
        circling = [frozenset(arc) for arc in arcs_on_cycles(forced) if not knowledge.requires(*arc)]
        if not circling:
            return kept
        del kept[min(circling, key=lambda pair: (kept[pair], sorted(pair)))]


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


def _weakest(x: str, y: str, sets: Iterator[frozenset[str]], oracle: Oracle) -> Separation | None:
    """Return the set that speaks least for an edge: one that separates goes before one that does not.

    Where asking costs, the first that separates is taken.
    """
    best: Separation | None = None
    for given in sets:
        if not oracle.answers(x, y, given):
            continue
        found = Separation(given, oracle.ask(x, y, given))
        if best is None or _rank(found) < _rank(best):
            best = found
        if found.verdict.independent and not oracle.free:
            return found
    return best


def _rank(separation: Separation) -> tuple[bool, float, list[str]]:
    return (not separation.verdict.independent, separation.verdict.evidence, sorted(separation.given))


def judge_triples(skeleton: Skeleton, oracle: Oracle | None) -> tuple[list[Claim], frozenset[Triple]]:
    """Say of every unshielded triple x - z - y whether z is a collider (a claim), is none, or is unclear.

    A z that separates x and y is none. Any other is one by the textbook. Where asking is free it is also looked at how
    much evidence for dependence conditioning on z adds: a collider makes its causes dependent, anything else
    makes them less so. Less than ``CLEAR`` either way leaves the triple unclear.
    """
    around = neighbours(skeleton.nodes, skeleton.pairs)
    claims = []
    unclear = {(pair, z) for pair in skeleton.unasked for z in _between(pair, around)}
    for pair, separation in skeleton.separations.items():
        x, y = sorted(pair)
        for z in _between(pair, around) - separation.given:
            strength = _strength(x, y, z, separation, oracle)
            if strength > CLEAR:
                claims.append(Claim(pair, z, strength))
            elif strength > -CLEAR:
                unclear.add((pair, z))
    return claims, frozenset(unclear)


def _between(pair: Pair, around: dict[str, set[str]]) -> set[str]:
    x, y = pair
    return around[x] & around[y]


def _strength(x: str, y: str, z: str, separation: Separation, oracle: Oracle | None) -> float:
    """Return the evidence for dependence that conditioning on z adds.

    Where that cannot be asked because the set is too large, z is a collider as clearly as the pair is separated
    without it, unless z in place of another member separates the pair as well: then nothing is known.
    """
    if oracle is None or not oracle.free:
        return math.inf
    wider = separation.given | {z}
    if oracle.answers(x, y, wider):
        return oracle.ask(x, y, wider).evidence - separation.verdict.evidence
    swapped = [wider - {w} for w in separation.given]
    if any(oracle.answers(x, y, s) and oracle.ask(x, y, s).independent for s in swapped):
        return 0.0
    return max(-separation.verdict.evidence, 0.0)
