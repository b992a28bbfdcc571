"""Tests that know the noise: their level holds, they have power, and they say what they cannot see."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import chi2 as chi2_law

from discreet.errors import SettingError, UnansweredError
from discreet.oracles.chi2mix import tail
from discreet.oracles.pairs import PairTables, contrasts, pooled_margin, to_simplex
from discreet.oracles.released import ReleasedPairs
from discreet.privacy.accounting import mu_of


@pytest.mark.parametrize("weights", [[1, 0.5, 0.1], [1, 0.01, 0.01, 0.01], [1, 0.9, 0.8, 0.7, 0.6], [2, 0.6]])
def test_tails_of_weighted_sums(weights):
    weights = np.array(weights, dtype=float)
    draws = (np.random.default_rng(0).standard_normal((1_000_000, len(weights))) ** 2) @ weights
    for p in (0.9, 0.5, 0.1, 0.01, 0.001):
        assert tail(weights, float(np.quantile(draws, 1 - p))) == pytest.approx(p, rel=0.1)


def test_tails_of_equal_weights_are_exact():
    for k in (1, 3, 25):
        assert tail(np.full(k, 0.3), 0.3 * 40.0) == pytest.approx(chi2_law.sf(40.0, k), rel=1e-9)


def test_tails_at_the_edges():
    weights = np.array([1.0, 0.5])
    assert tail(weights, 0.0) == 1
    assert tail(np.zeros(3), 1.0) == 1
    assert 0 <= tail(weights, 1e5) < 1e-100
    assert 0.99 < tail(weights, 1e-4) <= 1
    around = [tail(weights, v) for v in np.linspace(1.49, 1.51, 41)]
    assert all(a >= b for a, b in pairwise(around))  # smooth across the mean


def test_contrasts_and_simplex():
    for levels in (1, 2, 5):
        basis = contrasts(levels)
        np.testing.assert_allclose(basis.T @ basis, np.eye(levels - 1), atol=1e-12)
        np.testing.assert_allclose(basis.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(to_simplex(np.array([0.6, 0.6, -0.2])), [0.5, 0.5, 0.0])
    np.testing.assert_allclose(to_simplex(np.array([0.2, 0.3, 0.5])), [0.2, 0.3, 0.5])


class World:
    """Draws z, then x and y given z, and the noisy pair tables of p columns in all."""

    def __init__(self, shape, n, epsilon, p, law="gaussian", seed=0):
        self.a, self.b, self.c = shape
        self.n, self.p, self.law = n, p, law
        tables = p * (p - 1) // 2
        self.scale = np.sqrt(2 * tables) / mu_of(epsilon, 1e-6) if law == "gaussian" else 2 * tables / epsilon
        self.variance = self.scale**2 + 1 / 12 if law == "gaussian" else 2 * self.scale**2
        self.rng = np.random.default_rng(seed)

    def blur(self, table):
        draw = self.rng.normal if self.law == "gaussian" else self.rng.laplace
        return table + np.rint(draw(0, self.scale, table.shape))

    def tables(self, joint):
        """Noisy tables from a joint law over x, y, z, with further columns that depend on nothing."""
        counts = self.rng.multinomial(self.n, joint.ravel()).reshape(joint.shape).astype(float)
        tables = {
            ("x", "y"): self.blur(counts.sum(2)),
            ("x", "z"): self.blur(counts.sum(1)),
            ("y", "z"): self.blur(counts.sum(0)),
        }
        sizes = {"x": self.a, "y": self.b, "z": self.c}
        for i in range(self.p - 3):
            name = f"~{i}"
            sizes[name] = 2
            for column, axis in (("x", (1, 2)), ("y", (0, 2)), ("z", (0, 1))):
                margin = counts.sum(axis).astype(int)
                half = self.rng.binomial(margin, 0.5)
                tables[column, name] = self.blur(np.stack([half, margin - half], 1).astype(float))
        return PairTables(self.n, sizes, tables, self.variance, self.law)

    def oracle(self, joint):
        return ReleasedPairs(self.tables(joint), alpha=0.05, rng=self.rng)

    def null(self, evenness=1.0):
        """x and y independent given z, each depending on z."""
        pz = self.rng.dirichlet(np.full(self.c, evenness))
        px = 0.6 * self.rng.dirichlet(np.full(self.a, evenness), self.c) + 0.4 / self.a
        py = 0.6 * self.rng.dirichlet(np.full(self.b, evenness), self.c) + 0.4 / self.b
        return np.einsum("k,ki,kj->ijk", pz, px, py)

    def flat(self, evenness=1.0):
        """x and y independent of each other and of z."""
        px, py, pz = (self.rng.dirichlet(np.full(s, evenness)) for s in (self.a, self.b, self.c))
        return np.einsum("i,j,k->ijk", px, py, pz)


RUNS = 600


def band(level):
    """What a right test's rejections out of RUNS stay within, but for one chance in a million."""
    return level * RUNS + 5 * np.sqrt(level * RUNS)


@pytest.mark.parametrize("law", ["gaussian", "laplace"])
@pytest.mark.parametrize("epsilon", [0.1, 1, 10])
@pytest.mark.parametrize(("shape", "n"), [((2, 2, 2), 5_000), ((4, 3, 3), 100_000)])
def test_the_level_holds(law, epsilon, shape, n):
    """Loose here for speed; the slow test below looks closely."""
    world = World(shape, n, epsilon, p=8, law=law, seed=int(epsilon * 10))
    order0 = [world.oracle(world.flat()).ask("x", "y", frozenset()).p_value for _ in range(RUNS)]
    order1 = [world.oracle(world.null()).ask("x", "y", frozenset("z")).p_value for _ in range(RUNS)]
    for p_values in (order0, order1):
        for level in (0.05, 0.01):
            assert np.sum(np.array(p_values) <= level) <= band(level)
        assert np.mean(p_values) == pytest.approx(0.5, abs=0.08)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.1, 1, 10])
