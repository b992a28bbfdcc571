"""Tables: every source gives the same codes, encoding is total, and nothing of a datum gets into an error."""

from __future__ import annotations

import gzip
from itertools import combinations

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data import load as loading
from discreet.data.counting import count
from discreet.data.load import load, open_source
from discreet.data.memory import MemoryTable
from discreet.data.stream import StreamTable
from discreet.domain import Categorical, Domain, Numeric
from discreet.errors import MisfitError, RoomError, TableError

HOSTILE = 'sel"ect; DROP TABLE x; --'
DOMAIN = Domain(
    {
        "smoker": Categorical(categories=("no", "yes")),
        HOSTILE: Categorical(categories=("it's", 'a "b"', "naïve", "*"), missing="none", other="else"),
        "code": Categorical(categories=("01", "1", "1.0"), other="1"),
        "age": Numeric(bounds=(0, 100), bins=4, missing="unknown"),
        "dose": Numeric(bounds=(-1, 1), bins=(-1, 0, 0.5, 1), other="bad"),
    },
    rows=6,
)
RAW = {
    "smoker": ["no", "yes", "yes", "no", "no", "yes"],
    HOSTILE: ["it's", 'a "b"', None, "naïve", "strange", "*"],
    "code": ["01", "1", "1.0", "2", "01", "1"],
    "age": ["0", "25", "99.9", "100", None, "-5"],
    "dose": ["-2", "-0.01", "0", "0.5", "1e9", "x"],
}
CODES = {
    "smoker": [0, 1, 1, 0, 0, 1],
    HOSTILE: [0, 1, 4, 2, 5, 3],
    "code": [0, 1, 2, 1, 0, 1],
    "age": [0, 1, 3, 3, 4, 0],
    "dose": [0, 0, 1, 2, 2, 3],
}
PAIRS = list(combinations(sorted(DOMAIN), 2))


def expected(sets):
    codes = {name: np.array(column, dtype=np.uint8) for name, column in CODES.items()}
    return MemoryTable(codes, {name: DOMAIN.size(name) for name in DOMAIN}).counts(sets)


def sources(folder):
    frame = pd.DataFrame(RAW)
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_csv(folder / "t.csv.gz", index=False)
    frame.to_csv(folder / "t.tsv", index=False, sep="\t")
    frame.to_parquet(folder / "t.parquet")
    frame.to_csv(folder / "[odd] *name?.csv", index=False)
    with duckdb.connect(str(folder / "t.duckdb")) as connection:
        connection.register("frame", frame)
        connection.execute('CREATE TABLE "my table" AS SELECT * FROM frame')
        connection.execute("CREATE TABLE other AS SELECT 1 AS x")
    yield from (folder / name for name in ("t.csv", "t.csv.gz", "t.tsv", "t.parquet", "[odd] *name?.csv"))
    yield f"{folder / 't.duckdb'}?table=my table"
    yield frame
    yield frame.astype(object)
    yield frame.astype("category")
    yield pl.DataFrame(RAW)
    yield pl.DataFrame(RAW).lazy()
    yield pa.table(RAW)
    yield pa.table(RAW).to_batches()[0]
    yield {name: np.array(column, dtype=object) for name, column in RAW.items()}
    yield np.array(list(RAW.values()), dtype=object).T
    yield frame.to_records(index=False)


def test_every_source_gives_the_same_counts(tmp_path):
    wanted = expected(PAIRS)
    seen = 0
    for source in sources(tmp_path):
        counted = load(source, DOMAIN).counts(PAIRS)
        for a, b in zip(counted, wanted, strict=True):
            np.testing.assert_array_equal(a, b, err_msg=str(type(source)))
        seen += 1
    assert seen == 16


