"""A release in plain words: what was found, what it rests on, what was promised to whom, and what was not."""

from __future__ import annotations

import math
from collections.abc import Sequence

from discreet.domain import UNIT, Column, Numeric
from discreet.privacy.statement import Privacy
from discreet.release.direction import FAMILIES, Direction
from discreet.release.discovery import CHANGED, Discovery
from discreet.release.release import STRONGEST, weakest_seen
from discreet.report.budget import merge_small, steps
from discreet.search.graph import Graph, Pair

GRAPH_IS_NOT_TRUTH = (
    "That the graph is true: it is the data's answer, blurred by noise, under the assumptions that there are no hidden "
    "common causes and that no effects cancel out. An arrow is a hypothesis worth testing."
)


NO_CONFIDENCE = "No confidence is stated here, so every arrow of the class is drawn, however unsure."

MOST_LEVELS = 40
"""Levels of a column that are listed."""

TITLES = {True: "Private causal graph", False: "Causal graph, NOT PRIVATE"}


def title_words(discovery: Discovery) -> str:
    """Return what a release is called: by its custodian, else by its data set, else by what it is."""
    stamp = discovery.privacy.ledger
    usual = TITLES[discovery.privacy.private]
    return discovery.about.title or (f"{usual} of {stamp.dataset}" if stamp and stamp.dataset else usual)


def summary_words(discovery: Discovery, arrow: str = "", line: str = "") -> str:
    """Return in a line what was found, as it is drawn, and how many directions are withheld."""
    parts = [found_words(discovery.drawn, discovery.domain.rows, arrow, line)]
    if given := sum(discovery.knowledge.settles(*arc) is not None for arc in discovery.drawn.directed):
        parts.append(f"{_count(given, 'direction')} given, not found")
    if discovery.withheld:
        parts.append(f"{_count(len(discovery.withheld), 'direction')} withheld as less likely than not")
    if warned := sum(bool(row.warnings) for row in discovery.edges):
        parts.append(f"{_count(warned, 'edge')} with a warning")
    return "; ".join(parts)


def _count(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number} {what}s"


WARNING = "warning"
"""How a note begins that casts doubt on an edge."""


def casts_doubt(notes: Sequence[str]) -> bool:
    """Whether one of the notes of an edge is a warning."""
    return any(note.startswith(WARNING) for note in notes)


def edge_notes(discovery: Discovery) -> dict[Pair, list[str]]:
    """Return what is told of edges beside their confidence, in a few words each."""
    notes: dict[Pair, list[str]] = {}
    for row in discovery.edges:
        settled = discovery.knowledge.settles(row.a, row.b) if row.mark == "-->" else None
        told = [] if settled is None else [f"settled by {settled}"]
        told += [] if row.strength is None else [row.strength.words]
        told += [_shape_words(pair) for pair in discovery.directions or () if {pair.x, pair.y} == {row.a, row.b}]
        notes[frozenset((row.a, row.b))] = told + [f"{WARNING}: {words}" for words in row.warnings]
    return notes


def _shape_words(pair: Direction) -> str:
    """Return what the shape of both columns says about which is the cause."""
    if pair.cause is None or pair.right is None:
        return f"by shape: {pair.doubt}"
    return f"by shape: {pair.cause} causes {pair.effect} ({pair.right:.0%})"


def shape_words(discovery: Discovery) -> list[str]:
    """Return what directions by shape rest on."""
    if discovery.directions is None:
        return []
    if not discovery.directions:
        return [
            "By shape: no edge was left open between columns with an order and four levels at least, and the share of "
            "the budget that was kept for such edges was not spent."
        ]
    words = "By shape: a fresh table of both columns was read, which rests on another assumption than arrows do."
    return [f"{words} {FAMILIES}"]


def knowledge_words(discovery: Discovery) -> list[str]:
    """Return the background knowledge that was given, and which columns it leaves out."""
    known = discovery.knowledge
    lines = [f"Tiers, the earliest first: {'; then '.join(', '.join(tier) for tier in known.tiers)}."] * bool(
        known.tiers
    )
    for kind, arcs in (("Required", known.required), ("Forbidden", known.forbidden)):
        if arcs:
            lines.append(f"{kind}: {', '.join(f'{a} to {b}' for a, b in sorted(arcs))}.")
    again = discovery.settings.get("knowledge") == CHANGED
    by = "by whoever searched the release again" if again else "by the custodian"
    return [*([f"Given {by}, not found in the rows."] if lines else []), *lines, *untiered_words(discovery)]


