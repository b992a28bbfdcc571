"""em-pc, flipped-svt and flipped-top-k: what they pay, what they find, and that nothing is half spent."""

from __future__ import annotations

import json
import warnings
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli import main
from discreet.data.memory import MemoryTable
from discreet.errors import BudgetError, DoubtWarning, SettingError, TableError
from discreet.methods.em_pc import EmPC
from discreet.methods.flipped import MAX_TABLES_A_STEP, FlippedSvt, FlippedTopK, _tables
from discreet.methods.registry import METHODS, budget_for
from discreet.privacy.accounting import Currency
from discreet.report.terminal import statement_text
from discreet.search.pc import find_skeleton
from discreet.testing import SeededNoise
from support.rooms import WithoutNoise, drawn, room_of

NEW = (EmPC(), FlippedSvt(), FlippedTopK())


@pytest.mark.parametrize("delta", [1e-6, 0.0])
@pytest.mark.parametrize("recipe", [*NEW, EmPC(test="kendall"), FlippedTopK(test="information", edges=10, max_order=0)])
def test_the_total_is_kept_and_everything_is_booked(recipe, delta):
    _, room = room_of("asia", recipe, 1.0, delta)
    found = dc.discover_in(room, recipe)
    budget = room.budget
    assert budget.currency is (Currency.ZCDP if delta else Currency.PURE)
    assert budget.limit * Fraction(1, 2) < budget.spent <= budget.limit
    assert sum(e.amount for e in budget.entries) == budget.spent
    assert found.measurements == ()
    assert found.privacy.private
    assert found.settings["tests"] > 0
    assert found.settings["rounds"] > 0
    assert {"test", "alpha", "max_order", "tests", "rounds", "stopped"} < set(found.settings)


@pytest.mark.parametrize("name", ["cancer", "survey", "earthquake"])
def test_with_a_large_budget_em_pc_has_the_skeleton_of_pc_with_the_same_test(name):
    recipe = EmPC(test="kendall")
    _, room = room_of(name, recipe, 1e5, delta=0, noise=SeededNoise(1))
    found = dc.discover_in(room, recipe)
    exact = find_skeleton(tuple(room.domain), WithoutNoise(name, "kendall"), max_order=2)
    assert found.graph.skeleton == frozenset(exact.pairs)
    assert not found.settings["stopped"]


@pytest.mark.parametrize("delta", [1e-6, 0.0])
@pytest.mark.parametrize("recipe", NEW, ids=lambda r: r.name)
@pytest.mark.parametrize("name", ["survey", "sachs"])
def test_with_a_large_budget_the_true_skeleton_is_found(name, recipe, delta):
    net, room = room_of(name, recipe, 1_000.0, delta, rows=100_000, noise=SeededNoise(2))
    assert dc.discover_in(room, recipe).graph.skeleton == net.dag.skeleton


@pytest.mark.parametrize("recipe", [FlippedTopK(), EmPC()], ids=lambda r: r.name)
def test_at_epsilon_1_most_of_sachs_is_found(recipe):
    net, room = room_of("sachs", recipe, 1.0, rows=100_000, noise=SeededNoise(1))
    assert dc.skeleton_f1(dc.discover_in(room, recipe).graph, net.dag) > 0.9


def test_edges_that_stay_are_at_most_as_many_as_were_paid_for():
    _, room = room_of("sachs", FlippedTopK(), 50.0, rows=20_000)
    found = dc.discover_in(room, FlippedTopK(edges=5))
    assert 0 < len(found.graph.skeleton) <= 5
    chosen = next(e for e in room.budget.entries if "best" in e.mechanism)
    assert "the best 5" in chosen.mechanism


@pytest.mark.parametrize(("delta", "gates"), [(0.0, 1), (1e-6, 12)])
def test_flipped_svt_keeps_one_threshold_in_pure_accounting_and_draws_fresh_ones_in_zcdp(delta, gates):
    recipe = FlippedSvt(edges=12)
    _, room = room_of("sachs", recipe, 100.0, delta, rows=20_000)
    found = dc.discover_in(room, recipe)
    opened = [e for e in room.budget.entries if e.statistic == "pairs that stay"]
    assert len(opened) == gates
    assert all(("12 passes" in e.mechanism) == (gates == 1) for e in opened)
    assert found.settings["stopped"]


