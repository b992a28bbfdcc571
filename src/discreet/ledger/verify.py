"""Whether a ledger is what it was: every entry is checked against its hash, the one before, and what it says."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError, ReleaseError
from discreet.ledger.entries import BEFORE_ALL, Entry, digest
from discreet.ledger.ledger import Ledger
from discreet.ledger.prices import NOTHING, Price
from discreet.ledger.records import Row, Standing
from discreet.privacy.statement import Stamp

MOST_PROBLEMS = 20
"""Problems that are told; what follows them mostly comes of them."""

MOST_BYTES = 1 << 30

SEARCHED = ("graph", "settings")
"""What may be another one in a release with tables, which may be searched again."""

MISSING, CHANGED = "is missing", "was changed"


@dataclass(frozen=True)
class Anchor:
    """A release that was handed out, and what it says of its place in a ledger."""

    name: str
    stamp: Stamp | None
    data: Mapping[str, Any]


@dataclass
class Verdict:
    """What was found: problems, releases that do not belong to it, and notes on what is odd but no problem."""

    ledger: str = ""
    entries: int = 0
    head: str = BEFORE_ALL
    problems: list[str] = field(default_factory=list)
    astray: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    confirmed: list[str] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        """Whether everything is as it was."""
        return not self.problems and not self.astray

    def add_problem(self, words: str) -> None:
        """Note a problem."""
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(words)


def read_anchor(path: str) -> Anchor:
    """Read what a release file says of its place in a ledger."""
    if not Path(path).is_file():
        raise ReleaseError(f"there is no file {path!r}")
    try:
        if Path(path).stat().st_size > MOST_BYTES:
            raise ReleaseError(f"the release file {path!r} is too large")
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        stamp = data["privacy"].get("ledger")
        data["privacy"]["ledger"] = None
        found = None if stamp is None else Stamp.from_dict(stamp)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ReleaseError(f"{path!r} cannot be read as a release") from None
    return Anchor(path, found, data)


def verify_ledger(ledger: Ledger, anchors: Sequence[Anchor] = (), heads: Sequence[str] = ()) -> Verdict:
    """Check all that is kept, that releases stand where they say, and that heads noted earlier are still there."""
    kept = ledger.read_all(thorough=True)
    verdict = Verdict(entries=len(kept.rows))
    for fault in kept.faults:
        verdict.add_problem(fault)
    chain = _Chain(verdict, kept.releases)
    for row in kept.rows:
        chain.follow(row)
    chain.finish()
    for dataset in sorted({e.dataset for e in chain.entries.values() if e.facts.get("marked")} - kept.marked):
        verdict.add_problem(f"the marks of {dataset!r} are missing: its rows are not recognised under another name")
    for anchor in anchors:
        _check_anchor(anchor, chain, verdict)
    hashes = {entry.hash for entry in chain.entries.values()}
    for head in heads:
        if head.strip().lower() not in hashes:
            verdict.add_problem(
                f"no entry has the hash {head[:16]}…: entries were cut off or made anew, or it is another ledger"
            )
    return verdict


class _Chain:
    """Follows the entries one by one."""

    def __init__(self, verdict: Verdict, releases: Mapping[str, str]) -> None:
        self.verdict = verdict
        self.entries: dict[int, Entry] = {}
        self._releases = releases
        self._standings: dict[str, Standing] = {}
        self._reserved: dict[str, str] = {}
        self._committed: set[str] = set()
        self._last: Entry | None = None
        self._number = 0

    def follow(self, row: Row) -> None:
        """Check the next entry."""
        wrong = self.verdict.add_problem
        self._count(row.number)
        try:
            entry = Entry.read(row.body)
        except DiscreetError:
            wrong(f"entry {row.number} cannot be read")
            self._last = None
            return
        if entry.text != row.body or entry.hash != row.hash:
            wrong(f"entry {row.number} was changed: it does not have the hash it had")
        if (entry.number, entry.dataset, entry.kind, entry.request) != row[:4]:
            wrong(f"entry {row.number} was changed: what it is filed under is not what it says")
        before = self._last
        if row.number == 1 and (entry.previous, entry.kind, entry.dataset) != (BEFORE_ALL, "begun", ""):
            wrong("the first entry is not how a ledger begins")
        if before is not None and entry.previous != before.hash:
            wrong(f"entry {row.number} does not follow entry {before.number}: one of them was changed or put in")
        if before is not None and entry.when < before.when:
            self.verdict.notes.append(f"the clock went back between entries {before.number} and {entry.number}")
        self._last = self.entries[row.number] = entry
        self.verdict.head = row.hash
        if entry.number == 1:
            self.verdict.ledger = str(entry.facts.get("ledger"))
        elif entry.kind == "begun" or not entry.dataset:
            wrong(f"entry {row.number} begins a ledger within a ledger")
        else:
            self._add_up(entry)

    def _count(self, number: int) -> None:
        """Check that no number is left out."""
        expected, self._number = self._number + 1, number
        if number == expected + 1:
            self.verdict.add_problem(f"entry {expected} is missing")
        elif number > expected:
            self.verdict.add_problem(f"entries {expected} to {number - 1} are missing")
        elif number < expected:
            self.verdict.add_problem(f"entry {number} stands where it does not belong")

    def _add_up(self, entry: Entry) -> None:
        """Check an entry's sums, and that a release has its reservation."""
        wrong, number = self.verdict.add_problem, entry.number
        before = self._standings.get(entry.dataset, Standing(entry.dataset, "", None, NOTHING, 0))
        counts = entry.kind in ("reserved", "spent")
        try:
            after = Standing.of(entry)
            cost = Price.from_dict(entry.facts["cost"]) if counts else NOTHING
            declared = entry.kind != "limit" or _is_declarable(entry, before, after)
            expected = replace(before, owner=before.owner or after.owner)
            if counts:
                expected = expected.with_run(cost, entry.facts["asked"], owner=expected.owner)
        except (DiscreetError, KeyError, TypeError, ValueError, OverflowError, AttributeError):
            wrong(f"entry {number} cannot be read")
            return
        self._standings[entry.dataset] = after
        if entry.kind == "limit":
            expected = replace(expected, limit=after.limit, owner=after.owner)
        if entry.kind == "merged":
            expected = replace(expected, into=after.into)
        if not declared:
            wrong(f"entry {number} declares a limit that could not be declared")
        if after != expected:
            wrong(f"entry {number} does not add up: what it says is spent is not the sum of what was reserved")
        if counts and after.limit is not None and not after.limit.allows(after.spent):
            words = f"entry {number} passes the limit of {entry.dataset!r}"
            self.verdict.notes.append(f"{words}: booked from other means") if entry.kind == "spent" else wrong(words)
        self._check_request(entry)

    def _check_request(self, entry: Entry) -> None:
        wrong, number, request = self.verdict.add_problem, entry.number, entry.request or ""
        if entry.kind == "reserved":
            if request in self._reserved:
                wrong(f"entry {number} reserves a request for the second time")
            self._reserved[request] = entry.dataset
        elif entry.kind == "committed":
            if request in self._committed or self._reserved.get(request) != entry.dataset:
                wrong(f"entry {number} commits what was not reserved, or was committed before")
            self._committed.add(request)
            body = self._releases.get(request)
            if body is None or digest(body) != entry.facts.get("release"):
                wrong(f"the release of entry {number} is missing or was changed")

    def release_of(self, entry: Entry) -> str | None:
        """Return the release that an entry committed."""
        return self._releases.get(entry.request or "")

    def finish(self) -> None:
        """Check what is left when all entries were followed."""
        if not self.entries and not self.verdict.problems:
            self.verdict.add_problem("the ledger holds no entries")
        for _ in self._releases.keys() - self._committed:
            self.verdict.add_problem("a release is kept that no entry commits")
        if open_ := len(self._reserved.keys() - self._committed):
            self.verdict.notes.append(
                f"{open_} reserved and not committed: still running or broken off; what they reserved stays spent"
            )


