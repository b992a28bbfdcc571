"""How fast tables are counted, three ways side by side. Run: python benchmarks/counting.py."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import combinations

import numpy as np

from discreet.data.counting import _count_by_key, count
from discreet.simulation.networks import network

ROWS = 100_000
REPEATS = 5


def milliseconds(work: Callable[[], object]) -> float:
    """Return the best of some runs."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1000 * min(times)


def main() -> None:
    """Print the table."""
    net = network("alarm")
    codes = net.sample_codes(ROWS, np.random.default_rng(0))
    sizes = {name: len(node.levels) for name, node in net.nodes.items()}
    pairs = list(combinations(sorted(codes), 2))
    triples = list(combinations(sorted(codes), 3))[:1000]

    def one_hot() -> object:
        matrix = np.concatenate([np.eye(sizes[c], dtype=np.float32)[codes[c]] for c in codes], axis=1)
        return matrix.T @ matrix

    print(f"{len(codes)} columns x {ROWS:,} rows, best of {REPEATS}")
    print(f"all {len(pairs)} pairs, popcounts      {milliseconds(lambda: count(codes, sizes, pairs)):8.1f} ms")
    by_key = milliseconds(lambda: [_count_by_key(codes, sizes, p) for p in pairs])
    print(f"all {len(pairs)} pairs, packed keys    {by_key:8.1f} ms")
    print(f"all {len(pairs)} pairs, one-hot gemm   {milliseconds(one_hot):8.1f} ms")
    print(f"1000 triples, packed keys     {milliseconds(lambda: count(codes, sizes, triples)):8.1f} ms")
    sampled = milliseconds(lambda: net.sample_codes(ROWS, np.random.default_rng(0)))
    print(f"drawing the rows              {sampled:8.1f} ms")


if __name__ == "__main__":
    main()
