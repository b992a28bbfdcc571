"""Objects of Python in a table: each is the label it means."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.data.load import load, open_source
from discreet.domain import Categorical, Domain, Numeric

LABELS = Categorical(categories=("0.10", "2", "true", "b"), missing="none", other="rest")


def codes_of(values, column):
    held = np.empty(len(values), dtype=object)
    held[:] = values
    return load({"a": held}, Domain({"a": column}, rows=len(values))).values(["a"])[0].tolist()


@pytest.mark.parametrize(
    ("value", "label"),
    [
        (0.1, "0.10"),
        (np.float64(0.1), "0.10"),
        (Decimal("0.1"), "0.10"),
        (2, "2"),
        (2.0, "2"),
        (Decimal(2), "2"),
        (Fraction(2), "2"),
        (True, "true"),
        (np.True_, "true"),
        ("b", "b"),
        (None, "none"),
        (float("nan"), "none"),
        (Decimal("nan"), "none"),
        (np.datetime64("nat"), "none"),
        (Decimal("inf"), "rest"),
        (False, "rest"),
        (0.2, "rest"),
    ],
    ids=repr,
)
def test_an_object_is_the_label_it_means(value, label):
    assert codes_of(["b", value], LABELS) == [3, LABELS.levels.index(label)]


def test_numbers_take_the_declared_sign_before_decimals():
    column = Numeric(bounds=(0.0, 4.0), bins=4, decimal=",")
    assert codes_of([1.5, "2,5", True, Decimal("3.5")], column) == [1, 2, 1, 3]


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis and DuckDB
def test_truth_values_are_numbers_also_in_an_engine(tmp_path):
    ibis = pytest.importorskip("ibis")
    table = pa.table({"x": [True, False, True], "y": [0.2, 9.0, -1.0]})
    pq.write_table(table, tmp_path / "t.parquet")
    there = ibis.duckdb.connect().read_parquet(tmp_path / "t.parquet")
    domain = Domain({"x": Numeric(bounds=(0.0, 0.5)), "y": Numeric(bounds=(0.0, 1.0))}, rows=3)
    clipped = [open_source(data, domain).count_clipped(domain) for data in (table, there)]
    assert clipped[0] == clipped[1] == {"x": 2, "y": 2}


def test_labels_that_no_whole_number_can_be_are_none():
    domain = Domain({"x": Categorical(categories=("1", "1.5", f"1{'0' * 40}"))}, rows=2)
    assert load(pa.table({"x": [1, 1]}), domain).counts([("x",)])[0].tolist() == [2, 0, 0]
