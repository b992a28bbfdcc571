"""A session: one run from what is asked to what is handed out.

Checked, reserved in a ledger, rows loaded and shut into a room, run, committed, and only then handed out. Whatever asks
something of a custodian's rows goes through here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Generic, Protocol, Self, TypeVar

from discreet.data.load import Reading, load
from discreet.domain import UNIT, Domain
from discreet.errors import AnsweredError, DoubtWarning, SettingError
from discreet.ledger.account import Account, Run
from discreet.ledger.entries import canonical, digest
from discreet.ledger.records import Asked
from discreet.methods.power import warn_of_weak
from discreet.privacy.accounting import DELTA, Currency, check_guarantee, delta_for
from discreet.privacy.budget import Budget
from discreet.privacy.statement import Privacy, Stamp
from discreet.progress import READ, WHOLE, Progress, tell
from discreet.room import Room


class Handed(Protocol):
    """What is handed out: it carries a privacy statement, and is written as JSON."""

    @property
    def privacy(self) -> Privacy:
        """The privacy statement."""

    def to_json(self) -> str:
        """Return all of it."""

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read it back."""


H = TypeVar("H", bound=Handed)


@dataclass(frozen=True, kw_only=True)
class Request(Generic[H]):
    """What is asked of a table, from public facts alone.

    Parameters
    ----------
    command, method
        What kind of question it is, and how it is answered.
    epsilon, delta
        The total promise.
    domain
        The domain as it was declared.
    public
        All else that decides the answer: the same request, asked again, is known by it.
    result
        What is handed out.
    encode
        Refuses what cannot be asked with a budget, and returns the domain that rows are encoded by.
    run
        Asks a room with all that is left of its budget.
    currency
        In which costs add up best; by default Gaussian accounting.
    looks_at_rows
        What looks at rows, not at counts alone; None if nothing does.
    """

    command: str
    method: str
    epsilon: float
    delta: float
    domain: Domain
    public: Mapping[str, Any]
    result: type[H]
    encode: Callable[[Budget], Domain]
    run: Callable[[Room], H]
    currency: Currency | None = None
    looks_at_rows: str | None = None

    def asked(self) -> Asked:
        """Return what a ledger notes of it, with a hash of all that decides it."""
        everything = {"domain": self.domain.to_dict(), **self.public}
        return asked(self.command, self.method, self.epsilon, self.delta, everything, self.domain.protects)


@dataclass(frozen=True, kw_only=True)
class Session:
    """Where requests are answered and recorded.

    Parameters
    ----------
    account
        Where runs are recorded, and what limits them: an ``Account``, or a data set's name in the user's own ledger.
    engine_pull
        Whether rows of a server are loaded as codes for what looks at rows.
    progress
        Called with a line of words at each step.
    """

    account: Account | str | None = None
    engine_pull: bool = False
    progress: Progress | None = None

    def answer(self, data: object, request: Request[H]) -> H:
        """Answer a request; if another process answers the same meanwhile, its release is shown."""
        if not (self.progress is None or callable(self.progress)):
            raise SettingError("progress: Bar(), or a function that takes a line of words")
        check_guarantee(request.epsilon, request.delta, request.domain.rows)
        warn_of_weak(request.epsilon)
        found, ended = None, "broken off"
        try:
            with suppress(AnsweredError):
                found = self._answer(data, request)
            if found is None:
                found = self._answer(data, request)
            ended = "finished"
        finally:
            tell(self.progress, ended, WHOLE.end)
        return found

    def _answer(self, data: object, request: Request[H]) -> H:
        run = self._start(request)
        if run is not None and run.stored is not None:
            when = run.stored.when
            tell(
                self.progress, f"this request was answered at {when}: its release is shown again, and nothing is spent"
            )
            return with_stamp(request.result.from_json(run.stored.body), run.stored.stamp)

        def make(currency: Currency | None, reserve: Callable[[Budget], None] | None) -> Budget:
            return Budget(
                epsilon=request.epsilon,
                delta=request.delta,
                currency=currency or request.currency,
                group=request.domain.group,
                reserve=reserve,
            )

        budget = make(None, None) if run is None else run.budget(make)
        domain = request.encode(budget)
        tell(self.progress, f"reading and encoding the table ({request.command}, {request.method})", READ.at())
        reading = Reading(pull=self.engine_pull, progress=self.progress, doubt=_warn_custodian)
        seen = None if run is None else run.note_rows
        table = load(data, domain, seen=seen, rows=request.looks_at_rows, reading=reading)
        found = request.run(Room(table, domain, budget))
        return found if run is None else with_stamp(found, run.commit(found.to_json(), budget))

    def _start(self, request: Request[H]) -> Run | None:
        account = Account(self.account) if isinstance(self.account, str) else self.account
        if not isinstance(account, Account | None):
            raise SettingError("account: an Account, or the name of a data set")
        return None if account is None else account.start(request.asked())


def promised_delta(delta: float | None, rows: int, progress: Progress | None) -> float:
    """Return the delta that was named, or the one for so many rows; that it is not the usual one is said."""
    if delta is not None:
        return delta
    chosen = delta_for(rows)
    if chosen != DELTA:
        tell(progress, f"delta {chosen:g}, since {rows:,} rows need one well below 1/rows; `delta` names another")
    return chosen


def _warn_custodian(words: str) -> None:
    """Warn the custodian of what was met in the rows. Never part of a release."""
    warnings.warn(words, DoubtWarning, stacklevel=4)


def with_stamp(found: H, stamp: Stamp) -> H:
    """Return a release with its place in the ledger."""
    return replace(found, privacy=replace(found.privacy, ledger=stamp))  # type: ignore[type-var]


def asked(
    command: str, method: str, epsilon: float, delta: float, parameters: Mapping[str, Any], protects: str = UNIT
) -> Asked:
    """Return what a run asks for, with a hash of all that decides it."""
    return Asked(command, method, float(epsilon), float(delta), digest(canonical(_plain(parameters))), protects)


def _plain(value: Any) -> Any:
    """Return plain data in which equal numbers read the same."""
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Real) and not isinstance(value, bool):
        return float(value)
    return value
