"""Columns within the levels of up to two others, estimated from released components, with the noise of the estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

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
    """A column within strata, in contrasts, less its centre.

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
        centre = self.parts.centre(column)
        if not self.parts.has(column):
            return centre
        return to_simplex(centre + contrasts(len(centre)) @ self.parts.values(column) / self.parts.rows)

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
        noise = _kernel(parts.centre(z)[None], parts.centre(w)[None], *levels[:, None])[0]
        return Strata(self._pair(z, w).ravel() * n, noise)

    def _pair(self, x: str, y: str) -> FloatArray:
        """Return the shares of a pair's cells."""
        if x > y:
            return self._pair(y, x).T
        if (x, y) not in self._pairs:
            self._pairs[x, y] = self._make_pair(x, y)
        return self._pairs[x, y]

    def _make_pair(self, x: str, y: str) -> FloatArray:
        qx, qy = self.parts.centre(x), self.parts.centre(y)
        inner = contrasts(len(qx)) @ self.parts.values(x, y) @ contrasts(len(qy)).T / self.parts.rows
        cells = inner + np.outer(self.shares[x], qy) + np.outer(qx, self.shares[y] - qy)
        return to_simplex(cells.ravel()).reshape(cells.shape)

    def _whole(self, x: str) -> Within:
        n, v = float(self.parts.rows), self.parts.variance(x)
        shares, centre = self.shares[x][:, None], self.parts.centre(x)
        counts = contrasts(len(shares)).T @ (shares - centre[:, None]) * n
        return _in_contrasts(counts, shares, centre, np.array([v / n**2]), np.array([[v]]))

    def _in_one(self, x: str, z: str) -> Within:
        """Shares in a level that drowns in noise are shrunk towards the shares in the whole table.

        As far as a bound on the squared distance between the two allows: what was seen plus its noise, and at most 2.
        """
        parts, n, px = self.parts, self.parts.rows, self.shares[x]
        size = np.maximum(self.strata((z,)).size, 1e-9)
        qx, qz, v = parts.centre(x), parts.centre(z), parts.variance(x, z)
        basis = contrasts(len(qz))
        inner = contrasts(len(qx)) @ parts.values(x, z) @ basis.T
        counts = inner + np.outer(px - qx, qz) * n + np.outer(qx, size)
        blur = v / size**2
        seen = ((counts / size - px[:, None]) ** 2).sum(axis=0)
        distance = np.minimum(seen + blur, FARTHEST)
        weight = distance / (distance + blur)
        shares = to_simplex((weight * counts / size + (1 - weight) * px[:, None]).T).T
        noise = parts.variance(x) * np.outer(qz, qz) + v * basis @ basis.T
        apart = contrasts(len(qx)).T @ (counts - np.outer(qx, size))
        return _in_contrasts(apart, shares, qx, weight * blur, noise)

    def _in_two(self, shape: tuple[int, ...], group: Sequence[tuple[str, str, str]]) -> list[Within]:
        """Fit the three pair tables, then move towards the interaction of all three as it stands out of its noise.

        Where that was not released, the fit alone stands for it.
        """
        parts, n = self.parts, float(self.parts.rows)
        a, c, d = shape
        ca, cc, cd = contrasts(a), contrasts(c), contrasts(d)
        tables = [np.stack([self._pair(t[i], t[j]) for t in group]) for i, j in ((0, 1), (0, 2), (1, 2))]
        fitted = _fit(*tables) * n
        qx, qz, qw = (np.stack([parts.centre(t[i]) for t in group]) for i in range(3))
        apart = (basis - (q @ basis)[:, None, :] for basis, q in ((ca, qx), (cc, qz), (cd, qw)))
        third = np.einsum("nxzw,nxi,nzj,nwk->nijk", fitted, *apart, optimize=True)
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
        own = (np.stack([self.shares[t[0]] for t in group]) - qx) @ ca * n
        of_z, of_w = qz[:, None, :, None], qw[:, None, None, :]
        counts = own[:, :, None, None] * of_z * of_w + by_z[..., None] * of_w + by_w[:, :, None, :] * of_z
        counts = counts + cc @ seen @ cd.T
        spread = vz * (c - 1) * (qw**2).sum(axis=1) + vw * (d - 1) * (qz**2).sum(axis=1)
        spread = spread + v3 * weight * (c - 1) * (d - 1)
        error = np.minimum((spread / (c * d))[:, None] / size.reshape(len(group), -1) ** 2, 1.0)
        noise = _kernel(qz, qw, vx, vz, vw, v3)
        flat = counts.reshape(len(group), a - 1, c * d)
        return [_in_contrasts(*fields) for fields in zip(flat, shares, qx, error, noise, strict=True)]


def _kernel(first: FloatArray, second: FloatArray, *variances: FloatArray) -> FloatArray:
    """Return the covariance between the strata of two columns with these centres, one pair a row.

    By the variances of the components that it comes from: of neither, the first, the second and both columns.
    """
    (c, d), count = (first.shape[1], second.shape[1]), len(first)
    even = second[:, :, None] * second[:, None, :]
    around = contrasts(d) @ contrasts(d).T
    neither, one, other, both = (v[:, None, None] for v in variances)
    known = (first[:, :, None] * first[:, None, :])[:, :, None, :, None]
    found = known * (neither * even + other * around)[:, None, :, None, :]
    moved = (contrasts(c) @ contrasts(c).T)[None, :, None, :, None]
    found = found + moved * (one * even + both * around)[:, None, :, None, :]
    return np.asarray(found.reshape(count, c * d, c * d))


def _fit(xz: FloatArray, xw: FloatArray, zw: FloatArray) -> FloatArray:
    """Return shares of three columns with these pair tables and no interaction of all three, one a row."""
    xz, xw, zw = xz + TRACE, xw + TRACE, zw + TRACE
    cells: FloatArray = np.repeat(zw[:, None], xz.shape[1], axis=1) / xz.shape[1]
    for _ in range(ROUNDS):
        cells *= (xz / cells.sum(axis=3))[:, :, :, None]
        cells *= (xw / cells.sum(axis=2))[:, :, None, :]
        cells *= (zw / cells.sum(axis=1))[:, None, :, :]
    return cells


def _in_contrasts(
    counts: FloatArray, shares: FloatArray, centre: FloatArray, error: FloatArray, noise: FloatArray
) -> Within:
    basis = contrasts(len(shares))
    projected = basis.T @ shares
    spread = (shares.T[:, None, :] * basis.T) @ basis - projected.T[:, :, None] * projected.T[:, None, :]
    return Within(counts, projected - (centre @ basis)[:, None], np.asarray(spread), error, noise)
