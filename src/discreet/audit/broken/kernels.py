"""Published kernel tests, regressions and quartiles that do not keep their promise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.stats import hypergeom

from discreet.arrays import FloatArray, IntArray
from discreet.audit.broken import (
    GRID,
    KUSNER,
    PURE,
    Broken,
    Measured,
    Rng,
    Sampled,
    Whole,
    domain_of,
    moving,
    on_grid,
    pair,
)
from discreet.audit.claims import Claim
from discreet.domain import Domain, Numeric
from discreet.privacy.accounting import Currency
from discreet.statistics import Sensitivity, Table
from discreet.statistics.dependence import moved_by_steps
from discreet.statistics.pairwise_hsic import PairwiseHSIC

ZHANG = "Zhang et al. 2023"
FEW_ROWS, MANY_ROWS = 50, 1000

CLOSEST = 1e-9
"""Quartiles are never closer than this."""


def _determinant(table: IntArray) -> int:
    """Return how far a two by two table is from independence."""
    (a, b), (c, d) = table.tolist()
    return int(a * d - b * c)


def _hsic(table: IntArray) -> float:
    """Return HSIC of two binary columns, for kernels that say 1 for equal and 0 for different values."""
    m = int(table.sum())
    return float(4 * _determinant(table) ** 2 / (m * (m - 1)) ** 2)


def root_hsic(table: IntArray) -> float:
    """Return the root of HSIC, divided by the square of the rows."""
    return 2 * abs(_determinant(table)) / int(table.sum()) ** 2


@dataclass(frozen=True)
class RootHsic:
    """The root of HSIC after the second column was shifted by some rows; a column says where a row stands."""

    shift: int
    claimed: float

    @property
    def name(self) -> str:
        """What it is."""
        return f"root of HSIC, one column shifted by {self.shift} rows"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it sees."""
        return ("place", "x", "y")

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return what is claimed, in steps of the grid, rounding included."""
        return moving(math.ceil(self.claimed * GRID) + 1)

    def evaluate(self, table: Table) -> IntArray:
        """Return the nearest step of the grid."""
        placed = table.counts([("place", "x"), ("place", "y")])
        x, y = (np.minimum(counted[:, 1], 1) for counted in placed)
        y, m = np.roll(y, -self.shift), table.rows
        distance = abs(m * int((x * y).sum()) - int(x.sum()) * int(y.sum()))
        return np.array([round(GRID * 2 * distance / m**2)], dtype=np.int64)


PLACES = domain_of(FEW_ROWS, place=FEW_ROWS, x=2, y=2)
MET_TWICE = pair({(0, 1, 0): 1, (2, 0, 1): 1, **{(k, 0, 0): 1 for k in range(3, FEW_ROWS)}}, (1, 0, 0), (1, 1, 1))
"""The row at place 1 meets the lone 1 of either column once the second one is shifted."""


def _median_bandwidth(counted: IntArray) -> float:
    """Return HSIC with a Gaussian kernel as wide as half of all pairs of rows are apart."""
    n, x = int(counted.sum()), counted.sum(axis=1)
    at = np.array([0.0, 1.0, 50.0])
    apart = np.abs(at[:, None] - at)
    pairs = np.outer(x, x) - np.diag(x)
    width = float(np.median(np.repeat(apart.ravel(), pairs.ravel())))
    kernel = np.exp(-0.5 * (apart / width) ** 2) if width else np.eye(3)
    left = counted / n - np.outer(x, counted.sum(axis=0)) / n**2
    return float((kernel * (left @ left.T)).sum()) * (n / (n - 1)) ** 2


def _fitted(strength: float) -> Callable[[IntArray], float]:
    """Return the value that kernel ridge regression fits at the first level, if levels have nothing in common."""

    def value(counted: IntArray) -> float:
        n, (minus, plus) = int(counted.sum()), counted[0].tolist()
        return float(2 / n * (plus - minus) / (strength + 2 * (plus + minus) / n))

    return value


def ridge(strength: float, claimed: float) -> Whole:
    """Return the fitted value with the sensitivity that is claimed for it."""
    return on_grid("fitted value", ("x", "y"), _fitted(strength), claimed)


def equation_3(rows: int) -> float:
    """Return how far one row is said to move HSIC of residuals, for a ridge and for widths of 1."""
    return -4 * rows / (rows - 1) * math.expm1(-128 / rows**2)


def _residual_hsic(bandwidth: float) -> Callable[[IntArray], float]:
    """Return HSIC of the residuals of two columns of -1 and 1 when there is nothing to regress on."""
    apart = 1 - math.exp(-2 / bandwidth**2)
    return lambda counted: apart**2 * _hsic(counted)


@lru_cache(maxsize=8)
def _permuted(codes: bytes) -> tuple[float, float, float]:
    """Return which share of all permutations scores higher, and which would if scores were less, or more, by doubt.

    Columns are binary, and kernels say 1 for equal and 0 for different values.
    """
    rows = np.frombuffer(codes, dtype=np.int64).reshape(-1, 2)
    m, x, y = len(rows), int(rows[:, 0].sum()), int(rows[:, 1].sum())
    both = np.arange(max(0, x + y - m), min(x, y) + 1)
    chances: FloatArray = hypergeom.pmf(both, m, x, y)
    values = 4 * ((m * both - x * y) / (m * (m - 1))) ** 2
    seen = 4 * ((m * int(rows.prod(axis=1).sum()) - x * y) / (m * (m - 1))) ** 2
    doubt = 2 * (12 * m - 11) / (m - 1) ** 2
    p, least, most = (float(chances[values + by > seen + 1e-12].sum()) for by in (0.0, -doubt, doubt))
    return p, least, most


def sure_or_noisy(rows: IntArray, rng: Rng, epsilon: float = 1.0, alpha: float = 0.05) -> bool:
    """Say whether an edge is deleted: without noise where no neighbour seems able to change that."""
    p, least, most = _permuted(rows.tobytes())
    if least > alpha or most < alpha:
        return least > alpha
    moved = p - least if p > alpha else most - p
    return bool(p + rng.laplace(0, 4 * moved / epsilon) >= alpha + rng.laplace(0, 2 * moved / epsilon))


@lru_cache(maxsize=8)
def _spread(codes: bytes, grow: float, *, shifted: bool) -> tuple[float, int, int]:
    """Return the logarithm of the distance of the quartiles, and how many rows must change to leave either bin."""
    ranked = np.sort(np.frombuffer(codes, dtype=np.int64)).astype(np.float64)
    values: FloatArray = grow * ranked if grow else np.exp(ranked + 0.3)
    quarter = len(values) // 4
    low, high = quarter, len(values) - 1 - quarter
    spread = math.log(max(values[high] - values[low], CLOSEST))
    whole = math.floor(spread)
    half = whole - 0.5 if shifted else math.floor(spread + 0.5) - 0.5
    first, second = (_changes(values, low, high, (math.exp(b), math.exp(b + 1))) for b in (whole, half))
    return spread, first, second


def _changes(values: FloatArray, low: int, high: int, inside: tuple[float, float]) -> int:
    """Return how many rows must change before the distance of the quartiles leaves an interval."""
    padded = np.concatenate([np.full(len(values), -np.inf), values, np.full(len(values), np.inf)])
    low, high = low + len(values), high + len(values)
    for changes in range(high - low + 1):
        up = np.arange(changes + 1)
        widest = (padded[high + up] - padded[low - changes + up]).max()
        narrowest = (padded[high - up] - padded[low + changes - up]).min()
        if max(widest, CLOSEST) >= inside[1] or max(narrowest, CLOSEST) < inside[0]:
            return changes
    return high - low


def quartiles(
    epsilon: float, bar: float, *, grow: float = 0.0, shifted: bool = False
) -> Callable[[IntArray, Rng], tuple[int, ...]]:
    """Tell the rounded logarithm of the distance of the quartiles, if a noisy test says that it is stable."""

    def run(rows: IntArray, rng: Rng) -> tuple[int, ...]:
        spread, first, second = _spread(rows.tobytes(), grow, shifted=shifted)
        tests = np.array([first, second]) + rng.laplace(0, 1 / epsilon, 2)
        return (round(spread + rng.laplace(0, 1 / epsilon)),) if tests.max() > bar else ()

    return run


PENALTY = 16.0
FLIPPED = pair({(1, 0): 50, (2, 1): 49}, (0, 0), (0, 1))
FITTED = domain_of(100, x=3, y=2)
SPACING = math.exp(0.002) / 200
EVEN = pair({(k,): 1 for k in range(1, 401)}, (0,), (200,))
"""Evenly spaced values; one that moves to the middle makes the quartiles' distance cross 1."""

