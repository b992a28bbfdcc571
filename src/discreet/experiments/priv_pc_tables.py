"""Tables and charts of what came out of ``priv_pc``, beside what Wang, Pang, Song 2020 print."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from discreet.experiments.harness import (
    KeptRuns,
    Record,
    Row,
    group_by,
    markdown,
    points_by,
    summarize,
    unpack,
    write_files,
)
from discreet.experiments.priv_pc import PC, SYSTEMS, System, Task, finished, methods
from discreet.experiments.priv_pc_paper import (
    arc_f1,
    claims,
    data_table,
    error_table,
    published_seconds,
    published_tests,
    stored_graph,
)
from discreet.report.charts import Axis, Dot, Line, dot_plot, panels
from discreet.search.graph import Graph, cpdag_f1, skeleton_f1
from discreet.search.orientation import cpdag
from discreet.simulation.networks import network

Result = tuple[Task, Record]

Scores = dict[str, tuple[Callable[[Graph, Graph], float], str]]

SCORES: Scores = {
    "skeleton_f1_truth": (skeleton_f1, "Skeleton F1 against the true graph"),
    "cpdag_f1_truth": (cpdag_f1, "CPDAG F1 against the true graph"),
    "skeleton_f1_pc": (skeleton_f1, "Skeleton F1 against PC without privacy, on the same rows"),
    "cpdag_f1_pc": (cpdag_f1, "CPDAG F1 against PC without privacy, on the same rows"),
}
PAPER_SCORES: Scores = {
    "arcs_f1_stored": (arc_f1, "F1 as the paper's code computes it: arcs, against the graphs stored there"),
    "skeleton_f1_same": (skeleton_f1, "Skeleton F1 against PC by the same test without noise, on the same rows"),
    "skeleton_f1_truth": SCORES["skeleton_f1_truth"],
}
"""Of methods as published, which are read in two ways."""


def results_in(kept: KeptRuns, rows: int) -> list[Result]:
    """Return all runs with that many rows, also those without a result, small networks first."""
    order = {name: i for i, name in enumerate((PC, *methods()))}
    found = [(t, r) for t, r in finished(kept, limit=0.0).items() if t.rows == rows and t.method in order]

    def place(result: Result) -> tuple[Any, ...]:
        task, _ = result
        at: tuple[float, ...] = (order[task.method], task.reading == "text", task.setting or 0.0)
        if task.part == "table":
            at = (SYSTEMS.index(_system(task)), ("published", "text", "repaired").index(task.variant))
        return len(network(task.network).nodes), task.network, task.part, at, task.seed

    return sorted(found, key=place)


def write_all(out: Path, results: Sequence[Result], rows: int) -> list[str]:
    """Write the tables and charts that the runs allow, and return the names of the files."""
    files: dict[str, list[Row] | str] = {"table1.csv": data_table(), "theorem2.csv": error_table()}
    seconds, tests = table(results, "seconds"), table(results, "tests")
    if seconds:
        files |= {"table2.csv": seconds, "table3.csv": tests, "table2.svg": seconds_chart(seconds, rows)}
        files["round.csv"] = round_table(results)
    if lines := figure(results):
        files |= {"figure1.csv": lines, **charts(lines, rows, SCORES)}
    if published := figure(results, PAPER_SCORES):
        files |= {"figure1-published.csv": published, **charts(published, rows, PAPER_SCORES)}
    files["claims.csv"] = list(claims(seconds, tests, published))
    return write_files(out, files)


def table(results: Sequence[Result], what: str) -> list[Row]:
    """Return Table 2 (``"seconds"``) or Table 3 (``"tests"``): the paper's number and the mean here with its error."""
    lines: list[Row] = []
    timed = [result for result in results if result[0].part == "table"]
    groups = group_by(timed, lambda result: (result[0].network, _system(result[0]).heading, result[0].variant))
    for (name, heading, variant), members in groups.items():
        values = _numbers(members, what)
        paper = published_seconds(name, heading) if what == "seconds" else published_tests(name, heading)
        mean, error, _ = summarize(values, 4 if what == "seconds" else 1)
        line: Row = {"network": name, "system": heading, "variant": variant}
        line |= {f"published_{what}": _or_empty(paper), what: mean, f"{what}_error": error}
        if what == "seconds":
            line["times_faster"] = "" if paper is None or not values else round(paper / float(np.mean(values)), 1)
        lines.append({**line, "runs": len(members)})
    return lines


