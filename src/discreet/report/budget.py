"""What the budget was spent on, step by step, as shares of the total: for a bar and for words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from discreet.errors import SettingError
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Budget
from discreet.privacy.statement import Privacy, Spending

MOST_STEPS = 8
"""Kinds of steps in a bar; the smallest beyond are put together."""

DUST = 0.0005
"""A share that is not told."""


@dataclass(frozen=True)
class Step:
    """Charges of one kind: what was asked, by which mechanism, for how much of the budget."""

    what: str
    mechanism: str
    currency: str
    amount: float
    share: float | None


def steps(privacy: Privacy) -> list[Step]:
    """Return what was spent, charges of one kind together, in the order in which they began."""
    groups: dict[tuple[str, str], list[Spending]] = {}
    for s in privacy.spent:
        groups.setdefault((re.sub(r"the best \d+", "the best few", s.mechanism), s.currency), []).append(s)
    total = whole_budget(privacy)
    found = []
    for (alike, currency), same in groups.items():
        mechanism = same[0].mechanism if len({s.mechanism for s in same}) == 1 else alike
        what = f"{len(same)} questions, such as {same[0].statistic}"
        if len({s.statistic for s in same}) == 1:
            what = same[0].statistic if len(same) == 1 else f"{len(same)} times {same[0].statistic}"
        amount = sum(s.amount for s in same)
        found.append(Step(what, mechanism, currency, amount, None if total is None else amount / total))
    return found


def whole_budget(privacy: Privacy) -> float | None:
    """Return all that the run might have spent on one row, in the currency in which it did; None if that is not known.

    It follows from epsilon, delta and the currency alone.
    """
    currencies = {s.currency for s in privacy.spent}
    if len(currencies) != 1:
        return None
    try:
        budget = Budget(
            epsilon=privacy.epsilon,
            delta=privacy.delta,
            currency=Currency(currencies.pop()),
            group=privacy.max_rows or 1,
        )
    except (SettingError, ValueError):  # a release that somebody made up
        return None
    return float(budget.limit)


def share_left(found: Sequence[Step]) -> float:
    """Return the share of the budget that is left."""
    left = 1 - sum(step.share or 0.0 for step in found)
    return left if left > DUST and all(step.share is not None for step in found) else 0.0


def merge_small(found: Sequence[Step]) -> list[Step]:
    """Return as many steps as a bar can show; the smallest are put together."""
    if len(found) <= MOST_STEPS:
        return list(found)
    large = sorted(found, key=lambda step: step.amount, reverse=True)[: MOST_STEPS - 1]
    small = [step for step in found if step not in large]
    shares = [step.share for step in small]
    share = None if None in shares else sum(s or 0.0 for s in shares)
    rest = Step(
        f"{len(small)} smaller steps",
        "all of them are in the release",
        small[0].currency,
        sum(s.amount for s in small),
        share,
    )
    return [*(step for step in found if step in large), rest]


def balance(privacy: Privacy) -> str:
    """Return in a line how much of a run's budget was spent."""
    found = steps(privacy)
    whole = f"epsilon {privacy.epsilon:g}, delta {privacy.delta:g}"
    if not found:
        return f"Nothing of {whole} was spent."
    left = share_left(found)
    if any(step.share is None for step in found):
        return f"The budget was {whole}."
    if not left:
        return f"All of {whole} was spent."
    return (
        f"{1 - left:.1%} of {whole} was spent and {left:.1%} was not. The promise stands as it is, and a ledger counts "
        "all of it: what is left cannot be used later."
    )
