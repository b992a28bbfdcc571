"""Broken on purpose: wrong mechanisms and methods that the auditors must catch. Nothing here is private.

Each stands under the auditor that must catch it. None can be reached from the library or from another command.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.arrays import IntArray
from discreet.audit import Auditor, Neighbours
from discreet.audit.claims import Claim
from discreet.domain import Domain
from discreet.privacy.mechanisms import Mechanism
from discreet.statistics import Statistic

Output = object
"""What a mechanism gives out: a number, a vector of numbers, or anything that can be compared and hashed."""


@dataclass(frozen=True)
class Sampled:
    """Something that runs on rows (codes) with a generator, and claims something. For the black box."""

    run: Callable[[IntArray, np.random.Generator], Output]
    claim: Claim
    pairs: tuple[Neighbours, ...]


@dataclass(frozen=True)
class Asking:
    """A method that opens rooms of its own on rows (codes) and returns something comparable. For replay."""

    run: Callable[[IntArray], object]
    claim: Claim
    domain: Domain
    pairs: tuple[Neighbours, ...] = ()
    """Hand-made neighbours that are tried before the generators'."""


@dataclass(frozen=True)
class Measured:
    """A statistic that states a sensitivity. For replay, which measures it on neighbours."""

    statistic: Statistic
    domain: Domain
    pairs: tuple[Neighbours, ...] = ()


@dataclass(frozen=True)
class Blurred:
    """A mechanism that states a cost, used on a statistic. For the exact auditor or the black box."""

    mechanism: Mechanism
    statistic: Statistic
    domain: Domain
    pairs: tuple[Neighbours, ...] = ()


@dataclass(frozen=True)
class Finite:
    """A mechanism whose whole law is known: the probabilities of all outputs for a table of few cells. For exact."""

    law: Callable[[tuple[int, ...]], dict[object, float]]
    cells: int
    values: int
    claim: Claim


@dataclass(frozen=True)
class Code:
    """A module's text, and the place in the library where it pretends to stand. For the reader of sources."""

    module: str
    text: str


@dataclass(frozen=True)
class Broken:
    """Something wrong, what is wrong with it, where it comes from, and who must catch it."""

    name: str
    wrong: str
    origin: str
    catcher: Auditor
    subject: Sampled | Asking | Measured | Blurred | Finite | Code
