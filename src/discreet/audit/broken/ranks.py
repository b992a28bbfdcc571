"""Statistics of ranks and counts whose claimed sensitivity is too small, or does not exist: most were published."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache

import numpy as np

from discreet.arrays import FloatArray, IntArray
from discreet.audit import Neighbours
from discreet.audit.broken import (
    KUSNER,
    PURE,
    Broken,
    Measured,
    Rng,
    Run,
    Sampled,
    Whole,
    domain_of,
    moving,
    on_grid,
    pair,
)
from discreet.domain import Domain

EM_PC = "Xu, Yuan, Wu 2017 (EM-PC)"
PRIV_PC = "Wang, Pang, Song 2020"

TEST_LEVEL = 0.05
"""Level of the tests whose distances are measured."""

SIX_ROWS = 6
"""Rows of tables of which all are looked at."""

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
    table, dependent, deleted = counted.copy(), _p_value(counted) < TEST_LEVEL, 0
    while table.any():
        left = [table - unit for unit in np.eye(table.size, dtype=np.int64).reshape(-1, *table.shape)]
        left = [t for t in left if t.min() >= 0]
        table = (min if dependent else max)(left, key=_g_square)
        if (_p_value(table) < TEST_LEVEL) != dependent:
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
    values = {table: _p_value(np.array(table)) for table in _tables(cells, SIX_ROWS)}
    found: dict[Cells, tuple[float, int]] = {}
    for dependent in (False, True):
        front = [t for t, p in values.items() if (p < TEST_LEVEL) != dependent]
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


GREEDY = domain_of(40, x=2, y=2)
GREEDY_PAIRS = (
    pair({(0, 0): 11, (0, 1): 22, (1, 0): 2, (1, 1): 4}, (0, 1), (1, 1)),
    pair({(0, 0): 33, (0, 1): 2, (1, 0): 4}, (0, 1), (1, 1)),
    pair({(0, 0): 34, (1, 0): 5}, (0, 0), (1, 1)),
)
THREE = domain_of(SIX_ROWS, x=2, y=2, z=2)
SWITCHED = pair({(0, 1, 1): 1, (1, 0, 1): 1, (1, 1, 0): 3}, (1, 1, 1), (0, 1, 1))
"""Either test's distance moves by one at most, but another test becomes the likeliest."""


def concordance(table: IntArray) -> int:
    """Return the concordant pairs of rows less the discordant ones."""
    below = np.pad(table.cumsum(axis=0), ((1, 0), (0, 0)))[:-1]
    left = np.pad(below.cumsum(axis=1), ((0, 0), (1, 0)))[:, :-1]
    right = below.sum(axis=1, keepdims=True) - left - below
    return int((table * (left - right)).sum())


def _weight(rows: int) -> float:
    return 9 * rows * (rows - 1) / (4 * rows + 10)


def _constant(table: IntArray) -> bool:
    return bool((table.any(axis=0).sum() < 2) or (table.any(axis=1).sum() < 2))


