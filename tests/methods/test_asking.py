"""Methods that ask: what they pay, when they stop, and what they come to without noise."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

import discreet as dc
from discreet.audit.tape import exact_value
from discreet.cli import main
from discreet.errors import BudgetError, ReleaseError, SettingError
from discreet.methods.ci_tests import IndependenceTest
from discreet.methods.priv_pc import PrivPC, SieveAndExamine, examined_round, round_for
from discreet.methods.registry import METHODS, settings_for
from discreet.methods.svt_pc import SvtPC, pure_epsilon
from discreet.privacy.accounting import Currency
from discreet.report.terminal import statement_text
from discreet.search.pc import pc
from discreet.statistics.dependence import moved_by_steps
from discreet.statistics.information import ConditionalTotalVariation
from discreet.testing import SeededNoise
from support.rooms import WithoutNoise, drawn, room_of, shares_of

NETWORKS = ("cancer", "earthquake", "survey", "asia", "sachs", "child", "alarm")


@pytest.mark.parametrize("method", ["svt-pc", "priv-pc"])
@pytest.mark.parametrize(
    "name",
    [
        *NETWORKS[:4],
        *(pytest.param(name, marks=pytest.mark.slow) for name in NETWORKS[4:6]),
        pytest.param("alarm", marks=pytest.mark.nightly),
    ],
)
def test_with_a_large_budget_it_is_pc_with_the_same_test(method, name):
    recipe = METHODS[method].settings().changed(test="kendall")
    _, room = room_of(name, recipe, 1e5, delta=0, noise=SeededNoise(1))
    found = dc.discover_in(room, recipe)
    assert found.graph == pc(tuple(room.domain), WithoutNoise(name, "kendall"), max_order=2)
    assert not found.settings["stopped"]


@pytest.mark.parametrize("shares", [(0.5, 0.3, 0.2), (0.9, 0.06, 0.04), (0.34, 0.33, 0.33)])
@pytest.mark.parametrize("test", ["total-variation", "kendall", "spearman", "information"])
def test_without_noise_a_test_has_at_most_its_level(test, shares):
    rng = np.random.default_rng(0)
    domain = dc.Domain({c: dc.Categorical(categories=("0", "1", "2")) for c in "xyz"}, rows=400)
    wrong = {frozenset(): 0, frozenset("z"): 0}
    for _ in range(300):
        rows = rng.choice(3, size=(400, 3), p=shares)
        asked = IndependenceTest(test, 0.1, shares_of(rows, domain))
        for given in wrong:
            statistic = asked.statistic("x", "y", given)
            wrong[given] += int(exact_value(statistic, rows, domain)[0]) > asked.threshold(statistic, domain)
    for times in wrong.values():
        assert times <= stats.binom.isf(1e-4, 300, 0.1)
    copy = np.repeat(rng.integers(0, 3, 400)[:, None], 3, axis=1)
    statistic = asked.statistic("x", "y", frozenset())
    assert int(exact_value(statistic, copy, domain)[0]) > asked.threshold(statistic, domain)


@pytest.mark.parametrize("delta", [1e-6, 0.0])
@pytest.mark.parametrize(
    "recipe", [SvtPC(), PrivPC(), PrivPC(sample=0.2), SvtPC(test="kendall", max_order=0), SvtPC(test="information")]
)
def test_the_total_is_kept_and_every_round_is_booked(recipe, delta):
    _, room = room_of("asia", recipe, 1.0, delta)
    found = dc.discover_in(room, recipe)
    budget = room.budget
    assert budget.currency is (Currency.ZCDP if delta else Currency.PURE)
    assert budget.spent <= budget.limit
    sieves = [e for e in budget.entries if e.statistic == "sieve"]
    assert len(sieves) == found.settings["rounds"] <= 28
    singles = [e for e in budget.entries if "contingency" in e.statistic]
    assert len(singles) == (recipe.test != "information")
    examined = [e for e in budget.entries if e.statistic != "sieve" and e not in singles]
    assert bool(examined) == isinstance(recipe, PrivPC)
    assert len(sieves) - len(examined) in ((0, 1) if isinstance(recipe, PrivPC) else (len(sieves),))
    assert found.measurements == ()
    assert found.privacy.private
    assert found.settings["tests"] >= found.settings["rounds"] - 1


def test_a_pass_costs_a_round_whatever_the_examination_says():
    recipe = PrivPC()
    _, room = room_of("asia", recipe, 1.0)
    oracle = SieveAndExamine(
        room, IndependenceTest("total-variation", 0.01), examined_round(Fraction(100), Fraction(1, 10**6), 20_000)
    )
    room.budget.limit = Fraction(10**9)
    for _ in range(40):
        oracle.ask("asia", "smoke", frozenset())
    assert oracle.rounds >= 39
    assert len({e.mechanism for e in room.budget.entries}) == 2


def test_when_the_budget_is_used_up_the_graph_so_far_is_returned_and_says_so():
    recipe = SvtPC(round_epsilon=0.475)
    _, room = room_of("asia", recipe, 2.0, delta=0)
    found = dc.discover_in(room, recipe)
    assert found.settings["stopped"]
    assert found.settings["rounds"] == 4
    assert len(found.graph.skeleton) >= 28 - 4
    assert "used up before everything was asked" in " ".join(statement_text(found).split())


@pytest.mark.parametrize(("recipe", "delta"), [(SvtPC(round_epsilon=3.0), 0.0), (PrivPC(round_epsilon=3.0), 1e-6)])
def test_a_budget_too_small_for_one_round_is_refused_with_the_smallest_that_would_do(recipe, delta):
    _, room = room_of("asia", recipe, 1.0, delta)
    with pytest.raises(BudgetError, match="does not cover one round") as refused:
        dc.discover_in(room, recipe)
    assert not room.budget.entries
    wanted = float(str(refused.value).split("epsilon of ")[1].split(" ")[0])
    _, enough = room_of("asia", recipe, wanted * 1.001, delta)
    assert dc.discover_in(enough, recipe).settings["rounds"] >= 1
    _, less = room_of("asia", recipe, wanted * 0.99, delta)
    with pytest.raises(BudgetError):
        dc.discover_in(less, recipe)


def test_a_round_costs_its_share():
    assert pure_epsilon(Currency.PURE, Fraction(1)) == 1
    assert Fraction(99, 10**4) < pure_epsilon(Currency.ZCDP, Fraction(1, 200)) ** 2 <= Fraction(1, 100)
    for budget in (dc.Budget(epsilon=1, delta=0), dc.Budget(epsilon=1, delta=1e-6, currency=Currency.ZCDP)):
        amount = budget.limit / 10
        assert amount * Fraction(99, 100) < round_for(PrivPC(), budget, amount, 1_000).price(budget.currency) <= amount
    each = round_for(PrivPC(sample=0.25, round_epsilon=1.0), budget, Fraction(1), 1_000)
    assert each.sieve.sample == 250
    for part in (each.sieve, each.examine):
        assert Fraction(499, 1000) < part.cost(moved_by_steps()).amount(Currency.PURE) <= Fraction(1, 2)


def test_knowledge_is_kept_and_saves_questions():
    recipe = SvtPC()
    known = dc.Knowledge(
        required=frozenset({("smoke", "lung")}), forbidden=frozenset({("asia", "xray"), ("xray", "asia")})
    )
    _, room = room_of("asia", recipe, 5.0)
    found = dc.discover_in(room, recipe, knowledge=known)
    assert ("smoke", "lung") in found.graph.directed
    assert frozenset(("asia", "xray")) not in found.graph.skeleton


def test_quantile_bins_are_settled_first():
    rng = np.random.default_rng(0)
    x = rng.normal(size=2_000).clip(-3, 3)
    table = {"x": x, "y": (x + rng.normal(size=2_000)).clip(-3, 3), "z": rng.choice(["a", "b"], 2_000)}
    import pandas as pd

    column = dc.Numeric(bounds=(-3.0, 3.0), bins=3, at="quantiles")
    domain = dc.Domain({"x": column, "y": column, "z": dc.Categorical(categories=("a", "b"))}, rows=2_000)
    found = dc.discover(pd.DataFrame(table), domain=domain, epsilon=5.0, method="svt-pc")
    assert not found.domain.unsettled
    assert frozenset("xy") in found.graph.skeleton
    assert "quantiles" in found.privacy.spent[0].statistic


def test_a_release_is_written_read_and_not_searched_again(tmp_path):
    recipe = PrivPC()
    _, room = room_of("cancer", recipe, 3.0)
    found = dc.discover_in(room, recipe)
    found.save(tmp_path)
    again = dc.Discovery.load(tmp_path / "release.json")
    assert again.graph == found.graph
    assert again.settings == found.settings
    with pytest.raises(SettingError, match="holds a graph and no tables"):
        dc.search_again(again, max_order=0)
    with pytest.raises(ReleaseError, match="no tables"):
        dc.synthesize(again, 10)


def test_settings_that_make_no_sense_are_refused():
    for settings in (
        {"test": "chi"},
        {"alpha": 0},
        {"max_order": -1},
        {"round_epsilon": 0},
        {"round_epsilon": float("nan")},
    ):
        with pytest.raises(SettingError):
            SvtPC(**settings)
    with pytest.raises(SettingError, match="sample"):
        PrivPC(sample=1.5)
    with pytest.raises(SettingError, match="has no such setting"):
        SvtPC().changed(search="pc")
    with pytest.raises(SettingError, match="has no such setting"):
        settings_for("marginals", dc.network("asia").domain(10)).changed(test="kendall")
    _, room = room_of("asia", dc.Marginals(), 1.0)
    with pytest.raises(SettingError, match="zCDP"):
        dc.discover_in(room, SvtPC())


def test_from_the_command_line(tmp_path):
    net, domain, _ = drawn("cancer", 5_000)
    table = net.sample(5_000, np.random.default_rng(0))
    import pandas as pd

    pd.DataFrame(table).to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "domain.yaml").write_text(domain.to_yaml(), encoding="utf-8")
    base = [
        "discover",
        str(tmp_path / "rows.csv"),
        "--domain",
        str(tmp_path / "domain.yaml"),
        "--epsilon",
        "3",
        "--json",
    ]
    for extra in (["--method", "svt-pc"], ["--method", "priv-pc", "--test", "kendall", "--sample", "0.5"]):
        result = CliRunner().invoke(main, [*base, *extra])
        assert result.exit_code == 0, result.stderr
        data = json.loads(result.stdout)
        assert data["method"] == extra[1]
        assert data["privacy"]["private"]
        assert {edge["confidence"] for edge in data["graph"]["edges"]} <= {None}
    for wrong in (["svt-pc", "--search", "pc"], ["marginals", "--test", "kendall"], ["priv-pc", "--sample", "0"]):
        assert CliRunner().invoke(main, [*base, "--method", *wrong]).exit_code == 2
    exact = [*base[:4], "--method", "pc", "--not-private", "--test", "kendall"]
    assert CliRunner().invoke(main, exact).exit_code == 2
    for huge in (["svt-pc"], ["priv-pc", "--sample", "0.5"]):
        assert CliRunner().invoke(main, [*base, "--method", *huge, "--round-epsilon", "1e300"]).exit_code == 3
    small = CliRunner().invoke(main, [*base, "--method", "svt-pc", "--round-epsilon", "50"])
    assert small.exit_code == 3
    assert "does not cover one round" in small.stderr


def test_order_of_columns_does_not_count():
    asked = IndependenceTest("kendall", 0.05)
    assert asked.statistic("b", "a", frozenset("dc")) == asked.statistic("a", "b", frozenset("cd"))
    assert isinstance(
        IndependenceTest("total-variation", 0.05).statistic("a", "b", frozenset()), ConditionalTotalVariation
    )
