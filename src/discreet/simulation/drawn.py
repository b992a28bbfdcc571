"""Networks drawn at random over varied domains: to choose settings and fit confidences on, apart from the bundled."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from discreet.errors import NetworkError
from discreet.simulation.networks import Network, Node

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
    parents = _draw_parents(rng, order)
    sharpness = float(rng.choice([0.3, 0.5, 1.0]))
    names = [f"c{i:02d}" for i in range(count)]
    nodes = {}
    for i in range(count):
        shape = [int(sizes[j]) for j in parents[i]]
        table = _draw_table(rng, int(sizes[i]), shape, sharpness)
        levels = tuple(f"l{k}" for k in range(sizes[i]))
        nodes[names[i]] = Node(levels, tuple(names[j] for j in parents[i]), table)
    return Network("drawn", nodes)


def _draw_parents(rng: np.random.Generator, order: npt.NDArray[np.int64]) -> list[list[int]]:
    count = len(order)
    parents: list[list[int]] = [[] for _ in range(count)]
    wanted = min(round(float(rng.uniform(0.9, 1.5)) * count), count * (count - 1) // 2)
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


def draw_graded(rng: np.random.Generator, base: Table, shape: list[int], spread: tuple[float, float]) -> Table:
    """Draw shares whose log odds each cause moves by itself, with a deviation drawn from the spread."""
    rows = int(np.prod(shape))
    logits = np.tile(base, (rows, 1))
    for place, size in zip(np.unravel_index(np.arange(rows), shape), shape, strict=True):
        logits = logits + (rng.normal(size=(size, len(base))) * rng.uniform(*spread))[place]
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
