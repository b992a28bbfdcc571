"""Loading, with made-up rows through the real load: each row is encoded by itself, and people keep to their share.

A table is written as a custodian would have it, read by every way there is, and what comes out is compared with the
code of each row where it stands alone. So a row that moves another is found, whatever moves it. Of people, neighbours
differ in all rows of one of them, and what is used may differ in as many rows as are kept of one.
"""

from __future__ import annotations

import copy
import math
import pickle
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa

from discreet.audit import FOREIGN, Finding
from discreet.data import Recodable, people
from discreet.data import load as loads
from discreet.data.load import Reading, load
from discreet.domain import Categorical, Domain, Numeric, People
from discreet.errors import DiscreetError
from discreet.progress import Progress

Row = tuple[str, ...]
Codes = tuple[int, ...]
Way = Callable[[Sequence[Row], Sequence[str], Path], Any]
"""Makes of rows, and the names of their columns, what a custodian hands in."""

OPEN = Domain(
    {
        "sex": Categorical(
            categories=("f", "m"), missing="unknown", other="else", merge={"m": ("male",)}, ignore=("case", "spaces")
        ),
        "grade": Categorical(categories=("1", "2", "3"), missing="none", other="none", missing_codes=("-9",)),
        "age": Numeric(bounds=(0.0, 100.0), bins=4, missing="none", other="odd"),
        "ill": Categorical(categories=("false", "true"), missing="none", other="else"),
        "dose": Numeric(bounds=(0.0, 1.0), missing="none", other="odd"),
    },
    rows=11,
)
"""A domain with a place for everything."""

TEXTS: dict[str, tuple[str, ...]] = {
    "sex": ("f", "m", "M ", " male", "F", "", "unknown", FOREIGN, "f;m"),
    "grade": ("1", "2", "3", "-9", "", "4", "1.5", FOREIGN),
    "age": ("0", "24.9", "25", "99.99", "100", "-7", "1e9", "", FOREIGN, "12 years", "1e400", "-inf", "nan"),
    "ill": ("false", "true", "", "2", "0.5", FOREIGN, "9007199254740993"),
    "dose": ("0", "0.5", "0.999", "1", "1e-300", "", FOREIGN, "2"),
}
"""What stands in a file: declared values, spellings, what is missing, foreign or beyond bounds."""

SHUT = Domain({"sex": Categorical(categories=("f", "m")), "age": Numeric(bounds=(0.0, 100.0), bins=4)}, rows=9)
"""A domain without a place for what is missing or foreign."""


@cache
def expected(column: str, text: str) -> int | None:
    """Return the code of a text by the plain meaning of the domain; None where that takes more than a look."""
    declared = OPEN[column]
    if isinstance(declared, Categorical):
        return {label: i for i, label in enumerate(declared.categories)}.get(text)
    if not isinstance(declared.bins, int):
        return None
    low, high = declared.bounds
    try:
        share = min(max((float(text) - low) / (high - low), 0.0), 1.0)
    except ValueError:
        return None
    if math.isnan(float(text)):
        return None
    return min(int(share * declared.bins), declared.bins - 1)