def round_table(results: Sequence[Result]) -> list[Row]:
    """Return F1 at a round's epsilon of 1: of the skeleton, and as the paper's code computes it."""
    timed = [(task, record) for task, record in results if task.part == "table" and record["graph"] is not None]
    groups = group_by(timed, lambda result: (result[0].network, _system(result[0]).heading, result[0].variant))
    lines: list[Row] = []
    for (name, heading, variant), members in groups.items():
        line: Row = {"network": name, "system": heading, "variant": variant}
        for score, compare, true in (
            ("skeleton_f1_truth", skeleton_f1, _truth(name)),
            ("arcs_f1_stored", arc_f1, stored_graph(name)),
        ):
            values = [compare(_unpack(name, record["graph"]), true) for _, record in members]
            line[score], line[f"{score}_error"], _ = summarize(values)
        lines.append({**line, "reported_epsilon": summarize(_numbers(members, "total"))[0], "runs": len(members)})
    return lines


def _system(task: Task) -> System:
    """Return the column of Table 2 that a run belongs to."""
    base = task.method.removesuffix("-published")
    return next(system for system in SYSTEMS if (system.method, system.sampled) == (base, task.sampled))


def figure(results: Sequence[Result], scores: Scores = SCORES) -> list[Row]:
    """Return the numbers of Figure 1: F1 and total epsilon, one line a network, method and setting.

    By the code, unless the paper's own scores are asked for: then of published methods only, by code and text.
    """
    found = [(t, r) for t, r in results if t.part == "figure" and _belongs(t, scores)]
    by_pc = {(t.network, t.seed): r["graph"] for t, r in found if t.method == PC}
    groups = group_by(found, lambda result: (result[0].network, result[0].method, result[0].reading, result[0].setting))
    lines: list[Row] = []
    for (name, method, reading, setting), members in groups.items():
        line: Row = {"network": name, "method": method, "reading": reading, "variant": members[0][0].variant}
        line |= {"setting": _or_empty(setting), "total_epsilon": summarize(_numbers(members, "total"))[0]}
        line["epsilon_at_strict_delta"] = summarize(_numbers(members, "strict"))[0]
        line["published_f1"] = ""
        for score, (compare, _) in scores.items():
            pairs = [(r["graph"], _reference(score, t, r, by_pc)) for t, r in members]
            values = [compare(_unpack(name, a), b) for a, b in pairs if a is not None and b is not None]
            line[score], line[f"{score}_error"], line[f"{score}_spread"] = summarize(values)
        lines.append({**line, "runs": len(members)})
    return lines


def _belongs(task: Task, scores: Scores) -> bool:
    """Whether a run is one of those that the scores are of."""
    return task.reading != "text" if scores is SCORES else task.published or task.method == PC


def _reference(score: str, task: Task, record: Record, by_pc: dict[tuple[str, int], str | None]) -> Graph | None:
    """Return the graph that a run is compared with, if there is one."""
    if score.endswith("_truth"):
        return _truth(task.network)
    if score.endswith("_stored"):
        return stored_graph(task.network)
    packed = by_pc.get((task.network, task.seed)) if score.endswith("_pc") else record.get("without_noise")
    return None if packed is None else _unpack(task.network, packed)


def _numbers(members: Sequence[Result], what: str) -> list[float]:
    return [float(record[what]) for _, record in members if record.get(what) is not None]


def _or_empty(value: float | None) -> float | str:
    return "" if value is None else value


@lru_cache
def _truth(name: str) -> Graph:
    return cpdag(network(name).dag)


@lru_cache(maxsize=4096)
def _unpack(name: str, text: str) -> Graph:
    return unpack(text, _truth(name).nodes)


_PRIVATE = ("#4477aa", "#228833", "#ee6677", "#aa3377", "#e08214", "#44aaaa", "#7a5195")
_GREYS = {
    "em-pc-published": ("#9a9a9a", "2 4"),
    "svt-pc-published": ("#5c6b5c", "10 5"),
    "priv-pc-published": ("#6b4a4a", "6 3 1 3"),
}
_TEXT = {"svt-pc-published": "#228833", "priv-pc-published": "#ee6677"}


def styles() -> dict[str, Line]:
    """Return how each method is drawn, from the bottom up: published ones dashed and grey, private ones, PC dotted.

    Those further down are wider, so that all are seen where they meet.
    """
    drawn = {
        name: Line(name.removesuffix("-published"), "as published, not private", colour, dashes, 2.2)
        for name, (colour, dashes) in _GREYS.items()
    }
    private = [name for name in reversed(methods()) if name not in _GREYS]
    for i, name in enumerate(private):
        colour = _PRIVATE[(len(private) - 1 - i) % len(_PRIVATE)]
        drawn[name] = Line(name, "private", colour, width=2.6 + 2.6 * (1 - i / max(len(private) - 1, 1)))
    for name, colour in _TEXT.items():
        drawn[f"{name} by the text"] = Line(
            name.removesuffix("-published"), "by the text, not private", colour, width=2.6
        )
    return {**drawn, PC: Line("PC", "no privacy", "#222222", "1.5 4", 1.8)}


