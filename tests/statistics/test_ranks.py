"""Statistics of ranks: values against pairs counted one by one and SciPy, and neighbours that reach the bounds."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from discreet.audit import table_of
from discreet.audit.broken import domain_of, pair
from discreet.audit.broken.ranks import STRATA, STRATA_PAIR, strata_that_move
from discreet.audit.statistics import FARTHEST, AverageTau, KendallA, SpearmanA, StratifiedKendall
from discreet.statistics.dependence import MOVED, STEPS
from discreet.statistics.ranks import (
    MAX_CUBED,
    StratifiedKendallDet,
    StratifiedSpearman,
    concordance,
    rank_products,
    weight,
)


def naive_concordance(x, y):
    return sum(int(np.sign(x[i] - x[j]) * np.sign(y[i] - y[j])) for i, j in combinations(range(len(x)), 2))


def naive_rho(x, y):
    n = len(x)
    ranks = [stats.rankdata(v) - (n + 1) / 2 for v in (x, y)]
    return 12 * float(ranks[0] @ ranks[1]) / (n**3 - n) if n > 1 else 0.0


def by_stratum(rows):
    for key in np.unique(rows[:, 2:], axis=0):
        part = rows[(rows[:, 2:] == key).all(axis=1)]
        yield part[:, 0], part[:, 1]


def naive(kind, rows):
    """Return the statistic's real value, row by row."""
    n, strata = len(rows), list(by_stratum(rows))
    pairs = [(naive_concordance(x, y), len(x)) for x, y in strata]
    above, below = sum(9 * s / (2 * m + 5) for s, m in pairs), sum(weight(m) for _, m in pairs)
    if kind in (KendallA, AverageTau):
        return sum(2 * s / (m - 1) for s, m in pairs if m > 1) / n
    if kind is StratifiedKendall:
        return above / math.sqrt(below) if below else 0.0
    if kind is StratifiedKendallDet:
        return above / (1.5 * math.sqrt(n))
    if kind is SpearmanA:
        return naive_rho(*strata[0])
    return sum((len(x) - 1) * naive_rho(x, y) for x, y in strata) / math.sqrt(n)


def real(statistic, rows, domain):
    return statistic.real(int(statistic.evaluate(table_of(rows, domain))[0]), domain)


SHAPES = [
    (KendallA, {"x": 4, "y": 3}),
    (SpearmanA, {"x": 4, "y": 3}),
    *((kind, {"x": 3, "y": 5}) for kind in (StratifiedKendall, StratifiedKendallDet, StratifiedSpearman, AverageTau)),
    *((kind, {"x": 3, "y": 4, "z": 3}) for kind in (StratifiedKendall, StratifiedKendallDet)),
    *((kind, {"x": 2, "y": 2, "u": 2, "z": 4}) for kind in (StratifiedKendall, StratifiedSpearman, AverageTau)),
    (StratifiedSpearman, {"x": 5, "y": 3, "z": 4}),
]


@pytest.mark.parametrize(("kind", "sizes"), SHAPES, ids=str)
@pytest.mark.parametrize("n", [1, 2, 7, 60])
def test_values_are_those_of_pairs_counted_one_by_one(kind, sizes, n):
    rng = np.random.default_rng(n)
    domain = domain_of(n, **sizes)
    given = tuple(sorted(set(sizes) - {"x", "y"}))
    for _ in range(5):
        rows = rng.integers(0, list(sizes.values()), size=(n, len(sizes)))
        rows[:, 1] = np.where(rng.random(n) < 0.4, rows[:, 0] % sizes["y"], rows[:, 1])
        for signed in (True, False):
            statistic = kind("x", "y", given, signed=signed)
            expected = naive(kind, rows)
            unit = statistic.unit(domain)
            assert abs(real(statistic, rows, domain) - (expected if signed else abs(expected))) <= 0.5001 * unit


def test_without_ties_they_are_those_of_scipy():
    rng = np.random.default_rng(0)
    n = 50
    domain = domain_of(n, x=n, y=n)
    for _ in range(5):
        x, y = rng.permutation(n), rng.permutation(n)
        rows = np.stack([x, y], axis=1)
        for kind, known in ((KendallA, stats.kendalltau), (SpearmanA, stats.spearmanr)):
            statistic = kind("x", "y", signed=True)
            assert real(statistic, rows, domain) == pytest.approx(known(x, y)[0], abs=statistic.unit(domain))


def test_strata_are_counted_apart_and_large_numbers_exactly():
    rng = np.random.default_rng(3)
    strata = rng.integers(0, 1 << 26, size=(3, 4, 5))
    exact = strata.astype(object)
    for k in range(3):
        cells = [(i, j) for i in range(4) for j in range(5)]
        expected = sum(
            exact[k][a] * exact[k][b] * int(np.sign(a[0] - b[0]) * np.sign(a[1] - b[1]))
            for a, b in combinations(cells, 2)
        )
        assert concordance(strata)[k] == expected
    small = rng.integers(0, 1000, size=(3, 4, 5))
    np.testing.assert_array_equal(rank_products(small, 60_000), rank_products(small, MAX_CUBED + 1))
    scaled = rank_products(small * (1 << 14), 1 << 30)
    np.testing.assert_allclose(scaled, rank_products(small, 60_000) * 2.0**42, rtol=1e-15)


def moved(statistic, domain, neighbours):
    values = [statistic.evaluate(table_of(rows, domain))[0] for rows in (neighbours.first, neighbours.second)]
    return abs(int(values[0] - values[1]))


