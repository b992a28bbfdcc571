"""Everything of the library that makes a promise, and how it is put before the auditors.

A statistic and a mechanism need one line here, with an example; a method needs none: whatever `methods.registry` names
is run with all values of its settings that have few, on small domains. A test fails if something that makes a promise
has no audit.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np

from discreet.arrays import IntArray
from discreet.audit import Neighbours, table_of
from discreet.audit.claims import Claim
from discreet.audit.commands import Command
from discreet.audit.neighbours import Objective
from discreet.audit.replay import change, share
from discreet.audit.statistics import AverageTau, GStatistic, KendallA, SeparationHSIC, SpearmanA, StratifiedKendall
from discreet.audit.tape import exact_value
from discreet.audit.vectors import Vectors, levels
from discreet.domain import Categorical, Column, Domain, Numeric, People
from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.errors import DoubtWarning, SettingError
from discreet.methods.direction import NAMES, SCORES, direction, direction_in
from discreet.methods.discover import discover, discover_in
from discreet.methods.independence.examine import TESTS, examine, examine_in
from discreet.methods.registry import METHODS, budget_for, settings_for
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Budget
from discreet.privacy.mechanisms import Mechanism
from discreet.privacy.mechanisms.additive import DiscreteGaussian, DiscreteLaplace, RoundedGaussian, ShapedGaussian
from discreet.privacy.mechanisms.exponential import Selection, TopK
from discreet.privacy.mechanisms.noisy_rank import NoisyRank
from discreet.privacy.mechanisms.sparse_vector import AboveThreshold
from discreet.privacy.noise import ExactNoise
from discreet.release.answer import Answer, Inquiry
from discreet.release.clipping import make_frame
from discreet.release.direction import COPULA, Directions
from discreet.release.discovery import Discovery
from discreet.release.settings import Marginals, Settings
from discreet.room import Room
from discreet.statistics import Sensitivity, Statistic
from discreet.statistics.clipped import ClippedInteractions
from discreet.statistics.counts import Counts
from discreet.statistics.curves import UNIT, BinnedSums, Curve, Scaled
from discreet.statistics.dependence import Dependence
from discreet.statistics.direction import Difference
from discreet.statistics.information import ConditionalInformation, ConditionalTotalVariation
from discreet.statistics.interactions import Interactions
from discreet.statistics.margins import Contrasts, HowMany, Margin, Margins, Separators
from discreet.statistics.pairwise_hsic import MeanLengths, PairwiseHSIC
from discreet.statistics.permutation import Compared, PermutedHSIC
from discreet.statistics.quantiles import Quantiles, Quartiles
from discreet.statistics.ranks import StratifiedKendallDet, StratifiedSpearman
from discreet.statistics.residual_products import FINE as ONE_UNIT
from discreet.statistics.residual_products import FitSums, ResidualProduct, powers_of

DIRECTION, TEST = "direction", "test"
"""Names of what is audited like a method."""


PAIR = Domain({"a": levels(2), "b": levels(3)}, rows=3)
ONE = Domain({"a": levels(2)}, rows=3)
EVEN = Domain({"a": levels(2), "b": levels(2), "o": levels(1)}, rows=4)
THREE = Domain({"x": levels(3)}, rows=2)
NINE = Domain({"a": levels(3), "b": levels(3)}, rows=4)
LARGE = Domain({"a": levels(4), "b": levels(5), "c": levels(2), "d": levels(3)}, rows=24)
WIDE = Domain({f"c{i:02}": levels(2 + i % 3) for i in range(13)}, rows=10)
MANY = Domain({f"c{i:02}": levels(2 + i % 3) for i in range(24)}, rows=40)
FEW = Domain({"a": levels(2), "b": levels(3), "c": levels(2), "d": levels(2)}, rows=40)
RANGE = Numeric(bounds=(0.0, 1.0), bins=3, at="quantiles")
MIXED = Domain({"a": levels(2), "x": RANGE, "b": levels(2)}, rows=40)
HALVES = Domain({c: Numeric(bounds=(0.0, 1.0), bins=2, at="quantiles", missing="none") for c in "xy"}, rows=30)
TWO = Domain({"a": levels(2), "b": levels(2)}, rows=12)
TRIO = Domain({c: Categorical(categories=tuple("abc"), ordered=True) for c in "xy"}, rows=3)
SCALE = Domain({c: Categorical(categories=tuple("abcde"), ordered=True) for c in "xy"}, rows=12)
GAPS = Domain({c: Categorical(categories=tuple("abcd"), ordered=True, missing="none") for c in "xy"}, rows=12)
QUARTERED = Domain({c: Numeric(bounds=(0.0, 1.0), bins=4, at="quantiles") for c in "xy"}, rows=30)
TRIAD = Domain({c: Categorical(categories=tuple("ab"), ordered=True) for c in "xyz"}, rows=3)
FINE = Domain({c: Numeric(bounds=(0.0, 1.0)) for c in "xyz"}, rows=30)
LONG = Domain({c: Categorical(categories=tuple("abcde"), ordered=True) for c in "xyz"}, rows=50)
MEETING = Domain({"a": levels(2), "b": levels(2), "c": levels(3)}, rows=300)
NUMBERS = Domain({name: Numeric(bounds=(0.0, 1.0)) for name in "abcd"}, rows=60)
TWO_NUMBERS = Domain({name: Numeric(bounds=(0.0, 1.0)) for name in "ab"}, rows=50)
STRATA = Domain({"a": levels(2), "b": levels(2), "c": levels(2)}, rows=3)


def _given(kind: type[Dependence]) -> tuple[tuple[Statistic, Domain], ...]:
    few = (kind("a", "b", ("c",)), STRATA), (kind("a", "c", ("d",)), FEW)
    return *few, (kind("a", "b"), NINE), (kind("a", "b", ("c", "d")), LARGE), (kind("a", "b"), LARGE)


def _marginal(kind: type[KendallA | SpearmanA]) -> tuple[tuple[Statistic, Domain], ...]:
    signed = (kind("a", "b", signed=True), PAIR), (kind("a", "b", signed=True), NINE)
    return *signed, (kind("b", "a"), FEW), (kind("a", "b"), EVEN)


def _interactions(domain: Domain, sets: Iterable[tuple[str, ...]]) -> tuple[Statistic, Domain]:
    chosen = tuple(sets)
    return Interactions(chosen, tuple(len(s) for s in chosen)), domain


def _clipped(domain: Domain, common: float) -> ClippedInteractions:
    """Return interactions of clipped rows, where the first level of every column is so much more common."""
    shares = {c: np.array([common, *[1.0] * (domain.size(c) - 1)]) for c in domain if domain.size(c) > 1}
    return ClippedInteractions(make_frame({c: values / values.sum() for c, values in shares.items()}))


_CURVES = (Curve((UNIT, -UNIT)), Curve((-UNIT, UNIT, -UNIT)))


def _both_ways(kind: type[Difference]) -> tuple[tuple[Statistic, Domain], ...]:
    domains = (TRIO, SCALE, GAPS) if kind.takes_absent else (TRIO, SCALE)
    return tuple((kind(Scaled.of("x", "y", domain), *_CURVES), domain) for domain in domains)


_PERMUTED = (("", TRIO), ("", FINE), ("z", FINE))


def _permuted(kind: type[PermutedHSIC], **settings: Any) -> tuple[tuple[Statistic, Domain], ...]:
    compared = [(Compared.of("x", "y", tuple(given), domain), domain) for given, domain in _PERMUTED]
    return tuple((kind(of, 6, ridge=50.0, **settings), domain) for of, domain in compared)


def _products() -> dict[type, tuple[tuple[Statistic, Domain], ...]]:
    compared = [(Compared.of("x", "y", ("z",), domain), domain) for domain in (TRIAD, FINE)]
    fits = (tuple(0.3 / (i + 1) for i in range(len(powers_of(1)))), (0.0,) * len(powers_of(1)))
    cuts = (ONE_UNIT // 2, ONE_UNIT)
    return {
        FitSums: tuple((FitSums(of), domain) for of, domain in compared),
        ResidualProduct: tuple((ResidualProduct(of, fits, cuts), domain) for of, domain in compared),
    }


_NO_CONTRAST = Interactions((("a",), ("o",), ("a", "o")), (1, 1, 2))
_MARGIN = Margin((StratifiedKendallDet("a", "b"), StratifiedKendallDet("a", "b", ("c",))), (300, 100))
_MIXED = Margin((ConditionalInformation("a", "c"), ConditionalTotalVariation("a", "c", ("b", "d"))), (0, 2000))
_OTHER = Margin((ConditionalTotalVariation("a", "b"),), (500,))
_APART = Margin((ConditionalTotalVariation("a", "b", ("c",)),), (0,))
_TURNED = Margin((ConditionalTotalVariation("a", "c", ("b",)),), (0,))

STATISTICS: dict[type, tuple[tuple[Statistic, Domain], ...]] = {
    Counts: (
        (Counts((("a",), ("a", "b"))), PAIR),
        (Counts((("a",), ("a", "b"), ("b", "c"), ("b", "c", "d"))), FEW),
        (Counts((("a", "b"), ("o",), ("a", "o"))), EVEN),
    ),
    Interactions: (
        (Interactions((("a",), ("b",), ("a", "b")), (1, 2, 3)), PAIR),
        (Interactions((("a",), ("a", "b"), ("c", "d"), ("b", "c", "d")), (1, 1, 2, 2)), FEW),
        (_NO_CONTRAST, EVEN),
        _interactions(WIDE, [*zip(WIDE), *combinations(WIDE, 2)]),
        _interactions(WIDE, [*combinations(WIDE, 2), *zip(WIDE, list(WIDE)[1:], list(WIDE)[2:], strict=False)]),
        (Interactions((("a",), ("b",), ("a", "b")), (1 << 60, 1 << 60, 1 << 60)), PAIR),
    ),
    ClippedInteractions: (
        (_clipped(PAIR, 3), PAIR),
        (_clipped(FEW, 1), FEW),
        (_clipped(EVEN, 9), EVEN),
        (_clipped(WIDE, 5), WIDE),
    ),
    Quantiles: ((Quantiles(("x",), 3), MIXED), (Quantiles(("x", "y"), 2), HALVES)),
    KendallA: _marginal(KendallA),
    SpearmanA: _marginal(SpearmanA),
    StratifiedKendall: _given(StratifiedKendall),
    StratifiedKendallDet: _given(StratifiedKendallDet),
    StratifiedSpearman: _given(StratifiedSpearman),
    AverageTau: _given(AverageTau),
    ConditionalTotalVariation: _given(ConditionalTotalVariation),
    ConditionalInformation: _given(ConditionalInformation),
    GStatistic: _given(GStatistic),
    BinnedSums: tuple((BinnedSums(Scaled.of("x", "y", d), 3), d) for d in (TRIO, SCALE, GAPS)),
    **{kind: _both_ways(kind) for kind in SCORES.values() if kind is not None},
    Quartiles: tuple((Quartiles(Scaled.of("x", "y", d), *_CURVES), d) for d in (TRIO, SCALE, GAPS)),
    MeanLengths: tuple((MeanLengths(("x", "y"), d.shape("xy")), d) for d in (TRIO, SCALE)),
    PairwiseHSIC: tuple((PairwiseHSIC(("x", "y"), d.shape("xy"), pairs=((0, 1),)), d) for d in (TRIO, SCALE)),
    **_products(),
    PermutedHSIC: _permuted(PermutedHSIC),
    SeparationHSIC: _permuted(SeparationHSIC, alpha=0.34),
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
        """Return 1 for the largest change, and for that of the first."""
        return replace(super().sensitivity(domain), largest=Fraction(1), first=Fraction(1))


_ONE_TABLE = Counts((("a",),))
_CONTRASTS = Interactions((("a",),), (1,))

_TABLES = Counts((("a",), ("a", "b")))
_SHAPED = Interactions((("a",), ("b",), ("a", "b")), (1, 2, 3))

_AROUND, _TRIPLES = (Vectors(tuple(product((-2, 0, 1), repeat=n))) for n in (2, 3))
_MANY = Vectors(((0,) * 1500, (*(0,) * 1499, 1), (1, *(0,) * 1499)))


def _anywhere(*mechanisms: Mechanism, of: Vectors = _AROUND) -> tuple[tuple[Mechanism, Statistic, Domain], ...]:
    return tuple((mechanism, of, of.domain) for mechanism in mechanisms)


MECHANISMS: dict[type, tuple[tuple[Mechanism, Statistic, Domain], ...]] = {
    RoundedGaussian: (
        (RoundedGaussian(1.5), _ONE_TABLE, ONE),
        (RoundedGaussian(0.5), _ONE_TABLE, ONE),
        (RoundedGaussian(9.0), _TABLES, PAIR),
        *_anywhere(RoundedGaussian(2.0)),
        *_anywhere(RoundedGaussian(2.0), of=_MANY),
    ),
    ShapedGaussian: (
        (ShapedGaussian(1.2, _CONTRASTS.squares(ONE)), _CONTRASTS, ONE),
        (ShapedGaussian(3.0, _SHAPED.squares(PAIR)), _SHAPED, PAIR),
        (ShapedGaussian(2.0, _NO_CONTRAST.squares(EVEN)), _NO_CONTRAST, EVEN),
    ),
    DiscreteGaussian: (
        (DiscreteGaussian(1.5), _ONE_TABLE, ONE),
        (DiscreteGaussian(0.6), _ONE_TABLE, EVEN),
        (DiscreteGaussian(7.0), _TABLES, PAIR),
        *_anywhere(DiscreteGaussian(2.0)),
        *_anywhere(DiscreteGaussian(2.0), of=_MANY),
    ),
    DiscreteLaplace: (
        (DiscreteLaplace(2.0), _ONE_TABLE, ONE),
        (DiscreteLaplace(0.5), _ONE_TABLE, EVEN),
        (DiscreteLaplace(11.0), _TABLES, PAIR),
        *_anywhere(DiscreteLaplace(3.0)),
        *_anywhere(DiscreteLaplace(3.0), of=_MANY),
    ),
    NoisyRank: (
        (NoisyRank(1.5, 1), Popular((("a",),)), ONE),
        (NoisyRank(0.25, 2), Popular((("x",),)), THREE),
        *_anywhere(NoisyRank(0.4, 1)),
    ),
    Selection: (
        (Selection(2.0, 1), Popular((("a",),)), ONE),
        (Selection(0.7, 1), Popular((("b",),)), PAIR),
        (Selection(5.0, 2), Popular((("a",), ("b",))), EVEN),
        *_anywhere(Selection(3.0, 1), of=_TRIPLES),
        *_anywhere(Selection(3.0, 1), of=_MANY),
    ),
    TopK: (
        (TopK(3.0, 2), Popular((("b",),)), PAIR),
        (TopK(1.5, 2, groups=(0, 0, 1)), Popular((("b",),)), PAIR),
        *_anywhere(TopK(3.0, 2), TopK(3.0, 2, groups=(0, 1, 0)), of=_TRIPLES),
    ),
}
"""Mechanisms that blur, in the shapes in which methods use them: small and large scales, several tables at once."""

GATES: dict[type, tuple[AboveThreshold, ...]] = {
    AboveThreshold: (
        AboveThreshold(3.0, 5.0),
        AboveThreshold(4.0, 4.0),
        AboveThreshold(0.7, 2.5, 3),
        AboveThreshold(2.0, 8.0, 2, geometric=True),
        AboveThreshold(2.0, 3.0, sample=6, rows=TWO.rows),
        AboveThreshold(2.0, 9.0, 2, geometric=True, sample=1, rows=TWO.rows),
    ),
}
"""Mechanisms that let pass or not."""


ORACLES: dict[str, str | None] = {
    "Released": "marginals",
    "Smooth": "moments",
    "PairwiseReleased": "pcd",
    "DSeparation": None,
    "GTest": None,
}
"""Oracles with the method whose audit asks them; None where nothing is promised (the truth, and exact answers)."""


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


class Subject(ABC):
    """A method with all that it takes to be run on rows."""

    domain: Domain

    @property
    @abstractmethod
    def name(self) -> str:
        """What tells it from others."""

    @property
    @abstractmethod
    def claim(self) -> Claim:
        """What the budget promises."""

    @abstractmethod
    def run(self, rows: IntArray) -> Discovery | Directions | Answer:
        """Run it on rows, in a room of its own."""

    @abstractmethod
    def numbers(self, rows: IntArray) -> tuple[object, ...]:
        """Return all that would be published as numbers, for the black box."""

    @abstractmethod
    def run_whole(self, frame: object) -> Discovery | Directions | Answer:
        """Run the whole way from a table with labels."""

    def release(self, rows: IntArray) -> str:
        """Return all that would be published."""
        with _no_doubts():
            return self.run(rows).to_json()

    def publish(self, rows: IntArray) -> str:
        """Run the whole way from a table with labels, and return all that would be published."""
        with _no_doubts():
            return self.run_whole(frame_of(rows, self.domain)).to_json()


@contextmanager
def _no_doubts() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtWarning)
        yield


def frame_of(rows: IntArray, domain: Domain) -> object:
    """Return codes as they would stand in a file."""
    import pyarrow as pa

    written = {name: _labels(rows[:, j], domain[name]) for j, name in enumerate(domain)}
    return pa.table({name: pa.array(column.tolist(), pa.string()) for name, column in written.items()})


def _labels(codes: IntArray, column: Column) -> IntArray:
    """Return what stands in a file for codes: labels, or numbers in the middle of the grid's steps."""
    if column.tabulable or not isinstance(column, Numeric) or not column.settled:
        return np.array(column.levels, dtype=object)[codes]
    low, high = column.bounds
    return np.array([str(low + (high - low) * (code + 0.5) / column.size) for code in codes.tolist()], dtype=object)


