"""Which sources are tables in an engine, and how they are opened. A new engine is a file of its own, and named here."""

from __future__ import annotations

from typing import Any

from discreet.data.engines.engine import Engine, closed_if_it_fails
from discreet.data.engines.postgres import PostgresEngine
from discreet.data.engines.source import EngineSource
from discreet.data.engines.spark import SparkEngine
from discreet.errors import SettingError

ENGINES: tuple[type[Engine], ...] = (PostgresEngine, SparkEngine)
"""Engines of which more is known than Ibis knows: each says its schemes and its name in Ibis, how it is opened, and
what its errors mean. All others are reached through a table of Ibis."""

SCHEMES = {scheme: engine for engine in ENGINES for scheme in engine.schemes}
"""Engines by what a URL of a table begins with."""

BACKENDS = {engine.ibis_name: engine for engine in ENGINES}
"""Engines by their name in Ibis."""


def in_engine(data: object) -> bool:
    """Whether something names a table in an engine: a URL, or an expression of Ibis."""
    if isinstance(data, str):
        return "://" in data
    return any(c.__name__ == "Table" and c.__module__.split(".")[0] == "ibis" for c in type(data).__mro__)


def open_engine(data: Any) -> EngineSource:
    """Open a table in an engine."""
    if not isinstance(data, str):
        return _open_expression(data)
    engine = SCHEMES.get(data.partition("://")[0])
    if engine is None:
        urls = " or ".join(engine.url for engine in ENGINES)
        raise SettingError(f"data: expected {urls}; for other engines hand over a table of Ibis in Python")
    opened, table = engine.open(data)
    with closed_if_it_fails(opened.close):
        return EngineSource(opened, table)


def _open_expression(table: Any) -> EngineSource:
    """Open what an analyst connected to already."""
    name = "the table"
    try:
        backend = table._find_backend()
    except Exception:  # noqa: BLE001 - Ibis' own words mean nothing here
        backend = None
    if backend is None:
        raise SettingError(f"{name}: this expression of Ibis belongs to no connection")
    return EngineSource(BACKENDS.get(backend.name, Engine).wrap(backend, name), table)
