"""Which runs the experiment on columns of numbers is made of, on which rows, and what is written down of each."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np

from discreet.domain import Domain, Numeric
from discreet.errors import SettingError, TableError
from discreet.experiments.harness import KeptRuns, Record
from discreet.search.graph import Graph
from discreet.simulation.networks import Network, Node, network
from discreet.simulation.nonlinear import Values, nonlinear

EPSILONS = (0.1, 0.2, 0.4, 0.8, 1.0, 2.0, 4.0, 8.0)
"""The paper's."""

TEST_ROWS = (200, 500)
GRAPH_ROWS = (1000, 2000, 4000, 8000)
NETWORKS = ("cancer", "asia", "child", "alarm")
GIVEN = (0, 1, 5)
"""Columns that are given in tests; the paper has none or five."""

ALPHA, PUBLISHED_ORDER = 0.05, 2
"""The paper's level; and the largest set of its method here, which has no limit there."""

SLOW, SLOW_ROWS = ("child", "alarm"), 1000
"""On these networks the published method is run with so many rows only."""

FEWEST, PUBLISHED_RUNS = 2, 5
"""Runs of the published method: on slow networks, and on others, at most."""

PUBLISHED_EPSILONS = (0.1, 1.0, 8.0)
"""Budgets of its graphs."""

SHAPE = 2
"""Number of this plan: what was kept by another is not used."""

Part = Literal["tests", "graphs", "sachs"]
PARTS: tuple[Part, ...] = ("tests", "graphs", "sachs")


@dataclass(frozen=True)
class Task:
    """One run: a test at all epsilons, or a graph at one."""

    part: Part
    subject: str
    method: str
    epsilon: float
    rows: int
    seed: int
    dependent: bool = False

    def to_dict(self) -> Record:
        """Return all settings, also those that are the same for all."""
        return {**asdict(self), "shape": SHAPE}


@dataclass(frozen=True)
class Sample:
    """Rows, what is public about them, and the graph that they come from."""

    values: dict[str, Values]
    domain: Domain
    truth: Graph


def task_of(record: Record) -> Task | None:
    """Return the run that a record tells of; None if it is not one of this experiment's."""
    settings = dict(record.get("task", {}))
    known = {field.name for field in fields(Task)}
    if settings.pop("shape", None) != SHAPE or settings.keys() != known:
        return None
    return Task(**settings)


def finished(kept: KeptRuns) -> dict[Task, Record]:
    """Return all runs that need not be done again."""
    return {task: record for record in kept.records() if (task := task_of(record)) is not None}


def plan_tests(methods: Sequence[str], rows: Sequence[int], runs: int) -> list[Task]:
    """Return the runs of Figure 1: fresh models and rows, independent and dependent."""
    return [
        Task("tests", f"given {given}", method, 0.0, n, seed, dependent)
        for given in GIVEN
        for n in rows
        for method in methods
        for seed in range(runs)
        for dependent in (False, True)
    ]


def plan_graphs(
    methods: Sequence[str], networks: Sequence[str], rows: Sequence[int], epsilons: Sequence[float], runs: int
) -> list[Task]:
    """Return the runs of Figure 2: fresh models and rows for each seed, the same for all methods."""
    planned = []
    for name in networks:
        for method in methods:
            published = method.endswith("-published")
            slow = published and name in SLOW
            sizes = [n for n in rows if n <= SLOW_ROWS] if slow else rows
            most = (FEWEST if slow else PUBLISHED_RUNS) if published else runs
            chosen = _few(epsilons) if published else epsilons
            planned += [
                Task("graphs", name, method, e, n, seed)
                for n in sizes
                for e in chosen
                for seed in range(min(most, runs))
            ]
    return planned


def plan_sachs(methods: Sequence[str], epsilons: Sequence[float], runs: int, rows: int) -> list[Task]:
    """Return the runs of Figure 3: the same rows, fresh noise."""
    return [
        Task("sachs", "sachs", method, e, rows, seed)
        for method in methods
        for e in (_few(epsilons) if method.endswith("-published") else epsilons)
        for seed in range(1 if method.endswith("-published") else runs)
    ]


def _few(epsilons: Sequence[float]) -> list[float]:
    return [epsilon for epsilon in epsilons if epsilon in PUBLISHED_EPSILONS]


def check_plan(rows: Sequence[int], epsilons: Sequence[float], runs: int) -> None:
    """Refuse what cannot be run."""
    if runs < 1 or any(n < 50 for n in rows):
        raise SettingError("runs, rows: at least 1, and 50")
    if not epsilons or not all(0 < epsilon <= 500 for epsilon in epsilons):
        raise SettingError("epsilons: numbers above 0, with commas between them")


def sample_of(task: Task, sachs: Path | None = None, edges: Path | None = None) -> Sample:
    """Return the rows of a run; the same for all methods and epsilons."""
    if task.part == "sachs":
        return _part(read_sachs(sachs or Path(), edges or Path()), task.rows)
    graph = task.part == "graphs"
    net = network(task.subject) if graph else examined(given_in(task), dependent=task.dependent)
    model = nonlinear(net, np.random.default_rng([task.seed, 17]))
    values = model.sample(task.rows, np.random.default_rng([task.seed, task.rows, 19]))
    return Sample(values, model.domain(task.rows), model.dag)


def given_in(task: Task) -> int:
    """Return how many columns are given in a test."""
    return int(task.subject.removeprefix("given "))


def _part(sample: Sample, rows: int) -> Sample:
    """Return so many rows, evenly taken."""
    chosen = np.linspace(0, sample.domain.rows - 1, rows).astype(np.int64)
    values = {name: column[chosen] for name, column in sample.values.items()}
    return Sample(values, sample.domain.with_rows(rows), sample.truth)


def examined(given: int, *, dependent: bool) -> Network:
    """Return a graph to test x and y in: both have all given columns as causes, and x may cause y."""
    causes = tuple(f"z{i}" for i in range(given))
    parents = {**dict.fromkeys(causes, ()), "x": causes, "y": (*causes, "x") if dependent else causes}
    none = np.zeros((0, 0))
    return Network("tested", {name: Node((), found, none) for name, found in parents.items()})


@cache
def read_sachs(path: Path, edges: Path) -> Sample:
    """Return measured proteins as decimal logarithms between 0 and 4, what the instrument can tell, and the arrows."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            header, *lines = list(csv.reader(file))
        numbers = np.log10(np.array(lines, dtype=np.float64))
        with edges.open(encoding="utf-8") as file:
            _, *arrows = list(csv.reader(file))
        truth = Graph(tuple(header), frozenset((cause, effect) for cause, effect in arrows))
        if numbers.shape[1] != len(header) or not {n for arrow in arrows for n in arrow} <= set(header):
            raise ValueError
    except (OSError, ValueError, EOFError):
        raise TableError(
            "sachs, edges: expected a CSV file of positive numbers with names above them, and one of causes and effects"
        ) from None
    domain = Domain({name: Numeric(bounds=(0.0, 4.0)) for name in header}, rows=len(numbers))
    return Sample(dict(zip(header, numbers.T, strict=True)), domain, truth)