def _claim_of(budget: Budget) -> Claim:
    if budget.currency is Currency.GDP:
        return Claim(Currency.GDP, float(budget.limit) ** 0.5)
    return Claim(budget.currency, float(budget.limit))


@dataclass(frozen=True)
class MethodSubject(Subject):
    """A method with its settings, a domain, a budget and what is known."""

    method: str
    settings: Settings
    domain: Domain
    epsilon: float
    delta: float
    knowledge: Knowledge = NOTHING_KNOWN
    direct_pairs: bool = False

    @property
    def name(self) -> str:
        """What tells it from others."""
        settings = self.settings
        words = [str(getattr(settings, f)) for f in settings.choices]
        words.append(("Gaussian" if self.claim.currency is Currency.GDP else "zCDP") if self.delta else "pure")
        words += ["private quantiles"] if self.domain.unsettled else []
        words += [name for name in ("sample", "edges") if getattr(settings, name, None)]
        words += ["many columns"] if self.domain == MANY else []
        words += ["edges that meet"] if self.domain == MEETING else []
        words += ["knowledge"] if self.knowledge != NOTHING_KNOWN else []
        words += ["open edges by shape"] if self.direct_pairs else []
        usual = type(settings)()
        whole = [f.name for f in fields(settings) if isinstance(getattr(usual, f.name), int)]
        words += [f"{n} {getattr(settings, n)}" for n in whole if getattr(settings, n) != getattr(usual, n)]
        return f"{self.method} ({', '.join(words)})"

    @property
    def claim(self) -> Claim:
        """What the budget promises."""
        return _claim_of(budget_for(self.settings, self.epsilon, self.delta))

    def run(self, rows: IntArray) -> Discovery:
        """Run the method on rows, in a room of its own."""
        room = Room(table_of(rows, self.domain), self.domain, budget_for(self.settings, self.epsilon, self.delta))
        return discover_in(room, self.settings, knowledge=self.knowledge, direct_pairs=self.direct_pairs)

    def numbers(self, rows: IntArray) -> tuple[object, ...]:
        """Return all that would be published as numbers, for the black box."""
        with _no_doubts():
            found = self.run(rows)
        nodes = found.graph.nodes
        arrows = [int((a, b) in found.graph.directed) for a in nodes for b in nodes if a != b]
        touching = [int(frozenset((a, b)) in found.graph.skeleton) for a in nodes for b in nodes if a < b]
        shapes = (pair.table.array for pair in found.directions or () if pair.table)
        return (*(values for m in found.measurements for values in m.values), *shapes, *arrows, *touching)

    def run_whole(self, frame: object) -> Discovery:
        """Run the whole way from a table with labels."""
        return discover(
            frame,
            domain=self.domain,
            epsilon=self.epsilon,
            delta=self.delta,
            method=self.settings,
            knowledge=self.knowledge,
            direct_pairs=self.direct_pairs,
        )


