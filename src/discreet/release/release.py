"""What was released at once: a blurred value, and tables of counts as they are written down and read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod, sqrt
from typing import Any, Generic, TypeVar

import numpy as np

from discreet.arrays import IntArray
from discreet.domain import Domain
from discreet.errors import ReleaseError
from discreet.privacy.budget import Entry
from discreet.privacy.mechanisms import Mechanism
from discreet.privacy.mechanisms.additive import (
    Additive,
    DiscreteGaussian,
    DiscreteLaplace,
    RoundedGaussian,
    ShapedGaussian,
)
from discreet.statistics import Statistic, Weight
from discreet.statistics.clipped import GRID, UNIT, Centre, ClippedInteractions, Frame
from discreet.statistics.counts import Counts
from discreet.statistics.interactions import Interactions

Measurable = Counts | Interactions | ClippedInteractions
"""What is measured once and searched for free."""

S = TypeVar("S", bound=Statistic)

FARTHEST = 100.0
"""Standard deviations that no noise reaches."""

STANDS_OUT = 4.0
"""A dependence is seen if it stands out by so many standard deviations."""

STRONGEST = 0.5
"""Total variation of two even binary columns of which one copies the other."""

MAX_COLUMNS = 4
"""Columns of the largest table that is read back."""

_MECHANISMS: dict[
    str, type[RoundedGaussian] | type[ShapedGaussian] | type[DiscreteGaussian] | type[DiscreteLaplace]
] = {
    "rounded-gaussian": RoundedGaussian,
    "shaped-gaussian": ShapedGaussian,
    "discrete-gaussian": DiscreteGaussian,
    "discrete-laplace": DiscreteLaplace,
}
"""Mechanisms by the names under which they are written down."""


@dataclass(frozen=True)
class Release(Generic[S]):
    """A blurred value. It never holds the exact one.

    ``private`` is false only for noise from a test's predictable source.
    """

    statistic: S
    mechanism: Mechanism
    values: IntArray
    price: Entry
    private: bool


@dataclass(frozen=True, eq=False)
class Measurement:
    """What was released at once: noisy contingency tables or interactions, and the mechanism that blurred them."""

    statistic: Measurable
    values: tuple[IntArray, ...]
    mechanism: Additive

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Measurement) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.statistic.sets)

    def __repr__(self) -> str:
        """Say in a line what was measured, and with which noise."""
        return f"<Measurement: {self.statistic.name} with {self.mechanism.name}>"

    @classmethod
    def of(cls, release: Release[Measurable], domain: Domain) -> Measurement:
        """Cut a release into one array a set of columns."""
        if not isinstance(release.mechanism, Additive):
            raise ReleaseError("only additive noise can be written down")
        return cls(release.statistic, tuple(release.statistic.split(release.values, domain)), release.mechanism)

    @property
    def clipped(self) -> bool:
        """Whether rows were clipped."""
        return isinstance(self.statistic, ClippedInteractions)

    @property
    def pairs(self) -> bool:
        """Whether pairs of columns were measured."""
        return any(len(columns) == 2 for columns in self.statistic.sets)

    @property
    def variance(self) -> float:
        """Variance of the noise on an orthonormal contrast of weight 1; of clipped rows, of two even columns."""
        return self.mechanism.variance / ((UNIT * GRID**2) ** 2 if self.clipped else 1)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        kind = next(name for name, cls in _MECHANISMS.items() if isinstance(self.mechanism, cls))
        scale = "scale" if isinstance(self.mechanism, DiscreteLaplace) else "sigma"
        mechanism = {"kind": kind, scale: getattr(self.mechanism, scale)}
        flat = [values.ravel().tolist() for values in self.values]
        if isinstance(self.statistic, Counts):
            tables = [{"columns": list(s), "counts": c} for s, c in zip(self.statistic.sets, flat, strict=True)]
            return {"mechanism": mechanism, "tables": tables}
        if isinstance(self.statistic, ClippedInteractions):
            sums = [{"columns": list(s), "contrasts": c} for s, c in zip(self.statistic.sets, flat, strict=True)]
            return {"mechanism": mechanism, "clipped": _frame_dict(self.statistic.frame), "interactions": sums}
        parts = zip(self.statistic.sets, self.statistic.weights, flat, strict=True)
        interactions = [{"columns": list(s), "weight": w, "contrasts": c} for s, w, c in parts]
        return {"mechanism": mechanism, "interactions": interactions}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], domain: Domain) -> Measurement:
        """Read it back; shapes come from the domain."""
        items, key = (data["tables"], "counts") if "tables" in data else (data["interactions"], "contrasts")
        sets = tuple(tuple(item["columns"]) for item in items)
        statistic = _read_statistic(data, items, sets, domain)
        whole = Weight.WHOLE * GRID**2 if "clipped" in data else 1
        less = 0 if key == "counts" else 1
        values = []
        for columns, item in zip(sets, items, strict=True):
            flat, shape = np.array(item[key], dtype=np.int64), tuple(size - less for size in domain.shape(columns))
            if flat.size != prod(shape):
                raise ReleaseError("a table does not have the shape that the domain declares")
            values.append(flat.reshape(shape))
        mechanism = _read_mechanism(data["mechanism"], statistic, domain)
        for columns, table in zip(sets, values, strict=True):
            largest = FARTHEST * prod(domain.shape(columns)) * whole * (domain.rows + mechanism.variance**0.5)
            if table.size and float(np.abs(table.astype(np.float64)).max()) > largest:
                raise ReleaseError("a table holds numbers that neither rows nor noise explain")
        return cls(statistic, tuple(values), mechanism)


def weakest_seen(rows: float, variance: float) -> float:
    """Return the total variation of the weakest dependence between two even binary columns that stands out."""
    return STANDS_OUT * sqrt(variance + rows / 4) / rows


def _frame_dict(frame: Frame) -> dict[str, Any]:
    centres = {name: {"steps": list(c.steps), "scale": c.scale} for name, c in sorted(frame.centres.items())}
    return {"base": frame.base, "limit": frame.limit, "grid": GRID, "centres": centres}


def _read_frame(data: Mapping[str, Any]) -> Frame:
    if data["grid"] != GRID:
        raise ReleaseError(f"shares of centres are told in steps of 1/{GRID}")
    centres = {name: Centre(tuple(c["steps"]), c["scale"]) for name, c in data["centres"].items()}
    return Frame(centres, data["base"], data["limit"])


def _read_statistic(
    data: Mapping[str, Any], items: Sequence[Mapping[str, Any]], sets: tuple[tuple[str, ...], ...], domain: Domain
) -> Measurable:
    """Read back what was measured."""
    if "clipped" in data:
        clipped = ClippedInteractions(_read_frame(data["clipped"]))
        if sets != clipped.sets:
            raise ReleaseError("what was released of clipped rows is not what their frame calls for")
        clipped.check(domain)
        return clipped
    if any(not 1 <= len(s) <= MAX_COLUMNS or list(s) != sorted(s) for s in sets):
        raise ReleaseError("a table names too many columns, or not in sorted order")
    return Counts(sets) if "tables" in data else Interactions(sets, tuple(int(item["weight"]) for item in items))


def _read_mechanism(data: Mapping[str, Any], statistic: Measurable, domain: Domain) -> Additive:
    """Read a mechanism back."""
    kind = _MECHANISMS[data["kind"]]
    if kind is DiscreteLaplace:
        return DiscreteLaplace(float(data["scale"]))
    if isinstance(statistic, Counts) == (kind is ShapedGaussian):
        raise ReleaseError("the mechanism does not fit what it blurred")
    if not isinstance(statistic, Counts):
        return ShapedGaussian(float(data["sigma"]), statistic.squares(domain))
    return RoundedGaussian(float(data["sigma"])) if kind is RoundedGaussian else DiscreteGaussian(float(data["sigma"]))
