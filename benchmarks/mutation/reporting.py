"""The page on mutants: how many of each kind were caught, and by what; which survived."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mutation import ROOT, modules
from mutation.operators import mutants_of
from mutation.records import Judged, Kind, Run, find, read_judged, read_runs

Catch = Callable[[Run], bool]

PAGE = ROOT / "docs" / "benchmarks" / "mutants.md"

HEAD = """# Mutants: would a fault be noticed?

Small faults are put into the code on which privacy rests, one at a time: a constant, a comparison, an operator, a call
left out, a draw used twice, arguments swapped, a guard that never refuses, a word of a query. Then audits look at it
until one objects, and tests until one fails.

<!-- test: parse, it takes hours -->
```sh
python benchmarks/mutants.py map
python benchmarks/mutants.py run
python benchmarks/mutants.py report
```

- Mutants are drawn by chance from {all:,}: of larger modules more, of every kind of fault as many, half of them from
  functions that state, charge or draw. Each is judged by hand from its line; survivors are looked at again.
- It **weakens the promise** (less noise, too small a charge, a larger influence, a draw used twice, a datum let out) or
  is **merely wrong** (a wasteful or wrong result that is as private, a refusal nobody needs, a worse message).
- Audits are those of `discreet audit --quick` that enter the changed function, the most special first;
  tests are those that enter it. What fails, or never ends, has caught it.
- Survivors were answered with new tests and new audits, and then tried again: shares of this sample flatter both. When
  first run, tests saw 73 % of those that weaken and 86 % of those that are merely wrong. A
  fresh draw (`python benchmarks/mutants.py draw 100`) shows what they are worth against other faults.
"""


def write_report() -> None:
    """Write the page."""
    judged, runs = read_judged(), read_runs()
    current = {name: run for name, run in runs.items() if name in judged and _fresh(name, run)}
    PAGE.write_text("\n".join(_lines(judged, current)) + "\n", encoding="utf-8")
    print(PAGE.relative_to(ROOT))


def _fresh(name: str, run: Run) -> bool:
    mutant = find(name)
    return mutant is not None and mutant.digest == run.digest


def _lines(judged: Mapping[str, Judged], runs: Mapping[str, Run]) -> list[str]:
    weakens = {name: run for name, run in runs.items() if judged[name].kind is Kind.WEAKENS and run.audit and run.tests}
    wrong = {name: run for name, run in runs.items() if judged[name].kind is Kind.WRONG and run.tests}
    equivalent = {name: each for name, each in judged.items() if each.kind is Kind.EQUIVALENT and find(name)}
    every = sum(len(mutants_of(module)) for module in modules())
    return [
        *HEAD.format(all=every).splitlines(),
        "",
        "| | mutants | caught | by audits alone | by tests alone |",
        "|---|---|---|---|---|",
        _row("weakens the promise", weakens, audited=True),
        _row("merely wrong", wrong, audited=False),
        "",
        f"Judged, and not run yet: {_waiting(judged, weakens, Kind.WEAKENS)} that weaken, "
        f"{_waiting(judged, wrong, Kind.WRONG)} merely wrong. "
        f"{len(equivalent)} more change nothing that anyone could notice: [why](../mutants/judged.yaml). "
        "[What came out](../mutants/runs.jsonl) of each, with the audit and the test that caught it.",
        "",
        "## By module",
        "",
        "| module | weaken | caught | by audits | merely wrong | caught by tests |",
        "|---|---|---|---|---|---|",
        *_by_module(weakens, wrong),
        "",
        *_survivors("Weakens the promise, and nothing notices", judged, _left(weakens, _caught)),
        *_survivors("Weakens the promise, and tests alone notice", judged, _left(weakens, _audited, _caught)),
        *_survivors("Merely wrong, and no test notices", judged, _left(wrong, _tested)),
    ]


def _waiting(judged: Mapping[str, Judged], runs: Mapping[str, Run], kind: Kind) -> int:
    return sum(each.kind is kind and name not in runs for name, each in judged.items())


def _audited(run: Run) -> bool:
    return bool(run.audit and run.audit["caught"])


def _tested(run: Run) -> bool:
    return bool(run.tests and run.tests["caught"])


def _caught(run: Run) -> bool:
    return _audited(run) or _tested(run)


def _left(runs: Mapping[str, Run], without: Catch, with_: Catch | None = None) -> list[str]:
    """Return those that one way did not catch, and another did."""
    return [name for name, run in runs.items() if not without(run) and (with_ is None or with_(run))]


def _row(words: str, runs: Mapping[str, Run], *, audited: bool) -> str:
    catches = [_caught, _audited, _tested] if audited else [_tested, None, _tested]
    cells = ["" if catch is None else _share(sum(map(catch, runs.values())), len(runs)) for catch in catches]
    return f"| {words} | {len(runs)} | {' | '.join(cells)} |"


def _share(part: int, whole: int) -> str:
    return f"{part} ({part / whole:.0%})" if whole else ""


def _by_module(weakens: Mapping[str, Run], wrong: Mapping[str, Run]) -> list[str]:
    lines = []
    for module in modules():
        stem = module.removesuffix(".py") + ":"
        here, there = ([run for name, run in runs.items() if name.startswith(stem)] for runs in (weakens, wrong))
        cells = [len(here), sum(map(_caught, here)), sum(map(_audited, here)), len(there), sum(map(_tested, there))]
        lines.append(f"| `{module}` | {' | '.join(str(cell) for cell in cells)} |")
    return lines


def _survivors(words: str, judged: Mapping[str, Judged], ids: Sequence[str]) -> list[str]:
    lines = [f"## {words}", ""]
    for name in ids:
        each = judged[name]
        was, now = (" ".join(line.split()) for line in (each.was, each.now))
        lines.append(f"- `{name.rpartition(':')[0]}`: `{was}` became `{now}`{each.why and f' ({each.why})'}")
    lines.append("")
    return lines if ids else [*lines, "None.", ""]
