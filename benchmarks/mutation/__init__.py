"""Small faults put into privacy code one at a time, and whether audits and tests notice."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src" / "discreet"
FOLDER = ROOT / "docs" / "mutants"
"""What was judged and what was run."""

PATTERNS = (
    "statistics/*.py",
    "privacy/mechanisms/*.py",
    "privacy/noise.py",
    "privacy/accounting.py",
    "privacy/budget.py",
    "room.py",
    "sealed.py",
    "data/people.py",
    "data/encoding.py",
    "data/load.py",
    "data/memory.py",
    "data/counting.py",
    "data/files.py",
    "data/frames.py",
    "data/engines/encoding.py",
    "domain/spelling.py",
)
"""The code on which the promise rests."""


def modules() -> list[str]:
    """Return the paths of all modules that are mutated, below the package."""
    found = [path for pattern in PATTERNS for path in sorted(SOURCE.glob(pattern))]
    return [path.relative_to(SOURCE).as_posix() for path in found]
