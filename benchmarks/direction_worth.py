"""How often `discreet direction` is right, how often it says so, and whether its probabilities hold.

Run: python benchmarks/direction_worth.py FOLDER [pairs.csv] [pairs of each kind] [jobs]. FOLDER keeps every finished
run, so that one that was broken off goes on there, and gets worth.csv, calibration.svg and told.svg.

Kinds: those of `direction_scores.py`, from which nothing was learned (``new``); fresh pairs of the families that were
learned; the former check (tanh, cube, sine); and the given ones with at least 300 rows, 20 runs each. An epsilon of
10,000 stands for no privacy.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
from causal_pairs import FAMILIES, Values, draw_pair
from direction import pair as check_pair
from direction_scores import CURVES, NOISES, draw, given

import discreet as dc
from discreet.data.memory import MemoryTable
from discreet.domain import STEPS
from discreet.experiments import harness
from discreet.experiments.harness import KeptRuns, Record, Row, go_on, group_by, markdown, write_files
from discreet.methods.direction import SURE, direction_in
from discreet.release.classifier import probability
from discreet.release.pair_table import QUARTERS
from discreet.report.charts import COLOURS, Axis, Line, Point, panels

NEW = {f"{noise} (new)": noise for noise in NOISES}
CHECK, GIVEN = "tanh, cube, sine", "given pairs"
ROWS, CHECK_ROWS = (300, 1_000, 3_000, 10_000), (500, 2_000)
EPSILONS, NO_PRIVACY = (0.5, 1.0, 2.0), 10_000.0
GIVEN_RUNS = 20
STATED = (0.5, 0.6, 0.7, 0.8, 0.9, 0.96, 1.0)
FRESH = 10_000_000
"""Seeds from here on were not learned from."""


@dataclass(frozen=True)
class Task(harness.Task):
    """One run on one pair."""

    kind: str
    pair: int
    rows: int
    epsilon: float
    run: int


@cache
def load(path: str) -> list[tuple[Values, Values]]:
    """Return the given pairs, the cause first."""
    return list(given(path)) if path else []


def planned(path: str, number: int) -> Iterator[Task]:
    """Yield all runs."""
    for epsilon in (*EPSILONS, NO_PRIVACY):
        for kind, all_rows in {**dict.fromkeys([*NEW, *FAMILIES], ROWS), CHECK: CHECK_ROWS}.items():
            yield from (Task(kind, i, rows, epsilon, 0) for rows in all_rows for i in range(number))
        runs = 1 if epsilon == NO_PRIVACY else GIVEN_RUNS
        for i, (x, _) in enumerate(load(path)):
            yield from (Task(GIVEN, i, len(x), epsilon, run) for run in range(runs))


def columns_of(task: Task, path: str) -> tuple[Values, Values]:
    """Return the cause and its effect."""
    if task.kind == GIVEN:
        return load(path)[task.pair]
    if task.kind == CHECK:
        rng = np.random.default_rng([task.pair, task.rows, 17])
        return check_pair(task.pair, task.rows, ("uniform", "gaussian")[task.pair // 3 % 2], rng)
    if task.kind in NEW:
        return draw(NEW[task.kind], CURVES[task.pair % len(CURVES)], task.rows, task.pair // len(CURVES))
    return draw_pair(np.random.default_rng([FRESH, task.pair, task.rows]), task.rows, task.kind)


def steps(values: Values) -> npt.NDArray[np.uint16]:
    """Return a column between the bounds of its middle 99 percent, which stand for public ones."""
    low, high = np.quantile(values, (0.005, 0.995))
    return np.asarray(np.clip((values - low) / max(high - low, 1e-9) * STEPS, 0, STEPS - 1).astype(np.uint16))


def perform(task: Task, path: str) -> Record:
    """Ask about one pair; above 0 the log odds are right."""
    x, y = columns_of(task, path)
    first, second = ("a", "b") if (task.pair + task.run) % 2 else ("b", "a")
    domain = dc.Domain({c: dc.Numeric(bounds=(0.0, 1.0), bins=QUARTERS, at="quantiles") for c in "ab"}, rows=task.rows)
    table = MemoryTable({first: steps(x), second: steps(y)}, {c: domain.size(c) for c in "ab"})
    found = direction_in(dc.Room(table, domain, dc.Budget(epsilon=task.epsilon, delta=0)), (first, second)).pairs[0]
    return {"task": task.to_dict(), "odds": found.margin, "not_flipped": found.not_flipped, "flat": found.flat}


def stated(record: Record) -> float:
    """Return the probability that was stated."""
    return probability(record["odds"])


def told(record: Record) -> bool:
    """Whether a direction is told by default."""
    return stated(record) >= SURE and not record["flat"]


def error(values: Sequence[float], pairs: Sequence[int]) -> float:
    """Return the standard error over pairs, whose runs go together."""
    means = [np.mean(group) for group in _by(values, pairs)]
    return float(np.std(means) / math.sqrt(len(means)))


def _by(values: Sequence[float], keys: Sequence[int]) -> list[list[float]]:
    found: dict[int, list[float]] = {}
    for value, key in zip(values, keys, strict=True):
        found.setdefault(key, []).append(value)
    return list(found.values())


def worth(records: Sequence[Record]) -> list[Row]:
    """Return a line for every kind, number of rows and epsilon; given pairs of all sizes together."""
    lines: list[Row] = []

    def place(record: Record) -> tuple[str, int, float]:
        task = record["task"]
        return task["kind"], 0 if task["kind"] == GIVEN else task["rows"], task["epsilon"]

    order = [*NEW, *FAMILIES, CHECK, GIVEN]
    groups = sorted(group_by(records, place).items(), key=lambda item: (order.index(item[0][0]), item[0][1:]))
    for (kind, rows, epsilon), members in groups:
        right = [float(r["odds"] > 0) for r in members]
        sure = [r["odds"] > 0 for r in members if told(r)]
        lines.append(
            {
                "kind": kind,
                "rows": rows or "300 or more",
                "epsilon": epsilon if epsilon != NO_PRIVACY else "none",
                "right": round(float(np.mean(right)), 3),
                "right_error": round(error(right, [r["task"]["pair"] for r in members]), 3),
                "told": round(len(sure) / len(members), 3),
                "right_if_told": round(float(np.mean(sure)), 3) if sure else "",
            }
        )
    return lines


def calibration(records: Sequence[Record]) -> str:
    """Return a picture of what was stated against what was right, by kind."""
    lines: dict[str, list[Point]] = {}
    for kind, members in group_by(records, lambda r: str(r["task"]["kind"])).items():
        for low, high in pairwise(STATED):
            inside = [r for r in members if low <= stated(r) < high]
            if len(inside) >= 30:
                right = [float(r["odds"] > 0) for r in inside]
                bar = 2 * error(right, [r["task"]["pair"] for r in inside])
                lines.setdefault(kind, []).append((float(np.mean([*map(stated, inside)])), float(np.mean(right)), bar))
    ticks = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    return panels(
        "Stated and right",
        "The share that is right among answers stated about as sure, with two standard errors over pairs.",
        Axis("probability that was stated", 0.5, 1, ticks),
        Axis("share that is right", 0.4, 1, ticks),
        {"even": Line("as stated", "", "#999999", "5 4", 1.5), "found": Line("found", "", COLOURS[0])},
        {k: {"found": points, "even": [(0.5, 0.5, 0.0), (1.0, 1.0, 0.0)]} for k, points in lines.items()},
    )


def answers(lines: Sequence[Row]) -> str:
    """Return a picture of how often a direction is told, and how often it is right, against epsilon."""
    drawn: dict[str, dict[str, list[Point]]] = {}
    for line in lines:
        if line["epsilon"] == "none":
            continue
        rows = line["rows"] if isinstance(line["rows"], str) else f"{line['rows']:,}"
        inside = drawn.setdefault(f"{line['kind']}: {rows}", {})
        inside.setdefault("right", []).append(
            (float(line["epsilon"]), float(line["right"]), float(line["right_error"]))
        )
        inside.setdefault("told", []).append((float(line["epsilon"]), float(line["told"]), 0.0))
        if line["right_if_told"] != "" and float(line["told"]) >= 0.03:
            inside.setdefault("sure", []).append((float(line["epsilon"]), float(line["right_if_told"]), 0.0))
    shown = {name: inside for name, inside in drawn.items() if name.split(":")[0] in (*NEW, CHECK, GIVEN)}
    return panels(
        "How often a direction is told, and right",
        f"Told if stated at {SURE:g} or more. Panels by kind and rows.",
        Axis("epsilon", EPSILONS[0], EPSILONS[-1], EPSILONS, log=True),
        Axis("share", 0, 1, (0.0, 0.25, 0.5, 0.75, 1.0)),
        {
            "told": Line("told", "", COLOURS[1], "6 4"),
            "sure": Line("right, of those told", "", COLOURS[2]),
            "right": Line("right, any guess taken", "", COLOURS[0]),
        },
        shown,
    )


def main(folder: str, path: str = "", number: str = "100", jobs: str = "2") -> None:
    """Run what is missing, and write."""
    kept = KeptRuns(Path(folder) / "runs.jsonl")
    tasks = list(planned(path, int(number)))
    done = kept.finished(Task)
    _, stopped = go_on(kept, tasks, done, partial(perform, path=path), jobs=int(jobs), effort=lambda task: 1)
    if stopped:
        return
    wanted = set(tasks)
    records = [record for task, record in kept.finished(Task).items() if task in wanted]
    lines = worth(records)
    write_files(Path(folder), {"worth.csv": lines, "calibration.svg": calibration(records), "told.svg": answers(lines)})
    print("\n".join(markdown(list(lines[0]), (list(line.values()) for line in lines))))


if __name__ == "__main__":
    main(*sys.argv[1:])
