"""Tables of a Spark cluster: this process is the driver, and the cluster's workers count."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from threading import Event, Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4
from weakref import finalize

from discreet.data.engines.engine import CONNECT, Engine, Expr, closed_if_it_fails
from discreet.errors import EngineError, MisfitError, SettingError, TableError
from discreet.sealed import hush

ALONE = 60
"""Seconds without any worker after which a query is broken off."""

SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.variable.substitute": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.parquet.binaryAsString": "false",
    "spark.sql.execution.topKSortFallbackThreshold": "100000",  # or rows of people are sorted in one worker's memory
}
"""What our queries mean does not depend on how the cluster is set up."""

_URL = "spark://host:port?table=NAME"
_EXPECTED = f"data: expected {_URL}, or ?parquet=PATH for files that all workers see"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class SparkEngine(Engine):
    """A Spark session. Its queries are broken off if all workers are gone, since Spark would wait for ever."""

    schemes = ("spark",)
    url = _URL
    ibis_name = "pyspark"
    together = 16
    end_of_text = r"\z"  # in Java `$` would also match before a last line end of any kind

    def __init__(self, session: Any, name: str, end: Callable[[], object] | None = None) -> None:
        import ibis

        hush("SQLQueryContextLogger")  # it quotes queries, and what made them fail
        super().__init__(ibis.pyspark.connect(session), name, end)
        self._session = session

    @classmethod
    def open(cls, url: str) -> tuple[Engine, Expr]:
        """Open a table by its URL.

        Raises
        ------
        SettingError
            If the URL is not one, or Spark or Java are not installed.
        EngineError
            If the master cannot be reached.
        TableError
            If there is no such table.
        """
        host, port, key, value = split_url(url)
        try:
            import ibis  # noqa: F401 - needed below
            import pyspark
        except ImportError:
            raise SettingError("data: Spark takes `pip install discreet[spark]`") from None
        name = f"table {value!r}" if key == "table" else f"files {os.path.basename(value.rstrip('/'))!r}"  # noqa: PTH119
        try:
            socket.create_connection((host, port), timeout=CONNECT).close()
        except OSError:
            raise EngineError(
                f"{name}: the Spark master cannot be reached: it is down, or host and port are wrong. Nothing was spent"
            ) from None
        session, stop = _start_session(pyspark, f"spark://{host}:{port}", host)
        engine = cls(session, name, stop)
        with closed_if_it_fails(engine.close):
            return engine, _find_table(engine, session, key, value)

    @classmethod
    def wrap(cls, backend: Any, name: str) -> Engine:
        """Return the engine of a connection that an analyst made."""
        return cls(backend._session, name)

    def explain(self, error: type[Exception]) -> str | None:
        """Say why Spark failed, from the kind of its error."""
        reasons = {
            "AnalysisException": "Spark cannot make sense of the table: a column or a file may be gone",
            "Py4JJavaError": "Spark broke the query off: no worker was free, or workers went away or ran out of memory",
            "Py4JNetworkError": "the connection to Spark was lost",
            "ConnectionRefusedError": "the connection to Spark was lost",
        }
        return reasons.get(error.__name__)

    def check_names(self, names: Iterable[str]) -> None:
        """Refuse names of columns that Spark would misread."""
        if any("${" in name for name in names):
            raise MisfitError(f"{self.name}: a column's name holds `${{`, which Spark replaces: rename it in a view")

    def ask(self, work: Callable[[Any], Any]) -> Any:
        """Do something with the connection; break it off if the cluster has had no worker for a while."""
        return super().ask(lambda backend: self._run_watched(lambda: work(backend)))

    def collect(self, expr: Expr) -> Any:
        """Return a table as one of Arrow."""
        return self.ask(lambda backend: self._session.sql(backend.compile(expr)).toArrow())

    def hash(self, text: Expr) -> Expr:
        """Return a fast hash of a text, a whole number."""
        import ibis

        def xxhash64(text: str) -> int: ...  # type: ignore[empty-body]

        return ibis.udf.scalar.builtin(xxhash64)(text)

    def keep(self, expr: Expr) -> Expr:
        """Keep a table in the workers' memory, and on their disks where that is full."""
        return self.ask(lambda backend: self._persist(backend, expr))

    def _persist(self, backend: Any, expr: Expr) -> Expr:
        import ibis

        name = f"discreet_{uuid4().hex}"
        unlike = expr.mutate(discreet=ibis.literal(name))  # or Spark would take it for an earlier load of the same path
        kept = self._session.sql(backend.compile(unlike)).persist()
        kept.createOrReplaceTempView(name)
        finalize(self, _forget, self._session, kept, name)
        return backend.table(name).drop("discreet")

    def _run_watched(self, work: Callable[[], Any]) -> Any:
        over = Event()
        watch = Thread(target=_watch, args=(self._session.sparkContext, over), daemon=True)
        watch.start()
        try:
            return work()
        finally:
            over.set()
            watch.join()


