"""EM-PC: for every column and order, how many neighbours to drop and which, by exponential mechanisms.

Xu, Yuan, Wu 2017, *Differential privacy preserving causal graph discovery*, with scores whose sensitivity is proved:
how far the best separating set is from its threshold, in steps of its own sensitivity.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import ClassVar

from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.methods.asking import (
    InRounds,
    Prepared,
    check_room,
    prepare,
    refuse_too_small,
    share_after_preparing,
    warn_if_drowned,
)
from discreet.methods.method import Method
from discreet.privacy.budget import GRAINS
from discreet.privacy.mechanisms import at_least
from discreet.privacy.mechanisms.exponential import SPREAD, Selection, TopK, selection_for
from discreet.progress import SEARCH, Progress, tell
from discreet.release.discovery import Discovery
from discreet.room import Room
from discreet.search.graph import Pair
from discreet.search.oracle import Verdict
from discreet.search.pc import Separation, Skeleton, orient_skeleton
from discreet.statistics.dependence import MOVED, moved_by_steps
from discreet.statistics.margins import HowMany, Margin, Separators

MAX_TABLES_A_COLUMN = 2_000
"""A column whose neighbours would take more tables is not visited: it has too many of them for this order."""

CHOICE_SLACK = 0.5
"""Thresholds are raised by so many scales of a choice's noise, so that what is independent is counted."""

SEPARATED = Verdict(True, -1.0)


@dataclass(frozen=True, kw_only=True)
class EmPC(InRounds):
    """For every column and order: choose how many of its neighbours to drop, and which, by exponential mechanisms.

    Xu, Yuan, Wu 2017, repaired: the scores have a proved sensitivity, and the total is fixed before anything is asked.
    ``round_epsilon`` is what one choice costs.
    """

    name: ClassVar[str] = "em-pc"


def run(
    room: Room, settings: EmPC, *, knowledge: Knowledge = NOTHING_KNOWN, progress: Progress | None = None
) -> Discovery:
    """Find a causal graph by choosing which edges to drop, with all that is left of a room's budget.

    Raises
    ------
    BudgetError
        If the budget does not cover a single choice. Nothing was spent.
    """
    check_room(room, knowledge)
    pairs = [frozenset(p) for p in combinations(sorted(room.domain), 2) if knowledge.may_touch(*p)]
    columns = len(room.domain.columns)
    visits = columns * (min(settings.max_order, columns - 2) + 1)
    each = room.budget.left * share_after_preparing(room, settings) / (len(pairs) + visits) - Fraction(1, GRAINS)
    if settings.round_epsilon is not None:
        mechanism = Selection(at_least(2 * MOVED * room.budget.group / Fraction(settings.round_epsilon)), 1)
    else:
        mechanism = selection_for(room.budget.currency, each, moved_by_steps(), 1)
    refuse_too_small(room, _price(mechanism, room), share_after_preparing(room, settings))
    warn_if_drowned(room, SPREAD * mechanism.scale)
    dropper = _Dropper(prepare(room, settings, knowledge, progress), mechanism)
    skeleton = dropper.skeleton(pairs, settings.max_order, progress)
    counted = {"tests": dropper.tests, "rounds": dropper.choices, "stopped": dropper.stopped}
    counted["skipped"] = dropper.skipped
    return dropper.prepared.discovery(orient_skeleton(skeleton, None, knowledge), counted)


def _price(mechanism: Selection, room: Room) -> Fraction:
    """Return what one choice costs; charges are rounded up."""
    return mechanism.cost(moved_by_steps()).amount(room.budget.currency) + Fraction(1, GRAINS)


class _Dropper:
    """One run: what is asked next depends on public facts and on what was chosen."""

    def __init__(self, prepared: Prepared, mechanism: Selection) -> None:
        self.prepared = prepared
        self._room = prepared.room
        self._mechanism = mechanism
        self._cost = _price(mechanism, prepared.room)
        self.tests = 0
        self.choices = 0
        self.skipped = 0
        self.stopped = False

    def skeleton(self, pairs: list[Pair], max_order: int, progress: Progress | None) -> Skeleton:
        """Return what is left of the pairs, and what separates the others."""
        nodes = tuple(self._room.domain)
        left = dict.fromkeys(pairs, 1.0)
        separations: dict[Pair, Separation] = {}
        orders = min(max_order, len(nodes) - 2) + 1
        for order in range(orders):
            tell(progress, f"order {order}: {len(left)} pairs", SEARCH.at(order, orders))
            for node in sorted(nodes):
                for other, given in self._drop(node, order, left):
                    pair = frozenset((node, other))
                    del left[pair]
                    separations[pair] = Separation(given, SEPARATED)
        return Skeleton(nodes, left, separations)

    def _drop(self, node: str, order: int, left: dict[Pair, float]) -> list[tuple[str, frozenset[str]]]:
        """Choose which neighbours of a column to drop, and what separates each."""
        others = self._open(node, left)
        near = self._causes(node, left)
        if sum(math.comb(len(near) - (other in near), order) for other in others) > MAX_TABLES_A_COLUMN:
            self.skipped += 1
            return []
        sets = {other: list(self._sets(node, other, order, near)) for other in others}
        candidates = [(other, given) for other, found in sets.items() for given in found]
        if not candidates or self._affordable() < 1:
            self.stopped |= bool(candidates)
            return []
        domain, test = self._room.domain, self.prepared.test
        slack = round(CHOICE_SLACK * self._mechanism.scale)
        whole = [test.margin(node, other, found, domain, slack) for other, found in sets.items() if found]
        self.tests += len(candidates)
        how_many = int(self._room.release(HowMany(tuple(whole)), self._mechanism).values[0])
        self.choices += 1
        number = min(how_many, self._affordable())
        self.stopped |= number < how_many
        if not number:
            return []
        parts: tuple[Margin, ...] = tuple(test.margin(node, other, [given], domain) for other, given in candidates)
        places = {other: i for i, other in enumerate(sets)}
        groups = tuple(places[other] for other, _ in candidates)
        chosen = self._room.release(Separators(parts), TopK(self._mechanism.scale, number, groups))
        self.choices += number
        return [candidates[i] for i in chosen.values.tolist()]

    def _affordable(self) -> int:
        return int(self._room.budget.left // self._cost)

    def _open(self, node: str, left: dict[Pair, float]) -> list[str]:
        """Return the neighbours of a column that may be dropped."""
        around = sorted(other for pair in left if node in pair for other in pair - {node})
        return [other for other in around if not self.prepared.knowledge.requires(node, other)]

    def _causes(self, node: str, left: dict[Pair, float]) -> list[str]:
        """Return the neighbours of a column that may be its causes."""
        around = sorted(z for pair in left if node in pair for z in pair - {node})
        return [z for z in around if self.prepared.knowledge.allows(z, node)]

    def _sets(self, node: str, other: str, order: int, near: list[str]) -> Iterator[frozenset[str]]:
        """Yield the sets of possible causes of a column that may separate it from another."""
        for given in map(frozenset, combinations([z for z in near if z != other], order)):
            if self.prepared.test.countable(node, other, given, self._room.domain):
                yield given


METHOD = Method(EmPC, run, in_zcdp=True)
