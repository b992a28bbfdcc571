"""Kusner, Sun, Sridharan, Weinberger 2016 (*Private causal inference*), measured again.

The direction of cause between two columns, with noise that protects one half of the rows as published and as repaired,
which is NOT PRIVATE as a whole, and with this library's, which protects all rows. The probability that noise leaves a
direction alone is computed, not drawn, except where all rows are protected.
"""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from discreet.arrays import FloatArray
from discreet.baselines.published.direction import (
    CLAIMED,
    PRINTED,
    RANKS,
    SPENT,
    HalfSettings,
    Sensitivities,
    fit_halves,
    steps_to_instability,
)
from discreet.baselines.published.iqr import Spread, laplace_tail
from discreet.data.memory import MemoryTable
from discreet.domain import Domain
from discreet.domain.columns import Numeric
from discreet.errors import SettingError, TableError
from discreet.experiments import harness
from discreet.experiments.harness import Cell, Record, Row, markdown, points_by, summarize, write_files
from discreet.methods.direction import direction_in
from discreet.privacy.budget import Budget
from discreet.report.charts import Axis, Line, panels
from discreet.room import Room
from discreet.statistics.curves import UNIT, Scaled

DELTA = 1e-6
SCORES = ("spearman", "kendall", "hsic", "root-hsic", "reci", "iqr")
RIDGE, WIDTH = 1e-3, 0.5
"""Of the fits and kernels, on a scale from -1 to 1. The paper chose them pair by pair; here they are public."""

SWEEP = tuple(float(f"{10 ** (k / 2):.3g}") for k in range(-10, 1))
"""Ridges along Figure 2."""

BUDGETS = tuple(float(f"{10 ** (k / 4):.3g}") for k in range(-4, 9))
"""Epsilons along Figure 1; every second one where each needs a run of its own."""

FEWEST_ROWS = 20
"""Pairs with fewer rows are left out."""

LARGEST_EXPONENT = 700.0
"""Beyond this, e to minus a number is 0 for all that is shown."""

Data = Literal["simulated", "pairs"]
Kind = Literal["halves", "private"]
Part = Literal["table", "figures"]

How = Literal["none", "test-published", "test", "training-published", "training", "all"]
HOWS: tuple[How, ...] = ("none", "test-published", "test", "training-published", "training", "all")
"""What is protected, and how: as published with two draws of noise, else with one and the proved sensitivity."""

HEADER = ["pair", "x", "y", "direction"]
FORWARD, BACKWARD = "x->y", "y->x"


@dataclass(frozen=True)
class Task(harness.Task):
    """One run. The setting is the ridge of fits on halves, or the epsilon for all rows."""

    common: ClassVar[Record] = {"width": WIDTH}
    kind: Kind
    data: Data
    pair: str
    rows: int
    seed: int
    setting: float


@dataclass(frozen=True)
class CausePair:
    """Two columns of numbers of which one is known to cause the other."""

    x: FloatArray
    y: FloatArray
    forward: bool


def plan(
    parts: Sequence[Part],
    number: int,
    rows: Sequence[int],
    epsilons: Sequence[float],
    runs: int,
    pairs: Path | None,
) -> list[Task]:
    """Return all runs: simulated pairs once each, given ones with fresh halves and noise in each run."""
    if runs < 1 or number < 0 or any(n < FEWEST_ROWS for n in rows):
        raise SettingError(f"runs, number, rows: at least 1, 0, and {FEWEST_ROWS}")
    if not epsilons or not all(0 < epsilon < np.inf for epsilon in epsilons):
        raise SettingError("epsilons: numbers above 0, with commas between them")
    settings: dict[tuple[Kind, float], None] = {("halves", RIDGE): None}
    if "table" in parts:
        settings |= {("private", epsilon): None for epsilon in epsilons}
    if "figures" in parts:
        settings |= {("private", epsilon): None for epsilon in BUDGETS[::2]}
        settings |= {("halves", ridge): None for ridge in SWEEP}
    looked_at: list[tuple[Data, str, int, int]] = [("simulated", str(i), n, 0) for n in rows for i in range(number)]
    if pairs is not None:
        sizes = {name: len(pair.x) for name, pair in read_pairs(pairs).items()}
        looked_at += [("pairs", name, size, seed) for name, size in sizes.items() for seed in range(runs)]
    return [Task(kind, *at, setting) for at in looked_at for kind, setting in settings]


