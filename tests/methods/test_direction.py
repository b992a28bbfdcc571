"""Direction of cause between two columns: what is found, what is refused, what is said."""

from __future__ import annotations

import itertools
import json
import math
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli import main
from discreet.data.memory import MemoryTable
from discreet.errors import DoubtWarning, InputError, ReleaseError, SettingError
from discreet.methods.direction import NAMES, curve_bins, direction_in
from discreet.release.direction import FAMILIES, NOT_TRUTH, Direction, Directions
from support.pairs import coded


def simulated(number, rows, rng, noise="uniform"):
    """Pairs of which the first causes the second, with additive noise."""
    functions = (lambda x: np.tanh(2 * x), lambda x: x**3, lambda x: np.sin(2 * x))
    for i in range(number):
        f = functions[i % 3]
        x = rng.uniform(-1, 1, rows)
        shift = rng.uniform(-0.2, 0.2, rows) if noise == "uniform" else rng.normal(0, 0.1, rows)
        yield x, 0.8 * f(x) / np.abs(f(np.linspace(-1, 1, 1001))).max() + shift


def judged(x, y, epsilon=1.0, score="reci", **settings):
    """Two columns from -1 to 1: what is found, and the room."""
    fine = {"bins": 4, "at": "quantiles"} if score == "copula" else {}
    domain = dc.Domain({c: dc.Numeric(bounds=(-1.0, 1.0), **fine) for c in ("a", "b")}, rows=len(x))
    codes = {"a": coded(x), "b": coded(y)}
    if fine:
        codes = {name: (column.astype(int) * 1_024 // 65_534).astype(np.uint16) for name, column in codes.items()}
    table = MemoryTable(codes, {name: domain.size(name) for name in domain})
    room = dc.Room(table, domain, dc.Budget(epsilon=epsilon, delta=0))
    return direction_in(room, ("a", "b"), score=score, **settings), room


@pytest.mark.parametrize("score", ["copula", "reci"])
@pytest.mark.parametrize("noise", ["uniform", "gaussian"])
def test_simulated_pairs_are_told_apart(noise, score):
    rng = np.random.default_rng(7)
    right = []
    for i, (x, y) in enumerate(simulated(60, 2_000, rng, noise)):
        pair = (y, x) if i % 2 else (x, y)
        found, _ = judged(*pair, score=score, sure=0.5)
        right.append(found.pairs[0].cause == ("b" if i % 2 else "a"))
    assert np.mean(right) >= 0.85


@pytest.mark.parametrize("score", list(NAMES))
def test_with_a_large_budget_errors_and_kernels_find_a_clear_direction(score):
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, 3_000)
    found, room = judged(x, x**3 * 0.8 + rng.uniform(-0.1, 0.1, 3_000), epsilon=2_000.0, score=score)
    assert room.budget.limit * 99 / 100 < room.budget.spent <= room.budget.limit
    if score not in ("kendall", "spearman", "iqr"):  # a curve's residuals do not rise or fall; widths speak of shapes
        assert found.pairs[0].cause == "a"


def test_what_is_said_comes_from_the_noisy_margin_and_the_public_scale():
    found = Direction("x", "y", "reci", margin=-0.02, scale=0.01, wanted=0.9)
    assert found.sure == pytest.approx(1 - math.exp(-2) / 2)
    assert (found.cause, found.effect) == ("y", "x")
    assert Direction("x", "y", "reci", -0.01, 0.01, 0.9).cause is None
    assert Direction("x", "y", "reci", 0.0, 0.01, 0.5).cause is None
    assert Direction("x", "y", "iqr", 0.3, None, 0.5).cause == "x"
    assert Direction("x", "y", "iqr", 0.3, None, 0.9).sure is None
    assert Direction("x", "y", "iqr", 0.3, None, 0.9).doubt == "this score cannot say how sure it is"
    clear = Direction("x", "y", "reci", 1.0, 0.01, 0.9)
    assert clear.doubt is None
    for doubtful in (replace(clear, blurred=True), replace(clear, flat=True), replace(clear, margin=0.001)):
        assert doubtful.cause is None
        assert doubtful.doubt in ("the curves are mostly noise", "the curves hardly rise or fall", "too close to call")
        assert replace(doubtful, wanted=0.5).cause == "x"


def test_the_stated_probability_is_right_on_average():
    """If margins lie evenly around 0, the share of signs that the noise leaves alone is what is stated."""
    rng = np.random.default_rng(3)
    true = rng.uniform(-50, 50, 400_000)
    noisy = true + rng.laplace(0, 1, true.size)
    near = np.abs(noisy) < 3
    stated = 1 - np.exp(-np.abs(noisy[near])) / 2
    assert np.mean(np.sign(noisy[near]) == np.sign(true[near])) == pytest.approx(stated.mean(), abs=0.01)


def test_constant_and_equal_columns_are_defined_and_cost_what_they_should():
    for x, y in ((np.zeros(100), np.zeros(100)), (np.linspace(-1, 1, 100),) * 2, (np.zeros(100), np.ones(100))):
        for score in NAMES:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DoubtWarning)
                found, room = judged(x, y, epsilon=4.0, score=score)
            assert math.isfinite(found.pairs[0].margin)
            assert room.budget.spent <= 4


