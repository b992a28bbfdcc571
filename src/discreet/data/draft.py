"""A draft domain for the custodian to edit. It looks at the data, so it is not public until somebody has judged it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from discreet.data.engines.source import EngineSource
from discreet.data.files import Source
from discreet.data.load import open_source
from discreet.data.misfits import Look
from discreet.domain import DRAFT, Categorical, Column, Domain, Numeric
from discreet.domain.columns import write_column
from discreet.domain.spelling import IGNORED, fold
from discreet.domain.yaml import dump_yaml, parse_number
from discreet.errors import TableError

NOTICE = f"""\
{DRAFT}
# Go through every line: would you have written it without seeing these rows? Replace what you would not:
# categories by the official code list, bounds by what is possible, not by what occurs. Then delete this notice.
# `missing:` and `other:` say where missing and foreign values go; without them such values stop the run.
"""

MOST_LABELS = 12
"""Texts of a column that become categories; the others go to ``other``."""

MOST_WHOLE = 10
"""Different whole numbers that are taken for codes; if there are more, for amounts."""

UNKNOWN = (
    "unknown",
    "not known",
    "unk",
    "refused",
    "not stated",
    "no answer",
    "don't know",
    "dk",
    "missing",
    "9",
    "99",
    "999",
)
"""Labels of which a draft asks whether they mean missing."""

COMMON = 0.02
"""A number that often means missing is asked about if more than this share of the rows has it."""

FREE_TEXT = 0.5
"""Texts of which more than this share of the rows would go to ``other`` are free text."""

MISSING_TEXTS = ("NA", "N/A", "n/a", "na", "NaN", "nan", "NULL", "null", "#N/A", ".", "-", "?", "(null)", "<NA>")
"""Texts that mean missing in many tables."""

_NINES = [float(sign + digit * times) for sign in ("", "-") for digit in "789" for times in range(1, 6)]
MISSING_NUMBERS = frozenset([n for n in _NINES if n < 0 or n > 9] + [97, 98, 997, 998, 9997, 9998])
"""Numbers that mean missing in many tables, if they lie apart from all others."""

SYNONYMS = {"m": "male", "f": "female", "w": "woman", "y": "yes", "n": "no", "t": "true"}
"""Short ways to write a category, where the long one occurs too."""

NOTATIONS = ((".", None), (".", ","), (".", " "), (".", "'"), (",", None), (",", "."), (",", " "))
"""Ways to write numbers, in the order in which they are tried: the sign before decimals, and that between thousands."""

UNITS = ("%", "€", "$", "£", "kg", "cm", "mm", "mg", "EUR", "USD")
"""Texts beside numbers that are left out."""

_ANY = Numeric(bounds=(0.0, 1.0), missing_codes=MISSING_TEXTS)
_ID = re.compile(
    r"(^|[_\W])(id|ids|nr|no|key|uid|pid|mrn|ssn|seqn|patient|person|subject)([_\W]|$)|[a-z]I[dD]$|id$", re.IGNORECASE
)
_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([ T]\d{1,2}:.*)?")
_NESTED = re.compile(r"struct|map\(|map<|array|\[\]|json|blob|binary|union", re.IGNORECASE)
_TEXTS = ("varchar", "string")
LONG_ENOUGH = 20
"""Rows from which a column whose values all differ is one of ids."""


@dataclass(frozen=True, repr=False)
class Line:
    """What a draft says of a column: its declaration with what to judge, or why it is left out."""

    name: str
    column: Column | None
    words: str


class Draft(str):
    """The text of a draft domain, for the custodian to judge. Its repr shows nothing of it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<Draft of a domain, made by LOOKING AT THE DATA: print it, judge every line, then delete its notice>"

    def _repr_html_(self) -> str:
        """Show the text in a notebook."""
        return f'<pre style="font-family:monospace">{escape(self)}</pre>'


