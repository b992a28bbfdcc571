"""Kusner, Sun, Sridharan, Weinberger 2016 (*Private causal inference*), measured again.

The direction of cause between two columns, with noise that protects one half of the rows or both, as published and as
repaired, which is NOT PRIVATE, and with this library's, which protects all rows. The probability that noise leaves a
direction alone is computed, not drawn, except where all rows are protected.
"""

from __future__ import annotations

import gzip
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from discreet.arrays import FloatArray
from discreet.baselines.published.direction import (
    PRINTED,
    REASONS,
    SCORES,
    EpsilonIs,
    HalfSettings,
    Protects,
    Sensitivities,
    fit_halves,
    steps_to_instability,
)
from discreet.baselines.published.iqr import Spread, laplace_tail
from discreet.data.memory import MemoryTable
from discreet.domain import Domain
from discreet.domain.columns import Numeric
from discreet.errors import SettingError, TableError
from discreet.experiments import harness
from discreet.experiments.harness import Record
from discreet.methods.direction import direction_in
from discreet.privacy.budget import Budget
from discreet.room import Room
from discreet.statistics.curves import UNIT, Scaled

DELTA = 1e-6
RIDGE, WIDTH = 1e-3, 0.5
"""Of the fits and kernels, on a scale from -1 to 1. The paper does not say its own; here they are public."""

SWEEP = tuple(float(f"{10 ** (k / 2):.3g}") for k in range(-10, 1))
"""Ridges along Figure 2, up to 1 as in the paper's Theorem 5."""

BUDGETS = tuple(float(f"{10 ** (k / 4):.3g}") for k in range(-4, 9))
"""Epsilons along Figure 1; every second one where each needs a run of its own."""

FEWEST_ROWS = 20
"""Pairs with fewer rows are left out."""

LARGEST_EXPONENT = 700.0
"""Beyond this, e to minus a number is 0 for all that is shown."""

Data = Literal["simulated", "pairs"]
Kind = Literal["halves", "private"]
Part = Literal["table", "figures"]


@dataclass(frozen=True)
class Way:
    """What is protected, by whose sensitivities, and whether epsilon is that of a score or the total."""

    protects: Protects
    sensitivities: Sensitivities
    epsilon_is: EpsilonIs

    @property
    def name(self) -> str:
        """Its column of a table."""
        source = "published" if self.sensitivities == "paper" else "proved"
        return f"{self.protects.split()[0]}_{source}_{self.epsilon_is.replace(' ', '_')}"

    def settings(self, score: str, epsilon: float, ridge: float, delta: float = DELTA) -> HalfSettings:
        """Return the settings of the baseline: two draws of noise as published, else one."""
        draws = 2 if self.sensitivities == "paper" else 1
        return HalfSettings(
            self.protects, score, epsilon, delta, self.sensitivities, draws, WIDTH, ridge, self.epsilon_is
        )


READINGS: tuple[tuple[Sensitivities, EpsilonIs], ...] = (
    ("paper", "per score"),
    ("paper", "total"),
    ("proved", "total"),
)
WAYS = {way.name: way for way in (Way(half, *reading) for half, reading in product(REASONS, READINGS))}
COLUMNS = ("none", *WAYS, "all_total")
"""Columns of tables: no privacy, ways to protect halves, and all rows protected."""

HEADER = ["pair", "x", "y", "direction"]
FORWARD, BACKWARD = "x->y", "y->x"


@dataclass(frozen=True)
class Task(harness.Task):
    """One run. The setting is the ridge of fits on halves, or the epsilon for all rows."""

    common: ClassVar[Record] = {"width": WIDTH}
    kind: Kind
    data: Data
    pair: str
    rows: int
    seed: int
    setting: float


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
    if runs < 1 or number < 0 or any(n < FEWEST_ROWS for n in rows):
        raise SettingError(f"runs, number, rows: at least 1, 0, and {FEWEST_ROWS}")
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


def simulate(number: int, rows: int) -> CausePair:
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
        found = {name: _read_pair(x, y, direction) for name, x, y, direction in lines[1:]}
    except (OSError, ValueError, EOFError):
        raise TableError(
            f"pairs: expected a CSV file with the columns {', '.join(HEADER)}: numbers with blanks between them, and "
            f"{FORWARD} or {BACKWARD}"
        ) from None
    return {name: pair for name, pair in found.items() if len(pair.x) >= FEWEST_ROWS}


def _read_pair(x: str, y: str, direction: str) -> CausePair:
    first, second = (rescale(np.array([float(number) for number in text.split()])) for text in (x, y))
    if direction not in (FORWARD, BACKWARD) or len(first) != len(second):
        raise ValueError
    return CausePair(first, second, forward=direction == FORWARD)


def rescale(values: FloatArray) -> FloatArray:
    """NOT PRIVATE: put the middle 99 percent of values on a scale from -1 to 1, and the others at its ends."""
    if not len(values):
        return values
    low, high = np.quantile(values, (0.005, 0.995))
    if not high > low:
        return np.zeros(len(values))
    found: FloatArray = np.clip(2 * (values - low) / (high - low) - 1, -1, 1)
    return found


