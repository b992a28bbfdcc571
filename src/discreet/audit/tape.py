"""Recording: all that passes the room's door while a method runs, and the same answers handed out again.

What was asked and what came out are compared in a plain form: by kind, order and value, not by what an object says.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from fractions import Fraction
from functools import cached_property
from io import StringIO
from threading import Lock
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any
from unittest.mock import patch
from warnings import catch_warnings, simplefilter

import numpy as np

from discreet.arrays import IntArray
from discreet.audit import table_of, words_of
from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Budget, Cost
from discreet.privacy.mechanisms import Mechanism
from discreet.privacy.mechanisms.sparse_vector import AboveThreshold
from discreet.privacy.noise import ExactNoise, Noise
from discreet.room import Gate, Room
from discreet.statistics import Sensitivity, Statistic, Table

DEEP = 40
"""Things within things beyond this are not looked into."""

_SIMPLE = (bool, int, float, complex, str, bytes, type(None))
_NAMED = (type, ModuleType, FunctionType, BuiltinFunctionType)

_ONE_AT_A_TIME = Lock()

Blurs = Mechanism | AboveThreshold


def plain(thing: object, depth: int = 0) -> object:
    """Return a thing as nested tuples of names and representations.

    Two runs of a method that saw the same answers must return things with equal plain forms. Fields count whether or
    not an object compares them; the order of a dictionary counts; a number that is none (NaN) equals itself.
    """
    if isinstance(thing, _SIMPLE):
        return type(thing).__name__, repr(thing)
    if depth > DEEP:
        return "..."
    kind = type(thing).__qualname__
    deeper = depth + 1
    if isinstance(thing, np.ndarray):
        return kind, str(thing.dtype), thing.shape, tuple(plain(part, deeper) for part in thing.ravel().tolist())
    if isinstance(thing, Mapping):
        return kind, tuple((plain(key, deeper), plain(value, deeper)) for key, value in thing.items())
    if isinstance(thing, Set | list | tuple):
        parts = [plain(part, deeper) for part in thing]
        return kind, tuple(sorted(parts, key=repr) if isinstance(thing, Set) else parts)
    return kind, _inside(thing, depth)


def _inside(thing: object, depth: int) -> object:
    """Return what makes up an object that is no collection."""
    if isinstance(thing, _NAMED):
        return getattr(thing, "__qualname__", repr(thing))
    if isinstance(thing, Enum):
        return thing.name
    if isinstance(thing, MethodType):
        return thing.__qualname__, plain(thing.__self__, depth + 1)
    if is_dataclass(thing):
        return tuple((f.name, plain(getattr(thing, f.name), depth + 1)) for f in fields(thing))
    if hasattr(thing, "__dict__") and type(thing).__module__ != "builtins":
        return plain(vars(thing), depth + 1)
    return words_of(thing)


@dataclass(frozen=True)
class Asked:
    """One question: what was asked of which room, the exact value and the answer that was handed out.

    A gate is one question with a price when it is opened, and one without for each number that is asked of it.
    """

    statistic: Statistic
    mechanism: Blurs
    domain: Domain
    budget: Budget
    exact: IntArray | None
    answer: IntArray | None
    threshold: int | None = None
    """Where a gate was asked for a number: its public threshold."""
    gate: int | None = None
    """The place at which the gate that is opened or asked was opened; None if there is none."""

    def same(self, other: Asked) -> bool:
        """Whether another question is the same, whatever its parts say of themselves."""
        return self.form == other.form

    @cached_property
    def form(self) -> object:
        """The question in plain form: the statistic, the mechanism, the domain, and what it costs."""
        return plain((self.statistic, self.mechanism, self.domain, self.threshold, self.gate, cost_of(self).amounts))

    @property
    def words(self) -> str:
        """What was asked."""
        return f"{self.statistic.name}, {self.mechanism.name}"


@dataclass(frozen=True)
class Opening:
    """A gate that was opened: what a row may move any number that will be asked of it. Has no value of its own."""

    declared: Sensitivity

    @property
    def name(self) -> str:
        """What it is."""
        return "a gate"

    @property
    def columns(self) -> tuple[str, ...]:
        """None yet."""
        return ()

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return what was declared."""
        return self.declared

    def evaluate(self, table: Table) -> IntArray:
        """Return nothing."""
        return np.zeros(0, dtype=np.int64)


