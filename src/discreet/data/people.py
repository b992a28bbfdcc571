"""People with several rows: which rows of each are used. What neighbouring tables differ in: ``people.md``.

This is the custodian's side. SQL here is put together from parts that other engines can say in their own words: the
text that is hashed, the order it gives, and the made-up rows are written down in ``people.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from discreet.data.encoding import code_sql, quote_name, quote_text
from discreet.data.engines.source import EngineSource
from discreet.data.files import Source
from discreet.data.misfits import refuse_misfits
from discreet.data.padding import check_id, made_up, people_of
from discreet.domain import Domain

CHOSEN = "discreet_chosen"
"""Temporary table of the rows that are used."""

_WHOLE = 1 << 53
"""Floats below this that are whole numbers are written as such."""


def person_sql(name: str, kind: str) -> str:
    """Return an SQL expression for a person's id as text; all rows without one have the empty text."""
    raw = quote_name(name)
    text = f"coalesce(CAST({raw} AS VARCHAR), '')"
    if kind not in ("FLOAT", "DOUBLE"):
        return text
    whole = f"trunc({raw}) = {raw} AND abs({raw}) < {_WHOLE}"
    return f"CASE WHEN isnan({raw}) THEN '' WHEN {whole} THEN CAST(CAST({raw} AS BIGINT) AS VARCHAR) ELSE {text} END"


def left_sql(relation: str, person: str, most: int) -> str:
    """Return the query for the number of rows that are left if so many are kept of each person."""
    return (
        f"SELECT CAST(sum(least(rows, {most})) AS BIGINT) "
        f"FROM (SELECT count(*) AS rows FROM (SELECT {person} AS person FROM {relation}) GROUP BY person)"
    )


def chosen_sql(relation: str, kinds: Mapping[str, str], domain: Domain, key: str) -> str:
    """Return the query for the codes of the rows that are used, of at most ``domain.rows`` of them.

    Rows are numbered among their equals, so that no two have the same label, and the label is hashed after the key.
    The first half of the hash puts the rows of each person in line, the last half the rows that are left of all; both
    lines are cut. (With one half for both, people with many rows would be more likely to be used.)
    """
    people = people_of(domain)
    places = {column: f"c{i}" for i, column in enumerate(domain)}
    codes = ", ".join(f"{code_sql(c, domain[c], kinds[c])} AS {place}" for c, place in places.items())
    text = "concat_ws(',', " + ", ".join(f"CAST({place} AS VARCHAR)" for place in places.values()) + ")"
    back = ", ".join(f"{place} AS {quote_name(column)}" for column, place in places.items())
    return (
        f"WITH coded AS (SELECT {person_sql(people.id, kinds[people.id])} AS person, {codes} FROM {relation}), "
        f"written AS (SELECT *, {text} AS codes FROM coded), "
        "numbered AS (SELECT *, row_number() OVER (PARTITION BY person, codes) AS nth FROM written), "
        "labelled AS (SELECT *, codes || ';' || CAST(nth AS VARCHAR) || ';' || person AS label FROM numbered), "
        f"hashed AS (SELECT *, sha256({quote_text(key + ';')} || label) AS digest FROM labelled), "
        "ranked AS (SELECT *, row_number() OVER (PARTITION BY person ORDER BY left(digest, 32), label) AS rank "
        f"FROM hashed) SELECT {back} FROM ranked WHERE rank <= {people.max_rows} "
        f"ORDER BY right(digest, 32), label LIMIT {domain.rows}"
    )


@dataclass(frozen=True)
class Chosen:
    """The rows that are used: a query for those of the table, and how many are made up."""

    sql: str
    made_up: int


def choose(source: Source, domain: Domain, key: str, doubt: Callable[[str], None] | None = None) -> Chosen:
    """Choose the rows that are used, once: the engine keeps them.

    Raises
    ------
    MisfitError
        If a column is absent, values have no declared place, or there are far fewer rows than declared.
    """
    source.encoded_sql(domain)
    left = rows_left(source, domain)
    refuse_misfits(source.misfits(domain), source.name)
    missing = made_up(source.name, domain, left, doubt)
    source.query(f"CREATE OR REPLACE TEMP TABLE {CHOSEN} AS {chosen_sql(source.relation, source.kinds, domain, key)}")
    return Chosen(f"SELECT * FROM {CHOSEN}", missing)


def rows_left(source: Source | EngineSource, domain: Domain) -> int:
    """Return how many rows there are if at most ``max_rows`` of each person are kept. For the custodian only."""
    people = people_of(domain)
    check_id(source.name, source.kinds, domain)
    if isinstance(source, EngineSource):
        return source.left(people)
    person = person_sql(people.id, source.kinds[people.id])
    return int(source.query(left_sql(source.relation, person, people.max_rows))[0][0])
