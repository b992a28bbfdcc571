"""Kernels on arrays: ranks against pairs counted one by one, HSIC and ridge against plain formulas, and stability."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet.errors import SettingError
from discreet.statistics.hsic import (
    MANY,
    REACH,
    ROOT_ERROR,
    Waves,
    _by_tiles,
    _cross_covariance,
    frequencies,
    gaussian,
    hsic_rff,
    hsic_v,
    root_error,
    rounding_error,
    wave_error,
    waves_needed,
)
from discreet.statistics.ranks import concordance_sum, rank_product_sum
from discreet.statistics.ridge import MIN_RIDGE, ridge_fit, stability

KERNEL_ERROR = 3e-21
"""No further is the sum of cosines from the kernel, before floats are rounded."""

RNG = np.random.default_rng
LEVEL = st.one_of(st.integers(-3, 3), st.integers(-(2**62), 2**62), st.sampled_from([-(2**63), 2**63 - 1]))
PAIRS = st.lists(st.tuples(LEVEL, st.integers(-2, 2)), max_size=12)


def signs(values):
    return np.greater.outer(values, values).astype(int) - np.less.outer(values, values)


def columns(rows):
    return tuple(np.array(list(column), dtype=np.int64) for column in (zip(*rows, strict=True) if rows else ((), ())))


def plain_hsic(x, y, width_x, width_y):
    m = len(x)
    centre = np.eye(m) - 1 / m
    kernels = [np.exp(-(np.subtract.outer(v, v) ** 2) / (2 * w * w)) for v, w in ((x, width_x), (y, width_y))]
    return float(np.trace(kernels[0] @ centre @ kernels[1] @ centre)) / m**2


def plain_ridge(x, y, width, ridge, at):
    n = len(x)
    alpha = np.linalg.solve(gaussian(x, x, width) + 0.5 * n * ridge * np.eye(n), y)
    return gaussian(at, x, width) @ alpha


@settings(max_examples=300, deadline=None)
@given(PAIRS)
def test_sums_of_ranks_are_those_of_all_pairs(rows):
    x, y = columns(rows)
    assert concordance_sum(x, y) == int((signs(x) * signs(y)).sum()) // 2
    assert rank_product_sum(x, y) == int((signs(x).sum(axis=1) * signs(y).sum(axis=1)).sum())
    assert concordance_sum(y, x) == concordance_sum(x, y) == -concordance_sum(x, -y)


@pytest.mark.parametrize("levels", [2, 7, 60, 10**12])
@pytest.mark.parametrize("rows", [63, 64, 65, 129, 1000])
def test_concordance_over_more_than_one_run(rows, levels):
    x, y = RNG([rows, levels]).integers(0, levels, (2, rows))
    assert concordance_sum(x, y) == int((signs(x) * signs(y)).sum()) // 2


def test_ranks_without_ties_are_those_of_scipy():
    x, y = RNG(1).permutation(5000), RNG(2).permutation(5000)
    y[:3000] = np.sort(y[:3000])
    m = len(x)
    assert 2 * concordance_sum(x, y) / (m * (m - 1)) == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-14)
    assert 3 * rank_product_sum(x, y) / (m**3 - m) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-14)


def test_sums_that_do_not_fit_in_64_bits_are_exact():
    m = 3_200_000
    x = np.arange(m)
    assert rank_product_sum(x, x) == (m**3 - m) // 3 > 2**63
    assert rank_product_sum(x, -x) == -(m**3 - m) // 3
    assert concordance_sum(x[:1000], -x[:1000]) == -999 * 500


@pytest.mark.parametrize("sums", [concordance_sum, rank_product_sum])
def test_constants_and_single_rows_have_no_ranks(sums):
    for rows in (0, 1, 2, 5, 200):
        assert sums(np.full(rows, 3), np.arange(rows)) == 0
        assert sums(np.arange(rows), np.full(rows, -3)) == 0
    assert sums(np.array([1, 2]), np.array([5, 4])) < 0


@pytest.mark.parametrize("spread", [0.0, 0.3, 5.0, 80.0, 600.0])
@pytest.mark.parametrize("margin", [0.0, REACH])
def test_waves_stand_for_the_kernel(spread, margin):
    waves = Waves.over(-3.0, spread, 1.0, margin)
    assert len(waves.squares) == waves_needed(spread, 1.0, margin)
    x = np.linspace(-3.0, -3.0 + spread, 200)
    beyond = np.linspace(-3.0 - margin, -3.0 + spread + margin, 200)
    found = waves.features(beyond) * waves.weights @ waves.features(x).T + waves.constant
    assert np.abs(found - gaussian(beyond, x, 1.0)).max() < 1e-13 * (1 + spread / 10)


def test_the_error_of_waves_is_what_is_stated():
    beside = 2 * sum(math.exp(-0.5 * (k * REACH) ** 2) for k in range(1, 5))
    assert beside + math.erfc(REACH / math.sqrt(2)) < KERNEL_ERROR


@pytest.mark.parametrize("width", [0.003, 0.03, 0.3, 3.0, 300.0])
@pytest.mark.parametrize("rows", [2, 3, 10, 300, 700])
def test_hsic_is_the_plain_formula(rows, width):
    rng = RNG(rows)
    x = rng.normal(size=rows)
    y = np.round(x**2 + rng.normal(size=rows), 1)
    expected = plain_hsic(x, y, width, 0.5)
    assert hsic_v(x, y, width, 0.5) == pytest.approx(expected, abs=1e-12)
    assert hsic_v(y, x, 0.5, width) == pytest.approx(expected, abs=1e-12)
    assert _by_tiles(x, y, width, 0.5, 64) == pytest.approx(expected, abs=1e-12)
    assert 0 <= expected <= 0.25 + 1e-12


def test_both_ways_to_hsic_agree_in_blocks():
    rng = RNG(3)
    x = rng.uniform(-1, 1, 6000)
    y = np.clip(x**3 + 0.3 * rng.normal(size=6000), -1, 1)
    for width in (0.3, 0.02):
        assert hsic_v(x, y, width, 0.2) == pytest.approx(_by_tiles(x, y, width, 0.2, 1000), abs=1e-14)
    few, far = y[:20], np.append(x[:19], 1e6)
    assert hsic_v(far, few, 0.3, 0.2, block=1) == pytest.approx(plain_hsic(far, few, 0.3, 0.2), abs=1e-15)


def test_hsic_does_not_mind_order_shift_or_scale():
    rng = RNG(4)
    x, y = rng.normal(size=(2, 400))
    y += x
    value, order = hsic_v(x, y, 0.5, 0.7), rng.permutation(400)
    assert hsic_v(x[order], y[order], 0.5, 0.7) == pytest.approx(value, abs=1e-15)
    assert hsic_v(x + 64, -y, 0.5, 0.7) == pytest.approx(value, abs=1e-14)
    assert hsic_v(8 * x, y, 4.0, 0.7) == pytest.approx(value, abs=1e-15)
    assert hsic_v(np.tile(x, 3), np.tile(y, 3), 0.5, 0.7) == pytest.approx(value, abs=1e-15)


def test_the_root_of_hsic_is_exact_near_nothing():
    x = np.zeros(2000)
    x[0], y = 1e-6, np.linspace(-1, 1, 2000)
    centred = gaussian(y, y, 0.5) - gaussian(y, y, 0.5).mean(axis=0)
    centred -= centred.mean(axis=1)[:, None]
    expected = 1e-6 / 0.5 / 2000 * math.sqrt(centred[0, 0])
    assert math.sqrt(hsic_v(x, y, 0.5, 0.5)) == pytest.approx(expected, abs=1e-14)


def test_the_error_of_the_root_is_known_from_public_ranges():
    assert root_error(2, (2.0, 20.0), (0.2, 0.5)) == wave_error(2)
    assert root_error(100_000, (2.0, 2.0), (0.01, 0.01)) == wave_error(100_000)
    assert root_error(100, (2.0, 2.0), (0.01, 0.01)) == math.sqrt(rounding_error(100)) > wave_error(100)
    assert root_error(10**9, (math.inf, 1.0), (1.0, 1.0)) == math.sqrt(rounding_error(10**9))
    assert wave_error(MANY) < ROOT_ERROR


def certified_hsic(x, y, width):
    """Return the root of HSIC in ball arithmetic, by the plain formula."""
    with ctx.workprec(200):
        m, scale = len(x), 2 * arb(width) ** 2
        kernels = [[[(-((arb(a) - arb(b)) ** 2) / scale).exp() for b in of] for a in of] for of in (x, y)]
        of_x, of_y = ([sum(row, arb(0)) / m for row in kernel] for kernel in kernels)
        mean_x, mean_y = sum(of_x, arb(0)) / m, sum(of_y, arb(0)) / m
        products = sum((a * b for rows in zip(*kernels, strict=True) for a, b in zip(*rows, strict=True)), arb(0))
        apart = sum(((a - mean_x) * (b - mean_y) for a, b in zip(of_x, of_y, strict=True)), arb(0))
        found = products / m**2 - mean_x * mean_y - 2 * apart / m
        return float(found), float(max(found, arb(0)).sqrt())


@pytest.mark.parametrize("width", [0.05, 0.3, 2.0])
def test_errors_are_within_their_bounds_in_certified_arithmetic(width):
    rng = RNG(8)
    x = np.round(rng.uniform(-1, 1, 70), 3)
    for y in (np.round(rng.uniform(-1, 1, 70), 3), np.round(x**2 + 0.1, 3), np.append(np.zeros(69), 0.7)):
        value, root = certified_hsic(x.tolist(), y.tolist(), width)
        assert abs(hsic_v(x, y, width, width) - value) <= rounding_error(70)
        assert abs(_by_tiles(x, y, width, width, 32) - value) <= rounding_error(70)
        assert abs(math.sqrt(hsic_v(x, y, width, width)) - root) <= wave_error(70)


def test_rounding_of_long_sums_is_within_its_bound():
    """The same numbers again and again: roundings do not cancel, and are seen against exact sums."""
    rows = 1 << 18
    x, y = np.tile([0.1, -0.7, 0.3], rows)[:rows], np.tile([0.3, 0.2], rows)[:rows]
    of_x, of_y = Waves.over(-1.0, 2.0, 0.3), Waves.over(-1.0, 2.0, 0.5)
    crossed = _cross_covariance(x, y, of_x.weighted, of_y.weighted, rows)
    a, b = of_x.weighted(x[:3]), of_y.weighted(y[:2])
    met = Counter(zip((np.arange(rows) % 3).tolist(), (np.arange(rows) % 2).tolist(), strict=True))
    exact = np.zeros_like(crossed)
    for i, j in np.ndindex(exact.shape):
        means = [
            sum(n * Fraction(f) for n, f in zip(np.bincount(np.arange(rows) % len(of)).tolist(), of, strict=True))
            for of in (a[:, i].tolist(), b[:, j].tolist())
        ]
        together = sum(n * Fraction(a[k, i].item()) * Fraction(b[g, j].item()) for (k, g), n in met.items())
        exact[i, j] = float(together / rows - means[0] * means[1] / rows**2)
    error = float(np.linalg.norm(crossed - exact))
    assert 0 < error <= 13 * rows * 2.0**-53


HUGE = st.one_of(st.sampled_from([0.0, 1.0, -1e308, 1e308, 5e-324, 1e200]), st.floats(-1e9, 1e9))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(HUGE, HUGE), max_size=8), st.sampled_from([1e-100, 1e-3, 1.0, 1e100]))
def test_every_column_of_finite_numbers_has_a_value(rows, width):
    x, y = (np.array(c, dtype=float) for c in (zip(*rows, strict=True) if rows else ((), ())))
    assert 0 <= hsic_v(x, y, width, 1.0) <= 0.25 + 1e-12
    fit = ridge_fit(x, np.clip(y, -1, 1), width, 0.1)
    assert (np.abs(fit.predict(np.append(x, y))) <= 1 / math.sqrt(0.2) + 1e-9).all()
    assert fit.predict(np.zeros(0)).shape == (0,)


def test_constants_and_single_rows_have_no_hsic():
    given = frequencies(0.5, 7)
    for rows in (0, 1, 2, 900):
        constant, varied = np.full(rows, 0.1), np.linspace(0, 1e5, rows)
        assert hsic_v(constant, varied, 0.3, 0.3) == hsic_v(varied, constant, 0.3, 1e6) == 0
        assert hsic_rff(constant, varied, given, given) == pytest.approx(0, abs=1e-30)


def test_features_are_the_plain_formula():
    rng = RNG(5)
    x, y = rng.normal(size=(2, 3000))
    y += np.cos(3 * x)
    of_x, of_y = frequencies(0.5, 80), frequencies(0.9, 31)
    features = [
        np.concatenate([f(np.multiply.outer(v, w)) for f in (np.cos, np.sin)], axis=1) / math.sqrt(len(w))
        for v, w in ((x, of_x), (y, of_y))
    ]
    assert np.square(features[0]).sum(axis=1) == pytest.approx(1)
    crossed = (features[0] - features[0].mean(axis=0)).T @ (features[1] - features[1].mean(axis=0)) / 3000
    assert hsic_rff(x, y, of_x, of_y) == pytest.approx(float((crossed**2).sum()), abs=1e-13)
    assert hsic_rff(x, y, -of_x, of_y) == pytest.approx(hsic_rff(x, y, of_x, of_y), abs=1e-15)


def test_frequencies_follow_the_kernel():
    assert frequencies(2.0, 5) == pytest.approx(stats.norm.ppf((np.arange(5, 10) + 0.5) / 10) / 2)
    x, y = RNG(6).uniform(-1, 1, (2, 500))
    y = (x + y) / 2
    exact = hsic_v(x, y, 0.4, 0.4)
    errors = [abs(hsic_rff(x, y, *[frequencies(0.4, count)] * 2) - exact) for count in (10, 100, 1000)]
    assert errors[2] < errors[1] < errors[0] < 0.3 * exact


@pytest.mark.parametrize("ridge", [1e-6, 0.01, 1.0, 50.0])
@pytest.mark.parametrize(("width", "digits"), [(0.02, 9), (0.3, 9), (0.3, 1), (5.0, 2), (0.001, 2)])
def test_ridge_is_the_dense_solution(width, digits, ridge):
    rng = RNG(7)
    x = np.round(rng.uniform(-1, 1, 600), digits)
    y = np.clip(np.sin(4 * x) + 0.3 * rng.normal(size=600), -1, 1)
    at = np.concatenate([x, np.linspace(-2, 2, 300), [-5.0, 5.0, 1e200]])
    fit = ridge_fit(x, y, width, ridge)
    assert len(fit.coefficients) <= len(np.unique(x))
    with np.errstate(over="ignore"):
        assert fit.predict(at) == pytest.approx(plain_ridge(x, y, width, ridge, at), abs=1e-12 / ridge + 1e-13)


def test_ridge_minimises_its_objective():
    rng = RNG(8)
    x, y = np.round(rng.normal(size=40), 1), rng.uniform(-1, 1, 40)
    points = np.unique(x)
    kernel = gaussian(points, points, 0.8)
    where = np.searchsorted(points, x)

    def objective(weights):
        return 0.05 * weights @ kernel @ weights + np.mean((kernel[where] @ weights - y) ** 2)

    best = ridge_fit(x, y, 0.8, 0.1).coefficients
    assert len(best) == len(points)
    assert all(objective(best) < objective(best + 0.01 * rng.normal(size=len(best))) for _ in range(50))


def test_ridge_without_rows_and_with_few():
    at = np.array([0.0, 2.0])
    assert (ridge_fit(np.zeros(0), np.zeros(0), 1.0, 1.0).predict(at) == 0).all()
    assert ridge_fit(np.zeros(1), np.ones(1), 1.0, 1.0).predict(at) == pytest.approx([2 / 3, 2 / 3 * math.exp(-2)])
    many = ridge_fit(np.full(1000, 0.3), np.ones(1000), 1.0, 1.0)
    assert many.predict(np.array([0.3])) == pytest.approx([2 / 3])


@pytest.mark.parametrize(("ridge", "expected"), [(1, 5.14), (0.1, 89.3), (0.01, 2141)])
def test_stability_has_known_values(ridge, expected):
    assert stability(1, ridge) == pytest.approx(expected, rel=1e-3)
    assert stability(1000, ridge) == pytest.approx(stability(1, ridge) / 1000)


@settings(max_examples=200, deadline=None)
@given(st.floats(-8, 8))
def test_stability_is_never_less_than_the_maximum(power):
    ridge = max(10**power, MIN_RIDGE)
    q = np.append(np.linspace(0, 1, 20_001), 1 - np.geomspace(1e-16, 0.3, 20_000))
    most = float((q + math.sqrt(2 / ridge) * q**1.5 * np.sqrt(1 - q)).max())
    assert 4 * most / ridge <= stability(1, ridge) <= 4 * most / ridge * (1 + 1e-6)


@pytest.mark.parametrize("ridge", [0.003, 0.1, 1.0, 20.0])
def test_one_row_moves_no_fit_further_than_stated(ridge):
    rng = RNG(9)
    worst = 0.0
    for _ in range(150):
        n = int(rng.integers(1, 40))
        x, y = rng.normal(size=n) * rng.choice([0.1, 1, 10]), rng.choice([-1.0, 1.0], n)
        there, label = x.copy(), y.copy()
        there[0], label[0] = rng.choice([x[0], x[-1], 30.0]), -y[0]
        at = np.concatenate([np.linspace(-12, 12, 97), x, there])
        moved = np.abs(ridge_fit(x, y, 1.0, ridge).predict(at) - ridge_fit(there, label, 1.0, ridge).predict(at))
        worst = max(worst, float(moved.max()) / stability(n, ridge))
    assert worst <= 1


def test_an_isolated_row_comes_near_the_stated_stability():
    x, y = np.append(np.zeros(999), 50.0), np.ones(1000)
    moved = ridge_fit(x, y, 1.0, 1.0).predict(x[-1:]) - ridge_fit(x, np.append(y[1:], -1), 1.0, 1.0).predict(x[-1:])
    assert 0.7 < float(moved[0]) / stability(1000, 1.0) < 1


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: hsic_v(x, x, 0.0, 1.0),
        lambda x: hsic_v(x, x, 1.0, math.nan),
        lambda x: hsic_v(x, x, 1.0, 1.0, block=0),
        lambda x: hsic_rff(x, x, np.zeros(0), x),
        lambda x: frequencies(1.0, 0),
        lambda x: frequencies(math.inf, 3),
        lambda x: ridge_fit(x, x, -1.0, 1.0),
        lambda x: ridge_fit(x, x, 1.0, 0.0),
        lambda x: stability(0, 1.0),
        lambda x: stability(3, math.inf),
    ],
)
def test_settings_that_cannot_be_used(wrong):
    with pytest.raises(SettingError):
        wrong(np.arange(3.0))
