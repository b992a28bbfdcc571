"""The main job, end to end."""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.errors import BudgetError, DoubtWarning, InputError, KnowledgeError, ReleaseError, SettingError
from discreet.methods.session import promised_delta
from discreet.privacy.accounting import Currency, gdp_delta
from discreet.release.discovery import Discovery
from discreet.release.search import search_again
from discreet.release.selection import components
from discreet.statistics.interactions import Interactions
from discreet.testing import SeededNoise

ROWS = 20_000


def sampled(name, rows=ROWS, seed=0):
    net = dc.network(name)
    return net, net.sample(rows, np.random.default_rng(seed)), net.domain(rows)


def seeded(name, *, rows=ROWS, seed=0, epsilon=1.0, delta=1e-6, knowledge=dc.Knowledge(), order=None):  # noqa: B008
    """A run with predictable noise."""
    net, data, domain = sampled(name, rows, seed)
    if order is not None:
        domain = dc.Domain({c: domain[c] for c in order(list(domain))}, rows=rows)
    room = dc.Room(dc.load(data, domain), domain, dc.Budget(epsilon=epsilon, delta=delta), noise=SeededNoise(seed))
    return net, dc.discover_in(room, dc.Marginals(), knowledge=knowledge)


def test_asia_at_epsilon_one():
    """n = 100,000, epsilon 1, delta 1e-6: skeleton F1 of at least 0.80 in the mean of 10 runs."""
    scores = []
    for seed in range(10):
        net, found = seeded("asia", rows=100_000, seed=seed)
        scores.append(dc.skeleton_f1(found.graph, net.dag))
    assert np.mean(scores) >= 0.80


@pytest.mark.parametrize("name", ["cancer", "earthquake", "survey"])
def test_small_networks(name):
    scores = [dc.skeleton_f1(seeded(name, rows=100_000, seed=s)[1].graph, dc.network(name).dag) for s in range(3)]
    assert np.mean(scores) >= 0.8


def test_the_promise_is_kept_to_the_last_digit():
    _, data, domain = sampled("asia")
    found = dc.discover(data, domain=domain, epsilon=1.0)
    assert found.privacy.private
    assert (found.privacy.epsilon, found.privacy.delta) == (1.0, 1e-6)
    assert len(found.measurements) == len(found.privacy.spent) == 2
    assert len(found.measurements[0].statistic.sets) == 8 + 28
    total = Fraction(0)
    for measured, spent in zip(found.measurements, found.privacy.spent, strict=True):
        mu_squared = measured.statistic.sensitivity(domain).l2_squared / Fraction(measured.mechanism.sigma) ** 2
        assert spent.amount == pytest.approx(float(mu_squared))
        assert spent.currency == Currency.GDP.value
        total += mu_squared
    assert gdp_delta(float(total) ** 0.5, 1.0) <= 1e-6 * (1 + 1e-9)
    assert gdp_delta(float(total) ** 0.5, 1.0) >= 1e-6 * (1 - 1e-6)  # and used to the last digit


def test_pure_epsilon_uses_laplace_noise():
    _, data, domain = sampled("asia")
    found = dc.discover(data, domain=domain, epsilon=2.0, delta=0)
    assert found.privacy.delta == 0
    assert found.measurements[0].mechanism.scale == pytest.approx(2 * 28 / 1.0)  # half of epsilon 2
    assert sum(s.amount for s in found.privacy.spent) == pytest.approx(2.0)
    assert found.privacy.spent[0].currency == Currency.PURE.value


def test_laplace_noise_reaches_the_tests():
    _, found = seeded("cancer", delta=0, epsilon=2.0)
    assert components(found.measurements, found.domain).law == "laplace"
    _, data, domain = sampled("cancer")
    room = dc.Room(dc.load(data, domain), domain, dc.Budget(epsilon=1, delta=0))
    with pytest.raises(SettingError, match="Laplace"):
        dc.discover_in(room, dc.Marginals(alpha=1e-4))
    assert not room.budget.entries


