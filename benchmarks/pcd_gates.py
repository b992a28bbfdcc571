"""F1 of skeletons over numeric models: one release of all pairs against gates that are asked pair by pair.

Gates pass on independence, as those of SVT-PC, and ask for the margin of a test by permutations: of both columns at
order 0, and at order 1 of residuals of kernel ridge regressions with a ridge of 0.01, 0.1 or 1.
"""

from __future__ import annotations

import sys
import warnings
from fractions import Fraction

import numpy as np

from discreet.asking import SLACK, round_for, split_round
from discreet.domain import Domain
from discreet.errors import BudgetError
from discreet.experiments.pcd import encoded
from discreet.experiments.pcd_plan import Task, sample_of
from discreet.graph import skeleton_f1
from discreet.methods import Pcd
from discreet.oracles import Verdict
from discreet.pcd import pcd_in
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Budget
from discreet.room import Gate, Room
from discreet.search.pc import pc
from discreet.statistics.dependence import moved_by_steps
from discreet.statistics.permuted import Compared, SeparationHSIC
from discreet.tables.memory import MemoryTable

DELTA = 1e-6


class Gated:
    """Asks gates; each pass closes one, and the budget covers as many as there are pairs."""

    free = False
    max_order = 1

    def __init__(self, room: Room, domain: Domain, ridge: float) -> None:
        self._room, self._domain, self._ridge = room, domain, ridge
        pairs = len(domain.columns) * (len(domain.columns) - 1) // 2
        sieve, _ = split_round(room.budget.currency, room.budget.left * Fraction(99, 100) / pairs, examined=False)
        self._round = round_for(sieve, None, domain.rows)
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
        passed = self._gate.passes(margin, -round(SLACK * self._round.sieve.deviation))
        return Verdict(passed, -1.0 if passed else 1.0)


def gated(table: MemoryTable, domain: Domain, epsilon: float, order: int, ridge: float) -> Room | object:
    """Return the graph by gates."""
    room = Room(table, domain, Budget(epsilon=epsilon, delta=DELTA, currency=Currency.ZCDP))
    return pc(tuple(domain), Gated(room, domain, ridge), max_order=order)


def released(table: MemoryTable, domain: Domain, epsilon: float, order: int) -> object:
    """Return the graph by one release."""
    try:
        return pcd_in(Room(table, domain, Budget(epsilon=epsilon, delta=DELTA)), Pcd(max_order=order)).graph
    except BudgetError:
        return None


def main() -> None:
    """Print a line for each network, number of rows and epsilon."""
    warnings.simplefilter("ignore")
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    ways = {
        "release, order 0": lambda *a: released(*a, 0),
        "release, order 1": lambda *a: released(*a, 1),
        "gates, order 0": lambda *a: gated(*a, 0, 0.01),
        "gates, order 1, ridge 0.01": lambda *a: gated(*a, 1, 0.01),
        "gates, order 1, ridge 0.1": lambda *a: gated(*a, 1, 0.1),
        "gates, order 1, ridge 1": lambda *a: gated(*a, 1, 1.0),
    }
    for name, rows, epsilon in (("cancer", 1000, 1.0), ("cancer", 8000, 1.0), ("cancer", 8000, 8.0), ("asia", 8000, 8.0)):
        for way, find in ways.items():
            found = []
            for seed in range(runs):
                sample = sample_of(Task("graphs", name, "pcd", epsilon, rows, seed))
                graph = find(encoded(sample), sample.domain, epsilon)
                found.append(0.0 if graph is None else skeleton_f1(graph, sample.truth))
            error = np.std(found, ddof=1) / runs**0.5
            print(f"{name:8} {rows:5d} epsilon {epsilon:3g}  {way:28} F1 {np.mean(found):.2f} ({error:.2f})", flush=True)


if __name__ == "__main__":
    main()
