"""RCIT, fast and by the book, and PCD as published: its counterexamples, and how it is stamped."""

from __future__ import annotations

import copy
import json
import math

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.stats import hypergeom, norm

import discreet as dc
from discreet.baselines.published import PCD, REASONS
from discreet.baselines.published.pcd import (
    PcdSettings,
    Reach,
    SureOrNoisy,
    discover_pcd,
    equation_3,
    make_kendall_test,
    make_rcit_test,
    plain_sensitivity,
    run_pcd,
)
from discreet.baselines.published.rcit import Rcit, low_rank, median_width, rcit, ridge_residuals
from discreet.cli import main
from discreet.domain import Domain
from discreet.domain.columns import Categorical, Numeric
from discreet.errors import RoomError, SettingError
from discreet.search.pc import pc
from discreet.simulation.nonlinear import nonlinear


def by_the_book(x, y, z, lam, permutations, widths=None):
    """HSIC with all matrices written out."""
    n = len(x)
    centre = np.eye(n) - 1 / n

    def kernel(points, width):
        points = points.reshape(n, -1)
        return np.exp(-((points[:, None] - points) ** 2).sum(axis=2) / (2 * width**2))

    if z is not None:
        points = z.reshape(n, -1)
        shifted = kernel(points, median_width(points)) + n * lam / 2 * np.eye(n)
        x, y = n * lam / 2 * np.linalg.solve(shifted, np.stack([x, y], axis=1)).T
    of_x, of_y = widths or (median_width(x[:, None]), median_width(y[:, None]))
    k, m = centre @ kernel(x, of_x) @ centre, kernel(y, of_y)
    orders = [np.arange(n), *permutations]
    return np.array([np.vdot(k, m[np.ix_(order, order)]) for order in orders]) / (n - 1) ** 2


def example(n, given, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, given))
    cause = np.tanh(z.sum(axis=1))
    x, y = cause + rng.normal(size=n), cause + rng.standard_t(3, size=n)
    return x, y, z if given else None


@pytest.mark.parametrize("n", [2, 30, 250])
@pytest.mark.parametrize("given", [0, 1, 2, 5])
@pytest.mark.parametrize("ridge", ["paper", "identity"])
def test_it_is_the_test_by_the_book(n, given, ridge):
    x, y, z = example(n, given)
    lam = 1.0 if ridge == "paper" else 2 / n
    found = rcit(x, y, z, permutations=7, lam=lam, rng=np.random.default_rng(5))
    rng = np.random.default_rng(5)
    values = by_the_book(x, y, z, lam, [rng.permutation(n) for _ in range(7)])
    assert found.statistic == pytest.approx(values[0], abs=1e-9)
    assert found.permuted == pytest.approx(values[1:], abs=1e-9)
    assert found.p_value == (1 + np.count_nonzero(found.permuted >= found.statistic)) / 8


def test_a_whole_table_answers_as_single_tests_do():
    x, y, z = example(120, 2)
    table = Rcit({"x": x, "y": y, "a": z[:, 0], "b": z[:, 1]}, permutations=5, rng=np.random.default_rng(1))
    for given, parts in ((frozenset("ab"), z), (frozenset("a"), z[:, 0]), (frozenset(), None), (frozenset("ab"), z)):
        single = rcit(x, y, parts, permutations=5, rng=np.random.default_rng(1))
        assert table.test("x", "y", given).statistic == pytest.approx(single.statistic, rel=1e-12)
    with pytest.raises(RoomError):
        copy.copy(table)


def test_what_is_left_out_of_a_kernel_is_bounded():
    points = np.random.default_rng(0).normal(size=(200, 2))
    whole = np.exp(-((points[:, None] - points) ** 2).sum(axis=2) / 2)
    left = whole - (across := low_rank(points, 1.0, 1e-6)).T @ across
    assert 0 <= np.trace(left) <= 200e-6
    assert np.linalg.eigvalsh(left).min() > -1e-12
    assert len(low_rank(points, 1.0, 1e-12, most=10)) == 11


