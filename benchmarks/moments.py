"""What `moments` reaches on numeric models, the level of its tests, and how fast it is.

python benchmarks/moments.py accuracy [runs] [networks with commas]
python benchmarks/moments.py level [data sets] [rows with commas]
python benchmarks/moments.py calibration [drawn networks]
python benchmarks/moments.py close [runs]
python benchmarks/moments.py speed [rows] [columns]
"""

from __future__ import annotations

import resource
import sys
import time
import warnings
from collections import defaultdict
from itertools import pairwise

import numpy as np
import pyarrow as pa

import discreet as dc
from discreet.errors import DoubtWarning
from discreet.release.traps import traps
from discreet.simulation.bayesian import Node
from discreet.simulation.drawn import draw_network
from discreet.simulation.networks import network
from discreet.simulation.nonlinear import nonlinear

DELTA = 1e-6
SETTINGS = ((2_000, 1.0), (8_000, 1.0), (100_000, 1.0), (100_000, 0.1))
NETWORKS = "cancer,asia,child,alarm"
SHARP = (np.square, np.abs, np.exp, lambda z: np.sin(3 * z), lambda z: np.sin(5 * z), lambda z: z**3)
"""What two effects follow their common cause by."""


def accuracy(runs: int, names: list[str]) -> None:
    """Print skeleton and CPDAG F1 with fresh models, rows and noise each time."""
    print(f"delta {DELTA:g}, mean of {runs} runs (standard error): skeleton F1 / CPDAG F1")
    print("| model | " + " | ".join(f"n {n:,}, epsilon {e:g}" for n, e in SETTINGS) + " | seconds |")
    print("|---" * (2 + len(SETTINGS)) + "|")
    for name in names:
        cells, taken = [], 0.0
        for rows, epsilon in SETTINGS:
            found = np.array([_one(name, rows, epsilon, run) for run in range(runs)])
            (skeleton, marked, taken), spread = found.mean(axis=0), found.std(axis=0) / runs**0.5
            cells.append(f"{skeleton:.2f} ({spread[0]:.2f}) / {marked:.2f}")
        print(f"| {name} | {' | '.join(cells)} | {taken:.1f} |", flush=True)


def _one(name: str, rows: int, epsilon: float, run: int) -> tuple[float, float, float]:
    rng = np.random.default_rng([run, rows, 7])
    model = nonlinear(network(name), rng)
    table = pa.table(model.sample(rows, rng))
    start = time.perf_counter()
    graph = dc.discover(table, domain=model.domain(rows), epsilon=epsilon, delta=DELTA).graph
    taken = time.perf_counter() - start
    return dc.skeleton_f1(graph, model.dag), dc.cpdag_f1(graph, dc.cpdag(model.dag)), taken


