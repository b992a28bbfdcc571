"""An answer about independence, and its promise, for a terminal."""

from __future__ import annotations

from discreet.answers import NOT_PROOF, Answer
from discreet.report.text import fold, statement
from discreet.report.words import not_promised, spendings


def answer_text(found: Answer) -> str:
    """Return the decision in a line, what is promised of it, and what it does not mean."""
    decided = "no dependence found" if found.independent else "dependent"
    behind = f" given {', '.join(found.given)}" if found.given else ""
    value = "" if found.p_value is None else f", p-value {found.p_value:.3g}"
    kept = "" if found.level.controlled else " is not controlled"
    lines = [
        f"  {found.x} and {found.y}{behind}: {decided} (test {found.test}, alpha {found.alpha:g}{value})",
        "",
        fold(f"Level{kept}: {found.level.found}.", ""),
        fold(NOT_PROOF, ""),
    ]
    return "\n".join(lines)


def answer_statement(found: Answer) -> str:
    """Return the privacy statement of an answer."""
    limits = not_promised(found.privacy, f"That the answer is true. {NOT_PROOF}")
    return statement(found.privacy, found.rows, limits, spendings(found.privacy))
