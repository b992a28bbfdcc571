"""Tables in an engine: the same counts and the same graph as from memory, and nothing but counts leaves."""

from __future__ import annotations

import gc
import json
from dataclasses import replace
from itertools import combinations
from math import prod
from urllib.parse import quote

import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli import main
from discreet.cli.options import source_name
from discreet.data import counting as sizing
from discreet.data.counting import block_cells, blocks, margin
from discreet.data.draft import draft_yaml
from discreet.data.engines.postgres import split_url
from discreet.data.engines.registry import in_engine, open_engine
from discreet.data.engines.table import EngineTable
from discreet.data.load import Reading, load, open_source
from discreet.data.memory import JointTable, MemoryTable
from discreet.data.stream import StreamTable
from discreet.domain import Categorical, Domain, Numeric
from discreet.errors import EngineError, MisfitError, RoomError, SettingError, TableError
from discreet.methods.discover import discover_in
from discreet.methods.priv_pc import PrivPC
from discreet.privacy.budget import Budget
from discreet.release.settings import Marginals
from discreet.room import FAILED, Room
from discreet.statistics import Weight
from discreet.statistics.clipped import MOST_LIMIT
from discreet.testing import SeededNoise
from support.engine_data import HOSTILE, nasty, spelled, to_postgres
from support.silent import silent

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis and DuckDB

ROWS = 100_000
TABLE = 'we"ird; drop table x --'


@pytest.fixture(scope="session")
def people():
    """A table that nobody would like to meet."""
    return nasty(ROWS, np.random.default_rng(5))


@pytest.fixture(scope="session")
def base(server):
    """The URL of a database without a table behind it."""
    return server.get_uri().replace("postgres:@", "postgres@")


@pytest.fixture(scope="session")
def url(server, base, people):
    """The same table on a server."""
    to_postgres(server.get_uri(), TABLE, people[0])
    return f"{base}&table={quote(TABLE)}"


@pytest.fixture(scope="session")
def asia(server, base):
    """A table with a graph."""
    net = dc.network("asia")
    rows = {name: list(values) for name, values in net.sample(20_000, np.random.default_rng(1)).items()}
    to_postgres(server.get_uri(), "asia", pa.table(rows))
    return net, rows, f"{base}&table=asia"


def grids(domain):
    """Columns of very many codes."""
    return [name for name in domain if domain.size(name) > 1000]


def pairs(domain):
    return list(combinations([name for name in domain if name not in grids(domain)], 2))


# --- which tables are counted at once -------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("cells", [1, 50, 4_096])
def test_every_set_lies_in_a_block_that_is_not_too_large(order, cells):
    rng = np.random.default_rng(order)
    sizes = {f"v{i}": int(rng.integers(2, 7)) for i in range(12)}
    sets = [tuple(rng.permutation(s).tolist()) for s in combinations(sizes, order)]
    found = blocks(sets, sizes, cells)
    assert all(any(set(s) <= set(block) for block in found) for s in sets)
    alone = {frozenset(s) for s in sets}
    for block in found:
        assert prod(sizes[c] for c in block) <= cells or frozenset(block) in alone


def test_few_looks_are_enough_for_all_pairs():
    names = [f"v{i}" for i in range(20)]
    assert len(blocks(list(combinations(names, 2)), dict.fromkeys(names, 2), 1 << 16)) <= 4


def test_tables_never_have_more_cells_than_rows_bear():
    assert block_cells(10) == sizing.LEAST_CELLS
    assert block_cells(200_000) == 20_000
    assert block_cells(10**9) == sizing.MOST_CELLS


def test_margins_stand_in_the_order_that_was_asked_for():
    joint = np.random.default_rng(0).integers(0, 9, size=(2, 3, 4))
    assert (margin(joint, ("a", "b", "c"), ("c", "a")) == joint.sum(axis=1).T).all()
    assert (margin(joint, ("a", "b", "c"), ("a", "b", "c")) == joint).all()


def test_a_joint_table_answers_like_its_rows():
    rng = np.random.default_rng(0)
    sizes = {"a": 2, "b": 3, "c": 4}
    codes = {c: rng.integers(0, n, 500).astype(np.uint8) for c, n in sizes.items()}
    plain = MemoryTable(codes, sizes)
    (table,) = plain.counts([("a", "b", "c")])
    places = np.nonzero(table)
    joint = JointTable(dict(zip(sizes, places, strict=True)), table[places], sizes)
    sets = [("a",), ("c", "a"), ("b", "c", "a")]
    assert joint.rows == 500
    assert all((x == y).all() for x, y in zip(joint.counts(sets), plain.counts(sets), strict=True))
    weight = Weight(1, {"a": np.array([0, 5]), "c": np.array([0, 2, 9, 30])}, 6)
    assert all((x == y).all() for x, y in zip(joint.weighted(sets, weight), plain.weighted(sets, weight), strict=True))
    assert joint.sums([("a",), ("b", "c")]) == plain.sums([("a",), ("b", "c")])
    together = sorted(zip(*(v.tolist() for v in joint.values(["a", "b", "c"])), strict=True))
    assert together == sorted(zip(*(codes[c].tolist() for c in sizes), strict=True))
    assert joint.take(np.arange(500)).counts([("a", "b")])[0].tolist() == plain.counts([("a", "b")])[0].tolist()
    moved = {"c": np.array([1, 1, 0, 0])}
    smaller = {**sizes, "c": 2}
    again = zip(joint.recode(moved, smaller).counts(sets), plain.recode(moved, smaller).counts(sets), strict=True)
    assert all((x == y).all() for x, y in again)


