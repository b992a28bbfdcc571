"""A Markov random field on mbi's junction tree, fitted to noisy marginals by mirror descent.

The estimate is that of McKenna, Sheldon, Miklau 2019 (*Graphical-model based estimation and inference for differential
privacy*), Algorithm 1 with a line search, and with momentum for the sake of time. mbi's own compiles a program for
every new set of cliques, for seconds, and AIM has one in every round; this one starts at once. ``synthesize.py check``
compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import networkx as nx
import numpy as np
from mbi import Domain, junction_tree

from synthetic.mechanisms import Clique, Codes, Floats, Measurement, Model

Tables = dict[Clique, Floats]

ITERATIONS = 500
"""At most; each takes up to two passes of messages."""

TOLERANCE = 1e-3
PATIENCE = 20
"""Stop where so many iterations lowered the loss by less than such a share: noise moves it by far more."""


class Field:
    """A distribution over all columns whose logarithm is a sum of potentials over cliques.

    Parameters
    ----------
    sizes
        Numbers of levels.
    rows
        The number of rows, which is public.
    cliques
        Sets of columns, in order, that have a potential.
    """

    def __init__(self, sizes: Sequence[int], rows: int, cliques: Sequence[Clique]) -> None:
        self._sizes, self._rows = tuple(sizes), rows
        self.potentials = {clique: np.zeros(self._shape(clique)) for clique in cliques}
        tree, _ = junction_tree.make_junction_tree(self._domain, list(cliques))
        self._nodes, self._parents = _root(tree)
        self._above = [
            tuple(c for c in node if parent >= 0 and c in self._nodes[parent])
            for node, parent in zip(self._nodes, self._parents, strict=True)
        ]
        self._places = [self._place(clique) for clique in cliques]
        self._steps = [self._step(i) for i, parent in enumerate(self._parents) if parent >= 0]
        self._beliefs: list[Floats] = []

    @property
    def _domain(self) -> Domain:
        return Domain(tuple(range(len(self._sizes))), self._sizes)

    def _shape(self, clique: Clique, within: Clique | None = None) -> tuple[int, ...]:
        """Return the shape of a table over a clique, as it broadcasts within a larger one."""
        return tuple(self._sizes[c] if c in clique else 1 for c in within or clique)

    def _place(self, clique: Clique) -> tuple[Clique, int, tuple[int, ...], tuple[int, ...]]:
        """Return a clique, the node that has all of it, its shape there, and the axes that it leaves out."""
        i, node = next((i, node) for i, node in enumerate(self._nodes) if set(clique) <= set(node))
        return clique, i, self._shape(clique, node), _axes(node, clique)

    def _step(self, i: int) -> tuple[int, int, tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Return a node, its parent, and for each the axes that a message leaves out and its shape there."""
        parent, above = self._parents[i], self._above[i]
        node, other = self._nodes[i], self._nodes[parent]
        return i, parent, _axes(node, above), self._shape(above, node), _axes(other, above), self._shape(above, other)

    def calibrate(self) -> None:
        """Pass messages to the roots and back: every node then has its expected counts."""
        beliefs = [np.zeros(self._shape(node)) for node in self._nodes]
        for clique, home, shape, _ in self._places:
            beliefs[home] += self.potentials[clique].reshape(shape)
        sent: dict[int, Floats] = {}
        for i, parent, out, _, _, shape in reversed(self._steps):
            sent[i] = _log_sum(beliefs[i], out)
            beliefs[parent] += sent[i].reshape(shape)
        for i, parent, _, shape, out, _ in self._steps:
            beliefs[i] += _log_sum(beliefs[parent], out).reshape(shape) - sent[i]
        self._beliefs = [np.exp(b - _log_sum(b, None)) * self._rows for b in beliefs]

    def measured(self) -> dict[Clique, Floats]:
        """Return the expected counts over all cliques that have a potential."""
        return {clique: self._beliefs[home].sum(axis=out) for clique, home, _, out in self._places}

    def marginal(self, clique: Clique) -> Floats:
        """Return the expected counts over any columns: conditionals from the leaves up, all else summed out."""
        parts: dict[int, list[Any]] = {-1: []}
        for i in range(len(self._nodes))[::-1]:
            node, above = self._nodes[i], self._above[i]
            asked = [c for c in node if c in clique and c not in above]
            if not asked and i not in parts:
                continue
            operands = [self._conditionals[i], list(node), *parts.pop(i, [])]
            kept = sorted({*above, *asked, *(c for axes in operands[3::2] for c in axes if c in clique)})
            parts.setdefault(self._parents[i], []).extend([np.einsum(*operands, kept), kept])
        return np.asarray(np.einsum(*parts[-1], list(clique)) * self._rows, dtype=np.float64)

    @cached_property
    def _conditionals(self) -> list[Floats]:
        """Each node's distribution given its separator; nothing where that never occurs."""
        found = []
        for node, above, belief in zip(self._nodes, self._above, self._beliefs, strict=True):
            given = belief.sum(axis=_axes(node, above), keepdims=True)
            found.append(belief / np.maximum(given, np.finfo(np.float64).tiny))
        return found

    def fits(self, clique: Clique, megabytes: float) -> bool:
        """Whether the model would be no larger with one more clique; one inside a node makes it no larger."""
        if any(set(clique) <= set(node) for node in self._nodes):
            return True
        cliques = [*self.potentials, clique]
        return bool(junction_tree.hypothetical_model_size(self._domain, cliques) <= megabytes)

    def draw(self, rows: int, rng: np.random.Generator) -> Codes:
        """Draw rows independently of each other, node by node given what is drawn of it before."""
        codes = np.zeros((rows, len(self._sizes)), dtype=np.intp)
        for i, node in enumerate(self._nodes):
            above = self._above[i]
            new = [c for c in node if c not in above]
            order = [node.index(c) for c in (*above, *new)]
            width = prod(self._sizes[c] for c in new)
            steps = np.cumsum(self._conditionals[i].transpose(order).reshape(-1, width), axis=1)
            steps[:, -1] = 1.0
            at = np.zeros(rows, dtype=np.intp)
            for c in above:
                at = at * self._sizes[c] + codes[:, c]
            drawn = np.searchsorted((steps + np.arange(len(steps))[:, None]).ravel(), at + rng.random(rows), "right")
            drawn = np.minimum(drawn - at * width, width - 1)
            for c, code in zip(new, np.unravel_index(drawn, [self._sizes[c] for c in new]), strict=True):
                codes[:, c] = code
        return codes


