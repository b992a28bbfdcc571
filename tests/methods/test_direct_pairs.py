"""Edges that a graph leaves without a direction, asked about by shape: for a share that is kept for it."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli import main
from discreet.errors import BudgetError, ReleaseError, SettingError
from discreet.privacy.budget import Budget, Cost
from discreet.release.direction import FAMILIES


def frame(rows=20_000):
    rng = np.random.default_rng(5)
    dose = rng.uniform(0, 10, rows)
    reply = np.sin(dose) + rng.normal(0, 0.3, rows)
    return pd.DataFrame({"dose": dose, "reply": reply, "site": rng.choice(["n", "s"], rows)})


def domain(rows=20_000):
    columns = {"dose": dc.Numeric(bounds=(0.0, 10.0)), "reply": dc.Numeric(bounds=(-2.0, 2.0))}
    return dc.Domain({**columns, "site": dc.Categorical(categories=("n", "s"))}, rows=rows)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_an_open_edge_is_read_and_the_graph_stays_as_it_is(delta):
    found = dc.discover(frame(), domain=domain(), epsilon=2.0, delta=delta, direct_pairs=True)
    assert found.graph.undirected == {frozenset(("dose", "reply"))}
    (pair,) = found.directions
    assert (pair.cause, pair.effect) == ("dose", "reply")
    assert pair.right > 0.9
    last = found.privacy.spent[-1]
    assert last.statistic == "1 contingency tables (2-way)"
    total = sum(spent.amount for spent in found.privacy.spent)
    assert last.amount == pytest.approx(total / 5, rel=1e-6)
    again = dc.Discovery.from_json(found.to_json())
    assert again.directions == found.directions
    assert dc.search_again(again, search_by="pc").directions == found.directions


def test_without_open_edges_between_columns_with_an_order_nothing_is_spent_on_them():
    rng = np.random.default_rng(3)
    a = rng.integers(0, 3, 5_000)
    rows = pd.DataFrame({"a": a.astype(str), "b": ((a + (rng.random(5_000) < 0.1)) % 3).astype(str)})
    plain = dc.Domain({c: dc.Categorical(categories=("0", "1", "2")) for c in "ab"}, rows=5_000)
    found = dc.discover(rows, domain=plain, epsilon=4.0, direct_pairs=True)
    assert found.graph.undirected
    assert found.directions == ()
    assert dc.Discovery.from_json(found.to_json()).directions == ()
    assert dc.discover(rows, domain=plain, epsilon=4.0).directions is None


def test_declared_bins_are_read_as_they_are():
    rng = np.random.default_rng(4)
    x = rng.integers(0, 6, 20_000)
    y = np.clip(np.abs(x - 2) * 2 + rng.integers(0, 2, 20_000), 0, 7)
    sizes = {"x": 6, "y": 8}
    ordered = {n: dc.Categorical(categories=tuple(map(str, range(k))), ordered=True) for n, k in sizes.items()}
    table = pd.DataFrame({"x": x.astype(str), "y": y.astype(str)})
    found = dc.discover(table, domain=dc.Domain(ordered, rows=20_000), epsilon=2.0, direct_pairs=True)
    (pair,) = found.directions
    assert pair.table.array.shape == (6, 8)
    assert pair.cause == "x"


def test_methods_that_do_not_measure_are_refused_before_anything_is_read():
    with pytest.raises(SettingError, match="direct-pairs"):
        dc.discover("no such file", domain=domain().with_bins(4), epsilon=1.0, method="priv-pc", direct_pairs=True)


def test_what_is_kept_cannot_be_charged():
    budget = Budget(epsilon=1.0, delta=0.0)
    budget.keep(budget.left / 4)
    assert budget.left == budget.limit * 3 / 4
    half = Cost({budget.currency: budget.limit / 2})
    budget.charge(half, statistic="s", mechanism="m")
    with pytest.raises(BudgetError):
        budget.charge(half, statistic="s", mechanism="m")
    for amount in (Fraction(-1), budget.limit):
        with pytest.raises(SettingError):
            budget.keep(amount)
    budget.keep(Fraction(0))
    budget.charge(half, statistic="s", mechanism="m")
    assert budget.left == 0
    assert budget.exhausted


def test_from_the_command_line(tmp_path):
    frame().to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "domain.yaml").write_text(domain().to_yaml(), encoding="utf-8")
    typed = ["discover", str(tmp_path / "rows.csv"), "--domain", str(tmp_path / "domain.yaml"), "--epsilon", "2"]
    ran = CliRunner().invoke(main, [*typed, "--direct-pairs", "--out", str(tmp_path / "out")])
    assert ran.exit_code == 0, ran.stderr
    shown = " ".join(ran.stdout.split())
    assert "by shape: dose causes reply" in shown
    assert FAMILIES[:60] in shown
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "by shape: dose causes reply" in page
    assert "directions by shape" in page
    release = str(tmp_path / "out" / "release.json")
    assert json.loads((tmp_path / "out" / "release.json").read_text(encoding="utf-8"))["directions"]
    again = CliRunner().invoke(main, ["discover", release, "--direct-pairs"])
    assert again.exit_code == 2
    assert "direct-pairs" in again.stderr
    exact = CliRunner().invoke(main, [*typed[:4], "--method", "pc", "--not-private", "--direct-pairs"])
    assert exact.exit_code == 2


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("margin", float("inf")),
        ("not_flipped", 2.0),
        ("x", "nobody"),
        ("table", {"counts": [[1]], "noise": 1, "whole": 1}),
    ],
)
def test_damaged_directions_are_refused(key, value):
    found = dc.discover(frame(5_000), domain=domain(5_000), epsilon=4.0, direct_pairs=True)
    data = json.loads(found.to_json())
    data["directions"][0][key] = value
    with pytest.raises(ReleaseError):
        dc.Discovery.from_json(json.dumps(data))