# --- the same counts ------------------------------------------------------------------------------------------------


def weight_over(domain):
    """A weight by which most rows count less than one."""
    rng = np.random.default_rng(3)
    few = [name for name in domain if name not in grids(domain)]
    return Weight(7, {name: rng.integers(0, 1 << 20, domain.size(name)) for name in few}, len(few) << 18)


def engines(people, url, tmp_path, monkeypatch):
    """Yield the same rows in memory, streamed, in DuckDB through Ibis, and on a server."""
    import ibis

    table, domain = people
    path = tmp_path / "people.parquet"
    pq.write_table(table, path)
    yield "file", load(path, domain)
    with monkeypatch.context() as patch:
        patch.setattr("discreet.data.load.MEMORY_BYTES", 1)
        yield "stream", load(path, domain)
    yield "ibis", load(ibis.duckdb.connect().read_parquet(path), domain)
    yield "postgresql", load(url, domain)


def test_all_engines_count_the_same(people, url, tmp_path, monkeypatch):
    table, domain = people
    plain = load(table, domain)
    sets = [(name,) for name in domain] + pairs(domain)
    expected = plain.counts(sets)
    weight, few = weight_over(domain), sets[:21]
    weighted = plain.weighted(few, weight)
    assert 0.3 * ROWS < weighted[0].sum() / weight.WHOLE < 0.9 * ROWS
    met = {}
    for name, other in engines(people, url, tmp_path, monkeypatch):
        met[name] = type(other)
        assert other.rows == ROWS
        for columns, x, y in zip(sets, expected, other.counts(sets), strict=True):
            assert (x == y).all(), (name, columns)
        for columns, x, y in zip(few, weighted, other.weighted(few, weight), strict=True):
            assert (x == y).all(), (name, columns)
        wanted = [("fine",), ("fine", "steps"), ("whole", "fine")]
        assert other.sums(wanted) == plain.sums(wanted), name
    assert met == {"file": MemoryTable, "stream": StreamTable, "ibis": EngineTable, "postgresql": EngineTable}


def test_engines_never_round_a_weight_up(server, base, tmp_path):
    """They divide floats: at the largest numbers that are allowed, a quotient just below a whole number stays below."""
    import ibis

    table, whole = pa.table({"a": ["0", "1"] * 5}), 256 * MOST_LIMIT
    domain = Domain({"a": Categorical(categories=("0", "1"), missing=None, other=None)}, rows=10)
    pq.write_table(table, tmp_path / "halves.parquet")
    to_postgres(server.get_uri(), "halves", table)
    divisor = (whole + 1) // 17
    assert divisor * 17 == whole + 1
    weight = Weight(1, {"a": np.array([divisor - 1, divisor])}, MOST_LIMIT)
    for data in (ibis.duckdb.connect().read_parquet(tmp_path / "halves.parquet"), f"{base}&table=halves"):
        (counted,) = load(data, domain)._count_blocks([("a",)], weight)
        assert counted.tolist() == [5 * 16, 5 * 16]


def test_all_levels_of_the_nasty_table_are_met(people):
    """Or else the test above would compare nothing."""
    table, domain = people
    plain = load(table, domain)
    for name in domain:
        if name not in grids(domain):
            assert (plain.counts([(name,)])[0] > 0).all(), name


def test_misfits_clipped_values_and_marks_are_those_of_files(people, url):
    table, domain = people
    strict = Domain({n: replace(c, missing=None, other=None) for n, c in domain.columns.items()}, rows=ROWS)
    plain, there = open_source(table, domain), open_engine(url)
    assert there.misfits(strict) == plain.misfits(strict)
    assert there.count_clipped(domain) == plain.count_clipped(domain)
    assert there.mark(domain) == open_engine(url).mark(domain)
    fewer = Domain({n: domain[n] for n in list(domain)[:5]}, rows=ROWS)
    assert there.mark(fewer) != there.mark(domain)


def test_all_engines_read_what_is_written_in_many_ways_alike(server, base, tmp_path):
    import ibis

    table, domain = spelled(5_000, np.random.default_rng(5))
    pq.write_table(table, tmp_path / "t.parquet")
    to_postgres(server.get_uri(), "spelled", table)
    plain = load(table, domain)
    sets = [(name,) for name in domain]
    expected = plain.counts(sets)
    assert all((found > 0).all() for found in expected)  # or else nothing would be compared
    for data in (ibis.duckdb.connect().read_parquet(tmp_path / "t.parquet"), f"{base}&table=spelled"):
        there = open_source(data, domain)
        assert [x.tolist() for x in load(data, domain).counts(sets)] == [x.tolist() for x in expected]
        assert there.count_clipped(domain) == open_source(table, domain).count_clipped(domain) != {}

    few = table.select(["sex", "grade", "pulse"])
    to_postgres(server.get_uri(), "few", few)
    assert draft_yaml(open_engine(f"{base}&table=few")) == draft_yaml(open_source(few))