@dataclass(frozen=True)
class DirectionSubject(Subject):
    """The direction of one pair, by a score, with a domain and a budget."""

    score: str
    domain: Domain
    epsilon: float

    @property
    def name(self) -> str:
        """What tells it from others."""
        words = [self.score, *["absent rows"] * (self.domain is GAPS), *["numbers"] * bool(self.domain.unsettled)]
        return f"direction ({', '.join(words)})"

    @property
    def claim(self) -> Claim:
        """What the budget promises."""
        return Claim(Currency.PURE, self.epsilon)

    def run(self, rows: IntArray) -> Directions:
        """Run it on rows, in a room of its own."""
        room = Room(table_of(rows, self.domain), self.domain, Budget(epsilon=self.epsilon, delta=0))
        x, y = self.domain
        return direction_in(room, (x, y), score=self.score)

    def numbers(self, rows: IntArray) -> tuple[object, ...]:
        """Return all that would be published as numbers, for the black box."""
        with _no_doubts():
            found = self.run(rows).pairs
        return (*(pair.margin for pair in found), *(pair.table.array for pair in found if pair.table))

    def run_whole(self, frame: object) -> Directions:
        """Run the whole way from a table with labels."""
        x, y = self.domain
        return direction(frame, (x, y), domain=self.domain, epsilon=self.epsilon, score=self.score)


