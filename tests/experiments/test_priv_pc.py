"""The Priv-PC experiment: what is planned, measured once, kept, and shown."""

from __future__ import annotations

import csv
import sys
import time
import xml.etree.ElementTree as ET
from dataclasses import replace
from fractions import Fraction
from types import ModuleType, SimpleNamespace

import pytest
from click.testing import CliRunner

from discreet.baselines import exact as not_private
from discreet.cli import main
from discreet.errors import BudgetError, SettingError
from discreet.experiments import priv_pc
from discreet.experiments.harness import KeptRuns, TimeLimitError, pack, time_limit, unpack
from discreet.experiments.priv_pc import DELTA, SAMPLE, Task, budget_at, finished, perform, plan, repair, strict_delta
from discreet.experiments.priv_pc_paper import (
    arc_f1,
    arcs,
    claims,
    data_table,
    published_seconds,
    published_tests,
    stored_graph,
)
from discreet.experiments.priv_pc_tables import as_text, figure, results_in, table
from discreet.methods.priv_pc import PrivPC
from discreet.methods.svt_pc import SvtPC
from discreet.privacy.accounting import limit_of
from discreet.release.settings import Marginals
from discreet.search.graph import Graph
from discreet.search.orientation import cpdag
from discreet.simulation.networks import network

METHODS = "priv-pc-published,marginals,svt-pc,priv-pc"
TINY = ["--networks", "cancer", "--rows", "500", "--runs", "2", "--budgets", "2"]


@pytest.fixture
def as_published(monkeypatch):
    """Let methods as published be quick: they all find what PC finds."""
    calls = []

    def discover_published(table, domain, method, *, round_epsilon, delta, alpha, sample, reading, seed):
        calls.append((method, round_epsilon, delta, alpha, reading, sample, seed))
        graph = not_private.pc(table, domain)
        return SimpleNamespace(graph=graph, tests=30, rounds=10, reported=10 * round_epsilon)

    stub = ModuleType("discreet.baselines.published")
    stub.discover_published = discover_published
    stub.pc_without_noise = lambda table, domain, method, alpha, reading: not_private.pc(table, domain)
    monkeypatch.setitem(sys.modules, "discreet.baselines.published", stub)
    return calls