def test_bins_that_wait_for_quantiles_are_found_in_the_engine(people, url):
    table, domain = people
    narrow = Domain({n: domain[n] for n in ("steps", "select", HOSTILE)}, rows=ROWS)
    edges = narrow["steps"].edges
    chosen = [edges[0], edges[100], edges[611], edges[-1]]
    settled = narrow.settle({"steps": chosen})
    found = []
    for data in (table, url):
        room = Room(load(data, narrow), narrow, Budget(epsilon=1, delta=1e-6)).settle({"steps": chosen})
        found.append(room._table.counts([("steps", "select"), (HOSTILE, "steps")]))
    assert all((x == y).all() for x, y in zip(*found, strict=True))
    direct = load(url, settled).counts([("steps", "select"), (HOSTILE, "steps")])
    assert all((x == y).all() for x, y in zip(found[0], direct, strict=True))


def test_pulled_rows_are_those_of_the_file(people, url):
    table, domain = people
    said = []
    pulled = load(url, domain, rows="a test", reading=Reading(pull=True, progress=said.append))
    assert isinstance(pulled, MemoryTable)
    names = list(domain)
    plain = load(table, domain)
    order = [np.lexsort(t.values(names)) for t in (plain, pulled)]
    for x, y in zip(plain.values(names), pulled.values(names), strict=True):
        assert (x[order[0]] == y[order[1]]).all()
    assert said[-1].endswith("100,000 of 100,000 rows loaded")


# --- the same graph, and what is said -------------------------------------------------------------------------------


def test_the_same_noise_gives_the_same_graph(asia):
    net, rows, url = asia
    domain = net.domain(20_000)
    graphs = []
    for data in (rows, url):
        room = Room(load(data, domain), domain, Budget(epsilon=1, delta=1e-6), noise=SeededNoise(7))
        graphs.append(discover_in(room, Marginals()))
    assert graphs[0].graph == graphs[1].graph
    assert [m.values for m in graphs[0].measurements] == [m.values for m in graphs[1].measurements]


def test_tables_that_are_not_small_are_counted_in_blocks_and_that_is_told(asia, monkeypatch):
    net, rows, url = asia
    domain, said = net.domain(20_000), []
    monkeypatch.setattr(sizing, "LEAST_CELLS", 8)
    monkeypatch.setattr(sizing, "ROWS_A_CELL", 2_500)
    table = load(url, domain, reading=Reading(progress=said.append))
    assert not table.small
    sets = list(combinations(domain, 2))
    assert all((x == y).all() for x, y in zip(load(rows, domain).counts(sets), table.counts(sets), strict=True))
    assert len(said) > 5
    assert said[-1] == "table 'asia': 28 of 28 tables counted"


def test_the_command_line_reads_a_server(asia, tmp_path):
    net, _, url = asia
    (tmp_path / "domain.yaml").write_text(net.domain(20_000).to_yaml())
    out = tmp_path / "release"
    typed = ["discover", url, "--domain", str(tmp_path / "domain.yaml"), "--epsilon", "1", "--out", str(out), "--json"]
    ran = CliRunner().invoke(main, typed)
    assert ran.exit_code == 0, ran.stderr
    assert json.loads(ran.stdout)["rows"] == 20_000
    assert "postgres:asia" in ran.stderr
    for path in out.iterdir():
        assert b"postgresql://" not in path.read_bytes()
    checked = CliRunner().invoke(main, ["domain", "check", url, "--domain", str(tmp_path / "domain.yaml")])
    assert checked.exit_code == 0
    drafted = CliRunner().invoke(main, ["domain", "draft", url])
    assert Domain.from_yaml(drafted.stdout).columns.keys() == net.domain(1).columns.keys()


def test_methods_that_look_at_rows_say_so_before_they_start():
    narrow = Domain({n: Numeric(bounds=(-100.0, 100.0)) for n in ("fine", "whole")}, rows=10**7)
    gone = "postgresql://127.0.0.1:1/nowhere?table=x"
    for run in (
        lambda **more: dc.direction(gone, ("fine", "whole"), domain=narrow, epsilon=1.0, score="reci", **more),
        lambda **more: dc.test_independence(gone, "fine", "whole", domain=narrow, epsilon=1.0, delta=0.0, **more),
        lambda **more: dc.discover(gone, domain=narrow, epsilon=1.0, delta=0.0, method="pcd", **more),
    ):
        with pytest.raises(SettingError, match=r"engine-pull: .* looks at rows.*10,000,000 rows, about 0\.037 GiB"):
            run()
        with pytest.raises(EngineError, match="cannot be reached"):
            run(engine_pull=True)
    binned = Domain({n: Numeric(bounds=(0.0, 1.0), bins=900) for n in ("x", "y")}, rows=10**6)
    recipe = PrivPC(sample=0.5)
    with pytest.raises(SettingError, match="priv-pc with a sample looks at rows"):
        dc.discover(gone, domain=binned, epsilon=1.0, delta=1e-9, method=recipe)


