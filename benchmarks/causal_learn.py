"""causal-learn's PC and discreet's private discovery on the same rows, timed side by side.

Run: python benchmarks/causal_learn.py [--network NAME] [--rows N] [--venv FOLDER]. Makes an environment of its own (in
a temporary folder, or in FOLDER and kept) and installs causal-learn and this project there; both are timed in one
process, after their imports.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).resolve().parent.parent
ALPHA = 0.01
EPSILON = 1.0

T = TypeVar("T")


def main() -> None:
    """Make the environment and run in it."""
    parser = argparse.ArgumentParser(description="Time causal-learn's PC and discreet's private discovery.")
    parser.add_argument("--network", default="alarm", help="bundled network to draw rows from (alarm)")
    parser.add_argument("--rows", type=int, default=100_000, help="rows to draw (100000)")
    parser.add_argument("--venv", type=Path, help="folder of the environment, kept for the next run (temporary)")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        compare(options.network, options.rows)
    elif options.venv is not None:
        run_in(options.venv, options)
    else:
        with tempfile.TemporaryDirectory() as folder:
            run_in(Path(folder) / "venv", options)


def run_in(folder: Path, options: argparse.Namespace) -> None:
    """Install both into an environment and start this file there."""
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        print(f"making an environment in {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True)
    pinned = ROOT / "constraints.txt"
    constraints = ["--constraint", str(pinned)] if pinned.is_file() else []
    print("installing causal-learn and this project", file=sys.stderr)
    # without PYTHONPATH, so that nothing but what is installed there is imported
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    install = [str(python), "-m", "pip", "install", "--quiet", "--quiet", "--disable-pip-version-check", *constraints]
    subprocess.run([*install, "causal-learn"], check=True, env=clean)
    subprocess.run([*install, "--force-reinstall", "--no-deps", str(ROOT)], check=True, env=clean)
    subprocess.run([*install, str(ROOT)], check=True, env=clean)
    inside = [str(python), __file__, "--inside", "--network", options.network, "--rows", str(options.rows)]
    subprocess.run(inside, check=True, env=clean)


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Return how long something took, and what it returned."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def compare(name: str, rows: int) -> None:
    """Time both and print the ratio. discreet goes first, without a run to warm up."""
    import numpy as np
    from causallearn.search.ConstraintBased.PC import pc
    from causallearn.utils.cit import chisq

    import discreet as dc
    from discreet.discovering import discover

    net = dc.network(name)
    codes = net.sample_codes(rows, np.random.default_rng(0))
    labels = {column: np.array(net.nodes[column].levels)[code] for column, code in codes.items()}
    matrix = np.column_stack([code.astype(np.int64) for code in codes.values()])
    domain = net.domain(rows)
    print(f"{name}: {len(codes)} columns, {rows:,} rows", flush=True)
    ours, found = timed(lambda: discover(labels, domain=domain, epsilon=EPSILON, method="marginals"))
    _tell(f"discreet, private, epsilon {EPSILON:g}", ours, found.graph, net.dag)
    theirs, result = timed(lambda: pc(matrix, ALPHA, chisq, show_progress=False))
    _tell(f"causal-learn PC, chisq, alpha {ALPHA:g}", theirs, _read(result.G.graph, tuple(codes)), net.dag)
    print(f"causal-learn takes {theirs / ours:.1f} times as long")


def _read(marks: Any, names: tuple[str, ...]) -> Any:
    """Return causal-learn's endpoint matrix as a graph: marks[i, j] is the mark at i of the edge i-j."""
    from discreet.graph import Graph

    arrows, lines = set(), set()
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            if marks[i, j] == -1 and marks[j, i] == 1:
                arrows.add((a, b))
            elif i < j and marks[i, j] and marks[i, j] == marks[j, i]:
                lines.add(frozenset((a, b)))
    return Graph(names, frozenset(arrows), frozenset(lines))


def _tell(what: str, seconds: float, graph: Any, dag: Any) -> None:
    import discreet as dc

    skeleton, marks = dc.skeleton_f1(graph, dag), dc.cpdag_f1(graph, dc.cpdag(dag))
    print(f"{what:<36} {seconds:8.2f} s   skeleton F1 {skeleton:.2f}, CPDAG F1 {marks:.2f}", flush=True)


if __name__ == "__main__":
    main()