def _csv(rows: Sequence[Row], names: Sequence[str], folder: Path) -> Path:
    path = folder / "table.csv"
    lines = [
        ",".join(names),
        *(",".join(f'"{text}"' if " " in text or ";" in text else text for text in row) for row in rows),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _arrow(rows: Sequence[Row], names: Sequence[str], folder: Path) -> pa.Table:
    return pa.table({name: pa.array([row[i] or None for row in rows], pa.string()) for i, name in enumerate(names)})


def _parquet(rows: Sequence[Row], names: Sequence[str], folder: Path) -> Path:
    import pyarrow.parquet as pq

    pq.write_table(_arrow(rows, names, folder), folder / "table.parquet")
    return folder / "table.parquet"


def _meant(text: str) -> object:
    """Return a text as the object of Python that it means: nothing, a truth value, a number, or itself."""
    if text in ("", "2", "true", "false"):
        return {"": None, "2": 2.0}.get(text, text == "true")
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def _lists(rows: Sequence[Row], names: Sequence[str], folder: Path) -> dict[str, list[object]]:
    return {name: [_meant(row[i]) for row in rows] for i, name in enumerate(names)}


def _objects(rows: Sequence[Row], names: Sequence[str], folder: Path) -> Any:
    columns = {name: np.empty(len(rows), dtype=object) for name in names}
    for name, values in _lists(rows, names, folder).items():
        columns[name][:] = values
    return columns


def _duckdb(rows: Sequence[Row], names: Sequence[str], folder: Path) -> str:
    import duckdb

    with duckdb.connect(folder / "table.duckdb") as database:
        database.sql(f"CREATE TABLE rows AS FROM read_parquet('{_parquet(rows, names, folder)}')")
    return f"{folder / 'table.duckdb'}?table=rows"


def _pandas(rows: Sequence[Row], names: Sequence[str], folder: Path) -> Any:
    import pandas as pd

    return pd.DataFrame([[text or None for text in row] for row in rows], columns=list(names))


def _mixed(rows: Sequence[Row], names: Sequence[str], folder: Path) -> Any:
    import pandas as pd

    return pd.DataFrame({name: pd.Series(v, dtype=object) for name, v in _lists(rows, names, folder).items()})


def _polars(rows: Sequence[Row], names: Sequence[str], folder: Path) -> Any:
    import polars as pl

    return pl.from_arrow(_arrow(rows, names, folder))


def _engine(rows: Sequence[Row], names: Sequence[str], folder: Path) -> Any:
    import ibis

    return ibis.duckdb.connect().read_parquet(_parquet(rows, names, folder))


def _extras() -> Iterator[tuple[str, Way]]:
    """Yield the ways that need what is not always installed."""
    try:
        import pandas as pd
    except ImportError:
        pass
    else:
        yield f"a frame of {pd.__name__}", _pandas
        yield f"a frame of {pd.__name__}, with objects", _mixed
    try:
        import polars as pl
    except ImportError:
        pass
    else:
        yield f"a frame of {pl.__name__.title()}", _polars
    try:
        import ibis
    except ImportError:
        pass
    else:
        yield f"an engine, by {ibis.__name__.title()}", _engine


WAYS: dict[str, Way] = {
    "a CSV file": _csv,
    "a Parquet file": _parquet,
    "a table of Arrow": _arrow,
    "a CSV file, streamed": _csv,
    "a DuckDB file": _duckdb,
    "lists": _lists,
    "arrays of objects": _objects,
    **dict(_extras()),
}
"""How rows come in."""


@contextmanager
def _strained(way: str) -> Iterator[None]:
    """Leave no room for codes where they are to be streamed, and let many rows be made up."""
    memory = 0 if "streamed" in way else loads.MEMORY_BYTES
    with patch.object(loads, "MEMORY_BYTES", memory), patch.object(people, "MADE_UP", 0.5):
        yield


def _read(
    way: str,
    rows: Sequence[Row],
    names: Sequence[str],
    domain: Domain,
    key: str | None = None,
    progress: Progress | None = None,
) -> list[Codes] | str:
    """Return the codes of all rows, or the words of an error."""
    with tempfile.TemporaryDirectory() as folder, _strained(way):
        data = WAYS[way](rows, names, Path(folder))
        try:
            table = load(data, domain, reading=Reading(key=key, progress=progress))
            _check_sealed(table)
            return codes_of(table, domain)
        except DiscreetError as error:
            return f"{error} {error.__cause__!r}".replace(str(folder), "")


def _check_sealed(table: Recodable) -> None:
    """Fail where a table can be copied, or shows more than its kind."""
    for make in (copy.copy, copy.deepcopy, pickle.dumps):
        try:
            make(table)
        except DiscreetError:
            continue
        raise AssertionError("a table can be copied")
    if re.search(r"[\[{(]|\d", repr(table)):
        raise AssertionError("a table shows itself")


def codes_of(table: Recodable, domain: Domain) -> list[Codes]:
    """Return the codes of all rows, in no order; every way to ask for them must tell the same."""
    names = [c for c in domain if domain[c].tabulable]
    (counted,) = table.counts([tuple(names)])
    found = [place for place in np.ndindex(*counted.shape) for _ in range(int(counted[place]))]
    try:
        values = list(zip(*(column.tolist() for column in table.values(names)), strict=True))
    except DiscreetError:  # rows are not to be had where they are streamed
        return found
    if Counter(values) != Counter(found):
        raise AssertionError("rows and counts tell different things")
    sets = [(names[0],), (names[0], names[-1])]
    if table.sums(sets) != [sum(row[0] for row in values), sum(row[0] * row[-1] for row in values)]:
        raise AssertionError("rows and sums tell different things")
    every = [column.tolist() for column in table.values(list(domain))]
    return list(zip(*every, strict=True))


def audit_rows(name: str, way: str, tries: int) -> Finding:
    """Load tables, and compare every row's code with what it is where it stands alone."""
    promise, looked = "each row is encoded by itself", 0
    for wrong in _row_faults(way, np.random.default_rng(3), tries):
        looked += 1
        if wrong:
            return Finding(name, "replay", promise, None, None, looked, True, wrong)
    return Finding(name, "replay", promise, None, None, looked, False)


def _row_faults(way: str, rng: np.random.Generator, tries: int) -> Iterator[str]:
    names = list(OPEN)
    alone: dict[tuple[str, str], int] = {}
    for i in range(max(map(len, TEXTS.values()))):
        row = tuple(TEXTS[c][i % len(TEXTS[c])] for c in names)
        codes = _read(way, [row] * OPEN.rows, names, OPEN)
        if isinstance(codes, str) or len(set(codes)) != 1 or len(codes) != OPEN.rows:
            yield "equal rows get different codes, or one that has a place is refused"
            return
        alone |= {(c, text): code for c, text, code in zip(names, row, codes[0], strict=False)}
        wrong = [c for c, text in zip(names, row, strict=True) if expected(c, text) not in (None, alone.get((c, text)))]
        yield f"a declared value of {wrong[0]} gets another code" if wrong else ""
    for _ in range(tries):
        few = int(rng.choice([2, 3, OPEN.rows]))  # two kinds of values, three, or any
        columns = [rng.choice(rng.choice(TEXTS[c], few), OPEN.rows).tolist() for c in names]
        rows = [tuple(row) for row in zip(*columns, strict=True)]
        together = _read(way, rows, names, OPEN)
        if isinstance(together, str):
            yield "a table is refused whose rows have a place"
            continue
        width = len(together[0])
        meant = Counter(tuple(alone[c, text] for c, text in zip(names[:width], row, strict=False)) for row in rows)
        yield "" if Counter(together) == meant else "a value gets another code beside others than alone"
    yield from _misfit_faults(way)
    if way.startswith("a CSV file"):
        yield from _torn_faults(way)


TORN = (
    '"0,1',
    '0,"1',
    '0,1"',
    '0"0,1',
    "0,1,2",
    "0",
    "",
    '"0""0,1',
    "0,1\r",
    "0\t1",
    "\ufeff0,1",
    '"0\n0",1',
    "0;1",
    "'0,1",
)
"""Lines that are no rows of a table with two columns, or hardly."""


def _torn_faults(way: str) -> Iterator[str]:
    """Whatever one line holds, others are read as without it, or nothing is read at all."""
    lines = [f"{i % 3},{i % 2}" for i in range(24)]
    whole = _read_text(way, lines)
    for torn, place in product(TORN, (0, 12, 24)):
        read = _read_text(way, [*lines[:place], torn, *lines[place:]])
        moved = 0 if isinstance(read, str) else sum((Counter(whole) - Counter(read)).values())
        yield "" if moved <= ABSENT.group else f"one line of a file changes {moved} rows"


def _read_text(way: str, lines: Sequence[str]) -> list[Codes] | str:
    """Return the codes of a file's lines, of which twenty are used, or the words of an error."""
    with tempfile.TemporaryDirectory() as folder, _strained(way):
        path = Path(folder) / "table.csv"
        path.write_text("\n".join(["a,b", *lines]) + "\n", encoding="utf-8", newline="")
        try:
            return codes_of(load(path, TORN_DOMAIN, reading=Reading(key="0" * 64)), TORN_DOMAIN)
        except DiscreetError as error:
            return str(error)


def _misfit_faults(way: str) -> Iterator[str]:
    """Refused: values without a place, other numbers of rows, absent columns; and no value is told."""
    names, good = list(SHUT), ("f", "30")
    for bad in (("", "30"), (FOREIGN, "30"), ("m", ""), ("m", FOREIGN)):
        told = _read(way, [good] * 8 + [bad], names, SHUT)
        yield "" if isinstance(told, str) else "a value without a place is taken"
        yield "" if FOREIGN not in told else "an error tells a value"
    for rows in ([good] * 8, [good] * 10):
        yield "" if isinstance(_read(way, rows, names, SHUT), str) else "a table of another number of rows is taken"
    absent = _read(way, [("f",)] * 9, ["sex"], SHUT)
    yield "" if isinstance(absent, str) else "a table without a declared column is taken"
    kept = _read(way, [good] * 9, names, SHUT)
    yield "" if not isinstance(kept, str) else "a table that fits is refused"


_CELLS = {"a": Categorical(categories=("0", "1", "2")), "b": Categorical(categories=("0", "1"))}

PERSONS = Domain(_CELLS, rows=20, people=People(id="who", max_rows=2))
"""People with at most two rows each, of which twenty are used in all."""

ABSENT = Domain(_CELLS, rows=20, people=People(id=None, max_rows=1))
"""Rows that may be there or not: twenty are used in all."""


def audit_people(name: str, way: str, tries: int) -> Finding:
    """Change all rows of one person, or whether one row is there; count how many of those that are used change."""
    rng, share, looked, read = np.random.default_rng(4), 0.0, 0, set[bool]()
    promise = "one person moves no more rows than are kept of one"
    pairs = [(PERSONS, _persons(rng), _key(rng)) for _ in range(tries)]
    pairs += [(PERSONS, _short(who), "0" * 64) for who in range(10)]
    pairs += [(PERSONS, _nameless(name), "0" * 64) for name in ("", "7", "new")]
    pairs += [(ABSENT, _absent(rng), _key(rng)) for _ in range(tries)]
    for domain, tables, key in pairs:
        looked += 1
        most = domain.group
        told: tuple[list[str], list[str]] = ([], [])
        first, second = (
            _read(way, rows, ["who", "a", "b"], domain, key, said.append)
            for rows, said in zip(tables, told, strict=True)
        )
        if isinstance(first, str) or isinstance(second, str):
            continue  # too few rows in all: the custodian is told before anything is spent
        read.add(domain is PERSONS)
        if told[0] != told[1]:
            return Finding(name, "replay", promise, 1.0, None, looked, True, "progress tells how many rows there are")
        moved = sum((Counter(first) - Counter(second)).values())
        share = max(share, moved / most)
        if moved > most or {len(first), len(second)} != {domain.rows}:
            wrong = f"{moved} of {len(first)} and {len(second)} rows change with one {domain.unit}"
            return Finding(name, "replay", promise, 1.0, share, looked, True, wrong)
    lost = "" if len(read) == 2 else "nothing of people, or of rows that may be absent, can be read"
    return Finding(name, "replay", promise, 1.0, share, looked, bool(lost), lost)


def _key(rng: np.random.Generator) -> str:
    return "".join(rng.choice(list("0123456789abcdef"), 64))


def _cells(rng: np.random.Generator) -> tuple[str, str]:
    return str(rng.integers(3)), str(rng.integers(2))


TORN_DOMAIN = replace(
    ABSENT, columns={name: replace(column, missing="none", other="else") for name, column in _CELLS.items()}
)
"""The same, with a place for whatever stands in a torn line."""


def _persons(rng: np.random.Generator) -> tuple[list[Row], list[Row]]:
    """Return rows of people, one to five of each, of whom some have no name and count as one; then with one changed."""
    rows: list[Row] = []
    for p in range(int(rng.integers(7, 15))):
        rows += [("" if p == 5 else str(p), *_cells(rng)) for _ in range(int(rng.integers(1, 6)))]
    who = str(rng.choice(["", *map(str, range(12))]))
    changed: list[Row] = [row for row in rows if row[0] != who]
    changed += [(who, *_cells(rng)) for _ in range(int(rng.integers(0, 5)))]
    return rows, [changed[i] for i in rng.permutation(len(changed))]


def _short(who: int) -> tuple[list[Row], list[Row]]:
    """Return one row too few, so that one is made up, of ten people; then with all rows of one changed."""
    every = [(str(p), str(i)) for p in range(10) for i in range(2)][:-1]
    return [(p, "0", b) for p, b in every], [(p, "1" if p == str(who) else "0", b) for p, b in every]


def _nameless(name: str) -> tuple[list[Row], list[Row]]:
    """Return a row of each of twenty; then with many more of one of them, of somebody new, or without a name."""
    rows: list[Row] = [(str(p), "0", str(p % 2)) for p in range(20)]
    more: list[Row] = [(name, "1", "0")] * 40
    return rows, rows + more


def _absent(rng: np.random.Generator) -> tuple[list[Row], list[Row]]:
    """Return rows; then without one, or with one more."""
    rows: list[Row] = [("", *_cells(rng)) for _ in range(int(rng.integers(12, 26)))]
    changed = rows[1:] if rng.random() < 0.5 else [*rows, ("", *_cells(rng))]
    return rows, [changed[i] for i in rng.permutation(len(changed))]
