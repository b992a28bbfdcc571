"""Drafts and checks from Python: words for the custodian, and nothing of a table in a repr."""

from __future__ import annotations

import pandas as pd
import pytest

import discreet as dc
from discreet.errors import DomainError, SettingError

FRAME = pd.DataFrame(
    {"smoker": ["never", "often", None, "zebra"], "age": [20.0, 30.5, 200.0, 41.0], "name": ["a", "b", "c", "d"]}
)
DOMAIN = dc.Domain(
    {
        "smoker": dc.Categorical(categories=("never", "often"), missing="unknown"),
        "age": dc.Numeric(bounds=(0, 100)),
        "dose": dc.Numeric(bounds=(0, 1)),
    },
    rows=5,
)


def test_a_check_says_by_column_what_is_wrong_and_what_goes_where(tmp_path):
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    for data in (FRAME, tmp_path / "t.csv", str(tmp_path / "t.csv")):
        found = dc.check(data, DOMAIN)
        assert not found.fits
        assert [(one["column"], one["problem"]) for one in found.problems] == [
            ("dose", "absent"),
            (None, "rows"),
            ("smoker", "foreign"),
        ]
        assert (found.ignored, found.clipped, found.rows) == (("name",), {"age": 1}, 4)
        assert found.placed == ({"column": "smoker", "kind": "missing", "place": "unknown", "values": 1},)
        assert "column 'age': 1 values beyond the bounds" in str(found)
        assert "1 of 4 values are missing and go to 'unknown'" in found._repr_html_().replace("&#x27;", "'")
        assert "zebra" not in str(found)
        assert not any(number in repr(found) for number in "123456789")


def test_a_table_that_fits():
    anyone = dc.Categorical(categories=("a", "b", "c", "d"))
    domain = dc.Domain({"age": dc.Numeric(bounds=(0, 200)), "name": anyone}, rows=4)
    found = dc.check(FRAME, domain)
    assert found.fits
    assert str(found) == "ignored, because not declared: smoker\nThe data fit the domain."
    with pytest.raises(SettingError, match="from_yaml"):
        dc.check(FRAME, "domain.yaml")


def test_a_draft_is_text_that_is_refused_until_its_notice_is_deleted():
    text = dc.draft(FRAME.assign(name=["a", "a", "b", "b"]))
    assert text.startswith("# DRAFT")
    assert "zebra" in text
    assert "zebra" in text._repr_html_()
    assert "zebra" not in repr(text)
    domain = dc.Domain.from_yaml(text)
    assert dc.check(FRAME.assign(name=["a", "a", "b", "b"]), domain).fits
    asked = (
        lambda domain: dc.discover(FRAME, domain=domain, epsilon=1.0),
        lambda domain: dc.test_independence(FRAME, "smoker", "name", domain=domain, epsilon=1.0),
    )
    for ask in asked:
        with pytest.raises(DomainError, match="delete the notice"):
            ask(domain)