def test_few_pairs_are_measured_at_once():
    _, room = room_of("cancer", FlippedTopK(), 1.0, noise=SeededNoise(1))
    dc.discover_in(room, FlippedTopK())
    assert [e.statistic.split(" of ")[0] for e in room.budget.entries][1:] == ["margins", "contrasts"]


@pytest.mark.parametrize("recipe", NEW, ids=lambda r: r.name)
def test_knowledge_is_kept(recipe):
    known = dc.Knowledge(
        required=frozenset({("smoke", "lung")}),
        forbidden=frozenset({("asia", "xray"), ("xray", "asia"), ("dysp", "bronc")}),
    )
    _, room = room_of("asia", recipe, 5.0)
    found = dc.discover_in(room, recipe, knowledge=known)
    assert ("smoke", "lung") in found.graph.directed
    assert frozenset(("asia", "xray")) not in found.graph.skeleton
    assert ("dysp", "bronc") not in found.graph.directed


@pytest.mark.parametrize("recipe", NEW, ids=lambda r: r.name)
@pytest.mark.parametrize("sizes", [(2, 2), (2, 3, 2), (1, 2, 2), (1, 1)])
def test_small_domains_and_constant_columns_are_no_problem(recipe, sizes):
    domain = dc.Domain(
        {f"c{i}": dc.Categorical(categories=tuple(map(str, range(k)))) for i, k in enumerate(sizes)}, rows=50
    )
    codes = {f"c{i}": np.zeros(50, dtype=np.uint8) for i in range(len(sizes))}
    room = dc.Room(MemoryTable(codes, {c: domain.size(c) for c in domain}), domain, budget_for(recipe, 1.0, 1e-6))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtWarning)
        dc.discover_in(room, recipe)
    assert room.budget.spent <= room.budget.limit


@pytest.mark.parametrize("recipe", NEW, ids=lambda r: r.name)
def test_what_would_drown_is_said_before_anything_is_spent(recipe):
    _, room = room_of("asia", recipe, 0.05, rows=500)
    with pytest.warns(DoubtWarning, match="stand"):
        dc.discover_in(room, recipe)
    _, hopeless = room_of("asia", recipe, 1e-12, 0.0, rows=500)
    with pytest.raises(SettingError, match="drown"):
        dc.discover_in(hopeless, recipe)
    assert not hopeless.budget.entries


def test_em_pc_with_a_price_for_a_choice_stops_when_it_is_used_up():
    recipe = EmPC(round_epsilon=0.25)
    _, room = room_of("asia", recipe, 2.0, delta=0)
    found = dc.discover_in(room, recipe)
    assert found.settings["stopped"]
    assert found.settings["rounds"] == 7
    with pytest.raises(BudgetError, match="does not cover one round"):
        dc.discover_in(room_of("asia", recipe, 0.2, delta=0)[1], recipe)


def test_where_sets_would_take_too_many_tables_smaller_ones_are_given():
    many = {frozenset((f"a{i}", f"b{i}")): [[f"c{j}" for j in range(40)]] * 2 for i in range(500)}
    assert _tables(many, 2) > MAX_TABLES_A_STEP >= _tables(many, 1)
    assert _tables({}, 2) == 0


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(SettingError, match="edges"):
        FlippedTopK(edges=0)
    with pytest.raises(SettingError, match="has no such setting"):
        EmPC().changed(edges=3)
    with pytest.raises(SettingError, match="has no such setting"):
        FlippedSvt().changed(round_epsilon=1.0)
    wide = dc.Domain({c: dc.Categorical(categories=tuple(map(str, range(1_100)))) for c in "ab"}, rows=10_000)
    codes = {c: np.zeros(10_000, dtype=np.uint16) for c in "ab"}
    room = dc.Room(MemoryTable(codes, dict.fromkeys("ab", 1100)), wide, budget_for(EmPC(), 1.0, 1e-6))
    with pytest.raises(SettingError, match="combinations"):
        dc.discover_in(room, EmPC())
    assert not room.budget.entries


