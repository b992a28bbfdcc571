"""Objects of Python in a table: each is the label it means."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.data.load import load
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