def simulate(number: int, rows: int) -> CausePair:
    """Return a simulated pair with additive noise: three functions, two laws of noise, and both orders in turn."""
    rng = np.random.default_rng([number, rows, 11])
    x = rng.uniform(-1, 1, rows)
    f = (np.tanh(2 * x) / np.tanh(2), x**3, np.sin(2 * x))[number % 3]
    noise = rng.uniform(-0.2, 0.2, rows) if number // 3 % 2 else rng.normal(0, 0.1, rows)
    y = np.clip(0.8 * f + noise, -1, 1)
    return CausePair(y, x, forward=False) if number // 6 % 2 else CausePair(x, y, forward=True)


@cache
def read_pairs(path: Path) -> dict[str, CausePair]:
    """Return the pairs of a file: lines of a name, two columns of numbers with blanks between, and the direction.

    NOT PRIVATE: each column is scaled by the range that all but one percent of its own values lie in.
    """
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            lines = [line.rstrip("\n").split(",") for line in file]
        if not lines or lines[0] != HEADER:
            raise ValueError
        found = {name: _read_pair(x, y, direction) for name, x, y, direction in lines[1:]}
    except (OSError, ValueError, EOFError):
        raise TableError(
            f"pairs: expected a CSV file with the columns {', '.join(HEADER)}: numbers with blanks between them, and "
            f"{FORWARD} or {BACKWARD}"
        ) from None
    return {name: pair for name, pair in found.items() if len(pair.x) >= FEWEST_ROWS}


def _read_pair(x: str, y: str, direction: str) -> CausePair:
    first, second = (rescale(np.array([float(number) for number in text.split()])) for text in (x, y))
    if direction not in (FORWARD, BACKWARD) or len(first) != len(second):
        raise ValueError
    return CausePair(first, second, forward=direction == FORWARD)


def rescale(values: FloatArray) -> FloatArray:
    """NOT PRIVATE: put the middle 99 percent of values on a scale from -1 to 1, and the others at its ends."""
    if not len(values):
        return values
    low, high = np.quantile(values, (0.005, 0.995))
    if not high > low:
        return np.zeros(len(values))
    found: FloatArray = np.clip(2 * (values - low) / (high - low) - 1, -1, 1)
    return found


def chance_unflipped(t: float, draws: int) -> float:
    """Return the probability that Laplace noise leaves a sign alone.

    ``t`` is the size of a difference of scores over the scale of each draw, of which 1, 2 (Theorem 2 of the paper) or 4
    (Theorem 4) are added to it.

    Proof
    -----
    A sum of draws is symmetric, so the sign turns with the probability of a sum above t. Densities of one, two and four
    draws of scale 1 are e^-t times 1/2, (1 + t)/4 and (15 + 15 t + 6 t^2 + t^3)/96 for t >= 0; their integrals from t
    on are e^-t times 1/2, (2 + t)/4 and (48 + 33 t + 9 t^2 + t^3)/96.
    """
    if t >= LARGEST_EXPONENT:
        return 1.0
    turned = {1: 1 / 2, 2: (2 + t) / 4, 4: (48 + 33 * t + 9 * t**2 + t**3) / 96}
    return 1 - turned[draws] * math.exp(-t)


def chance_right(margin: float | None, scale: float, draws: int) -> float:
    """Return the probability that the noisy difference tells the truth; above 0 it does without noise."""
    if not margin:
        return 0.5
    kept = chance_unflipped(abs(margin) / scale, draws) if scale else 1.0
    return kept if margin > 0 else 1 - kept


def perform(task: Task, pairs: Path | None = None) -> Record:
    """Look at one pair, and return all that tables and charts are made of. Margins above 0 are right."""
    pair = simulate(int(task.pair), task.rows) if task.data == "simulated" else read_pairs(pairs or Path())[task.pair]
    look = _look_at_halves if task.kind == "halves" else _look_privately
    return {"task": task.to_dict(), **look(task, pair)}


def encode(pair: CausePair) -> tuple[MemoryTable, Domain]:
    """Return a pair as a table, with bounds -1 and 1."""
    domain = Domain({name: Numeric(bounds=(-1.0, 1.0)) for name in ("x", "y")}, rows=len(pair.x))
    sizes = {name: domain.size(name) for name in domain}

    def codes(values: FloatArray, levels: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint16]]:
        return np.minimum((values + 1) / 2 * levels, levels - 1).astype(np.uint16)

    return MemoryTable({"x": codes(pair.x, sizes["x"]), "y": codes(pair.y, sizes["y"])}, sizes), domain


