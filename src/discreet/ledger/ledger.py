"""The ledger: limits of data sets, reservations, commits and refusals, each in one transaction."""

from __future__ import annotations

import getpass
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from discreet.errors import AnsweredError, BudgetError, LedgerError, RequestError, SettingError
from discreet.ledger.entries import BEFORE_ALL, Entry, Kind, digest
from discreet.ledger.keys import Marker, load_key
from discreet.ledger.prices import NOTHING, Change, Limit, Price
from discreet.ledger.records import COUNTED, Asked, Book, Kept, Plain, Row, Standing, Stored, plain_sum
from discreet.ledger.stores import Session, Store, store_for
from discreet.ledger.words import check_name, currency_words, printable, refusal, too_small_words
from discreet.privacy.statement import Stamp

LEDGER_VARIABLE = "DISCREET_LEDGER"
"""Names the ledger where nothing else does."""


class Ledger:
    """Budgets that survive: what was spent on which data set, in a chain of entries that only grows.

    Parameters
    ----------
    store
        Where entries are kept.

    ``forgetful`` is set once the key of marks had to be made although rows were marked before: these are not known any
    more.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.late: str | None = None
        self.fresh = False
        self.forgetful = False
        self._marker: Marker | None = None
        self._identity: str | None = None

    @property
    def name(self) -> str:
        """What the ledger is called, without any password."""
        return self._store.name

    @property
    def place(self) -> str:
        """Where it is, without any password."""
        return self._store.place

    def begin(self) -> None:
        """Make it if it is not there, and note in ``fresh`` that it was made now."""
        self._store.begin(self._write_first)

    def __repr__(self) -> str:
        return f"<Ledger: {self.place}>"

    def identity(self) -> str:
        """Return what tells this ledger from others."""
        if self._identity is None:
            with self._store.read() as session:
                self._identity = _read_identity(session)
        return self._identity

    def declare(
        self, dataset: str, limit: Limit | Change, *, owner: str | None = None, purpose: str = "", fresh: bool = False
    ) -> Standing:
        """Set or change a data set's limit. What was spent before counts; what a change does not name is kept.

        Raises
        ------
        BudgetError
            If more than that is spent already.
        SettingError
            If the currency would change, or ``fresh`` is set and there is a limit.
        """
        dataset = check_name(dataset, "dataset")
        refused = None
        with self._store.write() as session:
            before = _check_open(_read_standing(session, dataset))
            if fresh and before.limit is not None:
                raise SettingError(f"{dataset!r} has a limit already; `discreet ledger limit` changes it")
            if isinstance(limit, Change):
                limit = limit.of(before.limit)
            if before.limit is not None and before.limit.currency is not limit.currency:
                raise SettingError(currency_words(dataset, before.limit, before.spent))
            after = replace(before, limit=limit, owner=_owner(owner, before))
            if after == before:
                return before
            if limit.allows(before.spent):
                facts = {"amount": str(limit.amount), "standing": after.to_dict()}
                self._append(session, "limit", dataset, None, purpose, facts)
            else:
                refused = too_small_words(dataset, limit, before.spent, before.limit)
        if refused is not None:
            raise BudgetError(refused)
        return after

    def standing(self, dataset: str) -> Standing:
        """Return where a data set stands; one that is not known has spent nothing."""
        dataset = check_name(dataset, "dataset")
        with self._store.read() as session:
            return _read_standing(session, dataset)

    def plain_sum(self, standing: Standing) -> Plain | None:
        """Return what a data set's runs amount to by plain addition; None if there is a limit, which counts them."""
        if standing.limit is not None:
            return None
        sql = "SELECT body, hash FROM discreet_entries WHERE dataset = ? AND kind IN (?, ?)"
        with self._store.read() as session:
            return plain_sum(
                lambda name: (Entry.restore(*row) for row in session.run(sql, (name, *COUNTED))), standing.dataset
            )

    def book(self) -> Book:
        """Return everything that is recorded, as of one moment."""
        kept = self.read_all()
        entries = tuple(Entry.restore(row.body, row.hash) for row in kept.rows)
        last = {entry.dataset: entry for entry in entries if entry.dataset}
        return Book(entries, {name: Standing.of(last[name]) for name in sorted(last)})

    def read_all(self, *, thorough: bool = False) -> Kept:
        """Return what is kept as it stands, unread, as of one moment; and look at the tables themselves if wanted."""
        with self._store.read() as session:
            rows = session.run(
                "SELECT number, dataset, kind, request, body, hash FROM discreet_entries ORDER BY number"
            )
            releases = session.run("SELECT request, body FROM discreet_releases")
            marked = session.run("SELECT DISTINCT dataset FROM discreet_marks")
            faults = session.faults() if thorough else []
        stored = {str(request): str(body) for request, body in releases}
        return Kept(tuple(Row(*row) for row in rows), stored, frozenset(str(name) for (name,) in marked), tuple(faults))

    def find_answer(self, dataset: str, request: str, asked: Asked) -> Stored | None:
        """Return the release that a request got before; None if it is new.

        Raises
        ------
        RequestError
            If it was asked for something else.
        BudgetError
            If it was reserved and never committed.
        """
        with self._store.read() as session:
            return self._find_answer(session, dataset, request, asked)

    def reserve(
        self,
        dataset: str,
        request: str,
        asked: Asked,
        price: Price,
        *,
        purpose: str = "",
        mark: str | None = None,
        only_refuse: bool = False,
    ) -> None:
        """Reserve what a whole run may cost, before anything is evaluated; or refuse, and book that.

        Parameters
        ----------
        mark
            What the rows are known by.
        only_refuse
            Book nothing where it is allowed: look before rows are read.

        Raises
        ------
        BudgetError
            If the data set's limit does not allow it, somebody reserved the same request, or the name is given up.
        """
        dataset = check_name(dataset, "dataset")
        with self._store.write() as session:
            if self._find_answer(session, dataset, request, asked) is not None:
                raise AnsweredError(f"request {request!r} was answered a moment ago; ask again to see it")
            before = _check_open(_read_standing(session, dataset))
            after = before.with_run(price, asked.to_dict(), owner=_owner(None, before))
            facts: dict[str, Any] = {"asked": asked.to_dict(), "cost": price.to_dict()}
            refused = before.limit is not None and not before.limit.allows(after.spent)
            if refused:
                facts["standing"] = before.to_dict()
                self._append(session, "refused", dataset, request, purpose, facts)
            elif not only_refuse:
                facts["standing"] = after.to_dict()
                if mark is not None:
                    facts["marked"] = True
                self._append(session, "reserved", dataset, request, purpose, facts)
                if mark is not None:
                    session.run("INSERT INTO discreet_marks VALUES (?, ?) ON CONFLICT DO NOTHING", (dataset, mark))
        if refused and before.limit is not None:
            raise BudgetError(refusal(dataset, before.limit, before.spent, price, asked.epsilon, asked.delta))

    def spend(self, dataset: str, price: Price, *, what: Mapping[str, Any], purpose: str) -> Standing:
        """Book what was spent by other means; it counts whether or not the limit allows it."""
        dataset = check_name(dataset, "dataset")
        with self._store.write() as session:
            before = _check_open(_read_standing(session, dataset))
            after = before.with_run(price, what, owner=_owner(None, before))
            facts = {"asked": dict(what), "cost": price.to_dict(), "standing": after.to_dict()}
            self._append(session, "spent", dataset, None, purpose, facts)
        return after

    def merge(self, dataset: str, into: str, *, purpose: str = "") -> Standing:
        """Count a data set under another name from now on, with all that was spent on it; its own name is closed."""
        dataset, into = check_name(dataset, "dataset"), check_name(into, "into")
        if dataset == into:
            raise SettingError("into: another name")
        with self._store.write() as session:
            gone = _check_open(_read_standing(session, dataset))
            if not gone.runs:
                raise SettingError(f"dataset: nothing was ever spent on {dataset!r}")
            before = _check_open(_read_standing(session, into))
            if gone.limit is not None and before.limit is None:
                raise SettingError(
                    f"into: {dataset!r} has a limit and {into!r} has none, which would lift it; declare one for "
                    f"{into!r} first, with `discreet ledger limit`. Nothing was changed"
                )
            what: dict[str, Any] = {"command": "merged", "method": dataset, "epsilon": None, "delta": None}
            what |= {"protects": list(gone.protects)} if gone.protects else {}
            after = before.with_run(gone.spent, what, owner=_owner(None, before))
            facts = {"asked": what, "cost": gone.spent.to_dict(), "standing": after.to_dict()}
            self._append(session, "spent", into, None, purpose, facts)
            closed = replace(gone, into=into)
            self._append(session, "merged", dataset, None, purpose, {"standing": closed.to_dict()})
        return after

    def find_release(self, request: str) -> Stored:
        """Return the release of a request as it was committed."""
        request = check_name(request, "request")
        with self._store.read() as session:
            found = _read_stored(session, request)
        if found is None:
            raise SettingError(f"request: the ledger holds no release of {request!r}; `ledger show --all` lists them")
        return found

    def limited_names(self) -> list[str]:
        """Return the names for which limits were declared."""
        with self._store.read() as session:
            found = session.run("SELECT DISTINCT dataset FROM discreet_entries WHERE kind = 'limit' ORDER BY dataset")
        return [str(name) for (name,) in found]

    def commit(self, dataset: str, request: str, body: str, spent: Sequence[Mapping[str, Any]]) -> Stamp:
        """Keep a release with the entry that commits it; only what this returns may be handed out."""
        try:
            return self._commit(dataset, request, body, spent)
        except LedgerError:
            kept = self._look_up(request)  # a server may have committed and gone before it said so
            if kept is not None and kept.body == body:
                return kept.stamp
            raise

    def _commit(self, dataset: str, request: str, body: str, spent: Sequence[Mapping[str, Any]]) -> Stamp:
        with self._store.write() as session:
            before = _read_standing(session, dataset)
            reserved = _find_entry(session, request, "reserved")
            if reserved is None or reserved.dataset != dataset:
                raise LedgerError(f"request {request!r} was never reserved in this ledger; nothing is handed out")
            facts = {"release": digest(body), "spent": [dict(s) for s in spent], "standing": before.to_dict()}
            session.run("INSERT INTO discreet_releases VALUES (?, ?)", (request, body))
            entry = self._append(session, "committed", dataset, request, reserved.purpose, facts)
            return Stamp(_read_identity(session), entry.number, entry.hash, dataset)

    def _look_up(self, request: str) -> Stored | None:
        try:
            with self._store.read() as session:
                return _read_stored(session, request)
        except LedgerError:
            return None

    def mark(self, raw: bytes) -> str:
        """Return what rows are known by, under the ledger's secret key."""
        if self._marker is None:
            self._marker = Marker(load_key(self._store.key_name, self.identity()))
            with self._store.read() as session:
                before = bool(session.run("SELECT 1 FROM discreet_marks LIMIT 1"))
            self.forgetful = self._marker.fresh and before
        return self._marker.mark(raw)

    def find_alike(self, dataset: str, mark: str) -> list[Standing]:
        """Return other data sets that the same rows are counted under, those with a limit first."""
        with self._store.read() as session:
            found = session.run("SELECT dataset FROM discreet_marks WHERE dataset <> ? AND mark = ?", (dataset, mark))
            standings = {s.dataset: s for s in (_follow_merges(session, str(name)) for (name,) in sorted(found))}
            standings.pop(_follow_merges(session, dataset).dataset, None)
        return sorted(standings.values(), key=lambda s: (s.limit is None, s.dataset))

    def _find_answer(self, session: Session, dataset: str, request: str, asked: Asked) -> Stored | None:
        reserved = _find_entry(session, request, "reserved")
        if reserved is None:
            if session.run("SELECT 1 FROM discreet_releases WHERE request = ?", (request,)):
                raise LedgerError(
                    f"request {request!r} has a release and no entry; `discreet ledger verify` tells more"
                )
            return None
        if reserved.dataset != dataset or reserved.facts["asked"] != asked.to_dict():
            raise RequestError(
                f"request {request!r} was asked before with other parameters; an id is for one question: take another"
            )
        stored = _read_stored(session, request)
        if stored is None:
            raise BudgetError(
                f"request {request!r} was reserved at {reserved.when} and has no release: it is still running, or it "
                "was broken off, and then what it reserved stays spent. To pay again, take another id"
            )
        return stored

    def _write_first(self, session: Session) -> None:
        """Write the first entry: what the ledger is known by, and a salt that no release shows."""
        self._append(session, "begun", "", None, "", {"ledger": str(uuid4()), "salt": str(uuid4())})
        self.fresh = True

    def _writer(self, session: Session) -> str:
        """Return who writes: the user's name, and on a server first the name it knows them by."""
        known = self._store.user(session)
        return user_name() if known is None else f"{printable(known)} ({user_name()})"

    def _append(
        self, session: Session, kind: Kind, dataset: str, request: str | None, purpose: str, facts: Mapping[str, Any]
    ) -> Entry:
        last = _read_last(session)
        if (last is None) != (kind == "begun") or self._identity not in (None, last and _read_identity(session)):
            raise LedgerError(f"{self.name} is another one than before, or has lost its entries; nothing was written")
        self.late = None
        when = datetime.now(UTC).isoformat(timespec="seconds")
        if last is not None and when < last.when:
            self.late = (
                f"the clock says {when}, before the ledger's last entry ({last.when}): check it; nothing is lost"
            )
        number, previous = (1, BEFORE_ALL) if last is None else (last.number + 1, last.hash)
        entry = Entry(number, previous, kind, dataset, request, self._writer(session), when, purpose, facts)
        session.run(
            "INSERT INTO discreet_entries VALUES (?, ?, ?, ?, ?, ?)",
            (number, dataset, kind, request, entry.text, entry.hash),
        )
        return entry


