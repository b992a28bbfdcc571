"""Changes of limits: what stays as it was declared, and which limit would hold what is spent."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, inf, isinf, log10

from discreet.errors import SettingError
from discreet.ledger.prices import SHOWN_DELTA, Limit, Price, up
from discreet.privacy.accounting import Currency, as_written
from discreet.privacy.budget import GRAINS


@dataclass(frozen=True)
class Change:
    """A change of a limit, or the first one: what is None stays as it was declared.

    Parameters
    ----------
    epsilon, delta, approximate
        As of a ``Limit``. Where there is none yet, delta is 1e-6 and approximate 0 unless they are named.
    """

    epsilon: float
    delta: float | None = None
    approximate: float | None = None

    def of(self, before: Limit | None) -> Limit:
        """Return the limit that it makes of another one."""
        delta, put_by = (SHOWN_DELTA, 0.0) if before is None else (before.delta, before.approximate)
        if self.delta is not None:
            delta = Limit(self.epsilon, self.delta).delta
        if self.approximate is not None:
            put_by = self.approximate
        elif 0 < delta <= put_by:
            raise SettingError(
                f"approximate: {put_by:g} of the limit's delta is put by, and stays so unless it is named; name less "
                "than delta"
            )
        elif not delta:
            put_by = 0.0
        return Limit(self.epsilon, delta, put_by)


def holding(limit: Limit, spent: Price) -> Limit | None:
    """Return the smallest limit, in three digits, that holds what is spent: like another one as far as possible."""
    delta, put_by = limit.delta, limit.approximate
    if spent.amount(limit.currency) is None:
        delta = SHOWN_DELTA
    if spent.delta > limit.put_by:
        put_by = digits_up(float(Fraction(spent.delta, GRAINS)))
        if up(as_written(put_by)) < spent.delta:  # floats are not exact
            put_by = digits_up(1.001 * put_by)
    if put_by >= delta > 0:
        delta = digits_up(2 * put_by)
    currency = Currency.ZCDP if delta else Currency.PURE
    epsilon = Price(spent.zcdp, spent.pure, None, up(as_written(put_by))).epsilon(delta, currency)
    for raised in (1.0, 1.001, 1.01):
        try:
            found = Limit(digits_up((epsilon or inf) * raised), delta, put_by)
            if found.allows(spent):
                return found
        except SettingError:
            return None
    return None


def digits_up(value: float) -> float:
    """Round up to three digits."""
    if value <= 0 or isinf(value):
        return value
    step = 10.0 ** (floor(log10(value)) - 2)
    return float(f"{ceil(value / step - 1e-9) * step:.6g}")
