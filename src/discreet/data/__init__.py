"""Tables hold encoded rows and answer statistics, which only the room asks: with counts, sums, and codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from discreet.arrays import IntArray
from discreet.statistics import Table


class Recodable(Table, Protocol):
    """A table that can be encoded anew, row by row: what the room holds. Statistics see a plain table."""

    def recode(self, places: Mapping[str, IntArray], sizes: Mapping[str, int]) -> Recodable:
        """Return the same rows with each code of the named columns replaced by its place."""
        ...

    @property
    def sampled(self) -> bool:
        """Whether rows can be taken out of it, by public facts alone."""
        ...

    def take(self, rows: IntArray) -> Recodable:
        """Return only the rows at these places."""
        ...