def test_rows_of_a_server_can_be_pulled_for_what_needs_them(server, base):
    rng = np.random.default_rng(3)
    x = rng.normal(size=2_000)
    table = pa.table({"x": x, "y": x**3 + rng.normal(size=2_000)})
    to_postgres(server.get_uri(), "curve", table)
    domain = Domain({"x": Numeric(bounds=(-4.0, 4.0)), "y": Numeric(bounds=(-60.0, 60.0))}, rows=2_000)
    url = f"{base}&table=curve"
    found = dc.direction(url, ("x", "y"), domain=domain, epsilon=50.0, score="reci", engine_pull=True)
    assert found.privacy.epsilon == 50.0
    counted = dc.direction(url, ("x", "y"), domain=domain, epsilon=50.0, sure=0.5)  # counts alone stay where they are
    assert counted.pairs[0].cause == "x"


# --- people with several rows ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["text", "whole", "float", "none"])
@pytest.mark.parametrize(("rows", "most"), [(900, 3), (1_030, 2)])
def test_all_engines_choose_the_same_rows_of_each_person(server, base, tmp_path, rows, most, kind):
    """With fewer rows than there are, and with some that are made up."""
    import ibis

    rng = np.random.default_rng(3)
    who = rng.integers(0, 500, 3_000)
    ids = {"whole": who.tolist(), "float": who.astype(float).tolist()}.get(kind, [f"ß'{i}" for i in who])
    some = rng.random(3_000) < 0.01
    table = pa.table(
        {
            "person id": pa.array(ids, mask=some),
            "x": [f"v{v}" for v in rng.integers(0, 3, 3_000)],
            "y": rng.normal(size=3_000),
        }
    )
    columns = {"x": Categorical(categories=("v0", "v1", "v2")), "y": Numeric(bounds=(-2.0, 2.0), bins=4)}
    domain = Domain(columns, rows=rows, people=dc.People("person id", most))
    if kind == "none":  # every row is a person of its own
        table, domain = table.slice(0, 1_000), replace(domain, people=dc.People(None, 1))
    to_postgres(server.get_uri(), "visits", table)
    pq.write_table(table, tmp_path / "visits.parquet")
    told = []
    reading = Reading(key="0123456789abcdef" * 4, doubt=told.append)
    plain = load(table, domain, reading=reading).counts([("x", "y")])[0]
    assert plain.sum() == rows
    there = ibis.duckdb.connect().read_parquet(tmp_path / "visits.parquet")
    for data in (there, f"{base}&table=visits"):
        found = load(data, domain, reading=reading)
        assert found.counts([("x", "y")])[0].tolist() == plain.tolist()
        assert found.sums([("x",), ("x", "y")]) == load(table, domain, reading=reading).sums([("x",), ("x", "y")])
        said = []
        pulled = load(data, domain, reading=replace(reading, pull=True, progress=said.append))
        assert pulled.counts([("x", "y")])[0].tolist() == plain.tolist()
        assert not said  # how many rows are left of people is not public
        other = load(data, domain, reading=replace(reading, key="f" * 64)).counts([("x", "y")])[0]
        assert (other.tolist() == plain.tolist()) == (kind == "none" and rows > 1_000)  # then all rows are used
    assert len({words.partition(" has ")[2] for words in told}) == (rows > 1_000)


def test_people_on_a_server_are_promised_what_people_in_files_are(server, base, tmp_path):
    rng = np.random.default_rng(4)
    x = rng.integers(0, 2, 4_000)
    y = np.where(rng.random(4_000) < 0.9, x, 1 - x)
    table = pa.table({"who": rng.integers(0, 2_000, 4_000), "x": x.astype(str), "y": y.astype(str)})
    to_postgres(server.get_uri(), "visits", table)
    column = Categorical(categories=("0", "1"))
    domain = Domain({"x": column, "y": column}, rows=2_900, unit="patient", people=dc.People("who", 2))
    found = dc.discover(f"{base}&table=visits", domain=domain, epsilon=5.0)
    assert found.privacy.to_dict()["neighbors"] == "change-one-person"
    assert found.graph.skeleton
    (tmp_path / "domain.yaml").write_text(domain.to_yaml())
    checked = CliRunner().invoke(
        main, ["domain", "check", f"{base}&table=visits", "--domain", str(tmp_path / "domain.yaml"), "--json"]
    )
    assert 2_900 <= json.loads(checked.stdout)["left"] <= 4_000
    with pytest.raises(MisfitError, match="has no column 'nobody'"):
        load(f"{base}&table=visits", replace(domain, people=dc.People("nobody", 2)))


# --- what goes wrong ------------------------------------------------------------------------------------------------