@dataclass(frozen=True)
class IndependenceSubject(Subject):
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
        return _claim_of(Budget(epsilon=self.epsilon, delta=self.delta))

    def run(self, rows: IntArray) -> Answer:
        """Run it on rows, in a room of its own."""
        room = Room(table_of(rows, self.domain), self.domain, Budget(epsilon=self.epsilon, delta=self.delta))
        return examine_in(room, Inquiry("x", "y", self.given), self.test)

    def numbers(self, rows: IntArray) -> tuple[object, ...]:
        """Return all that would be published as numbers, for the black box."""
        with _no_doubts():
            found = self.run(rows)
        return (int(found.independent), found.p_value or 0.0)

    def run_whole(self, frame: object) -> Answer:
        """Run the whole way from a table with labels."""
        return examine(
            frame, "x", "y", self.given, domain=self.domain, epsilon=self.epsilon, delta=self.delta, test=self.test
        )


def variants(usual: Settings) -> list[Settings]:
    """Return settings with every value of those that have few, one at a time, and with smaller whole numbers."""
    found = [usual]
    for name, values in usual.choices.items():
        found += [usual.changed(**{name: value}) for value in values if value != getattr(usual, name)]
    for f in fields(usual):
        most = getattr(usual, f.name)
        if isinstance(most, int):
            found += [usual.changed(**{f.name: smaller}) for smaller in range(most)]
    return found