def draft(data: object) -> Draft:
    """Write a draft domain of a table, for the custodian to edit. It looks at the data.

    The text is YAML. ``Domain.from_yaml`` reads it, and nothing is published with it until its notice is deleted.

    Parameters
    ----------
    data
        A path, a table in memory, or one in an engine, as ``discover`` takes it.

    Raises
    ------
    TableError
        If the data cannot be read as a table.
    """
    return Draft(draft_yaml(open_source(data)))


def draft_lines(source: Source | EngineSource) -> list[Line]:
    """Return a line for every column of a table."""
    lines = [_line(source, name) for name in source.kinds]
    if all(line.column is None for line in lines):
        raise TableError(f"{source.name}: no column looks like categories or numbers")
    return lines


def draft_yaml(source: Source | EngineSource) -> str:
    """Return the draft as YAML with its notice, and above every column what to judge."""
    source.keep()
    lines = draft_lines(source)
    Domain({line.name: line.column for line in lines if line.column is not None}, rows=source.rows)
    parts = [NOTICE, *(f"# left out: {line.name!r}: {line.words}\n" for line in lines if line.column is None)]
    parts.append(f"# the number of rows is published with every release\nrows: {source.rows}\n")
    parts.append(
        "# what one row stands for, in a word; `unit: {name: person, id: COLUMN, max_rows: N}` if it has several\n"
    )
    parts.append("unit: row\ncolumns:\n")
    for line in lines:
        if line.column is not None:
            declared = dump_yaml({line.name: _with_short_bounds(write_column(line.column))})
            parts.append(f"  # {line.words}\n" + "".join(f"  {part}\n" for part in declared.splitlines()))
    return "".join(parts)


def _with_short_bounds(declared: dict[str, Any]) -> dict[str, Any]:
    """Return a declaration with whole bounds as such."""
    bounds = [int(b) if b.is_integer() else b for b in declared.get("bounds", ())]
    return {**declared, "bounds": bounds} if bounds else declared


def _line(source: Source | EngineSource, name: str) -> Line:
    """Look at one column, and say what it is."""
    if _NESTED.search(source.kinds[name]):
        return Line(name, None, "its values are lists, records or bytes")
    seen = source.look(name, MOST_LABELS, _ANY)
    codes = _codes_in(source, name)
    reading = _notation(source, name, seen)
    reason = _why_left_out(source, name, seen) if reading is None or not reading.rewriting else None
    if reason is not None:
        return Line(name, None, reason)
    if reading is None:
        return _draft_texts(name, seen, codes, source.rows)
    return _draft_numbers(source, name, replace(reading, missing_codes=codes))


def _codes_in(source: Source | EngineSource, name: str) -> tuple[str, ...]:
    """Return the texts for missing values that occur."""
    column = Categorical(categories=MISSING_TEXTS, ignore=("spaces",), other="other", missing="missing")
    return source.which(name, column)


def _why_left_out(source: Source | EngineSource, name: str, seen: Look) -> str | None:
    """Return why a column has no place in a causal graph; None if it has one."""
    if seen.different <= 1:
        constant = seen.different and not seen.missing
        return "it has the same value in every row" if constant else None if seen.different else "it is empty"
    if seen.timed or all(_DATE.fullmatch(_trimmed(text)) for text in seen.labels):
        return "dates; make an age, a duration or a year of it that can be a cause"
    if seen.strange == 0 and not seen.whole:
        return None
    return _why_an_id(name, seen, source.rows - seen.missing)


