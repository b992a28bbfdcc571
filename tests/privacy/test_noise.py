"""The noise is exactly what it is said to be, and the tests of it can tell."""

from __future__ import annotations

import math
from contextlib import nullcontext

import numpy as np
import pytest
from flint import arb, ctx
from scipy.stats import chi2

from discreet.audit.ledgers import at_once
from discreet.privacy import noise
from discreet.privacy.noise import ExactNoise, _threshold, invert_rounded_gaussian
from discreet.testing import SeededNoise

DRAWS = 20_000


def no_more(bits):
    raise AssertionError("no further bits should be needed")


def rounded_gaussian_law(sigma):
    def probability(k):
        with ctx.workprec(200):
            return float(_phi((k + 0.5) / sigma) - _phi((k - 0.5) / sigma))

    return probability


def _phi(z):
    return (-arb(z) / arb(2).sqrt()).erfc() / 2


def discrete_law(log_weight, reach):
    total = sum(math.exp(log_weight(k)) for k in range(-reach, reach + 1))
    return lambda k: math.exp(log_weight(k)) / total


LAWS = {
    "rounded_gaussian": rounded_gaussian_law,
    "discrete_gaussian": lambda s: discrete_law(lambda k: -((k / s) ** 2) / 2, int(15 * s) + 5),
    "discrete_laplace": lambda s: discrete_law(lambda k: -abs(k) / s, int(60 * s) + 5),
}


def p_value(draws, law, spread):
    """Chi-square test of draws against exact probabilities, cells merged to an expected count of at least 20."""
    values, counts = np.unique(draws, return_counts=True)
    seen = dict(zip(values.tolist(), counts.tolist(), strict=True))
    reach = int(max(12 * spread, 12)) + 3
    cells, mass, hits = [], 0.0, 0
    for k in range(-reach, reach + 1):
        mass += law(k) * len(draws)
        hits += seen.pop(k, 0)
        if mass >= 20:
            cells.append((mass, hits))
            mass, hits = 0.0, 0
    mass += len(draws) - mass - sum(m for m, _ in cells)
    cells[-1] = (cells[-1][0] + mass, cells[-1][1] + hits + sum(seen.values()))
    statistic = sum((h - m) ** 2 / m for m, h in cells)
    return float(chi2.sf(statistic, len(cells) - 1))


@pytest.mark.parametrize("kind", sorted(LAWS))
@pytest.mark.parametrize("scale", [0.6, 3.7, 31.6])
@pytest.mark.parametrize("source", [ExactNoise(), SeededNoise(3)], ids=["exact", "seeded"])
def test_noise_has_the_stated_scale_and_no_other(kind, scale, source):
    draws = getattr(source, kind)(scale, DRAWS)
    assert draws.dtype == np.int64
    assert p_value(draws, LAWS[kind](scale), scale) > 1e-6
    for wrong in (0.7, 1.3):
        assert p_value(draws, LAWS[kind](scale * wrong), scale * 1.3) < 1e-6


def test_neighbouring_draws_are_independent():
    draws = ExactNoise().rounded_gaussian(5.0, DRAWS)
    correlation = np.corrcoef(draws[:-1], draws[1:])[0, 1]
    assert abs(correlation) < 6 / math.sqrt(DRAWS)
    assert not np.array_equal(draws, ExactNoise().rounded_gaussian(5.0, DRAWS))


@pytest.mark.parametrize("sigma", [0.05, 0.6, 4.2, 154.19, 5_000.0, 3e8])
def test_inversion_is_exact(sigma):
    """Against 400-bit arithmetic, for random words and for the words next to thresholds."""
    rng = np.random.default_rng(7)
    words = rng.integers(0, 1 << 64, 200, dtype=np.uint64)
    drawn = invert_rounded_gaussian(sigma, words, no_more)
    for word, k in zip(words.tolist(), drawn.tolist(), strict=True):
        low, high = _scaled(k - 1, sigma), _scaled(k, sigma)
        assert low <= word
        assert word + 1 <= high


