"""Runs some audits by name at quick power until one is violated or fails, or time is up; a line of JSON for each.

python benchmarks/mutation/auditing.py NAMES.json SECONDS
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import process_time


def main(path: Path, most: float) -> None:
    """Run the audits that are named in a file, in that order, as long as so many seconds of the processor last."""
    from discreet.audit.register import QUICK, cases, levels_of

    every = {case.name: case for case in cases()}
    levels = levels_of(list(every.values()))
    for name in json.loads(path.read_text(encoding="utf-8")):
        start = process_time()
        try:
            finding = every[name].run(QUICK, levels.get(name, 0.001))
            caught, why = finding.violated, finding.evidence[:120] if finding.violated else ""
        except Exception as error:  # noqa: BLE001 - an audit that fails does not pass
            caught, why = True, type(error).__name__
        print(json.dumps({"name": name, "caught": caught, "why": why, "seconds": process_time() - start}), flush=True)
        if caught or process_time() > most:
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
