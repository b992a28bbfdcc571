"""Strengths from a release: their intervals hold the truth, signs point the right way, and no table means no number."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

import discreet as dc
from discreet.release.discovery import Discovery
from discreet.release.oracles.components import Components, pool, taken_apart
from discreet.release.strength import Strength, ordered_levels, strength, strength_in
from support.released import release_of

FIRST = ("x", "y")


def parts_of(table, noise=0.0, rng=None):
    """The components of a table with even noise on its cells."""
    table = np.asarray(table, dtype=float)
    blurred = table if rng is None else table + rng.normal(0, noise, table.shape)
    sizes = dict(zip(FIRST, table.shape, strict=True))
    return Components(int(table.sum()), sizes, pool(taken_apart(FIRST, blurred, noise**2)))


def column(levels, **kwargs):
    return dc.Categorical(categories=tuple(f"l{i}" for i in range(levels)), **kwargs)


def cramer(shares):
    expected = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    return np.sqrt(((shares - expected) ** 2 / expected).sum() / (min(shares.shape) - 1))


def test_without_noise_it_is_the_number_that_everybody_computes():
    table = np.array([[400, 250, 50], [300, 500, 200], [20, 180, 900]])
    codes = np.array([(i, j) for (i, j), n in np.ndenumerate(table) for _ in range(n)])
    ordered = strength_in(parts_of(table), column(3, ordered=True), column(3, ordered=True), FIRST)
    assert ordered.value == pytest.approx(spearmanr(codes[:, 0], codes[:, 1]).statistic, abs=1e-3)
    assert ordered.trend == "rising"
    turned = strength_in(parts_of(table[::-1]), column(3, ordered=True), column(3, ordered=True), FIRST)
    assert (turned.value, turned.trend) == (pytest.approx(-ordered.value), "falling")
    plain = strength_in(parts_of(table), column(3), column(3, ordered=True), FIRST)
    assert plain.value == pytest.approx(cramer(table / table.sum()), abs=3e-3)
    assert plain.trend is None
    assert plain.words.startswith("strong: Cramer's V 0.5")


@pytest.mark.parametrize("noise", [0.0, 30.0, 120.0])
@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("bend", [0.0, 0.6])
def test_intervals_hold_the_truth(noise, ordered, bend):
    """95 % of 400 intervals: 91.5 to 98.5 % are within 3.2 standard deviations of it; V may be covered more often."""
    rng = np.random.default_rng(7)
    steps = np.linspace(-1, 1, 3)
    shares = np.exp(bend * np.outer(steps, steps) + rng.normal(0, 0.3, 3)[:, None] + rng.normal(0, 0.3, 3))
    shares /= shares.sum()
    rows = np.cumsum(shares.sum(axis=1)) - shares.sum(axis=1) / 2 - 0.5
    columns = np.cumsum(shares.sum(axis=0)) - shares.sum(axis=0) / 2 - 0.5
    spread = (shares.sum(axis=1) @ rows**2) * (shares.sum(axis=0) @ columns**2)
    true = rows @ shares @ columns / np.sqrt(spread) if ordered else cramer(shares)
    one, hits = column(3, ordered=ordered), 0
    for _ in range(400):
        table = rng.multinomial(4_000, shares.ravel()).reshape(3, 3)
        found = strength_in(parts_of(table, noise, rng), one, one, FIRST)
        hits += found.low <= true <= found.high
    assert 0.915 <= hits / 400 <= (1.0 if not ordered else 0.985)


def test_rows_with_a_missing_value_are_left_out():
    known = np.array([[500, 100], [100, 500]])
    table = np.zeros((3, 3))
    table[:2, :2], table[2, 2] = known, 4_000
    one = column(2, ordered=True, missing="gone")
    with_holes = strength_in(parts_of(table), one, one, FIRST)
    whole = strength_in(parts_of(known), column(2, ordered=True), column(2, ordered=True), FIRST)
    assert with_holes.value == pytest.approx(whole.value, abs=1e-6)
    never = np.array([[0, 0, 900], [0, 0, 900], [900, 900, 0]])
    assert strength_in(parts_of(never), one, one, FIRST) is None


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize(
    "table", [[[900, 0], [0, 0]], [[450, 450], [0, 0]], [[0, 450], [450, 0]], [[-5, 800], [110, -5]]]
)
def test_tables_at_the_edge(table, ordered):
    one = column(2, ordered=ordered)
    found = strength_in(parts_of(table), one, one, FIRST)
    assert -1 <= found.low <= found.value <= found.high <= 1
    assert found.words


def test_rare_levels_that_drown_are_counted_together():
    """A table with many rare levels says something though most of its cells are noise."""
    rng = np.random.default_rng(1)
    shares = np.full((10, 3), 0.001)
    shares[0], shares[1] = (0.4, 0.05, 0.05), (0.05, 0.2, 0.2)
    table = rng.multinomial(10_000, (shares / shares.sum()).ravel()).reshape(10, 3)
    found = strength_in(parts_of(table, 40.0, rng), column(10), column(3), FIRST)
    assert found.low > 0.2
    assert found.high - found.low < 0.4


@pytest.mark.parametrize(
    ("declared", "codes"),
    [
        (dc.Numeric(bounds=(0, 1), bins=3, missing="gone"), [0, 1, 2]),
        (dc.Categorical(categories=("a", "b", "c"), ordered=True, other="else"), [0, 1, 2]),
        (dc.Categorical(categories=("a", "b", "c")), None),
        (dc.Categorical(categories=("1", "0"), missing="gone"), [1, 0]),
        (dc.Categorical(categories=("yes", "no")), [1, 0]),
        (dc.Categorical(categories=("female", "male")), None),
    ],
)
def test_which_columns_have_an_order(declared, codes):
    assert ordered_levels(declared) == codes


def test_words():
    assert Strength(-0.32, -0.4, -0.2, "rank correlation").words == (
        "moderate, falling: rank correlation -0.32 (-0.40 to -0.20)"
    )
    unclear = Strength(-0.001, -0.2, 0.2, "rank correlation")
    assert (unclear.trend, unclear.words) == (None, "unclear: rank correlation 0.00 (-0.20 to 0.20)")
    assert Strength(0.05, 0.01, 0.1, "Cramer's V").words.startswith("very weak: ")


def test_the_edges_of_a_release_as_a_table():
    rng = np.random.default_rng(0)
    x = rng.integers(3, size=8_000)
    y = np.clip(x + rng.integers(-1, 2, size=8_000), 0, 2)
    z = rng.integers(2, size=8_000)
    labels = {name: np.char.add("l", code.astype(str)) for name, code in (("x", x), ("y", y), ("z", z))}
    found = release_of(labels, {"x": column(3, ordered=True), "y": column(3, ordered=True), "z": column(2)})
    (row,) = found.edges
    assert {row.a, row.b, row.mark} == {"x", "y", "---"}
    assert row.confidence == found.confidence[frozenset("xy")].edge
    assert row.strength == strength(found, "x", "y")
    assert row.strength.trend == "rising"
    assert "strong, rising: rank correlation" in repr(found.edges)
    assert ">---</td>" in found.edges._repr_html_()
    frame = found.edges.to_pandas()
    assert frame.loc[0, ["mark", "trend", "warnings"]].tolist() == ["---", "rising", ""]
    assert frame.loc[0, "strength_low"] < frame.loc[0, "strength"] < frame.loc[0, "strength_high"]
    assert Discovery.from_json(found.to_json()).edges == found.edges


def test_names_are_escaped_in_a_notebook():
    rng = np.random.default_rng(0)
    x = np.char.add("l", rng.integers(2, size=2_000).astype(str))
    found = release_of({"<b>": x, "y": x}, {"<b>": column(2), "y": column(2)})
    assert "&lt;b&gt;" in found.edges._repr_html_()
    assert "<b>" not in found.edges._repr_html_()


def test_methods_without_tables_have_edges_without_strength(monkeypatch):
    found = Discovery.load("tests/release/schema1/svt-pc.json")
    assert len(found.edges) == len(found.graph.skeleton) > 0
    assert all(row.strength is None and row.warnings == () for row in found.edges)
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(dc.InputError, match="pip install pandas"):
        found.edges.to_pandas()
