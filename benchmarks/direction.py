"""How often `discreet direction` is right on simulated pairs, everything protected, and how long it takes.

python benchmarks/direction.py [pairs] [epsilon]
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable

import numpy as np

import discreet as dc
from discreet.arrays import FloatArray
from discreet.data.memory import MemoryTable
from discreet.errors import DoubtWarning
from discreet.methods.direction import SCORES, direction_in

STEPS = dc.Numeric(bounds=(-1.0, 1.0)).size
FUNCTIONS: tuple[Callable[[FloatArray], FloatArray], ...] = (
    lambda x: np.tanh(2 * x),
    lambda x: x**3,
    lambda x: np.sin(2 * x),
)


def pair(i: int, rows: int, noise: str, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return a cause, uniform on [-1, 1], and its effect: a curve up to 0.8 and additive noise."""
    x = rng.uniform(-1, 1, rows)
    curve = FUNCTIONS[i % 3]
    shift = rng.uniform(-0.2, 0.2, rows) if noise == "uniform" else rng.normal(0, 0.1, rows)
    return x, 0.8 * curve(x) / np.abs(curve(np.linspace(-1, 1, 1001))).max() + shift


def table(first: FloatArray, second: FloatArray) -> MemoryTable:
    """Return both columns on the grid of their declared bounds."""
    codes = {
        name: np.minimum((np.clip(values, -1, 1) + 1) / 2 * STEPS, STEPS - 1).astype(np.uint16)
        for name, values in (("a", first), ("b", second))
    }
    return MemoryTable(codes, {"a": STEPS, "b": STEPS})


def main(pairs: int, epsilon: float) -> None:
    """Print the table."""
    warnings.simplefilter("ignore", DoubtWarning)
    print(f"share right of {pairs} pairs at epsilon {epsilon:g}, any guess taken; milliseconds a pair")
    print("| rows | noise | " + " | ".join(SCORES) + " |")
    print("|---" * (2 + len(SCORES)) + "|")
    for rows in (500, 2_000):
        for noise in ("uniform", "gaussian"):
            cells = []
            for score in SCORES:
                rng = np.random.default_rng([rows, len(noise)])
                right, start = 0, time.perf_counter()
                for i in range(pairs):
                    x, y = pair(i, rows, noise, rng)
                    domain = dc.Domain({c: dc.Numeric(bounds=(-1.0, 1.0)) for c in ("a", "b")}, rows=rows)
                    rows_of = table(y, x) if i % 2 else table(x, y)
                    room = dc.Room(rows_of, domain, dc.Budget(epsilon=epsilon, delta=0))
                    found = direction_in(room, ("a", "b"), score=score, sure=0.5).pairs[0]
                    right += found.cause == ("b" if i % 2 else "a")
                taken = (time.perf_counter() - start) / pairs * 1000
                cells.append(f"{right / pairs:.2f} ({taken:.0f})")
            print(f"| {rows:,} | {noise} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200, float(sys.argv[2]) if len(sys.argv) > 2 else 1.0)
