"""Rows that are made up where people have fewer than were declared, and what the custodian is told of that."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Container
from math import floor, log10

import numpy as np
import numpy.typing as npt

from discreet.data.counting import Codes, narrowest
from discreet.domain import Domain, People
from discreet.errors import MisfitError, SettingError

MADE_UP = 0.05
"""Share of rows that may be made up where there are fewer than declared."""

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


def check_id(name: str, present: Container[str], domain: Domain) -> None:
    """Refuse a table without the column that tells people apart."""
    people = people_of(domain)
    if people.id not in present:
        raise MisfitError(f"{name} has no column {people.id!r}, which tells one {domain.unit} from another")


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
    most = people_of(domain).max_rows
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
