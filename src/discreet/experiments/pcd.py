"""Zhang, Xia, Ren, Guan, Zhou 2023 (*Differentially Private Nonlinear Causal Discovery from Numerical Data*) again.

Tests of independence and graphs over columns of numbers: as published, which is NOT PRIVATE, and by this library. Where
the noise of a published test can be computed instead of drawn, it is.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from time import perf_counter
from typing import ClassVar, Literal

import numpy as np

from discreet.baselines.published.pcd import (
    PcdSettings,
    deletion_probability,
    equation_3,
    on_unit_scale,
    plain_sensitivity,
    run_pcd,
)
from discreet.baselines.published.rcit import LAM, Rcit
from discreet.data.memory import MemoryTable
from discreet.domain import Domain, Numeric
from discreet.errors import BudgetError, SettingError, TableError
from discreet.experiments import harness
from discreet.experiments.harness import Record, Row, group_by, markdown, points_by, summarize, write_files
from discreet.methods.discover import discover, discover_in
from discreet.methods.independence.examine import examine
from discreet.methods.pcd import Pcd
from discreet.methods.registry import METHODS
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Budget
from discreet.privacy.mechanisms.noisy_rank import noisy_rank_for
from discreet.report.charts import Axis, Line, Point, panels
from discreet.room import Room
from discreet.search.graph import Graph
from discreet.simulation.networks import Network, Node, network
from discreet.simulation.nonlinear import Values, nonlinear
from discreet.statistics.permutation import Compared, PermutedHSIC, beyond

DELTA = 1e-6
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

SLOW_RUNS, PUBLISHED_RUNS = 2, 5
"""Runs of the published method: on slow networks, and on others, at most."""

PUBLISHED_EPSILONS = (0.1, 1.0, 8.0)
"""Budgets of its graphs."""

SHAPE = 2
"""Number of this plan: what was kept by another is not used."""

Part = Literal["tests", "graphs", "sachs"]
PARTS: tuple[Part, ...] = ("tests", "graphs", "sachs")


@dataclass(frozen=True)
class Task(harness.Task):
    """One run: a test at all epsilons, or a graph at one."""

    common: ClassVar[Record] = {"shape": SHAPE}
    part: Part
    subject: str
    method: str
    epsilon: float
    rows: int
    seed: int
    dependent: bool = False


@dataclass(frozen=True)
class Sample:
    """Rows, what is public about them, and the graph that they come from."""

    values: dict[str, Values]
    domain: Domain
    truth: Graph


Decide = Callable[[MemoryTable, Domain, Sequence[float], int], list[float]]
"""Returns for each epsilon how probably, or whether, x and y are called independent given all other columns."""

Find = Callable[[Sample, float, int], tuple[Graph, int]]
"""Returns a graph and how many tests it took."""


def encode(sample: Sample) -> MemoryTable:
    """Return rows as codes of the public grid."""
    sizes = {name: sample.domain.size(name) for name in sample.domain}
    codes = {}
    for name, values in sample.values.items():
        low, high = sample.domain[name].bounds  # type: ignore[union-attr]
        places = np.floor((values - low) / (high - low) * sizes[name])
        codes[name] = np.clip(places, 0, sizes[name] - 1).astype(np.uint16)
    return MemoryTable(codes, sizes)


def _others(domain: Domain) -> list[str]:
    return sorted(name for name in domain if name not in ("x", "y"))


def decide_as_published(table: MemoryTable, domain: Domain, epsilons: Sequence[float], seed: int) -> list[float]:
    """NOT PRIVATE: return the exact probabilities, for one draw of permutations."""
    oracle = Rcit(on_unit_scale(table, domain), rng=np.random.default_rng([seed, 23]))
    given = _others(domain)
    found = oracle.test("x", "y", frozenset(given))
    moved = equation_3(table.rows, LAM, found.widths) if given else plain_sensitivity(table.rows)
    return [deletion_probability(found.share(), found.share(2 * moved), ALPHA, epsilon) for epsilon in epsilons]


def decide_without_noise(table: MemoryTable, domain: Domain, epsilons: Sequence[float], seed: int) -> list[float]:
    """NOT PRIVATE: return whether the published test finds nothing without noise."""
    oracle = Rcit(on_unit_scale(table, domain), alpha=ALPHA, rng=np.random.default_rng([seed, 23]))
    return [float(oracle.ask("x", "y", frozenset(_others(domain))).independent)] * len(epsilons)


def decide_by_ranks(table: MemoryTable, domain: Domain, epsilons: Sequence[float], seed: int) -> list[float]:
    """Return what the noisy test by permutations says; of residuals, if columns are given."""
    statistic = PermutedHSIC(Compared.of("x", "y", _others(domain), domain))
    answers = []
    for epsilon in epsilons:
        room = Room(table, domain, Budget(epsilon=epsilon, delta=0.0))
        places = beyond(ALPHA, statistic.size)
        mechanism = noisy_rank_for(Currency.PURE, Fraction(epsilon), statistic.sensitivity(domain), places)
        answers.append(1.0 - float(room.release(statistic, mechanism).values[0]))
    return answers


def decide_by_pcd(table: MemoryTable, domain: Domain, epsilons: Sequence[float], seed: int) -> list[float]:
    """Return whether the private method leaves x and y apart, all of the budget being for this pair."""
    apart = []
    for epsilon in epsilons:
        room = Room(table, domain, Budget(epsilon=epsilon, delta=0.0))
        try:
            apart.append(float(not discover_in(room, Pcd(max_order=0)).graph.skeleton))
        except BudgetError:  # nothing could be seen, so nothing was asked
            apart.append(1.0)
    return apart


def decide_by_moments(table: MemoryTable, domain: Domain, epsilons: Sequence[float], seed: int) -> list[float]:
    """Return what the private test by moments says."""
    values = {}
    for name, codes in zip(domain, table.values(list(domain)), strict=True):
        low, high = domain[name].bounds  # type: ignore[union-attr]
        values[name] = low + (high - low) * (codes + 0.5) / domain.size(name)
    delta = min(DELTA, 0.1 / domain.rows)
    ask = partial(examine, values, "x", "y", _others(domain), domain=domain, delta=delta, test="moments", alpha=ALPHA)
    return [float(ask(epsilon=epsilon).independent) for epsilon in epsilons]


TESTS: dict[str, Decide] = {
    "pcd-published": decide_as_published,
    "no-privacy": decide_without_noise,
    "permutations": decide_by_ranks,
    "pcd": decide_by_pcd,
    "moments": decide_by_moments,
}
"""Tests by name: one line each."""

MOST_GIVEN = {"pcd": 0, "moments": 2}
"""Tests that take so many given columns at most."""


def find_as_published(sample: Sample, epsilon: float, seed: int) -> tuple[Graph, int]:
    """NOT PRIVATE: run PCD as published, each noisy test at epsilon."""
    settings = PcdSettings(epsilon=epsilon, alpha=ALPHA, max_order=PUBLISHED_ORDER)
    columns = on_unit_scale(encode(sample), sample.domain)
    found = run_pcd(columns, settings, np.random.default_rng([seed, 29]))
    return found.graph, found.tests


def finder_of(method: str) -> Find:
    """Return what runs a private method at a total epsilon."""

    def find(sample: Sample, epsilon: float, seed: int) -> tuple[Graph, int]:
        delta = min(DELTA, 0.1 / sample.domain.rows)
        try:
            told = discover(sample.values, domain=sample.domain, epsilon=epsilon, delta=delta, method=method)
        except BudgetError:  # nothing could be seen, so nothing was asked
            return Graph(tuple(sample.domain)), 0
        return told.graph, int(told.settings.get("pairs") or 0)

    return find


GRAPHS: dict[str, Find] = {
    "pcd-published": find_as_published,
    **{name: finder_of(name) for name in ("pcd", "moments") if name in METHODS},
}
"""Methods by name: one line each."""


def perform(task: Task, sachs: Path | None = None, edges: Path | None = None, epsilons: Sequence[float] = ()) -> Record:
    """Draw rows, do a run, and return all that tables and charts are made of."""
    sample = sample_of(task, sachs, edges)
    start = perf_counter()
    if task.part == "tests":
        told = TESTS[task.method](encode(sample), sample.domain, epsilons, task.seed)
        wrong = [p if task.dependent else 1 - p for p in told]
        return {"task": task.to_dict(), "epsilons": list(epsilons), "wrong": wrong, "seconds": perf_counter() - start}
    graph, tests = GRAPHS[task.method](sample, task.epsilon, task.seed)
    right, found, true = len(graph.skeleton & sample.truth.skeleton), len(graph.skeleton), len(sample.truth.skeleton)
    counted = {"right": right, "found": found, "true": true, "tests": tests}
    return {"task": task.to_dict(), **counted, "seconds": perf_counter() - start}


def check_plan(rows: Sequence[int], epsilons: Sequence[float], runs: int) -> None:
    """Refuse what cannot be run."""
    if runs < 1 or any(n < 50 for n in rows):
        raise SettingError("runs, rows: at least 1, and 50")
    if not epsilons or not all(0 < epsilon <= 500 for epsilon in epsilons):
        raise SettingError("epsilons: numbers above 0, with commas between them")


def plan(
    parts: Sequence[Part],
    methods: Sequence[str],
    networks: Sequence[str],
    rows: Sequence[int],
    epsilons: Sequence[float],
    runs: int | None,
    sachs: Path | None,
    edges: Path | None,
) -> list[Task]:
    """Return all runs, after refusing what there is not."""
    if unknown := [name for name in methods if name not in TESTS and name not in GRAPHS]:
        raise SettingError(f"methods: {unknown[0]!r} is not one of {', '.join({**GRAPHS, **TESTS})}")
    check_plan(rows, epsilons, 1 if runs is None else runs)
    of_tests = [name for name in TESTS if name in (methods or TESTS)]
    of_graphs = [name for name in GRAPHS if name in (methods or GRAPHS)]
    planned: list[Task] = []
    if "tests" in parts:
        tests = plan_tests(of_tests, rows or TEST_ROWS, runs or 100)
        planned += [t for t in tests if given_in(t) <= MOST_GIVEN.get(t.method, given_in(t))]
    if "graphs" in parts:
        planned += plan_graphs(of_graphs, networks, rows or GRAPH_ROWS, epsilons, runs or 10)
    if "sachs" in parts and sachs is not None and edges is not None:
        planned += plan_sachs(of_graphs, epsilons, runs or 10, min([read_sachs(sachs, edges).domain.rows, *rows]))
    return planned


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
            most = (SLOW_RUNS if slow else PUBLISHED_RUNS) if published else runs
            chosen = _keep_few(epsilons) if published else epsilons
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
        for e in (_keep_few(epsilons) if method.endswith("-published") else epsilons)
        for seed in range(1 if method.endswith("-published") else runs)
    ]


def _keep_few(epsilons: Sequence[float]) -> list[float]:
    return [epsilon for epsilon in epsilons if epsilon in PUBLISHED_EPSILONS]


def sample_of(task: Task, sachs: Path | None = None, edges: Path | None = None) -> Sample:
    """Return the rows of a run; the same for all methods and epsilons."""
    if task.part == "sachs":
        return _take(read_sachs(sachs or Path(), edges or Path()), task.rows)
    graph = task.part == "graphs"
    net = network(task.subject) if graph else graph_to_test(given_in(task), dependent=task.dependent)
    model = nonlinear(net, np.random.default_rng([task.seed, 17]))
    values = model.sample(task.rows, np.random.default_rng([task.seed, task.rows, 19]))
    return Sample(values, model.domain(task.rows), model.dag)


def given_in(task: Task) -> int:
    """Return how many columns are given in a test."""
    return int(task.subject.removeprefix("given "))


def _take(sample: Sample, rows: int) -> Sample:
    """Return so many rows, evenly taken."""
    chosen = np.linspace(0, sample.domain.rows - 1, rows).astype(np.int64)
    values = {name: column[chosen] for name, column in sample.values.items()}
    return Sample(values, sample.domain.with_rows(rows), sample.truth)


def graph_to_test(given: int, *, dependent: bool) -> Network:
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


Results = Mapping[Task, Record]

STYLES = {
    "pcd-published": Line("pcd", "as published, not private", "#777777", "10 5", 3.0),
    "complete": Line("all pairs", "no data", "#bb9999", "2 4", 2.0),
    "no-privacy": Line("RCIT", "no privacy", "#222222", "1.5 4", 1.8),
    "permutations": Line("permutations", "private", "#228833", width=3.4),
    "pcd": Line("pcd", "private", "#4477aa", width=3.0),
    "moments": Line("moments", "private", "#ee6677", width=2.6),
}
"""How each method is drawn; a method that is not here is drawn like others that are private."""

_OTHER = ("#aa3377", "#e08214", "#44aaaa")
LEVEL = ("complete", "no-privacy")
"""What has the same number everywhere, and is drawn level."""

PROTEINS = 11
CHART_EPSILON = 1.0
"""The budget of the charts against rows."""


def figure1(results: Results) -> list[Row]:
    """Return errors of tests of both types, by what is given, rows, method and epsilon."""
    groups: dict[tuple[str, int, str, float], dict[bool, list[float]]] = {}
    for task, record in results.items():
        if task.part == "tests":
            for epsilon, wrong in zip(record["epsilons"], record["wrong"], strict=True):
                key = (task.subject, task.rows, task.method, epsilon)
                groups.setdefault(key, {False: [], True: []})[task.dependent].append(wrong)
    lines: list[Row] = []
    for (subject, rows, method, epsilon), by in sorted(groups.items(), key=lambda g: (g[0][0], g[0][1], g[0][2:])):
        line: Row = {"given": int(subject.split()[1]), "rows": rows, "method": method, "epsilon": epsilon}
        for name, wrong in (("type_1", by[False]), ("type_2", by[True])):
            line[name], line[f"{name}_error"] = summarize(wrong)[:2]
        lines.append({**line, "runs": len(by[False])})
    return lines


def scores(record: Record) -> tuple[float, float, float]:
    """Return precision, recall and F1 of the skeleton."""
    right, found, true = record["right"], record["found"], record["true"]
    return right / found if found else 0.0, right / true, 2 * right / (found + true)


def graphs(results: Results, part: str) -> list[Row]:
    """Return precision, recall and F1, by network, rows, method and epsilon."""
    tasks = group_by((t for t in results if t.part == part), lambda t: (t.subject, t.rows, t.method, t.epsilon))
    order = {name: i for i, name in enumerate(NETWORKS)}
    lines: list[Row] = []
    for key, same in sorted(tasks.items(), key=lambda g: (order.get(g[0][0], 99), g[0])):
        members = [results[task] for task in same]
        line: Row = dict(zip(("network", "rows", "method", "epsilon"), key, strict=True))
        for name, values in zip(("precision", "recall", "f1"), zip(*map(scores, members), strict=True), strict=True):
            line[name], line[f"{name}_error"] = summarize(values)[:2]
        line["tests"] = round(float(np.mean([r["tests"] for r in members])), 1)
        line["seconds"] = round(float(np.mean([r["seconds"] for r in members])), 3)
        line["f1_of_all_pairs"] = round(f1_of_all_pairs(int(members[0]["true"]), key[0]), 4)
        lines.append({**line, "runs": len(members)})
    return lines


def f1_of_all_pairs(true: int, subject: str) -> float:
    """Return the F1 of the graph in which all pairs touch."""
    columns = PROTEINS if subject == "sachs" else len(network(subject).nodes)
    return 2 * true / (columns * (columns - 1) // 2 + true)


def styles(methods: Sequence[str]) -> dict[str, Line]:
    """Return how each method is drawn."""
    found = dict(STYLES)
    for i, name in enumerate(name for name in methods if name not in STYLES):
        found[name] = Line(name, "private", _OTHER[i % len(_OTHER)], width=2.2)
    return found


def _chart(title: str, words: str, x: Axis, y: str, lines: Mapping[str, Mapping[str, Sequence[Point]]]) -> str:
    methods = list(dict.fromkeys(name for inside in lines.values() for name in inside))
    shown = {
        panel: {name: points if name in LEVEL else _dash(points, x) for name, points in inside.items()}
        for panel, inside in lines.items()
    }
    return panels(title, words, x, Axis(y, 0, 1, (0, 0.25, 0.5, 0.75, 1)), styles(methods), shown)


def _dash(points: Sequence[Point], x: Axis) -> Sequence[Point]:
    """Return a single point as a short dash: what has one number is not level."""
    if len(points) != 1:
        return points
    ((at, up, spread),) = points
    return [(max(at / 1.15, x.low), up, spread), (min(at * 1.15, x.high), up, spread)]


def _epsilons(lines: Sequence[Row]) -> Axis:
    found = sorted({float(line["epsilon"]) for line in lines})
    ticks = [e for e in (0.1, 0.4, 1, 2, 8) if e in found]
    return Axis("epsilon", found[0], max(found[-1], 2 * found[0]), ticks, log=True)


def charts(first: Sequence[Row], second: Sequence[Row], third: Sequence[Row]) -> dict[str, str]:
    """Return all charts that the numbers allow."""
    drawn = _error_charts(first) if first else {}
    if second:
        drawn |= _graph_charts(second)
    if third:
        inside = _with_all_pairs(points_by(third, "network", "epsilon", "f1"), third, "epsilon")
        words = f"{max(int(line['rows']) for line in third):,} cells; bands of one standard error"
        drawn["figure3.svg"] = _chart("Proteins: F1 of the skeleton", words, _epsilons(third), "F1", inside)
    return drawn


def _error_charts(lines: Sequence[Row]) -> dict[str, str]:
    """Return Figure 1: one chart for each type of error."""
    first = lines[0]["epsilon"]
    shown = [
        {**line, "panel": f"{_given(int(line['given']))}, {int(line['rows']):,} rows"}
        for line in lines
        if line["method"] != "no-privacy" or line["epsilon"] == first
    ]
    words = f"level 0.05, up to {max(int(line['runs']) for line in lines)} runs, bands of one standard error"
    drawn = {}
    for kind, title in (("type-1", "Called dependent, and is not"), ("type-2", "Called independent, and is not")):
        inside = points_by(shown, "panel", "epsilon", kind.replace("-", "_"))
        drawn[f"figure1-{kind}.svg"] = _chart(title, words, _epsilons(lines), "share", inside)
    return drawn


def _graph_charts(lines: Sequence[Row]) -> dict[str, str]:
    """Return Figure 2: scores against rows at one epsilon, and F1 against epsilon at most rows."""
    drawn = {}
    sizes = sorted({int(line["rows"]) for line in lines})
    rows = Axis("rows", sizes[0], max(sizes[-1], 2 * sizes[0]), sizes, log=True)
    for up in ("f1", "precision", "recall"):
        inside = points_by([line for line in lines if line["epsilon"] == CHART_EPSILON], "network", "rows", up)
        if inside:
            inside = _with_all_pairs(inside, lines, "rows") if up == "f1" else inside
            title = f"{up.capitalize()} of the skeleton against rows, epsilon {CHART_EPSILON:g}"
            drawn[f"figure2-{up}-rows.svg"] = _chart(title, _WORDS, rows, up, inside)
    inside = points_by([line for line in lines if line["rows"] == sizes[-1]], "network", "epsilon", "f1")
    title = f"F1 of the skeleton against epsilon, {sizes[-1]:,} rows"
    inside = _with_all_pairs(inside, lines, "epsilon")
    return {**drawn, "figure2-f1-epsilon.svg": _chart(title, _WORDS, _epsilons(lines), "F1", inside)}


def _with_all_pairs(
    inside: dict[str, dict[str, list[Point]]], lines: Sequence[Row], across: str
) -> dict[str, dict[str, list[Point]]]:
    """Add the F1 of the graph of all pairs to every panel, as a level line."""
    for line in lines:
        if str(line["network"]) in inside:
            level = (float(line[across]), float(line["f1_of_all_pairs"]), 0.0)
            inside[str(line["network"])]["complete"] = [level]
    return inside


_WORDS = "Bands of one standard error. As published: epsilon for each noisy test; private: for the whole run."


def _given(count: int) -> str:
    return {0: "nothing given", 1: "one column given"}.get(count, f"{count} columns given")


def write_all(out: Path, results: Results) -> list[str]:
    """Write the tables and charts that the runs allow, and return the names of the files."""
    first, second, third = figure1(results), graphs(results, "graphs"), graphs(results, "sachs")
    tables = {"figure1.csv": first, "figure2.csv": second, "figure3.csv": third}
    return write_files(out, {**tables, **charts(first, second, third)})


def as_text(results: Results) -> Iterator[str]:
    """Yield F1 and errors as Markdown tables."""
    found = ("precision", "recall", "f1", "f1_of_all_pairs")
    for lines, of, shown in (
        (figure1(results), "given", ("type_1", "type_2")),
        (graphs(results, "graphs"), "network", found),
        (graphs(results, "sachs"), "network", found),
    ):
        if lines:
            heads = [of, "rows", "method", "epsilon", *shown, "runs"]
            yield from markdown(heads, ([_cell(line, head) for head in heads] for line in lines))
            yield ""


def _cell(line: Row, head: str) -> str:
    value, error = line[head], line.get(f"{head}_error")
    if isinstance(error, float):
        return f"{value:.3f} ({error:.3f})"
    return f"{value:g}" if isinstance(value, float) else str(value)
