"""What methods that ask test by test share: their settings, and how they begin.

First what they need is checked, then bins are settled, and single columns are counted where a test needs them.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import combinations
from typing import Any

from discreet.arrays import IntArray
from discreet.bisection import bisect, bracket
from discreet.domain.knowledge import Knowledge
from discreet.errors import BudgetError, DoubtWarning, SettingError
from discreet.methods.ci_tests import CI_TESTS, MAX_CELLS, IndependenceTest
from discreet.methods.method import refuse_spent
from discreet.methods.power import drowning_words
from discreet.methods.quantile_bins import settle
from discreet.privacy.accounting import MAX_EPSILON, Currency, limit_of
from discreet.privacy.mechanisms.additive import additive_for
from discreet.privacy.statement import Privacy
from discreet.progress import MEASURE, Progress, tell
from discreet.release.discovery import Discovery
from discreet.release.selection import SETTLING
from discreet.release.settings import Settings
from discreet.room import Room
from discreet.search.graph import Graph
from discreet.statistics.counts import Counts
from discreet.statistics.dependence import MAX_ROWS, STEPS

SINGLES_SHARE = Fraction(1, 20)
"""Share of what is left of the budget that single columns are counted with; they tell how far chance moves a pair."""

RAISED_BY = 2.0
"""So many standard deviations of its noise are added to every count: where noise is large, levels are held for even."""


@dataclass(frozen=True, kw_only=True)
class Asking(Settings):
    """What methods that ask the room about tests have in common.

    Parameters
    ----------
    test
        What independence means: ``"total-variation"`` sees any dependence, ``"kendall"`` and ``"spearman"`` what
        rises or falls together, ``"information"`` is the G-test's.
    alpha
        Share of independent pairs that would be called dependent if there were no noise.
    max_order
        Largest conditioning set.
    """

    test: str = "total-variation"
    alpha: float = 0.01
    max_order: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.alpha < 1:
            raise SettingError("alpha: a number between 0 and 1")
        if self.max_order < 0:
            raise SettingError("max-order: a whole number from 0")

    @property
    def choices(self) -> Mapping[str, Sequence[str]]:
        """What independence may mean."""
        return {"test": tuple(CI_TESTS)}


@dataclass(frozen=True, kw_only=True)
class InRounds(Asking):
    """A method that pays for every edge it removes.

    Parameters
    ----------
    round_epsilon
        What a round may cost, as a pure epsilon, to whom the promise is made. By default the budget covers as many
        rounds as there are pairs.
    """

    round_epsilon: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.round_epsilon is not None and not 0 < self.round_epsilon < float("inf"):
            raise SettingError("round-epsilon: a finite number above 0")


@dataclass(frozen=True)
class Prepared:
    """A room that may be asked, what independence means in it, and what is publicly known."""

    room: Room
    test: IndependenceTest
    settings: Asking
    knowledge: Knowledge

    def discovery(self, graph: Graph, counted: dict[str, Any]) -> Discovery:
        """Return what is handed out, with what was counted on the way."""
        settings = {f.name: getattr(self.settings, f.name) for f in fields(self.settings)} | counted
        privacy = Privacy.of(self.room.budget, self.room.domain, private=self.room.private)
        return Discovery(graph, privacy, self.settings.name, settings, self.room.domain, self.knowledge, ())


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
    refuse_spent(budget)


def warn_if_drowned(room: Room, deviation: float) -> None:
    """Warn if noise of so many steps leaves little to be seen. Nothing is spent."""
    rows = room.domain.rows
    step = 2 / (rows * STEPS)  # of the total variation of two binary columns
    doubt = drowning_words(rows, room.budget.epsilon, deviation * step)
    if doubt is not None:
        warnings.warn(doubt, DoubtWarning, stacklevel=4)


def share_after_preparing(room: Room, settings: Asking) -> Fraction:
    """Return the share of the budget that preparing leaves."""
    settled = 1 - SETTLING if room.domain.unsettled else Fraction(1)
    return settled * (1 - SINGLES_SHARE) if _needs_singles(settings) else settled


def prepare(room: Room, settings: Asking, knowledge: Knowledge, progress: Progress | None) -> Prepared:
    """Settle bins, and count single columns where the test's threshold depends on them."""
    room, _ = settle(room, progress=progress)
    if not _needs_singles(settings):
        return Prepared(room, IndependenceTest(settings.test, settings.alpha), settings, knowledge)
    statistic = Counts(tuple((column,) for column in room.domain))
    budget = room.budget
    mechanism = additive_for(budget.currency, budget.left * SINGLES_SHARE, statistic.sensitivity(room.domain))
    tell(progress, f"counting {len(statistic.sets)} single columns", MEASURE.at(1, 2))
    tables = statistic.split(room.release(statistic, mechanism).values, room.domain)
    shares = {c: _shares(t, math.sqrt(mechanism.variance)) for c, t in zip(room.domain, tables, strict=True)}
    return Prepared(room, IndependenceTest(settings.test, settings.alpha, shares), settings, knowledge)


def _needs_singles(settings: Asking) -> bool:
    return CI_TESTS[settings.test].needs_shares


def _shares(counted: IntArray, noise: float) -> tuple[float, ...]:
    """Return the share of each level, nearer to even ones the more noise there is."""
    raised = [max(float(number), 0.0) + RAISED_BY * noise for number in counted.tolist()]
    return tuple(number / math.fsum(raised) for number in raised)


def refuse_too_small(room: Room, price: Fraction, share: Fraction) -> None:
    """Refuse a budget of which a share does not cover the price of one round, and say which would."""
    budget = room.budget
    if price <= budget.left * share:
        return
    wanted = price / share + (budget.limit - budget.left)

    def enough(epsilon: float) -> bool:
        return limit_of(budget.currency, epsilon, budget.delta, budget.group) >= wanted

    around = bracket(enough, budget.epsilon, 2 * budget.epsilon, most=MAX_EPSILON)
    if around is None:
        raise BudgetError("round-epsilon: one round would cost more than any budget; nothing was asked")
    _, high = bisect(enough, *around, steps=40)
    raise BudgetError(
        f"the budget does not cover one round; nothing was asked. With this round it takes an epsilon of {high:.4g} "
        f"(delta {budget.delta:g}), or a smaller --round-epsilon"
    )
