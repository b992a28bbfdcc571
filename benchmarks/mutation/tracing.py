"""Which functions an audit or a test enters: as a plugin of pytest, or run as a script for all audits.

python benchmarks/mutation/tracing.py FILE.json     adds the audits that are not in it yet
pytest -p mutation.tracing --trace-to FILE.json     the same for tests
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
from collections import defaultdict
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import _lru_cache_wrapper
from pathlib import Path
from time import process_time
from types import CodeType, FrameType
from typing import Any

import pytest

from mutation import modules

Seen = set[CodeType]


@contextmanager
def watching() -> Iterator[Seen]:
    """Collect the code of every function that is entered."""
    seen: Seen = set()
    before = sys.gettrace()

    def enter(frame: FrameType, _event: str, _arg: object) -> None:
        seen.add(frame.f_code)

    threading.settrace(enter)
    sys.settrace(enter)
    try:
        yield seen
    finally:
        sys.settrace(before)
        threading.settrace(before)


def names_of(seen: Seen) -> list[str]:
    """Return the functions of mutated modules by module and qualified name."""
    known = set(modules())
    found = set()
    for code in seen:
        module = code.co_filename.rpartition("/discreet/")[2]
        if module in known:
            parts = [part for part in code.co_qualname.split(".") if not part.startswith("<")]
            found.add(f"{module}:{'.'.join(parts)}")
    return sorted(found)


def digest_of(path: Path) -> str:
    """Return a fingerprint of a file of tests."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def _caches() -> list[_lru_cache_wrapper[Any]]:
    """Return the library's caches: what is in them would hide who calls what."""
    ours = [module for name, module in list(sys.modules.items()) if name.split(".")[0] == "discreet"]
    return [value for module in ours for value in vars(module).values() if isinstance(value, _lru_cache_wrapper)]


class Tests:
    """Notes what each test enters, with its fixtures."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: dict[str, Any] = {}
        self.shared: dict[str, set[str]] = defaultdict(set)
        self.open: list[Seen] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Watch a test from its fixtures on."""
        for cache in _caches():
            cache.cache_clear()
        start = process_time()
        with watching() as seen:
            self.open.append(seen)
            result = yield
        self.open.pop()
        fixtures = [f"{item.nodeid.partition('::')[0]} {name}" for name in getattr(item, "fixturenames", ())]
        functions = set(names_of(seen)).union(*(self.shared[name] for name in fixtures))
        note = {"file": digest_of(item.path), "functions": sorted(functions)}
        self.found[item.nodeid] = {"seconds": round(process_time() - start, 3), **note}
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Generator[None, object, object]:
        """Remember what a fixture enters that several tests share."""
        if fixturedef.scope == "function":
            return (yield)
        with watching() as seen:
            result = yield
        self.shared[f"{request.node.nodeid.partition('::')[0]} {fixturedef.argname}"] |= set(names_of(seen))
        self.open[-1].update(seen)
        return result

    def pytest_sessionfinish(self) -> None:
        """Write down what was found, beside what was known."""
        known = json.loads(self.path.read_text()) if self.path.exists() else {}
        files = {name.partition("::")[0] for name in self.found}
        kept = {name: each for name, each in known.items() if name.partition("::")[0] not in files}
        self.path.write_text(json.dumps(kept | self.found))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Say where to write."""
    parser.addoption("--trace-to", required=True)


def pytest_configure(config: pytest.Config) -> None:
    """Watch."""
    config.pluginmanager.register(Tests(Path(config.getoption("--trace-to"))))


def trace_audits(path: Path) -> None:
    """Run every audit that is not known yet, as briefly as can be, each in a process where no cache hides a call.

    One that objects without any fault is of no use, and is noted as such.
    """
    from discreet.audit.blackbox import FIRST_RUNS
    from discreet.audit.register import Power, cases

    known = json.loads(path.read_text()) if path.exists() else {}
    every = cases()
    brief = Power("brief", runs=2 * FIRST_RUNS, method_runs=2 * FIRST_RUNS, tries=3, steps=3, replays=3, loads=1)
    part = path.with_suffix(".part")
    for case in every:
        if case.slow or not known.get(case.name, {"violated": True})["violated"]:
            continue
        child = os.fork()
        if not child:
            start = process_time()
            with watching() as seen:
                violated = case.run(brief, 1e-6).violated
            note = {"auditor": case.auditor, "violated": violated, "functions": names_of(seen)}
            part.write_text(json.dumps({"seconds": round(process_time() - start, 3), **note}))
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            print(f"failed without any fault: {case.name}")
            continue
        known[case.name] = json.loads(part.read_text())
        if known[case.name]["violated"]:
            print(f"objects without any fault: {case.name}")
        path.write_text(json.dumps({name: known[name] for name in known}))
    part.unlink(missing_ok=True)


if __name__ == "__main__":
    trace_audits(Path(sys.argv[1]))
