"""Which runs the Priv-PC experiment is made of, and what is written down of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from math import exp, isqrt
from typing import Literal

import numpy as np

from discreet.errors import BudgetError, SettingError
from discreet.experiments.harness import KeptRuns, Record
from discreet.methods.registry import METHODS
from discreet.release.settings import Settings
from discreet.search.graph import Graph
from discreet.simulation.networks import names, network

DELTA = 1e-3
"""The paper's. It is too large for practice: it lets a method publish one row in a thousand."""

ROUND = 1.0
"""What a round costs in the paper's tables."""

SAMPLE = (exp(ROUND / 2) - 1) / 3.9216
"""The share of the rows that the paper's rule makes Priv-PC's sieve look at, for such a round."""

ALPHA = 0.1
"""The paper's level."""

ANY_ORDER = 1000
"""More than there are columns."""

ROUNDS = (-2.0, 1.5)
TOTALS = (0.0, 2.0)
"""Figure 1: powers of ten between which a round's budget lies as published, and the total of the private methods."""

BASES = ("em-pc", "svt-pc", "priv-pc")
PC = "pc"
TIME_LIMIT = "TimeLimit"
Part = Literal["table", "figure"]


@dataclass(frozen=True)
class System:
    """A column of the paper's Table 2: its heading, the method, and whether the sieve looks at a sample."""

    heading: str
    method: str
    sampled: bool = True


SYSTEMS = (
    System("EM-PC", "em-pc"),
    System("SVT-PC", "svt-pc"),
    System("Priv-PC", "priv-pc"),
    System("Priv-PC without sub-sampling", "priv-pc", sampled=False),
)


@dataclass(frozen=True)
class Task:
    """One run. The setting is a round's budget as published and in the tables, else the total."""

    part: Part
    network: str
    method: str
    setting: float | None
    rows: int
    seed: int
    sampled: bool = True

    @property
    def published(self) -> bool:
        """Whether it is a method as published."""
        return self.method.endswith("-published")

    @property
    def variant(self) -> str:
        """What kind of method it is."""
        if self.method == PC:
            return "not private"
        return "published" if self.published else "repaired" if self.part == "table" else "private"

    def to_dict(self) -> Record:
        """Return all settings, also those that are the same for all."""
        return {**asdict(self), "delta": DELTA}


def task_of(record: Record) -> Task | None:
    """Return the run that a record tells of; None if it is not one of this experiment's."""
    settings = dict(record.get("task", {}))
    known = {field.name for field in fields(Task)}
    if settings.pop("delta", None) != DELTA or settings.keys() != known:
        return None
    return Task(**settings)


def finished(kept: KeptRuns, limit: float | None = None) -> dict[Task, Record]:
    """Return all runs that need not be done again.

    A budget that was refused will be refused again, and what took too long will do so unless it is given more time.
    """
    told = {task: record for record in kept.records() if (task := task_of(record)) is not None}

    def settled(record: Record) -> bool:
        if record["failed"] == TIME_LIMIT:
            return limit is not None and limit <= record["limit"]
        return record["failed"] in ("", BudgetError.__name__)

    return {task: record for task, record in told.items() if settled(record)}


def methods() -> tuple[str, ...]:
    """Return the names that may be chosen: as published, then private."""
    return (*(f"{base}-published" for base in BASES), *(n for n in METHODS if not METHODS[n].numeric))


def plan(
    parts: Sequence[Part], networks: Sequence[str], chosen: Sequence[str], rows: int, runs: int, budgets: int
) -> list[Task]:
    """Return all runs: small networks first, and all methods of one network together."""
    for name in chosen:
        if name not in methods():
            raise SettingError(f"methods: {name!r} is not one of {', '.join(methods())}")
    if runs < 2 or budgets < 2 or rows < 2:
        raise SettingError("runs, budgets, rows: at least 2")
    sizes = {name: len(network(name).nodes) for name in networks or names()}
    wanted = [name for name in methods() if name in (chosen or methods())]
    planned: list[Task] = []
    for name in sorted(sizes, key=lambda n: (sizes[n], n)):
        for seed in range(runs):
            if "table" in parts:
                planned += _table_tasks(name, wanted, rows, seed)
            if "figure" in parts:
                planned.append(Task("figure", name, PC, None, rows, seed))
                planned += _figure_tasks(name, wanted, rows, seed, budgets)
    return planned


def effort(task: Task) -> int:
    """Return about how much longer a run takes than others, for the time that is left."""
    return isqrt(len(network(task.network).nodes) ** 5)


def has_setting(recipe: type[Settings], name: str) -> bool:
    """Whether a method has a setting of that name."""
    return any(field.name == name for field in fields(recipe))


def _table_tasks(name: str, wanted: Sequence[str], rows: int, seed: int) -> Iterator[Task]:
    for system in SYSTEMS:
        for method in (f"{system.method}-published", system.method):
            if method in wanted and (method not in METHODS or has_setting(METHODS[method].settings, "round_epsilon")):
                yield Task("table", name, method, ROUND, rows, seed, system.sampled)


def _figure_tasks(name: str, wanted: Sequence[str], rows: int, seed: int, budgets: int) -> Iterator[Task]:
    for method in wanted:
        for setting in np.logspace(*(TOTALS if method in METHODS else ROUNDS), budgets).tolist():
            yield Task("figure", name, method, round(setting, 6), rows, seed)


def packed(graph: Graph) -> str:
    """Return a graph's edges as text, by the places of its nodes in the alphabet."""
    place = {node: i for i, node in enumerate(sorted(graph.nodes))}
    return " ".join(f"{place[e.a]}{'>' if e.directed else '-'}{place[e.b]}" for e in graph.edges())


def unpacked(text: str, nodes: Sequence[str]) -> Graph:
    """Return the graph that was packed."""
    named = sorted(nodes)
    arrows = [edge.split(">") for edge in text.split() if ">" in edge]
    lines = [edge.split("-") for edge in text.split() if "-" in edge]
    return Graph(
        tuple(nodes),
        frozenset((named[int(a)], named[int(b)]) for a, b in arrows),
        frozenset(frozenset((named[int(a)], named[int(b)])) for a, b in lines),
    )
