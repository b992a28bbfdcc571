"""What a terminal shows: graphs cause by cause, directions, answers to tests, and privacy statements."""

from __future__ import annotations

import shutil
import textwrap
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from discreet.privacy.statement import Privacy
from discreet.release.answer import NOT_PROOF, Answer
from discreet.release.direction import Direction, Directions
from discreet.release.discovery import Confidence, Discovery
from discreet.release.missing import LEAVE_OUT
from discreet.report.budget import balance
from discreet.report.layout import visible
from discreet.report.words import (
    NO_CONFIDENCE,
    WARNING,
    clipped_words,
    cut_short_words,
    edge_notes,
    function_words,
    neighbour_words,
    not_promised_words,
    promised_words,
    recorded_words,
    shape_words,
    summary_words,
    untiered_words,
)
from discreet.search.graph import Edge, Graph, Mark, Pair

WIDEST, WIDTH, NARROWEST = 120, 96, 40
"""Columns that graphs and folded words take of a terminal: what it has, up to these, and no fewer than the last."""

SURE_BAR = 5
NAMES = 24
"""Columns that names get, if they need them, before confidence is told in full."""

LEAST_P = 1e-15
"""A p-value below this is not told more closely."""

MISSING_IS_A_LEVEL = (
    "Missing values are counted as a level here: columns whose values are missing together are dependent. "
    "`--missing leave-out` asks about rows in which values are known"
)

NEARLY_SURE = 0.999
"""A probability above this is said to be so."""


@dataclass(frozen=True)
class Marks:
    """The characters that edges and bars are drawn with."""

    arrow: str
    line: str
    full: str
    empty: str
    cut: str
    back: str

    def between(self, edge: Edge, first: str) -> str:
        """Return an edge as it is drawn from one of its ends to the other."""
        left, right = (edge.at_a, edge.at_b) if edge.a == first else (edge.at_b, edge.at_a)
        plain = self.line[0]
        starts = {Mark.TAIL: plain, Mark.ARROW: self.back, Mark.CIRCLE: "o"}
        ends = {Mark.TAIL: plain, Mark.ARROW: self.arrow[-1], Mark.CIRCLE: "o"}
        return f"{starts[left]}{plain}{ends[right]}"


LINES = Marks("──▶", "───", "█", "░", "…", "◀")
ASCII = Marks("-->", "---", "#", ".", "~", "<")
"""For terminals and files that know nothing else."""


def marks_for(stream: TextIO) -> Marks:
    """Return marks that a stream can write."""
    try:
        "".join(vars(LINES).values()).encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return LINES


def fold(text: str, indent: str) -> str:
    """Return text in lines that fit the terminal."""
    return textwrap.fill(text, _columns(WIDTH), subsequent_indent=indent, break_long_words=False)


def _columns(most: int, given: int | None = None) -> int:
    """Return how many columns are used, of those of the terminal unless they are given."""
    return max(min(given or shutil.get_terminal_size((most, 24)).columns, most), NARROWEST)


def summary_text(discovery: Discovery, marks: Marks = LINES) -> str:
    """Return one line about what was found."""
    return summary_words(discovery, marks.arrow, marks.line)


def discovery_text(discovery: Discovery, marks: Marks = LINES) -> str:
    """Return what was found: a line about it, the edges as people see them, and what these rest on."""
    notes, warnings = _numbered(edge_notes(discovery))
    drawn = graph_text(discovery.drawn, discovery.confidence, notes=notes, marks=marks)
    parts = [summary_text(discovery, marks), drawn]
    if warnings:
        parts.append("\n".join(fold(visible(words), "    ") for words in warnings))
    if discovery.graph.directed and not discovery.confidence:
        parts.append(fold(NO_CONFIDENCE, ""))
    told = (
        *function_words(discovery),
        *clipped_words(discovery),
        *shape_words(discovery),
        *untiered_words(discovery),
    )
    parts += [fold(visible(words), "") for words in told]
    return "\n\n".join(parts)


def _numbered(notes: Mapping[Pair, Sequence[str]]) -> tuple[dict[Pair, list[str]], list[str]]:
    """Return notes with warnings by number, and what the numbers stand for: many edges share one."""
    met = dict.fromkeys(note for told in notes.values() for note in told if note.startswith(WARNING))
    number = {note: f"{WARNING} {i}" for i, note in enumerate(met, 1)}
    short = {pair: [number.get(note, note) for note in told] for pair, told in notes.items()}
    return short, [f"{number[note]}{note.removeprefix(WARNING)}" for note in met]


