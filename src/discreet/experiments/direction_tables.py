"""Tables and charts of the experiment on directions: Tables 1 and 2, Figures 1 and 2, and how often there is no answer.

Where a column or a line is about noise, its name says whether epsilon is that of each score, as printed, or the total.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

import numpy as np

from discreet.baselines.published.direction import PRINTED, SCORES
from discreet.experiments.direction import (
    BUDGETS,
    COLUMNS,
    RIDGE,
    SWEEP,
    WAYS,
    Results,
    Task,
    Way,
    answer_probability,
    chance,
)
from discreet.experiments.direction_printed import CHANCES, MARKS, SIZES, printed_chance
from discreet.experiments.harness import Cell, Record, Row, group_by, markdown, points_by, summarize, write_files
from discreet.report.charts import Axis, Line, panels

Chances = dict[tuple[str, float, str], dict[str, list[float]]]
"""By score, epsilon and column: probabilities of the right direction, by pair."""

HALF_ROWS = 3_900
"""Rows of each half for the bounds of Table 1, about as many as in the paper's."""

MANY_ROWS = 1000
LARGEST = 10
"""Pairs shown as in Table 2."""

PANELS = (0.1, 1.0, 2.0)
"""Epsilons of Figure 2."""

BEST = tuple(epsilon for epsilon in BUDGETS if epsilon <= 10)
DELTAS = (1e-5, 1e-4, 1e-3, 1e-2)
RARE = 1e-4
"""The paper saw none of 10,000 draws without an answer."""

TEST = (
    "none",
    "test_published_per_score",
    "test_published_total",
    "test_proved_total",
    "both_proved_total",
    "all_total",
)
TRAINING = ("none", *(name for name in WAYS if name.startswith("training")), "both_proved_total")
SMOOTH = ("hsic", "root-hsic", "reci")
"""Scores with noise for the training half."""


def words_of(column: str) -> str:
    """Return the heading of a column."""
    if column in WAYS:
        way = WAYS[column]
        source = "as published" if way.sensitivities == "paper" else "as proved here"
        return f"{way.protects} {source}, epsilon {way.epsilon_is}"
    return {"none": "no privacy", "all_total": "all rows, epsilon total"}[column]


def table1() -> list[Row]:
    """Return Table 1: its marks, and from the code which global bounds are below a score's range, and all of them.

    Bounds are for a ridge of 1, the best case. Where there is none, stability on the rows at hand is tested.
    """
    lines: list[Row] = []
    for (score, half), marks in MARKS.items():
        line: Row = {"score": score, "half": half}
        line |= {f"{kind}_printed": "yes" if kind in marks else "no" for kind in ("global", "local")}
        line["range"] = {"hsic": 0.25, "iqr": math.inf}.get(score, 1.0)
        for name, way in (("published", Way(half, "paper", "total")), ("proved", Way(half, "proved", "total"))):
            settings = way.settings(score, 1.0, 1.0)
            bound = math.inf if score == "iqr" else settings.change(HALF_ROWS, HALF_ROWS)
            line[f"bound_{name}"] = float(f"{bound:.3g}")
            line[f"global_{name}"] = "yes" if bound < float(line["range"]) else "no"
            line["mechanism"] = settings.mechanism
        lines.append(line)
    return lines


def gather(
    results: Results,
    epsilons: Sequence[float],
    columns: Sequence[str] = COLUMNS,
    ridge: float = RIDGE,
    scores: Sequence[str] = SCORES,
) -> Chances:
    """Return the probabilities of the right direction, from runs on halves with one ridge and runs on all rows."""
    found: Chances = {}
    for task, record in results.items():
        if task.kind == "private":
            wanted = [(task.setting, "all_total")] if task.setting in epsilons and "all_total" in columns else []
        else:
            wanted = [(e, name) for e in epsilons for name in columns if name != "all_total" and task.setting == ridge]
        for score in scores:
            for epsilon, name in wanted:
                value = chance(record, score, name, epsilon, ridge)
                if value is not None:
                    found.setdefault((score, epsilon, name), {}).setdefault(task.pair, []).append(value)
    return found


