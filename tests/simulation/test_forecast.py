"""Planning before spending: made-up networks over a declared domain, and what is expected of runs on them."""

from __future__ import annotations

import json
import math
from collections import Counter
from xml.dom.minidom import parseString

import networkx as nx
import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats.contingency import association

import discreet as dc
from discreet.cli import main
from discreet.domain.knowledge import Knowledge
from discreet.errors import SettingError
from discreet.methods.svt_pc import SvtPC
from discreet.release import expectation as expectations
from discreet.release.expectation import Spread, merge_ranges, weakest_seen
from discreet.report.plan import plan_svg, plan_text, plan_words
from discreet.simulation import forecast as forecasting
from discreet.simulation.declared import KINDS, draw_over
from discreet.simulation.forecast import forecast, strength

MIXED = dc.Domain(
    {
        "sex": dc.Categorical(categories=("f", "m")),
        "stage": dc.Categorical(categories=("I", "II", "III"), ordered=True, missing="unknown"),
        "age": dc.Numeric(bounds=(0, 110), bins=4),
        "weight": dc.Numeric(bounds=(0, 250), bins=(0.0, 50.0, 80.0, 250.0), missing="none"),
        "income": dc.Numeric(bounds=(0, 1e6), bins=5, at="quantiles"),
        "dose": dc.Numeric(bounds=(-1, 1), missing="none"),
    },
    rows=2_000,
)
SMALL = dc.Domain({name: dc.Categorical(categories=("no", "yes")) for name in "abcd"}, rows=5_000)


def invoke(*args):
    return CliRunner().invoke(main, ["plan", *(str(a) for a in args)])


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.words)
def test_a_drawn_network_is_acyclic_and_its_codes_are_the_domains(kind):
    network = draw_over(MIXED, np.random.default_rng(1), kind)
    assert nx.is_directed_acyclic_graph(nx.DiGraph(list(network.dag.directed)))
    assert len(network.dag.directed) == min(round(kind.density * 6), 15)
    codes, groups = network.sample(2_000, np.random.default_rng(2))
    assert list(codes) == list(MIXED)
    assert groups.keys() == codes.keys()
    for name, code in codes.items():
        assert len(code) == 2_000
        assert int(code.max()) < MIXED.size(name)
        assert len(np.unique(code)) > 1


def test_missing_numbers_have_their_own_code():
    codes, _ = draw_over(MIXED, np.random.default_rng(1), KINDS[0]).sample(2_000, np.random.default_rng(2))
    for name in ("weight", "dose"):
        share = float((codes[name] == MIXED.size(name) - 1).mean())
        assert 0.01 < share < 0.06


def test_the_kinds_are_all_there_and_every_three_hold_all_strengths():
    assert len(set(KINDS)) == len(KINDS) == 18
    for i in range(0, 18, 3):
        assert len({kind.strength.name for kind in KINDS[i : i + 3]}) == 3
        assert len({kind.density for kind in KINDS[i : i + 3]}) == 3


def test_drawn_networks_keep_to_what_is_known():
    known = Knowledge(
        required=frozenset({("income", "stage")}),
        forbidden=frozenset({("age", "dose"), ("dose", "age")}),
        tiers=(("sex",), ("age", "weight", "income"), ("stage",)),
    )
    for seed in range(30):
        drawn = draw_over(
            MIXED, np.random.default_rng(seed), KINDS[seed % 18], allowed=known.allows, required=known.required
        )
        assert ("income", "stage") in drawn.dag.directed
        assert all(known.allows(a, b) for a, b in drawn.dag.directed)
        assert nx.is_directed_acyclic_graph(nx.DiGraph(list(drawn.dag.directed)))


def test_what_is_forbidden_in_a_circle_leaves_what_is_required():
    known = Knowledge(required=frozenset({("sex", "age")}), forbidden=frozenset({("dose", "age"), ("sex", "dose")}))
    for seed in range(30):
        drawn = draw_over(MIXED, np.random.default_rng(seed), KINDS[0], allowed=known.allows, required=known.required)
        assert ("sex", "age") in drawn.dag.directed
        assert all(known.allows(a, b) for a, b in drawn.dag.directed)
        drawn.sample(10, np.random.default_rng(0))


