"""The ledger in words and tables: what was spent on which data set, and what is left."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from shlex import quote
from typing import TYPE_CHECKING, Any

from discreet.errors import LedgerError
from discreet.ledger.entries import Entry
from discreet.ledger.prices import Price, round_up
from discreet.ledger.records import Book, Plain, Standing, index_by_dataset, plain_sum, total_of
from discreet.ledger.words import amount, printable, promise, protected_words
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import GRAINS
from discreet.report.terminal import fold

if TYPE_CHECKING:
    from discreet.ledger.verify import Verdict

SPENT_BAR = 30
LONGEST_WHAT = 44
"""Characters of what was asked, with its purpose; `--json` and `export` hold all."""

ODD = (LedgerError, KeyError, TypeError, ValueError, AttributeError, OverflowError)
"""What an entry that somebody made up may lead to."""

_UNITS = {Currency.PURE: "epsilon", Currency.ZCDP: "rho"}
STATES = {"limit": "limit", "reserved": "reserved, not committed", "refused": "refused", "spent": "booked by hand"}


def bar(share: float) -> str:
    """Return a bar of what is spent; anything spent shows, and so does anything left."""
    filled = min(SPENT_BAR, max(round(share * SPENT_BAR), 1 if share > 0 else 0))
    if share < 1:
        filled = min(filled, SPENT_BAR - 1)
    return "█" * filled + "░" * (SPENT_BAR - filled)


def total_words(standing: Standing, plain: Plain | None = None) -> str:
    """Return what all runs together amount to."""
    (found, delta), limit = total_of(standing, plain), standing.limit
    if found is None:
        parts = round_up(float(Fraction(standing.spent.delta, GRAINS)))
        how = "be told" if limit is None else f"be told in {limit.currency.value}"
        return f"more than can {how} at delta {delta:g}" + (f" (other means: delta {parts:g})" if parts else "")
    return promise(round_up(found), delta)


def standing_line(standing: Standing, request: str, plain: Plain | None = None) -> str:
    """Return where a data set stands after a run, in a line or two."""
    name, limit = printable(standing.dataset), standing.limit
    runs = "1 run" if standing.runs == 1 else f"{standing.runs} runs"
    if limit is None:
        return fold(
            f"Ledger: {name!r} has no limit. {runs} so far: {total_words(standing, plain)} in all, and nothing stops "
            f"the next one; `discreet ledger limit --dataset {quote(name)} --epsilon E` does. Request {request}.",
            "",
        )
    return fold(
        f"Ledger: {name!r}: {limit.share(standing.spent):.1%} of its limit ({promise(limit.epsilon, limit.delta)}) is "
        f"spent in {runs}; {_further_words(standing)}. Request {request}.",
        "",
    )


def totals_words(standing: Standing, plain: Plain | None = None) -> tuple[str, ...]:
    """Return what all runs on a data set come to, for those who ask beyond one release."""
    runs = "1 run" if standing.runs == 1 else f"{standing.runs} runs"
    limit = standing.limit
    kept = (
        "No limit is declared, and nothing stops the next one."
        if limit is None
        else f"The declared limit is {promise(limit.epsilon, limit.delta)}; {_further_words(standing)}."
    )
    mixed = len(standing.protects) > 1
    whom = f" They protect {protected_words(standing.protects)}: all together hold for single rows only." * mixed
    return (
        f"All releases from these rows that the ledger knows: {runs}, {total_words(standing, plain)} in all.{whom}",
        kept,
    )


def standing_text(standing: Standing, plain: Plain | None = None) -> str:
    """Return where a data set stands: a name, a bar and what is left."""
    limit, spent = standing.limit, standing.spent
    runs = "1 run" if standing.runs == 1 else f"{standing.runs} runs"
    head = f"{printable(standing.dataset)}   (owner: {printable(standing.owner) or 'none'})"
    if standing.protects:
        only = "; all together hold for single rows only" if len(standing.protects) > 1 else ""
        head += f"\n  runs protect {protected_words(standing.protects)}{only}"
    if standing.into is not None:
        return f"{head}\n  counted under {printable(standing.into)!r}"
    if limit is None:
        total = total_words(standing, plain)
        return f"{head}\n  no limit declared: {runs}, so far {total} in all, and nothing stops the next one"
    share = limit.share(spent)
    put_by = f", {limit.approximate:g} of it for approximate parts" if limit.approximate else ""
    return "\n".join(
        [
            head,
            f"  {bar(share)}  {share:.1%} spent in {runs}",
            f"  limit   {promise(limit.epsilon, limit.delta)}{put_by}: {amount(limit.amount, limit.currency)}",
            f"  spent   {total_words(standing)}: {amount(spent.amount(limit.currency), limit.currency)}",
            f"  left    {amount(max(limit.left(spent), 0), limit.currency)}: {_further_words(standing)}",
        ]
    )


def _further_words(standing: Standing) -> str:
    """Say what a further run could have."""
    limit, spent = standing.limit, standing.spent
    if limit is None:
        return "no limit"
    pure = limit.currency is Currency.PURE
    largest = limit.largest(spent, pure=pure, delta=limit.delta)
    if not largest:
        return "no further run is possible"
    if pure:
        return f"a further run could have epsilon {largest:g}"
    alone = limit.largest(spent, pure=True, delta=0.0)
    return f"a further run could have epsilon {largest:g} at delta {limit.delta:g}, or {alone:g} at delta 0"


def ledger_text(place: str, book: Book, dataset: str | None, last: int | None) -> str:
    """Return the ledger as a page for a terminal."""
    lines = [
        f"{place}: {len(book.entries)} entries",
        f"head {book.head}",
    ]
    wanted = [s for s in book.standings.values() if dataset in (None, s.dataset)]
    entries_of = index_by_dataset(book.entries)
    if not wanted:
        lines += ["", "No data set yet: `discreet ledger limit --dataset NAME --epsilon E` declares a limit."]
    for standing in wanted:
        lines += ["", standing_text(standing, plain_sum(entries_of, standing.dataset))]
        currency = Currency.ZCDP if standing.limit is None else standing.limit.currency
        rows = [_row_or_note(entry, state, currency) for entry, state in _states(book.entries, standing.dataset)]
        if rows:
            hidden = 0 if last is None else max(len(rows) - last, 0)
            if hidden:
                lines += ["", f"  ({hidden} earlier entries: --all shows them)"]
            lines += [
                "",
                *_table(
                    ("", "when (UTC)", "who", "what", "asked", _UNITS[currency], "state", "request"), rows[hidden:]
                ),
            ]
    return "\n".join(lines)


def _states(entries: Sequence[Entry], dataset: str) -> list[tuple[Entry, str]]:
    """Return a data set's entries with their states; a commit is told at its reservation."""
    committed = {entry.request for entry in entries if entry.kind == "committed"}
    found = []
    for entry in entries:
        if entry.dataset == dataset and entry.kind != "committed":
            done = entry.kind == "reserved" and entry.request in committed
            found.append((entry, "committed" if done else STATES.get(entry.kind, entry.kind)))
    return found


