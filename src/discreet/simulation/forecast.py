"""Planning before spending: the same runs as a private one, on made-up rows of the declared domain.

No data are read. Networks of several kinds are drawn at random over the domain's columns, rows are drawn from each,
and every method runs on them as it would run on the real table: the same rooms, budgets, noise and searches.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from numbers import Real

import numpy as np

from discreet.data.counting import Codes, narrowest
from discreet.data.memory import MemoryTable
from discreet.domain import Domain
from discreet.domain.domain import check_domain
from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge, check_knowledge
from discreet.errors import BudgetError, DoubtWarning, SettingError
from discreet.methods.discover import discover_in
from discreet.methods.registry import budget_for, method_of, refuse_unaskable, settings_for
from discreet.privacy.accounting import check_guarantee, delta_for
from discreet.privacy.mechanisms.additive import additive_for
from discreet.progress import WHOLE, Progress, tell
from discreet.release.clipping import SHARE, select_margins
from discreet.release.expectation import Forecast, Planned, Trial, summarize_trials
from discreet.release.selection import SETTLING, select_first
from discreet.release.settings import Marginals, Settings
from discreet.room import Room
from discreet.search.graph import cpdag_f1, skeleton_f1
from discreet.search.orientation import equivalents
from discreet.simulation.declared import KINDS, CodeArray, Declared, draw_over, groups_of
from discreet.simulation.processes import run_until
from discreet.statistics.interactions import Interactions, largest_change

FEWEST_NETWORKS, MOST_NETWORKS = 6, 36
"""Networks that are drawn at least, and at most."""

SECONDS = 35.0
"""After so long no further network is begun, if enough are done."""

MOST_ROWS = 1_000_000
"""No more rows than this are made up: beyond, sampling hardly matters, and more rows would only show more."""

ROW_STEP = 4
"""Where one number of rows is named, this many times fewer and more are looked at too."""


@dataclass(frozen=True)
class Case:
    """A method, a number of rows and a budget."""

    settings: Settings
    rows: int
    epsilon: float
    delta: float


Drawn = tuple[Declared, Codes, list[float]]
"""A network, its rows, and how strong its arrows are, in sorted order."""


@dataclass(frozen=True)
class Task:
    """All runs on one drawn network."""

    number: int
    seed: int
    domain: Domain
    cases: tuple[Case, ...]
    knowledge: Knowledge


def forecast(
    domain: Domain,
    *,
    epsilons: Sequence[float],
    rows: Sequence[int] = (),
    methods: Sequence[str | Settings] = ("auto",),
    delta: float | None = None,
    knowledge: Knowledge = NOTHING_KNOWN,
    networks: int | None = None,
    seconds: float = SECONDS,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Forecast:
    """Say what accuracy to expect of a budget. Reads no data and spends nothing.

    Parameters
    ----------
    domain
        What is public about the table.
    epsilons, delta
        Total promises to look at. Where no delta is named it is what a run would take: 1e-6, and less from a million
        rows on.
    rows
        Numbers of rows to look at; by default the domain's own, and at the middle epsilon a quarter and four times as
        many.
    methods
        Names or settings.
    knowledge
        Required and forbidden arrows, and tiers: the drawn networks keep to them.
    networks
        How many networks to draw; by default as many as the time allows, from 6 to 36.
    seconds
        How long to go on drawing networks, if their number is not named.
    seed
        Of the networks and their rows. The noise of the runs is fresh every time, as it is in private ones.
    jobs
        Processes. With several, a script must guard what it runs by ``if __name__ == "__main__"``.
    progress
        Called with a line of words after each network.

    Raises
    ------
    InputError
        If something handed in does not fit, or no setting could run.
    """
    check_domain(domain, published=False)
    cases = _cases(domain, epsilons, rows, methods, delta, knowledge)
    if networks is not None and not (isinstance(networks, int) and networks >= 2):
        raise SettingError("networks: at least 2, to tell the spread")
    if not (isinstance(seed, int) and seed >= 0 and isinstance(seconds, Real) and seconds > 0):
        raise SettingError("seed, seconds: seed from 0, seconds above 0")
    if not isinstance(jobs, int) or jobs < 1:
        raise SettingError("jobs: a whole number from 1")
    start, done = time.monotonic(), list[Sequence[Trial]]()
    tasks = (Task(i, seed, domain, cases, knowledge) for i in range(networks or MOST_NETWORKS))

    def enough(begun: int) -> bool:
        return networks is None and begun >= FEWEST_NETWORKS and time.monotonic() - start > seconds

    for trials in run_until(enough, trials_of, tasks, jobs):
        done.append(trials)
        most = f"{networks}" if networks else f"at most {MOST_NETWORKS}"
        share = WHOLE.at(len(done), networks or MOST_NETWORKS)
        tell(progress, f"network {len(done)} of {most}: {len(cases)} runs", share)
    tell(progress, "finished", WHOLE.end)
    lines = [
        summarize_trials(
            c.settings.name, c.rows, c.epsilon, [trials[i] for trials in done], _tables(domain, c, knowledge)
        )
        for i, c in enumerate(cases)
    ]
    if all(line.refused is not None for line in lines):
        raise SettingError(f"none of this can run: {lines[0].refused}")
    kinds = tuple(kind.words for kind in KINDS[: len(done)])
    simulated = min(max(case.rows for case in cases), MOST_ROWS)
    held = max(rows, default=domain.rows), _middle(epsilons)
    promised = _promised(delta, held[0])
    return Forecast(len(domain.columns), *held, promised, domain.unit, tuple(lines), kinds, simulated)


plan = forecast
"""The public name."""


def _cases(
    domain: Domain,
    epsilons: Sequence[float],
    rows: Sequence[int],
    methods: Sequence[str | Settings],
    delta: float | None,
    knowledge: Knowledge,
) -> tuple[Case, ...]:
    """Return all cases; refuses what a run would refuse."""
    if any(isinstance(given, str) or not isinstance(given, Sequence) for given in (epsilons, rows, methods)):
        raise SettingError("epsilons, rows, methods: a list of each, as in plan(domain, epsilons=[0.5, 1])")
    if not epsilons or not methods:
        raise SettingError("epsilon, method: name at least one of each")
    if not all(isinstance(count, int) for count in rows):
        raise SettingError("rows: whole numbers")
    check_knowledge(knowledge, domain)
    for count in rows or (domain.rows,):
        for epsilon in epsilons:
            check_guarantee(epsilon, _promised(delta, count), domain.with_rows(count).rows)
    chosen = [settings_for(method, domain.widest()) for method in methods]
    refused = [
        _refusal(domain, settings, _middle(epsilons), _promised(delta, domain.rows), knowledge) for settings in chosen
    ]
    if all(words is not None for words in refused):
        raise SettingError(f"none of this can run: {refused[0]}")
    ordered = sorted(set(epsilons))
    if rows:
        return tuple(Case(s, n, e, _promised(delta, n)) for s in chosen for n in sorted(set(rows)) for e in ordered)
    middle, found = _middle(epsilons), []
    for settings in chosen:
        found += [Case(settings, domain.rows, e, _promised(delta, domain.rows)) for e in ordered]
        beside = (domain.rows // ROW_STEP, domain.rows * ROW_STEP)
        found += [
            Case(settings, n, middle, _promised(delta, n)) for n in beside if n >= 2 and (not delta or n < 1 / delta)
        ]
    return tuple(found)


def _refusal(domain: Domain, settings: Settings, epsilon: float, delta: float, knowledge: Knowledge) -> str | None:
    """Return why a method cannot be asked; None if it can."""
    try:
        refuse_unaskable(settings, domain, epsilon, delta, knowledge)
    except SettingError as error:
        return str(error)
    return None


def _promised(delta: float | None, rows: int) -> float:
    """Return the delta that was named, or the one that a run with so many rows would take."""
    return delta_for(rows) if delta is None else delta


def _middle(epsilons: Sequence[float]) -> float:
    ordered = sorted(set(epsilons))
    return ordered[len(ordered) // 2]


def trials_of(task: Task) -> tuple[Trial, ...]:
    """Draw a network and its rows, and run all cases on them."""
    kept: dict[tuple[str, int], Drawn] = {}
    return tuple(_trial(task, case, min(case.rows, MOST_ROWS), kept) for case in task.cases)


def _trial(task: Task, case: Case, rows: int, kept: dict[tuple[str, int], Drawn]) -> Trial:
    """Run one case as a private run would; what refuses it is told."""
    domain, settings = task.domain.with_rows(rows), case.settings
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", DoubtWarning)
            budget = budget_for(settings, case.epsilon, case.delta, group=domain.group)
            asked = method_of(settings).encode(settings, domain, budget, task.knowledge)
            key = (repr(asked.columns), rows)
            if key not in kept:
                kept[key] = _draw(task, asked, rows)
            network, codes, strengths = kept[key]
            room = Room(MemoryTable(codes, {c: asked.size(c) for c in asked}), asked, budget)
            found = discover_in(room, settings, knowledge=task.knowledge)
    except (SettingError, BudgetError) as error:
        return Trial(0.0, 0.0, (), None, 1.0, refused=str(error))
    dag = network.dag
    pairs = found.graph.skeleton
    arrows = [(v, frozenset(arc) in pairs) for v, arc in zip(strengths, sorted(dag.directed), strict=True)]
    truth = equivalents(dag, task.knowledge)
    doubts = tuple(str(w.message) for w in said if issubclass(w.category, DoubtWarning))
    scores = skeleton_f1(found.graph, truth), cpdag_f1(found.graph, truth)
    return Trial(*scores, tuple(arrows), found.privacy, float(budget.limit), doubts)


def _draw(task: Task, domain: Domain, rows: int) -> Drawn:
    """Draw a network and rows; the same network for the same task, whatever the rows."""
    chance = np.random.default_rng([task.seed, task.number, 11])
    kind = KINDS[task.number % len(KINDS)]
    known = task.knowledge
    network = draw_over(domain, chance, kind, allowed=known.allows, required=known.required)
    codes, groups = network.sample(rows, np.random.default_rng([task.seed, task.number, rows, 12]))
    sizes = {name: groups_of(domain[name]) for name in domain}
    narrow: Codes = {name: np.asarray(codes[name], dtype=narrowest(domain.size(name))) for name in domain}
    return (
        network,
        narrow,
        [strength(groups[a], groups[b], sizes[a], sizes[b]) for a, b in sorted(network.dag.directed)],
    )


def strength(a: CodeArray, b: CodeArray, first: int, second: int) -> float:
    """Return how strongly two columns depend on each other: Cramer's V, from 0 (not at all) to 1 (a copy)."""
    counts = np.bincount(a.astype(np.int64) * second + b, minlength=first * second).reshape(first, second)
    total, expectation = counts.sum(), np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    least = min(int((counts.sum(axis=1) > 0).sum()), int((counts.sum(axis=0) > 0).sum())) - 1
    if least < 1:
        return 0.0
    filled = expectation > 0
    squares = float((((counts - expectation) ** 2)[filled] / expectation[filled]).sum())
    return math.sqrt(squares / (float(total) * least))


