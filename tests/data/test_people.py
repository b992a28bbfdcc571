"""People with several rows: which rows are used, how far one person moves them, and that budgets know of it."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from itertools import combinations_with_replacement, product

import numpy as np
import pandas as pd
import polars
import pyarrow
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.data import load as loading
from discreet.data import people
from discreet.data.load import Reading, load, open_source
from discreet.data.stream import StreamTable
from discreet.domain import People
from discreet.errors import DomainError, DoubtWarning, MisfitError, ReleaseError
from discreet.privacy.statement import Privacy
from discreet.release.discovery import Discovery
from discreet.report.html import report_html
from discreet.report.terminal import statement_text
from support.people import KEYS, bounded, domain_of, drawn_rows, sample_rows


def moved(a, b):
    """Return how many rows must be replaced to turn one multiset into another of the same size."""
    assert a.total() == b.total()
    return (a - b).total()


def multisets(values, most):
    return [rows for size in range(most + 1) for rows in combinations_with_replacement(values, size)]


def farthest(sizes, n, most, keys, largest, choose=bounded):
    """Return the most rows that one person moves: over all tables of three small people and all neighbours."""
    values, found = list(product(*map(range, sizes))), 0
    each = multisets(values, largest)
    for key, others in product(keys, product(each, repeat=2)):
        rest = [(who, codes) for who, rows in zip("bc", others, strict=True) for codes in rows]
        seen = {frozenset(choose([*rest, *((who, c) for c in rows)], sizes, n, most, key).items()): None
                for who in "ad" for rows in each}  # fmt: skip
        tables = [Counter(dict(table)) for table in seen]
        found = max([found, *(moved(a, b) for a in tables for b in tables)])
    return found


@pytest.mark.parametrize(("n", "most"), [(1, 1), (3, 1), (2, 2), (4, 2), (7, 2), (5, 3)])
def test_a_person_moves_as_many_rows_as_are_kept_and_no_more(n, most):
    assert farthest((2,), n, most, KEYS, largest=3) == min(most, n)


def test_a_person_moves_as_many_rows_as_are_kept_of_larger_values():
    assert farthest((2, 2), 4, 2, KEYS[:1], largest=2) == 2


def without_cut(rows, sizes, n, most, key):
    return bounded(rows, sizes, n, 10**6, key)


def first_rows(rows, sizes, n, most, key):
    """Cut all rows first, then those of each person, and fill up."""
    labelled = [(sha256(f"{key};{i};{r}".encode()).hexdigest(), r) for i, r in enumerate(rows)]
    return bounded([r for _, r in sorted(labelled)[: n - 1]], sizes, n, most, key)


def drawn_anew(rows, sizes, n, most, key):
    return bounded(rows, sizes, n, most, key, prefix=False)


@pytest.mark.parametrize("mutant", [without_cut, first_rows, drawn_anew])
def test_the_check_catches_what_is_wrong(mutant):
    assert farthest((2,), 5, 1, KEYS, largest=3, choose=mutant) > 1


def test_larger_tables_searched_at_random():
    rng, reached = np.random.default_rng(1), 0
    for _ in range(400):
        sizes, most, n = (3, 2), int(rng.integers(1, 5)), int(rng.integers(5, 60))
        rows = [(f"p{rng.integers(12)}", tuple(map(int, rng.integers(0, sizes)))) for _ in range(rng.integers(70))]
        person = f"p{rng.integers(12)}"
        rest = [row for row in rows if row[0] != person]
        new = [(str(rng.choice([person, "new"])), None)] * int(rng.integers(0, 9))
        changed = rest + [(new[0][0], tuple(map(int, rng.integers(0, sizes)))) for _ in new]
        key = sha256(rng.bytes(8)).hexdigest()
        change = moved(bounded(rows, sizes, n, most, key), bounded(changed, sizes, n, most, key))
        assert change <= most
        reached += change == most > 1
    assert reached > 10


def frame_of(rows, sizes):
    frame = {f"x{j}": [str(codes[j]) for _, codes in rows] for j in range(len(sizes))}
    return {"who": [who for who, _ in rows], **frame}


def codes_of(table, sizes):
    return Counter(map(tuple, np.column_stack(table.values([f"x{j}" for j in range(len(sizes))])).tolist()))


def engine(rows, sizes, n, most, key):
    """Return what the engine chooses, with rows made up however many there are."""
    domain, source = domain_of(sizes, n, most), open_source(frame_of(rows, sizes))
    found = source.arrays(people.chosen_sql(source.relation, source.kinds, domain, key))
    used = np.column_stack([found[c] for c in domain])
    made = np.column_stack(list(people.fillers(domain, 0, n - len(used)).values()))
    return Counter(map(tuple, np.concatenate([used, made]).tolist()))


def test_the_engine_does_what_is_written_down():
    rng = np.random.default_rng(2)
    for trial in range(36):
        sizes, most, n = ((2, 3), (2,), (3, 2, 300))[trial % 3], int(rng.integers(1, 4)), int(rng.integers(1, 30))
        rows = drawn_rows(rng, sizes, int(rng.integers(1, 40)))
        key = sha256(rng.bytes(8)).hexdigest()
        assert engine(rows, sizes, n, most, key) == bounded(rows, sizes, n, most, key)


def test_the_engine_moves_no_more_rows_and_a_broken_one_does(monkeypatch):
    def worst():
        rng, found = np.random.default_rng(3), 0
        for _ in range(12):
            rest = [row for row in drawn_rows(rng, (2,), 25) if row[0] != "p"]
            tables = [
                engine([*rest, *(("p", codes) for codes in rows)], (2,), 12, 2, KEYS[0])
                for rows in ([], [(0,)] * 6, [(1,)] * 6)
            ]
            found = max([found, *(moved(a, b) for a in tables for b in tables)])
        return found

    assert worst() == 2
    sql = people.chosen_sql
    monkeypatch.setattr(people, "chosen_sql", lambda *args: sql(*args).replace("rank <= 2", "rank <= 2000"))
    assert worst() > 2


def test_each_row_of_a_person_is_kept_as_often():
    def shares(second):
        rows = [("many", (i,)) for i in range(8)] + [(f"one {i}", (8 + i,)) for i in range(6)]
        used = Counter()
        for i in range(3_000):
            used += bounded(rows, (14,), 4, 2, sha256(b"%d" % i).hexdigest(), second=second)
        return np.array([used[(i,)] / 3_000 for i in range(14)])

    def fair(found):  # two of eight rows are kept, and four of eight kept rows used
        expected = np.array([0.125] * 8 + [0.5] * 6)
        return bool((np.abs(found - expected) < 4 * np.sqrt(expected * (1 - expected) / 3_000)).all())

    assert fair(shares(slice(32, None)))
    assert not fair(shares(slice(32)))  # one half for both lines puts those first who have many rows
    assert not fair(np.array([0.125 * 1.3] + [0.125] * 7 + [0.5] * 6))


def test_files_and_frames_give_the_same_choice(tmp_path, monkeypatch):
    frame, domain = sample_rows(), domain_of((2, 2), 1_900, 3)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    shuffled = frame.sample(frac=1.0, random_state=0)
    missing = frame.assign(who=frame["who"].where(frame["who"] != 5).astype(float))
    missing.assign(who=missing["who"].astype("Int64")).to_csv(tmp_path / "m.csv", index=False)
    counted = []
    for data in (frame, shuffled, frame.astype(str), polars.from_pandas(frame), pyarrow.Table.from_pandas(frame),
                 tmp_path / "t.csv", tmp_path / "t.parquet", {c: frame[c].to_list() for c in frame}):  # fmt: skip
        table = load(data, domain, reading=Reading(key=KEYS[2]))
        assert table.rows == 1_900
        counted.append(table.counts([("x0", "x1")])[0].tolist())
    assert counted == [counted[0]] * 8
    monkeypatch.setattr(loading, "MEMORY_BYTES", 0)
    monkeypatch.setattr("discreet.data.stream.BATCH", 500)
    streamed = load(frame, domain, reading=Reading(key=KEYS[2]))
    assert isinstance(streamed, StreamTable)
    assert streamed.counts([("x0", "x1")])[0].tolist() == counted[0]
    places = {"x0": np.array([1, 0])}
    assert streamed.recode(places, {"x0": 2, "x1": 2}).counts([("x0", "x1")])[0].tolist() == counted[0][::-1]
    assert load(frame, domain, reading=Reading(key=KEYS[1])).counts([("x0", "x1")])[0].tolist() != counted[0]
    lost = [
        load(d, domain, reading=Reading(key=KEYS[2])).counts([("x0", "x1")])[0].tolist()
        for d in (missing, tmp_path / "m.csv")
    ]
    assert lost[0] == lost[1] != counted[0]
    fresh = {str(load(frame, domain).counts([("x0", "x1")])[0].tolist()) for _ in range(4)}
    assert len(fresh) > 1


@pytest.mark.parametrize("names", ["c1 c0 person", "person codes c0", "nth label who", "digest rank rows", "x1 x0 id"])
def test_names_do_not_matter(names):
    frame, domain = sample_rows(), domain_of((2, 2), 1_900, 3)
    first, second, who = names.split()
    renamed = frame.rename(columns={"x0": first, "x1": second, "who": who})
    columns = dict(zip((first, second), domain.columns.values(), strict=True))
    table = load(renamed, dc.Domain(columns, rows=1_900, people=People(who, 3)), reading=Reading(key=KEYS[2]))
    expected = load(frame, domain, reading=Reading(key=KEYS[2])).counts([("x0", "x1")])[0]
    assert table.counts([(first, second)])[0].tolist() == expected.tolist()


def test_rows_without_an_id_are_one_person():
    frame = pd.DataFrame({"who": [None, "", *("p",) * 3, *(None,) * 95], "x0": ["0", "0", *("1",) * 3, *("0",) * 95]})
    table = load(frame, domain_of((2,), 4, 2), reading=Reading(key=KEYS[0]))
    assert table.counts([("x0",)])[0].tolist() == [2, 2]
    numbers = pyarrow.table(
        {"who": [float("nan"), None, *(7.0,) * 3, *(float("nan"),) * 95], "x0": frame["x0"].to_list()}
    )
    assert load(numbers, domain_of((2,), 4, 2)).counts([("x0",)])[0].tolist() == [2, 2]
    texts = pyarrow.table({"who": ["", "", *("7",) * 3, *(None,) * 95], "x0": frame["x0"].to_list()})
    tables = [load(data, domain_of((2,), 3, 2), reading=Reading(key=KEYS[1])) for data in (numbers, texts)]
    assert tables[0].counts([("x0",)])[0].tolist() == tables[1].counts([("x0",)])[0].tolist()


def test_ids_that_are_no_whole_numbers_are_told_apart():
    halves = pyarrow.table({"who": [1.5, 1.75, 1.5, 2.0, 2.0], "x0": list("01111")})
    assert load(halves, domain_of((2,), 3, 1)).counts([("x0",)])[0].sum() == 3
    huge = pyarrow.table({"who": [2.0**60, 2.0**60, 2.0**61], "x0": list("011")})
    assert load(huge, domain_of((2,), 2, 1)).rows == 2


def test_too_few_rows_are_made_up_or_refused():
    frame, told = sample_rows(), []
    left = int(frame.groupby("who").size().clip(upper=3).sum())
    short = domain_of((2, 2), left + 40, 3)
    table = load(frame, short, reading=Reading(key=KEYS[0], doubt=told.append))
    assert table.rows == left + 40
    assert "40 rows are made up" in told[0]
    plain = load(frame, domain_of((2, 2), left, 3), reading=Reading(key=KEYS[0], doubt=told.append))
    assert len(told) == 1
    added = table.counts([("x0", "x1")])[0] - plain.counts([("x0", "x1")])[0]
    assert added.min() >= 0
    assert added.sum() == 40
    with pytest.raises(MisfitError, match=f"has {left:,} rows if at most 3 are kept of each person.* such as"):
        load(frame, domain_of((2, 2), round(left / 0.94), 3))
    with pytest.warns(DoubtWarning, match="made up"):
        dc.discover(frame, domain=short, epsilon=5.0)
    with pytest.raises(MisfitError, match="foreign"):
        load(frame.assign(x0="7"), domain_of((2, 2), 1_900, 3))


def test_made_up_rows_are_public_and_even():
    domain = domain_of((3, 500), 10, 2)
    many = people.fillers(domain, 0, 30_000)
    part = people.fillers(domain, 100, 200)
    assert all((many[c][100:200] == part[c]).all() for c in domain)
    for column, size in (("x0", 3), ("x1", 500)):
        counted = np.bincount(many[column], minlength=size)
        assert len(counted) == size
        assert ((counted - 30_000 / size) ** 2 / (30_000 / size)).sum() < size + 4 * np.sqrt(2 * size)
    assert people.round_below(87_431) == 87_000
    assert [people.round_below(n) for n in (0, 1, 9, 42, 999)] == [1, 1, 9, 42, 990]


def test_the_domain_is_read_and_written():
    text = "rows: 90\nunit: {name: patient, id: patient_id, max_rows: 5}\ncolumns:\n  a: {categories: [x, y]}\n"
    domain = dc.Domain.from_yaml(text)
    assert (domain.unit, domain.people, domain.group) == ("patient", People("patient_id", 5), 5)
    assert domain.to_dict()["unit"] == {"name": "patient", "id": "patient_id", "max_rows": 5}
    assert dc.Domain.from_yaml(domain.to_yaml()) == domain
    assert dc.Domain.from_yaml(text.replace("name: patient, ", "")).unit == "person"
    plain = dc.Domain.from_yaml(text.replace("{name: patient, id: patient_id, max_rows: 5}", "patient"))
    assert (plain.unit, plain.people, plain.group, plain.to_dict()["unit"]) == ("patient", None, 1, "patient")


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        ("{id: who, max_rows: 0}", "max_rows"),
        ("{id: who, max_rows: 1.5}", "max_rows"),
        ("{id: '', max_rows: 2}", "id"),
        ("{id: A, max_rows: 2}", "also a declared column"),
        ("{id: a, max_rows: 2}", "also a declared column"),
        ("{id: who}", "max_rows"),
        ("{max_rows: 2}", "id"),
        ("{name: patient}", "max_rows"),
        ("{id: who, max_rows: 2, most: 3}", "most"),
        ("{id: who, max_rows: 2, name: ' '}", "unit"),
        ("[who, 2]", "unit"),
    ],
)
def test_units_that_make_no_sense(unit, words):
    with pytest.raises(DomainError, match=words):
        dc.Domain.from_yaml(f"rows: 90\nunit: {unit}\ncolumns:\n  a: {{categories: [x, y]}}\n")
    with pytest.raises(DomainError):
        People("who", True)


def test_an_id_that_is_not_there():
    frame = sample_rows()
    with pytest.raises(MisfitError, match="no column 'who', which tells one person from another"):
        load(frame.drop(columns="who"), domain_of((2, 2), 1_900, 3))
    with pytest.raises(MisfitError, match="no column 'x0'"):
        load(frame.drop(columns="x0"), domain_of((2, 2), 1_900, 3))


# --- rows that may be there or not ----------------------------------------------------------------------------------


def of_rows(codes, sizes, n, key, **mutant):
    """Do what people.md says where no id tells people apart: no line is cut but the last."""
    return bounded([("", row) for row in codes], sizes, n, 10**6, key, **mutant)


def by_place(codes, sizes, n, key):
    """Label rows by where they stand in the table: a row that leaves renames all that follow."""
    return bounded([(str(i), row) for i, row in enumerate(codes)], sizes, n, 1, key)


def to_size(codes, sizes, n, key):
    """Take rows of the table again where there are too few."""
    return Counter([*codes, *codes, *[(0,) * len(sizes)] * n][:n])


def one_row_apart(values, largest):
    """Yield all pairs of tables of which one comes from the other by adding, removing or replacing one row."""
    for rest in multisets(values, largest):
        around = [rest, *((value, *rest) for value in values)]
        yield from ((a, b) for a in around for b in around)


@pytest.mark.parametrize("n", [1, 2, 4, 7])
def test_a_row_that_comes_goes_or_changes_moves_one_row(n):
    pairs = list(one_row_apart(list(product(range(2), range(2))), 3))
    for key in KEYS:
        assert max(moved(of_rows(a, (2, 2), n, key), of_rows(b, (2, 2), n, key)) for a, b in pairs) == 1


@pytest.mark.parametrize("mutant", [by_place, to_size, lambda *args: of_rows(*args, prefix=False)])
def test_the_check_of_single_rows_catches_what_is_wrong(mutant):
    pairs = list(one_row_apart([(0,), (1,), (2,)], 4))
    assert any(moved(mutant(a, (3,), n, k), mutant(b, (3,), n, k)) > 1 for k in KEYS for n in (2, 7) for a, b in pairs)


def there_or_not(sizes, n):
    return dc.Domain(domain_of(sizes, n, 1).columns, rows=n, unit="patient", people=People(None, 1))


def test_the_engine_does_so_with_single_rows():
    rng = np.random.default_rng(5)
    for trial in range(24):
        sizes, n = ((2, 3), (2,), (3, 2, 300))[trial % 3], int(rng.integers(1, 30))
        codes = [row for _, row in drawn_rows(rng, sizes, int(rng.integers(1, 40)))]
        domain, key = there_or_not(sizes, n), sha256(rng.bytes(8)).hexdigest()
        source = open_source({f"x{j}": [str(row[j]) for row in codes] for j in range(len(sizes))})
        found = source.arrays(people.chosen_sql(source.relation, source.kinds, domain, key))
        used = np.column_stack([found[c] for c in domain])
        made = np.column_stack(list(people.fillers(domain, 0, n - len(used)).values()))
        assert Counter(map(tuple, np.concatenate([used, made]).tolist())) == of_rows(codes, sizes, n, key)


def test_how_many_rows_there_are_is_the_custodians():
    frame, told = sample_rows().drop(columns="who"), []
    few = load(frame, there_or_not((2, 2), 2_900), reading=Reading(doubt=told.append))
    assert (few.rows, told) == (2_900, [])
    more = load(frame, there_or_not((2, 2), 3_100), reading=Reading(doubt=told.append))
    assert more.rows == 3_100
    assert "has 3,000 rows, the domain declares 3,100: 100 rows are made up" in told[0]
    with pytest.raises(MisfitError, match=r"has 3,000 rows, the domain declares 4,000; declare .* such as 3,000"):
        load(frame, there_or_not((2, 2), 4_000))
    assert "3,000 rows. That is for the custodian only" in str(dc.check(frame, there_or_not((2, 2), 2_900)))
    assert not dc.check(frame, there_or_not((2, 2), 4_000)).fits


def test_a_release_says_that_a_row_may_be_absent():
    domain = there_or_not((2, 2), 2_900)
    assert domain.to_dict()["unit"] == {"name": "patient", "max_rows": 1}
    assert dc.Domain.from_yaml(domain.to_yaml()) == domain
    assert (domain.group, domain.protects) == (1, "one row, there or not")
    found = dc.discover(sample_rows(), domain=domain, epsilon=5.0)
    privacy = found.to_dict()["privacy"]
    assert privacy["neighbors"] == "add-remove-or-replace-one-row"
    assert "max_rows" not in privacy
    assert Discovery.from_json(found.to_json()).privacy == found.privacy
    assert "3,000" not in found.to_json()
    assert "3000" not in found.to_json()
    words = " ".join(statement_text(found).split())
    assert "for adding, removing or replacing one row" in words
    assert "had that row been absent or held anything else" in words
    assert "add, remove or replace one row" in report_html(found)
    with pytest.raises(ReleaseError):
        Privacy.from_dict({**privacy, "max_rows": 1})


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis and DuckDB
def test_ids_at_the_end_of_whole_floats_are_those_of_files(tmp_path):
    ibis = pytest.importorskip("ibis")
    ids = [2.0**53, 2.0**53 - 1, 2.0**53 + 2, -(2.0**53)]
    table = pyarrow.table({"who": np.repeat(ids, 8), "x0": [str(i % 8) for i in range(32)]})
    pq.write_table(table, tmp_path / "t.parquet")
    there = ibis.duckdb.connect().read_parquet(tmp_path / "t.parquet")
    for key in KEYS:
        read = [load(d, domain_of((8,), 12, 3), reading=Reading(key=key)) for d in (table, there)]
        assert read[0].counts([("x0",)])[0].tolist() == read[1].counts([("x0",)])[0].tolist()
