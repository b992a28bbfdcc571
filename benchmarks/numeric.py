"""Kernels on arrays beside plain NumPy and SciPy, in one run. Run: python benchmarks/numeric.py."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np
from scipy import stats

from discreet.arrays import FloatArray
from discreet.statistics.hsic import _by_tiles, frequencies, gaussian, hsic_rff, hsic_v
from discreet.statistics.ranks import concordance_sum, rank_product_sum
from discreet.statistics.ridge import ridge_fit

T = TypeVar("T")
WIDTH, RIDGE = 0.2, 0.01


def seconds(work: Callable[[], T], repeats: int = 3) -> tuple[float, T]:
    """Return the best of some runs, and what came out."""
    best, found = float("inf"), work()
    for _ in range(repeats):
        start = time.perf_counter()
        found = work()
        best = min(best, time.perf_counter() - start)
    return best, found


def megabytes(work: Callable[[], object]) -> float:
    """Return the most memory that was held at once."""
    tracemalloc.start()
    work()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1e6


def rows(many: int, levels: int = 1 << 40) -> tuple[FloatArray, FloatArray]:
    """Return made-up columns from -1 to 1 that depend on each other, on a grid of levels."""
    rng = np.random.default_rng(many)
    x = rng.uniform(-1, 1, many)
    y = np.clip(np.sin(3 * x) + 0.3 * rng.normal(size=many), -1, 1)
    return np.round(x * (levels // 2)) / (levels // 2), np.round(y * (levels // 2)) / (levels // 2)


def traced(x: FloatArray, y: FloatArray) -> float:
    """Return the trace of K H L H over the squared rows, as it is written."""
    centre = np.eye(len(x)) - 1 / len(x)
    return float(np.trace(gaussian(x, x, WIDTH) @ centre @ gaussian(y, y, WIDTH) @ centre)) / len(x) ** 2


def summed(x: FloatArray, y: FloatArray) -> float:
    """Return the same with means taken off, and no product of matrices."""
    kernel, other = gaussian(x, x, WIDTH), gaussian(y, y, WIDTH)
    kernel -= kernel.mean(axis=0)
    kernel -= kernel.mean(axis=1)[:, None]
    return float((kernel * other).sum()) / len(x) ** 2


def show(what: str, taken: float, more: str = "") -> None:
    """Print one line."""
    print(f"{what:58s} {1000 * taken:9.1f} ms  {more}", flush=True)


def compare_hsic() -> None:
    """Print HSIC at 5,000 and 20,000 rows."""
    x, y = rows(5_000)
    plain, expected = seconds(lambda: traced(x, y), 1)
    show("HSIC, 5,000 rows, trace of K H L H", plain)
    for name, work in {
        "K with means taken off, times L": lambda: summed(x, y),
        "tiles": lambda: _by_tiles(x, y, WIDTH, WIDTH, 256),
        "hsic_v": lambda: hsic_v(x, y, WIDTH, WIDTH),
        "hsic_v, width 0.02": lambda: hsic_v(x, y, 0.02, 0.02),
    }.items():
        taken, value = seconds(work)
        off = "" if "0.02" in name else f", off by {abs(value - expected):.1e}"
        show(f"HSIC, 5,000 rows, {name}", taken, f"{plain / taken:.0f} times faster{off}")
    x, y = rows(20_000)
    for name, work in {
        "tiles": lambda: _by_tiles(x, y, WIDTH, WIDTH, 256),
        "hsic_v": lambda: hsic_v(x, y, WIDTH, WIDTH),
        "hsic_rff, 10 frequencies": lambda: hsic_rff(x, y, frequencies(WIDTH, 10), frequencies(WIDTH, 10)),
    }.items():
        show(f"HSIC, 20,000 rows, {name}", seconds(work, 1)[0], f"at most {megabytes(work):.0f} MB")


def compare_ranks() -> None:
    """Print Kendall and Spearman at 100,000 rows."""
    for levels in (1 << 40, 1000):
        x, y = (np.round(v * (levels // 2)).astype(np.int64) for v in rows(100_000, levels))
        for name, work in {
            "kendalltau of SciPy": lambda x=x, y=y: stats.kendalltau(x, y).statistic,
            "concordance_sum": lambda x=x, y=y: concordance_sum(x, y),
            "spearmanr of SciPy": lambda x=x, y=y: stats.spearmanr(x, y).statistic,
            "rank_product_sum": lambda x=x, y=y: rank_product_sum(x, y),
        }.items():
            show(f"100,000 rows of {levels:,} levels, {name}", seconds(work, 5)[0])


def compare_ridge() -> None:
    """Print ridge regression against a dense solution, and with many rows."""
    x, y = rows(2_000)
    dense = gaussian(x, x, WIDTH)
    plain, alpha = seconds(lambda: np.linalg.solve(gaussian(x, x, WIDTH) + 0.5 * 2_000 * RIDGE * np.eye(2_000), y), 1)
    show("ridge, 2,000 rows, dense solution", plain)
    for many, levels, width in ((2_000, 1 << 40, WIDTH), (100_000, 1000, WIDTH), (100_000, 1000, 0.002)):
        x, y = rows(many, levels)
        taken, fit = seconds(partial(ridge_fit, x, y, width, RIDGE))
        off = f"off by {np.abs(fit.predict(x) - dense @ alpha).max():.1e}, " if many == 2_000 else ""
        predicted, _ = seconds(partial(fit.predict, x))
        more = f"{off}{len(fit.coefficients)} coefficients, {1000 * predicted:.1f} ms to predict all"
        show(f"ridge, {many:,} rows of {levels:,} levels, width {width:g}", taken, more)
    x, y = rows(100_000)
    taken, fit = seconds(lambda: ridge_fit(x, y, WIDTH, RIDGE))
    show("ridge, 100,000 different rows", taken, f"{len(fit.coefficients)} coefficients")


if __name__ == "__main__":
    compare_hsic()
    compare_ranks()
    compare_ridge()
