"""What the methods reach on networks whose graph is known: fresh rows and fresh noise in every run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from discreet.baselines import exact as not_private
from discreet.data.memory import MemoryTable
from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.experiments import harness
from discreet.experiments.harness import Record, Row, group_by, markdown, points_by, summarize
from discreet.methods.discover import discover_in
from discreet.privacy.accounting import DELTA
from discreet.privacy.budget import Budget
from discreet.release.settings import Marginals
from discreet.report.charts import Axis, line_chart
from discreet.room import Room
from discreet.search.graph import Graph, cpdag_f1, shd, skeleton_f1
from discreet.search.orientation import cpdag
from discreet.simulation.networks import names, network

EPSILONS = (0.1, 0.3, 1.0, 3.0)
CEILINGS = ("pc", "greedy-bic")
SCORES = ("skeleton_f1", "cpdag_f1")


@dataclass(frozen=True)
class Task(harness.Task):
    """One run: a network, a number of rows, and a private epsilon or a method that is not private."""

    network: str
    rows: int
    epsilon: float | None
    method: str
    seed: int
    search: str = "hybrid"


def plan(
    networks: Sequence[str],
    rows: Sequence[int],
    epsilons: Sequence[float],
    runs: int,
    *,
    ceilings: bool = True,
    search: str = "hybrid",
) -> list[Task]:
    """Return all runs, those of one setting together."""
    if runs < 2:
        raise SettingError("runs: at least 2, to tell the spread")
    planned = []
    for name in networks:
        network(name)  # refuses unknown names before anything is run
    for name in networks or names():
        for n in rows:
            for epsilon in epsilons:
                planned += [Task(name, n, epsilon, "marginals", s, search=search) for s in range(runs)]
            if ceilings:
                planned += [Task(name, n, None, method, s) for method in CEILINGS for s in range(runs)]
    return planned


def perform(task: Task) -> Record:
    """Draw rows, find the graph, compare it with the true one."""
    net = network(task.network)
    domain, truth = net.domain(task.rows), cpdag(net.dag)
    codes = net.sample_codes(task.rows, np.random.default_rng([task.seed, task.rows, 7]))
    table = MemoryTable(codes, {c: domain.size(c) for c in domain})
    start = perf_counter()
    graph = _find(task, table, domain)
    seconds = perf_counter() - start
    scores = {"skeleton_f1": skeleton_f1(graph, truth), "cpdag_f1": cpdag_f1(graph, truth), "shd": shd(graph, truth)}
    return {"task": task.to_dict(), **scores, "seconds": round(seconds, 3)}


def _find(task: Task, table: MemoryTable, domain: Domain) -> Graph:
    if task.method == "pc":
        return not_private.pc(table, domain)
    if task.method == "greedy-bic":
        return not_private.greedy_bic(table, domain)
    room = Room(table, domain, Budget(epsilon=task.epsilon or 0.0, delta=min(DELTA, 0.1 / task.rows)))
    return discover_in(room, Marginals(search=task.search)).graph


def summary(records: Sequence[Record]) -> list[Row]:
    """Return the mean of each setting with its standard error."""
    groups = group_by(records, lambda r: tuple(r["task"][k] for k in ("network", "rows", "method", "epsilon")))
    result: list[Row] = []
    for (name, n, method, given), members in groups.items():
        epsilon = "" if given is None else given
        line: Row = {"network": name, "rows": n, "method": method, "epsilon": epsilon, "runs": len(members)}
        for score in (*SCORES, "seconds"):
            line[score], line[f"{score}_error"], _ = summarize([float(m[score]) for m in members], 3)
        result.append(line)
    return result


def as_text(lines: Sequence[Row]) -> Iterator[str]:
    """Yield a Markdown table: one row a network and number of rows, one column an epsilon or ceiling."""
    columns = list(dict.fromkeys((line["method"], line["epsilon"]) for line in lines))
    heads = [f"eps {epsilon:g}" if epsilon != "" else f"{method}, not private" for method, epsilon in columns]
    rows = []
    for name, n in dict.fromkeys((line["network"], line["rows"]) for line in lines):
        cells = []
        for method, epsilon in columns:
            key = (name, n, method, epsilon)
            found = [x for x in lines if (x["network"], x["rows"], x["method"], x["epsilon"]) == key]
            cells += [" / ".join(f"{x[s]:.2f} ± {x[s + '_error']:.2f}" for s in SCORES) for x in found] or [""]
        rows.append([name, f"{n:,}", *cells])
    return markdown(["network", "rows", *heads], rows)


def charts(lines: Sequence[Row]) -> dict[str, str]:
    """Return one chart a score and number of rows: F1 against epsilon, one line a network."""
    result = {}
    private = [line for line in lines if line["method"] == "marginals"]
    for n in dict.fromkeys(line["rows"] for line in private):
        for score, words in (("skeleton_f1", "Skeleton"), ("cpdag_f1", "CPDAG")):
            series = points_by(private, "rows", "epsilon", score, name="network")[str(n)]
            ticks = sorted({at for points in series.values() for at, _, _ in points})
            if len(ticks) > 1:
                across = Axis("epsilon (total, delta 1e-6)", ticks[0], ticks[-1], ticks, log=True)
                up = Axis("F1", 0.0, 1.0, (0, 0.2, 0.4, 0.6, 0.8, 1))
                title = f"{words} F1, {n:,} rows"
                result[f"{score}-{n}.svg"] = line_chart(title, across, up, series)
    return result
