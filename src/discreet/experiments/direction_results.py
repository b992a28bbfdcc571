"""What the runs of the experiment on directions come to: a table of pairs, one of simulations, two figures, charts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from discreet.experiments.direction import HOWS, How, chance
from discreet.experiments.direction_plan import BUDGETS, RIDGE, SCORES, SWEEP, Task
from discreet.experiments.harness import Record, write_csv, write_text
from discreet.report.charts import Axis, Line, Point, panels

Row = dict[str, str | int | float]
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
MANY = 1000
PROTECTED: dict[How, str] = {
    "none": "no privacy",
    "test-published": "test half, as published",
    "test": "test half, as proved here",
    "training-published": "training half, as published",
    "training": "training half, as proved here",
    "all": "all rows",
}


def published(pair: str, score: str, epsilon: float) -> float | None:
    """Return a number of the paper's Table 2."""
    return PUBLISHED[score, epsilon][IDS.index(pair)] if pair in IDS and (score, epsilon) in PUBLISHED else None


def gathered(results: Results, epsilons: Sequence[float], ridge: float = RIDGE) -> Chances:
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


def told(chances: Chances, key: tuple[str, float, How]) -> tuple[float | str, float | str]:
    """Return the mean over pairs and its standard error, over pairs or over the runs of a single one."""
    by_pair = chances.get(key, {})
    if not by_pair:
        return "", ""
    values = np.array([np.mean(v) for v in by_pair.values()] if len(by_pair) > 1 else next(iter(by_pair.values())))
    error = float(values.std(ddof=1)) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return round(float(values.mean()), 4), round(error, 4)


def _lines(results: Results, epsilons: Sequence[float], head: Row, pair: str = "") -> Iterator[Row]:
    """Yield a line a score and epsilon, the last of them infinite: without privacy."""
    chances = gathered(results, [*epsilons, math.inf])
    count = len({(task.pair, task.seed) for task in results})
    for score in SCORES:
        for epsilon in (*epsilons, math.inf):
            paper = published(pair, score, epsilon)
            line: Row = {**head, "score": score, "epsilon": epsilon, "published": "" if paper is None else paper}
            for how in HOWS:
                shown = math.isinf(epsilon) == (how == "none")
                name = how.replace("-", "_")
                line[name], line[f"{name}_error"] = told(chances, (score, epsilon, how)) if shown else ("", "")
            yield {**line, "runs": count}


def of(results: Results, data: str, rows: int | None = None, pair: str | None = None) -> dict[Task, Record]:
    """Return some of the runs."""
    return {
        task: record
        for task, record in results.items()
        if task.data == data and rows in (None, task.rows) and pair in (None, task.pair)
    }


def table2(results: Results, epsilons: Sequence[float]) -> list[Row]:
    """Return Table 2: all pairs together, those with many rows, then each pair."""
    looked_at = of(results, "pairs")
    large = {task: record for task, record in looked_at.items() if task.rows >= MANY}
    lines = list(_lines(looked_at, epsilons, {"pair": "all", "rows": ""})) if looked_at else []
    if large:
        lines += _lines(large, epsilons, {"pair": f"all of {MANY} rows or more", "rows": ""})
    for name, rows in dict.fromkeys((task.pair, task.rows) for task in looked_at):
        lines += _lines(of(looked_at, "pairs", pair=name), epsilons, {"pair": name, "rows": rows}, pair=name)
    return lines


def simulations(results: Results, epsilons: Sequence[float]) -> list[Row]:
    """Return the share of simulated pairs whose direction is found, by rows."""
    lines: list[Row] = []
    for rows in _rows(results):
        lines += _lines(of(results, "simulated", rows), epsilons, {"rows": rows})
    return lines


def _rows(results: Results) -> list[int]:
    return sorted({task.rows for task in results if task.data == "simulated"})


