"""The promise in plain words: what was promised to whom, and what was not."""

from __future__ import annotations

import math
import re

from discreet.discovery import Discovery, Privacy, Spending
from discreet.domain import UNIT


def promised(privacy: Privacy, rows: int) -> list[str]:
    """Return what was promised."""
    if not privacy.private:
        return ["NOT PRIVATE: this was made with predictable noise, for a test. Nothing is promised to anybody."]
    factor = math.exp(privacy.epsilon) if privacy.epsilon < 50 else math.inf
    whom = "whoever is" if privacy.unit == UNIT else f"each {privacy.unit}"
    bound = (
        f"at most {factor:,.2f} times as likely (e to the power epsilon = {privacy.epsilon:g})"
        if factor < 1e6
        else f"at most e^{privacy.epsilon:g} times as likely, which is no protection worth the name"
    )
    lines = [
        f"To {whom} behind any one of the {rows:,} rows: whatever anybody concludes or does on seeing these files is "
        f"{bound} as it would be had that row held anything else.",
        "This holds against everybody, whatever they know already and however long they compute, and for everything "
        "that is derived from these files.",
    ]
    if privacy.delta:
        lines.append(
            f"There is an exception: with probability up to {privacy.delta:g} (delta) the factor may be exceeded."
        )
    return lines


GRAPH = (
    "That the graph is true: it is the data's answer, blurred by noise, under the assumptions that there are no hidden "
    "common causes and that no effects cancel out. An arrow is a hypothesis worth testing."
)


def not_promised(privacy: Privacy, truth: str = GRAPH) -> list[str]:
    """Return what was not promised; last what it would take for the answer to be true."""
    whom = "somebody" if privacy.unit == UNIT else f"a {privacy.unit}"
    return [
        "That nothing can be learned about you: what holds for people like you may be inferred about you, whether or "
        "not you took part.",
        f"Anything beyond one row: {whom} with several rows is protected for each of them, not for all together.",
        "The number of rows and the declared domain: they are public.",
        "That running this again is free: every further release from the same rows adds to the cost.",
        truth,
    ]


def spent(discovery: Discovery) -> list[str]:
    """Return what the budget was spent on."""
    lines = spendings(discovery.privacy)
    if discovery.settings.get("stopped"):
        lines.append("All of it: the budget was used up before everything was asked, and pairs not yet judged stay.")
    if skipped := discovery.settings.get("skipped"):
        lines.append(
            f"Passed over {skipped} times: columns with so many neighbours that asking would take too long; these stay."
        )
    return lines


def recorded(privacy: Privacy) -> str:
    """Return where the release stands in a ledger, or that it stands in none."""
    if not privacy.private:
        return "In no ledger: what is not private has no budget."
    if privacy.ledger is None:
        return "In no ledger: what else was asked of these rows is not counted here."
    stamp = privacy.ledger
    return f"Entry {stamp.entry} of ledger {stamp.ledger}; its head was {stamp.head} then."


def spendings(privacy: Privacy) -> list[str]:
    """Return what was spent, charges of one kind together."""
    if not privacy.spent:
        return ["Nothing: no question was asked of the rows."]
    groups: dict[tuple[str, str], list[Spending]] = {}
    for s in privacy.spent:
        groups.setdefault((re.sub(r"the best \d+", "the best few", s.mechanism), s.currency), []).append(s)
    lines = []
    for (alike, currency), same in groups.items():
        mechanism = same[0].mechanism if len({s.mechanism for s in same}) == 1 else alike
        what = f"{len(same)} questions, such as {same[0].statistic}"
        if len({s.statistic for s in same}) == 1:
            what = same[0].statistic if len(same) == 1 else f"{len(same)} times {same[0].statistic}"
        lines.append(f"{what}; {mechanism}; {sum(s.amount for s in same):.6g} {currency}")
    return lines
