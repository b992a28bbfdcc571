"""What is read within a transaction."""

from __future__ import annotations

from discreet.errors import LedgerError
from discreet.ledger.entries import Entry, Kind, digest
from discreet.ledger.prices import NOTHING
from discreet.ledger.records import Standing, Stored
from discreet.ledger.sqlite import Session
from discreet.privacy.statement import Stamp


def identity_in(session: Session) -> str:
    """Return what tells the ledger from others."""
    found = session.run("SELECT body, hash FROM discreet_entries WHERE number = 1")
    if not found:
        raise LedgerError("the ledger has lost its first entry; restore a backup")
    return str(Entry.kept(*found[0]).facts.get("ledger"))


def last_in(session: Session, dataset: str | None = None) -> Entry | None:
    """Return the last entry, or that of a data set, after checking its hash; None if there is none."""
    number = session.last(dataset)
    if number is None:
        return None
    found = session.run("SELECT body, hash FROM discreet_entries WHERE number = ?", (number,))
    entry = Entry.kept(*found[0]) if found else None
    if entry is None or entry.number != number or dataset not in (None, entry.dataset):
        raise LedgerError(f"entry {number} of the ledger is lost or another one; `discreet ledger verify` tells more")
    return entry


def standing_in(session: Session, dataset: str) -> Standing:
    """Return where a data set stands; one that is not known has spent nothing."""
    last = last_in(session, dataset)
    return Standing(dataset, "", None, NOTHING, 0) if last is None else Standing.of(last)


def counted_in(session: Session, dataset: str) -> Standing:
    """Return where a data set stands under the name that it is counted under: its own unless it was merged."""
    found, passed = standing_in(session, dataset), {dataset}
    while found.into is not None and found.into not in passed:
        passed.add(found.into)
        found = standing_in(session, found.into)
    return found


def of_request(session: Session, request: str, kind: Kind) -> Entry | None:
    """Return the entry of a request, of a kind of which there is one at most."""
    found = session.run("SELECT body, hash FROM discreet_entries WHERE request = ? AND kind = ?", (request, kind))
    return Entry.kept(*found[0]) if found else None


def stored_in(session: Session, request: str) -> Stored | None:
    """Return the release of a request as it was committed; None if it was not."""
    committed = of_request(session, request, "committed")
    if committed is None:
        return None
    found = session.run("SELECT body FROM discreet_releases WHERE request = ?", (request,))
    if not found or digest(str(found[0][0])) != committed.facts["release"]:
        raise LedgerError(
            f"the release of request {request!r} is not what was committed; `discreet ledger verify` tells"
        )
    return Stored(str(found[0][0]), Stamp(identity_in(session), committed.number, committed.hash), committed.when)
