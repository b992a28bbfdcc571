"""What the runs of the Priv-PC experiment come to: two tables, one figure's numbers, and charts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from discreet.experiments.harness import KeptRuns, Record, write_csv, write_text
from discreet.experiments.priv_pc_plan import PC, SYSTEMS, Task, finished, methods, unpacked
from discreet.report.charts import Axis, Dot, Line, dot_plot, panels
from discreet.search.graph import Graph, cpdag_f1, skeleton_f1
from discreet.search.orientation import cpdag
from discreet.simulation.networks import network

Row = dict[str, str | int | float]
Result = tuple[Task, Record]

PUBLISHED_SECONDS = {
    "earthquake": (176.04, 3.38, 6.62, 11.01),
    "cancer": (64.62, 2.94, 6.09, 10.83),
    "asia": (531.80, 10.06, 16.19, 19.40),
    "survey": (68.13, 1.21, 2.13, 5.12),
    "alarm": (10601.33, 71.23, 143.01, 315.32),
    "sachs": (4858.42, 4.29, 16.65, 72.98),
    "child": (25140.67, 32.85, 85.55, 191.31),
}
"""The paper's Table 2, one number a system: mean seconds, 100,000 rows, a round's epsilon of 1, a 32-core server."""

PUBLISHED_TESTS = {
    "earthquake": (61, 40),
    "cancer": (57, 37),
    "asia": (216, 95),
    "survey": (38, 29),
    "alarm": (12979, 1843),
    "sachs": (1224, 165),
    "child": (7393, 1162),
}
"""The paper's Table 3: tests of EM-PC and of Priv-PC."""

SCORES: dict[str, tuple[Callable[[Graph, Graph], float], str]] = {
    "skeleton_f1_truth": (skeleton_f1, "Skeleton F1 against the true graph"),
    "cpdag_f1_truth": (cpdag_f1, "CPDAG F1 against the true graph"),
    "skeleton_f1_pc": (skeleton_f1, "Skeleton F1 against PC without privacy, on the same rows"),
    "cpdag_f1_pc": (cpdag_f1, "CPDAG F1 against PC without privacy, on the same rows"),
}


def results_in(kept: KeptRuns, rows: int) -> list[Result]:
    """Return all runs with that many rows, also those without a result, small networks first."""
    order = {name: i for i, name in enumerate((PC, *methods()))}
    found = [(t, r) for t, r in finished(kept, limit=0.0).items() if t.rows == rows and t.method in order]

    def place(result: Result) -> tuple[Any, ...]:
        task, _ = result
        system = [(s.method, s.sampled) for s in SYSTEMS].index
        at: tuple[float, float] = (order[task.method], task.setting or 0.0)
        if task.part == "table":
            at = (system((task.method.removesuffix("-published"), task.sampled)), not task.published)
        return len(network(task.network).nodes), task.network, task.part, at, task.seed

    return sorted(found, key=place)


def write_all(out: Path, results: Sequence[Result], rows: int) -> list[str]:
    """Write the tables and charts that the runs allow, and return the names of the files."""
    written: dict[str, list[Row] | str] = {}
    if seconds := table(results, "seconds"):
        written |= {"table2.csv": seconds, "table3.csv": table(results, "tests")}
        written["table2.svg"] = seconds_chart(seconds, rows)
    if lines := figure(results):
        written |= {"figure1.csv": lines, **charts(lines, rows)}
    for name, content in written.items():
        if isinstance(content, str):
            write_text(out / name, content)
        else:
            write_csv(out / name, content)
    return list(written)


def published_seconds(name: str, heading: str) -> float | None:
    """Return a number of the paper's Table 2."""
    at = [system.heading for system in SYSTEMS].index(heading)
    return PUBLISHED_SECONDS[name][at] if name in PUBLISHED_SECONDS else None


def published_tests(name: str, heading: str) -> int | None:
    """Return a number of the paper's Table 3, which has two of the systems."""
    if heading not in ("EM-PC", "Priv-PC") or name not in PUBLISHED_TESTS:
        return None
    return PUBLISHED_TESTS[name][heading == "Priv-PC"]


def table(results: Sequence[Result], what: str) -> list[Row]:
    """Return Table 2 (``"seconds"``) or Table 3 (``"tests"``): the paper's number and the mean here with its error."""
    lines: list[Row] = []
    for (name, heading, variant), members in _table_groups(results).items():
        values = np.array([float(r[what]) for _, r in members if r.get(what) is not None])
        paper = published_seconds(name, heading) if what == "seconds" else published_tests(name, heading)
        mean, error, _ = _told(values, 4 if what == "seconds" else 1)
        line: Row = {"network": name, "system": heading, "variant": variant}
        line |= {f"published_{what}": _or_empty(paper), what: mean, f"{what}_error": error}
        if what == "seconds":
            line["times_faster"] = "" if paper is None or not len(values) else round(paper / float(values.mean()), 1)
        lines.append({**line, "runs": len(members)})
    return lines


