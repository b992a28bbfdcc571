"""The ledger in words and tables: what was spent on which data set, and what is left."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from discreet.ledger.entries import Entry
from discreet.ledger.prices import SHOWN_DELTA, Price
from discreet.ledger.records import Book, Standing
from discreet.ledger.verifying import Verdict
from discreet.ledger.words import amount, promise
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import GRAINS
from discreet.report.text import fold

BAR = 30
SHORT = 8
STATES = {"limit": "limit", "reserved": "reserved, not committed", "refused": "refused", "spent": "booked by hand"}


def plain(text: str) -> str:
    """Return text without characters that would move a terminal."""
    return "".join(c if c.isprintable() else "?" for c in text)


def bar(share: float) -> str:
    """Return a bar of what is spent; anything spent shows, and so does anything left."""
    filled = min(BAR, max(round(share * BAR), 1 if share > 0 else 0))
    if share < 1:
        filled = min(filled, BAR - 1)
    return "█" * filled + "░" * (BAR - filled)


def epsilon_spent(standing: Standing) -> float | None:
    """Return the epsilon that all runs together amount to, in the limit's currency if there is a limit."""
    limit = standing.limit
    if limit is None:
        return standing.spent.epsilon(SHOWN_DELTA)
    return standing.spent.epsilon(limit.delta, limit.currency)


def so_far(standing: Standing) -> str:
    """Return what all runs together amount to."""
    delta = SHOWN_DELTA if standing.limit is None else standing.limit.delta
    found = epsilon_spent(standing)
    if found is None:
        return f"more than any epsilon at delta {delta:g}"
    return promise(_up(found), delta)


def standing_line(standing: Standing) -> str:
    """Return where a data set stands after a run, in a line or two."""
    name, limit = plain(standing.dataset), standing.limit
    runs = "1 run" if standing.runs == 1 else f"{standing.runs} runs"
    if limit is None:
        return fold(
            f"Ledger: {name!r} has no limit. Its {runs} so far amount to {so_far(standing)}, and nothing stops "
            f"the next one; `discreet ledger limit --dataset {name} --epsilon E` does.",
            "",
        )
    return fold(
        f"Ledger: {name!r}: {limit.share(standing.spent):.1%} of its limit ({promise(limit.epsilon, limit.delta)}) is "
        f"spent in {runs}; {_further(standing)}.",
        "",
    )


def standing_text(standing: Standing) -> str:
    """Return where a data set stands: a name, a bar and what is left."""
    limit, spent = standing.limit, standing.spent
    runs = "1 run" if standing.runs == 1 else f"{standing.runs} runs"
    head = f"{plain(standing.dataset)}   (owner: {plain(standing.owner) or 'none'})"
    if limit is None:
        return f"{head}\n  no limit declared: {runs}, so far {so_far(standing)} in all, and nothing stops the next one"
    share = limit.share(spent)
    put_by = f", {limit.approximate:g} of it for approximate parts" if limit.approximate else ""
    return "\n".join(
        [
            head,
            f"  {bar(share)}  {share:.1%} spent in {runs}",
            f"  limit   {promise(limit.epsilon, limit.delta)}{put_by}: {amount(limit.amount, limit.currency)}",
            f"  spent   {so_far(standing)}: {amount(spent.amount(limit.currency), limit.currency)}",
            f"  left    {amount(max(limit.left(spent), 0), limit.currency)}: {_further(standing)}",
        ]
    )


def _further(standing: Standing) -> str:
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