def _no_root(table: IntArray) -> bool:
    """Say whether a variance for ties has no root when its product of tied pairs has a quarter of its weight."""
    n, margins = int(table.sum()), (table.sum(axis=1), table.sum(axis=0))
    pairs = math.prod(int((m * (m - 1)).sum()) // 2 for m in margins)
    triples = math.prod(int((m * (m - 1) * (m - 2)).sum()) for m in margins)
    rest = sum(int((m * (m - 1) * (2 * m + 5)).sum()) for m in margins)
    ties = pairs / (2 * n * (n - 1)) + triples / (9 * n * (n - 1) * (n - 2))
    return (n * (n - 1) * (2 * n + 5) - rest) / 18 + ties < 0


def _none(table: IntArray) -> bool:
    return False


def stratified(drop: Callable[[IntArray], bool]) -> Callable[[IntArray], float]:
    """Return stratified Kendall (strata along the last axis) of the strata that are not dropped."""

    def value(counted: IntArray) -> float:
        strata = [s for s in np.moveaxis(counted, -1, 0) if not drop(s)]
        above = sum(9 * concordance(s) / (2 * int(s.sum()) + 5) for s in strata)
        below = sum(_weight(int(s.sum())) for s in strata)
        return above / math.sqrt(below) if below else 0.0

    return value


def _chain(first: int, last: int, stratum: int) -> dict[tuple[int, ...], int]:
    return {(k, k, stratum): 1 for k in range(first, last)}


def strata_that_move(half: int) -> tuple[Domain, Neighbours]:
    """Return two strata: rising but for one row, and falling; the row moves over and rises there."""
    others = _chain(1, half, 0) | {(k + 1, half - k, 1): 1 for k in range(half)}
    moved = pair(others, (half + 1, 0, 0), (half + 1, half + 1, 1))
    return domain_of(2 * half, x=half + 2, y=half + 2, z=2), moved


def _tau_b(counted: IntArray) -> float:
    x, y, n = counted.sum(axis=1), counted.sum(axis=0), int(counted.sum())
    untied = [n * n - int((m * m).sum()) for m in (x, y)]
    return 2 * concordance(counted) / math.sqrt(math.prod(untied)) if all(untied) else 0.0


def ranks(margin: IntArray) -> FloatArray:
    """Return the centred rank of each level; ties share theirs."""
    middle: FloatArray = margin.cumsum() - margin / 2 - margin.sum() / 2
    return middle


def _spearman(counted: IntArray) -> float:
    """Return the correlation of ranks, which divides by what ties leave of their variance."""
    x, y = counted.sum(axis=1), counted.sum(axis=0)
    a, b = ranks(x), ranks(y)
    below = float((x * a**2).sum() * (y * b**2).sum())
    return float(a @ counted @ b) / math.sqrt(below) if below > 0 else 0.0


def _kendall_p(counted: IntArray) -> float:
    """Return the one-sided p-value of Kendall's statistic."""
    n = int(counted.sum())
    return math.erfc(abs(9 * concordance(counted) / (2 * n + 5)) / math.sqrt(2 * _weight(n))) / 2


def information(counted: IntArray) -> float:
    """Return the mutual information of two columns given a third, in nats, times the rows."""
    x_z, y_z, z = counted.sum(axis=1), counted.sum(axis=0), counted.sum(axis=(0, 1))

    def entropy(table: IntArray) -> float:
        filled = table[table > 0]
        return float((filled * np.log(filled)).sum())

    return entropy(counted) - entropy(x_z) - entropy(y_z) + entropy(z)


def gain(rows: float) -> float:
    """Return how far one row in a stratum of so many moves its part of the information."""
    return rows * math.log(rows) - (rows - 1) * math.log(rows - 1)


def removes(*, total: bool) -> Run:
    """Say whether a noisy p-value is above 0.05; constant columns have none unless the statistic is total."""

    def run(rows: IntArray, rng: Rng) -> bool:
        n = len(rows)
        x, y = int(rows[:, 0].sum()), int(rows[:, 1].sum())
        moved = math.erf(6 / math.sqrt(2 * n)) / 2
        p = math.nan
        if total or (0 < x < n and 0 < y < n):
            above = 9 * (n * int(rows.prod(axis=1).sum()) - x * y) / (2 * n + 5)
            p = math.erfc(abs(above) / math.sqrt(2 * _weight(n))) / 2
        return bool(p + rng.laplace(0, moved) >= 0.05)

    return run


def kendall(name: str, domain: Domain, claimed: float, drop: Callable[[IntArray], bool] = _none) -> Whole:
    """Return stratified Kendall with a claimed constant over the root of the rows."""
    return on_grid(name, ("x", "y", "z"), stratified(drop), claimed / math.sqrt(domain.rows))


CONSTANT_STRATA = domain_of(64, x=17, y=17, z=2)
DROPPED = pair(_chain(1, 17, 1) | {(0, k % 16 + 1, 0): 3 for k in range(15)} | {(0, 16, 0): 2}, (0, 16, 0), (1, 16, 0))
MARGINAL = domain_of(100, x=2, y=3, z=1)
MARGINAL_PAIR = pair({(0, 1, 0): 99}, (1, 2, 0), (1, 0, 0))
STRATA, STRATA_PAIR = strata_that_move(50)
LONE_OF_TWO = pair({(0, 0): 99}, (1, 1), (1, 0))
TWO = domain_of(100, x=2, y=2)
ROOTLESS = pair(_chain(1, 17, 1) | {(0, 0, 0): 36, (0, 1, 0): 10, (1, 0, 0): 1}, (0, 0, 0), (1, 0, 0))
"""A second row of a rare level gives the variance of a stratum a root."""

FOUR = domain_of(100, x=4, y=4)
RANKED = pair({(1, 1): 98, (2, 2): 1}, (0, 0), (0, 3))
"""One row stands below all others in both columns, or above them in one."""

INFORMED = pair({(1, 0, 0): 10, (0, 1, 0): 10, (0, 0, 1): 19}, (1, 1, 0), (1, 1, 1))


def _measured(name: str, wrong: str, origin: str, statistic: Whole, domain: Domain, *shown: Neighbours) -> Broken:
    return Broken(name, wrong, origin, "replay", Measured(statistic, domain, shown))


DISTANCES: tuple[Broken, ...] = (
    Broken(
        "greedy-distance",
        "the distance to a test's change of mind is found greedily, and jumps",
        f"{EM_PC}, as coded by Wang, Pang, Song 2020, who say that the bound does not hold for it",
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

RANKS: tuple[Broken, ...] = (
    _measured(
        "kendall-strata-dropped",
        "a stratum counts only if no column is constant in it",
        f"{PRIV_PC}, code",
        kendall("stratified Kendall, constant strata dropped", CONSTANT_STRATA, 6, _constant),
        CONSTANT_STRATA,
        DROPPED,
    ),
    _measured(
        "kendall-marginal-constant",
        "replacing a row moves it by 6 over the root of the rows, not by 4.5",
        f"{PRIV_PC}, theorem 3",
        kendall("Kendall", MARGINAL, 4.5),
        MARGINAL,
        MARGINAL_PAIR,
    ),
    _measured(
        "kendall-strata-constant",
        "replacing a row may take from one stratum and give to another: 9 over the root of the rows, not 6",
        f"{PRIV_PC}, code",
        kendall("stratified Kendall", STRATA, 6),
        STRATA,
        STRATA_PAIR,
    ),
    _measured(
        "kendall-tau-b",
        "dividing by what ties leave has no small sensitivity",
        f"planted, with the constant of {KUSNER}",
        on_grid("Kendall's tau-b", ("x", "y"), _tau_b, 4 / 100),
        TWO,
        LONE_OF_TWO,
    ),
    _measured(
        "spearman-with-ties",
        "dividing by what ties leave has no small sensitivity",
        f"planted, with the constant of {KUSNER}",
        on_grid("correlation of ranks", ("x", "y"), _spearman, 30 / 100),
        TWO,
        LONE_OF_TWO,
    ),
    _measured(
        "kendall-negative-variance",
        "a stratum counts only if a variance for ties, one term of which is too small, comes out positive",
        f"{PRIV_PC}, code",
        kendall("stratified Kendall, negative variances dropped", CONSTANT_STRATA, 6, _no_root),
        CONSTANT_STRATA,
        ROOTLESS,
    ),
    _measured(
        "kendall-changes-multiplied",
        "the change of a product is taken to be the product of the changes",
        "Bhattacharjee, Tandon 2024 (CURATE), sensitivity of Kendall",
        on_grid("p-value of Kendall", ("x", "y"), _kendall_p, 0.3627 / math.sqrt(FOUR.rows)),
        FOUR,
        RANKED,
    ),
    _measured(
        "information-binary-constant",
        "the smaller constant for binary columns does not hold given a third column",
        "planted",
        on_grid("conditional mutual information", ("x", "y", "z"), information, gain(40)),
        domain_of(40, x=2, y=2, z=2),
        INFORMED,
    ),
    _measured(
        "rounding-forgotten",
        "a count in steps of ten moves by a whole step, not by a tenth",
        "planted",
        Whole("tens", ("x", "y"), lambda counted: (counted[1].sum(keepdims=True) + 5) // 10, moving(Fraction(1, 10))),
        TWO,
        pair({(0, 0): 95, (1, 1): 4}, (0, 0), (1, 1)),
    ),
    Broken(
        "nan-never-passes",
        "a constant column has no p-value, and nothing compares with that",
        f"{PRIV_PC}, code of SVT-PC",
        "black box",
        Sampled(removes(total=False), PURE, (pair({(0, 0): 200, (0, 1): 199}, (0, 0), (1, 0)),)),
    ),
)
