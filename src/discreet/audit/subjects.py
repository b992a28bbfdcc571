"""Everything of the library that makes a promise, and how it is put before the auditors.

A statistic and a mechanism need one line here, with an example; a method needs none: whatever `methods.RECIPES`
names is run with all its variants. A test fails if something that makes a promise has no audit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from discreet.arrays import IntArray
from discreet.audit import Neighbours, table_of
from discreet.audit.claims import Claim
from discreet.audit.neighbours import Objective
from discreet.audit.replay import change, share
from discreet.audit.tape import exact_value
from discreet.columns import Categorical, Numeric
from discreet.discovering import discover, discover_in
from discreet.discovery import Discovery
from discreet.domain import Domain
from discreet.errors import DoubtWarning, SettingError
from discreet.knowledge import NOTHING_KNOWN, Knowledge
from discreet.mechanisms import Mechanism
from discreet.mechanisms.additive import DiscreteGaussian, DiscreteLaplace, RoundedGaussian, ShapedGaussian
from discreet.mechanisms.selection import Selection, TopK
from discreet.mechanisms.sparse import AboveThreshold
from discreet.methods import RECIPES, Recipe, budget_for, recipe_for
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Budget
from discreet.privacy.noise import ExactNoise
from discreet.room import Room
from discreet.statistics import Sensitivity, Statistic
from discreet.statistics.counts import Counts
from discreet.statistics.dependence import Dependence
from discreet.statistics.information import ConditionalInformation, ConditionalTotalVariation, GStatistic
from discreet.statistics.interactions import Interactions
from discreet.statistics.margins import Contrasts, HowMany, Margin, Margins, Separators
from discreet.statistics.quantiles import Quantiles
from discreet.statistics.ranks import (
    AverageTau,
    KendallA,
    SpearmanA,
    StratifiedKendall,
    StratifiedKendallDet,
    StratifiedSpearman,
)
from discreet.tables import Table


def levels(number: int) -> Categorical:
    """Return a column of so many levels."""
    return Categorical(categories=tuple(map(str, range(number))))


PAIR = Domain({"a": levels(2), "b": levels(3)}, rows=3)
ONE = Domain({"a": levels(2)}, rows=3)
FEW = Domain({"a": levels(2), "b": levels(3), "c": levels(2), "d": levels(2)}, rows=40)
RANGE = Numeric(bounds=(0.0, 1.0), bins=3, at="quantiles")
MIXED = Domain({"a": levels(2), "x": RANGE, "b": levels(2)}, rows=40)
TWO = Domain({"a": levels(2), "b": levels(2)}, rows=12)
MEETING = Domain({"a": levels(2), "b": levels(2), "c": levels(3)}, rows=300)
STRATA = Domain({"a": levels(2), "b": levels(2), "c": levels(2)}, rows=3)


def _given(kind: type[Dependence]) -> tuple[tuple[Statistic, Domain], ...]:
    return (kind("a", "b", ("c",)), STRATA), (kind("a", "c", ("d",)), FEW)


_MARGIN = Margin((StratifiedKendallDet("a", "b"), StratifiedKendallDet("a", "b", ("c",))), (300, 100))
_MIXED = Margin((ConditionalInformation("a", "c"), ConditionalTotalVariation("a", "c", ("b", "d"))), (0, 2000))
_OTHER = Margin((ConditionalTotalVariation("a", "b"),), (500,))
_APART = Margin((ConditionalTotalVariation("a", "b", ("c",)),), (0,))
_TURNED = Margin((ConditionalTotalVariation("a", "c", ("b",)),), (0,))

STATISTICS: dict[type, tuple[tuple[Statistic, Domain], ...]] = {
    Counts: (
        (Counts((("a",), ("a", "b"))), PAIR),
        (Counts((("a",), ("a", "b"), ("b", "c"), ("b", "c", "d"))), FEW),
    ),
    Interactions: (
        (Interactions((("a",), ("b",), ("a", "b")), (1, 2, 3)), PAIR),
        (Interactions((("a",), ("a", "b"), ("c", "d"), ("b", "c", "d")), (1, 1, 2, 2)), FEW),
    ),
    Quantiles: ((Quantiles(("x",), 3), MIXED),),
    KendallA: ((KendallA("a", "b", signed=True), PAIR), (KendallA("b", "a"), FEW)),
    SpearmanA: ((SpearmanA("a", "b", signed=True), PAIR), (SpearmanA("b", "a"), FEW)),
    StratifiedKendall: _given(StratifiedKendall),
    StratifiedKendallDet: _given(StratifiedKendallDet),
    StratifiedSpearman: _given(StratifiedSpearman),
    AverageTau: _given(AverageTau),
    ConditionalTotalVariation: _given(ConditionalTotalVariation),
    ConditionalInformation: _given(ConditionalInformation),
    GStatistic: _given(GStatistic),
    Margins: ((Margins((_MARGIN, _OTHER)), STRATA), (Margins((_MIXED, _OTHER)), FEW)),
    Separators: ((Separators((_MARGIN, _OTHER)), STRATA), (Separators((_MIXED, _OTHER)), FEW)),
    HowMany: ((HowMany((_MARGIN, _OTHER)), STRATA), (HowMany((_MIXED, _OTHER, _MARGIN)), FEW)),
    Contrasts: ((Contrasts((_APART,), (_TURNED,)), STRATA), (Contrasts((_MIXED, _APART), (_OTHER, _TURNED)), FEW)),
}
"""Statistics with the domains they are audited on. On tiny ones every pair of neighbours is looked at."""


@dataclass(frozen=True)
class Popular(Counts):
    """How often each level of a column occurs, as utilities to choose by: a row moves two of them by one."""

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return 1 for the largest change."""
        return replace(super().sensitivity(domain), largest=Fraction(1))


