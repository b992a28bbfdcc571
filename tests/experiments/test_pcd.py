"""The experiment on columns of numbers: its plan, its kept runs, its tables and charts."""

from __future__ import annotations

import csv
import gzip
import json

import numpy as np
import pytest
from click.testing import CliRunner

from discreet.cli import main
from discreet.errors import SettingError, TableError
from discreet.experiments.harness import KeptRuns
from discreet.experiments.pcd import (
    GRAPHS,
    MODELS,
    MOST_GIVEN,
    TESTS,
    Task,
    check_plan,
    encode,
    graph_to_test,
    perform,
    plan_graphs,
    plan_sachs,
    plan_tests,
    read_sachs,
    sample_of,
)
from discreet.experiments.pcd_tables import f1_of_all_pairs, figure1, graphs, scores
from discreet.methods.registry import METHODS

NAMES = [f"p{i}" for i in range(11)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Made-up measurements in the files' shape."""
    path = tmp_path_factory.mktemp("proteins")
    rng = np.random.default_rng(0)
    values = 10 ** np.clip(rng.normal(2, 0.5, size=(120, 11)), 0, 4)
    lines = [",".join(NAMES), *(",".join(f"{v:.3f}" for v in row) for row in values)]
    with gzip.open(path / "cells.csv.gz", "wt") as file:
        file.write("\n".join(lines) + "\n")
    (path / "edges.csv").write_text('"Cause","Effect"\n"p0","p1"\n"p1","p2"\n')
    return path


def test_every_private_method_for_numbers_takes_part():
    assert {name for name, method in METHODS.items() if method.numeric} < set(GRAPHS)
    assert set(MOST_GIVEN) <= set(TESTS)


@pytest.mark.parametrize("model", MODELS)
def test_rows_are_the_same_for_all_methods(model):
    first, second = (sample_of(Task("graphs", model, "cancer", method, 60, 3)) for method in ("pcd", "pcd-published"))
    assert all((first.values[name] == second.values[name]).all() for name in first.values)
    other = sample_of(Task("graphs", model, "cancer", "pcd", 60, 4))
    assert any((first.values[name] != other.values[name]).any() for name in first.values)
    assert encode(first).rows == 60


@pytest.mark.parametrize("given", [0, 1, 5])
def test_tested_columns_have_all_given_ones_as_causes(given):
    alone, caused = (graph_to_test(given, dependent=d).dag for d in (False, True))
    assert caused.directed - alone.directed == {("x", "y")}
    assert len(alone.directed) == 2 * given


def test_rows_as_printed():
    """z between -1/2 and 1/2, x and y the sine of their sum plus noise; four are given, or all."""
    for dependent, given in ((False, 5), (True, 4)):
        found = sample_of(Task("tests", "printed", "conditional", "pcd", 5000, 1, dependent)).values
        assert sorted(found) == ["x", "y", *(f"z{i + 1}" for i in range(given))]
    whole = sample_of(Task("tests", "printed", "conditional", "pcd", 5000, 1)).values
    causes = np.stack([whole[f"z{i + 1}"] for i in range(5)])
    assert np.abs(causes).max() <= 0.5
    left = [whole[name] - np.sin(causes.sum(axis=0)) for name in "xy"]
    assert all(0.5 <= np.ptp(each) <= 1 for each in left)
    assert abs(np.corrcoef(left)[0, 1]) < 0.05
    alone = sample_of(Task("tests", "printed", "independence", "pcd", 5000, 1)).values
    assert all((alone[name] == whole[cause]).all() for name, cause in (("x", "z1"), ("y", "z2")))
    both = sample_of(Task("tests", "printed", "independence", "pcd", 5000, 1, dependent=True)).values
    assert all((both[name] == whole[name]).all() for name in "xy")


def test_wide_networks_get_few_published_runs():
    planned = plan_graphs("printed", list(GRAPHS), ["cancer", "alarm"], [1000, 8000], 30)
    wide = [t for t in planned if t.subject == "alarm" and t.method == "pcd-published"]
    assert {t.rows for t in wide} == {1000}
    assert len(wide) == 5
    assert len([t for t in planned if t.subject == "alarm" and t.method == "pcd"]) == 2 * 30
    assert len(plan_sachs(["pcd", "pcd-published"], 4, 100)) == 4 + 1
    assert len(plan_tests("ours", ["pcd-published"], [200], 5)) == 3 * 2 * 5
    assert len(plan_tests("printed", ["pcd"], [200], 5)) == 2 * 5  # takes nothing given


def test_what_cannot_be_run_is_refused():
    for rows, epsilons, runs in (([10], [1.0], 1), ([100], [], 1), ([100], [0.0], 1), ([100], [1.0], 0)):
        with pytest.raises(SettingError):
            check_plan(rows, epsilons, runs)


def test_proteins_are_read(files, tmp_path):
    found = read_sachs(files / "cells.csv.gz", files / "edges.csv")
    assert found.domain.rows == 120
    assert found.truth.directed == {("p0", "p1"), ("p1", "p2")}
    assert all(v.min() >= 0 and v.max() <= 4 for v in found.values.values())
    (tmp_path / "bad.csv").write_text("a,b\n1,x\n")
    with pytest.raises(TableError, match="positive numbers"):
        read_sachs(tmp_path / "bad.csv", files / "edges.csv")
    with pytest.raises(TableError):
        read_sachs(files / "cells.csv.gz", tmp_path / "missing.csv")


def test_errors_are_of_both_types():
    tasks = plan_tests("printed", list(TESTS), [200], 2)
    results = {task: perform(task, epsilons=[1.0, 8.0]) for task in tasks}
    lines = figure1(results)
    assert len(lines) == 2 * 2 * 3 + 2 * 2 + 2 * 2  # published ones without noise too; two tests take nothing given
    assert {line["type_2_printed"] for line in lines if line["method"] == "pcd-published"} == {
        "around 0",
        "around 0.01",
    }
    assert all(0 <= line["type_1"] <= 1 and 0 <= line["type_2"] <= 1 and line["runs"] == 2 for line in lines)
    assert all(Task.of(json.loads(json.dumps(record))) == task for task, record in results.items())


def test_scores():
    assert scores(2, 4, 8) == (0.5, 0.25, pytest.approx(1 / 3))
    assert scores(0, 0, 8) == (0.0, 0.0, 0.0)
    assert f1_of_all_pairs(18, "sachs") == pytest.approx(0.493, abs=1e-3)
    assert f1_of_all_pairs(4, "cancer") == pytest.approx(8 / 14)


def test_a_quick_run_is_kept_and_goes_on(files, tmp_path):
    out = tmp_path / "o"
    given = ["experiment", "pcd", "--quick", "--jobs", "1", "--out", str(out), "--runs", "1", "--rows", "60"]
    given += ["--sachs", str(files / "cells.csv.gz"), "--edges", str(files / "edges.csv")]
    result = CliRunner().invoke(main, given)
    assert result.exit_code == 0, result.output
    names = {path.name for path in out.iterdir()}
    tables = {"runs.jsonl", "figure1.csv", "figure2.csv", "figure3.csv", "figure3.svg"}
    assert tables | {"figure1-printed-type-1.svg", "figure2-ours-f1-rows.svg"} <= names
    kept = KeptRuns(out / "runs.jsonl").finished(Task)
    again = CliRunner().invoke(main, given)
    assert f"{len(kept)} of them finished before" in again.stderr
    assert len(KeptRuns(out / "runs.jsonl").finished(Task)) == len(kept)
    with (out / "figure3.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert {line["method"] for line in lines} == set(GRAPHS)
    found = graphs(kept, "graphs")
    assert len(found) == 2 * (2 * len(GRAPHS) + 2)
    assert {line["epsilon"] for line in found if line["method"] == "pcd"} == {1.0, 8.0}


@pytest.mark.parametrize(
    "wrong", [["--methods", "none"], ["--models", "no"], ["--part", "sachs"], ["--epsilons", "x"], ["--rows", "3"]]
)
def test_wrong_options_are_refused(wrong, tmp_path):
    result = CliRunner().invoke(main, ["experiment", "pcd", "--out", str(tmp_path / "o"), *wrong])
    assert result.exit_code == 2