def test_a_streamed_table_counts_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "MEMORY_BYTES", 1)
    monkeypatch.setattr("discreet.data.stream.BATCH", 2)
    pd.DataFrame(RAW).to_parquet(tmp_path / "t.parquet")
    table = load(tmp_path / "t.parquet", DOMAIN)
    assert isinstance(table, StreamTable)
    sets = [*PAIRS, ("age", "code", "smoker"), ("age",)]
    for a, b in zip(table.counts(sets), expected(sets), strict=True):
        np.testing.assert_array_equal(a, b)
    assert table.sums([("age",), ("age", "code")]) == [11, 10]
    monkeypatch.setattr(loading, "MEMORY_BYTES", 1 << 30)
    assert load(tmp_path / "t.parquet", DOMAIN).sums([("age",), ("age", "code")]) == [11, 10]


@pytest.mark.parametrize(
    ("values", "categories", "codes"),
    [
        (np.array([1, 0, 1]), ("0", "1"), [1, 0, 1]),
        (np.array([1.0, 0.0, np.nan]), ("0", "1"), [1, 0, 2]),
        (np.array([1, 0, 2]), ("00", "01", "02"), [1, 0, 2]),
        (np.array([True, False, True]), ("False", "True"), [1, 0, 1]),
        (np.array([0.1, 0.2, 0.1], dtype=np.float32), ("0.1", "0.2"), [0, 1, 0]),
        (pd.array([1, None, 0], dtype="Int64"), ("0", "1"), [1, 2, 0]),
        (np.array([2**60, 2**60 + 1, 2**60]), (str(2**60), str(2**60 + 1)), [0, 1, 0]),
        (pd.to_datetime(["2020-01-01", "2021-01-01", None]).date, ("2020-01-01", "2021-01-01"), [0, 1, 2]),
    ],
)
def test_numbers_and_truth_values_meet_their_labels(values, categories, codes):
    domain = Domain({"x": Categorical(categories=categories, missing="none")}, rows=3)
    table = load(pd.DataFrame({"x": values}), domain)
    np.testing.assert_array_equal(table.counts([("x",)])[0], np.bincount(codes, minlength=domain.size("x")))


def test_two_labels_for_one_number_are_refused_for_numbers_but_not_for_text():
    domain = Domain({"x": Categorical(categories=("1", "01"))}, rows=1)
    with pytest.raises(Exception, match="column 'x'"):
        load(pd.DataFrame({"x": [1]}), domain)
    assert load(pd.DataFrame({"x": ["01"]}), domain).counts([("x",)])[0].tolist() == [0, 1]


def test_infinities_are_clipped_and_nan_is_missing():
    domain = Domain({"x": Numeric(bounds=(0, 1), bins=2, missing="none")}, rows=4)
    table = load({"x": np.array([np.inf, -np.inf, np.nan, 0.5])}, domain)
    assert table.counts([("x",)])[0].tolist() == [1, 2, 1]


def test_a_numeric_column_without_bins_is_encoded_on_a_fine_grid():
    domain = Domain({"x": Numeric(bounds=(0, 1))}, rows=3)
    table = load({"x": np.array([0.0, 0.5, 2.0])}, domain)
    assert table.sums([("x",)]) == [32767 + 65533]


SECRET = "SECRET-4711"


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        ({"x": ["a", "b", SECRET], "y": ["a", "a", "a"]}, MisfitError, "column 'x' holds foreign"),
        ({"x": ["a", "b", None], "y": ["a", "a", "a"]}, MisfitError, "column 'x' holds missing"),
        ({"x": ["a", "b", "a"], "y": [SECRET, "a", None]}, MisfitError, "column 'y' holds missing and foreign"),
        ({"x": ["a", "b", SECRET]}, MisfitError, "no column 'y'"),
        ({"X": ["a", "b", SECRET], "y": ["a", "a", "a"]}, MisfitError, "no column 'x'"),
        ({"x": ["a", SECRET], "y": ["a", "a"]}, MisfitError, "rows"),
        ({"x": [], "y": []}, TableError, "no rows"),
        ({"x": [SECRET], "y": ["a", "a"]}, TableError, "one length"),
        (np.array([[SECRET]]), TableError, "columns"),
        (SECRET, TableError, "file"),
        (3, TableError, "expected a path"),
        (pd.Series([SECRET]), TableError, "expected a path"),
        (pd.DataFrame([[SECRET, "a"]] * 3, columns=["x", "x"]), TableError, "two columns"),
    ],
)
def test_errors_name_columns_and_never_values(data, error, words):
    domain = Domain({"x": Categorical(categories=("a", "b")), "y": Categorical(categories=("a",))}, rows=3)
    with pytest.raises(error, match=words) as caught:
        load(data, domain)
    if not isinstance(data, str):
        assert SECRET not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "duckdb", "csv.gz", "txt"])
