"""Recipes: which questions a method asks, and what it makes of the answers. No rows come here."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.discovery import Discovery, Measurement, Privacy
from discreet.domain import Domain
from discreet.errors import ReleaseError, SettingError
from discreet.graph import Graph
from discreet.knowledge import NOTHING_KNOWN, Knowledge
from discreet.mechanisms.additive import DiscreteLaplace
from discreet.oracles.pairs import Law, PairTables
from discreet.oracles.released import ReleasedPairs, check_alpha
from discreet.search.pc import Progress, pc
from discreet.statistics.counts import Counts, all_pairs

METHODS = ("auto", "marginals")

MAX_DIRECTIONS = 400
"""Degrees of freedom of the largest pair table (21 by 21 levels): tests take time and memory with its square."""


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
        check_alpha(self.alpha, "gaussian")
        if self.max_order not in (0, 1):
            raise SettingError("max-order: 0 or 1; the method `marginals` measures pair tables only")

    @property
    def name(self) -> str:
        """The method's name."""
        return "marginals"


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
    planned = plan(domain, knowledge)
    measured = {s for m in measurements for s in m.sets}
    if planned is not None and not measured.issuperset(planned.sets):
        raise ReleaseError("the release lacks tables that the search needs")
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
    for a, b in pairs:
        if (domain.size(a) - 1) * (domain.size(b) - 1) > MAX_DIRECTIONS:
            raise SettingError(
                f"columns {a!r} and {b!r} have {domain.size(a)} and {domain.size(b)} levels, too many for one table: "
                "declare fewer categories or bins"
            )
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