def graph_text(
    graph: Graph,
    confidence: Mapping[Pair, Confidence] | None = None,
    *,
    notes: Mapping[Pair, Sequence[str]] | None = None,
    marks: Marks = LINES,
    width: int | None = None,
) -> str:
    """Return one line an edge, grouped by cause in the order of the layers, the surest first, with how sure it is.

    Notes stand behind their edge, or below it where there is no room. Columns that stand alone come last. By default
    as wide as the terminal.
    """
    sure = confidence or {}
    width = _columns(WIDEST, width)
    groups = _groups(graph, sure)
    edges = [(a, b) for a, found in groups for b, _ in found]
    drawn = {edge.pair: edge for edge in graph.marked}
    names = [_cells(a) for a, _ in groups], [_cells(b) for _, b in edges]
    for form in (_with_bar, _in_words, _in_numbers):  # the first that leaves room for names
        words = {pair: form(sure[pair], edge.directed, marks) for pair, edge in drawn.items() if pair in sure}
        spare = width - 11 - max((len(text) for text in words.values()), default=-2)
        if spare >= min(NAMES, max(names[0], default=0) + max(names[1], default=0)):
            break
    left, right = _shares(*names, spare)
    lines = []
    for a, found in groups:
        for i, (b, edge) in enumerate(found):
            cause, effect = _fit("" if i else a, left, marks), _fit(b, right, marks)
            line = f"  {cause}  {marks.between(edge, a)}  {effect}  {words.get(edge.pair, '')}".rstrip()
            lines += _beside(line, (notes or {}).get(edge.pair, ()), width)
    touched = {node for pair in edges for node in pair}
    if alone := [visible(node) for node in graph.nodes if node not in touched]:
        folded = textwrap.fill("  no edge: " + ", ".join(alone), width, subsequent_indent="    ")
        lines += ([""] if lines else []) + [folded]
    return "\n".join(lines)


def layers(graph: Graph) -> dict[str, int]:
    """Return how many arrows lead to each column, one after the other, at most."""
    depth = dict.fromkeys(graph.nodes, 0)
    for _ in graph.nodes:
        deeper = dict(depth)
        for a, b in graph.directed:
            deeper[b] = max(deeper[b], depth[a] + 1)
        if deeper == depth:
            break
        depth = deeper
    return depth


def _groups(graph: Graph, sure: Mapping[Pair, Confidence]) -> list[tuple[str, list[tuple[str, Edge]]]]:
    """Return every cause with its effects; an edge without a direction stands with that end which comes first."""
    depth, place = layers(graph), {node: i for i, node in enumerate(graph.nodes)}

    def rank(node: str) -> tuple[int, int]:
        return depth[node], place[node]

    found: dict[str, list[tuple[str, Edge]]] = {}
    for edge in graph.edges():
        a, b = edge.a, edge.b
        first, second = (a, b) if edge.at_b is Mark.ARROW or rank(a) <= rank(b) else (b, a)
        found.setdefault(first, []).append((second, edge))

    def least(a: str, b: str) -> float:
        one = sure.get(frozenset((a, b)))
        return 0.0 if one is None else -one.edge

    return [(a, sorted(found[a], key=lambda e: (least(a, e[0]), rank(e[0])))) for a in sorted(found, key=rank)]


def _beside(line: str, notes: Sequence[str], width: int) -> list[str]:
    """Return a line with what is noted of it behind, or below where there is no room."""
    noted = "; ".join(notes)
    if not noted or _cells(line) + 2 + _cells(noted) <= width:
        return [f"{line}  {noted}".rstrip()]
    return [line, textwrap.fill(noted, width, initial_indent="    ", subsequent_indent="    ")]


def _with_bar(sure: Confidence, directed: bool, marks: Marks) -> str:
    filled = round(sure.edge * SURE_BAR)
    return f"{marks.full * filled}{marks.empty * (SURE_BAR - filled)} {_in_words(sure, directed, marks)}"


def _in_words(sure: Confidence, directed: bool, _marks: Marks) -> str:
    return f"edge {sure.edge:.0%}" + (f", arrow {sure.arrow:.0%}" if directed and sure.arrow is not None else "")


def _in_numbers(sure: Confidence, directed: bool, _marks: Marks) -> str:
    return f"{sure.edge:.0%}" + (f" {sure.arrow:.0%}" if directed and sure.arrow is not None else "")


