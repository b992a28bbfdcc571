"""The experiment on directions: how often noise leaves a sign alone, what is planned, kept, and shown."""

from __future__ import annotations

import csv
import gzip
import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from click.testing import CliRunner

from discreet.baselines.published import direction as scores
from discreet.baselines.published.direction import HalfSettings, half_direction, judge
from discreet.cli import main
from discreet.errors import SettingError, TableError
from discreet.experiments.direction import (
    BUDGETS,
    HOWS,
    IDS,
    PUBLISHED,
    RIDGE,
    SCORES,
    SWEEP,
    CausePair,
    Task,
    chance,
    chance_right,
    chance_unflipped,
    encode,
    perform,
    plan,
    published_chance,
    read_pairs,
    rescale,
    simulate,
    table2,
)
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


HALVES = {"test-published": ("test half", "paper", 2), "test": ("test half", "proved", 1)}
HALVES |= {"training-published": ("training half", "paper", 2), "training": ("training half", "proved", 1)}


@pytest.mark.parametrize(("score", "how", "epsilon"), [
    ("hsic", "test-published", 60.0), ("kendall", "test", 1.0), ("root-hsic", "test", 1.0), ("iqr", "test", 150.0),
    ("iqr", "test-published", 60.0), ("reci", "training", 100.0), ("spearman", "training-published", 1.0),
])  # fmt: skip
def test_the_computed_chance_is_that_of_many_releases(score, how, epsilon):
    task = Task("halves", "simulated", "1", 300, 0, RIDGE)
    pair = simulate(1, 300)
    record = perform(task)
    table, domain = encode(pair)
    half, source, draws = HALVES[how]
    settings = HalfSettings(half, score, epsilon, sensitivities=source, draws=draws)
    x, y = (codes / UNIT for codes in Scaled.of("x", "y", domain).values(table))
    found = scores.fit_halves(x, y, 0.5, RIDGE, np.random.default_rng([0, 300, 13]))
    rng, total = np.random.default_rng(9), 0.0
    for _ in range(400):
        cause = judge(found, ("x", "y"), settings, rng).cause
        total += 0.5 if cause is None else cause == "x"
    assert total / 400 == pytest.approx(chance(record, score, how, epsilon), abs=0.08)
    assert chance(record, score, how, math.inf) == chance(record, score, "none", epsilon) in (0.0, 1.0)


def test_what_a_score_does_not_have_is_left_empty():
    record = perform(Task("halves", "simulated", "0", 60, 0, 0.1))
    assert chance(record, "reci", "test-published", 1.0) is None
    assert chance(record, "root-hsic", "training-published", 1.0, 0.1) is None
    assert chance(record, "iqr", "training", 1.0) is None
    assert scores.SCORES == SCORES
    assert set(HOWS) == {"none", "all", *HALVES}


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
    options = ["--pairs", str(path), "--number", "2", "--rows", "40", "--runs", "2", "--jobs", "1"]
    ran = run(tmp_path / "out", *options)
    assert ran.exit_code == 0, ran.stderr
    assert "| all | reci | 1 |" in ran.stdout
    assert "| simulated, 40 rows | hsic | inf |" in ran.stdout
    kept = (tmp_path / "out" / "runs.jsonl").read_text()
    assert str(tmp_path) not in kept
    lines = read(tmp_path / "out" / "table2.csv")
    assert list(lines[0])[:5] == ["pair", "rows", "score", "epsilon", "published"]
    mine = {(row["pair"], row["score"], row["epsilon"]): row for row in lines}
    assert mine["4031", "hsic", "1.0"]["published"] == "0.85"
    assert mine["b", "hsic", "1.0"]["published"] == mine["all", "iqr", "1.0"]["training"] == ""
    assert mine["all", "kendall", "inf"]["none"] != mine["all", "kendall", "inf"]["all"] == ""
    assert float(mine["b", "kendall", "0.1"]["test"]) == pytest.approx(0.5, abs=0.1)
    assert len(lines) == 3 * len(SCORES) * 4
    for name, across in (("figure1", "epsilon"), ("figure2", "ridge")):
        points = read(tmp_path / "out" / f"{name}.csv")
        assert {row["data"] for row in points} == {"simulated-40", "pairs"}
        assert all(0 <= float(row["right"]) <= 1 and float(row[across]) > 0 for row in points)
        for source in ("pairs", "simulated-40"):
            root = ET.parse(tmp_path / "out" / f"{name}-{source}.svg").getroot()  # noqa: S314 - written here
            assert "right direction" in root.find("{http://www.w3.org/2000/svg}title").text
    assert len(read(tmp_path / "out" / "simulated.csv")) == len(SCORES) * 4
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
    assert len(IDS) == 10
    assert all(len(numbers) == 10 for numbers in PUBLISHED.values())
    assert published_chance("901", "hsic", 1.0) == 0.21
    assert published_chance("2132", "spearman", math.inf) == 1.0
    assert published_chance("901", "hsic", 2.0) is None
    assert published_chance("pair1", "hsic", 1.0) is None


def test_halves_of_a_pair_are_those_of_the_published_method():
    pair = simulate(2, 200)
    table, domain = encode(pair)
    found = half_direction(
        table, "x", "y", domain, protects="test half", score="reci", epsilon=1e9, sensitivities="proved", seed=1
    )
    assert found.cause == "x"
