"""F1 of skeletons over numeric models: one release of all pairs against gates that are asked pair by pair.

Gates pass on independence, as those of SVT-PC, and ask for the margin of a test by permutations: of both columns at
order 0, and at order 1 of residuals of kernel ridge regressions with a ridge of 0.01, 0.1 or 1.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

from discreet.audit.statistics import SeparationHSIC
from discreet.data.memory import MemoryTable
from discreet.domain import Domain
from discreet.errors import BudgetError
from discreet.experiments.pcd import Task, encode, sample_of
from discreet.methods.pcd import Pcd, run
from discreet.methods.svt_pc import GATE_SLACK, Round, pure_epsilon
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Budget
from discreet.privacy.mechanisms.sparse_vector import above_threshold_for
from discreet.room import Gate, Room
from discreet.search.graph import Graph, skeleton_f1
from discreet.search.oracle import Verdict
from discreet.search.pc import pc
from discreet.statistics.dependence import moved_by_steps
from discreet.statistics.permutation import Compared

DELTA = 1e-6


class Gated:
    """Asks gates; each pass closes one, and the budget covers as many as there are pairs."""

    free = False
    max_order = 1

    def __init__(self, room: Room, domain: Domain, ridge: float) -> None:
        self._room, self._domain, self._ridge = room, domain, ridge
        pairs = len(domain.columns) * (len(domain.columns) - 1) // 2
        epsilon = pure_epsilon(room.budget.currency, room.budget.left * Fraction(99, 100) / pairs)
        self._round = Round(above_threshold_for(epsilon, moved_by_steps(), geometric=True))
        self._gate: Gate | None = None

    def answers(self, x: str, y: str, given: frozenset[str]) -> bool:
        """Always."""
        return True

    def ask(self, x: str, y: str, given: frozenset[str]) -> Verdict:
        """Ask whether two columns look independent."""
        if self._gate is None or not self._gate.open:
            if self._round.price(self._room.budget.currency) > self._room.budget.left:
                raise BudgetError("the budget does not cover another round")
            self._gate = self._room.open(self._round.sieve, moved_by_steps(), purpose="sieve")
        margin = SeparationHSIC(Compared.of(x, y, sorted(given), self._domain), ridge=self._ridge)
        passed = self._gate.passes(margin, -round(GATE_SLACK * self._round.sieve.deviation))
        return Verdict(passed, -1.0 if passed else 1.0)


def gated(table: MemoryTable, domain: Domain, epsilon: float, order: int, ridge: float) -> Graph:
    """Return the graph by gates."""
    room = Room(table, domain, Budget(epsilon=epsilon, delta=DELTA, currency=Currency.ZCDP))
    return pc(tuple(domain), Gated(room, domain, ridge), max_order=order)


def released(table: MemoryTable, domain: Domain, epsilon: float, order: int) -> Graph:
    """Return the graph by one release."""
    try:
        return run(Room(table, domain, Budget(epsilon=epsilon, delta=DELTA)), Pcd(max_order=order)).graph
    except BudgetError:
        return Graph(tuple(domain))


WAYS: dict[str, Callable[[MemoryTable, Domain, float], Graph]] = {
    "release, order 0": partial(released, order=0),
    "release, order 1": partial(released, order=1),
    "gates, order 0": partial(gated, order=0, ridge=0.01),
    "gates, order 1, ridge 0.01": partial(gated, order=1, ridge=0.01),
    "gates, order 1, ridge 0.1": partial(gated, order=1, ridge=0.1),
    "gates, order 1, ridge 1": partial(gated, order=1, ridge=1.0),
}


def main() -> None:
    """Print a line for each number of rows and way."""
    warnings.simplefilter("ignore")
    runs, epsilon = (int(sys.argv[1]) if len(sys.argv) > 1 else 5), 1.0
    for rows in (1000, 8000):
        for way, find in WAYS.items():
            found = []
            for seed in range(runs):
                sample = sample_of(Task("graphs", "ours", "cancer", "pcd", rows, seed))
                found.append(skeleton_f1(find(encode(sample), sample.domain, epsilon), sample.truth))
            error = float(np.std(found, ddof=1)) / runs**0.5
            print(f"cancer {rows:5d} rows  {way:28} F1 {np.mean(found):.2f} ({error:.2f})", flush=True)


if __name__ == "__main__":
    main()