def _forget(session: Any, kept: Any, name: str) -> None:
    with suppress(Exception):
        kept.unpersist()
        session.catalog.dropTempView(name)


def split_url(url: str) -> tuple[str, int, str, str]:
    """Return host and port of the master, and what is read: a table's name or a path."""
    try:
        parts = urlsplit(url)
        options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=True)
        host, port = parts.hostname, parts.port or 7077
    except ValueError:
        raise SettingError(_EXPECTED) from None
    if parts.password or parts.username:
        raise SettingError("data: a Spark master takes no user and no password; leave them out")
    if host is None or parts.path not in ("", "/") or len(options) != 1 or options[0][0] not in ("table", "parquet"):
        raise SettingError(_EXPECTED)
    ((key, value),) = options
    if not value:
        raise SettingError(_EXPECTED)
    return host, port, key, value


def _start_session(pyspark: Any, master: str, host: str) -> tuple[Any, Callable[[], None]]:
    """Return a session on a master and what ends it: the one that there is, or a new one that says nothing."""
    from pyspark.sql import SparkSession

    there = SparkSession.getActiveSession()
    if there is not None and there.sparkContext.master == master:
        return _apply_settings(there.newSession()), lambda: None
    if there is not None:
        raise SettingError("data: this process has a Spark session on another master; stop it first")
    conf = pyspark.SparkConf().setMaster(master).setAppName("discreet").setAll(SETTINGS.items())
    conf.set("spark.ui.enabled", "false").set("spark.ui.showConsoleProgress", "false").set("spark.log.level", "OFF")
    if host in _LOOPBACK:
        conf.set("spark.driver.host", "127.0.0.1").set("spark.driver.bindAddress", "127.0.0.1")
    gateway = context = None
    with suppress(Exception):
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        gateway = pyspark.java_gateway.launch_gateway(conf, silent)
        context = pyspark.SparkContext(conf=conf, gateway=gateway)
    if context is None:
        java = "Spark takes a Java from 17 to 23 (JAVA_HOME)"
        why = java if gateway is None else f"the Spark master did not answer, or Java is too new: {java}"
        _end(pyspark, gateway)
        raise EngineError(f"data: {why}. Nothing was spent")
    return _apply_settings(SparkSession(context)), lambda: _stop(pyspark, context, gateway)


def _apply_settings(session: Any) -> Any:
    for key, value in SETTINGS.items():
        session.conf.set(key, value)
    return session


def _stop(pyspark: Any, context: Any, gateway: Any) -> None:
    with suppress(Exception):
        context.stop()
    _end(pyspark, gateway)


def _end(pyspark: Any, gateway: Any) -> None:
    """End the driver's Java."""
    if gateway is None:
        return
    with suppress(Exception):
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(30)
    pyspark.SparkContext._gateway = pyspark.SparkContext._jvm = None


def _find_table(engine: SparkEngine, session: Any, key: str, value: str) -> Expr:
    """Return the table, or the files, as an expression."""
    if key == "parquet":
        try:
            return engine.ask(lambda backend: backend.read_parquet(value))
        except EngineError:
            raise TableError(f"{engine.name} cannot be read by the cluster as Parquet files") from None
    for parts in ([value], value.split(".")):
        quoted = ".".join("`" + part.replace("`", "``") + "`" for part in parts)
        if _exists(session, quoted):
            return engine.ask(partial(_select_all, quoted))
    raise TableError(f"{engine.name} does not exist in the cluster's catalog")


def _select_all(quoted: str, backend: Any) -> Expr:
    return backend.sql(f"SELECT * FROM {quoted}")


def _exists(session: Any, quoted: str) -> bool:
    try:
        return bool(session.catalog.tableExists(quoted))
    except Exception:  # noqa: BLE001 - a name that makes no sense is no table
        return False


def _watch(context: Any, over: Event) -> None:
    """Cancel all jobs once there was no worker for a while."""
    alone = 0
    while not over.wait(1):
        workers = 1
        with suppress(Exception):
            workers = context._jsc.sc().getExecutorMemoryStatus().size() - 1
        alone = 0 if workers > 0 else alone + 1
        if alone >= ALONE:
            with suppress(Exception):
                context.cancelAllJobs()
            return
