"""Wang, Pang, Song 2020 (*Towards practical differentially private causal graph discovery*), measured again.

The paper's Tables 1 to 3, its Figure 1, its Theorem 2 and its claims, with the methods as they were published, which
are NOT PRIVATE, by its code and by its text, and with this library's. Rows are simulated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache
from math import exp, isqrt
from time import process_time
from typing import Any, ClassVar, Literal

import numpy as np

from discreet.baselines import exact as not_private
from discreet.bisection import bisect, bracket
from discreet.data.memory import MemoryTable
from discreet.domain import Domain
from discreet.errors import BudgetError, DiscreetError, SettingError
from discreet.experiments import harness
from discreet.experiments.harness import (
    TIME_LIMIT,
    KeptRuns,
    Record,
    TimeLimitError,
    pack,
    time_limit,
)
from discreet.experiments.priv_pc_paper import (
    EM_PC,
    PRIV_PC,
    SVT_PC,
    WHOLE,
)
from discreet.methods.discover import discover_in
from discreet.methods.registry import METHODS, budget_for
from discreet.privacy.accounting import DELTA as STRICT_DELTA
from discreet.privacy.accounting import Currency, limit_of
from discreet.privacy.budget import Budget
from discreet.release.settings import Settings
from discreet.room import Room
from discreet.simulation.networks import names, network

DELTA = 1e-3
"""The paper's. It is too large for practice: it lets a method publish one row in a thousand."""

ROUND = 1.0
"""What a round costs in the paper's tables."""

SAMPLE = (exp(ROUND / 2) - 1) / 3.9216
"""The share of the rows that the paper's rule makes Priv-PC's sieve look at, for such a round."""

ALPHA = 0.1
"""The level of the paper's code."""

ANY_ORDER = 1000
"""More than there are columns."""

ROUNDS = (-2.0, 1.5)
TOTALS = (0.0, 2.0)
"""Figure 1: powers of ten between which a round's budget lies as published, and the total of the private methods."""

BASES = ("em-pc", "svt-pc", "priv-pc")
PC = "pc"
Part = Literal["table", "figure"]


@dataclass(frozen=True)
class System:
    """A column of the paper's Table 2: its heading, the method, and whether the sieve looks at a sample."""

    heading: str
    method: str
    sampled: bool = True


SYSTEMS = (
    System(EM_PC, "em-pc"),
    System(SVT_PC, "svt-pc"),
    System(PRIV_PC, "priv-pc"),
    System(WHOLE, "priv-pc", sampled=False),
)


@dataclass(frozen=True)
class Task(harness.Task):
    """One run. The setting is a round's budget as published and in the tables, else the total.

    Published methods are read by the paper's text or by its code.
    """

    common: ClassVar[Record] = {"delta": DELTA}
    part: Part
    network: str
    method: str
    setting: float | None
    rows: int
    seed: int
    sampled: bool = True
    reading: str = ""

    @property
    def published(self) -> bool:
        """Whether it is a method as published."""
        return self.method.endswith("-published")

    @property
    def variant(self) -> str:
        """What kind of method it is."""
        if self.method == PC:
            return "not private"
        if self.published:
            return "text" if self.reading == "text" else "published"
        return "repaired" if self.part == "table" else "private"


def finished(kept: KeptRuns, limit: float | None = None) -> dict[Task, Record]:
    """Return all runs that need not be done again.

    A budget that was refused will be refused again, and what took too long will do so unless it is given more time.
    """

    def is_settled(record: Record) -> bool:
        if record["failed"] == TIME_LIMIT:
            return limit is not None and limit <= record["limit"]
        return record["failed"] in ("", BudgetError.__name__)

    return {task: record for task, record in kept.finished(Task).items() if is_settled(record)}


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


def has_setting(settings: type[Settings], name: str) -> bool:
    """Whether a method has a setting of that name."""
    return any(field.name == name for field in fields(settings))


def _table_tasks(name: str, wanted: Sequence[str], rows: int, seed: int) -> Iterator[Task]:
    for system in SYSTEMS:
        for method in (f"{system.method}-published", system.method):
            if method in wanted and (method not in METHODS or has_setting(METHODS[method].settings, "round_epsilon")):
                for reading in readings(method):
                    yield Task("table", name, method, ROUND, rows, seed, system.sampled, reading)


def _figure_tasks(name: str, wanted: Sequence[str], rows: int, seed: int, budgets: int) -> Iterator[Task]:
    for method in wanted:
        for reading in readings(method):
            for setting in np.logspace(*(TOTALS if method in METHODS else ROUNDS), budgets).tolist():
                yield Task("figure", name, method, round(setting, 6), rows, seed, reading=reading)


def readings(method: str) -> tuple[str, ...]:
    """Return how a method is read: those of the paper by its code and by its text, EM-PC by the code."""
    if method in METHODS:
        return ("",)
    return ("code",) if method == "em-pc-published" else ("code", "text")


def perform(task: Task, limit: float | None = None) -> Record:
    """Draw rows, find the graph, and return all that the tables and charts are made of.

    A run that takes longer than the limit, in seconds, is given up, and so are those after it in the same process that
    differ in seed or setting only.
    """
    kind = replace(task, seed=0, setting=None)
    given_up: Record = {"task": task.to_dict(), "graph": None, "failed": TIME_LIMIT, "limit": limit}
    if kind in _SLOW:
        return given_up
    try:
        with time_limit(limit):
            if task.part == "table":
                _warm(replace(task, network="cancer", rows=1000, seed=0))
            return _perform(task)
    except TimeLimitError:
        _SLOW.add(kind)
        return given_up