PROMISES = (1e-4, 0.0)
"""Deltas with which methods are audited: a Gaussian or zCDP promise, and a pure one."""


def method_subjects(method: str) -> list[MethodSubject]:
    """Return the settings in which a method is audited.

    All variants with both kinds of promise; and the usual one with bins to be settled, and with background knowledge.
    """
    domain = NUMBERS if METHODS[method].numeric else FEW
    usual = settings_for(method, domain)
    tried: list[tuple[Settings, Domain, Knowledge]] = [(some, domain, NOTHING_KNOWN) for some in variants(usual)]
    if not METHODS[method].numeric:
        tried.append((settings_for(method, MIXED.widest()), MIXED, NOTHING_KNOWN))
    if isinstance(usual, Marginals):
        tried.append((usual, MANY, NOTHING_KNOWN))
    names = {f.name for f in fields(usual)}
    if "sample" in names:
        tried.append((usual.changed(sample=0.6), FEW, NOTHING_KNOWN))
    if "edges" in names:
        tried += [(usual.changed(edges=2), FEW, NOTHING_KNOWN), (usual, MEETING, NOTHING_KNOWN)]
    known = Knowledge(required=frozenset({("a", "b")}), forbidden=frozenset({("c", "d"), ("d", "c")}))
    tried.append((usual, domain, known))
    found = [MethodSubject(method, some, d, 20.0, delta, k) for some, d, k in tried for delta in PROMISES]
    if isinstance(usual, Marginals):
        domain = SCALE if method == "marginals" else QUARTERED
        found += [MethodSubject(method, usual, domain, 20.0, delta, direct_pairs=True) for delta in PROMISES]
    return found


