"""A draft domain for the custodian to edit. It looks at the data, so it is not public until somebody has judged it."""

from __future__ import annotations

import math
from html import escape

from discreet.data.engines.source import EngineSource
from discreet.data.files import Source
from discreet.data.load import open_source
from discreet.domain import DRAFT, Categorical, Column, Domain, Numeric
from discreet.errors import TableError

MAX_CATEGORIES = 32
NOTICE = f"""\
{DRAFT}
# Go through every line: would you have written it without seeing these rows? Replace what you would not:
# categories by the official code list, bounds by what is possible, not by what occurs. Then delete this notice.
# `missing:` and `other:` say where missing and foreign values go; without them such values stop the run.
"""


class Draft(str):
    """The text of a draft domain, for the custodian to judge. Its repr shows nothing of it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<Draft of a domain, made by LOOKING AT THE DATA: print it, judge every line, then delete its notice>"

    def _repr_html_(self) -> str:
        """Show the text in a notebook."""
        return f"<pre>{escape(self)}</pre>"


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


def draft_domain(source: Source | EngineSource) -> tuple[Domain, list[str]]:
    """Return a draft domain and the columns that were left out."""
    columns: dict[str, Column] = {}
    left_out = []
    for name in source.kinds:
        column = _draft_column(source, name)
        if column is None:
            left_out.append(name)
        else:
            columns[name] = column
    if not columns:
        raise TableError(f"{source.name}: no column looks like categories or numbers")
    return Domain(columns, rows=source.rows), left_out


def draft_yaml(source: Source | EngineSource) -> str:
    """Return the draft as YAML with its notice."""
    domain, left_out = draft_domain(source)
    skipped = "".join(f"# left out: {name!r} (too many different texts)\n" for name in left_out)
    return NOTICE + skipped + domain.to_yaml()


def _draft_column(source: Source | EngineSource, name: str) -> Column | None:
    """Look at one column: few values are categories, many numbers have bounds, many texts are left out."""
    seen = source.look(name, MAX_CATEGORIES + 1)
    labels = sorted(seen.labels, key=_sort_key)
    if 0 < len(labels) <= MAX_CATEGORIES and all(la.isprintable() and la for la in labels) and not seen.endless:
        place = "missing"
        while place in labels:
            place = f"({place})"
        return Categorical(categories=tuple(labels), missing=place if seen.missing else None)
    low, high = seen.low, seen.high
    if low is None or high is None or not low < high or not math.isfinite(high - low):
        return None
    step = 10.0 ** math.floor(math.log10(high - low))
    bounds = (math.floor(low / step) * step, math.ceil(high / step) * step)
    return Numeric(bounds=bounds, missing="missing" if seen.missing else None)


def _sort_key(label: str) -> tuple[int, float, str]:
    """Sort numbers by size, before texts."""
    try:
        return (0, float(label), label)
    except ValueError:
        return (1, 0.0, label)