@pytest.mark.parametrize("epsilon", [0.25, 1.0, 1 / 3])
@pytest.mark.parametrize("number", [1, 3, 5, 6, 7])
@pytest.mark.parametrize("score", ["copula", "reci", "iqr"])
def test_the_budget_covers_any_number_of_pairs(number, epsilon, score):
    names = [f"c{i}" for i in range(number + 1)]
    fine = {"bins": 4, "at": "quantiles"} if score == "copula" else {}
    domain = dc.Domain({c: dc.Numeric(bounds=(-1.0, 1.0), **fine) for c in names}, rows=50)
    table = MemoryTable({c: np.zeros(50, dtype=np.uint16) for c in names}, {c: domain.size(c) for c in names})
    room = dc.Room(table, domain, dc.Budget(epsilon=epsilon, delta=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtWarning)
        found = direction_in(room, *itertools.pairwise(names), score=score)
    assert len(found.pairs) == number
    assert 0.999 * epsilon < room.budget.spent <= room.budget.limit


@pytest.mark.parametrize(
    ("score", "words"),
    [("reci", "the curves hardly rise or fall"), ("copula", "the columns hardly depend on each other")],
)
def test_columns_that_do_not_depend_on_each_other_have_no_direction(score, words):
    rng = np.random.default_rng(6)
    told, doubts = [], []
    for _ in range(20):
        found, _ = judged(rng.uniform(-1, 1, 5_000), 0.1 * rng.uniform(-1, 1, 5_000), score=score)
        told.append(found.pairs[0].cause)
        doubts.append(found.pairs[0].doubt)
    assert told.count(None) >= 18
    assert doubts.count(words) >= 18
    x = rng.uniform(-1, 1, 5_000)
    assert judged(x, np.sin(4 * x) + 0.2 * rng.uniform(-1, 1, 5_000), score=score)[0].pairs[0].cause == "a"


def test_bins_are_for_tables_and_do_not_count():
    rng = np.random.default_rng(8)
    x = rng.uniform(-1, 1, 3_000)
    frame = pd.DataFrame({"a": x, "b": np.sin(4 * x) * 0.8 + rng.uniform(-0.1, 0.1, 3_000)})
    for column in (dc.Numeric(bounds=(-1.0, 1.0), bins=3), dc.Numeric(bounds=(-1.0, 1.0), bins=4, at="quantiles")):
        domain = dc.Domain({"a": column, "b": column}, rows=3_000)
        assert dc.direction(frame, ("a", "b"), domain=domain, epsilon=5.0).pairs[0].cause == "a"


def test_several_pairs_share_one_budget(tmp_path):
    rng = np.random.default_rng(2)
    x = rng.uniform(-1, 1, 4_000)
    frame = pd.DataFrame({"a": x, "b": np.tanh(2 * x) * 0.8, "c": rng.uniform(-1, 1, 4_000), "unused": "secret"})
    domain = dc.Domain({c: dc.Numeric(bounds=(-1.0, 1.0)) for c in "abc"}, rows=4_000)
    found = dc.direction(frame, ("a", "b"), ("b", "c"), domain=domain, epsilon=2.0)
    assert [pair.x + pair.y for pair in found.pairs] == ["ab", "bc"]
    assert sum(s.amount for s in found.privacy.spent) <= 2.0
    assert len(found.privacy.spent) == 2  # quartiles of all columns, and all tables
    assert found.to_dict()["note"] == FAMILIES
    asked = dc.direction(frame, ("a", "b"), ("b", "c"), domain=domain, epsilon=2.0, score="reci")
    assert len(asked.privacy.spent) == 4
    assert asked.to_dict()["note"] == NOT_TRUTH


def test_what_cannot_be_asked_is_refused_before_anything_is_read():
    domain = dc.Domain(
        {
            "a": dc.Numeric(bounds=(0.0, 1.0)),
            "b": dc.Numeric(bounds=(0.0, 1.0)),
            "plain": dc.Categorical(categories=("x", "y")),
            "single": dc.Categorical(categories=("x",), ordered=True),
            "few": dc.Categorical(categories=("x", "y", "z"), ordered=True),
            "many": dc.Categorical(categories=tuple(map(str, range(257))), ordered=True),
            "gaps": dc.Numeric(bounds=(0.0, 1.0), bins=4, missing="none"),
        },
        rows=100,
    )

    def refused(match, *pairs, **settings):
        with pytest.raises(InputError, match=match):
            dc.direction("no such file", *pairs, **{"domain": domain, "epsilon": 1.0, **settings})

    refused("two columns")
    refused("different", ("a", "a"))
    refused("no order", ("a", "plain"))
    refused("single value", ("a", "single"))
    refused("from 4 to 256 categories", ("a", "few"))
    refused("from 4 to 256 categories", ("many", "a"))
    refused("a row without both values is absent", ("a", "gaps"), score="hsic")
    refused("not declared", ("a", "nowhere"))
    refused("twice", ("a", "b"), ("b", "a"))
    refused("score", ("a", "b"), score="best")
    refused("sure", ("a", "b"), sure=1.0)
    refused("sure", ("a", "b"), sure="0.9")
    refused("score", ("a", "b"), score=["reci"])
    for odd in ("ab", ("a",), ("a", "b", "c"), None, ("a", 1)):
        refused("two names", odd)
    refused("rows", ("a", "b"), domain=domain.with_rows(9))
    refused("epsilon", ("a", "b"), epsilon=0.0)
    refused("takes at most", ("a", "b"), domain=domain.with_rows(1 << 25), score="hsic")
    close = dc.Numeric(bounds=(1.0, 1.0 + 2.0**-50))
    refused("too close together", ("a", "c"), domain=dc.Domain({"a": domain["a"], "c": close}, rows=100))
    narrow = dc.Domain({c: domain[c] for c in "ab"}, rows=100)
    table = MemoryTable({c: np.zeros(100, dtype=np.uint16) for c in "ab"}, dict.fromkeys("ab", 65534))
    room = dc.Room(table, narrow, dc.Budget(epsilon=1, delta=1e-6))
    with pytest.raises(SettingError, match="pure"):
        direction_in(room, ("a", "b"))


def test_little_data_is_said_before_anything_is_spent():
    for score in ("copula", "reci"):
        with pytest.warns(DoubtWarning, match="mostly noise"):
            judged(np.linspace(-1, 1, 50), np.linspace(-1, 1, 50), score=score)
    assert curve_bins(2_000, 1.0) == 6
    assert curve_bins(10, 0.1) == 4
    assert curve_bins(10**7, 1.0) == 16


def test_infinities_are_clipped_and_missing_numbers_are_refused():
    x = np.linspace(-1, 1, 40)
    domain = dc.Domain({c: dc.Numeric(bounds=(-1.0, 1.0)) for c in "ab"}, rows=40)
    frame = pd.DataFrame({"a": np.where(x > 0.9, np.inf, x), "b": x})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtWarning)
        assert len(dc.direction(frame, ("a", "b"), domain=domain, epsilon=1.0).pairs) == 1
    frame.loc[3, "a"] = np.nan
    with pytest.raises(InputError, match="'a'"):
        dc.direction(frame, ("a", "b"), domain=domain, epsilon=1.0)


