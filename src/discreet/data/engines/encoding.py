"""The public domain as expressions of Ibis: how a raw value becomes a code inside whatever engine holds it.

The same rules as in ``../encoding.py``, which writes them for DuckDB. A code below the column's size is a level;
``size`` marks missing values without a declared place and ``size + 1`` foreign ones, which only the custodian's load
ever sees. Every expression is total: what a value is can never make a query fail, which is why texts are looked at
before they are cast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.data.encoding import numbers_of, place_of, truths_of
from discreet.data.engines.engine import Engine, Expr, double
from discreet.domain import GRID, STEPS, Categorical, Column, Numeric
from discreet.domain.spelling import BLANKS, CAPITALS, HARD_BLANK, SMALL
from discreet.domain.yaml import parse_number
from discreet.errors import MisfitError

if TYPE_CHECKING:
    from ibis.expr.datatypes import DataType

_BLANK, _DIGITS = "[ \t\n\r\f\x0b]*", "[0-9]+(_[0-9]+)*"
NUMBER = f"^{_BLANK}[+-]?({_DIGITS}([.]({_DIGITS})?)?|[.]{_DIGITS})([eE][+-]?[0-9]{{1,3}})?{_BLANK}"
"""Texts that are numbers. Longer exponents are not, though DuckDB reads them as nothing or as infinite."""

LONGEST = 200
"""Texts of more characters are no numbers."""

_SIGNS = ("", "+", "-")
_NAN = tuple(sign + "nan" for sign in _SIGNS)
_HIGH = tuple(sign + word for sign in ("", "+") for word in ("inf", "infinity"))
_LOW = ("-inf", "-infinity")


def code_of(name: str, raw: Expr, column: Column, engine: Engine) -> Expr:
    """Return an expression for the code of a column.

    Parameters
    ----------
    name
        The column's name, for errors.
    raw
        The column as the engine holds it.
    engine
        Where it is.

    Raises
    ------
    MisfitError
        If values of such a type cannot be what the domain declares.
    """
    import ibis

    missing = place_of(column, column.missing, column.size)
    other = place_of(column, column.other, column.size + 1)
    _check_kind(name, raw.type(), column)
    absent = gone(raw, engine)
    if isinstance(column, Categorical):
        met = _matches(name, raw, column, engine)
        cases = [(condition, missing if code is None else code) for condition, code in met]
        if "spaces" in column.ignore and raw.type().is_string():
            absent |= _trimmed(raw) == ""
    else:
        cases = _numbers(raw, column, engine, missing)
    return ibis.cases((absent, missing), *cases, else_=other).cast("int32")


def beyond(raw: Expr, column: Numeric, engine: Engine) -> Expr:
    """Return a condition for values of a continuous column that its bounds cut off."""
    import ibis

    (low, high), kind = column.bounds, raw.type()
    if kind.is_boolean() or not _as_text(kind):
        value = number_of(raw, column, engine)
        found = (value < double(low)) | (value > double(high))
        return found & ~gone(raw, engine) & ~_is_code(value, column)
    text, word = _text(raw), _word(raw)
    value = _value(_rewritten(text, column), engine)
    outside = ((value < double(low)) | (value > double(high))) & ~_is_code(value, column)
    found = ibis.cases((_is_number(text, column, engine), outside), else_=False)
    return found | word.isin(_HIGH + _LOW)


def number_of(raw: Expr, column: Numeric, engine: Engine) -> Expr:
    """Return the number that a value is written as; NULL if it is none."""
    import ibis

    kind = raw.type()
    if kind.is_boolean():  # PostgreSQL has no cast for it
        return ibis.cases((raw, double(1)), (~raw, double(0)), else_=ibis.null("float64"))
    if not _as_text(kind):
        return engine.to_double(raw)
    text = _text(raw)
    number = _value(_rewritten(text, column), engine)
    return ibis.cases((_is_number(text, column, engine), number), else_=ibis.null("float64"))


def missing_of(raw: Expr, column: Numeric, engine: Engine) -> Expr:
    """Whether a value is missing, or means that."""
    import ibis

    coded = _is_code(number_of(raw, column, engine), column)
    found = gone(raw, engine) | ibis.coalesce(coded, ibis.literal(value=False))
    if not _as_text(raw.type()):
        return found
    codes = [code.strip(BLANKS) for code in column.missing_codes]
    return found | _word(raw).isin(_NAN) | (_trimmed(_text(raw)).isin(codes) if codes else False)


def _check_kind(name: str, kind: DataType, column: Column) -> None:
    """Refuse types that are no categories, or no numbers."""
    nested = kind.is_nested() or kind.is_binary() or kind.is_json() or kind.is_geospatial()
    timed = kind.is_temporal() or kind.is_interval() or kind.is_uuid()
    if nested or (timed and isinstance(column, Numeric)):
        wanted = "numbers" if isinstance(column, Numeric) else "categories"
        raise MisfitError(
            f"column {name!r} is declared as {wanted}, and has the type {type(kind).__name__.lower()} in the database: "
            "make a view in which it is a number or a text"
        )


def gone(raw: Expr, engine: Engine) -> Expr:
    """NULL and NaN are missing, and so is an empty text."""
    kind = raw.type()
    if kind.is_decimal():
        return engine.decimal_is_gone(raw)
    if kind.is_floating():
        return raw.isnull() | raw.isnan()
    return raw.isnull() | (raw == "") if kind.is_string() else raw.isnull()


def _text(raw: Expr) -> Expr:
    return raw if raw.type().is_string() else raw.cast("string")


def _as_text(kind: DataType) -> bool:
    """Whether numbers are read from the text of a value."""
    return not (kind.is_integer() or kind.is_floating() or kind.is_decimal())


def _short(text: Expr) -> Expr:
    """Return the beginning of a text: no engine has to work on a very long one."""
    return text.substr(0, LONGEST + 1)


def _word(raw: Expr) -> Expr:
    return _short(_text(raw)).lower().strip()


def _rewritten(text: Expr, column: Numeric) -> Expr:
    """Return a text with numbers as engines read them."""
    for sign, instead in column.rewriting:
        text = text.replace(sign, instead)
    return text


def _trimmed(text: Expr) -> Expr:
    return text.replace(HARD_BLANK, " ").strip()


def _is_number(text: Expr, column: Numeric, engine: Engine) -> Expr:
    """Whether a text is a number."""
    return (text.length() <= LONGEST) & _rewritten(_short(text), column).re_search(NUMBER + engine.end_of_text)


def _is_code(value: Expr, column: Numeric) -> Expr:
    """Whether a number means missing."""
    import ibis

    numbers = [float(number) for code in column.missing_codes if (number := parse_number(code)) is not None]
    return value.isin([double(number) for number in numbers]) if numbers else ibis.literal(value=False)


def _value(text: Expr, engine: Engine) -> Expr:
    """Return the number that a text is written as."""
    return engine.read_number(text.strip().replace("_", ""))


def _numbers(raw: Expr, column: Numeric, engine: Engine, missing: int) -> list[tuple[Expr, Expr]]:
    """Return conditions with the codes of numbers."""
    import ibis

    kind = raw.type()
    if kind.is_boolean():
        return [(raw, _bin(double(1.0), column)), (~raw, _bin(double(0.0), column))]
    if not _as_text(kind):
        value = engine.to_double(raw)
        return [(_is_code(value, column), ibis.literal(missing)), (ibis.literal(value=True), _bin(value, column))]
    text, word = _text(raw), _word(raw)
    value = _value(_rewritten(text, column), engine)
    codes = [code.strip(BLANKS) for code in column.missing_codes]
    coded = [(_trimmed(text).isin(codes), ibis.literal(missing))] if codes else []
    number = ibis.cases((_is_code(value, column), ibis.literal(missing)), else_=_bin(value, column).cast("int64"))
    last = column.size - 1 - len({column.missing, column.other} - {None})
    return [
        *coded,
        (_is_number(text, column, engine), number),
        (word.isin(_NAN), ibis.literal(missing)),
        (word.isin(_HIGH), ibis.literal(last)),
        (word.isin(_LOW), ibis.literal(0)),
    ]


def _bin(value: Expr, column: Numeric) -> Expr:
    """Clip to the bounds, then find the bin; the last bin includes the upper bound."""
    import ibis

    low, high = column.bounds
    clipped = ibis.least(ibis.greatest(value, double(low)), double(high))
    if not column.settled:
        return _step(clipped, low, high - low)
    if column.bins is not None:
        inner = column.edges[1:-1]
        cases = [(value < double(edge), i) for i, edge in enumerate(inner)]
        return ibis.cases(*cases, else_=len(inner)) if cases else ibis.literal(0)
    share = (clipped - double(low)) / double(high - low)
    step = _cap((share * double(GRID)).floor(), GRID - 1)
    return _unless_tiny(clipped, low, (high - low) / (2 * GRID), step)


def _step(clipped: Expr, low: float, span: float) -> Expr:
    """Find the step of the fine grid: guess by a division, then compare with the very edges the domain declares."""
    import ibis

    def edge(step: Expr) -> Expr:
        return double(low) + (double(span) * step.cast("float64")) / double(STEPS)

    guess = _cap(((clipped - double(low)) / double(span) * double(STEPS)).floor(), STEPS - 1)
    up = (clipped >= edge(guess + 1)) & (guess < STEPS - 1)
    step = ibis.cases((up, guess + 1), (clipped < edge(guess), guess - 1), else_=guess)
    return _unless_tiny(clipped, low, span / (2 * STEPS), step)


def _unless_tiny(clipped: Expr, low: float, least: float, step: Expr) -> Expr:
    """Return 0 for what lies so near to the lower bound that PostgreSQL would fail at its share."""
    import ibis

    return ibis.cases((clipped - double(low) < double(least), ibis.literal(0, type="int64")), else_=step)


def _cap(step: Expr, last: int) -> Expr:
    import ibis

    return ibis.least(step.cast("int64"), ibis.literal(last, type="int64"))


def _matches(name: str, raw: Expr, column: Categorical, engine: Engine) -> list[tuple[Expr, int | None]]:
    """Return the condition under which each declared text is met, with its code; None for what means missing."""
    kind = raw.type()
    if kind.is_boolean():
        return [(raw if truth else ~raw, code) for truth, code in truths_of(name, column)]
    if kind.is_numeric():
        return _numeric_matches(name, raw, column, engine)
    text = _text(raw)
    if "spaces" in column.ignore:
        text = _trimmed(text)
    if "case" in column.ignore:
        text = text.translate(CAPITALS, SMALL)
    return [(text == written, code) for written, code in column.spellings]


def _numeric_matches(name: str, raw: Expr, column: Categorical, engine: Engine) -> list[tuple[Expr, int | None]]:
    import ibis

    kind = raw.type()
    found: list[tuple[Expr, int | None]] = []
    for text, number, code in numbers_of(name, column):
        if kind.is_integer():
            if number.denominator == 1 and -(1 << 63) <= number < 1 << 63:
                found.append((raw == ibis.literal(int(number), type="int64"), code))
        elif kind.is_decimal():
            found.append((engine.decimal_is(raw, text, float(number)), code))
        elif not kind.is_float32() or _fits(float(number)):
            same = "float32" if kind.is_float32() else "float64"
            found.append((raw.cast(same) == double(float(number), same), code))
    return found


def _fits(number: float) -> bool:
    """Whether a number is one of the narrow floats: not too large, and not too small."""
    with np.errstate(all="ignore"):
        narrow = np.float32(number)
    return bool(np.isfinite(narrow)) and (narrow != 0 or number == 0)