def untiered_words(discovery: Discovery) -> list[str]:
    """Return which columns stand in no tier, and what that means."""
    left = discovery.knowledge.untiered(discovery.domain)
    words = f"In no tier: {', '.join(left)}. Of these no order in time is assumed: an arrow may point either way."
    return [words] if left else []


NAMED = 2
"""Sets of which a column may be a function that are named."""


def function_words(discovery: Discovery) -> list[str]:
    """Return which columns look like functions of others, and what that means."""
    functions = discovery.functions.items()
    named = [f"{column} of {' or of '.join(map(' and '.join, sets[:NAMED]))}" for column, sets in functions]
    words = (
        f"Look like functions of others (sums, codes, copies): {', '.join(named)}. Links among them may be there by "
        "construction, and which of them has to do with a further column may be impossible to tell."
    )
    return [words] if named else []


def clipped_words(discovery: Discovery) -> list[str]:
    """Return that rows were clipped, and what that means."""
    words = (
        "Rows were clipped: since noise rules here, rows with many uncommon values counted less than one each, which "
        "leaves more signal for the same promise. In the released tables uncommon values are a little too rare; rows "
        "drawn from the release make up for it. The option --clip never measures all rows alike."
    )
    return [words] if any(measured.clipped for measured in discovery.measurements) else []


def weakest_words(discovery: Discovery) -> str:
    """Return the weakest dependence that stands out of sampling and noise, from the first release of pairs."""
    first = next((measured for measured in discovery.measurements if measured.pairs), None)
    if first is None:
        return "Not stated: this method releases a graph, and no tables whose noise would tell."
    seen = weakest_seen(discovery.domain.rows, first.variance) / STRONGEST
    if seen >= 1:
        return "None: between two even yes/no columns, not even a copy stands out of the noise."
    return (
        f"A correlation of {seen:.2g} between two even yes/no columns. Weaker links were likely missed; rare levels "
        "take stronger ones."
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
    which = "any one row" if privacy.absent else f"any one of the {rows:,} rows"
    instead = f"had that row {'been absent or ' * privacy.absent}held anything else"
    whom = f"{whom} behind {which}"
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
    if privacy.absent:
        return "adding, removing or replacing one row"
    return "replacing one row" if privacy.max_rows is None else f"changing all rows of one {privacy.unit}"


def not_promised_words(privacy: Privacy, truth: str = GRAPH_IS_NOT_TRUTH) -> list[str]:
    """Return what was not promised; last what it would take for the answer to be true."""
    return [
        "That nothing can be learned about you: what holds for people like you may be inferred about you, whether or "
        "not you took part.",
        beyond_words(privacy),
        f"The number of rows{' that are used' * privacy.chosen} and the declared domain: they are public.",
        "That running this again is free: every further release from the same rows adds to the cost.",
        truth,
    ]


def cut_short_words(discovery: Discovery) -> list[str]:
    """Return what a run could not ask any more."""
    lines = []
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
    named = f", under the name {stamp.dataset}" if stamp.dataset else ""
    return f"Entry {stamp.entry} of ledger {stamp.ledger}{named}; its head was {stamp.head} then."


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


def declared_words(column: Column) -> str:
    """Return what was declared of a column, in words."""
    if not isinstance(column, Numeric):
        more = column.size - MOST_LEVELS
        return ", ".join(column.levels[:MOST_LEVELS]) + (f" and {more:,} more" if more > 0 else "")
    words = f"numbers from {column.bounds[0]:g} to {column.bounds[1]:g}"
    if column.tabulable:
        edges = ", ".join(f"{edge:.4g}" for edge in column.edges[1:-1][:MOST_LEVELS])
        words += f", in {len(column.edges) - 1} bins" + (f" cut at {edges}" if edges else "")
    return words + "".join(f"; {place}: a level of its own" for place in (column.missing, column.other) if place)