def test_wide_kernels_that_have_no_low_rank_are_solved_whole():
    rng = np.random.default_rng(0)
    points, targets = rng.normal(size=(100, 30)), rng.normal(size=(100, 3))
    assert len(low_rank(points, median_width(points), 1e-13, most=12)) == 13
    kernel = np.exp(-((points[:, None] - points) ** 2).sum(axis=2) / (2 * median_width(points) ** 2))
    expected = 5 * np.linalg.solve(kernel + 5 * np.eye(100), targets)
    assert ridge_residuals(points, targets, 0.1) == pytest.approx(expected, abs=1e-10)


def test_equal_rows_and_constant_columns_have_answers():
    rng = np.random.default_rng(0)
    still = np.zeros(40)
    assert rcit(still, rng.normal(size=40), still, rng=rng).statistic == pytest.approx(0, abs=1e-15)
    assert median_width(np.array([[0.0]] * 5 + [[1.0]])) == 1.0


def test_independent_columns_pass_and_dependent_ones_do_not():
    x, y, z = example(400, 1, seed=3)
    columns = {"x": x, "y": y, "z": z[:, 0]}
    oracle = Rcit(columns, lam=2 / 400, rng=np.random.default_rng(0))
    assert not oracle.ask("x", "y", frozenset()).independent
    assert oracle.ask("x", "y", frozenset("z")).independent
    assert pc(tuple(columns), oracle).skeleton == {frozenset("xz"), frozenset("yz")}


def counted(table):
    """The exact law of the permutation test for two binary columns under kernels that say 0 or 1."""
    both, x, y, m = table[0], table[0] + table[1], table[0] + table[2], sum(table)
    law = np.arange(max(0, x + y - m), min(x, y) + 1)
    chances = hypergeom.pmf(law, m, x, y)
    values, seen = (4 * ((m * k - x * y) / (m * (m - 1))) ** 2 for k in (law, both))
    moved = 2 * plain_sensitivity(m)
    return Reach(*(chances[values + added > seen * (1 + 1e-12)].sum() for added in (0, -moved, moved)))


class Draws:
    """Noise that is told in advance; the scales that were asked for are kept."""

    def __init__(self, *values):
        self.values, self.scales = list(values), []

    def laplace(self, middle, scale):
        self.scales.append(scale)
        return self.values.pop(0)


@pytest.mark.parametrize(
    ("found", "noise", "independent", "scales"),
    [
        (Reach(0.5, 0.02, 1.0), (0.0, 0.0), True, (0.48, 0.96)),  # lines 5 to 9: r > alpha, and A is not
        (Reach(0.5, 0.02, 1.0), (0.4, -0.06), False, (0.48, 0.96)),
        (Reach(0.5, 0.05, 1.0), (0.0, 0.0), True, (0.45, 0.9)),  # r - Delta = alpha: noise
        (Reach(0.5, 0.06, 1.0), (), True, ()),  # line 11: deleted without noise
        (Reach(0.02, 0.0, 0.3), (0.0, 0.0), False, (0.28, 0.56)),  # lines 13 to 17: r <= alpha, and B is not below
        (Reach(0.02, 0.0, 0.3), (-0.01, 0.02), True, (0.28, 0.56)),
        (Reach(0.02, 0.0, 0.05), (0.0, 0.0), False, (0.03, 0.06)),  # r + Delta = alpha: noise
        (Reach(0.05, 0.0, 0.05), (0.0, 0.0), True, (0.0, 0.0)),  # r = alpha is the second case, and reaches the bar
        (Reach(0.02, 0.0, 0.04), (), False, ()),  # kept without noise: no line is left
    ],
)
def test_the_branches_of_algorithm_1(found, noise, independent, scales):
    draws = Draws(*noise)
    oracle = SureOrNoisy(lambda *_: found, 0.05, 2.0, draws)
    assert oracle.ask("x", "y", frozenset()).independent == independent
    assert draws.scales == pytest.approx(scales)  # 2 Delta/epsilon for the bar, twice that for the p-value
    assert (oracle.tests, oracle.rounds) == (1, int(bool(scales)))
    assert SureOrNoisy(lambda *_: found, 0.05, math.inf, Draws()).ask("x", "y", frozenset()).independent == (
        found.p > 0.05
    )


