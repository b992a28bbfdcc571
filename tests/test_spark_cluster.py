"""The Spark cluster that other tests use."""

import gc
import subprocess

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import spark_cluster

ROWS = 1000


@pytest.fixture
def own_java(tmp_path, monkeypatch):
    pytest.importorskip("pyspark")
    home = spark_cluster.java_home(tmp_path)
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.setenv("SPARK_LOCAL_IP", spark_cluster.HOST)
    return home


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # PySpark leaves its sockets to the collector
def test_counts_rows_and_leaves_nothing_behind(tmp_path, own_java):
    ibis = pytest.importorskip("ibis")
    import pyspark
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    pq.write_table(pa.table({"x": np.arange(ROWS) % 7}), tmp_path / "rows.parquet")
    with spark_cluster.cluster(tmp_path / "cluster") as url:
        settings = {
            "spark.ui.enabled": "false",
            "spark.driver.host": spark_cluster.HOST,
            "spark.executor.memory": "1g",
            "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
        }
        conf = pyspark.SparkConf(loadDefaults=False).setMaster(url).setAppName("test").setAll(settings.items())
        with (tmp_path / "driver.log").open("wb") as log:
            gateway = launch_gateway(conf, {"stdout": log, "stderr": log})
        try:
            session = SparkSession(pyspark.SparkContext(conf=conf, gateway=gateway))
            connection = ibis.pyspark.connect(session)
            table = connection.read_parquet(tmp_path / "rows.parquet")
            query = connection.compile(table.group_by("x").aggregate(n=table.count()))
            counted = session.sql(query).toArrow().to_pylist()
            session.stop()
        finally:
            gateway.shutdown()
            gateway.proc.stdin.close()
            gateway.proc.wait(30)
            gc.collect()
            pyspark.SparkContext._gateway = pyspark.SparkContext._jvm = None
    assert {each["x"]: each["n"] for each in counted} == {x: len(range(x, ROWS, 7)) for x in range(7)}
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout  # noqa: S607
    assert url not in running