def _over_pairs(by_pair: Mapping[str, Sequence[float]]) -> tuple[Cell, Cell]:
    """Return the mean over pairs and its standard error."""
    mean, error, _ = summarize([float(np.mean(values)) for values in by_pair.values()])
    return mean, error


def _over_halves(by_pair: Mapping[str, Sequence[float]]) -> tuple[Cell, Cell]:
    """Return the mean over the halves of a single pair and their deviation."""
    mean, _, deviation = summarize([value for values in by_pair.values() for value in values])
    return mean, deviation


def _lines(results: Results, epsilons: Sequence[float], head: Row, after: str = "error") -> Iterator[Row]:
    """Yield a line a score and epsilon, the first of them infinite: without privacy."""
    chances = gather(results, [math.inf, *epsilons])
    count = len({(task.pair, task.seed) for task in results})
    summary = _over_pairs if after == "error" else _over_halves
    for score in SCORES:
        for epsilon in (math.inf, *epsilons):
            line: Row = {**head, "score": score, "epsilon": epsilon}
            for name in COLUMNS:
                shown = math.isinf(epsilon) == (name == "none")
                found = chances.get((score, epsilon, name), {}) if shown else {}
                line[name], line[f"{name}_{after}"] = summary(found)
            yield {**line, "runs": count}


def select(results: Results, data: str, rows: int | None = None) -> dict[Task, Record]:
    """Return some of the runs."""
    return {t: record for t, record in results.items() if t.data == data and rows in (None, t.rows)}


def table2(results: Results, epsilons: Sequence[float]) -> list[Row]:
    """Return Table 2, a line a pair, score and epsilon: means over halves, and their deviations as in the paper."""
    by_pair = group_by(select(results, "pairs").items(), lambda item: (item[0].pair, item[0].rows))
    return [
        line
        for (name, rows), items in by_pair.items()
        for line in _lines(dict(items), epsilons, {"pair": name, "rows": rows}, "deviation")
    ]


def table2_published() -> list[Row]:
    """Return Table 2 as printed: epsilon is that of each score, and the test half is protected."""
    lines: list[Row] = []
    for pair, rows in SIZES.items():
        for score, epsilon in CHANCES:
            mean, deviation = printed_chance(pair, score, epsilon)
            lines.append(
                {"pair": pair, "rows": rows, "score": score, "epsilon": epsilon, "right": mean, "deviation": deviation}
            )
    return lines


def means(results: Results, epsilons: Sequence[float]) -> list[Row]:
    """Return the mean probability over pairs of each kind, with standard errors."""
    members = sources(results)
    if "pairs" in members:
        large = {task: record for task, record in members["pairs"].items() if task.rows >= MANY_ROWS}
        members |= {f"pairs of {MANY_ROWS:,} rows or more": large} if large else {}
    return [line for source, some in members.items() for line in _lines(some, epsilons, {"data": source})]


def sources(results: Results) -> dict[str, dict[Task, Record]]:
    """Return the runs by what a chart is made of: simulated pairs of one size, or the given ones."""
    sizes = sorted({task.rows for task in results if task.data == "simulated"})
    found = {f"simulated-{rows}": select(results, "simulated", rows) for rows in sizes}
    pairs = select(results, "pairs")
    return {**found, **({"pairs": pairs} if pairs else {})}


def figure1(results: Results) -> list[Row]:
    """Return the numbers of Figure 1: the probability of the right direction against epsilon."""
    lines: list[Row] = []
    for source, members in sources(results).items():
        chances = gather(members, BUDGETS, TEST)
        places = [{"epsilon": epsilon} for epsilon in BUDGETS]
        lines += _points(source, chances, SCORES, TEST, places)
    return lines


def figure2(results: Results) -> list[Row]:
    """Return the numbers of Figure 2, left: the probability of the right direction against the ridge."""
    lines: list[Row] = []
    for source, members in sources(results).items():
        for ridge in SWEEP:
            chances = gather(members, PANELS, TRAINING, ridge, SMOOTH)
            lines += _points(source, chances, SMOOTH, TRAINING, [{"epsilon": e, "ridge": ridge} for e in PANELS])
    return lines


