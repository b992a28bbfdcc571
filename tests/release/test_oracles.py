"""Tests that know the noise: their level holds, they have power, and they say what they cannot see."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.stats import chi2 as chi2_law

from discreet.data.memory import MemoryTable
from discreet.domain import Categorical, Domain
from discreet.domain.knowledge import NOTHING_KNOWN
from discreet.errors import SettingError, UnansweredError
from discreet.privacy.accounting import mu_of
from discreet.privacy.budget import Budget
from discreet.privacy.mechanisms.additive import ShapedGaussian, additive_for
from discreet.release.oracles.components import Components, contrasts, pool, taken_apart, to_simplex
from discreet.release.oracles.released import Released, tail
from discreet.release.release import Measurement
from discreet.release.selection import components, select_first
from discreet.release.settings import Marginals
from discreet.room import Room
from discreet.statistics.interactions import Interactions
from discreet.testing import SeededNoise


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


def released(rows, sizes, tables, variance, law="gaussian"):
    """What noisy tables say; a third entry tells how many cells of noise are in one of theirs."""
    listed = [(columns, table, 1) for columns, table in tables.items()] if isinstance(tables, dict) else tables
    parts = pool(part for columns, table, cells in listed for part in taken_apart(columns, table, cells * variance))
    return Components(rows, sizes, parts, law)


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
        """Noisy tables from a joint law over x, y, z, with the margins of their tables with further binary columns."""
        counts = self.rng.multinomial(self.n, joint.ravel()).reshape(joint.shape).astype(float)
        tables = [
            (("x", "y"), self.blur(counts.sum(2)), 1),
            (("x", "z"), self.blur(counts.sum(1)), 1),
            (("y", "z"), self.blur(counts.sum(0)), 1),
        ]
        sizes = {"x": self.a, "y": self.b, "z": self.c}
        for column, axis in (("x", (1, 2)), ("y", (0, 2)), ("z", (0, 1))):
            margin = counts.sum(axis)
            for _ in range(self.p - 3):
                tables.append(((column,), margin + self.blur(np.zeros((len(margin), 2))).sum(axis=1), 2))
        return sizes, tables

    def oracle(self, joint):
        return Released(released(self.n, *self.tables(joint), self.variance, self.law), alpha=0.05, rng=self.rng)

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


def domain_of(sizes, rows):
    levels = {column: tuple(map(str, range(size))) for column, size in sizes.items()}
    return Domain({column: Categorical(categories=names) for column, names in levels.items()}, rows=rows)


def first_mechanism(domain, budget):
    """What the first release asks for, and its noise."""
    statistic = select_first(domain, NOTHING_KNOWN, budget.currency)
    return statistic, additive_for(budget.currency, budget.left / Marginals.rounds, statistic.sensitivity(domain))


class FirstRelease(World):
    """Draws the same, and releases it as `discover` does at first: interactions of p columns, for half of the budget.

    Only what says something about x, y and z is drawn.
    """

    def __init__(self, shape, n, epsilon, p, seed=0):
        super().__init__(shape, n, epsilon, p, seed=seed)
        sizes = dict(zip("xyz", shape, strict=True))
        whole, mechanism = first_mechanism(
            domain_of({**sizes, **{f"other {i}": 2 for i in range(p - 3)}}, n), Budget(epsilon=epsilon, delta=1e-6)
        )
        assert set(whole.weights) == {1}  # single columns are as noisy as pairs
        sets = tuple(s for s in whole.sets if set(s) <= set("xyz"))
        self.domain, self.statistic = domain_of(sizes, n), Interactions(sets, (1,) * len(sets))
        self.mechanism = ShapedGaussian(mechanism.sigma, self.statistic.squares(self.domain))
        self.spread = mechanism.sigma * np.sqrt([float(square) for square in self.mechanism.squares])

    def oracle(self, joint):
        drawn = Drawn(self.rng.multinomial(self.n, joint.ravel()).reshape(joint.shape))
        noise = np.rint(self.rng.normal(0, self.spread)).astype(np.int64)
        values = self.statistic.split(self.statistic.evaluate(drawn) + noise, self.domain)
        measured = Measurement(self.statistic, tuple(values), self.mechanism)
        return Released(components([measured], self.domain), alpha=0.05, rng=self.rng)


class Drawn:
    """Counts of x, y and z that answer like a table of rows."""

    def __init__(self, cells):
        self.cells = cells

    def counts(self, sets):
        return [self.cells.sum(axis=tuple(i for i, c in enumerate("xyz") if c not in s)) for s in sets]


RUNS = 600


def band(level):
    """What a right test's rejections out of RUNS stay within, but for one chance in a million."""
    return level * RUNS + 5 * np.sqrt(level * RUNS)


