"""The public domain: what is written stays as written, and what is unclear is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.domain import DRAFT, Categorical, Domain, Numeric
from discreet.domain.domain import check_domain
from discreet.errors import DomainError

EXAMPLE = """
rows: 100000
columns:
  smoker: {categories: [no, yes]}
  code:   {categories: [01, 1, 1.0, 1e3, null, ~, 0x1F, 2020-01-01]}
  stage:  {categories: [I, II, III], ordered: true, missing: unknown}
  age:    {bounds: [0, 110], bins: 8}
"""


def test_labels_are_text_whatever_yaml_would_make_of_them():
    domain = Domain.from_yaml(EXAMPLE)
    assert domain["smoker"].levels == ("no", "yes")
    assert domain["code"].levels == ("01", "1", "1.0", "1e3", "null", "~", "0x1F", "2020-01-01")


def test_places_of_missing_values_are_levels():
    domain = Domain.from_yaml(EXAMPLE)
    assert domain["stage"].levels == ("I", "II", "III", "unknown")
    assert domain["stage"].ordered
    assert Categorical(categories=("a", "b"), missing="b", other="c").levels == ("a", "b", "c")


def test_bins():
    age = Domain.from_yaml(EXAMPLE)["age"]
    assert age.levels[0] == "[0, 13.75)"
    assert age.levels[-1] == "[96.25, 110]"
    assert Numeric(bounds=(0, 10), bins=(0, 1, 10), missing="?").levels == ("[0, 1)", "[1, 10]", "?")
    assert Domain({"x": Numeric(bounds=(0, 1), bins=4), "y": Categorical(categories=("a",))}, rows=1).shape(
        ("x", "y")
    ) == (4, 1)


def test_round_trip():
    domain = Domain.from_yaml(EXAMPLE)
    assert Domain.from_yaml(domain.to_yaml()) == domain
    assert Domain.from_dict(domain.to_dict()) == domain


LABELS = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=12)


@given(st.lists(LABELS, min_size=1, max_size=6, unique=True), LABELS, st.booleans())
def test_any_labels_survive_yaml(labels, place, ordered):
    column = Categorical(categories=tuple(labels), ordered=ordered, missing=place)
    domain = Domain({"x": column}, rows=5, unit="visit")
    assert Domain.from_yaml(domain.to_yaml() + "\n") == domain


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("columns: {x: {categories: [a]}}\n", "rows"),
        ("rows: 10\n", "columns"),
        ("rows: 0\ncolumns: {x: {categories: [a]}}", "rows"),
        ("rows: ten\ncolumns: {x: {categories: [a]}}", "rows"),
        ("rows: 10\ncolumns: {x: {categories: []}}", "column 'x'"),
        ("rows: 10\ncolumns: {x: {categories: [a, a]}}", "twice"),
        ("rows: 10\ncolumns: {x: {categories: [a], bounds: [0, 1]}}", "either"),
        ("rows: 10\ncolumns: {x: {bounds: [1, 0]}}", "bounds"),
        ("rows: 10\ncolumns: {x: {bounds: [0, .inf]}}", "bounds"),
        ("rows: 10\ncolumns: {x: {bounds: [0, 1], bins: 0}}", "bins"),
        ("rows: 10\ncolumns: {x: {bounds: [0, 1], bins: [0, 2]}}", "bins"),
        ("rows: 10\ncolumns: {x: {categoris: [a]}}", "column 'x'"),
        ("rows: 10\ncolumns: {x: {categories: [a], oder: b}}", "oder"),
        ("rows: 10\ncolums: {}\n", "colums"),
        ("rows: 10\ncolumns: {x: {categories: [a]}, x: {categories: [b]}}", "twice"),
        ("rows: 10\ncolumns: {x: {categories: [a]}, X: {categories: [b]}}", "case"),
        ("rows: 10\ncolumns: [x, y]\n", "columns"),
        ("rows: 10\ncolumns: {x: {categories: [a], ignore: [colour]}}", "ignore: some of case, spaces"),
        ("rows: 10\ncolumns: {x: {categories: [a, A], ignore: [case]}}", "differ in what is ignored"),
        ("rows: 10\ncolumns: {x: {categories: [a, b], merge: {c: [d]}}}", "merge: a label that is not among"),
        ("rows: 10\ncolumns: {x: {categories: [a, b], merge: {a: [b]}}}", "the same text"),
        ("rows: 10\ncolumns: {x: {categories: [a, b], missing: m, missing_codes: [b]}}", "the same text"),
        ("rows: 10\ncolumns: {x: {categories: [a], decimal: ','}}", "decimal"),
        ("rows: 10\ncolumns: {x: {bounds: [0, 1], merge: {a: [b]}}}", "merge"),
        ("rows: 10\ncolumns: {x: {bounds: [0, 1], decimal: ;}}", "decimal: the sign"),
        ("rows: 10\ncolumns: {x: {bounds: [0, 1], decimal: ',', thousands: ','}}", "thousands: the sign"),
        ("rows: 10\ncolumns: {x: {bounds: [0, 1], units: ['1']}}", "units"),
        ("rows: 10\ncolumns: {x: {bounds: [0, 1], units: [e]}}", "units"),
        ("rows: 10\ncolumns: {x: {bounds: [0, 1], missing_codes: -9}}", "missing_codes: expected a list"),
        ("rows: [\n", "YAML"),
        ("\n", "domain"),
    ],
)
def test_what_is_unclear_is_refused(text, words):
    with pytest.raises(DomainError, match=words):
        Domain.from_yaml(text + "\n")


def test_a_file_that_is_not_there():
    with pytest.raises(DomainError, match="cannot be read"):
        Domain.from_yaml("nowhere.yaml")


def test_python_labels_must_be_text():
    with pytest.raises(DomainError, match="text"):
        Domain.from_dict({"rows": 3, "columns": {"x": {"categories": [0, 1]}}})


def test_some_of_the_columns():
    domain = Domain.from_yaml(EXAMPLE)
    some = domain.select(["age", "smoker"])
    assert list(some) == ["age", "smoker"]
    assert some["age"] is domain["age"]
    assert some.rows == domain.rows
    for wrong in ("age", [], ["age", "age"], ["nothing"], None):
        with pytest.raises(DomainError):
            domain.select(wrong)


def test_a_draft_stays_one_until_its_notice_is_deleted():
    draft = Domain.from_yaml(f"{DRAFT}\n{EXAMPLE}")
    assert draft == Domain.from_yaml(EXAMPLE)
    assert not Domain.from_yaml(EXAMPLE).draft
    for still in (draft, Domain.from_yaml(draft.to_yaml()), draft.select(["age"]), draft.with_rows(5)):
        assert still.draft
        assert "DRAFT" in repr(still)
        with pytest.raises(DomainError, match="Judge every line"):
            check_domain(still)


def test_a_repr_is_short_and_names_no_label():
    domain = Domain.from_yaml(EXAMPLE)
    assert repr(domain) == "<Domain: 4 columns, 1 of them numbers, 100,000 rows>"


SPELLED = """\
rows: 10
columns:
  sex:
    categories: [male, female]
    missing: unknown
    missing_codes: [NA, '-9']
    ignore: [case, spaces]
    merge: {male: [m]}
  weight: {bounds: [0, 250], missing: none, missing_codes: ['999'], decimal: ',', thousands: '.', units: [kg]}
"""


def test_how_values_are_written_is_read_and_written_back():
    domain = Domain.from_yaml(SPELLED)
    assert domain["sex"].spellings == (("male", 0), ("female", 1), ("unknown", 2), ("m", 0), ("na", None), ("-9", None))
    assert domain["weight"].rewriting == (("kg", ""), (".", ""), (".", "?"), (",", "."))
    assert Domain.from_yaml(domain.to_yaml()) == domain == Domain.from_dict(domain.to_dict())
    assert hash(domain["sex"]) == hash(Domain.from_yaml(SPELLED)["sex"])
    assert domain.with_bins(4)["weight"].missing_codes == ("999",)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (Categorical, {"missing_codes": "NA"}),
        (Categorical, {"ignore": "case"}),
        (Categorical, {"merge": {"a": "Ax"}}),
        (Categorical, {"merge": ["a"]}),
        (Categorical, {"missing_codes": (-9,)}),
        (Numeric, {"units": "kg"}),
        (Numeric, {"missing_codes": "-9"}),
    ],
)
def test_one_text_is_no_list_of_its_letters(kind, given):
    rest = {"categories": ("a", "b")} if kind is Categorical else {"bounds": (0, 1)}
    with pytest.raises(DomainError, match=next(iter(given))):
        kind(**rest, **given)
