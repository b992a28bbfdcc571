"""Released tables of two columns, with the covariance of their noise in any view of their levels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.arrays import FloatArray
from discreet.domain import Column
from discreet.release.oracles.components import Components, contrasts


@dataclass(frozen=True)
class PairTable:
    """A table of two columns as it was released: unbiased counts, and the variance of the noise on its components.

    ``centres`` are those from which both columns are told.
    """

    counts: FloatArray
    both: float
    first: float
    second: float
    centres: tuple[FloatArray, FloatArray]

    @classmethod
    def of(cls, parts: Components, x: str, y: str) -> PairTable:
        """Put a table together from its components."""
        inner = contrasts(parts.sizes[x]) @ parts.values(x, y) @ contrasts(parts.sizes[y]).T
        left, right = parts.centre(x), parts.centre(y)
        counts = inner + np.outer(counts_of(parts, x), right) + np.outer(left, counts_of(parts, y) - right * parts.rows)
        return cls(counts, parts.variance(x, y), parts.variance(x), parts.variance(y), (left, right))

    def seen(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return the table in views of its levels: ``left @ counts @ right.T``."""
        return np.asarray(left @ self.counts @ right.T)

    def noise(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return the covariance of the noise on what is seen, flattened."""
        (l_inner, l_outer), (r_inner, r_outer) = (
            (view @ contrasts(len(centre)) @ contrasts(len(centre)).T @ view.T, np.outer(view @ centre, view @ centre))
            for view, centre in zip((left, right), self.centres, strict=True)
        )
        found = self.both * np.kron(l_inner, r_inner) + self.first * np.kron(l_inner, r_outer)
        return np.asarray(found + self.second * np.kron(l_outer, r_inner))


def has_table(parts: Components, x: str, y: str) -> bool:
    """Whether all components of a table of two columns were released."""
    return parts.has(x, y) and parts.has(x) and parts.has(y)


def counts_of(parts: Components, column: str) -> FloatArray:
    """Return the released counts of a column's levels, unbiased."""
    centre = parts.centre(column)
    return np.asarray(parts.rows * centre + contrasts(len(centre)) @ parts.values(column))


def missing_level(column: Column) -> int | None:
    """Return the code of missing values, where these are a level of their own."""
    own = column.missing is not None and column.missing not in getattr(column, "categories", ())
    return column.levels.index(column.missing) if own and column.missing is not None else None


def known_levels(column: Column) -> list[int]:
    """Return the codes of all levels but that of missing values."""
    gone = missing_level(column)
    return [code for code in range(column.size) if code != gone]
