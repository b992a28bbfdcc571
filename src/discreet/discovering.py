"""The main job: from a table, a public domain and a budget to a graph with its privacy statement."""

from __future__ import annotations

import warnings
from fractions import Fraction

from discreet.asking import ask_in
from discreet.binning import bins_for, in_bins
from discreet.discovery import Discovery, Privacy
from discreet.domain import Domain
from discreet.doubts import doubts, warn_of_weak
from discreet.dropping import drop_in
from discreet.errors import BudgetError, DoubtWarning, SettingError
from discreet.keeping import keep_in
from discreet.knowledge import NOTHING_KNOWN, Knowledge
from discreet.ledger.accounts import Account
from discreet.measurement import Measurement
from discreet.mechanisms.additive import additive_for
from discreet.methods import EmPC, Flipped, Pcd, Recipe, SvtPC, budget_for, looks_at_rows, recipe_for
from discreet.oracles.released import check_alpha
from discreet.pcd import pcd_in
from discreet.planning import plan
from discreet.privacy.accounting import Currency, check_guarantee
from discreet.privacy.budget import Budget
from discreet.recipes import Marginals, Moments, look, search
from discreet.recording import Recorder, asked, once_more
from discreet.release import Release
from discreet.room import Room
from discreet.search.pc import Progress
from discreet.search.sieve import Sieved
from discreet.settling import settle
from discreet.statistics.counts import Counts
from discreet.statistics.interactions import Interactions
from discreet.tables.load import Reading, load

DELTA = 1e-6
"""The delta that is promised where none is named."""


@once_more
def discover(
    data: object,
    *,
    domain: Domain,
    epsilon: float,
    delta: float = DELTA,
    method: str | Recipe = "auto",
    knowledge: Knowledge = NOTHING_KNOWN,
    account: Account | str | None = None,
    engine_pull: bool = False,
    progress: Progress | None = None,
) -> Discovery:
    """Find a causal graph of a table under differential privacy.

    Parameters
    ----------
    data
        A path (CSV, TSV, Parquet, DuckDB), a table in memory (pandas, Polars, Arrow, NumPy), or one in an engine: a URL
        (``postgresql://``, ``spark://``) or an expression of Ibis.
    domain
        What is public about the table. Never read from the data.
    epsilon, delta
        The total promise. ``delta=0`` means pure epsilon, with Laplace noise.
    method
        ``"auto"``, a method's name, or a recipe with settings of its own.
    knowledge
        Required and forbidden arrows, and tiers. Public.
    account
        Where the run is recorded, and what limits it: an ``Account``, or a data set's name in the user's own ledger.
        Without one, what else was asked of these rows is not counted.
    engine_pull
        Load the rows of a server's table as codes, for what looks at rows; else they stay there, and are counted there.
    progress
        Called with a line of words at each step. They depend on public facts and released values only.

    Guarantee
    ---------
    The returned object is (epsilon, delta)-differentially private with respect to replacing any one row; or, if the
    domain names people, any one person with all their rows.

    Warns
    -----
    DoubtWarning
        If the budget, the number of rows and the domain can hardly show anything. Nothing was spent yet.

    Raises
    ------
    InputError
        If something handed in does not fit. Nothing was spent.
    BudgetError
        If the account's limit does not allow the run. Nothing was spent, and no rows were read.
    LedgerError
        If the ledger cannot be read or written. What was reserved before that stays spent.
    """
    if not isinstance(domain, Domain):
        raise SettingError("domain: a Domain; Domain.from_yaml(path) reads a file")
    recipe = recipe_for(method, domain.widest())
    check_guarantee(epsilon, delta, domain.rows)
    warn_of_weak(epsilon)
    knowledge.check(domain)
    public = {"domain": domain.to_dict(), "knowledge": knowledge.to_dict(), "settings": vars(recipe)}
    record = Recorder(account, lambda: asked("discover", recipe.name, epsilon, delta, public, domain.protects))
    if (stored := record.stored(Discovery, progress)) is not None:
        return stored
    group = domain.group
    budget = record.budget(lambda currency, reserve: budget_for(recipe, epsilon, delta, currency, reserve, group=group))
    domain = as_asked(domain, recipe, budget, knowledge)
    _tell(progress, f"reading and encoding the table, for the method {recipe.name}")
    reading = Reading(pull=engine_pull, progress=progress, doubt=record.doubt)
    table = load(data, domain, seen=record.seen, rows=looks_at_rows(recipe), reading=reading)
    room = Room(table, domain, budget)
    return record.finished(discover_in(room, recipe, knowledge=knowledge, progress=progress))


