"""A draft domain for the custodian to edit. It looks at the data, so it is not public until somebody has judged it."""

from __future__ import annotations

import math

from discreet.domain import Categorical, Column, Domain, Numeric
from discreet.errors import TableError
from discreet.tables.encode import quote_name
from discreet.tables.source import Source

MAX_CATEGORIES = 32
NOTICE = """\
# DRAFT: made by LOOKING AT THE DATA. As it stands it is NOT PUBLIC and must not be published.
# Go through every line: would you have written it without seeing these rows? Replace what you would not:
# categories by the official code list, bounds by what is possible, not by what occurs. Then delete this notice.
# `missing:` and `other:` say where missing and foreign values go; without them such values stop the run.
"""


def draft(source: Source) -> tuple[Domain, list[str]]:
    """Return a draft domain and the columns that were left out."""
    columns: dict[str, Column] = {}
    left_out = []
    for name in source.kinds:
        column = _column(source, name)
        if column is None:
            left_out.append(name)
        else:
            columns[name] = column
    if not columns:
        raise TableError(f"{source.name}: no column looks like categories or numbers")
    return Domain(columns, rows=source.rows), left_out


def draft_yaml(source: Source) -> str:
    """Return the draft as YAML with its notice."""
    domain, left_out = draft(source)
    skipped = "".join(f"# left out: {name!r} (too many different texts)\n" for name in left_out)
    return NOTICE + skipped + domain.to_yaml()


def _column(source: Source, name: str) -> Column | None:
    """Look at one column: few values are categories, many numbers have bounds, many texts are left out."""
    raw, relation = f"CAST({quote_name(name)} AS VARCHAR)", source.relation
    gone = f"{raw} IS NULL" if source.kinds[name] not in ("FLOAT", "DOUBLE") else f"{raw} IS NULL OR {raw} = 'nan'"
    seen = source.query(f"SELECT DISTINCT {raw} FROM {relation} WHERE NOT ({gone}) LIMIT {MAX_CATEGORIES + 1}")
    labels = sorted((str(row[0]) for row in seen), key=_order)
    has_missing = source.query(f"SELECT count(*) FROM {relation} WHERE {gone}")[0][0] > 0
    endless = source.kinds[name] in ("FLOAT", "DOUBLE") and bool({"inf", "-inf"} & set(labels))
    if 0 < len(labels) <= MAX_CATEGORIES and all(label.isprintable() and label for label in labels) and not endless:
        place = "missing"
        while place in labels:
            place = f"({place})"
        return Categorical(categories=tuple(labels), missing=place if has_missing else None)
    number = f"TRY_CAST({raw} AS DOUBLE)"
    low, high, strange = source.query(
        f"SELECT min({number}) FILTER (isfinite({number})), max({number}) FILTER (isfinite({number})), "
        f"count(*) FILTER ({raw} IS NOT NULL AND {number} IS NULL) FROM {relation}"
    )[0]
    if strange or low is None or not low < high or not math.isfinite(high - low):
        return None
    step = 10.0 ** math.floor(math.log10(high - low))
    bounds = (math.floor(low / step) * step, math.ceil(high / step) * step)
    return Numeric(bounds=bounds, missing="missing" if has_missing else None)


def _order(label: str) -> tuple[int, float, str]:
    """Sort numbers by size, before texts."""
    try:
        return (0, float(label), label)
    except ValueError:
        return (1, 0.0, label)
