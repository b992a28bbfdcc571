"""A file of finished runs, one line each: an experiment that was interrupted goes on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import OutputError

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
