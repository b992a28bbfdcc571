"""Encoding is row by row: replacing one row changes that row's cells and nothing else, whatever it holds."""

from __future__ import annotations

import decimal
import fractions
import gzip
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.data.load import load, open_source
from discreet.domain import Categorical, Domain, Numeric
from discreet.errors import DiscreetError, MisfitError, TableError

ROWS = 50
SECRET = "SECRET-4711"


def places(**columns):
    return Domain(columns, rows=ROWS)


def moved(data, domain, other):
    """L1 distance of the counts of all columns on two tables."""
    sets = [(c,) for c in domain]
    pairs = zip(load(data, domain).counts(sets), load(other, domain).counts(sets), strict=True)
    return sum(int(np.abs(a - b).sum()) for a, b in pairs)


ODD_LINES = [
    '"a"x,b',
    "'a',b",
    "#a,b",
    '"a,b',
    "a;b",
    "a,b,c",
    "a",
    '""",""',
    "",
    ",",
    "a\tb",
    " a, b",
    '"a\nb",b',
    "\x00,a",
]


@pytest.mark.parametrize("style", ['"a","b"', "a,b", "'a','b'"])
@pytest.mark.parametrize("odd", ODD_LINES)
def test_no_line_of_a_csv_file_changes_how_others_are_read(tmp_path, style, odd):
    """A neighbouring file is read with at most that one row changed, or not at all."""
    column = Categorical(categories=("a", "b"), missing="m", other="o")
    domain = places(x=column, y=column)
    lines = [style] * ROWS
    (tmp_path / "one.csv").write_text("x,y\n" + "\n".join(lines) + "\n")
    (tmp_path / "two.csv").write_text("x,y\n" + "\n".join([*lines[:20], odd, *lines[21:]]) + "\n")
    try:
        changed = moved(tmp_path / "one.csv", domain, tmp_path / "two.csv")
    except TableError:
        changed = 0
    assert changed <= 4
    assert load(tmp_path / "one.csv", domain).rows == ROWS


@pytest.mark.parametrize("odd", [None, "z", 2, 0.5, True, float("nan"), np.inf, (1, 2), b"0", 10**40, pd.NaT])
@pytest.mark.parametrize("usual", [0, 0.0, False, "0"])
def test_no_value_of_a_list_or_object_column_changes_how_others_are_read(usual, odd):
    domain = places(x=Categorical(categories=("0", "1"), missing="m", other="o"))
    values = [usual] * ROWS
    other = [*values[:7], odd, *values[8:]]
    assert moved({"x": values}, domain, {"x": other}) <= 2
    frame, neighbour = (pd.DataFrame({"x": pd.Series(v, dtype=object)}) for v in (values, other))
    assert moved(frame, domain, neighbour) <= 2
    assert load({"x": values}, domain).counts([("x",)])[0].tolist() == [ROWS, 0, 0, 0]


@pytest.mark.parametrize("odd", [0.5, 1.0, np.nan, np.inf, -3.0])
def test_no_value_of_a_parquet_file_changes_how_others_are_read(tmp_path, odd):
    """Statistics of a Parquet file do not know of NaN; the encoding must not rely on them."""
    domain = places(
        x=Numeric(bounds=(0, 2), bins=2, missing="m"), y=Categorical(categories=("0.7",), missing="m", other="o")
    )
    values = np.array([0.7, 0.7] + [np.nan] * (ROWS - 2))
    other = np.where(np.arange(ROWS) == 1, odd, values)
    for name, column in (("one", values), ("two", other)):
        pq.write_table(pa.table({"x": pa.array(column), "y": pa.array(column)}), tmp_path / f"{name}.parquet")
    assert load(tmp_path / "one.parquet", domain).counts([("x",)])[0].tolist() == [2, 0, ROWS - 2]
    assert moved(tmp_path / "one.parquet", domain, tmp_path / "two.parquet") <= 4


def test_nan_without_a_place_stops_the_load(tmp_path):
    pq.write_table(pa.table({"x": pa.array([1.0] * (ROWS - 1) + [np.nan])}), tmp_path / "x.parquet")
    with pytest.raises(MisfitError, match="missing"):
        load(tmp_path / "x.parquet", places(x=Numeric(bounds=(0, 2), bins=2)))