_SLOW: set[Task] = set()


@cache
def _warm(task: Task) -> None:
    """Do a small run first: what is loaded or computed once a process shall not be counted as a run's time."""
    _perform(task)


def _perform(task: Task) -> Record:
    table, domain = _draw(task.network, task.rows, task.seed)
    record: Record = {"task": task.to_dict(), "graph": None, "failed": ""}
    try:
        found = _find(task, table, domain)
    except DiscreetError as error:
        return {**record, "failed": type(error).__name__}
    return {**record, **found, "graph": pack(found["graph"])}


@lru_cache(maxsize=1)
def _draw(name: str, rows: int, seed: int) -> tuple[MemoryTable, Domain]:
    """Draw rows of a network: the same ones for all methods."""
    net = network(name)
    domain = net.domain(rows)
    return MemoryTable(net.sample_codes(rows, np.random.default_rng([seed, rows, 7])), domain.sizes), domain


def _find(task: Task, table: MemoryTable, domain: Domain) -> Record:
    if task.method == PC:
        start = process_time()
        return {"graph": not_private.pc(table, domain), "seconds": process_time() - start}
    if task.published:
        return _run_as_published(task, table, domain)
    if task.part == "table":
        return _run_unstopped(task, table, domain)
    settings = METHODS[task.method].settings()
    found = _run_privately(table, domain, settings, budget_at(settings, task.setting or 0.0, task.rows))
    return {**found, "total": task.setting}


def _run_as_published(task: Task, table: MemoryTable, domain: Domain) -> Record:
    """NOT PRIVATE: run a method as published."""
    from discreet.baselines.published import discover_published

    start = process_time()
    found = discover_published(
        table,
        domain,
        task.method,
        round_epsilon=task.setting or 0.0,
        delta=DELTA,
        alpha=ALPHA,
        sample=None if task.sampled else 1.0,
        reading=task.reading,
        seed=task.seed,
    )
    told: Record = {"graph": found.graph, "seconds": process_time() - start}
    told |= {"tests": found.tests, "rounds": found.rounds, "total": found.reported}
    if task.part == "figure":
        told["without_noise"] = _without_noise(task.network, task.rows, task.seed, task.method, task.reading)
    return told


@lru_cache(maxsize=8)
def _without_noise(name: str, rows: int, seed: int, method: str, reading: str) -> str:
    """NOT PRIVATE: return what PC finds by a published method's own test."""
    from discreet.baselines.published import pc_without_noise

    return pack(pc_without_noise(*_draw(name, rows, seed), method, ALPHA, reading))


def _run_privately(table: MemoryTable, domain: Domain, settings: Settings, budget: Budget) -> Record:
    start = process_time()
    found = discover_in(Room(table, domain, budget), settings)
    seconds = process_time() - start
    told = {name: found.settings.get(name) for name in ("tests", "rounds", "stopped")}
    return {"graph": found.graph, "seconds": seconds, "strict": budget.epsilon, **told}


def _run_unstopped(task: Task, table: MemoryTable, domain: Domain) -> Record:
    """Run a repaired method with rounds of a given size and a total that it does not use up."""
    settings = repair(task.method, sampled=task.sampled)
    rounds = 2 * len(domain.columns) * (len(domain.columns) - 1)
    while True:
        budget = budget_for(settings, epsilon_for(settings, rounds, task.rows), strict_delta(task.rows))
        found = _run_privately(table, domain, settings, budget)
        if not found["stopped"]:
            return found
        rounds *= 4


def repair(method: str, *, sampled: bool) -> Settings:
    """Return the private method that stands for a published one in the tables, with the paper's settings."""
    settings: Settings = METHODS[method].settings()
    wanted: dict[str, Any] = {"round_epsilon": ROUND, "test": "kendall", "alpha": ALPHA}
    wanted |= {"sample": SAMPLE if sampled else None, "max_order": ANY_ORDER}
    return settings.changed(**{name: value for name, value in wanted.items() if has_setting(type(settings), name)})


def epsilon_for(settings: Settings, rounds: int, rows: int) -> float:
    """Return an epsilon whose budget covers so many rounds of the tables' size."""
    delta = strict_delta(rows)
    currency = budget_for(settings, 1.0, delta).currency
    price = {Currency.PURE: ROUND, Currency.ZCDP: ROUND**2 / 2, Currency.GDP: ROUND**2}[currency]
    epsilon = 1.0
    while limit_of(currency, epsilon, delta) < rounds * price:
        epsilon *= 2
    return epsilon


def strict_delta(rows: int) -> float:
    """Return a delta that the room accepts."""
    return min(STRICT_DELTA, 0.1 / rows)


def budget_at(settings: Settings, epsilon: float, rows: int) -> Budget:
    """Return a budget that spends what an epsilon allows at the paper's delta.

    The room refuses the paper's delta, as it should: the same spending is promised with a strict delta and the epsilon
    that goes with it.
    """
    delta = strict_delta(rows)
    currency = budget_for(settings, epsilon, delta).currency
    if currency is not Currency.PURE:
        epsilon = same_spending(currency, epsilon, delta)
    return budget_for(settings, epsilon, delta)


@cache
def same_spending(currency: Currency, epsilon: float, delta: float) -> float:
    """Return the epsilon that allows, at a delta, as much spending as another at the paper's delta, rounded down."""
    limit = limit_of(currency, epsilon, DELTA)

    def exceeds(more: float) -> bool:
        return limit_of(currency, more, delta) > limit

    around = bracket(exceeds, epsilon, 2 * epsilon) or (epsilon, epsilon)
    return bisect(exceeds, *around, steps=32)[0]
