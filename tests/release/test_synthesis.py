"""Rows drawn from a release, and the experiments."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli import main
from discreet.errors import NetworkError, ReleaseError, SettingError
from discreet.experiments import calibration
from discreet.experiments.accuracy import Task, charts, perform, plan, summary
from discreet.experiments.calibration import by_regime, reliability, reliability_svg, said_in
from discreet.release.synthesis import csv_blocks, model_of
from discreet.simulation.drawn import draw_network
from discreet.testing import SeededNoise


def found_in(name, rows=50_000, epsilon=3.0, **given):
    net = dc.network(name)
    domain = net.domain(rows)
    data = net.sample(rows, np.random.default_rng(0))
    room = dc.Room(dc.load(data, domain), domain, dc.Budget(epsilon=epsilon, delta=1e-6), noise=SeededNoise(0))
    return data, dc.discover_in(room, dc.Marginals(), **given)


def test_drawn_rows_look_like_the_data():
    data, found = found_in("asia")
    drawn = dc.synthesize(found, 50_000, seed=1)
    assert list(drawn) == list(found.domain)
    for column, values in drawn.items():
        assert abs((values == "yes").mean() - (data[column] == "yes").mean()) < 0.02
    for a, b in found.graph.directed:
        true = np.corrcoef(data[a] == "yes", data[b] == "yes")[0, 1]
        assert abs(np.corrcoef(drawn[a] == "yes", drawn[b] == "yes")[0, 1] - true) < 0.1


def test_drawn_rows_can_be_searched():
    data, found = found_in("earthquake", rows=100_000)
    drawn = dc.synthesize(found, 100_000, seed=2)
    again = dc.discover(drawn, domain=found.domain, epsilon=3.0)
    assert dc.skeleton_f1(again.graph, found.graph) >= 0.75
    assert len(data) == len(drawn)


def test_rows_are_drawn_as_csv_and_by_seed(tmp_path):
    _, found = found_in("cancer")
    found.save(tmp_path)
    release = str(tmp_path / "release.json")
    once, twice = (
        CliRunner().invoke(main, ["synthesize", release, "--rows", "50", "--seed", "3"]).stdout for _ in range(2)
    )
    assert once == twice
    rows = list(csv.reader(io.StringIO(once)))
    assert rows[0] == list(found.domain)
    assert len(rows) == 51
    assert all(value in found.domain[c].levels for row in rows[1:] for c, value in zip(rows[0], row, strict=True))
    to_file = CliRunner().invoke(main, ["synthesize", release, "--rows", "5", "--out", str(tmp_path / "rows.csv")])
    assert to_file.exit_code == 0
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 6
    assert CliRunner().invoke(main, ["synthesize", release, "--rows", "0"]).exit_code == 2
    assert CliRunner().invoke(main, ["synthesize", str(tmp_path / "none.json"), "--rows", "5"]).exit_code == 2
    assert CliRunner().invoke(main, ["synthesize", release, "--rows", "5", "--seed", "-1"]).exit_code == 2
    kept = CliRunner().invoke(main, ["synthesize", release, "--rows", "0", "--out", str(tmp_path / "rows.csv")])
    assert kept.exit_code == 2
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 6  # as it was
    nowhere = str(tmp_path / "no" / "rows.csv")
    assert CliRunner().invoke(main, ["synthesize", release, "--rows", "5", "--out", nowhere]).exit_code == 1


def test_odd_labels_survive():
    labels = ("a,b", 'say "hi"', "é\u2028x")
    domain = dc.Domain({c: dc.Categorical(categories=labels) for c in "xy"}, rows=3_000)
    values = np.array(labels)[np.random.default_rng(0).integers(0, 3, 3_000)]
    found = dc.discover({"x": values, "y": values}, domain=domain, epsilon=5.0)
    rows = list(csv.reader(io.StringIO("".join(csv_blocks(found, 200, seed=0)))))[1:]
    assert np.mean([x == y for x, y in rows]) > 0.9
    assert {x for x, _ in rows} == set(labels)


def test_a_release_without_tables_has_no_rows_to_draw():
    names = list(dc.network("cancer").nodes)
    apart = dc.Knowledge(forbidden={(a, b) for a in names for b in names if a != b})
    _, found = found_in("cancer", rows=100, knowledge=apart)
    with pytest.raises(ReleaseError, match="no tables"):
        model_of(found)


def test_networks_are_drawn_at_random():
    rng = np.random.default_rng(0)
    drawn = [draw_network(rng) for _ in range(20)]
    assert len({len(net.nodes) for net in drawn}) > 3
    for net in drawn:
        for node in net.nodes.values():
            np.testing.assert_allclose(node.table.sum(axis=1), 1)
            assert len(node.parents) <= 3
    assert len(draw_network(rng, 80).nodes) == 80
    with pytest.raises(NetworkError):
        draw_network(rng, 1)


def test_accuracy_is_measured(tmp_path):
    planned = plan(["cancer"], [2_000], [1.0, 3.0], 2)
    assert len(planned) == 2 * 2 + 2 * 2
    rows = [perform(task) for task in planned]
    lines = summary(rows)
    assert {line["method"] for line in lines} == {"marginals", "pc", "greedy-bic"}
    assert all(0 <= line["skeleton_f1"] <= 1 for line in lines)
    drawn = charts(lines)
    assert set(drawn) == {"skeleton_f1-2000.svg", "cpdag_f1-2000.svg"}
    assert all(svg.startswith("<svg") and "cancer" in svg for svg in drawn.values())
    assert 0 <= perform(Task("skew:6:1", 500, 1.0, "marginals", 0))["skeleton_f1"] <= 1
    with pytest.raises(NetworkError, match="nowhere"):
        plan(["nowhere"], [2_000], [1.0], 2)
    with pytest.raises(SettingError, match="runs"):
        plan(["cancer"], [2_000], [1.0], 1)


def test_the_experiment_command(tmp_path):
    options = ["--networks", "cancer", "--rows", "500", "--epsilons", "1,2", "--runs", "2", "--out", str(tmp_path)]
    ran = CliRunner().invoke(main, ["experiment", "accuracy", *options])
    assert ran.exit_code == 0
    assert ran.stdout.startswith("| network | rows | eps 1 | eps 2 | pc, not private |")
    assert {p.name for p in tmp_path.iterdir()} >= {"runs.jsonl", "accuracy.csv", "skeleton_f1-500.svg"}
    again = CliRunner().invoke(main, ["experiment", "accuracy", *options])
    assert again.stdout == ran.stdout
    assert "8 runs, 8 of them finished before" in again.stderr
    bad = CliRunner().invoke(main, ["experiment", "accuracy", "--epsilons", "many", "--out", str(tmp_path)])
    assert bad.exit_code == 2
    unknown = CliRunner().invoke(main, ["experiment", "accuracy", "--networks", "nowhere", "--out", str(tmp_path)])
    assert unknown.exit_code == 2


def test_reliability_counts_what_is_right():
    said = [(0.9, True)] * 90 + [(0.9, False)] * 10 + [(0.3, False)] * 30
    lines = reliability(said)
    assert [(r["claims"], round(r["right"], 2)) for r in lines] == [(30, 0.0), (100, 0.9)]
    assert reliability_svg({"edges": lines}).startswith("<svg")


def test_the_calibration_goes_on_where_it_was_broken_off(tmp_path):
    options = ["experiment", "calibration", "--out", str(tmp_path), "--networks"]
    assert CliRunner().invoke(main, [*options, "1"]).exit_code == 0
    ran = CliRunner().invoke(main, [*options, "2"])
    assert ran.exit_code == 0
    assert "2 runs, 1 of them finished before" in ran.stderr
    assert "| regime | where | kind | claims | said | right |" in ran.stdout
    assert {p.name for p in tmp_path.iterdir()} == {"runs.jsonl", "calibration.csv", "regimes.csv", "calibration.svg"}


def test_regimes_are_told_apart():
    few = {
        "rows": 1_000,
        "columns": 8,
        "family": "skew",
        "epsilon": 1.0,
        "clipped": False,
        "edges": [[0.8, True], [0.99, True]],
    }
    many = {**few, "rows": 20_000, "edges": [[0.8, False], [0.9, True]]}
    lines = by_regime([{**few, "arrowheads": []}, {**many, "arrowheads": []}])
    by_rows = {
        line["where"]: (line["claims"], line["said"], line["right"]) for line in lines if line["regime"] == "rows"
    }
    assert by_rows == {"1,000": (1, 0.8, 1.0), "20,000": (2, 0.85, 0.5)}


@pytest.mark.nightly
def test_confidences_are_calibrated_on_networks_they_were_not_fitted_on():
    """Of at least 200 edges with a confidence from .85 to .95, between 80 and 98 % are right."""
    said = said_in([calibration.perform(calibration.Task(seed)) for seed in range(300)], "edges")
    inside = [right for confidence, right in said if 0.85 <= confidence <= 0.95]
    assert len(inside) >= 200
    assert 0.80 <= np.mean(inside) <= 0.98


def test_columns_that_touch_nothing_and_columns_with_one_level_are_drawn_too():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 5_000).astype(str)
    data = {"alone": (rng.random(5_000) < 0.05).astype(int).astype(str), "one": ["a"] * 5_000, "x": x, "y": x}
    levels = {"alone": ("0", "1"), "one": ("a",), "x": ("0", "1"), "y": ("0", "1")}
    domain = dc.Domain({c: dc.Categorical(categories=v) for c, v in levels.items()}, rows=5_000)
    apart = {arc for c in ("one", "x", "y") for arc in (("alone", c), (c, "alone"))}
    knowledge = dc.Knowledge(forbidden=apart, required={("x", "one"), ("y", "one")})
    for delta in (1e-6, 0):
        found = dc.discover(data, domain=domain, epsilon=5.0, delta=delta, knowledge=knowledge)
        drawn = dc.synthesize(found, 4_000, seed=0)
        assert set(drawn["one"]) == {"a"}
        assert (drawn["alone"] == "1").mean() == pytest.approx(0.05, abs=0.02)