SECRET_URLS = (
    "postgresql://me:secret@host/db?table=x",
    "postgresql://me@host/db?table=x&password=secret",
    "postgresql://me@host/db?table=x&oauth_client_secret=secret",
    "postgresql://me:ab/secret@host/db?table=x",
)


def test_passwords_belong_elsewhere():
    for url in SECRET_URLS:
        with pytest.raises(SettingError, match=r"leave the password out|expected postgresql") as refused:
            load(url, Domain({"a": Categorical(categories=("x",))}, rows=1))
        assert "secret" not in str(refused.value)
        assert "secret" not in source_name(url)


@pytest.mark.parametrize("url", ["postgresql://host/db", "postgresql://host/db?table=", "postgresql://[x/db?table=a"])
def test_a_url_names_a_table(url):
    with pytest.raises(SettingError, match="expected postgresql"):
        split_url(url)


def test_a_url_keeps_what_libpq_wants():
    server, table = split_url("postgresql://me@host:99/db?sslmode=require&table=a%20b&host=%2Ftmp")
    assert table == "a b"
    assert server == "postgresql://me@host:99/db?sslmode=require&host=%2Ftmp"


def test_other_engines_are_named():
    assert in_engine("mysql://host/db?table=x")
    assert not in_engine("data/visits.csv")
    with pytest.raises(SettingError, match="table of Ibis"):
        open_engine("mysql://host/db?table=x")


def test_a_password_that_is_refused(server, base, asia):
    folder = server.pgdata
    rules = (folder / "pg_hba.conf").read_text()
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS locked")
        connection.execute("CREATE ROLE locked LOGIN PASSWORD 'right'")
        connection.execute("GRANT SELECT ON asia TO locked")
        (folder / "pg_hba.conf").write_text(f"local all locked scram-sha-256\n{rules}")
        connection.execute("SELECT pg_reload_conf()")
    url = asia[2].replace("postgres@", "locked@")
    domain = asia[0].domain(20_000)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PGPASSWORD", "wrong")
            with pytest.raises(EngineError, match="refused the user or the password") as refused:
                load(url, domain)
            assert "wrong" not in str(refused.value)
            patch.setenv("PGPASSWORD", "right")
            assert load(url, domain).rows == 20_000
    finally:
        (folder / "pg_hba.conf").write_text(rules)
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute("SELECT pg_reload_conf()")


def test_whoever_may_only_read_can_do_everything(server, base, asia):
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS reader")
        connection.execute("CREATE ROLE reader LOGIN")
        connection.execute("GRANT SELECT ON asia TO reader")
        connection.execute("CREATE TABLE IF NOT EXISTS hidden (a text)")
        connection.execute("REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC")
    url = asia[2].replace("postgres@", "reader@")
    assert dc.discover(url, domain=asia[0].domain(20_000), epsilon=1.0).graph.nodes
    with pytest.raises(EngineError, match="may not read"):
        load(url.replace("table=asia", "table=hidden"), asia[0].domain(20_000))


def test_a_table_is_read_as_of_one_moment_and_never_written(server, asia):
    net, _, url = asia
    domain = net.domain(20_000)
    before = load(url, domain)
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute("INSERT INTO asia SELECT * FROM asia LIMIT 5")
        try:
            assert sum(before.counts([("asia",)])[0].tolist()) == 20_000
            with pytest.raises(MisfitError, match="20005 rows"):
                load(url, domain)
        finally:
            connection.execute("DELETE FROM asia WHERE ctid IN (SELECT ctid FROM asia ORDER BY ctid DESC LIMIT 5)")
    with pytest.raises(EngineError):
        before._engine.ask(lambda backend: backend.con.execute("CREATE TABLE mine (a text)"))


def test_a_table_that_is_not_there(base):
    domain = Domain({"a": Categorical(categories=("x",))}, rows=1)
    with pytest.raises(TableError, match="'nope' does not exist"):
        load(f"{base}&table=nope", domain)
    with pytest.raises(EngineError, match="no such database"):
        load(base.replace("/postgres?", "/nodb?") + "&table=x", domain)


def test_columns_that_are_absent_or_of_the_wrong_type(server, base, asia):
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS odd (j json, d date, a int[], e text)")
        connection.execute("INSERT INTO odd VALUES ('{}', '2024-01-01', '{1}', 'secret-value')")
    url = f"{base}&table=odd"
    some = Categorical(categories=("x", "y"))
    for columns, words in (
        ({"absent": some}, "has no column 'absent'"),
        ({"j": some}, "'j' is declared as categories, and has the type json"),
        ({"a": some}, "'a' is declared as categories, and has the type array"),
        ({"d": Numeric(bounds=(0.0, 1.0))}, "'d' is declared as numbers, and has the type date"),
        ({"e": Numeric(bounds=(0.0, 1.0))}, "'e' holds foreign values"),
        ({"e": some}, "'e' holds foreign values"),
    ):
        rows = 1 if "absent" in columns else open_engine(url).rows
        with pytest.raises(MisfitError, match=words) as refused:
            load(url, Domain(columns, rows=rows))
        assert "secret-value" not in str(refused.value)