def charts(lines: Sequence[Row], rows: int, scores: Scores) -> dict[str, str]:
    """Return Figure 1 as charts, one a score."""
    fewest, most = (int(pick(line["runs"] for line in lines)) for pick in (min, max))
    runs = f"{most}" if fewest == most else f"{fewest} to {most}"
    x = Axis(
        "total epsilon at delta 1e-3 (as published: as reported afterwards)", 1, 100, (1, 3, 10, 30, 100), log=True
    )
    y = Axis("F1", 0, 1, (0, 0.25, 0.5, 0.75, 1))
    words = f"{rows:,} rows, mean of {runs} runs, bands of one standard deviation. "
    words += "Delta 1e-3 is the paper's, and too large for practice"
    result = {}
    for score, (_, title) in scores.items():
        shown = [line for line in lines if not (line["method"] == PC and score.endswith("_pc"))]
        placed = [{**line, "total_epsilon": _place(line), "method": _style(line)} for line in shown]
        inside = points_by(placed, "network", "total_epsilon", score, spread=f"{score}_spread")
        inside = {name: inside.get(name, {}) for name in dict.fromkeys(str(line["network"]) for line in lines)}
        named = "" if scores is SCORES else "published-"
        result[f"figure1-{named}{score.replace('_f1_', '-')}.svg"] = panels(title, words, x, y, styles(), inside)
    return result


def _style(line: Row) -> str:
    """Return the name of the style of a line."""
    return f"{line['method']} by the text" if line["reading"] == "text" else str(line["method"])


def _place(line: Row) -> float:
    """Return where a line stands in Figure 1: PC, which has no epsilon, at the left end."""
    return 1.0 if line["method"] == PC else float(line["total_epsilon"] or 0)


def seconds_chart(lines: Sequence[Row], rows: int) -> str:
    """Return Table 2 as dots: the paper's seconds and those measured here."""
    dots = {
        "paper": Dot("in the paper", "#888888", hollow=True),
        "published": Dot("as published, here", "#888888"),
        "text": Dot("by the paper's text, here", "#cc7711"),
        "repaired": Dot("private, here", "#4477aa"),
    }
    inside: dict[str, dict[str, dict[str, float]]] = {}
    for line in lines:
        row = inside.setdefault(str(line["network"]), {}).setdefault(str(line["system"]), {})
        if line["published_seconds"] != "":
            row["paper"] = float(line["published_seconds"])
        if line["seconds"] != "":
            row[str(line["variant"])] = max(float(line["seconds"]), 1e-3)
    values = [value for rows in inside.values() for row in rows.values() for value in row.values()]
    powers = range(int(np.floor(np.log10(min(values)))), int(np.ceil(np.log10(max(values)))) + 1)
    ticks = [10.0**power for power in powers]
    x = Axis("seconds a run (here: of the processor)", ticks[0], ticks[-1], ticks, log=True)
    words = f"{rows:,} rows, a round's epsilon of 1. Paper: 100,000 rows on a server of 32 cores; here: one core"
    return dot_plot("How long a run takes", words, x, dots, inside)


def claims_text(results: Sequence[Result]) -> Iterator[str]:
    """Yield the paper's claims as a Markdown table."""
    lines = claims(table(results, "seconds"), table(results, "tests"), figure(results, PAPER_SCORES))
    heads = ("claim", "graphs", "printed", "by its tables", "as published, here", "private, here")
    return markdown(heads, (list(line.values()) for line in lines))


def as_text(seconds: Sequence[Row], tests: Sequence[Row]) -> Iterator[str]:
    """Yield Tables 2 and 3 as one Markdown table."""
    cells = {
        (line["network"], line["system"], line["variant"], what): line
        for what, lines in (("seconds", seconds), ("tests", tests))
        for line in lines
    }
    rows = []
    for name, system in dict.fromkeys((line["network"], line["system"]) for line in seconds):
        shown = [name, system]
        for what in ("seconds", "tests"):
            both = [cells.get((name, system, variant, what), {}) for variant in ("published", "repaired")]
            paper = next((line[f"published_{what}"] for line in both if line), "")
            shown += [paper, *(line.get(what, "") for line in both)]
        rows.append(shown)
    here = ("as published", "private")
    return markdown(["network", "system", "seconds: paper", *here, "tests: paper", *here], rows)
