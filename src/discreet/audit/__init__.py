"""Auditors: what is claimed, what was found. They look at made-up rows only, never at a custodian's.

``exact`` computes what a finite mechanism promises, ``replay`` runs a method again on a neighbouring table with the
same noisy answers, ``blackbox`` runs anything often and bounds its epsilon from below, ``samplers`` tests whether draws
have their law (fit), ``source`` reads the code.
No violation found means just that, at the power of the audit; the guarantee is the proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Literal

import numpy as np

from discreet.arrays import IntArray
from discreet.data.memory import MemoryTable
from discreet.domain import Domain
from discreet.errors import SettingError

FOREIGN = "zq7 foreign"
"""A value that stands nowhere in a domain: it may not be told."""

MOST_KINDS = 150
"""Kinds of rows that are shown as evidence."""

Auditor = Literal["exact", "replay", "black box", "fit", "source"]


@dataclass(frozen=True)
class Neighbours:
    """Two tables of codes (rows by columns) that differ in one row, and how they were found."""

    first: IntArray
    second: IntArray
    kind: str

    def __post_init__(self) -> None:
        for name in ("first", "second"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.int64))
        if self.first.shape != self.second.shape or self.first.ndim != 2:
            raise SettingError("neighbours: two tables of the same shape, rows by columns")
        if (self.first != self.second).any(axis=1).sum() > 1:
            raise SettingError("neighbours: they differ in one row at most")

    @property
    def row(self) -> int:
        """Where they differ; 0 if nowhere."""
        return int((self.first != self.second).any(axis=1).argmax())

    @property
    def swapped(self) -> Neighbours:
        """The same two tables, the other way round."""
        return Neighbours(self.second, self.first, self.kind)

    def words(self) -> str:
        """Return both tables as evidence: groups of equal rows, and the row that was replaced."""
        rest = np.delete(self.first, self.row, axis=0)
        distinct, times = np.unique(rest, axis=0, return_counts=True)
        groups = [f"{n} x {row_words(r)}" for r, n in zip(distinct, times, strict=True)]
        more = f", and {len(groups) - MOST_KINDS} more kinds of rows" if len(groups) > MOST_KINDS else ""
        changed = f"one row {row_words(self.first[self.row])} -> {row_words(self.second[self.row])}"
        others = ", ".join(groups[:MOST_KINDS]) + more or "none"
        return f"{len(self.first)} rows: {changed}; the others: {others} ({self.kind})"


def row_words(codes: IntArray) -> str:
    """Return a row's codes; runs of equal ones in short if there are many."""
    parts = list(map(str, codes.tolist()))
    if len(parts) > 8:
        runs = [(code, len(list(same))) for code, same in groupby(parts)]
        parts = [f"{times} x {code}" if times > 1 else code for code, times in runs]
    return f"({', '.join(parts)})"


def words_of(thing: object) -> str:
    """Return what represents a thing by its value.

    Raises
    ------
    SettingError
        If nothing does: it would look different, or the same, whatever it holds.
    """
    words = repr(thing)
    if " at 0x" in words or type(thing).__repr__ is object.__repr__:
        raise SettingError(
            f"audit: a {type(thing).__name__} cannot be compared by value; return numbers, words or collections of them"
        )
    return words


def table_of(rows: IntArray, domain: Domain) -> MemoryTable:
    """Return codes as a table; columns in the domain's order."""
    codes = {name: rows[:, j].astype(np.uint16) for j, name in enumerate(domain)}
    return MemoryTable(codes, {name: domain.size(name) for name in domain})


@dataclass(frozen=True)
class Finding:
    """What one audit found.

    Parameters
    ----------
    name, auditor
        What was audited, and how.
    claim
        The promise, in words.
    claimed, found
        The same and the bound found, in the claim's own number (epsilon, mu, or a share of a sensitivity); ``found``
        is what was certainly reached, so ``found > claimed`` is a violation. None where there is no number to compare.
    runs
        Runs or pairs of tables that were looked at.
    violated
        Whether the claim is broken.
    evidence
        What shows it: neighbouring tables and an output.
    """

    name: str
    auditor: Auditor
    claim: str
    claimed: float | None
    found: float | None
    runs: int
    violated: bool
    evidence: str = ""

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        return "violation" if self.violated else "no violation"