def test_shares_are_strict_and_each_bound_has_its_own_side():
    x, y, z = example(60, 1)
    columns = {"x": x, "y": y, "z": z[:, 0]}
    found = make_rcit_test(columns, 50, 1.0, np.random.default_rng(3))("x", "y", frozenset("z"))
    by_hand = rcit(x, y, z, permutations=50, rng=np.random.default_rng(3))
    moved = 2 * 2 * 60 / 59 * sum(1 - math.exp(-128 / (60**2 * width**2)) for width in by_hand.widths)
    for share, added in zip(found, (0, -moved, moved), strict=True):
        assert share == np.mean(by_hand.statistic < by_hand.permuted + added)
    still = make_rcit_test({"x": np.zeros(9), "y": y[:9]}, 20, 1.0, np.random.default_rng(0))("x", "y", frozenset())
    assert still.p == 0  # all permutations give the same


@pytest.mark.parametrize(
    ("first", "second", "chances"),
    [
        ((150, 50, 50, 150), (149, 51, 50, 150), (0.497, 0.474, 0.311)),
        ((329, 171, 171, 329), (328, 172, 171, 329), (0.496, 0.459, 0.223)),
    ],
)
def test_a_sure_edge_is_kept_for_ever_and_its_neighbour_is_not(first, second, chances):
    for epsilon, expected in zip((0.1, 1.0, 8.0), chances, strict=True):
        assert counted(first).deletion_probability(0.05, epsilon) == 0
        assert counted(second).deletion_probability(0.05, epsilon) == pytest.approx(expected, abs=5e-4)
    assert counted((150, 50, 50, 150)).most == pytest.approx(0.0356, abs=5e-5)
    assert counted((149, 51, 50, 150)).most == pytest.approx(0.1614, abs=5e-5)


def test_independent_columns_are_seldom_told_apart():
    assert counted((50, 50, 50, 50)).deletion_probability(0.05, 1.0) == pytest.approx(0.578, abs=5e-3)


def test_chances_are_those_of_the_draws():
    rng = np.random.default_rng(0)
    for p in (0.0, 0.02, 0.3):
        found = Reach(p, p - 0.25, p + 0.25)
        drawn = p + rng.laplace(0, 4 * 0.25, 400_000) >= 0.05 + rng.laplace(0, 2 * 0.25, 400_000)
        assert found.deletion_probability(0.05, 1.0) == pytest.approx(drawn.mean(), abs=0.004)
    assert Reach(0.2, 0.2, 0.2).deletion_probability(0.05, 1.0) == 1
    assert Reach(0.01, 0.01, 0.01).deletion_probability(0.05, 1.0) == 0


def test_kendall_is_tested_where_nothing_is_given_and_kept_elsewhere():
    x, y, z = example(200, 1)
    test = make_kendall_test({"x": x, "y": y, "z": z[:, 0]})
    found = test("x", "y", frozenset())
    above = sum(np.sign((x[i] - x[:i]) * (y[i] - y[:i])).sum() for i in range(200))
    variance = 200 * 199 * (2 * 200 + 5) / 18
    assert found.p == pytest.approx(2 * norm.sf(abs(above) / math.sqrt(variance)))
    assert found.most - found.p == pytest.approx(2 * norm.cdf(4.5 / math.sqrt(200)) - 1)
    assert test("x", "y", frozenset("z")).sure(0.05)
    assert test("x", "y", frozenset("z")).deletion_probability(0.05, 1.0) == 0


