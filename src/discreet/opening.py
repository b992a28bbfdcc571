"""How a method that asks begins: what it needs is checked, bins are settled, single columns are counted."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import combinations
from typing import Any

from discreet.arrays import IntArray
from discreet.criteria import MAX_CELLS, Criterion
from discreet.discovery import Discovery, Privacy
from discreet.doubts import drowned
from discreet.errors import BudgetError, DoubtWarning, SettingError
from discreet.graph import Graph
from discreet.knowledge import Knowledge
from discreet.mechanisms.additive import additive_for
from discreet.methods import Asking
from discreet.planning import SETTLING
from discreet.privacy.accounting import MAX_EPSILON, Currency, limit_of
from discreet.room import Room
from discreet.settling import settle
from discreet.statistics.counts import Counts
from discreet.statistics.dependence import MAX_ROWS, STEPS

SINGLES = Fraction(1, 20)
"""Share of what is left of the budget that single columns are counted with; they tell how far chance moves a pair."""

DOUBT = 2.0
"""So many standard deviations of its noise are added to every count: where noise is large, levels are held for even."""

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Opened:
    """A room that may be asked, what independence means in it, and what is publicly known."""

    room: Room
    test: Criterion
    recipe: Asking
    knowledge: Knowledge

    def discovery(self, graph: Graph, counted: dict[str, Any]) -> Discovery:
        """Return what is handed out, with what was counted on the way."""
        settings = {f.name: getattr(self.recipe, f.name) for f in fields(self.recipe)} | counted
        privacy = Privacy.of(self.room.budget, self.room.domain, private=self.room.private)
        return Discovery(graph, privacy, self.recipe.name, settings, self.room.domain, self.knowledge, ())


def check_room(room: Room, knowledge: Knowledge) -> None:
    """Refuse what cannot be asked. Nothing is spent."""
    domain, budget = room.domain.widest(), room.budget
    if budget.currency is Currency.GDP:
        raise SettingError("budget: this method's costs add up in zCDP; make the budget with currency=Currency.ZCDP")
    knowledge.check(domain)
    domain.check_graph()
    if domain.rows > MAX_ROWS:
        raise SettingError(f"rows: methods that ask take at most {MAX_ROWS:,}")
    for pair in combinations(sorted(domain), 2):
        if math.prod(domain.shape(pair)) > MAX_CELLS:
            raise SettingError(f"columns {pair[0]!r}, {pair[1]!r}: together more than {MAX_CELLS:,} combinations")
    if budget.exhausted:
        raise BudgetError("the budget is already spent; nothing was asked")


def warn_if_drowned(room: Room, deviation: float) -> None:
    """Warn if noise of so many steps leaves little to be seen. Nothing is spent."""
    rows = room.domain.rows
    step = 2 / (rows * STEPS)  # of the total variation of two binary columns
    doubt = drowned(rows, room.budget.epsilon, deviation * step)
    if doubt is not None:
        warnings.warn(doubt, DoubtWarning, stacklevel=4)


def share_left(room: Room, recipe: Asking) -> Fraction:
    """Return the share of the budget that opening leaves."""
    settled = 1 - SETTLING if room.domain.unsettled else Fraction(1)
    return settled * (1 - SINGLES) if _needs_singles(recipe) else settled


def open_up(room: Room, recipe: Asking, knowledge: Knowledge, progress: Tell | None) -> Opened:
    """Settle bins, and count single columns where the test's threshold depends on them."""
    room, _ = settle(room, progress=progress)
    if not _needs_singles(recipe):
        return Opened(room, Criterion(recipe.test, recipe.alpha), recipe, knowledge)
    statistic = Counts(tuple((column,) for column in room.domain))
    budget = room.budget
    mechanism = additive_for(budget.currency, budget.left * SINGLES, statistic.sensitivity(room.domain))
    if progress is not None:
        progress(f"counting {len(statistic.sets)} single columns with {mechanism.name}")
    tables = statistic.split(room.release(statistic, mechanism).values, room.domain)
    shares = {c: _shares(t, math.sqrt(mechanism.variance)) for c, t in zip(room.domain, tables, strict=True)}
    return Opened(room, Criterion(recipe.test, recipe.alpha, shares), recipe, knowledge)


def _needs_singles(recipe: Asking) -> bool:
    return recipe.test != "information"


def _shares(counted: IntArray, noise: float) -> tuple[float, ...]:
    """Return the share of each level, nearer to even ones the more noise there is."""
    raised = [max(float(number), 0.0) + DOUBT * noise for number in counted.tolist()]
    return tuple(number / math.fsum(raised) for number in raised)


def refuse_too_small(room: Room, price: Fraction, share: Fraction) -> None:
    """Refuse a budget of which a share does not cover the price of one round, and say which would."""
    budget = room.budget
    if price <= budget.left * share:
        return
    wanted = price / share + (budget.limit - budget.left)
    low, high = budget.epsilon, 2 * budget.epsilon
    while limit_of(budget.currency, high, budget.delta, budget.group) < wanted:
        low, high = high, 2 * high
        if high > MAX_EPSILON:
            raise BudgetError("round-epsilon: one round would cost more than any budget; nothing was asked")
    for _ in range(40):
        middle = (low + high) / 2
        enough = limit_of(budget.currency, middle, budget.delta, budget.group) >= wanted
        low, high = (low, middle) if enough else (middle, high)
    raise BudgetError(
        f"the budget does not cover one round; nothing was asked. With this round it takes an epsilon of {high:.4g} "
        f"(delta {budget.delta:g}), or a smaller --round-epsilon"
    )
