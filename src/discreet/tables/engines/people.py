"""People with several rows, in an engine: the same choice as in files, in expressions of Ibis.

What is hashed, and what orders follow from it, is written down one folder up, beside the SQL for files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from discreet.tables.engines.codes import Expr, gone

_WHOLE = 1 << 53
"""Floats below this that are whole numbers are written as such."""

HALF = 32
"""Digits of half a hash."""


def person_of(raw: Expr, engine: str) -> Expr:
    """Return a person's id as text; all rows without one have the empty text."""
    import ibis

    text = ibis.coalesce(raw.cast("string"), ibis.literal(""))
    if raw.type().is_decimal() and engine == "postgres":  # 1 and 1.00 are equal there, and NaN is a number
        short = text.re_replace(r"[.]0+$", "").re_replace(r"([.][0-9]*[1-9])0+$", r"\1")
        return ibis.cases((gone(raw, engine), ""), else_=short)
    if not raw.type().is_floating():
        return text
    value = raw.cast("float64")
    there = ~(raw.isnull() | raw.isnan() | value.isinf())
    small = there & (value.abs() < _WHOLE)
    whole = ibis.cases((small, value), else_=0.0).cast("int64")  # what cannot be cast never is
    same = small & (whole.cast("float64") == value)
    return ibis.cases((raw.isnull() | raw.isnan(), ""), (same, whole.cast("string")), else_=text)


def left_of(table: Expr, person: Expr, most: int) -> Expr:
    """Return the number of rows that are left if so many are kept of each person, as a table of one."""
    import ibis

    people = table.select(person=person).group_by("person").aggregate(n=lambda t: t.count())
    return people.aggregate(n=ibis.least(people.n, ibis.literal(most, type="int64")).sum().cast("int64"))


def chosen(
    table: Expr,
    person: Expr,
    codes: Mapping[str, Expr],
    *,
    key: str,
    most: int,
    rows: int,
    sha256: Callable[[Expr], Expr],
) -> Expr:
    """Return the codes of the rows that are used.

    Parameters
    ----------
    table, person, codes
        The raw table, the id as text, and the code of each column by its alias, in the domain's order.
    key
        What decides; 64 hexadecimal digits.
    most
        Rows that are kept of each person.
    rows
        Rows that are used in all.
    sha256
        How the engine hashes a text, in lower-case hexadecimal digits.
    """
    import ibis

    coded = table.select(person=person, **codes)
    written = coded.mutate(codes=ibis.literal(",").join([coded[alias].cast("string") for alias in codes]))
    nth = ibis.row_number().over(group_by=[written.person, written.codes], order_by=written.codes) + 1
    numbered = written.mutate(nth=nth)
    label = numbered.codes + ";" + numbered.nth.cast("string") + ";" + numbered.person
    labelled = numbered.mutate(label=label)
    hashed = labelled.mutate(digest=sha256(ibis.literal(key + ";") + labelled.label))
    first, last = hashed.digest.left(HALF), hashed.digest.right(HALF)
    line = ibis.row_number().over(group_by=hashed.person, order_by=[first, hashed.label])
    ranked = hashed.mutate(place=line, last=last)
    kept = ranked.filter(ranked.place < most)
    return kept.order_by([kept["last"], kept.label]).limit(rows).select(*codes)
