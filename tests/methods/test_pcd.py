"""The method `pcd`: what it finds, what it spends, what it refuses, and how it is reached."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli import main
from discreet.data.load import load
from discreet.domain import Domain
from discreet.domain.columns import Categorical, Numeric
from discreet.errors import BudgetError, DoubtWarning, RoomError, SettingError
from discreet.methods.discover import discover_in
from discreet.methods.pcd import Pcd
from discreet.methods.registry import budget_for, settings_for
from discreet.privacy.accounting import Currency
from discreet.release.discovery import Discovery
from discreet.room import Room
from discreet.simulation.nonlinear import nonlinear
from discreet.statistics.pairwise_hsic import LEAST_ROWS
from discreet.testing import SeededNoise


def chain(rows, seed=0):
    """x -> z -> y, and w by itself."""
    rng = np.random.default_rng(seed)
    x, w = rng.uniform(-1, 1, rows), rng.uniform(-1, 1, rows)
    z = np.sin(2 * x) + 0.2 * rng.normal(size=rows)
    y = z**2 - z + 0.2 * rng.normal(size=rows)
    bounds = {"x": (-1, 1), "z": (-2, 2), "y": (-1, 5), "w": (-1, 1)}
    return {"x": x, "z": z, "y": y, "w": w}, Domain({n: Numeric(bounds=b) for n, b in bounds.items()}, rows=rows)


def test_a_chain_is_found():
    data, domain = chain(5000)
    found = dc.discover(data, domain=domain, epsilon=1.0, method=Pcd(alpha=1e-6))
    assert found.graph.skeleton == {frozenset("xz"), frozenset("yz")}
    assert not found.graph.directed
    pairs = dc.discover(data, domain=domain, epsilon=1.0, method=Pcd(max_order=0, alpha=1e-6))
    assert pairs.graph.skeleton == {frozenset("xz"), frozenset("yz"), frozenset("xy")}


def test_common_effects_are_directed():
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-1, 1, (2, 5000))
    data = {"x": x, "y": y, "z": np.tanh(2 * (x + y)) + 0.2 * rng.normal(size=5000)}
    domain = Domain(
        {"x": Numeric(bounds=(-1, 1)), "y": Numeric(bounds=(-1, 1)), "z": Numeric(bounds=(-2, 2))}, rows=5000
    )
    found = dc.discover(data, domain=domain, epsilon=1.0, method=Pcd(alpha=1e-6))
    assert found.graph.directed == {("x", "z"), ("y", "z")}


@pytest.mark.parametrize(("delta", "currency"), [(1e-6, Currency.GDP), (0.0, Currency.PURE)])
def test_all_of_the_budget_is_spent_and_no_more(delta, currency):
    data, domain = chain(500)
    room = Room(load(data, domain), domain, budget_for(Pcd(), 2.0, delta))
    assert room.budget.currency is currency
    found = discover_in(room, Pcd())
    assert [entry.statistic for entry in room.budget.entries] == [
        "mean features of 4 columns",
        "dependence of pairs of 4 columns",
    ]
    assert 0 <= room.budget.left < room.budget.limit / 1000
    assert found.privacy.private
    assert found.settings["pairs"] == 6
    with pytest.raises(BudgetError, match="already spent"):
        discover_in(room, Pcd())


def test_knowledge_saves_budget_and_is_kept_to():
    data, domain = chain(2000)
    known = dc.Knowledge(required=[("w", "x")], forbidden=[("x", "z"), ("z", "x"), ("y", "w"), ("w", "y")])
    found = dc.discover(data, domain=domain, epsilon=5.0, method="pcd", knowledge=known)
    assert ("w", "x") in found.graph.directed
    assert frozenset("xz") not in found.graph.skeleton
    assert found.settings["pairs"] == 4
    none = dc.Knowledge(forbidden=[(a, b) for a in "xyzw" for b in "xyzw" if a != b])
    room = Room(load(data, domain), domain, budget_for(Pcd(), 1.0, 0.0))
    assert not discover_in(room, Pcd(), knowledge=none).graph.skeleton
    assert not room.budget.entries


def test_what_can_show_nothing_is_refused_and_nothing_is_spent():
    data, domain = chain(100)
    room = Room(load(data, domain), domain, budget_for(Pcd(), 0.1, 0.0))
    with pytest.raises(BudgetError, match=r"no dependence can stand out.*epsilon of about [0-9.]+, or [0-9,]+ rows"):
        discover_in(room, Pcd())
    assert not room.budget.entries
    with pytest.warns(DoubtWarning, match="stand out of the noise"):
        dc.discover(data, domain=domain, epsilon=2.0, delta=0.0, method="pcd")


def test_the_epsilon_that_is_named_is_enough():
    data, domain = chain(100)
    with pytest.raises(BudgetError) as refused:
        dc.discover(data, domain=domain, epsilon=0.1, delta=0.0, method="pcd")
    enough = float(str(refused.value).split("epsilon of about ")[1].split(",")[0])
    with pytest.warns(DoubtWarning):
        dc.discover(data, domain=domain, epsilon=1.1 * enough, delta=0.0, method="pcd")


@pytest.mark.parametrize("column", [Categorical(categories=("a", "b")), Numeric(bounds=(0, 1), bins=3)])
def test_only_numbers_are_taken(column):
    domain = Domain({"a": Numeric(bounds=(0, 1)), "b": column}, rows=100)
    with pytest.raises(SettingError, match="'b': this method takes numbers"):
        dc.discover({"a": [0.5] * 100, "b": ["a"] * 100}, domain=domain, epsilon=1.0, method="pcd")
    with pytest.raises(SettingError, match="takes numbers"):
        settings_for("pcd", domain)


def test_rows_and_settings_are_checked():
    data, domain = chain(LEAST_ROWS - 1)
    with pytest.raises(SettingError, match="at least 50"):
        dc.discover(data, domain=domain, epsilon=50.0, method="pcd", delta=0.0)
    for wrong in ({"alpha": 0.0}, {"alpha": 0.3}, {"max_order": 2}, {"width": 0.0}):
        with pytest.raises(SettingError):
            Pcd(**wrong)
    with pytest.raises(SettingError, match="no such setting"):
        Pcd().changed(edges=3)


def test_noise_that_can_be_predicted_is_stamped():
    data, domain = chain(500)
    room = Room(load(data, domain), domain, budget_for(Pcd(), 5.0, 0.0), noise=SeededNoise(0))
    assert not discover_in(room, Pcd()).privacy.private
    with pytest.raises(RoomError):
        room.__copy__()


@pytest.mark.parametrize("seed", range(3))
def test_constant_columns_and_values_at_the_bounds_have_answers(seed):
    domain = Domain({n: Numeric(bounds=(0.0, 1.0)) for n in "abc"}, rows=200)
    rng = np.random.default_rng(seed)
    data = {"a": np.zeros(200), "b": rng.choice([-5.0, 7.0], 200), "c": rng.uniform(0, 1, 200)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtWarning)
        found = dc.discover(data, domain=domain, epsilon=8.0, delta=0.0, method=Pcd(alpha=1e-7))
    assert not found.graph.skeleton


def test_independent_columns_are_called_dependent_at_the_level():
    """Four independent columns, six pairs a run: at most about one pair in twenty."""
    rng = np.random.default_rng(0)
    edges = 0
    for run in range(40):
        n = 400
        data = {name: rng.normal(size=n) if i % 2 else rng.uniform(-3, 3, n) for i, name in enumerate("abcd")}
        domain = Domain({name: Numeric(bounds=(-3.0, 3.0)) for name in data}, rows=n)
        noise = SeededNoise(run)
        room = Room(load(data, domain), domain, budget_for(Pcd(), 4.0, 0.0), noise=noise)
        edges += len(discover_in(room, Pcd(max_order=0)).graph.skeleton)
    assert edges / 240 < 0.075


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("numbers")
    model = nonlinear(dc.network("cancer"), np.random.default_rng(0))
    pd.DataFrame(model.sample(3000, np.random.default_rng(1))).to_csv(path / "data.csv", index=False)
    (path / "domain.yaml").write_text(model.domain(3000).to_yaml())
    return path


def command(folder, *args):
    given = ["discover", folder / "data.csv", "--domain", folder / "domain.yaml", "--method", "pcd", *args]
    return CliRunner().invoke(main, [str(a) for a in given])


def test_the_command_line_finds_writes_and_reads_back(folder):
    result = command(folder, "--epsilon", 1, "--json", "--out", folder / "o")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["method"] == "pcd"
    assert told["privacy"]["private"] is True
    assert len(told["privacy"]["spent"]) == 2
    again = Discovery.load(folder / "o" / "release.json")
    assert again.graph.to_dict()["edges"]
    assert again.settings["max_order"] == 1
    assert command(folder, "--epsilon", 1).exit_code == 0
    shown = CliRunner().invoke(main, ["discover", str(folder / "o" / "release.json")])
    assert shown.exit_code == 2
    assert "no tables" in shown.stderr


def test_exit_codes(folder):
    assert command(folder, "--epsilon", 0.001).exit_code == 3
    assert command(folder, "--epsilon", 1, "--edges", 3).exit_code == 2
    assert command(folder, "--epsilon", 1, "--max-order", 2).exit_code == 2
    assert command(folder, "--epsilon", 1, "--max-order", 0, "--alpha", 0.1).exit_code == 0


def test_many_columns_lower_the_level():
    assert Pcd().level(5) == 0.05
    assert Pcd().level(37) == 0.5 / 36
    assert Pcd(alpha=0.1).level(37) == 0.1
    data, domain = chain(500)
    assert dc.discover(data, domain=domain, epsilon=5.0, method="pcd").settings["alpha"] == 0.05
