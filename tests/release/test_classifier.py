"""The reader of directions: fair to both columns, sure as often as it is right, and the same for the same table."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.release.classifier import networks, probability, read
from discreet.release.pair_table import PairTable


def tabulated(x, y, levels=8, noise=0.0, rng=None):
    """Return a table of even bins, with Laplace noise of this deviation in each cell."""
    a, b = (np.argsort(np.argsort(v)) * levels // len(v) for v in (x, y))
    counts = np.bincount(a * levels + b, minlength=levels**2).reshape(levels, levels)
    if noise:
        counts = counts + np.rint(rng.laplace(scale=noise / 2**0.5, size=counts.shape))
    return PairTable(tuple(map(tuple, counts.astype(int).tolist())), noise or 0.01, len(x))


def pairs(number, rows, rng):
    """Causes, and effects with additive or growing noise; not drawn as the network's own pairs are."""
    for i in range(number):
        x = (rng.uniform(-1.7, 1.7, rows), rng.normal(size=rows), rng.exponential(size=rows))[i % 3]
        f = (np.tanh(2 * x), x**2, np.sin(2 * x), np.exp(x / 2))[i % 4]
        f = (f - f.mean()) / f.std()
        yield x, f + rng.uniform(0.2, 0.8) * rng.normal(size=rows) * (1 + (i % 2) * np.abs(x)) / 1.5


@pytest.mark.parametrize("levels", [8, 16])
def test_the_other_order_gives_the_opposite_answer_and_turning_a_column_round_the_same(levels):
    counts = np.random.default_rng(0).integers(0, 60, (levels, levels))

    def odds(cells):
        return read(PairTable(tuple(map(tuple, cells.tolist())), 3.0, int(counts.sum()))).log_odds

    assert odds(counts.T) == pytest.approx(-odds(counts))
    assert odds(counts[::-1]) == pytest.approx(odds(counts))
    assert odds(counts[:, ::-1]) == pytest.approx(odds(counts))
    assert odds(counts + counts.T) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("levels", "rows", "noise", "least"), [(8, 1_000, 4.0, 0.75), (16, 3_000, 4.0, 0.75)])
def test_simulated_pairs_of_another_kind_are_told_apart(levels, rows, noise, least):
    rng = np.random.default_rng(1)
    found = [read(tabulated(x, y, levels, noise, rng)).log_odds for x, y in pairs(120, rows, rng)]
    right = np.array(found) > 0
    stated = np.array([probability(odds) for odds in found])
    assert right.mean() >= least
    assert abs(right.mean() - stated.mean()) < 0.15
    assert right[stated >= 0.9].mean() >= 0.9


def test_independent_columns_hardly_depend_and_are_not_told_apart():
    rng = np.random.default_rng(2)
    found = [read(tabulated(*rng.normal(size=(2, 2_000)), 8, 4.0, rng)) for _ in range(200)]
    assert np.mean([one.depends for one in found]) <= 0.05
    assert np.mean([probability(one.log_odds) >= 0.8 for one in found]) <= 0.1
    assert abs(np.mean([one.log_odds > 0 for one in found]) - 0.5) < 0.12


def test_how_often_fresh_noise_leaves_the_answer_alone_is_right_on_average():
    rng = np.random.default_rng(3)
    kept, said = [], []
    for x, y in pairs(60, 1_000, rng):
        exact = read(tabulated(x, y)).log_odds
        noisy = read(tabulated(x, y, 8, 12.0, rng))
        kept.append(np.sign(noisy.log_odds) == np.sign(exact))
        said.append(noisy.unflipped)
    assert np.mean(kept) == pytest.approx(np.mean(said), abs=0.12)
    assert all(0.5 <= one <= 1 for one in said)


def test_the_same_table_always_reads_the_same():
    table = tabulated(*np.random.default_rng(4).normal(size=(2, 500)))
    assert read(table) == read(table)


def test_strange_tables_are_read():
    for counts in (
        ((0, 0), (0, 0)),
        ((10**12, 0), (0, 0)),
        ((-5, -5), (-5, -5)),
        ((1,) * 200, (2,) * 200),
        ((7,),),
        ((1,), (5,)),
    ):
        found = read(PairTable(counts, 1.0, 10))
        assert np.isfinite(found.log_odds)
    assert probability(1e9) == probability(-1e9) == 0.99
    assert networks(6) is networks(6)


@pytest.mark.parametrize(("levels", "fine"), [(4, 16), (5, 16), (7, 16), (4, 200)])
def test_that_one_column_is_coarse_does_not_tell_a_direction(levels, fine):
    """Two normal columns have none, however they are cut."""
    rng = np.random.default_rng(8)
    told = []
    for _ in range(100):
        x = rng.normal(size=20_000)
        y = 0.6 * x + 0.8 * rng.normal(size=20_000)
        a, b = np.digitize(x, np.sort(rng.normal(size=levels - 1))), np.argsort(np.argsort(y)) * fine // len(y)
        counts = np.bincount(a * fine + b, minlength=levels * fine).reshape(levels, fine)
        noisy = counts + np.rint(rng.laplace(scale=2, size=counts.shape))
        odds = read(PairTable(tuple(map(tuple, noisy.astype(int).tolist())), 2 * 2**0.5, 20_000)).log_odds
        told.append(probability(odds) >= 0.8)
    assert np.mean(told) <= 0.05