def test_folder_names_are_not_data(tmp_path):
    folder = tmp_path / "x=b"
    folder.mkdir()
    frame = pd.DataFrame({"x": ["a"] * ROWS})
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_parquet(folder / "t.parquet")
    domain = places(x=Categorical(categories=("a", "b")))
    for name in ("t.csv", "t.parquet"):
        assert load(folder / name, domain).counts([("x",)])[0].tolist() == [ROWS, 0]


@pytest.mark.parametrize(("bounds", "bins"), [((0, 110), 22), ((0, 100), 100), ((-1, 1), 10), ((0.1, 0.7), 6)])
def test_a_value_on_an_edge_is_in_the_bin_that_begins_there(bounds, bins):
    column = Numeric(bounds=bounds, bins=bins)
    values = np.array(column.edges)
    table = load({"x": values}, Domain({"x": column}, rows=len(values)))
    wanted = np.ones(bins, dtype=int)
    wanted[-1] = 2  # the last bin holds the upper bound
    assert table.counts([("x",)])[0].tolist() == wanted.tolist()


def test_masked_values_are_missing():
    values = np.ma.masked_array([1, 0, 1, 0] * 12 + [1, 1], mask=[False, True] * 25)
    domain = places(x=Categorical(categories=("0", "1"), missing="m"))
    assert load({"x": values}, domain).counts([("x",)])[0].tolist() == [0, 25, 25]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x,x\n", "two columns"),
        ("x,X\n", "two columns"),
        ("x,\n", "no name"),
        ('x,"y\n', "not closed"),
        ("\n", "names"),
    ],
)
def test_headers_that_make_no_sense(tmp_path, text, words):
    (tmp_path / "t.csv").write_text(text + "a,b\n")
    with pytest.raises(TableError, match=words):
        open_source(tmp_path / "t.csv")


@pytest.mark.parametrize("delimiter", [",", ";", "|", "\t"])
def test_the_header_line_tells_the_delimiter(tmp_path, delimiter):
    lines = [delimiter.join(('"x, y"', "z")), delimiter.join(("a", '"b; | c"'))]
    with gzip.open(tmp_path / "t.csv.gz", "wt", encoding="utf-8-sig") as file:
        file.write("\r\n".join(lines) + "\r\n")
    domain = Domain({"x, y": Categorical(categories=("a",)), "z": Categorical(categories=("b; | c",))}, rows=1)
    assert [t.tolist() for t in load(tmp_path / "t.csv.gz", domain).counts([("x, y",), ("z",)])] == [[1], [1]]


def test_parquet_names_that_differ_in_case(tmp_path):
    pq.write_table(pa.table({"x": ["a"], "X": ["b"]}), tmp_path / "t.parquet")
    with pytest.raises(TableError, match="case"):
        open_source(tmp_path / "t.parquet")


def test_times_are_read_in_utc(tmp_path, monkeypatch):
    monkeypatch.setenv("TZ", "America/New_York")
    moment = pd.Series(pd.to_datetime(["2020-01-01T00:30Z"] * ROWS))
    pd.DataFrame({"x": moment}).to_parquet(tmp_path / "t.parquet")
    domain = places(x=Categorical(categories=("2020-01-01 00:30:00+00",), other="o"))
    assert load(tmp_path / "t.parquet", domain).counts([("x",)])[0].tolist() == [ROWS, 0]


class Shy:
    """An object that answers every question with an error that quotes it."""

    def __str__(self):
        raise ValueError(SECRET)

    __repr__ = __str__


def hostile(folder):
    yield {"x": [Shy()] * ROWS}
    yield pd.DataFrame({"x": [Shy()] * ROWS})
    yield pl.DataFrame({"x": [SECRET] * ROWS}).lazy().select(pl.col("x").cast(pl.Int64))
    yield pd.DataFrame({"x": np.array([1 + 2j] * ROWS)})
    yield {"x": np.array([1 + 2j] * ROWS)}
    yield {"x": [[1], [2, 3]]}
    yield {"x": np.array([SECRET.encode()] * ROWS)}
    (folder / "late.csv").write_text("x\n" + "a\n" * 60_000 + f"{SECRET},b,c\n")
    yield folder / "late.csv"
    (folder / "bad.csv").write_bytes(b"x\n" + b"a\n" * 49 + SECRET.encode() + b"\xff\xfe\n")
    yield folder / "bad.csv"
    with duckdb.connect(str(folder / "v.duckdb")) as connection:
        connection.execute(f"CREATE VIEW v AS SELECT CAST('{SECRET}' AS INTEGER) AS x")
    yield folder / "v.duckdb"