def test_tables_that_are_too_large_are_refused_before_anything_is_spent():
    labels = tuple(str(i) for i in range(60))
    domain = dc.Domain({c: dc.Categorical(categories=labels) for c in "ab"}, rows=10)
    room = dc.Room(dc.load({"a": ["1"] * 10, "b": ["2"] * 10}, domain), domain, dc.Budget(epsilon=1, delta=1e-6))
    with pytest.raises(SettingError, match="too many"):
        dc.discover_in(room, dc.Marginals())
    assert not room.budget.entries


@pytest.mark.parametrize("epsilon", [5_000.0, 50_000])
def test_hardly_any_noise(epsilon):
    _, data, domain = sampled("cancer", rows=500)
    for delta in (0, 1e-6):
        assert dc.discover(data, domain=domain, epsilon=np.float64(epsilon), delta=delta).graph.nodes == tuple(domain)


def test_a_release_without_all_its_tables_is_not_searched():
    _, found = seeded("cancer")
    first, second = found.measurements
    fewer = Interactions(first.statistic.sets[1:], first.statistic.weights[1:])
    less = replace(first, statistic=fewer, values=first.values[1:])
    with pytest.raises(ReleaseError, match="lacks"):
        search_again(replace(found, measurements=(less, second)))


def test_two_runs_draw_different_noise():
    _, data, domain = sampled("cancer")
    runs = [dc.discover(data, domain=domain, epsilon=1.0).measurements[0].values for _ in range(2)]
    assert any((a != b).any() for a, b in zip(*runs, strict=True))


def test_column_order_changes_nothing():
    _, first = seeded("asia", order=lambda names: names)
    for order in (sorted, lambda names: names[::-1]):
        assert seeded("asia", order=order)[1].graph == first.graph


def test_a_forbidden_pair_is_never_measured_and_saves_budget():
    others = [name for name in dc.network("asia").nodes if name != "asia"]
    forbidden = dc.Knowledge(forbidden={arc for name in others for arc in (("asia", name), (name, "asia"))})
    _, found = seeded("asia", knowledge=forbidden)
    _, free = seeded("asia")
    sets = found.measurements[0].statistic.sets
    assert len(sets) == 8 + 21
    assert ("asia", "smoke") not in sets
    assert found.measurements[0].mechanism.sigma < free.measurements[0].mechanism.sigma
    assert not found.graph.neighbors("asia")


def test_knowledge_reaches_the_graph():
    knowledge = dc.Knowledge(required={("asia", "dysp")}, tiers=(("asia", "smoke"), ("bronc", "lung", "tub")))
    _, found = seeded("asia", knowledge=knowledge)
    assert ("asia", "dysp") in found.graph.directed
    assert ("smoke", "lung") in found.graph.directed


def test_nothing_to_ask_costs_nothing():
    domain = dc.Domain({c: dc.Categorical(categories=("0", "1")) for c in "ab"}, rows=3)
    knowledge = dc.Knowledge(forbidden={("a", "b"), ("b", "a")})
    found = dc.discover({"a": ["0"] * 3, "b": ["1"] * 3}, domain=domain, epsilon=1, knowledge=knowledge)
    assert not found.privacy.spent
    assert not found.graph.skeleton


def test_a_constant_column_has_no_edges_but_by_chance():
    edges = 0
    for seed in range(20):
        _, data, domain = sampled("cancer", rows=5_000, seed=seed)
        data["Smoker"] = np.full(5_000, "True")
        room = dc.Room(dc.load(data, domain), domain, dc.Budget(epsilon=5, delta=1e-6), noise=SeededNoise(seed))
        edges += len(dc.discover_in(room, dc.Marginals()).graph.neighbors("Smoker"))
    assert edges <= 2


