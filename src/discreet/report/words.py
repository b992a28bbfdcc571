"""The promise in plain words: what was promised to whom, and what was not."""

from __future__ import annotations

import math

from discreet.domain import UNIT
from discreet.privacy.statement import Privacy
from discreet.release.discovery import Discovery
from discreet.report.budget import merge_small, steps
from discreet.search.graph import Graph

GRAPH_IS_NOT_TRUTH = (
    "That the graph is true: it is the data's answer, blurred by noise, under the assumptions that there are no hidden "
    "common causes and that no effects cancel out. An arrow is a hypothesis worth testing."
)


def found_words(graph: Graph, rows: int, arrow: str = "", line: str = "") -> str:
    """Return in a line what was found; with the marks that arrows and lines are drawn with, if these are given."""
    arrows, lines = len(graph.directed), len(graph.undirected)
    columns = "1 column" if len(graph.nodes) == 1 else f"{len(graph.nodes)} columns"
    edges = "1 edge" if arrows + lines == 1 else f"{arrows + lines} edges"
    marks = [f" ({mark})" if mark else "" for mark in (arrow, line)]
    return f"{columns}, {rows:,} rows: {edges}, {arrows} with a direction{marks[0]}, {lines} without{marks[1]}"


def promised_words(privacy: Privacy, rows: int) -> list[str]:
    """Return what was promised."""
    if not privacy.private:
        return ["NOT PRIVATE: this was made with predictable noise, for a test. Nothing is promised to anybody."]
    factor = math.exp(privacy.epsilon) if privacy.epsilon < 50 else math.inf
    bound = (
        f"at most {factor:,.2f} times as likely (e to the power epsilon = {privacy.epsilon:g})"
        if factor < 1e6
        else f"at most e^{privacy.epsilon:g} times as likely"
    )
    whom = "whoever is" if privacy.unit == UNIT else f"each {privacy.unit}"
    whom, instead = f"{whom} behind any one of the {rows:,} rows", "had that row held anything else"
    if privacy.max_rows is not None:
        whom = f"each {privacy.unit}"
        instead = f"had all rows of that {privacy.unit} been absent or anything else"
    lines = [
        f"To {whom}: whatever anybody concludes or does on seeing these files is {bound} as it would be {instead}."
        + (" That is no protection worth the name." if factor > 1e4 else ""),
        "This holds against everybody, whatever they know already and however long they compute, and for everything "
        "that is derived from these files.",
    ]
    if privacy.delta:
        lines.append(
            f"There is an exception: with probability up to {privacy.delta:g} (delta) the factor may be exceeded."
        )
    return lines


def beyond_words(privacy: Privacy) -> str:
    """Return what is not promised beyond whom the promise is made to."""
    if privacy.max_rows is not None:
        of_each = "one row" if privacy.max_rows == 1 else f"{privacy.max_rows:,} rows"
        return (
            f"Anything beyond one {privacy.unit}: of each, at most {of_each} were used; several together, such as a "
            f"family, are protected each by themselves, and so is a {privacy.unit} with two ids under each of them."
        )
    whom = "somebody" if privacy.unit == UNIT else f"a {privacy.unit}"
    return f"Anything beyond one row: {whom} with several rows is protected for each of them, not for all together."


def neighbour_words(privacy: Privacy) -> str:
    """Return what neighbouring tables differ in, in short."""
    return "replacing one row" if privacy.max_rows is None else f"changing all rows of one {privacy.unit}"


def not_promised_words(privacy: Privacy, truth: str = GRAPH_IS_NOT_TRUTH) -> list[str]:
    """Return what was not promised; last what it would take for the answer to be true."""
    return [
        "That nothing can be learned about you: what holds for people like you may be inferred about you, whether or "
        "not you took part.",
        beyond_words(privacy),
        "The number of rows and the declared domain: they are public.",
        "That running this again is free: every further release from the same rows adds to the cost.",
        truth,
    ]


def spent_words(discovery: Discovery) -> list[str]:
    """Return what the budget was spent on."""
    lines = spending_words(discovery.privacy)
    if discovery.settings.get("stopped"):
        lines.append("All of it: the budget was used up before everything was asked, and pairs not yet judged stay.")
    if skipped := discovery.settings.get("skipped"):
        lines.append(
            f"Passed over {skipped} times: columns with so many neighbours that asking would take too long; these stay."
        )
    return lines


def recorded_words(privacy: Privacy) -> str:
    """Return where the release stands in a ledger, or that it stands in none."""
    if not privacy.private:
        return "In no ledger: what is not private has no budget."
    if privacy.ledger is None:
        return "In no ledger: what else was asked of these rows is not counted here."
    stamp = privacy.ledger
    return f"Entry {stamp.entry} of ledger {stamp.ledger}; its head was {stamp.head} then."


def spending_words(privacy: Privacy) -> list[str]:
    """Return what was spent, charges of one kind together."""
    if not privacy.spent:
        return ["Nothing: no question was asked of the rows."]
    lines = []
    for step in merge_small(steps(privacy)):
        share = "" if step.share is None else f", {step.share:.1%} of the budget"
        lines.append(f"{step.what}; {step.mechanism}; {step.amount:.6g} {step.currency}{share}")
    if privacy.max_rows not in (None, 1):
        times = f"{privacy.max_rows:,}" + (" squared" if privacy.delta else "")
        lines.append(f"Amounts are for one row; for all rows of one {privacy.unit} they count {times} times.")
    return lines