def run(out, *options):
    return CliRunner().invoke(main, ["experiment", "priv-pc", *options, "--out", str(out)], catch_exceptions=False)


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_tiny_run_writes_everything_and_does_nothing_twice(tmp_path, as_published):
    ran = run(tmp_path, *TINY, "--methods", METHODS, "--jobs", "1")
    assert ran.exit_code == 0
    assert "| cancer | Priv-PC | 6.09 |" in ran.stdout
    kept = (tmp_path / "runs.jsonl").read_text()
    assert "| % of tests saved by Priv-PC against EM-PC | small | 34.4 to 56.0 | 23.68 to 56.02 |" in ran.stdout
    assert len(kept.splitlines()) == 2 * (7 + 1 + 5 * 2)
    assert {(method, reading, sample) for method, *_, reading, sample, _ in as_published} == {
        ("priv-pc-published", "code", None),
        ("priv-pc-published", "text", None),
        ("priv-pc-published", "code", 1.0),
        ("priv-pc-published", "text", 1.0),
    }
    seconds, tests, lines = (read(tmp_path / name) for name in ("table2.csv", "table3.csv", "figure1.csv"))
    columns = ["network", "system", "variant", "published_seconds", "seconds", "seconds_error", "times_faster", "runs"]
    assert list(seconds[0]) == columns
    assert list(tests[0]) == ["network", "system", "variant", "published_tests", "tests", "tests_error", "runs"]
    assert {(line["system"], line["variant"]) for line in seconds} >= {
        ("SVT-PC", "repaired"),
        ("Priv-PC", "published"),
        ("Priv-PC without sub-sampling", "repaired"),
    }
    assert len(lines) == 1 + 4 * 2
    published = read(tmp_path / "figure1-published.csv")
    assert [line["reading"] for line in published] == ["", "code", "code", "text", "text"]
    assert {line["skeleton_f1_same"] for line in published if line["method"] != "pc"} == {"1.0"}
    assert len(read(tmp_path / "table1.csv")) == 7
    assert [line["type_2_printed"] for line in read(tmp_path / "theorem2.csv")][1:5] == [
        "0.0959",
        "0.0122",
        "0.0002",
        "",
    ]
    assert len(read(tmp_path / "claims.csv")) == 19
    rounds = read(tmp_path / "round.csv")
    assert [(line["variant"], line["reported_epsilon"]) for line in rounds if line["system"] == "Priv-PC"] == [
        ("published", "10.0"),
        ("text", "10.0"),
        ("repaired", ""),
    ]
    assert {line["skeleton_f1_truth"] for line in rounds if line["variant"] == "text"} == {
        line["skeleton_f1_truth"] for line in lines if line["method"] == "pc"
    }
    assert {line["published_f1"] for line in lines} == {""}
    assert {line["skeleton_f1_pc"] for line in lines if line["method"] == "priv-pc-published"} == {"1.0"}
    assert all(0 <= float(line["cpdag_f1_truth"]) <= 1 and line["runs"] == "2" for line in lines)
    drawn = (
        "skeleton-truth",
        "cpdag-truth",
        "skeleton-pc",
        "cpdag-pc",
        "published-arcs-stored",
        "published-skeleton-same",
    )
    for svg in ("table2", *(f"figure1-{name}" for name in drawn)):
        root = ET.parse(tmp_path / f"{svg}.svg").getroot()  # noqa: S314 - written here
        assert root.find("{http://www.w3.org/2000/svg}title").text
    again = run(tmp_path, *TINY, "--methods", METHODS, "--jobs", "1")
    assert again.stdout == ran.stdout
    assert (tmp_path / "runs.jsonl").read_text() == kept


def test_what_was_cut_off_is_done_again_and_other_settings_are_added(tmp_path):
    options = ["--methods", "svt-pc", "--part", "figure", "--jobs", "1"]
    run(tmp_path, *TINY, *options)
    kept = tmp_path / "runs.jsonl"
    whole = kept.read_text()
    kept.write_text(whole[:-30])
    assert run(tmp_path, *TINY, *options).exit_code == 0
    lines = kept.read_text().splitlines()
    assert len(lines) == len(whole.splitlines()) + 1
    assert len(finished(KeptRuns(kept))) == len(lines) - 1
    run(tmp_path, *TINY, *options[:-2], "--jobs", "2", "--budgets", "3")
    assert len(kept.read_text().splitlines()) == len(lines) + 2
    assert {line["setting"] for line in read(tmp_path / "figure1.csv")} == {"", "1.0", "10.0", "100.0"}


def test_runs_are_planned_in_a_useful_order():
    planned = plan(("table", "figure"), ["alarm", "cancer", "asia"], [], 100, 2, 3)
    assert list(dict.fromkeys(task.network for task in planned)) == ["cancer", "asia", "alarm"]
    assert len(set(planned)) == len(planned)
    settings = [t.setting for t in planned if (t.part, t.network, t.seed) == ("figure", "cancer", 1)]
    assert settings[0] is None
    assert settings[1:4] == [0.01, 0.562341, 31.622777]
    assert settings[-3:] == [1.0, 10.0, 100.0]
    with pytest.raises(SettingError, match="methods"):
        plan(("table",), [], ["no-such"], 100, 2, 2)
    with pytest.raises(SettingError, match="at least 2"):
        plan(("table",), [], [], 100, 1, 2)


def test_published_methods_are_read_in_both_ways():
    planned = plan(("table", "figure"), ["cancer"], ["em-pc-published", "svt-pc-published", "svt-pc"], 100, 2, 2)
    assert {(t.method, t.reading, t.variant) for t in planned if t.published} == {
        ("em-pc-published", "code", "published"),
        ("svt-pc-published", "code", "published"),
        ("svt-pc-published", "text", "text"),
    }
    assert {t.reading for t in planned if not t.published} == {""}
    record = perform(Task("figure", "cancer", "priv-pc-published", 400.0, 2000, 0, reading="text"))
    assert record["graph"] == record["without_noise"] != ""


