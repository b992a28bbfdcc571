"""The main job: from a table, a public domain and a budget to a graph with its privacy statement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from discreet.discovery import Discovery, Measurement, Privacy
from discreet.domain import Domain
from discreet.errors import BudgetError, SettingError
from discreet.graph import Graph
from discreet.knowledge import NOTHING_KNOWN, Knowledge
from discreet.mechanisms.additive import DiscreteLaplace, additive_for
from discreet.oracles.pairs import Law, PairTables
from discreet.oracles.released import ReleasedPairs
from discreet.privacy.accounting import check_guarantee
from discreet.privacy.budget import Budget
from discreet.room import Room
from discreet.search.pc import pc
from discreet.statistics.counts import Counts, all_pairs
from discreet.tables.load import load

Progress = Callable[[str], None]

DELTA = 1e-6
"""The delta that is promised where none is named."""

METHODS = ("auto", "marginals")


@dataclass(frozen=True, kw_only=True)
class Marginals:
    """Measure all pair tables once, then search for free.

    Parameters
    ----------
    alpha
        Level of the independence tests.
    max_order
        Largest conditioning set: 0 or 1, since only pair tables are measured. Dependence among three columns that no
        pair of them shows (x XOR y) is not seen.
    """

    alpha: float = 0.01
    max_order: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise SettingError("alpha: a number between 0 and 1")
        if self.max_order not in (0, 1):
            raise SettingError("max-order: 0 or 1; the method `marginals` measures pair tables only")

    @property
    def name(self) -> str:
        """The method's name."""
        return "marginals"


def discover(
    data: object,
    *,
    domain: Domain,
    epsilon: float,
    delta: float = DELTA,
    method: str | Marginals = "auto",
    knowledge: Knowledge = NOTHING_KNOWN,
    progress: Progress | None = None,
) -> Discovery:
    """Find a causal graph of a table under differential privacy.

    Parameters
    ----------
    data
        A path (CSV, TSV, Parquet, DuckDB) or a table in memory (pandas, Polars, Arrow, NumPy).
    domain
        What is public about the table. Never read from the data.
    epsilon, delta
        The total promise. ``delta=0`` means pure epsilon, with Laplace noise.
    method
        ``"auto"``, a method's name, or a recipe with settings of its own.
    knowledge
        Required and forbidden arrows, and tiers. Public.
    progress
        Called with a line of words at each step. They depend on public facts and released values only.

    Guarantee
    ---------
    The returned object is (epsilon, delta)-differentially private with respect to replacing any one row.

    Raises
    ------
    InputError
        If something handed in does not fit. Nothing was spent.
    """
    recipe = recipe_for(method, domain)
    check_guarantee(epsilon, delta, domain.rows)
    plan(domain, knowledge)
    budget = Budget(epsilon=epsilon, delta=delta)
    _tell(progress, "reading and encoding the table")
    room = Room(load(data, domain), domain, budget)
    return discover_in(room, recipe, knowledge=knowledge, progress=progress)


def discover_in(
    room: Room,
    recipe: Marginals,
    *,
    knowledge: Knowledge = NOTHING_KNOWN,
    progress: Progress | None = None,
) -> Discovery:
    """Find a causal graph with all that is left of a room's budget."""
    statistic = plan(room.domain, knowledge)
    budget = room.budget
    if budget.left <= 0:
        raise BudgetError("the budget is already spent; nothing was asked")
    measurements: tuple[Measurement, ...] = ()
    private = True
    if statistic is not None:
        mechanism = additive_for(budget.currency, budget.left, statistic.sensitivity(room.domain))
        _tell(progress, f"measuring {statistic.name} with {mechanism.name}")
        release = room.release(statistic, mechanism)
        measurements = (Measurement.of(release, room.domain),)
        private = release.private
    privacy = Privacy.of(budget, room.domain, private=private)
    return search(measurements, privacy, room.domain, recipe, knowledge=knowledge, progress=progress)


def search(
    measurements: tuple[Measurement, ...],
    privacy: Privacy,
    domain: Domain,
    recipe: Marginals,
    *,
    knowledge: Knowledge = NOTHING_KNOWN,
    progress: Progress | None = None,
) -> Discovery:
    """Search released tables: post-processing, which costs nothing and sees no rows."""
    names = tuple(domain)
    graph = Graph(names)
    if measurements:
        oracle = ReleasedPairs(pair_tables(measurements, domain), alpha=recipe.alpha, rng=np.random.default_rng(0))
        graph = pc(names, oracle, knowledge=knowledge, max_order=recipe.max_order, progress=progress)
    settings = {"alpha": recipe.alpha, "max_order": recipe.max_order}
    return Discovery(graph, privacy, recipe.name, settings, domain, knowledge, measurements)


def search_again(found: Discovery, *, max_order: int | None = None, alpha: float | None = None) -> Discovery:
    """Search a release again with other settings: no data, no budget."""
    recipe = Marginals(alpha=float(found.settings["alpha"]), max_order=int(found.settings["max_order"]))
    if max_order is not None:
        recipe = replace(recipe, max_order=max_order)
    if alpha is not None:
        recipe = replace(recipe, alpha=alpha)
    return search(found.measurements, found.privacy, found.domain, recipe, knowledge=found.knowledge)


def plan(domain: Domain, knowledge: Knowledge) -> Counts | None:
    """Return what will be asked: the tables of all pairs that may touch. Public facts only.

    None if knowledge leaves no pair to ask about.
    """
    knowledge.check(domain)
    if len(domain.columns) < 2:
        raise SettingError("domain: a causal graph takes at least two columns")
    pairs = tuple(pair for pair in all_pairs(tuple(domain)) if knowledge.may_touch(*pair))
    if not pairs:
        return None
    statistic = Counts(pairs)
    statistic.sensitivity(domain)  # refuses what cannot be counted before anything is read
    return statistic


def recipe_for(method: str | Marginals, domain: Domain) -> Marginals:
    """Return the recipe for a method's name."""
    if isinstance(method, Marginals):
        return method
    if method not in METHODS:
        raise SettingError(f"method: {method!r} is not one of {', '.join(METHODS)}")
    for column in domain:
        if not domain[column].tabulable:
            raise SettingError(f"column {column!r} is numeric: declare `bins` so that it can be counted")
    return Marginals()


def pair_tables(measurements: tuple[Measurement, ...], domain: Domain) -> PairTables:
    """Collect the noisy pair tables of a release."""
    measured = measurements[0]
    tables = {(a, b): t.astype(np.float64) for (a, b), t in zip(measured.sets, measured.tables, strict=True)}
    law: Law = "laplace" if isinstance(measured.mechanism, DiscreteLaplace) else "gaussian"
    sizes = {column: domain.size(column) for column in domain}
    return PairTables(domain.rows, sizes, tables, measured.mechanism.variance, law)


def _tell(progress: Progress | None, words: str) -> None:
    if progress is not None:
        progress(words)
