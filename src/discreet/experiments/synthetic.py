"""Synthetic rows at the same epsilon and delta, then a search: what an expert would do instead, beside ``marginals``.

MST (McKenna, Miklau, Sheldon 2021) and AIM (McKenna, Mullins, Sheldon, Miklau 2022) make rows in an environment of
their own, by a command that is handed simulated rows and a budget; PC and a greedy search look for a graph on what
comes back.

Both were stated for neighbours that have one row more or less. Here as everywhere one row is replaced and the number of
rows is public, so that every method promises the same (epsilon, delta). With one row replaced a marginal moves in two
cells, by one each: its L2 sensitivity is sqrt(2), and noise of deviation sigma costs 1/sigma^2 in zCDP, not
1/(2 sigma^2). A score that is a weighted L1 distance to a marginal moves by twice its weight. ``most`` says how much
may be spent in all; what the command says that it spent is held against that.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, ClassVar

import click
import numpy as np

from discreet.baselines import exact as not_private
from discreet.data.memory import MemoryTable
from discreet.errors import BudgetError, SettingError
from discreet.experiments import harness
from discreet.experiments.harness import (
    TIME_LIMIT,
    KeptRuns,
    Record,
    Row,
    TimeLimitError,
    group_by,
    markdown,
    pack,
    points_by,
    summarize,
    time_limit,
    unpack,
    write_files,
)
from discreet.methods.discover import discover_in
from discreet.methods.registry import budget_for
from discreet.privacy.accounting import Currency, limit_of
from discreet.release.settings import Marginals
from discreet.report.charts import Axis, Line, panels
from discreet.room import Room
from discreet.search.graph import Graph, cpdag_f1, skeleton_f1
from discreet.search.orientation import cpdag
from discreet.simulation.bayesian import Network
from discreet.simulation.networks import names, network

COMMAND = ".venv-synthetic/bin/python benchmarks/synthesize.py"
"""What makes rows. It goes on until its input ends. Each line that it is handed is a list in JSON: a method, rho, a
seed, a file of rows, and where to write what it makes. It answers with a line, empty or an error."""

DELTA = 1e-6
LIMIT = 1800.0
METHODS = {"marginals": "marginals", "none": "not private", "mst": "MST", "aim": "AIM", "aim-triples": "AIM, triples"}
"""What may be chosen; ``none`` are the rows themselves, not private. AIM's workload is all pairs or triples."""

SCORES = ("skeleton_f1", "cpdag_f1")
SEARCHES = {"pc": "PC", "bic": "BIC"}


@dataclass(frozen=True)
class Task(harness.Task):
    """One run: fresh rows, fresh noise, and all searches of what it makes."""

    common: ClassVar[Record] = {"delta": DELTA}
    network: str
    rows: int
    epsilon: float | None
    method: str
    seed: int


def finished(kept: KeptRuns, limit: float) -> dict[Task, Record]:
    """Return all runs that need not be done again: those that took too long will do so unless they get more time."""
    return {t: r for t, r in kept.finished(Task).items() if r["failed"] != TIME_LIMIT or limit <= r["limit"]}


