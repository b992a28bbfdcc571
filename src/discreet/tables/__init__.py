"""Tables hold encoded rows and answer statistics, which only the room asks: with counts, sums, and codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from discreet.arrays import IntArray


class Table(Protocol):
    """What a statistic may ask of rows.

    Once encoded, every answer is total: no question raises or branches on a datum.
    """

    @property
    def rows(self) -> int:
        """Number of rows."""
        ...

    def counts(self, sets: Sequence[tuple[str, ...]]) -> list[IntArray]:
        """Contingency tables over sets of columns, shaped by the public domain."""
        ...

    def sums(self, sets: Sequence[tuple[str, ...]]) -> list[int]:
        """Sums over all rows of the product of one or two columns' codes."""
        ...

    def values(self, columns: Sequence[str]) -> list[IntArray]:
        """The codes of some columns, row by row."""
        ...


class Recodable(Table, Protocol):
    """A table that can be encoded anew, row by row: what the room holds. Statistics see a plain table."""

    def recoded(self, places: Mapping[str, IntArray], sizes: Mapping[str, int]) -> Recodable:
        """Return the same rows with each code of the named columns replaced by its place."""
        ...

    @property
    def trouble(self) -> str | None:
        """Why the engine that holds the rows failed, in our own words; None if it did not."""
        ...

    def sampled(self, rows: IntArray) -> Recodable:
        """Return only the rows at these places."""
        ...
