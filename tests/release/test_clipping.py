"""Rows that are clipped where noise rules: when, what a release says then, and what is made of it."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import discreet as dc
from discreet.errors import ReleaseError, SettingError
from discreet.privacy.accounting import Currency
from discreet.release.clipping import FEWEST, SHARE, Forecast, cautious_shares, make_frame, select_margins
from discreet.release.oracles.components import Component
from discreet.release.oracles.released import Released
from discreet.release.oracles.strata import Estimates
from discreet.release.selection import components
from discreet.release.synthesis import model_of
from discreet.release.tables import PairTable
from discreet.report.terminal import discovery_text
from discreet.report.words import clipped_words, weakest_words
from discreet.search.dseparation import DSeparation
from discreet.search.oracle import EMPTY
from discreet.statistics.clipped import GRID, ClippedInteractions
from discreet.testing import SeededNoise

WIDE, ROWS = "skew:24:5", 4_000


class Silent(SeededNoise):
    """No noise at all."""

    def rounded_gaussian(self, sigma, size):
        return np.zeros(size, dtype=np.int64)


def found_in(name=WIDE, rows=ROWS, epsilon=1.0, delta=1e-6, noise=None, **settings):
    net = dc.network(name)
    domain, data = net.domain(rows), net.sample(rows, np.random.default_rng(0))
    budget = dc.Budget(epsilon=epsilon, delta=delta)
    room = dc.Room(dc.load(data, domain), domain, budget, noise=noise or SeededNoise(0))
    return net, data, dc.discover_in(room, dc.Marginals(**settings))


def clipped(found):
    return [measured.clipped for measured in found.measurements]


@pytest.fixture(scope="module")
def wide():
    return found_in()


@pytest.fixture(scope="module")
def silent():
    return found_in(noise=Silent(0))


# --- when -----------------------------------------------------------------------------------------------------------


def test_wide_and_uneven_tables_are_clipped_where_noise_rules(wide):
    _, _, found = wide
    assert clipped(found) == [False, True]
    shares = [Fraction(spent.amount) for spent in found.privacy.spent]
    assert shares[0] / sum(shares) == pytest.approx(float(SHARE), rel=1e-6)
    assert sum(shares) == pytest.approx(dc.Budget(epsilon=1.0, delta=1e-6).limit, rel=1e-6)


@pytest.mark.parametrize(
    "given",
    [
        {"clip": "never"},
        {"name": f"skew:{FEWEST - 1}:5"},
        {"rows": 60_000},
        {"delta": 0.0, "alpha": 0.01},
    ],
)
def test_others_are_not_and_pay_nothing_for_it(given):
    _, _, found = found_in(**given)
    assert clipped(found) == [False, False]
    assert all(any(len(s) > 1 for s in measured.statistic.sets) for measured in found.measurements)


def test_even_tables_pay_a_little_for_the_look_and_are_measured_as_they_are():
    names = [f"c{i:02}" for i in range(20)]
    domain = dc.Domain({c: dc.Categorical(categories=("a", "b")) for c in names}, rows=3_000)
    rng = np.random.default_rng(0)
    data = {c: np.where(rng.random(3_000) < 0.5, "a", "b") for c in names}
    room = dc.Room(dc.load(data, domain), domain, dc.Budget(epsilon=1.0, delta=1e-6), noise=SeededNoise(0))
    found = dc.discover_in(room, dc.Marginals())
    assert not any(clipped(found))
    assert {len(s) for s in found.measurements[0].statistic.sets} == {1}
    assert found.measurements[1].pairs
    shares = [float(spent.amount) for spent in found.privacy.spent]
    assert shares[0] == pytest.approx(0.03 * float(dc.Budget(epsilon=1.0, delta=1e-6).limit))
    assert dc.search_again(dc.Discovery.from_json(found.to_json())).graph == found.graph
    assert not clipped_words(found)


def test_it_is_decided_by_public_facts_whether_it_is_looked_at():
    def asked(columns, rows, mu2, currency=Currency.GDP):
        domain = dc.Domain({f"c{i}": dc.Categorical(categories=("a", "b")) for i in range(columns)}, rows=rows)
        return select_margins(domain, currency, Fraction(mu2)) is not None

    assert asked(20, 5_000, 0.05)
    assert asked(20, 5_000, 0.025, Currency.ZCDP)
    assert not asked(20, 5_000, 0.05, Currency.PURE)
    assert not asked(20, 30_000, 0.05)
    assert not asked(12, 500, 0.05)


def test_the_forecast_of_bias_is_what_happens_to_independent_columns():
    """Rows of independent columns, exactly: what a weight makes of their covariance, against the forecast."""
    rng, p, n = np.random.default_rng(0), 14, 400_000
    names, share = [f"c{i:02}" for i in range(p)], 0.15
    frame = make_frame({c: np.array([1 - share, share]) for c in names})
    codes = {c: (rng.random(n) < share).astype(np.int64) for c in names}
    weights = frame.weight.of(codes) / 256
    told = np.stack([codes[c] - (frame.centres[c].steps[1] / GRID) for c in names], axis=1) * 2**0.5
    sums = (told * weights[:, None]).T @ told / n
    seen = np.mean([sums[a, b] for a, b in combinations(range(p), 2)])
    forecast = Forecast(frame, n, 0.05)
    scale = frame.centres[names[0]].scale / 16
    deviation = frame.limit / (16 * GRID**2) / 0.05**0.5 / scale
    assert n * abs(seen) / deviation == pytest.approx(forecast.bias, rel=0.35)
    assert seen < 0  # a row that is long in one column has less room for another


def test_shares_that_drown_in_noise_are_not_asked_for():
    """They would all look like one common level, rows like short ones, and the noise like much less."""
    for epsilon in (0.3, 0.01, 0.0005):
        _, _, found = found_in("skew:14:5", 1_000, epsilon)
        assert all(len(measured.statistic.sets) > 14 for measured in found.measurements)
        assert not any(clipped(found))


def test_shares_are_told_with_caution():
    """A little noise moves them a little, much of it to even ones."""
    _, _, found = found_in("skew:24:5", 4_000)
    parts = components(found.measurements[:1], found.domain)
    blurred = replace(parts, parts={s: replace(part, variance=1e9) for s, part in parts.parts.items()})
    exact = replace(parts, parts={s: replace(part, variance=0.0) for s, part in parts.parts.items()})
    for column in list(found.domain)[:5]:
        levels = found.domain.size(column)
        np.testing.assert_allclose(cautious_shares(blurred, column), np.full(levels, 1 / levels))
        np.testing.assert_allclose(cautious_shares(exact, column), Estimates(parts).shares[column])


def test_columns_that_never_vary_are_not_clipped():
    names = [f"c{i:02}" for i in range(20)]
    domain = dc.Domain({c: dc.Categorical(categories=("a", "b")) for c in names}, rows=4_000)
    room = dc.Room(dc.load(dict.fromkeys(names, ["a"] * 4_000), domain), domain, dc.Budget(epsilon=1.0, delta=1e-6))
    found = dc.discover_in(room, dc.Marginals())
    assert len(found.graph.nodes) == 20
    frame = make_frame({c: np.array([1.0, 0.0]) for c in names})
    assert Forecast(frame, 4_000, 0.05).bias == np.inf


def test_the_noise_on_tables_is_told_from_the_centres(wide):
    """By drawing it."""
    parts = components(wide[2].measurements, wide[2].domain)
    rng, (x, y) = np.random.default_rng(0), list(wide[2].domain)[:2]
    table = PairTable.of(parts, x, y)
    shapes = {s: parts.values(*s).shape for s in ((x,), (y,), (x, y))}
    drawn = []
    for _ in range(4_000):
        noisy = {s: Component(rng.normal(size=k) * parts.variance(*s) ** 0.5, 0.0) for s, k in shapes.items()}
        drawn.append(PairTable.of(replace(parts, rows=0.0, parts=noisy), x, y).counts.ravel())
    eyes = [np.eye(size) for size in table.counts.shape]
    seen, told = np.var(drawn, axis=0), np.diag(table.noise(*eyes))
    np.testing.assert_allclose(seen, told, rtol=0.15)


@pytest.mark.parametrize("levels", range(2, 22))
def test_even_columns_are_forecast_too(levels):
    """Their rows are all equally long, up to rounding."""
    frame = make_frame({f"c{i:02}": np.full(levels, 1 / levels) for i in range(13)})
    forecast = Forecast(frame, 1_000, 0.05)
    assert forecast.bias >= 0
    assert np.isfinite([forecast.bias, forecast.gain(1e4, 1)]).all()


def test_what_cannot_be_is_refused():
    with pytest.raises(SettingError, match="clip: one of"):
        dc.Marginals(clip="always")


# --- what a release says --------------------------------------------------------------------------------------------


def test_a_release_is_read_back_and_searched_again(wide):
    _, _, found = wide
    again = dc.Discovery.from_json(found.to_json())
    assert again == found
    assert again.to_json() == found.to_json()
    assert dc.search_again(again).graph == found.graph
    assert dc.search_again(again).confidence == found.confidence
    for way in ("pc", "greedy"):
        assert dc.search_again(again, search_by=way).graph.skeleton
    assert dc.search_again(again, missing="leave-out").graph == found.graph  # nothing is missing here


def longer(measured):
    """Give a column more levels than it has."""
    next(iter(measured["clipped"]["centres"].values()))["steps"] += [0] * 300_000


def damages():
    def change(key, value):
        return lambda clipped: clipped["clipped"].__setitem__(key, value)

    yield change("grid", 128), "steps of 1/256"
    yield change("limit", 1), "frame"
    yield change("base", "32"), "whole numbers"
    yield change("base", 10**400), "base from 1"
    yield change("limit", 10**400), "limit above"
    yield change("centres", {}), "frame"
    yield lambda m: next(iter(m["clipped"]["centres"].values())).__setitem__("scale", 0), "centre"
    yield lambda m: next(iter(m["clipped"]["centres"].values()))["steps"].__setitem__(0, 1.5), "centre"
    yield longer, "as many shares"
    yield lambda m: m["interactions"].pop(), "calls for"
    yield lambda m: m["interactions"][1]["contrasts"].append(1), "shape"
    yield lambda m: m["interactions"][1]["contrasts"].__setitem__(0, 1 << 60), "neither rows nor noise"
    yield lambda m: m["mechanism"].__setitem__("kind", "discrete-gaussian"), "does not fit"


@pytest.mark.parametrize(("damage", "words"), list(damages()))
def test_a_damaged_release_is_refused(wide, damage, words):
    data = json.loads(wide[2].to_json())
    damage(data["measurements"][1])
    with pytest.raises(ReleaseError, match=words):
        dc.Discovery.from_json(json.dumps(data))


def test_it_says_that_rows_were_clipped(wide, tmp_path):
    _, _, found = wide
    assert "clipped" in discovery_text(found)
    assert "clipped" in clipped_words(found)[0]
    assert "A correlation of" in weakest_words(found)
    found.save(tmp_path)
    assert clipped_words(found)[0].split("`")[0][:60] in (tmp_path / "report.html").read_text()
    assert found.edges.to_pandas() is not None


# --- what is made of it ---------------------------------------------------------------------------------------------


def test_pairs_are_tables_of_weighted_rows(silent):
    """Without noise, exactly."""
    _, data, found = silent
    assert clipped(found) == [False, True]
    frame, parts = found.measurements[1].statistic.frame, components(found.measurements, found.domain)
    codes = {c: np.searchsorted(found.domain[c].levels, data[c]) for c in found.domain}
    assert all(list(found.domain[c].levels) == sorted(found.domain[c].levels) for c in found.domain)
    weights = frame.weight.of(codes) / 256
    assert parts.rows == pytest.approx(weights.sum(), rel=1e-12)
    for x, y in list(combinations(found.domain, 2))[:30]:
        expected = np.zeros(found.domain.shape((x, y)))
        np.add.at(expected, (codes[x], codes[y]), weights)
        np.testing.assert_allclose(PairTable.of(parts, x, y).counts, expected, atol=1e-6 * ROWS)


def test_with_no_limit_evidence_is_that_of_whole_rows(silent):
    """Without noise, told from other centres, the same is said."""
    _, data, found = silent
    domain, plain = found.domain, found_in(noise=Silent(0), clip="never")[2]
    frame = replace(found.measurements[1].statistic.frame, limit=1 << 40)
    statistic = ClippedInteractions(frame)
    exact = statistic.split(statistic.evaluate(dc.load(data, domain)), domain)
    loose = replace(found.measurements[1], statistic=statistic, values=tuple(exact))
    quiet = replace(loose.mechanism, sigma=1e-3, squares=statistic.squares(domain))
    tiny = replace(plain.measurements[0], mechanism=replace(plain.measurements[0].mechanism, sigma=1e-3))
    there, here = (
        Released(components([m], domain), alpha=0.01, rng=np.random.default_rng(0))
        for m in (replace(loose, mechanism=quiet), tiny)
    )
    names = list(domain)
    questions = [(x, y, EMPTY) for x, y in combinations(names[:8], 2)]
    questions += [(x, y, frozenset({z})) for x, y, z in zip(names, names[1:], names[2:], strict=False)]
    questions += [(names[i], names[i + 1], frozenset(names[i + 2 : i + 4])) for i in range(6)]
    np.testing.assert_allclose(there.weigh(questions), here.weigh(questions), rtol=0.02, atol=0.05)


def test_drawn_rows_make_up_for_the_weights(silent):
    _, data, found = silent
    drawn, parts = dc.synthesize(found, 40_000, seed=0), components(found.measurements, found.domain)
    worse = better = 0.0
    for c in found.domain:
        levels = found.domain[c].levels
        true = np.array([(data[c] == level).mean() for level in levels])
        ours = np.array([(drawn[c] == level).mean() for level in levels])
        held = parts.centre(c) + _contrasts(len(levels)) @ parts.values(c) / parts.rows
        better, worse = better + np.abs(ours - true).sum(), worse + np.abs(held - true).sum()
    assert better < 0.6 * worse
    assert model_of(found).weight is found.measurements[1].statistic.frame.weight
    assert len(next(iter(dc.synthesize(found, 3, seed=0).values()))) == 3


def _contrasts(levels):
    from discreet.release.oracles.components import contrasts

    return contrasts(levels)


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "epsilon"), [(5_000, 1.0), (20_000, 1.0), (100_000, 0.1)])
def test_levels_of_tests_on_clipped_rows(rows, epsilon):
    """Of pairs that are independent in truth, alone or given one column, over networks of both families."""
    p_values = []
    for name in ("skew:40:950", "skew:60:951", "drawn:40:952", "drawn:60:953"):
        net, _, found = found_in(name, rows, epsilon)
        assert any(clipped(found))
        oracle = Released(components(found.measurements, found.domain), alpha=0.01, rng=np.random.default_rng(0))
        truth, names, rng = DSeparation(net.dag), sorted(found.domain), np.random.default_rng(0)
        for x, y in combinations(names, 2):
            others = [frozenset({str(z)}) for z in rng.choice(names, 3, replace=False) if z not in (x, y)]
            asked = [given for given in (EMPTY, *others) if truth.ask(x, y, given).independent]
            p_values += [oracle.ask(x, y, given).p_value for given in asked if oracle.answers(x, y, given)]
    seen = np.array(p_values)
    assert len(seen) > 5_000
    for level in (0.05, 0.01):
        assert (seen <= level).mean() < 1.3 * level