def _why_an_id(name: str, seen: Look, present: int) -> str | None:
    """Return why texts or whole numbers look like ids; None if they do not."""
    texts, named = seen.strange > 0, _ID.search(name) is not None
    dense = not texts and seen.low is not None and seen.high is not None and seen.high - seen.low < 2 * present
    if seen.different == present >= LONG_ENOUGH and (texts or named or dense):
        return "an id: it differs from row to row"
    if named and seen.different > max(MOST_LABELS, present // 50):
        return (
            "an id that comes back. If it tells people apart, protect them with all their rows: "
            f"`unit: {{name: person, id: {name!r}, max_rows: 1}}`, or a few more than 1"
        )
    return None


def _notation(source: Source | EngineSource, name: str, seen: Look) -> Numeric | None:
    """Return the first way to write numbers in which the whole column is numbers; None if it is none in any."""
    if seen.strange == 0:
        return None if seen.low is None or source.kinds[name].lower() == "boolean" else _ANY
    for units in ((), UNITS):
        for decimal, thousands in NOTATIONS:
            reading = replace(_ANY, units=units, decimal=decimal, thousands=thousands)
            if not any(sign in label for label in seen.labels for sign, _ in reading.rewriting):
                continue
            if thousands and not all(_in_threes(label, thousands) for label in seen.labels):
                continue
            found = source.look(name, 1, reading)
            if found.strange == 0 and found.low is not None:
                return replace(reading, units=tuple(u for u in units if any(u in label for label in seen.labels)))
    return None


def _in_threes(text: str, sign: str) -> bool:
    """Whether three digits follow every sign between thousands."""
    return all(re.match(r"\d{3}(?!\d)", part) for part in text.replace("\u00a0", " ").strip().split(sign)[1:])


def _draft_numbers(source: Source | EngineSource, name: str, reading: Numeric) -> Line:
    """Return numbers: few whole ones are codes, others have bounds that are round."""
    found = source.look(name, MOST_WHOLE + len(MISSING_NUMBERS), reading)
    reading = _without_sentinels(source, name, reading, found)
    found = source.look(name, MOST_WHOLE + 1, reading)
    finite = all(_float(label) is not None for label in found.labels)
    if found.whole and finite and 0 < found.different <= MOST_WHOLE and not reading.rewriting:
        return _draft_codes(name, found, reading.missing_codes)
    low, high = found.low, found.high
    if low is None or high is None or not math.isfinite(high - low):
        return Line(name, None, "its numbers are too far apart for bounds")
    low, high = (low, high) if low < high else (low - 1, high + 1)
    step = 10.0 ** math.floor(math.log10(high - low))
    bounds = (math.floor(low / step) * step, math.ceil(high / step) * step)
    column = replace(reading, bounds=bounds, missing="missing" if found.missing else None)
    asked = _asked(found, source.rows) + (_points(found) if source.kinds[name].lower() in _TEXTS else "")
    return Line(
        name, column, "Which numbers are possible? Those beyond the bounds count as the bounds." + _said(column) + asked
    )


def _without_sentinels(source: Source | EngineSource, name: str, reading: Numeric, found: Look) -> Numeric:
    """Return the reading with numbers among the codes that mean missing and lie apart from all others."""
    met = [*(_float(text) for text in found.labels), found.low, found.high]
    suspects = sorted({number for number in met if number is not None and number in MISSING_NUMBERS}, key=abs)
    if not suspects:
        return reading
    rest = source.look(name, 1, _with_codes(reading, suspects))
    if rest.low is None or rest.high is None:
        return reading
    low, high = rest.low, rest.high
    return _with_codes(reading, [n for n in suspects if max(low - n, n - high) > (high - low) / 2 or n < 0 <= low])


def _with_codes(reading: Numeric, numbers: Sequence[float]) -> Numeric:
    return replace(reading, missing_codes=(*reading.missing_codes, *(f"{number:g}" for number in numbers)))


def _float(text: str) -> float | None:
    number = parse_number(_trimmed(text))
    return None if number is None else float(number)


def _short(label: str) -> str:
    """Return a whole number of a column of numbers as it is written by people."""
    number = parse_number(label)
    return label if number is None or len(str(number)) > len(label) else str(number)


def _asked(found: Look, rows: int) -> str:
    """Return what to judge about numbers that are common and mean missing in many tables."""
    met = [la for la, n in found.labels.items() if _float(la) in MISSING_NUMBERS | {9.0, -1.0} and n > COMMON * rows]
    return f" {_list(met)} in many rows: codes for missing?" if met else ""


def _points(found: Look) -> str:
    """Return what to judge about numbers that always have three digits behind a point."""
    signed = [label for label in found.labels if "." in label]
    threes = signed and all(re.fullmatch(r"-?\d{1,3}(\.\d{3})+", label) for label in signed)
    return " Is the point a sign between thousands? Then add `decimal: ','` and `thousands: '.'`." if threes else ""


def _unknown(labels: Sequence[str]) -> str:
    """Return what to judge about labels that may mean missing."""
    met = [label for label in labels if fold(label, IGNORED) in UNKNOWN]
    return f" {_list(met)}: a value, or missing (`missing_codes`)?" if met else ""


def _list(texts: Sequence[str]) -> str:
    return ", ".join(f"`{text}`" for text in texts)


def _draft_codes(name: str, seen: Look, codes: tuple[str, ...]) -> Line:
    """Return a few whole numbers as categories."""
    met = {_short(label): label for label in sorted(seen.labels, key=_sort_key)}
    labels = list(met) if len(met) == len(seen.labels) else sorted(seen.labels, key=_sort_key)
    place = _place("missing", labels) if seen.missing else None
    ordered = [_float(label) for label in labels] == [0.0, 1.0]
    merge = {short: (label,) for short, label in met.items() if short in labels and short != label}
    column = Categorical(categories=tuple(labels), ordered=ordered, missing=place, missing_codes=codes, merge=merge)
    words = "Are these all values that are possible?" + _unknown(labels)
    return Line(
        name,
        column,
        words + ("" if ordered else " Add `ordered: true` if their order means something.") + _said(column),
    )


def _draft_texts(name: str, seen: Look, codes: tuple[str, ...], rows: int) -> Line:
    """Return texts as categories: the common ones, the others together."""
    labels = {label: _trimmed(label) for label in seen.labels}
    blank = any(not short for short in labels.values())
    labels = {la: short for la, short in labels.items() if short and short not in MISSING_TEXTS and short.isprintable()}
    rest = sum(seen.labels.values()) < rows - seen.missing or any(not la.isprintable() for la in seen.labels)
    others = rows - seen.missing - sum(seen.labels[label] for label in labels)
    if not labels or others > FREE_TEXT * (rows - seen.missing):
        return Line(name, None, "free text, or too many different texts")
    kept: dict[str, str] = {}
    for short in labels.values():  # the most common way to write it comes first
        kept.setdefault(fold(short, IGNORED), short)
    ignored = IGNORED if blank or len(kept) < len(labels) or any(la != short for la, short in labels.items()) else ()
    merge: dict[str, tuple[str, ...]] = {}
    for short, long in SYNONYMS.items():
        if short in kept and long in kept:
            merge[kept[long]] = (kept.pop(short),)
    chosen = sorted(kept.values(), key=_sort_key)
    column = Categorical(
        categories=tuple(chosen),
        missing=_place("missing", chosen) if seen.missing or codes or blank else None,
        other=_place("other", chosen) if rest else None,
        missing_codes=tuple({fold(code, ignored): code for code in codes}.values()),
        merge=merge,
        ignore=ignored,
    )
    return Line(name, column, "Is this the whole list?" + _said(column) + _unknown(chosen))


def _trimmed(text: str) -> str:
    return fold(text, ("spaces",))


def _said(column: Column) -> str:
    """Return what else there is to judge."""
    words = []
    if column.missing_codes:
        words.append(f"Taken for missing: {', '.join(f'`{code}`' for code in column.missing_codes)}.")
    if isinstance(column, Categorical):
        words += ["All rarer texts go to `other`."] if column.other else []
        words += ["Capital letters and spaces at the ends do not matter."] if column.ignore else []
        words += ["Two ways to write the same are merged."] if column.merge else []
    elif column.rewriting:
        words.append("Read with the signs below.")
    return "".join(f" {part}" for part in words)


def _place(word: str, labels: Sequence[str]) -> str:
    """Return a name for a place that is not a label itself."""
    while fold(word, IGNORED) in {fold(label, IGNORED) for label in labels}:
        word = f"({word})"
    return word


def _sort_key(label: str) -> tuple[int, float, str]:
    """Sort numbers by size, before texts."""
    number = _float(label)
    return (1, 0.0, label) if number is None else (0, number, label)
