"""Answers from released pair tables: tests of order 0 and 1 whose null distribution includes the privacy noise.

How it works, and why the test has its level: ``released.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import eigh

from discreet.arrays import FloatArray
from discreet.errors import SettingError, UnansweredError
from discreet.oracles import Verdict
from discreet.oracles.chi2mix import tail
from discreet.oracles.pairs import Law, Margin, PairTables, Strata, contrasts, pooled_margin, whole, within

EFFECT = 0.1
"""Prior variance of a standardised dependence: decides which directions of a table carry weight."""

SPARSE = 1.0
"""Variance added to every cell: with hardly any noise the counts of rare cells are far from normal."""

HEAVY = 2.0
"""Products of two noises have heavy tails: their 1 % quantile is that of a normal with twice the variance."""

DRAWS = 4000
"""Draws of the simulated null where the noise is not Gaussian."""

DOUBT = 0.1
"""A null is simulated only where the Gaussian one gives a smaller p-value: the laws differ in their tails."""


def check_alpha(alpha: float, law: Law) -> None:
    """Refuse a level that is none, or that simulated nulls cannot resolve."""
    if not 0 < alpha < 1:
        raise SettingError("alpha: a number between 0 and 1")
    if law == "laplace" and alpha * DRAWS < 10:
        raise SettingError(f"alpha: at least {10 / DRAWS:g} with Laplace noise (delta 0), whose tails are simulated")


@dataclass(frozen=True)
class Residual:
    """The pooled residual of a pair in contrasts, and its null covariance by where it comes from."""

    values: FloatArray
    sampled: FloatArray
    blurred: FloatArray


class ReleasedPairs:
    """An oracle of order 0 and 1 from noisy pair tables.

    Dependence that shows in no pair table and no pooled residual (as in x XOR y) is not seen.

    Parameters
    ----------
    pairs
        The released tables.
    alpha
        Level of the tests: the share of independent pairs called dependent.
    rng
        Generator for simulated null distributions (Laplace noise only). Not privacy noise.
    """

    free = True
    max_order = 1

    def __init__(self, pairs: PairTables, *, alpha: float, rng: np.random.Generator) -> None:
        check_alpha(alpha, pairs.law)
        self._pairs = pairs
        self._alpha = alpha
        self._rng = rng
        self._asked: dict[tuple[str, str, str | None], Verdict] = {}
        self._strata: dict[tuple[str, str | None], Strata] = {}

    @cached_property
    def margins(self) -> dict[str, Margin]:
        """Pooled one-way counts of every column."""
        return {column: pooled_margin(self._pairs, column) for column in self._pairs.sizes}

    def answers(self, x: str, y: str, given: frozenset[str]) -> bool:
        """Whether the tables it takes were released."""
        if len(given) > self.max_order:
            return False
        needed = [(x, y), *((side, z) for z in given for side in (x, y))]
        return all(self._pairs.has(*pair) for pair in needed)

    def ask(self, x: str, y: str, given: frozenset[str]) -> Verdict:
        """Test whether x and y are independent given at most one column."""
        if not self.answers(x, y, given):
            raise UnansweredError("the released tables do not answer this question")
        key = (min(x, y), max(x, y), next(iter(given), None))
        if key not in self._asked:
            self._asked[key] = self._test(*key)
        return self._asked[key]

    def _test(self, x: str, y: str, z: str | None) -> Verdict:
        if min(self._pairs.sizes[x], self._pairs.sizes[y]) < 2:  # a column with one level depends on nothing
            return Verdict(independent=True, evidence=0.0, p_value=1.0)
        residual = self.residual(x, y, z)
        share, directions = eigh(residual.sampled, residual.sampled + residual.blurred, check_finite=False)
        whitener = directions.T
        squares = (whitener @ residual.values) ** 2
        g = EFFECT * self._pairs.rows * np.clip(share, 0.0, 1.0)
        weights = g / (1 + g)
        seen = float(squares @ weights)
        p_value = tail(weights, seen)
        if self._pairs.law == "laplace" and p_value < DOUBT:
            draws = self._null_draws(x, y, z, residual)
            p_value = float(1 + (((draws @ whitener.T) ** 2) @ weights >= seen).sum()) / (1 + DRAWS)
        evidence = (seen - float(np.log1p(g).sum())) / 2
        return Verdict(independent=p_value > self._alpha, evidence=evidence, p_value=p_value)

    def residual(self, x: str, y: str, z: str | None) -> Residual:
        """Return what is left of the table of x and y when its part explained by z is taken away."""
        sx, sy = self._stratify(x, z), self._stratify(y, z)
        size = np.array([float(self._pairs.rows)]) if z is None else self.margins[z].counts
        cx, cy = contrasts(self._pairs.sizes[x]), contrasts(self._pairs.sizes[y])
        table = cx.T @ self._pairs.table(x, y) @ cy
        values = table - sx.shares @ sy.counts.T - sx.counts @ sy.shares.T + (sx.shares * size) @ sy.shares.T
        sampled = np.einsum("k,kij,klm->iljm", size, sx.covariance, sy.covariance)
        blurred = self._noise(x, y, z, size)
        return Residual(values.ravel(), sampled.reshape(values.size, values.size), blurred)

    def _noise(self, x: str, y: str, z: str | None, size: FloatArray) -> FloatArray:
        """Return the residual's covariance that comes from the privacy noise."""
        sx, sy, v = self._stratify(x, z), self._stratify(y, z), self._pairs.variance
        vx, vy = self.margins[x].variance, self.margins[y].variance
        ix, iy = np.eye(len(sx.shares)), np.eye(len(sy.shares))
        mean_x, mean_y = sx.shares.mean(axis=1), sy.shares.mean(axis=1)
        around_x, around_y = sx.shares - mean_x[:, None], sy.shares - mean_y[:, None]
        by_x = vy * np.outer(mean_x, mean_x) + v * around_x @ around_x.T
        by_y = vx * np.outer(mean_y, mean_y) + v * around_y @ around_y.T
        products = vx * vy / self._pairs.rows**2 if z is None else float((size**2 * sx.error * sy.error).sum())
        noise = _kron(by_x, iy) + _kron(ix, by_y) + (v + SPARSE + HEAVY * products) * _kron(ix, iy)
        if z is not None:
            joint = np.einsum("ik,jk->ijk", sx.shares, sy.shares).reshape(len(noise), -1)
            joint = joint - joint.mean(axis=1, keepdims=True)
            noise += self.margins[z].variance * joint @ joint.T
        return noise

    def _null_draws(self, x: str, y: str, z: str | None, residual: Residual) -> FloatArray:
        """Draw residuals as they would be without dependence, with Laplace noise on the tables that matter most."""
        sx, sy, sizes = self._stratify(x, z), self._stratify(y, z), self._pairs.sizes
        drawn = self._laplace(sizes[x], sizes[y]).reshape(DRAWS, -1)
        heavy = self._pairs.variance * np.eye(drawn.shape[1])
        if z is not None:
            cz = contrasts(sizes[z])
            from_x = self._laplace(sizes[x], sizes[z]) @ (sy.shares @ cz).T
            from_y = (sx.shares @ cz) @ self._laplace(sizes[y], sizes[z]).transpose(0, 2, 1)
            drawn = drawn - (from_x + from_y).reshape(DRAWS, -1)
            around_x, around_y = sx.shares @ cz, sy.shares @ cz
            heavy = heavy + self._pairs.variance * (
                _kron(around_x @ around_x.T, np.eye(len(sy.shares)))
                + _kron(np.eye(len(sx.shares)), around_y @ around_y.T)
            )
        rest = residual.sampled + residual.blurred - heavy
        values, vectors = np.linalg.eigh(rest)
        root = vectors * np.sqrt(np.maximum(values, 0))
        return np.asarray(drawn + self._rng.standard_normal(drawn.shape) @ root.T)

    def _laplace(self, a: int, b: int) -> FloatArray:
        """Draw Laplace noise on tables of a by b cells, in contrasts."""
        cells = self._rng.laplace(scale=np.sqrt(self._pairs.variance / 2), size=(DRAWS, a, b))
        return np.asarray(contrasts(a).T @ cells @ contrasts(b))

    def _stratify(self, x: str, z: str | None) -> Strata:
        key = (x, z)
        if key not in self._strata:
            self._strata[key] = whole(self.margins[x]) if z is None else within(self._pairs, x, z, self.margins)
        return self._strata[key]


def _kron(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the Kronecker product (without the overhead of the general one)."""
    size = len(a) * len(b)
    return (a[:, None, :, None] * b[None, :, None, :]).reshape(size, size)
