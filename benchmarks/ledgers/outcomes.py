"""What is left after kills: nothing lost, nothing spent twice, nothing handed out that was not committed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import NamedTuple

from discreet.ledger.entries import digest
from discreet.ledger.ledger import open_ledger
from discreet.ledger.prices import NOTHING, Limit, Price
from discreet.ledger.records import Book
from discreet.ledger.verify import read_anchor, verify_ledger
from discreet.privacy.statement import Stamp
from ledgers.places import DATASET

LIMIT = Limit(100.0, 1e-6)
EITHER = ("in the COMMIT of reserve", "in the COMMIT of commit", "at random")
"""Points at which a run may be over before it is killed; then another one is."""
RAN, REFUSED, SHOWN = 0, 3, 4
"""How a run ends that nobody kills."""


class State(NamedTuple):
    """What a kill at some point leaves; None where it may or may not be."""

    reserved: bool | None
    committed: bool | None
    emitted: bool | None


POINTS = {
    "before reserve": State(False, False, False),
    "inside reserve": State(False, False, False),
    "in the COMMIT of reserve": State(None, False, False),
    "after reserve": State(True, False, False),
    "computing": State(True, False, False),
    "before commit": State(True, False, False),
    "inside commit": State(True, False, False),
    "in the COMMIT of commit": State(True, None, None),
    "after commit": State(True, True, False),
    "before emit": State(True, True, False),
    "inside emit": State(True, True, False),
    "after emit": State(True, True, True),
    "at random": State(None, None, None),
}


@dataclass
class Outcome:
    """What became of runs.

    Parameters
    ----------
    url, folder
        The ledger, and the files that were handed out.
    points
        Where each request was killed.
    again
        How those ended that were asked again.
    problems
        What went wrong on the way.
    """

    url: str
    folder: Path
    points: dict[str, str] = field(default_factory=dict)
    again: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def check(outcome: Outcome) -> Iterator[str]:
    """Return what is wrong when all is over."""
    ledger = open_ledger(outcome.url)
    book, outs = ledger.book(), sorted(outcome.folder.glob("*.json"))
    yield from outcome.problems
    for kind in ("reserved", "committed"):
        times = Counter(entry.request for entry in book.entries if entry.kind == kind)
        yield from (f"{request} was {kind} twice" for request in times if times[request] > 1)
    yield from _check_handed_out(outs, book)
    costs = (Price.from_dict(entry.facts["cost"]) for entry in book.entries if entry.kind == "reserved")
    spent = reduce(Price.plus, costs, NOTHING)
    if spent != ledger.standing(DATASET).spent or not LIMIT.allows(spent):
        yield "what was reserved is not what is spent, or more than the limit"
    for anchors in ([], [read_anchor(str(out)) for out in outs]):
        verdict = verify_ledger(ledger, anchors)
        yield from verdict.problems
        if len(verdict.confirmed) != len(anchors) or any("searched again" in note for note in verdict.notes):
            yield "a release does not stand where it says, or differs"


def _check_handed_out(outs: list[Path], book: Book) -> Iterator[str]:
    """Return what is wrong with releases: each is what was committed, and a request has one."""
    committed = {entry.request: entry for entry in book.entries if entry.kind == "committed"}
    texts: dict[str, set[str]] = {}
    for out in outs:
        request = out.name.split(".")[0]
        texts.setdefault(request, set()).add(out.read_text(encoding="utf-8"))
        anchor, entry = read_anchor(str(out)), committed.get(request)
        if entry is None or anchor.stamp is None:
            yield f"{out.name} was handed out and not committed"
        elif anchor.stamp != Stamp(book.identity, entry.number, entry.hash):
            yield f"{out.name} has another stamp than its entry"
        elif digest(json.dumps(anchor.data, ensure_ascii=False)) != entry.facts["release"]:
            yield f"{out.name} differs from what was committed"
    yield from (f"{request} has two different releases" for request, found in texts.items() if len(found) > 1)


def table(outcome: Outcome) -> Iterator[str]:
    """Return a line for each point, and what is wrong there, after an exclamation mark."""
    entries = open_ledger(outcome.url).book().entries
    reserved, committed = ({entry.request for entry in entries if entry.kind == k} for k in ("reserved", "committed"))
    ran = {request for request, code in outcome.again.items() if code == RAN}  # it was not there before
    emitted = {out.stem for out in outcome.folder.glob("*.json")}
    yield f"{'':25} {'':6} {'':9} {'':10} {'':8}      asked again:"
    yield f"{'killed':25}  kills  reserved  committed  emitted              ran  shown  refused"
    for point, expected in POINTS.items():
        ours = {request for request, at in outcome.points.items() if at == point}
        left = [ours & reserved - ran, ours & committed - ran, ours & emitted]
        codes = Counter(outcome.again.get(request) for request in ours)
        again = f"{codes[RAN]:16} {codes[SHOWN]:6} {codes[REFUSED]:8}"
        yield f"{point:25} {len(ours):6} {len(left[0]):9} {len(left[1]):10} {len(left[2]):8} {again}"
        for word, found, wanted in zip(State._fields, left, expected, strict=True):
            if wanted is not None and len(found) != wanted * len(ours):
                yield f"! {point}: {word} is not as it should be"