@pytest.mark.parametrize("law", ["gaussian", "laplace"])
@pytest.mark.parametrize("epsilon", [0.1, 1, 10])
@pytest.mark.parametrize(("shape", "n"), [((2, 2, 2), 5_000), ((4, 3, 3), 100_000)])
def test_the_level_holds(law, epsilon, shape, n):
    """Loose here for speed; slow tests look closely."""
    seed = int(epsilon * 10)
    if law == "gaussian":
        world = FirstRelease(shape, n, epsilon, p=8, seed=seed)
    else:
        world = World(shape, n, epsilon, p=8, law=law, seed=seed)
    order0 = [world.oracle(world.flat()).ask("x", "y", frozenset()).p_value for _ in range(RUNS)]
    order1 = [world.oracle(world.null()).ask("x", "y", frozenset("z")).p_value for _ in range(RUNS)]
    for p_values in (order0, order1):
        for level in (0.05, 0.01):
            assert np.sum(np.array(p_values) <= level) <= band(level)
        assert np.mean(p_values) == pytest.approx(0.5, abs=0.08)


CLOSELY = [((2, 2, 2), 5_000, 0.1), ((4, 3, 3), 100_000, 1), ((6, 6, 6), 5_000, 10)]
"""Of all shapes, rows and epsilons, three are looked at closely in every run, and all of them nightly."""


@pytest.mark.parametrize(
    ("shape", "n", "epsilon"),
    [
        pytest.param(*each, marks=pytest.mark.slow if each in CLOSELY else pytest.mark.nightly)
        for each in product([(2, 2, 2), (4, 3, 3), (6, 6, 6)], [5_000, 100_000], [0.1, 1, 10])
    ],
)
def test_the_level_holds_closely(shape, n, epsilon):
    """At most 1.5 times the nominal level, over 4,000 data sets an order, half of them with skewed margins."""
    look_closely(FirstRelease(shape, n, epsilon, p=10, seed=5))


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "n", "epsilon"), CLOSELY)
def test_the_level_of_tables_holds_closely(shape, n, epsilon):
    look_closely(World(shape, n, epsilon, p=10, seed=5))


def look_closely(world):
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
        tables = world.tables(np.full((2, 2, 2), 1 / 8))
        for name, variance in (("knows", world.variance), ("blind", 1e-9)):
            told = released(world.n, *tables, variance)
            oracle = Released(told, alpha=0.05, rng=world.rng)
            rejected[name] += not oracle.ask("x", "y", frozenset()).independent
    assert rejected["knows"] < 20
    assert rejected["blind"] > 50


@pytest.mark.parametrize("epsilon", [1, 0.2])
def test_power(epsilon):
    """n = 100,000, 20 columns: the first release shows a 2x2 table of total variation 0.02.

    At epsilon 1 with much to spare; at 0.2 with none if the noise were twice as large.
    """
    rows, alpha = 100_000, Marginals().alpha
    sizes = {f"c{i}": 2 for i in range(20)}
    domain = domain_of(sizes, rows)
    asked = first_mechanism(domain, Budget(epsilon=epsilon, delta=1e-6))
    found = wrong = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        codes = {column: rng.integers(0, 2, rows, dtype=np.uint8) for column in sizes}
        codes["c1"] = np.where(rng.random(rows) < 0.04, codes["c0"], codes["c1"])  # alike with 0.52, not 0.5
        budget = Budget(epsilon=epsilon, delta=1e-6)
        room = Room(MemoryTable(codes, sizes), domain, budget, noise=SeededNoise(seed))
        measured = Measurement.of(room.release(*asked), domain)
        oracle = Released(components([measured], domain), alpha=alpha, rng=rng)
        found += not oracle.ask("c0", "c1", frozenset()).independent
        wrong += not oracle.ask("c0", "c2", frozenset()).independent
    assert found >= 95
    assert wrong <= 6


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
    oracle = world.oracle(world.flat())
    assert oracle.estimates.shares["x"].sum() == pytest.approx(1)
    assert oracle.parts.variance("x") == pytest.approx(world.variance / (1 / 3 + 1 / 2 + 7 / 2))