class _Heard:
    """Stands in for a statistic: notes the exact value."""

    def __init__(self, statistic: Statistic) -> None:
        self._statistic = statistic
        self.name, self.columns = statistic.name, statistic.columns
        self.symmetric = getattr(statistic, "symmetric", True)
        self.exact: IntArray | None = None

    def sensitivity(self, domain: Domain) -> Sensitivity:
        return self._statistic.sensitivity(domain)

    def evaluate(self, table: Table) -> IntArray:
        self.exact = self._statistic.evaluate(table)
        return self.exact.copy()


@dataclass
class Tape:
    """All that a run asked, what it returned, and what else it showed. Holds exact values: of made-up rows."""

    asked: list[Asked] = field(default_factory=list)
    result: object = None
    error: str | None = None
    said: tuple[str, ...] = ()
    samples: list[IntArray] = field(default_factory=list)
    """Rows of the samples that were drawn; a replay is about the same ones."""
    orders: list[IntArray] = field(default_factory=list)
    """Orders of rows that were drawn."""
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


class _Watch:
    """What stands at the room's door while a method runs: notes, and hands out earlier answers as long as they fit."""

    def __init__(self, tape: Tape, before: Tape | None) -> None:
        self.tape, self.before = tape, before
        self.gates: dict[int, int] = {}
        self.kept: list[Gate] = []
        self.real = {
            name: getattr(Room, name) for name in ("__init__", "_blurred", "_passes", "_chosen", "_ordered", "open")
        }

    def at(self, name: str) -> Callable[..., Any]:
        """Return what stands in for a method of the room: a function, since a bound method would miss the room."""
        stands_in = getattr(self, "made" if name == "__init__" else name.removeprefix("_"))

        def door(room: Room, *args: Any, **kwargs: Any) -> Any:
            return stands_in(room, *args, **kwargs)

        return door

    def made(self, room: Room, *args: Any, **kwargs: Any) -> None:
        self.tape.strange |= type(room) is not Room
        self.real["__init__"](room, *args, **kwargs)

    def _earlier(self, now: Asked) -> Asked | None:
        """Return the same question of the run before, if it was asked at this place."""
        place = len(self.tape.asked)
        earlier = self.before.asked[place] if self.before is not None and place < len(self.before.asked) else None
        return earlier if earlier is not None and earlier.same(now) else None

    def blurred(self, room: Room, statistic: Statistic, mechanism: Mechanism) -> IntArray | None:
        now = Asked(statistic, mechanism, room.domain, room.budget, None, None)
        earlier = self._earlier(now)
        tap = _Tap(mechanism, None if earlier is None else earlier.answer)
        answer: IntArray | None = self.real["_blurred"](room, statistic, tap)
        self.tape.asked.append(replace(now, exact=tap.exact, answer=None if answer is None else answer.copy()))
        return answer

    def open(self, room: Room, mechanism: AboveThreshold, sensitivity: Sensitivity, *, purpose: str) -> Gate:
        gate: Gate = self.real["open"](room, mechanism, sensitivity, purpose=purpose)
        place = self.gates[id(gate)] = len(self.tape.asked)
        self.kept.append(gate)
        now = Asked(Opening(sensitivity), mechanism, room.domain, room.budget, None, None, gate=place)
        self.tape.asked.append(now)
        return gate

    def passes(self, room: Room, gate: Gate, statistic: Statistic, threshold: int) -> bool | None:
        now = Asked(statistic, gate._mechanism, gate.domain, room.budget, None, None, threshold)
        now = replace(now, gate=self.gates.get(id(gate)))
        earlier, heard = self._earlier(now), _Heard(statistic)
        answer: bool | None = self.real["_passes"](room, gate, heard, threshold)
        if answer is not None and earlier is not None and earlier.answer is not None:
            answer = bool(earlier.answer[0])
        kept = None if answer is None else np.array([answer], dtype=np.int64)
        self.tape.asked.append(replace(now, exact=heard.exact, answer=kept))
        return answer

    def chosen(self, room: Room, size: int) -> IntArray:
        return self._again("samples", self.real["_chosen"](room, size))

    def ordered(self, room: Room, rows: int) -> IntArray:
        return self._again("orders", self.real["_ordered"](room, rows))

    def _again(self, kind: str, drawn: IntArray) -> IntArray:
        """Hand out what was drawn at this place before, if it fits."""
        kept: list[IntArray] = getattr(self.tape, kind)
        earlier: list[IntArray] = [] if self.before is None else getattr(self.before, kind)
        place = len(kept)
        if place < len(earlier) and len(earlier[place]) == len(drawn):
            drawn = earlier[place]
        kept.append(drawn)
        return drawn.copy()


