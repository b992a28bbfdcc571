"""Files that other programs write: spreadsheets, Stata, SPSS and SAS, read by libraries that come as an extra.

What a cell becomes depends on that cell and on what the file declares of its column, never on other rows.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from discreet.data.misfits import check_names
from discreet.errors import TableError

Columns = dict[str, np.ndarray[Any, Any]]

MISSING_EXTRA = "{name}: such files need `pip install 'discreet[files]'`; or save the table as CSV in UTF-8"


def _read_sheet(path: Path, sheet: str, name: str) -> Columns:
    """Read a sheet of a workbook: names stand in its first row."""
    from python_calamine import CalamineWorkbook

    book = CalamineWorkbook.from_path(str(path))
    if sheet and sheet not in book.sheet_names:
        raise TableError(f"{name}: no such sheet")
    if not sheet and len(book.sheet_names) > 1:
        raise TableError(f"{name}: say which sheet with ?table=NAME behind the path")
    rows = book.get_sheet_by_name(sheet or book.sheet_names[0]).to_python(skip_empty_area=False)
    titles = [title for title in (rows[0] if rows else []) if isinstance(title, str) and title]
    if not rows or len(titles) != len(rows[0]):
        raise TableError(f"{name}: the first row of the sheet must hold the names of the columns")
    check_names(name, titles)
    columns = {title: np.empty(len(rows) - 1, dtype=object) for title in titles}
    for i, row in enumerate(rows[1:]):
        for title, cell in zip(titles, row, strict=True):
            columns[title][i] = _cell(cell)
    return columns


def _cell(value: Any) -> Any:
    """Return a cell: whole numbers as such, and nothing for an empty one."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1 << 53:
        return int(value)
    return None if value == "" else value


def _read_statistics(read: str) -> Callable[[Path, str, str], Columns]:
    """Return what reads a file of a statistics program: codes, not their labels, and times as numbers."""

    def run(path: Path, _table: str, _name: str) -> Columns:
        import pyreadstat

        found, told = getattr(pyreadstat, read)(str(path), output_format="dict", disable_datetime_conversion=True)
        texts = {name for name, kind in told.readstat_variable_types.items() if kind == "string"}
        columns = {}
        for name, values in found.items():
            columns[name] = np.empty(len(values), dtype=object if name in texts else np.float64)
            columns[name][:] = [None if v == "" else v for v in values] if name in texts else values
        return columns

    return run


READERS: dict[str, Callable[[Path, str, str], Columns]] = {
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".xlsb", ".ods"), _read_sheet),
    ".dta": _read_statistics("read_dta"),
    ".sav": _read_statistics("read_sav"),
    ".zsav": _read_statistics("read_sav"),
    ".por": _read_statistics("read_por"),
    ".sas7bdat": _read_statistics("read_sas7bdat"),
    ".xpt": _read_statistics("read_xport"),
}
"""What reads a file, by how its name ends."""


def read_columns(path: Path, suffix: str, table: str, name: str) -> Columns:
    """Return the columns of a file.

    Raises
    ------
    TableError
        If what reads such files is not installed, or there is no such sheet.
    """
    try:
        return READERS[suffix](path, table, name)
    except ImportError:
        raise TableError(MISSING_EXTRA.format(name=name)) from None
