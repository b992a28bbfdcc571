"""A data set's place in a ledger: what a run asks there, reserves, and commits."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from difflib import get_close_matches
from uuid import uuid4

from discreet.errors import DoubtWarning
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.prices import NOTHING, Change, Price
from discreet.ledger.records import Asked, Standing, Stored
from discreet.ledger.words import check_name, check_purpose, mixed_words
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Budget
from discreet.privacy.statement import Stamp
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
        self.last: Run | None = None

    def standing(self) -> Standing:
        """Return where the data set stands."""
        return self.ledger.standing(self.dataset)

    def limit(
        self,
        *,
        epsilon: float,
        delta: float | None = None,
        approximate: float | None = None,
        owner: str | None = None,
    ) -> Standing:
        """Declare or change the limit of everything that is asked of the data set; what was spent before counts.

        Parameters
        ----------
        epsilon, delta
            The promise for all runs together. With a delta of 0 costs add up in pure epsilon, else in zCDP. By
            default delta stays as it was declared; the first one is 1e-6.
        approximate
            The part of delta that is put by for releases by other means with a delta. By default as declared, or 0.
        owner
            Who answers for the data set; by default who declares it.
        """
        change = Change(epsilon, delta, approximate)
        return self.ledger.declare(self.dataset, change, owner=owner, purpose=self.purpose)

    def start(self, asked: Asked) -> Run:
        """Begin a run."""
        self.last = Run(self, asked)
        return self.last

    def __repr__(self) -> str:
        return f"Account({self.dataset!r}, {self.ledger!r})"


class Run(Sealed):
    """One run: what it reserves is spent, whatever becomes of it."""

    def __init__(self, account: Account, asked: Asked) -> None:
        self._account = account
        self._asked = asked
        self._mark: str | None = None
        self._refusal: BaseException | None = None
        self.request = account.request or uuid4().hex[:12]
        self.reserved = self.committed = False
        self.stored: Stored | None = None
        if account.request is not None:
            self.stored = account.ledger.find_answer(account.dataset, self.request, asked)

    def budget(self, make: Callable[[Currency | None, Callable[[Budget], None]], Budget]) -> Budget:
        """Return the run's budget, in the first currency in which the data set's limit allows it.

        A Gaussian budget is worth a little more than a zCDP one with the same epsilon and delta, and costs more of
        the limit; where that does not fit, zCDP may.

        Warns
        -----
        DoubtWarning
            If the data set has no limit and others have, or earlier runs protect something else.

        Raises
        ------
        BudgetError
            If the limit allows neither. That is booked; no rows were read.
        """
        account, standing = self._account, self._account.standing()
        budget, limit = make(None, self._reserve), standing.limit
        both = limit is not None and (budget.currency, limit.currency) == (Currency.GDP, Currency.ZCDP)
        if both and limit is not None and not limit.allows(standing.spent.plus(Price.of_budget(budget))):
            budget = make(Currency.ZCDP, self._reserve)
        if limit is None and (others := account.ledger.limited_names()):
            near = get_close_matches(account.dataset, others, n=1, cutoff=0.5)
            hint = f"; did you mean {near[0]!r}?" if near else f", as {others[0]!r} has"
            warnings.warn(f"the ledger holds no limit for {account.dataset!r}{hint}", DoubtWarning, stacklevel=5)
        if standing.protected not in ((), (self._asked.protects,)):
            warnings.warn(
                mixed_words(account.dataset, standing.protected, self._asked.protects), DoubtWarning, stacklevel=5
            )
        if limit is not None:
            self._book(Price.of_budget(budget), only_refuse=True)
        return budget

    def note_rows(self, raw: bytes) -> None:
        """Note which rows these are, and warn the custodian if they were here under another name."""
        account = self._account
        self._mark = account.ledger.mark(raw)
        if account.ledger.forgetful:
            words = "a new key was made for the ledger, the old one is gone: rows seen before are not recognised"
            warnings.warn(words, DoubtWarning, stacklevel=8)
        if found := account.ledger.find_alike(account.dataset, self._mark):
            names = ", ".join(repr(s.dataset) for s in found[:3]) + (f" and {len(found) - 3} more" if found[3:] else "")
            warnings.warn(
                f"these rows were asked before as {names}. Each name has a budget of its "
                "own, and what is promised to the people in the rows holds for one of them alone. If they are the "
                "same, use one name, and count what was spent under the other with `discreet ledger merge`",
                DoubtWarning,
                stacklevel=8,
            )

    def _reserve(self, budget: Budget) -> None:
        self._book(Price.of_budget(budget))

    def _book(self, price: Price, *, only_refuse: bool = False) -> None:
        account = self._account
        try:
            account.ledger.reserve(
                account.dataset,
                self.request,
                self._asked,
                price,
                purpose=account.purpose,
                mark=self._mark,
                only_refuse=only_refuse,
            )
        except BaseException as refusal:
            self._refusal = refusal
            raise
        self.reserved = not only_refuse
        if account.ledger.late is not None:
            warnings.warn(account.ledger.late, DoubtWarning, stacklevel=2)

    def commit(self, body: str, budget: Budget) -> Stamp:
        """Keep the release; only then may it be handed out."""
        if self._refusal is not None:  # a method that goes on when its budget refuses must not go on then
            raise self._refusal
        if not self.reserved:  # nothing was asked of the rows
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
        stamp = self._account.ledger.commit(self._account.dataset, self.request, body, spent)
        self.committed = True
        return stamp

    @property
    def epsilon(self) -> float:
        """The epsilon that was asked for."""
        return self._asked.epsilon
