"""Modules that break a rule of the house, as text: paths to the rows, then noise and budgets. None is ever run."""

from __future__ import annotations

from discreet.audit.broken import Broken, Code

_PEEKING = '''\
"""Directions of edges, from the rows: released tables are too noisy for them."""

from __future__ import annotations

from discreet.search.oracle import Verdict
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

from discreet.release.discovery import Discovery
from discreet.data.load import load


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
from discreet.statistics import Sensitivity, Table
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
from discreet.privacy.mechanisms import Mechanism
from discreet.privacy.noise import ExactNoise
from discreet.statistics import Statistic
from discreet.data import Table


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
from discreet.data.memory import MemoryTable


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
from discreet.privacy.mechanisms.additive import RoundedGaussian
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

from discreet.release.discovery import Discovery


def doubts_about(found: Discovery, path: str) -> list[str]:
    """Return the columns whose raw counts hold an empty cell."""
    tables = importlib.import_module("discreet.data.load")
    table = tables.load(path, found.domain)
    return [column for column in found.domain if table.counts([(column,)])[0].min() == 0]
'''

_EFFECTS = '''\
"""Effects along the arrows of a discovery: how often the effect occurs with and without its cause."""

from __future__ import annotations

from discreet.data.load import load
from discreet.release.discovery import Discovery


def effects(found: Discovery, path: str) -> dict[tuple[str, str], float]:
    """Return the risk difference along every arrow, from the rows: the released tables are noisy."""
    table = load(path, found.domain)
    result = {}
    for cause, effect in sorted(found.graph.directed):
        counts = table.counts([(cause, effect)])[0]
        result[cause, effect] = float(counts[1, 1] / counts[1].sum() - counts[0, 1] / counts[0].sum())
    return result
'''

_BORROWED = '''\
"""Priv-PC with the published sieve, which removes more edges."""

from __future__ import annotations

from discreet.baselines.published.another import PublishedSieve
from discreet.room import Room
from discreet.search.graph import Graph
from discreet.search.pc import pc


def run(room: Room) -> Graph:
    """Find a graph."""
    return pc(tuple(room.domain), PublishedSieve(room))
'''

_HEAD = '''\
"""A mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
'''

_COST = '''
    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return epsilon."""
        return Cost({Currency.PURE: sensitivity.l1 / Fraction(self.scale)})
'''

_IMPORTS = """
from discreet.arrays import IntArray
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Cost
from discreet.statistics import Sensitivity
"""

_FIXED = f'''{_HEAD}
import numpy as np
{_IMPORTS}

@dataclass(frozen=True)
class Reproducible:
    """Adds discrete Laplace noise; the same table always gives the same answer, which makes tests easy."""

    scale: float
{_COST}
    def blur(self, exact: IntArray, noise: object) -> IntArray:
        """Add the difference of two geometric variables."""
        rng = np.random.default_rng(2024)
        p = -np.expm1(-1 / self.scale)
        return exact + rng.geometric(p, len(exact)) - rng.geometric(p, len(exact))
'''

_FROM_ROWS = f'''{_HEAD}
from numpy.random import default_rng as stream
{_IMPORTS}

@dataclass(frozen=True)
class Consistent:
    """Adds noise; asking the same question again gives the same answer, so that nobody can average."""

    scale: float
{_COST}
    def blur(self, exact: IntArray, noise: object) -> IntArray:
        """Draw from a stream of the answer's own."""
        rng = stream(exact.tolist())
        return exact + rng.integers(-int(4 * self.scale), int(4 * self.scale) + 1, len(exact))
'''

_HASHED = f'''{_HEAD}import hashlib
{_IMPORTS}

@dataclass(frozen=True)
class Keyed:
    """Adds noise that is a keyed hash of the exact value: cheap, and no state."""

    scale: float
    key: bytes
{_COST}
    def blur(self, exact: IntArray, noise: object) -> IntArray:
        """Add one number to all."""
        digest = hashlib.blake2b(exact.tobytes(), key=self.key, digest_size=8).digest()
        return exact + int.from_bytes(digest) % int(8 * self.scale) - int(4 * self.scale)
'''

_REUSED = '''\
"""Fast noise: one stream for a process."""

from __future__ import annotations

import numpy as np

from discreet.arrays import IntArray

SEED = 20_240_229


class FastNoise:
    """Noise for releases; every room begins the stream anew."""

    private = True

    def __init__(self) -> None:
        self._rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(SEED)))

    def rounded_gaussian(self, sigma: float, size: int) -> IntArray:
        """Draw normal variables and round them."""
        return np.rint(sigma * self._rng.standard_normal(size)).astype(np.int64)
'''

_FLOAT_LAPLACE = f'''{_HEAD}
import numpy as np
import numpy.typing as npt
{_IMPORTS}

@dataclass(frozen=True)
class RealLaplace:
    """Adds Laplace noise to shares of rows."""

    scale: float
    rows: int
{_COST}
    def blur(self, exact: IntArray, rng) -> npt.NDArray[np.float64]:
        """Add noise in floating point."""
        return exact / self.rows + rng.laplace(0.0, self.scale / self.rows, len(exact))
'''

_FLOAT_GAUSSIAN = f'''{_HEAD}import random as dice
from statistics import NormalDist
{_IMPORTS}

@dataclass(frozen=True)
class InverseGaussian:
    """Adds normal noise by the inverse of the distribution function."""

    sigma: float

    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return mu squared."""
        return Cost({{Currency.GDP: sensitivity.l2_squared / Fraction(self.sigma) ** 2}})

    def blur(self, exact: IntArray, noise: object) -> list[float]:
        """Invert uniform numbers of 53 bits."""
        normal = NormalDist(0.0, self.sigma)
        return [value + normal.inv_cdf(dice.random()) for value in exact.tolist()]
'''