def independence_subjects(epsilon: float) -> list[IndependenceSubject]:
    """Return all tests, with and without columns given, with both kinds of promise where they have both."""
    found = []
    for name, kind in TESTS.items():
        for given in ((), ("z",)) if name == "tables" else ((),) if name == "permutation" else (("z",),):
            for delta in (0.0,) if kind.pure else (0.0, 1e-4):
                found.append(IndependenceSubject(name, given, LONG, epsilon, delta))
    return found


def methods() -> list[str]:
    """Return the names of all methods, each once."""
    return [*METHODS, DIRECTION, TEST]


def subjects_of(method: str) -> Sequence[Subject]:
    """Return the settings in which a method is audited."""
    if method == DIRECTION:
        able = [score for score, kind in SCORES.items() if kind is None or kind.takes_absent]
        whole = [DirectionSubject(score, SCALE, 4.0) for score in NAMES]
        gaps = [DirectionSubject(score, GAPS, 4.0) for score in (COPULA, *able)]
        return [*whole, *gaps, DirectionSubject(COPULA, QUARTERED, 4.0)]
    return independence_subjects(8.0) if method == TEST else method_subjects(method)


def small_subjects(method: str) -> Sequence[Subject]:
    """Return the settings in which a method is run often."""
    if method == DIRECTION:
        return [DirectionSubject(score, SCALE, 3.0) for score in (COPULA, "reci", "iqr")]
    if method == TEST:
        return [IndependenceSubject(name, (), LONG, 3.0) for name in ("permutation", "tables")]
    domain = TWO_NUMBERS if METHODS[method].numeric else TWO
    return [MethodSubject(method, settings_for(method, domain), domain, 3.0, delta) for delta in PROMISES]


