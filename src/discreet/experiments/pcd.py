"""Zhang, Xia, Ren, Guan, Zhou 2023 (*Differentially Private Nonlinear Causal Discovery from Numerical Data*) again.

Tests of independence and graphs over columns of numbers: as published, which is NOT PRIVATE, and by this library, on
rows from the models that the paper prints and from ours. Where the noise of a published test can be computed instead of
drawn, it is. What was computed for a question serves all epsilons.
"""

from __future__ import annotations

import csv
import gzip
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from time import perf_counter
from typing import ClassVar, Literal

import numpy as np

from discreet.baselines.published.pcd import SureOrNoisy, Test, make_kendall_test, make_rcit_test
from discreet.baselines.published.rcit import LAM, PERMUTATIONS
from discreet.data.memory import MemoryTable
from discreet.domain import Domain, Numeric
from discreet.errors import BudgetError, SettingError, TableError
from discreet.experiments import harness
from discreet.experiments.harness import Record
from discreet.methods.discover import discover, discover_in
from discreet.methods.independence.examine import examine
from discreet.methods.pcd import Pcd
from discreet.methods.registry import METHODS
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Budget
from discreet.privacy.mechanisms.noisy_rank import noisy_rank_for
from discreet.room import Room
from discreet.search.graph import Graph
from discreet.search.pc import find_skeleton
from discreet.simulation.bayesian import Network, Node
from discreet.simulation.networks import network
from discreet.simulation.nonlinear import Values, nonlinear, nonlinear_as_printed
from discreet.statistics.permutation import Compared, PermutedHSIC, beyond

DELTA = 1e-6
EPSILONS = (0.1, 0.2, 0.4, 0.8, 1.0, 2.0, 4.0, 8.0)
"""The paper's. Published methods also run without noise, which is written as an infinite epsilon."""

TEST_ROWS = (200, 500)
GRAPH_ROWS = (1000, 2000, 4000, 8000)
NETWORKS = ("cancer", "asia", "child", "alarm")
ALPHA = 0.05
"""The paper's level."""

WIDE, WIDE_ORDER, WIDE_ROWS, WIDE_RUNS = 10, 2, 2000, 5
"""With more columns than this RCIT is given at most so many at a time, so many rows (but for the proteins), and has so
many runs: the paper knows no limit.
"""

MODELS = ("printed", "ours")
"""Models of the rows: what the paper prints, and ``discreet.simulation.nonlinear``."""

SUBJECTS: dict[str, dict[str, tuple[int, int]]] = {
    "printed": {"independence": (0, 0), "conditional": (5, 4)},
    "ours": {"nothing given": (0, 0), "one column given": (1, 1), "five columns given": (5, 5)},
}
"""What tests are about, by model: columns given where x and y are independent, and where they are not."""


SHAPE = 3
"""Number of this plan: what was kept by another is not used."""

Part = Literal["tests", "graphs", "sachs"]
PARTS: tuple[Part, ...] = ("tests", "graphs", "sachs")


@dataclass(frozen=True)
class Task(harness.Task):
    """One run at all epsilons: a test, or a graph."""

    common: ClassVar[Record] = {"shape": SHAPE}
    part: Part
    model: str
    subject: str
    method: str
    rows: int
    seed: int
    dependent: bool = False


@dataclass(frozen=True)
class Sample:
    """Rows, what is public about them, and the graph that they come from."""

    values: dict[str, Values]
    domain: Domain
    truth: Graph


Decide = Callable[[Sample, Sequence[float], int], list[float]]
"""Returns for each epsilon how probably, or whether, x and y are called independent given all other columns."""

Pairs = Collection[frozenset[str]]

Find = Callable[[Sample, Sequence[float], int], Iterator[tuple[Pairs, int]]]
"""Yields for each epsilon a skeleton and how many tests it took."""


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


def make_rcit(sample: Sample, seed: int) -> Test:
    """NOT PRIVATE: return the published test on columns as they are; the paper standardises nothing."""
    return make_rcit_test(sample.values, PERMUTATIONS, LAM, np.random.default_rng([seed, 23]))


def make_kendall(sample: Sample, seed: int) -> Test:
    """NOT PRIVATE: return the test that the paper compares with."""
    return make_kendall_test(sample.values)


def decider_of(make: Callable[[Sample, int], Test]) -> Decide:
    """NOT PRIVATE: return what tells the exact probabilities of a published test, for one draw of permutations."""

    def decide(sample: Sample, epsilons: Sequence[float], seed: int) -> list[float]:
        found = make(sample, seed)("x", "y", frozenset(_others(sample.domain)))
        return [found.deletion_probability(ALPHA, epsilon) for epsilon in epsilons]

    return decide


