"""People with several rows: which rows of each are used. What neighbouring tables differ in: ``people.md``.

This is the custodian's side. SQL here is put together from parts that other engines can say in their own words: the
text that is hashed, the order it gives, and the made-up rows are written down in ``people.md``.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import floor, log10

import numpy as np
import numpy.typing as npt

from discreet.domain import Domain, People
from discreet.errors import MisfitError, SettingError
from discreet.tables.counting import Codes, narrowest
from discreet.tables.encode import code_sql, quote_name, quote_text
from discreet.tables.source import Source, refuse_misfits

MADE_UP = 0.05
"""Share of rows that may be made up where there are fewer than declared."""

CHOSEN = "discreet_chosen"
"""Temporary table of the rows that are used."""

_WHOLE = 1 << 53
"""Floats below this that are whole numbers are written as such."""

_GOLDEN, _MIX_1, _MIX_2 = (np.uint64(c) for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
"""Constants of SplitMix64 (Steele, Lea, Flood 2014)."""


def fresh_key() -> str:
    """Draw what decides which rows are kept. Privacy does not rest on it: it keeps the choice fair."""
    return secrets.token_hex(32)


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
    people = _people(domain)
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


def rows_left(source: Source, domain: Domain) -> int:
    """Return how many rows there are if at most ``max_rows`` of each person are kept. For the custodian only."""
    people = _people(domain)
    if people.id not in source.kinds:
        raise MisfitError(f"{source.name} has no column {people.id!r}, which tells one {domain.unit} from another")
    person = person_sql(people.id, source.kinds[people.id])
    return int(source.query(left_sql(source.relation, person, people.max_rows))[0][0])


def made_up(name: str, domain: Domain, left: int, doubt: Callable[[str], None] | None) -> int:
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
    most = _people(domain).max_rows
    found = f"{name} has {left:,} rows if at most {most:,} are kept of each {domain.unit}, the domain declares "
    if missing > MADE_UP * domain.rows:
        raise MisfitError(f"rows: {found}{domain.rows:,}; declare a round number below, such as {round_below(left):,}")
    if doubt is not None:
        doubt(f"{found}{domain.rows:,}: {missing:,} rows are made up. That is for the custodian only")
    return missing


def round_below(left: int) -> int:
    """Return a number of two digits and zeros that is not above: it does not tell how many rows there are."""
    step = int(10 ** max(floor(log10(max(left, 1))) - 1, 0))
    return max(left // step * step, 1)


def fillers(domain: Domain, start: int, stop: int) -> Codes:
    """Return made-up rows, from one place of an endless public list to another: every level as often as any other."""
    width = len(domain.columns)
    first = np.arange(start, stop, dtype=np.uint64) * np.uint64(width)
    sizes = {column: domain.size(column) for column in domain}
    return {
        c: _drawn(first + np.uint64(i), size).astype(narrowest(size + 2)) for i, (c, size) in enumerate(sizes.items())
    }


def _drawn(places: npt.NDArray[np.uint64], size: int) -> npt.NDArray[np.uint64]:
    """Return numbers below a size, each a function of its place: SplitMix64, and its upper half by multiplication."""
    with np.errstate(over="ignore"):
        z = (places + np.uint64(1)) * _GOLDEN
        z = (z ^ (z >> np.uint64(30))) * _MIX_1
        z = (z ^ (z >> np.uint64(27))) * _MIX_2
        z ^= z >> np.uint64(31)
        return ((z >> np.uint64(32)) * np.uint64(size)) >> np.uint64(32)


def _people(domain: Domain) -> People:
    if domain.people is None:
        raise SettingError("unit: the domain does not tell people apart")
    return domain.people