def ledger_text(name: str, book: Book, dataset: str | None, last: int | None) -> str:
    """Return the ledger as a page for a terminal."""
    lines = [
        f"{plain(name[:1].upper() + name[1:])}: {len(book.entries)} entries, head {book.head[:16]}…",
    ]
    shown = [s for s in book.standings.values() if dataset in (None, s.dataset)]
    if not shown:
        lines += ["", "No data set yet: `discreet ledger limit --dataset NAME --epsilon E` declares a limit."]
    for standing in shown:
        lines += ["", standing_text(standing)]
        rows = [_row(entry, state) for entry, state in _states(book.entries, standing.dataset)]
        if rows:
            hidden = 0 if last is None else max(len(rows) - last, 0)
            if hidden:
                lines += ["", f"  ({hidden} earlier entries: --all shows them)"]
            lines += [
                "",
                *_table(("", "when (UTC)", "who", "what", "asked", "costs", "state", "request"), rows[hidden:]),
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


def _row(entry: Entry, state: str) -> tuple[str, ...]:
    facts = entry.facts
    when = entry.when[:16].replace("T", " ")
    who, purpose = plain(entry.who), f" ({plain(entry.purpose)})" if entry.purpose else ""
    if entry.kind == "limit":
        limit = facts["standing"]["limit"]
        asked = f"{limit['epsilon']:g}, {limit['delta']:g}"
        return (str(entry.number), when, who, f"limit{purpose}", asked, "", "declared", "")
    asked = facts["asked"]
    what = " ".join(part for part in (plain(str(asked["command"])), plain(str(asked["method"]))) if part) + purpose
    cost = "" if entry.kind == "refused" else f"{_zcdp(facts['cost']):.4g}"
    request = plain(entry.request or "")
    short = request if len(request) <= 2 * SHORT else request[:SHORT] + "…"
    return (str(entry.number), when, who, what, f"{asked['epsilon']:g}, {asked['delta']:g}", cost, state, short)


def _zcdp(cost: dict[str, Any]) -> float:
    return float(Fraction(Price.from_dict(cost).zcdp, GRAINS))


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    right = {0, 5}

    def line(row: tuple[str, ...]) -> str:
        cells = [f"{c:>{w}}" if i in right else f"{c:<{w}}" for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        return ("  " + "  ".join(cells)).rstrip()

    return [line(head), "  " + "  ".join("─" * w for w in widths), *map(line, rows)]


def standing_dict(standing: Standing) -> dict[str, Any]:
    """Return where a data set stands, as plain data."""
    limit, spent = standing.limit, standing.spent
    delta = SHOWN_DELTA if limit is None else limit.delta
    found: dict[str, Any] = {
        "dataset": standing.dataset,
        "owner": standing.owner,
        "runs": standing.runs,
        "limit": None,
        "spent": _amounts(spent),
        "spent_epsilon": epsilon_spent(standing),
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
        found["cost"] = _amounts(Price.from_dict(entry.facts["cost"]))
    return found


def ledger_dict(book: Book, dataset: str | None) -> dict[str, Any]:
    """Return the ledger as plain data."""
    return {
        "schema": 1,
        "ledger": book.identity,
        "head": book.head,
        "datasets": [standing_dict(s) for s in book.standings.values() if dataset in (None, s.dataset)],
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
    names = ["number", "when", "who", "dataset", "kind", "request", "purpose", "command", "method", "epsilon", "delta"]
    names += ["pure", "zcdp", "gdp", "approximate_delta", "statistics", "mechanisms", "hash"]
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(names)
    for entry in book.entries:
        if dataset in (None, entry.dataset):
            table.writerow([_safe(value) for value in _cells(entry)])
    return out.getvalue()


def _cells(entry: Entry) -> list[object]:
    facts = entry.facts
    asked = facts.get("asked", facts.get("standing", {}).get("limit") or {} if entry.kind == "limit" else {})
    cost = _amounts(Price.from_dict(facts["cost"])) if "cost" in facts else {}
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
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t") else value


def verdict_text(name: str, verdict: Verdict) -> str:
    """Return what was found about a ledger."""
    title = plain(name[:1].upper() + name[1:])
    good = f"{title}: {verdict.entries} entries, the chain is whole. Head {verdict.head}"
    lines = [f"{title}: NOT WHOLE" if verdict.problems else good]
    lines += [f"  ✗ {plain(words)}" for words in verdict.problems]
    lines += [f"  ✓ {plain(words)}" for words in verdict.confirmed]
    lines += [f"  · {plain(words)}" for words in verdict.notes]
    return "\n".join(lines)


def verdict_dict(verdict: Verdict) -> dict[str, Any]:
    """Return what was found about a ledger, as plain data."""
    return {"schema": 1, "whole": not verdict.problems, **vars(verdict)}


def _up(value: float) -> float:
    """Round up to three digits."""
    from math import ceil, floor, isinf, log10

    if value <= 0 or isinf(value):
        return value
    step = 10.0 ** (floor(log10(value)) - 2)
    return float(f"{ceil(value / step - 1e-9) * step:.6g}")
