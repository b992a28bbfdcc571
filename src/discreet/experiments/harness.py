"""What experiments share: runs that are kept as they finish, so that one that was broken off goes on, and tables."""

from __future__ import annotations

import csv
import json
import signal
import sys
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from io import StringIO
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import click
import numpy as np

from discreet.errors import OutputError
from discreet.report import write_whole
from discreet.report.charts import Point
from discreet.search.graph import Graph
from discreet.simulation.processes import run_all

Record = dict[str, Any]
"""What is written down of a run."""

Row = dict[str, str | int | float]
"""A line of a table."""

Cell = float | str

TIME_LIMIT = "TimeLimit"
"""What is written down of a run that took too long."""


@dataclass(frozen=True)
class Task:
    """One run. Experiments add its settings, and name those that are the same for all of their runs."""

    common: ClassVar[Record] = {}

    def to_dict(self) -> Record:
        """Return all settings, also those that are the same for all."""
        return {**asdict(self), **self.common}

    @classmethod
    def of(cls, record: Record) -> Self | None:
        """Return the run that a record tells of; None if it is not one of this experiment's."""
        settings = dict(record.get("task", {}))
        common = {name: settings.pop(name, None) for name in cls.common}
        if common != cls.common or settings.keys() != {field.name for field in fields(cls)}:
            return None
        return cls(**settings)


AnyTask = TypeVar("AnyTask", bound=Task)
Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class KeptRuns:
    """Records in a file of JSON lines; each is written as soon as it is there."""

    path: Path

    def records(self) -> Iterator[Record]:
        """Yield all records; lines that were not written to their end are passed over."""
        if not self.path.is_file():
            return
        with self.path.open("rb") as file:
            for line in file:
                try:
                    record = json.loads(line)
                except ValueError:
                    continue
                if isinstance(record, dict):
                    yield record

    def finished(self, kind: type[AnyTask]) -> dict[AnyTask, Record]:
        """Return the runs of an experiment."""
        return {task: record for record in self.records() if (task := kind.of(record)) is not None}

    def append(self, record: Record) -> None:
        """Write a record at the end, on a line of its own whatever stands before."""
        text = json.dumps(record, separators=(",", ":")) + "\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab+") as file:
                if file.tell():
                    file.seek(-1, 2)
                    text = text if file.read(1) == b"\n" else "\n" + text
                file.write(text.encode())
        except OSError:
            raise OutputError(f"{self.path.name!r} cannot be written") from None


def go_on(
    kept: KeptRuns,
    planned: Sequence[AnyTask],
    done: Container[AnyTask],
    work: Callable[[AnyTask], Record],
    *,
    jobs: int,
    effort: Callable[[AnyTask], int],
) -> tuple[list[Record], bool]:
    """Do the runs that are missing and keep each at once; return their records, and whether somebody interrupted.

    ``effort`` tells about how much longer a run takes than others, for the time that is left.
    """
    missing = [task for task in planned if task not in done]
    click.echo(f"{len(planned)} runs, {len(planned) - len(missing)} of them finished before", err=True)
    records: list[Record] = []
    try:
        for record in _watch(run_all(work, missing, jobs, ordered=False), [effort(task) for task in missing]):
            kept.append(record)
            records.append(record)
    except KeyboardInterrupt:
        click.echo("\ninterrupted: the same command goes on from here", err=True)
        return records, True
    return records, False


def _watch(records: Iterable[Record], weights: Sequence[int]) -> Iterator[Record]:
    """Pass records on while a bar on stderr tells how many there are and how long it will take."""
    if not sys.stderr.isatty():
        for i, record in enumerate(records, start=1):
            yield record
            if i % 50 == 0 or i == len(weights):
                click.echo(f"{i} of {len(weights)} runs", err=True)
        return
    with click.progressbar(length=sum(weights), label=f"{len(weights)} runs", file=sys.stderr) as bar:
        for record, weight in zip(records, weights, strict=True):
            bar.update(weight)
            yield record


class TimeLimitError(BaseException):
    """A run took too long. Not an ``Exception``: those are answered inside a run."""


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Break off what is done inside after so many seconds."""
    if seconds is None:
        yield
        return

    def ring(*_: object) -> None:
        raise TimeLimitError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def pack(graph: Graph) -> str:
    """Return a graph's edges as text, by the places of its nodes in the alphabet."""
    place = {node: i for i, node in enumerate(sorted(graph.nodes))}
    return " ".join(f"{place[e.a]}{'>' if e.directed else '-'}{place[e.b]}" for e in graph.edges())


def unpack(text: str, nodes: Sequence[str]) -> Graph:
    """Return the graph that was packed."""
    named = sorted(nodes)
    arrows = [edge.split(">") for edge in text.split() if ">" in edge]
    lines = [edge.split("-") for edge in text.split() if "-" in edge]
    return Graph(
        tuple(nodes),
        frozenset((named[int(a)], named[int(b)]) for a, b in arrows),
        frozenset(frozenset((named[int(a)], named[int(b)])) for a, b in lines),
    )


def group_by(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Return the items that have the same key, in their order."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def summarize(values: Sequence[float], digits: int = 4) -> tuple[Cell, Cell, Cell]:
    """Return mean, standard error and standard deviation; nothing where there are no values."""
    if not len(values):
        return "", "", ""
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return round(float(np.mean(values)), digits), round(spread / len(values) ** 0.5, digits), round(spread, digits)


def points_by(
    lines: Iterable[Row], panel: str, x: str, y: str, *, name: str = "method", spread: str = ""
) -> dict[str, dict[str, list[Point]]]:
    """Return what is drawn, by panel and name; a line of a table that has no number is no point."""
    drawn: dict[str, dict[str, list[Point]]] = {}
    for line in lines:
        if line[y] != "":
            point = (float(line[x]), float(line[y]), float(line[spread or f"{y}_error"]))
            drawn.setdefault(str(line[panel]), {}).setdefault(str(line[name]), []).append(point)
    return drawn


def markdown(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield a Markdown table line by line."""
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"


def write_files(out: Path, files: Mapping[str, Sequence[Mapping[str, Any]] | str]) -> list[str]:
    """Write tables as CSV, and texts, into a folder; tables without lines are left out. Return the names."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"out: {str(out)!r} cannot be written: {error.strerror or 'error'}") from None
    written = {name: content for name, content in files.items() if len(content)}
    for name, content in written.items():
        write_whole(out / name, content if isinstance(content, str) else _csv(content))
    return list(written)


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows with the columns of the first one."""
    text = StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
