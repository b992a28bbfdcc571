"""What is asked about two numeric columns: curves, differences of fits and quartiles; what a row can move."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

import discreet as dc
from discreet.audit import table_of
from discreet.audit.neighbours import climb, every, hand_made, random_pairs
from discreet.audit.subjects import objective
from discreet.data.memory import MemoryTable
from discreet.errors import SettingError
from discreet.methods.direction import SCORES
from discreet.statistics.curves import UNIT, BinnedSums, Curve, Scaled, on_scale
from discreet.statistics.dependence import MOVED
from discreet.statistics.direction import MAX_ROWS, KendallResiduals, RootHSIC, SquaredErrors
from discreet.statistics.quantiles import PLACES, Quartiles
from support.pairs import coded

FITTED = [kind for kind in SCORES.values() if kind is not None]
CURVES = (
    (Curve((-9_000, 2_000, 15_000)), Curve((-20_000, 500, 11_000))),
    (Curve((UNIT, -UNIT)), Curve((-UNIT, UNIT, -UNIT))),
    (Curve((0, 0)), Curve((0, 0))),
)


def ordered(rows, x=3, y=3):
    def column(levels):
        return dc.Categorical(categories=tuple(map(str, range(levels))), ordered=True)

    return dc.Domain({"x": column(x), "y": column(y)}, rows=rows)


def all_of(domain):
    pair = Scaled.of("x", "y", domain)
    for curves in CURVES:
        yield from (kind(pair, *curves) for kind in FITTED)
        yield Quartiles(pair, *curves)
    yield from (BinnedSums(pair, bins) for bins in (2, 3, 5))


@pytest.mark.parametrize("shape", [(3, 3, 3), (4, 2, 2), (2, 4, 3)])
def test_no_neighbours_of_small_tables_move_a_number_further_than_declared(shape):
    domain = ordered(*shape)
    tables, places = {}, []
    for pair in every(domain):
        both = [tuple(sorted(map(tuple, rows.tolist()))) for rows in (pair.first, pair.second)]
        places.append([tables.setdefault(rows, len(tables)) for rows in both])
    first, second = np.array(places).T
    most = {}
    for statistic in all_of(domain):
        values = np.array([statistic.evaluate(table_of(np.array(rows), domain)) for rows in tables])
        change, declared = np.abs(values[first] - values[second]), statistic.sensitivity(domain)
        assert change.max() <= declared.largest
        assert change.sum(axis=1).max() <= declared.l1
        assert (change**2).sum(axis=1).max() <= declared.l2_squared
        key = type(statistic).__name__
        most[key] = max(most.get(key, 0), float(change.sum(axis=1).max() / declared.l1))
    assert most["SquaredErrors"] > 0.8
    assert most["BinnedSums"] > 0.6


def test_no_neighbours_move_a_number_further_if_rows_may_be_absent():
    column = dc.Categorical(categories=("0", "1", "2"), ordered=True, missing="gone")
    plain = dc.Categorical(categories=("0", "1"), ordered=True, missing="gone", other="else")
    domain = dc.Domain({"x": column, "y": plain}, rows=3)
    pair = Scaled.of("x", "y", domain)
    assert (pair.levels, pair.whole(domain)) == ((3, 2), False)
    for curves in CURVES:
        for kind in FITTED:
            statistic = kind(pair, *curves)
            if kind.takes_absent:
                check_all(statistic, domain)
            else:
                with pytest.raises(SettingError, match="a value in every row"):
                    statistic.sensitivity(domain)
        check_all(Quartiles(pair, *curves), domain)
    check_all(BinnedSums(pair, 3), domain)
    assert {kind for kind in FITTED if kind.takes_absent} == {SquaredErrors, KendallResiduals}


def check_all(statistic, domain):
    """Compare all neighbours with what is declared."""
    declared, known = statistic.sensitivity(domain), {}

    def value(rows):
        key = rows.tobytes()
        if key not in known:
            known[key] = statistic.evaluate(table_of(rows, domain))
        return known[key]

    for pair in every(domain):
        change = np.abs(value(pair.first) - value(pair.second))
        assert change.max() <= declared.largest
        assert change.sum() <= declared.l1
        assert (change**2).sum() <= declared.l2_squared


def test_an_absent_row_counts_nowhere():
    column = dc.Categorical(categories=("0", "1", "2"), ordered=True, missing="gone")
    domain = dc.Domain({"x": column, "y": column}, rows=6)
    pair = Scaled.of("x", "y", domain)
    whole = np.array([[0, 0], [1, 2], [2, 1], [0, 2]])
    rows = np.concatenate([whole, [[3, 1], [2, 3]]])
    sums = BinnedSums(pair, 3)
    assert (sums.evaluate(table_of(rows, domain)) == sums.evaluate(table_of(whole, domain.with_rows(4)))).all()
    errors = SquaredErrors(pair, Curve((0, 0)), Curve((0, 0)))
    x, y = pair.values(table_of(rows, domain))
    assert errors._score(x, y, 6) == pytest.approx(errors._score(x, y, 4) * 4 / 6)


@pytest.mark.parametrize("kind", FITTED)
def test_no_climb_finds_neighbours_that_move_a_score_further_than_declared(kind):
    domain = ordered(40, 9, 9)
    rng = np.random.default_rng(5)
    for curves in CURVES:
        used = objective(kind(Scaled.of("x", "y", domain), *curves), domain)
        starts = [*islice(hand_made(domain), 8), *islice(random_pairs(domain, rng), 8)]
        assert used(climb(used, max(starts, key=used), domain, rng, steps=120)) <= 1


def test_the_bounds_are_nearly_met_where_they_are_known_to_be():
    domain = ordered(50, 2, 2)
    flat = Curve((0, 0))
    root = RootHSIC(Scaled.of("x", "y", domain), flat, flat)
    rows = np.zeros((50, 2), dtype=np.int64)
    alone, apart = rows.copy(), rows.copy()
    alone[0] = (1, 1)
    apart[0] = (1, 0)
    x, y = (np.array(c) for c in zip(*alone.tolist(), strict=True))
    value = root._score(on_scale(x, 2), on_scale(y, 2), 50)
    kernel = 1 - math.exp(-((1.0 / 0.3) ** 2) / 2)
    assert value == pytest.approx(2 * kernel * 49 / 50**2, rel=1e-6)
    assert root._score(on_scale(x, 2), on_scale(np.zeros(50, dtype=np.int64), 2), 50) == 0
    assert root.unit(50) * 1000 == pytest.approx(2 * math.sqrt(6) * 49 / 50**2, rel=1e-6)


def test_curves_are_means_where_there_is_no_noise():
    rng = np.random.default_rng(0)
    domain = dc.Domain({c: dc.Numeric(bounds=(-1.0, 1.0)) for c in "xy"}, rows=20_000)
    x = rng.uniform(-1, 1, 20_000)
    codes = {"x": coded(x), "y": coded(0.5 * x)}
    statistic = BinnedSums(Scaled.of("x", "y", domain), 8)
    forward, backward = statistic.curves(statistic.evaluate(MemoryTable(codes, dict.fromkeys("xy", 65534))), 0.0)
    middles = (np.arange(8) * 2 - 7) / 8
    np.testing.assert_allclose(np.array(forward.heights) / UNIT, 0.5 * middles, atol=0.01)
    inside = np.abs(middles) < 0.5
    np.testing.assert_allclose((np.array(backward.heights) / UNIT)[inside], 2 * middles[inside], atol=0.02)
    left = forward.residuals(on_scale(codes["x"].astype(int), 65_534), on_scale(codes["y"].astype(int), 65_534))
    assert np.abs(left[np.abs(x) < 0.8]).max() < 0.02 * UNIT


def test_quartiles_are_those_of_the_values():
    domain = ordered(401, 401, 2)
    rows = np.stack([np.arange(401), np.zeros(401, dtype=np.int64)], axis=1)
    statistic = Quartiles(Scaled.of("x", "y", domain), Curve((0, 0)), Curve((0, 0)))
    best = statistic.evaluate(table_of(rows, domain)).reshape(8, PLACES).argmax(axis=1)
    assert abs(best[0] - PLACES // 4) <= 2
    assert abs(best[1] - 3 * PLACES // 4) <= 2
    assert math.isfinite(statistic.margin(best))


def test_errors_are_squared_and_cut_off():
    domain = ordered(4, 5, 5)
    statistic = SquaredErrors(Scaled.of("x", "y", domain), Curve((0, 0)), Curve((0, 0)))
    assert statistic._score(np.zeros(2), np.array([UNIT // 2, -2 * UNIT]), 2) == pytest.approx((0.25 + 1) / 2)


@pytest.mark.parametrize("kind", FITTED)
def test_absent_rows_are_refused_where_the_bound_is_not_proved_for_them(kind):
    column = dc.Categorical(categories=("0", "1", "2"), ordered=True)
    domain = dc.Domain({"x": column, "y": replace(column, missing="unknown")}, rows=9)
    statistic = kind(Scaled.of("x", "y", domain), *CURVES[0])
    if kind.takes_absent:
        assert statistic.sensitivity(domain).largest == MOVED
        return
    with pytest.raises(SettingError, match="a value in every row"):
        statistic.sensitivity(domain)


@pytest.mark.parametrize("kind", FITTED)
def test_sums_must_fit(kind):
    for rows in (2, MAX_ROWS):
        domain = ordered(rows)
        assert kind(Scaled.of("x", "y", domain), *CURVES[0]).sensitivity(domain).largest == MOVED
    for rows in (1, MAX_ROWS + 1):
        with pytest.raises(SettingError, match="rows"):
            kind(Scaled.of("x", "y", domain), *CURVES[0]).sensitivity(ordered(rows))


def test_steps_are_rounded_to_the_nearest():
    rng, shares = np.random.default_rng(0), []
    domain = dc.Domain({c: dc.Categorical(categories=tuple("abcde"), ordered=True) for c in "xy"}, rows=12)
    statistic = SquaredErrors(Scaled.of("x", "y", domain), Curve((UNIT, -UNIT)), Curve((-UNIT, UNIT)))
    for _ in range(30):
        table = table_of(rng.integers(0, 5, (12, 2)), domain)
        x, y = statistic.of.values(table)
        worse = statistic._score(y, statistic.backward.residuals(y, x), 12)
        better = statistic._score(x, statistic.forward.residuals(x, y), 12)
        steps = (worse - better) / statistic.unit(12)
        shares.append(abs(steps) % 1)
        assert abs(statistic.evaluate(table)[0] - steps) <= 0.5
    assert max(shares) > 0.6
