"""Mutation testing of the code on which privacy rests: who notices a small fault.

python benchmarks/mutants.py count                       how many mutants there are
python benchmarks/mutants.py map                         note what audits and tests enter, where that is not known
python benchmarks/mutants.py draw 100 [--promise]        draw more, to be judged by hand in docs/mutants/judged.yaml
python benchmarks/mutants.py run [--again missed]        put on trial what is judged and not done
python benchmarks/mutants.py report                      write docs/benchmarks/mutants.md
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections import Counter
from math import sqrt
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from mutation import modules
from mutation.operators import Mutant, mutants_of
from mutation.records import Judged, Kind, Run, find, read_judged, read_runs, write_judged, write_runs
from mutation.trial import SECONDS, Court, draw_maps

PROMISE = (
    r"sensitivity|cost|blur|charge|limit|_for$|clip|amplified|mu_of|rho_of|largest|moved|change|bound|Noise|weight"
)
PROMISE += r"|threshold|refine|invert|keys|from_zero|Gate|Room|_Ahead|passes|Budget|refuse|chosen_|fillers|_limit|root_"
"""Functions that state, charge or draw: most faults there weaken the promise."""


def parse_arguments() -> argparse.Namespace:
    """Return what is to be done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    for name in ("count", "map", "report"):
        parts.add_parser(name)
    draw, run = parts.add_parser("draw"), parts.add_parser("run")
    draw.add_argument("number", type=int)
    draw.add_argument("--promise", action="store_true", help="from functions that state, charge or draw")
    draw.add_argument("--only", default="", help="modules whose path begins so")
    draw.add_argument("--seed", type=int, default=1)
    run.add_argument("--again", choices=["missed", "survived", "all"], help="what audits missed, what survived tests")
    run.add_argument("--kind", choices=[Kind.WEAKENS.value, Kind.WRONG.value], help="only such  [default: both]")
    run.add_argument("--only", default="", help="mutants whose id begins so")
    run.add_argument("--seconds", type=float, default=SECONDS, help="of the processor, for audits and for tests")
    run.add_argument("--most", type=int, default=sys.maxsize, help="stop after so many")
    return parser.parse_args()


def main() -> None:
    """Do one part."""
    given = parse_arguments()
    if given.part == "count":
        count()
    elif given.part == "map":
        draw_maps()
    elif given.part == "draw":
        draw(given.number, given.seed, given.only, PROMISE if given.promise else "")
    elif given.part == "run":
        run(given.again, given.kind, given.only, given.most, given.seconds)
    else:
        from mutation.reporting import write_report

        write_report()


def count() -> None:
    """Print how many mutants there are, by module and by operator."""
    for module in modules():
        print(f"{len(mutants_of(module)):6d} {module}")
    for operator, number in Counter(mutant.operator for m in modules() for mutant in mutants_of(m)).most_common():
        print(f"{number:6d} {operator}")


def draw(number: int, seed: int, only: str, functions: str) -> None:
    """Add mutants that are not judged yet: of larger modules more, of every operator as many."""
    judged = read_judged()
    chosen = [module for module in modules() if module.startswith(only)]
    pools = {module: _pool(module, seed, set(judged), functions) for module in chosen}
    shares = {module: sqrt(len(pool)) for module, pool in pools.items()}
    drawn: list[Mutant] = []
    for module, pool in pools.items():
        wanted = round(number * shares[module] / sum(shares.values()))
        drawn += [mutant for mutant in pool[: 2 * wanted + 2] if mutant.compiles][:wanted]
    new = {m.id: Judged(m.was.strip(), m.now.strip(), None, "") for m in drawn}
    write_judged(judged | new)
    print(f"{len(new)} more to be judged")


def _pool(module: str, seed: int, known: set[str], functions: str) -> list[Mutant]:
    """Return a module's mutants in an order by chance, one of each operator at a time."""
    order = sorted(mutants_of(module), key=lambda m: hashlib.sha256(f"{seed} {m.id}".encode()).digest())
    turns: Counter[str] = Counter()
    ranked: list[tuple[int, int, Mutant]] = []
    for place, mutant in enumerate(order):
        if mutant.id not in known and re.search(functions, f"{mutant.module}:{mutant.function}"):
            ranked.append((turns[mutant.operator], place, mutant))
            turns[mutant.operator] += 1
    return [mutant for _, _, mutant in sorted(ranked, key=lambda r: r[:2])]


def run(again: str | None, kind: str | None, only: str, most: int, seconds: float) -> None:
    """Put mutants on trial, one after the other, and write down each."""
    kinds = [Kind(kind)] if kind else [Kind.WEAKENS, Kind.WRONG]
    judged = {name: each for name, each in read_judged().items() if name.startswith(only) and each.kind in kinds}
    runs = read_runs()
    court = Court(seconds)
    try:
        done = 0
        for name in sorted(judged, key=lambda name: hashlib.sha256(name.encode()).digest()):
            mutant = find(name)
            if mutant is None or done >= most:
                continue
            before = runs.get(name) or Run(mutant.digest)
            after = _try(court, mutant, before, weakens=judged[name].kind is Kind.WEAKENS, again=again)
            if after == before:
                continue
            done += 1
            runs = read_runs() | {name: after}
            write_runs(runs)
            print(f"{name}: audits {_word(after.audit)}, tests {_word(after.tests)}", flush=True)
    finally:
        court.close()


def _word(outcome: dict[str, object] | None) -> str:
    return "not asked" if outcome is None else f"caught by {outcome['by']}" if outcome["caught"] else "MISSED"


def _try(court: Court, mutant: Mutant, before: Run, *, weakens: bool, again: str | None) -> Run:
    """Run what is not known of a mutant yet, or is to be known anew."""
    if before.digest != mutant.digest or again == "all":
        before = Run(mutant.digest)
    audit, tests = before.audit, before.tests
    if audit is not None and not audit["caught"] and again == "missed":
        audit = None
    if tests is not None and not tests["caught"] and again == "survived":
        tests = None
    court.put(mutant)
    try:
        if audit is None and weakens:
            audit = court.audit(mutant).to_dict()
        if tests is None:
            tests = court.test(mutant).to_dict()
    finally:
        court.restore(mutant)
    return Run(mutant.digest, audit, tests)


if __name__ == "__main__":
    main()
