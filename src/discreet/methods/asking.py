"""What methods that ask test by test share: their settings, what independence means, and how they begin.

First what they need is checked, bins are settled, and single columns are counted.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any

from scipy.special import chdtri, gammaln, ndtri

from discreet.arrays import IntArray
from discreet.bisection import bisect, bracket
from discreet.domain import Domain
from discreet.domain.knowledge import Knowledge
from discreet.errors import BudgetError, DoubtWarning, SettingError
from discreet.methods.method import refuse_spent
from discreet.methods.power import drowned
from discreet.methods.quantile_bins import settle
from discreet.privacy.accounting import MAX_EPSILON, Currency, limit_of
from discreet.privacy.mechanisms.additive import additive_for
from discreet.privacy.statement import Privacy
from discreet.progress import Progress, tell
from discreet.release.discovery import Discovery
from discreet.release.selection import SETTLING
from discreet.release.settings import Settings
from discreet.room import Room
from discreet.search.graph import Graph
from discreet.statistics.counts import Counts
from discreet.statistics.dependence import MAX_ROWS, STEPS, Dependence
from discreet.statistics.information import ConditionalInformation, ConditionalTotalVariation
from discreet.statistics.margins import Margin
from discreet.statistics.ranks import StratifiedKendallDet, StratifiedSpearman

CI_TESTS: dict[str, type[Dependence]] = {
    "total-variation": ConditionalTotalVariation,
    "kendall": StratifiedKendallDet,
    "spearman": StratifiedSpearman,
    "information": ConditionalInformation,
}
"""Tests of conditional independence that may be asked of a room, by name. A new one is a statistic, and a line here."""

MAX_CELLS = 1 << 20
"""Cells of the largest table that is counted for one question."""


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
class Criterion:
    """When two columns count as independent: a statistic, and the level that its threshold has without noise.

    Parameters
    ----------
    name
        ``"total-variation"`` sees any dependence; ``"kendall"`` and ``"spearman"`` see what rises or falls together;
        ``"information"`` is the G-test's.
    alpha
        Share of independent pairs that would be called dependent if there were no noise.
    shares
        How often each level of each column occurs, about, from a release; they tell how far chance moves a pair. Where
        there are none, chance is taken to move it as far as it can.
    """

    name: str
    alpha: float
    shares: Mapping[str, tuple[float, ...]] | None = None

    def __post_init__(self) -> None:
        if self.name not in CI_TESTS:
            raise SettingError(f"test: one of {', '.join(CI_TESTS)}")
        if not 0 < self.alpha < 1:
            raise SettingError("alpha: a number between 0 and 1")

    def statistic(self, x: str, y: str, given: frozenset[str]) -> Dependence:
        """Return the statistic of a question; the order of the two columns does not count."""
        a, b = sorted((x, y))
        return CI_TESTS[self.name](a, b, tuple(sorted(given)))

    def threshold(self, statistic: Dependence, domain: Domain) -> int:
        """Return the largest value, in steps, at which a pair counts as independent.

        Information is half the likelihood ratio over the rows, whose law is about the chi-square's if nothing depends.
        Total variation and ranks are compared with the quantile of that law or of the normal one, times the spread
        that chance gives them at most.
        """
        unit = statistic.unit(domain)
        levels = domain.size(statistic.x), domain.size(statistic.y)
        if not unit or 1 in levels:
            return 0
        strata = math.prod(domain.shape(statistic.given))
        freedom = (levels[0] - 1) * (levels[1] - 1) * strata
        if self.name == "information":
            value = _quantile(freedom, self.alpha) / (2 * domain.rows)
        elif self.name == "total-variation":
            mean = _mean_root(freedom)
            least = min(mean, math.sqrt(2 / math.pi) * self._spread(statistic, levels, _roots, strata))
            value = math.sqrt(_quantile(freedom, self.alpha) / domain.rows) / 2 * least / mean
        else:
            value = _two_sided(self.alpha) * math.sqrt(self._spread(statistic, levels, _ties, 1))
        return math.floor(value / unit)

    def _spread(self, statistic: Dependence, levels: tuple[int, int], of: Spread, strata: int) -> float:
        """Return a bound on how far chance moves a pair, from how far each of its columns varies.

        With nothing given it is the product. Within strata a column varies less on average, and the other at most as
        if its levels were even; chance in many strata adds up to the root of their number.
        """
        even = [of((1 / k,) * k) for k in levels]
        x, y = even
        if self.shares is not None:
            x, y = of(self.shares[statistic.x]), of(self.shares[statistic.y])
        return math.sqrt(strata) * min(x * even[1], even[0] * y) if statistic.given else x * y

    def countable(self, x: str, y: str, given: Iterable[str], domain: Domain) -> bool:
        """Whether the table that a question takes is small enough to be counted."""
        return math.prod(domain.shape((x, y, *sorted(given)))) <= MAX_CELLS

    def margin(self, x: str, y: str, sets: Iterable[frozenset[str]], domain: Domain, slack: int = 0) -> Margin:
        """Return how far a pair stays clear of independence whatever of some sets is given.

        ``slack`` raises all thresholds, in steps, to leave room for noise.
        """
        statistics = tuple(self.statistic(x, y, given) for given in sets)
        return Margin(statistics, tuple(self.threshold(s, domain) + slack for s in statistics))


Spread = Callable[[tuple[float, ...]], float]


@lru_cache(maxsize=4096)
def _roots(shares: tuple[float, ...]) -> float:
    """Return the sum of the standard deviations of all levels' indicators."""
    return math.fsum(math.sqrt(p * (1 - p)) for p in shares)


