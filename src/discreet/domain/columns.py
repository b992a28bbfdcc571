"""Columns of a public domain: what values may be, and which code each of them gets."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

from discreet.domain.spelling import Ignored, check_ignored, check_signs, fold, rewriting
from discreet.domain.yaml import Node, as_bool, as_int, as_labels, as_mapping, as_number, as_text, refuse_unknown
from discreet.errors import DomainError

MAX_LEVELS = 60_000
"""Largest number of levels of one column: codes stay narrow."""

MAX_BINS = 1_000
"""Largest number of bins of a continuous column."""

GRID = 65_536 - 2
"""Steps of the public grid on which a continuous column without bins is encoded."""

STEPS = 1_024
"""Steps of the public grid on which a column with bins at quantiles is encoded until they are released."""

EQUAL_WIDTH: Literal["equal-width"] = "equal-width"
QUANTILES: Literal["quantiles"] = "quantiles"


def _check_labels(labels: Iterable[str | None]) -> None:
    """Refuse labels that could not be met or written down."""
    for label in labels:
        if not isinstance(label, str | None):
            raise DomainError("a label that is not text; in Python, write labels as strings")
        if label == "":
            raise DomainError("an empty label; say where missing values go with `missing:`")
        if label is not None and not label.isascii() and label.encode("utf-8", "ignore").decode("utf-8") != label:
            raise DomainError("a label that is not valid Unicode text")


def _texts(given: object, key: str) -> tuple[str, ...]:
    """Return a list of texts; one text alone would be taken for a list of its letters."""
    if isinstance(given, str) or not isinstance(given, Sequence) or not all(isinstance(text, str) for text in given):
        raise DomainError(f"{key}: a list of texts")
    return tuple(given)


def _plain_numbers(given: Iterable[float], count: int | None = None) -> tuple[float, ...]:
    """Return numbers as Python has them; those of NumPy are taken, texts are not."""
    try:
        found = tuple(n if isinstance(n, int | float) else operator.pos(n).item() for n in given)
    except (TypeError, AttributeError, ValueError):
        found = ()
    if count not in (None, len(found)) or not all(isinstance(n, int | float) for n in found):
        raise DomainError("bounds: two numbers, [low, high]" if count else "bins: edges are numbers")
    return found


@dataclass(frozen=True, kw_only=True)
class Categorical:
    """A column with declared categories, and where anything else goes.

    ``missing`` and ``other`` name the category for missing and for foreign values; a name that is
    not among ``categories`` becomes a level of its own, after them. ``None`` means undeclared.

    How values may be written: ``missing_codes`` are texts or numbers that mean missing, ``merge`` gives other ways to
    write a category, and ``ignore`` says whether ``case`` and ``spaces`` at the ends matter.
    """

    categories: tuple[str, ...]
    ordered: bool = False
    missing: str | None = None
    other: str | None = None
    missing_codes: tuple[str, ...] = ()
    merge: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    ignore: tuple[Ignored, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.categories, str) or not isinstance(self.categories, Sequence):
            raise DomainError("categories: a list of labels")
        object.__setattr__(self, "categories", tuple(self.categories))
        _check_labels(self.categories)
        if not self.categories:
            raise DomainError("categories: declare at least one")
        if len(set(self.categories)) != len(self.categories):
            raise DomainError("categories: the same label stands twice")
        for key in ("missing_codes", "ignore"):
            object.__setattr__(self, key, _texts(getattr(self, key), key))
        if not isinstance(self.merge, Mapping):
            raise DomainError("merge: other ways to write a category, as in {'male': ['m', 'M.']}")
        object.__setattr__(self, "merge", {label: _texts(texts, "merge") for label, texts in self.merge.items()})
        _check_labels((self.missing, self.other, *self.missing_codes))
        _check_labels(text for texts in self.merge.values() for text in texts)
        if len(self.levels) > MAX_LEVELS:
            raise DomainError(f"categories: more than {MAX_LEVELS} levels")
        check_ignored(self.ignore)
        if not set(self.merge) <= set(self.levels):
            raise DomainError("merge: a label that is not among the categories; declare it there")
        met = [text for text, _ in self.spellings]
        if len(set(met)) != len(met):
            raise DomainError("two labels, codes or ways to write them are the same text, or differ in what is ignored")

    @cached_property
    def spellings(self) -> tuple[tuple[str, int | None], ...]:
        """Every text that is met, without what is ignored, with its code; None for what means missing."""
        found: list[tuple[str, int | None]] = [(label, code) for code, label in enumerate(self.levels)]
        found += [(text, self.levels.index(label)) for label, texts in self.merge.items() for text in texts]
        found += [(text, None) for text in self.missing_codes]
        return tuple((fold(text, self.ignore), code) for text, code in found)

    @cached_property
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
    """A continuous column with declared bounds; values outside are clipped to them.

    ``bins`` is a number of equal-width bins or the edges of bins from bound to bound. ``missing`` and
    ``other`` (text that is not a number) name a level of their own, after all numbers.

    ``at`` says where a number of bins begins: at equal widths, or at private quantiles, which cost budget. Until these
    are released and the column is ``settled``, it is encoded on a fine public grid.

    How values may be written: ``missing_codes`` are texts or numbers that mean missing; where a table holds numbers as
    text, ``decimal`` is the sign before decimals, ``thousands`` the one between thousands, and ``units`` are texts
    beside the number that are left out.
    """

    bounds: tuple[float, float]
    bins: int | tuple[float, ...] | None = None
    missing: str | None = None
    other: str | None = None
    at: Literal["equal-width", "quantiles"] = EQUAL_WIDTH
    missing_codes: tuple[str, ...] = ()
    decimal: str = "."
    thousands: str | None = None
    units: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        low, high = _plain_numbers(self.bounds, 2)
        object.__setattr__(self, "bounds", (low, high))
        if isinstance(self.bins, Sequence) and not isinstance(self.bins, str):
            object.__setattr__(self, "bins", _plain_numbers(self.bins))
        if isinstance(self.bins, bool) or not isinstance(self.bins, int | tuple | None):
            raise DomainError("bins: a whole number, or the bins' edges")
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise DomainError("bounds: two finite numbers, the lower one first")
        if not math.isfinite(high - low):
            raise DomainError("bounds: too far apart")
        if isinstance(self.bins, int) and not 1 <= self.bins <= MAX_BINS:
            raise DomainError(f"bins: a whole number from 1 to {MAX_BINS}, or the bins' edges")
        if isinstance(self.bins, tuple):
            self._check_edges(self.bins)
        for key in ("missing_codes", "units"):
            object.__setattr__(self, key, _texts(getattr(self, key), key))
        _check_labels((self.missing, self.other, *self.missing_codes))
        check_signs(self.decimal, self.thousands, self.units)
        self._check_at()
        names = {p for p in (self.missing, self.other) if p is not None}
        if names & set(self._bin_labels()):
            raise DomainError("missing, other: the label is already that of a bin")

    def _check_edges(self, edges: tuple[float, ...]) -> None:
        rising = all(a < b for a, b in pairwise(edges))
        if not 2 <= len(edges) <= MAX_BINS + 1 or not rising or (edges[0], edges[-1]) != self.bounds:
            raise DomainError("bins: edges must rise from the lower to the upper bound")

    def _check_at(self) -> None:
        if self.at not in (EQUAL_WIDTH, QUANTILES):
            raise DomainError(f"at: `{EQUAL_WIDTH}` or `{QUANTILES}`")
        if self.at == EQUAL_WIDTH:
            return
        if not isinstance(self.bins, int) or self.bins < 2:
            raise DomainError(f"at: {QUANTILES} needs a number of bins from 2, as in `bins: 8`")
        if not all(a < b for a, b in pairwise(self.edges)):
            raise DomainError("bounds: too close together for bins at quantiles")
        if any(place is not None and place.startswith("[") for place in (self.missing, self.other)):
            raise DomainError("missing, other: a label that begins with `[` could become that of a bin")

    @property
    def rewriting(self) -> tuple[tuple[str, str], ...]:
        """What is replaced by what in a text before it is read as a number."""
        return rewriting(self.decimal, self.thousands, self.units)

    @property
    def settled(self) -> bool:
        """Whether the bins are known: not so for bins at quantiles before these are released."""
        return self.at != QUANTILES

    def settle(self, edges: Sequence[float]) -> Numeric:
        """Return the column with public edges for its bins, taken from the grid."""
        if self.settled or not isinstance(self.bins, int):
            raise DomainError("only a column with bins at quantiles can be settled")
        public = tuple(float(edge) for edge in edges)
        if not set(public) <= set(self.edges):
            raise DomainError("edges: some of the grid's edges")
        return replace(self, bins=public, at=EQUAL_WIDTH)

    @property
    def edges(self) -> tuple[float, ...]:
        """Edges of the bins, or of the grid's steps before bins at quantiles are settled; bounds included."""
        low, high = self.bounds
        if isinstance(self.bins, tuple):
            return self.bins
        steps = (self.bins or GRID) if self.settled else STEPS
        return (*(low + (high - low) * i / steps for i in range(steps)), high)

    def _bin_labels(self) -> tuple[str, ...]:
        if self.bins is None:
            return ()
        edges = [f"{edge:.10g}" for edge in self.edges]
        pairs = list(pairwise(edges))
        return tuple(f"[{a}, {b})" for a, b in pairs[:-1]) + tuple(f"[{a}, {b}]" for a, b in pairs[-1:])

    @cached_property
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
        if self.tabulable:
            return len(self.levels)
        return (STEPS if self.bins is not None else GRID) + len({self.missing, self.other} - {None})

    @property
    def tabulable(self) -> bool:
        """Whether contingency tables over this column make sense: only with bins that are known."""
        return self.bins is not None and self.settled


