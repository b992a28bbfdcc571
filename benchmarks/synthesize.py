"""Synthetic rows by MST or AIM, and the graph that causal-learn's PC finds on them.

`discreet experiment synthetic` starts it, in an environment of its own that `make synthetic` makes. Each line that it
reads is a list in JSON: a method, rho, a seed, the file of the rows, and where to write what it makes. It answers with
a line, empty or an error. Not for real rows: noise is seeded. With `check`, the model is compared with
mbi's.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

warnings.filterwarnings("ignore", message="JAX")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

from synthetic.field import fit  # noqa: E402
from synthetic.mechanisms import Codes, Fit, Table, aim, mst  # noqa: E402

ALPHA = 0.01
MECHANISMS: dict[str, Callable[[Table, float, Fit], Codes]] = {
    "mst": mst,
    "aim": partial(aim, degree=2),
    "aim-triples": partial(aim, degree=3),
}


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
    rows = table.codes if method == "none" else MECHANISMS[method](table, rho, fit)
    made = time.perf_counter()
    arrows, lines = read(pc(rows, ALPHA, "chisq", show_progress=False).G.graph)
    told = {"spent": table.spent, "seconds": made - start, "pc_seconds": time.perf_counter() - made}
    np.savez(out, codes=rows, arrows=arrows, lines=lines, told=np.array(list(told.values())))


def read(marks: Any) -> tuple[Codes, Codes]:
    """Return the arrows and lines of causal-learn's marks; a double arrow is a line."""
    pairs = np.argwhere(marks)
    arrows = [(i, j) for i, j in pairs if (marks[i, j], marks[j, i]) == (-1, 1)]
    lines = [(i, j) for i, j in pairs if i < j and marks[i, j] == marks[j, i]]
    return np.array(arrows, dtype=np.intp).reshape(-1, 2), np.array(lines, dtype=np.intp).reshape(-1, 2)


def check() -> None:
    """Compare the model with mbi's on the same noisy marginals, and see that rows are drawn as it says."""
    for columns in (6, 10):
        rng = np.random.default_rng(columns)
        sizes = rng.integers(2, 5, columns).tolist()
        cause = rng.integers(0, 2, 10_000)
        codes = np.column_stack([(rng.random(len(cause)) * size * (1 + cause) / 2).astype(np.intp) for size in sizes])
        table = Table(codes, sizes, rng)
        for clique in [(c,) for c in range(columns)] + [(c, c + 1, c + 3) for c in range(columns - 3)]:
            table.measure(clique, 1e-3)
        apart, noise = compare(table), float(table.measurements[0].sigma.flat[0])
        print(
            f"{columns} columns: at most {apart:.1f} of {table.rows:,} rows from mbi's, noise of deviation {noise:.0f}"
        )
        assert apart < noise / 10
    chance = independence()
    print(f"b <- a -> c, 100,000 rows drawn: b and c are independent given a, p-value {chance:.2f}")
    assert chance > 1e-4


def compare(table: Table) -> float:
    """Return how far the measured marginals of both models are apart in any cell."""
    from mbi import Domain, LinearMeasurement, estimation

    ours = fit(table.sizes, table.rows, table.measurements, None)
    given = [LinearMeasurement(m.noisy.ravel(), m.clique, stddev=float(m.sigma.flat[0])) for m in table.measurements]
    domain = Domain(tuple(range(len(table.sizes))), tuple(table.sizes))
    theirs = estimation.MirrorDescent().estimate(domain, given, known_total=float(table.rows), iters=5000)
    both = [(ours.marginal(m.clique).ravel(), theirs.project(m.clique).datavector()) for m in table.measurements]
    return max(float(np.abs(one - np.asarray(other)).max()) for one, other in both)


def independence() -> float:
    """Return the p-value of a test on rows drawn from a model in which two columns are independent given a third."""
    from scipy.stats import chi2, chi2_contingency

    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 100_000)
    codes = np.column_stack([a, *((rng.random((2, len(a))) < (1 + a) / 4).astype(np.intp))])
    table = Table(codes, [3, 2, 2], rng)
    for clique in ((0, 1), (0, 2)):
        table.measure(clique, 1e-2)
    drawn = Table(fit(table.sizes, table.rows, table.measurements, None).draw(table.rows, rng), table.sizes, rng)
    return float(chi2.sf(sum(chi2_contingency(t, correction=False)[0] for t in drawn.marginal((0, 1, 2))), 3))


if __name__ == "__main__":
    main()
