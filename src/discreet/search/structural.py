"""Search by the fit of linear structural equations to noisy correlations: all pairs at once explain a graph.

Tests look at a pair and what may explain it; where noise rules, each of them says little. Here a graph is fitted as a
whole. In an order in which causes come first, every coordinate of a column is a linear function of its parents, so its
correlation with any earlier column is that function of the parents' own: a ridge regression of noisy correlations on
the model's, each weighted by its noise. Coefficients are integrated out under a normal prior, and every arrow has a
price. So a chain lends strength: a pair that is not adjacent has to be explained as well. Exact for one parent,
additive for more: parents that interact are what it cannot see.

Climbs from a given graph by single changes, then again and again from graphs with an arrow turned or left out.
How the score is derived, and what it gains: ``structural.md``.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np

from discreet.arrays import BoolArray, FloatArray, IntArray
from discreet.errors import KnowledgeError

PRIOR = 0.1
"""Prior variance of a coefficient between standardised coordinates."""

MAX_PARENTS = 4

LEAST_GAIN = 1e-6
"""Gains below this are rounding."""

KEPT = 0.5
"""A change is made if it brings this part of what it promised, or if nothing better was made before it."""

TURNS, OTHERS = 6.0, 1.0
"""A change is tried even if it promises to cost up to so much: one that turns an arrow, and any other where the whole
graph is climbed. A promise is made with all else as it stands."""

HOPELESS = 20.0
"""No climb makes up for a change that costs more than this."""

CHECKS = 3
"""How often what was found is checked, and mended."""

Parents = tuple[tuple[int, ...], ...]
"""The parents of every column, by number."""

Pair = tuple[int, int]
Triple = tuple[Pair, int]
"""Two columns, the first of them first, and an effect of both."""

Change = tuple[str, int, int]


@dataclass(frozen=True, eq=False)
class Correlations:
    """Noisy correlations between coordinates of columns.

    Parameters
    ----------
    starts
        Where the coordinates of each column begin, and where the last one's end.
    seen
        The correlations; those within a column are not looked at.
    weights
        Their inverse variances, 0 where nothing is known.
    price
        What every arrow costs.
    colliders
        What other evidence says for each two causes of a column that are not adjacent.
    """

    starts: IntArray
    seen: FloatArray
    weights: FloatArray
    price: float
    colliders: Mapping[Triple, float] = field(default_factory=dict)

    @property
    def columns(self) -> range:
        """Return the columns by number."""
        return range(len(self.starts) - 1)

    def places(self, columns: Iterable[int]) -> IntArray:
        """Return the coordinates of some columns."""
        return np.concatenate([self._ranges[x] for x in columns]) if columns else np.empty(0, dtype=np.int64)

    @cached_property
    def _ranges(self) -> list[IntArray]:
        return [np.arange(a, b) for a, b in zip(self.starts[:-1], self.starts[1:], strict=True)]

    def dues(self, x: int, given: tuple[int, ...]) -> float:
        """Return what a column's arrows cost, less what other evidence says for its colliders."""
        claims = combinations(given, 2) if self.colliders else ()
        return self.price * len(given) - sum(self.colliders.get((pair, x), 0.0) for pair in claims)

    @cached_property
    def owner(self) -> IntArray:
        """The column of every coordinate."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @cached_property
    def pull(self) -> FloatArray:
        """Correlations times their weights."""
        return self.weights * self.seen

    @cached_property
    def energy(self) -> FloatArray:
        """What it costs to leave each correlation unexplained."""
        return self.pull * self.seen / 2


@dataclass(frozen=True, eq=False)
class Fit:
    """An acyclic graph that was fitted.

    ``moments`` holds the model's correlations, and ``costs`` what each column costs, both in the order of ``order``.
    """

    parents: Parents
    order: tuple[int, ...]
    moments: FloatArray
    costs: tuple[float, ...]

    @cached_property
    def cost(self) -> float:
        """The whole cost: the less the better."""
        return math.fsum(self.costs)

    @cached_property
    def ancestors(self) -> BoolArray:
        """Whether arrows lead from one column to another."""
        above = np.zeros((len(self.parents),) * 2, dtype=np.bool_)
        for x in self.order:
            for p in self.parents[x]:
                above[:, x] |= above[:, p]
                above[p, x] = True
        return above


def fit(data: Correlations, parents: Parents, like: Fit | None = None) -> Fit | None:
    """Fit a graph, with what is the same in ``like`` taken from there; None if it has a cycle."""
    order = _sort(parents, like.order if like else data.columns)
    if order is None:
        return None
    same = 0
    if like:
        while (
            same < len(order) and order[same] == like.order[same] and parents[order[same]] == like.parents[order[same]]
        ):
            same += 1
    places = data.places(order)
    grid = np.ix_(places, places)
    weights, pull, energy = data.weights[grid], data.pull[grid], data.energy[grid]
    moments = np.eye(len(places))
    sizes = np.diff(data.starts)
    costs = list(like.costs[:same]) if like else []
    begins = np.zeros(len(order), dtype=np.int64)
    at = 0
    for step, x in enumerate(order):
        begins[x], end = at, at + int(sizes[x])
        if step == same and like:
            moments[:at, :at] = like.moments[:at, :at]
        if step >= same:
            cost = float(energy[at:end, :at].sum())
            if near := parents[x]:
                rows = [i for p in near for i in range(begins[p], begins[p] + sizes[p])]
                gain, model = _regress(moments[rows, :at], weights[at:end, :at], pull[at:end, :at])
                cost += data.dues(x, near) - gain
                moments[at:end, :at] = model
                moments[:at, at:end] = model.T
            costs.append(cost)
        at = end
    return Fit(parents, order, moments, tuple(costs))


def misfit(data: Correlations, at: Fit) -> float:
    """Return by how much the model misses the correlations, in squares of what is uncertain: about 1 where it holds."""
    places = data.places(at.order)
    grid = np.ix_(places, places)
    owner = data.owner[places]
    weights = np.where(owner[:, None] == owner, 0.0, data.weights[grid])
    missed = weights * (data.seen[grid] - at.moments) ** 2
    return float(missed.sum() / max((weights > 0).sum(), 1))


def _regress(causes: FloatArray, weights: FloatArray, pull: FloatArray) -> tuple[float, FloatArray]:
    """Return what parents explain of a column's correlations with earlier ones, and these as the model has them."""
    bend = (causes * weights[:, None, :]) @ causes.T
    slope = pull @ causes.T
    inner = PRIOR * bend + np.eye(len(causes))
    coefficients = PRIOR * np.linalg.solve(inner, slope[:, :, None])[:, :, 0]
    gain = float((coefficients * slope).sum()) / 2 - float(np.linalg.slogdet(inner)[1].sum()) / 2
    return gain, np.clip(coefficients @ causes, -1.0, 1.0)


