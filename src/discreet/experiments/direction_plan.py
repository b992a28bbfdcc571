"""Which runs the experiment on directions is made of, on which pairs, and what is written down of each."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np

from discreet.arrays import FloatArray
from discreet.errors import SettingError, TableError
from discreet.experiments.harness import KeptRuns, Record

SCORES = ("spearman", "kendall", "hsic", "root-hsic", "reci", "iqr")
RIDGE, WIDTH = 1e-3, 0.5
"""Of the fits and kernels, on a scale from -1 to 1. The paper chose them pair by pair; here they are public."""

SWEEP = tuple(float(f"{10 ** (k / 2):.3g}") for k in range(-10, 1))
"""Ridges along Figure 2."""

BUDGETS = tuple(float(f"{10 ** (k / 4):.3g}") for k in range(-4, 9))
"""Epsilons along Figure 1; every second one where each needs a run of its own."""

FEWEST = 20
"""Pairs with fewer rows are left out."""

Data = Literal["simulated", "pairs"]
Kind = Literal["halves", "private"]
Part = Literal["table", "figures"]

HEADER = ["pair", "x", "y", "direction"]
FORWARD, BACKWARD = "x->y", "y->x"


@dataclass(frozen=True)
class Task:
    """One run. The setting is the ridge of fits on halves, or the epsilon for all rows."""

    kind: Kind
    data: Data
    pair: str
    rows: int
    seed: int
    setting: float

    def to_dict(self) -> Record:
        """Return all settings, also those that are the same for all."""
        return {**asdict(self), "width": WIDTH}


def task_of(record: Record) -> Task | None:
    """Return the run that a record tells of; None if it is not one of this experiment's."""
    settings = dict(record.get("task", {}))
    known = {field.name for field in fields(Task)}
    if settings.pop("width", None) != WIDTH or settings.keys() != known:
        return None
    return Task(**settings)


def finished(kept: KeptRuns) -> dict[Task, Record]:
    """Return all runs that need not be done again."""
    return {task: record for record in kept.records() if (task := task_of(record)) is not None}


@dataclass(frozen=True)
class CausePair:
    """Two columns of numbers of which one is known to cause the other."""

    x: FloatArray
    y: FloatArray
    forward: bool


def plan(
    parts: Sequence[Part],
    number: int,
    rows: Sequence[int],
    epsilons: Sequence[float],
    runs: int,
    pairs: Path | None,
) -> list[Task]:
    """Return all runs: simulated pairs once each, given ones with fresh halves and noise in each run."""
    if runs < 1 or number < 0 or any(n < FEWEST for n in rows):
        raise SettingError(f"runs, number, rows: at least 1, 0, and {FEWEST}")
    if not epsilons or not all(0 < epsilon < np.inf for epsilon in epsilons):
        raise SettingError("epsilons: numbers above 0, with commas between them")
    settings: dict[tuple[Kind, float], None] = {("halves", RIDGE): None}
    if "table" in parts:
        settings |= {("private", epsilon): None for epsilon in epsilons}
    if "figures" in parts:
        settings |= {("private", epsilon): None for epsilon in BUDGETS[::2]}
        settings |= {("halves", ridge): None for ridge in SWEEP}
    looked_at: list[tuple[Data, str, int, int]] = [("simulated", str(i), n, 0) for n in rows for i in range(number)]
    if pairs is not None:
        sizes = {name: len(pair.x) for name, pair in read_pairs(pairs).items()}
        looked_at += [("pairs", name, size, seed) for name, size in sizes.items() for seed in range(runs)]
    return [Task(kind, *at, setting) for at in looked_at for kind, setting in settings]


def simulated(number: int, rows: int) -> CausePair:
    """Return a simulated pair with additive noise: three functions, two laws of noise, and both orders in turn."""
    rng = np.random.default_rng([number, rows, 11])
    x = rng.uniform(-1, 1, rows)
    f = (np.tanh(2 * x) / np.tanh(2), x**3, np.sin(2 * x))[number % 3]
    noise = rng.uniform(-0.2, 0.2, rows) if number // 3 % 2 else rng.normal(0, 0.1, rows)
    y = np.clip(0.8 * f + noise, -1, 1)
    return CausePair(y, x, forward=False) if number // 6 % 2 else CausePair(x, y, forward=True)


@cache
def read_pairs(path: Path) -> dict[str, CausePair]:
    """Return the pairs of a file: lines of a name, two columns of numbers with blanks between, and the direction.

    NOT PRIVATE: each column is scaled by the range that all but one percent of its own values lie in.
    """
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            lines = [line.rstrip("\n").split(",") for line in file]
        if not lines or lines[0] != HEADER:
            raise ValueError
        found = {name: _pair(x, y, direction) for name, x, y, direction in lines[1:]}
    except (OSError, ValueError, EOFError):
        raise TableError(
            f"pairs: expected a CSV file with the columns {', '.join(HEADER)}: numbers with blanks between them, and "
            f"{FORWARD} or {BACKWARD}"
        ) from None
    return {name: pair for name, pair in found.items() if len(pair.x) >= FEWEST}


def _pair(x: str, y: str, direction: str) -> CausePair:
    first, second = (scaled(np.array([float(number) for number in text.split()])) for text in (x, y))
    if direction not in (FORWARD, BACKWARD) or len(first) != len(second):
        raise ValueError
    return CausePair(first, second, forward=direction == FORWARD)


def scaled(values: FloatArray) -> FloatArray:
    """NOT PRIVATE: put the middle 99 percent of values on a scale from -1 to 1, and the others at its ends."""
    if not len(values):
        return values
    low, high = np.quantile(values, (0.005, 0.995))
    if not high > low:
        return np.zeros(len(values))
    found: FloatArray = np.clip(2 * (values - low) / (high - low) - 1, -1, 1)
    return found
