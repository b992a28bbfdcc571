"""Methods as they are put before the auditors: with all values of their settings, on small domains."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from discreet.arrays import IntArray
from discreet.audit import table_of
from discreet.audit.claims import Claim
from discreet.audit.subjects import FEW, LONG, MEETING, MIXED, NUMBERS, SCALE, TWO, TWO_NUMBERS
from discreet.domain import Column, Domain, Numeric
from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.errors import DoubtWarning
from discreet.methods.direction import SCORES, direction, direction_in
from discreet.methods.discover import discover, discover_in
from discreet.methods.independence.examine import TESTS, examine, examine_in
from discreet.methods.registry import METHODS, budget_for, settings_for
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Budget
from discreet.release.answer import Answer, Inquiry
from discreet.release.direction import Directions
from discreet.release.discovery import Discovery
from discreet.release.settings import Settings
from discreet.room import Room

DIRECTION, TEST = "direction", "test"


@dataclass(frozen=True)
class Setting:
    """A method with its settings, a domain and a budget."""

    method: str
    recipe: Settings
    domain: Domain
    epsilon: float
    delta: float
    knowledge: Knowledge = NOTHING_KNOWN

    @property
    def name(self) -> str:
        """What tells it from others."""
        words = [str(getattr(self.recipe, f)) for f in self.recipe.choices]
        words.append(("Gaussian" if self.claim.currency is Currency.GDP else "zCDP") if self.delta else "pure")
        words += ["private quantiles"] if self.domain.unsettled else []
        words += [name for name in ("sample", "edges") if getattr(self.recipe, name, None)]
        words += ["edges that meet"] if self.domain == MEETING else []
        words += ["knowledge"] if self.knowledge != NOTHING_KNOWN else []
        usual = type(self.recipe)()
        whole = [f.name for f in fields(self.recipe) if isinstance(getattr(usual, f.name), int)]
        words += [f"{n} {getattr(self.recipe, n)}" for n in whole if getattr(self.recipe, n) != getattr(usual, n)]
        return f"{self.method} ({', '.join(words)})"

    @property
    def claim(self) -> Claim:
        """What the budget promises."""
        budget = budget_for(self.recipe, self.epsilon, self.delta)
        if budget.currency is Currency.GDP:
            return Claim(Currency.GDP, float(budget.limit) ** 0.5)
        return Claim(budget.currency, float(budget.limit))

    def found(self, rows: IntArray) -> Discovery:
        """Run the method on rows, in a room of its own."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DoubtWarning)
            room = Room(table_of(rows, self.domain), self.domain, budget_for(self.recipe, self.epsilon, self.delta))
            return discover_in(room, self.recipe, knowledge=self.knowledge)

    def release(self, rows: IntArray) -> str:
        """Return all that would be published."""
        return self.found(rows).to_json()

    def numbers(self, rows: IntArray) -> tuple[object, ...]:
        """Return all that would be published as numbers, for the black box."""
        found = self.found(rows)
        nodes = found.graph.nodes
        arrows = [int((a, b) in found.graph.directed) for a in nodes for b in nodes if a != b]
        touching = [int(frozenset((a, b)) in found.graph.skeleton) for a in nodes for b in nodes if a < b]
        return (*(values for m in found.measurements for values in m.values), *arrows, *touching)

    def published(self, rows: IntArray) -> str:
        """Run the whole way from a table with labels, and return all that would be published."""
        table = _labels(rows, self.domain)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DoubtWarning)
            found = discover(
                _frame(table),
                domain=self.domain,
                epsilon=self.epsilon,
                delta=self.delta,
                method=self.recipe,
                knowledge=self.knowledge,
            )
        return found.to_json()


def _labels(rows: IntArray, domain: Domain) -> dict[str, IntArray]:
    return {name: _written(rows[:, j], domain[name]) for j, name in enumerate(domain)}


def _written(codes: IntArray, column: Column) -> IntArray:
    """Return what stands in a file for codes: labels, or numbers in the middle of the grid's steps."""
    if column.tabulable or not isinstance(column, Numeric) or not column.settled:
        return np.array(column.levels, dtype=object)[codes]
    low, high = column.bounds
    return np.array([str(low + (high - low) * (code + 0.5) / column.size) for code in codes.tolist()], dtype=object)


def _frame(table: dict[str, IntArray]) -> object:
    import pyarrow as pa

    return pa.table({name: pa.array(column.tolist(), pa.string()) for name, column in table.items()})


def variants(recipe: Settings) -> list[Settings]:
    """Return settings with every value of those that have few, one at a time, and with smaller whole numbers."""
    found = [recipe]
    for name, values in recipe.choices.items():
        found += [recipe.changed(**{name: value}) for value in values if value != getattr(recipe, name)]
    for f in fields(recipe):
        usual = getattr(recipe, f.name)
        if isinstance(usual, int):
            changed: list[dict[str, Any]] = [{f.name: smaller} for smaller in range(usual)]
            found += [replace(recipe, **change) for change in changed]
    return found


