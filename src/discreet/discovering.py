"""The main job: from a table, a public domain and a budget to a graph with its privacy statement."""

from __future__ import annotations

from discreet.discovery import Discovery, Measurement, Privacy
from discreet.domain import Domain
from discreet.errors import BudgetError
from discreet.knowledge import NOTHING_KNOWN, Knowledge
from discreet.mechanisms.additive import additive_for
from discreet.oracles.released import check_alpha
from discreet.privacy.accounting import Currency, check_guarantee
from discreet.privacy.budget import Budget
from discreet.recipes import Marginals, plan, recipe_for, search
from discreet.room import Room
from discreet.search.pc import Progress
from discreet.settling import settle
from discreet.tables.load import load

DELTA = 1e-6
"""The delta that is promised where none is named."""


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
    recipe = recipe_for(method, domain.widest())
    check_guarantee(epsilon, delta, domain.rows)
    plan(domain.widest(), knowledge)
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
    """Find a causal graph with all that is left of a room's budget.

    If bins wait for their quantiles, these are bought first, for a tenth of it.
    """
    statistic = plan(room.domain.widest(), knowledge)
    budget = room.budget
    if budget.exhausted:
        raise BudgetError("the budget is already spent; nothing was asked")
    measurements: tuple[Measurement, ...] = ()
    private = True
    if statistic is not None:
        check_alpha(recipe.alpha, "laplace" if budget.currency is Currency.PURE else "gaussian")
        room, _ = settle(room, progress=progress)
        mechanism = additive_for(budget.currency, budget.left, statistic.sensitivity(room.domain))
        _tell(progress, f"measuring {statistic.name} with {mechanism.name}")
        release = room.release(statistic, mechanism)
        measurements = (Measurement.of(release, room.domain),)
        private = release.private
    privacy = Privacy.of(budget, room.domain, private=private)
    return search(measurements, privacy, room.domain, recipe, knowledge=knowledge, progress=progress)


def _tell(progress: Progress | None, words: str) -> None:
    if progress is not None:
        progress(words)