def decide_by_ranks(sample: Sample, epsilons: Sequence[float], seed: int) -> list[float]:
    """Return what the noisy test by permutations says; of residuals, if columns are given."""
    table, domain = encode(sample), sample.domain
    statistic = PermutedHSIC(Compared.of("x", "y", _others(domain), domain))
    answers = []
    for epsilon in epsilons:
        room = Room(table, domain, Budget(epsilon=epsilon, delta=0.0))
        places = beyond(ALPHA, statistic.size)
        mechanism = noisy_rank_for(Currency.PURE, Fraction(epsilon), statistic.sensitivity(domain), places)
        answers.append(1.0 - float(room.release(statistic, mechanism).values[0]))
    return answers


def decide_by_pcd(sample: Sample, epsilons: Sequence[float], seed: int) -> list[float]:
    """Return whether the private method leaves x and y apart, all of the budget being for this pair."""
    table, domain = encode(sample), sample.domain
    apart = []
    for epsilon in epsilons:
        room = Room(table, domain, Budget(epsilon=epsilon, delta=0.0))
        try:
            apart.append(float(not discover_in(room, Pcd(max_order=0)).graph.skeleton))
        except BudgetError:  # nothing could be seen, so nothing was asked
            apart.append(1.0)
    return apart


def decide_by_moments(sample: Sample, epsilons: Sequence[float], seed: int) -> list[float]:
    """Return what the private test by moments says."""
    domain, delta = sample.domain, min(DELTA, 0.1 / sample.domain.rows)
    ask = partial(examine, sample.values, "x", "y", _others(domain), domain=domain, delta=delta, test="moments")
    return [float(ask(epsilon=epsilon, alpha=ALPHA).independent) for epsilon in epsilons]


TESTS: dict[str, Decide] = {
    "pcd-published": decider_of(make_rcit),
    "kendall-published": decider_of(make_kendall),
    "permutations": decide_by_ranks,
    "pcd": decide_by_pcd,
    "moments": decide_by_moments,
}
"""Tests by name: one line each."""

MOST_GIVEN = {"pcd": 0, "moments": 2}
"""Tests that take so many given columns at most."""


def finder_of_published(make: Callable[[Sample, int], Test], max_order: int | None = None) -> Find:
    """NOT PRIVATE: return what runs Algorithm 1 with a test, each noisy test at epsilon."""

    def find(sample: Sample, epsilons: Sequence[float], seed: int) -> Iterator[tuple[Pairs, int]]:
        test = cache(make(sample, seed))
        names = tuple(sample.domain)
        order = WIDE_ORDER if max_order is None and len(names) > WIDE else max_order
        for i, epsilon in enumerate(epsilons):
            rng = np.random.default_rng([seed, 29, i])
            oracle = SureOrNoisy(lambda x, y, given: test(*sorted((x, y)), given), ALPHA, epsilon, rng)
            yield find_skeleton(names, oracle, max_order=order, stable=False).pairs.keys(), oracle.tests

    return find


def finder_of(method: str) -> Find:
    """Return what runs a private method at total epsilons."""

    def find(sample: Sample, epsilons: Sequence[float], seed: int) -> Iterator[tuple[Pairs, int]]:
        delta = min(DELTA, 0.1 / sample.domain.rows)
        for epsilon in epsilons:
            try:
                told = discover(sample.values, domain=sample.domain, epsilon=epsilon, delta=delta, method=method)
                yield told.graph.skeleton, int(told.settings.get("pairs") or 0)
            except BudgetError:  # nothing could be seen, so nothing was asked
                yield (), 0

    return find


GRAPHS: dict[str, Find] = {
    "pcd-published": finder_of_published(make_rcit),
    "kendall-published": finder_of_published(make_kendall, max_order=0),  # given anything, it keeps every edge
    **{name: finder_of(name) for name in ("pcd", "moments") if name in METHODS},
}
"""Methods by name: one line each."""


def perform(task: Task, sachs: Path | None = None, edges: Path | None = None, epsilons: Sequence[float] = ()) -> Record:
    """Draw rows, do a run, and return all that tables and charts are made of."""
    sample = sample_of(task, sachs, edges)
    tried = [*epsilons, math.inf] if task.method.endswith("-published") else list(epsilons)
    record: Record = {"task": task.to_dict(), "epsilons": tried}
    start = perf_counter()
    if task.part == "tests":
        told = TESTS[task.method](sample, tried, task.seed)
        record["wrong"] = [p if task.dependent else 1 - p for p in told]
    else:
        true = sample.truth.skeleton
        found = list(GRAPHS[task.method](sample, tried, task.seed))
        record["right"] = [len(true.intersection(pairs)) for pairs, _ in found]
        record["found"] = [len(pairs) for pairs, _ in found]
        record["tests"] = [tests for _, tests in found]
        record["true"] = len(true)
    return {**record, "seconds": perf_counter() - start}