Column = Categorical | Numeric


_PLACES = ("missing", "other", "missing_codes")


def read_column(spec: Mapping[str, Node]) -> Column:
    """Build one column from its declaration."""
    common: dict[str, Any] = {key: as_text(spec[key], DomainError, key) for key in ("missing", "other") if key in spec}
    common |= _lists(spec, "missing_codes")
    if "categories" in spec and "bounds" in spec:
        raise DomainError("declare either categories or bounds, not both")
    if "categories" in spec:
        refuse_unknown(
            spec, ("categories", "ordered", *_PLACES, "merge", "ignore"), DomainError, "a categorical column"
        )
        ordered = as_bool(spec.get("ordered", "false"), DomainError, "ordered")
        labels = as_labels(spec["categories"], DomainError, "categories")
        merged = as_mapping(spec.get("merge", {}), DomainError, "merge")
        merge = {label: as_labels(texts, DomainError, "merge") for label, texts in merged.items()}
        return Categorical(categories=labels, ordered=ordered, merge=merge, **common, **_lists(spec, "ignore"))
    if "bounds" in spec:
        known = ("bounds", "bins", "at", *_PLACES, "decimal", "thousands", "units")
        refuse_unknown(spec, known, DomainError, "a numeric column")
        common |= {key: as_text(spec[key], DomainError, key) for key in ("decimal", "thousands") if key in spec}
        common |= _lists(spec, "units")
        at = _read_at(as_text(spec.get("at", EQUAL_WIDTH), DomainError, "at"))
        return Numeric(bounds=_read_bounds(spec["bounds"]), bins=_read_bins(spec.get("bins")), at=at, **common)
    raise DomainError("declare `categories: [...]` or `bounds: [low, high]`")


