"""Columns that are functions of others: they are named, and what determines them drops none of their links."""

from __future__ import annotations

import json

import numpy as np
import pytest

import discreet as dc
from discreet.report.html import report_html
from discreet.report.terminal import discovery_text
from discreet.search.graph import skeleton_f1
from discreet.simulation.networks import network
from support.released import release_of

ROWS = 50_000


def columns_of(table):
    return {name: dc.Categorical(categories=tuple(sorted(set(values.tolist())))) for name, values in table.items()}


def labels(**codes):
    return {name: np.array([f"l{code}" for code in range(codes[name].max() + 1)])[codes[name]] for name in codes}


def pairs(*edges):
    return {frozenset(edge.split("-")) for edge in edges}


def follow(rng, cause, levels):
    """A column that mostly says how far its cause is up, in so many levels."""
    told = cause * levels // (cause.max() + 1)
    return np.where(rng.random(ROWS) < 0.7, told, rng.integers(levels, size=ROWS))


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.mark.parametrize("way", ["hybrid", "pc", "greedy"])
def test_what_hangs_on_a_function_hangs_on_it(rng, way):
    age = rng.integers(4, size=ROWS)
    table = labels(age=age, old=age // 2, ill=follow(rng, age // 2, 2))
    found = dc.search_again(release_of(table, columns_of(table)), search_by=way)
    assert found.graph.skeleton == pairs("age-old", "old-ill")
    assert found.functions == {"old": [["age"]]}


@pytest.mark.parametrize("way", ["hybrid", "greedy"])
def test_what_hangs_on_more_than_a_function_does_not_hang_on_it(rng, way):
    age = rng.integers(4, size=ROWS)
    table = labels(age=age, old=age // 2, ill=follow(rng, age, 4))
    found = dc.search_again(release_of(table, columns_of(table)), search_by=way)
    assert found.graph.skeleton == pairs("age-old", "age-ill")


def test_a_copy_takes_no_links_away(rng):
    a = rng.integers(3, size=ROWS)
    table = labels(a=a, b=(a + 1) % 3, c=follow(rng, a, 3))
    found = release_of(table, columns_of(table))
    assert found.functions == {"a": [["b"]], "b": [["a"]]}
    assert found.graph.skeleton == pairs("a-b", "a-c", "b-c")


def test_a_sum_keeps_its_effects(rng):
    a, b = rng.integers(2, size=ROWS), (rng.random(ROWS) < 0.3).astype(int)
    table = labels(a=a, b=b, total=a + b, c=follow(rng, a + b, 3))
    found = release_of(table, columns_of(table))
    assert found.functions["total"] == [["a", "b"]]
    assert found.graph.skeleton == pairs("a-total", "b-total", "c-total")


def test_asia_keeps_what_hangs_on_either():
    net, rows = network("asia"), 1_000_000
    found = release_of(net.sample(rows, np.random.default_rng(0)), net.domain(rows).columns, delta=1e-8)
    assert found.functions == {"either": [["lung", "tub"]]}
    assert skeleton_f1(found.graph, net.dag) == 1


def test_near_functions_and_small_tables_are_no_functions(rng):
    a = rng.integers(2, size=ROWS)
    b = np.where(rng.random(ROWS) < 0.97, a, 1 - a)
    table = labels(a=a, b=b, c=follow(rng, b, 2))
    found = release_of(table, columns_of(table))
    assert found.functions == {}
    assert found.graph.skeleton == pairs("a-b", "b-c")
    few = {name: values[:40] for name, values in labels(a=a, b=a).items()}
    assert release_of(few, columns_of(few), epsilon=0.1).functions == {}


def test_functions_are_told_wherever_people_look(rng):
    a = rng.integers(3, size=ROWS)
    table = labels(a=a, b=a // 2, c=follow(rng, a, 3))
    found = release_of(table, columns_of(table))
    assert json.loads(found.to_json())["functions"] == {"b": [["a"]]}
    assert dc.Discovery.from_json(found.to_json()).functions == {"b": [["a"]]}
    for shown in (discovery_text(found), report_html(found)):
        assert "b of a" in shown