def test_one_row_and_two_columns():
    domain = dc.Domain({c: dc.Categorical(categories=("0", "1")) for c in "ab"}, rows=1)
    found = dc.discover({"a": ["0"], "b": ["1"]}, domain=domain, epsilon=1)
    assert found.graph.nodes == ("a", "b")


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"epsilon": -1}, SettingError, "epsilon"),
        ({"epsilon": float("inf")}, SettingError, "epsilon"),
        ({"delta": 1}, SettingError, "delta"),
        ({"delta": 1 / ROWS}, SettingError, "delta"),
        ({"method": "magic"}, SettingError, "method"),
        ({"knowledge": dc.Knowledge(required={("x", "y")})}, KnowledgeError, "'x'"),
    ],
)
def test_bad_settings_are_refused_before_data_are_read(change, error, words):
    _, _, domain = sampled("cancer")
    with pytest.raises(error, match=words):
        dc.discover("does not exist.csv", **{"domain": domain, "epsilon": 1.0, **change})


def test_numeric_columns_need_bins():
    domain = dc.Domain({"x": dc.Numeric(bounds=(0, 1)), "y": dc.Numeric(bounds=(0, 1), bins=3)}, rows=3)
    with pytest.raises(SettingError, match="column 'x' is numeric"):
        dc.discover("nothing.csv", domain=domain, epsilon=1, method="marginals")
    with pytest.raises(SettingError, match="two columns"):
        dc.discover("nothing.csv", domain=dc.Domain({"y": domain["y"]}, rows=3), epsilon=1)


def test_binned_numbers_are_found():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, ROWS)
    frame = pd.DataFrame({"x": x, "y": x + rng.normal(0, 0.1, ROWS), "z": rng.normal(0, 1, ROWS)})
    bins = {c: dc.Numeric(bounds=b, bins=4) for c, b in {"x": (0, 1), "y": (-1, 2), "z": (-4, 4)}.items()}
    found = dc.discover(frame, domain=dc.Domain(bins, rows=ROWS), epsilon=1)
    assert found.graph.skeleton == {frozenset("xy")}


def test_a_spent_budget_is_refused():
    _, data, domain = sampled("cancer")
    room = dc.Room(dc.load(data, domain), domain, dc.Budget(epsilon=1, delta=1e-6))
    dc.discover_in(room, dc.Marginals())
    entries = room.budget.entries
    with pytest.raises(BudgetError, match="already spent"):
        dc.discover_in(room, dc.Marginals())
    assert room.budget.entries == entries


def test_a_failed_load_spends_nothing():
    _, data, domain = sampled("cancer")
    data["Smoker"] = np.where(np.arange(ROWS) == 7, "SECRET-4711", data["Smoker"])
    with pytest.raises(InputError, match="column 'Smoker'") as caught:
        dc.discover(data, domain=domain, epsilon=1)
    assert "SECRET" not in str(caught.value)


def test_json_contract():
    _, found = seeded("cancer")
    data = json.loads(json.dumps(found.to_dict()))
    assert set(data) == {"schema", "method", "graph", "privacy", "rows", "functions", "version"}
    assert data["schema"] == 2
    assert data["method"] == "marginals"
    assert data["rows"] == ROWS
    assert set(data["graph"]) == {"kind", "nodes", "edges"}
    keys = {"from", "to", "directed", "from_mark", "to_mark", "confidence", "arrow_confidence", "settled_by"}
    assert all(set(e) == keys and 0 < e["confidence"] < 1 for e in data["graph"]["edges"])
    privacy = data["privacy"]
    assert privacy["neighbors"] == "replace-one-row"
    assert privacy["private"] is False  # predictable noise
    assert len(privacy["spent"]) == 2


def test_a_release_can_be_read_and_searched_again(tmp_path):
    _, found = seeded("asia", knowledge=dc.Knowledge(tiers=(("asia",), ("tub",))))
    found.save(tmp_path)
    again = Discovery.load(tmp_path / "release.json")
    assert again.to_json() == found.to_json()
    assert search_again(again).graph == found.graph
    marginal = search_again(again, max_order=0)
    assert marginal.graph.skeleton > found.graph.skeleton
    assert marginal.privacy == found.privacy
    assert not again.privacy.private
    with pytest.raises(SettingError, match="max-order"):
        search_again(again, max_order=3)