@pytest.mark.parametrize("score", ["copula", "reci", "kendall", "iqr"])
def test_rows_without_both_values_are_absent(score):
    rng = np.random.default_rng(4)
    x = rng.uniform(-1, 1, 20_000)
    frame = pd.DataFrame({"a": x, "b": x**3 + rng.uniform(-0.1, 0.1, 20_000)})
    frame["b"] = frame["b"].mask(rng.random(20_000) < 0.3)
    frame["a"] = frame["a"].mask(rng.random(20_000) < 0.2, "unreadable")
    columns = {
        "a": dc.Numeric(bounds=(-1.0, 1.0), bins=4, other="else"),
        "b": dc.Numeric(bounds=(-1.1, 1.1), missing="none"),
    }
    domain = dc.Domain(columns, rows=20_000)
    found = dc.direction(frame, ("a", "b"), domain=domain, epsilon=20.0, score=score, sure=0.5)
    assert found.rows == 20_000
    assert score == "iqr" or found.pairs[0].cause == "a"  # spreads alone do not tell here, of whole rows neither


def test_from_the_command_line(tmp_path):
    rng = np.random.default_rng(4)
    x = rng.uniform(0, 10, 5_000)
    pd.DataFrame({"dose": x, "reply": np.sqrt(x) + rng.uniform(-0.3, 0.3, 5_000)}).to_csv(
        tmp_path / "rows.csv", index=False
    )
    domain = dc.Domain({"dose": dc.Numeric(bounds=(0.0, 10.0)), "reply": dc.Numeric(bounds=(-1.0, 4.0))}, rows=5_000)
    (tmp_path / "domain.yaml").write_text(domain.to_yaml(), encoding="utf-8")
    base = ["direction", str(tmp_path / "rows.csv"), "dose", "reply", "--domain", str(tmp_path / "domain.yaml")]
    result = CliRunner().invoke(main, [*base, "--epsilon", "2", "--json", "--out", str(tmp_path / "direction.json")])
    assert result.exit_code == 0, result.stderr
    data = json.loads(result.stdout)
    assert data["privacy"] | {"spent": None, "ledger": None} == {
        "epsilon": 2.0,
        "delta": 0.0,
        "neighbors": "replace-one-row",
        "unit": "row",
        "private": True,
        "spent": None,
        "ledger": None,
    }
    assert 0.5 <= data["pairs"][0]["not_flipped"] <= 1
    assert 0.5 <= data["pairs"][0]["right"] <= 1
    assert "not the probability" in data["note"]
    assert Directions.from_json(result.stdout).to_dict() == data
    assert json.loads((tmp_path / "direction.json").read_text(encoding="utf-8")) == data
    shown = CliRunner().invoke(main, [*base, "--epsilon", "2", "--score", "iqr"])
    assert "dose" in shown.stdout
    assert "not the probability that the causal claim is true" in " ".join(shown.stderr.split())
    for place in (tmp_path, tmp_path / "nowhere" / "x.json"):
        missing = CliRunner().invoke(main, [*base, "--epsilon", "2", "--out", str(place)])
        assert missing.exit_code == 2
        assert not missing.stdout
    for wrong in (["--epsilon", "0"], ["--epsilon", "1", "--sure", "2"], ["--epsilon", "1", "--score", "x"], []):
        assert CliRunner().invoke(main, [*base, *wrong]).exit_code == 2
    assert CliRunner().invoke(main, [*base[:3], *base[4:], "--epsilon", "1"]).exit_code == 2


