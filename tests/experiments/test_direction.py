"""The experiment on directions: how often noise leaves a sign alone, what is planned, kept, and shown."""

from __future__ import annotations

import csv
import gzip
import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from click.testing import CliRunner

from discreet.baselines.published.direction import REASONS, SCORES, fit_halves, half_direction, judge
from discreet.cli import main
from discreet.errors import SettingError, TableError
from discreet.experiments.direction import (
    BUDGETS,
    COLUMNS,
    RIDGE,
    SWEEP,
    WAYS,
    CausePair,
    Task,
    answer_probability,
    chance,
    chance_right,
    chance_unflipped,
    encode,
    perform,
    plan,
    read_pairs,
    rescale,
    simulate,
)
from discreet.experiments.direction_printed import CHANCES, MARKS, SIZES, printed_chance
from discreet.experiments.direction_tables import BEST, DELTAS, table1, table2, table2_published
from discreet.experiments.harness import KeptRuns
from discreet.statistics.curves import UNIT, Scaled


@pytest.mark.parametrize("draws", [1, 2, 4])
def test_signs_are_left_alone_as_often_as_the_theorems_say(draws):
    """Theorems 2 and 4 of the paper, and one draw, against four million draws."""
    rng = np.random.default_rng(draws)
    noise = np.sort(sum(rng.laplace(0, 1, 4_000_000) for _ in range(draws)))
    for t in (0.0, 0.5, 1.0, 3.0, 8.0):
        share = 1 - np.searchsorted(noise, -t) / len(noise)
        assert chance_unflipped(t, draws) == pytest.approx(share, abs=1e-3)
    assert chance_unflipped(0.0, draws) == 0.5
    assert chance_unflipped(1e6, draws) == chance_unflipped(math.inf, draws) == 1.0


def test_the_theorems_at_one():
    assert chance_unflipped(1.0, 1) == pytest.approx(0.816, abs=1e-3)
    assert chance_unflipped(1.0, 2) == pytest.approx(0.72409, abs=1e-5)
    assert chance_unflipped(1.0, 4) == pytest.approx(0.65128, abs=1e-5)
    assert chance_right(-1.0, 1.0, 1) == pytest.approx(1 - chance_unflipped(1.0, 1))
    assert (chance_right(0.0, 1.0, 1), chance_right(None, 1.0, 2), chance_right(2.0, 0.0, 1)) == (0.5, 0.5, 1.0)


def residuals_of(pair, ridge=RIDGE):
    table, domain = encode(pair)
    x, y = (codes / UNIT for codes in Scaled.of("x", "y", domain).values(table))
    return fit_halves(x, y, 0.5, ridge, np.random.default_rng([0, len(pair.x), 13]))


@pytest.mark.parametrize(("score", "column", "epsilon", "ridge"), [
    ("hsic", "test_published_total", 60.0, RIDGE), ("hsic", "test_published_per_score", 60.0, RIDGE),
    ("kendall", "test_proved_total", 1.0, RIDGE), ("root-hsic", "test_proved_total", 1.0, RIDGE),
    ("iqr", "test_proved_total", 150.0, RIDGE), ("iqr", "test_published_per_score", 12.0, RIDGE),
    ("iqr", "training_published_per_score", 20.0, 1.0), ("iqr", "both_proved_total", 150.0, 1.0),
    ("hsic", "both_published_total", 900.0, 1.0), ("reci", "both_proved_total", 9.0, 1.0),
    ("reci", "training_proved_total", 100.0, RIDGE), ("spearman", "training_published_per_score", 1.0, RIDGE),
    ("kendall", "both_proved_total", 60.0, RIDGE),
])  # fmt: skip
def test_the_computed_chance_is_that_of_many_releases(score, column, epsilon, ridge):
    pair = simulate(1, 300)
    record = perform(Task("halves", "simulated", "1", 300, 0, ridge))
    settings, found = WAYS[column].settings(score, epsilon, ridge), residuals_of(pair, ridge)
    rng, total, silent = np.random.default_rng(9), 0.0, 0
    for _ in range(400):
        told = judge(found, ("x", "y"), settings, rng)
        total += 0.5 if told.cause is None else told.cause == "x"
        silent += told.abstained
    assert total / 400 == pytest.approx(chance(record, score, column, epsilon, ridge), abs=0.08)
    assert chance(record, score, column, math.inf, ridge) == chance(record, score, "none", epsilon, ridge) in (0.0, 1.0)
    if settings.mechanism != "noise":
        assert 1 - silent / 400 == pytest.approx(answer_probability(record, settings), abs=0.08)


def test_per_score_has_the_noise_of_a_multiple_of_the_total():
    record = perform(Task("halves", "simulated", "3", 300, 0, 1.0))
    for half, score, parts in (("test", "hsic", 2), ("training", "hsic", 2), ("test", "kendall", 2)):
        each, total = (f"{half}_published_{reading}" for reading in ("per_score", "total"))
        assert chance(record, score, each, 1.5, 1.0) == chance(record, score, total, 1.5 * parts, 1.0)
        assert chance(record, score, each, 1.5, 1.0) != chance(record, score, total, 1.5, 1.0)
    assert WAYS["test_published_per_score"].settings("iqr", 2.0, 1.0).promised == pytest.approx((18.0, 3e-6))
    assert WAYS["training_published_per_score"].settings("iqr", 2.0, 1.0).promised == pytest.approx((12.0, 2e-6))


