"""What methods that ask reach, and how fast, beside `marginals`.

python benchmarks/asking.py [runs] [networks with commas; drawn:COLUMNS:SEED for one drawn at random]
"""

from __future__ import annotations

import sys
import time

import numpy as np

import discreet as dc
from discreet.data.memory import MemoryTable
from discreet.methods.em_pc import EmPC
from discreet.methods.flipped import FlippedSvt, FlippedTopK
from discreet.methods.priv_pc import PrivPC
from discreet.methods.registry import budget_for
from discreet.methods.svt_pc import SvtPC
from discreet.release.settings import Marginals, Settings
from discreet.room import Room
from discreet.simulation.networks import network

ROWS, DELTA = 100_000, 1e-6
EPSILONS = (0.3, 1.0, 3.0, 10.0)
METHODS: dict[str, Settings] = {
    "marginals": Marginals(),
    "flipped-top-k": FlippedTopK(),
    "flipped-svt": FlippedSvt(),
    "em-pc": EmPC(),
    "svt-pc": SvtPC(),
    "priv-pc": PrivPC(),
    "priv-pc, Kendall": PrivPC(test="kendall"),
}


def measure(name: str, settings: Settings, epsilon: float, runs: int) -> tuple[float, float, float]:
    """Return the means of skeleton F1, CPDAG F1 and seconds, with fresh rows and fresh noise each time."""
    net = network(name)
    domain, truth = net.domain(ROWS), dc.cpdag(net.dag)
    found = []
    for seed in range(runs):
        codes = net.sample_codes(ROWS, np.random.default_rng([seed, ROWS]))
        room = Room(
            MemoryTable(codes, {c: domain.size(c) for c in domain}), domain, budget_for(settings, epsilon, DELTA)
        )
        start = time.perf_counter()
        graph = dc.discover_in(room, settings).graph
        taken = time.perf_counter() - start
        found.append((dc.skeleton_f1(graph, net.dag), dc.cpdag_f1(graph, truth), taken))
    skeleton, marked, seconds = np.mean(found, axis=0).tolist()
    return skeleton, marked, seconds


if __name__ == "__main__":
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    default = "cancer,earthquake,survey,asia,sachs,child,alarm"
    print(f"{ROWS:,} rows, delta {DELTA:g}, mean of {runs} runs: skeleton F1 / CPDAG F1; seconds at epsilon 10")
    print("| network | method | " + " | ".join(f"epsilon {e:g}" for e in EPSILONS) + " | seconds |")
    print("|---" * (3 + len(EPSILONS)) + "|")
    for name in (sys.argv[2] if len(sys.argv) > 2 else default).split(","):
        for method, settings in METHODS.items():
            cells = [measure(name, settings, epsilon, runs) for epsilon in EPSILONS]
            shown = " | ".join(f"{s:.2f} / {m:.2f}" for s, m, _ in cells)
            print(f"| {name} | {method} | {shown} | {cells[-1][2]:.2f} |", flush=True)
