"""Dependence of permuted rows: values, sensitivities, the level of the test, and the noisy rank."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import discreet as dc
from discreet.audit import Neighbours, table_of
from discreet.audit.neighbours import climb, random_pairs
from discreet.audit.statistics import SeparationHSIC
from discreet.audit.subjects import objective
from discreet.errors import RoomError, SettingError
from discreet.privacy.accounting import Currency
from discreet.privacy.mechanisms.noisy_rank import NoisyRank, noisy_rank_for
from discreet.privacy.mechanisms.sparse_vector import AboveThreshold, above_threshold_for
from discreet.statistics import Sensitivity
from discreet.statistics.curves import UNIT, on_scale
from discreet.statistics.dependence import moved_by_steps
from discreet.statistics.hsic import hsic_v
from discreet.statistics.permutation import (
    LEVELS,
    MAX_ROWS,
    SIZES,
    Compared,
    PermutedHSIC,
    Shifts,
    beyond,
    exactly,
    size_for,
)
from discreet.statistics.ridge import CUT, moved_residual, residuals, stability
from discreet.testing import SeededNoise

GRID = dc.Numeric(bounds=(-1.0, 1.0)).size


def domain_of(rows, names="xyz"):
    return dc.Domain({c: dc.Numeric(bounds=(-1.0, 1.0)) for c in names}, rows=rows)


def coded(*columns):
    return np.stack([np.minimum((np.clip(c, -1, 1) + 1) / 2 * GRID, GRID - 1).astype(np.int64) for c in columns], 1)


def statistic(kind, rows, given=(), **settings):
    return kind(Compared.of("x", "y", given, domain_of(rows)), **settings)


def drawn(rows, rng, slope=0.0):
    x, z = rng.uniform(-1, 1, (2, rows))
    return coded(x, slope * x + rng.uniform(-0.5, 0.5, rows), z)


@pytest.mark.parametrize(("rows", "size"), [(2, 2), (7, 6), (50, 240), (199, 20), (500, 240), (1000, 360)])
def test_shifts_are_a_group_of_permutations(rows, size):
    shifts = Shifts(rows, size)
    places = np.arange(rows)
    assert sum(many * length for many, length in shifts.cycles()) == rows
    assert all(size % length == 0 for _, length in shifts.cycles())
    assert sorted(shifts.order().tolist()) == places.tolist()
    for by in (0, 1, size // 2, size - 1):
        moved = shifts.shifted(places, by)
        assert sorted(moved.tolist()) == places.tolist()
        assert (shifts.shifted(moved, 3) == shifts.shifted(places, (by + 3) % size)).all()
    if rows > 1:
        assert Shifts(rows, size, 1).order().tolist() != shifts.order().tolist() or rows < 8


def test_hardly_a_row_stays_where_it_is():
    for rows in (200, 333, 500, 999, 5_000):
        shifts = Shifts(rows, 240)
        stay = [np.mean(shifts.shifted(np.arange(rows), by) == np.arange(rows)) for by in range(1, 240)]
        assert np.mean(stay) < 0.02


def test_levels_are_decimal_numbers():
    assert exactly(0.05) == Fraction(1, 20)
    assert [beyond(0.05, size) for size in (20, 240)] == [1, 12]
    assert beyond(0.29, 100) == 29
    assert size_for(0.05) == 240
    assert all(size_for(a) in SIZES for a in (0.5, 0.1, 0.01, 0.001))
    for wrong in (0, 1, -0.1, math.nan, "0.05", True):
        with pytest.raises(SettingError):
            exactly(wrong)
    with pytest.raises(SettingError):
        size_for(1e-5)
    with pytest.raises(SettingError):
        beyond(0.01, 20)


@pytest.mark.parametrize("rows", [60, 1_500])
def test_values_are_the_roots_of_hsic_of_permuted_rows(rows):
    rng = np.random.default_rng(1)
    codes = drawn(rows, rng, 0.3)
    asked = statistic(PermutedHSIC, rows, size=6)
    found = asked.evaluate(table_of(codes, domain_of(rows))) * asked.unit(rows)
    shifts = Shifts(rows, 6)
    x, y = (
        (2 * ((on_scale(codes[:, i], GRID) + UNIT) * LEVELS // (2 * UNIT)) + 1)[shifts.order()] / LEVELS - 1
        for i in (0, 1)
    )
    for by in range(6):
        assert found[by] == pytest.approx(math.sqrt(hsic_v(x, shifts.shifted(y, by), 0.2, 0.2)), abs=asked.unit(rows))


@pytest.mark.parametrize("given", [("z",), ("w", "z")])
def test_values_given_others_are_those_of_residuals(given):
    rng, rows = np.random.default_rng(2), 80
    x, y, w, z = rng.uniform(-1, 1, (4, rows))
    domain = domain_of(rows, "xywz")
    codes = coded(x, y, w, z)
    asked = PermutedHSIC(Compared.of("x", "y", given, domain), size=6, ridge=0.1)
    found = asked.evaluate(table_of(codes, domain)) * asked.unit(rows)
    x, y, w, z = (on_scale(column, GRID) / UNIT for column in codes.T)
    behind = {"w": w, "z": z}
    gram = math.prod(np.exp(-(np.subtract.outer(behind[c], behind[c]) ** 2) / (2 * 0.09)) for c in given)
    left = [np.linalg.solve(np.eye(rows) + gram / (0.05 * rows), column) for column in (x, y)]
    assert found[0] == pytest.approx(math.sqrt(hsic_v(*left, 0.3, 0.3)), abs=asked.unit(rows))


def test_residuals_on_several_columns_move_as_little_as_is_proved():
    """The bound is about every row but the substituted one, and two columns with the same numbers are one."""
    rng, rows, ridge = np.random.default_rng(3), 40, 0.5
    for _ in range(50):
        w, z = rng.uniform(-1, 1, (2, rows))
        y = rng.choice([-1.0, 1.0], rows)
        for many in ([w], [w, z]):
            before = residuals([y], many, 0.3, ridge)[0]
            changed, other = [c.copy() for c in many], y.copy()
            other[0] = -y[0]
            for column in changed:
                column[0] = rng.uniform(-1, 1)
            after = residuals([other], changed, 0.3, ridge)[0]
            assert np.abs(before - after)[1:].max() <= stability(rows, ridge)


@pytest.mark.parametrize("given", [(), ("z",), ("w", "z")])
def test_no_neighbours_are_further_apart_than_declared(given):
    rng, rows = np.random.default_rng(4), 12
    domain = domain_of(rows, "xywz")
    columns = Compared.of("x", "y", given, domain)
    for asked in (PermutedHSIC(columns, 6, ridge=20.0), SeparationHSIC(columns, 6, ridge=20.0, alpha=0.34)):
        used = objective(asked, domain)
        pairs = random_pairs(domain, rng)
        best = max((next(pairs) for _ in range(60)), key=used)
        assert used(climb(used, best, domain, rng, steps=120)) <= 1


def test_permuted_rows_move_nearly_as_far_as_declared():
    """All rows equal but one x and one y, which the permutation pairs with the substituted row."""
    rows = 400
    shifts = Shifts(rows, 20)
    order = shifts.order()
    paired = order[shifts.shifted(np.arange(rows), 1)]
    first = np.zeros((rows, 3), dtype=np.int64)
    changed, row = first.copy(), order[5]
    first[paired[5], 1] = first[order[4], 0] = GRID - 1
    changed[:] = first
    changed[row, :2] = GRID - 1
    asked = statistic(PermutedHSIC, rows, size=20)
    used = objective(asked, domain_of(rows))(Neighbours(first, changed, "by hand"))
    assert 0.9 < used <= 1


def test_the_noisy_rank_has_its_level_for_a_fixed_arrangement():
    rng, rows, runs = np.random.default_rng(5), 50, 1_000
    asked = statistic(PermutedHSIC, rows, size=20)
    scale = 300.0
    told = {0.0: 0, scale: 0}
    for _ in range(runs):
        exact = asked.evaluate(table_of(drawn(rows, rng), domain_of(rows)))
        for noise in told:
            noisy = exact + (rng.laplace(0, noise, 20) if noise else 0)
            told[noise] += int((noisy[1:] >= noisy[0]).sum() < beyond(0.1, 20))
    for rejected in told.values():
        assert abs(rejected / runs - 0.1) < 4 * math.sqrt(0.09 / runs)


def test_the_margin_is_below_0_exactly_where_the_test_rejects():
    rng, rows = np.random.default_rng(6), 60
    domain = domain_of(rows)
    for slope in (0.0, 0.2, 0.4):
        for _ in range(20):
            table = table_of(drawn(rows, rng, slope), domain)
            values = statistic(PermutedHSIC, rows, size=20).evaluate(table)
            rejected = (values[1:] >= values[0]).sum() < 2
            (margin,) = statistic(SeparationHSIC, rows, size=20, alpha=0.1).evaluate(table)
            (turned,) = statistic(SeparationHSIC, rows, size=20, alpha=0.1, opposite=True).evaluate(table)
            assert turned == -margin
            assert (margin < 0) == rejected or abs(margin) <= 1


def test_margins_with_and_without_others_given_are_asked_of_one_gate():
    rng, rows = np.random.default_rng(7), 500
    domain = domain_of(rows)
    budget, noise = dc.Budget(epsilon=8.0, delta=0), SeededNoise(7)
    room = dc.Room(table_of(drawn(rows, rng, 0.9), domain), domain, budget, noise=noise)
    gate = room.open(above_threshold_for(Fraction(8), moved_by_steps()), moved_by_steps(), purpose="margins")
    asked = SeparationHSIC(Compared.of("x", "y", (), domain))
    assert not gate.passes(asked, -1_000)
    assert gate.passes(SeparationHSIC(Compared.of("x", "z", (), domain)), -2_000)
    assert not gate.open


def test_a_gate_that_samples_refuses_what_depends_on_the_order_of_rows():
    rng, rows = np.random.default_rng(8), 60
    domain = domain_of(rows)
    room = dc.Room(table_of(drawn(rows, rng), domain), domain, dc.Budget(epsilon=9.0, delta=0))
    gate = room.open(AboveThreshold(1e3, 1e3, sample=30, rows=rows), moved_by_steps(), purpose="margins")
    with pytest.raises(RoomError, match="order of rows"):
        gate.passes(SeparationHSIC(Compared.of("x", "y", (), domain.with_rows(30))), 0)


@pytest.mark.parametrize("currency", list(Currency))
def test_the_noisy_rank_costs_what_it_may(currency):
    sensitivity = Sensitivity(Fraction(9), Fraction(9), Fraction(621), first=Fraction(380))
    for amount in (Fraction(1, 1000), Fraction(1), Fraction(7)):
        cost = noisy_rank_for(currency, amount, sensitivity, 3).cost(sensitivity).amount(currency)
        assert amount * Fraction(999, 1000) < cost <= amount
    with pytest.raises(SettingError):
        NoisyRank(3.0, 1).cost(Sensitivity(Fraction(1), Fraction(1), Fraction(1)))
    with pytest.raises(SettingError):
        NoisyRank(3.0, 0)


@pytest.mark.parametrize(
    ("columns", "given"), [(("x", "x"), ()), (("x", "y"), ("x",)), (("x", "y"), ("z", "w")), (("x", "c"), ())]
)
def test_what_cannot_be_compared_is_refused(columns, given):
    domain = dc.Domain({**domain_of(60, "xywz").columns, "c": dc.Categorical(categories=("a", "b"))}, rows=60)
    with pytest.raises(SettingError):
        Compared.of(*columns, given, domain)


def test_too_many_rows_for_a_kernel_are_refused_before_anything_is_spent():
    domain = domain_of(5_000, "xywz")
    room = dc.Room(table_of(np.zeros((5_000, 4), dtype=np.int64), domain), domain, dc.Budget(epsilon=1.0, delta=0))
    asked = PermutedHSIC(Compared.of("x", "y", ("w", "z"), domain))
    with pytest.raises(SettingError, match="at most 4,000"):
        room.release(asked, NoisyRank(1e4, 12))
    assert not room.budget.entries


@pytest.mark.parametrize("ridge", [1e-4, 0.05, 1.0, 1e4])
@pytest.mark.parametrize(("rows", "given"), [(2, 1), (50_000, 1), (4_000, 2)])
def test_a_fit_is_granted_the_rounding_that_is_proved(rows, given, ridge):
    """As ``permutation.md`` says, for one given column and for several."""
    error = 5e-8 * max(ridge**-1.5, 1) if given == 1 else 7e-16 * rows**2.5 * (1 / ridge + 1 / 2)
    proved = min(stability(rows, ridge) + 2 * error, 2 * CUT)
    assert moved_residual(rows, given, ridge) == pytest.approx(proved, rel=1e-12)


@pytest.mark.parametrize("rows", [1, MAX_ROWS + 1])
def test_too_few_or_too_many_rows_are_refused(rows):
    with pytest.raises(SettingError, match="rows"):
        statistic(PermutedHSIC, rows).sensitivity(domain_of(rows))


@pytest.mark.parametrize("widths", [(1e-9, 1.0), (1.0, 1e-9), (1e9, 1.0), (1.0, 1e9)])
def test_widths_that_no_proof_is_about_are_refused(widths):
    domain = dc.Domain({c: dc.Numeric(bounds=(0.0, 1.0)) for c in "xyz"}, rows=9)
    with pytest.raises(SettingError, match="width"):
        PermutedHSIC(Compared.of("x", "y", ("z",), domain), 6, width=widths[0], behind=widths[1], ridge=50.0)
