"""Skeleton and CPDAG F1 of `marginals` on the bundled networks. Run: python benchmarks/accuracy.py [runs]."""

from __future__ import annotations

import sys

import numpy as np

import discreet as dc
from discreet.networks import names

ROWS = 100_000
EPSILONS = (0.1, 1.0, 10.0)


def main() -> None:
    """Print a Markdown table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    print("| network | " + " | ".join(f"epsilon {e:g}: skeleton / CPDAG F1" for e in EPSILONS) + " |")
    print("|---" * (1 + len(EPSILONS)) + "|")
    for name in names():
        net = dc.network(name)
        truth, cells = dc.cpdag(net.dag), []
        for epsilon in EPSILONS:
            scores = []
            for seed in range(runs):
                table = net.sample(ROWS, np.random.default_rng([seed, 1]))
                graph = dc.discover(table, domain=net.domain(ROWS), epsilon=epsilon).graph
                scores.append((dc.skeleton_f1(graph, net.dag), dc.cpdag_f1(graph, truth)))
            mean, error = np.mean(scores, axis=0), np.std(scores, axis=0, ddof=1) / np.sqrt(runs)
            cells.append(f"{mean[0]:.2f} ± {error[0]:.2f} / {mean[1]:.2f} ± {error[1]:.2f}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
