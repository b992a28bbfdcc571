"""What a ledger bears: kills, many writers, and faults of disks, clocks and people. Exits with 1 if it does not.

python benchmarks/ledger.py kills [1000] [--postgresql]
python benchmarks/ledger.py writers [32] [--on sqlite] [--reservations 640] [--journals]
python benchmarks/ledger.py faults [--on sqlite] [--flips 2000]
"""

from __future__ import annotations

import argparse
import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads and forks do not go together

STORES = ["sqlite", "postgresql"]


def parse_arguments() -> argparse.Namespace:
    """Return what is to be run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    kills, writers, faults = (parts.add_parser(name) for name in ("kills", "writers", "faults"))
    kills.add_argument("number", type=int, nargs="?", default=1000)
    kills.add_argument("--postgresql", action="store_true", help="there instead of on SQLite")
    for part in (writers, faults):
        part.add_argument("--on", choices=STORES, action="append", help="one of the stores  [default: both]")
    writers.add_argument("most", type=int, nargs="?", default=32)
    writers.add_argument("--reservations", type=int, default=640)
    writers.add_argument("--journals", action="store_true", help="also the ways in which SQLite keeps a journal")
    faults.add_argument("--flips", type=int, default=2000)
    parts.add_parser("full", help="used by faults, on a small disk").add_argument("disk")
    return parser.parse_args()


def main() -> bool:
    """Run one of the parts, and return whether all is well."""
    given = parse_arguments()
    if given.part == "kills":
        from ledgers.kills import kill_all

        return kill_all(STORES[given.postgresql], given.number)
    if given.part == "writers":
        from ledgers.writers import write_and_print

        return write_and_print(given.on or STORES, given.most, given.reservations, journals=given.journals)
    if given.part == "full":
        from ledgers.disks import fill_disk

        return fill_disk(given.disk)
    from ledgers.faults import fault_all

    return fault_all(given.on or STORES, given.flips)


if __name__ == "__main__":
    sys.exit(not main())
