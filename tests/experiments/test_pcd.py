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
    EPSILONS,
    GRAPHS,
    MOST_GIVEN,
    TESTS,
    Task,
    check_plan,
    encode,
    f1_of_all_pairs,
    figure1,
    graph_to_test,
    graphs,
    perform,
    plan_graphs,
    plan_sachs,
    plan_tests,
    read_sachs,
    sample_of,
    scores,
)
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


def test_rows_are_the_same_for_all_methods_and_epsilons():
    first, second = (
        sample_of(Task("graphs", "cancer", m, e, 60, 3)) for m, e in (("pcd", 1.0), ("pcd-published", 2.0))
    )
    assert all((first.values[name] == second.values[name]).all() for name in first.values)
    other = sample_of(Task("graphs", "cancer", "pcd", 1.0, 60, 4))
    assert any((first.values[name] != other.values[name]).any() for name in first.values)
    assert encode(first).rows == 60


@pytest.mark.parametrize("given", [0, 1, 5])
def test_tested_columns_have_all_given_ones_as_causes(given):
    alone, caused = (graph_to_test(given, dependent=d).dag for d in (False, True))
    assert caused.directed - alone.directed == {("x", "y")}
    assert len(alone.directed) == 2 * given


def test_slow_networks_get_few_published_runs():
    planned = plan_graphs(list(GRAPHS), ["cancer", "alarm"], [1000, 8000], EPSILONS, 10)
    slow = [t for t in planned if t.subject == "alarm" and t.method == "pcd-published"]
    assert {t.rows for t in slow} == {1000}
    assert {t.epsilon for t in slow} == {0.1, 1.0, 8.0}
    assert len([t for t in planned if t.subject == "alarm" and t.method == "pcd"]) == 2 * 8 * 10
    assert len(plan_sachs(["pcd", "pcd-published"], EPSILONS, 4, 100)) == 8 * 4 + 3
    assert len(plan_tests(["pcd"], [200], 5)) == 3 * 2 * 5


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
    tasks = [Task("tests", "given 0", m, 0.0, 200, s, d) for m in TESTS for s in range(2) for d in (False, True)]
    results = {task: perform(task, epsilons=[1.0, 8.0]) for task in tasks}
    lines = figure1(results)
    assert len(lines) == 2 * len(TESTS)
    assert all(0 <= line["type_1"] <= 1 and 0 <= line["type_2"] <= 1 and line["runs"] == 2 for line in lines)
    assert all(Task.of(json.loads(json.dumps(record))) == task for task, record in results.items())


def test_scores():
    assert scores({"right": 2, "found": 4, "true": 8}) == (0.5, 0.25, pytest.approx(1 / 3))
    assert scores({"right": 0, "found": 0, "true": 8}) == (0.0, 0.0, 0.0)
    assert f1_of_all_pairs(18, "sachs") == pytest.approx(0.493, abs=1e-3)
    assert f1_of_all_pairs(4, "cancer") == pytest.approx(8 / 14)


def test_a_quick_run_is_kept_and_goes_on(files, tmp_path):
    out = tmp_path / "o"
    given = ["experiment", "pcd", "--quick", "--jobs", "1", "--out", str(out), "--runs", "1", "--rows", "60"]
    given += ["--sachs", str(files / "cells.csv.gz"), "--edges", str(files / "edges.csv")]
    result = CliRunner().invoke(main, given)
    assert result.exit_code == 0, result.output
    names = {path.name for path in out.iterdir()}
    assert {"runs.jsonl", "figure1.csv", "figure2.csv", "figure3.csv", "figure3.svg", "figure1-type-1.svg"} <= names
    kept = KeptRuns(out / "runs.jsonl").finished(Task)
    again = CliRunner().invoke(main, given)
    assert f"{len(kept)} of them finished before" in again.stderr
    assert len(KeptRuns(out / "runs.jsonl").finished(Task)) == len(kept)
    with (out / "figure3.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert {line["method"] for line in lines} == set(GRAPHS)
    assert len(graphs(kept, "graphs")) == 2 * len(GRAPHS)


@pytest.mark.parametrize("wrong", [["--methods", "none"], ["--part", "sachs"], ["--epsilons", "x"], ["--rows", "3"]])
def test_wrong_options_are_refused(wrong, tmp_path):
    result = CliRunner().invoke(main, ["experiment", "pcd", "--out", str(tmp_path / "o"), *wrong])
    assert result.exit_code == 2
