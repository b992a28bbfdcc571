"""The privacy statement: what is promised to whom, what it was spent on, and its place in a ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.domain import Domain
from discreet.errors import ReleaseError
from discreet.privacy.budget import Budget

ONE_ROW, ONE_PERSON, ANY_ROW = "replace-one-row", "change-one-person", "add-remove-or-replace-one-row"
"""What neighbouring tables differ in."""


@dataclass(frozen=True)
class Stamp:
    """Where a release stands in a ledger: printed into it, so that a cut or swapped ledger is noticed.

    Parameters
    ----------
    ledger
        What tells the ledger from others.
    entry, head
        Number and hash of the entry that committed the release: the head of the chain at that time.
    dataset
        The name under which the ledger keeps the data set's budget.
    """

    ledger: str
    entry: int
    head: str
    dataset: str = field(default="", compare=False)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Stamp:
        """Read it back."""
        stamp = cls(data["ledger"], data["entry"], data["head"], data.get("dataset", ""))
        texts = (stamp.ledger, stamp.head, stamp.dataset)
        if not all(isinstance(text, str) for text in texts) or type(stamp.entry) is not int:
            raise ReleaseError("the place in the ledger makes no sense")
        return stamp


@dataclass(frozen=True)
class Spending:
    """One line of what was spent."""

    statistic: str
    mechanism: str
    currency: str
    amount: float


@dataclass(frozen=True)
class Privacy:
    """The promise, and what it was spent on.

    With ``max_rows`` it is made to a person: to all their rows together, of which so many are used at most. With
    ``absent`` it is made to a row that may be there or not. What was spent is counted for one row.
    """

    epsilon: float
    delta: float
    unit: str
    private: bool
    spent: tuple[Spending, ...]
    ledger: Stamp | None = None
    max_rows: int | None = None
    absent: bool = False

    def __repr__(self) -> str:
        """Say in a line what is promised to whom."""
        to = (
            f"any one {self.unit}"
            if self.max_rows is None
            else f"any one {self.unit} with at most {self.max_rows} rows"
        )
        promise = f"epsilon {self.epsilon:g}, delta {self.delta:g} for {to}" if self.private else "NOT PRIVATE"
        return f"<Privacy: {promise}; {len(self.spent)} charge{'s' * (len(self.spent) != 1)}>"

    @classmethod
    def of(cls, budget: Budget, domain: Domain, *, private: bool) -> Privacy:
        """Return the statement of a budget."""
        spent = tuple(Spending(e.statistic, e.mechanism, e.currency.value, float(e.amount)) for e in budget.entries)
        absent = domain.people is not None and domain.people.id is None
        most = None if domain.people is None or absent else domain.people.max_rows
        return cls(budget.epsilon, budget.delta, domain.unit, private, spent, max_rows=most, absent=absent)

    @property
    def neighbors(self) -> str:
        """What neighbouring tables differ in."""
        if self.absent:
            return ANY_ROW
        return ONE_ROW if self.max_rows is None else ONE_PERSON

    @property
    def chosen(self) -> bool:
        """Whether the rows that are used were chosen from those there are, whose number is not told."""
        return self.max_rows is not None or self.absent

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "neighbors": self.neighbors,
            "unit": self.unit,
            **({} if self.max_rows is None else {"max_rows": self.max_rows}),
            "private": self.private,
            "spent": [vars(spending) for spending in self.spent],
            "ledger": None if self.ledger is None else vars(self.ledger),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Privacy:
        """Read it back."""
        spent = tuple(
            Spending(str(s["statistic"]), str(s["mechanism"]), str(s["currency"]), float(s["amount"]))
            for s in data["spent"]
        )
        epsilon, delta, private = float(data["epsilon"]), float(data["delta"]), data["private"]
        if not epsilon > 0 or not 0 <= delta < 1 or any(s.amount < 0 for s in spent) or not isinstance(private, bool):
            raise ReleaseError("the privacy statement makes no sense")
        neighbors, most = data.get("neighbors", ONE_ROW), data.get("max_rows")
        sound = type(most) is int and most >= 1 if neighbors == ONE_PERSON else most is None
        if neighbors not in (ONE_ROW, ONE_PERSON, ANY_ROW) or not sound:
            raise ReleaseError("the privacy statement does not say who is protected")
        ledger = None if data.get("ledger") is None else Stamp.from_dict(data["ledger"])
        return cls(epsilon, delta, str(data["unit"]), private, spent, ledger, most, neighbors == ANY_ROW)
