"""Neighbours: valid, of every kind, and better the longer one climbs."""

from __future__ import annotations

from itertools import islice, product

import numpy as np
import pytest

from discreet.audit import Neighbours, table_of
from discreet.audit.neighbours import climb, every, guided, hand_made, how_many, random_pairs, sizes_of, worst
from discreet.audit.replay import audit_statistic
from discreet.audit.subjects import FEW, MIXED, PAIR, TWO, objective
from discreet.errors import SettingError
from discreet.statistics import Sensitivity
from discreet.statistics.counts import Counts


class Peak:
    """Moves by one for every other row that equals the first row: its largest change takes climbing to find."""

    name = "rows like the first"
    columns = ("a", "b", "c", "d")

    def sensitivity(self, domain):
        return Sensitivity(l1=domain.rows - 2, l2_squared=(domain.rows - 2) ** 2)

    def evaluate(self, table):
        (counts,) = table.counts([self.columns])
        return np.array([int((counts * (counts - 1) // 2).sum())])


def within(pair, domain):
    for table in (pair.first, pair.second):
        assert table.shape == (domain.rows, len(sizes_of(domain)))
        assert (table >= 0).all()
        assert (table < sizes_of(domain)).all()
    assert (pair.first != pair.second).any(axis=1).sum() <= 1


@pytest.mark.parametrize("domain", [FEW, MIXED, PAIR, TWO], ids=["few", "mixed", "pair", "two"])
def test_all_are_neighbours_within_the_domain(domain):
    for pair in [*hand_made(domain), *islice(random_pairs(domain, np.random.default_rng(0)), 50)]:
        within(pair, domain)


def test_every_pair_is_there_once_up_to_order():
    pairs = list(every(PAIR))
    assert len(pairs) == how_many(PAIR)
    kinds = list(product(range(2), range(3)))

    def key(pair):
        tables = (tuple(sorted(map(tuple, t.tolist()))) for t in (pair.first, pair.second))
        return frozenset(tables)

    expected = set()
    for rows in product(kinds, repeat=3):
        for other in kinds:
            if other != rows[0]:
                expected.add(frozenset((tuple(sorted(rows)), tuple(sorted((other, *rows[1:]))))))
    assert {key(pair) for pair in pairs} == expected


def test_kinds_that_break_statistics_are_all_made():
    kinds = {pair.kind for pair in hand_made(FEW)}
    for kind in ("constant strata", "strata of one row", "extreme ranks, rising", "duplicated rows"):
        assert kind in kinds


def test_a_climb_never_goes_down_and_gets_higher():
    peak = objective(Peak(), FEW)
    start = next(random_pairs(FEW, np.random.default_rng(3)))
    reached = climb(peak, start, FEW, np.random.default_rng(4), steps=300)
    within(reached, FEW)
    assert peak(reached) > peak(start)
    assert peak(climb(peak, start, FEW, np.random.default_rng(4), steps=0)) == peak(start)


def test_hypothesis_guides_the_search():
    peak = objective(Peak(), FEW)
    found = guided(peak, FEW, examples=150)
    within(found, FEW)
    typical = np.median([peak(p) for p in islice(random_pairs(FEW, np.random.default_rng(0)), 30)])
    assert peak(found) > typical


def test_a_sensitivity_that_is_one_too_small_is_found():
    finding = audit_statistic(
        "peak", Peak(), FEW, worst(objective(Peak(), FEW), FEW, np.random.default_rng(0), tries=20, steps=50)
    )
    assert finding.violated
    assert finding.found == pytest.approx((FEW.rows - 1) / (FEW.rows - 2))
    assert "duplicated rows" in finding.evidence


def test_a_right_sensitivity_is_reached_and_kept():
    statistic = Counts((("a", "b"), ("c",)))
    pairs = worst(objective(statistic, FEW), FEW, np.random.default_rng(0), tries=10, steps=20)
    finding = audit_statistic("counts", statistic, FEW, pairs)
    assert not finding.violated
    assert finding.found == 1


def test_tables_that_are_no_neighbours_are_refused():
    with pytest.raises(SettingError, match="one row"):
        Neighbours(np.zeros((3, 1), dtype=np.int64), np.ones((3, 1), dtype=np.int64), "none")
    with pytest.raises(SettingError, match="same shape"):
        Neighbours(np.zeros((3, 1), dtype=np.int64), np.zeros((2, 1), dtype=np.int64), "none")


def test_the_evidence_shows_both_tables_in_short():
    first = np.array([[0, 1]] * 5 + [[1, 1]])
    second = first.copy()
    second[5] = (0, 2)
    words = Neighbours(first, second, "by hand").words()
    assert words == "6 rows: one row (1, 1) -> (0, 2); the others: 5 x (0, 1) (by hand)"


def test_codes_become_a_table_in_the_order_of_the_columns():
    rows = np.array([[0, 1], [1, 2], [0, 1]])
    (counts,) = table_of(rows, PAIR).counts([("a", "b")])
    assert counts[0, 1] == 2
    assert counts[1, 2] == 1
