"""One mutant on trial: a copy of the library with one line changed, before audits and before tests."""

from __future__ import annotations

import ast
import compileall
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

from mutation import ROOT, SOURCE, modules
from mutation.operators import Mutant
from mutation.tracing import digest_of

MAPS = ROOT / ".mutants"
"""Which functions each audit and each test enters, and how long it takes."""

SECONDS = 90.0
"""How long audits, and then tests, may look at a mutant, in seconds of the processor."""

FOR_EVER = 2.5
"""What takes so many times as long will never end."""

TESTS = ("statistics", "privacy", "domain", "data", "methods", "ledger", "test_room*.py", "test_[cw]*.py")
"""Which tests are looked at: those of files and folders that hold rows, noise and budgets."""


@dataclass(frozen=True)
class Outcome:
    """Whether a mutant was caught, by what, after how many audits or tests and how long."""

    caught: bool
    by: str
    ran: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"caught": self.caught, "by": self.by, "ran": self.ran, "seconds": round(self.seconds, 1)}


def draw_maps() -> None:
    """Note which functions audits and tests enter, where that is not known yet or a file of tests has changed."""
    MAPS.mkdir(exist_ok=True)
    tracing = ROOT / "benchmarks" / "mutation" / "tracing.py"
    _check([sys.executable, str(tracing), str(MAPS / "audits.json")])
    tests = _map("tests") if (MAPS / "tests.json").exists() else {}
    known = {(name.partition("::")[0], each["file"]) for name, each in tests.items()}
    for path in _test_files():
        if (path, digest_of(ROOT / path)) not in known:
            args = ["-q", "-n", "0", "-p", "no:cacheprovider", "-p", "mutation.tracing", "--trace-to"]
            _check([sys.executable, "-m", "pytest", *args, str(MAPS / "tests.json"), path])


def _test_files() -> list[str]:
    found: list[Path] = []
    for name in TESTS:
        found += (ROOT / "tests").glob(name) if "*" in name else (ROOT / "tests" / name).rglob("test_*.py")
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def _check(command: Sequence[str]) -> None:
    subprocess.run(command, cwd=ROOT, env=_environment(SOURCE.parent), check=False)