def test_too_many_required_causes_are_refused_by_name():
    wide = dc.Domain({f"c{i}": dc.Categorical(categories=tuple("abcdefghij")) for i in range(9)}, rows=100)
    known = Knowledge(required=frozenset((f"c{i}", "c8") for i in range(8)))
    with pytest.raises(dc.DiscreetError, match="'c8'"):
        forecast(wide, epsilons=[1.0], rows=[100], knowledge=known, networks=2, jobs=1)


def test_rows_follow_their_causes():
    two = dc.Domain({name: dc.Numeric(bounds=(0, 1)) for name in "xy"}, rows=10)
    strong = [kind for kind in KINDS if kind.strength.name == "strong"]
    arrows = Counter()
    for seed in range(12):
        network = draw_over(two, np.random.default_rng(seed), strong[seed % len(strong)])
        _, groups = network.sample(4_000, np.random.default_rng(seed))
        arrows[bool(network.dag.directed)] += 1
        v = strength(groups["x"], groups["y"], 5, 5)
        assert (v > 0.15) == bool(network.dag.directed)
    assert arrows[True]


def test_strength_is_cramers_v():
    rng = np.random.default_rng(0)
    a = rng.integers(3, size=500).astype(np.uint16)
    b = ((a + rng.integers(2, size=500)) % 4).astype(np.uint16)
    counts = np.zeros((3, 4), dtype=int)
    np.add.at(counts, (a, b), 1)
    assert math.isclose(strength(a, b, 3, 4), association(counts, method="cramer"))
    assert strength(a, a, 3, 3) == pytest.approx(1.0)
    assert strength(a, np.zeros_like(a), 3, 4) == 0.0


def test_the_weakest_effect_seen_is_where_nine_in_ten_of_the_stronger_are_found():
    strong = [(1 - i / 100, True) for i in range(18)]
    assert weakest_seen([*strong, (0.5, False), (0.4, False)]) == 0.4  # 18 of 20
    assert weakest_seen([*strong, (0.5, False), (0.4, False), (0.3, False)]) == 0.4
    assert weakest_seen([(0.5, False)] * 20) is None
    assert weakest_seen(strong[:9]) is None  # too few to say
    assert weakest_seen([]) is None


def test_spread_and_words_with_ranges():
    spread = Spread.of([0.0, 0.5, 1.0])
    assert (spread.mean, spread.low, spread.high) == (0.5, 0.05, 0.95)
    assert merge_ranges(["8 of 10 pairs", "8 of 9 pairs"]) == "8 of 9 to 10 pairs"


def test_a_forecast_has_a_line_for_every_setting_and_its_rows_around():
    found = forecast(SMALL, epsilons=[2, 0.5], methods=["auto", "svt-pc"], networks=2, jobs=1)
    settings = [(e.method, e.rows, e.epsilon) for e in found.expected]
    assert settings == [
        (method, rows, epsilon)
        for method in ("marginals", "svt-pc")
        for rows, epsilon in ((5_000, 0.5), (5_000, 2), (1_250, 2), (20_000, 2))
    ]
    for line in found.expected:
        assert line.networks == 2
        for spread in (line.skeleton_f1, line.cpdag_f1):
            assert 0 <= spread.low <= spread.mean <= spread.high <= 1
        assert 0 < sum(step.share for step in line.steps) <= 1.0001
    assert forecast(SMALL, epsilons=[1], rows=[100, 500], networks=2, jobs=1).rows == 500


def test_more_budget_and_rows_are_expected_to_show_more():
    found = forecast(SMALL, epsilons=[0.01, 10], rows=[500, 100_000], networks=6, jobs=1)
    means = {(e.rows, e.epsilon): e.skeleton_f1.mean for e in found.expected}
    assert means[100_000, 10] > max(means[500, 0.01] + 0.3, 0.8)


