"""Wang, Pang, Song 2020 (*Towards practical differentially private causal graph discovery*), measured again.

The paper's Tables 2 and 3 and its Figure 1, with the methods as they were published, which are NOT PRIVATE, and with
this library's. Rows are simulated.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from time import perf_counter
from typing import Any

import numpy as np

from discreet.baselines import exact as not_private
from discreet.data.memory import MemoryTable
from discreet.domain import Domain
from discreet.errors import DiscreetError
from discreet.experiments.harness import Record, TimeLimitError, time_limit
from discreet.experiments.priv_pc_plan import (
    ALPHA,
    ANY_ORDER,
    DELTA,
    PC,
    ROUND,
    SAMPLE,
    TIME_LIMIT,
    Task,
    has_setting,
    packed,
)
from discreet.methods.discover import discover_in
from discreet.methods.registry import METHODS, budget_for
from discreet.methods.session import DELTA as STRICT
from discreet.privacy.accounting import Currency, limit_of
from discreet.privacy.budget import Budget
from discreet.release.settings import Settings
from discreet.room import Room
from discreet.simulation.networks import network


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
                _warmed(replace(task, network="cancer", rows=1000, seed=0))
            return _performed(task)
    except TimeLimitError:
        _SLOW.add(kind)
        return given_up


_SLOW: set[Task] = set()


@cache
def _warmed(task: Task) -> None:
    """Do a small run first: what is loaded or computed once a process shall not be counted as a run's time."""
    _performed(task)


def _performed(task: Task) -> Record:
    net = network(task.network)
    domain = net.domain(task.rows)
    codes = net.sample_codes(task.rows, np.random.default_rng([task.seed, task.rows, 7]))
    table = MemoryTable(codes, {c: domain.size(c) for c in domain})
    record: Record = {"task": task.to_dict(), "graph": None, "failed": ""}
    try:
        found = _find(task, table, domain)
    except DiscreetError as error:
        return {**record, "failed": type(error).__name__}
    return {**record, **found, "graph": packed(found["graph"])}


def _find(task: Task, table: MemoryTable, domain: Domain) -> Record:
    if task.method == PC:
        start = perf_counter()
        return {"graph": not_private.pc(table, domain), "seconds": perf_counter() - start}
    if task.published:
        return _as_published(task, table, domain)
    if task.part == "table":
        return _unstopped(task, table, domain)
    recipe = METHODS[task.method].settings()
    found = _privately(table, domain, recipe, budget_at(recipe, task.setting or 0.0, task.rows))
    return {**found, "total": task.setting}


def _as_published(task: Task, table: MemoryTable, domain: Domain) -> Record:
    """NOT PRIVATE: run a method as published."""
    from discreet.baselines.published import discover_published

    start = perf_counter()
    found = discover_published(
        table,
        domain,
        task.method,
        round_epsilon=task.setting or 0.0,
        delta=DELTA,
        alpha=ALPHA,
        sample=None if task.sampled else 1.0,
        seed=task.seed,
    )
    return {
        "graph": found.graph,
        "seconds": perf_counter() - start,
        "tests": found.tests,
        "rounds": found.rounds,
        "total": found.reported,
    }


def _privately(table: MemoryTable, domain: Domain, recipe: Settings, budget: Budget) -> Record:
    start = perf_counter()
    found = discover_in(Room(table, domain, budget), recipe)
    seconds = perf_counter() - start
    told = {name: found.settings.get(name) for name in ("tests", "rounds", "stopped")}
    return {"graph": found.graph, "seconds": seconds, "strict": budget.epsilon, **told}


def _unstopped(task: Task, table: MemoryTable, domain: Domain) -> Record:
    """Run a repaired method with rounds of a given size and a total that it does not use up."""
    recipe = repaired(task.method, sampled=task.sampled)
    rounds = 2 * len(domain.columns) * (len(domain.columns) - 1)
    while True:
        budget = budget_for(recipe, enough(recipe, rounds, task.rows), strict_delta(task.rows))
        found = _privately(table, domain, recipe, budget)
        if not found["stopped"]:
            return found
        rounds *= 4


def repaired(method: str, *, sampled: bool) -> Settings:
    """Return the private method that stands for a published one in the tables, with the paper's settings."""
    recipe: Settings = METHODS[method].settings()
    wanted: dict[str, Any] = {"round_epsilon": ROUND, "test": "kendall", "alpha": ALPHA}
    wanted |= {"sample": SAMPLE if sampled else None, "max_order": ANY_ORDER}
    return recipe.changed(**{name: value for name, value in wanted.items() if has_setting(type(recipe), name)})


def enough(recipe: Settings, rounds: int, rows: int) -> float:
    """Return an epsilon whose budget covers so many rounds of the tables' size."""
    delta = strict_delta(rows)
    currency = budget_for(recipe, 1.0, delta).currency
    price = {Currency.PURE: ROUND, Currency.ZCDP: ROUND**2 / 2, Currency.GDP: ROUND**2}[currency]
    epsilon = 1.0
    while limit_of(currency, epsilon, delta) < rounds * price:
        epsilon *= 2
    return epsilon


def strict_delta(rows: int) -> float:
    """Return a delta that the room accepts."""
    return min(STRICT, 0.1 / rows)


def budget_at(recipe: Settings, epsilon: float, rows: int) -> Budget:
    """Return a budget that spends what an epsilon allows at the paper's delta.

    The room refuses the paper's delta, as it should: the same spending is promised with a strict delta and the epsilon
    that goes with it.
    """
    delta = strict_delta(rows)
    currency = budget_for(recipe, epsilon, delta).currency
    return budget_for(recipe, epsilon if currency is Currency.PURE else same_spending(currency, epsilon, delta), delta)


@cache
def same_spending(currency: Currency, epsilon: float, delta: float) -> float:
    """Return the epsilon that allows, at a delta, as much spending as another at the paper's delta, rounded down."""
    limit = limit_of(currency, epsilon, DELTA)
    low, high = epsilon, 2 * epsilon
    while limit_of(currency, high, delta) <= limit:
        low, high = high, 2 * high
    for _ in range(32):
        middle = (low + high) / 2
        low, high = (middle, high) if limit_of(currency, middle, delta) <= limit else (low, middle)
    return low