@dataclass(frozen=True)
class Number(Counts):
    """How often one level of a column occurs: a row moves it by one."""

    level: int = 0

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return 1."""
        return Sensitivity(l1=Fraction(1), l2_squared=Fraction(1), largest=Fraction(1))

    def evaluate(self, table: Table) -> IntArray:
        """Return the count of the level."""
        return super().evaluate(table)[self.level : self.level + 1]


_ONE_TABLE = Counts((("a",),))
_CONTRASTS = Interactions((("a",),), (1,))

MECHANISMS: dict[type, tuple[tuple[Mechanism, Statistic, Domain], ...]] = {
    RoundedGaussian: ((RoundedGaussian(1.5), _ONE_TABLE, ONE),),
    ShapedGaussian: ((ShapedGaussian(1.2, _CONTRASTS.squares(ONE)), _CONTRASTS, ONE),),
    DiscreteGaussian: ((DiscreteGaussian(1.5), _ONE_TABLE, ONE),),
    DiscreteLaplace: ((DiscreteLaplace(2.0), _ONE_TABLE, ONE),),
    Selection: ((Selection(2.0, 1), Popular((("a",),)), ONE),),
    TopK: ((TopK(3.0, 2), Popular((("b",),)), PAIR),),
}
"""Mechanisms that blur, with a statistic and a domain on which they are audited."""

GATES: dict[type, tuple[AboveThreshold, ...]] = {
    AboveThreshold: (
        AboveThreshold(3.0, 5.0),
        AboveThreshold(2.0, 8.0, 2, geometric=True),
        AboveThreshold(2.0, 3.0, sample=6, rows=TWO.rows),
    ),
}
"""Mechanisms that let pass or not."""


def streaming(gate: AboveThreshold) -> Callable[[IntArray, int], Sequence[object]]:
    """Return a sampler for the black box: a stream of numbers that a row moves up, then of numbers it moves down."""
    numbers = [(Number((("a",),), 1), 1)] * 9 + [(Number((("a",),), 0), TWO.rows)] * gate.passes
    sensitivity = numbers[0][0].sensitivity(TWO)
    price = float(gate.cost(sensitivity).amount(Currency.PURE)) * 1.01

    def once(rows: IntArray) -> tuple[bool, ...]:
        opened = Room(table_of(rows, TWO), TWO, Budget(epsilon=price, delta=0)).open(gate, sensitivity, purpose="x")
        return tuple(opened.passes(number, threshold) for number, threshold in numbers if opened.open)

    return lambda rows, times: [once(rows) for _ in range(times)]


ORACLES: dict[str, str | None] = {"Released": "marginals", "DSeparation": None, "GTest": None}
"""Oracles with the method whose audit asks them; None where nothing is promised (the truth, and exact answers)."""


@dataclass(frozen=True)
class Setting:
    """A method with its settings, a domain and a budget."""

    method: str
    recipe: Recipe
    domain: Domain
    epsilon: float
    delta: float
    knowledge: Knowledge = NOTHING_KNOWN

    @property
    def name(self) -> str:
        """What tells it from others."""
        words = [str(getattr(self.recipe, f)) for f in choices(self.recipe)]
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
        table = {
            name: np.array(self.domain[name].levels, dtype=object)[rows[:, j]] for j, name in enumerate(self.domain)
        }
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


def _frame(table: dict[str, IntArray]) -> object:
    import pyarrow as pa

    return pa.table({name: pa.array(column.tolist(), pa.string()) for name, column in table.items()})


def choices(recipe: Recipe) -> list[str]:
    """Return the settings of a recipe that have a fixed set of values."""
    hints = get_type_hints(type(recipe))
    return [f.name for f in fields(recipe) if get_origin(hints[f.name]) is Literal]


def variants(recipe: Recipe) -> list[Recipe]:
    """Return a recipe with every value of every such setting, one at a time, and with smaller whole numbers."""
    hints = get_type_hints(type(recipe))
    found = [recipe]
    for name in choices(recipe):
        found += [replace(recipe, **{name: v}) for v in get_args(hints[name]) if v != getattr(recipe, name)]
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
    for recipe in variants(recipe_for(method, FEW)):
        for epsilon, delta in ((20.0, 1e-4), (20.0, 0.0)):
            found.append(Setting(method, recipe, FEW, epsilon, delta))
    found += [Setting(method, recipe_for(method, MIXED.widest()), MIXED, 20.0, delta) for delta in (1e-4, 0.0)]
    usual = recipe_for(method, FEW)
    if "sample" in {f.name for f in fields(usual)}:
        part: dict[str, Any] = {"sample": 0.6}
        found += [Setting(method, replace(usual, **part), FEW, 20.0, delta) for delta in (1e-4, 0.0)]
    if "edges" in {f.name for f in fields(usual)}:
        few: dict[str, Any] = {"edges": 2}
        found += [Setting(method, replace(usual, **few), FEW, 20.0, delta) for delta in (1e-4, 0.0)]
        found += [Setting(method, usual, MEETING, 20.0, delta) for delta in (1e-4, 0.0)]
    known = Knowledge(required=frozenset({("a", "b")}), forbidden=frozenset({("c", "d"), ("d", "c")}))
    found += [Setting(method, usual, FEW, 20.0, delta, known) for delta in (1e-4, 0.0)]
    return found


def methods() -> list[str]:
    """Return the names of all methods, each once."""
    return list(RECIPES)


def objective(statistic: Statistic, domain: Domain) -> Objective:
    """Return how much of its declared sensitivity a statistic uses up on a pair."""
    declared = statistic.sensitivity(domain)

    def used(pair: Neighbours) -> float:
        try:
            values = [exact_value(statistic, rows, domain) for rows in (pair.first, pair.second)]
            return share(change(values[0], values[1], declared), declared)
        except SettingError:
            return float("inf")

    return used


def blurring(mechanism: Mechanism, statistic: Statistic, domain: Domain) -> Callable[[IntArray, int], Sequence[object]]:
    """Return a sampler for the black box: the mechanism with the real noise."""
    noise = ExactNoise()

    def sample(rows: IntArray, times: int) -> list[object]:
        exact = exact_value(statistic, rows, domain)
        return [mechanism.blur(exact, noise) for _ in range(times)]

    return sample
