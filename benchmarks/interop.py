"""How often DoWhy's nominal 95 % intervals miss the true effect, from the rows themselves and from releases of them.

Run: make interop, then PYTHONPATH=tests/interop .venv-interop/bin/python benchmarks/interop.py [RELEASES [EPSILON]].
"""

from __future__ import annotations

import logging
import sys
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from dowhy import CausalModel

import discreet as dc
from discreet.release.synthesis import synthesize
from discreet.search.interop import extensions, to_dowhy
from discreet.search.orientation import cpdag
from discreet.simulation.bayesian import Network
from discreet.simulation.networks import read_bif
from truth import effect

ROWS = 100_000
SYNTHETIC = (100_000, 1_000_000)
CLINIC = Path(__file__).parent.parent / "tests" / "interop" / "clinic.bif"


@dataclass
class Tally:
    """What was seen of one kind of rows."""

    errors: list[float] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)

    def add(self, interval: tuple[float, float], true: float) -> None:
        """Take one more interval."""
        self.errors.append(sum(interval) / 2 - true)
        self.widths.append((interval[1] - interval[0]) / 2)

    def __str__(self) -> str:
        """Return misses, the median error, and what the intervals say it is."""
        errors, widths = np.array(self.errors), np.array(self.widths)
        missed = np.mean(np.abs(errors) > widths)
        return f"missed {missed:4.0%}   median error {np.median(np.abs(errors)):.4f}   interval +-{np.mean(widths):.4f}"


def interval(drawn: dict[str, Any], network: Network, dag: dc.Graph, cause: str, outcome: str) -> tuple[float, float]:
    """Return DoWhy's interval; if no arrows lead from the cause to the outcome, it says zero and has none."""
    rows = pd.DataFrame({name: (drawn[name] == network.nodes[name].levels[-1]).astype(int) for name in drawn})
    model = CausalModel(data=rows, treatment=cause, outcome=outcome, graph=to_dowhy(dag))
    estimate = model.estimate_effect(
        model.identify_effect(), "backdoor.linear_regression", effect_modifiers=[], confidence_intervals=True
    )
    if not hasattr(estimate, "estimator"):
        return 0.0, 0.0
    low, high = np.ravel(estimate.get_confidence_intervals())
    return float(low), float(high)


def chosen(graph: dc.Graph, cause: str) -> dc.Graph:
    """Return the first extension in which the cause has as few causes as in any."""
    return min(extensions(graph), key=lambda dag: sum(head == cause for _, head in dag.directed))


def measure(network: Network, cause: str, outcome: str, releases: int, epsilon: float) -> None:
    """Print one line for each kind of rows."""
    true = effect(network, cause, outcome, (network.nodes[cause].levels[0], network.nodes[cause].levels[-1]))
    if network.nodes[outcome].levels[-1] != "yes":
        true = -true
    tallies = {kind: Tally() for kind in (0, *SYNTHETIC)}
    right = 0
    for seed in range(releases):
        table = network.sample(ROWS, np.random.default_rng(seed))
        tallies[0].add(interval(table, network, network.dag, cause, outcome), true)
        found = dc.discover(table, domain=network.domain(ROWS), epsilon=epsilon)
        right += found.graph == cpdag(network.dag)
        dag = chosen(found.graph, cause)
        for rows in SYNTHETIC:
            tallies[rows].add(interval(synthesize(found, rows, seed=seed), network, dag, cause, outcome), true)
    print(f"{network.name}: {cause} on {outcome}, {true:+.4f}; epsilon {epsilon:g}, {right} of {releases} graphs right")
    for rows, tally in tallies.items():
        print(f"  {f'{rows:,} synthetic rows' if rows else f'the {ROWS:,} rows, not private':<30} {tally}", flush=True)


def main() -> None:
    """Measure two networks."""
    warnings.simplefilter("ignore")
    logging.disable()
    releases = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    epsilon = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    measure(read_bif(CLINIC), "treated", "recovered", releases, epsilon)
    measure(dc.network("asia"), "smoke", "dysp", releases, epsilon)


if __name__ == "__main__":
    main()
