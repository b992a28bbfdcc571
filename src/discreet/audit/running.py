"""Runs audits one after the other, remembers what is done, and tells what was found."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from discreet.audit import Finding
from discreet.audit.register import (
    ALPHA,
    BROKEN,
    FULL,
    QUICK,
    Case,
    broken_cases,
    cases,
    cases_for,
    levels_of,
    sound_cases,
)
from discreet.audit.subjects import methods
from discreet.errors import OutputError, SettingError
from discreet.simulation.processes import run_all

Group = Literal["library", "broken", "sound"]

STATE = "audit.jsonl"
"""What is done already, one line an audit."""


@dataclass(frozen=True)
class Report:
    """What all audits found: of the library, of what is broken on purpose, and of its sound twins."""

    library: tuple[Finding, ...]
    broken: tuple[Finding, ...] = ()
    sound: tuple[Finding, ...] = ()

    @property
    def violated(self) -> bool:
        """Whether anything of the library breaks its promise."""
        return any(finding.violated for finding in self.library)

    @property
    def missed(self) -> tuple[str, ...]:
        """What is broken and was not caught."""
        return tuple(finding.name for finding in self.broken if not finding.violated)

    @property
    def alarms(self) -> tuple[str, ...]:
        """What is sound and was flagged all the same."""
        return tuple(finding.name for finding in self.sound if finding.violated)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        data: dict[str, Any] = {"schema": 1, "audits": [_plain(finding) for finding in self.library]}
        if self.broken:
            data["broken"] = {
                "planted": len(self.broken),
                "caught": len(self.broken) - len(self.missed),
                "missed": list(self.missed),
                "audits": [_plain(finding) for finding in self.broken],
            }
        if self.sound:
            data["sound"] = {
                "audited": len(self.sound),
                "alarms": list(self.alarms),
                "audits": [_plain(finding) for finding in self.sound],
            }
        return data


def _plain(finding: Finding) -> dict[str, Any]:
    numbers = {"claim": finding.claimed, "found": finding.found}
    return {
        "name": finding.name,
        "auditor": finding.auditor,
        "promise": finding.claim,
        **{key: value if value is None or math.isfinite(value) else None for key, value in numbers.items()},
        "runs": finding.runs,
        "verdict": finding.verdict,
        "evidence": finding.evidence,
    }


@dataclass(frozen=True)
class Task:
    """One audit to be run, in whatever process."""

    name: str
    group: Group
    quick: bool
    alpha: float


def tasks(method: str | None, *, quick: bool) -> list[Task]:
    """Return the audits of a method, or of everything, with what is broken on purpose and its sound twins."""
    if method is not None and method not in methods():
        raise SettingError(f"method: {method!r} is not one of {', '.join(methods())}")
    groups: dict[Group, list[Case]] = {"library": cases_for(method)} if method is not None else _everything()
    if quick:
        groups["library"] = [case for case in groups["library"] if not case.slow]
    found = []
    sound = levels_of([case for group, chosen in groups.items() if group != "broken" for case in chosen])
    for group, chosen in groups.items():
        levels = levels_of(chosen) if group == "broken" else sound
        found += [Task(case.name, group, quick, levels.get(case.name, ALPHA)) for case in chosen]
    return found


def left_out(method: str | None) -> list[str]:
    """Return the names of the audits that a quick run leaves to the full one."""
    return [case.name for case in (cases() if method is None else cases_for(method)) if case.slow]


def _everything() -> dict[Group, list[Case]]:
    return {"library": cases(), "broken": broken_cases(), "sound": sound_cases()}


@cache
def _by_name(group: Group) -> dict[str, Case]:
    return {case.name: case for case in _everything()[group]}


def run_task(task: Task) -> Finding:
    """Run one audit. One that fails shows nothing: it does not pass, and nothing broken was caught."""
    case = _by_name(task.group)[task.name]
    try:
        return case.run(QUICK if task.quick else FULL, task.alpha)
    except Exception as error:  # noqa: BLE001 - one audit must not end all
        words = f"the audit itself failed ({type(error).__name__}: {error})"
        return Finding(task.name, case.auditor, "", None, None, 0, task.group != "broken", words)


def run(
    planned: Sequence[Task], *, jobs: int = 1, folder: Path | None = None, progress: Callable[[str], None]
) -> Report:
    """Run audits; with a folder, skip those that are done there already by the same code, and write down each."""
    if folder is not None:
        _prepare(folder)
    done = dict(_remembered(folder)) if folder is not None else {}
    left = [task for task in planned if _key(task) not in done]
    if len(left) < len(planned):
        progress(f"{len(planned) - len(left)} of {len(planned)} audits were done before by the same code")
    for i, (task, finding) in enumerate(zip(left, run_all(run_task, left, jobs), strict=True), start=1):
        done[_key(task)] = finding
        if folder is not None:
            _remember(folder, task, finding)
        progress(f"{i} of {len(left)}: {finding.name} ({finding.auditor}): {finding.verdict}")
    groups: dict[Group, list[Finding]] = {"library": [], "broken": [], "sound": []}
    for task in planned:
        groups[task.group].append(done[_key(task)])
    return Report(*map(tuple, groups.values()))


def _prepare(folder: Path) -> None:
    """Make the folder, and refuse it before anything is run if nothing can be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / STATE).touch()
    except OSError as error:
        raise OutputError(f"{str(folder)!r} cannot be written ({type(error).__name__})") from None