def test_no_source_gets_a_datum_into_an_error(tmp_path):
    domain = places(x=Categorical(categories=("a", "b")))
    seen = 0
    for data in hostile(tmp_path):
        with pytest.raises(DiscreetError) as caught:
            load(data, domain)
        error: BaseException | None = caught.value
        while error is not None:
            assert SECRET not in str(error)
            error = error.__context__ or error.__cause__
        seen += 1
    assert seen == 10


def test_labels_that_are_not_text_are_refused():
    with pytest.raises(DiscreetError, match="Unicode"):
        Categorical(categories=("\ud800",))


@pytest.mark.parametrize("label", ["1e5000", "1e999999999", "1.5e-400", "9" * 60])
def test_labels_that_are_no_useful_numbers_match_no_number(label):
    domain = places(x=Categorical(categories=(label, "1"), other="o"))
    assert load({"x": np.ones(ROWS)}, domain).counts([("x",)])[0].tolist() == [0, ROWS, 0]
    assert load({"x": np.zeros(ROWS)}, domain).counts([("x",)])[0].tolist() == [0, 0, ROWS]


@pytest.mark.parametrize(
    ("values", "counts"),
    [
        (["0", "", None, "1"], [1, 1, 2, 0]),
        (pa.array([0, None, 1, 1]), [1, 2, 1, 0]),
        (pa.array([0.0, np.nan, 1.0, 7.0]), [1, 1, 1, 1]),
        (pd.Series([0, None, 1, 1], dtype="Int64"), [1, 2, 1, 0]),
        (pl.Series([0, None, 1, 1]), [1, 2, 1, 0]),
        ([np.datetime64("NaT"), np.ma.masked, 0, pd.NaT], [1, 0, 3, 0]),
        ([10**400, 10**5000, 0, 1], [1, 1, 0, 2]),
        ([decimal.Decimal("1.0"), decimal.Decimal("sNaN"), fractions.Fraction(0), 1.0], [1, 2, 1, 0]),
    ],
)
def test_columns_of_a_dictionary_are_read_like_columns_of_a_table(values, counts):
    domain = Domain({"x": Categorical(categories=("0", "1"), missing="m", other="o")}, rows=4)
    assert load({"x": values}, domain).counts([("x",)])[0].tolist() == counts


