"""Loading under audit: rows that move each other, values that are told, and people who move too much are found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from discreet.audit import loading
from discreet.audit.loading import WAYS, audit_people, audit_rows
from discreet.data import encoding, files, frames, load, memory, misfits, people, stream
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


def test_lists_that_get_one_type_are_found(monkeypatch):
    monkeypatch.setattr(frames, "_as_array", np.asarray)
    assert "beside others" in audit_rows("rows", "lists", 24).evidence


def test_made_up_rows_that_repeat_others_are_found(monkeypatch):
    real = stream.StreamTable._batches

    def batches(self):
        first = None
        for batch in real(self):
            yield batch if first is None else {c: np.resize(first[c], len(batch[c])) for c in batch}
            first = first or batch

    monkeypatch.setattr(stream.StreamTable, "_batches", batches)
    assert "rows change with one person" in audit_people("people", "a CSV file, streamed", 2).evidence


def test_a_table_that_can_be_copied_is_found(monkeypatch):
    monkeypatch.setattr(memory.MemoryTable, "__reduce_ex__", object.__reduce_ex__)
    with pytest.raises(AssertionError, match="copied"):
        audit_rows("rows", "a CSV file", 1)


def test_a_table_that_shows_itself_is_found(monkeypatch):
    monkeypatch.setattr(memory.MemoryTable, "__repr__", lambda self: f"<{self.counts([('sex',)])[0].tolist()}>")
    with pytest.raises(AssertionError, match="shows itself"):
        audit_rows("rows", "a CSV file", 1)


def test_sums_of_other_rows_are_found(monkeypatch):
    real = memory.MemoryTable.sums
    monkeypatch.setattr(memory.MemoryTable, "sums", lambda self, sets: [n + 1 for n in real(self, sets)])
    with pytest.raises(AssertionError, match="sums"):
        audit_rows("rows", "a CSV file", 1)


def test_a_line_that_swallows_others_is_found(monkeypatch):
    real = load.open_local

    def lenient(data, domain):
        text = Path(data).read_text()
        Path(data).write_text(text if text.count('"') % 2 == 0 else text.partition('"')[0].rpartition("\n")[0] + "\n")
        return real(data, domain)

    monkeypatch.setattr(load, "open_local", lenient)
    assert "one line of a file" in audit_rows("rows", "a CSV file", 1).evidence


def test_rows_without_a_name_that_are_all_used_are_found(monkeypatch):
    nobody = "CASE WHEN who IS NULL THEN CAST(row_number() OVER () AS VARCHAR) ELSE '' END"
    real = people.person_sql
    for module in (people, files):
        monkeypatch.setattr(module, "person_sql", lambda *given: f"{real(*given)} || {nobody}")
    assert "rows change with one person" in audit_people("people", "a CSV file", 1).evidence
