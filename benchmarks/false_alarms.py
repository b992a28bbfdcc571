"""False alarms: the black box on sound mechanisms, again and again, at a level of .001 each.

python benchmarks/false_alarms.py [audits] [processes]
"""

from __future__ import annotations

import sys
import time
from collections import Counter

from discreet.audit import Finding
from discreet.audit.register import Case, Power, cases, sound_cases
from discreet.simulation.processes import run_all

POWER = Power(
    "false alarms", runs=1_000, method_runs=500, tries=5, steps=10, replays=1, twin_runs=1_000, draws=0, loads=0
)
ALPHA = 0.001


def sampled() -> list[Case]:
    """Return what is sound and sampled: the library's mechanisms, and the sound twins of broken ones."""
    found = [case for case in cases() if case.auditor == "black box" and case.kind == "mechanism"]
    return found + [case for case in sound_cases() if case.auditor == "black box"]


def one(number: int) -> Finding:
    """Run one audit."""
    chosen = sampled()
    return chosen[number % len(chosen)].run(POWER, ALPHA)


if __name__ == "__main__":
    audits = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    start = time.monotonic()
    findings = list(run_all(one, range(audits), jobs))
    alarms = Counter(finding.name for finding in findings if finding.violated)
    runs = sum(finding.runs for finding in findings)
    kinds = len(sampled())
    print(f"{audits} audits of {kinds} sound mechanisms, {runs:,} runs: {alarms.total()} alarms {dict(alarms) or ''}")
    print(f"{time.monotonic() - start:.0f} s")
