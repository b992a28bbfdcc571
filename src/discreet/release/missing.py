"""Missing values as no level at all: what a release says of the rows in which both values of a pair are known.

Every pair is judged among its own rows. A table without the level of missing values keeps what it holds beyond its own
margins, scaled to all rows; its noise is scaled with it, and the rows that it lacks are made up for by variance. So
nothing looks more certain than it is, and values that are missing together are no dependence. Three columns at a time
are looked at where none has missing values.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from discreet.arrays import FloatArray
from discreet.domain import Domain
from discreet.release.oracles.components import Component, Components, contrasts, to_simplex
from discreet.release.oracles.released import SPARSE
from discreet.release.tables import PairTable, counts_of, known_levels, missing_level

LEVEL, LEAVE_OUT = MISSING = ("level", "leave-out")
"""What missing values are in a search: a level like any other, or left out."""

FEWEST = 30.0
"""Rows with both values known that it takes to judge a pair, """

CLEAR = 3.0
"""and so many standard deviations of their noise."""


def leave_out(parts: Components, domain: Domain) -> Components:
    """Return what a release says of known values. Pairs that hardly have a row in common are absent."""
    return regroup(parts, {c: np.eye(domain.size(c))[known_levels(domain[c])] for c in domain})


def missing_or_not(domain: Domain, column: str) -> FloatArray:
    """Return the view of a column that tells missing from known values."""
    gone = np.arange(domain.size(column)) == missing_level(domain[column])
    return np.stack([~gone, gone]).astype(np.float64)


def regroup(parts: Components, views: Mapping[str, FloatArray]) -> Components:
    """Return components in views of some columns' levels: a view adds up levels, one row each, or leaves them out."""
    sizes = {c: len(view) for c, view in views.items()}
    whole = {c for c, view in views.items() if len(view) == view.shape[1]}
    found = {s: part for s, part in parts.parts.items() if whole.issuperset(s)}
    for column in views.keys() - whole:
        if parts.has(column) and (part := _single(parts, column, views[column])) is not None:
            found[column,] = part
    for s in parts.parts:
        if len(s) == 2 and s not in found and {(s[0],), (s[1],)} <= found.keys():
            margins = [found[c,].values for c in s]
            part = _pair(PairTable.of(parts, *s), parts.rows, (views[s[0]], views[s[1]]), np.outer(*margins))
            if part is not None:
                found[s] = part
    return Components(parts.rows, sizes, found, parts.law, {c: q for c, q in parts.centres.items() if c in whole})


def _single(parts: Components, column: str, view: FloatArray) -> Component | None:
    """Return a column's counts in a view, scaled to all rows."""
    counts, basis = view @ counts_of(parts, column), contrasts(len(view))
    variance = parts.variance(column)
    if (scale := _scale(parts.rows, counts.sum(), variance * _widest(view.sum(axis=0, keepdims=True)))) is None:
        return None
    return Component(basis.T @ counts * scale, variance * _widest(basis.T @ view) * scale**2)


def _pair(table: PairTable, rows: float, views: tuple[FloatArray, FloatArray], margins: FloatArray) -> Component | None:
    """Return what a table holds, in views, beyond its own margins, on those of all rows."""
    counts = table.seen(*views)
    ones = [view.sum(axis=0, keepdims=True) for view in views]
    total = float(counts.sum())
    if (scale := _scale(rows, total, float(table.noise(*ones)[0, 0]))) is None:
        return None
    shares = [to_simplex(counts.sum(axis=axis) / total) for axis in (1, 0)]
    bases = [contrasts(len(share)) for share in shares]
    residual = counts - np.outer(counts.sum(axis=1), counts.sum(axis=0)) / total
    left, right = (
        basis.T @ (view - np.outer(share, view.sum(axis=0)))
        for basis, view, share in zip(bases, views, shares, strict=True)
    )
    noise = _largest(table.noise(left, right))
    spreads = [_largest(b.T @ (np.diag(s) - np.outer(s, s)) @ b) for b, s in zip(bases, shares, strict=True)]
    lacking = rows * (scale - 1) * spreads[0] * spreads[1]
    values = bases[0].T @ residual @ bases[1] * scale + margins / rows
    return Component(values, scale**2 * (noise + SPARSE) + lacking)


def _scale(rows: float, known: float, variance: float) -> float | None:
    """Return by how much known rows are scaled up; None if there are too few, or their noise is too large."""
    return rows / known if known > max(FEWEST, CLEAR * variance**0.5) else None


def _widest(view: FloatArray) -> float:
    """Return by how much a view widens even noise on contrasts at most, in variance."""
    centred = view - view.mean(axis=1, keepdims=True)
    return _largest(centred @ centred.T)


def _largest(covariance: FloatArray) -> float:
    return float(np.linalg.eigvalsh(covariance)[-1]) if covariance.size else 0.0
