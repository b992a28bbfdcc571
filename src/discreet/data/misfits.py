"""What the custodian is told of a table that does not fit its domain: columns and numbers, never values."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass

from discreet.domain import Domain
from discreet.domain.yaml import parse_number
from discreet.errors import MisfitError, TableError


@dataclass(frozen=True)
class Misfit:
    """How many values of one column have no declared place. For the custodian only."""

    column: str
    missing: int
    foreign: int


@dataclass(frozen=True, repr=False)
class Look:
    """What a draft sees of a column. For the custodian only.

    Parameters
    ----------
    labels
        Its most common values as text, with how often they occur; as many as were asked for, if there are more.
    different
        How many different values there are.
    missing
        How many values are missing.
    strange
        How many values are neither missing nor numbers.
    low, high
        The smallest and the largest finite number; None where there is none.
    whole
        Whether all numbers are whole.
    timed
        Whether they are dates or times by their type.
    """

    labels: Mapping[str, int]
    different: int
    missing: int
    strange: int
    low: float | None
    high: float | None
    whole: bool
    timed: bool


def check_names(name: str, columns: Collection[object]) -> None:
    """Refuse a table with two columns that SQL engines could not tell apart.

    They are named, but for numbers: these are values where a file has no line of names.
    """
    seen: dict[str, str] = {}
    for column in map(str, columns):
        if column.lower() in seen:
            first, which = seen[column.lower()], "" if column == seen[column.lower()] else ", which differ only in case"
            if parse_number(column) is not None:
                raise TableError(f"{name} has two columns by one name, a number: does its first line hold names?")
            raise TableError(f"{name} has two columns by one name, {first!r} and {column!r}{which}: rename one of them")
        seen[column.lower()] = column


def check_present(name: str, present: Container[str], domain: Domain) -> None:
    """Refuse a table without a declared column."""
    absent = [column for column in domain if column not in present]
    if absent:
        raise MisfitError(f"{name} has no column {absent[0]!r}, which the domain declares")


def check_rows(name: str, rows: int, domain: Domain) -> None:
    """Refuse a table whose number of rows is not the declared one."""
    if rows != domain.rows:
        raise MisfitError(f"rows: {name} has {rows} rows, the domain declares {domain.rows}")


def refuse_misfits(misfits: list[Misfit], name: str) -> None:
    """Stop the custodian's load where a value has no declared place."""
    if misfits:
        parts = []
        for m in misfits:
            kinds = [k for k, number in (("missing", m.missing), ("foreign", m.foreign)) if number]
            keys = " and ".join(f"`{'missing' if k == 'missing' else 'other'}:`" for k in kinds)
            parts.append(f"column {m.column!r} holds {' and '.join(kinds)} values (declare {keys})")
        raise MisfitError(f"{name} does not fit the domain: " + "; ".join(parts))
