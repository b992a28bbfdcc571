"""A test of independence on columns with few levels: tables are released, the rest is post-processing."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np

from discreet.domain import Domain
from discreet.domain.knowledge import NOTHING_KNOWN
from discreet.errors import DoubtWarning, SettingError
from discreet.methods.moments import bins_for
from discreet.methods.power import doubts
from discreet.methods.quantile_bins import settle
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Budget
from discreet.privacy.mechanisms.additive import additive_for
from discreet.release.answer import Found, Inquiry
from discreet.release.missing import LEAVE_OUT, leave_out
from discreet.release.oracles.components import Components
from discreet.release.oracles.released import LARGEST, Released, check_alpha
from discreet.release.oracles.smooth import Smooth
from discreet.release.release import Measurement
from discreet.release.selection import MAX_TRIPLE, components, select_first
from discreet.room import Room
from discreet.statistics.counts import Counts
from discreet.statistics.interactions import Interactions

MOST_GIVEN = 2
"""Tables of two columns tell of dependence given up to two others."""


TESTED = 4
"""Bins at most of the two columns that are tested."""

GIVEN = (TESTED, 16, 8)
"""Bins at most of a column that is given, by how many are."""

ROWS_A_BIN = 40
"""Rows that a bin of a given column should have."""


def into_bins(asked: Inquiry, domain: Domain, budget: Budget) -> Domain:
    """Return the domain with bins for numbers without any: few for the two that are tested, many for what is given.

    Few bins show a smooth dependence with little noise; what is given must be fine, or a trend within its bins would
    pass for dependence.
    """
    sides = Domain({c: domain[c] for c in (asked.x, asked.y)}, rows=domain.rows)
    few = min(bins_for(sides, budget.currency, budget.left, 1), TESTED)
    most = GIVEN[min(len(asked.given), MOST_GIVEN)]
    many = max(few, min(most, domain.rows // ROWS_A_BIN))
    return domain.with_bins(few, (asked.x, asked.y)).with_bins(many)


def check_tables(asked: Inquiry, domain: Domain, currency: Currency) -> None:
    """Refuse what tables cannot answer. From public facts alone."""
    widest = domain.widest()
    widest.check_tabulable()
    if len(asked.given) > MOST_GIVEN:
        raise SettingError(
            f"given: tests by tables and moments take at most {MOST_GIVEN} columns; `gcm` takes 3, `krr` 5"
        )
    check_alpha(asked.alpha, "laplace" if currency is Currency.PURE else "gaussian")
    statistic = _tables(asked, widest, currency)
    if statistic is not None:
        statistic.sensitivity(widest)
    sizes = [widest.size(name) for name in asked.columns]
    if len(asked.given) == MOST_GIVEN and sizes[2] * sizes[3] * (sizes[0] * sizes[1]) ** 2 > LARGEST:
        raise SettingError("columns: too many combinations of levels; declare fewer categories or bins")


def run_tables(room: Room, asked: Inquiry) -> Found:
    """Release tables with all that is left of the budget, and test on them."""
    return _run(room, asked, lambda parts, _: Released(parts, alpha=asked.alpha, rng=np.random.default_rng(0)))


def run_moments(room: Room, asked: Inquiry) -> Found:
    """Release moments with all that is left of the budget, and test on them."""

    def oracle(parts: Components, domain: Domain) -> Released:
        return Smooth(parts, bins=domain.bins, alpha=asked.alpha, rng=np.random.default_rng(0))

    return _run(room, asked, oracle)


def _run(room: Room, asked: Inquiry, oracle_of: Callable[[Components, Domain], Released]) -> Found:
    budget = room.budget
    statistic = _tables(asked, room.domain.widest(), budget.currency)
    if statistic is None:  # a column with one level depends on nothing
        return True, 1.0
    for doubt in doubts(room.domain.widest(), statistic, budget.epsilon, budget.delta, budget.currency):
        warnings.warn(doubt, DoubtWarning, stacklevel=4)
    room, _ = settle(room)
    statistic = _tables(asked, room.domain, budget.currency) or statistic
    mechanism = additive_for(budget.currency, budget.left, statistic.sensitivity(room.domain))
    measured = Measurement.of(room.release(statistic, mechanism), room.domain)
    parts = components((measured,), room.domain)
    oracle = oracle_of(leave_out(parts, room.domain) if asked.missing == LEAVE_OUT else parts, room.domain)
    if not oracle.answers(asked.x, asked.y, frozenset(asked.given)):
        warnings.warn("hardly a row has all these values: nothing could be tested", DoubtWarning, stacklevel=4)
        return True, 1.0
    verdict = oracle.ask(asked.x, asked.y, frozenset(asked.given))
    return verdict.independent, verdict.p_value


def _tables(asked: Inquiry, domain: Domain, currency: Currency) -> Counts | Interactions | None:
    """Return all pairs of columns and, where two are given, each of the others together with both."""
    narrow = replace(domain, columns={name: domain[name] for name in asked.columns})
    if min(narrow.shape((asked.x, asked.y))) < 2:
        return None
    pairs = select_first(narrow, NOTHING_KNOWN, currency)
    if pairs is None or len(asked.given) < MOST_GIVEN:
        return pairs
    triples = [tuple(sorted((side, *asked.given))) for side in (asked.x, asked.y)]
    triples = [t for t in triples if 0 < np.prod([size - 1 for size in narrow.shape(t)]) <= MAX_TRIPLE]
    if isinstance(pairs, Interactions):
        return Interactions((*pairs.sets, *triples), (*pairs.weights, *(1 for _ in triples)))
    covered = {pair for triple in triples for pair in combinations(triple, 2)}
    return Counts((*triples, *(s for s in pairs.sets if s not in covered)))
