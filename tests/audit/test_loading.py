"""Loading under audit: rows that move each other, values that are told, and people who move too much are found."""

from __future__ import annotations

import pytest

from discreet.audit import loading
from discreet.audit.loading import WAYS, audit_people, audit_rows
from discreet.data import encoding, files, load, misfits, people
from discreet.data.load import Reading

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis and DuckDB


@pytest.mark.parametrize("way", WAYS)
def test_rows_are_encoded_by_themselves(way):
    found = audit_rows("rows", way, 2)
    assert not found.violated, found.evidence


@pytest.mark.parametrize("way", WAYS)
def test_a_person_moves_as_many_rows_as_are_kept_and_not_more(way):
    found = audit_people("people", way, 5)
    assert not found.violated, found.evidence
    assert found.found == 1


def test_a_code_that_depends_on_other_rows_is_found(monkeypatch):
    real = encoding.code_sql

    def wrong(name, column, kind):
        code = real(name, column, kind)
        return f"CAST(({code}) - (min({code}) OVER ()) AS UTINYINT)"

    monkeypatch.setattr(files, "code_sql", wrong)
    assert audit_rows("rows", "a CSV file", 4).violated


def test_an_error_that_tells_a_value_is_found(monkeypatch):
    def refuse(found, name):
        if found:
            raise misfits.MisfitError("zq7 foreign has no place")

    monkeypatch.setattr(load, "refuse_misfits", refuse)
    assert audit_rows("rows", "a CSV file", 1).violated


def test_people_whose_rows_are_not_bounded_are_found(monkeypatch):
    real = people.chosen_sql
    monkeypatch.setattr(files, "chosen_sql", lambda *asked: real(*asked).replace("WHERE rank <= 2 ", ""))
    assert audit_people("people", "a CSV file", 20).violated


def test_progress_that_tells_how_many_rows_are_made_up_is_found(monkeypatch):
    monkeypatch.setattr(loading, "Reading", lambda key, progress: Reading(key=key, progress=progress, doubt=progress))
    assert "progress" in audit_people("people", "a CSV file", 20).evidence
