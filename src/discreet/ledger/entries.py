"""Entries of the chain: each holds the hash of the one before, so that none can be changed or taken out unseen."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, Literal

from discreet.errors import LedgerError

Kind = Literal["begun", "limit", "reserved", "committed", "refused", "spent", "merged"]
KINDS: tuple[Kind, ...] = ("begun", "limit", "reserved", "committed", "refused", "spent", "merged")

BEFORE_ALL = "0" * 64
"""What the first entry holds as the hash of the one before."""

_FACTS: dict[Kind, set[str]] = {
    "begun": {"ledger"},
    "limit": {"standing"},
    "reserved": {"asked", "cost", "standing"},
    "committed": {"release", "spent", "standing"},
    "refused": {"asked", "cost", "standing"},
    "spent": {"asked", "cost", "standing"},
    "merged": {"standing"},
}
"""What an entry of each kind must say."""

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\+00:00)?")

FIELDS = ("number", "previous", "kind", "dataset", "request", "who", "when", "purpose", "facts")


def canonical(data: object) -> str:
    """Return plain data as text, the same for the same data."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest(text: str) -> str:
    """Return the hash of a text."""
    return sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Entry:
    """One line of the ledger.

    Parameters
    ----------
    number
        Its place, from 1.
    previous
        Hash of the entry before.
    kind
        ``begun`` (the ledger itself), ``limit``, ``reserved``, ``committed``, ``refused``, ``spent`` for what was spent
        by other means or under another name, or ``merged`` for a name that is counted under another one now.
    dataset
        Whose budget it is about; empty for the ledger itself.
    request
        What a run is known by.
    facts
        The rest, by kind: costs, limits, totals, what was asked. Public facts and released values only.
    """

    number: int
    previous: str
    kind: Kind
    dataset: str
    request: str | None
    who: str
    when: str
    purpose: str
    facts: Mapping[str, Any]

    @cached_property
    def text(self) -> str:
        """What is hashed, and kept."""
        return canonical({name: getattr(self, name) for name in FIELDS})

    @cached_property
    def hash(self) -> str:
        """Its hash, which the next entry holds."""
        return digest(self.text)

    @classmethod
    def read(cls, text: str) -> Entry:
        """Read an entry back."""
        try:
            data = json.loads(text)
            entry = cls(**{name: data[name] for name in FIELDS})
            sound = len(data) == len(FIELDS) and entry._is_sound() and bool(entry.hash)
        except (ValueError, TypeError, KeyError, RecursionError):
            sound = False
        if not sound:
            raise LedgerError("the ledger holds an entry that cannot be read: `discreet ledger verify` tells which")
        return entry

    @classmethod
    def restore(cls, text: object, hashed: object) -> Entry:
        """Read an entry back as it was kept, and refuse one that was changed since."""
        entry = cls.read(str(text))
        if entry.text != text or entry.hash != hashed:
            raise LedgerError(f"entry {entry.number} of the ledger was changed; `discreet ledger verify` tells more")
        return entry

    def _is_sound(self) -> bool:
        texts = (self.previous, self.dataset, self.who, self.when, self.purpose, self.request or "")
        return (
            type(self.number) is int
            and self.kind in KINDS
            and all(isinstance(text, str) for text in texts)
            and isinstance(self.facts, dict)
            and self.facts.keys() >= _FACTS[self.kind]
            and _TIME.fullmatch(self.when) is not None
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with the hash."""
        return {**{name: getattr(self, name) for name in FIELDS}, "hash": self.hash}
