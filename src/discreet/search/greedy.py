"""Greedy search over directed acyclic graphs: the best single change, again and again. Sees scores, never data.

Hill climbing by adding, deleting and reversing arrows, with a tabu list (Glover 1986): where no change improves the
score the best one is made all the same, but no graph is visited twice within the list's length. Restarts climb again,
from the start or from a random half of the best graph's arrows by turns, and drift before every change: they reverse
some covered arrows at random, which leads to another graph of the same Markov equivalence class and so to other changes
(Kocka & Castelo 2001, *Improved learning of Bayesian networks*). Plain climbs often end far below the best score.

A score may come from anywhere; ``evidence_score`` makes one of a scorer that knows the noise.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from discreet.arrays import FloatArray
from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.errors import SettingError
from discreet.progress import SEARCH, Progress, tell
from discreet.search.graph import Graph, Pair
from discreet.search.oracle import Scorer

Score = Callable[[str, frozenset[str]], float]
"""The score of a node with some parents; a graph's score is the sum over its nodes. The larger, the better."""

Bools = npt.NDArray[np.bool_]
Change = tuple[Literal["add", "delete", "reverse"], int, int]

LEAST_GAIN = 1e-6
"""Smallest improvement: smaller ones are rounding."""

DRIFTS = 4
"""How often, on average, an arrow is picked while drifting."""


def greedy(
    nodes: Sequence[str],
    score: Score,
    *,
    rng: np.random.Generator,
    knowledge: Knowledge = NOTHING_KNOWN,
    max_parents: int = 5,
    tabu: int = 100,
    patience: int = 15,
    restarts: int = 40,
    progress: Progress | None = None,
) -> Graph:
    """Return the directed acyclic graph with the best score that was found.

    Parameters
    ----------
    nodes
        The columns. The result does not depend on their order.
    score
        A decomposable score. Asked at most once for each node and set of parents.
    rng
        Generator for restarts.
    knowledge
        Required and forbidden arrows, and tiers: kept to throughout.
    max_parents
        Largest number of parents of a node; required ones are there even if they are more.
    tabu
        How many of the last graphs are not visited again.
    patience
        How many changes in a row may fail to improve the best score before a climb ends.
    restarts
        How often to climb again, drifting.
    """
    settings = {"max-parents": max_parents, "tabu": tabu, "patience": patience, "restarts": restarts}
    for name, value in settings.items():
        if value < 0:
            raise SettingError(f"{name}: a whole number from 0")
    knowledge.check(nodes)
    climber = _Climber(sorted(nodes), score, knowledge, max_parents)
    best, arcs = climber.climb(tabu, patience)
    for i in range(restarts):
        tell(progress, f"restart {i + 1} of {restarts}", SEARCH.at(i, restarts))
        if i % 2:
            climber.halve(arcs, rng)
        else:
            climber.set(climber.required)
        climber.wander(patience, rng)
        found, at = climber.climb(tabu, patience)
        if found > best + LEAST_GAIN:
            best, arcs = found, at
    return Graph(tuple(nodes), frozenset((climber.names[a], climber.names[b]) for a, b in np.argwhere(arcs)))


def evidence_score(
    scorer: Scorer, candidates: Collection[Pair], price: float, knowledge: Knowledge = NOTHING_KNOWN
) -> Score:
    """Return a noise-aware score; parents that are no candidates, or that nobody can judge, score minus infinity."""
    allowed = frozenset(candidates)

    @cache
    def score(node: str, parents: frozenset[str]) -> float:
        if not parents:
            return 0.0
        questions = [(node, parent, parents - {parent}) for parent in sorted(parents)]
        if not all(frozenset(q[:2]) in allowed and scorer.answers(*q) for q in questions):
            free = frozenset(parent for parent in parents if not knowledge.requires(parent, node))
            return score(node, free) if free < parents else -math.inf  # what is required need not be judged
        gains = scorer.weigh(questions)
        steps = [score(node, rest) + gain - price for (_, _, rest), gain in zip(questions, gains, strict=True)]
        return sum(steps) / len(steps)

    return score


