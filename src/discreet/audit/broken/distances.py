"""Scores by how many rows must change before a test changes its mind, as EM-PC uses them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache

import numpy as np

from discreet.arrays import IntArray
from discreet.audit.broken import Broken, Measured
from discreet.audit.broken.making import Whole, domain_of, moving, pair

LEVEL = 0.05
ROWS = 6
Cells = tuple[int, ...]


def _g_square(table: IntArray) -> float:
    """Return the likelihood-ratio statistic of two by two tables, one for each stratum along the last axis."""
    total = 0.0
    for stratum in np.moveaxis(table.reshape(2, 2, -1), -1, 0):
        expected = np.outer(stratum.sum(axis=1), stratum.sum(axis=0)) / max(1, int(stratum.sum()))
        filled = stratum > 0
        total += float(2 * (stratum[filled] * np.log(stratum[filled] / expected[filled])).sum())
    return total


def _p_value(table: IntArray) -> float:
    """Return the p-value with one degree of freedom for each of one or two strata."""
    half = _g_square(table) / 2
    return math.erfc(math.sqrt(max(0.0, half))) if table.size == 4 else math.exp(-half)


def _greedy(counted: IntArray) -> IntArray:
    """Return how many rows can be deleted, each time the one that matters most, before the test changes its mind."""
    table, dependent, deleted = counted.copy(), _p_value(counted) < LEVEL, 0
    while table.any():
        left = [table - unit for unit in np.eye(table.size, dtype=np.int64).reshape(-1, *table.shape)]
        left = [t for t in left if t.min() >= 0]
        table = (min if dependent else max)(left, key=_g_square)
        if (_p_value(table) < LEVEL) != dependent:
            break
        deleted += 1
    return np.array([deleted], dtype=np.int64)


def _tables(cells: int, rows: int) -> Iterator[Cells]:
    if cells == 1:
        yield (rows,)
        return
    for first in range(rows + 1):
        for rest in _tables(cells - 1, rows - first):
            yield (first, *rest)


def _neighbours(table: Cells) -> Iterator[Cells]:
    for i, n in enumerate(table):
        for j in range(len(table)):
            if n and i != j:
                yield tuple(m - (k == i) + (k == j) for k, m in enumerate(table))


@cache
def _exact(cells: int) -> dict[Cells, tuple[float, int]]:
    """Return for every table of six rows its p-value, and how many rows must change to flip the test.

    The number is positive where the test finds nothing, zero or negative elsewhere: one row moves it by one at most.
    """
    values = {table: _p_value(np.array(table)) for table in _tables(cells, ROWS)}
    found: dict[Cells, tuple[float, int]] = {}
    for dependent in (False, True):
        front = [t for t, p in values.items() if (p < LEVEL) != dependent]
        steps = dict.fromkeys(front, 0)
        while front:
            reached = dict.fromkeys(u for t in front for u in _neighbours(t) if u not in steps)
            steps |= dict.fromkeys(reached, steps[front[0]] + 1)
            front = list(reached)
        found |= {t: (values[t], 1 - n if dependent else n) for t, n in steps.items() if n}
    return found


def _tests(counted: IntArray) -> list[tuple[float, int]]:
    """Return p-value and distance given nothing, and given the third column."""
    alone = tuple(counted.sum(axis=2).ravel().tolist())
    return [_exact(4)[alone], _exact(8)[tuple(counted.ravel().tolist())]]


def _of_likeliest(counted: IntArray) -> IntArray:
    """Return how many rows flip the test with the largest p-value."""
    _, flips = max(_tests(counted))
    return np.array([flips if flips > 0 else 1 - flips], dtype=np.int64)


def farthest(counted: IntArray) -> IntArray:
    """Return the largest of the signed distances."""
    return np.array([max(flips for _, flips in _tests(counted))], dtype=np.int64)


EM_PC = "Xu, Yuan, Wu 2017 (EM-PC)"
GREEDY = domain_of(40, x=2, y=2)
GREEDY_PAIRS = (
    pair({(0, 0): 11, (0, 1): 22, (1, 0): 2, (1, 1): 4}, (0, 1), (1, 1)),
    pair({(0, 0): 33, (0, 1): 2, (1, 0): 4}, (0, 1), (1, 1)),
    pair({(0, 0): 34, (1, 0): 5}, (0, 0), (1, 1)),
)
THREE = domain_of(ROWS, x=2, y=2, z=2)
SWITCHED = pair({(0, 1, 1): 1, (1, 0, 1): 1, (1, 1, 0): 3}, (1, 1, 1), (0, 1, 1))
"""Either test's distance moves by one at most, but another test becomes the likeliest."""

DISTANCES: tuple[Broken, ...] = (
    Broken(
        "greedy-distance",
        "the distance to a test's change of mind is found greedily, and jumps",
        f"{EM_PC}, as coded by Wang, Pang, Song 2020",
        "replay",
        Measured(Whole("greedy distance", ("x", "y"), _greedy, moving(1)), GREEDY, GREEDY_PAIRS),
    ),
    Broken(
        "distance-of-likeliest",
        "the distance is that of the test with the largest p-value, which may become another test",
        EM_PC,
        "replay",
        Measured(Whole("distance of the likeliest", ("x", "y", "z"), _of_likeliest, moving(1)), THREE, (SWITCHED,)),
    ),
)