def _look_privately(task: Task, pair: CausePair) -> Record:
    table, domain = encode(pair)
    margins = {}
    for score in SCORES:
        room = Room(table, domain, Budget(epsilon=task.setting, delta=0.0))
        margins[score] = _towards(pair, direction_in(room, ("x", "y"), score=score, sure=0.5).pairs[0].margin)
    return {"margins": margins}


def _look_at_halves(task: Task, pair: CausePair) -> Record:
    """NOT PRIVATE: return exact scores of random halves."""
    table, domain = encode(pair)
    x, y = (codes / UNIT for codes in Scaled.of("x", "y", domain).values(table))
    found = fit_halves(x, y, WIDTH, task.setting, np.random.default_rng([task.seed, task.rows, 13]))
    margins = {}
    for score in SCORES:
        forward, backward = found.scores(score, WIDTH)
        margins[score] = _towards(pair, backward - forward)
    spreads = {
        source: [[spread.log, *spread.steps] for spread in found.spreads(printed=source == "paper")]
        for source in ("paper", "proved")
    }
    return {"margins": margins, "test": found.rows, "train": found.train, "gap": found.gap(), "spreads": spreads}


def _towards(pair: CausePair, margin: float) -> float | None:
    return None if math.isnan(margin) else margin if pair.forward else -margin


def chance(record: Record, score: str, how: How, epsilon: float, ridge: float = RIDGE) -> float | None:
    """Return the probability of the right direction, a coin being thrown where none is told; None where unknown.

    An infinite epsilon is no privacy.
    """
    margin = record["margins"][score]
    if how in ("none", "all") or math.isinf(epsilon):
        return chance_right(margin, 0.0, 1)
    source: Sensitivities = "paper" if how.endswith("published") else "proved"
    if source == "paper" and score not in PRINTED:
        return None
    if score == "iqr":
        return _chance_by_spreads(record, source, epsilon) if how.startswith("test") else None
    half: Literal["test half", "training half"] = "test half" if how.startswith("test") else "training half"
    if half == "training half" and score in RANKS:
        steps = steps_to_instability(record["gap"], record["train"], ridge, source)
        told = laplace_tail(math.log(1 / DELTA) / epsilon - steps, epsilon)
        return told * chance_right(margin, 0.0, 1) + (1 - told) / 2
    draws = 2 if source == "paper" else 1
    settings = HalfSettings(half, score, epsilon, DELTA, source, draws, WIDTH, ridge)
    return chance_right(margin, settings.scale(record["test"], record["train"]), draws)


def _chance_by_spreads(record: Record, source: Sensitivities, epsilon: float) -> float:
    parts, deltas = CLAIMED if source == "paper" else SPENT
    each = epsilon / parts
    told = 1.0
    for log, *steps in record["spreads"][source]:
        told *= Spread(log, (steps[0], steps[1]), source == "paper").answer_probability(each, DELTA / deltas)
    return told * chance_right(record["margins"]["iqr"], 1 / each, 4) + (1 - told) / 2


Results = Mapping[Task, Record]
Chances = dict[tuple[str, float, How], dict[str, list[float]]]
"""By score, epsilon and what is protected: probabilities of the right direction, by pair."""

IDS = ("4031", "597", "2209", "2967", "161", "2132", "1656", "901", "3484", "1627")
PUBLISHED = {
    ("spearman", math.inf): (0.50, 0.00, 0.00, 0.70, 0.90, 1.0, 0.00, 0.30, 0.00, 1.0),
    ("kendall", math.inf): (0.50, 0.00, 0.00, 0.70, 0.80, 1.0, 0.00, 0.80, 0.00, 1.0),
    ("hsic", math.inf): (1.0, 0.00, 1.0, 1.0, 0.70, 0.60, 1.0, 0.40, 1.0, 0.10),
    ("iqr", math.inf): (0.50, 0.00, 0.10, 1.0, 1.0, 1.0, 0.00, 0.90, 0.00, 1.0),
    ("spearman", 1.0): (0.50, 0.00, 0.00, 0.69, 0.91, 1.0, 0.06, 0.30, 0.00, 1.0),
    ("kendall", 1.0): (0.50, 0.00, 0.00, 0.70, 0.81, 1.0, 0.00, 0.80, 0.00, 1.0),
    ("hsic", 1.0): (0.85, 0.39, 0.98, 0.52, 0.55, 0.50, 0.66, 0.21, 1.0, 0.49),
    ("iqr", 1.0): (0.54, 0.48, 0.49, 0.52, 0.58, 0.51, 0.48, 0.50, 0.47, 0.51),
}
"""The paper's Table 2, one number a pair of the Kaggle cause-effect challenge, which is not to be had any more."""

