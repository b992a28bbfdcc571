"""Words about budgets, and which names may stand in a ledger."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from shlex import quote
from unicodedata import normalize

from discreet.errors import SettingError
from discreet.ledger.prices import Limit, Price, round_up, smallest_limit
from discreet.ledger.records import ROW
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import GRAINS

LONGEST_NAME = 200
NEW = "NEW"
"""Stands for a name that is not taken yet."""


def check_name(name: str, what: str) -> str:
    """Return a name in one spelling; refuse those that would not print as they are."""
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or not name.isprintable() or name != name.strip():
        raise SettingError(f"{what}: a name of 1 to {LONGEST_NAME} printable characters, without blanks around it")
    return normalize("NFC", name)


def printable(text: str) -> str:
    """Return text without characters that would move a terminal, and not too long."""
    return "".join(c if c.isprintable() else "?" for c in text)[:LONGEST_NAME]


def check_purpose(purpose: str) -> str:
    """Refuse purposes that would not print as they are."""
    if not isinstance(purpose, str) or len(purpose) > 5 * LONGEST_NAME or not (purpose.isprintable() or not purpose):
        raise SettingError(f"purpose: at most {5 * LONGEST_NAME} printable characters")
    return purpose


def amount(grains: int | None, currency: Currency) -> str:
    """Return an amount with its currency."""
    return f"{'no amount of' if grains is None else format(float(Fraction(grains, GRAINS)), '.6g')} {currency.value}"


def promise(epsilon: float, delta: float) -> str:
    """Return a promise in short."""
    return f"epsilon {epsilon:.4g}, delta {delta:g}"


def command(dataset: str, limit: Limit) -> str:
    """Return what declares a limit."""
    given = {"epsilon": limit.epsilon, "delta": limit.delta, "approximate": limit.approximate}
    options = [f"--{name} {str(value).removesuffix('.0')}" for name, value in given.items() if value or name == "delta"]
    return f"`discreet ledger limit --dataset {quote(dataset)} {' '.join(options)}`"


def move_words(dataset: str, limit: Limit, spent: Price) -> str:
    """Say how to go on where a limit in pure epsilon cannot hold any more."""
    found = smallest_limit(limit, spent)
    if found is None:
        return "no limit could hold"
    return (
        f"to go on, count it under a new name with a limit in zCDP: {command(NEW, found)} or more, then "
        f"`discreet ledger merge --dataset {quote(dataset)} --into {NEW}`"
    )


def currency_words(dataset: str, limit: Limit, spent: Price) -> str:
    """Say that the currency of a limit never changes."""
    kept = f"delta: the limit of {dataset!r} is in {limit.currency.value}, and stays so"
    if spent.amount(limit.currency) is None:
        return f"{kept}, and what was spent has no cost in it; {move_words(dataset, limit, spent)}. Nothing was changed"
    return f"{kept}; delta {'above 0' if limit.delta else '0'} keeps it. Nothing was changed"


def too_small_words(dataset: str, limit: Limit, spent: Price, before: Limit | None) -> str:
    """Say why a limit cannot be declared, since more is spent already, and which one can."""
    currency, found = limit.currency, smallest_limit(limit, spent)
    advice = "no limit could hold" if found is None else f"the smallest limit that holds: {command(dataset, found)}"
    if spent.amount(currency) is None:
        why = f"{dataset!r} has runs without a cost in pure epsilon, so that no limit with delta 0 could hold"
        advice = advice if before is None else move_words(dataset, limit, spent)
    elif spent.delta > limit.put_by:
        parts = round_up(float(Fraction(spent.delta, GRAINS)))
        why = f"releases of {dataset!r} by other means have a delta of {parts:g} together, and that must be put by"
    else:
        why = (
            f"{dataset!r} has spent {amount(spent.amount(currency), currency)} already, more than a limit of "
            f"{amount(limit.amount, currency)} ({promise(limit.epsilon, limit.delta)})"
        )
    return f"{why}; {advice}. Nothing was changed"


def refusal(dataset: str, limit: Limit, spent: Price, price: Price, epsilon: float, delta: float) -> str:
    """Say why a run is refused: what was spent, what is asked, what is left."""
    currency, end = limit.currency, "Nothing was asked of the rows"
    asks = f"refused: this run asks {promise(epsilon, delta)}"
    whole = f"the limit of {dataset!r} is {promise(limit.epsilon, limit.delta)} in all"
    if spent.amount(currency) is None:
        why = f"{asks}, and {whole}, in pure epsilon, and earlier ones have no cost in it"
        return f"{why}; {move_words(dataset, limit, spent)}. {end}"
    total = spent.plus(price)
    if total.delta > limit.put_by:
        found = smallest_limit(limit, total)
        parts = round_up(float(Fraction(total.delta, GRAINS)))
        advice = "no limit could hold" if found is None else f"{command(dataset, found)} would do"
        return f"{asks}, and {whole} and puts less by than the delta of other means, {parts:g}; {advice}. {end}"
    largest = limit.largest(spent, pure=price.pure is not None, delta=delta)
    could = f"a run like this could have epsilon {largest:g} at most" if largest else "no further run is possible"
    if price.amount(currency) is None:
        could = "in pure epsilon, in which this run has no cost; ask with delta 0"
        could += f" and epsilon {largest:g} at most" if largest else ", though no further run is possible"
    return (
        f"{asks}, and {whole}: {could}. {end}. "
        f"({amount(spent.amount(currency), currency)} of {amount(limit.amount, currency)} is spent, this run asks "
        f"{amount(price.amount(currency), currency)}, {amount(max(limit.left(spent), 0), currency)} is left)"
    )


def protected_words(protects: Sequence[str]) -> str:
    """Return what runs protect, in words."""
    found = ["single rows" if what == ROW else printable(what) for what in protects]
    return ", ".join(found[:3]) + (f" and {len(found) - 3} more" if found[3:] else "")


def mixed_words(dataset: str, earlier: Sequence[str], now: str) -> str:
    """Return a warning: runs on a data set protect different things, so that their total holds for single rows only."""
    return (
        f"earlier runs on {dataset!r} protect {protected_words(earlier)}, and this one protects "
        f"{protected_words([now])}: what all of them promise together holds for single rows only. Declare "
        "the same `unit` in every domain of a data set"
    )
