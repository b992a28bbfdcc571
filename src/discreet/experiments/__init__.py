"""Experiments: what the methods reach, measured again on networks whose graph is known. One file an experiment."""

from __future__ import annotations

import csv
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

from discreet.errors import DoubtWarning, OutputError

Task = TypeVar("Task")
Result = TypeVar("Result")


def run_all(
    work: Callable[[Task], Result], tasks: Sequence[Task], jobs: int, *, ordered: bool = True
) -> Iterable[Result]:
    """Yield the result of every task, in order or as soon as it is there; several processes if asked for."""
    quiet = partial(_without_doubts, work)
    if jobs <= 1:
        yield from map(quiet, tasks)
        return
    with get_context("spawn").Pool(jobs, _leave_interrupts_to_the_parent) as workers:
        yield from (workers.imap if ordered else workers.imap_unordered)(quiet, tasks)


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


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _without_doubts(work: Callable[[Task], Result], task: Task) -> Result:
    """Do a task that is meant to try what can hardly be seen."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtWarning)
        return work(task)


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows with the columns of the first one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    except OSError:
        raise OutputError(f"{path.name!r} cannot be written") from None


def write_text(path: Path, text: str) -> None:
    """Write a text file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError:
        raise OutputError(f"{path.name!r} cannot be written") from None
