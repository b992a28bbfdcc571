"""What experiments share: finished runs are kept in a file, one line each, so that one that was broken off goes on."""

from __future__ import annotations

import csv
import json
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import OutputError


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


Record = dict[str, Any]


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