FIGURE_EPSILON = 1.0
MANY_ROWS = 1000
PROTECTED: dict[How, str] = {
    "none": "no privacy",
    "test-published": "test half, as published",
    "test": "test half, as proved here",
    "training-published": "training half, as published",
    "training": "training half, as proved here",
    "all": "all rows",
}


def published_chance(pair: str, score: str, epsilon: float) -> float | None:
    """Return a number of the paper's Table 2."""
    return PUBLISHED[score, epsilon][IDS.index(pair)] if pair in IDS and (score, epsilon) in PUBLISHED else None


def gather(results: Results, epsilons: Sequence[float], ridge: float = RIDGE) -> Chances:
    """Return the probabilities of the right direction, from runs on halves with one ridge and runs on all rows."""
    found: Chances = {}
    for task, record in results.items():
        if task.kind == "private":
            wanted: list[tuple[float, How]] = [(task.setting, "all")] if task.setting in epsilons else []
        else:
            wanted = [(e, how) for e in epsilons for how in HOWS if how != "all"] if task.setting == ridge else []
        for score in SCORES:
            for epsilon, how in wanted:
                value = chance(record, score, how, epsilon, ridge)
                if value is not None:
                    found.setdefault((score, epsilon, how), {}).setdefault(task.pair, []).append(value)
    return found


def _summarize(chances: Chances, key: tuple[str, float, How]) -> tuple[Cell, Cell]:
    """Return the mean over pairs and its standard error, over pairs or over the runs of a single one."""
    by_pair = list(chances.get(key, {}).values())
    mean, error, _ = summarize(by_pair[0] if len(by_pair) == 1 else [float(np.mean(v)) for v in by_pair])
    return mean, error


def _lines(results: Results, epsilons: Sequence[float], head: Row, pair: str = "") -> Iterator[Row]:
    """Yield a line a score and epsilon, the last of them infinite: without privacy."""
    chances = gather(results, [*epsilons, math.inf])
    count = len({(task.pair, task.seed) for task in results})
    for score in SCORES:
        for epsilon in (*epsilons, math.inf):
            paper = published_chance(pair, score, epsilon)
            line: Row = {**head, "score": score, "epsilon": epsilon, "published": "" if paper is None else paper}
            for how in HOWS:
                shown = math.isinf(epsilon) == (how == "none")
                name = how.replace("-", "_")
                line[name], line[f"{name}_error"] = _summarize(chances, (score, epsilon, how)) if shown else ("", "")
            yield {**line, "runs": count}


def select(results: Results, data: str, rows: int | None = None, pair: str | None = None) -> dict[Task, Record]:
    """Return some of the runs."""
    return {
        task: record
        for task, record in results.items()
        if task.data == data and rows in (None, task.rows) and pair in (None, task.pair)
    }


def table2(results: Results, epsilons: Sequence[float]) -> list[Row]:
    """Return Table 2: all pairs together, those with many rows, then each pair."""
    looked_at = select(results, "pairs")
    large = {task: record for task, record in looked_at.items() if task.rows >= MANY_ROWS}
    lines = list(_lines(looked_at, epsilons, {"pair": "all", "rows": ""})) if looked_at else []
    if large:
        lines += _lines(large, epsilons, {"pair": f"all of {MANY_ROWS} rows or more", "rows": ""})
    for name, rows in dict.fromkeys((task.pair, task.rows) for task in looked_at):
        lines += _lines(select(looked_at, "pairs", pair=name), epsilons, {"pair": name, "rows": rows}, pair=name)
    return lines


def simulations(results: Results, epsilons: Sequence[float]) -> list[Row]:
    """Return the share of simulated pairs whose direction is found, by rows."""
    lines: list[Row] = []
    for rows in _rows(results):
        lines += _lines(select(results, "simulated", rows), epsilons, {"rows": rows})
    return lines


def _rows(results: Results) -> list[int]:
    return sorted({task.rows for task in results if task.data == "simulated"})


def sources(results: Results) -> dict[str, dict[Task, Record]]:
    """Return the runs by what a chart is made of: simulated pairs of one size, or the given ones."""
    found = {f"simulated-{rows}": select(results, "simulated", rows) for rows in _rows(results)}
    pairs = select(results, "pairs")
    return {**found, **({"pairs": pairs} if pairs else {})}


