"""The public domain: what may be known about a table before anyone looks at it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from discreet.declaration import (
    Node,
    as_bool,
    as_int,
    as_labels,
    as_mapping,
    as_number,
    as_text,
    dump_yaml,
    load_yaml,
    refuse_unknown,
)
from discreet.errors import DomainError

MAX_LEVELS = 60_000
"""Largest number of levels of one column: codes stay narrow."""

MAX_BINS = 1_000
"""Largest number of bins of a numeric column."""

MAX_ROWS = 1 << 48
"""Largest number of rows: counts and their noise must fit in 64 bits."""

GRID = 65_536 - 2
"""Steps of the public grid on which a numeric column without bins is encoded."""

UNIT = "row"
"""What is protected when the domain does not say what one row stands for."""


def _check_labels(labels: Iterable[str | None]) -> None:
    """Refuse labels that could not be met or written down."""
    for label in labels:
        if label == "":
            raise DomainError("an empty label; say where missing values go with `missing:`")
        if label is not None and not label.isascii() and label.encode("utf-8", "ignore").decode("utf-8") != label:
            raise DomainError("a label that is not valid Unicode text")


@dataclass(frozen=True, kw_only=True)
class Categorical:
    """A column with declared categories, and where anything else goes.

    ``missing`` and ``other`` name the category for missing and for foreign values; a name that is
    not among ``categories`` becomes a level of its own, after them. ``None`` means undeclared.
    """

    categories: tuple[str, ...]
    ordered: bool = False
    missing: str | None = None
    other: str | None = None

    def __post_init__(self) -> None:
        if not self.categories:
            raise DomainError("categories: declare at least one")
        if len(set(self.categories)) != len(self.categories):
            raise DomainError("categories: the same label stands twice")
        _check_labels((*self.categories, self.missing, self.other))
        if len(self.levels) > MAX_LEVELS:
            raise DomainError(f"categories: more than {MAX_LEVELS} levels")

    @property
    def levels(self) -> tuple[str, ...]:
        """All places a value can end up in, in code order."""
        extra = dict.fromkeys(p for p in (self.missing, self.other) if p is not None)
        return self.categories + tuple(p for p in extra if p not in self.categories)

    @property
    def size(self) -> int:
        """Number of codes."""
        return len(self.levels)

    @property
    def tabulable(self) -> bool:
        """Whether contingency tables over this column make sense."""
        return True


@dataclass(frozen=True, kw_only=True)
class Numeric:
    """A numeric column with declared bounds; values outside are clipped to them.

    ``bins`` is a number of equal-width bins or the edges of bins from bound to bound. ``missing`` and
    ``other`` (text that is not a number) name a level of their own, which needs bins.
    """

    bounds: tuple[float, float]
    bins: int | tuple[float, ...] | None = None
    missing: str | None = None
    other: str | None = None

    def __post_init__(self) -> None:
        low, high = self.bounds
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise DomainError("bounds: two finite numbers, the lower one first")
        if not math.isfinite(high - low):
            raise DomainError("bounds: too far apart")
        if isinstance(self.bins, int) and not 1 <= self.bins <= MAX_BINS:
            raise DomainError(f"bins: a whole number from 1 to {MAX_BINS}, or the bins' edges")
        if isinstance(self.bins, tuple):
            self._check_edges(self.bins)
        if self.bins is None and (self.missing is not None or self.other is not None):
            raise DomainError("missing, other: a numeric column needs bins before these can be levels")
        _check_labels((self.missing, self.other))
        names = {p for p in (self.missing, self.other) if p is not None}
        if names & set(self._bin_labels()):
            raise DomainError("missing, other: the label is already that of a bin")

    def _check_edges(self, edges: tuple[float, ...]) -> None:
        rising = all(a < b for a, b in pairwise(edges))
        if not 2 <= len(edges) <= MAX_BINS + 1 or not rising or (edges[0], edges[-1]) != self.bounds:
            raise DomainError("bins: edges must rise from the lower to the upper bound")

    @property
    def edges(self) -> tuple[float, ...]:
        """Edges of the bins, bounds included."""
        low, high = self.bounds
        if isinstance(self.bins, tuple):
            return self.bins
        steps = self.bins or GRID
        return (*(low + (high - low) * i / steps for i in range(steps)), high)

    def _bin_labels(self) -> tuple[str, ...]:
        if self.bins is None:
            return ()
        edges = [f"{edge:.10g}" for edge in self.edges]
        pairs = list(pairwise(edges))
        return tuple(f"[{a}, {b})" for a, b in pairs[:-1]) + tuple(f"[{a}, {b}]" for a, b in pairs[-1:])

    @property
    def levels(self) -> tuple[str, ...]:
        """Labels of the bins and the extra places; empty for a column without bins."""
        extra = dict.fromkeys(p for p in (self.missing, self.other) if p is not None)
        return self._bin_labels() + tuple(extra)

    @property
    def ordered(self) -> bool:
        """Numbers are ordered."""
        return True

    @property
    def size(self) -> int:
        """Number of codes: levels, or steps of the public grid."""
        return len(self.levels) if self.bins is not None else GRID

    @property
    def tabulable(self) -> bool:
        """Whether contingency tables over this column make sense: only with bins."""
        return self.bins is not None


Column = Categorical | Numeric


@dataclass(frozen=True)
class Domain:
    """Public columns, the public number of rows, and what one row stands for.

    Parameters
    ----------
    columns
        Declared columns by name; the order is that of the table for nameless arrays.
    rows
        The public number of rows; the table must have exactly as many.
    unit
        What one row stands for ("patient", "visit"): the promise is made to it.
    """

    columns: Mapping[str, Column]
    rows: int
    unit: str = UNIT

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", dict(self.columns))
        if not self.columns:
            raise DomainError("columns: declare at least one column")
        if any(not name or not name.isprintable() for name in self.columns):
            raise DomainError("columns: a column's name is empty or holds control characters")
        if len({name.lower() for name in self.columns}) != len(self.columns):
            raise DomainError("columns: two names differ only in case, which SQL engines cannot tell apart")
        if isinstance(self.rows, bool) or not isinstance(self.rows, int) or not 1 <= self.rows <= MAX_ROWS:
            raise DomainError("rows: the public number of rows, a whole number from 1")
        if not self.unit.strip() or not self.unit.isprintable():
            raise DomainError("unit: say in a word what one row stands for")

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __getitem__(self, name: str) -> Column:
        try:
            return self.columns[name]
        except KeyError:
            raise DomainError(f"column {name!r} is not declared in the domain") from None

    def size(self, name: str) -> int:
        """Number of levels of a column."""
        return self[name].size

    def shape(self, names: Sequence[str]) -> tuple[int, ...]:
        """Shape of the contingency table over some columns."""
        return tuple(self.size(name) for name in names)

    def with_rows(self, rows: int) -> Domain:
        """Return the same columns with another public number of rows."""
        return replace(self, rows=rows)

    @classmethod
    def from_yaml(cls, source: str | Path) -> Domain:
        """Read a domain from YAML: a path, or the text itself if it holds a line break."""
        return cls.from_dict(load_yaml(source, DomainError, "domain"))

    @classmethod
    def from_dict(cls, node: Node) -> Domain:
        """Build a domain from nested dictionaries, as YAML or JSON give them."""
        top = as_mapping(node, DomainError, "domain")
        refuse_unknown(top, ("rows", "columns", "unit"), DomainError, "domain")
        if "rows" not in top:
            raise DomainError("rows: declare the public number of rows")
        if "columns" not in top:
            raise DomainError("columns: declare the columns")
        columns = {}
        for name, spec in as_mapping(top["columns"], DomainError, "columns").items():
            try:
                columns[name] = _column(as_mapping(spec, DomainError, "its declaration"))
            except DomainError as error:
                raise DomainError(f"column {name!r}: {error}") from None
        unit = as_text(top.get("unit", UNIT), DomainError, "unit")
        return cls(columns, rows=as_int(top["rows"], DomainError, "rows"), unit=unit)

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries, ready for YAML or JSON; ``from_dict`` reads them back."""
        columns = {name: _plain(column) for name, column in self.columns.items()}
        return {"rows": self.rows, "unit": self.unit, "columns": columns}

    def to_yaml(self) -> str:
        """Return the domain as YAML text; labels that YAML would misread are quoted."""
        return dump_yaml(self.to_dict())