def settings(method: str) -> list[Setting]:
    """Return the settings in which a method is audited.

    All variants with both kinds of promise; and the usual one with bins to be settled, and with background knowledge.
    """
    found = []
    domain = NUMBERS if METHODS[method].numeric else FEW
    usual = settings_for(method, domain)
    for recipe in variants(usual):
        for epsilon, delta in ((20.0, 1e-4), (20.0, 0.0)):
            found.append(Setting(method, recipe, domain, epsilon, delta))
    if not METHODS[method].numeric:
        found += [Setting(method, settings_for(method, MIXED.widest()), MIXED, 20.0, delta) for delta in (1e-4, 0.0)]
    if "sample" in {f.name for f in fields(usual)}:
        part: dict[str, Any] = {"sample": 0.6}
        found += [Setting(method, replace(usual, **part), FEW, 20.0, delta) for delta in (1e-4, 0.0)]
    if "edges" in {f.name for f in fields(usual)}:
        few: dict[str, Any] = {"edges": 2}
        found += [Setting(method, replace(usual, **few), FEW, 20.0, delta) for delta in (1e-4, 0.0)]
        found += [Setting(method, usual, MEETING, 20.0, delta) for delta in (1e-4, 0.0)]
    known = Knowledge(required=frozenset({("a", "b")}), forbidden=frozenset({("c", "d"), ("d", "c")}))
    found += [Setting(method, usual, domain, 20.0, delta, known) for delta in (1e-4, 0.0)]
    return found


@dataclass(frozen=True)
class Pairing:
    """The direction of one pair, by a score, with a domain and a budget."""

    score: str
    domain: Domain
    epsilon: float

    @property
    def name(self) -> str:
        """What tells it from others."""
        return f"direction ({self.score})"

    @property
    def claim(self) -> Claim:
        """What the budget promises."""
        return Claim(Currency.PURE, self.epsilon)

    def found(self, rows: IntArray) -> Directions:
        """Run it on rows, in a room of its own."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DoubtWarning)
            room = Room(table_of(rows, self.domain), self.domain, Budget(epsilon=self.epsilon, delta=0))
            x, y = self.domain
            return direction_in(room, (x, y), score=self.score)

    def release(self, rows: IntArray) -> str:
        """Return all that would be published."""
        return self.found(rows).to_json()

    def numbers(self, rows: IntArray) -> tuple[object, ...]:
        """Return all that would be published as numbers, for the black box."""
        return tuple(pair.margin for pair in self.found(rows).pairs)

    def published(self, rows: IntArray) -> str:
        """Run the whole way from a table with labels, and return all that would be published."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DoubtWarning)
            x, y = self.domain
            frame = _frame(_labels(rows, self.domain))
            return direction(frame, (x, y), domain=self.domain, epsilon=self.epsilon, score=self.score).to_json()


@dataclass(frozen=True)
class Examination:
    """A test of independence of one pair, with a domain and a budget."""

    test: str
    given: tuple[str, ...]
    domain: Domain
    epsilon: float
    delta: float = 0.0

    @property
    def name(self) -> str:
        """What tells it from others."""
        return f"test ({self.test}, {'Gaussian' if self.delta else 'pure'}, {len(self.given)} given)"

    @property
    def claim(self) -> Claim:
        """What the budget promises."""
        budget = Budget(epsilon=self.epsilon, delta=self.delta)
        if budget.currency is Currency.GDP:
            return Claim(Currency.GDP, float(budget.limit) ** 0.5)
        return Claim(Currency.PURE, self.epsilon)

    def found(self, rows: IntArray) -> Answer:
        """Run it on rows, in a room of its own."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DoubtWarning)
            room = Room(table_of(rows, self.domain), self.domain, Budget(epsilon=self.epsilon, delta=self.delta))
            return examine_in(room, Inquiry("x", "y", self.given), self.test)

    def release(self, rows: IntArray) -> str:
        """Return all that would be published."""
        return self.found(rows).to_json()

    def numbers(self, rows: IntArray) -> tuple[object, ...]:
        """Return all that would be published as numbers, for the black box."""
        found = self.found(rows)
        return (int(found.independent), found.p_value or 0.0)

    def published(self, rows: IntArray) -> str:
        """Run the whole way from a table with labels, and return all that would be published."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DoubtWarning)
            frame = _frame(_labels(rows, self.domain))
            found = examine(
                frame, "x", "y", self.given, domain=self.domain, epsilon=self.epsilon, delta=self.delta, test=self.test
            )
            return found.to_json()


def examinations(epsilon: float) -> list[Examination]:
    """Return all tests, with and without columns given, with both kinds of promise where they have both."""
    found = []
    for name, kind in TESTS.items():
        for given in ((), ("z",)) if name == "tables" else ((),) if name == "permutation" else (("z",),):
            for delta in (0.0,) if kind.pure else (0.0, 1e-4):
                found.append(Examination(name, given, LONG, epsilon, delta))
    return found


def methods() -> list[str]:
    """Return the names of all methods, each once."""
    return [*METHODS, DIRECTION, TEST]


def all_settings(method: str) -> Sequence[Setting | Pairing | Examination]:
    """Return the settings in which a method is audited."""
    if method == DIRECTION:
        return [Pairing(score, SCALE, 4.0) for score in SCORES]
    return examinations(8.0) if method == TEST else settings(method)


def small_settings(method: str) -> Sequence[Setting | Pairing | Examination]:
    """Return the settings in which a method is run often."""
    if method == DIRECTION:
        return [Pairing(score, SCALE, 3.0) for score in ("reci", "iqr")]
    if method == TEST:
        return [Examination(name, (), LONG, 3.0) for name in ("permutation", "tables")]
    domain = TWO_NUMBERS if METHODS[method].numeric else TWO
    return [Setting(method, settings_for(method, domain), domain, 3.0, delta) for delta in (1e-4, 0.0)]
