"""A data set's place in a ledger: what a run asks there, reserves, and commits."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from uuid import uuid4

from discreet.errors import DoubtWarning
from discreet.ledger.entries import Stamp
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.prices import NOTHING, SHOWN_DELTA, Limit, Price
from discreet.ledger.records import Asked, Standing, Stored
from discreet.ledger.words import check_name, check_purpose
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Budget
from discreet.sealed import Sealed


class Account:
    """What is recorded under one data set's name.

    Parameters
    ----------
    dataset
        The name under which a budget is kept. Rows that come under two names have two budgets.
    ledger
        A ledger, a path or URL of one; by default that of ``DISCREET_LEDGER`` or of the user's data folder.
    request
        What a run is known by: asked again, it returns the stored release. By default every run has a fresh one.
    purpose
        What the releases are for, in the custodian's words.
    """

    def __init__(
        self, dataset: str, ledger: Ledger | str | None = None, *, request: str | None = None, purpose: str = ""
    ) -> None:
        self.dataset = check_name(dataset, "dataset")
        self.request = None if request is None else check_name(request, "request")
        self.purpose = check_purpose(purpose)
        self.ledger = ledger if isinstance(ledger, Ledger) else open_ledger(ledger)

    def standing(self) -> Standing:
        """Return where the data set stands."""
        return self.ledger.standing(self.dataset)

    def limit(
        self, *, epsilon: float, delta: float = SHOWN_DELTA, approximate: float = 0.0, owner: str | None = None
    ) -> Standing:
        """Declare or change the limit of everything that is asked of the data set; what was spent before counts.

        Parameters
        ----------
        epsilon, delta
            The promise for all runs together. With a delta of 0 costs add up in pure epsilon, else in zCDP.
        approximate
            The part of delta that is put by for releases by other means with a delta.
        owner
            Who answers for the data set; by default who declares it.
        """
        declared = Limit(epsilon, delta, approximate)
        return self.ledger.declare(self.dataset, declared, owner=owner, purpose=self.purpose)

    def start(self, asked: Asked) -> Run:
        """Begin a run."""
        return Run(self, asked)

    def __repr__(self) -> str:
        return f"Account({self.dataset!r}, in {self.ledger.name})"


class Run(Sealed):
    """One run: what it reserves is spent, whatever becomes of it."""

    def __init__(self, account: Account, asked: Asked) -> None:
        self._account = account
        self._asked = asked
        self._request = account.request or str(uuid4())
        self._marks: list[str] = []
        self._reserved = False
        self.stored: Stored | None = None
        if account.request is not None:
            self.stored = account.ledger.answered(account.dataset, self._request, asked)

    def budget(self, make: Callable[[Currency | None, Callable[[Budget], None]], Budget]) -> Budget:
        """Return the run's budget, in the first currency in which the data set's limit allows it.

        A Gaussian budget is worth a little more than a zCDP one with the same epsilon and delta, and costs more of
        the limit; where that does not fit, zCDP may.

        Raises
        ------
        BudgetError
            If the limit allows neither. That is booked; no rows were read.
        """
        account = self._account
        first = budget = make(None, self._reserve)
        limit = account.standing().limit
        if limit is not None and first.currency is Currency.GDP and limit.currency is Currency.ZCDP:
            spent = account.standing().spent
            if not limit.allows(spent.plus(Price.of_budget(first))):
                budget = make(Currency.ZCDP, self._reserve)
        account.ledger.refuse(
            account.dataset, self._request, self._asked, Price.of_budget(budget), purpose=account.purpose
        )
        return budget

    def seen(self, raw: Mapping[str, bytes]) -> None:
        """Note which rows these are, and warn the custodian if they were here under another name."""
        account = self._account
        self._marks = account.ledger.marks(raw)
        for name in account.ledger.alike(account.dataset, self._marks):
            warnings.warn(
                f"these rows, or many of their columns, were asked before as {name!r}. Two names have two budgets: "
                f"what is promised to the people in them is broken unless both are counted together. If they are the "
                f"same, name the data set {name!r}",
                DoubtWarning,
                stacklevel=4,
            )

    def _reserve(self, budget: Budget) -> None:
        self._book(Price.of_budget(budget))

    def _book(self, price: Price) -> None:
        account = self._account
        account.ledger.reserve(
            account.dataset, self._request, self._asked, price, purpose=account.purpose, marks=self._marks
        )
        self._reserved = True
        if account.ledger.late is not None:
            warnings.warn(account.ledger.late, DoubtWarning, stacklevel=2)

    def commit(self, body: str, budget: Budget) -> Stamp:
        """Keep the release; only then may it be handed out."""
        if not self._reserved:  # nothing was asked of the rows
            self._book(NOTHING)
        spent = [
            {
                "statistic": e.statistic,
                "mechanism": e.mechanism,
                "currency": e.currency.value,
                "amount": float(e.amount),
            }
            for e in budget.entries
        ]
        return self._account.ledger.commit(self._account.dataset, self._request, body, spent)