def run_on(server, *commands):
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        for command in commands:
            connection.execute(command)


def test_schemas_with_dots_are_not_other_schemas(server, base):
    run_on(
        server,
        'CREATE SCHEMA IF NOT EXISTS "postgres.public"',
        "CREATE TABLE IF NOT EXISTS \"postgres.public\".tt AS SELECT CAST('a' AS text) AS v",
        "CREATE TABLE IF NOT EXISTS public.tt AS SELECT CAST('b' AS text) AS v",
    )
    domain = Domain({"v": Categorical(categories=("a", "b"))}, rows=1)
    assert load(f"{base}&table=postgres.public.tt", domain).counts([("v",)])[0].tolist() == [1, 0]
    assert load(f"{base}&table=public.tt", domain).counts([("v",)])[0].tolist() == [0, 1]


GRIDS = {"grid": Numeric(bounds=(0.0, 100.0)), "steps": Numeric(bounds=(0.0, 100.0), bins=4, at="quantiles")}


@pytest.mark.parametrize("column", GRIDS.values(), ids=GRIDS)
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("float8", ["1e-323", "5", "-1e-323", "1e308", "-inf", "100"]),
        ("numeric", ["1e-250", "1e250", "-1e4000", "99.99", "Infinity", "0"]),
        ("text", ["1e-306", "1e306", " 7 ", "1e-999", "0.0", "1e999"]),
        ("real", ["1e-45", "3e38", "7", "0", "100", "50"]),
    ],
)
def test_no_number_is_too_small_or_too_large(server, base, kind, values, column):
    listed = ", ".join(f"(CAST('{value}' AS {kind}))" for value in values)
    made = f"CREATE TABLE odd_numbers AS SELECT * FROM (VALUES {listed}) t(v)"
    run_on(server, "DROP TABLE IF EXISTS odd_numbers", made)
    domain = Domain({"v": column}, rows=len(values))
    texts = {"v": [value.replace("Infinity", "inf") for value in values]}
    found = load(f"{base}&table=odd_numbers", domain).counts([("v",)])[0]
    assert found.tolist() == load(pa.table(texts), domain).counts([("v",)])[0].tolist()


def test_types_of_the_servers_own(server, base):
    run_on(
        server,
        "DROP TABLE IF EXISTS own",
        "DROP TYPE IF EXISTS yn, small, word CASCADE",
        "CREATE TYPE yn AS ENUM ('yes', 'no')",
        "CREATE DOMAIN small AS integer",
        "CREATE DOMAIN word AS text",
        "CREATE TABLE own (e yn, i small, w word, m money, c char(4), t text)",
        "INSERT INTO own VALUES ('yes', 1, '', 3, 'a', repeat('x', 10000000)), ('no', 2, 'w', 4, 'b', '5')",
    )
    columns = {
        "e": Categorical(categories=("yes", "no", "maybe")),
        "i": Categorical(categories=("1.0", "2")),
        "w": Categorical(categories=("w",), missing="gone"),
        "m": Categorical(categories=("$3.00", "$4.00"), other="else"),
        "c": Categorical(categories=("a", "b")),
        "t": Numeric(bounds=(0.0, 9.0), bins=2, other="long"),
    }
    table = load(f"{base}&table=own", Domain(columns, rows=2))
    found = [t.tolist() for t in table.counts([(name,) for name in "eiwct"])]
    assert found == [[1, 1, 0], [1, 1], [1, 1], [1, 1], [0, 1, 1]]
    with pytest.raises(MisfitError, match="'m' holds foreign values"):
        load(f"{base}&table=own", Domain({"m": Numeric(bounds=(0.0, 9.0))}, rows=2))


def test_settings_of_a_user_change_nothing(server, base):
    run_on(
        server,
        "DROP TABLE IF EXISTS accents",
        "DROP ROLE IF EXISTS odd_user",
        "CREATE TABLE accents AS SELECT 'é\\n' AS v, interval '36 hours' AS d",
        "CREATE ROLE odd_user LOGIN",
        "GRANT SELECT ON accents TO odd_user",
        "ALTER ROLE odd_user SET client_encoding = 'latin1'",
        "ALTER ROLE odd_user SET standard_conforming_strings = off",
        "ALTER ROLE odd_user SET IntervalStyle = 'iso_8601'",
    )
    columns = {
        "v": Categorical(categories=("é\\n", "b\\'"), other="else"),
        "d": Categorical(categories=("36:00:00",), other="else"),
    }
    for who in ("postgres", "odd_user"):
        table = load(f"{base.replace('postgres@', f'{who}@')}&table=accents", Domain(columns, rows=1))
        assert [t.tolist() for t in table.counts([("v",), ("d",)])] == [[1, 0, 0], [1, 0]], who


