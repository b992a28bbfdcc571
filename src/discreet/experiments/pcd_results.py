"""What the runs of the experiment on columns of numbers come to: tables of errors and of F1, and charts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discreet.experiments.harness import Record, write_csv, write_text
from discreet.experiments.pcd_plan import NETWORKS, Task
from discreet.report.charts import Axis, Line, Point, panels
from discreet.simulation.networks import network

Row = dict[str, str | int | float]
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
EPSILON = 1.0
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
            line[name], line[f"{name}_error"] = _told(wrong)
        lines.append({**line, "runs": len(by[False])})
    return lines


def _told(values: Sequence[float]) -> tuple[float | str, float | str]:
    """Return mean and standard error; nothing where there are no values."""
    if not values:
        return "", ""
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return round(float(np.mean(values)), 4), round(spread / len(values) ** 0.5, 4)


def scores(record: Record) -> tuple[float, float, float]:
    """Return precision, recall and F1 of the skeleton."""
    right, found, true = record["right"], record["found"], record["true"]
    return right / found if found else 0.0, right / true, 2 * right / (found + true)


def graphs(results: Results, part: str) -> list[Row]:
    """Return precision, recall and F1, by network, rows, method and epsilon."""
    groups: dict[tuple[str, int, str, float], list[Record]] = {}
    for task, record in results.items():
        if task.part == part:
            groups.setdefault((task.subject, task.rows, task.method, task.epsilon), []).append(record)
    order = {name: i for i, name in enumerate(NETWORKS)}
    lines: list[Row] = []
    for key, members in sorted(groups.items(), key=lambda g: (order.get(g[0][0], 99), g[0])):
        line: Row = dict(zip(("network", "rows", "method", "epsilon"), key, strict=True))
        for name, values in zip(("precision", "recall", "f1"), zip(*map(scores, members), strict=True), strict=True):
            line[name], line[f"{name}_error"] = _told(values)
        line["tests"] = round(float(np.mean([r["tests"] for r in members])), 1)
        line["seconds"] = round(float(np.mean([r["seconds"] for r in members])), 3)
        line["f1_of_all_pairs"] = round(complete(int(members[0]["true"]), key[0]), 4)
        lines.append({**line, "runs": len(members)})
    return lines


def complete(true: int, subject: str) -> float:
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


def _points(lines: Sequence[Row], panel: str, across: str, up: str) -> dict[str, dict[str, list[Point]]]:
    inside: dict[str, dict[str, list[Point]]] = {}
    for line in lines:
        if line[up] != "":
            point = (float(line[across]), float(line[up]), float(line[f"{up}_error"]))
            inside.setdefault(str(line[panel]), {}).setdefault(str(line["method"]), []).append(point)
    return inside


def _epsilons(lines: Sequence[Row]) -> Axis:
    found = sorted({float(line["epsilon"]) for line in lines})
    return Axis(
        "epsilon", found[0], max(found[-1], 2 * found[0]), [e for e in (0.1, 0.4, 1, 2, 8) if e in found], log=True
    )


def charts(first: Sequence[Row], second: Sequence[Row], third: Sequence[Row]) -> dict[str, str]:
    """Return all charts that the numbers allow."""
    drawn = _error_charts(first) if first else {}
    if second:
        drawn |= _graph_charts(second)
    if third:
        inside = _with_all_pairs(_points(third, "network", "epsilon", "f1"), third, "epsilon")
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
    kinds = {"type_1": "Called dependent, and is not", "type_2": "Called independent, and is not"}
    return {
        f"figure1-{kind.replace('_', '-')}.svg": _chart(
            title, words, _epsilons(lines), "share", _points(shown, "panel", "epsilon", kind)
        )
        for kind, title in kinds.items()
    }


def _graph_charts(lines: Sequence[Row]) -> dict[str, str]:
    """Return Figure 2: scores against rows at one epsilon, and F1 against epsilon at most rows."""
    drawn = {}
    sizes = sorted({int(line["rows"]) for line in lines})
    rows = Axis("rows", sizes[0], max(sizes[-1], 2 * sizes[0]), sizes, log=True)
    for up in ("f1", "precision", "recall"):
        inside = _points([line for line in lines if line["epsilon"] == EPSILON], "network", "rows", up)
        if inside:
            inside = _with_all_pairs(inside, lines, "rows") if up == "f1" else inside
            title = f"{up.capitalize()} of the skeleton against rows, epsilon {EPSILON:g}"
            drawn[f"figure2-{up}-rows.svg"] = _chart(title, _WORDS, rows, up, inside)
    inside = _points([line for line in lines if line["rows"] == sizes[-1]], "network", "epsilon", "f1")
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
    tables = {name: lines for name, lines in tables.items() if lines}
    for name, lines in tables.items():
        write_csv(out / name, lines)
    drawn = charts(first, second, third)
    for name, chart in drawn.items():
        write_text(out / name, chart)
    return [*tables, *drawn]


def as_text(results: Results) -> Iterator[str]:
    """Yield F1 and errors as Markdown tables."""
    for lines, of, shown in (
        (figure1(results), ("given", "rows"), ("type_1", "type_2")),
        (graphs(results, "graphs"), ("network", "rows"), ("precision", "recall", "f1", "f1_of_all_pairs")),
        (graphs(results, "sachs"), ("network", "rows"), ("precision", "recall", "f1", "f1_of_all_pairs")),
    ):
        if lines:
            heads = [*of, "method", "epsilon", *shown, "runs"]
            yield f"| {' | '.join(heads)} |"
            yield "|---" * len(heads) + "|"
            for line in lines:
                yield "| " + " | ".join(_cell(line, head) for head in heads) + " |"
            yield ""


def _cell(line: Row, head: str) -> str:
    value: Any = line[head]
    error = line.get(f"{head}_error")
    return (
        f"{value:.3f} ({error:.3f})"
        if isinstance(error, float)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )
