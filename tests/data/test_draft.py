"""Drafts of messy tables: what every column is taken for, and that a draft always runs."""

from __future__ import annotations

import io
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from discreet.data.draft import NOTICE, draft_lines, draft_yaml
from discreet.data.load import open_source
from discreet.domain import Categorical, Domain, Numeric
from discreet.errors import TableError
from discreet.methods.check import check
from discreet.methods.registry import refuse_unaskable, settings_for

ROWS = 600


@pytest.fixture(scope="module")
def messy():
    """A hospital's extract as such are."""
    rng = np.random.default_rng(0)
    some = rng.choice
    return pd.DataFrame(
        {
            "patient_id": rng.permutation(ROWS) + 10_000,
            "visit": [f"V-{i:05}" for i in range(ROWS)],
            "ward_nr": np.arange(ROWS) // 4,
            "sex": some(["M", "male", "Male ", "F", "female", "FEMALE", "NA"], ROWS),
            "smoker": some(["0", "1"], ROWS),
            "stage": some(["1", "2", "3", "9"], ROWS),
            "code": some(["1", "2", "-9", "98", "99"], ROWS),
            "age": some(np.arange(19, 94), ROWS).astype(str),
            "weight": [f"{x:.1f}".replace(".", ",") for x in rng.normal(80, 9, ROWS)],
            "income": [f"{x:,.0f} EUR" for x in rng.uniform(900, 90_000, ROWS)],
            "lab": [f"{x:.2f}" if x > 0 else "." for x in rng.normal(5, 4, ROWS)],
            "pressure": some([*range(90, 180), -9, 999], ROWS),
            "flag": some(["X", ""], ROWS),
            "drug": some([f"drug {i}" for i in range(40)], ROWS, p=[0.4, 0.3] + [0.3 / 38] * 38),
            "note": [f"{i} has a cough" for i in rng.permutation(ROWS)],
            "born": pd.date_range("1950-01-01", periods=ROWS).strftime("%d.%m.%Y"),
            "empty": [""] * ROWS,
            "site": ["north"] * ROWS,
        }
    )


@pytest.fixture(scope="module")
def drafted(messy):
    return {line.name: line for line in draft_lines(open_source(messy))}


def test_what_has_no_place_in_a_graph_is_left_out_with_the_true_reason(drafted):
    reasons = {name: line.words for name, line in drafted.items() if line.column is None}
    assert reasons.keys() == {"patient_id", "visit", "ward_nr", "note", "born", "empty", "site"}
    for name, word in {"patient_id": "an id", "visit": "an id", "born": "dates", "empty": "empty"}.items():
        assert word in reasons[name]
    assert "the same value" in reasons["site"]
    assert "unit: {name: person, id: 'ward_nr', max_rows: 1}" in reasons["ward_nr"]


def test_the_same_in_several_ways_is_one_category(drafted):
    sex = drafted["sex"].column
    assert len(sex.categories) == 2
    assert [len(texts) for texts in sex.merge.values()] == [1, 1]
    assert (sex.ignore, sex.missing_codes) == (("case", "spaces"), ("NA",))


def test_numbers_have_round_bounds_and_few_whole_ones_are_codes(drafted):
    assert drafted["smoker"].column == Categorical(categories=("0", "1"), ordered=True)
    assert drafted["stage"].column.categories == ("1", "2", "3", "9")
    assert "`9`: a value, or missing" in drafted["stage"].words
    assert drafted["code"].column.missing_codes == ("-9", "98", "99")
    assert drafted["age"].column == Numeric(bounds=(10.0, 100.0))
    weight, income, lab = (drafted[name].column for name in ("weight", "income", "lab"))
    assert (weight.decimal, weight.thousands) == (",", None)
    assert (income.decimal, income.thousands, income.units) == (".", ",", ("EUR",))
    assert lab.missing_codes == (".",)
    assert drafted["pressure"].column.missing_codes == ("-9", "999")
    assert drafted["pressure"].column.bounds == (90.0, 180.0)


def test_rare_texts_go_together_and_an_empty_field_is_a_value_beside_one_other(drafted):
    drug = drafted["drug"].column
    assert len(drug.categories) <= 12
    assert drug.other == "other"
    assert drafted["flag"].column.levels == ("X", "missing")


def test_a_draft_fits_its_table_and_runs(messy):
    text = draft_yaml(open_source(messy))
    domain = Domain.from_yaml(text.removeprefix(NOTICE))
    assert check(messy, domain).fits
    refuse_unaskable(settings_for("auto", domain), domain, 1.0, 1e-6)
    columns = text.partition("columns:")[2].splitlines()
    for before, line in pairwise(columns):
        if line.startswith("  ") and not line.startswith(("   ", "  #")):
            assert before.startswith("  # ")


def test_a_csv_file_is_drafted_like_the_table_it_was_written_from(messy, tmp_path):
    messy.to_csv(tmp_path / "t.csv", index=False)
    buffer = io.StringIO((tmp_path / "t.csv").read_text())
    texts = pd.read_csv(buffer, dtype=str, keep_default_na=False)
    assert draft_yaml(open_source(str(tmp_path / "t.csv"))) == draft_yaml(open_source(texts))


def test_a_table_of_ids_and_notes_has_no_draft():
    with pytest.raises(TableError, match="no column looks like"):
        draft_lines(open_source(pd.DataFrame({"id": range(50), "note": [f"note {i}" for i in range(50)]})))


def test_what_cannot_be_known_is_asked():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.choice([*range(18, 95), 99, 99, 99, 99], 900).astype(str)})
    frame["cost"] = [f"{x // 1000}.{x % 1000:03}" for x in rng.integers(1_000, 90_000, 900)]
    frame["mood"] = rng.choice(["good", "bad", "Unknown"], 900)
    frame["flag"] = rng.random(900) < 0.5
    frame["grade"] = rng.choice([1.0, 2.0, np.nan], 900)
    lines = {line.name: line for line in draft_lines(open_source(frame))}
    assert "`99` in many rows: codes for missing?" in lines["age"].words
    assert "sign between thousands" in lines["cost"].words
    assert "`Unknown`: a value, or missing" in lines["mood"].words
    assert lines["flag"].column.categories == ("false", "true")


def test_whole_numbers_of_a_frame_and_of_its_file_have_one_draft(tmp_path):
    frame = pd.DataFrame(
        {"grade": np.random.default_rng(0).choice([1.0, 2.0, np.nan], 90), "other": ["a", "b", "c"] * 30}
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    drafts = [Domain.from_yaml(draft_yaml(open_source(data))) for data in (frame, str(tmp_path / "t.csv"))]
    assert drafts[0] == drafts[1]
    assert drafts[0]["grade"].merge == {"1": ("1.0",), "2": ("2.0",)}
    assert all(check(data, drafts[0]).fits for data in (frame, str(tmp_path / "t.csv")))