def as_asked(domain: Domain, recipe: Recipe, budget: Budget, knowledge: Knowledge = NOTHING_KNOWN) -> Domain:
    """Return the domain that rows are encoded by for a method; refuses what cannot be measured. No rows are needed."""
    if isinstance(recipe, Moments):
        bins = recipe.bins or bins_for(domain, budget.currency, budget.limit, recipe.rounds, knowledge)
        domain = in_bins(domain, bins)
    if isinstance(recipe, Marginals):
        plan(domain.widest(), knowledge, budget.currency)
    return domain


def discover_in(
    room: Room,
    recipe: Recipe,
    *,
    knowledge: Knowledge = NOTHING_KNOWN,
    progress: Progress | None = None,
) -> Discovery:
    """Find a causal graph with all that is left of a room's budget.

    If bins wait for their quantiles, these are bought first, for a tenth of it.
    """
    if isinstance(recipe, Marginals):
        return _measure_in(room, recipe, knowledge, progress)
    if isinstance(recipe, Flipped):
        return keep_in(room, recipe, knowledge=knowledge, progress=progress)
    if isinstance(recipe, EmPC):
        return drop_in(room, recipe, knowledge=knowledge, progress=progress)
    if isinstance(recipe, Pcd):
        return pcd_in(room, recipe, knowledge=knowledge, progress=progress)
    if isinstance(recipe, SvtPC):
        return ask_in(room, recipe, knowledge=knowledge, progress=progress)
    raise SettingError(f"method: nothing runs {recipe.name!r}")


def _measure_in(room: Room, recipe: Marginals, knowledge: Knowledge, progress: Progress | None) -> Discovery:
    """Measure tables once, then search them for free."""
    budget = room.budget
    statistic = plan(room.domain.widest(), knowledge, budget.currency)
    if budget.exhausted:
        raise BudgetError("the budget is already spent; nothing was asked")
    if statistic is not None:
        public = (room.domain.widest(), statistic, budget.epsilon, budget.delta, budget.currency)
        for doubt in doubts(*public, rounds=recipe.rounds):
            warnings.warn(doubt, DoubtWarning, stacklevel=2)
    check_alpha(recipe.alpha, "laplace" if budget.currency is Currency.PURE else "gaussian")
    measurements: list[Measurement] = []
    earlier, private = None, True
    if statistic is not None:
        room, _ = settle(room, progress=progress)
    domain = room.domain
    if statistic is not None:
        first = _measure(room, statistic, budget.left / recipe.rounds, progress)
        measurements.append(Measurement.of(first, domain))
        private = first.private
        for last in range(recipe.rounds - 1, 0, -1):
            seen = look(measurements, domain, recipe, knowledge, earlier)
            further = _further(room, seen, recipe, budget.left / last, progress)
            earlier = earlier or seen if further is None else seen
            if further is None:
                break
            measurements.append(further)
    privacy = Privacy.of(budget, domain, private=private)
    return search(tuple(measurements), privacy, domain, recipe, knowledge=knowledge, earlier=earlier, progress=progress)


def _further(
    room: Room, earlier: Sieved, recipe: Marginals, amount: Fraction, progress: Progress | None
) -> Measurement | None:
    """Release what the look before calls for; nothing if that would drown or be too large."""
    currency = room.budget.currency
    try:
        statistic = recipe.next(earlier, room.domain, currency, amount)
        if statistic is None:
            return None
        mechanism = additive_for(currency, amount, statistic.sensitivity(room.domain))
    except SettingError:  # from public facts and earlier releases; what they found still stands
        _tell(progress, "a further release would drown in noise or be too large: what was released is searched")
        return None
    _tell(progress, f"measuring {statistic.name} with {mechanism.name}")
    return Measurement.of(room.release(statistic, mechanism), room.domain)


def _measure(
    room: Room, statistic: Counts | Interactions, amount: Fraction, progress: Progress | None
) -> Release[Counts | Interactions]:
    """Release a statistic for an amount of the budget."""
    mechanism = additive_for(room.budget.currency, amount, statistic.sensitivity(room.domain))
    _tell(progress, f"measuring {statistic.name} with {mechanism.name}")
    return room.release(statistic, mechanism)


def _tell(progress: Progress | None, words: str) -> None:
    if progress is not None:
        progress(words)
