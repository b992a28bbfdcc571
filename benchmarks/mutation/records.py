"""What was judged by hand, and what came out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any

import yaml

from mutation import FOLDER
from mutation.operators import Mutant, mutants_of

JUDGED, RUNS = FOLDER / "judged.yaml", FOLDER / "runs.jsonl"


class Kind(Enum):
    """What a mutant does."""

    WEAKENS = "weakens"
    """Less noise, too small a charge, a larger influence, a draw used twice, a datum let out."""
    WRONG = "wrong"
    """Anything else: a wasteful or wrong result that is as private, a refusal nobody needs, a worse message."""
    EQUIVALENT = "equivalent"
    """Nothing that anyone could notice."""


@dataclass(frozen=True)
class Judged:
    """A mutant's line before and after, its kind, and why."""

    was: str
    now: str
    kind: Kind | None
    why: str


@dataclass(frozen=True)
class Run:
    """What audits and tests said of a mutant, while its function was as the digest says."""

    digest: str
    audit: dict[str, Any] | None = None
    tests: dict[str, Any] | None = None


def find(name: str) -> Mutant | None:
    """Return a mutant by its id; None if its line is gone."""
    module = name.partition(":")[0] + ".py"
    return next((mutant for mutant in mutants_of(module) if mutant.id == name), None)


def read_judged() -> dict[str, Judged]:
    """Return all judgements."""
    data = yaml.safe_load(JUDGED.read_text(encoding="utf-8")) if JUDGED.exists() else {}
    return {
        name: Judged(each["was"], each["now"], Kind(each["kind"]) if each["kind"] else None, each["why"] or "")
        for name, each in (data or {}).items()
    }


def write_judged(judged: Mapping[str, Judged]) -> None:
    """Write all judgements, module by module."""
    FOLDER.mkdir(exist_ok=True)
    data = {
        name: {"was": each.was, "now": each.now, "kind": each.kind and each.kind.value, "why": each.why}
        for name, each in sorted(judged.items())
    }
    JUDGED.write_text(yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=10_000), encoding="utf-8")


def read_runs() -> dict[str, Run]:
    """Return what came out so far."""
    lines = RUNS.read_text(encoding="utf-8").splitlines() if RUNS.exists() else []
    found = (json.loads(line) for line in lines)
    return {each.pop("id"): Run(**each) for each in found}


def write_runs(runs: Mapping[str, Run]) -> None:
    """Write what came out, a line a mutant."""
    FOLDER.mkdir(exist_ok=True)
    lines = [json.dumps({"id": name, **asdict(run)}) for name, run in sorted(runs.items())]
    part = RUNS.with_suffix(".part")
    part.write_text("\n".join(lines) + "\n", encoding="utf-8")
    part.replace(RUNS)