EDGE = pair({(0,): 11, (1,): 19, (40,): 10}, (40,), (1,))
"""One row decides whether the upper quartile is close or far."""

DELTA = 1e-6
SQUARE = domain_of(MANY_ROWS, x=2, y=2)

NUMBERS = Domain({name: Numeric(bounds=(0.0, 1.0)) for name in "xyz"}, rows=FEW_ROWS)
_ENDS = (0, NUMBERS.size("x") - 1)


@dataclass(frozen=True)
class OnePairBilled(PairwiseHSIC):
    """Dependences of all pairs, as if one row moved one of them only."""

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return 1001 steps in all."""
        return moved_by_steps()


KERNELS: tuple[Broken, ...] = (
    Broken(
        "pairs-billed-as-one",
        "one row moves the dependence of all pairs, and one of them is paid for",
        "planted",
        "replay",
        Measured(
            OnePairBilled(("x", "y", "z"), NUMBERS.shape("xyz"), pairs=((0, 1), (0, 2), (1, 2))),
            NUMBERS,
            (pair({(_ENDS[0],) * 3: FEW_ROWS - 1}, (_ENDS[0],) * 3, (_ENDS[1],) * 3),),
        ),
    ),
    Broken(
        "hsic-permuted-as-plain",
        "a row meets two others once a column is permuted, and that is billed as one",
        "planted",
        "replay",
        Measured(RootHsic(1, math.sqrt(6) * (FEW_ROWS - 1) / FEW_ROWS**2), PLACES, (MET_TWICE,)),
    ),
    Broken(
        "hsic-median-bandwidth",
        "the kernel's width is read off the data",
        "planted",
        "replay",
        Measured(
            on_grid("HSIC, median width", ("x", "y"), _median_bandwidth, math.sqrt(6) / 399),
            domain_of(400, x=3, y=2),
            (pair({(0, 0): 105, (1, 1): 105, (2, 0): 94, (2, 1): 95}, (2, 1), (1, 1)),),
        ),
    ),
    Broken(
        "residuals-of-their-own-row",
        "the replaced row's own residual moves by more than the fit does",
        f"{ZHANG}, theorem 2 and equation 3",
        "replay",
        Measured(
            on_grid("HSIC of residuals", ("x", "y"), _residual_hsic(1.0), equation_3(MANY_ROWS)),
            SQUARE,
            (pair({(0, 0): 667, (1, 1): 332}, (1, 1), (0, 1)),),
        ),
    ),
    Broken(
        "ridge-strong-penalty",
        "the bound on a fitted value's change, printed for penalties up to 1, is used above 4",
        f"planted, with the constant of {KUSNER}",
        "replay",
        Measured(ridge(PENALTY, 8 / (100 * PENALTY**1.5)), FITTED, (FLIPPED,)),
    ),
    Broken(
        "sure-branch",
        "no noise where the decision seems sure, and that it seems so depends on the row",
        f"{ZHANG}, algorithm 1",
        "black box",
        Sampled(
            sure_or_noisy,
            PURE,
            (pair({(0, 0): 149, (0, 1): 50, (1, 0): 50, (1, 1): 150}, (0, 0), (0, 1)),),
        ),
    ),
    Broken(
        "quartiles-shifted-bin",
        "the second bin may not hold the value, and then it counts as unstable",
        f"{KUSNER}, algorithm 1 of the appendix",
        "black box",
        Sampled(
            quartiles(0.5, 1 + math.log(1 / DELTA) / 0.5, grow=SPACING, shifted=True),
            Claim(Currency.PURE, 1.5, DELTA),
            (EVEN,),
        ),
    ),
    Broken(
        "quartiles-low-bar",
        "the bar of the stability test does not grow with its noise",
        f"{KUSNER}, algorithm 1 of the appendix",
        "black box",
        Sampled(quartiles(0.1, 1 + math.log(1 / DELTA)), Claim(Currency.PURE, 0.3, DELTA), (EDGE,)),
    ),
)
