"""Oracles that ask the room test by test. What they are told of each test is one bit, and only some bits cost."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from itertools import combinations

from scipy.special import chdtri, ndtri

from discreet.discovery import Discovery, Privacy
from discreet.domain import Domain
from discreet.errors import BudgetError, SettingError
from discreet.knowledge import NOTHING_KNOWN, Knowledge
from discreet.mechanisms.additive import DiscreteLaplace
from discreet.mechanisms.scales import at_least
from discreet.mechanisms.sparse import AboveThreshold, above_threshold_for
from discreet.methods import PrivPC, SvtPC, TestName
from discreet.oracles import Verdict
from discreet.privacy.accounting import MAX_EPSILON, Currency, limit_of, sample_epsilon
from discreet.privacy.budget import GRAINS
from discreet.room import Gate, Room
from discreet.search.pc import Progress, pc
from discreet.settling import SHARE, settle
from discreet.statistics.dependence import MOVED, Dependence, moved_by_steps
from discreet.statistics.information import ConditionalInformation, ConditionalTotalVariation
from discreet.statistics.least import Opposite
from discreet.statistics.ranks import StratifiedKendallDet, StratifiedSpearman

_STATISTICS: dict[str, type[Dependence]] = {
    "total-variation": ConditionalTotalVariation,
    "kendall": StratifiedKendallDet,
    "spearman": StratifiedSpearman,
    "information": ConditionalInformation,
}

MAX_CELLS = 1 << 20
"""Cells of the largest table that is counted for one question."""


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
    """

    name: TestName
    alpha: float

    def __post_init__(self) -> None:
        if self.name not in _STATISTICS:
            raise SettingError(f"test: one of {', '.join(_STATISTICS)}")
        if not 0 < self.alpha < 1:
            raise SettingError("alpha: a number between 0 and 1")

    def statistic(self, x: str, y: str, given: frozenset[str]) -> Dependence:
        """Return the statistic of a question; the order of the two columns does not count."""
        a, b = sorted((x, y))
        return _STATISTICS[self.name](a, b, tuple(sorted(given)))

    def threshold(self, statistic: Dependence, domain: Domain) -> int:
        """Return the largest value, in steps, at which a pair counts as independent.

        Total variation is at most half the root of Pearson's statistic over the rows, information is half the
        likelihood ratio over the rows; both are compared with the chi-square's quantile. Ranks are compared with the
        normal one; ties only make them smaller.
        """
        unit = statistic.unit(domain)
        if not unit:
            return 0
        x, y = (domain.size(column) - 1 for column in (statistic.x, statistic.y))
        freedom = x * y * math.prod(domain.shape(statistic.given))
        quantile = float(chdtri(freedom, self.alpha)) if freedom else 0.0
        value = {
            "total-variation": math.sqrt(quantile / domain.rows) / 2,
            "information": quantile / (2 * domain.rows),
        }.get(self.name, -float(ndtri(self.alpha / 2)))
        return math.floor(value / unit)


@dataclass(frozen=True)
class Round:
    """What one removal of an edge may cost: the gate that looks for it and, if there is one, the examination."""

    sieve: AboveThreshold
    examine: DiscreteLaplace | None

    def price(self, currency: Currency) -> Fraction:
        """Return what a whole round costs at most, in a currency; charges are rounded up."""
        costs = [self.sieve.cost(moved_by_steps()).amount(currency)]
        if self.examine is not None:
            costs.append(self.examine.cost(moved_by_steps()).amount(currency))
        return sum(costs, start=Fraction(0)) + Fraction(len(costs), GRAINS)


def round_for(sieve: Fraction, examine: Fraction | None, rows: int, sample: int | None = None) -> Round:
    """Return the round with these pure epsilons, on all rows or, for the sieve, on a sample of so many of them."""
    inside = sieve if sample is None else sample_epsilon(sieve, Fraction(sample, rows))
    gate = above_threshold_for(inside, moved_by_steps(), geometric=True)
    if sample is not None:
        gate = replace(gate, sample=sample, rows=rows)
    return Round(gate, None if examine is None else DiscreteLaplace(at_least(MOVED / examine)))


