"""The command line with the process start, on CSV files. Run: python benchmarks/end_to_end.py."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import discreet as dc

ROWS = 100_000


def seconds(args: list[str]) -> float:
    """Run the command line and return how long it took."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "discreet", *args], check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    """Print one line a command."""
    print(f"discreet --help                 {min(seconds(['--help']) for _ in range(5)):6.2f} s")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("asia", "alarm"):
            net = dc.network(name)
            data, domain = Path(folder) / f"{name}.csv", Path(folder) / f"{name}.yaml"
            pd.DataFrame(net.sample(ROWS, np.random.default_rng(0))).to_csv(data, index=False)
            domain.write_text(net.domain(ROWS).to_yaml())
            args = [
                "discover",
                str(data),
                "--domain",
                str(domain),
                "--epsilon",
                "1",
                "--out",
                str(Path(folder) / "out"),
            ]
            print(f"discover {name:<6} {ROWS:,} rows    {min(seconds(args) for _ in range(3)):6.2f} s")


if __name__ == "__main__":
    main()