def _environment(source: Path) -> dict[str, str]:
    """Return where Python looks, with one thread and nothing written."""
    path = os.pathsep.join([str(source), str(ROOT / "benchmarks")])
    return {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


@cache
def _map(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((MAPS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def functions_of(mutant: Mutant) -> set[str]:
    """Return the functions through which a mutant can be met: its own, its class's, or those that use its name."""
    known = {name for what in ("audits", "tests") for each in _map(what).values() for name in each["functions"]}
    own = f"{mutant.module}:{mutant.function}"
    inside = {name for name in known if name == own or name.startswith(f"{own}.")}
    if mutant.function:
        return inside or {f"{mutant.module}:{mutant.function.rpartition('.')[0]}"}
    word = re.match(r"\w+", mutant.was.strip())
    users = _users(word.group()) & known if word else set()
    return users or {name for name in known if name.startswith(f"{mutant.module}:")}


@cache
def _users(word: str) -> set[str]:
    """Return the functions whose text has a word."""
    found = set()
    for module in modules():
        text = (SOURCE / module).read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            for inner in ast.iter_child_nodes(node):
                if isinstance(inner, ast.FunctionDef) and re.search(
                    rf"\b{word}\b", ast.get_source_segment(text, inner) or ""
                ):
                    outer = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
                    found.add(f"{module}:{outer}{inner.name}")
    return found


def audits_for(mutant: Mutant) -> list[str]:
    """Return the audits that meet a mutant: the most special of each auditor, which enter least, then all others."""
    functions = functions_of(mutant)
    sound = {name: case for name, case in _map("audits").items() if not case["violated"]}
    met = {n: c for n, c in sound.items() if c["auditor"] == "source" or functions & set(c["functions"])}
    order = sorted(met, key=lambda name: (len(met[name]["functions"]), met[name]["seconds"]))
    first = {met[name]["auditor"]: name for name in reversed(order)}
    return sorted(order, key=lambda name: name not in first.values())


def tests_for(mutant: Mutant, most: float) -> list[str]:
    """Return the tests that meet a mutant: files named like its module first, then the quickest."""
    functions = functions_of(mutant)
    met = {name: each for name, each in _map("tests").items() if functions & set(each["functions"])}
    stem = Path(mutant.module).stem if not mutant.module.endswith("__init__.py") else Path(mutant.module).parent.name
    seconds: dict[str, float] = {}
    for name, each in met.items():
        file = name.partition("::")[0]
        seconds[file] = seconds.get(file, 0.0) + each["seconds"]

    def place(name: str) -> tuple[bool, float, str, float]:
        file = name.partition("::")[0]
        return stem not in Path(file).stem, seconds[file], file, met[name]["seconds"]

    return _within(sorted(met, key=place), met, most)


def _within(order: Iterable[str], met: dict[str, Any], most: float) -> list[str]:
    """Return the first of them that fit into a time; what alone takes longer is passed over."""
    chosen, total = [], 0.0
    for name in order:
        if total + met[name]["seconds"] <= most:
            chosen.append(name)
            total += met[name]["seconds"]
    return chosen


class Court:
    """Holds a copy of the library in which one file at a time is replaced."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self.folder = Path(tempfile.mkdtemp(prefix="mutants-"))
        self.source = self.folder / "src"
        shutil.copytree(SOURCE, self.source / "discreet", ignore=shutil.ignore_patterns("__pycache__"))
        compileall.compile_dir(self.source, quiet=2)

    def put(self, mutant: Mutant) -> None:
        """Change one file; its compiled twin no longer fits it."""
        (self.source / "discreet" / mutant.module).write_text(mutant.text, encoding="utf-8")

    def restore(self, mutant: Mutant) -> None:
        """Put the file back, with its date."""
        shutil.copy2(SOURCE / mutant.module, self.source / "discreet" / mutant.module)

    def audit(self, mutant: Mutant) -> Outcome:
        """Run audits until one objects."""
        names = audits_for(mutant)
        listed = self.folder / "audits.json"
        listed.write_text(json.dumps(names), encoding="utf-8")
        auditing = ROOT / "benchmarks" / "mutation" / "auditing.py"
        code, out, seconds = self._run([sys.executable, str(auditing), str(listed), str(self.seconds)])
        found = [json.loads(line) for line in out.splitlines() if line.startswith('{"name"')]
        caught = [f"{each['name']} ({each['why']})" for each in found if each["caught"]]
        if code:
            caught.append("it takes for ever" if code < 0 else "nothing can be imported")
        return Outcome(bool(caught), caught[0] if caught else "", len(found), seconds)

    def test(self, mutant: Mutant) -> Outcome:
        """Run tests until one fails."""
        names = tests_for(mutant, self.seconds)
        if not names:
            return Outcome(False, "", 0, 0.0)
        listed = self.folder / "tests.txt"
        listed.write_text("\n".join(names), encoding="utf-8")
        args = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--tb=no", f"--basetemp={self.folder / 'pytest'}"]
        code, out, seconds = self._run([sys.executable, "-m", "pytest", *args, f"@{listed}"])
        failed = re.findall(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", out, flags=re.MULTILINE)
        by = failed[0] if failed else "it takes for ever" if code < 0 else "nothing can be imported"
        counts = sum(map(int, re.findall(r"(\d+) (?:passed|failed|error)", out)))
        return Outcome(code != 0, by if code else "", counts, seconds)

    def _run(self, command: Sequence[str]) -> tuple[int, str, float]:
        """Run something; return its code (negative if it never ends), what it said, and how long it took."""
        start, limit = perf_counter(), int(FOR_EVER * self.seconds)
        scratch = self.folder / "scratch"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        environment = {
            **_environment(self.source),
            "TMPDIR": str(scratch),
            "HYPOTHESIS_STORAGE_DIRECTORY": str(scratch),
        }
        with (self.folder / "out.txt").open("w+", encoding="utf-8", errors="replace") as out:
            child = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),  # noqa: PLW1509 - there is one thread
            )
            try:
                code = child.wait(4 * limit)
            except subprocess.TimeoutExpired:
                code = -1
            finally:
                _end(child.pid)
                child.wait()
            out.seek(0)
            return code, out.read(), perf_counter() - start

    def close(self) -> None:
        """Throw the copy away."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _end(group: int) -> None:
    """End whatever a trial left behind."""
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