def plan(
    networks: Sequence[str], rows: Sequence[int], epsilons: Sequence[float], runs: int, methods: Sequence[str]
) -> list[Task]:
    """Return all runs, the most telling first.

    That is, one of each at the middle epsilon, then the others with fewest rows, then more of both, then the rest; what
    is slow after what is quick.
    """
    for name in methods:
        if name not in METHODS:
            raise SettingError(f"methods: {name!r} is not one of {', '.join(METHODS)}")
    if runs < 1 or not rows or not epsilons:
        raise SettingError("runs, rows, epsilons: at least one")
    sizes = {name: len(network(name).nodes) for name in networks or names()}
    middle = sorted(epsilons)[len(epsilons) // 2]
    planned = [
        Task(name, n, epsilon, method, seed)
        for name in sizes
        for n in rows
        for method in methods or METHODS
        for epsilon in ([None] if method == "none" else epsilons)
        for seed in range(runs)
    ]

    def place(task: Task) -> tuple[Any, ...]:
        aside = task.epsilon not in (None, middle)
        last = aside and task.rows > min(rows)
        network = sizes[task.network], task.network
        return last, task.seed, aside, list(METHODS).index(task.method), task.rows, network, task.epsilon

    return sorted(planned, key=place)


def most(epsilon: float | None) -> Fraction:
    """Return what may be spent in zCDP, for neighbours that replace one row; nothing where nothing is promised."""
    return Fraction(0) if epsilon is None else limit_of(Currency.ZCDP, epsilon, DELTA)


def perform(task: Task, command: str = COMMAND, limit: float = LIMIT) -> Record:
    """Draw rows, find graphs, and return all that the tables are made of; give up after so many seconds."""
    record: Record = {"task": task.to_dict(), "graphs": {}, "seconds": {}, "failed": "", "limit": limit}
    try:
        with time_limit(limit):
            return {**record, **_perform(task, command)}
    except TimeLimitError:
        return {**record, "failed": TIME_LIMIT}


def _perform(task: Task, command: str) -> Record:
    net = network(task.network)
    codes = net.sample_codes(task.rows, np.random.default_rng([task.seed, task.rows, 7]))
    if task.method != "marginals":
        return _search_synthetic(task, net, np.column_stack(list(codes.values())), command)
    table, settings = _table(net, codes), Marginals()
    start = perf_counter()
    room = Room(table, net.domain(task.rows), budget_for(settings, task.epsilon or 0.0, DELTA))
    graph = discover_in(room, settings).graph
    return {"graphs": {"": pack(graph)}, "seconds": {"": perf_counter() - start}}


def _table(net: Network, codes: dict[str, Any]) -> MemoryTable:
    return MemoryTable(codes, net.domain(1).sizes)


def _search_synthetic(task: Task, net: Network, codes: Any, command: str) -> Record:
    """Let the command make rows and search them by PC, and search them greedily."""
    domain = net.domain(task.rows)
    made = _make(task, command, codes, list(domain.sizes.values()))
    spent, making, searching = made["told"].tolist()
    if Fraction(spent) > most(task.epsilon):
        raise BudgetError("the command spent more than it was given")
    named = tuple(domain)
    rows = {c: made["codes"][:, i].astype(np.uint8) for i, c in enumerate(named)}
    start = perf_counter()
    greedy = not_private.greedy_bic(_table(net, rows), domain)
    seconds = {"pc": making + searching, "bic": making + perf_counter() - start}
    arrows, lines = ([(named[a], named[b]) for a, b in made[kind]] for kind in ("arrows", "lines"))
    return {
        "graphs": {"pc": pack(Graph(named, arrows, lines)), "bic": pack(greedy)},
        "seconds": seconds,
        "spent": spent,
    }


def _make(task: Task, command: str, codes: Any, sizes: list[int]) -> dict[str, Any]:
    """Hand rows to the command and return what it wrote. It gets a little less to spend, since it adds up in floats."""
    rho = float(most(task.epsilon) * (1 - Fraction(1, 10**9)))
    rng = np.random.default_rng([task.seed, task.rows, round(1000 * (task.epsilon or 0))])
    seed = rng.bit_generator.seed_seq.generate_state(1)[0]
    with TemporaryDirectory() as folder:
        source, out = Path(folder, "rows.npz"), Path(folder, "made.npz")
        np.savez(source, codes=codes, sizes=sizes)
        _ask(command, [task.method, rho, int(seed), str(source), str(out)])
        with np.load(out) as made:
            return dict(made)


def _ask(command: str, words: list[Any]) -> None:
    """Hand the command a line and wait for its answer; one that is not waited for is stopped."""
    asked = _STARTED.get(command) or _start(command)
    try:
        click.echo(json.dumps(words), file=asked.stdin)
        answer = next(iter(asked.stdout or ()), "")
    except BrokenPipeError:
        answer = ""
    except BaseException:
        asked.kill()
        stop()
        raise
    if answer != "\n":
        stop()
        raise SettingError(f"command: {answer.strip() or 'it ended before its work was done'}")


_STARTED: dict[str, subprocess.Popen[str]] = {}


def _start(command: str) -> subprocess.Popen[str]:
    """Start the command once a process: what it imports takes longer than most runs."""
    words, pipe = shlex.split(command), subprocess.PIPE
    try:
        return _STARTED.setdefault(command, subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True))  # noqa: S603
    except OSError:
        raise SettingError(f"command: {words[0]!r} cannot be started; `make synthetic` makes it") from None


def stop() -> None:
    """End what was started."""
    while _STARTED:
        _STARTED.popitem()[1].communicate()


