"""Tables and charts of what came out of ``pcd``, beside what Zhang et al. 2023 say of their curves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from discreet.experiments.harness import Record, Row, markdown, points_by, summarize, write_files
from discreet.experiments.pcd import GRAPHS, MODELS, NETWORKS, SUBJECTS, TESTS, WIDE_ROWS, Part, Task
from discreet.report.charts import Axis, Line, panels
from discreet.simulation.networks import network

Results = Mapping[Task, Record]

PRINTED = {
    ("tests", "independence", 200, "pcd-published", "type_2"): "around 0",
    ("tests", "conditional", 200, "pcd-published", "type_2"): "around 0.01",
    ("tests", "conditional", 200, "kendall-published", "type_2"): "0",
    ("tests", "conditional", 500, "kendall-published", "type_2"): "0",
}
"""What the paper says of its curves in words; it prints no other number of them."""

STYLES = {
    "pcd-published": Line("pcd", "as published, not private", "#777777", "10 5", 3.0),
    "kendall-published": Line("Kendall", "as published, not private", "#aa8800", "10 5", 2.2),
    "pcd-published, no noise": Line("RCIT", "no privacy", "#222222", "1.5 4", 1.8),
    "kendall-published, no noise": Line("Kendall", "no privacy", "#aa8800", "1.5 4", 1.8),
    "complete": Line("all pairs", "no data", "#bb9999", "2 4", 2.0),
    "permutations": Line("permutations", "private", "#228833", width=3.4),
    "pcd": Line("pcd", "private", "#4477aa", width=3.0),
    "moments": Line("moments", "private", "#ee6677", width=2.6),
}
"""How each method is drawn."""

PROTEINS = 11
CHART_EPSILON = 1.0
"""The budget of the charts against rows."""


def in_order(results: Results, part: Part) -> list[tuple[Task, Record]]:
    """Return the runs of a part, as they are planned."""
    places = [*MODELS, *SUBJECTS["printed"], *SUBJECTS["ours"], *NETWORKS, *TESTS, *GRAPHS]

    def place(task: Task) -> tuple[int, ...]:
        named = [places.index(name) if name in places else 99 for name in (task.model, task.subject, task.method)]
        return (*named[:2], task.rows, named[2], task.seed)

    return sorted(((t, r) for t, r in results.items() if t.part == part), key=lambda found: place(found[0]))


def figure1(results: Results) -> list[Row]:
    """Return errors of tests of both types, by model, what is given, rows, method and epsilon."""
    groups: dict[tuple[str, str, int, str, float], dict[bool, list[float]]] = {}
    for task, record in in_order(results, "tests"):
        for epsilon, wrong in zip(record["epsilons"], record["wrong"], strict=True):
            key = (task.model, task.subject, task.rows, task.method, epsilon)
            groups.setdefault(key, {False: [], True: []})[task.dependent].append(wrong)
    lines: list[Row] = []
    for (model, subject, rows, method, epsilon), by in groups.items():
        line: Row = {"model": model, "subject": subject, "rows": rows, "method": method, "epsilon": epsilon}
        for name, wrong in (("type_1", by[False]), ("type_2", by[True])):
            line[name], line[f"{name}_error"] = summarize(wrong)[:2]
        said = PRINTED.get(("tests", subject, rows, method, "type_2"), "") if model == "printed" else ""
        lines.append({**line, "runs": len(by[False]), "type_2_printed": said})
    return lines


def scores(right: int, found: int, true: int) -> tuple[float, float, float]:
    """Return precision, recall and F1 of the skeleton."""
    return right / found if found else 0.0, right / true, 2 * right / (found + true)


def graphs(results: Results, part: Part) -> list[Row]:
    """Return precision, recall and F1, by model, network, rows, method and epsilon."""
    groups: dict[tuple[str, str, int, str, float], list[tuple[int, int, int, int]]] = {}
    for task, record in in_order(results, part):
        for i, epsilon in enumerate(record["epsilons"]):
            counted = (record["right"][i], record["found"][i], record["true"], record["tests"][i])
            groups.setdefault((task.model, task.subject, task.rows, task.method, epsilon), []).append(counted)
    lines: list[Row] = []
    for key, members in groups.items():
        line: Row = dict(zip(("model", "network", "rows", "method", "epsilon"), key, strict=True))
        found = zip(*(scores(right, found, true) for right, found, true, _ in members), strict=True)
        for name, values in zip(("precision", "recall", "f1"), found, strict=True):
            line[name], line[f"{name}_error"] = summarize(values)[:2]
        line["tests"] = round(float(np.mean([tests for *_, tests in members])), 1)
        line["f1_of_all_pairs"] = round(f1_of_all_pairs(members[0][2], key[1]), 4)
        lines.append({**line, "runs": len(members)})
    return lines


def f1_of_all_pairs(true: int, subject: str) -> float:
    """Return the F1 of the graph in which all pairs touch."""
    columns = PROTEINS if subject == "sachs" else len(network(subject).nodes)
    return 2 * true / (columns * (columns - 1) // 2 + true)


def _chart(title: str, words: str, x: Axis, y: str, rows: Sequence[Row], panel: str, up: str) -> str:
    """Draw one number against another, a panel for each value of a column; without noise, level."""
    named = [
        {**line, "method": f"{line['method']}, no noise", "epsilon": x.low} if line["epsilon"] == math.inf else line
        for line in rows
    ]
    shown = points_by(named, panel, x.label, up)
    for line in rows if up == "f1" else ():
        shown[str(line[panel])]["complete"] = [(x.low, float(line["f1_of_all_pairs"]), 0.0)]
    return panels(title, words, x, Axis(y, 0, 1, (0, 0.25, 0.5, 0.75, 1)), STYLES, shown)


def _epsilons(lines: Sequence[Row]) -> Axis:
    found = sorted({float(line["epsilon"]) for line in lines} - {math.inf})
    ticks = [e for e in (0.1, 0.4, 1, 2, 8) if e in found]
    return Axis("epsilon", found[0], max(found[-1], 2 * found[0]), ticks, log=True)


def charts(first: Sequence[Row], second: Sequence[Row], third: Sequence[Row]) -> dict[str, str]:
    """Return all charts that the numbers allow."""
    drawn: dict[str, str] = {}
    for model in MODELS:
        if tests := [line for line in first if line["model"] == model]:
            drawn |= _error_charts(model, tests)
        if found := [line for line in second if line["model"] == model]:
            drawn |= _graph_charts(model, found)
    if third:
        words = f"{max(int(line['rows']) for line in third):,} cells; bands of one standard error"
        drawn["figure3.svg"] = _chart(
            "Proteins: F1 of the skeleton", words, _epsilons(third), "F1", third, "network", "f1"
        )
    return drawn


def _error_charts(model: str, lines: Sequence[Row]) -> dict[str, str]:
    """Return Figure 1: one chart for each type of error."""
    shown = [{**line, "panel": f"{line['subject']}, {int(line['rows']):,} rows"} for line in lines]
    words = f"level 0.05, up to {max(int(line['runs']) for line in lines)} runs, bands of one standard error"
    drawn = {}
    for kind, title in (("type-1", "Called dependent, and is not"), ("type-2", "Called independent, and is not")):
        up = kind.replace("-", "_")
        drawn[f"figure1-{model}-{kind}.svg"] = _chart(title, words, _epsilons(lines), "share", shown, "panel", up)
    return drawn


def _graph_charts(model: str, lines: Sequence[Row]) -> dict[str, str]:
    """Return Figure 2: scores against rows at one epsilon, and F1 against epsilon where all methods ran."""
    drawn = {}
    sizes = sorted({int(line["rows"]) for line in lines})
    rows = Axis("rows", sizes[0], max(sizes[-1], 2 * sizes[0]), sizes, log=True)
    at_one = [line for line in lines if line["epsilon"] in (CHART_EPSILON, math.inf)]
    for up in ("f1", "precision", "recall"):
        title = f"{up.capitalize()} of the skeleton against rows, epsilon {CHART_EPSILON:g}"
        drawn[f"figure2-{model}-{up}-rows.svg"] = _chart(title, _WORDS, rows, up, at_one, "network", up)
    most = max((n for n in sizes if n <= WIDE_ROWS), default=sizes[0])
    title = f"F1 of the skeleton against epsilon, {most:,} rows"
    among = [line for line in lines if line["rows"] == most]
    drawn[f"figure2-{model}-f1-epsilon.svg"] = _chart(title, _WORDS, _epsilons(among), "F1", among, "network", "f1")
    return drawn


_WORDS = "Bands of one standard error. As published: epsilon for each noisy test; private: for the whole run."


def write_all(out: Path, results: Results) -> list[str]:
    """Write the tables and charts that the runs allow, and return the names of the files."""
    first, second, third = figure1(results), graphs(results, "graphs"), graphs(results, "sachs")
    tables = {"figure1.csv": first, "figure2.csv": second, "figure3.csv": third}
    return write_files(out, {**tables, **charts(first, second, third)})


def as_text(results: Results) -> Iterator[str]:
    """Yield errors and scores as Markdown tables, epsilons across."""
    for lines, keys, ups in (
        (figure1(results), ("model", "subject", "rows", "method"), ("type_1", "type_2")),
        (graphs(results, "graphs"), ("model", "network", "rows", "method"), ("f1", "precision", "recall")),
        (graphs(results, "sachs"), ("network", "rows", "method"), ("f1", "precision", "recall")),
    ):
        if lines:
            epsilons = sorted({float(line["epsilon"]) for line in lines})
            rows: dict[tuple[str, ...], list[Row]] = {}
            for line in lines:
                rows.setdefault(tuple(str(line[key]) for key in keys), []).append(line)
            heads = [*keys, *("no noise" if math.isinf(e) else f"{e:g}" for e in epsilons), "runs"]
            yield from markdown(heads, (_row(key, same, epsilons, ups) for key, same in rows.items()))
            yield ""


def _row(key: tuple[str, ...], lines: Sequence[Row], epsilons: Sequence[float], ups: Sequence[str]) -> list[str]:
    at = {float(line["epsilon"]): " / ".join(f"{float(line[up]):.2f}" for up in ups) for line in lines}
    return [*key, *(at.get(epsilon, "") for epsilon in epsilons), str(lines[0]["runs"])]