def _read_identity(session: Session) -> str:
    """Return what tells the ledger from others."""
    found = session.run("SELECT body, hash FROM discreet_entries WHERE number = 1")
    if not found:
        raise LedgerError("the ledger has lost its first entry; restore a backup")
    return str(Entry.restore(*found[0]).facts.get("ledger"))


def _read_last(session: Session, dataset: str | None = None) -> Entry | None:
    """Return the last entry, or that of a data set, after checking its hash; None if there is none."""
    number = session.last(dataset)
    if number is None:
        return None
    found = session.run("SELECT body, hash FROM discreet_entries WHERE number = ?", (number,))
    entry = Entry.restore(*found[0]) if found else None
    if entry is None or entry.number != number or dataset not in (None, entry.dataset):
        raise LedgerError(f"entry {number} of the ledger is lost or another one; `discreet ledger verify` tells more")
    return entry


def _read_standing(session: Session, dataset: str) -> Standing:
    """Return where a data set stands; one that is not known has spent nothing."""
    last = _read_last(session, dataset)
    return Standing(dataset, "", None, NOTHING, 0) if last is None else Standing.of(last)


def _follow_merges(session: Session, dataset: str) -> Standing:
    """Return where a data set stands under the name that it is counted under: its own unless it was merged."""
    found, passed = _read_standing(session, dataset), {dataset}
    while found.into is not None and found.into not in passed:
        passed.add(found.into)
        found = _read_standing(session, found.into)
    return found