def _table_groups(results: Sequence[Result]) -> dict[tuple[str, str, str], list[Result]]:
    groups: dict[tuple[str, str, str], list[Result]] = {}
    for task, record in results:
        if task.part == "table":
            base = task.method.removesuffix("-published")
            heading = next(s.heading for s in SYSTEMS if (s.method, s.sampled) == (base, task.sampled))
            groups.setdefault((task.network, heading, task.variant), []).append((task, record))
    return groups


def figure(results: Sequence[Result]) -> list[Row]:
    """Return the numbers of Figure 1: F1 and total epsilon, one line a network, method and setting."""
    found = [(task, record) for task, record in results if task.part == "figure"]
    by_pc = {(t.network, t.rows, t.seed): r["graph"] for t, r in found if t.method == PC}
    groups: dict[tuple[str, str, float | None], list[Result]] = {}
    for task, record in found:
        groups.setdefault((task.network, task.method, task.setting), []).append((task, record))
    lines: list[Row] = []
    for (name, method, setting), members in groups.items():
        line: Row = {"network": name, "method": method, "variant": members[0][0].variant, "setting": _or_empty(setting)}
        line["total_epsilon"] = _told(_numbers(members, "total"), 4)[0]
        line["epsilon_at_strict_delta"] = _told(_numbers(members, "strict"), 4)[0]
        line["published_f1"] = ""
        for score, (compare, _) in SCORES.items():
            values = []
            for task, record in members:
                other = by_pc.get((task.network, task.rows, task.seed)) if score.endswith("_pc") else ""
                if record["graph"] is not None and other is not None:
                    true = _unpacked(name, other) if score.endswith("_pc") else _truth(name)
                    values.append(compare(_unpacked(name, record["graph"]), true))
            line[score], line[f"{score}_error"], line[f"{score}_spread"] = _told(np.array(values), 4)
        lines.append({**line, "runs": len(members)})
    return lines


def _numbers(members: Sequence[Result], what: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([float(r[what]) for _, r in members if r.get(what) is not None])


def _told(values: np.ndarray[Any, Any], digits: int) -> tuple[float | str, float | str, float | str]:
    """Return mean, standard error and standard deviation; nothing where there are no values."""
    if not len(values):
        return "", "", ""
    spread = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    return round(float(values.mean()), digits), round(spread / len(values) ** 0.5, digits), round(spread, digits)


def _or_empty(value: float | None) -> float | str:
    return "" if value is None else value


@lru_cache
def _truth(name: str) -> Graph:
    return cpdag(network(name).dag)


@lru_cache(maxsize=4096)
def _unpacked(name: str, text: str) -> Graph:
    return unpacked(text, _truth(name).nodes)


_PRIVATE = ("#4477aa", "#228833", "#ee6677", "#aa3377", "#e08214", "#44aaaa", "#7a5195")
_GREYS = {
    "em-pc-published": ("#9a9a9a", "2 4"),
    "svt-pc-published": ("#5c6b5c", "10 5"),
    "priv-pc-published": ("#6b4a4a", "6 3 1 3"),
}


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
    return {**drawn, PC: Line("PC", "no privacy", "#222222", "1.5 4", 1.8)}


def charts(lines: Sequence[Row], rows: int) -> dict[str, str]:
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
    for score, (_, title) in SCORES.items():
        inside: dict[str, dict[str, list[tuple[float, float, float]]]] = {}
        for line in lines:
            drawn = inside.setdefault(str(line["network"]), {})
            if line[score] != "" and not (line["method"] == PC and score.endswith("_pc")):
                at = 1.0 if line["method"] == PC else float(line["total_epsilon"] or 0)
                point = (at, float(line[score]), float(line[f"{score}_spread"]))
                drawn.setdefault(str(line["method"]), []).append(point)
        result[f"figure1-{score.replace('_f1_', '-')}.svg"] = panels(title, words, x, y, styles(), inside)
    return result


def seconds_chart(lines: Sequence[Row], rows: int) -> str:
    """Return Table 2 as dots: the paper's seconds and those measured here."""
    dots = {
        "paper": Dot("in the paper", "#888888", hollow=True),
        "published": Dot("as published, here", "#888888"),
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
    x = Axis("seconds a run", ticks[0], ticks[-1], ticks, log=True)
    words = f"{rows:,} rows, a round's epsilon of 1. Paper: 100,000 rows on a server of 32 cores; here: one core"
    return dot_plot("How long a run takes", words, x, dots, inside)


def as_text(seconds: Sequence[Row], tests: Sequence[Row]) -> Iterator[str]:
    """Yield Tables 2 and 3 as one Markdown table."""
    cells = {
        (line["network"], line["system"], line["variant"], what): line
        for what, lines in (("seconds", seconds), ("tests", tests))
        for line in lines
    }
    yield "| network | system | seconds: paper | as published | private | tests: paper | as published | private |"
    yield "|---" * 8 + "|"
    for name, system in dict.fromkeys((line["network"], line["system"]) for line in seconds):
        shown = []
        for what in ("seconds", "tests"):
            here = {v: cells.get((name, system, v, what), {}) for v in ("published", "repaired")}
            paper = next((line[f"published_{what}"] for line in here.values() if line), "")
            shown += [paper, *(line.get(what, "") for line in here.values())]
        yield f"| {name} | {system} | " + " | ".join(str(value) for value in shown) + " |"
