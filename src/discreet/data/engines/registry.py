"""Which sources are tables in an engine, and how they are opened."""

from __future__ import annotations

from typing import Any

from discreet.data.engines.engine import Engine
from discreet.data.engines.source import EngineSource
from discreet.errors import SettingError

SCHEMES = ("postgresql", "postgres", "spark")
"""What a URL of a table begins with."""


def in_engine(data: object) -> bool:
    """Whether something names a table in an engine: a URL, or an expression of Ibis."""
    if isinstance(data, str):
        return "://" in data
    return any(c.__name__ == "Table" and c.__module__.split(".")[0] == "ibis" for c in type(data).__mro__)


def open_engine(data: Any) -> EngineSource:
    """Open a table in an engine."""
    if not isinstance(data, str):
        return _open_expression(data)
    scheme = data.partition("://")[0]
    if scheme in ("postgresql", "postgres"):
        from discreet.data.engines.postgres import open_postgres

        return open_postgres(data)
    if scheme == "spark":
        from discreet.data.engines.spark import open_spark

        return open_spark(data)
    raise SettingError(
        "data: expected postgresql://user@host/database?table=NAME or spark://host:port?table=NAME; for other engines "
        "hand over a table of Ibis in Python"
    )


def _open_expression(table: Any) -> EngineSource:
    """Open what an analyst connected to already."""
    name = "the table"
    try:
        backend = table._find_backend()
    except Exception:  # noqa: BLE001 - Ibis' own words mean nothing here
        backend = None
    if backend is None:
        raise SettingError(f"{name}: this expression of Ibis belongs to no connection")
    return EngineSource(_engine(backend, name), table)


def _engine(backend: Any, name: str) -> Engine:
    if backend.name == "postgres":
        from discreet.data.engines.postgres import PostgresEngine, why_postgres

        return PostgresEngine(backend, name, why=why_postgres)
    if backend.name == "pyspark":
        from discreet.data.engines.spark import SparkEngine

        return SparkEngine(backend._session, name)
    return Engine(backend, name)