def _shares(left: Sequence[int], right: Sequence[int], spare: int) -> tuple[int, int]:
    """Return how wide the two columns of names are: as wide as they need, or as the terminal leaves them."""
    a, b = max(left, default=0), max(right, default=0)
    if a + b <= spare:
        return a, b
    half = max(spare // 2, 8)
    if a <= half:
        return a, max(spare - a, 8)
    return (max(spare - b, 8), b) if b <= half else (half, half)


def _cells(name: str) -> int:
    """Return how many columns of a terminal a name takes."""
    return sum(_cell(c) for c in visible(name))


def _cell(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _fit(name: str, width: int, marks: Marks) -> str:
    """Return a name in exactly so many columns, cut if it is longer."""
    name = visible(name)
    if _cells(name) > width:
        while _cells(name) > width - 1:
            name = name[:-1]
        name += marks.cut
    return name + " " * (width - _cells(name))


def direction_text(found: Directions) -> str:
    """Return one line a pair, causes first, with how sure it is."""
    lines = []
    wide = max(len(pair.cause or pair.x) for pair in found.pairs)
    right = max(len(pair.effect or pair.y) for pair in found.pairs)
    for pair in found.pairs:
        mark = LINES.line if pair.cause is None else LINES.arrow
        told = [pair.doubt] if pair.doubt else []
        if pair.table is None or pair.cause or not pair.flat:
            told.append(_asked_words(pair) if pair.table is None else _read_words(pair))
        lines.append(f"  {pair.cause or pair.x:>{wide}}  {mark}  {pair.effect or pair.y:<{right}}  {': '.join(told)}")
    return "\n".join([*lines, "", fold(found.note, "")])


def _read_words(pair: Direction) -> str:
    """Return how sure an answer is that was read off a table."""
    likelier = "" if pair.cause else f"{visible(pair.x if pair.margin > 0 else pair.y)} causes the other "
    return f"{likelier}with probability {pair.right:.2f} (its noise did not turn it round: {pair.not_flipped:.2f})"


def _asked_words(pair: Direction) -> str:
    """Return the margin of a score that was asked, and how sure its noise leaves it."""
    share = "" if pair.sure is None else f"over {NEARLY_SURE:g}" if pair.sure > NEARLY_SURE else f"{pair.sure:.3f}"
    sure = "" if pair.sure is None else f", not turned round by its noise with probability {share}"
    noise = "" if pair.scale is None else f" (noise {pair.scale:.2g})"
    return f"margin {abs(pair.margin) if pair.cause else pair.margin:.3g}{noise}{sure}"


def answer_text(found: Answer) -> str:
    """Return the decision in a line, what is promised of it, and what it does not mean."""
    decided = "no dependence found" if found.independent else "dependent"
    behind = f" given {', '.join(found.given)}" if found.given else ""
    behind += ", where values are known" * (found.missing == LEAVE_OUT)
    small = found.p_value is not None and found.p_value < LEAST_P
    value = "" if found.p_value is None else f", p-value {f'below {LEAST_P:g}' if small else f'{found.p_value:.3g}'}"
    kept = "" if found.level.controlled else " is not controlled"
    lines = [
        f"  {found.x} and {found.y}{behind}: {decided} (test {found.test}, alpha {found.alpha:g}{value})",
        "",
        fold(f"Level{kept}: {found.level.found}.", ""),
        fold(NOT_PROOF, ""),
        *([fold(f"{MISSING_IS_A_LEVEL}.", "")] if found.gaps and found.missing != LEAVE_OUT else []),
    ]
    return "\n".join(lines)


def statement_text(discovery: Discovery) -> str:
    """Return the privacy statement."""
    limits = not_promised_words(discovery.privacy)
    return _statement(discovery.privacy, discovery.domain.rows, limits, cut_short_words(discovery))


def statement_line(discovery: Discovery) -> str:
    """Return the privacy statement in a line; a report has it in full."""
    privacy = discovery.privacy
    return f"{_promise(privacy)}. What that promises, to whom, and what not: report.html."


def direction_statement(found: Directions) -> str:
    """Return the privacy statement of directions."""
    limits = not_promised_words(found.privacy, f"That a direction is true. {found.note}")
    return _statement(found.privacy, found.rows, limits)


def answer_statement(found: Answer) -> str:
    """Return the privacy statement of an answer."""
    limits = not_promised_words(found.privacy, f"That the answer is true. {NOT_PROOF}")
    return _statement(found.privacy, found.rows, limits)


def _promise(privacy: Privacy) -> str:
    if not privacy.private:
        return "Privacy: NONE, this was made with predictable noise"
    return f"Privacy: epsilon {privacy.epsilon:g}, delta {privacy.delta:g}, for {neighbour_words(privacy)}"


def _statement(privacy: Privacy, rows: int, limits: list[str], cut_short: Sequence[str] = ()) -> str:
    """Return a privacy statement from its parts."""
    blocks = [
        ("Promised", promised_words(privacy, rows)),
        ("Not promised", limits),
        ("Spent", [balance(privacy), *cut_short]),
        ("Recorded", [recorded_words(privacy)]),
    ]
    lines = [_promise(privacy)]
    for title, points in blocks:
        lines += ["", f"{title}:"] + [fold(f"  - {point}", "    ") for point in points]
    return "\n".join(lines)