def _tables(domain: Domain, case: Case, knowledge: Knowledge) -> tuple[Planned, ...]:
    """Return the tables of the first release with their costs, where a method measures first."""
    settings = case.settings
    if not isinstance(settings, Marginals):
        return ()
    domain = domain.with_rows(case.rows)
    try:
        budget = budget_for(settings, case.epsilon, case.delta, group=domain.group)
        asked = method_of(settings).encode(settings, domain, budget, knowledge)
        waits, asked = bool(asked.unsettled), asked.widest()
        statistic = select_first(asked, knowledge, budget.currency)
        if statistic is None:
            return ()
        left = budget.limit * (1 - SETTLING if waits else 1)
        if settings.clip == "auto" and select_margins(asked, budget.currency, left) is not None:
            left *= 1 - SHARE
        part = left / settings.rounds
        variance = additive_for(budget.currency, part, statistic.sensitivity(asked)).variance
    except SettingError:  # refused, as the runs were
        return ()
    sets = statistic.sets
    weights = statistic.weights if isinstance(statistic, Interactions) else (1,) * len(sets)
    if isinstance(statistic, Interactions):
        loads = [float(largest_change({s: asked.shape(s)}, {s: w})) for s, w in zip(sets, weights, strict=True)]
    else:
        loads = [1.0] * len(sets)
    share = float(part / budget.limit) / sum(loads)
    return tuple(
        Planned(s, cells, round(load * share, 6), round(math.sqrt(variance / w * cells) / asked.rows, 6))
        for s, w, load in zip(sets, weights, loads, strict=True)
        for cells in (prod(asked.shape(s)),)
    )