def _sort(parents: Parents, wanted: Iterable[int]) -> tuple[int, ...] | None:
    """Return an order in which parents come first, near to the one that is wanted; None if there is a cycle."""
    placed: set[int] = set()
    order: list[int] = []
    rest = list(wanted)
    while rest:
        later = []
        for x in rest:
            if placed.issuperset(parents[x]):
                placed.add(x)
                order.append(x)
            else:
                later.append(x)
        if len(later) == len(rest):
            return None
        rest = later
    return tuple(order)


def local_costs(data: Correlations, at: Fit, asked: Sequence[tuple[int, tuple[int, ...]]]) -> FloatArray:
    """Return what columns would cost with other parents, by all columns that they do not lead to, all at once.

    The model's correlations are those of the graph as it stands. Shorter sets are filled up with zeros, which
    change nothing.
    """
    back = np.argsort(data.places(at.order))
    moments = at.moments[np.ix_(back, back)]
    columns = [x for x, _ in asked]
    sets = [data.places(given) for _, given in asked]
    own = [data.places((x,)) for x in columns]
    width, height = max(map(len, sets), default=0), max(map(len, own))
    causes = np.zeros((len(asked), width, len(moments)))
    rows = np.zeros((len(asked), height), dtype=np.int64)
    real = np.zeros((len(asked), height, 1))
    for i, (given, mine) in enumerate(zip(sets, own, strict=True)):
        causes[i, : len(given)] = moments[given]
        rows[i, : len(mine)] = mine
        real[i, : len(mine)] = 1.0
    looked = ~at.ancestors[columns]
    looked[np.arange(len(asked)), columns] = False
    mask = looked[:, data.owner][:, None, :] * real
    weights = data.weights[rows] * mask
    costs = (data.energy[rows] * mask).sum(axis=(1, 2)) + np.array([data.dues(*item) for item in asked])
    if not width:
        return np.asarray(costs)
    bend = (causes[:, None] * weights[:, :, None, :]) @ causes[:, None].mT
    slope = (data.pull[rows] * mask) @ causes.mT
    inner = PRIOR * bend + np.eye(width)
    solved = np.linalg.solve(inner, slope[..., None])[..., 0]
    gains = PRIOR * (solved * slope).sum(axis=(1, 2)) - np.linalg.slogdet(inner)[1].sum(axis=1)
    return np.asarray(costs - gains / 2)


