"""causal-learn's PC and discreet's private discovery on the same rows, timed side by side.

Run: python benchmarks/causal_learn.py [--network NAME] [--rows N] [--venv FOLDER]. Makes an environment of its own (in
a temporary folder, or in FOLDER and kept) and installs causal-learn and this project there; both are timed in one
process, after their imports and a small run of each. Both are given the same matrix of whole numbers; discreet's time
includes checking and encoding it, and the confidences.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ALPHA = 0.01
EPSILON = 1.0


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


def compare(name: str, rows: int) -> None:
    """Time both, and discreet's own PC on exact counts (not private), and print the ratios."""
    from causallearn.search.ConstraintBased.PC import pc
    from causallearn.utils.cit import chisq

    import discreet as dc
    from discreet.baselines import exact as not_private
    from discreet.methods.discover import discover

    def private(rows: Draw) -> Any:
        return discover(rows.matrix, domain=rows.domain, epsilon=EPSILON, method="marginals").graph

    def exact(rows: Draw) -> Any:
        return not_private.pc(rows.matrix, rows.domain, alpha=ALPHA)

    def theirs(rows: Draw) -> Any:
        return _read(pc(rows.matrix, ALPHA, chisq, show_progress=False).G.graph, tuple(rows.domain))

    net, small = dc.network(name), Draw(dc.network("cancer"), 2_000)
    drawn = Draw(net, rows)
    print(f"{name}: {len(net.nodes)} columns, {rows:,} rows", flush=True)
    taken = []
    for what, work in (
        (f"discreet, private, epsilon {EPSILON:g}", private),
        (f"discreet PC, NOT private, alpha {ALPHA:g}", exact),
        (f"causal-learn PC, chisq, alpha {ALPHA:g}", theirs),
    ):
        work(small)
        start = time.perf_counter()
        graph = work(drawn)
        taken.append(time.perf_counter() - start)
        skeleton, marks = dc.skeleton_f1(graph, net.dag), dc.cpdag_f1(graph, dc.cpdag(net.dag))
        print(f"{what:<38} {taken[-1]:8.2f} s   skeleton F1 {skeleton:.2f}, CPDAG F1 {marks:.2f}", flush=True)
    print(f"causal-learn's time is {taken[2] / taken[0]:.1f} times that of discreet, private")
    print(f"causal-learn's time is {taken[2] / taken[1]:.1f} times that of discreet PC, not private")


class Draw:
    """Rows of a network as a matrix of whole numbers, and their domain."""

    def __init__(self, net: Any, rows: int) -> None:
        import numpy as np

        from discreet.domain import Categorical, Domain

        codes = net.sample_codes(rows, np.random.default_rng(0))
        self.matrix = np.column_stack([code.astype(np.int64) for code in codes.values()])
        levels = {c: tuple(str(i) for i in range(len(net.nodes[c].levels))) for c in codes}
        self.domain = Domain({c: Categorical(categories=levels[c]) for c in codes}, rows=rows)


def _read(marks: Any, names: tuple[str, ...]) -> Any:
    """Return causal-learn's endpoint matrix as a graph: marks[i, j] is the mark at i of the edge i-j."""
    from discreet.search.graph import Graph

    arrows, lines = set(), set()
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            if marks[i, j] == -1 and marks[j, i] == 1:
                arrows.add((a, b))
            elif i < j and marks[i, j] and marks[i, j] == marks[j, i]:
                lines.add(frozenset((a, b)))
    return Graph(names, frozenset(arrows), frozenset(lines))


if __name__ == "__main__":
    main()
