"""Numbers among the columns: bins at quantiles, smooth dependence, coarse bins corrected."""

import itertools
import warnings

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.domain.knowledge import Knowledge
from discreet.errors import DoubtWarning, SettingError
from discreet.methods.moments import FEWEST, NOISE_AT, bins_for
from discreet.privacy.accounting import Currency, limit_of
from discreet.release.oracles.components import Component, Components, contrasts
from discreet.release.oracles.released import Released
from discreet.release.oracles.smooth import INNER, Smooth, slopes, waves
from discreet.release.search import search_again
from discreet.release.selection import SETTLING, noise_of
from discreet.release.settings import Marginals, Moments
from discreet.simulation.nonlinear import nonlinear
from discreet.statistics.interactions import Interactions


def numbers(rows, columns=3):
    return dc.Domain({f"c{i}": dc.Numeric(bounds=(-4, 4)) for i in range(columns)}, rows=rows)


def discovered(data, domain, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtWarning)
        return dc.discover(pa.table(data), domain=domain, **{"epsilon": 1.0, **settings})


def parts_of(codes, sizes, noise=0.0, rng=None):
    """Return the components of all sets of up to three columns of encoded rows, with Gaussian noise."""
    rows = len(next(iter(codes.values())))
    found = {}
    for k in (1, 2, 3):
        for names in itertools.combinations(sorted(codes), k):
            table = np.zeros([sizes[c] for c in names])
            np.add.at(table, tuple(codes[c] for c in names), 1.0)
            for size in table.shape:
                table = np.tensordot(table, contrasts(size), axes=(0, 0))
            blur = noise * rng.standard_normal(table.shape) if rng is not None else 0.0
            found[names] = Component(table + blur, noise**2)
    return Components(rows, sizes, found)


def in_even_bins(values, bins):
    return np.searchsorted(np.quantile(values, np.arange(1, bins) / bins), values)


def test_auto_takes_moments_as_soon_as_a_column_has_no_bins():
    rng = np.random.default_rng(0)
    data = {c: rng.normal(size=500) for c in ("c0", "c1", "c2")}
    assert discovered(data, numbers(500)).method == "moments"
    binned = dc.Domain({c: dc.Numeric(bounds=(-4, 4), bins=3) for c in data}, rows=500)
    assert discovered(data, binned).method == "marginals"


def test_a_chain_of_curves_is_found():
    rng = np.random.default_rng(1)
    a = rng.normal(size=20_000)
    b = np.sin(1.5 * a) + 0.3 * rng.normal(size=20_000)
    c = b**2 + 0.3 * rng.normal(size=20_000)  # no trend: a correlation would not see it
    found = discovered({"c0": a, "c1": b, "c2": c}, numbers(20_000))
    assert found.graph.skeleton == {frozenset(("c0", "c1")), frozenset(("c1", "c2"))}
    assert all(0 < found.confidence[pair].edge < 1 for pair in found.graph.skeleton)


def test_a_common_effect_of_numbers_is_directed():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 50_000))
    c = np.tanh(a) + np.tanh(b) + 0.3 * rng.normal(size=50_000)
    found = discovered({"c0": a, "c1": b, "c2": c}, numbers(50_000))
    assert found.graph.directed == {("c0", "c2"), ("c1", "c2")}


def test_mixed_columns_give_one_graph():
    rng = np.random.default_rng(3)
    n = 20_000
    smoker = rng.random(n) < 0.3
    dose = np.where(smoker, 2.0, 0.0) + rng.normal(size=n)
    stage = np.array(["I", "II", "III"])[np.clip((dose + 0.5 * rng.normal(size=n) + 1).astype(int), 0, 2)]
    weight = rng.normal(size=n)
    domain = dc.Domain(
        {
            "smoker": dc.Categorical(categories=("no", "yes")),
            "dose": dc.Numeric(bounds=(-4, 6)),
            "stage": dc.Categorical(categories=("I", "II", "III"), ordered=True),
            "weight": dc.Numeric(bounds=(-4, 4)),
        },
        rows=n,
    )
    data = {"smoker": np.where(smoker, "yes", "no"), "dose": dose, "stage": stage, "weight": weight}
    found = discovered(data, domain)
    assert found.graph.skeleton == {frozenset(("smoker", "dose")), frozenset(("dose", "stage"))}
    assert found.domain.size("dose") > 2
    again = search_again(dc.Discovery.from_json(found.to_json()))
    assert again.graph == found.graph
    assert again.method == "moments"


@pytest.mark.parametrize("search", ["hybrid", "pc", "greedy"])
@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_every_search_and_both_promises(search, delta):
    rng = np.random.default_rng(4)
    a = rng.normal(size=20_000)
    data = {"c0": a, "c1": np.tanh(2 * a) + 0.3 * rng.normal(size=20_000), "c2": rng.normal(size=20_000)}
    found = discovered(data, numbers(20_000), delta=delta, epsilon=4.0, method=Moments(search=search))
    assert found.graph.skeleton == {frozenset(("c0", "c1"))}
    assert found.privacy.delta == delta