@dataclass(frozen=True)
class _Point:
    """Potentials, and what they lead to: marginals, the loss, and its slope in every marginal."""

    potentials: Tables
    marginals: Tables
    loss: float
    slope: Tables


def fit(sizes: Sequence[int], rows: int, measurements: Sequence[Measurement], start: Model | None) -> Field:
    """Return the field nearest to measurements in least squares, each weighted by its noise."""
    wanted = dict(_pool(measurements))
    field = Field(sizes, rows, list(wanted))
    if isinstance(start, Field):
        field.potentials |= start.potentials
    here = _look(field, field.potentials, wanted)
    last, momentum, before = here, 0, here.loss
    rate = 2.0 / (rows * max(float(weight.max()) for _, weight in wanted.values()))
    for t in range(1, ITERATIONS + 1):
        ahead = (
            _look(field, _plus(here.potentials, momentum / (momentum + 3), here, last), wanted) if momentum else here
        )
        there = _look(field, {c: p - rate * ahead.slope[c] for c, p in ahead.potentials.items()}, wanted)
        gain = sum(float(np.vdot(ahead.slope[c], ahead.marginals[c] - there.marginals[c])) for c in wanted)
        if ahead.loss - there.loss < rate * gain / 2:
            rate /= 2
        elif there.loss > here.loss:
            momentum = 0
        else:
            last, here, momentum, rate = here, there, momentum + 1, rate * 1.1
        if t % PATIENCE == 0:
            if before - here.loss <= TOLERANCE * max(here.loss, 1.0):
                break
            before = here.loss
    _look(field, here.potentials, wanted)
    return field


def _plus(potentials: Tables, share: float, here: _Point, last: _Point) -> Tables:
    return {c: p + share * (here.potentials[c] - last.potentials[c]) for c, p in potentials.items()}


def _look(field: Field, potentials: Tables, wanted: Mapping[Clique, tuple[Floats, Floats]]) -> _Point:
    """Give a field its potentials; the loss is half the weighted squares of what its marginals miss."""
    field.potentials = potentials
    field.calibrate()
    marginals = field.measured()
    missed = {clique: marginals[clique] - noisy for clique, (noisy, _) in wanted.items()}
    slope = {clique: missed[clique] * weight for clique, (_, weight) in wanted.items()}
    return _Point(potentials, marginals, sum(float(np.vdot(missed[c], slope[c])) for c in wanted) / 2, slope)


def _pool(measurements: Sequence[Measurement]) -> Iterator[tuple[Clique, tuple[Floats, Floats]]]:
    """Yield each clique with its mean measurement, weighted by precision, and that precision."""
    for clique in dict.fromkeys(m.clique for m in measurements):
        own = [m for m in measurements if m.clique == clique]
        weight = np.sum([m.sigma**-2 for m in own], axis=0)
        yield clique, (np.sum([m.noisy * m.sigma**-2 for m in own], axis=0) / weight, weight)


def _axes(node: Clique, clique: Clique) -> tuple[int, ...]:
    """Return the axes of a node that are not a clique's."""
    return tuple(axis for axis, c in enumerate(node) if c not in clique)


def _log_sum(table: Floats, axes: tuple[int, ...] | None) -> Floats:
    largest = table.max(axis=axes, keepdims=True)
    return np.asarray(np.log(np.exp(table - largest).sum(axis=axes, keepdims=True)) + largest, dtype=np.float64)


def _root(tree: Any) -> tuple[list[Clique], list[int]]:
    """Return a tree's nodes, each after its parent, and the parents' places; roots have none, -1."""
    nodes: list[Clique] = []
    parents: list[int] = []
    for part in nx.connected_components(tree):
        for node in nx.dfs_preorder_nodes(tree, min(part)):
            parents.append(next((i for i, other in enumerate(nodes) if tree.has_edge(node, other)), -1))
            nodes.append(node)
    return nodes, parents