def sources(results: Results) -> dict[str, dict[Task, Record]]:
    """Return the runs by what a chart is made of: simulated pairs of one size, or the given ones."""
    found = {f"simulated-{rows}": of(results, "simulated", rows) for rows in _rows(results)}
    pairs = of(results, "pairs")
    return {**found, **({"pairs": pairs} if pairs else {})}


def figure1(results: Results) -> list[Row]:
    """Return the numbers of Figure 1: the probability of the right direction against epsilon."""
    return [
        line
        for source, members in sources(results).items()
        for line in _figure_lines(source, gathered(members, BUDGETS), "epsilon", {e: e for e in BUDGETS}, HOWS)
    ]


def figure2(results: Results) -> list[Row]:
    """Return the numbers of Figure 2: the probability of the right direction against the ridge, at epsilon 1."""
    lines: list[Row] = []
    for source, members in sources(results).items():
        for ridge in SWEEP:
            chances = gathered(members, [FIGURE_EPSILON], ridge)
            lines += _figure_lines(source, chances, "ridge", {ridge: FIGURE_EPSILON}, HOWS[:-1])
    return lines


def _figure_lines(
    source: str, chances: Chances, across: str, places: Mapping[float, float], hows: Iterable[How]
) -> Iterator[Row]:
    for score in SCORES:
        for how in hows:
            for place, epsilon in places.items():
                mean, error = told(chances, (score, epsilon, how))
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
        inside: dict[str, dict[str, list[Point]]] = {}
        members = [line for line in lines if line["data"] == source]
        for line in members:
            how, at = str(line["protects"]), float(line[across])
            if across == "epsilon" and how == "none" and at != BUDGETS[0]:
                continue
            point = (at, float(line["right"]), float(line["error"]))
            inside.setdefault(str(line["score"]), {}).setdefault(how, []).append(point)
        count = max(int(line["pairs"]) for line in members)
        words = f"{_named(source, count)}; bands of one standard error"
        words += f", ridge {RIDGE:g}" if across == "epsilon" else f", epsilon {FIGURE_EPSILON:g}"
        title = f"Probability of the right direction against {'epsilon' if across == 'epsilon' else 'the ridge'}"
        result[f"{figure}-{source}.svg"] = panels(title, words, x, y, STYLES, inside)
    return result


def _named(source: str, count: int) -> str:
    if source == "pairs":
        return f"{count} cause-effect pairs, scaled by their own ranges"
    return f"{count} simulated pairs of {int(source.split('-')[1]):,} rows"


def write_all(out: Path, results: Results, epsilons: Sequence[float], *, figures: bool) -> list[str]:
    """Write the tables and charts that the runs allow, and return the names of the files."""
    tables = {"table2.csv": table2(results, epsilons), "simulated.csv": simulations(results, epsilons)}
    drawn: dict[str, str] = {}
    if figures:
        first, second = figure1(results), figure2(results)
        tables |= {"figure1.csv": first, "figure2.csv": second}
        drawn = {**charts(first, "epsilon", "figure1"), **charts(second, "ridge", "figure2")}
    tables = {name: lines for name, lines in tables.items() if lines}
    for name, lines in tables.items():
        write_csv(out / name, lines)
    for name, chart in drawn.items():
        write_text(out / name, chart)
    return [*tables, *drawn]


def as_text(lines: Sequence[Row]) -> Iterator[str]:
    """Yield what all pairs together come to, as a Markdown table."""
    yield "| pairs | score | epsilon | " + " | ".join(PROTECTED[how] for how in HOWS) + " |"
    yield "|---" * (3 + len(HOWS)) + "|"
    for line in lines:
        pairs = line.get("pair") or f"simulated, {int(line['rows']):,} rows"
        cells = []
        for how in HOWS:
            name = how.replace("-", "_")
            cells.append("" if line[name] == "" else f"{line[name]:.3f} ({line[f'{name}_error']:.3f})")
        yield f"| {pairs} | {line['score']} | {line['epsilon']:g} | " + " | ".join(cells) + " |"
