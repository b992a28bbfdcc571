"""The public domain as SQL: how a raw value becomes a code, for every engine that speaks SQL.

A code below the column's size is a level. Two codes beyond it mark values without a declared place:
``size`` for missing and ``size + 1`` for foreign ones; only the custodian's load ever sees them.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.domain import GRID, STEPS, Categorical, Column, Numeric
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
        null = _is_missing(raw, kind)
        cases = " ".join(f"WHEN {match} THEN {code}" for match, code in _matches(name, raw, column, kind))
        code = f"CASE WHEN {null} THEN {missing} {cases} ELSE {other} END"
    else:
        value = _number(raw, kind)
        null = f"{_is_missing(raw, kind)} OR isnan({value})"
        code = f"CASE WHEN {null} THEN {missing} WHEN {value} IS NULL THEN {other} ELSE {_bin(value, column)} END"
    return f"CAST({code} AS {_code_type(size + 2)})"


def _is_missing(raw: str, kind: str) -> str:
    """NULL and NaN are missing, and so is an empty text, which is all that a CSV file has for it."""
    if kind in _FLOATS:
        return f"{raw} IS NULL OR isnan({raw})"
    return f"{raw} IS NULL OR {raw} = ''" if kind == "VARCHAR" else f"{raw} IS NULL"


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
    value, (low, high) = _number(raw, kind), column.bounds
    outside = f"NOT isnan({value}) AND ({value} < {_literal(low)} OR {value} > {_literal(high)})"
    # DuckDB 2.0 leaves a cast to its reader of CSV files, where it may fail, if a text is not asked for itself
    return f"NOT ({_is_missing(raw, kind)}) AND {outside}"


def _number(raw: str, kind: str) -> str:
    if kind in _INTEGERS or kind in _FLOATS or kind == "BOOLEAN" or kind.startswith("DECIMAL"):
        return f"CAST({raw} AS DOUBLE)"
    return f"TRY_CAST(CAST({raw} AS VARCHAR) AS DOUBLE)"


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


def _matches(name: str, raw: str, column: Categorical, kind: str) -> list[tuple[str, int]]:
    """Return the condition under which each declared category is met, with its code."""
    labels = column.levels
    if kind in _INTEGERS:
        return _numeric_matches(name, raw, labels, "INTEGER")
    if kind in _FLOATS:
        return _numeric_matches(name, raw, labels, kind)
    if kind.startswith("DECIMAL"):
        return _numeric_matches(name, f"CAST({raw} AS DOUBLE)", labels, "DOUBLE")
    if kind == "BOOLEAN":
        found = [(TRUTHS[la.lower()], code) for code, la in enumerate(labels) if la.lower() in TRUTHS]
        refuse_twins(name, [truth for truth, _ in found])
        return [(raw if truth else f"NOT {raw}", code) for truth, code in found]
    text = raw if kind == "VARCHAR" else f"CAST({raw} AS VARCHAR)"
    return [(f"{text} = {quote_text(label)}", code) for code, label in enumerate(labels)]


def _numeric_matches(name: str, raw: str, labels: tuple[str, ...], kind: str) -> list[tuple[str, int]]:
    numbers = [(parse_number(label), code) for code, label in enumerate(labels)]
    refuse_twins(name, [number for number, _ in numbers if number is not None])
    found = []
    for number, code in numbers:
        if number is not None and kind != "INTEGER":
            found.append((f"{raw} = {_literal(float(number), kind)}", code))
        elif number is not None and number.denominator == 1 and abs(number) < 1 << 100:
            found.append((f"{raw} = {number}", code))
    return found


def refuse_twins(name: str, values: Sequence[object]) -> None:
    """Refuse categories that cannot be told apart where the data hold numbers or truth values."""
    if len(set(values)) != len(values):
        raise DomainError(
            f"column {name!r}: two declared categories mean the same number or truth value, and the data hold such "
            "values, not text; declare one of them, or store the column as text"
        )
