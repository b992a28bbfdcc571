"""Modules that break a rule of the house, as text: none is ever run. Noise here, rows in ``code_rows``."""

from __future__ import annotations

from discreet.audit.broken import Broken, Code
from discreet.audit.broken.code_rows import ROWS

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
from discreet.tables import Table


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
from discreet.mechanisms.additive import RoundedGaussian
from discreet.privacy.budget import Budget
from discreet.release import Release
from discreet.room import Room
from discreet.statistics.counts import Counts, all_pairs
from discreet.tables.load import load
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


NOISE = (
    _code("fixed-seed", "noise from a fixed seed: anybody can take it away", "mechanisms.reproducible", _FIXED),
    _code("seed-from-rows", "noise from a seed that the data give", "mechanisms.consistent", _FROM_ROWS),
    _code("noise-from-a-hash", "noise that is a function of the exact value", "mechanisms.keyed", _HASHED),
    _code("one-seed-for-all", "every release has the same noise", "privacy.fast", _REUSED),
    _code("float-laplace", "floating-point noise on a real number", "mechanisms.real", _FLOAT_LAPLACE, "Mironov 2012"),
    _code(
        "float-gaussian",
        "floating-point noise by inversion",
        "mechanisms.inverse",
        _FLOAT_GAUSSIAN,
        "after Mironov 2012",
    ),
    _code("own-entropy", "a sampler of its own, which ignores the scale", "mechanisms.quick", _OWN_ENTROPY),
    _code(
        "uncharged-look", "a mechanism that evaluates a statistic nobody paid for", "mechanisms.adaptive", _UNCHARGED
    ),
    _code("predictable-noise", "a method with a test's noise, said to be private", "quickly", _PREDICTABLE),
    _code("asserted-budget", "a check that vanishes under `python -O`", "privacy.quick", _ASSERTED),
)

CODE: tuple[Broken, ...] = NOISE + tuple(_code(*parts) for parts in ROWS)
