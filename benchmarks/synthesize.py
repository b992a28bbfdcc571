"""Synthetic rows by MST or AIM, and the graph that causal-learn's PC finds on them.

`discreet experiment synthetic` starts it, in an environment of its own that `make synthetic` makes. Each line that it
reads is a list in JSON: mst, aim or none, rho, a seed, the file of the rows, and where to write what it makes. It
answers with a line, empty or an error. Not for real rows: noise is seeded. With `check`, the model is compared with
mbi's.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from typing import Any

import numpy as np

warnings.filterwarnings("ignore", message="JAX")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

from synthetic.field import Field, fit  # noqa: E402
from synthetic.mechanisms import Codes, Table, aim, mst  # noqa: E402

ALPHA = 0.01
TRIPLES = 20
"""AIM's workload is all sets of three columns up to so many columns, all pairs beyond."""


def main() -> None:
    """Do what is asked line by line, or compare the model with mbi's."""
    if sys.argv[1:] == ["check"]:
        check()
        return
    for line in sys.stdin:
        try:
            answer(*json.loads(line))
            print(flush=True)
        except Exception as error:  # noqa: BLE001 - told to who asked
            print(f"{type(error).__name__}: {error}".replace("\n", " "), flush=True)


def answer(method: str, rho: float, seed: int, source: str, out: str) -> None:
    """Make rows, search them, and write both down, with what was spent and how long it took."""
    from causallearn.search.ConstraintBased.PC import pc

    with np.load(source) as given:
        table = Table(given["codes"].astype(np.intp), given["sizes"].tolist(), np.random.default_rng(seed))
    start = time.perf_counter()
    rows = synthesize(method, table, rho)
    made = time.perf_counter()
    arrows, lines = read(pc(rows, ALPHA, "chisq", show_progress=False).G.graph)
    told = {"spent": table.spent, "seconds": made - start, "pc_seconds": time.perf_counter() - made}
    np.savez(out, codes=rows, arrows=arrows, lines=lines, told=np.array(list(told.values())))


def synthesize(method: str, table: Table, rho: float) -> Codes:
    """Return as many rows as there are; the rows themselves for ``"none"``, which is not private."""
    if method == "mst":
        return mst(table, rho, fit)
    if method == "aim":
        return aim(table, rho, fit, degree=3 if len(table.sizes) <= TRIPLES else 2)
    return table.codes


def read(marks: Any) -> tuple[Codes, Codes]:
    """Return the arrows and lines of causal-learn's marks; a double arrow is a line."""
    pairs = np.argwhere(marks)
    arrows = [(i, j) for i, j in pairs if (marks[i, j], marks[j, i]) == (-1, 1)]
    lines = [(i, j) for i, j in pairs if i < j and marks[i, j] == marks[j, i]]
    return np.array(arrows, dtype=np.intp).reshape(-1, 2), np.array(lines, dtype=np.intp).reshape(-1, 2)


def check() -> None:
    """Fit the same noisy marginals with mbi's mirror descent and with this one, and print how far the two are apart."""
    from mbi import Domain, LinearMeasurement, estimation

    for columns in (6, 10):
        rng = np.random.default_rng(columns)
        sizes = rng.integers(2, 5, columns).tolist()
        cause = rng.integers(0, 2, 10_000)
        codes = np.column_stack([(rng.random(len(cause)) * size * (1 + cause) / 2).astype(np.intp) for size in sizes])
        table = Table(codes, sizes, rng)
        for clique in [(c,) for c in range(columns)] + [(c, c + 1, c + 3) for c in range(columns - 3)]:
            table.measure(clique, 1e-3)
        ours = fit(sizes, table.rows, table.measurements, None)
        measured = [
            LinearMeasurement(m.noisy.ravel(), m.clique, stddev=float(m.sigma.flat[0])) for m in table.measurements
        ]
        domain = Domain(tuple(range(columns)), tuple(sizes))
        theirs = estimation.MirrorDescent().estimate(domain, measured, known_total=float(table.rows), iters=5000)
        far = [_far(ours, np.asarray(theirs.project(m.clique).datavector()), m) for m in table.measurements]
        losses = [sum(each) / 2 for each in zip(*(f[1:] for f in far), strict=True)]
        print(
            f"{columns} columns: marginals are at most {max(f[0] for f in far):.1f} of {table.rows:,} rows apart, "
            f"noise {table.measurements[0].sigma.flat[0]:.0f}; loss {losses[0]:.1f}, mbi's {losses[1]:.1f}"
        )


def _far(ours: Field, theirs: Any, measured: Any) -> tuple[float, float, float]:
    mine, noisy = ours.marginal(measured.clique).ravel(), measured.noisy.ravel()
    squares = [float((((m - noisy) / measured.sigma.ravel()) ** 2).sum()) for m in (mine, theirs)]
    return float(np.abs(mine - theirs).max()), squares[0], squares[1]


if __name__ == "__main__":
    main()
