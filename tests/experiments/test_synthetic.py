"""The experiment with synthetic rows, made by a stand-in: the plan, neighbours, runs, and what does not finish."""

from __future__ import annotations

import csv
import importlib
import math
import sys
import time
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from discreet.baselines import exact as not_private
from discreet.cli import main
from discreet.errors import BudgetError, SettingError
from discreet.experiments.harness import TIME_LIMIT, KeptRuns
from discreet.experiments.synthetic import Task, as_text, charts, finished, most, perform, plan, stop, table
from discreet.privacy.accounting import Currency, limit_of

STAND_IN = """
import json, sys, time
import numpy as np

for line in sys.stdin:
    method, rho, seed, source, out = json.loads(line)
    open({asked!r}, "a").write(line)
    with np.load(source) as given:
        codes = given["codes"]
    {then}
    lines = np.array([[0, 1]]) if method != "aim" else np.zeros((0, 2), dtype=int)
    np.savez(out, codes=codes, arrows=np.array([[2, 3]]), lines=lines, told=np.array([rho, 1.0, 2.0]))
    print(flush=True)
"""


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Return what makes a command that hands rows back, after doing something else; the greedy search is quick."""
    monkeypatch.setattr(not_private, "greedy_bic", not_private.pc)
    made = []

    def make(then="pass"):
        script = tmp_path / f"stand_in_{len(made)}.py"
        script.write_text(STAND_IN.format(asked=str(tmp_path / "asked"), then=then))
        made.append(f"{sys.executable} {script}")
        return made[-1]

    yield make
    stop()


@pytest.fixture
def mechanisms(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    return importlib.import_module("synthetic.mechanisms")


def run(out, command, *options):
    words = ["experiment", "synthetic", "--networks", "cancer", "--rows", "500", "--command", command, *options]
    return CliRunner().invoke(main, [*words, "--out", str(out)], catch_exceptions=False)


def neighbours(rows, cells):
    """Yield all small tables over some cells, each with every table in which one row is replaced."""
    for cases in product(range(cells), repeat=rows):
        for i, other in product(range(rows), range(cells)):
            yield cases, (*cases[:i], other, *cases[i + 1 :])


def test_what_replacing_a_row_moves_is_counted_exactly(mechanisms):
    squares, distances = set(), set()
    somewhere = np.array([[0.7, 1.1], [0.1, 2.1]])
    for one, other in neighbours(3, 4):
        both = []
        for cases in (one, other):
            codes = np.array([divmod(case, 2) for case in cases])
            both.append(mechanisms.Table(codes, [2, 2], np.random.default_rng(0)).marginal((0, 1)))
        squares.add(float(((both[0] - both[1]) ** 2).sum()))
        distances.add(round(abs(float(np.abs(both[0] - somewhere).sum() - np.abs(both[1] - somewhere).sum())), 9))
    assert max(squares) == mechanisms.L2_SQUARED == 2
    assert max(distances) <= mechanisms.L1 == 2
    assert max(distances) > 1  # what is enough where a row is added or removed would not be


@pytest.mark.parametrize("rho", [1e-3, 0.25])
def test_a_mechanism_costs_what_is_charged(mechanisms, rho):
    assert mechanisms.L2_SQUARED / (2 * mechanisms.deviation(rho) ** 2) == pytest.approx(rho, rel=1e-12)
    epsilon, weight = math.sqrt(8 * rho), 3.0
    reach = mechanisms.L1 * weight
    worst = 0.0
    for moves in product((-reach, 0.0, reach), repeat=3):
        scores = np.array([1.0, 5.0, 2.0])
        before, after = (mechanisms.choice(s, weight, rho) for s in (scores, scores + np.array(moves)))
        losses = np.log(before / after)
        worst = max(worst, float(losses.max() - losses.min()))
    assert worst == pytest.approx(epsilon, rel=1e-9)  # a range of epsilon is epsilon^2/8 in zCDP


class Uniform:
    """A stand-in for the model: nothing is learnt, and large cliques are refused."""

    def __init__(self, sizes, rows):
        self.sizes, self.rows = sizes, rows

    def marginal(self, clique):
        shape = [self.sizes[c] for c in clique]
        return np.full(shape, self.rows / math.prod(shape))

    def fits(self, clique, megabytes):
        return len(clique) < 3

    def draw(self, rows, rng):
        return np.column_stack([rng.integers(0, size, rows) for size in self.sizes])


@pytest.mark.parametrize("method", ["mst", "aim"])
@pytest.mark.parametrize("rows", [40, 4000])
def test_all_that_is_measured_and_selected_adds_up_to_the_budget(mechanisms, monkeypatch, method, rows):
    charged, rho = [], 0.02
    select = mechanisms.Table.select
    seen = {}

    def spy(self, scores, weight, price, allowed=None):
        charged.append(price)
        return select(self, scores, weight, price, allowed)

    def fit(sizes, n, measurements, start):
        seen.update({id(m): m for m in measurements})
        return Uniform(sizes, n)

    monkeypatch.setattr(mechanisms.Table, "select", spy)
    rng = np.random.default_rng(rows)
    sizes = [2, 3, 4, 2]
    codes = np.column_stack([rng.integers(0, size, rows) ** 2 // size for size in sizes])
    data = mechanisms.Table(codes, sizes, rng)
    made = mechanisms.mst(data, rho, fit) if method == "mst" else mechanisms.aim(data, rho, fit, degree=3)
    measured = {id(m): m for m in data.measurements} | {i: m for i, m in seen.items() if len(m.clique) > 1}
    paid = sum(charged) + sum(mechanisms.L2_SQUARED / (2 * m.sigma.flat[0] ** 2) for m in measured.values())
    assert data.spent == pytest.approx(rho, rel=1e-12)
    assert paid == pytest.approx(rho, rel=1e-9)
    assert made.shape == codes.shape
    assert (made >= 0).all()
    assert (made < sizes).all()
    assert max(len(m.clique) for m in seen.values()) == 2


def test_mst_measures_a_tree_and_merges_rare_levels(mechanisms):
    rng = np.random.default_rng(1)
    codes = np.column_stack([rng.integers(0, 2, 5000), rng.choice(5, 5000, p=[0.5, 0.49, 0.005, 0.005, 0])])
    data = mechanisms.Table(codes, [2, 5], rng)
    for column in (0, 1):
        data.measure((column,), 1e-3)
    narrow, merged = mechanisms.compress(data)
    assert narrow.sizes == [2, 3]
    assert [levels.tolist() for levels in merged] == [[], [2, 3, 4]]
    assert narrow.marginal((1,)).tolist() == [*np.bincount(codes[:, 1])[:2], (codes[:, 1] > 1).sum()]
    one, two = narrow.measurements[1].sigma[[0, 2]]
    assert two == pytest.approx(math.sqrt(3) * one)


def test_the_workload_of_aim_is_weighted_by_what_it_shares(mechanisms):
    weights = mechanisms.workload(4, 3)
    assert len(weights) == 4 + 6 + 4
    whole = list(combinations(range(4), 3))
    assert weights[0, 1] == sum(len({0, 1} & set(clique)) for clique in whole) == 6
    assert weights[0, 1, 2] == max(weights.values()) == 9


def test_the_most_telling_runs_come_first():
    planned = plan([], [10_000, 100_000], [3.0, 0.3, 1.0], 3, [])
    assert len(planned) == len(set(planned)) == 7 * 2 * 3 * (4 * 3 + 1)
    first = planned[: 7 * 2 * 5]
    assert {(t.seed, t.epsilon) for t in first} == {(0, 1.0), (0, None)}
    assert list(dict.fromkeys(t.method for t in first)) == ["marginals", "none", "mst", "aim", "aim-triples"]
    assert [t.network for t in first[:7]] == ["cancer", "earthquake", "survey", "asia", "sachs", "child", "alarm"]
    second = planned[7 * 2 * 5 : 7 * 2 * 5 + 7 * 4 * 2]
    assert {(t.seed, t.rows, t.epsilon) for t in second} == {(0, 10_000, 0.3), (0, 10_000, 3.0)}
    assert {(t.rows, t.epsilon) for t in planned[-7 * 4 * 2 * 3 :]} == {(100_000, 0.3), (100_000, 3.0)}
    with pytest.raises(SettingError, match="methods"):
        plan([], [100], [1.0], 1, ["mwem"])
    with pytest.raises(SettingError, match="at least one"):
        plan([], [], [1.0], 1, [])


def test_a_budget_is_what_zcdp_allows():
    assert most(1.0) == limit_of(Currency.ZCDP, 1.0, 1e-6)
    assert most(None) == 0


def test_a_run_writes_everything_and_does_nothing_twice(tmp_path, stand_in):
    command = stand_in()
    ran = run(tmp_path, command, "--runs", "2", "--epsilons", "1,3")
    assert ran.exit_code == 0
    kept = (tmp_path / "runs.jsonl").read_text()
    assert len(kept.splitlines()) == 2 * (4 * 2 + 1)
    asked = (tmp_path / "asked").read_text().splitlines()
    assert len(asked) == 2 * (3 * 2 + 1)
    heads = (
        "marginals | not private + PC | not private + BIC | MST + PC | MST + BIC | AIM + PC | AIM + BIC | AIM, triples"
    )
    assert f"| network | rows | epsilon | {heads} + PC | AIM, triples + BIC |" in ran.stdout
    assert ran.stdout.count("| cancer | 500 |") == 2
    with (tmp_path / "synthetic.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert {line["runs"] for line in lines} == {"2"}
    found = {line["method"]: line for line in lines if line["epsilon"] != "3.0"}
    assert float(found["MST + PC"]["seconds"]) == 3
    assert found["MST + PC"]["skeleton_f1"] != found["AIM + PC"]["skeleton_f1"]
    assert found["MST + BIC"]["cpdag_f1"] == found["not private + BIC"]["cpdag_f1"]  # it hands the rows back
    assert "CPDAG F1" in (tmp_path / "cpdag_f1-500.svg").read_text()
    again = run(tmp_path, command, "--runs", "2", "--epsilons", "1,3")
    assert again.stdout == ran.stdout
    assert (tmp_path / "runs.jsonl").read_text() == kept
    more = run(tmp_path, command, "--runs", "3", "--methods", "mst", "--epsilons", "1")
    assert "(3)" in more.stdout
    assert len((tmp_path / "asked").read_text().splitlines()) == len(asked) + 1


def test_what_does_not_finish_is_a_result(tmp_path, stand_in):
    command = stand_in("time.sleep(60 if method == 'aim' else 0)")
    once = ["--runs", "1", "--epsilons", "1", "--methods"]
    run(tmp_path, command, *once, "mst")
    start = time.monotonic()
    ran = run(tmp_path, command, *once, "mst,aim", "--limit", "0.5")
    assert time.monotonic() - start < 20
    assert ran.exit_code == 0
    assert ran.stdout.count("| 1 did not finish | 1 did not finish |") == 1
    kept = KeptRuns(tmp_path / "runs.jsonl")
    by_method = {task.method: record for task, record in kept.finished(Task).items()}
    assert (by_method["aim"]["failed"], by_method["mst"]["failed"]) == (TIME_LIMIT, "")
    assert len(finished(kept, 0.5)) == 2
    assert [task.method for task in finished(kept, 1)] == ["mst"]
    lines = table(kept.finished(Task))
    assert [(line["method"], line["runs"], line["did_not_finish"]) for line in lines] == [
        ("MST + PC", 1, 0),
        ("MST + BIC", 1, 0),
        ("AIM + PC", 0, 1),
        ("AIM + BIC", 0, 1),
    ]
    assert not charts(lines)


def test_a_command_that_spends_too_much_or_fails_is_refused(stand_in, tmp_path):
    task = Task("cancer", 300, 1.0, "mst", 0)
    with pytest.raises(BudgetError, match="more than"):
        perform(task, stand_in("rho *= 1.0001"))
    with pytest.raises(SettingError, match="no room"):
        perform(task, stand_in("print('no room', flush=True); continue"))
    with pytest.raises(SettingError, match="ended"):
        perform(task, stand_in("sys.exit(1)"))
    with pytest.raises(SettingError, match="make synthetic"):
        perform(task, str(tmp_path / "nothing"))


def test_what_is_handed_over_cannot_exceed_the_budget_in_floats(stand_in):
    record = perform(Task("cancer", 300, 1.0, "mst", 0), stand_in("rho *= 1 + 1e-12"))
    assert Fraction(record["spent"]) <= most(1.0)
    assert record["spent"] == pytest.approx(float(most(1.0)), rel=1e-8)


def test_an_empty_table_has_heads_only():
    assert len(list(as_text([]))) == 2
