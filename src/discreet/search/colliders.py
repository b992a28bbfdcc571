"""Directions for a skeleton: the acyclic graph whose colliders the evidence speaks for most.

Every unshielded triple says by how much it would rather be a collider; the sum over those that are is raised
by local search: strongest triples first, then arrows are reversed and nodes moved while that helps, with restarts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.search.graph import Pair
from discreet.search.orientation import Triple

BANNED = -1e7
"""Weight of an arrow that knowledge forbids."""

LEAST_GAIN = 1e-6
"""Gains below this are rounding."""

MOST_WEIGHT = 1e4
"""More weight than this makes no difference."""

Weights = Mapping[Triple, float]
Parents = list[set[int]]
Places = list[float]


@dataclass(frozen=True)
class _Task:
    """The skeleton and the triples' weights, by number."""

    around: list[list[int]]
    middles: list[list[tuple[int, int, float]]]
    arrows: dict[tuple[int, int], list[tuple[int, float]]]
    banned: set[tuple[int, int]]
    forced: list[tuple[int, int]]

    @property
    def active(self) -> list[int]:
        return [i for i, near in enumerate(self.around) if near]

    def part(self, node: int, parents: set[int]) -> float:
        """Return what a node adds to the score."""
        score = sum(w for x, y, w in self.middles[node] if x in parents and y in parents)
        return score + BANNED * sum((p, node) in self.banned for p in parents)

    def total(self, parents: Parents) -> float:
        return sum(self.part(node, parents[node]) for node in self.active)


def arrange(
    nodes: Sequence[str],
    pairs: Mapping[Pair, object] | frozenset[Pair],
    weights: Weights,
    rng: np.random.Generator,
    *,
    knowledge: Knowledge = NOTHING_KNOWN,
    start: Iterable[tuple[str, str]] = (),
    restarts: int = 10,
) -> frozenset[tuple[str, str]]:
    """Return the arrows of an acyclic graph over the pairs, with as much weight on its colliders as was found.

    ``start`` holds the arrows of an acyclic graph to begin with; others are tried beside it.
    """
    names = sorted(nodes)
    place = {name: i for i, name in enumerate(names)}
    task = _task(names, place, pairs, weights, knowledge)
    first: Parents = [set() for _ in names]
    for a, b in start:
        first[place[b]].add(place[a])
    begun = [_climb(task, _place_parents(task, places)) for places in (_places(first), _strongest_first(task))]
    best = max(begun, key=task.total)
    score = task.total(best)
    active = task.active
    for attempt in range(restarts if active else 0):
        places = _places(best)
        for i in _choose_shaken(task, active, attempt, rng):
            places[i] = float(rng.random() * len(names))
        found = _climb(task, _place_parents(task, places))
        if task.total(found) > score + LEAST_GAIN:
            best, score = found, task.total(found)
    return frozenset((names[p], names[i]) for i, parents in enumerate(best) for p in parents)


def _task(
    names: list[str],
    place: dict[str, int],
    pairs: Mapping[Pair, object] | frozenset[Pair],
    weights: Weights,
    knowledge: Knowledge,
) -> _Task:
    around: list[list[int]] = [[] for _ in names]
    banned, forced = set(), []
    for a, b in sorted(map(sorted, pairs)):
        around[place[a]].append(place[b])
        around[place[b]].append(place[a])
        for u, v in ((a, b), (b, a)):
            if not knowledge.allows(u, v):
                banned.add((place[u], place[v]))
                forced.append((place[v], place[u]))
    middles: list[list[tuple[int, int, float]]] = [[] for _ in names]
    arrows: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for (ends, middle), given in sorted(weights.items(), key=lambda item: (item[0][1], sorted(item[0][0]))):
        weight = min(max(given, -MOST_WEIGHT), MOST_WEIGHT)
        x, y, z = (place[n] for n in (*sorted(ends), middle))
        middles[z].append((x, y, weight))
        arrows.setdefault((x, z), []).append((y, weight))
        arrows.setdefault((y, z), []).append((x, weight))
    return _Task([sorted(near) for near in around], middles, arrows, banned, forced)