@pytest.mark.parametrize(
    ("shape", "n", "epsilon"), [((2, 2, 2), 2_000, 1), ((3, 2, 3), 20_000, 0.3), ((2, 3, 2), 500, 3)]
)
def test_the_null_covariance_is_that_of_the_residual(shape, n, epsilon):
    """Every source of variance is in it: with three columns the pooled margins are as noisy as the tables."""
    world = World(shape, n, epsilon, p=3, seed=11)
    for draw, z in ((world.flat, ""), (world.null, "z")):
        joint = draw(5.0)
        drawn, claimed = [], []
        for _ in range(1500):
            batch = world.oracle(joint).residuals([("x", "y", frozenset(z))])
            drawn.append(batch.values[0])
            claimed.append((batch.sampled + batch.blurred)[0])
        found, expected = np.cov(np.array(drawn).T), np.mean(claimed, axis=0)
        ratio = np.trace(np.atleast_2d(found)) / np.trace(expected)
        assert 0.8 < ratio < 1.1


def test_each_source_of_noise_is_counted():
    """What each part of the noise adds to the covariance, by hand, for a 2x2 table given z."""
    rows, v = 1_000, 400.0
    shapes = {("x", "y"): (2, 2), ("x", "z"): (2, 2), ("y", "z"): (2, 2)}
    exact = {"x": np.array([[0.9, 0.2], [0.1, 0.8]]), "y": np.array([[0.7, 0.4], [0.3, 0.6]])}
    tables = {
        ("x", "z"): exact["x"] * rows / 2,
        ("y", "z"): exact["y"] * rows / 2,
        ("x", "y"): (exact["x"] @ exact["y"].T) * rows / 2,
    }
    assert {k: t.shape for k, t in tables.items()} == shapes
    oracle = Released(released(rows, {"x": 2, "y": 2, "z": 2}, tables, v), alpha=0.05, rng=np.random.default_rng(0))
    (blurred,) = oracle.residuals([("x", "y", frozenset("z"))]).blurred
    root2 = np.sqrt(2)
    blur = v / 500**2
    sx, sy = (_shrunk(exact[c], blur) for c in "xy")
    qx, qy = (s[0][0] / root2 - s[0][1] / root2 for s in (sx, sy))
    margin = v  # two tables of two columns each: v / (1/2 + 1/2)
    expected = v + 1.0  # the pair's own noise, and one count for sparse cells
    expected += v * (((qx - qx.mean()) ** 2).sum() + ((qy - qy.mean()) ** 2).sum())
    expected += margin * (qx.mean() ** 2 + qy.mean() ** 2)
    expected += margin * ((qx * qy - (qx * qy).mean()) ** 2).sum()
    expected += 2 * (500**2 * sx[1] * sy[1]).sum()
    assert blurred[0, 0] == pytest.approx(expected, rel=1e-9)


def _shrunk(shares, blur):
    """Shares within z moved towards the pooled ones, and their error, as released.md says."""
    pooled = shares.mean(axis=1, keepdims=True)
    distance = ((shares - pooled) ** 2).sum(axis=0) + blur
    weight = distance / (distance + blur)
    return weight * shares + (1 - weight) * pooled, weight * blur


@pytest.mark.parametrize("rare", [0.3, 1, 2, 4])
@pytest.mark.parametrize(("p", "epsilon"), [(8, 1), (37, 1), (8, 0.1)])
def test_the_level_holds_for_copies_of_a_rare_cause(rare, p, epsilon):
    """x and y copy z, and one level of z has about as many rows as the noise: the hardest case for order 1."""
    world = World((2, 2, 2), 100_000, epsilon, p=p, seed=3)
    q = min(rare * world.scale / world.n, 0.5)
    copy = np.array([[0.95, 0.05], [0.05, 0.95]])
    joint = np.einsum("k,ki,kj->ijk", [1 - q, q], copy, copy)
    p_values = np.array([world.oracle(joint).ask("x", "y", frozenset("z")).p_value for _ in range(300)])
    assert np.sum(p_values <= 0.01) <= 300 * 0.015 + 5
    assert np.sum(p_values <= 0.05) <= 300 * 0.075 + 5


