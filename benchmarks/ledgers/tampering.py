"""What people do to a ledger: edits, deletions, cuts, swaps and forgeries are found, some with a release at hand."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from discreet.ledger.entries import BEFORE_ALL, canonical, digest
from ledgers.cases import PRICE, Case, case, refused, release, sure, verify, whole
from ledgers.places import ASKED, Fresh

Tampering = Callable[[Case, Fresh], str]


def edited_entry(its: Case, fresh: Fresh) -> str:
    """Have less spent by the last entry."""
    _edit(its, its.kept.rows[-1].number, rehash=False)
    refused(lambda: its.ledger.reserve("people", "new", ASKED, PRICE), "was changed")
    return verify(its, "was changed")


def edited_entry_and_hash(its: Case, fresh: Fresh) -> str:
    """Have less spent by an entry in the middle, and give it the hash that fits."""
    _edit(its, 6, rehash=True)
    return verify(its, "does not follow")


def filed_elsewhere(its: Case, fresh: Fresh) -> str:
    """Book a run to another data set."""
    with its.database() as run:
        run("UPDATE discreet_entries SET dataset = 'nobody' WHERE number = ?", (4,))
    return verify(its, "filed under")


def edited_release(its: Case, fresh: Fresh) -> str:
    """Change a release that is kept."""
    with its.database() as run:
        run("UPDATE discreet_releases SET body = ? WHERE request = 'request-7'", (release().to_json() + " ",))
    refused(lambda: its.ledger.find_answer("others", "request-7", ASKED), "not what was committed")
    return verify(its, "missing or was changed")


def deleted_release(its: Case, fresh: Fresh) -> str:
    """Take a release away."""
    with its.database() as run:
        run("DELETE FROM discreet_releases WHERE request = 'request-7'", ())
    refused(lambda: its.ledger.find_answer("others", "request-7", ASKED), "not what was committed")
    return verify(its, "missing or was changed")


def deleted_entry(its: Case, fresh: Fresh) -> str:
    """Take an entry out of the middle."""
    with its.database() as run:
        run("DELETE FROM discreet_entries WHERE number = ?", (6,))
    return verify(its, "missing")


def deleted_first_entry(its: Case, fresh: Fresh) -> str:
    """Take the first entry out."""
    with its.database() as run:
        run("DELETE FROM discreet_entries WHERE number = ?", (1,))
    refused(its.ledger.identity, "first entry")
    return verify(its, "missing")


def cut_tail(its: Case, fresh: Fresh) -> str:
    """Forget the last runs, as if they had not been."""
    with its.database() as run:
        run("DELETE FROM discreet_entries WHERE number > ?", (len(its.kept.rows) - 4,))
        run("DELETE FROM discreet_releases WHERE request IN ('request-6', 'request-7')", ())
    whole(its, its.handed[0])
    return verify(its, "its tail was cut off", its.handed[-1])


def swapped(its: Case, fresh: Fresh) -> str:
    """Put another ledger in its place."""
    other = case(fresh(), its.folder / "other")
    its.url = other.url
    whole(its)
    return verify(its, "another ledger", its.handed[-1])


def restored(its: Case, fresh: Fresh) -> str:
    """Put an older copy in its place."""
    backup = _backup(its)
    its.works()
    later = _hand_out(its, "later")
    backup()
    whole(its, its.handed[-1])
    return verify(its, "an older copy", later)


def restored_and_used(its: Case, fresh: Fresh) -> str:
    """Put an older copy in its place, and go on with it: the same numbers then stand for other runs."""
    backup = _backup(its)
    later = _hand_out(its, "later")
    backup()
    its.works()
    its.ledger.reserve("people", "and on", ASKED, PRICE)
    whole(its, its.handed[-1])
    return verify(its, "another one now", later)


def rechained(its: Case, fresh: Fresh) -> str:
    """Forge the whole chain: a run is made cheaper, every total and every hash is made to fit."""
    previous, less = BEFORE_ALL, None
    with its.database() as run:
        for number, body in run("SELECT number, body FROM discreet_entries ORDER BY number", ()):
            entry = json.loads(body)
            entry["previous"] = previous
            if number == 4:
                less, entry["facts"]["cost"]["zcdp"] = entry["dataset"], "1"
            if less is not None and entry["dataset"] == less:
                spent = entry["facts"]["standing"]["spent"]
                spent["zcdp"] = str(int(spent["zcdp"]) - PRICE.zcdp + 1)
            previous = digest(canonical(entry))
            run("UPDATE discreet_entries SET body = ?, hash = ? WHERE number = ?", (canonical(entry), previous, number))
    sure(its.ledger.standing("people").spent.zcdp == its.spent["people"].zcdp - PRICE.zcdp + 1, "not forged")
    whole(its)
    return verify(its, "another one now", its.handed[-1])


def nonsense(its: Case, fresh: Fresh) -> str:
    """Write entries with hashes that fit and contents that make no sense."""
    good = json.loads(its.kept.rows[-1].body)
    spent = good["facts"]["standing"]["spent"]
    changes: tuple[dict[str, object], ...] = (
        {"when": 5},
        {"facts": {}},
        {"facts": {**good["facts"], "release": None}},
        {"facts": {**good["facts"], "standing": {"spent": spent}}},
        {"facts": {**good["facts"], "standing": {**good["facts"]["standing"], "spent": {**spent, "zcdp": "-1"}}}},
        {"number": "1"},
        {"kind": ["committed"]},
        {"dataset": None},
    )
    for change in changes:
        text = canonical({**good, **change})
        _write_last(its, text)
        told = verify(its, "entry")
    for text in ("", "{", "[]", "null", '{"facts":NaN}', "[" * 100_000, its.kept.rows[-1].body.replace('":', '": NaN')):
        _write_last(its, text)
        refused(its.ledger.book, "cannot be read")
        told = verify(its, "cannot be read")
    return told


TAMPERINGS: dict[str, Tampering] = {
    "an edited entry": edited_entry,
    "an edited entry, hash too": edited_entry_and_hash,
    "an entry filed elsewhere": filed_elsewhere,
    "an edited release": edited_release,
    "a deleted release": deleted_release,
    "a deleted entry": deleted_entry,
    "a deleted first entry": deleted_first_entry,
    "a cut tail": cut_tail,
    "a swapped ledger": swapped,
    "a restored older backup": restored,
    "such a backup, used further": restored_and_used,
    "a forgery, chained again": rechained,
    "entries that make no sense": nonsense,
}


def _edit(its: Case, number: int, *, rehash: bool) -> None:
    with its.database() as run:
        entry = json.loads(run("SELECT body FROM discreet_entries WHERE number = ?", (number,))[0][0])
        entry["facts"]["standing"]["spent"]["zcdp"] = "1"
        text = canonical(entry)
        run("UPDATE discreet_entries SET body = ? WHERE number = ?", (text, number))
        if rehash:
            run("UPDATE discreet_entries SET hash = ? WHERE number = ?", (digest(text), number))


def _write_last(its: Case, text: str) -> None:
    with its.database() as run:
        run(
            "UPDATE discreet_entries SET body = ?, hash = ? WHERE number = ?",
            (text, digest(text), its.kept.rows[-1].number),
        )


def _hand_out(its: Case, request: str) -> Path:
    from discreet.methods.session import stamped

    its.ledger.reserve("people", request, ASKED, PRICE)
    stamp = its.ledger.commit("people", request, release().to_json(), [])
    path = its.folder / f"{request}.json"
    path.write_text(stamped(release(), stamp).to_json(), encoding="utf-8")
    return path


def _backup(its: Case) -> Callable[[], None]:
    """Return what puts everything back as it is now."""
    if its.sqlite:
        copy = its.path.with_suffix(".backup")
        shutil.copy(its.path, copy)

        def put_back() -> None:
            copy.replace(its.path)

        return put_back

    def back() -> None:
        with its.database() as run:
            run("DELETE FROM discreet_entries WHERE number > ?", (its.kept.rows[-1].number,))
            for request in {
                row[0] for row in run("SELECT request FROM discreet_releases", ())
            } - its.kept.releases.keys():
                run("DELETE FROM discreet_releases WHERE request = ?", (request,))

    return back