def test_what_is_released_costs_what_was_promised_and_no_more():
    rng = np.random.default_rng(5)
    data = {c: rng.normal(size=5_000) for c in ("c0", "c1", "c2")}
    found = discovered(data, numbers(5_000), knowledge=Knowledge(required={("c0", "c1")}))
    assert found.privacy.private
    assert len(found.privacy.spent) == 1 + len(found.measurements)  # quantiles first
    assert all(isinstance(m.statistic, Interactions) for m in found.measurements)


def test_knowledge_is_kept_to():
    rng = np.random.default_rng(6)
    a = rng.normal(size=20_000)
    data = {"c0": a, "c1": a + 0.3 * rng.normal(size=20_000), "c2": a + 0.3 * rng.normal(size=20_000)}
    found = discovered(data, numbers(20_000), knowledge=Knowledge(forbidden={("c1", "c0"), ("c1", "c2"), ("c2", "c1")}))
    assert ("c0", "c1") in found.graph.directed
    assert frozenset(("c1", "c2")) not in found.graph.skeleton


def test_more_rows_and_more_budget_bring_more_bins():
    counts = [
        bins_for(numbers(rows), Currency.GDP, limit_of(Currency.GDP, epsilon, 1e-6), Moments.rounds)
        for rows, epsilon in ((200, 1.0), (5_000, 1.0), (20_000, 1.0), (1_000_000, 1.0))
    ]
    assert counts == sorted(counts)
    assert counts[0] == FEWEST
    assert counts[-1] == max(NOISE_AT)


@pytest.mark.parametrize("currency", [Currency.GDP, Currency.PURE])
def test_the_noise_that_bins_are_chosen_by_is_that_of_the_release(currency):
    """Coefficients of independent even columns vary by what was said, besides sampling."""
    rng = np.random.default_rng(7)
    rows, delta = 3_000, 0.0 if currency is Currency.PURE else 1e-6
    data = {f"c{i}": rng.uniform(-4, 4, size=rows) for i in range(6)}
    limit = limit_of(currency, 2.0, delta)
    bins = bins_for(numbers(rows, 6), currency, limit, Moments.rounds)
    first = limit * (1 - SETTLING) / Moments.rounds
    said = noise_of(numbers(rows, 6).with_bins(bins).widest(), Knowledge(), currency, first)
    found = discovered(data, numbers(rows, 6), epsilon=2.0, delta=delta)
    measured = found.measurements[0]
    variance = measured.mechanism.variance * bins**2 / rows**2
    assert variance**0.5 == pytest.approx(said, rel=1e-6)


def test_waves_are_orthonormal_and_rise_in_turns():
    basis, expected = waves((6, 6), (3, 0), 1)
    assert basis.T @ basis == pytest.approx(np.eye(basis.shape[1]), abs=1e-12)
    assert basis.shape == (10, 10)
    assert expected[0] == 1
    missing, _ = waves((7, 6), (2, 0), 1)  # six bins and a level for missing values
    assert missing.T @ missing == pytest.approx(np.eye(6), abs=1e-12)


def test_slopes_are_those_of_a_line_and_stop_at_the_bins():
    change = slopes(6, 5)  # five bins and a level for missing values
    line = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 99.0])
    assert change @ line == pytest.approx([0.1**0.5, *[INNER**0.5] * 3, 0.1**0.5, 0.0])
    assert not slopes(4, 0).any()


def test_categories_alone_are_judged_as_by_marginals():
    rng = np.random.default_rng(8)
    z = rng.integers(0, 3, 4_000)
    codes = {"x": (z + rng.integers(0, 2, 4_000)) % 3, "y": (z + rng.integers(0, 2, 4_000)) % 3, "z": z}
    parts = parts_of(codes, dict.fromkeys("xyz", 3), noise=5.0, rng=rng)
    plain = Released(parts, alpha=0.01, rng=rng)
    smooth = Smooth(parts, bins={}, alpha=0.01, rng=rng)
    questions = [("x", "y", frozenset()), ("x", "y", frozenset("z"))]
    assert smooth.weigh(questions) == pytest.approx(plain.weigh(questions))


@pytest.mark.parametrize("bins", [4, 6])
def test_what_coarse_bins_leave_over_is_taken_away(bins):
    """Two columns follow a third closely; within its bins they still rise together."""
    rng = np.random.default_rng(9)
    z = rng.normal(size=200_000)
    values = {"x": z + 0.5 * rng.normal(size=len(z)), "y": z + 0.5 * rng.normal(size=len(z)), "z": z}
    parts = parts_of({c: in_even_bins(v, bins) for c, v in values.items()}, dict.fromkeys("xyz", bins))
    question = ("x", "y", frozenset("z"))
    plain = Released(parts, alpha=0.01, rng=rng).residuals([question])
    smooth = Smooth(parts, bins=dict.fromkeys("xyz", bins), alpha=0.01, rng=rng)
    basis = smooth.directions(question)
    before, after = plain.values[0] @ basis, smooth.residuals([question]).values[0]
    assert abs(after[0]) < 0.5 * abs(before[0])
    assert not Released(parts, alpha=0.01, rng=rng).ask(*question).independent
    assert smooth.ask(*question).independent