def _row_or_note(entry: Entry, state: str, currency: Currency) -> tuple[str, ...]:
    try:
        return _row(entry, state, currency)
    except ODD:
        return (str(entry.number), "", "", "cannot be read: `discreet ledger verify` tells more", "", "", "", "")


def _row(entry: Entry, state: str, currency: Currency) -> tuple[str, ...]:
    facts, number, when = entry.facts, str(entry.number), entry.when[:16].replace("T", " ")
    who, why = printable(entry.who), f" ({printable(entry.purpose)})" if entry.purpose else ""
    if entry.kind == "limit":
        limit = facts["standing"]["limit"]
        return (
            number,
            when,
            who,
            _shorten(f"limit{why}"),
            f"{limit['epsilon']:g}, {limit['delta']:g}",
            "",
            "declared",
            "",
        )
    if entry.kind == "merged":
        return (number, when, who, _shorten(f"counted under {facts['standing']['into']}{why}"), "", "", "closed", "")
    asked = facts["asked"]
    what = " ".join(part for part in (printable(str(asked["command"])), printable(str(asked["method"]))) if part) + why
    numbers = "" if asked["epsilon"] is None else f"{asked['epsilon']:g}, {asked['delta']:g}"
    grains = None if entry.kind == "refused" else Price.from_dict(facts["cost"]).amount(currency)
    cost = "" if grains is None else f"{float(Fraction(grains, GRAINS)):.4g}"
    return (number, when, who, _shorten(what), numbers, cost, state, _shorten(printable(entry.request or ""), 24))


