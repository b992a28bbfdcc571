"""Whether what a plan expects is what happens: forecasts for the bundled networks' domains against runs on their rows.

``python benchmarks/forecast.py [JOBS]`` writes docs/forecast/forecast.csv and prints how often the runs lie where the
forecast says. The forecast knows the domain alone: names and levels, not the network.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

import numpy as np

from discreet.experiments.accuracy import Task, perform
from discreet.experiments.harness import Row, write_files
from discreet.privacy.accounting import DELTA
from discreet.release.expectation import WITHIN, Spread
from discreet.report.charts import Axis, Dot, dot_plot
from discreet.simulation.forecast import forecast
from discreet.simulation.networks import names, network
from discreet.simulation.processes import run_all

EPSILONS = (0.1, 0.3, 1.0, 3.0)
ROWS = (10_000, 100_000)
RUNS = 5
NETWORKS = 18
OUT = Path(__file__).parents[1] / "docs" / "forecast"


def picture(found: list[Row]) -> str:
    """Return the skeletons: where a forecast says runs lie, and where their mean lies."""
    dots = {"low": Dot("forecast, lower end", "#4477aa", hollow=True), "high": Dot("upper end", "#4477aa", hollow=True)}
    rows: dict[str, dict[str, dict[str, float]]] = {}
    for row in found:
        words = f"{row['rows']:,} rows, epsilon {row['epsilon']:g}"
        ends = {end: float(row[f"skeleton_f1_{end}"]) for end in ("low", "high", "reached")}
        rows.setdefault(str(row["network"]), {})[words] = ends
    words = f"Where {WITHIN:.0%} of simulated runs lie, and the mean of {RUNS} runs on the network's own rows"
    axis = Axis("Skeleton F1", 0.0, 1.0, (0, 0.2, 0.4, 0.6, 0.8, 1))
    return dot_plot("Forecast and reached", words, axis, {**dots, "reached": Dot("reached", "#cc3311")}, rows)


def main(jobs: int) -> None:
    """Forecast, run, compare."""
    found: list[Row] = []
    for name in names():
        start = perf_counter()
        planned = forecast(
            network(name).domain(max(ROWS)), epsilons=EPSILONS, rows=ROWS, delta=DELTA, networks=NETWORKS, jobs=jobs
        )
        seconds = perf_counter() - start
        runs = [Task(name, n, e, "marginals", 1_000 + s) for n in ROWS for e in EPSILONS for s in range(RUNS)]
        reached = list(run_all(perform, runs, jobs))
        for line in planned.expected:
            same = [r for r in reached if (r["task"]["rows"], r["task"]["epsilon"]) == (line.rows, line.epsilon)]
            row: Row = {"network": name, "rows": line.rows, "epsilon": line.epsilon, "seconds": round(seconds, 1)}
            for score in ("skeleton_f1", "cpdag_f1"):
                spread: Spread = getattr(line, score)
                values = np.array([float(r[score]) for r in same])
                inside = (values >= spread.low - 1e-9) & (values <= spread.high + 1e-9)
                row |= {
                    f"{score}_low": spread.low,
                    f"{score}_expected": spread.mean,
                    f"{score}_high": spread.high,
                    f"{score}_reached": round(float(values.mean()), 4),
                    f"{score}_inside": round(float(inside.mean()), 2),
                }
            found.append(row)
        print(f"{name}: {seconds:.0f} s for the forecast", flush=True)
    write_files(OUT, {"forecast.csv": found, "forecast.svg": picture(found)})
    for score in ("skeleton_f1", "cpdag_f1"):
        low, high, reached_ = (
            np.array([float(r[f"{score}_{end}"]) for r in found]) for end in ("low", "high", "reached")
        )
        within = (reached_ >= low - 1e-9) & (reached_ <= high + 1e-9)
        print(
            f"{score}: median width {np.median(high - low):.2f}; mean of {RUNS} runs inside in {within.mean():.0%} of "
            f"{len(found)} settings; single runs inside in {np.mean([float(r[f'{score}_inside']) for r in found]):.0%}"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