def _find_entry(session: Session, request: str, kind: Kind) -> Entry | None:
    """Return the entry of a request, of a kind of which there is one at most."""
    found = session.run("SELECT body, hash FROM discreet_entries WHERE request = ? AND kind = ?", (request, kind))
    return Entry.restore(*found[0]) if found else None


def _read_stored(session: Session, request: str) -> Stored | None:
    """Return the release of a request as it was committed; None if it was not."""
    committed = _find_entry(session, request, "committed")
    if committed is None:
        return None
    found = session.run("SELECT body FROM discreet_releases WHERE request = ?", (request,))
    if not found or digest(str(found[0][0])) != committed.facts["release"]:
        raise LedgerError(
            f"the release of request {request!r} is not what was committed; `discreet ledger verify` tells"
        )
    stamp = Stamp(_read_identity(session), committed.number, committed.hash, committed.dataset)
    return Stored(str(found[0][0]), stamp, committed.when)


def open_ledger(url: str | os.PathLike[str] | None = None, *, begin: bool = True) -> Ledger:
    """Open a ledger: a path, ``sqlite:///path`` or ``postgresql://host/database``.

    Without a name it is the one that ``DISCREET_LEDGER`` names, else one file in the user's data folder. It is made
    if it is not there.
    """
    if url is None:
        url = os.environ.get(LEDGER_VARIABLE) or default_path()
    ledger = Ledger(store_for(url))
    if begin:
        ledger.begin()
    return ledger


def default_path() -> Path:
    """Return the place of the ledger in the user's data folder."""
    from platformdirs import user_data_path

    return user_data_path("discreet", appauthor=False) / "ledger.db"


def user_name() -> str:
    """Return the user's name, as far as the system knows it."""
    try:
        return printable(getpass.getuser()) or "unknown"
    except (KeyError, OSError, ImportError):
        return "unknown"


def _check_open(standing: Standing) -> Standing:
    """Refuse a name that is counted under another one."""
    if standing.into is not None:
        raise BudgetError(f"{standing.dataset!r} is counted under {standing.into!r} since both were merged: name that")
    return standing


def _owner(owner: str | None, before: Standing) -> str:
    if owner is not None:
        return check_name(owner, "owner")
    return before.owner or user_name()