def _choose_shaken(task: _Task, active: list[int], attempt: int, rng: np.random.Generator) -> list[int]:
    """Return the nodes that a restart moves: a node and its neighbours, some nodes, or now and then all."""
    if attempt % 5 == 4:
        return active
    if attempt % 2:
        node = active[int(rng.integers(len(active)))]
        return [node, *task.around[node]]
    some = max(2, len(active) // 6)
    return [int(i) for i in rng.choice(active, min(some, len(active)), replace=False)]


def _strongest_first(task: _Task) -> Places:
    """Hear triples from the strongest on; a collider that contradicts what was heard is passed over."""
    parents: Parents = [set() for _ in task.around]
    refused: set[tuple[int, int, int]] = set()
    for a, b in task.forced:
        parents[b].add(a)
    heard = [(w, x, z, y) for z, items in enumerate(task.middles) for x, y, w in items]
    for weight, x, z, y in sorted(heard, key=lambda item: (-abs(item[0]), item[1:])):
        if weight <= 0:
            refused |= {(x, z, y), (y, z, x)}
            continue
        fits = not any((side, z) in task.banned or _leads(parents, z, side) for side in (x, y))
        if fits and not any((u, z, v) in refused for u in (x, y) for v in parents[z] | {x, y}):
            parents[z] |= {x, y}
    return _places(parents)


def _leads(parents: Parents, start: int, end: int) -> bool:
    """Whether arrows lead from one node to another."""
    stack, seen = [end], {end}
    while stack:
        node = stack.pop()
        if node == start:
            return True
        fresh = parents[node] - seen
        seen |= fresh
        stack += fresh
    return False


def _places(parents: Parents) -> Places:
    """Return positions in which parents come first."""
    places = [0.0] * len(parents)
    left = set(range(len(parents)))
    while left:
        ready = sorted(i for i in left if not parents[i] & left) or sorted(left)[:1]
        for i in ready:
            places[i] = float(len(parents) - len(left))
            left.discard(i)
    return places


def _place_parents(task: _Task, places: Places) -> Parents:
    return [{j for j in near if (places[j], j) < (places[i], i)} for i, near in enumerate(task.around)]


def _climb(task: _Task, parents: Parents) -> Parents:
    """Reverse arrows and move nodes while that helps."""
    moved = True
    while moved:
        _reverse_arrows(task, parents)
        parents, moved = _move_nodes(task, parents)
    return parents


def _reverse_arrows(task: _Task, parents: Parents) -> None:
    while True:
        gains = []
        for b, causes in enumerate(parents):
            for a in causes:
                gain = sum(w for y, w in task.arrows.get((b, a), ()) if y in parents[a])
                gain -= sum(w for y, w in task.arrows.get((a, b), ()) if y in causes)
                gain += BANNED * (((b, a) in task.banned) - ((a, b) in task.banned))
                if gain > LEAST_GAIN:
                    gains.append((-gain, a, b))
        for _, a, b in sorted(gains):
            parents[b].discard(a)
            if not _leads(parents, a, b):
                parents[a].add(b)
                break
            parents[b].add(a)
        else:
            return


def _move_nodes(task: _Task, parents: Parents) -> tuple[Parents, bool]:
    """Move each node before, between or behind its neighbours, wherever that is best."""
    places = _places(parents)
    moved = False
    for node in task.active:
        near = task.around[node]
        here = places[node]
        best, chosen = _local(task, node, places) + LEAST_GAIN, here
        steps = sorted(places[j] for j in near)
        between = [(a + b) / 2 for a, b in pairwise(steps) if a < b]
        for place in (steps[0] - 1, *between, steps[-1] + 1):
            places[node] = place
            score = _local(task, node, places)
            if score > best:
                best, chosen = score, place
        places[node] = chosen
        moved = moved or chosen != here
    return _place_parents(task, places), moved


def _local(task: _Task, node: int, places: Places) -> float:
    """Return what a node and its neighbours add to the score."""
    return sum(
        task.part(i, {j for j in task.around[i] if (places[j], j) < (places[i], i)}) for i in (node, *task.around[node])
    )
