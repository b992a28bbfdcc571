"""Networks drawn at random over varied domains: to choose settings and fit confidences on, apart from the bundled.

Two families: ``drawn``, whose first causes are fairly even, and ``skew``, where most columns have one common level.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from discreet.errors import NetworkError
from discreet.simulation.bayesian import Network, Node

COLUMNS = (5, 6, 8, 11, 16, 22, 37)
MAX_PARENTS = 3
REACH = 8
"""In larger networks an arrow spans at most so many places of the order of causes."""

Table = npt.NDArray[np.float64]


def draw_network(rng: np.random.Generator, columns: int | None = None) -> Network:
    """Draw a network: 0.9 to 1.5 arrows a column, 2 to 4 levels, tables of strong or graded effects."""
    count = int(rng.choice(COLUMNS)) if columns is None else columns
    if count < 2:
        raise NetworkError("a network takes at least two columns")
    order = rng.permutation(count)
    sizes = rng.choice([2, 2, 2, 3, 3, 4], size=count) if rng.random() < 0.7 else np.full(count, 2)
    parents = _draw_parents(rng, order, (0.9, 1.5))
    sharpness = float(rng.choice([0.3, 0.5, 1.0]))
    shapes = [[int(sizes[j]) for j in near] for near in parents]
    tables = [_draw_table(rng, int(size), shape, sharpness) for size, shape in zip(sizes, shapes, strict=True)]
    return _build("drawn", parents, tables)


def draw_skewed(rng: np.random.Generator, columns: int) -> Network:
    """Draw a network like those of registers: columns have a common level that causes make rarer."""
    if columns < 2:
        raise NetworkError("a network takes at least two columns")
    sizes = rng.choice([2, 2, 2, 3, 4], size=columns)
    parents = _draw_parents(rng, rng.permutation(columns), (1.0, 1.4))
    shapes = [[int(sizes[j]) for j in near] for near in parents]
    tables = [_draw_rare(rng, int(size), shape) for size, shape in zip(sizes, shapes, strict=True)]
    return _build("skew", parents, tables)


def _build(name: str, parents: list[list[int]], tables: list[Table]) -> Network:
    names = [f"c{i:02d}" for i in range(len(tables))]
    return Network(
        name,
        {
            names[i]: Node(tuple(f"l{k}" for k in range(table.shape[1])), tuple(names[j] for j in near), table)
            for i, (near, table) in enumerate(zip(parents, tables, strict=True))
        },
    )


def _draw_parents(
    rng: np.random.Generator, order: npt.NDArray[np.int64], arrows: tuple[float, float]
) -> list[list[int]]:
    """Draw the causes of every column, so many arrows a column."""
    count = len(order)
    parents: list[list[int]] = [[] for _ in range(count)]
    wanted = min(round(float(rng.uniform(*arrows)) * count), count * (count - 1) // 2)
    for _ in range(100 * count):
        if sum(map(len, parents)) >= wanted:
            break
        first, second = sorted(int(i) for i in rng.choice(count, 2, replace=False))
        cause, effect = int(order[first]), int(order[second])
        near = count <= 12 or second - first <= REACH
        if near and cause not in parents[effect] and len(parents[effect]) < MAX_PARENTS:
            parents[effect].append(cause)
    return parents


def _draw_table(rng: np.random.Generator, levels: int, shape: list[int], sharpness: float) -> Table:
    """Draw a column's shares for every configuration of its parents."""
    rows = int(np.prod(shape)) if shape else 1
    if not shape:
        return np.asarray(0.8 * rng.dirichlet(np.full(levels, 1.5), size=1) + 0.2 / levels)
    if rng.random() < 0.5:
        return np.asarray(rng.dirichlet(np.full(levels, sharpness), size=rows))
    return draw_graded(rng, rng.normal(size=levels), shape, (0.5, 2.0))


def _draw_rare(rng: np.random.Generator, levels: int, shape: list[int]) -> Table:
    """Draw a column's shares for every configuration of its parents, most of them with the first level common."""
    if not shape:
        rare = math.exp(rng.uniform(math.log(0.02), math.log(0.3)))
        return np.array([[1 - rare, *(rare * rng.dirichlet(np.ones(levels - 1)))]])
    rows = int(np.prod(shape))
    if rng.random() < 0.35:
        return np.asarray(rng.dirichlet(np.full(levels, 0.3), size=rows))
    logits = np.zeros((rows, levels))
    logits[:, 1:] = rng.uniform(math.log(0.01), math.log(0.1), size=levels - 1)
    for place, size in zip(np.unravel_index(np.arange(rows), shape), shape, strict=True):
        added = rng.normal(scale=0.3, size=(size, levels))
        for abnormal in range(1, size):
            added[abnormal, rng.integers(1, levels)] += rng.uniform(1.5, 5)
        logits += added[place]
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


FAMILIES = {"drawn": draw_network, "skew": draw_skewed}
"""Families of networks, each with what draws one of so many columns."""


def draw_named(name: str) -> Network:
    """Return the network that a name like ``skew:COLUMNS:SEED`` stands for."""
    family, *parts = name.split(":")
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):
        raise NetworkError(f"a network drawn at random is named {family}:COLUMNS:SEED, both whole numbers")
    columns, seed = map(int, parts)
    return FAMILIES[family](np.random.default_rng([seed, 5]), columns)


def draw_graded(rng: np.random.Generator, base: Table, shape: list[int], spread: tuple[float, float]) -> Table:
    """Draw shares whose log odds each cause moves by itself, with a deviation drawn from the spread."""
    rows = int(np.prod(shape))
    logits = np.tile(base, (rows, 1))
    for place, size in zip(np.unravel_index(np.arange(rows), shape), shape, strict=True):
        logits = logits + (rng.normal(size=(size, len(base))) * rng.uniform(*spread))[place]
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