@contextmanager
def _watched(tape: Tape, before: Tape | None) -> Iterator[None]:
    """Note what passes the door; as long as questions are those of a run before, hand out its answers."""
    if not _ONE_AT_A_TIME.acquire(blocking=False):
        raise SettingError("replay: one run is watched at a time")
    try:
        watch = _Watch(tape, before)
        with ExitStack() as doors:
            for name in watch.real:
                doors.enter_context(patch.object(Room, name, watch.at(name)))
            yield
    finally:
        _ONE_AT_A_TIME.release()


class _Logged(logging.Handler):
    """Notes all that is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@contextmanager
def _logged() -> Iterator[list[str]]:
    """Note all that the library logs, however low its level."""
    handler, log = _Logged(), logging.getLogger("discreet")
    before = log.level
    log.setLevel(logging.DEBUG)
    log.addHandler(handler)
    try:
        yield handler.lines
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


def record(run: Callable[[IntArray], object], rows: IntArray, before: Tape | None = None) -> Tape:
    """Run a method on rows and note all that it asks and shows; with ``before``, hand out an earlier run's answers."""
    tape, printed = Tape(), StringIO()
    result: object = None
    with (
        _watched(tape, before),
        redirect_stdout(printed),
        redirect_stderr(printed),
        catch_warnings(record=True) as told,
        _logged() as logged,
    ):
        simplefilter("always")
        try:
            result = run(rows.copy())
        except (Exception, SystemExit) as error:  # noqa: BLE001 - an error is a result like any other
            tape.error = f"{type(error).__name__}: {error} ({error.__cause__!r})"
    tape.result = plain(result)
    tape.said = (printed.getvalue(), *(str(warning.message) for warning in told), *logged)
    return tape


def exact_value(statistic: Statistic, rows: IntArray, domain: Domain) -> IntArray:
    """Return what the room would compute before it blurs; for made-up rows."""
    room = Room(table_of(rows, domain), domain, Budget(epsilon=1, delta=0), noise=_InPlace())
    exact = room._blurred(statistic, _AsItIs())
    if exact is None:
        raise SettingError(f"{statistic.name}: not defined for every table, which is a violation in itself")
    return exact


class _InPlace(ExactNoise):
    """Leaves rows where they are: neighbours are compared in the same order."""

    def order(self, of: int) -> IntArray:
        return np.arange(of)


class _AsItIs:
    """No noise at all."""

    name = "none"

    def cost(self, sensitivity: Sensitivity) -> Cost:
        raise SettingError("an exact value has no price")

    def blur(self, exact: IntArray, noise: Noise) -> IntArray:
        return exact


def cost_of(asked: Asked) -> Cost:
    """Return what a question costs at its declared sensitivity; a number asked of a gate was paid with it."""
    if asked.threshold is not None:
        return Cost(dict.fromkeys(Currency, Fraction(0)))
    return asked.mechanism.cost(asked.statistic.sensitivity(asked.domain))
