"""Bins at private quantiles: the domain, the utilities and their sensitivity, settling, and the main job."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.cli import main
from discreet.data import load as load_module
from discreet.data.load import load
from discreet.data.memory import MemoryTable, coarsen
from discreet.data.stream import StreamTable
from discreet.domain import STEPS, Categorical, Domain, Numeric
from discreet.errors import DomainError, RoomError, SettingError
from discreet.methods.quantile_bins import settle
from discreet.privacy.accounting import Currency
from discreet.release.oracles.released import Released
from discreet.release.selection import SETTLING, components
from discreet.statistics import quantiles as quantiles_module
from discreet.statistics.counts import Counts
from discreet.statistics.quantiles import Quantiles, waiting_for
from discreet.testing import SeededNoise

AGE = Numeric(bounds=(0, 110), bins=8, at="quantiles", missing="unknown")


# Domain


def test_declaration_and_round_trip():
    age = "{bounds: [0, 110], bins: 8, at: quantiles, missing: unknown}"
    text = f"rows: 10\ncolumns:\n  age: {age}\n  b: {{bounds: [0, 1], bins: 2, at: equal-width}}\n"
    domain = Domain.from_yaml(text)
    assert domain["age"] == AGE
    assert domain.unsettled == ("age",)
    assert not AGE.tabulable
    assert AGE.size == STEPS + 1 == len(AGE.levels)
    assert "at" not in domain.to_dict()["columns"]["b"]
    assert Domain.from_yaml(domain.to_yaml()) == domain == Domain.from_dict(json.loads(json.dumps(domain.to_dict())))
    assert domain.widest()["age"] == Numeric(bounds=(0, 110), bins=8, missing="unknown")


def test_settled_by_edges_of_the_grid():
    domain = Domain({"age": AGE, "sex": Categorical(categories=("f", "m"))}, rows=3)
    grid = AGE.edges
    edges = (grid[0], grid[100], grid[512], grid[-1])
    settled = domain.settle({"age": edges})
    assert settled["age"] == Numeric(bounds=(0, 110), bins=edges, missing="unknown")
    assert settled["age"].levels[1:] == ("[10.7421875, 55)", "[55, 110]", "unknown")
    assert not settled.unsettled
    assert Domain.from_yaml(settled.to_yaml()) == settled == Domain.from_dict(json.loads(json.dumps(settled.to_dict())))


@pytest.mark.parametrize(
    "edges",
    [
        (0, 50, 110),
        (0, AGE.edges[5]),
        (0, AGE.edges[5], AGE.edges[5], 110),
        (0, AGE.edges[6], AGE.edges[5], 110),
        AGE.edges[:10],
    ],
    ids=["off the grid", "no upper bound", "twice", "falling", "too many"],
)
def test_other_edges_are_refused(edges):
    with pytest.raises(DomainError, match="'age'"):
        Domain({"age": AGE}, rows=3).settle({"age": edges})


def test_only_waiting_columns_are_settled():
    domain = Domain({"x": Numeric(bounds=(0, 1), bins=4), "y": Categorical(categories=("a",))}, rows=3)
    with pytest.raises(DomainError, match="quantiles"):
        domain.settle({"x": (0, 0.5, 1)})
    with pytest.raises(DomainError, match="not numeric"):
        domain.settle({"y": (0, 1)})
    with pytest.raises(DomainError, match="not declared"):
        domain.settle({"z": (0, 1)})


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("{bounds: [0, 1], at: quantiles}", "number of bins"),
        ("{bounds: [0, 1], bins: [0, 0.5, 1], at: quantiles}", "number of bins"),
        ("{bounds: [0, 1], bins: 1, at: quantiles}", "number of bins"),
        ("{bounds: [0, 1], bins: 5000, at: quantiles}", "bins"),
        ("{bounds: [0, 1], bins: 4, at: deciles}", "at: `equal-width` or `quantiles`"),
        ("{bounds: [0, 1], bins: 4, at: [quantiles]}", "at: expected text"),
        ("{bounds: [1, 1.00000000000001], bins: 4, at: quantiles}", "too close"),
        ("{bounds: [0, 1], bins: 4, at: quantiles, missing: '[0, 1)'}", "begins with"),
        ("{categories: [a], at: quantiles}", "unknown key 'at'"),
    ],
)
def test_bad_declarations(spec, words):
    with pytest.raises(DomainError, match=f"column 'x': .*{words}"):
        Domain.from_yaml(f"rows: 3\ncolumns:\n  x: {spec}\n")


def test_bad_declaration_in_python():
    with pytest.raises(DomainError, match="equal-width"):
        Numeric(bounds=(0, 1), bins=4, at="deciles")  # type: ignore[arg-type]


# Encoding


@pytest.mark.parametrize("bounds", [(0.0, 110.0), (-0.3, 0.7), (0.1, 1e6), (-1e-3, 1e9 / 3)])
def test_steps_are_those_of_the_declared_edges(bounds):
    """Also on the edges themselves, and next to them."""
    column = Numeric(bounds=bounds, bins=4, at="quantiles", missing="?", other="other")
    edges = np.array(column.edges)
    values = np.concatenate(
        [edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf), [-np.inf, np.inf, np.nan]]
    )
    domain = Domain({"x": column}, rows=len(values))
    expected = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, STEPS - 1)
    expected[np.isnan(values)] = STEPS
    np.testing.assert_array_equal(load({"x": values}, domain)._codes["x"], expected)
    texts = np.array([repr(float(v)) for v in values[:-1]] + ["junk"], dtype=object)
    expected[-1] = STEPS + 1
    np.testing.assert_array_equal(load({"x": texts}, domain)._codes["x"], expected)


@pytest.mark.parametrize("streamed", [False, True])
def test_coarse_codes_are_those_of_the_settled_domain(streamed, monkeypatch, tmp_path):
    rng = np.random.default_rng(1)
    values = rng.exponential(20, 3_000)
    values[::17] = np.nan
    data = {"age": values, "sex": rng.integers(0, 2, 3_000)}
    fine = Domain({"age": AGE, "sex": Categorical(categories=("0", "1"))}, rows=3_000)
    settled = fine.settle({"age": tuple(AGE.edges[i] for i in (0, 3, 77, 400, STEPS))})
    wanted = load(data, settled).counts([("age", "sex"), ("age",)])
    if streamed:
        monkeypatch.setattr(load_module, "MEMORY_BYTES", 0)
        monkeypatch.setattr("discreet.data.stream.BATCH", 700)
    table = load(data, fine)
    assert isinstance(table, StreamTable if streamed else MemoryTable)
    coarse = coarsen(table, fine, settled)
    for a, b in zip(coarse.counts([("age", "sex"), ("age",)]), wanted, strict=True):
        np.testing.assert_array_equal(a, b)
    assert coarse.sums([("age",)]) == load(data, settled).sums([("age",)])
    assert coarse.rows == 3_000
    with pytest.raises(RoomError):
        copy.copy(coarse)


# Sensitivity


def utilities(codes, bins, levels):
    table = MemoryTable({"x": np.array(codes, dtype=np.uint8)}, {"x": levels})
    return Quantiles(("x",), bins).evaluate(table)


@pytest.mark.parametrize("bins", [2, 3, 4])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_sensitivity_over_all_neighbours(bins, n, monkeypatch):
    """All tables of n rows on a grid of 4 steps, with missing and other values beyond it."""
    steps, levels = 4, 6
    monkeypatch.setattr(quantiles_module, "STEPS", steps)
    column = Numeric(bounds=(0, 1), bins=bins, at="quantiles", missing="m", other="o")
    claimed = Quantiles(("x",), bins).sensitivity(Domain({"x": column}, rows=n))
    worst = 0
    for rest in product(range(levels), repeat=n - 1):
        found = [utilities([*rest, code], bins, levels) for code in range(levels)]
        for a, b in combinations(found, 2):
            moved = np.abs(a - b)
            worst = max(worst, int(moved.max()))
            assert moved.sum() <= claimed.l1
            assert (moved**2).sum() <= claimed.l2_squared
    assert worst <= claimed.largest == bins
    if n > bins:
        assert worst == bins


def test_the_sensitivity_is_attained(monkeypatch):
    monkeypatch.setattr(quantiles_module, "STEPS", 4)
    moved = utilities([0, 3, 3, 3, 3, 3, 3, 3], 2, 6) - utilities([3] * 8, 2, 6)
    assert np.abs(moved).max() == 2


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_sensitivity_on_larger_tables(data):
    bins, n = data.draw(st.integers(2, 9)), data.draw(st.integers(1, 60))
    code = st.integers(0, STEPS + 1)
    codes = data.draw(st.lists(code, min_size=n, max_size=n))
    i, other = data.draw(st.integers(0, n - 1)), data.draw(code)

    def of(values):
        table = MemoryTable({"x": np.array(values, dtype=np.uint16)}, {"x": STEPS + 2})
        return Quantiles(("x",), bins).evaluate(table)

    moved = of(codes) - of([*codes[:i], other, *codes[i + 1 :]])
    assert np.abs(moved).max() <= bins


def test_what_cannot_be_asked():
    domain = Domain({"age": AGE, "x": Numeric(bounds=(0, 1), bins=8)}, rows=5)
    with pytest.raises(SettingError, match="wait"):
        Quantiles(("x",), 8).sensitivity(domain)
    with pytest.raises(SettingError, match="wait"):
        Quantiles(("age",), 7).sensitivity(domain)
    with pytest.raises(SettingError, match="twice"):
        Quantiles(("age", "age"), 8)
    with pytest.raises(SettingError, match="2 bins"):
        Quantiles(("age",), 1)
    with pytest.raises(SettingError, match="age"):
        Counts((("age", "x"),)).sensitivity(domain)


# Settling


def skewed(n=40_000, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.lognormal(2.5, 1, n)
    y = x * rng.lognormal(0, 0.5, n)
    z = np.where(rng.random(n) < 0.6, 0.0, rng.exponential(50, n))
    x[rng.random(n) < 0.1] = np.nan
    columns = {
        "x": Numeric(bounds=(0, 1000), bins=6, at="quantiles", missing="?"),
        "y": Numeric(bounds=(0, 1000), bins=6, at="quantiles"),
        "z": Numeric(bounds=(0, 1000), bins=5, at="quantiles"),
        "g": Categorical(categories=("0", "1")),
    }
    return {"x": x, "y": y, "z": z, "g": rng.integers(0, 2, n)}, Domain(columns, rows=n)


def room_of(data, domain, *, epsilon=1.0, delta=1e-6, noise=None):
    return dc.Room(load(data, domain), domain, dc.Budget(epsilon=epsilon, delta=delta), noise=noise)


@pytest.mark.parametrize("delta", [1e-6, 0])
def test_settling_finds_quantiles_and_spends_its_share(delta):
    data, domain = skewed()
    room = room_of(data, domain, epsilon=4.0, delta=delta)
    settled, releases = settle(room)
    assert [r.statistic.columns for r in releases] == [("z",), ("x", "y")]
    assert all(r.private for r in releases)
    assert settled.budget is room.budget
    spent = room.budget.spent / room.budget.limit
    assert spent == pytest.approx(SETTLING, rel=1e-9)
    assert not settled.domain.unsettled
    for name in ("x", "y"):
        values = data[name][~np.isnan(data[name])]
        inner = settled.domain[name].edges[1:-1]
        assert len(inner) == 5
        below = [np.mean(values < edge) for edge in inner]
        np.testing.assert_allclose(below, np.arange(1, 6) / 6, atol=0.06)
    zeros = settled.domain["z"]  # 60 % zeros: the first quantiles are best told by the first edge above 0
    assert zeros.edges[1] == domain["z"].edges[1]


@pytest.mark.parametrize("values", [np.full(500, np.nan), np.full(500, 7.0), np.full(500, 0.0), np.full(500, 99.0)])
def test_empty_and_constant_columns(values):
    domain = Domain({"x": Numeric(bounds=(0, 10), bins=4, at="quantiles", missing="?")}, rows=500)
    room, _ = settle(room_of({"x": values}, domain))
    column = room.domain["x"]
    assert 2 <= len(column.edges) - 1 <= 4
    assert column.levels[-1] == "?"
    assert room._table.counts([("x",)])[0].sum() == 500


def test_nothing_to_settle_costs_nothing():
    domain = Domain({"x": Numeric(bounds=(0, 10), bins=4)}, rows=3)
    room = room_of({"x": [1.0, 2.0, 3.0]}, domain)
    assert settle(room) == (room, ())
    assert not room.budget.entries
    assert waiting_for(domain) == ()
    with pytest.raises(SettingError, match="share"):
        settle(room, Fraction(1))


def test_predictable_choices_are_stamped():
    data, domain = skewed(2_000)
    first, second = (settle(room_of(data, domain, noise=SeededNoise(3))) for _ in range(2))
    assert first[0].domain == second[0].domain
    assert not any(r.private for r in first[1])


# The main job


@pytest.mark.parametrize(("delta", "currency"), [(1e-6, Currency.GDP), (0, Currency.PURE)])
def test_discover_with_bins_at_quantiles(delta, currency, tmp_path):
    data, domain = skewed()
    told = []
    found = dc.discover(data, domain=domain, epsilon=1.0, delta=delta, progress=told.append)
    assert frozenset("xy") in found.graph.skeleton
    assert [s.currency for s in found.privacy.spent] == [currency.value] * 4
    assert "quantiles for 5 bins" in found.privacy.spent[0].statistic
    assert "2-way" in found.privacy.spent[2].statistic
    shares = np.array([s.amount for s in found.privacy.spent])
    limit = float(dc.Budget(epsilon=1.0, delta=delta).limit)
    np.testing.assert_allclose(shares / limit, [0.1 * 4 / 14, 0.1 * 10 / 14, 0.45, 0.45], rtol=1e-6)
    assert not found.domain.unsettled
    assert found.domain.size("x") == 7
    assert any("quantiles" in words for words in told)
    found.save(tmp_path)
    again = dc.Discovery.load(tmp_path / "release.json")
    assert again.domain == found.domain
    assert dc.search_again(again).graph == found.graph
    dc.search_again(again, max_order=0)


def test_the_command_line(tmp_path):
    data, domain = skewed(3_000)
    pd.DataFrame(data).to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "domain.yaml").write_text(domain.to_yaml(), encoding="utf-8")
    files = [str(tmp_path / "rows.csv"), "--domain", str(tmp_path / "domain.yaml")]
    assert CliRunner().invoke(main, ["domain", "check", *files]).exit_code == 0
    ran = CliRunner().invoke(main, ["discover", *files, "--epsilon", "1", "--out", str(tmp_path / "out")])
    assert ran.exit_code == 0
    assert "choosing quantiles for" in ran.stderr
    again = CliRunner().invoke(main, ["discover", str(tmp_path / "out" / "release.json"), "--max-order", "0"])
    assert again.exit_code == 0


def test_what_cannot_work_is_refused_before_anything_is_spent():
    data, domain = skewed(200)
    wide = Domain({**domain.columns, **{c: Numeric(bounds=(0, 1), bins=60, at="quantiles") for c in "yz"}}, rows=200)
    room = room_of(data, wide)
    with pytest.raises(SettingError, match="too many"):
        dc.discover_in(room, dc.Marginals())
    with pytest.raises(SettingError, match="too many"):
        dc.discover(data, domain=wide, epsilon=1.0)
    pure = room_of(data, domain, delta=0)
    with pytest.raises(SettingError, match="Laplace"):
        dc.discover_in(pure, dc.Marginals(alpha=1e-4))
    assert not room.budget.entries
    assert not pure.budget.entries


def test_no_question_no_quantiles():
    data, domain = skewed(200)
    names = list(domain)
    apart = dc.Knowledge(forbidden=tuple((a, b) for a in names for b in names if a != b))
    found = dc.discover(data, domain=domain, epsilon=1.0, knowledge=apart)
    assert found.privacy.spent == ()
    assert dc.search_again(dc.Discovery.from_json(found.to_json())).graph == found.graph


def test_quantiles_beat_equal_widths_on_skewed_columns():
    """Why they are worth a tenth of the budget: at equal widths nearly all rows share one bin."""
    data, _ = skewed(5_000)
    pair = {c: Numeric(bounds=(0, 1000), bins=5, at="quantiles") for c in ("x", "y")}
    rows = {"x": np.nan_to_num(data["x"], nan=5.0), "y": data["y"]}
    waiting = Domain(pair, rows=5_000)
    found = [
        dc.discover_in(room_of(rows, d, epsilon=1.0, noise=SeededNoise(1)), dc.Marginals())
        for d in (waiting, waiting.widest())
    ]
    shares = [Released(components(f.measurements, f.domain), alpha=0.01, rng=None).estimates.shares["x"] for f in found]
    assert shares[0].max() < shares[1].max() / 2
    assert len(list(found[0].graph.edges())) == 1
