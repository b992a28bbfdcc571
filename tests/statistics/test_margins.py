"""Margins and what is made of them: the least over thresholds, how many are separated, contrasts."""

from __future__ import annotations

from functools import cache
from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.arrays import IntArray
from discreet.audit import table_of
from discreet.audit.broken import domain_of
from discreet.audit.neighbours import climb, every, hand_made, random_pairs
from discreet.audit.statistics import AverageTau
from discreet.audit.subjects import objective
from discreet.errors import SettingError
from discreet.statistics.dependence import MOVED
from discreet.statistics.information import ConditionalInformation, ConditionalTotalVariation
from discreet.statistics.margins import CHUNK, Contrasts, HowMany, Margin, Margins, Separators
from discreet.statistics.ranks import StratifiedKendallDet, StratifiedSpearman

KINDS = (ConditionalTotalVariation, ConditionalInformation, StratifiedKendallDet, StratifiedSpearman)


def margin(kind, x, y, sets, thresholds=None):
    statistics = tuple(kind(x, y, s) for s in sets)
    return Margin(statistics, thresholds or (0,) * len(statistics))


def made(kind):
    """Margins of three columns, and everything that is made of them."""
    xy = margin(kind, "x", "y", ((), ("z",)), (400, 100))
    xz = margin(kind, "x", "z", ((), ("y",)))
    yz = margin(kind, "y", "z", (("x",),), (250,))
    return (
        Margins((xy, xz, yz)),
        Separators((xy, xz, yz)),
        HowMany((xy, xz, yz)),
        HowMany((xz,)),
        Contrasts((margin(kind, "x", "y", ((),)), xz), (margin(kind, "x", "y", (("z",),)), yz)),
    )


def moved(statistic, pair, domain):
    return np.abs(np.subtract(*(statistic.evaluate(table_of(rows, domain)) for rows in (pair.first, pair.second))))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sizes", [{"x": 2, "y": 2, "z": 2}, {"x": 3, "y": 2, "z": 2}])
def test_no_neighbours_of_small_tables_move_a_number_further_than_declared(kind, sizes):
    domain, statistics = domain_of(3, **sizes), made(kind)

    @cache
    def values(rows: bytes) -> tuple[IntArray, ...]:
        table = table_of(np.frombuffer(rows, dtype=np.int64).reshape(3, -1), domain)
        return tuple(statistic.evaluate(table) for statistic in statistics)

    most = [0] * len(statistics)
    for pair in every(domain):
        both = (values(np.ascontiguousarray(rows, dtype=np.int64).tobytes()) for rows in (pair.first, pair.second))
        for i, (first, second) in enumerate(zip(*both, strict=True)):
            most[i] = max(most[i], int(np.abs(first - second).max()))
    for statistic, found in zip(statistics, most, strict=True):
        assert 0 < found <= statistic.sensitivity(domain).largest


@pytest.mark.parametrize("kind", KINDS)
def test_no_climb_finds_neighbours_that_move_a_number_further_than_declared(kind):
    domain = domain_of(60, x=3, y=2, z=2)
    rng = np.random.default_rng(3)
    for statistic in made(kind):
        declared = statistic.sensitivity(domain)
        starts = [*islice(hand_made(domain), 6), *islice(random_pairs(domain, rng), 6)]
        best = max(starts, key=objective(statistic, domain))
        assert objective(statistic, domain)(climb(objective(statistic, domain), best, domain, rng, steps=80)) <= 1
        assert declared.l1 == declared.largest * len(statistic.evaluate(table_of(best.first, domain)))
        assert declared.l2_squared == declared.largest * declared.l1


