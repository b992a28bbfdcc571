"""The other way round: what costs is an edge that stays. Every pair is asked about once, whatever may be given.

First the pairs that may be edges are found by their margins over small sets of any columns. Then the margins of those
are measured, given sets of their neighbours. Last, for every two edges that meet: whether the column in the middle
separates the two others, or binds them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import ClassVar

from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.errors import SettingError
from discreet.methods.asking import Asking, Prepared, check_room, prepare, share_after_preparing, warn_if_drowned
from discreet.methods.method import Method
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import GRAINS
from discreet.privacy.mechanisms import root_below
from discreet.privacy.mechanisms.additive import additive_for
from discreet.privacy.mechanisms.exponential import SPREAD, top_k_for
from discreet.privacy.mechanisms.sparse_vector import AboveThreshold, above_threshold_for
from discreet.progress import MEASURE, SEARCH, Progress, tell
from discreet.release.discovery import Discovery
from discreet.release.search import seeded_generator
from discreet.room import Room
from discreet.search.graph import Graph, Pair
from discreet.search.hybrid import COLLIDER, direct
from discreet.search.orientation import Triple, neighbours, pairs_left, unshielded
from discreet.search.pc import break_cycles
from discreet.statistics.dependence import MOVED, moved_by_steps
from discreet.statistics.margins import Contrasts, Margin, Margins, each_moved

FINDING_SHARE = Fraction(2, 5)
"""Share of the budget that finds the pairs."""

MEASURING_SHARE = Fraction(1, 2)
"""Share of the rest that measures them; what is left then goes to directions."""

WORTH = Fraction(3, 2)
"""Pairs are chosen among only if there are so many times more of them than may stay."""

MAX_TABLES_A_STEP = 50_000
"""If what is given would take more tables than this at one step, smaller sets are given there."""

Sets = dict[Pair, list[frozenset[str]]]
"""What may be given for each pair."""

CLEAR_BY = 1.0
"""A margin counts if it lies so many standard deviations of its noise above 0."""


@dataclass(frozen=True, kw_only=True)
class Flipped(Asking):
    """The other way round: pairs are kept, not removed, and what costs is an edge that stays.

    Every pair has one number, the least dependence whatever is given. So it is asked about once, not once a set.

    Parameters
    ----------
    edges
        How many edges may stay at most, beside required ones. By default twice as many as there are columns are looked
        for, and as many stay as are clear.
    """

    edges: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.edges is not None and self.edges < 1:
            raise SettingError("edges: a whole number from 1")


@dataclass(frozen=True, kw_only=True)
class FlippedSvt(Flipped):
    """Pairs that clearly depend are let pass by a gate, one after the other."""

    name: ClassVar[str] = "flipped-svt"


@dataclass(frozen=True, kw_only=True)
class FlippedTopK(Flipped):
    """The pairs that depend most are chosen at once."""

    name: ClassVar[str] = "flipped-top-k"


def run(
    room: Room, settings: Flipped, *, knowledge: Knowledge = NOTHING_KNOWN, progress: Progress | None = None
) -> Discovery:
    """Find a causal graph by paying for the edges that stay, with all that is left of a room's budget.

    Raises
    ------
    BudgetError
        If nothing is left of the budget. Nothing was asked.
    """
    check_room(room, knowledge)
    _check_noise(room, settings)
    keeper = _Keeper(prepare(room, settings, knowledge, progress), settings, progress)
    graph = keeper.graph()
    counted = {"tests": keeper.tests, "rounds": keeper.rounds, "stopped": keeper.stopped}
    return keeper.prepared.discovery(graph, counted)


def _check_noise(room: Room, settings: Flipped) -> None:
    """Refuse noise that would drown everything, and warn of noise that nearly does. Nothing is spent."""
    columns, budget = len(room.domain.columns), room.budget
    amount = budget.left * share_after_preparing(room, settings)
    last = amount * (1 - FINDING_SHARE) * (1 - MEASURING_SHARE)
    additive_for(budget.currency, last, each_moved(columns * math.comb(columns - 1, 2) + 1, 2 * MOVED))
    stay = min(_stay(settings, columns), math.comb(columns, 2))
    warn_if_drowned(room, SPREAD * top_k_for(budget.currency, amount * FINDING_SHARE, moved_by_steps(), stay).scale)


def _stay(settings: Flipped, columns: int) -> int:
    """Return how many pairs may stay."""
    return settings.edges or 2 * columns


class _Keeper:
    """One run: what is asked next depends on public facts and on what was released."""

    def __init__(self, prepared: Prepared, settings: Flipped, progress: Progress | None) -> None:
        self.prepared = prepared
        self._room = prepared.room
        self._settings = settings
        self._knowledge = prepared.knowledge
        self._progress = progress
        self._test = prepared.test
        self._names = sorted(prepared.room.domain)
        self.tests = 0
        self.rounds = 0
        self.stopped = False

    def graph(self) -> Graph:
        pairs = [frozenset(p) for p in combinations(self._names, 2) if self._knowledge.may_touch(*p)]
        required = {pair for pair in pairs if self._knowledge.requires(*pair)}
        open_pairs = [pair for pair in pairs if pair not in required]
        likely = required | self._find(open_pairs)
        strengths = dict.fromkeys(required, math.inf) | self._measure(likely, likely - required)
        kept = break_cycles(strengths, self._knowledge)
        unasked = pairs_left(self._names, pairs)
        weights = self._weights(kept, unasked)
        return direct(tuple(self._room.domain), kept, weights, self._knowledge, seeded_generator(), unasked=unasked)

    def _find(self, pairs: list[Pair]) -> set[Pair]:
        """Find the pairs that may be edges."""
        stay = _stay(self._settings, len(self._names))
        if len(pairs) <= WORTH * stay:
            return set(pairs)
        anything = neighbours(self._names, map(frozenset, combinations(self._names, 2)))
        parts = self._parts(pairs, self._sets(pairs, anything, min(self._settings.max_order, 1)))
        tell(self._progress, f"{len(pairs)} pairs: looking for {stay} of them", MEASURE.at())
        if isinstance(self._settings, FlippedSvt):
            return self._let_pass(pairs, parts, stay)
        budget = self._room.budget
        statistic = Margins(parts)
        mechanism = top_k_for(
            budget.currency, budget.left * FINDING_SHARE, statistic.sensitivity(self._room.domain), stay
        )
        self._count(parts, stay)
        return {pairs[i] for i in self._room.release(statistic, mechanism).values.tolist()}

    def _let_pass(self, pairs: list[Pair], parts: tuple[Margin, ...], stay: int) -> set[Pair]:
        """Ask about pair after pair, until as many passed as may stay; those that were not asked stay too."""
        gate_for, rounds = self._gates(stay)
        gate = None
        passed: set[Pair] = set()
        for i, (pair, part) in enumerate(zip(pairs, parts, strict=True)):
            if gate is None or not gate.open:
                if not rounds:
                    self.stopped = True
                    return passed.union(pairs[i:])
                gate, rounds = self._room.open(gate_for, moved_by_steps(), purpose="pairs that stay"), rounds - 1
            self._count([part], 0)
            if gate.passes(Margins((part,)), _above(gate_for, len(pairs), stay)):
                self.rounds += 1
                passed.add(pair)
        return passed

    def _gates(self, stay: int) -> tuple[AboveThreshold, int]:
        """Return the gate, and how many of it may be prepared.

        Pure costs of passes add up whether the threshold is kept or not, so one gate lets all pass. In zCDP fresh ones
        for every pass are cheaper: their costs add up as squares.
        """
        currency, amount = self._room.budget.currency, self._room.budget.left * FINDING_SHARE
        if currency is Currency.PURE:
            return above_threshold_for(amount, moved_by_steps(), passes=stay, geometric=True), 1
        each = root_below(2 * (amount / stay - Fraction(1, GRAINS)))
        return above_threshold_for(each, moved_by_steps(), geometric=True), stay

    def _measure(self, likely: Iterable[Pair], pairs: Iterable[Pair]) -> dict[Pair, float]:
        """Measure the margins of some pairs given sets of their neighbours; return those that count."""
        asked = sorted(pairs, key=sorted)
        if not asked:
            return {}
        sets = self._sets(asked, neighbours(self._names, likely), self._settings.max_order)
        statistic = Margins(self._parts(asked, sets))
        tell(self._progress, f"measuring {len(asked)} pairs", MEASURE.at(1, 2))
        values, noise = self._release(statistic, MEASURING_SHARE)
        found = sorted(zip(values, asked, strict=True), key=lambda one: -one[0])[: self._settings.edges]
        return {pair: value / noise for value, pair in found if value > CLEAR_BY * noise}

    def _weights(self, kept: Mapping[Pair, float], unasked: frozenset[Pair]) -> dict[Triple, float]:
        """Measure for every two edges that meet what speaks for a common effect: the log of its odds, about."""
        triples = [triple for triple in unshielded(self._names, kept) if triple[0] not in unasked]
        ends = dict.fromkeys(pair for pair, _ in triples)
        sets = self._sets(ends, neighbours(self._names, kept), max(self._settings.max_order, 1))
        sides = {(pair, z): self._sides(pair, z, sets[pair]) for pair, z in triples}
        asked = {triple: both for triple, both in sides.items() if both is not None}
        if not asked:
            return {}
        tell(self._progress, f"measuring {len(asked)} triples", SEARCH.at())
        statistic = Contrasts(tuple(a for a, _ in asked.values()), tuple(b for _, b in asked.values()))
        values, noise = self._release(statistic, Fraction(1))
        return {
            triple: -math.copysign((value / noise) ** 2 / 2, value) - COLLIDER
            for triple, value in zip(asked, values, strict=True)
        }

    def _sides(self, pair: Pair, z: str, sets: list[frozenset[str]]) -> tuple[Margin, Margin] | None:
        """Return the margins of a pair without and with a column between; None if one of them cannot be asked."""
        without, given = [s for s in sets if z not in s], [s for s in sets if z in s]
        if not without or not given:
            return None
        x, y = sorted(pair)
        return (
            self._test.margin(x, y, without, self._room.domain),
            self._test.margin(x, y, given, self._room.domain),
        )

    def _release(self, statistic: Margins | Contrasts, share: Fraction) -> tuple[list[int], float]:
        """Release numbers for a share of what is left; return them and the standard deviation of their noise."""
        budget = self._room.budget
        mechanism = additive_for(budget.currency, budget.left * share, statistic.sensitivity(self._room.domain))
        parts = statistic.parts if isinstance(statistic, Margins) else (*statistic.without, *statistic.given)
        self._count(parts, 1)
        return self._room.release(statistic, mechanism).values.tolist(), math.sqrt(mechanism.variance)

    def _parts(self, pairs: Iterable[Pair], sets: Sets) -> tuple[Margin, ...]:
        return tuple(self._test.margin(min(pair), max(pair), sets[pair], self._room.domain) for pair in pairs)

    def _sets(self, pairs: Iterable[Pair], around: Mapping[str, set[str]], order: int) -> Sets:
        """Return what may be given for each pair: sets of possible causes of one of its columns, near that column."""
        near = {
            pair: [[z for z in sorted(around[n] - pair) if self._knowledge.allows(z, n)] for n in sorted(pair)]
            for pair in pairs
        }
        while order > 0 and _tables(near, order) > MAX_TABLES_A_STEP:
            order -= 1
        return {pair: list(self._given(pair, sides, order)) for pair, sides in near.items()}

    def _given(self, pair: Pair, near: list[list[str]], order: int) -> Iterator[frozenset[str]]:
        """Yield the sets whose table is small enough to be counted, each once."""
        x, y = sorted(pair)
        sizes = range(order + 1)
        sets = (frozenset(s) for side in near for k in sizes for s in combinations(side, k))
        for given in dict.fromkeys(sets):
            if self._test.countable(x, y, given, self._room.domain):
                yield given

    def _count(self, parts: Iterable[Margin], rounds: int) -> None:
        self.tests += sum(len(part.statistics) for part in parts)
        self.rounds += rounds


def _tables(near: Mapping[Pair, list[list[str]]], order: int) -> int:
    """Return about how many tables the sets of all pairs take; a table serves all pairs in it."""
    if not near:
        return 0
    sets = sum(math.comb(len(side), order) for sides in near.values() for side in sides) // 2
    return sets // math.comb(order + 2, 2)


def _above(gate: AboveThreshold, pairs: int, stay: int) -> int:
    """Return the threshold at which about a quarter of what may stay would pass by noise alone.

    What passes is measured again, but what passes by noise takes the place of an edge.
    """
    return max(0, round(gate.question_scale * (math.log(4 * pairs / stay) - 1)))


SVT = Method(FlippedSvt, run, in_zcdp=True)
TOP_K = Method(FlippedTopK, run, in_zcdp=True)
