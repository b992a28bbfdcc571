"""Whose turn it is at a file: first come, first served, as far as the system can.

SQLite lets whoever finds its file in use sleep and try again, up to a tenth of a second at a time: of many writers,
most sleep while the file is free, and some wait for seconds. Here they stand in line at a file of their own beside it
(``flock``, which wakes the next one). Nothing but speed depends on it: where there is no such lock, or its file cannot
be made, or somebody holds it too long, SQLite's own locks still let one write at a time.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from types import TracebackType
from typing import Self

try:
    import fcntl
except ImportError:  # Windows has none
    fcntl = None  # type: ignore[assignment]


class Turn:
    """A context that begins when it is one's turn, or when that takes too long.

    Parameters
    ----------
    beside
        The file to stand in line for. The line is at another one: closing any handle of the file itself would drop
        the locks that SQLite has on it.
    wait
        Seconds after which to go on without.
    """

    def __init__(self, beside: Path, wait: float) -> None:
        self._beside = beside
        self._wait = wait
        self._handle: int | None = None
        self._waiting = self._over = False
        self._lock = Lock()

    def __enter__(self) -> Self:
        if fcntl is None:
            return self
        try:
            handle = self._handle = _opened(self._beside)
        except OSError:
            return self
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._stand(handle)
        except OSError:
            self.end()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.end()

    def end(self) -> None:
        """Let the next one go on."""
        with self._lock:
            self._over = True
            if not self._waiting:
                self._close()

    def _stand(self, handle: int) -> None:
        """Wait in a thread, since a lock that blocks cannot be waited for with a limit."""
        self._waiting = True
        try:
            waiter = Thread(target=self._take, args=(handle,), daemon=True)
            waiter.start()
        except RuntimeError:  # the system has no more threads
            self._waiting = False
            return
        try:
            waiter.join(self._wait)
        except BaseException:
            self.end()
            raise

    def _take(self, handle: int) -> None:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        with self._lock:
            self._waiting = False
            if self._over:  # it took too long; nobody waits for it any more
                self._close()

    def _close(self) -> None:
        if self._handle is not None:
            with suppress(OSError):
                fcntl.flock(self._handle, fcntl.LOCK_UN)  # also for a copy of the process that has the handle
            os.close(self._handle)
            self._handle = None


def line_at(beside: Path) -> Path:
    """Return the file at which the line for another one is."""
    return beside.with_name(beside.name + ".lock")


def _opened(beside: Path) -> int:
    """Open the file of the line, made at its first use for whoever may read what they stand in line for."""
    path = line_at(beside)
    with suppress(FileNotFoundError):
        return os.open(path, os.O_RDONLY)
    whose = beside.stat()
    mode = whose.st_mode & 0o666
    with suppress(FileExistsError):
        handle = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_EXCL, mode)
        with suppress(OSError):
            os.fchmod(handle, mode)
            os.fchown(handle, whose.st_uid, whose.st_gid)
        return handle
    return os.open(path, os.O_RDONLY)
