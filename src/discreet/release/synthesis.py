"""Rows drawn from a release: free, and exactly as private as the release itself.

The graph is extended to an acyclic one, and every column is drawn given its parents from the released components:
one parent from its pair, two by fitting the pairs and what was released of all three; of more parents the two that
tell most are taken. Where rows had counted by weights, drawn ones are kept the rarer, the more they would have counted.
"""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from discreet.arrays import FloatArray
from discreet.errors import DoubtWarning, ReleaseError, SettingError
from discreet.release.discovery import Discovery
from discreet.release.oracles.components import contrasts
from discreet.release.oracles.released import Released
from discreet.release.selection import components
from discreet.search.orientation import extension
from discreet.statistics import Weight
from discreet.statistics.clipped import ClippedInteractions

MAX_ROWS = 100_000_000
BLOCK = 100_000

AT_ONCE = 10_000
"""Rows that are drawn at least, to tell how little one may count."""


@dataclass(frozen=True)
class Model:
    """Columns, causes first, each with the parents it is drawn from and its shares for each of their configurations."""

    order: tuple[str, ...]
    parents: dict[str, tuple[str, ...]]
    shares: dict[str, FloatArray]
    levels: dict[str, tuple[str, ...]]
    weight: Weight | None = None

    def draw(self, rows: int, rng: np.random.Generator) -> dict[str, npt.NDArray[np.int64]]:
        """Draw rows as codes."""
        if self.weight is None:
            return self._draw(rows, rng)
        parts, left, least = list[dict[str, npt.NDArray[np.int64]]](), rows, 0
        while left:
            drawn = self._draw(max(rows, AT_ONCE), rng)
            weights = self.weight.of(drawn)
            least = least or max(int(weights.min()), 1)
            kept = np.flatnonzero(rng.random(len(weights)) * weights <= least)[:left]
            parts.append({column: codes[kept] for column, codes in drawn.items()})
            left -= len(kept)
        return {column: np.concatenate([part[column] for part in parts]) for column in self.order}

    def _draw(self, rows: int, rng: np.random.Generator) -> dict[str, npt.NDArray[np.int64]]:
        """Draw rows of the table in which every row counts by its weight."""
        drawn: dict[str, npt.NDArray[np.int64]] = {}
        for column in self.order:
            at = np.zeros(rows, dtype=np.int64)
            for parent in self.parents[column]:
                at = at * len(self.levels[parent]) + drawn[parent]
            steps = np.cumsum(self.shares[column], axis=1)[:, :-1]
            drawn[column] = (rng.random(rows)[:, None] >= steps[at]).sum(axis=1)
        return drawn


def model_of(found: Discovery) -> Model:
    """Return what rows are drawn from."""
    if not isinstance(found, Discovery):
        raise SettingError("found: a Discovery; Discovery.load(path) reads a release")
    if not found.measurements:
        raise ReleaseError("the release holds no tables to draw rows from")
    if not found.privacy.private:
        warnings.warn(
            "NOT PRIVATE: the release was made with predictable noise, for a test", DoubtWarning, stacklevel=2
        )
    oracle = Released(components(found.measurements, found.domain), alpha=0.01, rng=np.random.default_rng(0))
    arrows = extension(found.graph)
    around: dict[str, list[str]] = {column: [] for column in found.domain}
    for cause, effect in arrows:
        if oracle.answers(cause, effect, frozenset()):
            around[effect].append(cause)
    order: list[str] = []
    while len(order) < len(around):
        order += [c for c in around if c not in order and all(p in order for p, e in arrows if e == c)]
    parents = {column: _two(column, sorted(causes), oracle) for column, causes in around.items()}
    shares = {column: _shares(column, parents[column], oracle) for column in order}
    levels = {column: found.domain[column].levels for column in order}
    clipped = [m.statistic for m in found.measurements if isinstance(m.statistic, ClippedInteractions)]
    weight = clipped[0].frame.weight if clipped else None
    return Model(tuple(order), parents, shares, levels, weight)


def _two(column: str, causes: list[str], oracle: Released) -> tuple[str, ...]:
    """Return at most two parents: those that tell most."""
    if len(causes) > 1:
        told = dict(zip(causes, oracle.weigh((column, cause, frozenset()) for cause in causes), strict=True))
        causes = sorted(causes, key=lambda cause: (-told[cause], cause))
        second = [c for c in causes[1:] if oracle.parts.has(causes[0], c)]
        causes = [causes[0], *second[:1]]
    return tuple(sorted(causes))


def _shares(column: str, parents: tuple[str, ...], oracle: Released) -> FloatArray:
    """Return a column's shares, one row a configuration of its parents."""
    if not parents or oracle.parts.sizes[column] < 2:
        return np.repeat(oracle.estimates.shares[column][None, :], prod(oracle.parts.sizes[p] for p in parents), axis=0)
    basis = contrasts(oracle.parts.sizes[column])
    within = oracle.estimates.within(column, parents).shares
    shares = np.clip(oracle.parts.centre(column) + (basis @ within).T, 0.0, None)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _check(rows: int, seed: int | None) -> None:
    if not isinstance(rows, int) or not 1 <= rows <= MAX_ROWS:
        raise SettingError(f"rows: a whole number from 1 to {MAX_ROWS:,}")
    if seed is not None and not (isinstance(seed, int) and seed >= 0):
        raise SettingError("seed: a whole number from 0")


def _blocks(model: Model, rows: int, rng: np.random.Generator) -> Iterator[dict[str, npt.NDArray[np.object_]]]:
    """Yield rows as labels, some at a time."""
    for start in range(0, rows, BLOCK):
        codes = model.draw(min(BLOCK, rows - start), rng)
        yield {c: np.array(model.levels[c], dtype=object)[codes[c]] for c in codes}


def synthesize(found: Discovery, rows: int, *, seed: int | None = None) -> dict[str, npt.NDArray[np.object_]]:
    """Draw rows from a release, one array of labels a column: no data, no budget."""
    _check(rows, seed)
    blocks = list(_blocks(model_of(found), rows, np.random.default_rng(seed)))
    return {name: np.concatenate([block[name] for block in blocks]) for name in found.domain}


def csv_blocks(found: Discovery, rows: int, *, seed: int | None = None) -> Iterator[str]:
    """Return rows drawn from a release as CSV text, some at a time; columns in the order of the domain.

    Binned columns hold the labels of their bins.
    """
    _check(rows, seed)
    return _csv(model_of(found), list(found.domain), rows, np.random.default_rng(seed))


def _csv(model: Model, names: list[str], rows: int, rng: np.random.Generator) -> Iterator[str]:
    yield _lines([names])
    for block in _blocks(model, rows, rng):
        yield _lines(zip(*(block[name] for name in names), strict=True))


def _lines(rows: Iterable[Sequence[str]]) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue()
