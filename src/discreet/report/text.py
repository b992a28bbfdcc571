"""The graph and the promise for a terminal."""

from __future__ import annotations

import shutil
import textwrap

from discreet.directions import NOT_TRUTH, Directions
from discreet.discovery import Discovery, Privacy
from discreet.report.budget import balance
from discreet.report.terminal import graph_text, summary_text
from discreet.report.words import kept_to, not_promised, promised, recorded, spendings, spent

__all__ = ["graph_text", "summary_text"]

WIDTH, NARROWEST = 96, 40
"""Columns of folded words: what the terminal has, between these."""

MOST = 0.999
"""A probability above this is said to be so."""


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
    blocks = [
        ("Promised", promised(privacy, rows)),
        ("Not promised", limits),
        ("Spent", [balance(privacy), *spendings] if privacy.spent else spendings),
    ]
    blocks.append(("Recorded", [recorded(privacy)]))
    lines = [f"Privacy: epsilon {privacy.epsilon:g}, delta {privacy.delta:g}, for {kept_to(privacy)}"]
    for title, points in blocks:
        lines += ["", f"{title}:"] + [fold(f"  - {point}", "    ") for point in points]
    return "\n".join(lines)


def fold(text: str, indent: str) -> str:
    """Return text in lines that fit the terminal."""
    width = max(min(shutil.get_terminal_size((WIDTH, 24)).columns, WIDTH), NARROWEST)
    return textwrap.fill(text, width, subsequent_indent=indent, break_long_words=False)