def test_halves_take_a_word_and_are_stamped(tmp_path):
    rng = np.random.default_rng(4)
    x = rng.uniform(-1, 1, 400)
    pd.DataFrame({"a": x, "b": x**3}).to_csv(tmp_path / "rows.csv", index=False)
    domain = dc.Domain({c: dc.Numeric(bounds=(-1.0, 1.0)) for c in "ab"}, rows=400)
    (tmp_path / "domain.yaml").write_text(domain.to_yaml(), encoding="utf-8")
    base = ["direction", str(tmp_path / "rows.csv"), "a", "b", "--domain", str(tmp_path / "domain.yaml")]
    base += ["--epsilon", "1", "--json"]
    for wrong in (["--protects", "test-half"], ["--not-private"]):
        assert CliRunner().invoke(main, [*base, *wrong]).exit_code == 2
    several = [*base[:4], "b", "a", *base[4:], "--protects", "test-half", "--not-private"]
    assert "one pair at a time" in CliRunner().invoke(main, several).stderr
    shown = CliRunner().invoke(main, [*base[:-1], "--protects", "test-half", "--not-private"])
    assert shown.stdout.startswith("NOT PRIVATE")
    halves = [("test-half", "reci"), ("test-half", "hsic"), ("training-half", "kendall"), ("both-halves", "iqr")]
    for protects, score in halves:
        asked = [*base, "--protects", protects, "--score", score, "--not-private", "--out", str(tmp_path / "half.json")]
        result = CliRunner().invoke(main, asked)
        assert result.exit_code == 0, result.stderr
        data = json.loads(result.stdout)
        assert data["privacy"]["private"] is False
        assert data["privacy"]["epsilon"] is None
        assert "NOT PRIVATE" in data["privacy"]["warning"]
        assert "NOT PRIVATE" in result.stderr


