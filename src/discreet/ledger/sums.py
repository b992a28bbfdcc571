"""What runs amount to by plain addition of their epsilons and deltas: little is lost by that where they are few.

Every run keeps its own promise, and promises that are fixed by the past add up (basic composition), whatever their
currencies. Sums in a currency are mostly smaller, and are what a limit counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter

from discreet.errors import LedgerError
from discreet.ledger.entries import Entry
from discreet.ledger.prices import NOTHING, SHOWN_DELTA, Price
from discreet.ledger.records import Standing
from discreet.privacy.accounting import as_written

COUNTED = ("reserved", "spent")
"""Kinds of entries that cost something."""


@dataclass(frozen=True)
class Plain:
    """Sums of epsilons and deltas."""

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


def shown(standing: Standing, plain: Plain | None) -> tuple[float | None, float]:
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


def entries_among(entries: Iterable[Entry]) -> Callable[[str], list[Entry]]:
    """Return what finds the entries of a data set."""
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        found.setdefault(entry.dataset, []).append(entry)
    return lambda name: found.get(name, [])


def _above(value: Fraction) -> float:
    """Return a float that is not below a fraction, and the one that is written like it if there is one."""
    found = float(value)
    return found if as_written(found) >= value else nextafter(found, inf)