class AskingOracle:
    """Asks the room about one pair after another, until a pair looks independent; that is what costs.

    Every such pass closes the gate. The next question opens a new one, with a fresh threshold, a fresh sample and a
    charge of its own, whatever an examination said. If the budget does not cover a whole round, nothing more is asked.

    Parameters
    ----------
    room
        Where to ask.
    test
        What independence means.
    each
        What a round costs.
    """

    free = False
    max_order = None

    def __init__(self, room: Room, test: Criterion, each: Round) -> None:
        self._room = room
        self._test = test
        self._each = each
        self._price = each.price(room.budget.currency)
        self._gate: Gate | None = None
        self.asked = 0
        self.rounds = 0
        self.exhausted = False

    def answers(self, x: str, y: str, given: frozenset[str]) -> bool:
        """Whether the table it takes is small enough to be counted."""
        return math.prod(self._room.domain.shape((x, y, *sorted(given)))) <= MAX_CELLS

    def ask(self, x: str, y: str, given: frozenset[str]) -> Verdict:
        """Say whether two columns look independent given others.

        Raises
        ------
        BudgetError
            If the budget does not cover another round.
        """
        statistic = self._test.statistic(x, y, given)
        gate = self._opened()
        self.asked += 1
        independent = gate.passes(Opposite(statistic), -self._test.threshold(statistic, gate.domain))
        if independent and self._each.examine is not None:
            released = self._room.release(statistic, self._each.examine)
            independent = int(released.values[0]) <= self._test.threshold(statistic, self._room.domain)
        return Verdict(independent, -1.0 if independent else 1.0)

    def _opened(self) -> Gate:
        if self._gate is None or not self._gate.open:
            if self._price > self._room.budget.left:
                self.exhausted = True
                raise BudgetError("the budget does not cover another round")
            self._gate = self._room.open(self._each.sieve, moved_by_steps(), purpose="sieve")
            self.rounds += 1
        return self._gate


def split_round(currency: Currency, amount: Fraction, *, examined: bool) -> tuple[Fraction, Fraction | None]:
    """Return the pure epsilons that a round may spend so that it costs at most an amount of a currency."""
    if not examined:
        return (amount, None) if currency is Currency.PURE else (_root_below(2 * amount), None)
    half = amount / 2 if currency is Currency.PURE else _root_below(amount)
    return half, half


def _root_below(square: Fraction) -> Fraction:
    """Return a fraction whose square is at most that."""
    root = Fraction(math.sqrt(float(square)))
    while root * root > square:
        root *= 1 - Fraction(1, 1 << 50)
    return root


def ask_in(
    room: Room, recipe: SvtPC, *, knowledge: Knowledge = NOTHING_KNOWN, progress: Progress | None = None
) -> Discovery:
    """Find a causal graph by asking a room test by test, with all that is left of its budget.

    Raises
    ------
    BudgetError
        If the budget does not cover a single round. Nothing was spent.
    """
    budget = room.budget
    if budget.currency is Currency.GDP:
        raise SettingError("budget: this method's costs add up in zCDP; make the budget with currency=Currency.ZCDP")
    knowledge.check(room.domain)
    if len(room.domain.columns) < 2:
        raise SettingError("domain: a causal graph takes at least two columns")
    if budget.exhausted:
        raise BudgetError("the budget is already spent; nothing was asked")
    pairs = sum(knowledge.may_touch(a, b) for a, b in combinations(sorted(room.domain), 2))
    share = SHARE if room.domain.unsettled else Fraction(0)
    each = round_of(recipe, budget.currency, budget.left * (1 - share) / max(pairs, 1), room.domain.rows)
    _refuse_too_small(room, each, share)
    room, _ = settle(room, progress=progress)
    oracle = AskingOracle(room, Criterion(recipe.test, recipe.alpha), each)
    graph = pc(tuple(room.domain), oracle, knowledge=knowledge, max_order=recipe.max_order, progress=progress)
    settings = {f.name: getattr(recipe, f.name) for f in fields(recipe)}
    settings |= {"tests": oracle.asked, "rounds": oracle.rounds, "stopped": oracle.exhausted}
    privacy = Privacy.of(budget, room.domain, private=room.private)
    return Discovery(graph, privacy, recipe.name, settings, room.domain, knowledge, ())


def round_of(recipe: SvtPC, currency: Currency, amount: Fraction, rows: int) -> Round:
    """Return what a round costs: a share of the budget, or what the recipe says."""
    examined = isinstance(recipe, PrivPC)
    if recipe.round_epsilon is not None:
        whole = Fraction(recipe.round_epsilon)
        sieve, examine = (whole / 2, whole / 2) if examined else (whole, None)
    else:
        sieve, examine = split_round(currency, amount, examined=examined)
    sample = recipe.sample if isinstance(recipe, PrivPC) else None
    return round_for(sieve, examine, rows, None if sample is None else max(1, round(sample * rows)))


def _refuse_too_small(room: Room, each: Round, share: Fraction) -> None:
    """Refuse a budget that does not cover one round, and say which would."""
    budget = room.budget
    price = each.price(budget.currency)
    if price <= budget.left * (1 - share):
        return
    wanted = price / (1 - share) + (budget.limit - budget.left)
    low, high = budget.epsilon, 2 * budget.epsilon
    while limit_of(budget.currency, high, budget.delta) < wanted:
        low, high = high, 2 * high
        if high > MAX_EPSILON:
            raise BudgetError("round-epsilon: one round would cost more than any budget; nothing was asked")
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if limit_of(budget.currency, middle, budget.delta) >= wanted else (middle, high)
    raise BudgetError(
        f"the budget does not cover one round; nothing was asked. With this round it takes an epsilon of {high:.4g} "
        f"(delta {budget.delta:g}), or a smaller --round-epsilon"
    )
