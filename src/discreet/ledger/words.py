"""Words about budgets, and which names may stand in a ledger."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor, isinf, log10
from unicodedata import normalize

from discreet.errors import SettingError
from discreet.ledger.prices import Limit, Price
from discreet.ledger.records import ROW
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import GRAINS

LONGEST = 200


def check_name(name: str, what: str) -> str:
    """Return a name in one spelling; refuse those that would not print as they are."""
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST or not name.isprintable() or name != name.strip():
        raise SettingError(f"{what}: a name of 1 to {LONGEST} printable characters, without blanks around it")
    return normalize("NFC", name)


def printable(text: str) -> str:
    """Return text without characters that would move a terminal, and not too long."""
    return "".join(c if c.isprintable() else "?" for c in text)[:LONGEST]


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


def untrue(dataset: str, limit: Limit, spent: Price) -> str:
    """Say why a limit cannot be declared: more is spent already."""
    currency = limit.currency
    if spent.amount(currency) is None:
        return (
            f"{dataset!r} has runs without a cost in pure epsilon, so that no limit with delta 0 could hold; declare "
            "one with a delta. Nothing was changed"
        )
    if spent.delta > limit.put_by:
        parts = float(Fraction(spent.delta, GRAINS))
        return (
            f"releases of {dataset!r} by other means have a delta of {parts:.3g} together: put as much of the limit's "
            f"delta by for them with --approximate {parts:.3g}. Nothing was changed"
        )
    gone = spent.epsilon(limit.delta, currency)
    needs = "" if gone is None else f"; the smallest limit that holds has epsilon {digits_up(gone):g}"
    return (
        f"{dataset!r} has spent {amount(spent.amount(currency), currency)} already, more than a limit of "
        f"{amount(limit.amount, currency)} ({promise(limit.epsilon, limit.delta)}){needs}. Nothing was changed"
    )


def refusal(dataset: str, limit: Limit, spent: Price, price: Price, epsilon: float, delta: float) -> str:
    """Say why a run is refused: what was spent, what is asked, what is left."""
    currency, end = limit.currency, "Nothing was asked of the rows"
    if spent.amount(currency) is None or price.amount(currency) is None:
        which = "this run has" if price.amount(currency) is None else "earlier ones have"
        advice = "; ask with delta 0" if price.amount(currency) is None else ""
        return f"refused: the limit of {dataset!r} is in pure epsilon, and {which} no cost in it{advice}. {end}"
    if price.delta + spent.delta > limit.put_by:
        return (
            f"refused: deltas of releases by other means pass what the limit of {dataset!r} puts by for them; "
            f"`discreet ledger limit --approximate` puts more by. {end}"
        )
    largest = limit.largest(spent, pure=price.pure is not None, delta=delta)
    could = f"a run like this could have epsilon {largest:g} at most" if largest else "no further run is possible"
    return (
        f"refused: this run asks {promise(epsilon, delta)}, and the limit of {dataset!r} is "
        f"{promise(limit.epsilon, limit.delta)} in all: {could}. {end}. "
        f"({amount(spent.amount(currency), currency)} of {amount(limit.amount, currency)} is spent, this run asks "
        f"{amount(price.amount(currency), currency)}, {amount(max(limit.left(spent), 0), currency)} is left)"
    )


def digits_up(value: float) -> float:
    """Round up to three digits."""
    if value <= 0 or isinf(value):
        return value
    step = 10.0 ** (floor(log10(value)) - 2)
    return float(f"{ceil(value / step - 1e-9) * step:.6g}")


def guarded(protects: Sequence[str]) -> str:
    """Return what runs protect, in words."""
    found = ["single rows" if what == ROW else printable(what) for what in protects]
    return ", ".join(found[:3]) + (f" and {len(found) - 3} more" if found[3:] else "")


def mixed(dataset: str, earlier: Sequence[str], now: str) -> str:
    """Return a warning: runs on a data set protect different things, so that their total holds for single rows only."""
    return (
        f"earlier runs on {dataset!r} protect {guarded(earlier)}, and this one protects {guarded([now])}: what all of "
        "them promise together holds for single rows only. Declare the same `unit` in every domain of a data set"
    )
