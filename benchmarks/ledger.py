"""What a ledger bears: kills, many writers, and faults of disks, clocks and people. Exits with 1 if it does not.

python benchmarks/ledger.py kills [1000] [--postgresql]
python benchmarks/ledger.py writers [32] [--reservations 640]
python benchmarks/ledger.py faults
"""

from __future__ import annotations

import argparse
import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads and forks do not go together


def main() -> bool:
    """Run one of the three, and return whether all is well."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    kills = parts.add_parser("kills")
    kills.add_argument("number", type=int, nargs="?", default=1000)
    kills.add_argument("--postgresql", action="store_true")
    writers = parts.add_parser("writers")
    writers.add_argument("most", type=int, nargs="?", default=32)
    writers.add_argument("--reservations", type=int, default=640)
    parts.add_parser("faults")
    given = parser.parse_args()

    from ledger_places import folder, postgresql, sqlite

    if given.part == "kills":
        from ledger_kills import kill_all

        with postgresql() if given.postgresql else sqlite() as fresh, folder() as path:
            return kill_all(fresh(), path, given.number)
    if given.part == "writers":
        from ledger_writers import write_and_print

        return write_and_print(given.most, given.reservations)
    return False


if __name__ == "__main__":
    sys.exit(not main())