class _Climber:
    """A directed acyclic graph that changes: ``arcs[a, b]`` is true where a -> b, ``paths`` where a leads to b."""

    def __init__(self, names: Sequence[str], score: Score, knowledge: Knowledge, max_parents: int) -> None:
        size = len(names)
        self.names = tuple(names)
        self._score = score
        self._scores: dict[tuple[int, frozenset[int]], float] = {}
        self._known: dict[tuple[int, frozenset[int]], FloatArray] = {}
        self._max_parents = max_parents
        self._allowed = np.array([[a != b and knowledge.allows(a, b) for b in names] for a in names], dtype=bool)
        self.required = np.array([[(a, b) in knowledge.required for b in names] for a in names], dtype=bool)
        self._gains = np.full((size, size), np.nan)
        self._parents: list[frozenset[int]] = []
        self.set(self.required)

    def set(self, arcs: Bools) -> None:
        """Start from a graph."""
        self.arcs = arcs.copy()
        self._parents = [frozenset(np.flatnonzero(arcs[:, b]).tolist()) for b in range(len(arcs))]
        self._look_again(range(len(arcs)))

    def halve(self, arcs: Bools, rng: np.random.Generator) -> None:
        """Start from a random half of a graph's arrows, and those that are required."""
        self.set(self.required | (arcs & (rng.random(arcs.shape) < 0.5)))

    def climb(self, tabu: int, patience: int) -> tuple[float, Bools]:
        """Make the best change until too many in a row do not help; return the best score and graph met."""
        now = self.total()
        best, best_arcs, idle = now, self.arcs.copy(), 0
        seen: deque[bytes] = deque([self.arcs.tobytes()], maxlen=max(tabu, 1))
        while idle <= patience:
            gain, change = self._best_change(seen)
            if change is None:
                break
            self._make(change)
            seen.append(self.arcs.tobytes())
            now += gain
            idle += 1
            if now > best + LEAST_GAIN:
                best, best_arcs, idle = now, self.arcs.copy(), 0
        return best, best_arcs

    def wander(self, patience: int, rng: np.random.Generator) -> None:
        """Climb, drifting before every change, and stop at the best graph met."""
        best, best_arcs, idle = self.total(), self.arcs.copy(), 0
        while idle <= patience:
            self._drift(rng)
            gain, change = self._best_change(deque())
            if change is not None and gain > LEAST_GAIN:
                self._make(change)
            idle += 1
            if self.total() > best + LEAST_GAIN:
                best, best_arcs, idle = self.total(), self.arcs.copy(), 0
        self.set(best_arcs)

    def total(self) -> float:
        """Return the graph's score."""
        return sum(self._local(b, parents) for b, parents in enumerate(self._parents))

    def _drift(self, rng: np.random.Generator) -> None:
        """Pick arrows at random, some times each, and reverse those that are covered: their ends share all parents."""
        arcs = np.argwhere(self.arcs).tolist()
        touched = set()
        for i in rng.integers(len(arcs), size=DRIFTS * len(arcs)).tolist() if arcs else []:
            a, b = arcs[i]
            if self._allowed[b, a] and self._parents[b] == self._parents[a] | {a}:
                self._parents[b], self._parents[a] = self._parents[a], self._parents[a] | {b}
                self.arcs[a, b], self.arcs[b, a] = False, True
                arcs[i] = [b, a]
                touched |= {a, b}
        self._look_again(touched)

    def _best_change(self, seen: deque[bytes]) -> tuple[float, Change | None]:
        """Return the best change that leads to no graph seen lately, and what it gains."""
        add, delete, reverse = self._addable(), self._deletable(), self._reversible()
        self._fill(add | self.arcs | reverse.T)
        gains = np.stack(
            [
                np.where(add, self._gains, -np.inf),
                np.where(delete, self._gains, -np.inf),
                np.where(reverse, self._gains + self._gains.T, -np.inf),
            ]
        )
        flat = gains.ravel()
        for place in np.argsort(-flat, kind="stable")[: len(seen) + 1]:
            if not flat[place] > -np.inf:
                break
            kind, a, b = (int(i) for i in np.unravel_index(place, gains.shape))
            change: Change = (("add", "delete", "reverse")[kind], a, b)
            if self._after(change) not in seen:
                return float(flat[place]), change
        return 0.0, None

    def _addable(self) -> Bools:
        room = self.arcs.sum(axis=0) < self._max_parents
        return np.asarray(self._allowed & ~self.arcs & ~self.paths.T & room[None, :])

    def _deletable(self) -> Bools:
        return np.asarray(self.arcs & ~self.required)

    def _reversible(self) -> Bools:
        """Arrows a -> b that may turn: a has room, knowledge allows it, and nothing else leads from a to b."""
        room = self.arcs.sum(axis=0) < self._max_parents
        detours = (self.arcs.astype(np.float32) @ self.paths.astype(np.float32)) > 0
        return np.asarray(self.arcs & self._allowed.T & ~detours & room[:, None])

    def _fill(self, wanted: Bools) -> None:
        """Find out what toggling a as a parent of b gains, where that is wanted and not known."""
        for a, b in np.argwhere(wanted & np.isnan(self._gains)).tolist():
            parents = self._parents[b]
            gain = self._local(b, parents ^ {a}) - self._local(b, parents)
            self._gains[a, b] = self._known[b, parents][a] = gain

    def _local(self, node: int, parents: frozenset[int]) -> float:
        key = (node, parents)
        if key not in self._scores:
            self._scores[key] = self._score(self.names[node], frozenset(self.names[p] for p in parents))
        return self._scores[key]

    def _after(self, change: Change) -> bytes:
        arcs = self.arcs.copy()
        _toggle(arcs, change)
        return arcs.tobytes()

    def _make(self, change: Change) -> None:
        _toggle(self.arcs, change)
        touched = {change[1], change[2]} if change[0] == "reverse" else {change[2]}
        for node in touched:
            self._parents[node] = frozenset(np.flatnonzero(self.arcs[:, node]).tolist())
        self._look_again(touched)

    def _look_again(self, touched: Iterable[int]) -> None:
        """Take up what is known of nodes that have new parents, and find out what leads to what."""
        for node in touched:
            key = (node, self._parents[node])
            if key not in self._known:
                self._known[key] = np.full(len(self.names), np.nan)
            self._gains[:, node] = self._known[key]
        self._find_paths()

    def _find_paths(self) -> None:
        """Find out what leads to what, by doubling the length of the paths."""
        reach: FloatArray = self.arcs.astype(np.float64)
        while True:
            longer = ((reach + reach @ reach) > 0).astype(np.float64)
            if np.array_equal(longer, reach):
                break
            reach = longer
        self.paths: Bools = reach > 0


def _toggle(arcs: Bools, change: Change) -> None:
    kind, a, b = change
    arcs[a, b] = kind == "add"
    if kind == "reverse":
        arcs[b, a] = True
