"""Noisy tables of two columns: bins, the nearest table without negative cells, waves."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from discreet.errors import ReleaseError
from discreet.release.pair_table import PairTable, halved, levels_for, nearest, wave_means


def table(counts, noise=1.0, rows=None, **given):
    cells = tuple(tuple(int(c) for c in row) for row in np.asarray(counts))
    return PairTable(cells, noise, rows or int(np.sum(counts)), **given)


def test_bins_are_halved_and_outer_ones_no_farther_than_their_neighbour_is_wide():
    assert halved([0, 400, 500, 600, 1024], 8) == [0, 300, 400, 450, 500, 550, 600, 700, 1024]
    assert halved([0, 100, 200, 300, 400], 8) == [0, 50, 100, 150, 200, 250, 300, 350, 400]
    assert halved([0, 1024], 8) == [0, 128, 256, 384, 512, 640, 768, 896, 1024]
    assert halved([0, 1, 2, 3], 16) == [0, 1, 2, 3]
    assert halved([0, 10, 20, 30], 5) == [0, 10, 20, 30]


@given(st.lists(st.integers(1, 1023), max_size=15, unique=True), st.integers(2, 20))
def test_halves_are_on_the_grid_and_not_too_many(inner, bins):
    edges = [0, *sorted(inner), 1024]
    found = halved(edges, bins)
    assert set(edges) <= set(found)
    assert all(a < b for a, b in pairwise(found))
    assert len(found) - 1 <= max(bins, len(edges) - 1)


def test_clear_tables_get_more_levels():
    assert levels_for(1_000, 2.9) == 8
    assert levels_for(2_000, 2.9) == 16


def test_the_nearest_table_is_the_nearest():
    rng = np.random.default_rng(0)
    noisy = rng.normal(3, 6, (4, 3, 2))
    found = nearest(noisy, 20.0)
    assert (found >= 0).all()
    assert found.sum(axis=(1, 2)) == pytest.approx(20)
    for mine, given_ in zip(found, noisy, strict=True):
        best = minimize(
            lambda flat, to=given_: ((flat - to.ravel()) ** 2).sum(),
            np.full(6, 20 / 6),
            bounds=[(0, None)] * 6,
            constraints={"type": "eq", "fun": lambda flat: flat.sum() - 20},
        )
        assert ((mine - given_) ** 2).sum() <= best.fun + 1e-4
    assert np.array_equal(nearest(np.full((1, 2, 2), 5.0), 20.0), np.full((1, 2, 2), 5.0))


def test_waves_turn_with_the_table():
    counts = np.random.default_rng(1).integers(1, 30, (8, 8))
    waves = table(counts).waves()[0]
    assert waves.shape == (6, 6)
    assert table(counts.T).waves()[0] == pytest.approx(waves.T)
    signs = (-1.0) ** np.arange(1, 7)
    assert table(counts[::-1]).waves()[0] == pytest.approx(waves * signs[:, None])
    assert table(counts[:, ::-1]).waves()[0] == pytest.approx(waves * signs)
    assert table(np.outer(np.arange(1, 9), np.arange(1, 9))).waves()[0] == pytest.approx(0, abs=0.005)


def test_waves_of_many_even_bins_are_means_over_ranks():
    u = (np.arange(16) + 0.5) / 16
    counts = np.diag(np.full(16, 1_000_000))
    waves = wave_means(counts[None].astype(float), 16e6, 3)[0]
    exact = np.array(
        [[np.mean(2 * np.cos(np.pi * j * u) * np.cos(np.pi * k * u)) for k in (1, 2, 3)] for j in (1, 2, 3)]
    )
    assert waves == pytest.approx(exact, abs=0.05)


def test_levels_beyond_the_most_are_put_together_so_that_rows_are_even():
    falling = np.outer(np.maximum(4_000 // np.arange(1, 41), 1), np.ones(20, dtype=int))
    found = table(falling).even
    assert found.shape[1] == 16
    assert 8 <= found.shape[0] <= 16
    assert found.sum() == falling.sum()
    assert found[0, 0] == 4_000  # a level with many rows stays by itself
    assert found.sum(axis=1)[1:].max() < 3 * found.sum(axis=1)[1:].min() + falling[1].sum()
    assert np.array_equal(table(np.arange(1, 129).reshape(8, 16)).even, np.arange(1, 129).reshape(8, 16))


def test_a_column_has_no_more_levels_than_a_coarse_other_one():
    assert table(np.full((5, 16), 9)).even.shape == (5, 5)
    assert table(np.full((200, 4), 9)).even.shape == (4, 4)
    assert table(np.full((8, 200), 9)).even.shape == (8, 16)


def test_absent_rows_are_counted_as_the_noise_tells():
    half = table([[10, 10], [10, 10]], rows=100, whole=False)
    assert half.present == 40
    assert half.wave_noise == pytest.approx(1.0 * 2 / 40)
    assert table([[-10, -10], [-10, -10]], rows=100, whole=False).present == 1
    assert table([[10, 10], [10, 10]], rows=100).present == 100


def test_redrawn_tables_have_the_noise_of_the_release():
    drawn = table(np.full((4, 4), 50), noise=5.0).redraw(4_000, np.random.default_rng(2))
    assert drawn.mean() == pytest.approx(50, abs=0.1)
    assert drawn.std() == pytest.approx(5, rel=0.03)


def test_what_is_no_table_is_refused():
    for counts in ((), ((),), ((1,) * 257,), ((1, 2), (3,)), ((1, 2), (3, 4.0)), ((1, 2), (3, True)), ((1, 10**40),)):
        with pytest.raises(ReleaseError):
            PairTable(counts, 1.0, 10)
    for noise, rows in ((-1.0, 10), (float("nan"), 10), (float("inf"), 10), (1.0, 0)):
        with pytest.raises(ReleaseError):
            PairTable(((1, 2), (3, 4)), noise, rows)
    with pytest.raises(ReleaseError):
        PairTable(((1, 2), (3, 4)), 1.0, 10, whole="no")
    one = PairTable(((1, -2), (3, 4)), 2.5, 10, whole=False)
    assert PairTable.from_dict(one.to_dict(), 10) == one
