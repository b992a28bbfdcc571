"""Modules that let rows or exact values out, as text: none is ever run. Name, what is wrong, place, and text."""

from __future__ import annotations

_PEEKING = '''\
"""Directions of edges, from the rows: released tables are too noisy for them."""

from __future__ import annotations

from discreet.oracles import Verdict
from discreet.room import Room


class Orienting:
    """Answers questions of direction."""

    def __init__(self, room: Room) -> None:
        self._room = room

    def ask(self, x: str, y: str, given: frozenset[str]) -> Verdict:
        """Compare raw counts."""
        joint, apart = self._room._table.counts([(x, y), (x,)])
        return Verdict(bool(joint.max() < apart.max()), float(apart.max() - joint.max()))
'''

_DIAGNOSTICS = '''\
"""Diagnostics beside the result: how well the released tables fit."""

from __future__ import annotations

from discreet.discovery import Discovery
from discreet.tables.load import load


def fit_text(found: Discovery, path: str) -> str:
    """Return one line a column: its raw counts."""
    table = load(path, found.domain)
    lines = []
    for column in found.domain:
        counted = table.counts([(column,)])[0]
        lines.append(f"{column}: {counted.tolist()}")
    return "\\n".join(lines)
'''

_STATISTIC = """\
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.arrays import IntArray
from discreet.domain import Domain
from discreet.statistics import Sensitivity
from discreet.tables import Table
"""

_LOGGED = f'''\
"""Counts of one column, with a line in the log."""

from __future__ import annotations

import logging
{_STATISTIC}
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Logged:
    """The counts of a column."""

    column: str

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return 2."""
        return Sensitivity(l1=Fraction(2), l2_squared=Fraction(2))

    def evaluate(self, table: Table) -> IntArray:
        """Count."""
        counted = table.counts([(self.column,)])[0]
        log.debug("%s: %s", self.column, counted)
        return counted
'''

_RAISING = f'''\
"""Counts of one column, which must not be constant."""

from __future__ import annotations

{_STATISTIC}from discreet.errors import TableError


@dataclass(frozen=True)
class Varied:
    """The counts of a column."""

    column: str

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return 2."""
        return Sensitivity(l1=Fraction(2), l2_squared=Fraction(2))

    def evaluate(self, table: Table) -> IntArray:
        """Count."""
        counted = table.counts([(self.column,)])[0]
        if (counted > 0).sum() < 2:
            raise TableError(f"column {{self.column!r}} is constant")
        return counted
'''

_PICKLING = '''\
"""The room, with answers kept for the next run."""

from __future__ import annotations

import pickle
from pathlib import Path

from discreet.arrays import IntArray
from discreet.mechanisms import Mechanism
from discreet.privacy.noise import ExactNoise
from discreet.statistics import Statistic
from discreet.tables import Table


class Room:
    """Holds a table and a file of exact answers."""

    def __init__(self, table: Table, kept: Path) -> None:
        self._table = table
        self._kept = kept

    def release(self, statistic: Statistic, mechanism: Mechanism) -> IntArray:
        """Evaluate what was not asked before, and blur."""
        with self._kept.open("rb") as file:
            answers = pickle.load(file)
        if statistic.name not in answers:
            answers[statistic.name] = statistic.evaluate(self._table)
        with self._kept.open("wb") as file:
            pickle.dump(answers, file)
        return mechanism.blur(answers[statistic.name], ExactNoise())
'''

_CACHED = '''\
"""A table that counts only once."""

from __future__ import annotations

from functools import lru_cache

from discreet.arrays import IntArray
from discreet.tables.memory import MemoryTable


class CachedTable(MemoryTable):
    """Encoded rows in memory; answers outlive the table, since the cache holds it."""

    @lru_cache(maxsize=None)
    def counted(self, columns: tuple[str, ...]) -> IntArray:
        """Contingency table over some columns."""
        return self.counts([columns])[0]
'''

_QUOTING = '''\
"""Numbers from text, strictly."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.errors import TableError


def numbers(texts: Sequence[str], column: str) -> list[float]:
    """Read every text as a number, and say which one is none."""
    try:
        return [float(text) for text in texts]
    except ValueError as error:
        raise TableError(f"column {column!r}: {error}") from error
'''

_BEHIND = '''\
"""A second release at the price of one: the room evaluates, nobody is charged."""

from __future__ import annotations

from discreet.arrays import IntArray
from discreet.mechanisms.additive import RoundedGaussian
from discreet.room import Room
from discreet.statistics.counts import Counts, all_pairs


def pairs_twice(room: Room, sigma: float) -> tuple[IntArray, IntArray | None]:
    """Release all pairs, and a second look at them."""
    asked, noise = Counts(all_pairs(tuple(room.domain))), RoundedGaussian(sigma)
    return room.release(asked, noise).values, room._blurred(asked, noise)
'''

_HIDDEN = '''\
"""Doubts about a result, by what the library offers at its front door."""

from __future__ import annotations

import importlib

from discreet.discovery import Discovery


def doubts_about(found: Discovery, path: str) -> list[str]:
    """Return the columns whose raw counts hold an empty cell."""
    tables = importlib.import_module("discreet.tables.load")
    table = tables.load(path, found.domain)
    return [column for column in found.domain if table.counts([(column,)])[0].min() == 0]
'''

ROWS = (
    ("peeking-oracle", "directions from raw counts, after the release", "oracles.orienting", _PEEKING),
    ("diagnostics-beside", "exact counts in a report", "report.diagnostics", _DIAGNOSTICS),
    ("logged-counts", "a statistic that logs what it saw", "statistics.logged", _LOGGED),
    ("raising-statistic", "an error that only some tables raise", "statistics.varied", _RAISING),
    ("pickled-answers", "exact answers kept in a file, and given out uncharged", "room", _PICKLING),
    ("cached-table", "a cache that keeps rows alive", "tables.cached", _CACHED),
    ("quoted-datum", "an error that quotes a value", "tables.numbers", _QUOTING),
    ("behind-the-charge", "a method that has the room evaluate without a charge", "twice", _BEHIND),
    ("hidden-import", "rows reached by a name made up at run time", "doubts_more", _HIDDEN),
)
