"""Words about budgets, and which names may stand in a ledger."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import SettingError
from discreet.ledger.prices import Limit, Price
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import GRAINS

LONGEST = 200


def check_name(name: str, what: str) -> str:
    """Refuse names that would not print as they are."""
    if not isinstance(name, str) or not name.strip() or len(name) > LONGEST or not name.isprintable():
        raise SettingError(f"{what}: a name of 1 to {LONGEST} printable characters")
    return name


def check_purpose(purpose: str) -> str:
    """Refuse purposes that would not print as they are."""
    if not isinstance(purpose, str) or len(purpose) > 5 * LONGEST or not (purpose.isprintable() or not purpose):
        raise SettingError(f"purpose: at most {5 * LONGEST} printable characters")
    return purpose


def amount(grains: int | None, currency: Currency) -> str:
    """Return an amount with its currency."""
    return f"{'none' if grains is None else format(float(Fraction(grains, GRAINS)), '.6g')} {currency.value}"


def promise(epsilon: float, delta: float) -> str:
    """Return a promise in short."""
    return f"epsilon {epsilon:.4g}, delta {delta:g}"


def refusal(
    dataset: str,
    limit: Limit,
    spent: Price,
    price: Price | None = None,
    epsilon: float = 0.0,
    delta: float = 0.0,
) -> str:
    """Say why a run, or a new limit, is refused: what was spent, what is asked, what is left."""
    currency = limit.currency
    gone = amount(spent.amount(currency), currency)
    whole = f"{amount(limit.amount, currency)} ({promise(limit.epsilon, limit.delta)})"
    if price is None:
        return f"{dataset!r} has spent {gone} already, more than a limit of {whole}; nothing was changed"
    if price.amount(currency) is None:
        return (
            f"the ledger refuses: the limit of {dataset!r} is in pure epsilon, and this run has no cost in it; "
            "ask with delta 0. Nothing was asked of the rows"
        )
    if price.delta + spent.delta > Fraction(limit.approximate) * GRAINS:
        return f"the ledger refuses: delta of approximate parts is above what the limit of {dataset!r} puts by"
    left = amount(max(limit.left(spent), 0), currency)
    largest = limit.largest(spent, pure=price.pure is not None, delta=delta)
    could = f"A run like this could have epsilon {largest:g} at most." if largest else "No further run is possible."
    return (
        f"the ledger refuses: this run asks {amount(price.amount(currency), currency)} ({promise(epsilon, delta)}), "
        f"{gone} of {whole} is spent on {dataset!r}, {left} is left. {could} Nothing was asked of the rows"
    )
