"""Wrong calls from Python: a typed error that says what to do, and never a foreign exception or a datum."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dc

ROWS = 60
SECRET = "SECRET-4711"
NET = dc.network("cancer")
DOMAIN = NET.domain(ROWS)
FRAME = pd.DataFrame(NET.sample(ROWS, np.random.default_rng(0)))


def level_up(frame):
    found = frame.copy()
    found.columns = pd.MultiIndex.from_product([["top"], frame.columns])
    return found


TABLES = {
    "nothing": None,
    "a number": 3,
    "bytes": b"a,b",
    "a missing file": "nowhere.csv",
    "a missing path": Path("nowhere.csv"),
    "a folder": Path(__file__).parent,
    "an impossible name": "a\0b.csv",
    "a series": FRAME["Smoker"],
    "a list": FRAME.to_dict("records"),
    "an empty frame": pd.DataFrame(),
    "no rows": FRAME.iloc[:0],
    "a name twice": pd.concat([FRAME, FRAME[["Smoker"]]], axis=1),
    "two levels of names": level_up(FRAME),
    "numbers as names": FRAME.set_axis(range(5), axis=1),
    "a column as index": FRAME.set_index("Smoker"),
    "foreign categories": FRAME.assign(Smoker=pd.Categorical([SECRET] * ROWS)),
    "complex numbers": FRAME.assign(Smoker=1j),
    "spans of time": FRAME.assign(Smoker=pd.Timedelta(1, "s")),
    "periods": FRAME.assign(Smoker=pd.Period("2020")),
    "lists in cells": FRAME.assign(Smoker=[[SECRET]] * ROWS),
    "decimals": FRAME.assign(Smoker=Decimal(4711)),
    "sparse": FRAME.assign(Smoker=pd.arrays.SparseArray([4711] * ROWS)),
    "structs": pl.from_pandas(FRAME).with_columns(Smoker=pl.struct("Cancer")),
    "a lazy frame of nothing": pl.scan_csv("nowhere.csv"),
    "nested arrow": pa.table({name: [[SECRET]] * ROWS for name in DOMAIN}),
    "columns of two lengths": {"a": [1], "b": [1, 2]},
    "scalars": {"a": 1},
    "three dimensions": np.zeros((2, 2, 2)),
    "another width": np.zeros((ROWS, 2)),
}


@pytest.mark.parametrize("data", TABLES.values(), ids=TABLES)
def test_tables_that_are_none(data):
    calls = (
        lambda: dc.discover(data, domain=DOMAIN, epsilon=1.0),
        lambda: dc.not_private.discover(data, domain=DOMAIN),
        lambda: dc.test_independence(data, "Smoker", "Cancer", domain=DOMAIN, epsilon=1.0),
    )
    for call in calls:
        with pytest.raises(dc.InputError) as refused:
            call()
        assert SECRET not in str(refused.value)
        assert "4711" not in str(refused.value)
    for look in (lambda: dc.draft(data), lambda: dc.check(data, DOMAIN)):
        try:
            shown = repr(look())
        except dc.InputError as error:
            shown = str(error)
        assert SECRET not in shown


FOUND = dc.discover(FRAME, domain=DOMAIN, epsilon=5.0)
GIVEN = {"domain": DOMAIN, "epsilon": 1.0}
CALLS = {
    "a domain that is a path": lambda: dc.discover(FRAME, **GIVEN | {"domain": "domain.yaml"}),
    "no domain": lambda: dc.direction(FRAME, ("a", "b"), **GIVEN | {"domain": None}),
    "epsilon as text": lambda: dc.discover(FRAME, **GIVEN | {"epsilon": "1"}),
    "delta as text": lambda: dc.discover(FRAME, **GIVEN, delta="x"),
    "a method that is none": lambda: dc.discover(FRAME, **GIVEN, method=3),
    "a class for settings": lambda: dc.discover(FRAME, **GIVEN, method=dc.Marginals),
    "knowledge that is none": lambda: dc.discover(FRAME, **GIVEN, knowledge=None),
    "an account that is none": lambda: dc.discover(FRAME, **GIVEN, account=3),
    "a ledger that is none": lambda: dc.Account("x", 3),
    "progress that is none": lambda: dc.discover(FRAME, **GIVEN, progress="bar"),
    "given that is none": lambda: dc.test_independence(FRAME, "Smoker", "Cancer", 3, **GIVEN),
    "alpha as text": lambda: dc.Marginals(alpha="x"),
    "columns in a list": lambda: dc.Domain(["a"], rows=1),
    "columns that are none": lambda: dc.Domain({"a": 3}, rows=1),
    "names that are none": lambda: dc.Domain({1: dc.Categorical(categories=("a",))}, rows=1),
    "a unit that is none": lambda: dc.Domain(DOMAIN.columns, rows=1, unit=None),
    "people that are none": lambda: dc.Domain(DOMAIN.columns, rows=1, people="id"),
    "a domain of nothing": lambda: dc.Domain.from_yaml(None),
    "categories in a text": lambda: dc.Categorical(categories="abc"),
    "categories that are numbers": lambda: dc.Categorical(categories=(1, 2)),
    "one bound": lambda: dc.Numeric(bounds=3),
    "bounds as text": lambda: dc.Numeric(bounds=("a", "b")),
    "bins as text": lambda: dc.Numeric(bounds=(0, 1), bins="x"),
    "half a bin": lambda: dc.Numeric(bounds=(0, 1), bins=2.5),
    "half an arrow": lambda: dc.Knowledge(required=[("a",)]),
    "tiers in a text": lambda: dc.Knowledge(tiers=("ab", "cd")),
    "a release of nothing": lambda: dc.Discovery.load(None),
    "a release with an impossible name": lambda: dc.Discovery.load("a\0b"),
    "JSON of nothing": lambda: dc.Discovery.from_json(None),
    "a path searched again": lambda: dc.search_again("release.json"),
    "rows of a path": lambda: dc.synthesize("release.json", 5),
    "rows as text": lambda: dc.synthesize(FOUND, "5"),
    "saved nowhere": lambda: FOUND.save(None),
    "a plan for a path": lambda: dc.plan("domain.yaml", epsilons=[1]),
    "a plan for one number": lambda: dc.plan(DOMAIN, epsilons=1.0),
    "a plan for text": lambda: dc.plan(DOMAIN, epsilons=[1], rows=["x"]),
    "a plan without workers": lambda: dc.plan(DOMAIN, epsilons=[1], jobs=0),
    "nothing explained": lambda: dc.explain(None),
    "half a row explained": lambda: dc.explain(1, rows=2.5),
    "half a person alike": lambda: dc.explain(1, correlation=0.9, alike=1.5),
    "settings that are none": lambda: dc.not_private.discover(FRAME, domain=DOMAIN, settings=3),
    "a level that is none": lambda: dc.not_private.discover(FRAME, domain=DOMAIN, settings={"alpha": "x"}),
    "a graph of a number": lambda: dc.Graph(3),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_arguments_that_are_none(call):
    with pytest.raises(dc.InputError):
        call()


def test_what_python_has_in_other_types_is_taken():
    assert dc.Categorical(categories=["a", "b"]).categories == ("a", "b")
    bounds = dc.Numeric(bounds=np.array([0, 10]), bins=[0, 5, 10])
    assert bounds == dc.Numeric(bounds=(0, 10), bins=(0, 5, 10))
    assert "bounds: [0, 10]" in dc.Domain({"x": bounds}, rows=1).to_yaml()
    for frame in (FRAME.astype("category"), FRAME.astype("string"), pl.from_pandas(FRAME), FRAME.to_numpy()):
        assert dc.discover(frame, domain=DOMAIN, epsilon=5.0).domain == DOMAIN