def check_plan(rows: Sequence[int], epsilons: Sequence[float], runs: int) -> None:
    """Refuse what cannot be run."""
    if runs < 1 or any(n < 50 for n in rows):
        raise SettingError("runs, rows: at least 1, and 50")
    if not epsilons or not all(0 < epsilon <= 500 for epsilon in epsilons):
        raise SettingError("epsilons: numbers above 0, with commas between them")


def plan(
    parts: Sequence[Part],
    models: Sequence[str],
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
    if unknown := [name for name in models if name not in MODELS]:
        raise SettingError(f"models: {unknown[0]!r} is not one of {', '.join(MODELS)}")
    check_plan(rows, epsilons, 1 if runs is None else runs)
    of_tests = [name for name in TESTS if name in (methods or TESTS)]
    of_graphs = [name for name in GRAPHS if name in (methods or GRAPHS)]
    planned: list[Task] = []
    for model in models:
        if "tests" in parts:
            planned += plan_tests(model, of_tests, rows or TEST_ROWS, runs or 100)
        if "graphs" in parts:
            planned += plan_graphs(model, of_graphs, networks, rows or GRAPH_ROWS, runs or 25)
    if "sachs" in parts and sachs is not None and edges is not None:
        planned += plan_sachs(of_graphs, runs or 10, min([read_sachs(sachs, edges).domain.rows, *rows]))
    return planned


def plan_tests(model: str, methods: Sequence[str], rows: Sequence[int], runs: int) -> list[Task]:
    """Return the runs of Figure 1: fresh models and rows, independent and dependent."""
    return [
        Task("tests", model, subject, method, n, seed, dependent)
        for subject, given in SUBJECTS[model].items()
        for n in rows
        for method in methods
        if max(given) <= MOST_GIVEN.get(method, max(given))
        for seed in range(runs)
        for dependent in (False, True)
    ]


def plan_graphs(
    model: str, methods: Sequence[str], networks: Sequence[str], rows: Sequence[int], runs: int
) -> list[Task]:
    """Return the runs of Figure 2: fresh models and rows for each seed, the same for all methods."""
    planned = []
    for name in networks:
        for method in methods:
            slow = method == "pcd-published" and len(network(name).nodes) > WIDE
            sizes = [n for n in rows if n <= WIDE_ROWS] if slow else rows
            most = min(WIDE_RUNS, runs) if slow else runs
            planned += [Task("graphs", model, name, method, n, seed) for n in sizes for seed in range(most)]
    return planned


def plan_sachs(methods: Sequence[str], runs: int, rows: int) -> list[Task]:
    """Return the runs of Figure 3: the same rows, fresh noise; RCIT, which takes long, once."""
    return [
        Task("sachs", "measured", "sachs", method, rows, seed)
        for method in methods
        for seed in range(1 if method == "pcd-published" else runs)
    ]


def sample_of(task: Task, sachs: Path | None = None, edges: Path | None = None) -> Sample:
    """Return the rows of a run; the same for all methods and epsilons."""
    if task.part == "sachs":
        return _take(read_sachs(sachs or Path(), edges or Path()), task.rows)
    of_model, of_rows = np.random.default_rng([task.seed, 17]), np.random.default_rng([task.seed, task.rows, 19])
    if task.part == "tests" and task.model == "printed":
        return printed_test(task.subject, task.rows, of_model, of_rows, dependent=task.dependent)
    net = network(task.subject) if task.part == "graphs" else graph_to_test(_given(task), dependent=task.dependent)
    model = (nonlinear_as_printed if task.model == "printed" else nonlinear)(net, of_model)
    return Sample(model.sample(task.rows, of_rows), model.domain(task.rows), model.dag)


def _given(task: Task) -> int:
    return SUBJECTS[task.model][task.subject][task.dependent]


def printed_test(
    subject: str, rows: int, of_model: np.random.Generator, of_rows: np.random.Generator, *, dependent: bool
) -> Sample:
    """Return rows of Figure 1 as printed, the question being x and y given all other columns.

    Five causes z between -1/2 and 1/2; x and y are sin(sum of z) + c noise with c between 1/2 and 1. Conditional: given
    all five x and y are independent, given four they are not. Else: z1 and z2 are independent, x and y are not.
    """
    causes = of_rows.uniform(-0.5, 0.5, (5, rows))
    x, y = (np.sin(causes.sum(axis=0)) + c * of_rows.uniform(-0.5, 0.5, rows) for c in of_model.uniform(0.5, 1, 2))
    if subject == "independence" and not dependent:
        x, y = causes[:2]
    given = SUBJECTS["printed"][subject][dependent]
    values = {"x": x, "y": y, **{f"z{i + 1}": causes[i] for i in range(given)}}
    domain = Domain({name: Numeric(bounds=(-2.0, 2.0)) for name in values}, rows=rows)
    return Sample(values, domain, Graph(tuple(values)))


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
