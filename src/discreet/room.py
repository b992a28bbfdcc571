"""The room: the only holder of rows. A statistic and a mechanism go in, a release comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from discreet.arrays import IntArray
from discreet.domain import Domain
from discreet.errors import RoomError
from discreet.mechanisms import Mechanism
from discreet.privacy.accounting import check_guarantee
from discreet.privacy.budget import Budget
from discreet.privacy.noise import ExactNoise, Noise
from discreet.release import Release
from discreet.sealed import Sealed
from discreet.statistics import Statistic
from discreet.tables import Recodable, Table
from discreet.tables.coarse import coarsened

S = TypeVar("S", bound=Statistic)


class _View:
    """A table in which only the named columns exist."""

    def __init__(self, table: Table, columns: Sequence[str]) -> None:
        self._table = table
        self._columns = frozenset(columns)

    @property
    def rows(self) -> int:
        return self._table.rows

    def counts(self, sets: Sequence[tuple[str, ...]]) -> list[IntArray]:
        self._check(sets)
        return self._table.counts(sets)

    def sums(self, sets: Sequence[tuple[str, ...]]) -> list[int]:
        self._check(sets)
        return self._table.sums(sets)

    def _check(self, sets: Sequence[tuple[str, ...]]) -> None:
        if not self._columns.issuperset(c for s in sets for c in s):
            raise RoomError("a statistic asked for a column that it did not name")


class Room(Sealed):
    """Holds a table and its budget, and lets nothing out but releases.

    Parameters
    ----------
    table
        Encoded rows.
    domain
        The public domain the rows were encoded by.
    budget
        What may be spent. Charges are booked before a statistic is evaluated, and stay booked if that fails.
    noise
        Where noise comes from. Only tests pass anything else than the exact samplers; what they get is
        stamped as not private.
    """

    def __init__(self, table: Recodable, domain: Domain, budget: Budget, *, noise: Noise | None = None) -> None:
        if table.rows != domain.rows:
            raise RoomError("rows: the table does not have the declared number of rows")
        check_guarantee(budget.epsilon, budget.delta, domain.rows)
        self._table = table
        self._noise = noise or ExactNoise()
        self.domain = domain
        self.budget = budget

    def release(self, statistic: S, mechanism: Mechanism) -> Release[S]:
        """Charge, evaluate, blur.

        Raises
        ------
        BudgetError
            If the budget refuses. Nothing was evaluated and nothing was charged.
        RoomError
            If the statistic failed. Its charge stays booked; why it failed is not told, since that may
            depend on data.
        """
        for column in statistic.columns:
            self.domain[column]  # an undeclared column is refused before anything is charged
        cost = mechanism.cost(statistic.sensitivity(self.domain))
        price = self.budget.charge(cost, statistic=statistic.name, mechanism=mechanism.name)
        blurred = self._blurred(statistic, mechanism)
        if blurred is None:
            raise RoomError(f"{statistic.name} failed; its charge stays booked")
        return Release(statistic, mechanism, blurred, price, self._noise.private)

    def settled(self, edges: Mapping[str, Sequence[float]]) -> Room:
        """Return a room with the same rows and the same budget in which bins at quantiles have these public edges.

        Edges come from a release or are public otherwise; the domain refuses those that are not on its grid.
        """
        domain = self.domain.settled(edges)
        return Room(coarsened(self._table, self.domain, domain), domain, self.budget, noise=self._noise)

    def _blurred(self, statistic: Statistic, mechanism: Mechanism) -> IntArray | None:
        """Evaluate and blur; None if that failed. The exact value lives in this frame only, which never raises."""
        try:
            exact = statistic.evaluate(_View(self._table, statistic.columns))
            return mechanism.blur(exact, self._noise)
        except Exception:  # noqa: BLE001 - the cause may quote data
            return None
