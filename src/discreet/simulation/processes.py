"""Tasks done in several processes: simulated runs, which have nothing to do with each other."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from multiprocessing import get_context
from typing import TypeVar

from discreet.errors import DoubtWarning

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


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _without_doubts(work: Callable[[Task], Result], task: Task) -> Result:
    """Do a task that is meant to try what can hardly be seen."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtWarning)
        return work(task)