def chance_unflipped(t: float, draws: int) -> float:
    """Return the probability that Laplace noise leaves a sign alone.

    ``t`` is the size of a difference of scores over the scale of each draw, of which 1, 2 (Theorem 2 of the paper) or 4
    (Theorem 4) are added to it.

    Proof
    -----
    A sum of draws is symmetric, so the sign turns with the probability of a sum above t. Densities of one, two and four
    draws of scale 1 are e^-t times 1/2, (1 + t)/4 and (15 + 15 t + 6 t^2 + t^3)/96 for t >= 0; their integrals from t
    on are e^-t times 1/2, (2 + t)/4 and (48 + 33 t + 9 t^2 + t^3)/96.
    """
    if t >= LARGEST_EXPONENT:
        return 1.0
    turned = {1: 1 / 2, 2: (2 + t) / 4, 4: (48 + 33 * t + 9 * t**2 + t**3) / 96}
    return 1 - turned[draws] * math.exp(-t)


def chance_right(margin: float | None, scale: float, draws: int) -> float:
    """Return the probability that the noisy difference tells the truth; above 0 it does without noise."""
    if not margin:
        return 0.5
    kept = chance_unflipped(abs(margin) / scale, draws) if scale else 1.0
    return kept if margin > 0 else 1 - kept


def perform(task: Task, pairs: Path | None = None) -> Record:
    """Look at one pair, and return all that tables and charts are made of. Margins above 0 are right."""
    pair = simulate(int(task.pair), task.rows) if task.data == "simulated" else read_pairs(pairs or Path())[task.pair]
    look = _look_at_halves if task.kind == "halves" else _look_privately
    return {"task": task.to_dict(), **look(task, pair)}


def encode(pair: CausePair) -> tuple[MemoryTable, Domain]:
    """Return a pair as a table, with bounds -1 and 1."""
    domain = Domain({name: Numeric(bounds=(-1.0, 1.0)) for name in ("x", "y")}, rows=len(pair.x))
    sizes = {name: domain.size(name) for name in domain}

    def codes(values: FloatArray, levels: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint16]]:
        return np.minimum((values + 1) / 2 * levels, levels - 1).astype(np.uint16)

    return MemoryTable({"x": codes(pair.x, sizes["x"]), "y": codes(pair.y, sizes["y"])}, sizes), domain


def _look_privately(task: Task, pair: CausePair) -> Record:
    table, domain = encode(pair)
    margins = {}
    for score in SCORES:
        room = Room(table, domain, Budget(epsilon=task.setting, delta=0.0))
        margins[score] = _towards(pair, direction_in(room, ("x", "y"), score=score, sure=0.5).pairs[0].margin)
    return {"margins": margins}


def _look_at_halves(task: Task, pair: CausePair) -> Record:
    """NOT PRIVATE: return exact scores of random halves."""
    table, domain = encode(pair)
    x, y = (codes / UNIT for codes in Scaled.of("x", "y", domain).values(table))
    found = fit_halves(x, y, WIDTH, task.setting, np.random.default_rng([task.seed, task.rows, 13]))
    margins = {}
    for score in SCORES:
        forward, backward = found.scores(score, WIDTH)
        margins[score] = _towards(pair, backward - forward)
    spreads: dict[str, dict[str, list[list[float]]]] = {}
    for way in WAYS.values():
        noisy = found.spreads(way.settings("iqr", 1.0, task.setting))
        spreads.setdefault(way.protects, {})[way.sensitivities] = [[one.log, *one.steps] for one in noisy]
    return {"margins": margins, "test": found.rows, "train": found.train, "gaps": found.gaps(), "spreads": spreads}


def _towards(pair: CausePair, margin: float) -> float | None:
    return None if math.isnan(margin) else margin if pair.forward else -margin


def chance(record: Record, score: str, column: str, epsilon: float, ridge: float = RIDGE) -> float | None:
    """Return the probability of the right direction, a coin being thrown where none is told; None where unknown.

    An infinite epsilon is no privacy.
    """
    margin = record["margins"][score]
    if column not in WAYS or math.isinf(epsilon):
        return chance_right(margin, 0.0, 1)
    way = WAYS[column]
    if way.sensitivities == "paper" and score not in PRINTED:
        return None
    settings = way.settings(score, epsilon, ridge)
    each, _ = settings.each
    if settings.mechanism == "noise":
        return chance_right(
            margin, _change(column, score, ridge, record["test"], record["train"]) / each, settings.draws
        )
    told = answer_probability(record, settings)
    many = len(record["spreads"][way.protects][way.sensitivities])
    right = chance_right(margin, 1 / each, many) if score == "iqr" else chance_right(margin, 0.0, 1)
    return told * right + (1 - told) / 2


@cache
def _change(column: str, score: str, ridge: float, rows: int, train: int) -> float:
    return WAYS[column].settings(score, 1.0, ridge).change(rows, train)


def answer_probability(record: Record, settings: HalfSettings) -> float:
    """Return the probability that all tests of stability are passed, exactly."""
    epsilon, delta = settings.each
    told = 1.0
    if settings.mechanism == "spreads":
        for log, first, second in record["spreads"][settings.protects][settings.sensitivities]:
            told *= Spread(log, (first, second), settings.sensitivities == "paper").answer_probability(epsilon, delta)
        return told
    for gap in record["gaps"] if settings.draws == 2 else [min(record["gaps"])]:
        steps = steps_to_instability(gap, record["train"], settings.ridge, settings.sensitivities)
        told *= laplace_tail(math.log(1 / delta) / epsilon - steps, epsilon)
    return told


Results = Mapping[Task, Record]