def _is_declarable(entry: Entry, before: Standing, after: Standing) -> bool:
    """Whether a limit is one that may be declared: it holds, says what it amounts to, and keeps its currency."""
    limit = after.limit
    if limit is None or str(limit.amount) != entry.facts.get("amount") or not limit.allows(before.spent):
        return False
    return before.limit is None or before.limit.currency is limit.currency


def _check_anchor(anchor: Anchor, chain: _Chain, verdict: Verdict) -> None:
    stamp, name = anchor.stamp, anchor.name
    if stamp is None:
        verdict.astray.append(f"{name} has no place in a ledger: it was made without one, or that was taken out")
    elif stamp.ledger != verdict.ledger:
        verdict.astray.append(
            f"{name} was committed to another ledger: this one was put in its place, or is the wrong one"
        )
    elif stamp.entry not in chain.entries and stamp.entry > max(chain.entries, default=0):
        verdict.add_problem(
            f"{name} was committed as entry {stamp.entry}, and the ledger ends at entry {max(chain.entries, default=0)}"
            ": its tail was cut off, or an older copy was put in its place"
        )
    elif stamp.entry not in chain.entries or chain.entries[stamp.entry].hash != stamp.head:
        verdict.add_problem(f"{name} was committed as entry {stamp.entry}, and that entry is another one now")
    elif chain.entries[stamp.entry].kind != "committed":
        verdict.astray.append(
            f"{name} says that it was committed as entry {stamp.entry}, and that entry commits nothing: it was edited"
        )
    else:
        _compare(anchor, chain.entries[stamp.entry], chain.release_of(chain.entries[stamp.entry]), verdict)


def _compare(anchor: Anchor, entry: Entry, kept: str | None, verdict: Verdict) -> None:
    """Compare a release with what was committed: what came out of the rows must be the same."""
    name, number = anchor.name, entry.number
    try:
        committed = json.loads(kept or "")
        parts = [part for part in {**committed, **anchor.data} if part != "version"]
        other = {part: words for part in parts if (words := _difference(part, committed, anchor.data))}
        again = [part for part, words in other.items() if words == CHANGED and part in SEARCHED]
        edited = [part for part in other if part not in again or not committed.get("measurements")]
    except (ValueError, TypeError, AttributeError, RecursionError):
        verdict.astray.append(f"{name} cannot be compared: what entry {number} committed is gone or cannot be read")
        return
    if edited:
        told = ", ".join(f"{part} {other[part]}" for part in edited)
        short = all(other[part] == MISSING for part in edited)
        how = "it was cut, or is what `--json` prints" if short else "it was edited"
        verdict.astray.append(f"{name} is not what entry {number} committed: {how} ({told})")
        return
    verdict.confirmed.append(f"{name} is the release of entry {number}")
    if again:
        its = " and ".join(again)
        verdict.notes.append(f"{name} was searched again since, or edited there: its {its} is not what was committed")


def _difference(part: str, committed: Mapping[str, Any], handed: Mapping[str, Any]) -> str:
    """Say how a part of a release is not what was committed; nothing if it is."""
    if part not in handed:
        return MISSING
    if part not in committed:
        return "was added"
    return "" if committed[part] == handed[part] else CHANGED