@dataclass(frozen=True, eq=False)
class Rules:
    """Which columns may be adjacent to which, which arrows are allowed, and which pairs must be adjacent."""

    near: Sequence[frozenset[int]]
    allowed: BoolArray
    required: BoolArray

    def keep(self, at: Fit) -> Rules:
        """Return the rules under which the arrows of a graph may be turned, and nothing else be changed."""
        return Rules(_around(at), self.allowed, np.ones_like(self.required))

    def without(self, pairs: Iterable[tuple[int, int]]) -> Rules:
        """Return them with some more pairs that may not be adjacent."""
        near = list(self.near)
        for a, b in pairs:
            near[a], near[b] = near[a] - {b}, near[b] - {a}
        return Rules(near, self.allowed, self.required)


class Profile:
    """The least cost of all graphs that were tried with an arrow, and of those without a pair."""

    def __init__(self, columns: int) -> None:
        self.directed = np.full((columns, columns), np.inf)
        self.apart = np.full((columns, columns), np.inf)

    def add(self, tried: Fit) -> None:
        """Take note of a graph."""
        arrows = np.zeros(self.directed.shape, dtype=np.bool_)
        for x, given in enumerate(tried.parents):
            arrows[list(given), x] = True
        np.minimum(self.directed, tried.cost, out=self.directed, where=arrows)
        np.minimum(self.apart, tried.cost, out=self.apart, where=~(arrows | arrows.T))


def search(
    data: Correlations,
    start: Parents,
    rules: Rules,
    unfounded: Callable[[Fit], Collection[tuple[int, int]]],
    *,
    thorough: bool = True,
) -> tuple[Fit, Profile]:
    """Return the graph that costs least, and what others cost that were tried.

    ``unfounded`` names arrows of a graph that other evidence does not bear out: they are left out for good. One climb
    from the start is all there is unless the search is ``thorough``.
    """
    at = fit(data, start)
    if at is None:
        raise KnowledgeError("the graph has a circle of causes")
    for _ in range(CHECKS):
        climber = Climber(data, rules, Profile(len(data.columns)))
        at = climber.climb(at)
        if thorough:
            at = climber.climb(climber.shake(at))
        wrong = unfounded(at)
        if not wrong:
            break
        rules = rules.without(wrong)
        at = climber.leave_out(at, wrong)
    return at, climber.profile


