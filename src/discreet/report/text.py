"""The graph and the promise for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from discreet.directions import NOT_TRUTH, Directions
from discreet.discovery import Confidence, Discovery, Privacy
from discreet.graph import Graph, Pair
from discreet.report.words import kept_to, not_promised, promised, recorded, spendings, spent

WIDTH = 96
MOST = 0.999
"""A probability above this is said to be so."""


def graph_text(graph: Graph, confidence: Mapping[Pair, Confidence] | None = None) -> str:
    """Return one line an edge, causes first, with how sure it is, and the columns that stand alone."""
    edges = list(graph.edges())
    touched = {node for a, b, _ in edges for node in (a, b)}
    wide = max((len(a) for a, _, _ in edges), default=0)
    right = max((len(b) for _, b, _ in edges), default=0)
    sure = {pair: f"  {words}" for pair, words in confidence_words(confidence or {}).items()}
    lines = [
        f"  {a:>{wide}}  {'──▶' if directed else '───'}  {b:<{right}}{sure.get(frozenset((a, b)), '')}".rstrip()
        for a, b, directed in edges
    ]
    alone = [node for node in graph.nodes if node not in touched]
    if alone:
        lines.append(fold("  no edge: " + ", ".join(alone), "    "))
    return "\n".join(lines)


def confidence_words(confidence: Mapping[Pair, Confidence]) -> dict[Pair, str]:
    """Return how sure every edge is, and its arrowhead if it has one."""
    return {
        pair: f"edge {sure.edge:.0%}" + ("" if sure.arrow is None else f", arrow {sure.arrow:.0%}")
        for pair, sure in confidence.items()
    }


def summary_text(discovery: Discovery) -> str:
    """Return one line about what was found."""
    arrows, lines = len(discovery.graph.directed), len(discovery.graph.undirected)
    edges = "1 edge" if arrows + lines == 1 else f"{arrows + lines} edges"
    return (
        f"{len(discovery.graph.nodes)} columns, {discovery.domain.rows:,} rows: {edges}, "
        f"{arrows} with a direction (──▶), {lines} without (───)"
    )


def statement_text(discovery: Discovery) -> str:
    """Return the privacy statement."""
    return statement(discovery.privacy, discovery.domain.rows, not_promised(discovery.privacy), spent(discovery))


def direction_text(found: Directions) -> str:
    """Return one line a pair, causes first, with how sure the noise leaves it."""
    lines = []
    wide = max(len(pair.cause or pair.x) for pair in found.pairs)
    right = max(len(pair.effect or pair.y) for pair in found.pairs)
    for pair in found.pairs:
        mark = "───" if pair.cause is None else "──▶"
        share = "" if pair.sure is None else f"over {MOST:g}" if pair.sure > MOST else f"{pair.sure:.3f}"
        sure = "" if pair.sure is None else f", not turned round by its noise with probability {share}"
        noise = "" if pair.scale is None else f" (noise {pair.scale:.2g})"
        close = "" if pair.doubt is None else f" {pair.doubt}:"
        lines.append(
            f"  {pair.cause or pair.x:>{wide}}  {mark}  {pair.effect or pair.y:<{right}} {close} "
            f"margin {abs(pair.margin) if pair.cause else pair.margin:.3g}{noise}{sure}"
        )
    return "\n".join([*lines, "", fold(NOT_TRUTH, "")])


def direction_statement(found: Directions) -> str:
    """Return the privacy statement of directions."""
    limits = not_promised(found.privacy, f"That a direction is true. {NOT_TRUTH}")
    return statement(found.privacy, found.rows, limits, spendings(found.privacy))


def statement(privacy: Privacy, rows: int, limits: list[str], spendings: list[str]) -> str:
    """Return a privacy statement from its parts."""
    blocks = [("Promised", promised(privacy, rows)), ("Not promised", limits), ("Spent", spendings)]
    blocks.append(("Recorded", [recorded(privacy)]))
    lines = [f"Privacy: epsilon {privacy.epsilon:g}, delta {privacy.delta:g}, for {kept_to(privacy)}"]
    for title, points in blocks:
        lines += ["", f"{title}:"] + [fold(f"  - {point}", "    ") for point in points]
    return "\n".join(lines)


def fold(text: str, indent: str) -> str:
    """Return text in lines that fit."""
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_long_words=False)