def test_ids_that_are_equal_are_one_person(server, base):
    run_on(
        server,
        "DROP TABLE IF EXISTS cases",
        "CREATE TABLE cases AS SELECT * FROM (VALUES ('1'::numeric, 'a'), ('1.0', 'a'), ('1.00', 'b'), ('1.50', 'a'), "
        "('1.5', 'b'), ('NaN', 'a'), (NULL, 'b'), ('10', 'a'), ('100', 'b')) t(who, v)",
    )
    domain = Domain({"v": Categorical(categories=("a", "b"))}, rows=5, people=dc.People("who", 1))
    assert open_engine(f"{base}&table=cases").rows_left(domain) == 5
    assert load(f"{base}&table=cases", domain).counts([("v",)])[0].sum() == 5


def test_an_expression_on_a_server_knows_people(server):
    import ibis

    made = "CREATE TABLE mine AS SELECT i % 7 AS who, 'a' AS v FROM generate_series(1, 50) i"
    run_on(server, "DROP TABLE IF EXISTS mine", made)
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        table = ibis.postgres.from_connection(connection).table("mine")
        domain = Domain({"v": Categorical(categories=("a", "b"))}, rows=14, people=dc.People("who", 2))
        assert load(table, domain).counts([("v",)])[0].tolist() == [14, 0]


def test_labels_that_no_column_can_hold_meet_nothing(server, base):
    run_on(server, "DROP TABLE IF EXISTS narrow", "CREATE TABLE narrow AS SELECT 3::real AS r, 3::numeric AS n")
    columns = {
        "r": Categorical(categories=("1e-50", "1e300", "3"), other="else"),
        "n": Categorical(categories=("٣", "3.00"), other="else"),
    }
    found = load(f"{base}&table=narrow", Domain(columns, rows=1)).counts([("r",), ("n",)])
    assert [t.tolist() for t in found] == [[0, 0, 1, 0], [0, 1, 0]]


def test_a_column_that_is_asked_for_twice(asia):
    net, rows, url = asia
    domain = net.domain(20_000)
    sets = [("lung", "lung"), ("lung", "smoke", "lung")]
    plain = load(rows, domain).counts(sets)
    assert all((x == y).all() for x, y in zip(plain, load(url, domain).counts(sets), strict=True))
    joint = load(rows, domain).counts([("smoke", "lung", "xray")])[0]
    for columns, x in zip(sets, plain, strict=True):
        assert (margin(joint, ("smoke", "lung", "xray"), columns) == x).all()


def test_a_server_that_goes_away_in_the_middle(server, asia, tmp_path):
    net, _, url = asia
    domain = net.domain(20_000)
    account = dc.Account("asia", f"sqlite:///{tmp_path}/ledger.db")
    account.limit(epsilon=3.0)

    def cut(words):
        if words.startswith("measuring"):
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                connection.execute(others)

    with pytest.raises(RoomError, match="failed; its charge stays booked"):
        dc.discover(url, domain=domain, epsilon=1.0, account=account, progress=cut)
    standing = account.standing()
    assert standing.runs == 1
    assert standing.limit.share(standing.spent) > 0
    assert dc.discover(url, domain=domain, epsilon=1.0, account=account).graph.nodes


def socket_of(uri):
    """Return the file at which a server listens."""
    return f"{psycopg.conninfo.conninfo_to_dict(uri)['host']}/.s.PGSQL.5432"


def test_a_server_that_accepts_and_says_nothing_is_cut_off(monkeypatch):
    monkeypatch.setattr("discreet.data.engines.postgres.CONNECT", 2)
    domain = Domain({"a": Categorical(categories=("x",))}, rows=1)
    with silent() as mute, pytest.raises(EngineError, match=r"cannot be reached.*Nothing was spent"):
        load(f"postgresql://postgres@127.0.0.1:{mute.port}/postgres?table=asia", domain)


def test_a_server_that_falls_silent_in_the_middle_is_cut_off(server, asia, monkeypatch):
    net, _, _ = asia
    monkeypatch.setattr("discreet.data.engines.postgres.CONNECT", 2)
    monkeypatch.setattr("discreet.data.engines.postgres.QUIET", 0.2)
    with silent(socket_of(server.get_uri())) as mute:
        url = f"postgresql://postgres@127.0.0.1:{mute.port}/postgres?table=asia"
        table = load(url, net.domain(20_000))
        assert table.counts([("lung",)])[0].sum() == 20_000
        table._joint = None
        mute.silent.set()
        with pytest.raises(EngineError, match="the connection to it was lost"):
            table.counts([("lung",)])


def test_a_query_that_takes_long_is_not_cut_off(server, asia, monkeypatch):
    monkeypatch.setattr("discreet.data.engines.postgres.QUIET", 0.1)
    net, _, url = asia
    engine = load(url, net.domain(20_000))._engine
    assert engine.ask(lambda backend: backend.con.execute("SELECT pg_sleep(1), 7").fetchone()[1]) == 7


def test_an_engine_never_quotes_what_it_holds(server, base):
    run_on(
        server,
        "CREATE TABLE IF NOT EXISTS trapped AS SELECT CAST('secret-value' AS text) AS e",
        "CREATE OR REPLACE VIEW trap AS SELECT CAST(e AS integer)::text AS e FROM trapped",
    )
    with pytest.raises(EngineError) as failed:
        load(f"{base}&table=trap", Domain({"e": Categorical(categories=("x",))}, rows=1))
    assert "secret-value" not in str(failed.value)
    assert failed.value.__cause__ is None
    assert failed.value.__context__ is None