def test_what_a_score_does_not_have_is_left_empty():
    record = perform(Task("halves", "simulated", "0", 60, 0, 0.1))
    assert chance(record, "reci", "test_published_total", 1.0) is None
    assert chance(record, "root-hsic", "both_published_per_score", 1.0, 0.1) is None
    assert chance(record, "iqr", "training_proved_total", 1.0, 0.1) == pytest.approx(0.5, abs=0.01)
    assert (COLUMNS[0], COLUMNS[-1]) == ("none", "all_total")
    assert {way.protects for way in WAYS.values()} == set(REASONS)


def test_simulated_pairs_have_all_shapes_and_orders():
    pairs = [simulate(i, 200) for i in range(12)]
    assert [pair.forward for pair in pairs] == [True] * 6 + [False] * 6
    assert all(np.abs(column).max() <= 1 for pair in pairs for column in (pair.x, pair.y))
    np.testing.assert_array_equal(simulate(4, 50).x, simulate(4, 50).x)
    assert not np.array_equal(simulate(4, 50).x, simulate(5, 50).x)


def pairs_file(path, *lines):
    text = "\n".join(["pair,x,y,direction", *lines]) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def line(name, pair, direction="x->y"):
    return f"{name},{' '.join(map(str, pair.x))},{' '.join(map(str, pair.y))},{direction}"


def test_pairs_are_read_and_scaled_by_their_own_range(tmp_path):
    first = simulate(0, 400)
    other = CausePair(first.y * 100 + 7, first.x, forward=False)
    short = CausePair(first.x[:5], first.y[:5], forward=True)
    path = pairs_file(tmp_path / "p.csv.gz", line("a", first), line("b", other, "y->x"), line("short", short))
    found = read_pairs(path)
    assert list(found) == ["a", "b"]
    assert (found["a"].forward, found["b"].forward) == (True, False)
    np.testing.assert_allclose(found["b"].x, found["a"].y, atol=1e-9)
    assert np.mean(np.abs(found["a"].x) == 1) < 0.02
    assert rescale(np.zeros(30)).tolist() == [0.0] * 30
    for i, lines in enumerate((["a,1 2,1,x->y"], ["a,1 2,1 2,x--y"], ["a,1 2,1 two,x->y"], ["a,1 2"])):
        with pytest.raises(TableError, match="direction") as caught:
            read_pairs(pairs_file(tmp_path / f"{i}.csv", *lines))
        assert "two" not in str(caught.value)


def test_plans_are_refused_or_made():
    with pytest.raises(SettingError, match="epsilons"):
        plan(["table"], 1, [100], [0.0], 1, None)
    with pytest.raises(SettingError, match="rows"):
        plan(["table"], 1, [10], [1.0], 1, None)
    both = plan(["table", "figures"], 2, [100], [1.0, 2.0], 1, None)
    assert len(both) == len(set(both)) == 2 * (len(SWEEP) + len({1.0, 2.0, *BUDGETS[::2]}))
    assert {task.setting for task in plan(["table"], 1, [100], [2.0], 1, None)} == {RIDGE, 2.0}
    assert RIDGE in SWEEP
    assert (SWEEP[0], SWEEP[-1], BUDGETS[0], BUDGETS[-1]) == (1e-5, 1.0, 0.1, 100.0)