def test_f1_of_arcs_is_that_of_the_papers_code():
    stored = stored_graph("asia")
    assert len(arcs(stored)) == 10
    assert len(stored.skeleton) == 6
    assert arc_f1(stored, stored) == 1
    assert arc_f1(Graph(stored.nodes, frozenset(), frozenset()), stored) == 0
    one = Graph(stored.nodes, frozenset({("tub", "either"), ("lung", "smoke")}), frozenset())
    precision, recall = 2 / 2, 2 / 10
    assert arc_f1(one, stored) == pytest.approx(2 * precision * recall / (precision + recall))
    true = {line["network"]: line for line in data_table()}
    assert (true["asia"]["published_edges"], true["asia"]["edges"], true["asia"]["stored_edges_in_network"]) == (
        10,
        8,
        6,
    )
    assert all(line["features"] == line["published_features"] for line in true.values())
    assert [name for name, line in true.items() if line["edges"] != line["published_edges"]] == ["asia"]
    assert [name for name, line in true.items() if line["type"] != line["published_type"]] == []


def test_claims_are_confronted_with_the_papers_own_tables():
    found = {(line["claim"], line["graphs"]): line for line in claims([], [], [])}
    for (words, size), tables in {
        ("times as fast as EM-PC: Priv-PC", "small"): "10.61 to 32.85",
        ("times as fast as EM-PC: Priv-PC", "large"): "74.13 to 293.87",
        ("of that, without sub-sampling", "large"): "33.62 to 131.41",
        ("of that, by sub-sampling", "small"): "1.20 to 2.40",
        ("times as fast as SVT-PC: Priv-PC", "small"): "0.48 to 0.62",
        ("times as fast as SVT-PC: Priv-PC", "large"): "0.26 to 0.50",
        ("% of tests saved by Priv-PC against EM-PC", "small"): "23.68 to 56.02",
        ("% of tests saved by Priv-PC against EM-PC", "large"): "84.28 to 86.52",
    }.items():
        assert found[words, size]["printed_tables"] == tables
        assert found[words, size]["as_published"] == ""
    lines = [
        {"network": "asia", "method": f"{base}-pc-published", "reading": "code", "setting": s, "total_epsilon": 10 * s}
        | {"arcs_f1_stored": f1 * s / 10, "skeleton_f1_same": f1}
        for base, f1 in (("priv", 1.0), ("svt", 0.5), ("em", 0.9))
        for s in (0.05, 10)
    ]
    found = {line["claim"]: line["as_published"] for line in claims([], [], lines)}
    assert found["F1 of Priv-PC above SVT-PC's at a total of 10"] == "1 of 1"
    assert found["F1 of EM-PC above Priv-PC's at a total of 1"] == "0 of 1"
    assert found["skeleton F1 of EM-PC against PC by the same test, there"] == "0.90 to 0.90"


def test_the_published_numbers_are_the_papers():
    assert published_seconds("child", "EM-PC") == 25140.67
    assert published_seconds("sachs", "Priv-PC without sub-sampling") == 72.98
    assert published_seconds("survey", "SVT-PC") == 1.21
    assert published_seconds("elsewhere", "SVT-PC") is None
    assert published_tests("alarm", "Priv-PC") == 1843
    assert published_tests("asia", "EM-PC") == 216
    assert published_tests("asia", "SVT-PC") is None


@pytest.mark.parametrize("settings", [Marginals(), SvtPC()])
def test_a_budget_spends_what_the_papers_delta_allows(settings):
    budget = budget_at(settings, 3.0, 100_000)
    assert budget.delta == strict_delta(100_000) == 1e-6
    assert budget.epsilon > 3.0
    allowed = limit_of(budget.currency, 3.0, DELTA)
    assert allowed * (1 - Fraction(1, 10**6)) < budget.limit <= allowed


