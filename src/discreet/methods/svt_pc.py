"""SVT-PC: PC whose tests are asked of a room one by one, each against a noisy threshold; only removals cost.

After the baseline of Wang, Pang, Song 2020. What differs: a pass closes the gate, and the next question opens a new one
with a fresh threshold and a charge of its own, so that the total is fixed before anything is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import ClassVar, TypeVar

from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.errors import BudgetError
from discreet.methods.asking import (
    InRounds,
    check_room,
    prepare,
    refuse_too_small,
    share_after_preparing,
    warn_if_drowned,
)
from discreet.methods.ci_tests import IndependenceTest
from discreet.methods.method import Method
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import GRAINS, Budget
from discreet.privacy.mechanisms import root_below
from discreet.privacy.mechanisms.sparse_vector import AboveThreshold, above_threshold_for
from discreet.progress import Progress
from discreet.release.discovery import Discovery
from discreet.room import Gate, Room
from discreet.search.oracle import Verdict
from discreet.search.pc import pc
from discreet.statistics.dependence import moved_by_steps
from discreet.statistics.margins import Separators

GATE_SLACK = 0.5
"""Thresholds are raised by so many standard deviations of a comparison's noise, so that independent pairs pass."""


@dataclass(frozen=True, kw_only=True)
class SvtPC(InRounds):
    """PC whose tests are asked one by one; a pair that looks independent is removed and costs a round."""

    name: ClassVar[str] = "svt-pc"


@dataclass(frozen=True)
class Round:
    """What one removal of an edge may cost: the gate that looks for it."""

    sieve: AboveThreshold

    def price(self, currency: Currency) -> Fraction:
        """Return what a whole round costs at most, in a currency; charges are rounded up."""
        return self.sieve.cost(moved_by_steps()).amount(currency) + Fraction(1, GRAINS)


class GateOracle:
    """Asks the room about one pair after another, until a pair looks independent; that is what costs.

    Every such pass closes the gate. The next question opens a new one, with a fresh threshold, a fresh sample and a
    charge of its own, whatever becomes of the pair. If the budget does not cover a whole round, nothing more is asked.

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

    def __init__(self, room: Room, test: IndependenceTest, each: Round) -> None:
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
        gate = self._open_gate()
        self.asked += 1
        slack = round(GATE_SLACK * self._each.sieve.deviation)
        independent = gate.passes(Separators((self._test.margin(x, y, [given], gate.domain, slack),)), 0)
        independent = independent and self.confirm(x, y, given)
        return Verdict(independent, -1.0 if independent else 1.0)

    def confirm(self, x: str, y: str, given: frozenset[str]) -> bool:
        """Whether a pair that passed the gate is held for independent."""
        del x, y, given
        return True

    def _open_gate(self) -> Gate:
        if self._gate is None or not self._gate.open:
            if self._price > self._room.budget.left:
                self.exhausted = True
                raise BudgetError("the budget does not cover another round")
            self._gate = self._room.open(self._each.sieve, moved_by_steps(), purpose="sieve")
            self.rounds += 1
        return self._gate


R = TypeVar("R", bound=Round)


def run_in_rounds(
    room: Room,
    settings: InRounds,
    knowledge: Knowledge,
    progress: Progress | None,
    round_of: Callable[[Budget, Fraction], R],
    oracle_of: Callable[[Room, IndependenceTest, R], GateOracle],
) -> Discovery:
    """Find a causal graph by asking a room test by test, round by round, with all that is left of its budget.

    Raises
    ------
    BudgetError
        If the budget does not cover a single round. Nothing was spent.
    """
    check_room(room, knowledge)
    budget, share = room.budget, share_after_preparing(room, settings)
    pairs = sum(knowledge.may_touch(a, b) for a, b in combinations(sorted(room.domain), 2))
    each = round_of(budget, budget.left * share / max(pairs, 1))
    room.check_gate(each.sieve)
    refuse_too_small(room, each.price(budget.currency), share)
    warn_if_drowned(room, each.sieve.deviation)
    prepared = prepare(room, settings, knowledge, progress)
    oracle = oracle_of(prepared.room, prepared.test, each)
    graph = pc(tuple(room.domain), oracle, knowledge=knowledge, max_order=settings.max_order, progress=progress)
    return prepared.discovery(graph, {"tests": oracle.asked, "rounds": oracle.rounds, "stopped": oracle.exhausted})


def run(
    room: Room, settings: SvtPC, *, knowledge: Knowledge = NOTHING_KNOWN, progress: Progress | None = None
) -> Discovery:
    """Remove a pair whenever the gate says that it looks independent."""
    return run_in_rounds(room, settings, knowledge, progress, partial(round_for, settings), GateOracle)


def round_for(settings: SvtPC, budget: Budget, amount: Fraction) -> Round:
    """Return the round that costs an amount of a budget, or what the settings say."""
    epsilon = round_epsilon(settings, budget) or pure_epsilon(budget.currency, amount)
    return Round(above_threshold_for(epsilon, moved_by_steps(), geometric=True))


def round_epsilon(settings: InRounds, budget: Budget) -> Fraction | None:
    """Return what a round may cost one row as a pure epsilon, where the settings say so."""
    return None if settings.round_epsilon is None else Fraction(settings.round_epsilon) / budget.group


def pure_epsilon(currency: Currency, amount: Fraction) -> Fraction:
    """Return the pure epsilon that costs at most an amount of a currency."""
    return amount if currency is Currency.PURE else root_below(2 * amount)


METHOD = Method(SvtPC, run, in_zcdp=True)