def run(out, *options):
    return CliRunner().invoke(main, ["experiment", "direction", *options, "--out", str(out)], catch_exceptions=False)


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_tiny_run_writes_everything_and_does_nothing_twice(tmp_path):
    path = pairs_file(tmp_path / "pairs.csv", line("4031", simulate(0, 60)), line("b", simulate(7, 60), "y->x"))
    options = ["--pairs", str(path), "--number", "1", "--rows", "40", "--runs", "2", "--jobs", "1"]
    ran = run(tmp_path / "out", *options)
    assert ran.exit_code == 0, ran.stderr
    assert "| epsilon per score | score | 4031, 60 | b, 60 |" in ran.stdout
    assert "test half as published, epsilon per score" in ran.stdout
    assert "| simulated-40 | hsic | inf |" in ran.stdout
    kept = (tmp_path / "out" / "runs.jsonl").read_text()
    assert str(tmp_path) not in kept
    lines = read(tmp_path / "out" / "table2.csv")
    assert list(lines[0])[:6] == ["pair", "rows", "score", "epsilon", "none", "none_deviation"]
    assert len(lines) == 2 * len(SCORES) * 4
    mine = {(row["pair"], row["score"], row["epsilon"]): row for row in lines}
    exact, noisy = mine["b", "kendall", "inf"], mine["b", "kendall", "0.1"]
    deviations = {0.0: 0.0, 0.5: 0.7071, 1.0: 0.0}
    assert float(exact["none_deviation"]) == deviations[float(exact["none"])]
    assert noisy["none"] == exact["all_total"] == mine["b", "reci", "1.0"]["test_published_total"] == ""
    assert float(noisy["test_proved_total"]) == pytest.approx(0.5, abs=0.1)
    assert {"both_proved_total", "training_published_per_score_deviation", "runs"} <= set(noisy)
    means = read(tmp_path / "out" / "means.csv")
    assert {row["data"] for row in means} == {"simulated-40", "pairs"}
    together = {(row["data"], row["score"], row["epsilon"]): row for row in means}["pairs", "hsic", "1.0"]
    each = [float(mine[name, "hsic", "1.0"]["test_published_per_score"]) for name in ("4031", "b")]
    assert float(together["test_published_per_score"]) == pytest.approx(np.mean(each), abs=1e-3)
    for name, across in (("figure1", "epsilon"), ("figure2", "ridge"), ("figure2-best", "epsilon")):
        points = read(tmp_path / "out" / f"{name}.csv")
        assert {row["data"] for row in points} == {"simulated-40", "pairs"}
        assert all(0 <= float(row["right"]) <= 1 and float(row[across]) > 0 for row in points)
        for source in ("pairs", "simulated-40"):
            root = ET.parse(tmp_path / "out" / f"{name}-{source}.svg").getroot()  # noqa: S314 - written here
            assert "right direction" in root.find("{http://www.w3.org/2000/svg}title").text
    swept, best = (read(tmp_path / "out" / f"{name}.csv") for name in ("figure2", "figure2-best"))
    assert {float(row["epsilon"]) for row in best} == set(BEST)
    key = ("pairs", "reci", "training_proved_total", "1.0")
    at_one, of = (
        [float(row["right"]) for row in rows if (row["data"], row["score"], row["protects"], row["epsilon"]) == key]
        for rows in (best, swept)
    )
    assert len(of) == len(SWEEP)
    assert at_one == [max(of)]
    silent = read(tmp_path / "out" / "no-answer.csv")
    assert {float(row["delta"]) for row in silent} == set(DELTAS)
    assert {float(row["ridge"]) for row in silent} == {RIDGE, 1.0}
    assert all(0 <= float(row["no_answer"]) <= float(row["most"]) <= 1 for row in silent)
    assert all((float(row["share_below_1e-4"]) == 1) == (float(row["most"]) < 1e-4) for row in silent)
    again = run(tmp_path / "out", *options)
    assert again.stdout == ran.stdout
    assert (tmp_path / "out" / "runs.jsonl").read_text() == kept


def test_what_was_cut_off_is_done_again_by_two_processes(tmp_path):
    options = ["--number", "2", "--rows", "40", "--part", "table", "--epsilons", "1", "--jobs"]
    run(tmp_path, *options, "1")
    kept = tmp_path / "runs.jsonl"
    kept.write_text(kept.read_text()[:-30] + '\n{"task": {"width": 3}}\n')
    assert run(tmp_path, *options, "2").exit_code == 0
    assert len(KeptRuns(kept).finished(Task)) == 4
    assert not (tmp_path / "figure1.csv").exists()
    assert table2(KeptRuns(kept).finished(Task), [1.0]) == []


def test_the_published_numbers_are_the_papers():
    assert len(CHANCES) == 16
    assert all(len(numbers.split()) == len(SIZES) == 10 for numbers in CHANCES.values())
    assert printed_chance("901", "hsic", 1.0) == (0.21, 0.25)
    assert printed_chance("2132", "spearman", math.inf) == (1.0, 0.0)
    assert printed_chance("4031", "hsic", 0.1) == (0.68, 0.17)
    assert printed_chance("1627", "iqr", 2.0) == (0.52, 0.01)
    assert len(table2_published()) == 160


def test_table_1_is_the_papers_but_for_one_bound():
    lines = {(row["score"], row["half"]): row for row in table1()}
    assert set(lines) == set(MARKS)
    off = [key for key, row in lines.items() if row["global_printed"] != row["global_published"]]
    assert off == [("hsic", "training half")]
    assert all(
        row["global_printed"] == row["global_proved"] and row["local_printed"] == "yes" for row in lines.values()
    )
    assert lines["hsic", "test half"]["bound_published"] == pytest.approx((12 * 3900 - 11) / 3899**2, rel=1e-2)
    assert lines["hsic", "training half"]["bound_published"] > 10 * lines["hsic", "training half"]["range"]
    assert {row["mechanism"] for key, row in lines.items() if row["global_proved"] == "yes"} == {"noise"}


def test_halves_of_a_pair_are_those_of_the_published_method():
    pair = simulate(2, 200)
    table, domain = encode(pair)
    found = half_direction(
        table, "x", "y", domain, protects="test half", score="reci", epsilon=1e9, sensitivities="proved", seed=1
    )
    assert found.cause == "x"