def _remember(folder: Path, task: Task, finding: Finding) -> None:
    line = json.dumps({"key": _key(task), "finding": asdict(finding)})
    try:
        with (folder / STATE).open("a", encoding="utf-8") as file:
            file.write(line + "\n")
    except OSError as error:
        raise OutputError(f"{str(folder)!r} cannot be written ({type(error).__name__})") from None


def _remembered(folder: Path) -> Iterator[tuple[str, Finding]]:
    path = folder / STATE
    if not path.is_file():
        return
    text = path.read_text(encoding="utf-8", errors="replace")
    if text and not text.endswith("\n"):  # the last line was cut off
        path.write_text(text.rpartition("\n")[0] + "\n" if "\n" in text else "", encoding="utf-8")
    for line in text.splitlines():
        try:
            data = json.loads(line)
            yield data["key"], Finding(**data["finding"])
        except (ValueError, KeyError, TypeError):  # a line that was cut off
            continue


def _key(task: Task) -> str:
    return f"{_code()} {'quick' if task.quick else 'full'} {task.alpha:.6g} {task.group} {task.name}"


@cache
def _code() -> str:
    """Return a fingerprint of the library's code: what was audited."""
    root = Path(__file__).parent.parent
    files = sorted(root.rglob("*.py"))
    parts = [part for path in files for part in (path.relative_to(root).as_posix().encode(), path.read_bytes())]
    parts += [f"{name} {version(name)}".encode() for name in ("numpy", "opendp", "python-flint", "scipy")]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def as_table(findings: Iterable[Finding]) -> list[str]:
    """Return findings as lines of a Markdown table."""
    rows = [("audited", "by", "promise", "found", "runs", "verdict")]
    rows += [(f.name, f.auditor, f.claim, _number(f.found), f"{f.runs:,}", f.verdict) for f in findings]
    return _lines(rows)


def broken_table(findings: Iterable[Finding]) -> list[str]:
    """Return what is broken on purpose as lines of a Markdown table, with what is wrong and where it comes from."""
    known = {broken.name: broken for broken in BROKEN}
    rows = [("broken", "what is wrong", "from", "must be caught by", "found / promised", "runs", "caught")]
    for f in findings:
        ratio = f"{_number(f.found)} / {_number(f.claimed)}" if f.found is not None and f.claimed else ""
        caught = "yes" if f.violated else "**missed**"
        rows.append((f.name, known[f.name].wrong, known[f.name].origin, f.auditor, ratio, f"{f.runs:,}", caught))
    return _lines(rows)


def _lines(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |" for row in rows]
    return [lines[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *lines[1:]]


def _number(found: float | None) -> str:
    """Return a number rounded down: what is found is certain."""
    if not found or not math.isfinite(found):
        return "" if found is None else f"{found:g}"
    steps = 10.0 ** (3 - math.floor(math.log10(found)))
    return f"{math.floor(found * steps * (1 + 1e-12)) / steps:.4g}"