def test_empty_texts_are_missing_everywhere(tmp_path):
    domain = Domain(
        {"x": Categorical(categories=("a",), missing="m"), "y": Numeric(bounds=(0, 1), bins=1, missing="m")}, rows=2
    )
    frame = pd.DataFrame({"x": ["a", ""], "y": ["1", ""]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    for source in (frame, pl.DataFrame(frame.to_dict("list")), tmp_path / "t.csv", frame.to_dict("list")):
        assert [t.tolist() for t in load(source, domain).counts([("x",), ("y",)])] == [[1, 1], [1, 1]]


def test_enumerations_are_text(tmp_path):
    """Also where a label, or the empty text, is not among an enumeration's values."""
    with duckdb.connect(str(tmp_path / "e.duckdb")) as connection:
        connection.execute("CREATE TYPE e AS ENUM ('a', 'b')")
        connection.execute("CREATE TABLE t AS SELECT * FROM (VALUES ('a'::e), ('b'::e), (NULL)) v(x)")
    domain = Domain({"x": Categorical(categories=("a", "z"), missing="m", other="o")}, rows=3)
    coded = pl.DataFrame({"x": ["a", "b", None]}).with_columns(pl.col("x").cast(pl.Categorical))
    for source in (tmp_path / "e.duckdb", coded, pa.table({"x": pa.array(["a", "b", None]).dictionary_encode()})):
        assert load(source, domain).counts([("x",)])[0].tolist() == [1, 0, 1, 1]


def test_truth_values_are_numbers_in_numeric_columns():
    domain = Domain({"x": Numeric(bounds=(0, 1), bins=2, missing="m")}, rows=3)
    for values in (np.array([True, False, True]), [True, False, True]):
        assert load({"x": values}, domain).counts([("x",)])[0].tolist() == [1, 2, 0]


def test_moments_are_written_alike():
    moments = np.array(["2020-01-01T00:00:00", "2020-01-01T00:00:00.5"], dtype="datetime64[ns]")
    domain = Domain({"x": Categorical(categories=("2020-01-01 00:00:00", "2020-01-01 00:00:00.5"))}, rows=2)
    for source in ({"x": moments}, pd.DataFrame({"x": moments}), pl.DataFrame({"x": moments})):
        assert load(source, domain).counts([("x",)])[0].tolist() == [1, 1]


def test_large_files_with_line_breaks_in_quotes(tmp_path):
    rows = 300_000
    with (tmp_path / "t.csv").open("w") as file:
        file.write("x,note\n" + 'a,"a line\nq,r\ns,t\nand more words to fill it"\n' * rows)
    domain = Domain({"x": Categorical(categories=("a",))}, rows=rows)
    assert load(tmp_path / "t.csv", domain).counts([("x",)])[0].tolist() == [rows]


def test_views_are_not_read(tmp_path):
    with duckdb.connect(str(tmp_path / "v.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 'a' AS x")
        connection.execute("CREATE VIEW v AS SELECT * FROM t")
    assert open_source(tmp_path / "v.duckdb").rows == 1
    with pytest.raises(TableError, match="views"):
        open_source(f"{tmp_path / 'v.duckdb'}?table=v")


@pytest.mark.parametrize(
    "content", [b"x,y\ra,b\r", b"x" * 200_000 + b",y\na,b\n", b"\x1f\x8b\x08damaged"], ids=["CR", "long", "gzip"]
)
def test_odd_files_end_in_a_typed_error_or_are_read(tmp_path, content):
    path = tmp_path / ("t.csv.gz" if content.startswith(b"\x1f") else "t.csv")
    path.write_bytes(content)
    try:
        assert open_source(path).rows == 1
    except TableError as error:
        shown = str(error)
        assert path.name in shown


@pytest.mark.parametrize(
    "frame",
    [
        pa.table({"a": [0, 1], "b": pa.array([None, None], type=pa.decimal256(70, 2))}),
        pl.DataFrame({"a": [0, 1], "b": pl.Series([object(), object()], dtype=pl.Object)}),
        pd.DataFrame({"a": [0, 1], "b": np.array([1j, 2j])}),
        {"a": [0, 1], "b": np.array([1j, 2j])},
    ],
    ids=["arrow", "polars", "pandas", "numpy"],
)
def test_the_column_that_cannot_be_read_is_named(frame):
    domain = Domain({c: Categorical(categories=("0", "1"), other="o") for c in "ab"}, rows=2)
    with pytest.raises(TableError, match="'b'"):
        load(frame, domain)


@pytest.mark.parametrize("odd", ["M", " male", "-9", "NA", "", "x", "1.234,5 kg", "1,5", "nan", "1e999", "\u00a0", "?"])
def test_rules_for_how_values_are_written_are_about_one_value(tmp_path, odd):
    spelled = Categorical(
        categories=("male", "female"),
        merge={"male": ("m",)},
        ignore=("case", "spaces"),
        missing="gone",
        missing_codes=("NA", "-9"),
        other="else",
    )
    numbers = Numeric(bounds=(0, 2000), bins=5, missing="gone", missing_codes=("-9",), other="else", decimal=",")
    domain = places(x=spelled, y=replace(numbers, thousands=".", units=("kg",)), z=replace(numbers, bins=None))
    values = ["male", "Female ", "7", "1,5", "NA"] * (ROWS // 5)
    other = [*values[:20], odd, *values[21:]]
    tables = [{"x": column, "y": column, "z": column} for column in (values, other)]
    for kind in ("frame", "csv"):
        data = [pd.DataFrame(table) for table in tables]
        if kind == "csv":
            for i, frame in enumerate(data):
                frame.to_csv(tmp_path / f"{i}.csv", index=False)
            data = [tmp_path / f"{i}.csv" for i in range(2)]
        assert moved(data[0], domain, data[1]) <= 6


def test_a_float_is_the_label_that_it_is_nearest_to():
    domain = Domain({"x": Categorical(categories=("0.1", "0.3"))}, rows=3)
    assert load({"x": [0.1, 0.3, np.float64(0.1)]}, domain).counts([("x",)])[0].tolist() == [2, 1]