@lru_cache(maxsize=4096)
def _ties(shares: tuple[float, ...]) -> float:
    """Return the variance of ranks, as a share of what it is without ties."""
    return 1 - math.fsum(p**3 for p in shares)


@lru_cache(maxsize=4096)
def _quantile(freedom: int, alpha: float) -> float:
    return float(chdtri(freedom, alpha))


@lru_cache(maxsize=4096)
def _mean_root(freedom: int) -> float:
    """Return the mean of the root of a chi-square variable."""
    return math.sqrt(2) * math.exp(gammaln((freedom + 1) / 2) - gammaln(freedom / 2))


@lru_cache(maxsize=4096)
def _two_sided(alpha: float) -> float:
    return -float(ndtri(alpha / 2))


SINGLES = Fraction(1, 20)
"""Share of what is left of the budget that single columns are counted with; they tell how far chance moves a pair."""

DOUBT = 2.0
"""So many standard deviations of its noise are added to every count: where noise is large, levels are held for even."""


@dataclass(frozen=True)
class Opened:
    """A room that may be asked, what independence means in it, and what is publicly known."""

    room: Room
    test: Criterion
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
    doubt = drowned(rows, room.budget.epsilon, deviation * step)
    if doubt is not None:
        warnings.warn(doubt, DoubtWarning, stacklevel=4)


def share_left(room: Room, settings: Asking) -> Fraction:
    """Return the share of the budget that opening leaves."""
    settled = 1 - SETTLING if room.domain.unsettled else Fraction(1)
    return settled * (1 - SINGLES) if _needs_singles(settings) else settled


def open_up(room: Room, settings: Asking, knowledge: Knowledge, progress: Progress | None) -> Opened:
    """Settle bins, and count single columns where the test's threshold depends on them."""
    room, _ = settle(room, progress=progress)
    if not _needs_singles(settings):
        return Opened(room, Criterion(settings.test, settings.alpha), settings, knowledge)
    statistic = Counts(tuple((column,) for column in room.domain))
    budget = room.budget
    mechanism = additive_for(budget.currency, budget.left * SINGLES, statistic.sensitivity(room.domain))
    tell(progress, f"counting {len(statistic.sets)} single columns with {mechanism.name}")
    tables = statistic.split(room.release(statistic, mechanism).values, room.domain)
    shares = {c: _shares(t, math.sqrt(mechanism.variance)) for c, t in zip(room.domain, tables, strict=True)}
    return Opened(room, Criterion(settings.test, settings.alpha, shares), settings, knowledge)


def _needs_singles(settings: Asking) -> bool:
    return settings.test != "information"


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