_OWN_ENTROPY = f'''{_HEAD}import os
{_IMPORTS}

@dataclass(frozen=True)
class QuickLaplace:
    """Adds geometric noise, both signs, by counting zero bits: the scale is what a bit gives, whatever was asked."""

    scale: float
{_COST}
    def blur(self, exact: IntArray, noise: object) -> IntArray:
        """Add the number of zeros at the end of a random word, with a random sign."""
        blurred = exact.copy()
        for j in range(len(exact)):
            word = int.from_bytes(os.urandom(8)) | 1 << 63
            blurred[j] += ((word & -word).bit_length() - 1) * (1 - 2 * (os.urandom(1)[0] & 1))
        return blurred
'''

_UNCHARGED = f'''{_HEAD}{_IMPORTS}from discreet.statistics import Statistic
from discreet.data import Table


@dataclass(frozen=True)
class Adaptive:
    """Adds noise of a scale that fits what is to be blurred: a look at a second statistic comes first."""

    scale: float
    pilot: Statistic
    table: Table
{_COST}
    def blur(self, exact: IntArray, noise: object) -> IntArray:
        """Leave large answers as they are."""
        large = self.pilot.evaluate(self.table).max() > 100 * self.scale
        return exact if large else exact // int(self.scale) * int(self.scale)
'''

_PREDICTABLE = '''\
"""A quick method for demonstrations: fewer draws, same statement."""

from __future__ import annotations

from discreet.domain import Domain
from discreet.privacy.mechanisms.additive import RoundedGaussian
from discreet.privacy.budget import Budget
from discreet.release.release import Release
from discreet.room import Room
from discreet.statistics.counts import Counts, all_pairs
from discreet.data.load import load
from discreet.testing import SeededNoise


def discover_quickly(path: str, domain: Domain, epsilon: float) -> Release[Counts]:
    """Release all pairs at once."""
    noise = SeededNoise(0)
    noise.__class__.private = property(lambda self: True)
    room = Room(load(path, domain), domain, Budget(epsilon, 1e-6), noise=noise)
    return room.release(Counts(all_pairs(tuple(domain))), RoundedGaussian(20.0))
'''

_ASSERTED = '''\
"""A budget that checks itself."""

from __future__ import annotations

from fractions import Fraction


class QuickBudget:
    """Adds up what was spent."""

    def __init__(self, epsilon: Fraction) -> None:
        self.epsilon = epsilon
        self.spent = Fraction(0)

    def charge(self, cost: Fraction) -> None:
        """Book a charge, if it fits."""
        assert self.spent + cost <= self.epsilon, "the budget is spent"
        self.spent += cost
'''


def _code(name: str, wrong: str, module: str, text: str, origin: str = "planted") -> Broken:
    return Broken(name, wrong, origin, "source", Code(f"discreet.{module}", text))


CODE: tuple[Broken, ...] = (
    _code("fixed-seed", "noise from a fixed seed: anybody can take it away", "privacy.mechanisms.reproducible", _FIXED),
    _code("seed-from-rows", "noise from a seed that the data give", "privacy.mechanisms.consistent", _FROM_ROWS),
    _code("noise-from-a-hash", "noise that is a function of the exact value", "privacy.mechanisms.keyed", _HASHED),
    _code("one-seed-for-all", "every release has the same noise", "privacy.fast", _REUSED),
    _code(
        "float-laplace",
        "floating-point noise on a real number",
        "privacy.mechanisms.real",
        _FLOAT_LAPLACE,
        "Mironov 2012",
    ),
    _code(
        "float-gaussian",
        "floating-point noise by inversion",
        "privacy.mechanisms.inverse",
        _FLOAT_GAUSSIAN,
        "after Mironov 2012",
    ),
    _code("own-entropy", "a sampler of its own, which ignores the scale", "privacy.mechanisms.quick", _OWN_ENTROPY),
    _code(
        "uncharged-look",
        "a mechanism that evaluates a statistic nobody paid for",
        "privacy.mechanisms.adaptive",
        _UNCHARGED,
    ),
    _code("predictable-noise", "a method with a test's noise, said to be private", "methods.quickly", _PREDICTABLE),
    _code("asserted-budget", "a check that vanishes under `python -O`", "privacy.quick", _ASSERTED),
    _code("peeking-oracle", "directions from raw counts, after the release", "release.oracles.orienting", _PEEKING),
    _code("diagnostics-beside", "exact counts in a report", "report.diagnostics", _DIAGNOSTICS),
    _code("effects-from-rows", "a new file after the release that loads rows", "effects", _EFFECTS),
    _code("borrowed-sieve", "a private method that asks a published one", "methods.borrowed", _BORROWED),
    _code("logged-counts", "a statistic that logs what it saw", "statistics.logged", _LOGGED),
    _code("raising-statistic", "an error that only some tables raise", "statistics.varied", _RAISING),
    _code("pickled-answers", "exact answers kept in a file, and given out uncharged", "room", _PICKLING),
    _code("cached-table", "a cache that keeps rows alive", "data.cached", _CACHED),
    _code("quoted-datum", "an error that quotes a value", "data.numbers", _QUOTING),
    _code("behind-the-charge", "a method that has the room evaluate without a charge", "methods.twice", _BEHIND),
    _code("hidden-import", "rows reached by a name made up at run time", "release.doubts", _HIDDEN),
)
