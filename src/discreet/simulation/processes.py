"""Tasks done in several processes: simulated runs, which have nothing to do with each other."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from typing import TypeVar

from discreet.errors import DoubtWarning

Task = TypeVar("Task")
Result = TypeVar("Result")

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


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


def run_until(
    enough: Callable[[int], bool], work: Callable[[Task], Result], tasks: Iterator[Task], jobs: int
) -> Iterable[Result]:
    """Yield results as soon as they are there, and begin no task any more once as many as are begun are enough."""
    if jobs == 1:
        for i, task in enumerate(tasks):
            if enough(i):
                return
            yield work(task)
        return
    with _one_thread_each(), ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as workers:
        begun, running = 0, set[Future[Result]]()
        try:
            while True:
                while len(running) < jobs and not enough(begun) and (following := next(tasks, None)) is not None:
                    running.add(workers.submit(work, following))
                    begun += 1
                if not running:
                    return
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in ended)
        finally:
            workers.shutdown(cancel_futures=True)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Let processes that are started meanwhile compute with one thread each: they share the processors."""
    unset = [name for name in THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(unset, "1"))
    try:
        yield
    finally:
        for name in unset:
            os.environ.pop(name, None)