def test_the_plan_is_what_happens():
    """The first release of a run costs and measures what the plan says; so does everything of a fixed course."""
    found = forecast(SMALL, epsilons=[1.0], rows=[5_000], networks=2, jobs=1).expected[0]
    assert forecasting.discover_in is dc.discover_in
    table = dc.network("cancer").sample(5_000, np.random.default_rng(0))
    data = {name: np.where(table[column] == "True", "yes", "no") for name, column in zip("abcd", table, strict=False)}
    spent = dc.discover(data, domain=SMALL, epsilon=1.0).privacy.spent
    first = found.steps[0]
    assert first.what.startswith(spent[0].statistic)
    assert first.mechanism == spent[0].mechanism
    pairs = [table for table in found.tables if len(table.columns) == 2]
    assert len(pairs) == 6
    assert sum(table.share for table in found.tables) == pytest.approx(0.5, abs=1e-4)
    assert {table.noise for table in pairs} == {pairs[0].noise}


@pytest.mark.parametrize("method", ["moments", "pcd"])
def test_numbers_can_be_planned_for(method):
    domain = dc.Domain({name: dc.Numeric(bounds=(0, 1)) for name in "xyz"}, rows=3_000)
    found = forecast(domain, epsilons=[2.0], rows=[3_000], methods=[method], networks=2, jobs=1).expected[0]
    assert found.method == method
    assert found.refused is None
    assert found.steps


def test_mixed_columns_are_planned_for_by_auto():
    found = forecast(MIXED, epsilons=[2.0], rows=[2_000], networks=2, jobs=1).expected[0]
    assert found.method == "moments"
    assert any("quantiles" in step.what for step in found.steps)


def test_people_get_the_budget_of_a_group():
    people = dc.Domain(SMALL.columns, rows=5_000, unit="patient", people=dc.People("id", 5))
    alone, group = (
        forecast(d, epsilons=[1.0], rows=[5_000], networks=2, jobs=1).expected[0].tables for d in (SMALL, people)
    )
    assert group[-1].noise == pytest.approx(5 * alone[-1].noise, rel=0.01)


def test_several_processes_find_the_same_networks():
    one, two = (forecast(SMALL, epsilons=[1e4], rows=[100_000], networks=3, jobs=jobs).expected[0] for jobs in (1, 2))
    assert one.skeleton_f1 == two.skeleton_f1  # hardly any noise


def test_what_a_run_refuses_is_told_and_the_rest_is_planned():
    dear = SvtPC(round_epsilon=0.5)
    tiny = forecast(SMALL, epsilons=[1.0, 20.0], rows=[5_000], methods=[dear], networks=2, jobs=1)
    refused, fine = tiny.expected
    assert refused.refused
    assert refused.skeleton_f1 is None
    assert fine.refused is None
    assert "refused" in plan_text(tiny)
    assert "Refused:" in plan_words(tiny)
    parseString(plan_svg(tiny))  # noqa: S318 - written here


def test_doubts_are_those_of_a_run():
    found = forecast(SMALL, epsilons=[0.01], rows=[200], networks=2, jobs=1)
    assert any("stand" in doubt for doubt in found.expected[0].doubts)
    assert "Doubts:" in plan_words(found)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"epsilons": []}, "at least one"),
        ({"epsilons": [0]}, "epsilon"),
        ({"epsilons": [1], "rows": [2_000_000], "delta": 1e-6}, "delta"),
        ({"epsilons": [1], "methods": ["pc"]}, "method"),
        ({"epsilons": [1], "networks": 1}, "at least 2"),
        ({"epsilons": [1], "seed": -1}, "seed"),
        ({"epsilons": [1], "knowledge": Knowledge(required=frozenset({("a", "q")}))}, "'q'"),
    ],
)
def test_bad_settings_are_refused_before_anything_runs(given, words, monkeypatch):
    monkeypatch.setattr(forecasting, "trials_of", None)
    with pytest.raises(dc.DiscreetError, match=words):
        forecast(SMALL, **given)