@pytest.mark.parametrize("n", [5_000, 100_000])
@pytest.mark.parametrize("shape", [(2, 2, 2), (4, 3, 3), (6, 6, 6)])
def test_the_level_holds_closely(shape, n, epsilon):
    """At most 1.5 times the nominal level, over 4,000 data sets an order, half of them with skewed margins."""
    world = World(shape, n, epsilon, p=10, seed=5)
    evenness = [0.5, 3.0] * 2_000
    order0 = [world.oracle(world.flat(e)).ask("x", "y", frozenset()).p_value for e in evenness]
    order1 = [world.oracle(world.null(e)).ask("x", "y", frozenset("z")).p_value for e in evenness]
    for p_values in (order0, order1):
        for level in (0.05, 0.01):
            assert np.mean(np.array(p_values) <= level) <= 1.5 * level


def test_ignoring_the_noise_would_break_the_level():
    """The same test on the same counts, told that there is no noise, calls most independent pairs dependent."""
    world = World((2, 2, 2), 100_000, 0.1, p=20)
    rejected = {"knows": 0, "blind": 0}
    for _ in range(100):
        pairs = world.tables(np.full((2, 2, 2), 1 / 8))
        for name, variance in (("knows", pairs.variance), ("blind", 1e-9)):
            told = PairTables(pairs.rows, pairs.sizes, pairs.tables, variance)
            oracle = ReleasedPairs(told, alpha=0.05, rng=world.rng)
            rejected[name] += not oracle.ask("x", "y", frozenset()).independent
    assert rejected["knows"] < 20
    assert rejected["blind"] > 50


def test_power():
    """n = 100,000, epsilon 1, 20 columns: a 2x2 table of total variation 0.02 is called dependent."""
    world = World((2, 2, 2), 100_000, 1, p=20)
    joint = np.full((2, 2, 2), 1 / 8)
    joint[0, 0] += 0.005
    joint[1, 1] += 0.005
    joint[0, 1] -= 0.005
    joint[1, 0] -= 0.005
    assert np.abs(joint.sum(2) - 0.25).sum() / 2 == pytest.approx(0.02)
    found = sum(not world.oracle(joint).ask("x", "y", frozenset()).independent for _ in range(100))
    assert found >= 95


def test_what_z_explains_is_explained():
    world = World((2, 2, 2), 100_000, 1, p=8)
    chain = np.einsum("k,ki,kj->ijk", [0.5, 0.5], [[0.8, 0.2], [0.2, 0.8]], [[0.7, 0.3], [0.3, 0.7]])
    oracle = world.oracle(chain)
    assert not oracle.ask("x", "y", frozenset()).independent
    given_z = oracle.ask("x", "y", frozenset("z"))
    assert given_z.evidence < 0 < oracle.ask("x", "y", frozenset()).evidence
    assert oracle.ask("y", "x", frozenset("z")) == given_z


def test_xor_is_not_seen():
    world = World((2, 2, 2), 100_000, 10, p=3)
    xor = np.zeros((2, 2, 2))
    for i in (0, 1):
        for j in (0, 1):
            xor[i, j, i ^ j] = 0.25
    oracle = world.oracle(xor)
    assert oracle.ask("x", "y", frozenset("z")).p_value > 1e-4


def test_constant_columns_and_single_levels_depend_on_nothing():
    world = World((1, 2, 2), 1_000, 1, p=4)
    oracle = world.oracle(np.array([[[0.25, 0.25], [0.25, 0.25]]]))
    assert oracle.ask("x", "y", frozenset()).independent
    assert oracle.ask("x", "y", frozenset("z")).independent
    assert oracle.ask("y", "z", frozenset("x")).p_value == pytest.approx(
        oracle.ask("y", "z", frozenset()).p_value, abs=0.2
    )
    constant = World((2, 2, 2), 1_000, 1, p=4, seed=3)
    p_value = (
        constant.oracle(np.array([[[0.5, 0.5], [0, 0]], [[0, 0], [0, 0]]]) * 1.0).ask("x", "y", frozenset()).p_value
    )
    assert 1e-5 < p_value <= 1


def test_drowned_tables_do_not_crash_and_see_nothing():
    for law in ("gaussian", "laplace"):
        world = World((5, 4, 6), 50, 0.01, p=10, law=law)
        oracle = world.oracle(world.null())
        for given in (frozenset(), frozenset("z")):
            assert 0 < oracle.ask("x", "y", given).p_value <= 1


def test_margins_are_pooled():
    world = World((2, 3, 2), 10_000, 1, p=10)
    pairs = world.tables(world.flat())
    margin = pooled_margin(pairs, "x")
    assert margin.counts.sum() == pytest.approx(10_000)
    assert margin.variance == pytest.approx(pairs.variance / (1 / 3 + 1 / 2 + 7 / 2))


def test_what_was_not_released_is_not_answered():
    pairs = PairTables(10, {"a": 2, "b": 2, "c": 2}, {("a", "b"): np.ones((2, 2)), ("a", "c"): np.ones((2, 2))}, 1.0)
    oracle = ReleasedPairs(pairs, alpha=0.05, rng=np.random.default_rng(0))
    assert oracle.answers("b", "a", frozenset())
    assert not oracle.answers("a", "b", frozenset("c"))
    assert not oracle.answers("a", "b", frozenset("cd"))
    with pytest.raises(UnansweredError):
        oracle.ask("b", "c", frozenset())
    with pytest.raises(SettingError, match="alpha"):
        ReleasedPairs(pairs, alpha=0.0, rng=np.random.default_rng(0))
