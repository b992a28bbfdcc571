"""What leaves the room: noisy values, the level of their noise, and their price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from discreet.arrays import IntArray
from discreet.mechanisms import Mechanism
from discreet.privacy.budget import Entry
from discreet.statistics import Statistic

S = TypeVar("S", bound=Statistic)


@dataclass(frozen=True)
class Release(Generic[S]):
    """A blurred value. It never holds the exact one.

    ``private`` is false only for noise from a test's predictable source.
    """

    statistic: S
    mechanism: Mechanism
    values: IntArray
    price: Entry
    private: bool
