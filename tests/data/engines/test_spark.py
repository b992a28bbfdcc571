"""A real Spark cluster on loopback, a master and two workers: the same counts, the same graph, and what goes wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.data.draft import draft_yaml
from discreet.data.engines.registry import open_engine
from discreet.data.engines.spark import split_url
from discreet.data.load import Reading, load, open_source
from discreet.domain import Categorical, Domain, Numeric
from discreet.errors import EngineError, MisfitError, RoomError, SettingError, TableError
from discreet.methods.discover import discover_in
from discreet.privacy.budget import Budget
from discreet.release.settings import Marginals
from discreet.room import Room
from discreet.statistics import Weight
from discreet.testing import SeededNoise
from support.engine_data import HOSTILE, nasty, spelled

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))
import spark_cluster

ROWS = 100_000
SPARK_NAME = HOSTILE.replace("${y}", "$y")
"""Spark replaces what stands in such braces."""


def test_a_url_names_a_master_and_a_table():
    assert split_url("spark://host:99?table=a.b") == ("host", 99, "table", "a.b")
    assert split_url("spark://host?parquet=%2Fdata%2Fx") == ("host", 7077, "parquet", "/data/x")
    for url in (
        "spark://host:99",
        "spark://host?table=",
        "spark://?table=x",
        "spark://host/db?table=x",
        "spark://h:x?a=b",
    ):
        with pytest.raises(SettingError, match="expected spark"):
            split_url(url)
    with pytest.raises(SettingError, match="no user and no password") as refused:
        split_url("spark://me:secret@host?table=x")
    assert "secret" not in str(refused.value)


@pytest.mark.slow  # needs pyspark
def test_a_master_that_is_not_there_is_told_soon():
    with pytest.raises(EngineError, match="master cannot be reached"):
        load("spark://127.0.0.1:1?table=x", Domain({"a": Categorical(categories=("x",))}, rows=1))


@pytest.fixture(scope="class")
def spark(tmp_path_factory):
    """A cluster with files, and a session on it that stays open as long as a class of tests needs one."""
    folder = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_HOME", str(spark_cluster.java_home(folder)))
        patch.setenv("SPARK_LOCAL_IP", spark_cluster.HOST)
        patch.setenv("SPARK_CONF_DIR", str(folder))
        settings = f"spark.cores.max 1\nspark.sql.warehouse.dir {folder / 'warehouse'}\n"
        (folder / "spark-defaults.conf").write_text(settings)  # leaves a worker to another driver
        with spark_cluster.cluster(folder / "cluster") as url:
            pq.write_table(pa.table(asia()), folder / "asia.parquet")
            held = open_engine(f"{url}?parquet={folder / 'asia.parquet'}")
            yield url, folder
            del held


def asia() -> dict[str, list[str]]:
    drawn = dc.network("asia").sample(20_000, np.random.default_rng(1))
    return {name: list(values) for name, values in drawn.items()}


@pytest.fixture(scope="class")
def people(spark):
    table, domain = nasty(ROWS, np.random.default_rng(5))
    table = table.rename_columns([SPARK_NAME if name == HOSTILE else name for name in table.column_names])
    columns = {SPARK_NAME if name == HOSTILE else name: column for name, column in domain.columns.items()}
    pq.write_table(table, spark[1] / "people.parquet")
    return table, Domain(columns, rows=ROWS), f"{spark[0]}?parquet={spark[1] / 'people.parquet'}"


def forget() -> None:
    """Collect what keeps sockets, as PySpark leaves them to the collector."""
    import gc

    gc.collect()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
class TestCluster:
    """All on one cluster."""

    def test_it_counts_the_same(self, people):
        table, domain, url = people
        said = []
        there = load(url, domain, reading=Reading(progress=said.append))
        plain = load(table, domain)
        names = [name for name in domain if domain.size(name) <= 1000]
        sets = [(name,) for name in domain] + list(combinations(names, 2))
        for columns, x, y in zip(sets, plain.counts(sets), there.counts(sets), strict=True):
            assert (x == y).all(), columns
        wanted = [("fine",), ("fine", "steps"), ("whole", "fine")]
        assert there.sums(wanted) == plain.sums(wanted)
        assert said[-1].endswith(f"{len(sets)} of {len(sets)} tables counted")
        weight, few = Weight(7, {name: np.arange(domain.size(name)) << 10 for name in names}, 1 << 15), sets[:20]
        for x, y in zip(plain.weighted(few, weight), there.weighted(few, weight), strict=True):
            assert (x == y).all()
        forget()

    def test_it_reads_what_is_written_in_many_ways_alike(self, spark):
        table, domain = spelled(2_000, np.random.default_rng(5))
        pq.write_table(table, spark[1] / "spelled.parquet")
        url, sets = f"{spark[0]}?parquet={spark[1] / 'spelled.parquet'}", [(name,) for name in domain]
        expected = [x.tolist() for x in load(table, domain).counts(sets)]
        assert [x.tolist() for x in load(url, domain).counts(sets)] == expected
        pq.write_table(table.select(["sex", "grade"]), spark[1] / "few.parquet")
        few = open_engine(f"{spark[0]}?parquet={spark[1] / 'few.parquet'}")
        assert draft_yaml(few) == draft_yaml(open_source(table.select(["sex", "grade"])))
        forget()

    def test_the_custodian_is_told_the_same(self, people):
        table, domain, url = people
        there, plain = open_engine(url), open_source(table, domain)
        assert there.count_clipped(domain) == plain.count_clipped(domain)
        assert there.misfits(domain) == []
        assert there.mark(domain) == there.mark(domain) != there.mark(Domain({"fine": domain["fine"]}, rows=ROWS))
        forget()

    def test_the_same_noise_gives_the_same_graph_and_rows_can_be_pulled(self, spark):
        url, folder = spark
        rows, domain = asia(), dc.network("asia").domain(20_000)
        found = []
        for data in (rows, f"{url}?parquet={folder / 'asia.parquet'}"):
            room = Room(load(data, domain), domain, Budget(epsilon=1, delta=1e-6), noise=SeededNoise(7))
            found.append(discover_in(room, Marginals()))
        assert found[0].graph == found[1].graph
        assert [m.values for m in found[0].measurements] == [m.values for m in found[1].measurements]
        pulled = load(f"{url}?parquet={folder / 'asia.parquet'}", domain, reading=Reading(pull=True))
        assert (
            pulled.counts([("smoke", "lung")])[0].tolist() == load(rows, domain).counts([("smoke", "lung")])[0].tolist()
        )
        forget()

    def test_it_chooses_the_same_rows_of_each_person(self, spark):
        url, folder = spark
        rng = np.random.default_rng(3)
        table = pa.table({"who": [f"p{i}" for i in rng.integers(0, 500, 3_000)], "x": rng.integers(0, 3, 3_000)})
        pq.write_table(table, folder / "visits.parquet")
        column = Categorical(categories=("0", "1", "2"))
        reading = Reading(key="0123456789abcdef" * 4)
        for people, rows in ((dc.People("who", 2), 990), (dc.People(None, 1), 2_900)):
            domain = Domain({"x": column}, rows=rows, people=people)
            there = load(f"{url}?parquet={folder / 'visits.parquet'}", domain, reading=reading)
            plain = load(table, domain, reading=reading)
            assert there.counts([("x",)])[0].tolist() == plain.counts([("x",)])[0].tolist()
        forget()

    def test_tables_of_the_catalog_by_their_names(self, spark):
        from pyspark.sql import SparkSession

        url, _ = spark
        session = SparkSession.getActiveSession()
        session.sql("CREATE DATABASE IF NOT EXISTS clinic")
        for name, value in (("visits", "a"), ("clinic.visits", "b")):
            session.sql(f"CREATE TABLE {name} USING parquet AS SELECT '{value}' AS v")
        domain = Domain({"v": Categorical(categories=("a", "b"))}, rows=1)
        assert load(f"{url}?table=visits", domain).counts([("v",)])[0].tolist() == [1, 0]
        assert load(f"{url}?table=clinic.visits", domain).counts([("v",)])[0].tolist() == [0, 1]
        forget()

    def test_a_file_that_was_written_again_is_read_again(self, spark):
        url, folder = spark
        domain = Domain({"v": Numeric(bounds=(0.0, 9.0), bins=2, other="else")}, rows=4)
        for values, expected in ((["1", "1", "9", "9"], [2, 2, 0]), (["9", "5\u2028", "5\x85", "\u20295"], [0, 1, 3])):
            pq.write_table(pa.table({"v": values}), folder / "again.parquet")
            found = load(f"{url}?parquet={folder / 'again.parquet'}", domain).counts([("v",)])[0]
            assert found.tolist() == expected == load(pa.table({"v": values}), domain).counts([("v",)])[0].tolist()
        forget()

    def test_the_command_line_is_quiet(self, spark, tmp_path):
        url, folder = spark
        (tmp_path / "domain.yaml").write_text(dc.network("asia").domain(20_000).to_yaml())
        typed = ["discover", f"{url}?parquet={folder / 'asia.parquet'}", "--domain", str(tmp_path / "domain.yaml")]
        command = [sys.executable, "-m", "discreet", *typed, "--epsilon", "1", "--dataset", "asia", "--json"]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)  # noqa: S603
        assert ran.returncode == 0, ran.stderr
        assert "WARN" not in ran.stderr
        assert "log4j" not in ran.stderr

    def test_what_is_not_there(self, spark, people):
        url, folder = spark
        domain = Domain({"a": Categorical(categories=("x",))}, rows=1)
        with pytest.raises(TableError, match="'no`such; table' does not exist"):
            load(f"{url}?table=no`such;%20table", domain)
        with pytest.raises(TableError, match=r"'gone.parquet' cannot be read"):
            load(f"{url}?parquet={folder / 'gone.parquet'}", domain)
        pq.write_table(pa.table({"${spark.app.name}": ["x"]}), folder / "braces.parquet")
        with pytest.raises(MisfitError, match="Spark replaces"):
            load(f"{url}?parquet={folder / 'braces.parquet'}", Domain({"${spark.app.name}": domain["a"]}, rows=1))
        forget()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
class TestClusterThatIsLost:
    """On a cluster of its own: there is none afterwards."""

    def test_workers_that_go_away_in_the_middle(self, spark, monkeypatch, tmp_path):
        url, folder = spark
        monkeypatch.setattr("discreet.data.engines.spark.ALONE", 15)  # also where others keep the cores busy
        account = dc.Account("asia", f"sqlite:///{tmp_path}/ledger.db")

        def kill(words):
            if words.startswith("measuring"):
                listed = subprocess.run(["ps", "-wweo", "pid,args"], capture_output=True, text=True, check=True)  # noqa: S607
                lines = [line for line in listed.stdout.splitlines() if str(folder) in line]
                for line in lines:
                    if "deploy.worker.Worker" in line or "CoarseGrainedExecutorBackend" in line:
                        os.kill(int(line.split()[0]), signal.SIGKILL)

        data = f"{url}?parquet={folder / 'asia.parquet'}"
        with pytest.raises(RoomError, match="failed; its charge stays booked"):
            dc.discover(data, domain=dc.network("asia").domain(20_000), epsilon=1.0, account=account, progress=kill)
        assert account.standing().runs == 1
        forget()