@dataclass(frozen=True, eq=False)
class Climber:
    """Changes graphs for the better."""

    data: Correlations
    rules: Rules
    profile: Profile

    def climb(self, at: Fit, focus: Iterable[int] | None = None, locked: Pair | None = None) -> Fit:
        """Make single changes while that helps: around some columns first, then around what was changed."""
        near: Collection[int] = self.data.columns if focus is None else set(focus)
        while near:
            touched: set[int] = set()
            for promise, change in self._changes(at, near, locked, OTHERS if focus is None else 0.0):
                _, a, b = change
                new = None if {a, b} & touched else self._make(at, change)
                if new is None:
                    continue
                gain = at.cost - new.cost
                if gain > LEAST_GAIN and (gain > -KEPT * promise or not touched):
                    at = new
                    touched |= {a, b}
            near = touched
        return at

    def shake(self, at: Fit) -> Fit:
        """Turn each arrow, drop each, and climb with that pair left as it is; go on from what is better."""
        queue = deque((kind, pair) for pair in _pairs(at) for kind in ("turn", "drop"))
        while queue:
            kind, (x, y) = queue.popleft()
            a, b = (x, y) if x in at.parents[y] else (y, x)
            possible = self._may_turn(at, a, b) if kind == "turn" else not self.rules.required[x, y]
            new = self._make(at, (kind, a, b)) if a in at.parents[b] and possible else None
            if new is None or new.cost > at.cost + HOPELESS:
                continue
            new = self.climb(new, (a, b), (x, y))
            if new.cost < at.cost - LEAST_GAIN:
                changed = {z for z in self.data.columns if new.parents[z] != at.parents[z]}
                at = new
                again = [(k, pair) for pair in _pairs(at) if changed & set(pair) for k in ("turn", "drop")]
                queue.extend(item for item in again if item not in queue)
        return at

    def leave_out(self, at: Fit, arrows: Collection[tuple[int, int]]) -> Fit:
        """Return the graph without some arrows."""
        parents = [tuple(p for p in given if (p, x) not in arrows) for x, given in enumerate(at.parents)]
        less = fit(self.data, tuple(parents), at)
        return at if less is None else less  # it has fewer arrows, and so no cycle

    def _may_turn(self, at: Fit, a: int, b: int) -> bool:
        return bool(self.rules.allowed[b, a]) and len(at.parents[a]) < MAX_PARENTS

    def _make(self, at: Fit, change: Change) -> Fit | None:
        """Return the graph after a change; None if it has a cycle."""
        kind, a, b = change
        parents = list(at.parents)
        parents[b] = tuple(sorted({*parents[b], a})) if kind == "add" else tuple(p for p in parents[b] if p != a)
        if kind == "turn":
            parents[a] = tuple(sorted({*parents[a], b}))
        new = fit(self.data, tuple(parents), at)
        if new is not None:
            self.profile.add(new)
        return new

    def _changes(self, at: Fit, near: Iterable[int], locked: Pair | None, others: float) -> list[tuple[float, Change]]:
        """Return the changes that may help, best first, each with the cost that it promises to add."""
        asked: dict[tuple[int, tuple[int, ...]], int] = {}

        def ask(x: int, given: Iterable[int]) -> int:
            return asked.setdefault((x, tuple(sorted(given))), len(asked))

        found: list[tuple[Change, list[int], list[int]]] = []
        pairs = {(min(x, y), max(x, y)) for x in near for y in self.rules.near[x]}
        for x, y in sorted(pairs - {locked}):
            if x in at.parents[y] or y in at.parents[x]:
                a, b = (x, y) if x in at.parents[y] else (y, x)
                less = [p for p in at.parents[b] if p != a]
                after, before = [ask(b, less)], [ask(b, at.parents[b])]
                if not self.rules.required[x, y]:
                    found.append((("drop", a, b), after, before))
                if self._may_turn(at, a, b) and not at.ancestors[a, less].any():
                    turned = ask(a, (*at.parents[a], b)), ask(a, at.parents[a])
                    found.append((("turn", a, b), [*after, turned[0]], [*before, turned[1]]))
                continue
            for a, b in ((x, y), (y, x)):
                if self.rules.allowed[a, b] and len(at.parents[b]) < MAX_PARENTS and not at.ancestors[b, a]:
                    found.append((("add", a, b), [ask(b, (*at.parents[b], a))], [ask(b, at.parents[b])]))
        costs = local_costs(self.data, at, list(asked)).tolist() if asked else []
        weighed = [(sum(costs[i] for i in after) - sum(costs[i] for i in before), c) for c, after, before in found]
        return sorted(item for item in weighed if item[0] < (TURNS if item[1][0] == "turn" else others))


def _around(at: Fit) -> list[frozenset[int]]:
    """Return the columns adjacent to each."""
    near: list[set[int]] = [set(given) for given in at.parents]
    for a, b in _pairs(at):
        near[a].add(b)
        near[b].add(a)
    return list(map(frozenset, near))


def _pairs(at: Fit) -> list[Pair]:
    """Return the adjacent pairs of a graph."""
    return sorted((min(p, x), max(p, x)) for x, given in enumerate(at.parents) for p in given)