def test_repaired_methods_have_the_papers_settings_and_are_not_stopped():
    assert repair("priv-pc", sampled=True) == PrivPC(
        test="kendall", alpha=0.1, max_order=1000, round_epsilon=1.0, sample=SAMPLE
    )
    assert repair("svt-pc", sampled=True).test == "kendall"
    assert repair("priv-pc", sampled=False).sample is None
    record = perform(Task("table", "cancer", "priv-pc", 1.0, 500, 0))
    assert record["failed"] == ""
    assert record["stopped"] is False
    assert record["tests"] >= record["rounds"] > 0


def test_a_method_that_used_up_its_total_gets_more(monkeypatch):
    asked = []

    def privately(table, domain, settings, budget):
        asked.append(budget.limit)
        return {"graph": cpdag(network("cancer").dag), "seconds": 1.0, "stopped": len(asked) < 3}

    monkeypatch.setattr(priv_pc, "_warm", lambda _: None)
    monkeypatch.setattr(priv_pc, "_run_privately", privately)
    assert perform(Task("table", "cancer", "svt-pc", 1.0, 300, 1))["stopped"] is False
    assert asked == sorted(set(asked))
    assert len(asked) >= 3


def test_a_refused_budget_is_an_empty_row(monkeypatch, tmp_path):
    def refuse(*_):
        raise BudgetError("too small")

    monkeypatch.setattr(priv_pc, "_run_privately", refuse)
    ran = run(tmp_path, *TINY, "--methods", "svt-pc", "--part", "figure", "--jobs", "1")
    assert ran.exit_code == 0
    assert "4 runs ended with BudgetError" in ran.stderr
    lines = {line["setting"]: line for line in read(tmp_path / "figure1.csv")}
    assert lines["1.0"]["skeleton_f1_truth"] == lines["1.0"]["cpdag_f1_pc_spread"] == ""
    assert len(finished(KeptRuns(tmp_path / "runs.jsonl"))) == 6


def test_what_takes_too_long_is_given_up(monkeypatch, tmp_path):
    monkeypatch.setattr(priv_pc, "_SLOW", set())
    monkeypatch.setattr(priv_pc, "_find", lambda *_: time.sleep(20))
    task = Task("figure", "cancer", "svt-pc", 1.0, 300, 0)
    record = perform(task, 0.2)
    assert record["failed"] == "TimeLimit"
    start = time.monotonic()
    assert perform(replace(task, seed=1, setting=3.0), 0.2)["failed"] == "TimeLimit"
    assert time.monotonic() - start < 0.15
    kept = KeptRuns(tmp_path / "runs.jsonl")
    kept.append(record)
    assert not finished(kept)
    assert not finished(kept, 0.3)
    assert list(finished(kept, 0.2)) == [task]
    assert figure(results_in(kept, 300))[0]["skeleton_f1_truth"] == ""
    with pytest.raises(TimeLimitError), time_limit(0.05):
        time.sleep(5)


def test_records_of_others_and_broken_lines_are_passed_over(tmp_path):
    kept = KeptRuns(tmp_path / "runs.jsonl")
    assert list(kept.records()) == []
    kept.path.write_bytes(b'{"task": {"delta": 0.5}, "failed": ""}\n[1]\n\xff\xfe\n{"half')
    kept.append({"task": Task("figure", "asia", "pc", None, 10, 0).to_dict(), "graph": "", "failed": ""})
    assert len(list(kept.records())) == 2
    assert [task.network for task in finished(kept)] == ["asia"]
    assert table(results_in(kept, 10), "seconds") == []
    assert len(list(as_text([], []))) == 2


@pytest.mark.parametrize("name", ["asia", "alarm"])
def test_graphs_come_back_as_they_were(name):
    graph = cpdag(network(name).dag)
    assert unpack(pack(graph), graph.nodes) == graph
