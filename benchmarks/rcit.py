"""Seconds of one RCIT (100 permutations) and of the same with n by n matrices, on one made-up example a size."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from discreet.arrays import FloatArray
from discreet.baselines.published.rcit import gram, median_width, rcit

MOST = 4000
"""With more rows, matrices are left out."""


def by_matrices(
    x: FloatArray, y: FloatArray, z: FloatArray, lam: float, permutations: int, rng: np.random.Generator
) -> FloatArray:
    """Return HSIC and its permuted values with all kernels written out."""
    n = len(x)
    kernel = gram(z, z, median_width(z))
    kernel.flat[:: n + 1] += n * lam / 2
    x, y = n * lam / 2 * np.linalg.solve(kernel, np.stack([x, y], axis=1)).T
    k, m = (gram(v[:, None], v[:, None], median_width(v[:, None])) for v in (x, y))
    k -= k.mean(axis=0)
    k -= k.mean(axis=1, keepdims=True)
    orders = [np.arange(n), *(rng.permutation(n) for _ in range(permutations))]
    return np.array([np.vdot(k, m[np.ix_(order, order)]) for order in orders]) / (n - 1) ** 2


def main() -> None:
    """Print a line for each size."""
    print(f"{'rows':>6} {'given':>6} {'fast':>9} {'matrices':>9} {'times':>7} {'differ by':>10}")
    for rows in (200, 1000, 4000, 8000):
        for given in (1, 2, 5):
            rng = np.random.default_rng(0)
            z = rng.normal(size=(rows, given))
            x, y = (np.tanh(z.sum(axis=1)) + rng.normal(size=rows) for _ in range(2))
            start = perf_counter()
            found = rcit(x, y, z, rng=np.random.default_rng(1))
            fast = perf_counter() - start
            if rows > MOST:
                print(f"{rows:6d} {given:6d} {fast:9.3f}", flush=True)
                continue
            some = 100 if rows <= 1000 else 5
            start = perf_counter()
            values = by_matrices(x, y, z, 1.0, some, np.random.default_rng(1))
            slow = (perf_counter() - start) * (101 / (some + 1) if rows > 1000 else 1)
            apart = np.abs(np.array([found.statistic, *found.permuted])[: len(values)] - values).max()
            print(f"{rows:6d} {given:6d} {fast:9.3f} {slow:9.2f} {slow / fast:7.0f} {apart:10.1e}", flush=True)


if __name__ == "__main__":
    main()
