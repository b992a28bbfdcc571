"""Oracles that ask the room test by test. What they are told of each test is one bit, and only some bits cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

from discreet.criteria import Criterion
from discreet.discovery import Discovery
from discreet.errors import BudgetError
from discreet.knowledge import NOTHING_KNOWN, Knowledge
from discreet.mechanisms.additive import DiscreteLaplace
from discreet.mechanisms.scales import at_least, root_below
from discreet.mechanisms.sparse import AboveThreshold, above_threshold_for
from discreet.methods import PrivPC, SvtPC
from discreet.opening import check_room, open_up, refuse_too_small, share_left, warn_if_drowned
from discreet.oracles import Verdict
from discreet.privacy.accounting import Currency, sample_epsilon
from discreet.privacy.budget import GRAINS
from discreet.room import Gate, Room
from discreet.search.pc import Progress, pc
from discreet.statistics.dependence import MOVED, moved_by_steps
from discreet.statistics.margins import Separators

SLACK = 0.5
"""Thresholds are raised by so many standard deviations of a comparison's noise, so that independent pairs pass."""

EXAMINED_SLACK = 3.0
"""An examination's threshold is raised by so many scales of its noise: what fails it has cost a round for nothing."""


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
        return self._test.countable(x, y, given, self._room.domain)

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
        slack = round(SLACK * self._each.sieve.deviation)
        independent = gate.passes(Separators((self._test.margin(x, y, [given], gate.domain, slack),)), 0)
        if independent and self._each.examine is not None:
            self.asked += 1
            released = self._room.release(statistic, self._each.examine)
            slack = round(EXAMINED_SLACK * self._each.examine.scale)
            independent = int(released.values[0]) <= self._test.threshold(statistic, self._room.domain) + slack
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
        return (amount, None) if currency is Currency.PURE else (root_below(2 * amount), None)
    half = amount / 2 if currency is Currency.PURE else root_below(amount)
    return half, half


def ask_in(
    room: Room, recipe: SvtPC, *, knowledge: Knowledge = NOTHING_KNOWN, progress: Progress | None = None
) -> Discovery:
    """Find a causal graph by asking a room test by test, with all that is left of its budget.

    Raises
    ------
    BudgetError
        If the budget does not cover a single round. Nothing was spent.
    """
    check_room(room, knowledge)
    budget, share = room.budget, share_left(room, recipe)
    pairs = sum(knowledge.may_touch(a, b) for a, b in combinations(sorted(room.domain), 2))
    each = round_of(recipe, budget.currency, budget.left * share / max(pairs, 1), room.domain.rows, budget.group)
    room.check_gate(each.sieve)
    refuse_too_small(room, each.price(budget.currency), share)
    warn_if_drowned(room, each.sieve.deviation)
    opened = open_up(room, recipe, knowledge, progress)
    oracle = AskingOracle(opened.room, opened.test, each)
    graph = pc(tuple(room.domain), oracle, knowledge=knowledge, max_order=recipe.max_order, progress=progress)
    return opened.discovery(graph, {"tests": oracle.asked, "rounds": oracle.rounds, "stopped": oracle.exhausted})


def round_of(recipe: SvtPC, currency: Currency, amount: Fraction, rows: int, group: int = 1) -> Round:
    """Return what a round costs: a share of the budget, or what the recipe says, for so many rows at once."""
    examined = isinstance(recipe, PrivPC)
    if recipe.round_epsilon is not None:
        whole = Fraction(recipe.round_epsilon) / group
        sieve, examine = (whole / 2, whole / 2) if examined else (whole, None)
    else:
        sieve, examine = split_round(currency, amount, examined=examined)
    sample = recipe.sample if isinstance(recipe, PrivPC) else None
    return round_for(sieve, examine, rows, None if sample is None else max(1, round(sample * rows)))
