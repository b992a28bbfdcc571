"""The public domain as SQL: how a raw value becomes a code, for every engine that speaks SQL.

A code below the column's size is a level. Two codes beyond it mark values without a declared place:
``size`` for missing and ``size + 1`` for foreign ones; only the custodian's load ever sees them.
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

from discreet.domain import GRID, STEPS, Categorical, Column, Numeric
from discreet.domain.spelling import BLANKS, CAPITALS, HARD_BLANK, SMALL
from discreet.domain.yaml import parse_number
from discreet.errors import DomainError

_SIGNED = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "BIGNUM")
_INTEGERS = (*_SIGNED, "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT")
_FLOATS = ("FLOAT", "DOUBLE")

TRUTHS = {"true": True, "1": True, "false": False, "0": False}
"""Labels that mean a truth value."""


def quote_name(name: str) -> str:
    """Quote an identifier."""
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """Quote a string literal."""
    return "'" + text.replace("'", "''") + "'"


def code_sql(name: str, column: Column, kind: str) -> str:
    """Return an SQL expression for the code of column ``name``, stored as SQL type ``kind``."""
    size = column.size
    missing = place_of(column, column.missing, size)
    other = place_of(column, column.other, size + 1)
    raw = quote_name(name)
    if isinstance(column, Categorical):
        if column.ignore and not _holds_numbers(kind):
            return f"CAST({_folded_code(raw, column, kind, missing, other)} AS {_code_type(size + 2)})"
        null = _is_missing(raw, kind)
        matches = [(match, missing if code is None else code) for match, code in _matches(name, raw, column, kind)]
        cases = " ".join(f"WHEN {match} THEN {code}" for match, code in matches)
        code = f"CASE WHEN {null} THEN {missing} {cases} ELSE {other} END"
    else:
        value = _number(raw, column, kind)
        null = missing_sql(name, column, kind)
        code = f"CASE WHEN {null} THEN {missing} WHEN {value} IS NULL THEN {other} ELSE {_bin(value, column)} END"
    return f"CAST({code} AS {_code_type(size + 2)})"


def _folded_code(raw: str, column: Categorical, kind: str, missing: int, other: int) -> str:
    """Return an SQL expression for the code of a text in which something is ignored: it is looked up once."""
    text = f"CAST({raw} AS VARCHAR)"
    if "spaces" in column.ignore:
        text = _trimmed(text)
    if "case" in column.ignore:
        text = f"translate({text}, {quote_text(CAPITALS)}, {quote_text(SMALL)})"
    known = [("", missing), *((written, missing if code is None else code) for written, code in column.spellings)]
    texts, codes = (", ".join(found) for found in zip(*((quote_text(t), str(c)) for t, c in known), strict=True))
    found = f"coalesce([{codes}][list_position([{texts}], {text})], {other})"
    return f"CASE WHEN {_is_missing(raw, kind)} THEN {missing} ELSE {found} END"


def _is_missing(raw: str, kind: str) -> str:
    """NULL and NaN are missing, and so is an empty text, which is all that a CSV file has for it."""
    if kind in _FLOATS:
        return f"{raw} IS NULL OR isnan({raw})"
    return f"{raw} IS NULL OR {raw} = ''" if kind == "VARCHAR" else f"{raw} IS NULL"


def _trimmed(text: str) -> str:
    return f"trim(replace({text}, {quote_text(HARD_BLANK)}, ' '), {quote_text(BLANKS)})"


def _is_code(raw: str, column: Numeric, kind: str) -> str:
    """Return an SQL condition for numbers and texts that mean missing."""
    numbers = [number for code in column.missing_codes if (number := parse_number(code)) is not None]
    conditions = []
    if numbers:
        listed = ", ".join(_literal(float(number)) for number in numbers)
        conditions.append(f"coalesce({_number(raw, column, kind)} IN ({listed}), false)")
    if column.missing_codes and not _holds_numbers(kind):
        listed = ", ".join(quote_text(code.strip(BLANKS)) for code in column.missing_codes)
        conditions.append(f"{_trimmed(f'CAST({raw} AS VARCHAR)')} IN ({listed})")
    return " OR ".join(conditions) or "false"


def _code_type(levels: int) -> str:
    return "UTINYINT" if levels <= 1 << 8 else "USMALLINT" if levels <= 1 << 16 else "UINTEGER"


def place_of(column: Column, place: str | None, undeclared: int) -> int:
    """Return the code of a declared place for missing or foreign values, or what marks that there is none."""
    if place is None:
        return undeclared
    numbers = GRID if isinstance(column, Numeric) and column.bins is None else 0
    return numbers + column.levels.index(place)


def beyond_sql(name: str, column: Numeric, kind: str) -> str:
    """Return an SQL condition for values of a continuous column that its bounds cut off."""
    raw = quote_name(name)
    value, (low, high) = _number(raw, column, kind), column.bounds
    outside = f"NOT isnan({value}) AND ({value} < {_literal(low)} OR {value} > {_literal(high)})"
    # DuckDB 2.0 leaves a cast to its reader of CSV files, where it may fail, if a text is not asked for itself
    return f"NOT ({_is_missing(raw, kind)} OR {_is_code(raw, column, kind)}) AND {outside}"


def _holds_numbers(kind: str) -> bool:
    return kind in _INTEGERS or kind in _FLOATS or kind == "BOOLEAN" or kind.startswith("DECIMAL")


def _number(raw: str, column: Numeric, kind: str) -> str:
    """Return an SQL expression for the number that a value is written as; NULL if it is none."""
    if _holds_numbers(kind):
        return f"CAST({raw} AS DOUBLE)"
    text = f"CAST({raw} AS VARCHAR)"
    for sign, instead in column.rewriting:
        text = f"replace({text}, {quote_text(sign)}, {quote_text(instead)})"
    return f"TRY_CAST({text} AS DOUBLE)"


def number_sql(name: str, column: Numeric, kind: str) -> str:
    """Return an SQL expression for the number that a value of column ``name`` is written as; NULL if it is none."""
    return _number(quote_name(name), column, kind)


def missing_sql(name: str, column: Numeric, kind: str) -> str:
    """Return an SQL condition for values of a continuous column that are missing, or mean that."""
    raw = quote_name(name)
    value = _number(raw, column, kind)
    return f"{_is_missing(raw, kind)} OR coalesce(isnan({value}), false) OR {_is_code(raw, column, kind)}"


def _bin(value: str, column: Numeric) -> str:
    """Clip to the bounds, then find the bin; the last bin includes the upper bound."""
    low, high = column.bounds
    clipped = f"least(greatest({value}, {_literal(low)}), {_literal(high)})"
    if not column.settled:
        return _step(clipped, low, high - low)
    if column.bins is not None:
        inner = column.edges[1:-1]
        cases = " ".join(f"WHEN {clipped} < {_literal(edge)} THEN {i}" for i, edge in enumerate(inner))
        return f"(CASE {cases} ELSE {len(inner)} END)" if cases else "0"
    share = f"({clipped} - {_literal(low)}) / {_literal(high - low)}"
    return f"CAST(least(floor({share} * {GRID}), {GRID - 1}) AS INTEGER)"


def _step(clipped: str, low: float, span: float) -> str:
    """Find the step of the fine grid: guess by a division, then compare with the very edges the domain declares."""

    def edge(step: str) -> str:
        return f"({_literal(low)} + {_literal(span)} * ({step}) / CAST({STEPS} AS DOUBLE))"

    guess = f"least(floor(({clipped} - {_literal(low)}) / {_literal(span)} * {STEPS}), {STEPS - 1})"
    up = f"CAST({clipped} >= {edge(guess + ' + 1')} AND {guess} < {STEPS - 1} AS INTEGER)"
    down = f"CAST({clipped} < {edge(guess)} AS INTEGER)"
    return f"CAST({guess} + {up} - {down} AS INTEGER)"


def _literal(number: float, kind: str = "DOUBLE") -> str:
    return f"CAST({quote_text(repr(float(number)))} AS {kind})"


def _matches(name: str, raw: str, column: Categorical, kind: str) -> list[tuple[str, int | None]]:
    """Return the condition under which each declared text is met, with its code; None for what means missing."""
    if kind in _INTEGERS:
        return _numeric_matches(name, raw, column, "INTEGER")
    if kind in _FLOATS:
        return _numeric_matches(name, raw, column, kind)
    if kind.startswith("DECIMAL"):
        return _numeric_matches(name, f"CAST({raw} AS DOUBLE)", column, "DOUBLE")
    if kind == "BOOLEAN":
        return [(raw if truth else f"NOT {raw}", code) for truth, code in truths_of(name, column)]
    text = raw if kind == "VARCHAR" else f"CAST({raw} AS VARCHAR)"
    return [(f"{text} = {quote_text(written)}", code) for written, code in column.spellings]


def _numeric_matches(name: str, raw: str, column: Categorical, kind: str) -> list[tuple[str, int | None]]:
    found = []
    for _, number, code in numbers_of(name, column):
        if kind != "INTEGER":
            found.append((f"{raw} = {_literal(float(number), kind)}", code))
        elif number.denominator == 1 and abs(number) < 1 << 100:
            found.append((f"{raw} = {number}", code))
    return found


def numbers_of(name: str, column: Categorical) -> list[tuple[str, Fraction, int | None]]:
    """Return declared texts that mean numbers, with these and their codes."""
    found = [(text, number, code) for text, code in column.spellings if (number := parse_number(text)) is not None]
    _refuse_twins(name, {(number, code) for _, number, code in found})
    return found


def truths_of(name: str, column: Categorical) -> list[tuple[bool, int | None]]:
    """Return the truth values that declared texts mean, with their codes."""
    found = [(TRUTHS[text.lower()], code) for text, code in column.spellings if text.lower() in TRUTHS]
    _refuse_twins(name, set(found))
    return found


def _refuse_twins(name: str, met: Collection[tuple[object, int | None]]) -> None:
    """Refuse categories that cannot be told apart where the data hold numbers or truth values."""
    if len({value for value, _ in met}) != len(met):
        raise DomainError(
            f"column {name!r}: two declared categories mean the same number or truth value, and the data hold such "
            "values, not text; declare one of them, or store the column as text"
        )