def connections(server):
    """Count our connections to a server."""
    with psycopg.connect(server.get_uri()) as connection:
        asked = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'discreet'"
        return connection.execute(asked).fetchone()[0]


def test_a_load_that_fails_leaves_no_connection_open(server, base):
    gc.collect()
    before = connections(server)
    run_on(
        server,
        "DROP TABLE IF EXISTS few, none_at_all",
        "CREATE TABLE few AS SELECT 'x' AS a",
        "CREATE TABLE none_at_all (a text)",
        "CREATE TABLE IF NOT EXISTS trapped AS SELECT CAST('secret-value' AS text) AS e",
        "CREATE OR REPLACE VIEW trap AS SELECT CAST(e AS integer)::text AS e FROM trapped",
    )
    kept = []
    for name, column, rows in (
        ("few", "a", 2),
        ("few", "b", 1),
        ("none_at_all", "a", 1),
        ("gone", "a", 1),
        ("trap", "e", 1),
    ):
        with pytest.raises((MisfitError, TableError, EngineError)) as failed:
            load(f"{base}&table={name}", Domain({column: Categorical(categories=("x",))}, rows=rows))
        kept.append(failed)  # and all that its frames hold
        assert connections(server) == before
    table = load(f"{base}&table=few", Domain({"a": Categorical(categories=("x",))}, rows=1))
    assert connections(server) == before + 1
    assert table.rows == 1
    table._engine.close()
    assert connections(server) == before


def test_after_a_charge_no_kind_of_error_is_told(asia):
    net, _, url = asia
    domain = net.domain(20_000)
    room = Room(load(url, domain), domain, Budget(epsilon=1, delta=1e-6))
    engine = room._table._engine
    engine.table = lambda expr: engine.ask(lambda backend: 1 / 0)
    with pytest.raises(RoomError) as failed:
        discover_in(room, Marginals())
    assert str(failed.value) == FAILED.format(room.budget.entries[-1].statistic)


def test_an_expression_of_ibis_will_do(asia, tmp_path):
    import ibis

    net, rows, _ = asia
    domain = net.domain(20_000)
    pq.write_table(pa.table(rows), tmp_path / "asia.parquet")
    table = ibis.duckdb.connect().read_parquet(tmp_path / "asia.parquet")
    assert dc.discover(table, domain=domain, epsilon=1.0).graph.nodes
    half = table.filter(table.smoke == "yes")
    count = half.count().to_pyarrow().as_py()
    assert load(half, domain.with_rows(count)).rows == count
    with pytest.raises(SettingError, match="belongs to no connection"):
        load(ibis.table({"a": "string"}, name="free"), domain)


# --- several files --------------------------------------------------------------------------------------------------


def test_several_parquet_files_are_one_table(people, tmp_path):
    table, domain = people
    for i, start in enumerate(range(0, ROWS, 40_000)):
        pq.write_table(table.slice(start, 40_000), tmp_path / f"part-{i}.parquet")
    (tmp_path / "part-[9].parquet.txt").write_text("no part of it")
    together = load(str(tmp_path / "part-*.parquet"), domain)
    sets = pairs(domain)
    assert all((x == y).all() for x, y in zip(load(table, domain).counts(sets), together.counts(sets), strict=True))
    with pytest.raises(TableError, match="there are none"):
        load(str(tmp_path / "none-*.parquet"), domain)
    pq.write_table(table.drop_columns(["ignored"]), tmp_path / "part-9.parquet")
    with pytest.raises(TableError, match=r"'part-9.parquet' has other columns"):
        load(str(tmp_path / "part-*.parquet"), domain)


def test_a_file_with_a_pattern_in_its_name_is_itself(tmp_path):
    domain = Domain({"a": Categorical(categories=("x",))}, rows=1)
    for name in ("p[1].parquet", "p1.parquet"):
        pq.write_table(pa.table({"a": ["x"]}), tmp_path / name)
    assert load(str(tmp_path / "p[1].parquet"), domain).rows == 1


def test_no_bar_of_duckdb_is_drawn_where_results_go():
    import ibis

    backend = ibis.duckdb.connect()
    backend.con.execute("CREATE TABLE rows AS SELECT 1 AS x")
    backend.con.execute("SET enable_progress_bar = true")
    open_source(backend.table("rows"))
    assert backend.con.execute("SELECT current_setting('enable_progress_bar')").fetchall() == [(False,)]


def test_truth_values_are_numbers_on_a_server(server, base):
    table = pa.table({"x": [True, False, None], "y": [0.2, 9.0, -1.0]})
    to_postgres(server.get_uri(), "truths", table)
    domain = Domain({"x": Numeric(bounds=(0.0, 0.5), missing="none"), "y": Numeric(bounds=(0.0, 1.0))}, rows=3)
    there = open_engine(f"{base}&table=truths")
    assert there.count_clipped(domain) == open_source(table, domain).count_clipped(domain) == {"x": 1, "y": 2}