def _lists(spec: Mapping[str, Node], key: str) -> dict[str, Any]:
    return {key: as_labels(spec[key], DomainError, key)} if key in spec else {}


def _read_bounds(node: Node) -> tuple[float, float]:
    if not isinstance(node, list) or len(node) != 2:
        raise DomainError("bounds: two numbers, [low, high]")
    low, high = (as_number(item, DomainError, "bounds") for item in node)
    return low, high


def _read_bins(node: Node) -> int | tuple[float, ...] | None:
    if node is None:
        return None
    if isinstance(node, list):
        return tuple(as_number(item, DomainError, "bins") for item in node)
    return as_int(node, DomainError, "bins")


def _read_at(text: str) -> Literal["equal-width", "quantiles"]:
    if text not in (EQUAL_WIDTH, QUANTILES):
        raise DomainError(f"at: `{EQUAL_WIDTH}` or `{QUANTILES}`")
    return QUANTILES if text == QUANTILES else EQUAL_WIDTH


def write_column(column: Column) -> dict[str, Any]:
    """Return one column's declaration as plain data."""
    places = {key: getattr(column, key) for key in ("missing", "other") if getattr(column, key) is not None}
    written = _written(column, "missing_codes", *(("ignore",) if isinstance(column, Categorical) else ("units",)))
    if isinstance(column, Categorical):
        ordered = {"ordered": True} if column.ordered else {}
        merge = {label: list(texts) for label, texts in column.merge.items()}
        return {"categories": list(column.categories), **ordered, **places, **written} | (
            {"merge": merge} if merge else {}
        )
    bins = list(column.bins) if isinstance(column.bins, tuple) else column.bins
    at = {} if column.settled else {"at": column.at}
    decimal = {} if column.decimal == "." else {"decimal": column.decimal}
    thousands = {} if column.thousands is None else {"thousands": column.thousands}
    bounds = {"bounds": list(column.bounds), **({} if bins is None else {"bins": bins})}
    return {**bounds, **at, **places, **written, **decimal, **thousands}


def _written(column: Column, *keys: str) -> dict[str, list[str]]:
    """Return lists of texts, where there are any."""
    return {key: list(getattr(column, key)) for key in keys if getattr(column, key)}
