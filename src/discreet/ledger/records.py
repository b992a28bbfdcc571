"""What is asked of a ledger and read from it: what a run asks, where a data set stands, and what its runs come to."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, nextafter
from typing import Any, NamedTuple

from discreet.errors import LedgerError, SettingError
from discreet.ledger.entries import BEFORE_ALL, Entry
from discreet.ledger.prices import NOTHING, SHOWN_DELTA, Limit, Price
from discreet.privacy.accounting import as_written
from discreet.privacy.statement import Stamp

ROW = "row"
"""What a run protects that does not say."""

COUNTED = ("reserved", "spent")
"""Kinds of entries that cost something."""


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
    protects
        What the promise is made to: one row, or all rows of one person, with the column that tells people apart.
    """

    command: str
    method: str
    epsilon: float
    delta: float
    parameters: str
    protects: str = ROW

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; what protects rows does not say so, as in ledgers from before people were known."""
        return {name: value for name, value in vars(self).items() if name != "protects" or value != ROW}


@dataclass(frozen=True)
class Standing:
    """Where a data set stands: who owns it, its limit, and what is spent; or under which name it is counted now.

    ``protects`` is what its runs protect, if that is anything but rows.
    """

    dataset: str
    owner: str
    limit: Limit | None
    spent: Price
    runs: int
    into: str | None = None
    protects: tuple[str, ...] = ()

    @property
    def protected(self) -> tuple[str, ...]:
        """What runs so far protect; nothing if there were none."""
        return self.protects or ((ROW,) if self.runs else ())

    def with_run(self, price: Price, asked: Mapping[str, Any], *, owner: str) -> Standing:
        """Return where it stands after a run with that price."""
        said = asked.get("protects", ROW)
        new = {*self.protected, *((said,) if isinstance(said, str) else map(str, said))}
        protects = () if new == {ROW} else tuple(sorted(new))
        return replace(self, spent=self.spent.plus(price), runs=self.runs + 1, owner=owner, protects=protects)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        limit = None if self.limit is None else self.limit.to_dict()
        known: dict[str, Any] = {"owner": self.owner, "limit": limit, "spent": self.spent.to_dict(), "runs": self.runs}
        known |= {"protects": list(self.protects)} if self.protects else {}
        return known if self.into is None else {**known, "into": self.into}

    @classmethod
    def of(cls, entry: Entry) -> Standing:
        """Read it off the last entry of a data set."""
        try:
            data = entry.facts["standing"]
            limit = None if data["limit"] is None else Limit.from_dict(data["limit"])
            spent, into = Price.from_dict(data["spent"]), data.get("into")
            protects = tuple(map(str, data.get("protects", ())))
            return cls(entry.dataset, str(data["owner"]), limit, spent, int(data["runs"]), into, protects)
        except (KeyError, TypeError, ValueError, SettingError):
            raise LedgerError("the ledger holds an entry that cannot be read: `discreet ledger verify` tells") from None


@dataclass(frozen=True)
class Stored:
    """A release as it was committed."""

    body: str
    stamp: Stamp
    when: str

    def to_json(self) -> str:
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
    """What is kept: entries in order, releases by request, data sets with marked rows, and faults of the tables."""

    rows: tuple[Row, ...]
    releases: Mapping[str, str]
    marked: frozenset[str]
    faults: tuple[str, ...]


@dataclass(frozen=True)
class Plain:
    """What runs amount to by plain addition of their epsilons and deltas: little is lost by that where they are few.

    Every run keeps its own promise, and promises that are fixed by the past add up (basic composition), whatever their
    currencies. Sums in a currency are mostly smaller, and are what a limit counts.
    """

    epsilon: Fraction
    delta: Fraction


def plain_sum(entries_of: Callable[[str], Iterable[Entry]], dataset: str) -> Plain | None:
    """Return the sums of a data set, and of those that were merged into it; None if some entry does not tell."""
    epsilon, delta, waiting = Fraction(0), Fraction(0), [dataset]
    try:
        for name in waiting:  # grows on the way
            for entry in entries_of(name):
                if entry.kind not in COUNTED or Price.from_dict(entry.facts["cost"]) == NOTHING:
                    continue
                asked = entry.facts["asked"]
                if asked["command"] == "merged" and asked["method"] not in waiting:
                    waiting.append(asked["method"])
                else:
                    epsilon, delta = epsilon + as_written(asked["epsilon"]), delta + as_written(asked["delta"])
    except (LedgerError, KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return None
    return Plain(epsilon, delta)


def total_of(standing: Standing, plain: Plain | None) -> tuple[float | None, float]:
    """Return the epsilon and the delta that all runs together amount to; no epsilon if none can be told.

    With a limit in its currency and at its delta, as the limit counts. Else whatever is smaller.
    """
    spent, limit = standing.spent, standing.limit
    if limit is not None:
        return spent.epsilon(limit.delta, limit.currency), limit.delta
    if plain is not None and plain.delta < 1:
        delta = max(_above(plain.delta), SHOWN_DELTA)
        found = spent.epsilon(delta)
        if found is None or plain.epsilon < found:
            return _above(plain.epsilon), delta
    return spent.epsilon(SHOWN_DELTA), SHOWN_DELTA


def index_by_dataset(entries: Iterable[Entry]) -> Callable[[str], list[Entry]]:
    """Return what finds the entries of a data set."""
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        found.setdefault(entry.dataset, []).append(entry)
    return lambda name: found.get(name, [])


def _above(value: Fraction) -> float:
    """Return a float that is not below a fraction, and the one that is written like it if there is one."""
    found = float(value)
    return found if as_written(found) >= value else nextafter(found, inf)