def test_the_command_prints_a_table_writes_files_and_speaks_json(tmp_path):
    (tmp_path / "domain.yaml").write_text(SMALL.to_yaml())
    base = ("--domain", tmp_path / "domain.yaml", "--epsilon", "0.5,2", "--networks", 2, "--jobs", 1)
    result = invoke(*base, "--out", tmp_path / "plan")
    assert result.exit_code == 0, result.output
    assert "seen from" in result.stdout
    assert "Nothing was" not in result.stdout
    assert "nothing was spent" in result.stderr.replace("\n", " ")
    picture = parseString((tmp_path / "plan" / "plan.svg").read_text())  # noqa: S318 - written here
    assert picture.documentElement.tagName == "svg"
    data = json.loads((tmp_path / "plan" / "plan.json").read_text())
    assert data["schema"] == expectations.SCHEMA
    again = json.loads(invoke(*base, "--json").stdout)
    assert [line["epsilon"] for line in again["expected"]] == [0.5, 2, 2, 2]
    assert again.keys() == data.keys()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--epsilon", "x"), "numbers"),
        (("--epsilon", "1", "--rows", "1.5"), "whole"),
        (("--epsilon", "1", "--rows", "20.000"), "rows: whole"),
        (("--epsilon", "1", "--rows", "20,000"), "rows: whole"),
        (("--epsilon", "1", "--rows", "1e999"), "rows: whole"),
        (("--epsilon", "1", "--rows", "nan"), "rows: whole"),
        (("--epsilon", "nan"), "epsilon"),
        (("--epsilon", "inf"), "epsilon"),
        (("--epsilon", "1,,2"), "epsilon: numbers"),
        (("--epsilon", "1", "--method", "unheard"), "method"),
        (("--epsilon", "1", "--networks", "0"), "networks"),
    ],
)
def test_the_command_refuses_what_makes_no_sense(tmp_path, args, words):
    (tmp_path / "domain.yaml").write_text(SMALL.to_yaml())
    result = invoke("--domain", tmp_path / "domain.yaml", *args)
    assert result.exit_code == 2
    assert words in result.stderr


def test_a_plan_may_lie_beside_a_release(tmp_path):
    (tmp_path / "domain.yaml").write_text(SMALL.to_yaml())
    (tmp_path / "release.json").write_text("{}")
    args = ("--domain", tmp_path / "domain.yaml", "--epsilon", 1, "--rows", 500, "--networks", 2, "--jobs", 1)
    assert invoke(*args, "--out", tmp_path).exit_code == 0
    (tmp_path / "file").write_text("")
    refused = invoke(*args, "--out", tmp_path / "file")
    assert refused.exit_code == 2


def test_names_do_not_break_the_picture():
    odd = dc.Domain({name: dc.Categorical(categories=("0", "1")) for name in ("<script>", "a&b")}, rows=500)
    found = forecast(odd, epsilons=[1.0], rows=[500], networks=2, jobs=1)
    parseString(plan_svg(found))  # noqa: S318 - written here
    with pytest.raises(SettingError, match="at least two columns"):
        forecast(dc.Domain({"a": odd["a&b"]}, rows=500), epsilons=[1.0], networks=2, jobs=1)


def test_each_number_of_rows_has_the_delta_that_a_run_would_take():
    cases = forecasting._cases(SMALL.with_rows(500_000), [1.0], (), ["auto"], None, forecasting.NOTHING_KNOWN)
    assert {case.rows: case.delta for case in cases} == {500_000: 1e-6, 125_000: 1e-6, 2_000_000: 1e-8}


def test_a_plan_from_python_shows_itself():
    said = []
    found = dc.plan(SMALL, epsilons=[1.0], networks=2, progress=said.append)
    assert str(found).startswith(plan_text(found))
    assert plan_words(found) in str(found)
    assert "<svg" in found._repr_html_()
    assert repr(found) == "<Plan for 4 columns: 3 settings; print it to see what to expect>"
    assert [step.share for step in said] == [0.5, 1.0, 1.0]
