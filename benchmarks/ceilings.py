"""NOT PRIVATE baselines on the bundled networks: what private results are compared with.

Run: python benchmarks/ceilings.py [runs] [first seed].
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

import discreet as dc
from discreet.baselines import exact as not_private
from discreet.simulation.bayesian import Network
from discreet.simulation.networks import names

ROWS = (100_000, 20_000, 5_000)
METHODS: dict[str, Callable[[object, dc.Domain], dc.Graph]] = {
    "PC": not_private.pc,
    "PC, textbook": lambda table, domain: not_private.pc(table, domain, textbook=True),
    "greedy BIC": not_private.greedy_bic,
}


def measure(net: Network, rows: int, runs: int, first: int) -> str:
    """Return a row of the table: means over runs, loading not timed."""
    truth, domain, cells = dc.cpdag(net.dag), net.domain(rows), []
    tables = [dc.load(net.sample(rows, np.random.default_rng([first + i, 1])), domain) for i in range(runs)]
    for method in METHODS.values():
        scores = []
        for table in tables:
            start = time.perf_counter()
            graph = method(table, domain)
            taken = time.perf_counter() - start
            scores.append((dc.skeleton_f1(graph, net.dag), dc.cpdag_f1(graph, truth), taken))
        mean = np.mean(scores, axis=0)
        cells.append(f"{mean[0]:.3f} / {mean[1]:.3f} / {mean[2]:.2f} s")
    return f"| {net.name} | {rows:,} | " + " | ".join(cells) + " |"


def main() -> None:
    """Print a Markdown table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    print("skeleton F1 / CPDAG F1 / seconds\n")
    print("| network | rows | " + " | ".join(METHODS) + " |")
    print("|---" * (2 + len(METHODS)) + "|")
    for rows in ROWS:
        for name in names():
            print(measure(dc.network(name), rows, runs, first), flush=True)


if __name__ == "__main__":
    main()
