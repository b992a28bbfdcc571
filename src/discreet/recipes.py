"""Recipes: which questions a method asks, and what it makes of the answers. No rows come here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, Self

import numpy as np

from discreet.binning import bins_of
from discreet.confidence import confidences
from discreet.discovery import Confidence, Discovery, Privacy
from discreet.domain import Domain
from discreet.errors import ReleaseError, SettingError
from discreet.graph import Graph, Pair
from discreet.knowledge import NOTHING_KNOWN, Knowledge
from discreet.measurement import Measurement
from discreet.oracles import Question
from discreet.oracles.curved import Curved
from discreet.oracles.released import EFFECT, Released, check_alpha
from discreet.planning import components, even_noise, plan, plan_next
from discreet.privacy.accounting import Currency
from discreet.search.fitting import direct, triple_weights
from discreet.search.greedy import greedy
from discreet.search.orient import equivalents
from discreet.search.pc import Progress, break_circles, pc
from discreet.search.scored import evidence_score
from discreet.search.sieve import Bar, Sieved, sieve, triples
from discreet.statistics.counts import Counts
from discreet.statistics.interactions import Interactions

NEIGHBOURS = 2.5
"""Neighbours that a column is expected to have: what a pair's evidence must make up for grows with the columns."""

LEAST = 1.0
"""Evidence that a pair needs at least."""

FIRST_DROP, DROP = -3.0, -1.0
"""Evidence below which a pair is dropped, at the first look and at the last."""

BRIDGE = 0.325
"""How much more it takes to drop a link between two parts, in units of log(1 + EFFECT n)."""

CLIMBS = 5
"""Restarts of the search by scores."""

MOST_BINS = 20
"""Bins of a numeric column: tables of two take time with the fourth power of it."""

SearchName = Literal["hybrid", "pc", "greedy"]


@dataclass(frozen=True, kw_only=True)
class Marginals:
    """Measure once, search for free.

    Half of the budget goes to all pairs, the other half to what the first look calls for: the pairs that are left,
    and three columns at a time around them. Everything else is post-processing.

    Parameters
    ----------
    search
        ``"hybrid"``: pairs by evidence, directions by the best fit to all triples. ``"pc"``: the textbook's
        algorithm with tests at a level. ``"greedy"``: climbs by scores made of evidence.
    max_order
        Largest conditioning set: 0, 1 or 2.
    alpha
        Level of the tests of ``"pc"``.
    """

    search: SearchName = "hybrid"
    max_order: int = 2
    alpha: float = 0.01

    rounds: ClassVar[int] = 2
    """Releases, each for the same part of the budget; what the earlier ones show decides what the next one asks."""

    def __post_init__(self) -> None:
        check_alpha(self.alpha, "gaussian")
        if self.max_order not in (0, 1, 2):
            raise SettingError("max-order: 0, 1 or 2; the method measures up to three columns at a time")
        if self.search not in ("hybrid", "pc", "greedy"):
            raise SettingError("search: `hybrid`, `pc` or `greedy`")

    @property
    def name(self) -> str:
        """The method's name."""
        return "marginals"

    def next(self, seen: Sieved, domain: Domain, currency: Currency, amount: Fraction) -> Counts | Interactions | None:
        """Return what is measured next, for an amount of the budget."""
        return plan_next(seen, domain, currency, amount)

    def changed(
        self, *, search: SearchName | None = None, max_order: int | None = None, alpha: float | None = None
    ) -> Self:
        """Return it with those settings changed that are given."""
        given: dict[str, Any] = {"search": search, "max_order": max_order, "alpha": alpha}
        return replace(self, **{name: value for name, value in given.items() if value is not None})


@dataclass(frozen=True, kw_only=True)
class Moments(Marginals):
    """Measure once, search for free, with numbers among the columns.

    Numbers go into bins at private quantiles, as many as the noise bears. What is released are second moments of
    functions of one column each: contrasts of bins and categories. Dependence between numbers is expected to be
    smooth, and what coarse bins leave unexplained is estimated and taken away.

    Parameters
    ----------
    bins
        Bins of numeric columns for which none were declared. By default chosen from public facts.
    """

    bins: int | None = None

    rounds: ClassVar[int] = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bins is not None and (type(self.bins) is not int or not 2 <= self.bins <= MOST_BINS):
            raise SettingError(f"bins: a whole number from 2 to {MOST_BINS}")

    @property
    def name(self) -> str:
        """The method's name."""
        return "moments"

    def next(self, seen: Sieved, domain: Domain, currency: Currency, amount: Fraction) -> Counts | Interactions | None:
        """Return what is measured next, for an amount of the budget."""
        return plan_next(seen, domain, currency, amount, triples=0, noise=even_noise(domain))


MEASURING: dict[str, type[Marginals]] = {"marginals": Marginals, "moments": Moments}
"""Methods whose releases can be searched again."""