def test_a_release_holds_no_exact_counts(tmp_path):
    """Every released number is an integer that went through the mechanism; nothing else of the rows is there."""
    _, data, domain = sampled("cancer", rows=1_000)
    found = dc.discover(data, domain=domain, epsilon=1)
    text = json.loads(found.to_json())
    assert set(text) == {
        *("schema", "method", "graph", "privacy", "rows", "functions", "version"),
        *("settings", "domain", "knowledge", "measurements", "about"),
    }
    assert set(text["about"]) == {"title", "made"}  # given, and a day
    table, noise = dc.load(data, domain), []
    for measured in found.measurements:
        exact = measured.statistic.evaluate(table)
        scales = np.sqrt(np.array(measured.statistic.squares(domain), dtype=float)) * measured.mechanism.sigma
        noise += ((np.concatenate([v.ravel() for v in measured.values]) - exact) / scales).tolist()
    assert len(noise) >= 15
    assert 0.4 < np.std(noise) < 1.8


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (lambda t: "{", "not JSON"),
        (lambda t: "[]", "not a release"),
        (lambda t: "[" * 100_000, "not JSON"),
        (lambda t: t.replace('"rows": 20000, "unit"', '"rows": 1' + "0" * 400 + ', "unit"'), "damaged"),
        (lambda t: t.replace('"schema": 2', '"schema": 3'), "schema 3"),
        (lambda t: t.replace('"contrasts": [', '"contrasts": [1, '), "shape"),
        (lambda t: t.replace('"kind": "shaped-gaussian"', '"kind": "none"'), "damaged"),
        (lambda t: t.replace('"sigma": ', '"sigma": -'), "damaged"),
        (lambda t: t.replace('"rows": 20000, "unit"', '"rows": 0, "unit"'), "damaged"),
        (lambda t: t.replace('"measurements"', '"measurement"'), "not a release"),
        (lambda t: t.replace('"nodes": [', '"nodes": ["extra", '), "damaged"),
        (lambda t: t.replace('"amount": ', '"amount": "much", "x": '), "damaged"),
        (lambda t: t.replace('"epsilon": 1.0', '"epsilon": NaN'), "not JSON"),
        (lambda t: t.replace('"epsilon": 1.0', '"epsilon": -3'), "makes no sense"),
        (lambda t: t.replace('"private": false', '"private": "yes"'), "makes no sense"),
        (lambda t: re.sub(r'"contrasts": \[-?\d+', '"contrasts": [1' + "0" * 16, t, count=1), "neither rows nor noise"),
    ],
)
def test_damaged_releases_are_refused(break_it, words):
    _, found = seeded("cancer")
    broken = break_it(found.to_json())
    assert broken != found.to_json()
    with pytest.raises(ReleaseError, match=words):
        Discovery.from_json(broken)


def test_missing_releases_are_refused(tmp_path):
    with pytest.raises(ReleaseError, match="cannot be read"):
        Discovery.load(tmp_path / "nowhere.json")


def test_an_epsilon_that_promises_hardly_anything_is_doubted():
    two = dc.Domain({name: dc.Numeric(bounds=(0, 1)) for name in "xy"}, rows=200)
    rng = np.random.default_rng(0)
    data = {name: rng.random(200) for name in "xy"}
    runs = (
        lambda epsilon: dc.discover(data, domain=two, epsilon=epsilon, delta=1e-4),
        lambda epsilon: dc.direction(data, ("x", "y"), domain=two, epsilon=epsilon),
        lambda epsilon: dc.test_independence(data, "x", "y", domain=two, epsilon=epsilon, delta=1e-4),
    )
    for run in runs:
        with pytest.warns(DoubtWarning, match="epsilon 11 promises hardly anything"):
            run(11.0)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            run(10.0)
        assert not any("promises hardly" in str(w.message) for w in said)


def test_a_delta_that_is_not_the_usual_one_is_said():
    said = []
    assert promised_delta(None, 2_000_000, said.append) == 1e-8
    assert "1e-08" in said[0]
    assert promised_delta(1e-7, 2_000_000, said.append) == 1e-7
    assert promised_delta(None, 5_000, said.append) == 1e-6
    assert len(said) == 1
