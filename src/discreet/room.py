"""The room: the only holder of rows. A statistic and a mechanism go in, a release comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import TypeVar

import numpy as np

from discreet.arrays import IntArray
from discreet.data import Recodable
from discreet.data.memory import coarsen
from discreet.domain import Domain
from discreet.errors import RoomError, TableError
from discreet.privacy.accounting import check_guarantee
from discreet.privacy.budget import Budget, Entry
from discreet.privacy.mechanisms import Mechanism
from discreet.privacy.mechanisms.sparse_vector import AboveThreshold
from discreet.privacy.noise import ExactNoise, Noise
from discreet.release.release import Release
from discreet.sealed import Sealed
from discreet.statistics import Sensitivity, Statistic, Table, Weight

S = TypeVar("S", bound=Statistic)
T = TypeVar("T")

FAILED = "{} failed; its charge stays booked. Why may depend on data, and is not told; the log of a server may say it"
"""Said of whatever fails once it is paid for: the same words whatever the cause."""

AHEAD, MOST_AHEAD = 8, 1024
"""Noise of so many questions is drawn at once, then of twice as many, up to the second. It does not depend on them."""


class _View(Sealed):
    """A table in which only the named columns exist, and rows stand in an order that is drawn when one is looked at."""

    def __init__(self, table: Table, columns: Sequence[str], draw: Callable[[int], IntArray]) -> None:
        self._table = table
        self._columns = frozenset(columns)
        self._draw = draw
        self._order: IntArray | None = None

    @property
    def rows(self) -> int:
        return self._table.rows

    def counts(self, sets: Sequence[tuple[str, ...]]) -> list[IntArray]:
        self._check(sets)
        return self._table.counts(sets)

    def weighted(self, sets: Sequence[tuple[str, ...]], weight: Weight) -> list[IntArray]:
        self._check([*sets, tuple(weight.loads)])
        return self._table.weighted(sets, weight)

    def sums(self, sets: Sequence[tuple[str, ...]]) -> list[int]:
        self._check(sets)
        return self._table.sums(sets)

    def values(self, columns: Sequence[str]) -> list[IntArray]:
        self._check([tuple(columns)])
        if self._order is None:
            self._order = self._draw(self._table.rows)
        return [column[self._order] for column in self._table.values(columns)]

    def _check(self, sets: Sequence[tuple[str, ...]]) -> None:
        if not self._columns.issuperset(c for s in sets for c in s):
            raise RoomError("a statistic asked for a column that it did not name")


class _Ahead(Sealed):
    """Noise of one kind, drawn for several questions at once; each number is handed out once."""

    def __init__(self, mechanism: AboveThreshold, scale: float) -> None:
        self._mechanism = mechanism
        self._scale = scale
        self._drawn: list[int] = []
        self._size = AHEAD
        self._lock = Lock()

    def pop(self, noise: Noise) -> int:
        self.refuse_copies()
        with self._lock:
            if not self._drawn:
                self._drawn = self._mechanism.draw(noise, self._scale, self._size).tolist()
                self._size = min(2 * self._size, MOST_AHEAD)
            return self._drawn.pop()


def _guard(work: Callable[[], T]) -> T | None:
    """Do what meets exact values; None if it fails. What breaks it off is raised anew, without the frames of it."""
    try:
        return work()
    except Exception:  # noqa: BLE001 - the cause may quote data
        return None
    except BaseException as error:  # noqa: BLE001 - raised below
        kind = type(error)
    raise kind("broken off; what was charged stays booked")


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
        if budget.group != domain.group:
            raise RoomError(
                f"budget: it protects {budget.group} rows at once, the domain keeps {domain.group} of a person; make "
                "it with group=domain.group"
            )
        check_guarantee(budget.epsilon, budget.delta, domain.rows)
        self._table = table
        self._noise = noise or ExactNoise()
        self._ahead: dict[tuple[AboveThreshold, float], _Ahead] = {}
        self.domain = domain
        self.budget = budget

    @property
    def private(self) -> bool:
        """Whether nobody can predict the noise."""
        return self._noise.private

    def release(self, statistic: S, mechanism: Mechanism) -> Release[S]:
        """Charge, evaluate, blur.

        Raises
        ------
        BudgetError
            If the budget refuses. Nothing was evaluated and nothing was charged.
        RoomError
            If the statistic failed. Its charge stays booked; why it failed is not told, since that may depend on data.
        """
        for column in statistic.columns:
            self.domain[column]  # an undeclared column is refused before anything is charged
        cost = mechanism.cost(statistic.sensitivity(self.domain))
        price = self.budget.charge(cost, statistic=statistic.name, mechanism=mechanism.name)
        blurred = self._blurred(statistic, mechanism)
        if blurred is None:
            raise RoomError(FAILED.format(statistic.name))
        return Release(statistic, mechanism, blurred, price, self._noise.private)

    def open(self, mechanism: AboveThreshold, sensitivity: Sensitivity, *, purpose: str) -> Gate:
        """Charge for a gate, and open it: questions are answered until it has let enough of them pass.

        Parameters
        ----------
        mechanism
            Noise, number of passes, and whether a sample is asked.
        sensitivity
            What a row may move any number that will be asked, at the number of rows that are asked.
        purpose
            What will be asked, for the budget's entry. Public.

        Raises
        ------
        BudgetError
            If the budget refuses. Nothing was evaluated and nothing was charged.
        """
        self.check_gate(mechanism)
        price = self.budget.charge(mechanism.cost(sensitivity), statistic=purpose, mechanism=mechanism.name)
        gate = _guard(lambda: Gate(self, mechanism, sensitivity, price))
        if gate is None:
            raise RoomError(FAILED.format(purpose))
        return gate

    def check_gate(self, mechanism: AboveThreshold) -> None:
        """Refuse a gate that could not be opened here: it samples from other rows, or rows that cannot be sampled."""
        if mechanism.rows not in (None, self.domain.rows):
            raise RoomError("gate: the mechanism samples from another number of rows")
        if mechanism.sample is not None and not self._table.sampled:
            raise TableError("gate: a method that samples rows needs them in memory; engine-pull loads them")

    def settle(self, edges: Mapping[str, Sequence[float]]) -> Room:
        """Return a room with the same rows and the same budget in which bins at quantiles have these public edges.

        Edges come from a release or are public otherwise; the domain refuses those that are not on its grid.
        """
        domain = self.domain.settle(edges)
        return Room(coarsen(self._table, self.domain, domain), domain, self.budget, noise=self._noise)

    def _evaluated(self, statistic: Statistic, table: Table) -> IntArray:
        """Evaluate a statistic; whoever looks at rows gets them in a fresh secret order.

        What is replaced is a row of a set of rows: in a file that is sorted, others move with it. With a secret order
        that does not matter, since the orders of neighbouring tables are equally likely.
        """
        with np.errstate(all="ignore"):
            return statistic.evaluate(_View(table, statistic.columns, self._ordered))

    def _blurred(self, statistic: Statistic, mechanism: Mechanism) -> IntArray | None:
        """Evaluate and blur; None if that failed."""
        return _guard(lambda: mechanism.blur(self._evaluated(statistic, self._table), self._noise))

    def _fresh(self, mechanism: AboveThreshold, scale: float) -> int:
        """Return noise of a gate that was never used before."""
        return self._ahead.setdefault((mechanism, scale), _Ahead(mechanism, scale)).pop(self._noise)

    def _chosen(self, size: int) -> IntArray:
        """Draw which rows are in a sample."""
        return self._noise.subset(size, self.domain.rows)

    def _ordered(self, rows: int) -> IntArray:
        """Draw an order of rows."""
        return self._noise.order(rows)

    def _passes(self, gate: Gate, statistic: Statistic, threshold: int) -> bool | None:
        """Evaluate and compare; None if that failed."""

        def compare() -> bool:
            exact = self._evaluated(statistic, gate._table)
            fresh = self._fresh(gate._mechanism, gate._mechanism.question_scale)
            return bool(int(exact[0]) + fresh >= threshold + gate._threshold)

        return _guard(compare)


class Gate(Sealed):
    """A stream of questions with one noisy threshold: each is let pass or not, and nothing else is told.

    Only a room opens one. It closes when as many questions have passed as were paid for, or when anything else is
    charged to the same budget: what is asked in between would be interleaved with it.
    """

    def __init__(self, room: Room, mechanism: AboveThreshold, sensitivity: Sensitivity, price: Entry) -> None:
        self._room = room
        self._mechanism = mechanism
        self.sensitivity = sensitivity
        self._left = mechanism.passes
        self._price = price
        self._lock = Lock()
        self._threshold = room._fresh(mechanism, mechanism.threshold_scale)
        self._table = room._table
        self.domain = room.domain
        if mechanism.sample is not None:
            self._table = room._table.take(room._chosen(mechanism.sample))
            self.domain = room.domain.with_rows(mechanism.sample)

    @property
    def open(self) -> bool:
        """Whether it still answers."""
        return self._left > 0 and self._room.budget.entries[-1] is self._price

    def passes(self, statistic: Statistic, threshold: int) -> bool:
        """Say whether a number, with its noise, lies at or above a threshold with its noise.

        Raises
        ------
        RoomError
            If the gate is closed, a row moves the number further than was paid for, or the statistic failed.
        """
        self.refuse_copies()
        if self._mechanism.sample is not None and not getattr(statistic, "symmetric", True):
            raise RoomError(f"gate: {statistic.name} depends on the order of rows, and cannot be asked of a sample")
        moved = statistic.sensitivity(self.domain).largest
        if moved is None or moved > (self.sensitivity.largest or 0):
            raise RoomError(f"gate: a row may move {statistic.name} further than was paid for")
        with self._lock:
            if not self.open:
                raise RoomError("gate: it is closed; what was paid for is used up, or something else was asked since")
            left, self._left = self._left, 0  # a failure is an answer, and the last one; so is an interruption
            passed = self._room._passes(self, statistic, threshold + self._mechanism.shift)
            if passed is None:
                raise RoomError(FAILED.format(statistic.name))
            self._left = left - passed
        return passed
