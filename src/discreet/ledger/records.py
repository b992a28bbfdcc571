"""What is asked of a ledger and read from it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from discreet.errors import LedgerError, SettingError
from discreet.ledger.entries import BEFORE_ALL, Entry, Stamp
from discreet.ledger.prices import Limit, Price


@dataclass(frozen=True)
class Asked:
    """What a run asks for. Public facts only.

    Parameters
    ----------
    command, method
        What is run.
    epsilon, delta
        The run's own promise.
    parameters
        Hash of everything that decides what is asked.
    """

    command: str
    method: str
    epsilon: float
    delta: float
    parameters: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return dict(vars(self))


@dataclass(frozen=True)
class Standing:
    """Where a data set stands: who owns it, its limit, and what is spent; or under which name it is counted now."""

    dataset: str
    owner: str
    limit: Limit | None
    spent: Price
    runs: int
    into: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        limit = None if self.limit is None else self.limit.to_dict()
        known = {"owner": self.owner, "limit": limit, "spent": self.spent.to_dict(), "runs": self.runs}
        return known if self.into is None else {**known, "into": self.into}

    @classmethod
    def of(cls, entry: Entry) -> Standing:
        """Read it off the last entry of a data set."""
        try:
            data = entry.facts["standing"]
            limit = None if data["limit"] is None else Limit.from_dict(data["limit"])
            spent, into = Price.from_dict(data["spent"]), data.get("into")
            return cls(entry.dataset, str(data["owner"]), limit, spent, int(data["runs"]), into)
        except (KeyError, TypeError, ValueError, SettingError):
            raise LedgerError("the ledger holds an entry that cannot be read: `discreet ledger verify` tells") from None


@dataclass(frozen=True)
class Stored:
    """A release as it was committed."""

    body: str
    stamp: Stamp
    when: str

    def stamped(self) -> str:
        """Return the release with its place in the ledger."""
        data = json.loads(self.body)
        data["privacy"]["ledger"] = vars(self.stamp)
        return json.dumps(data, ensure_ascii=False, allow_nan=False)


@dataclass(frozen=True)
class Book:
    """Everything that is recorded, and where every data set stands."""

    entries: tuple[Entry, ...]
    standings: Mapping[str, Standing]

    @property
    def identity(self) -> str:
        """What tells the ledger from others."""
        return str(self.entries[0].facts.get("ledger")) if self.entries else ""

    @property
    def head(self) -> str:
        """Hash of the last entry."""
        return self.entries[-1].hash if self.entries else BEFORE_ALL


class Row(NamedTuple):
    """An entry as it is kept."""

    number: int
    dataset: str
    kind: str
    request: str | None
    body: str
    hash: str


class Kept(NamedTuple):
    """What is kept: entries in order, releases by request, and False if the tables themselves are not in order."""

    rows: tuple[Row, ...]
    releases: Mapping[str, str]
    whole: bool
