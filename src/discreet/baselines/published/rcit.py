"""NOT PRIVATE: RCIT, a test of conditional independence by residuals, kernels and permutations.

Zhang, Xia, Ren, Guan, Zhou 2023 (*Differentially Private Nonlinear Causal Discovery from Numerical Data*): two columns
are regressed on others by kernel ridge regression, and the independence of what is left is tested by HSIC with
permutations. Everything is exact up to 1e-9; what differs from the usual n by n matrices is only the time it takes.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import pdist

from discreet.arrays import FloatArray
from discreet.errors import SettingError
from discreet.sealed import Sealed
from discreet.search.oracle import Verdict

T = TypeVar("T")

PERMUTATIONS, LAM = 100, 1.0
"""The paper's number of permutations, and its ridge."""

LOOKED_AT = 1000
"""The median distance is that of at most so many rows, evenly taken."""

KERNEL_SLACK = 1e-11
"""What may be left out of a kernel, a row: the statistic moves by no more."""

ROUNDING = 1e-13
"""Less than this is rounding."""

MAX_HELD_BYTES = 1 << 28
"""Bytes of residuals and features that are held for the next question, of each."""


@dataclass(frozen=True)
class RcitResult:
    """NOT PRIVATE: what a test found.

    Parameters
    ----------
    statistic
        HSIC of the residuals, tr(KHLH)/(n - 1)^2.
    permuted
        The same after each permutation of one of them.
    widths
        Widths of both kernels.
    """

    statistic: float
    permuted: FloatArray
    widths: tuple[float, float]

    @property
    def p_value(self) -> float:
        """The share of values at least as large as the one seen, which is among them."""
        return (1 + float(np.count_nonzero(self.permuted >= self.statistic))) / (1 + len(self.permuted))

    def share(self, added: float = 0.0) -> float:
        """Return the share of permutations whose value, with something added, is strictly above the one seen.

        Values that are equal but for rounding are equal.
        """
        return float(np.mean(self.permuted + added > self.statistic + ROUNDING))


def rcit(
    x: FloatArray,
    y: FloatArray,
    z: FloatArray | None = None,
    *,
    permutations: int = PERMUTATIONS,
    lam: float = LAM,
    widths: tuple[float, float] | None = None,
    rng: np.random.Generator,
) -> RcitResult:
    """NOT PRIVATE: test whether x and y are independent given the columns of z.

    Parameters
    ----------
    x, y
        Numbers, one a row.
    z
        Rows of numbers, or one number a row; None for nothing given.
    permutations
        How many.
    lam
        The ridge of (lam/2) |w|^2 + the mean of squared errors, so that what is left of a column is
        (n lam/2) (K + (n lam/2) I)^-1 times it. The paper has 1. What is often written K + I is lam = 2/n.
    widths
        Widths of the kernels of the residuals; by default the median distance of each.
    rng
        Where permutations come from.
    """
    columns = {"x": np.asarray(x, dtype=np.float64), "y": np.asarray(y, dtype=np.float64)}
    given: list[str] = []
    if z is not None:
        parts = np.asarray(z, dtype=np.float64).reshape(len(x), -1)
        given = [f"z{i}" for i in range(parts.shape[1])]
        columns |= dict(zip(given, parts.T, strict=True))
    return Rcit(columns, permutations=permutations, lam=lam, widths=widths, rng=rng).test("x", "y", frozenset(given))


class Rcit(Sealed):
    """NOT PRIVATE: an oracle that tests whole tables of numbers; every set of columns is regressed on once.

    Parameters
    ----------
    columns
        Numbers by name. The paper's theory wants them between -1 and 1.
    alpha
        Level of the tests.
    permutations, lam, widths, rng
        See ``rcit``.
    """

    free = False
    max_order = None

    def __init__(
        self,
        columns: Mapping[str, FloatArray],
        *,
        alpha: float = 0.05,
        permutations: int = PERMUTATIONS,
        lam: float = LAM,
        widths: tuple[float, float] | None = None,
        rng: np.random.Generator,
    ) -> None:
        if not 0 < alpha < 1 or permutations < 1 or not 1e-12 <= lam <= 1e6:
            raise SettingError("alpha, permutations, lam: between 0 and 1, from 1, and between 1e-12 and 1e6")
        self._places = {name: i for i, name in enumerate(columns)}
        self._columns = np.stack(list(columns.values()), axis=1)
        if self.rows < 2:
            raise SettingError("rows: a test takes at least two")
        self._alpha, self._permutations, self._lam, self._widths, self._rng = alpha, permutations, lam, widths, rng
        self._residuals = _Cache[FloatArray]()
        self._features = _Cache[tuple[FloatArray, float]]()

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self._columns)

    def answers(self, x: str, y: str, given: frozenset[str]) -> bool:
        """Whether it can answer: always."""
        return True

    def ask(self, x: str, y: str, given: frozenset[str]) -> Verdict:
        """Test at the level."""
        p = self.test(x, y, given).p_value
        return Verdict(p >= self._alpha, math.log(self._alpha / p), p)

    def test(self, x: str, y: str, given: frozenset[str]) -> RcitResult:
        """Return what the test finds."""
        fixed = self._widths or (None, None)
        (of_x, width_x), (of_y, width_y) = (
            self._residual_features(name, given, width) for name, width in zip((x, y), fixed, strict=True)
        )
        scale = (self.rows - 1) ** 2
        across = np.ascontiguousarray(of_y.T)
        permuted = [
            _sum_of_squares(of_x @ across[self._rng.permutation(self.rows)]) / scale for _ in range(self._permutations)
        ]
        return RcitResult(_sum_of_squares(of_x @ across) / scale, np.array(permuted), (width_x, width_y))

    def _residual_features(self, name: str, given: frozenset[str], width: float | None) -> tuple[FloatArray, float]:
        """Return centred features of a column's residuals, with the width of their kernel."""

        def make() -> tuple[FloatArray, float]:
            left = self.residuals(given)[:, self._places[name]]
            wide = median_width(left[:, None]) if width is None else width
            features = low_rank(left[:, None], wide, KERNEL_SLACK)
            features -= features.mean(axis=1, keepdims=True)
            return features, wide

        return self._features.get((name, given, width), make, lambda found: found[0].nbytes)

    def residuals(self, given: frozenset[str]) -> FloatArray:
        """Return what all columns exceed their fit over some by; the columns themselves if none are given."""
        if not given:
            return self._columns
        points = self._columns[:, [self._places[name] for name in sorted(given)]]
        make = partial(ridge_residuals, points, self._columns, self._lam)
        return self._residuals.get((given,), make, lambda found: found.nbytes)


