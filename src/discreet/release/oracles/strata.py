"""Columns within the levels of up to two others, estimated from released components, with the noise of the estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from discreet.arrays import FloatArray
from discreet.release.oracles.components import Components, contrasts, to_simplex

FARTHEST = 2.0
"""Largest squared distance between two vectors of shares."""

ROUNDS = 12
"""Rounds of proportional fitting."""

TRACE = 1e-7
"""Share given to empty cells, so that proportions stay defined."""


@dataclass(frozen=True)
class Strata:
    """How many rows each combination of the other columns' levels holds, and the covariance of its noise."""

    size: FloatArray
    noise: FloatArray


@dataclass(frozen=True)
class Within:
    """A column within strata, in contrasts.

    ``counts`` and ``shares`` have one column a stratum; ``covariance`` is that of one draw in each stratum,
    ``error`` the variance of the shares' error, ``noise`` the covariance between strata of the noise on the counts
    of any one contrast.
    """

    counts: FloatArray
    shares: FloatArray
    covariance: FloatArray
    error: FloatArray
    noise: FloatArray


class Estimates:
    """Estimates from released components, each made once."""

    def __init__(self, parts: Components) -> None:
        self.parts = parts
        self._within: dict[tuple[str, tuple[str, ...]], Within] = {}
        self._strata: dict[tuple[str, ...], Strata] = {}
        self._pairs: dict[tuple[str, str], FloatArray] = {}

    @cached_property
    def shares(self) -> dict[str, FloatArray]:
        """Shares of every column's levels; even where nothing was released."""
        return {column: self._margin(column) for column in self.parts.sizes}

    def _margin(self, column: str) -> FloatArray:
        levels = self.parts.sizes[column]
        even = np.full(levels, 1 / levels)
        if not self.parts.has(column):
            return even
        return to_simplex(even + contrasts(levels) @ self.parts.values(column) / self.parts.rows)

    def strata(self, given: tuple[str, ...]) -> Strata:
        """Return the strata of up to two columns, in sorted order."""
        if given not in self._strata:
            self._strata[given] = self._make_strata(given)
        return self._strata[given]

    def within(self, x: str, given: tuple[str, ...]) -> Within:
        """Return a column within strata."""
        return self.all_within([(x, given)])[0]

    def all_within(self, wanted: Sequence[tuple[str, tuple[str, ...]]]) -> list[Within]:
        """Return columns within strata; those within two others are worked out together, shape by shape."""
        twos: dict[tuple[int, ...], list[tuple[str, str, str]]] = {}
        for x, given in dict.fromkeys(wanted):
            if (x, given) in self._within:
                continue
            if len(given) == 2:
                shape = tuple(self.parts.sizes[c] for c in (x, *given))
                twos.setdefault(shape, []).append((x, *given))
            else:
                self._within[x, given] = self._in_one(x, *given) if given else self._whole(x)
        for shape, group in twos.items():
            for (x, z, w), found in zip(group, self._in_two(shape, group), strict=True):
                self._within[x, (z, w)] = found
        return [self._within[key] for key in wanted]

    def _make_strata(self, given: tuple[str, ...]) -> Strata:
        parts, n = self.parts, float(self.parts.rows)
        if not given:
            return Strata(np.array([n]), np.zeros((1, 1)))
        if len(given) == 1:
            c = contrasts(parts.sizes[given[0]])
            return Strata(self.shares[given[0]] * n, parts.variance(*given) * c @ c.T)
        z, w = given
        levels = np.array([0.0, parts.variance(z), parts.variance(w), parts.variance(z, w)])
        noise = _kernel(parts.sizes[z], parts.sizes[w], *levels)
        return Strata(self._pair(z, w).ravel() * n, noise)

    def _pair(self, x: str, y: str) -> FloatArray:
        """Return the shares of a pair's cells."""
        if x > y:
            return self._pair(y, x).T
        if (x, y) not in self._pairs:
            self._pairs[x, y] = self._make_pair(x, y)
        return self._pairs[x, y]

    def _make_pair(self, x: str, y: str) -> FloatArray:
        a, b = self.parts.sizes[x], self.parts.sizes[y]
        inner = contrasts(a) @ self.parts.values(x, y) @ contrasts(b).T / self.parts.rows
        cells = inner + self.shares[x][:, None] / b + self.shares[y][None, :] / a - 1 / (a * b)
        return to_simplex(cells.ravel()).reshape(a, b)

    def _whole(self, x: str) -> Within:
        n, v = float(self.parts.rows), self.parts.variance(x)
        shares = self.shares[x][:, None]
        return _in_contrasts(contrasts(len(shares)).T @ shares * n, shares, np.array([v / n**2]), np.array([[v]]))

    def _in_one(self, x: str, z: str) -> Within:
        """Shares in a level that drowns in noise are shrunk towards the shares in the whole table.

        As far as a bound on the squared distance between the two allows: what was seen plus its noise, and at most 2.
        """
        parts, n, px = self.parts, self.parts.rows, self.shares[x]
        size = np.maximum(self.strata((z,)).size, 1e-9)
        a, c, v = len(px), len(size), parts.variance(x, z)
        inner = contrasts(a) @ parts.values(x, z) @ contrasts(c).T
        counts = inner + px[:, None] * n / c + size[None, :] / a - n / (a * c)
        blur = v / size**2
        seen = ((counts / size - px[:, None]) ** 2).sum(axis=0)
        distance = np.minimum(seen + blur, FARTHEST)
        weight = distance / (distance + blur)
        shares = to_simplex((weight * counts / size + (1 - weight) * px[:, None]).T).T
        noise = np.full((c, c), parts.variance(x) / c**2) + v * contrasts(c) @ contrasts(c).T
        return _in_contrasts(contrasts(a).T @ counts, shares, weight * blur, noise)

    def _in_two(self, shape: tuple[int, ...], group: Sequence[tuple[str, str, str]]) -> list[Within]:
        """Fit the three pair tables, then move towards the interaction of all three as it stands out of its noise.

        Where that was not released, the fit alone stands for it.
        """
        parts, n = self.parts, float(self.parts.rows)
        a, c, d = shape
        ca, cc, cd = contrasts(a), contrasts(c), contrasts(d)
        tables = [np.stack([self._pair(t[i], t[j]) for t in group]) for i, j in ((0, 1), (0, 2), (1, 2))]
        fitted = _fit(*tables) * n
        third = np.einsum("nxzw,xi,zj,wk->nijk", fitted, ca, cc, cd, optimize=True)
        measured = [parts.has(*t) for t in group]
        seen = np.stack(
            [parts.values(*t) if m else third[i] for i, (t, m) in enumerate(zip(group, measured, strict=True))]
        )
        v3 = np.array([parts.variance(*t) if m else 0.0 for t, m in zip(group, measured, strict=True)])
        distance = np.maximum(((seen - third) ** 2).mean(axis=(1, 2, 3)) - v3, 0.0) + TRACE if third.size else v3 + 1.0
        weight = distance / (distance + v3)
        moved = np.einsum("nijk,xi,zj,wk->nxzw", seen - third, ca, cc, cd, optimize=True)
        size = np.maximum(fitted.sum(axis=1), 1e-9)
        cells = (fitted + weight[:, None, None, None] * moved) / size[:, None]
        shares = to_simplex(cells.reshape(len(group), a, -1).mT).mT
        vx, vz, vw = (np.array([parts.variance(*sorted({t[0], t[i]})) for t in group]) for i in range(3))
        inner = (np.stack([parts.values(t[0], t[i]) for t in group]) for i in (1, 2))
        by_z, by_w = (values @ basis.T for values, basis in zip(inner, (cc, cd), strict=True))
        counts = (np.stack([self.shares[t[0]] for t in group]) @ ca * n)[:, :, None, None] / (c * d)
        counts = counts + by_z[..., None] / d + by_w[:, :, None, :] / c + cc @ seen @ cd.T
        spread = vz * (c - 1) / d + vw * (d - 1) / c + v3 * weight * (c - 1) * (d - 1)
        error = np.minimum((spread / (c * d))[:, None] / size.reshape(len(group), -1) ** 2, 1.0)
        noise = _kernel(c, d, vx, vz, vw, v3)
        flat = counts.reshape(len(group), a - 1, c * d)
        return [_in_contrasts(*fields) for fields in zip(flat, shares, error, noise, strict=True)]


