"""Traps of real tables: values that are missing together, dummies, and pairs that nobody measured."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import discreet as dc
from discreet.errors import DoubtWarning, KnowledgeError, SettingError
from discreet.release.missing import leave_out
from discreet.release.oracles.components import Components, pool, taken_apart
from discreet.release.oracles.released import Released
from discreet.release.settings import Moments
from discreet.release.traps import traps
from support.released import release_of

ROWS = 12_000
TWO = dc.Categorical(categories=("a", "b"), missing="gone")


def rotating(rng, rows=ROWS):
    """Three columns that have nothing to do with each other, asked in blocks, and one that the first brings about."""
    block = rng.integers(3, size=rows)
    table = {}
    for i, name in enumerate(("gun", "tv", "job")):
        table[name] = np.where(block == i, "", rng.choice(["a", "b"], size=rows, p=[0.3 + 0.1 * i, 0.7 - 0.1 * i]))
    kept = rng.random(rows) < 0.8
    table["happy"] = np.where(kept & (table["gun"] != ""), table["gun"], rng.choice(["a", "b"], size=rows))
    return table, {**dict.fromkeys(("gun", "tv", "job"), TWO), "happy": dc.Categorical(categories=("a", "b"))}


@pytest.fixture(scope="module")
def survey():
    return release_of(*rotating(np.random.default_rng(0)))


def test_values_that_are_missing_together_are_pointed_out(survey):
    triangle = set(map(frozenset, combinations(("gun", "tv", "job"), 2)))
    assert survey.graph.skeleton == triangle | {frozenset(("gun", "happy"))}
    assert {frozenset(trap.columns) for trap in traps(survey)} == triangle
    assert {trap.kind for trap in traps(survey)} == {"missing"}
    warned = {frozenset((row.a, row.b)): row.warnings for row in survey.edges}
    assert warned[frozenset(("gun", "happy"))] == ()
    assert "missing values may explain it" in warned[frozenset(("gun", "tv"))][0]


@pytest.mark.parametrize("way", ["hybrid", "pc", "greedy"])
def test_left_out_they_make_no_edge(survey, way):
    again = dc.search_again(survey, missing="leave-out", search_by=way)
    assert again.graph.skeleton == {frozenset(("gun", "happy"))}
    assert again.settings["missing"] == "leave-out"
    assert traps(again) == ()
    back = dc.search_again(dc.Discovery.from_json(again.to_json()))  # as it was searched last
    assert back.graph == again.graph
    assert dc.search_again(back, missing="level", search_by="hybrid").graph == survey.graph


def test_pairs_without_a_row_in_common_are_not_judged():
    rng = np.random.default_rng(1)
    half = rng.random(ROWS) < 0.5
    table = {
        n: np.where(half == first, "", rng.choice(["a", "b"], size=ROWS)) for n, first in (("x", True), ("y", False))
    }
    found = release_of(table, {"x": TWO, "y": TWO})
    (trap,) = traps(found)
    assert trap.words.endswith("hardly a row has both")
    for way in ("hybrid", "pc"):
        with pytest.warns(DoubtWarning, match="x and y: not judged, since hardly a row has both"):
            again = dc.search_again(found, missing="leave-out", search_by=way)
        assert not again.graph.skeleton
        assert [trap.kind for trap in traps(again)] == ["unjudged"]


def test_another_word_for_missing_is_refused(survey):
    with pytest.raises(SettingError, match="level, leave-out"):
        dc.search_again(survey, missing="drop")


@pytest.mark.parametrize("given", [frozenset(), frozenset("z")])
def test_the_level_holds_with_missing_values_left_out(given):
    """At most 5 % of 300 tests, and 3 standard deviations more: x and y depend on z, and all are missing in blocks."""
    rng, alarms, runs = np.random.default_rng(3), 0, 300
    for _ in range(runs):
        n, block = 4_000, rng.integers(3, size=4_000)
        z = rng.integers(3, size=n)
        moved = z if given else np.zeros(n, dtype=int)
        values = {"z": z} | {c: (rng.random(n) < rng.uniform(0.2, 0.8, 3)[moved]).astype(int) for c in "xy"}
        codes = {c: np.where(block == i, 3 if c == "z" else 2, values[c]) for i, c in enumerate("xyz")}
        three = dc.Categorical(categories=("a", "b", "c"), missing="gone")
        domain = dc.Domain({"x": TWO, "y": TWO, "z": three}, rows=n)
        listed = []
        for pair in combinations("xyz", 2):
            table = np.zeros(domain.shape(pair))
            np.add.at(table, tuple(codes[c] for c in pair), 1)
            listed += taken_apart(pair, table + rng.normal(0, 15, table.shape), 15.0**2)
        parts = leave_out(Components(n, domain.sizes, pool(listed)), domain)
        alarms += Released(parts, alpha=0.05, rng=rng).ask("x", "y", given).p_value < 0.05
    assert alarms / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5


def test_left_out_a_dependence_is_still_seen():
    rng = np.random.default_rng(5)
    table, columns = rotating(rng)
    joined = np.where(rng.random(ROWS) < 0.3, np.where(table["gun"] == "", "b", table["gun"]), table["job"])
    table["job"] = np.where(table["job"] == "", "", joined)
    found = release_of(table, columns)
    assert frozenset(("gun", "job")) in dc.search_again(found, missing="leave-out").graph.skeleton
    assert not any(trap.concerns("gun", "job") for trap in traps(found))


def dummies(rng, *, leak=0.0):
    which = rng.choice(4, size=ROWS, p=[0.3, 0.3, 0.2, 0.2])
    table = {name: ((which == i) | (rng.random(ROWS) < leak)).astype(int).astype(str) for i, name in enumerate("nsw")}
    table["x"] = rng.integers(2, size=ROWS).astype(str)
    return table, dict.fromkeys(table, dc.Categorical(categories=("0", "1")))


def test_dummies_of_one_column_are_pointed_out():
    (trap,) = traps(release_of(*dummies(np.random.default_rng(0)), epsilon=1.0))
    assert (trap.kind, trap.columns) == ("dummies", ("n", "s", "w"))
    assert "n, s, w" in trap.words


def test_columns_that_are_1_together_now_and_then_are_no_dummies():
    assert traps(release_of(*dummies(np.random.default_rng(0), leak=0.3), epsilon=3.0)) == ()


def test_nothing_is_said_of_dummies_that_the_noise_hides():
    assert not traps(release_of(*dummies(np.random.default_rng(0)), epsilon=0.02))


FORBIDDEN = dc.Knowledge(forbidden={("tv", "job"), ("job", "tv")}, tiers=(("gun", "tv", "job"), ("happy",)))


@pytest.fixture(scope="module")
def narrow():
    table, columns = rotating(np.random.default_rng(0))
    return release_of(table, columns, knowledge=FORBIDDEN)


@pytest.mark.parametrize("way", ["hybrid", "pc", "greedy"])
def test_knowledge_is_dropped_and_what_was_not_measured_is_said(narrow, way):
    assert ("gun", "happy") in narrow.graph.directed
    with pytest.warns(DoubtWarning, match="job and tv: not measured, since they were forbidden"):
        again = dc.search_again(narrow, knowledge=dc.Knowledge(), search_by=way)
    assert again.knowledge == dc.Knowledge()
    assert frozenset(("tv", "job")) not in again.graph.skeleton
    assert frozenset(("gun", "happy")) in again.graph.skeleton
    assert ("gun", "happy") not in again.graph.directed
    assert [trap.columns for trap in traps(again) if trap.kind == "unjudged"] == [("job", "tv")]
    with pytest.warns(DoubtWarning, match="job and tv"):
        assert dc.search_again(dc.Discovery.from_json(again.to_json())).graph == again.graph


def test_knowledge_is_replaced(survey, recwarn):
    turned = dc.Knowledge(required={("happy", "gun")}, forbidden={("tv", "job"), ("job", "tv")})
    again = dc.search_again(survey, knowledge=turned)
    assert ("happy", "gun") in again.graph.directed
    assert frozenset(("tv", "job")) not in again.graph.skeleton
    assert not recwarn
    with pytest.raises(SettingError, match="from_yaml"):
        dc.search_again(survey, knowledge={"required": []})
    with pytest.raises(KnowledgeError, match="nobody"):
        dc.search_again(survey, knowledge=dc.Knowledge(required={("nobody", "gun")}))


def test_what_is_required_is_kept_though_nobody_measured_it(narrow):
    with pytest.warns(DoubtWarning, match="job and tv"):
        again = dc.search_again(narrow, knowledge=dc.Knowledge(required={("tv", "job")}))
    assert ("tv", "job") in again.graph.directed


@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_numbers_that_are_missing_together(delta):
    rng = np.random.default_rng(2)
    block, x, y = rng.integers(3, size=ROWS), rng.normal(size=ROWS), rng.normal(size=ROWS)
    numbers = {"x": x, "y": y, "z": 0.6 * x + 0.8 * rng.normal(size=ROWS)}
    table = {n: np.where(block == i, "", np.char.mod("%.3f", v)) for i, (n, v) in enumerate(numbers.items())}
    columns = dict.fromkeys(table, dc.Numeric(bounds=(-4, 4), bins=5, missing="gone", other="else"))
    found = release_of(table, columns, delta=delta, epsilon=5.0, settings=Moments())
    assert {frozenset(trap.columns) for trap in traps(found)} == {frozenset("xy"), frozenset("yz")}
    again = dc.search_again(found, missing="leave-out")
    assert again.graph.skeleton == {frozenset("xz")}
    assert again.edges[0].strength.trend == "rising"


def curved(noise, without=""):
    """Two columns that are nearly the square of a third, whose bins do not show how nearly; all of them as ranks."""
    rng = np.random.default_rng(3)
    z = rng.normal(size=ROWS)
    values = {"z": z, **{n: z**2 + noise * rng.normal(size=ROWS) for n in "ab"}, "alone": rng.normal(size=ROWS)}
    table = {n: v.argsort().argsort() / ROWS for n, v in values.items() if n != without}
    return release_of(table, dict.fromkeys(table, dc.Numeric(bounds=(0, 1), bins=6)), settings=Moments())


def test_columns_that_follow_a_third_one_within_its_bins_are_pointed_out():
    found = curved(0.15)
    assert frozenset("ab") in found.graph.skeleton
    (trap,) = traps(found)
    assert (trap.columns, trap.kind) == (("a", "b"), "close")
    assert trap.words.endswith("both follow a third column within its bins: z")


def test_nothing_is_said_where_columns_are_not_so_close():
    assert traps(curved(1.5)) == ()


def test_nothing_is_said_of_close_columns_without_a_third_one():
    found = curved(0.15, without="z")
    assert frozenset("ab") in found.graph.skeleton
    assert traps(found) == ()