@pytest.mark.slow
def test_laplace_tails_are_simulated():
    """Drowned in Laplace noise, a Gaussian null would call 1.65 times too many pairs dependent at 1 %."""
    world = World((2, 2, 2), 100_000, 0.005, p=3, law="laplace", seed=2)
    knows = fooled = 0
    for _ in range(6_000):
        tables = world.tables(np.full((2, 2, 2), 1 / 8))
        parts = released(world.n, *tables, world.variance, "laplace")
        knows += Released(parts, alpha=0.01, rng=world.rng).ask("x", "y", frozenset()).p_value <= 0.01
        gaussian = released(world.n, *tables, world.variance)
        fooled += Released(gaussian, alpha=0.01, rng=world.rng).ask("x", "y", frozenset()).p_value <= 0.01
    assert knows <= 60 + 4 * np.sqrt(60)
    assert fooled >= 1.3 * 60
    assert knows < fooled


def test_a_level_that_cannot_be_simulated_is_refused():
    pairs = released(10, {"a": 2, "b": 2}, {("a", "b"): np.ones((2, 2))}, 1.0, "laplace")
    with pytest.raises(SettingError, match="Laplace"):
        Released(pairs, alpha=1e-3, rng=np.random.default_rng(0))


def test_hardly_any_noise_and_rare_cells():
    """Cells that are nearly empty are not normal; the test must not take single rows for dependence."""
    world = World((2, 2, 2), 100_000, 100, p=8, seed=4)
    joint = np.einsum("i,j,k->ijk", [0.999, 0.001], [0.999, 0.001], [0.5, 0.5])
    p_values = np.array([world.oracle(joint).ask("x", "y", frozenset()).p_value for _ in range(400)])
    assert np.sum(p_values <= 0.01) <= 400 * 0.015 + 6


def test_no_noise_at_all():
    """A scale so small that the noise is always 0 still gives an answer."""
    pairs = released(40, {"a": 2, "b": 2}, {("a", "b"): np.array([[20.0, 0], [0, 20]])}, 0.0, "laplace")
    oracle = Released(pairs, alpha=0.01, rng=np.random.default_rng(0))
    assert not oracle.ask("a", "b", frozenset()).independent


def test_what_was_not_released_is_not_answered():
    pairs = released(10, {"a": 2, "b": 2, "c": 2}, {("a", "b"): np.ones((2, 2)), ("a", "c"): np.ones((2, 2))}, 1.0)
    oracle = Released(pairs, alpha=0.05, rng=np.random.default_rng(0))
    assert oracle.answers("b", "a", frozenset())
    assert not oracle.answers("a", "b", frozenset("c"))
    assert not oracle.answers("a", "b", frozenset("cd"))
    with pytest.raises(UnansweredError):
        oracle.ask("b", "c", frozenset())
    with pytest.raises(SettingError, match="alpha"):
        Released(pairs, alpha=0.0, rng=np.random.default_rng(0))


@pytest.mark.parametrize("known", [(), ("xzw",), ("yzw",), ("xzw", "yzw")])
def test_what_unreleased_interactions_do_to_order_2(known):
    """They leave a residual though the columns are independent given two: `released.md` says which."""
    rng = np.random.default_rng(6)
    strata = rng.dirichlet(np.full(6, 3.0)).reshape(2, 3)
    of_x, of_y = rng.dirichlet(np.ones(3), (2, 3)), rng.dirichlet(np.ones(2), (2, 3))
    cells = 1e9 * np.einsum("zw,zwx,zwy->xyzw", strata, of_x, of_y)
    letters = "xyzw"
    wanted = ["xy", "xz", "xw", "yz", "yw", "zw", *known]
    tables = {tuple(s): cells.sum(axis=tuple(i for i, c in enumerate(letters) if c not in s)) for s in wanted}
    listed = {tuple(sorted(s)): t.transpose(np.argsort(s)) for s, t in tables.items()}
    oracle = Released(released(1e9, dict(zip(letters, cells.shape, strict=True)), listed, 0.0), alpha=0.01, rng=rng)
    (seen,) = oracle.residuals([("x", "y", frozenset("zw"))]).values
    size = 1e9 * strata.ravel()
    true = [contrasts(of.shape[-1]).T @ of.reshape(6, -1).T for of in (of_x, of_y)]
    used = [oracle.estimates.within(c, ("w", "z")).shares for c in "xy"]
    used = [u.reshape(-1, 3, 2).swapaxes(1, 2).reshape(-1, 6) for u in used]
    gone_x, gone_y = ((t - u) * size for t, u in zip(true, used, strict=True))
    np.testing.assert_allclose(seen.reshape(2, 1), gone_x @ true[1].T + used[0] @ gone_y.T, rtol=1e-3, atol=1e4)
    if len(known) == 2:
        assert np.abs(seen).max() < 1e4
    else:
        assert np.abs(seen).max() > 1e6