def test_files_that_are_not_tables(tmp_path, suffix):
    path = tmp_path / f"x.{suffix}"
    path.write_bytes(b"")
    domain = Domain({"x": Categorical(categories=("a",))}, rows=3)
    with pytest.raises(TableError):
        load(path, domain)
    path.write_bytes(np.random.default_rng(1).bytes(4000) + SECRET.encode())
    with pytest.raises(TableError) as caught:
        load(path, domain)
    assert SECRET not in str(caught.value)
    with pytest.raises(TableError, match="not a file"):
        load(tmp_path, domain)


@pytest.mark.parametrize(("second", "words"), [("age", "'age' and 'age': rename"), ("AGE", "'age' and 'AGE', which")])
def test_columns_by_one_name_are_named(tmp_path, second, words):
    (tmp_path / "a.csv").write_text(f"age,sex,{second}\n77123,f,1\n", encoding="utf-8")
    with pytest.raises(TableError, match=words) as caught:
        open_source(tmp_path / "a.csv")
    assert "77123" not in str(caught.value)


def test_which_table_of_a_database(tmp_path):
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute("CREATE TABLE a AS SELECT 1 AS x")
        connection.execute("CREATE TABLE b AS SELECT 1 AS x")
    with pytest.raises(TableError, match="which table"):
        open_source(tmp_path / "t.duckdb")
    with pytest.raises(TableError, match="no such table"):
        open_source(f"{tmp_path / 't.duckdb'}?table=c")


