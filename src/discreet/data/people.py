"""People with several rows: which rows of each are used, and what is made up where there are too few.

This is the custodian's side. What neighbouring tables differ in, the text that is hashed, the order it gives, and the
made-up rows are written down in ``people.md``. Each step is here twice: as SQL for DuckDB, and as expressions of Ibis
for the engine that holds the rows.
"""

from __future__ import annotations

import secrets
from collections.abc import Container, Mapping
from math import floor, log10

import numpy as np
import numpy.typing as npt

from discreet.data.counting import Codes, narrowest
from discreet.data.encoding import code_sql, quote_name, quote_text
from discreet.data.engines.encoding import gone
from discreet.data.engines.engine import Engine, Expr
from discreet.domain import Domain, People
from discreet.errors import MisfitError, SettingError
from discreet.progress import Progress, tell

MADE_UP = 0.05
"""Share of rows that may be made up where there are fewer than declared."""

HALF = 32
"""Digits of half a hash."""

_WHOLE = 1 << 53
"""Floats below this that are whole numbers are written as such."""

_GOLDEN, _MIX_1, _MIX_2 = (np.uint64(c) for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
"""Constants of SplitMix64 (Steele, Lea, Flood 2014)."""


def fresh_key() -> str:
    """Draw what decides which rows are kept. Privacy does not rest on it: it keeps the choice fair."""
    return secrets.token_hex(32)


def people_of(domain: Domain) -> People:
    """Return how people are told apart."""
    if domain.people is None:
        raise SettingError("unit: the domain does not tell people apart")
    return domain.people


def check_id(name: str, present: Container[str], domain: Domain) -> People:
    """Return how people are told apart; refuse a table without the column that does."""
    people = people_of(domain)
    if people.id is not None and people.id not in present:
        raise MisfitError(f"{name} has no column {people.id!r}, which tells one {domain.unit} from another")
    return people


def person_sql(name: str | None, kinds: Mapping[str, str]) -> str:
    """Return an SQL expression for a person's id as text; all rows without one have the empty text."""
    if name is None:
        return "''"
    raw, kind = quote_name(name), kinds[name]
    text = f"coalesce(CAST({raw} AS VARCHAR), '')"
    if kind not in ("FLOAT", "DOUBLE"):
        return text
    whole = f"trunc({raw}) = {raw} AND abs({raw}) < {_WHOLE}"
    return f"CASE WHEN isnan({raw}) THEN '' WHEN {whole} THEN CAST(CAST({raw} AS BIGINT) AS VARCHAR) ELSE {text} END"


def person_expr(table: Expr, name: str | None, engine: Engine) -> Expr:
    """Return a person's id as text; all rows without one have the empty text."""
    import ibis

    if name is None:
        return ibis.literal("")
    raw = table[name]
    if raw.type().is_decimal():
        return ibis.cases((gone(raw, engine), ""), else_=engine.write_decimal(raw))
    text = ibis.coalesce(raw.cast("string"), ibis.literal(""))
    if not raw.type().is_floating():
        return text
    value = raw.cast("float64")
    there = ~(raw.isnull() | raw.isnan() | value.isinf())
    small = there & (value.abs() < _WHOLE)
    whole = ibis.cases((small, value), else_=0.0).cast("int64")  # what cannot be cast never is
    same = small & (whole.cast("float64") == value)
    return ibis.cases((raw.isnull() | raw.isnan(), ""), (same, whole.cast("string")), else_=text)


def left_sql(relation: str, person: str, most: int) -> str:
    """Return the query for the number of rows that are left if so many are kept of each person."""
    return (
        f"SELECT CAST(sum(least(rows, {most})) AS BIGINT) "
        f"FROM (SELECT count(*) AS rows FROM (SELECT {person} AS person FROM {relation}) GROUP BY person)"
    )


def left_expr(table: Expr, person: Expr, most: int) -> Expr:
    """Return the number of rows that are left if so many are kept of each person, as a table of one."""
    import ibis

    people = table.select(person=person).group_by("person").aggregate(n=lambda t: t.count())
    return people.aggregate(n=ibis.least(people.n, ibis.literal(most, type="int64")).sum().cast("int64"))


def chosen_sql(relation: str, kinds: Mapping[str, str], domain: Domain, key: str) -> str:
    """Return the query for the codes of the rows that are used, of at most ``domain.rows`` of them.

    Rows are numbered among their equals, so that no two have the same label, and the label is hashed after the key.
    The first half of the hash puts the rows of each person in line, the last half the rows that are left of all; both
    lines are cut. (With one half for both, people with many rows would be more likely to be used.) Where no id tells
    people apart, every row is in a line of its own.
    """
    people = people_of(domain)
    whose = "label" if people.id is None else "person"
    places = {column: f"c{i}" for i, column in enumerate(domain)}
    codes = ", ".join(f"{code_sql(c, domain[c], kinds[c])} AS {place}" for c, place in places.items())
    text = "concat_ws(',', " + ", ".join(f"CAST({place} AS VARCHAR)" for place in places.values()) + ")"
    back = ", ".join(f"{place} AS {quote_name(column)}" for column, place in places.items())
    return (
        f"WITH coded AS (SELECT {person_sql(people.id, kinds)} AS person, {codes} FROM {relation}), "
        f"written AS (SELECT *, {text} AS codes FROM coded), "
        "numbered AS (SELECT *, row_number() OVER (PARTITION BY person, codes) AS nth FROM written), "
        "labelled AS (SELECT *, codes || ';' || CAST(nth AS VARCHAR) || ';' || person AS label FROM numbered), "
        f"hashed AS (SELECT *, sha256({quote_text(key + ';')} || label) AS digest FROM labelled), "
        f"ranked AS (SELECT *, row_number() OVER (PARTITION BY {whose} ORDER BY left(digest, {HALF}), label) AS rank "
        f"FROM hashed) SELECT {back} FROM ranked WHERE rank <= {people.max_rows} "
        f"ORDER BY right(digest, {HALF}), label LIMIT {domain.rows}"
    )


def chosen_expr(table: Expr, codes: Mapping[str, Expr], domain: Domain, key: str, engine: Engine) -> Expr:
    """Return the codes of the rows that are used, as ``chosen_sql`` does.

    Parameters
    ----------
    table, codes
        The raw table, and the code of each column by its alias, in the domain's order.
    key
        What decides; 64 hexadecimal digits.
    """
    import ibis

    people = people_of(domain)
    coded = table.select(person=person_expr(table, people.id, engine), **codes)
    written = coded.mutate(codes=ibis.literal(",").join([coded[alias].cast("string") for alias in codes]))
    nth = ibis.row_number().over(group_by=[written.person, written.codes], order_by=written.codes) + 1
    numbered = written.mutate(nth=nth)
    label = numbered.codes + ";" + numbered.nth.cast("string") + ";" + numbered.person
    labelled = numbered.mutate(label=label)
    hashed = labelled.mutate(digest=engine.sha256(ibis.literal(key + ";") + labelled.label))
    first, last = hashed.digest.left(HALF), hashed.digest.right(HALF)
    whose = hashed.label if people.id is None else hashed.person
    line = ibis.row_number().over(group_by=whose, order_by=[first, hashed.label])
    ranked = hashed.mutate(place=line, last=last)
    kept = ranked.filter(ranked.place < people.max_rows)
    return kept.order_by([kept["last"], kept.label]).limit(domain.rows).select(*codes)


def count_made_up(name: str, domain: Domain, left: int, doubt: Progress | None) -> int:
    """Return how many rows are to be made up, after telling the custodian; refuse too many.

    Parameters
    ----------
    name
        What the table is called.
    left
        Number of rows if at most ``max_rows`` are kept of each person.
    doubt
        Told about rows that are made up. What it is told depends on data: for the custodian only.
    """
    missing = domain.rows - left
    if missing <= 0:
        return 0
    people = people_of(domain)
    kept = "" if people.id is None else f" if at most {people.max_rows:,} are kept of each {domain.unit}"
    found = f"{name} has {left:,} rows{kept}, the domain declares "
    if missing > MADE_UP * domain.rows:
        raise MisfitError(f"rows: {found}{domain.rows:,}; declare a round number below, such as {round_below(left):,}")
    tell(doubt, f"{found}{domain.rows:,}: {missing:,} rows are made up. That is for the custodian only")
    return missing


def round_below(left: int) -> int:
    """Return a number of two digits and zeros that is not above: it does not tell how many rows there are."""
    step = int(10 ** max(floor(log10(max(left, 1))) - 1, 0))
    return max(left // step * step, 1)


def fillers(domain: Domain, start: int, stop: int) -> Codes:
    """Return made-up rows, from one place of an endless public list to another: every level as often as any other."""
    first = np.arange(start, stop, dtype=np.uint64) * np.uint64(len(domain.columns))
    return {
        c: _draw(first + np.uint64(i), size).astype(narrowest(size + 2))
        for i, (c, size) in enumerate(domain.sizes.items())
    }


def _draw(places: npt.NDArray[np.uint64], size: int) -> npt.NDArray[np.uint64]:
    """Return numbers below a size, each a function of its place: SplitMix64, and its upper half by multiplication."""
    with np.errstate(over="ignore"):
        z = (places + np.uint64(1)) * _GOLDEN
        z = (z ^ (z >> np.uint64(30))) * _MIX_1
        z = (z ^ (z >> np.uint64(27))) * _MIX_2
        z ^= z >> np.uint64(31)
        return ((z >> np.uint64(32)) * np.uint64(size)) >> np.uint64(32)
