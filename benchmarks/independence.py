"""Errors of tests of independence on simulated columns, and how long they take. Run: python benchmarks/independence.py.

Noise is drawn by NumPy here, in floating point and from a seed: good for counting errors, and not private.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from discreet.arrays import FloatArray, IntArray
from discreet.data.memory import MemoryTable
from discreet.domain import Categorical, Domain, Numeric
from discreet.errors import DoubtWarning
from discreet.methods.independence.examine import TESTS, examine
from discreet.privacy.budget import Budget
from discreet.release.answer import Inquiry
from discreet.room import Room
from discreet.statistics.permutation import Compared, PermutedHSIC, beyond, size_for

FUNCTIONS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "square": np.square,
    "exp": np.exp,
}
WILD: dict[str, Callable[[FloatArray], FloatArray]] = {"waves": lambda x: np.sin(5 * x), "step": np.sign}
"""Functions that low polynomials do not follow."""

ALPHA = 0.05
SPREAD = 0.3
"""Standard deviation of noise, in parts of that of the function."""

Drawn = tuple[FloatArray, tuple[float, float]]
"""A column, and its bounds, which come from the model."""


class Simulated:
    """Noise from a seed: not private."""

    private = False

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def rounded_gaussian(self, sigma: float, size: int) -> IntArray:
        """Draw rounded normal noise."""
        return np.rint(self._rng.normal(0, sigma, size)).astype(np.int64)

    def discrete_laplace(self, scale: float, size: int) -> IntArray:
        """Draw rounded Laplace noise."""
        return np.rint(self._rng.laplace(0, scale, size)).astype(np.int64)


def response(name: str, by: FloatArray, noise: FloatArray, spread: float = SPREAD) -> Drawn:
    """Return a function of a standard normal column with noise; bounds are those between -3 and 3."""
    at = np.linspace(-3, 3, 2_001)
    function = (FUNCTIONS | WILD)[name]
    heights, weights = function(at), np.exp(-(at**2) / 2)
    middle = np.average(heights, weights=weights)
    scale = spread * float(np.sqrt(np.average((heights - middle) ** 2, weights=weights)))
    return function(by) + scale * noise, (float(heights.min()) - 3 * scale, float(heights.max()) + 3 * scale)


def table_of(columns: dict[str, Drawn]) -> tuple[MemoryTable, Domain]:
    """Encode columns between their bounds."""
    rows = len(next(iter(columns.values()))[0])
    domain = Domain({name: Numeric(bounds=bounds) for name, (_, bounds) in columns.items()}, rows=rows)
    codes = {}
    for name, (values, (low, high)) in columns.items():
        size = domain.size(name)
        codes[name] = np.minimum((np.clip(values, low, high) - low) / (high - low) * size, size - 1).astype(np.uint16)
    return MemoryTable(codes, {name: domain.size(name) for name in domain}), domain


def pair(
    rows: int, rng: np.random.Generator, *, depend: bool, names: Sequence[str] = tuple(FUNCTIONS)
) -> dict[str, Drawn]:
    """Draw two columns: y is a function of x with noise, or of another column like x."""
    x = rng.normal(size=rows)
    by = x if depend else rng.normal(size=rows)
    return {"x": (x, (-3.0, 3.0)), "y": response(str(rng.choice(names)), by, rng.normal(size=rows))}


def behind(
    rows: int, given: int, rng: np.random.Generator, *, depend: bool, functions: Sequence[str] = tuple(FUNCTIONS)
) -> dict[str, Drawn]:
    """Draw two functions with noise of the sum of given columns; if they depend, their noises do."""
    z = rng.normal(size=(given, rows))
    by = z.sum(axis=0) / np.sqrt(given)
    noise = rng.normal(size=(2, rows))
    if depend:
        noise[1] = (1.8 * np.tanh(2 * noise[0]) + noise[1]) / 2
    names = rng.choice(functions, 2)
    both = {c: response(str(name), by, e, 0.5) for c, name, e in zip("xy", names, noise, strict=True)}
    return both | {f"z{i}": (column, (-3.0, 3.0)) for i, column in enumerate(z)}


def rejections(
    draw: Callable[[], dict[str, Drawn]], repeats: int, epsilons: Sequence[float], rng: np.random.Generator
) -> dict[float, float]:
    """Return how often the test by permutations finds a dependence, for several budgets on the same tables."""
    found = dict.fromkeys(epsilons, 0)
    for _ in range(repeats):
        table, domain = table_of(draw())
        statistic = PermutedHSIC(Compared.of("x", "y", (), domain), size_for(ALPHA))
        declared, exact = statistic.sensitivity(domain), statistic.evaluate(table)
        moved = float((declared.first or 0) + (declared.largest or 0))
        for epsilon in epsilons:
            noisy = exact + rng.laplace(0, moved / epsilon, len(exact))
            found[epsilon] += int((noisy[1:] >= noisy[0]).sum() < beyond(ALPHA, len(exact)))
    return {epsilon: number / repeats for epsilon, number in found.items()}


def asked(
    test: str, draw: Callable[[], dict[str, Drawn]], epsilon: float, repeats: int, rng: np.random.Generator
) -> float:
    """Return how often a test given columns finds a dependence."""
    found = 0
    for _ in range(repeats):
        table, domain = table_of(draw())
        budget = Budget(epsilon=epsilon, delta=0.0 if TESTS[test].pure else min(1e-6, 0.1 / domain.rows))
        room = Room(table, domain, budget, noise=Simulated(rng))  # type: ignore[arg-type]
        independent, _ = TESTS[test].run(room, Inquiry("x", "y", tuple(c for c in domain if c[0] == "z"), ALPHA))
        found += not independent
    return found / repeats


def shown(values: dict[float, float]) -> str:
    """Return shares by epsilon in a line."""
    return "  ".join(f"eps {epsilon:g}: {value:.3f}" for epsilon, value in values.items())


def by_permutations(rng: np.random.Generator) -> None:
    """Print both errors of the test by permutations."""
    for rows in (200, 500):
        level = rejections(partial(pair, rows, rng, depend=False), 1_000, (0.1, 1, 8), rng)
        print(f"permutation, {rows} rows, independent: dependence found {shown(level)}", flush=True)
        power = rejections(partial(pair, rows, rng, depend=True), 200, (0.1, 0.5, 1, 2, 8), rng)
        print(f"permutation, {rows} rows, dependent: missed {shown({e: 1 - p for e, p in power.items()})}", flush=True)
    for name in FUNCTIONS:
        power = rejections(partial(pair, 500, rng, depend=True, names=(name,)), 200, (0.5, 1), rng)
        print(f"permutation, 500 rows, {name}: missed {shown({e: 1 - p for e, p in power.items()})}", flush=True)


def given_others(test: str, sizes: dict[int, Sequence[tuple[int, int]]], rng: np.random.Generator) -> None:
    """Print both errors of a test whose level is not controlled."""
    for given, plan in sizes.items():
        for rows, repeats in plan:
            for epsilon in (1.0, 8.0):
                first = asked(test, partial(behind, rows, given, rng, depend=False), epsilon, repeats, rng)
                second = 1 - asked(test, partial(behind, rows, given, rng, depend=True), epsilon, repeats, rng)
                print(
                    f"{test}, {given} given, {rows:,} rows, epsilon {epsilon:g}: "
                    f"type I {first:.2f}, type II {second:.2f} ({repeats} tables)",
                    flush=True,
                )


def wild(rng: np.random.Generator) -> None:
    """Print how often `gcm` and `krr` are fooled by functions that they cannot follow."""
    for test, rows, repeats in (("gcm", 2_000, 100), ("gcm", 20_000, 100), ("krr", 2_000, 40)):
        for given in (1, 2):
            draw = partial(behind, rows, given, rng, depend=False, functions=tuple(WILD))
            found = {e: asked(test, draw, e, repeats, rng) for e in (1.0, 8.0)}
            print(f"{test}, {given} given, {rows:,} rows, waves and steps: type I {shown(found)}", flush=True)


def by_tables(rng: np.random.Generator) -> None:
    """Print both errors of the test on tables: three levels each, x and y depend on all that is given."""
    rows, repeats, level = 2_000, 300, Categorical(categories=("a", "b", "c"))
    for given in (0, 1, 2):
        names = ("x", "y", *(f"z{i}" for i in range(given)))
        domain = Domain(dict.fromkeys(names, level), rows=rows)
        for depend in (False, True):
            for epsilon, delta in ((1.0, 1e-6), (1.0, 0.0), (8.0, 1e-6)):
                found = 0
                for _ in range(repeats):
                    z = rng.integers(0, 3, (given, rows))
                    x, y = ((z.sum(axis=0) + (rng.random(rows) < 0.5) * rng.integers(0, 3, rows)) % 3 for _ in "xy")
                    if depend:
                        y = np.where(rng.random(rows) < 0.3, x, y)
                    table = MemoryTable(dict(zip(names, (x, y, *z), strict=True)), dict.fromkeys(names, 3))
                    room = Room(table, domain, Budget(epsilon=epsilon, delta=delta))
                    found += not TESTS["tables"].run(room, Inquiry("x", "y", names[2:], ALPHA))[0]
                what = "type II" if depend else "type I"
                share = 1 - found / repeats if depend else found / repeats
                print(f"tables, {given} given, epsilon {epsilon:g}, delta {delta:g}: {what} {share:.3f}", flush=True)


def many_rows(rng: np.random.Generator) -> None:
    """Print how long a test of 1,000,000 rows takes, from a table in memory to the answer, with exact noise."""
    import pyarrow as pa

    rows = 1_000_000
    for given in (0, 1):
        columns = behind(rows, 1, rng, depend=True) if given else pair(rows, rng, depend=True)
        table = pa.table({name: values for name, (values, _) in columns.items()})
        domain = Domain({name: Numeric(bounds=bounds) for name, (_, bounds) in columns.items()}, rows=rows)
        test, behind_it = ("gcm", ("z0",)) if given else ("permutation", ())
        start = time.perf_counter()
        found = examine(table, "x", "y", behind_it, domain=domain, epsilon=1.0, delta=1e-7, test=test)
        took = time.perf_counter() - start
        print(f"{test}, {rows:,} rows: {took:.1f} s, {'in' if found.independent else ''}dependent", flush=True)


PARTS: dict[str, Callable[[np.random.Generator], None]] = {
    "permutation": by_permutations,
    "tables": by_tables,
    "krr": lambda rng: given_others("krr", {1: [(2_000, 100), (10_000, 20)], 2: [(2_000, 40)]}, rng),
    "gcm": lambda rng: given_others(
        "gcm", {1: [(2_000, 200), (20_000, 200), (200_000, 40)], 2: [(2_000, 100), (20_000, 100), (200_000, 40)]}, rng
    ),
    "wild": wild,
    "rows": many_rows,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="*", choices=[*PARTS, []], default=list(PARTS))
    warnings.simplefilter("ignore", DoubtWarning)
    for part in parser.parse_args().part:
        PARTS[part](np.random.default_rng(0))
