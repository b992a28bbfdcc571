"""Recording: all that passes the room's door while a method runs, and the same answers handed out again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cached_property
from io import StringIO
from threading import Lock
from typing import Any
from unittest.mock import patch
from warnings import catch_warnings, simplefilter

import numpy as np

from discreet.arrays import IntArray
from discreet.audit import table_of
from discreet.audit.plain import plain
from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.mechanisms import Mechanism
from discreet.privacy.budget import Budget, Cost
from discreet.privacy.noise import Noise
from discreet.room import Room
from discreet.statistics import Sensitivity, Statistic

_ONE_AT_A_TIME = Lock()


@dataclass(frozen=True)
class Asked:
    """One question: what was asked of which room, the exact value and the answer that was handed out."""

    statistic: Statistic
    mechanism: Mechanism
    domain: Domain
    budget: Budget
    exact: IntArray | None
    answer: IntArray | None

    def same(self, other: Asked) -> bool:
        """Whether another question is the same, whatever its parts say of themselves."""
        return self.form == other.form

    @cached_property
    def form(self) -> object:
        """The question in plain form: the statistic, the mechanism, the domain, and what it costs."""
        return plain((self.statistic, self.mechanism, self.domain, cost_of(self).amounts))

    @property
    def words(self) -> str:
        """What was asked."""
        return f"{self.statistic.name}, {self.mechanism.name}"


@dataclass
class Tape:
    """All that a run asked, what it returned, and what else it showed. Holds exact values: of made-up rows."""

    asked: list[Asked] = field(default_factory=list)
    result: object = None
    error: str | None = None
    said: tuple[str, ...] = ()
    strange: bool = False
    """Whether a room was not a plain one: what passes its door was not seen."""


class _Tap:
    """Stands in for a mechanism: notes the exact value, and answers as the mechanism would or as it did before."""

    def __init__(self, mechanism: Mechanism, answer: IntArray | None) -> None:
        self._mechanism = mechanism
        self._answer = answer
        self.exact: IntArray | None = None

    @property
    def name(self) -> str:
        return self._mechanism.name

    def cost(self, sensitivity: Sensitivity) -> Cost:
        return self._mechanism.cost(sensitivity)

    def blur(self, exact: IntArray, noise: Noise) -> IntArray:
        self.exact = exact.copy()
        fresh = self._mechanism.blur(exact, noise)  # also where its answer is not used: it may fail
        return fresh if self._answer is None else self._answer.copy()


@contextmanager
def _watched(tape: Tape, before: Tape | None) -> Iterator[None]:
    """Note what passes the door; as long as questions are those of a run before, hand out its answers."""
    blurred, made = Room._blurred, Room.__init__

    def noted(room: Room, statistic: Statistic, mechanism: Mechanism) -> IntArray | None:
        place = len(tape.asked)
        earlier = before.asked[place] if before is not None and place < len(before.asked) else None
        now = Asked(statistic, mechanism, room.domain, room.budget, None, None)
        tap = _Tap(mechanism, earlier.answer if earlier is not None and earlier.same(now) else None)
        answer = blurred(room, statistic, tap)
        kept = None if answer is None else answer.copy()
        tape.asked.append(Asked(statistic, mechanism, room.domain, room.budget, tap.exact, kept))
        return answer

    def opened(room: Room, *args: Any, **kwargs: Any) -> None:
        tape.strange |= type(room) is not Room
        made(room, *args, **kwargs)

    if not _ONE_AT_A_TIME.acquire(blocking=False):
        raise SettingError("replay: one run is watched at a time")
    try:
        with patch.object(Room, "_blurred", noted), patch.object(Room, "__init__", opened):
            yield
    finally:
        _ONE_AT_A_TIME.release()


def record(run: Callable[[IntArray], object], rows: IntArray, before: Tape | None = None) -> Tape:
    """Run a method on rows and note all that it asks and shows; with ``before``, hand out an earlier run's answers."""
    tape, printed = Tape(), StringIO()
    result: object = None
    with (
        _watched(tape, before),
        redirect_stdout(printed),
        redirect_stderr(printed),
        catch_warnings(record=True) as told,
    ):
        simplefilter("always")
        try:
            result = run(rows.copy())
        except (Exception, SystemExit) as error:  # noqa: BLE001 - an error is a result like any other
            tape.error = f"{type(error).__name__}: {error} ({error.__cause__!r})"
    tape.result = plain(result)
    tape.said = (printed.getvalue(), *(str(warning.message) for warning in told))
    return tape


def exact_value(statistic: Statistic, rows: IntArray, domain: Domain) -> IntArray:
    """Return what the room would compute before it blurs; for made-up rows."""
    tap = _Tap(_NoAnswer(), np.zeros(0, dtype=np.int64))
    Room(table_of(rows, domain), domain, Budget(epsilon=1, delta=0))._blurred(statistic, tap)
    if tap.exact is None:
        raise SettingError(f"{statistic.name}: not defined for every table, which is a violation in itself")
    return tap.exact


class _NoAnswer:
    """A mechanism that is never used."""

    name = "none"

    def cost(self, sensitivity: Sensitivity) -> Cost:
        raise NotImplementedError

    def blur(self, exact: IntArray, noise: Noise) -> IntArray:
        raise NotImplementedError


def cost_of(asked: Asked) -> Cost:
    """Return what a question costs at its declared sensitivity."""
    return asked.mechanism.cost(asked.statistic.sensitivity(asked.domain))
