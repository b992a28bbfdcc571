"""Ten million rows of twenty columns in Parquet: seconds, memory. Run: python benchmarks/many_rows.py [rows]."""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

import duckdb

import discreet as dc

COLUMNS, LEVELS = 20, 3


def main() -> None:
    """Write the file with DuckDB, then find its graph."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    first = "floor(random() * 3)::UTINYINT AS c0"
    rest = [
        f"CASE WHEN random() < 0.6 THEN c{i - 1} ELSE floor(random() * 3)::UTINYINT END AS c{i}"
        for i in range(1, COLUMNS)
    ]
    query = f"SELECT {first} FROM range({rows})"
    for column in rest:
        query = f"SELECT *, {column} FROM ({query})"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        duckdb.sql(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
        labels = tuple(str(level) for level in range(LEVELS))
        domain = dc.Domain({f"c{i}": dc.Categorical(categories=labels) for i in range(COLUMNS)}, rows=rows)
        start = time.perf_counter()
        found = dc.discover(str(path), domain=domain, epsilon=1.0, delta=1e-9)
        seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{rows:,} x {COLUMNS}: {seconds:.1f} s, peak {peak:.2f} GiB, {len(found.graph.skeleton)} edges")


if __name__ == "__main__":
    main()
