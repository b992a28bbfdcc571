"""An engine that holds rows: it is asked in expressions of Ibis, and what it says when it fails never gets out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.data.engines.encoding import Expr
from discreet.errors import DiscreetError, EngineError
from discreet.sealed import Sealed

Why = Callable[[type[Exception]], str | None]
"""Says in our own words why an engine failed, from the kind of its error; None if that is not known."""


class Engine(Sealed):
    """A connection to an engine.

    Parameters
    ----------
    backend
        Ibis' connection.
    name
        What the table is called in messages.
    why
        Says why it failed.
    together
        How many tables are asked for in one query: many where a query is dear whatever it counts.
    """

    def __init__(self, backend: Any, name: str, *, why: Why = lambda error: None, together: int = 1) -> None:
        self._backend = backend
        self.name = name
        self.together = together
        self.trouble: str | None = None
        self._why = why

    @property
    def kind(self) -> str:
        """Ibis' name of the engine."""
        return str(self._backend.name)

    def asked(self, work: Callable[[Any], Any]) -> Any:
        """Do something with the connection; turn any error into ours, without its message and its traceback."""
        try:
            return work(self._backend)
        except DiscreetError:
            raise
        except Exception as error:  # noqa: BLE001 - told below, without the cause: it may quote data
            kind = type(error)
        known = self._why(kind)
        self.trouble = (
            f"{self.name}: {known or 'the engine failed'}"  # may be told later, when it must not depend on data
        )
        raise EngineError(self.trouble if known else f"{self.trouble} ({kind.__name__})")

    def table(self, expr: Expr) -> dict[str, npt.NDArray[Any]]:
        """Return the columns of a small table."""
        return arrays_of(self.collected(expr))

    def batches(self, expr: Expr, rows: int) -> Iterator[Mapping[str, npt.NDArray[Any]]]:
        """Yield the columns of a large table, some rows at a time."""
        for batch in self.collected(expr).to_batches(max_chunksize=rows):
            yield arrays_of(batch)

    def collected(self, expr: Expr) -> Any:
        """Return a table as one of Arrow."""
        return self.asked(lambda backend: backend.to_pyarrow(expr))

    def sha256(self, text: Expr) -> Expr:
        """Return the hash of a text, in lower-case hexadecimal digits."""
        return text.hexdigest("sha256")

    def hash(self, text: Expr) -> Expr | None:
        """Return a fast hash of a text, a whole number; None where the engine has none that we know of."""
        return None

    def kept(self, expr: Expr) -> Expr:
        """Return the same table as the engine keeps it for later queries, where it can."""
        return expr


def arrays_of(table: Any) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of an Arrow table as arrays."""
    return {name: np.asarray(table.column(i)) for i, name in enumerate(table.schema.names)}
