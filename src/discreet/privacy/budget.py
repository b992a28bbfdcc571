"""The budget: a limit fixed up front, and the one place where costs are added, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from threading import Lock

from discreet.errors import BudgetError, SettingError
from discreet.privacy.accounting import Currency, check_guarantee, limit_of
from discreet.sealed import Sealed, this_process

GRAINS = (1 << 108) * 5**20
"""Charges are rounded up, and the limit down, to this fraction of a unit: sums stay exact and short.

Binary fractions down to 2^-108 and decimal ones down to 10^-20 are such fractions: ten times 0.1 is 1.
"""


@dataclass(frozen=True)
class Cost:
    """What one mechanism costs, in every currency in which its loss is proved.

    A currency that is missing cannot pay for the mechanism.
    """

    amounts: dict[Currency, Fraction]

    def __post_init__(self) -> None:
        if not self.amounts or any(not isinstance(a, Fraction) or a < 0 for a in self.amounts.values()):
            raise SettingError("cost: at least one currency, and amounts are fractions from 0")

    def amount(self, currency: Currency) -> Fraction:
        """Return the cost in a currency."""
        try:
            return self.amounts[currency]
        except KeyError:
            raise SettingError(f"this mechanism has no proved cost in {currency.value}") from None


@dataclass(frozen=True)
class Entry:
    """One booked charge: what was asked, how it was blurred, what it cost."""

    statistic: str
    mechanism: str
    currency: Currency
    amount: Fraction


class Budget(Sealed):
    """A privacy filter: a total fixed before the run, from which charges are admitted or refused.

    Parameters
    ----------
    epsilon, delta
        The promise: (epsilon, delta)-differential privacy for substituting one row, or a group of rows.
    currency
        In what costs add up; by default Gaussian accounting, or pure epsilon where delta is 0.
    group
        How many rows may be substituted at once: those that are used of one person. Charges are for one row, so the
        limit is the smaller, the larger the group.
    reserve
        Called once, before the first charge is booked: a ledger reserves the whole limit there. If it raises, nothing
        was booked.

    Guarantee
    ---------
    Whatever is released through charges this budget admits is together (epsilon, delta)-DP, also when later
    questions depend on earlier answers (``accounting.md``).
    """

    def __init__(
        self,
        *,
        epsilon: float,
        delta: float,
        currency: Currency | None = None,
        group: int = 1,
        reserve: Callable[[Budget], None] | None = None,
    ) -> None:
        check_guarantee(epsilon, delta)
        self.epsilon = float(epsilon)
        self.delta = float(delta)
        self.currency = currency or (Currency.GDP if delta else Currency.PURE)
        if self.currency is Currency.PURE and delta:
            raise SettingError("delta: must be 0 in pure epsilon accounting; it would be given away for nothing")
        if isinstance(group, bool) or not isinstance(group, int) or group < 1:
            raise SettingError("group: a whole number of rows from 1")
        self.group = group
        self.promised = self._limit(1)
        self.limit = self._limit(group)
        if not self.limit:
            raise SettingError("epsilon, delta: too small for any release")
        self._entries: list[Entry] = []
        self._spent = Fraction(0)
        self._kept = Fraction(0)
        self._lock = Lock()
        self._reserve = reserve

    def refuse_copies(self) -> None:
        """Refuse to spend in a copy of the process whose budget it is."""
        if self._process != this_process():
            raise BudgetError("this is a copy of the process whose budget it is: both may not spend it")

    def _limit(self, group: int) -> Fraction:
        """Return what may be charged for one row if so many change at once, rounded down."""
        return Fraction(floor(limit_of(self.currency, self.epsilon, self.delta, group) * GRAINS), GRAINS)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All charges booked so far."""
        return tuple(self._entries)

    @property
    def spent(self) -> Fraction:
        """The sum of all charges."""
        return self._spent

    @property
    def left(self) -> Fraction:
        """What may still be charged: all that is not spent, and not kept for later."""
        return self.limit - self.spent - self._kept

    def keep(self, amount: Fraction) -> None:
        """Keep an amount for later, rounded up, in place of what was kept before; ``keep(0)`` frees it."""
        self.refuse_copies()
        with self._lock:
            if not 0 <= amount <= self.limit - self.spent:
                raise SettingError("keep: from 0 to what is not spent")
            self._kept = Fraction(ceil(amount * GRAINS), GRAINS)

    @property
    def exhausted(self) -> bool:
        """Whether only the dust of rounding is left: less than a billionth of the limit."""
        return self.left * 10**9 < self.limit

    def charge(self, cost: Cost, *, statistic: str, mechanism: str) -> Entry:
        """Book a charge, or refuse it and book nothing."""
        amount = Fraction(ceil(cost.amount(self.currency) * GRAINS), GRAINS)
        entry = Entry(statistic, mechanism, self.currency, amount)
        self.refuse_copies()
        with self._lock:
            left = self.left
            if amount <= left:
                if self._reserve is not None:
                    self._reserve(self)
                    self._reserve = None
                self._spent += amount  # first: what is broken off here may be lost, never gained
                self._entries.append(entry)
                return entry
        raise BudgetError(
            f"the budget refuses {statistic}: it asks {float(amount):.6g} of {float(left):.6g} left "
            f"({self.currency.value}; limit {float(self.limit):.6g} for epsilon {self.epsilon:g}, delta {self.delta:g})"
        )

    def __repr__(self) -> str:
        return (
            f"Budget(epsilon={self.epsilon:g}, delta={self.delta:g}, currency={self.currency.name}, "
            f"spent={float(self.spent / self.limit):.1%})"
        )
