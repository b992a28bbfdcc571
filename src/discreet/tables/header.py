"""The header line of a CSV file: names of columns, and the delimiter between them. Rows are not looked at."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from dataclasses import dataclass
from pathlib import Path

from discreet.errors import TableError

MAX_BYTES = 1 << 20
DELIMITERS = (",", ";", "\t", "|")


@dataclass(frozen=True)
class Header:
    """Names of columns and what stands between them."""

    names: tuple[str, ...]
    delimiter: str


def read_header(path: Path, name: str) -> Header:
    """Read the first line. Its delimiter is the one that occurs most often outside quotes."""
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            raw = file.read(MAX_BYTES)
    except (OSError, EOFError, zlib.error):
        raise TableError(f"{name} cannot be opened") from None
    line = re.split(rb"\r\n|\n|\r", raw.removeprefix(b"\xef\xbb\xbf"), maxsplit=1)[0]
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        raise TableError(f"{name}: the header line is not UTF-8 text") from None
    if "\x00" in text or not text.strip():
        raise TableError(f"{name}: the first line must hold the names of the columns")
    found = {d: _split(text, d) for d in DELIMITERS}
    delimiter = max(DELIMITERS, key=lambda d: len(found[d]))
    names = found[delimiter]
    if not names or any(not n for n in names):
        raise TableError(f"{name}: a column has no name, or the header line is not closed")
    if len({n.lower() for n in names}) != len(names):
        raise TableError(f"{name} has two columns whose names are the same or differ only in case")
    return Header(tuple(names), delimiter)


def _split(text: str, delimiter: str) -> list[str]:
    """Split a line at a delimiter, respecting double quotes; an open quote gives no columns."""
    if text.count('"') % 2:
        return []
    try:
        return next(csv.reader(io.StringIO(text), delimiter=delimiter), [])
    except csv.Error:
        return []