def test_categories_with_an_order_are_read_and_columns_may_come_in_any_order():
    rng = np.random.default_rng(9)
    x = rng.integers(0, 12, 6_000)
    y = np.clip((x - 6) ** 2 // 4 + rng.integers(0, 3, 6_000), 0, 9)
    levels = {"late": dc.Categorical(categories=tuple(map(str, range(12))), ordered=True)}
    levels["early"] = dc.Categorical(categories=tuple(map(str, range(10))), ordered=True, missing="none")
    frame = pd.DataFrame({"late": x, "early": pd.array(y, dtype="Int64")})
    frame.loc[:500, "early"] = pd.NA
    domain = dc.Domain(levels, rows=6_000)
    for pair in (("late", "early"), ("early", "late")):
        found = dc.direction(frame, pair, domain=domain, epsilon=4.0)
        assert found.pairs[0].cause == "late"
        assert len(found.privacy.spent) == 1  # nothing has to be found out about bins
        assert not found.pairs[0].table.whole


def test_what_is_read_does_not_change_with_units():
    rng = np.random.default_rng(10)
    x = rng.uniform(1, 10, 4_000)
    y = np.sin(x) + rng.normal(0, 0.3, 4_000)
    plain = pd.DataFrame({"a": x, "b": y})
    bent = pd.DataFrame({"a": np.log(x), "b": np.exp(3 * y)})
    for frame in (plain, bent):
        bounds = {name: dc.Numeric(bounds=(float(frame[name].min()), float(frame[name].max()))) for name in "ab"}
        assert dc.direction(frame, ("a", "b"), domain=dc.Domain(bounds, rows=4_000), epsilon=4.0).pairs[0].cause == "a"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("margin", 10**400),
        ("sure_wanted", float("nan")),
        ("noise_scale", 0.0),
        ("noise_scale", -1.0),
        ("y", "a"),
        ("curves", {"y_over_x": [float("inf")], "x_over_y": []}),
        ("table", {"counts": [[10**40]], "noise": 1.0, "whole": True}),
        ("table", {"counts": [[1, 2]], "noise": 10**400, "whole": True}),
    ],
)
def test_damaged_results_are_refused(key, value):
    rng = np.random.default_rng(1)
    data = json.loads(judged(rng.uniform(-1, 1, 500), rng.uniform(-1, 1, 500), score="copula")[0].to_json())
    assert Directions.from_json(json.dumps(data)).to_dict() == data
    for wrong in ({**data, "pairs": [{**data["pairs"][0], key: value}]}, {**data, "pairs": []}, {**data, "rows": 0}):
        with pytest.raises(ReleaseError):
            Directions.from_json(json.dumps(wrong))
    with pytest.raises(ReleaseError):
        Directions.from_json("[" * 100_000)


def test_the_table_that_is_read_is_that_of_the_rows_in_the_order_that_was_asked():
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 6, 400), rng.integers(0, 5, 400)
    kinds = {"a": ("0", "1", "2", "3", "4"), "b": ("0", "1", "2", "3", "4")}  # 5 of `a` is missing
    columns = {n: dc.Categorical(categories=k, ordered=True, missing="none") for n, k in kinds.items()}
    codes = {"a": a.astype(np.uint16), "b": b.astype(np.uint16)}
    domain = dc.Domain(columns, rows=400)
    exact = np.array([[np.sum((a == i) & (b == j)) for j in range(5)] for i in range(5)])
    for pair, table in ((("a", "b"), exact), (("b", "a"), exact.T)):
        room = dc.Room(MemoryTable(codes, domain.sizes), domain, dc.Budget(epsilon=1_000.0, delta=0))
        assert np.array_equal(direction_in(room, pair).pairs[0].table.array, table)


def test_bins_of_numbers_are_halves_of_released_quarters():
    rng = np.random.default_rng(3)
    codes = {name: rng.integers(0, 1_024, 4_000).astype(np.uint16) for name in "ab"}
    domain = dc.Domain({n: dc.Numeric(bounds=(0.0, 1.0), bins=4, at="quantiles") for n in "ab"}, rows=4_000)
    room = dc.Room(MemoryTable(codes, {n: domain.size(n) for n in "ab"}), domain, dc.Budget(epsilon=1_000.0, delta=0))
    found = direction_in(room, ("a", "b")).pairs[0].table
    assert found.array.shape == (16, 16)
    assert found.array.sum() == 4_000
    for axis in (0, 1):
        assert found.array.sum(axis=axis).reshape(4, 4).sum(axis=1) == pytest.approx(1_000, abs=12)
