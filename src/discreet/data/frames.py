"""In-memory tables as something DuckDB can scan, value by value.

What a value becomes depends on that value and the public domain alone. Column types of frames and arrays are schema,
and public; in a column of Python objects every object is looked at by itself.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from discreet.data.encoding import TRUTHS
from discreet.data.misfits import check_names
from discreet.domain import Categorical, Column, Domain, Numeric
from discreet.domain.yaml import parse_number
from discreet.errors import TableError

K = TypeVar("K", bound=Hashable)
NAME = "the table"
"""What a table without a name is called in messages."""

_PLAIN_KINDS = "biuf"


def as_frame(data: Any, domain: Domain | None) -> object:
    """Return something DuckDB can scan."""
    for kind, convert in _FRAMES.items():
        module, name = kind.split(".")
        if any(c.__name__ == name and c.__module__.split(".")[0] == module for c in type(data).__mro__):
            return convert(data, domain)
    if isinstance(data, dict):
        return _from_columns({str(k): _as_array(v) for k, v in data.items()}, domain)
    if isinstance(data, np.ndarray) and data.dtype.names:
        return _from_columns({n: _as_array(data[n]) for n in data.dtype.names}, domain)
    if isinstance(data, np.ndarray) and data.ndim == 2 and domain is not None:
        if data.shape[1] != len(domain.columns):
            raise TableError(f"the array has {data.shape[1]} columns, the domain declares {len(domain.columns)}")
        return _from_columns({c: _as_array(data[:, i]) for i, c in enumerate(domain)}, domain)
    raise TableError(
        "expected a path, a pandas, Polars or Arrow table, a dictionary of columns, or a NumPy array with one column "
        "for each declared one"
    )


def _from_pandas(frame: Any, domain: Domain | None) -> object:
    check_names(NAME, list(frame.columns))
    columns = frame.copy(deep=False)
    for column in frame.columns:
        if str(frame[column].dtype) in ("object", "category"):
            columns[column] = _write_all(frame[column].to_numpy(dtype=object), _declaration(domain, str(column)))
    return columns


def _from_polars(frame: Any, domain: Domain | None) -> object:
    check_names(NAME, frame.columns)
    return frame


def _from_lazy(frame: Any, domain: Domain | None) -> object:
    return _from_polars(frame.collect(), domain)


def _from_arrow(table: Any, domain: Domain | None) -> object:
    check_names(NAME, table.schema.names)
    return table


def _from_batch(batch: Any, domain: Domain | None) -> object:
    import pyarrow

    return _from_arrow(pyarrow.Table.from_batches([batch]), domain)


_FRAMES: dict[str, Callable[[Any, Domain | None], object]] = {
    "pandas.DataFrame": _from_pandas,
    "polars.DataFrame": _from_polars,
    "polars.LazyFrame": _from_lazy,
    "pyarrow.Table": _from_arrow,
    "pyarrow.RecordBatch": _from_batch,
}


def _as_array(values: Any) -> npt.NDArray[Any]:
    """Return a column as an array. Lists stay lists of objects: no value decides the type of another."""
    if isinstance(values, np.ma.MaskedArray):
        plain = np.asarray(values.data).astype(object)
        plain[np.ma.getmaskarray(values)] = None
        return plain
    if isinstance(values, np.ndarray):
        return values
    for convert in ("to_pylist", "to_numpy"):  # Arrow arrays, pandas and Polars series
        if hasattr(values, convert):
            return _as_array(getattr(values, convert)())
    array = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        array[i] = value
    return array


def _from_columns(columns: dict[str, npt.NDArray[Any]], domain: Domain | None) -> dict[str, npt.NDArray[Any]]:
    check_names(NAME, columns)
    shapes = {column.shape for column in columns.values()}
    if len(shapes) != 1 or len(next(iter(shapes))) != 1:
        raise TableError("the columns must be one-dimensional and of one length")
    return {name: _make_plain(name, column, _declaration(domain, name)) for name, column in columns.items()}


def _make_plain(name: str, column: npt.NDArray[Any], declared: Column | None) -> npt.NDArray[Any]:
    """Return a column of a type DuckDB knows."""
    if column.dtype.kind == "U":
        return column.astype(object)
    if column.dtype.kind == "O":
        return _write_all(column, declared)
    if column.dtype == np.dtype("datetime64[D]"):
        texts = np.datetime_as_string(column).astype(object)
        texts[np.isnat(column)] = None
        return texts
    if column.dtype.kind == "M":
        return column.astype("datetime64[us]")
    if column.dtype.kind not in _PLAIN_KINDS:
        raise TableError(f"column {name!r}: arrays of type {column.dtype} cannot be read")
    if column.dtype.kind == "f" and column.dtype.itemsize > 8:
        column = column.astype(np.float64)
    return np.ascontiguousarray(column, dtype=column.dtype.newbyteorder("="))


def _declaration(domain: Domain | None, name: str) -> Column | None:
    return domain.columns.get(name) if domain is not None else None


def _write_all(values: npt.NDArray[Any], column: Column | None) -> npt.NDArray[Any]:
    """Return objects as texts: numbers and truth values as the label they mean, others as they are written."""
    labels = [text for text, _ in column.spellings] if isinstance(column, Categorical) else []
    numbers = _unambiguous([(n, label) for label in labels if (n := parse_number(label)) is not None])
    truths = _unambiguous([(TRUTHS[label.lower()], label) for label in labels if label.lower() in TRUTHS])
    texts = np.empty(len(values), dtype=object)
    if isinstance(column, Numeric):
        truths = {True: "1", False: "0"}
        written = [v if type(v) is str else _as_declared(_write(v, numbers, truths), column) for v in values.tolist()]
    else:
        written = [v if type(v) is str else _write(v, numbers, truths) for v in values.tolist()]
    texts[:] = written
    return texts


def _as_declared(number: str | None, column: Numeric) -> str | None:
    """Return a number with the declared sign before decimals."""
    return number if number is None or column.decimal == "." else number.replace(".", column.decimal)


def _unambiguous(pairs: list[tuple[K, str]]) -> dict[K, str]:
    """Return what has one label only; what has two is matched as it is written."""
    met = Counter(key for key, _ in pairs)
    return {key: label for key, label in pairs if met[key] == 1}


def _is_missing(value: Any) -> bool:
    if value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, float | np.floating) and math.isnan(value)


def _write(value: Any, numbers: dict[Fraction, str], truths: dict[bool, str]) -> str | None:
    """Return one object as text, None if it is missing."""
    if _is_missing(value):
        return None
    if isinstance(value, bool | np.bool_):
        return truths.get(bool(value), str(value))
    if isinstance(value, float | np.floating):
        return next((label for number, label in numbers.items() if float(number) == value), str(value))
    try:
        if isinstance(value, Rational) or (isinstance(value, Decimal) and value.is_finite()):
            return numbers.get(Fraction(value), str(value))
        return str(value)
    except Exception:  # noqa: BLE001 - an object that cannot be written is foreign
        return "\ufffd"