def test_rows_cannot_be_copied_or_pickled_or_shown():
    import copy
    import pickle

    table = load({"x": ["a", "b"]}, Domain({"x": Categorical(categories=("a", "b"))}, rows=2))
    for forbidden in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(RoomError):
            forbidden(table)
    assert repr(table) == str(table) == "<MemoryTable: rows are held here>"


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_counting_agrees_with_brute_force(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    sizes = {f"c{i}": data.draw(st.sampled_from([1, 2, 3, 5, 70, 300])) for i in range(5)}
    rows = data.draw(st.integers(1, 300))
    codes = {c: rng.integers(0, s, rows).astype(np.uint16 if s > 256 else np.uint8) for c, s in sizes.items()}
    sets = [s for k in (1, 2, 3) for s in combinations(sizes, k) if np.prod([sizes[c] for c in s]) < 1e6]
    for columns, table in zip(sets, count(codes, sizes, sets), strict=True):
        wanted = np.zeros([sizes[c] for c in columns], dtype=np.int64)
        np.add.at(wanted, tuple(codes[c] for c in columns), 1)
        np.testing.assert_array_equal(table, wanted)


def test_a_key_as_wide_as_its_type():
    """256 cells fit into a byte, the factor 256 does not."""
    codes = {"a": np.zeros(10, dtype=np.uint8), "b": np.arange(10, dtype=np.uint8)}
    (table,) = count(codes, {"a": 1, "b": 256}, [("a", "b")])
    assert table.sum() == 10
    assert table[0, :10].tolist() == [1] * 10


@pytest.mark.parametrize("rows", [0, 1, 7, 33, 1000, 4099, 140_001])
@pytest.mark.parametrize("sizes", [(1,), (2,), (3, 3), (2, 5, 3), (9, 10), (16, 17), (300, 2)], ids=str)
def test_few_cells_are_counted_several_rows_at_once_and_the_same(rows, sizes):
    rng = np.random.default_rng(rows)
    codes = {f"c{j}": rng.integers(0, size, rows).astype(np.uint16) for j, size in enumerate(sizes)}
    expected = np.zeros(sizes, dtype=np.int64)
    np.add.at(expected, tuple(codes.values()), 1)
    (counted,) = MemoryTable(codes, dict(zip(codes, sizes, strict=True))).counts([tuple(codes)])
    assert counted.dtype == np.int64
    np.testing.assert_array_equal(counted, expected)


def test_a_sample_of_rows_answers_as_a_table_of_those_rows():
    rng = np.random.default_rng(4)
    sizes = {"a": 2, "b": 3, "c": 5}
    codes = {c: rng.integers(0, size, 60).astype(np.uint8) for c, size in sizes.items()}
    table, chosen = MemoryTable(codes, sizes), np.sort(rng.permutation(60)[:25])
    plain = MemoryTable({c: column[chosen] for c, column in codes.items()}, sizes)
    sample = table.take(chosen)
    sets = [("a",), ("b", "c"), ("a", "b", "c")]
    assert sample.rows == 25
    for found, expected in zip(sample.counts(sets), plain.counts(sets), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert sample.sums([("c",), ("b", "c")]) == plain.sums([("c",), ("b", "c")])
    coarse = {"c": np.array([0, 0, 1, 1, 1])}
    np.testing.assert_array_equal(
        sample.recode(coarse, {**sizes, "c": 2}).counts([("b", "c")])[0],
        plain.recode(coarse, {**sizes, "c": 2}).counts([("b", "c")])[0],
    )
    again = np.array([3, 0, 7])
    np.testing.assert_array_equal(sample.take(again).counts(sets)[2], plain.take(again).counts(sets)[2])


@pytest.mark.parametrize(
    "tail", ['yes,no,"x', 'yes,no,"x\n', 'yes,no,"x""\n', 'yes,"no,x', 'yes,no,"x\nno,no,no\n', '"']
)
@pytest.mark.parametrize("zipped", [False, True])
def test_a_quote_that_is_never_closed_drops_no_rows(tmp_path, tail, zipped):
    opened = gzip.open if zipped else open
    path = tmp_path / ("t.csv.gz" if zipped else "t.csv")
    sound = 'a,b,c\nyes,no,"it is 5"" long"\nyes,no,5" wide\n"one\ntwo",no,"x"\n'
    for text, rows in ((sound, 3), (sound + 'no,no,"x"', 4), (sound + tail, None)):
        with opened(path, "wt", newline="") as file:
            file.write(text)
        if rows is not None:
            assert open_source(path).rows == rows
            continue
        with pytest.raises(TableError, match=r"file 't\.csv.*(never closed|cannot be read)") as failed:
            open_source(path)
        assert "yes" not in str(failed.value)


def test_a_file_without_names_does_not_show_its_first_row(tmp_path):
    (tmp_path / "t.csv").write_text("4711,4711\n1,2\n")
    with pytest.raises(TableError, match="does its first line hold names") as refused:
        open_source(str(tmp_path / "t.csv"))
    assert "4711" not in str(refused.value)


def test_a_line_with_another_number_of_fields_is_hinted_at(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4,5\n")
    with pytest.raises(TableError, match="as many fields as the header"):
        load(tmp_path / "t.csv", Domain({"a": Categorical(categories=("1", "3"))}, rows=2))


def test_what_codes_take_follows_from_public_facts():
    narrow, wide = (Categorical(categories=tuple(map(str, range(n)))) for n in (2, 300))
    assert loading._bytes(Domain({"a": narrow, "b": narrow}, rows=1000)) == 2000
    assert loading._bytes(Domain({"a": narrow, "b": wide}, rows=1000)) == 3000


def test_parquet_files_of_folders_within_folders_are_one_table(tmp_path):
    for folder in ("a", "a/b"):
        (tmp_path / folder).mkdir()
        pl.DataFrame({"x": ["0", "1"]}).write_parquet(tmp_path / folder / "t.parquet")
    domain = Domain({"x": Categorical(categories=("0", "1"))}, rows=4)
    assert load(str(tmp_path / "**" / "*.parquet"), domain).counts([("x",)])[0].tolist() == [2, 2]