def figure1(results: Results) -> list[Row]:
    """Return the numbers of Figure 1: the probability of the right direction against epsilon."""
    return [
        line
        for source, members in sources(results).items()
        for line in _figure_lines(source, gather(members, BUDGETS), "epsilon", {e: e for e in BUDGETS}, HOWS)
    ]


def figure2(results: Results) -> list[Row]:
    """Return the numbers of Figure 2: the probability of the right direction against the ridge, at epsilon 1."""
    lines: list[Row] = []
    for source, members in sources(results).items():
        for ridge in SWEEP:
            chances = gather(members, [FIGURE_EPSILON], ridge)
            lines += _figure_lines(source, chances, "ridge", {ridge: FIGURE_EPSILON}, HOWS[:-1])
    return lines


def _figure_lines(
    source: str, chances: Chances, across: str, places: Mapping[float, float], hows: Iterable[How]
) -> Iterator[Row]:
    for score in SCORES:
        for how in hows:
            for place, epsilon in places.items():
                mean, error = _summarize(chances, (score, epsilon, how))
                if mean != "":
                    count = len(chances[score, epsilon, how])
                    line: Row = {"data": source, "score": score, "protects": how, across: place}
                    yield {**line, "published": "", "right": mean, "error": error, "pairs": count}


STYLES = {
    "training-published": Line("as published", "protects the training half", "#c9a227", "10 5", 2.2),
    "training": Line("as proved here", "protects the training half", "#ccbb44", width=3.4),
    "test-published": Line("as published", "protects the test half", "#777777", "10 5", 2.2),
    "test": Line("as proved here", "protects the test half", "#228833", width=3.0),
    "all": Line("discreet direction", "protects all rows", "#4477aa", width=2.6),
    "none": Line("exact halves", "no privacy", "#222222", "1.5 4", 1.8),
}


def charts(lines: Sequence[Row], across: str, figure: str) -> dict[str, str]:
    """Return one chart of six panels for each source."""
    x = {
        "epsilon": Axis("epsilon", BUDGETS[0], BUDGETS[-1], (0.1, 1, 10, 100), log=True),
        "ridge": Axis("ridge (lambda) of the fits", SWEEP[0], SWEEP[-1], (1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1), log=True),
    }[across]
    y = Axis("right", 0, 1, (0, 0.25, 0.5, 0.75, 1))
    result = {}
    for source in dict.fromkeys(str(line["data"]) for line in lines):
        members = [line for line in lines if line["data"] == source]
        if across == "epsilon":  # without privacy there is one number, drawn level
            drawn = [line for line in members if line["protects"] != "none" or line[across] == BUDGETS[0]]
        else:
            drawn = members
        count = max(int(line["pairs"]) for line in members)
        words = f"{_describe(source, count)}; bands of one standard error"
        words += f", ridge {RIDGE:g}" if across == "epsilon" else f", epsilon {FIGURE_EPSILON:g}"
        title = f"Probability of the right direction against {'epsilon' if across == 'epsilon' else 'the ridge'}"
        inside = points_by(drawn, "score", across, "right", name="protects", spread="error")
        result[f"{figure}-{source}.svg"] = panels(title, words, x, y, STYLES, inside)
    return result


def _describe(source: str, count: int) -> str:
    if source == "pairs":
        return f"{count} cause-effect pairs, scaled by their own ranges"
    return f"{count} simulated pairs of {int(source.split('-')[1]):,} rows"


def write_all(out: Path, results: Results, epsilons: Sequence[float], *, figures: bool) -> list[str]:
    """Write the tables and charts that the runs allow, and return the names of the files."""
    files: dict[str, list[Row] | str] = {
        "table2.csv": table2(results, epsilons),
        "simulated.csv": simulations(results, epsilons),
    }
    if figures:
        first, second = figure1(results), figure2(results)
        files |= {"figure1.csv": first, "figure2.csv": second}
        files |= {**charts(first, "epsilon", "figure1"), **charts(second, "ridge", "figure2")}
    return write_files(out, files)


def as_text(lines: Sequence[Row]) -> Iterator[str]:
    """Yield what all pairs together come to, as a Markdown table."""
    rows = []
    for line in lines:
        pairs = line.get("pair") or f"simulated, {int(line['rows']):,} rows"
        shown = [(line[name], line[f"{name}_error"]) for name in (how.replace("-", "_") for how in HOWS)]
        cells = ["" if mean == "" else f"{mean:.3f} ({error:.3f})" for mean, error in shown]
        rows.append([pairs, line["score"], f"{line['epsilon']:g}", *cells])
    return markdown(["pairs", "score", "epsilon", *(PROTECTED[how] for how in HOWS)], rows)