def _scaled(k, sigma):
    with ctx.workprec(400):
        return _phi((arb(2 * k + 1) / 2) / arb(sigma)) * arb(2) ** 64


@pytest.mark.parametrize("sigma", [0.6, 31.6, 5_000.0])
def test_words_on_a_threshold_draw_further_bits(sigma):
    """The word that holds a threshold is split by the bits that follow, on the right side each time."""
    k = 1
    low, _ = _threshold(k, sigma, 64)
    word = np.array([low], dtype=np.uint64)
    asked = []

    def more_than(value):
        def more(bits):
            asked.append(bits)
            return value if len(asked) == 1 else 0

        return more

    assert invert_rounded_gaussian(sigma, word, more_than(0)).tolist() == [k]
    asked.clear()
    assert invert_rounded_gaussian(sigma, word, more_than((1 << 64) - 1)).tolist() == [k + 1]
    assert asked


def test_extreme_words_stay_finite():
    words = np.array([0, (1 << 64) - 1], dtype=np.uint64)
    low, high = invert_rounded_gaussian(10.0, words, lambda bits: 12345).tolist()
    assert -150 < low < -85
    assert 85 < high < 150


def test_a_draw_below_the_table_is_found():
    """The table ends at -1 there, and this uniform number lies far below the threshold of -2."""
    bits = iter([0, 0, 1 << 63])
    assert invert_rounded_gaussian(0.099, np.zeros(1, dtype=np.uint64), lambda _: next(bits)).tolist() == [-2]


def test_thresholds_enclose_the_truth():
    for k in (-300, -3, 0, 5, 420):
        low, high = _threshold(k, 40.0, 64)
        exact = _scaled(k, 40.0)
        assert arb(low) <= exact <= arb(high)
        assert high - low <= 1


def test_seeded_noise_is_stamped():
    assert not SeededNoise(1).private
    assert ExactNoise().private


@pytest.mark.parametrize("sigma", [3.3, 120.7, 900.0])
def test_few_draws_and_many_are_the_same_function_of_their_words(sigma):
    """With a table of thresholds for many draws, from a guess for a few: both find the same integers."""
    rng = np.random.default_rng(7)
    words = rng.integers(0, 1 << 64, size=20_000, dtype=np.uint64)
    words[:4] = [0, 1, (1 << 63) - 1, (1 << 64) - 1]
    many = invert_rounded_gaussian(sigma, words, lambda bits: 12345)
    few = [invert_rounded_gaussian(sigma, words[i : i + 1], lambda bits: 12345)[0] for i in range(60)]
    assert many[:60].tolist() == few


def test_hardly_any_noise_is_drawn():
    words = np.random.default_rng(0).integers(0, 1 << 64, size=50, dtype=np.uint64)
    assert not invert_rounded_gaussian(1e-6, words, lambda bits: 12345).any()


def test_thresholds_hold_whatever_the_precision_is(monkeypatch):
    """A lower one makes bounds wider, and never wrong."""
    certain = [(k, sigma, noise._threshold(k, sigma, 64)) for sigma in (0.7, 30.0) for k in range(-90, 91, 3)]
    choices = [(drop, noise._weight(drop, 7.0, 160)) for drop in range(0, 600, 7)]
    monkeypatch.setattr(noise, "precision", lambda _: nullcontext())
    for k, sigma, (low, high) in certain:
        rough = noise._threshold(k, sigma, 64)
        assert rough[0] <= low <= high <= rough[1]
    for drop, (low, high) in choices:
        rough = noise._weight(drop, 7.0, 160)
        assert rough[0] <= low <= high <= rough[1]


def test_threads_compute_as_precisely_as_one():
    """The precision of balls is one setting for all threads."""
    expected = {bits: _threshold(7, 3.0, bits) for bits in (64, 500)}

    def compute():
        for bits, threshold in expected.items():
            assert _threshold(7, 3.0, bits) == threshold

    at_once(compute, times=300)
