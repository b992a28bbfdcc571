"""How a run is recorded: reserved before anything is evaluated, committed before anything is handed out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from numbers import Real
from typing import Any, ParamSpec, Protocol, Self, TypeVar

from discreet.discovery import Privacy
from discreet.domain import UNIT
from discreet.errors import AnsweredError, DoubtWarning, SettingError
from discreet.ledger.accounts import Account, Run
from discreet.ledger.entries import Stamp, canonical, digest
from discreet.ledger.records import Asked
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Budget
from discreet.search.pc import Progress


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
P = ParamSpec("P")
Reserve = Callable[[Budget], None]
Make = Callable[[Currency | None, Reserve | None], Budget]


def once_more(run: Callable[P, H]) -> Callable[P, H]:
    """Ask again where the same request was answered meanwhile by another process: that shows its release."""

    @wraps(run)
    def asked_again(*args: P.args, **kwargs: P.kwargs) -> H:
        try:
            return run(*args, **kwargs)
        except AnsweredError:
            pass
        return run(*args, **kwargs)

    return asked_again


class Recorder:
    """The record of one run; without an account there is none."""

    def __init__(self, account: Account | str | None, asked: Callable[[], Asked]) -> None:
        if isinstance(account, str):
            account = Account(account)
        elif not isinstance(account, Account | None):
            raise SettingError("account: an Account, or the name of a data set")
        self._run: Run | None = None if account is None else account.start(asked())
        self._budget: Budget | None = None

    def stored(self, kind: type[H], progress: Progress | None) -> H | None:
        """Return the release that the same request got before."""
        if self._run is None or self._run.stored is None:
            return None
        stored = self._run.stored
        if progress is not None:
            progress(f"this request was answered at {stored.when}: its release is shown again, and nothing is spent")
        return stamped(kind.from_json(stored.body), stored.stamp)

    def budget(self, make: Make) -> Budget:
        """Return the run's budget; its first charge reserves all of it."""
        self._budget = make(None, None) if self._run is None else self._run.budget(make)
        return self._budget

    @property
    def seen(self) -> Callable[[bytes], None] | None:
        """What wants to know which rows these are."""
        return None if self._run is None else self._run.seen

    @staticmethod
    def doubt(words: str) -> None:
        """Warn the custodian of what was met in the rows. Never part of a release."""
        warnings.warn(words, DoubtWarning, stacklevel=4)

    def finished(self, found: H) -> H:
        """Commit a release, and return it with its place in the ledger."""
        if self._run is None or self._budget is None:
            return found
        return stamped(found, self._run.commit(found.to_json(), self._budget))


def stamped(found: H, stamp: Stamp) -> H:
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