class _Cache(Generic[T]):
    """The last things that were made, up to a number of bytes."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[object, ...], tuple[T, int]] = OrderedDict()
        self._bytes = 0

    def get(self, key: tuple[object, ...], make: Callable[[], T], size: Callable[[T], int]) -> T:
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key][0]
        made = make()
        self._kept[key] = made, size(made)
        self._bytes += size(made)
        while self._bytes > MAX_HELD_BYTES and len(self._kept) > 2:
            self._bytes -= self._kept.popitem(last=False)[1][1]
        return made


def _sum_of_squares(crossed: FloatArray) -> float:
    return float(np.vdot(crossed, crossed))


def ridge_residuals(points: FloatArray, targets: FloatArray, lam: float) -> FloatArray:
    """Return what columns exceed their fit over points by: mu (K + mu I)^-1 targets, mu = n lam/2.

    Proof
    -----
    With K = GG' + E, E positive, replacing K by GG' moves the residuals by |E| |targets|/mu at most, and the residuals
    by G are targets - G (G'G + mu I)^-1 G' targets.
    """
    n = len(points)
    shift, width = n * lam / 2, median_width(points)
    across = low_rank(points, width, max(KERNEL_SLACK * lam / 2, ROUNDING), most=n // 8)
    if len(across) > n // 8:
        kernel = gram(points, points, width)
        kernel.flat[:: n + 1] += shift
        solved: FloatArray = cho_solve(cho_factor(kernel, lower=True, overwrite_a=True, check_finite=False), targets)
        return shift * solved
    inner = across @ across.T
    inner.flat[:: len(inner) + 1] += shift
    fitted: FloatArray = cho_solve(cho_factor(inner, lower=True, check_finite=False), across @ targets)
    return targets - across.T @ fitted


def low_rank(points: FloatArray, width: float, slack: float, *, most: int | None = None) -> FloatArray:
    """Return G' such that the kernel less GG' is positive, with a trace of at most ``slack`` a row.

    Cholesky's factors by the largest diagonal left. Stops one after ``most`` of them if that was not enough.

    Proof
    -----
    What is left of a positive matrix after each step is positive, so its trace is the sum of the diagonal that is left,
    and tr(EHLH) <= n tr(E) for a kernel L.
    """
    n = len(points)
    most = n if most is None else min(most + 1, n)
    diagonal, found = np.ones(n), np.empty((min(32, most), n))
    rank = 0
    while rank < most and diagonal.sum() > slack * n:
        if rank == len(found):
            found = np.concatenate([found, np.empty((min(rank, most - rank), n))])
        at = int(diagonal.argmax())
        row = gram(points[at : at + 1], points, width)[0]
        row -= found[:rank, at] @ found[:rank]
        row /= math.sqrt(diagonal[at])
        found[rank] = row
        diagonal -= row * row
        np.maximum(diagonal, 0.0, out=diagonal)
        diagonal[at] = 0.0
        rank += 1
    return found[:rank].copy()


def gram(a: FloatArray, b: FloatArray, width: float) -> FloatArray:
    """Return the Gaussian kernel between all rows of a and all rows of b."""
    apart = np.zeros((len(a), len(b)))
    for i in range(a.shape[1]):
        apart += np.square(np.subtract.outer(a[:, i], b[:, i]))
    apart *= -0.5 / width**2
    return np.exp(apart, out=apart)


def median_width(points: FloatArray) -> float:
    """Return the median distance of two of at most ``LOOKED_AT`` rows; 1 if more than half of them are equal."""
    rows = points[np.linspace(0, len(points) - 1, min(len(points), LOOKED_AT)).astype(np.int64)]
    return float(np.median(pdist(rows))) or 1.0
