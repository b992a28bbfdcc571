"""Are confidences right? Networks drawn at random, some to fit the curves on and others to check them on.

``discreet experiment calibration`` checks. ``benchmarks/fit_confidence.py`` fits, on other networks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from discreet.arrays import FloatArray
from discreet.data.memory import MemoryTable
from discreet.experiments import harness
from discreet.experiments.harness import Record, group_by
from discreet.methods.discover import discover_in
from discreet.privacy.budget import Budget
from discreet.release.settings import Marginals
from discreet.report.charts import Axis, line_chart
from discreet.room import Room
from discreet.search.orientation import cpdag
from discreet.simulation.drawn import FAMILIES
from discreet.simulation.networks import network

ROWS = (1_000, 2_000, 5_000, 20_000, 100_000)
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
WIDTHS = (8, 80)
"""Columns: as many networks between these from 8 to 20 as from 20 to 50."""

BINS = (0.0, 0.2, 0.4, 0.6, 0.75, 0.85, 0.95, 1.0)

STATED = (0.7, 0.95)
"""Confidences by which regimes are compared: those on which much depends."""

Row = dict[str, float | int]
"""A line of the table: a range of confidence."""

Said = list[tuple[float, bool]]
"""What was stated, and whether it is right."""


@dataclass(frozen=True)
class Claims:
    """Edges and arrowheads of one graph: how sure they are said to be, and whether they are right."""

    edges: Said
    arrows: Said


@dataclass(frozen=True)
class Task(harness.Task):
    """One network drawn at random."""

    seed: int


def draw_setting(rng: np.random.Generator) -> tuple[str, int, float]:
    """Draw the name of a network, a number of rows, and an epsilon."""
    family = str(rng.choice(list(FAMILIES)))
    columns = round(math.exp(rng.uniform(math.log(WIDTHS[0]), math.log(WIDTHS[1]))))
    name = f"{family}:{columns}:{rng.integers(2**31)}"
    return name, int(rng.choice(ROWS)), float(rng.choice(EPSILONS))


def perform(task: Task) -> Record:
    """Find the graph of one network, with fresh rows and fresh noise, and write down what it claims."""
    rng = np.random.default_rng([task.seed, 3])
    name, rows, epsilon = draw_setting(rng)
    net = network(name)
    domain, truth = net.domain(rows), cpdag(net.dag)
    table = MemoryTable(net.sample_codes(rows, rng), {c: domain.size(c) for c in domain})
    found = discover_in(Room(table, domain, Budget(epsilon=epsilon, delta=min(1e-6, 0.1 / rows))), Marginals())
    edges = [(sure.edge, pair in truth.skeleton) for pair, sure in found.confidence.items()]
    arrows = [
        (sure.arrow, (a, b) in truth.directed)
        for a, b in found.graph.directed
        if (sure := found.confidence[frozenset((a, b))]).arrow is not None
    ]
    family, columns, _ = name.split(":")
    clipped = any(measured.clipped for measured in found.measurements)
    setting = {"family": family, "columns": int(columns), "rows": rows, "epsilon": epsilon, "clipped": clipped}
    return {"task": task.to_dict(), **setting, "edges": edges, "arrowheads": arrows}


KINDS = ("edges", "arrowheads")

REGIMES: dict[str, Callable[[Record], str]] = {
    "rows": lambda r: f"{r['rows']:,}",
    "columns": lambda r: next(f"up to {most}" for most in (15, 30, WIDTHS[1]) if r["columns"] <= most),
    "family": lambda r: str(r["family"]),
    "epsilon": lambda r: f"{r['epsilon']:g}",
    "measured": lambda r: "clipped" if r.get("clipped") else "as they are",
}
"""By what networks are told apart."""


def by_regime(records: Sequence[Record]) -> list[harness.Row]:
    """Return, for every regime, the claims stated with confidences in ``STATED``: what they say and what is right."""
    lines: list[harness.Row] = []
    for what, place in REGIMES.items():
        for where, members in sorted(group_by(records, place).items(), key=lambda item: (len(item[0]), item[0])):
            for kind in KINDS:
                inside = [(c, r) for c, r in said_in(members, kind) if STATED[0] <= c <= STATED[1]]
                if inside:
                    mean, right = np.mean(np.array(inside, dtype=float), axis=0)
                    line: harness.Row = {"regime": what, "where": where, "kind": kind, "claims": len(inside)}
                    lines.append({**line, "said": round(float(mean), 3), "right": round(float(right), 3)})
    return lines


def said_in(records: Iterable[Record], kind: str) -> Said:
    """Return all claims of a kind."""
    return [(float(stated), bool(right)) for record in records for stated, right in record[kind]]


def reliability(said: Sequence[tuple[float, bool]]) -> list[Row]:
    """Return, for each range of confidence, how many claims it holds, what they say, and the share that is right."""
    rows: list[Row] = []
    for i, (low, high) in enumerate(pairwise(BINS)):
        last = i == len(BINS) - 2
        inside = [(c, r) for c, r in said if low <= c < high or (last and c == high)]
        if inside:
            mean, right = np.mean(np.array(inside, dtype=float), axis=0)
            rows.append({"from": low, "to": high, "claims": len(inside), "said": float(mean), "right": float(right)})
    return rows


def reliability_svg(by_kind: dict[str, list[Row]]) -> str:
    """Return the reliability plot: what was said against what was right."""
    lines = {
        kind: [(float(r["said"]), float(r["right"]), _error(r)) for r in rows if r["claims"] >= 20]
        for kind, rows in by_kind.items()
    }
    ticks = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    across, up = Axis("confidence that was stated", 0, 1, ticks), Axis("share that is right", 0, 1, ticks)
    return line_chart("Confidence on networks it was not fitted on", across, up, lines, diagonal=True)


def _error(row: Row) -> float:
    right, count = float(row["right"]), int(row["claims"])
    return 2 * float(np.sqrt(max(right * (1 - right), 0.25 / count) / count))


def fit_curve(features: FloatArray, right: FloatArray, rounds: int = 50) -> FloatArray:
    """Fit a logistic curve by Newton's method, with a whisper of a prior; a constant comes first."""
    design = np.column_stack([np.ones(len(features)), features])
    weights = np.zeros(design.shape[1])
    for _ in range(rounds):
        share = 1 / (1 + np.exp(-np.clip(design @ weights, -30, 30)))
        slope = design.T @ (right - share) - 0.01 * weights
        bend = (design * (share * (1 - share))[:, None]).T @ design + 0.01 * np.eye(len(weights))
        step = np.linalg.solve(bend, slope)
        weights = weights + step
        if np.abs(step).max() < 1e-9:
            break
    return weights
