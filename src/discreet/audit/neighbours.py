"""Worst-case neighbours: pairs of tables that differ in one row, found by hand, by chance and by climbing.

A table is an array of codes, rows by columns, in the order of a domain's columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import prod

import numpy as np

from discreet.arrays import IntArray
from discreet.audit import Neighbours
from discreet.domain import Domain

Objective = Callable[[Neighbours], float]
"""What is to be made large: a change, as a share of what is allowed."""

ALL = 60_000
"""At most so many pairs are gone through one by one."""


def sizes_of(domain: Domain) -> tuple[int, ...]:
    """Return the number of levels of every column."""
    return tuple(domain.size(name) for name in domain)


def every(domain: Domain) -> Iterator[Neighbours]:
    """Yield every pair of a tiny domain, up to the order of rows; the caller sees to it that there are few."""
    kinds = np.array(list(product(*(range(size) for size in sizes_of(domain)))), dtype=np.int64)
    for rest in _multisets(len(kinds), domain.rows - 1):
        for one, other in product(range(len(kinds)), repeat=2):
            if one < other:
                yield _pair(kinds[list(rest)], kinds[one], kinds[other], "every pair")


def how_many(domain: Domain) -> int:
    """Return how many pairs ``every`` would yield, at least."""
    kinds = prod(sizes_of(domain))
    return kinds * (kinds - 1) // 2 * _binomial(kinds + domain.rows - 2, domain.rows - 1)


def _binomial(n: int, k: int) -> int:
    return prod(range(n - k + 1, n + 1)) // prod(range(1, k + 1))


def _multisets(kinds: int, size: int, least: int = 0) -> Iterator[tuple[int, ...]]:
    if not size:
        yield ()
        return
    for k in range(least, kinds):
        for more in _multisets(kinds, size - 1, k):
            yield (k, *more)


SUMS = "a sum of two columns"
"""Rows with clear edges that meet, if there are enough of them: what methods ask about those is asked on them."""


def hand_made(domain: Domain) -> Iterator[Neighbours]:
    """Yield what breaks statistics that were thought sound: constants, single rows, extremes, duplicates."""
    sizes = sizes_of(domain)
    others = domain.rows - 1
    low, high = np.zeros(len(sizes), dtype=np.int64), np.array(sizes, dtype=np.int64) - 1
    ramp = (np.arange(others)[:, None] * high // max(others - 1, 1)).astype(np.int64)
    bases = {
        "duplicated rows": np.tile(low, (others, 1)),
        "duplicated rows, at the top": np.tile(high, (others, 1)),
        "extreme ranks, rising": ramp,
        "two halves": np.where((np.arange(others) < others // 2)[:, None], low, high),
        SUMS: _sums(others, sizes),
        "a single other row": np.vstack([np.tile(low, (max(others - 1, 0), 1)), high[None]])[:others],
    }
    ends = [np.array(row, dtype=np.int64) for row in product(*({0, size - 1} for size in sizes[:6]))]
    ends = [np.concatenate([row, low[6:]]) for row in ends]
    for kind, base in bases.items():
        for j in range(len(ends)):
            yield _pair(base, ends[j], ends[-1 - j], kind)
            yield _pair(base, ends[0], ends[j], kind)
    for c in range(len(sizes)):
        for kind, base in _strata(c, others, sizes, ramp):
            for row in ends:
                changed = row.copy()
                changed[(c + 1) % len(sizes)] = high[(c + 1) % len(sizes)] - row[(c + 1) % len(sizes)]
                yield _pair(base, row, changed, kind)
                moved = row.copy()
                moved[c] = high[c] - row[c]
                yield _pair(base, row, moved, kind)


def _sums(others: int, sizes: tuple[int, ...]) -> IntArray:
    """Return rows with two columns apart, and all others made of their sum."""
    first, second = np.arange(others) % sizes[0], np.arange(others) // sizes[0] % sizes[min(1, len(sizes) - 1)]
    most = max(sizes[0] + sizes[min(1, len(sizes) - 1)] - 2, 1)
    columns = [first, second, *((first + second) * (size - 1) // most for size in sizes[2:])][: len(sizes)]
    return np.stack(columns, axis=1).astype(np.int64)


def _strata(c: int, others: int, sizes: tuple[int, ...], ramp: IntArray) -> Iterator[tuple[str, IntArray]]:
    """Yield tables whose column ``c`` cuts them into a stratum that is constant elsewhere, or has one row."""
    for part in (others // 4, others // 2):
        base = np.zeros((others, len(sizes)), dtype=np.int64)
        base[:part] = (np.arange(part)[:, None] * (np.array(sizes) - 1) // max(part - 1, 1)).astype(np.int64)
        base[:part, c] = sizes[c] - 1
        base[part:, c] = 0
        yield "constant strata", base
        falling = base.copy()
        falling[part:] = ramp[: others - part]
        falling[part:, (c + 1) % len(sizes)] = falling[part:, (c + 1) % len(sizes)][::-1]
        falling[part:, c] = 0
        yield "a rising and a falling stratum", falling
    lonely = ramp.copy()
    lonely[:, c] = 0
    lonely[:1, c] = sizes[c] - 1
    yield "strata of one row", lonely


def walk(start: IntArray, end: IntArray) -> Iterator[Neighbours]:
    """Yield the neighbours on the way from one table to another, row by row."""
    here = start
    for row in range(len(start)):
        there = here.copy()
        there[row] = end[row]
        if (there[row] != here[row]).any():
            yield Neighbours(here, there, "on the way from one table to another")
        here = there


def random_pairs(domain: Domain, rng: np.random.Generator) -> Iterator[Neighbours]:
    """Yield pairs without end: even, skewed and tied columns, and a row replaced by any other."""
    sizes = sizes_of(domain)
    while True:
        columns = []
        for size in sizes:
            weights = rng.dirichlet(np.full(size, rng.choice([0.2, 1.0, 5.0])))
            columns.append(rng.choice(size, size=domain.rows - 1, p=weights))
        for j in range(1, len(sizes)):
            copied = rng.random(domain.rows - 1) < rng.choice([0.0, 0.5, 0.95])
            columns[j] = np.where(copied, columns[j - 1] * (sizes[j] - 1) // max(sizes[j - 1] - 1, 1), columns[j])
        base = np.stack(columns, axis=1).astype(np.int64)
        one, other = (rng.integers(0, sizes) for _ in range(2))
        yield _pair(base, one, other, "random")


def climb(
    objective: Objective, start: Neighbours, domain: Domain, rng: np.random.Generator, *, steps: int
) -> Neighbours:
    """Return a pair with a larger objective: one cell, one row or one column of the row at a time is changed."""
    sizes = np.array(sizes_of(domain))
    best, value = start, objective(start)
    for _ in range(steps):
        base, one, other = np.delete(best.first, best.row, 0), best.first[best.row], best.second[best.row]
        base, one, other = base.copy(), one.copy(), other.copy()
        move = rng.integers(5)
        if move == 0:
            one = rng.integers(0, sizes)
        elif move == 1:
            other = rng.integers(0, sizes)
        elif len(base) and move == 2:
            many = rng.integers(0, len(base), size=rng.integers(1, max(2, len(base) // 4)))
            base[many] = rng.integers(0, sizes)
        elif len(base) and move == 3:
            base[rng.integers(len(base))] = base[rng.integers(len(base))]
        elif len(base):
            c = rng.integers(len(sizes))
            base[rng.integers(len(base)), c] = rng.integers(sizes[c])
        pair = _pair(base, one, other, f"climbed from {start.kind}" if "climbed" not in start.kind else start.kind)
        reached = objective(pair)
        if reached >= value:
            best, value = pair, reached
    return best


def can_guide() -> bool:
    """Whether Hypothesis is installed."""
    try:
        import hypothesis
    except ImportError:
        return False
    return bool(hypothesis.__version__)


FEW_COLUMNS, MOST_BY_HAND = 6, 150
"""From more columns on, so many of the pairs by hand are tried: there are thousands, each slow."""

ROUND = 150
"""Examples of one round of the guided search: Hypothesis loses itself in longer ones."""


def guided(objective: Objective, domain: Domain, *, examples: int) -> Neighbours | None:
    """Return the pair with the largest objective that Hypothesis finds; None if Hypothesis is not installed."""
    if not can_guide():
        return None
    found: list[tuple[float, Neighbours]] = []

    def noted(pair: Neighbours) -> float:
        reached = objective(pair)
        found.append((reached, pair))
        found.sort(key=lambda f: -f[0])
        del found[1:]
        return reached

    for number in range(-(-examples // ROUND)):
        _guided_round(noted, domain, min(ROUND, examples), number)
    return found[0][1] if found else None


def _guided_round(objective: Objective, domain: Domain, examples: int, number: int) -> None:
    from hypothesis import HealthCheck, Phase, given, seed, settings, target
    from hypothesis import strategies as st

    sizes = sizes_of(domain)
    row = st.tuples(*(st.integers(0, size - 1) for size in sizes))
    groups = st.lists(st.tuples(row, st.integers(1, domain.rows)), min_size=1, max_size=6)

    @seed(number)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.target),
        suppress_health_check=list(HealthCheck),
    )
    @given(groups, row, row)
    def search(base: list[tuple[tuple[int, ...], int]], one: tuple[int, ...], other: tuple[int, ...]) -> None:
        rows = np.array([r for r, times in base for _ in range(times)], dtype=np.int64)
        rows = np.resize(rows, (domain.rows - 1, len(sizes)))
        target(min(objective(_pair(rows, np.array(one), np.array(other), "guided by Hypothesis")), 1e9))

    search()


def _pair(base: IntArray, one: IntArray, other: IntArray, kind: str) -> Neighbours:
    return Neighbours(np.vstack([one, base]), np.vstack([other, base]), kind)


def worst(
    objective: Objective, domain: Domain, rng: np.random.Generator, *, tries: int, steps: int
) -> Iterator[Neighbours]:
    """Yield pairs in the order in which they are worth trying: by hand, by chance, climbed from the best, guided."""
    found: list[tuple[float, Neighbours]] = []
    by_hand = list(hand_made(domain))
    most = MOST_BY_HAND if len(domain.columns) > FEW_COLUMNS else len(by_hand)
    for pair in (by_hand[i] for i in rng.permutation(len(by_hand))[:most]):
        found.append((objective(pair), pair))
        yield pair
    for _, pair in zip(range(tries), random_pairs(domain, rng), strict=False):
        found.append((objective(pair), pair))
        yield pair
    low = np.zeros((domain.rows, len(sizes_of(domain))), dtype=np.int64)
    yield from walk(low, low + np.array(sizes_of(domain)) - 1)
    yield from walk(next(random_pairs(domain, rng)).first, next(random_pairs(domain, rng)).first)
    for _, pair in sorted(found, key=lambda f: -f[0])[:3]:
        yield climb(objective, pair, domain, rng, steps=steps)
    best = guided(objective, domain, examples=max(50, steps // 2))
    if best is not None:
        yield best
