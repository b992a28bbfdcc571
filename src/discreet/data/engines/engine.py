"""An engine that holds rows: it is asked in expressions of Ibis, and what it says when it fails never gets out.

What one engine does its own way it says in a class of its own (``postgres.py``, ``spark.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from weakref import finalize

import numpy as np
import numpy.typing as npt

from discreet.errors import DiscreetError, EngineError
from discreet.sealed import Sealed

Expr = Any
"""An expression of Ibis: it builds its classes at run time."""

CONNECT = 15
"""Seconds to wait for a server."""


@contextmanager
def closed_if_it_fails(close: Callable[[], object]) -> Iterator[None]:
    """Close a connection if what is done with it fails; whoever keeps the error would keep it open."""
    try:
        yield
    except BaseException:
        close()
        raise


def double(number: float, kind: str = "float64") -> Expr:
    """Return a number as it is, to the last bit."""
    import ibis

    return ibis.literal(repr(float(number))).cast(kind)


def silence(connection: Any) -> None:
    """Switch off DuckDB's own bar, which is drawn where results go, and tells how long a query takes."""
    # A notebook that cannot draw the bar has it off, and refuses to be told so.
    if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall() == [(True,)]:
        connection.execute("SET enable_progress_bar = false")


class Engine(Sealed):
    """A connection to an engine, of which nothing is known but what Ibis knows.

    Parameters
    ----------
    backend
        Ibis' connection.
    name
        What the table is called in messages.
    end
        Ends the connection, if it was made for this; ``close`` does so, once, and whoever forgets the engine.
    """

    schemes: tuple[str, ...] = ()
    """What a URL of a table begins with; none if it is opened by Ibis alone."""

    url = ""
    """What such a URL looks like."""

    ibis_name = ""
    """Ibis' name of the engine."""

    together = 1
    """How many tables are asked for in one query: many where a query is dear whatever it counts."""

    end_of_text = "$"
    """What matches the end of a text, and nothing before it."""

    def __init__(self, backend: Any, name: str, end: Callable[[], object] | None = None) -> None:
        self._backend = backend
        self.name = name
        self.close: Callable[[], object] = (lambda: None) if end is None else finalize(self, end)

    @classmethod
    def open(cls, url: str) -> tuple[Engine, Expr]:
        """Open a table by its URL: return the engine, and the table as an expression."""
        raise NotImplementedError

    @classmethod
    def wrap(cls, backend: Any, name: str) -> Engine:
        """Return the engine of a connection that an analyst made."""
        engine = cls(backend, name)
        if engine.kind == "duckdb":
            engine.ask(lambda backend: silence(backend.con))
        return engine

    @property
    def kind(self) -> str:
        """Ibis' name of the engine that this is."""
        return str(self._backend.name)

    def explain(self, error: type[Exception]) -> str | None:
        """Say in our own words why it failed, from the kind of its error; None if that is not known."""
        return None

    def check_names(self, names: Iterable[str]) -> None:
        """Refuse names of columns that the engine would misread."""

    def ask(self, work: Callable[[Any], Any]) -> Any:
        """Do something with the connection; turn any error into ours, without its message and its traceback."""
        try:
            return work(self._backend)
        except DiscreetError:
            raise
        except Exception as error:  # noqa: BLE001 - told below, without the cause: it may quote data
            kind = type(error)
        raise EngineError(f"{self.name}: {self.explain(kind) or f'the engine failed ({kind.__name__})'}")

    def table(self, expr: Expr) -> dict[str, npt.NDArray[Any]]:
        """Return the columns of a small table."""
        return arrays_of(self.collect(expr))

    def batches(self, expr: Expr, rows: int) -> Iterator[Mapping[str, npt.NDArray[Any]]]:
        """Yield the columns of a large table, some rows at a time."""
        for batch in self.collect(expr).to_batches(max_chunksize=rows):
            yield arrays_of(batch)

    def collect(self, expr: Expr) -> Any:
        """Return a table as one of Arrow."""
        return self.ask(lambda backend: backend.to_pyarrow(expr))

    def keep(self, expr: Expr) -> Expr:
        """Return the same table as the engine keeps it for later queries, where it can."""
        return expr

    def sha256(self, text: Expr) -> Expr:
        """Return the hash of a text, in lower-case hexadecimal digits."""
        return text.hexdigest("sha256")

    def hash(self, text: Expr) -> Expr | None:
        """Return a fast hash of a text, a whole number; None where the engine has none that we know of."""
        return None

    def to_double(self, number: Expr) -> Expr:
        """Return a number as a float."""
        return number.cast("float64")

    def read_number(self, text: Expr) -> Expr:
        """Return the number that a text is written as, as a float."""
        return text.cast("float64")

    def write_decimal(self, raw: Expr) -> Expr:
        """Return a decimal as text: equal ones have equal texts."""
        return raw.cast("string")

    def decimal_is_gone(self, raw: Expr) -> Expr:
        """Whether a decimal is missing."""
        return raw.isnull()

    def decimal_is(self, raw: Expr, label: str, number: float) -> Expr:
        """Whether a decimal is the number that a label is written as."""
        return raw.cast("float64") == double(number)


def arrays_of(table: Any) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of an Arrow table as arrays."""
    return {name: np.asarray(table.column(i)) for i, name in enumerate(table.schema.names)}