@pytest.mark.parametrize(
    ("rows", "width", "ratio"), [(1000, 1.0, 1.7), (2000, 0.5, 1.2), (2000, 1.0, 3.5), (4000, 1.0, 6.9)]
)
def test_one_row_moves_residuals_further_than_equation_3_says(rows, width, ratio):
    y = np.where(np.arange(rows) < round(2 * rows / 3), -1.0, 1.0)
    x = y.copy()
    x[-1] = -1.0
    values = [
        rcit(a, y, np.zeros(rows), permutations=1, widths=(width, width), rng=np.random.default_rng(0)).statistic
        for a in (y, x)
    ]
    change = abs(values[0] - values[1])
    assert change / equation_3(rows, 1.0, (width, width)) == pytest.approx(ratio, abs=0.06)
    assert change <= math.sqrt(6) / (rows - 1)


def test_one_row_decides_with_fresh_permutations_too():
    gone = []
    for other in (1.0, -1.0):
        x = np.repeat([1.0, -1.0], [57, 143])
        y = x.copy()
        y[0] = other
        runs = [run_pcd({"x": x, "y": y}, PcdSettings(), np.random.default_rng(seed)) for seed in range(60)]
        gone.append(sum(not run.graph.skeleton for run in runs))
    assert gone[0] == 0
    assert 15 < gone[1] < 45


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("numbers")
    model = nonlinear(dc.network("cancer"), np.random.default_rng(0))
    pd.DataFrame(model.sample(300, np.random.default_rng(1))).to_csv(path / "data.csv", index=False)
    (path / "domain.yaml").write_text(model.domain(300).to_yaml())
    return path


def command(folder, *args):
    given = ["discover", folder / "data.csv", "--domain", folder / "domain.yaml", "--method", PCD, *args]
    return CliRunner().invoke(main, [str(a) for a in given])


def test_the_json_says_what_it_is(folder):
    assert command(folder).exit_code == 2
    result = command(folder, "--not-private", "--json", "--max-order", 1, "--round-epsilon", 2)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["privacy"]["private"] is False
    assert REASONS[PCD] in found["privacy"]["warning"]
    assert found["reported"]["epsilon"] == 2 * found["reported"]["rounds"]
    assert found["reported"]["holds"] is False
    assert "NOT PRIVATE" in result.stderr


def test_every_file_says_what_it_is(folder):
    result = command(folder, "--not-private", "--max-order", 0, "--out", folder / "o")
    assert result.exit_code == 0, result.output
    assert all("NOT PRIVATE" in p.read_text(encoding="utf-8") for p in (folder / "o").iterdir())
    assert command(folder, "--not-private", "--sample", 0.5).exit_code == 2


def test_a_run_repeats_and_keeps_to_knowledge(folder):
    domain = Domain.from_yaml(folder / "domain.yaml")
    known = dc.Knowledge(required=[("Xray", "Dyspnoea")], forbidden=[("Smoker", "Cancer"), ("Cancer", "Smoker")])
    one, two = (
        discover_pcd(folder / "data.csv", domain, max_order=1, knowledge=known, seed=2, permutations=20)
        for _ in range(2)
    )
    assert one == two
    assert ("Xray", "Dyspnoea") in one.graph.directed
    assert frozenset(("Smoker", "Cancer")) not in one.graph.skeleton
    assert one.tests >= one.rounds


@pytest.mark.parametrize("wrong", [{"round_epsilon": 0}, {"alpha": 1}, {"max_order": -1}, {"lam": 0}], ids=str)
def test_settings_are_checked(folder, wrong):
    with pytest.raises(SettingError):
        discover_pcd(folder / "data.csv", Domain.from_yaml(folder / "domain.yaml"), **wrong)


@pytest.mark.parametrize("column", [Categorical(categories=("a", "b")), Numeric(bounds=(0, 1), bins=3)])
def test_only_numbers_are_taken(column):
    domain = Domain({"a": Numeric(bounds=(0, 1)), "b": column}, rows=3)
    with pytest.raises(SettingError, match="'b': this method takes numbers"):
        discover_pcd("nowhere.csv", domain)