def search(
    measurements: tuple[Measurement, ...],
    privacy: Privacy,
    domain: Domain,
    recipe: Marginals,
    *,
    knowledge: Knowledge = NOTHING_KNOWN,
    earlier: Sieved | None = None,
    progress: Progress | None = None,
) -> Discovery:
    """Search what was released: post-processing, which costs nothing and sees no rows."""
    names = tuple(domain)
    graph, sure = Graph(names), dict[Pair, Confidence]()
    currency = Currency.PURE if privacy.delta == 0 else Currency.GDP
    planned = plan(domain, knowledge, currency)
    measured = {s for m in measurements[:1] for s in m.statistic.sets}
    if planned is not None and not measured.issuperset(planned.sets):
        raise ReleaseError("the release lacks tables that the search needs")
    if measurements and recipe.search == "pc":
        oracle = _oracle(measurements, domain, recipe)
        graph = pc(names, oracle, knowledge=knowledge, max_order=recipe.max_order, progress=progress)
    elif measurements:
        earlier = earlier or looked_at(measurements, domain, recipe, knowledge)
        oracle = _oracle(measurements, domain, recipe)
        if recipe.search == "greedy":
            graph = _greedy(oracle, domain, knowledge, recipe.max_order, earlier)
        else:
            graph, sure = _hybrid(oracle, domain, knowledge, recipe.max_order, earlier)
    settings = {"search": recipe.search, "max_order": recipe.max_order, "alpha": recipe.alpha}
    return Discovery(graph, privacy, recipe.name, settings, domain, knowledge, measurements, sure)


def search_again(
    found: Discovery, *, max_order: int | None = None, alpha: float | None = None, search_by: SearchName | None = None
) -> Discovery:
    """Search a release again with other settings: no data, no budget."""
    if found.method not in MEASURING:
        raise SettingError(f"method: a release by `{found.method}` holds a graph and no tables that could be searched")
    recipe = MEASURING[found.method](
        search=found.settings["search"],
        alpha=float(found.settings["alpha"]),
        max_order=int(found.settings["max_order"]),
    )
    recipe = recipe.changed(search=search_by, max_order=max_order, alpha=alpha)
    return search(found.measurements, found.privacy, found.domain, recipe, knowledge=found.knowledge)


def seeded() -> np.random.Generator:
    """Return a generator for searches and simulated nulls: the same release gives the same graph. No privacy noise."""
    return np.random.default_rng(0)


def look(
    measurements: Sequence[Measurement],
    domain: Domain,
    recipe: Marginals,
    knowledge: Knowledge,
    earlier: Sieved | None = None,
) -> Sieved:
    """Return the pairs that all releases so far leave open: decides what is measured next."""
    oracle = _oracle(measurements, domain, recipe.changed(alpha=Marginals.alpha))
    bar = _bar(domain, keep=0.0, drop=FIRST_DROP)
    return sieve(tuple(domain), oracle, bar, knowledge=knowledge, max_order=1, earlier=earlier)


def looked_at(
    measurements: Sequence[Measurement], domain: Domain, recipe: Marginals, knowledge: Knowledge
) -> Sieved | None:
    """Return what was seen before the last release, one look after the other."""
    earlier = None
    for count in range(1, max(len(measurements), 2)):
        earlier = look(measurements[:count], domain, recipe, knowledge, earlier)
    return earlier


def _oracle(measurements: Sequence[Measurement], domain: Domain, recipe: Marginals) -> Released:
    parts, rng = components(measurements, domain), seeded()
    if isinstance(recipe, Moments):
        return Curved(parts, bins=bins_of(domain), alpha=recipe.alpha, rng=rng)
    return Released(parts, alpha=recipe.alpha, rng=rng)


def _bar(domain: Domain, *, keep: float, drop: float) -> Bar:
    return Bar(keep=keep, drop=drop, bridge=drop - BRIDGE * math.log1p(EFFECT * domain.rows))


def _hybrid(
    oracle: Released, domain: Domain, knowledge: Knowledge, max_order: int, earlier: Sieved | None
) -> tuple[Graph, dict[Pair, Confidence]]:
    """Decide pairs by evidence, and directions by the best fit to all triples."""
    names = tuple(domain)
    bar = _last_bar(domain)
    found = sieve(names, oracle, bar, knowledge=knowledge, max_order=max_order, earlier=earlier)
    found = replace(found, pairs=break_circles(found.pairs, knowledge))
    around = triples(found, oracle, max_order=max_order)
    questions = list(dict.fromkeys(q for t in around for q in t.questions))
    weights = triple_weights(around, dict(zip(questions, oracle.weigh(questions), strict=True)))
    graph = direct(names, found.pairs, weights, knowledge, seeded(), unasked=found.unasked)

    def again(evidence: Mapping[Question, float]) -> Graph:
        weighed = triple_weights(around, evidence)
        return direct(names, found.pairs, weighed, knowledge, seeded(), unasked=found.unasked, restarts=0)

    sure = confidences(graph, found, bar, around, oracle, again, seeded())
    return graph, {pair: c for pair, c in sure.items() if not knowledge.requires(*pair)}


def _greedy(oracle: Released, domain: Domain, knowledge: Knowledge, max_order: int, earlier: Sieved | None) -> Graph:
    """Climb by scores among the pairs that look dependent and were not dropped at the first look."""
    bar = _last_bar(domain)
    found = sieve(tuple(domain), oracle, bar, knowledge=knowledge, max_order=0, earlier=earlier)
    score = evidence_score(oracle, found.pairs, bar.keep, knowledge)
    rng = seeded()
    dag = greedy(tuple(domain), score, rng=rng, knowledge=knowledge, max_parents=max_order + 1, restarts=CLIMBS)
    return equivalents(dag, knowledge)


def _last_bar(domain: Domain) -> Bar:
    """Return what evidence decides in the end: more is needed where more columns make a neighbour rarer."""
    rare = max(len(domain.columns) - 1 - NEIGHBOURS, 1.0) / NEIGHBOURS
    return _bar(domain, keep=max(math.log(rare), LEAST), drop=DROP)