def level(sets: int, sizes: list[int]) -> None:
    """Print how often the tests of order 0, 1 and 2 call independent and dependent pairs dependent at 0.05."""
    print(f"alpha 0.05, share called dependent: {sets:,} independent pairs / {sets // 5:,} dependent ones")
    print("| rows | given | epsilon 0.1 | epsilon 1 | epsilon 8 |")
    print("|---|---|---|---|---|")
    for rows in sizes:
        for order in range(3):
            cells = []
            for epsilon in (0.1, 1.0, 8.0):
                null, power = (
                    np.mean([_called(order, rows, epsilon, run, dependent=dependent) for run in range(count)])
                    for dependent, count in ((False, sets), (True, sets // 5))
                )
                cells.append(f"{null:.3f} / {power:.2f}")
            print(f"| {rows:,} | {order} | {' | '.join(cells)} |", flush=True)


def _called(order: int, rows: int, epsilon: float, run: int, *, dependent: bool = False) -> bool:
    """Test two columns that share nothing but what is given; or of which one is a cause of the other, too."""
    causes = [f"z{i}" for i in range(order)]
    parents: dict[str, tuple[str, ...]] = {**dict.fromkeys(causes, ()), "x": tuple(causes), "y": tuple(causes)}
    parents["y"] += ("x",) * dependent
    network = dc.Network("null", {c: Node(("a", "b"), p, np.full((2 ** len(p), 2), 0.5)) for c, p in parents.items()})
    rng = np.random.default_rng([run, order, rows])
    model = nonlinear(network, rng)
    answer = dc.test_independence(
        pa.table(model.sample(rows, rng)),
        "x",
        "y",
        causes,
        domain=model.domain(rows),
        epsilon=epsilon,
        test="moments",
        alpha=0.05,
    )
    return not answer.independent


def calibration(networks: int) -> None:
    """Print how often edges of a stated confidence are right, over drawn networks, rows and budgets."""
    found: list[tuple[float, bool]] = []
    for run in range(networks):
        rng = np.random.default_rng([run, 99])
        model = nonlinear(draw_network(rng, int(rng.choice([5, 8, 12, 20]))), rng)
        rows, epsilon = int(rng.choice([1_000, 3_000, 10_000, 50_000])), float(rng.choice([0.3, 1.0, 3.0]))
        told = dc.discover(pa.table(model.sample(rows, rng)), domain=model.domain(rows), epsilon=epsilon)
        found += [(c.edge, pair in model.dag.skeleton) for pair, c in told.confidence.items()]
    print("| stated | edges | mean stated | right |\n|---|---|---|---|")
    for low, high in pairwise((0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.985, 1.0)):
        inside = np.array([pair for pair in found if low < pair[0] <= high])
        if len(inside):
            stated, right = inside.mean(axis=0)
            print(f"| {low:g} to {high:g} | {len(inside)} | {stated:.2f} | {right:.2f} |")


def close(runs: int) -> None:
    """Print how many edges are said to be close: false ones of a sharp common cause, true ones beside, and others."""
    print("| rows | edges | found | pointed out |\n|---|---|---|---|")
    for rows in (2_000, 20_000, 100_000):
        told: dict[str, list[bool]] = defaultdict(list)
        for run in range(runs):
            for noise in (0.1, 0.3):
                rng = np.random.default_rng([run, rows, 11])
                for curve in SHARP:
                    z, effects = rng.uniform(-2, 2, rows), rng.normal(0, noise, (2, rows))
                    a, b = effects + (curve(z) - curve(z).mean()) / curve(z).std()
                    columns = {"z": z, "a": a, "b": b, "c": b + rng.normal(0, 0.7, rows)}
                    domain = dc.Domain(dict.fromkeys(columns, dc.Numeric(bounds=(-4, 4))), rows=rows)
                    true = {*map(frozenset, ("az", "bz", "bc"))}
                    _count(told, pa.table(columns), domain, "of a sharp common cause", true)
            for name in ("asia", "child"):
                model = nonlinear(network(name), np.random.default_rng([run, rows, 12]))
                table = pa.table(model.sample(rows, np.random.default_rng([run, rows, 13])))
                _count(told, table, model.domain(rows), "of asia and child", set(model.dag.skeleton))
        for kind, said in sorted(told.items()):
            print(f"| {rows:,} | {kind} | {len(said)} | {sum(said)} |", flush=True)


def _count(
    told: dict[str, list[bool]], table: pa.Table, domain: dc.Domain, kind: str, true: set[frozenset[str]]
) -> None:
    found = dc.discover(table, domain=domain, epsilon=1.0, delta=DELTA)
    warned = [frozenset(trap.columns) for trap in traps(found) if trap.kind == "close"]
    for pair in found.graph.skeleton:
        told[f"{'true' if pair in true else 'false'}, {kind}"].append(pair in warned)


def speed(rows: int, columns: int) -> None:
    """Print seconds and memory of a chain of numeric columns."""
    names = [f"c{i:02d}" for i in range(columns)]
    parents = {names[0]: (), **{b: (a,) for a, b in pairwise(names)}}
    nodes = {c: Node(("a", "b"), p, np.full((2 ** len(p), 2), 0.5)) for c, p in parents.items()}
    rng = np.random.default_rng(0)
    model = nonlinear(dc.Network("chain", nodes), rng)
    table = pa.table(model.sample(rows, rng))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    start = time.perf_counter()
    found = dc.discover(table, domain=model.domain(rows), epsilon=1.0, delta=1e-7)
    taken = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    f1 = dc.skeleton_f1(found.graph, model.dag)
    print(f"{rows:,} x {columns}: {taken:.1f} s, at most {after:.2f} GB ({before:.2f} before), skeleton F1 {f1:.2f}")


if __name__ == "__main__":
    warnings.simplefilter("ignore", DoubtWarning)
    mode = sys.argv[1] if len(sys.argv) > 1 else "accuracy"
    rest = sys.argv[2:]
    if mode == "level":
        sizes = [int(n) for n in (rest[1] if len(rest) > 1 else "2000,20000").split(",")]
        level(int(rest[0]) if rest else 1_000, sizes)
    elif mode == "calibration":
        calibration(int(rest[0]) if rest else 60)
    elif mode == "close":
        close(int(rest[0]) if rest else 5)
    elif mode == "speed":
        speed(int(rest[0]) if rest else 1_000_000, int(rest[1]) if len(rest) > 1 else 20)
    else:
        accuracy(int(rest[0]) if rest else 10, (rest[1] if len(rest) > 1 else NETWORKS).split(","))
