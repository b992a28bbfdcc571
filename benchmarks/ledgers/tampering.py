"""What people do to a ledger: edits, deletions, cuts, swaps and forgeries are found, some with a release at hand."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from discreet.ledger.entries import BEFORE_ALL, canonical, digest
from ledgers.cases import PRICE, Case, expect_problem, expect_refusal, expect_whole, insist, make_case, release
from ledgers.places import ASKED, Fresh

Tampering = Callable[[Case, Fresh], str]


def edit_entry(its: Case, fresh: Fresh) -> str:
    """Have less spent by the last entry."""
    _edit(its, its.kept.rows[-1].number, rehash=False)
    expect_refusal(lambda: its.ledger.reserve("people", "new", ASKED, PRICE), "was changed")
    return expect_problem(its, "was changed")


def edit_entry_and_hash(its: Case, fresh: Fresh) -> str:
    """Have less spent by an entry in the middle, and give it the hash that fits."""
    _edit(its, 6, rehash=True)
    return expect_problem(its, "does not follow")


def file_elsewhere(its: Case, fresh: Fresh) -> str:
    """Book a run to another data set."""
    with its.database() as run:
        run("UPDATE discreet_entries SET dataset = 'nobody' WHERE number = ?", (4,))
    return expect_problem(its, "filed under")


def edit_release(its: Case, fresh: Fresh) -> str:
    """Change a release that is kept."""
    with its.database() as run:
        run("UPDATE discreet_releases SET body = ? WHERE request = 'request-7'", (release().to_json() + " ",))
    expect_refusal(lambda: its.ledger.find_answer("others", "request-7", ASKED), "not what was committed")
    return expect_problem(its, "missing or was changed")


def delete_release(its: Case, fresh: Fresh) -> str:
    """Take a release away."""
    with its.database() as run:
        run("DELETE FROM discreet_releases WHERE request = 'request-7'", ())
    expect_refusal(lambda: its.ledger.find_answer("others", "request-7", ASKED), "not what was committed")
    return expect_problem(its, "missing or was changed")


def delete_entry(its: Case, fresh: Fresh) -> str:
    """Take an entry out of the middle."""
    with its.database() as run:
        run("DELETE FROM discreet_entries WHERE number = ?", (6,))
    return expect_problem(its, "missing")


def delete_first_entry(its: Case, fresh: Fresh) -> str:
    """Take the first entry out."""
    with its.database() as run:
        run("DELETE FROM discreet_entries WHERE number = ?", (1,))
    expect_refusal(its.ledger.identity, "first entry")
    return expect_problem(its, "missing")


def cut_tail(its: Case, fresh: Fresh) -> str:
    """Forget the last runs, as if they had not been."""
    with its.database() as run:
        run("DELETE FROM discreet_entries WHERE number > ?", (len(its.kept.rows) - 4,))
        run("DELETE FROM discreet_releases WHERE request IN ('request-6', 'request-7')", ())
    expect_whole(its, its.handed[0])
    return expect_problem(its, "its tail was cut off", its.handed[-1])


def swap(its: Case, fresh: Fresh) -> str:
    """Put another ledger in its place."""
    other = make_case(fresh(), its.folder / "other")
    its.url = other.url
    expect_whole(its)
    return expect_problem(its, "another ledger", its.handed[-1])


def restore(its: Case, fresh: Fresh) -> str:
    """Put an older copy in its place."""
    backup = _backup(its)
    its.check_works()
    later = _hand_out(its, "later")
    backup()
    expect_whole(its, its.handed[-1])
    return expect_problem(its, "an older copy", later)


def restore_and_use(its: Case, fresh: Fresh) -> str:
    """Put an older copy in its place, and go on with it: the same numbers then stand for other runs."""
    backup = _backup(its)
    later = _hand_out(its, "later")
    backup()
    its.check_works()
    its.ledger.reserve("people", "and on", ASKED, PRICE)
    expect_whole(its, its.handed[-1])
    return expect_problem(its, "another one now", later)


def rechain(its: Case, fresh: Fresh) -> str:
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
    insist(its.ledger.standing("people").spent.zcdp == its.spent["people"].zcdp - PRICE.zcdp + 1, "not forged")
    expect_whole(its)
    return expect_problem(its, "another one now", its.handed[-1])


def write_nonsense(its: Case, fresh: Fresh) -> str:
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
        told = expect_problem(its, "entry")
    for text in ("", "{", "[]", "null", '{"facts":NaN}', "[" * 100_000, its.kept.rows[-1].body.replace('":', '": NaN')):
        _write_last(its, text)
        expect_refusal(its.ledger.book, "cannot be read")
        told = expect_problem(its, "cannot be read")
    return told


TAMPERINGS: dict[str, Tampering] = {
    "an edited entry": edit_entry,
    "an edited entry, hash too": edit_entry_and_hash,
    "an entry filed elsewhere": file_elsewhere,
    "an edited release": edit_release,
    "a deleted release": delete_release,
    "a deleted entry": delete_entry,
    "a deleted first entry": delete_first_entry,
    "a cut tail": cut_tail,
    "a swapped ledger": swap,
    "a restored older backup": restore,
    "such a backup, used further": restore_and_use,
    "a forgery, chained again": rechain,
    "entries that make no sense": write_nonsense,
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
    from discreet.methods.session import with_stamp

    its.ledger.reserve("people", request, ASKED, PRICE)
    stamp = its.ledger.commit("people", request, release().to_json(), [])
    path = its.folder / f"{request}.json"
    path.write_text(with_stamp(release(), stamp).to_json(), encoding="utf-8")
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