def figure2_best(results: Results) -> list[Row]:
    """Return the numbers of Figure 2, right: against epsilon, with the ridge that is best knowing the truth."""
    lines: list[Row] = []
    for source, members in sources(results).items():
        swept: list[Row] = []
        for ridge in SWEEP:
            chances = gather(members, BEST, TRAINING, ridge, SMOOTH)
            swept += _points(source, chances, SMOOTH, TRAINING, [{"epsilon": e, "ridge": ridge} for e in BEST])
        groups = group_by(swept, lambda line: (line["score"], line["protects"], line["epsilon"]))
        lines += [max(group, key=lambda line: float(line["right"])) for group in groups.values()]
    return lines


def _points(
    source: str, chances: Chances, scores: Iterable[str], columns: Iterable[str], places: Sequence[Mapping[str, float]]
) -> Iterator[Row]:
    for score in scores:
        for name in columns:
            for place in places:
                mean, error = _over_pairs(chances.get((score, place["epsilon"], name), {}))
                if mean != "":
                    count = len(chances[score, place["epsilon"], name])
                    line: Row = {"data": source, "score": score, "protects": name, **place}
                    yield {**line, "right": mean, "error": error, "pairs": count}


def no_answer(results: Results, epsilons: Sequence[float]) -> list[Row]:
    """Return how likely a spread has no answer, so that no direction is told, and on how many halves that is rare."""
    lines: list[Row] = []
    for source, members in sources(results).items():
        for ridge, name, epsilon, delta in product((RIDGE, SWEEP[-1]), WAYS, epsilons, DELTAS):
            settings = WAYS[name].settings("iqr", epsilon, ridge, delta)
            halves = [r for task, r in members.items() if (task.kind, task.setting) == ("halves", ridge)]
            found = [1 - answer_probability(record, settings) for record in halves]
            if found:
                line: Row = {"data": source, "protects": name, "ridge": ridge, "epsilon": epsilon, "delta": delta}
                line |= {"no_answer": float(f"{np.mean(found):.4g}"), "most": float(f"{max(found):.4g}")}
                line["share_below_1e-4"] = round(float(np.mean(np.array(found) < RARE)), 4)
                lines.append({**line, "runs": len(found)})
    return lines


STYLES = {
    "training_published_per_score": Line("as published, epsilon per score", "training half", "#ee6677", "10 5", 2.2),
    "training_published_total": Line("as published, epsilon total", "training half", "#c9a227", "4 4", 2.2),
    "training_proved_total": Line("as proved here, epsilon total", "training half", "#ccbb44", width=3.4),
    "test_published_per_score": Line("as published, epsilon per score", "test half", "#ee6677", "10 5", 2.2),
    "test_published_total": Line("as published, epsilon total", "test half", "#777777", "4 4", 2.2),
    "test_proved_total": Line("as proved here, epsilon total", "test half", "#228833", width=3.0),
    "both_proved_total": Line("as proved here, epsilon total", "both halves", "#aa3377", "7 6", 2.2),
    "all_total": Line("discreet direction, epsilon total", "all rows, no halves", "#4477aa", width=2.6),
    "none": Line("exact halves", "no privacy", "#222222", "1.5 4", 1.8),
}
RIGHT = Axis("right", 0, 1, (0, 0.25, 0.5, 0.75, 1))
RIDGES = Axis("ridge (lambda) of the fits", SWEEP[0], SWEEP[-1], (1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1), log=True)


def charts1(lines: Sequence[Row]) -> dict[str, str]:
    """Return Figure 1 for each source: a panel a score."""
    x = Axis("epsilon", BUDGETS[0], BUDGETS[-1], (0.1, 1, 10, 100), log=True)
    title = "Probability of the right direction against epsilon"
    return {
        f"figure1-{source}.svg": panels(title, f"{words}, ridge {RIDGE:g}", x, RIGHT, STYLES, _by_score(drawn))
        for source, words, drawn in _by_source(lines)
    }