@cache
def _kernels(c: int, d: int) -> FloatArray:
    """Return how noise on the components of neither, the first, the second and both columns spreads over strata."""
    pc, pd = contrasts(c) @ contrasts(c).T, contrasts(d) @ contrasts(d).T
    ec, ed = np.full((c, c), 1 / c**2), np.full((d, d), 1 / d**2)
    return np.stack([np.kron(ec, ed), np.kron(pc, ed), np.kron(ec, pd), np.kron(pc, pd)])


def _kernel(c: int, d: int, *variances: FloatArray) -> FloatArray:
    """Return the covariance between the c times d strata of two columns, by the components it comes from."""
    return np.asarray(np.tensordot(np.stack(variances, axis=-1), _kernels(c, d), axes=1))


def _fit(xz: FloatArray, xw: FloatArray, zw: FloatArray) -> FloatArray:
    """Return shares of three columns with these pair tables and no interaction of all three, one a row."""
    xz, xw, zw = xz + TRACE, xw + TRACE, zw + TRACE
    cells: FloatArray = np.repeat(zw[:, None], xz.shape[1], axis=1) / xz.shape[1]
    for _ in range(ROUNDS):
        cells *= (xz / cells.sum(axis=3))[:, :, :, None]
        cells *= (xw / cells.sum(axis=2))[:, :, None, :]
        cells *= (zw / cells.sum(axis=1))[:, None, :, :]
    return cells


def _in_contrasts(counts: FloatArray, shares: FloatArray, error: FloatArray, noise: FloatArray) -> Within:
    basis = contrasts(len(shares))
    projected = basis.T @ shares
    spread = (shares.T[:, None, :] * basis.T) @ basis - projected.T[:, :, None] * projected.T[:, None, :]
    return Within(counts, projected, np.asarray(spread), error, noise)