def test_a_dependence_within_bins_is_still_seen():
    rng = np.random.default_rng(10)
    z = rng.normal(size=20_000)
    x = z + rng.normal(size=len(z))
    values = {"x": x, "y": z + x + rng.normal(size=len(z)), "z": z}
    parts = parts_of({c: in_even_bins(v, 5) for c, v in values.items()}, dict.fromkeys("xyz", 5), noise=30.0, rng=rng)
    smooth = Smooth(parts, bins=dict.fromkeys("xyz", 5), alpha=0.01, rng=rng)
    assert not smooth.ask("x", "y", frozenset("z")).independent


@pytest.mark.parametrize("given", [(), ("z",)])
@pytest.mark.parametrize("noise", [5.0, 60.0])
def test_the_level_holds(given, noise):
    rng = np.random.default_rng(11)
    called, times, rows, bins = 0, 400, 4_000, 4
    for _ in range(times):
        z = rng.normal(size=rows)
        share = 1.0 if given else 0.0
        x, y = share * np.sin(z) + 0.5 * rng.normal(size=rows), share * np.tanh(z) + 0.5 * rng.normal(size=rows)
        codes = {c: in_even_bins(v, bins) for c, v in (("x", x), ("y", y), ("z", z))}
        parts = parts_of(codes, dict.fromkeys("xyz", bins), noise=noise, rng=rng)
        smooth = Smooth(parts, bins=dict.fromkeys("xyz", bins), alpha=0.05, rng=rng)
        called += not smooth.ask("x", "y", frozenset(given)).independent
    assert called / times < 0.05 * 1.5 + 2 * (0.05 * 0.95 / times) ** 0.5


def test_odd_columns_have_defined_results():
    rng = np.random.default_rng(12)
    rows = 60
    constant = {"c0": np.full(rows, 1.5), "c1": rng.normal(size=rows), "c2": np.full(rows, 99.0)}  # clipped
    assert not discovered(constant, numbers(rows)).graph.skeleton
    infinite = {**constant, "c1": np.where(np.arange(rows) % 2 == 0, np.inf, -np.inf)}
    assert discovered(infinite, numbers(rows)).graph.nodes == ("c0", "c1", "c2")
    with pytest.raises(SettingError, match="at least two columns"):
        discovered({"c0": constant["c1"]}, numbers(rows, 1))
    with pytest.raises(SettingError, match="bins"):
        Moments(bins=1)
    assert Moments().changed(alpha=0.05) == Moments(alpha=0.05)
    assert isinstance(Moments(), Marginals)


def test_few_rows_are_doubted_before_anything_is_spent():
    rng = np.random.default_rng(13)
    data = {c: rng.normal(size=40) for c in ("c0", "c1")}
    with pytest.warns(DoubtWarning, match="40 rows"):
        dc.discover(pa.table(data), domain=numbers(40, 2), epsilon=0.5)


def test_a_model_keeps_its_bounds_and_its_graph():
    model = nonlinear(dc.network("asia"), np.random.default_rng(14))
    assert model.dag == dc.network("asia").dag
    drawn = model.sample(5_000, np.random.default_rng(15))
    for name, column in model.domain(5_000).columns.items():
        low, high = column.bounds
        assert np.mean((drawn[name] < low) | (drawn[name] > high)) < 0.01
    assert set(drawn) == set(dc.network("asia").nodes)
    other = model.sample(5_000, np.random.default_rng(15))
    assert all((drawn[name] == other[name]).all() for name in drawn)


def test_missing_numbers_are_a_level_of_their_own():
    """Whether a number is missing may depend on another column, and the numbers that are there on a third."""
    rng = np.random.default_rng(16)
    n = 20_000
    a, b = rng.normal(size=(2, n))
    c = np.where(a > 0.5, None, np.tanh(b) + 0.3 * rng.normal(size=n))
    domain = dc.Domain(
        {
            "a": dc.Numeric(bounds=(-4, 4)),
            "b": dc.Numeric(bounds=(-4, 4)),
            "c": dc.Numeric(bounds=(-3, 3), missing="none"),
        },
        rows=n,
    )
    data = {"a": a, "b": b, "c": pa.array(c.tolist(), pa.float64())}
    found = discovered(data, domain)
    assert {frozenset(("a", "c")), frozenset(("b", "c"))} <= found.graph.skeleton
    assert found.domain["c"].levels[-1] == "none"
    assert dc.Domain.from_yaml(domain.to_yaml()) == domain
    with pytest.raises(SettingError, match="take `moments` where some are missing"):
        discovered(data, domain, method="pcd")
    with pytest.raises(SettingError, match="a value in every row"):
        dc.test_independence(pa.table(data), "a", "c", domain=domain, epsilon=1.0, test="permutation")
    answer = dc.test_independence(pa.table(data), "a", "c", domain=domain, epsilon=1.0)
    assert (answer.test, answer.independent) == ("moments", False)
