"""Kusner, Sun, Sridharan, Weinberger 2016 (*Private causal inference*), measured again.

The direction of cause between two columns, with noise that protects one half of the rows as published and as repaired,
which is NOT PRIVATE as a whole, and with this library's, which protects all rows. The probability that noise leaves a
direction alone is computed, not drawn, except where all rows are protected.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

import numpy as np

from discreet.arrays import FloatArray
from discreet.baselines.published.direction import (
    CLAIMED,
    PRINTED,
    RANKS,
    SPENT,
    HalfSettings,
    Sensitivities,
    fit_halves,
    steps_to_instability,
)
from discreet.baselines.published.iqr import Spread, laplace_tail
from discreet.data.memory import MemoryTable
from discreet.domain import Domain
from discreet.domain.columns import Numeric
from discreet.experiments.direction_plan import RIDGE, SCORES, WIDTH, CausePair, Task, read_pairs, simulated
from discreet.experiments.harness import Record
from discreet.methods.direction import direction_in
from discreet.privacy.budget import Budget
from discreet.room import Room
from discreet.statistics.curves import UNIT, Scaled

DELTA = 1e-6
LARGEST = 700.0
"""Beyond this, e to minus a number is 0 for all that is shown."""

How = Literal["none", "test-published", "test", "training-published", "training", "all"]
HOWS: tuple[How, ...] = ("none", "test-published", "test", "training-published", "training", "all")
"""What is protected, and how: as published with two draws of noise, else with one and the proved sensitivity."""


def unflipped(t: float, draws: int) -> float:
    """Return the probability that Laplace noise leaves a sign alone.

    ``t`` is the size of a difference of scores over the scale of each draw, of which 1, 2 (Theorem 2 of the paper) or 4
    (Theorem 4) are added to it.

    Proof
    -----
    A sum of draws is symmetric, so the sign turns with the probability of a sum above t. Densities of one, two and four
    draws of scale 1 are e^-t times 1/2, (1 + t)/4 and (15 + 15 t + 6 t^2 + t^3)/96 for t >= 0; their integrals from t
    on are e^-t times 1/2, (2 + t)/4 and (48 + 33 t + 9 t^2 + t^3)/96.
    """
    if t >= LARGEST:
        return 1.0
    turned = {1: 1 / 2, 2: (2 + t) / 4, 4: (48 + 33 * t + 9 * t**2 + t**3) / 96}
    return 1 - turned[draws] * math.exp(-t)


def right(margin: float | None, scale: float, draws: int) -> float:
    """Return the probability that the noisy difference tells the truth; above 0 it does without noise."""
    if not margin:
        return 0.5
    kept = unflipped(abs(margin) / scale, draws) if scale else 1.0
    return kept if margin > 0 else 1 - kept


def perform(task: Task, pairs: Path | None = None) -> Record:
    """Look at one pair, and return all that tables and charts are made of. Margins above 0 are right."""
    pair = simulated(int(task.pair), task.rows) if task.data == "simulated" else read_pairs(pairs or Path())[task.pair]
    look = _by_halves if task.kind == "halves" else _privately
    return {"task": task.to_dict(), **look(task, pair)}


def encoded(pair: CausePair) -> tuple[MemoryTable, Domain]:
    """Return a pair as a table, with bounds -1 and 1."""
    domain = Domain({name: Numeric(bounds=(-1.0, 1.0)) for name in ("x", "y")}, rows=len(pair.x))
    sizes = {name: domain.size(name) for name in domain}

    def codes(values: FloatArray, levels: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint16]]:
        return np.minimum((values + 1) / 2 * levels, levels - 1).astype(np.uint16)

    return MemoryTable({"x": codes(pair.x, sizes["x"]), "y": codes(pair.y, sizes["y"])}, sizes), domain


def _privately(task: Task, pair: CausePair) -> Record:
    table, domain = encoded(pair)
    margins = {}
    for score in SCORES:
        room = Room(table, domain, Budget(epsilon=task.setting, delta=0.0))
        margins[score] = _towards(pair, direction_in(room, ("x", "y"), score=score, sure=0.5).pairs[0].margin)
    return {"margins": margins}


def _by_halves(task: Task, pair: CausePair) -> Record:
    """NOT PRIVATE: return exact scores of random halves."""
    table, domain = encoded(pair)
    x, y = (codes / UNIT for codes in Scaled.of("x", "y", domain).values(table))
    found = fit_halves(x, y, WIDTH, task.setting, np.random.default_rng([task.seed, task.rows, 13]))
    margins = {}
    for score in SCORES:
        forward, backward = found.scores(score, WIDTH)
        margins[score] = _towards(pair, backward - forward)
    spreads = {
        source: [[spread.log, *spread.steps] for spread in found.spreads(printed=source == "paper")]
        for source in ("paper", "proved")
    }
    return {"margins": margins, "test": found.rows, "train": found.train, "gap": found.gap(), "spreads": spreads}


def _towards(pair: CausePair, margin: float) -> float | None:
    return None if math.isnan(margin) else margin if pair.forward else -margin


def chance(record: Record, score: str, how: How, epsilon: float, ridge: float = RIDGE) -> float | None:
    """Return the probability of the right direction, a coin being thrown where none is told; None where unknown.

    An infinite epsilon is no privacy.
    """
    margin = record["margins"][score]
    if how in ("none", "all") or math.isinf(epsilon):
        return right(margin, 0.0, 1)
    source: Sensitivities = "paper" if how.endswith("published") else "proved"
    if source == "paper" and score not in PRINTED:
        return None
    if score == "iqr":
        return _by_spreads(record, source, epsilon) if how.startswith("test") else None
    half: Literal["test half", "training half"] = "test half" if how.startswith("test") else "training half"
    if half == "training half" and score in RANKS:
        steps = steps_to_instability(record["gap"], record["train"], ridge, source)
        told = laplace_tail(math.log(1 / DELTA) / epsilon - steps, epsilon)
        return told * right(margin, 0.0, 1) + (1 - told) / 2
    draws = 2 if source == "paper" else 1
    settings = HalfSettings(half, score, epsilon, DELTA, source, draws, WIDTH, ridge)
    return right(margin, settings.scale(record["test"], record["train"]), draws)


def _by_spreads(record: Record, source: Sensitivities, epsilon: float) -> float:
    parts, deltas = CLAIMED if source == "paper" else SPENT
    each = epsilon / parts
    told = 1.0
    for log, *steps in record["spreads"][source]:
        told *= Spread(log, (steps[0], steps[1]), source == "paper").answer_probability(each, DELTA / deltas)
    return told * right(record["margins"]["iqr"], 1 / each, 4) + (1 - told) / 2