def table(results: dict[Task, Record]) -> list[Row]:
    """Return the mean of each setting and search with its standard error; what did not finish is counted."""
    lines: list[Row] = []

    def place(task: Task) -> tuple[Any, ...]:
        size = len(network(task.network).nodes)
        return size, task.network, task.rows, list(METHODS).index(task.method), task.epsilon or 0.0, task.seed

    groups = group_by(sorted(results, key=place), lambda t: (t.network, t.rows, t.method, t.epsilon))
    for (name, n, method, epsilon), tasks in groups.items():
        truth = cpdag(network(name).dag)
        done = [results[task] for task in tasks if results[task]["failed"] != TIME_LIMIT]
        for search in [""] if method == "marginals" else SEARCHES:
            graphs = [unpack(record["graphs"][search], truth.nodes) for record in done]
            values = {
                "skeleton_f1": [skeleton_f1(graph, truth) for graph in graphs],
                "cpdag_f1": [cpdag_f1(graph, truth) for graph in graphs],
                "seconds": [record["seconds"][search] for record in done],
            }
            line: Row = {"network": name, "rows": n, "epsilon": "" if epsilon is None else epsilon}
            line |= {"method": label(method, search), "runs": len(done), "did_not_finish": len(tasks) - len(done)}
            for what, found in values.items():
                line[what], line[f"{what}_error"], _ = summarize(found, 3)
            lines.append(line)
    return lines


def label(method: str, search: str) -> str:
    """Return what a method and a search are called together."""
    return f"{METHODS[method]} + {SEARCHES[search]}" if search else method


def as_text(lines: Sequence[Row]) -> Iterator[str]:
    """Yield a Markdown table: a row a network, number of rows and epsilon, a column a method."""
    methods = list(dict.fromkeys(str(line["method"]) for line in lines))
    at = {(line["network"], line["rows"], line["epsilon"], line["method"]): line for line in lines}
    rows = []
    for name, n in dict.fromkeys((line["network"], line["rows"]) for line in lines):
        budgets = sorted({float(e) for other, m, e, _ in at if (other, m) == (name, n) and e != ""})
        for epsilon in budgets or [0.0]:
            found = [at.get((name, n, epsilon, m)) or at.get((name, n, "", m)) for m in methods]
            rows.append([name, f"{n:,}", f"{epsilon:g}" if budgets else "", *map(_cell, found)])
    return markdown(["network", "rows", "epsilon", *methods], rows)


def _cell(line: Row | None) -> str:
    if line is None:
        return ""
    missing = f"{line['did_not_finish']} did not finish" if line["did_not_finish"] else ""
    if not line["runs"]:
        return missing
    shown = " / ".join(f"{line[score]:.2f}" for score in SCORES)
    return f"{shown} ({', '.join(filter(None, (str(line['runs']), missing)))})"


_STYLES = {
    "MST + PC": Line("MST + PC", "synthetic rows", "#9a9a9a", "6 3", 2.2),
    "MST + BIC": Line("MST + BIC", "synthetic rows", "#6b4a4a", "2 4", 2.2),
    "AIM + PC": Line("AIM + PC", "synthetic rows", "#e08214", "6 3", 2.4),
    "AIM + BIC": Line("AIM + BIC", "synthetic rows", "#ee6677", "2 4", 2.4),
    "AIM, triples + PC": Line("AIM, triples + PC", "synthetic rows", "#44aaaa", "6 3", 2.4),
    "AIM, triples + BIC": Line("AIM, triples + BIC", "synthetic rows", "#228833", "2 4", 2.4),
    "marginals": Line("marginals", "discreet", "#4477aa", width=3),
}


def charts(lines: Sequence[Row]) -> dict[str, str]:
    """Return a chart a number of rows for which every method has several epsilons: CPDAG F1 against epsilon."""
    result = {}
    for n, members in group_by(lines, lambda line: line["rows"]).items():
        found = points_by([m for m in members if m["method"] in _STYLES], "network", "epsilon", "cpdag_f1")
        ticks = sorted({at for drawn in found.values() for points in drawn.values() for at, _, _ in points})
        inside = {
            name: {method: points for method, points in drawn.items() if len(points) == len(ticks)}
            for name, drawn in found.items()
        }
        methods, whole = ({method for drawn in each.values() for method in drawn} for each in (found, inside))
        if len(ticks) > 1 and methods == whole:
            x = Axis("epsilon (total, delta 1e-6)", ticks[0], ticks[-1], ticks, log=True)
            y = Axis("F1", 0.0, 1.0, (0, 0.25, 0.5, 0.75, 1))
            words = f"{n:,} rows, means, bands of one standard error"
            title = "CPDAG F1 on synthetic rows and by marginals"
            result[f"cpdag_f1-{n}.svg"] = panels(title, words, x, y, _STYLES, inside)
    return result


def write_all(out: Path, lines: Sequence[Row]) -> list[str]:
    """Write the table and the charts, and return the names of the files."""
    return write_files(out, {"synthetic.csv": lines, **charts(lines)})