def _column(spec: Mapping[str, Node]) -> Column:
    """Build one column from its declaration."""
    places = {key: as_text(spec[key], DomainError, key) for key in ("missing", "other") if key in spec}
    if "categories" in spec and "bounds" in spec:
        raise DomainError("declare either categories or bounds, not both")
    if "categories" in spec:
        refuse_unknown(spec, ("categories", "ordered", "missing", "other"), DomainError, "a categorical column")
        ordered = as_bool(spec.get("ordered", "false"), DomainError, "ordered")
        labels = as_labels(spec["categories"], DomainError, "categories")
        return Categorical(categories=labels, ordered=ordered, **places)
    if "bounds" in spec:
        refuse_unknown(spec, ("bounds", "bins", "missing", "other"), DomainError, "a numeric column")
        return Numeric(bounds=_bounds(spec["bounds"]), bins=_bins(spec.get("bins")), **places)
    raise DomainError("declare `categories: [...]` or `bounds: [low, high]`")


def _bounds(node: Node) -> tuple[float, float]:
    if not isinstance(node, list) or len(node) != 2:
        raise DomainError("bounds: two numbers, [low, high]")
    low, high = (as_number(item, DomainError, "bounds") for item in node)
    return low, high


def _bins(node: Node) -> int | tuple[float, ...] | None:
    if node is None:
        return None
    if isinstance(node, list):
        return tuple(as_number(item, DomainError, "bins") for item in node)
    return as_int(node, DomainError, "bins")


def _plain(column: Column) -> dict[str, Any]:
    """Return one column's declaration as plain data."""
    places = {key: getattr(column, key) for key in ("missing", "other") if getattr(column, key) is not None}
    if isinstance(column, Categorical):
        ordered = {"ordered": True} if column.ordered else {}
        return {"categories": list(column.categories), **ordered, **places}
    bins = list(column.bins) if isinstance(column.bins, tuple) else column.bins
    return {"bounds": list(column.bounds), **({} if bins is None else {"bins": bins}), **places}
