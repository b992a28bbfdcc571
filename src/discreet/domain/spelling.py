"""How declared values may be written in a table: public rules, each about one value alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from discreet.domain.yaml import parse_number
from discreet.errors import DomainError

Ignored = Literal["case", "spaces"]
IGNORED: tuple[Ignored, ...] = ("case", "spaces")
"""What may be ignored in texts."""

BLANKS = " \t\n\r\f\x0b"
"""Characters that are cut off at both ends of a text where spaces are ignored."""

_LETTERS = [chr(i) for i in (*range(0x41, 0x250), *range(0x370, 0x530))]
CAPITALS = "".join(c for c in _LETTERS if len(c.lower()) == 1 and c.lower() != c and c.lower().upper() == c)
SMALL = CAPITALS.lower()
"""Latin, Greek and Cyrillic letters, capital and small: engines change one into the other character by character, since
their own rules for case differ.
"""

HARD_BLANK = "\u00a0"
"""A space that spreadsheets write; where spaces are ignored it is one like others."""


def fold(text: str, ignored: Iterable[Ignored]) -> str:
    """Return a text without what is ignored."""
    if "spaces" in ignored:
        text = text.replace(HARD_BLANK, " ").strip(BLANKS)
    return text.translate(str.maketrans(CAPITALS, SMALL)) if "case" in ignored else text


def check_ignored(ignored: Iterable[str]) -> None:
    """Refuse what cannot be ignored."""
    if not set(ignored) <= set(IGNORED):
        raise DomainError(f"ignore: some of {', '.join(IGNORED)}")


def check_signs(decimal: str, thousands: str | None, units: tuple[str, ...]) -> None:
    """Refuse signs that numbers could not be read with."""
    if decimal not in (".", ","):
        raise DomainError("decimal: the sign before decimals, `.` or `,`")
    if thousands is not None and (thousands == decimal or thousands not in (".", ",", "'", " ", "_", "\u2019")):
        raise DomainError("thousands: the sign between thousands, one of . , ' _ or a space, and not that of decimals")
    if any(not unit.strip(BLANKS) or parse_number(unit.strip(BLANKS)) is not None for unit in units):
        raise DomainError("units: texts beside a number that are left out, as in ['%', kg]; none is a number itself")
    if any(c in unit for unit in units for c in "0123456789.,+-eE" if len(unit) == 1):
        raise DomainError("units: a digit, a sign or the letter e alone is part of a number")


def rewriting(decimal: str, thousands: str | None, units: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return what is replaced by what, in this order, so that a number reads as engines write it."""
    changes = [(unit, "") for unit in sorted(units, key=len, reverse=True)]
    if thousands is not None:
        changes += [(thousands, ""), *([(HARD_BLANK, ""), ("\u202f", "")] if thousands == " " else [])]
    if decimal != ".":
        changes += [(".", "?"), (decimal, ".")]  # a point that means nothing here makes a text no number
    return tuple(changes)