@pytest.mark.parametrize("method", ["em-pc", "flipped-svt", "flipped-top-k"])
def test_from_the_command_line(method, tmp_path):
    net, domain, _ = drawn("cancer", 5_000)
    import pandas as pd

    pd.DataFrame(net.sample(5_000, np.random.default_rng(0))).to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "domain.yaml").write_text(domain.to_yaml(), encoding="utf-8")
    base = ["discover", str(tmp_path / "rows.csv"), "--domain", str(tmp_path / "domain.yaml"), "--epsilon", "3"]
    result = CliRunner().invoke(main, [*base, "--method", method, "--json", "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["method"] == method
    again = dc.Discovery.load(tmp_path / "out" / "release.json")
    assert again.settings["tests"] > 0
    wrong = {"em-pc": ["--edges", "3"], "flipped-svt": ["--round-epsilon", "1"], "flipped-top-k": ["--edges", "0"]}
    assert CliRunner().invoke(main, [*base, "--method", method, *wrong[method]]).exit_code == 2


def test_every_method_has_a_name_of_its_own():
    assert all(method.settings().name == name for name, method in METHODS.items())


@pytest.mark.parametrize("recipe", [FlippedSvt(edges=3), FlippedTopK(edges=3), FlippedTopK(edges=20)])
def test_no_more_edges_stay_than_were_asked_for(recipe):
    _, room = room_of("sachs", recipe, 500.0, rows=20_000)
    assert len(dc.discover_in(room, recipe).graph.skeleton) <= recipe.edges
    _, few = room_of("cancer", recipe, 500.0, rows=20_000)
    assert len(dc.discover_in(few, recipe).graph.skeleton) <= recipe.edges


def test_em_pc_says_how_often_it_passed_over_a_column(monkeypatch):
    monkeypatch.setattr("discreet.methods.em_pc.MAX_TABLES_A_COLUMN", 3)
    _, room = room_of("asia", EmPC(), 1.0)
    found = dc.discover_in(room, EmPC())
    assert found.settings["skipped"] > 0
    assert "Passed over" in statement_text(found)


@pytest.mark.parametrize("name", ["em-pc", "svt-pc", "priv-pc", "flipped-svt", "flipped-top-k"])
def test_a_column_that_cannot_be_counted_is_refused_before_anything_is_spent(name):
    columns = {
        "a": dc.Numeric(bounds=(0.0, 1.0), bins=3, at="quantiles"),
        "b": dc.Numeric(bounds=(0.0, 1.0)),
        "c": dc.Categorical(categories=("x", "y")),
    }
    domain = dc.Domain(columns, rows=100)
    table = MemoryTable({c: np.zeros(100, dtype=np.uint16) for c in domain}, {c: domain.size(c) for c in domain})
    for test in ("total-variation", "information"):
        recipe = METHODS[name].settings().changed(test=test)
        room = dc.Room(table, domain, budget_for(recipe, 1.0, 1e-6))
        with pytest.raises(SettingError, match="bins"):
            dc.discover_in(room, recipe)
        assert not room.budget.entries


def test_a_sample_of_rows_that_are_streamed_is_refused_before_anything_is_spent(monkeypatch, tmp_path):
    monkeypatch.setattr("discreet.data.load.MEMORY_BYTES", 0)
    net, domain, _ = drawn("cancer", 500)
    import pandas as pd

    pd.DataFrame(net.sample(500, np.random.default_rng(0))).to_csv(tmp_path / "rows.csv", index=False)
    recipe = METHODS["priv-pc"].settings().changed(sample=0.5)
    room = dc.Room(dc.load(str(tmp_path / "rows.csv"), domain), domain, budget_for(recipe, 1.0, 1e-6))
    with pytest.raises(TableError, match="sample"):
        dc.discover_in(room, recipe)
    assert not room.budget.entries