def test_strata_between_which_a_row_moves_reach_the_bounds():
    assert STRATA.rows == 100
    domain, neighbours = strata_that_move(100)
    kendall = StratifiedKendall("x", "y", ("z",), signed=True)
    assert domain.rows == 200
    assert kendall.largest_change(domain) <= 9 / math.sqrt(200) * math.sqrt(205 / 198)
    assert 0.95 * STEPS < moved(kendall, domain, neighbours) <= MOVED
    for half in (6, 50, 100):
        domain, neighbours = strata_that_move(half)
        det = StratifiedKendallDet("x", "y", ("z",), signed=True)
        assert STEPS - 40 <= moved(det, domain, neighbours) <= MOVED
        assert 0.97 * STEPS <= moved(AverageTau("x", "y", ("z",), signed=True), domain, neighbours) <= MOVED
        assert 0.85 * STEPS <= moved(StratifiedSpearman("x", "y", ("z",), signed=True), domain, neighbours) <= MOVED
    assert moved(kendall, STRATA, STRATA_PAIR) > 0.9 * STEPS


@pytest.mark.parametrize("n", [4, 10, 101, 1000])
def test_bounds_for_one_stratum_are_exact(n):
    tied = pair({(0, 1): n - 1}, (1, 2), (1, 0))
    binary = pair({(0, 0): n - 1}, (1, 1), (0, 0))
    for kind in (KendallA, SpearmanA, StratifiedKendall, StratifiedKendallDet, StratifiedSpearman, AverageTau):
        assert abs(moved(kind("x", "y", signed=True), domain_of(n, x=2, y=3), tied) - STEPS) <= 1
        assert abs(moved(kind("x", "y", signed=True), domain_of(n, x=2, y=2), binary) - STEPS) <= 1
        assert abs(moved(kind("x", "y"), domain_of(n, x=2, y=2), binary) - STEPS) <= 1


def test_declared_changes_are_those_of_the_theory():
    n = 100
    two, many, given = (domain_of(n, x=2, y=2), domain_of(n, x=3, y=3), domain_of(n, x=3, y=4, z=5))
    both = domain_of(n, x=2, y=2, z=5)

    def change(kind, domain):
        return kind("x", "y", tuple(set(domain) - {"x", "y"})).largest_change(domain)

    assert change(KendallA, many) == pytest.approx(4 / n)
    assert change(KendallA, two) == pytest.approx(2 / n)
    assert change(SpearmanA, many) == pytest.approx(6 / (n + 1))
    assert change(SpearmanA, two) == pytest.approx(3 / (n + 1))
    assert change(StratifiedKendall, many) == pytest.approx(6 * math.sqrt((n - 1) / (n * (n + 2.5))))
    assert change(StratifiedKendall, two) == pytest.approx(3 * math.sqrt((n - 1) / (n * (n + 2.5))))
    assert change(AverageTau, given) == pytest.approx(6 / n)
    assert change(AverageTau, both) == pytest.approx(4 / n)
    for size in (30, 1000, 10**6, 2**31):
        factor = math.sqrt((size + 12.5) / (size - 5))
        for kind, top, binary in (
            (StratifiedKendall, 9 * factor, 6 * factor),
            (StratifiedKendallDet, 9, 6),
            (StratifiedSpearman, 10, 6),
        ):
            found = [change(kind, d.with_rows(size)) * math.sqrt(size) for d in (given, both)]
            assert found[0] <= top * (1 + 1e-12)
            assert found[1] <= binary * (1 + 1e-12)
            if size > 1000:
                assert found == pytest.approx([top, binary], rel=1e-3)


def test_more_strata_than_rows_have_a_bound_all_the_same():
    for n, strata in ((3, 2), (5, 5), (5, 50), (400, 400), (400, 10_000)):
        for levels, farthest in ((2, 2), (3, FARTHEST)):
            domain = domain_of(n, x=levels, y=levels, z=strata)
            assert StratifiedKendall("x", "y", ("z",)).largest_change(domain) <= min(farthest, math.sqrt(weight(n)))
    domain = domain_of(3, x=2, y=2, z=2)
    moves = pair({(0, 1, 0): 1, (0, 0, 1): 1}, (1, 0, 0), (1, 1, 1))
    assert moved(StratifiedKendall("x", "y", ("z",), signed=True), domain, moves) == STEPS


def removed(rows, binary):
    if binary:
        return 9 * (rows - 1) / (2 * rows + 5)
    return 9 * (rows - 1) * (3 * rows + 1) / ((2 * rows + 3) * (2 * rows + 5))


@pytest.mark.parametrize(("binary", "enough", "farthest"), [(False, 25, FARTHEST), (True, 15, 2)])
def test_the_small_cases_of_the_proof_are_computed(binary, enough, farthest):
    """No move between strata of few rows is further than ``ranks.md`` says, and more rows are further apart still."""
    found = []
    for a in range(1, enough + 1):
        for b in range(1, enough + 2 - a):
            steps = [weight(m) - weight(m - 1) for m in (a, b)]
            above = removed(a, binary) + removed(b, binary) + abs(steps[0] - steps[1]) / 2
            below = max(weight(a) + weight(b - 1), weight(a - 1) + weight(b))
            found.append(above / math.sqrt(below) if below else above)
    assert max(found) == pytest.approx(2)
    assert max(found) <= farthest + 1e-12
    assert (9 if binary else 13.5) / math.sqrt(9 / 4 * enough * (enough - 2) / (enough + 5)) <= farthest


@pytest.mark.parametrize("binary", [False, True])
def test_steps_of_removal_never_grow(binary):
    """The lemma on removal has it for large numbers by calculus; the first ones are looked at here."""
    values = [removed(m, binary) for m in range(1, 200)]
    steps = np.diff(values)
    assert (steps > 0).all()
    assert (np.diff(steps) <= 1e-12).all()
