"""Priv-PC: PC by sieve and examine.

Wang, Pang, Song 2020, *Towards practical differentially private causal graph discovery*, Algorithm 2, repaired: what
differs is said at the class of its settings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.errors import SettingError
from discreet.methods.asking import InRounds
from discreet.methods.ci_tests import IndependenceTest
from discreet.methods.method import Method
from discreet.methods.svt_pc import GateOracle, Round, pure_epsilon, round_epsilon, run_in_rounds
from discreet.privacy.accounting import Currency, sample_epsilon
from discreet.privacy.budget import GRAINS, Budget
from discreet.privacy.mechanisms import at_least
from discreet.privacy.mechanisms.additive import DiscreteLaplace
from discreet.privacy.mechanisms.sparse_vector import above_threshold_for
from discreet.progress import Progress
from discreet.release.discovery import Discovery
from discreet.room import Room
from discreet.statistics.dependence import MOVED, moved_by_steps

EXAMINED_SLACK = 3.0
"""An examination's threshold is raised by so many scales of its noise: what fails it has cost a round for nothing."""


@dataclass(frozen=True, kw_only=True)
class PrivPC(InRounds):
    """PC by sieve and examine: a sieve looks for pairs that seem independent, each is then examined on all rows.

    Wang, Pang, Song 2020, repaired: every pair that passes the sieve costs a round, gets a fresh threshold and a fresh
    sample, whatever the examination says, and the total is fixed before anything is asked.

    Parameters
    ----------
    sample
        Share of the rows that the sieve looks at; all of them by default, which sees most.
    """

    name: ClassVar[str] = "priv-pc"

    sample: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sample is not None and not 0 < self.sample <= 1:
            raise SettingError("sample: a share of the rows, above 0 and at most 1")


@dataclass(frozen=True)
class Examined(Round):
    """What one removal of an edge may cost: the gate that looks for it, and the examination."""

    examine: DiscreteLaplace

    def price(self, currency: Currency) -> Fraction:
        """Return what a whole round costs at most, in a currency; charges are rounded up."""
        return super().price(currency) + self.examine.cost(moved_by_steps()).amount(currency) + Fraction(1, GRAINS)


class SieveAndExamine(GateOracle):
    """What passes the gate is examined on all rows, with noise of its own."""

    def __init__(self, room: Room, test: IndependenceTest, each: Examined) -> None:
        super().__init__(room, test, each)
        self._examine = each.examine

    def confirm(self, x: str, y: str, given: frozenset[str]) -> bool:
        """Whether a pair that passed the sieve is independent by a released statistic, too."""
        self.asked += 1
        statistic = self._test.statistic(x, y, given)
        released = self._room.release(statistic, self._examine)
        slack = round(EXAMINED_SLACK * self._examine.scale)
        return int(released.values[0]) <= self._test.threshold(statistic, self._room.domain) + slack


def run(
    room: Room, settings: PrivPC, *, knowledge: Knowledge = NOTHING_KNOWN, progress: Progress | None = None
) -> Discovery:
    """Sieve, examine what passes, and remove what passes both."""

    def each(budget: Budget, amount: Fraction) -> Examined:
        return round_for(settings, budget, amount, room.domain.rows)

    return run_in_rounds(room, settings, knowledge, progress, each, SieveAndExamine)


def round_for(settings: PrivPC, budget: Budget, amount: Fraction, rows: int) -> Examined:
    """Return the round that costs an amount of a budget, or what the settings say: half of it for either step."""
    whole = round_epsilon(settings, budget)
    half = pure_epsilon(budget.currency, amount / 2) if whole is None else whole / 2
    return examined_round(half, half, rows, None if settings.sample is None else max(1, round(settings.sample * rows)))


def examined_round(sieve: Fraction, examine: Fraction, rows: int, sample: int | None = None) -> Examined:
    """Return the round with these pure epsilons, on all rows or, for the sieve, on a sample of so many of them."""
    inside = sieve if sample is None else sample_epsilon(sieve, Fraction(sample, rows))
    gate = above_threshold_for(inside, moved_by_steps(), geometric=True)
    if sample is not None:
        gate = replace(gate, sample=sample, rows=rows)
    return Examined(gate, DiscreteLaplace(at_least(MOVED / examine)))


def _looks_at_rows(settings: PrivPC) -> str | None:
    return None if settings.sample is None else f"{settings.name} with a sample"


METHOD = Method(PrivPC, run, looks_at_rows=_looks_at_rows, in_zcdp=True)