_NAMELESS = "--domain {domain} --ledger {ledger}"
_RECORDED = f"{_NAMELESS} --dataset d"
_PERSONS, _SECRET = replace(FEW, people=People("who", 2)), replace(FEW, people=People(None, 1))
_PURE, _GAUSSIAN = Budget(epsilon=8.0, delta=0.0), Budget(epsilon=8.0, delta=1e-6)

COMMANDS = (
    Command(
        "discover, from a CSV file to report and ledger",
        "marginals",
        (f"discover {{data}} --epsilon 8 {_RECORDED} --request r --out {{out}}",),
        LARGE,
        _claim_of(_GAUSSIAN),
        paid=1,
    ),
    Command(
        "discover, asked twice and once too often",
        "em-pc",
        tuple(
            f"discover {{data}} --method em-pc --delta 0 --epsilon 8 {_RECORDED} --request {r} --json" for r in "rrs"
        ),
        FEW,
        _claim_of(_PURE),
        paid=1,
        limit="--epsilon 12 --delta 0",
        codes=(0, 0, 3),
    ),
    Command(
        "discover, by the name of its file",
        "em-pc",
        tuple(f"discover {{data}} --method em-pc --delta 0 --epsilon 8 {_NAMELESS} --request {r}" for r in "rs"),
        FEW,
        _claim_of(_PURE),
        paid=1,
        limit="--epsilon 12 --delta 0",
        codes=(0, 3),
        dataset="data.csv",
    ),
    Command(
        "discover, of people, from a Parquet file",
        "marginals",
        (f"discover {{data}} --epsilon 8 {_RECORDED} --request r --json",),
        _PERSONS,
        _claim_of(Budget(epsilon=8.0, delta=1e-6, group=_PERSONS.group)),
        paid=1,
        suffix=".parquet",
    ),
    Command(
        "discover, of a secret number of rows",
        "marginals",
        (f"discover {{data}} --epsilon 8 {_RECORDED} --request r --json --out {{out}}",),
        _SECRET,
        _claim_of(_GAUSSIAN),
        paid=1,
    ),
    Command(
        "direction, from a CSV file to the ledger",
        DIRECTION,
        (f"direction {{data}} x y --epsilon 8 {_RECORDED} --request r",),
        SCALE,
        _claim_of(_PURE),
        paid=1,
    ),
    Command(
        "test, from a CSV file to the ledger",
        TEST,
        (f"test {{data}} x y --given z --epsilon 8 {_RECORDED} --request r --json",),
        LONG,
        _claim_of(_GAUSSIAN),
        paid=1,
        limit="",
    ),
)
"""Commands that are replayed whole."""