def charts2(lines: Sequence[Row], best: Sequence[Row]) -> dict[str, str]:
    """Return Figure 2 for each source: HSIC against the ridge by epsilon, and scores with the best ridge."""
    found = {}
    for source, words, drawn in _by_source(lines):
        named: list[Row] = [
            {**line, "panel": f"epsilon {line['epsilon']:g}"} for line in drawn if line["score"] == "hsic"
        ]
        inside = points_by(named, "panel", "ridge", "right", name="protects", spread="error")
        title = "HSIC: probability of the right direction against the ridge"
        found[f"figure2-{source}.svg"] = panels(title, words, RIDGES, RIGHT, STYLES, inside)
    x = Axis("epsilon", BEST[0], BEST[-1], (0.1, 1, 10), log=True)
    title = "Probability of the right direction against epsilon, with the best ridge"
    for source, words, drawn in _by_source(best):
        known = f"{words}, ridges picked knowing the truth"
        found[f"figure2-best-{source}.svg"] = panels(title, known, x, RIGHT, STYLES, _by_score(drawn))
    return found


def _by_score(lines: Iterable[Row]) -> dict[str, dict[str, list[tuple[float, float, float]]]]:
    return points_by(lines, "score", "epsilon", "right", name="protects", spread="error")


def _by_source(lines: Sequence[Row]) -> Iterator[tuple[str, str, list[Row]]]:
    for source, members in group_by(lines, lambda line: str(line["data"])).items():
        count = max(int(line["pairs"]) for line in members)
        kind = f"simulated pairs of {int(source.split('-')[1]):,} rows" if source != "pairs" else "cause-effect pairs"
        yield source, f"{count} {kind}; bands of one standard error", members


def write_all(out: Path, results: Results, epsilons: Sequence[float], *, figures: bool) -> list[str]:
    """Write the tables and charts that the runs allow, and return the names of the files."""
    files: dict[str, list[Row] | str] = {
        "table1.csv": table1(),
        "table2.csv": table2(results, epsilons),
        "table2-published.csv": table2_published(),
        "means.csv": means(results, epsilons),
        "no-answer.csv": no_answer(results, epsilons),
    }
    if figures:
        first, second, best = figure1(results), figure2(results), figure2_best(results)
        files |= {"figure1.csv": first, "figure2.csv": second, "figure2-best.csv": best}
        files |= {**charts1(first), **charts2(second, best)}
    return write_files(out, files)


def as_text(results: Results, epsilons: Sequence[float]) -> Iterator[str]:
    """Yield Table 2 as the paper lays it out, for the largest pairs, and what all pairs come to, as Markdown."""
    yield from _table2_text(table2(results, epsilons))
    rows = []
    for line in means(results, epsilons):
        shown = [(line[name], line[f"{name}_error"]) for name in COLUMNS]
        cells = ["" if mean == "" else f"{mean:.3f} ({error:.3f})" for mean, error in shown]
        rows.append([line["data"], line["score"], f"{line['epsilon']:g}", *cells])
    yield from markdown(["pairs", "score", "epsilon", *map(words_of, COLUMNS)], rows)


def _table2_text(lines: Sequence[Row]) -> Iterator[str]:
    sizes = {str(line["pair"]): int(line["rows"]) for line in lines}
    largest = sorted(sizes, key=lambda name: -sizes[name])[:LARGEST]
    cells: dict[tuple[float, str], list[str]] = {}
    for name in largest:
        for line in lines:
            if line["pair"] == name and line["score"] in PRINTED:
                column = "none" if math.isinf(float(line["epsilon"])) else "test_published_per_score"
                value = f"{line[column]:.2f} ± {line[f'{column}_deviation']:.2f}"
                cells.setdefault((float(line["epsilon"]), str(line["score"])), []).append(value)
    if largest:
        heads = ["epsilon per score", "score", *(f"{name}, {sizes[name]:,}" for name in largest)]
        ordered = sorted(cells, key=lambda key: (not math.isinf(key[0]), key[0]))
        yield from markdown(heads, [[f"{epsilon:g}", score, *cells[epsilon, score]] for epsilon, score in ordered])
        yield ""