def _shorten(text: str, most: int = LONGEST_WHAT) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    right = {0, 5}

    def line(row: tuple[str, ...]) -> str:
        cells = [f"{c:>{w}}" if i in right else f"{c:<{w}}" for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        return ("  " + "  ".join(cells)).rstrip()

    return [line(head), "  " + "  ".join("─" * w for w in widths), *map(line, rows)]


def standing_dict(standing: Standing, plain: Plain | None = None) -> dict[str, Any]:
    """Return where a data set stands, as plain data."""
    limit, spent = standing.limit, standing.spent
    epsilon, delta = total_of(standing, plain)
    found: dict[str, Any] = {
        "dataset": standing.dataset,
        "owner": standing.owner,
        "runs": standing.runs,
        "protects": list(standing.protected),
        "limit": None,
        "spent": _amounts(spent),
        "spent_epsilon": epsilon,
        "at_delta": delta,
    }
    if limit is not None:
        amounts = {"currency": limit.currency.value, "amount": float(Fraction(limit.amount, GRAINS))}
        found["limit"] = {**limit.to_dict(), **amounts}
        found["left"] = float(Fraction(max(limit.left(spent), 0), GRAINS))
        found["spent_share"] = limit.share(spent) if spent.amount(limit.currency) is not None else None
        pure = limit.currency is Currency.PURE
        found["largest_epsilon_left"] = limit.largest(spent, pure=pure, delta=limit.delta)
    return found


def _amounts(price: Price) -> dict[str, float | None]:
    return {name: None if value is None else float(Fraction(value, GRAINS)) for name, value in vars(price).items()}


def entry_dict(entry: Entry) -> dict[str, Any]:
    """Return an entry as plain data, with costs one can read."""
    found = entry.to_dict()
    if "cost" in entry.facts:
        with suppress(*ODD):
            found["cost"] = _amounts(Price.from_dict(entry.facts["cost"]))
    return found


def ledger_dict(book: Book, dataset: str | None) -> dict[str, Any]:
    """Return the ledger as plain data."""
    entries_of = index_by_dataset(book.entries)
    wanted = [s for s in book.standings.values() if dataset in (None, s.dataset)]
    return {
        "schema": 1,
        "ledger": book.identity,
        "head": book.head,
        "datasets": [standing_dict(s, plain_sum(entries_of, s.dataset)) for s in wanted],
        "entries": [
            {**entry_dict(entry), "state": state}
            for name in book.standings
            if dataset in (None, name)
            for entry, state in _states(book.entries, name)
        ],
    }


def export_json(book: Book, dataset: str | None) -> str:
    """Return all entries as JSON, one to a line."""
    entries = [entry_dict(e) for e in book.entries if dataset in (None, e.dataset)]
    lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
    head = json.dumps({"schema": 1, "ledger": book.identity, "head": book.head}, ensure_ascii=False)
    return f'{head[:-1]}, "entries": [\n{lines}\n]}}\n'


def export_csv(book: Book, dataset: str | None) -> str:
    """Return all entries as CSV."""
    names = ["number", "when", "who", "dataset", "state", "request", "purpose", "command", "method", "epsilon", "delta"]
    names += ["pure", "zcdp", "gdp", "approximate_delta", "statistics", "mechanisms", "hash"]
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(names)
    for entry in book.entries:
        if dataset in (None, entry.dataset):
            try:
                table.writerow([_safe(value) for value in _cells(entry)])
            except ODD:
                table.writerow([entry.number, "cannot be read"])
    return out.getvalue()


def _cells(entry: Entry) -> list[object]:
    facts = entry.facts
    asked = facts.get("asked", facts.get("standing", {}).get("limit") or {} if entry.kind == "limit" else {})
    counts = entry.kind in ("reserved", "spent")  # what was refused cost nothing
    cost = _amounts(Price.from_dict(facts["cost"])) if counts else {}
    spent = facts.get("spent", [])
    known: list[object] = [
        entry.number,
        entry.when,
        entry.who,
        entry.dataset,
        entry.kind,
        entry.request or "",
        entry.purpose,
    ]
    known += [asked.get(name, "") for name in ("command", "method", "epsilon", "delta")]
    known += [cost.get(name, "") for name in ("pure", "zcdp", "gdp", "delta")]
    return [*known, "; ".join(s["statistic"] for s in spent), "; ".join(s["mechanism"] for s in spent), entry.hash]


def _safe(value: object) -> object:
    """Return a cell that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def verdict_text(place: str, verdict: Verdict) -> str:
    """Return what was found about a ledger."""
    whole = f"{place}: {verdict.entries} entries, the chain is whole. Head {verdict.head}"
    lines = [f"{place}: TAMPERED WITH OR DAMAGED" if verdict.problems else whole]
    lines += [f"  ✗ {printable(words)}" for words in [*verdict.problems, *verdict.astray]]
    lines += [f"  ✓ {printable(words)}" for words in verdict.confirmed]
    lines += [f"  · {printable(words)}" for words in verdict.notes]
    return "\n".join(lines)


def verdict_dict(verdict: Verdict) -> dict[str, Any]:
    """Return what was found about a ledger, as plain data."""
    return {"schema": 1, "whole": verdict.whole, **vars(verdict)}