def test_a_margin_is_the_least_over_its_thresholds():
    domain = domain_of(60, x=3, y=2, u=2, z=3)
    sets, thresholds = ((), ("u",), ("z",), ("u", "z")), (300, 0, 50, -10)
    statistic = Margins(
        (margin(ConditionalTotalVariation, "x", "y", sets, thresholds), margin(AverageTau, "y", "z", [()]))
    )
    for pair in islice(random_pairs(domain, np.random.default_rng(1)), 20):
        table = table_of(pair.first, domain)
        each = [
            int(ConditionalTotalVariation("x", "y", s).evaluate(table)[0]) - t
            for s, t in zip(sets, thresholds, strict=True)
        ]
        other = int(AverageTau("y", "z").evaluate(table)[0])
        assert statistic.evaluate(table).tolist() == [min(each), other]
        assert Separators(statistic.parts).evaluate(table).tolist() == [-min(each), -other]
        contrast = Contrasts(statistic.parts[:1], statistic.parts[1:])
        assert contrast.evaluate(table).tolist() == [max(min(each), 0) - max(other, 0)]
    assert set(statistic.columns) == {"x", "y", "u", "z"}
    assert statistic.name == "margins of 2 pairs"


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=6), st.lists(st.integers(-1, 1), min_size=6, max_size=6))
@settings(max_examples=300, deadline=None)
def test_how_many_is_best_where_the_sign_changes_and_moves_as_little_as_its_margins(values, steps):
    def utilities(numbers):
        numbers = np.sort(np.array(numbers))
        inner = np.minimum(-numbers[:-1], numbers[1:])
        return np.concatenate([numbers[:1], inner, -numbers[-1:]])

    found = utilities(values)
    below = sum(v < 0 for v in values)
    if all(values):
        assert found[below] > 0
        assert np.delete(found, below).max(initial=-1) < 0
    neighbour = [v + s for v, s in zip(values, steps, strict=False)]
    assert np.abs(found - utilities(neighbour)).max() <= 1


def test_how_many_agrees_with_the_margins():
    domain = domain_of(40, x=2, y=2, z=2)
    parts = made(ConditionalTotalVariation)[0].parts
    for pair in islice(random_pairs(domain, np.random.default_rng(2)), 20):
        table = table_of(pair.first, domain)
        ordered = sorted(Margins(parts).evaluate(table).tolist())
        found = HowMany(parts).evaluate(table).tolist()
        assert found[0] == ordered[0]
        assert found[-1] == -ordered[-1]
        assert found[1:-1] == [min(-a, b) for a, b in pairwise(ordered)]


class Counting:
    """A table that notes what is asked of it."""

    def __init__(self, table):
        self.table, self.calls, self.rows = table, [], table.rows

    def counts(self, sets):
        self.calls.append(list(sets))
        return self.table.counts(sets)


def test_every_set_of_columns_is_counted_once_and_a_few_at_a_time():
    domain = domain_of(30, **{f"c{i:02d}": 2 for i in range(18)})
    names = sorted(domain)
    parts = tuple(
        margin(ConditionalTotalVariation, a, b, [(), *((c,) for c in names if c not in (a, b))])
        for i, a in enumerate(names)
        for b in names[i + 1 :]
    )
    table = Counting(table_of(np.random.default_rng(0).integers(0, 2, size=(30, 18)), domain))
    Margins(parts).evaluate(table)
    asked = [s for call in table.calls for s in call]
    assert len(asked) == len({frozenset(s) for s in asked}) == 18 * 17 // 2 + 18 * 17 * 16 // 6
    assert max(map(len, table.calls)) <= CHUNK


def test_what_cannot_be_asked_is_refused():
    one = AverageTau("x", "y")
    for statistics, thresholds in (((), ()), ((one,), ()), ((one, AverageTau("x", "z")), (0, 0))):
        with pytest.raises(SettingError, match="margin"):
            Margin(statistics, thresholds)
    with pytest.raises(SettingError, match="sign"):
        Margin((AverageTau("x", "y", signed=True),), (0,))
    with pytest.raises(SettingError, match="margins"):
        Margins(())
    with pytest.raises(SettingError, match="contrasts"):
        Contrasts((Margin((one,), (0,)),), ())
    assert Margins((Margin((one,), (0,)),)).sensitivity(domain_of(5, x=2, y=2)).largest == MOVED


@pytest.mark.parametrize("kind", [Margins, Separators, HowMany])
def test_columns_that_cannot_be_counted_are_refused(kind):
    part = Margin((ConditionalTotalVariation("x0", "x1"),), (0,))
    kind((part,)).sensitivity(domain_of(5, x0=2, x1=2))
    with pytest.raises(SettingError):
        kind((part,)).sensitivity(domain_of(1 << 40, x0=2, x1=2))
