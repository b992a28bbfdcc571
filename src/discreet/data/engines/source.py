"""A table in an engine that has not been encoded yet, with the names and types of its columns.

This is the custodian's side. What goes wrong here is told to the custodian, by column and never by value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.arrays import IntArray
from discreet.data.counting import narrowest
from discreet.data.engines.encoding import beyond, code_of, missing_of, number_of
from discreet.data.engines.engine import Engine, Expr, double
from discreet.data.engines.table import EngineTable
from discreet.data.memory import MemoryTable
from discreet.data.misfits import Look, Misfit, check_names, check_present, check_rows
from discreet.data.people import check_id, chosen_expr, count_made_up, fillers, left_expr, person_expr
from discreet.domain import Categorical, Domain, Numeric
from discreet.progress import READ, Progress, tell
from discreet.sealed import Sealed

PULL_BATCH = 1 << 18
"""Rows that are pulled at once."""


@dataclass(frozen=True, repr=False)
class Coded(Sealed):
    """Codes in an engine, and made-up rows that belong to them."""

    expr: Expr
    more: MemoryTable | None


class EngineSource(Sealed):
    """A table in an engine that has not been encoded yet.

    Parameters
    ----------
    engine
        Where it is.
    table
        Ibis' expression of it.
    """

    def __init__(self, engine: Engine, table: Expr) -> None:
        self._engine = engine
        self._table = table
        self.close = engine.close
        self.name = engine.name
        self.kinds = {str(name): str(kind) for name, kind in table.schema().items()}
        check_names(self.name, self.kinds)
        self._kept: tuple[Domain, Expr] | None = None
        self.rows = int(engine.table(table.aggregate(n=table.count()))["n"][0])

    def check_rows(self, domain: Domain) -> None:
        """Refuse a table whose number of rows is not the declared one."""
        check_rows(self.name, self.rows, domain)

    def misfits(self, domain: Domain) -> list[Misfit]:
        """Count, column by column, the values without a declared place, in one look."""
        aliases = aliases_of(domain)
        coded = self._encode_all(domain)
        wanted = {}
        for name, alias in aliases.items():
            size = domain.size(name)
            wanted[f"m{alias}"] = coded.count(where=coded[alias] == size)
            wanted[f"f{alias}"] = coded.count(where=coded[alias] == size + 1)
        found = {name: int(values[0]) for name, values in self._engine.table(coded.aggregate(**wanted)).items()}
        misfits = [Misfit(name, found[f"m{alias}"], found[f"f{alias}"]) for name, alias in aliases.items()]
        return [m for m in misfits if m.missing or m.foreign]

    def count_clipped(self, domain: Domain) -> dict[str, int]:
        """Count the values of continuous columns that lie beyond their bounds, where there are any."""
        numeric = {name: c for name, c in domain.columns.items() if isinstance(c, Numeric)}
        if not numeric:
            return {}
        outside = {f"b{i}": beyond(self._table[n], c, self._engine) for i, (n, c) in enumerate(numeric.items())}
        wanted = {alias: self._table.count(where=condition) for alias, condition in outside.items()}
        found = self._engine.table(self._table.aggregate(**wanted))
        return {name: int(found[f"b{i}"][0]) for i, name in enumerate(numeric) if found[f"b{i}"][0]}

    def mark(self, domain: Domain) -> bytes | None:
        """Return what tells the declared columns' rows from others, where the engine has a hash for it."""
        import ibis

        gone_text = ibis.literal("\x01")
        texts = [ibis.coalesce(self._table[name].cast("string"), gone_text) for name in sorted(domain)]
        joined = ibis.literal("\x02").join(texts)
        hashed = self._engine.hash(joined)
        if hashed is None:
            return None
        total = hashed.cast("decimal(38, 0)").sum()
        found = self._engine.table(self._table.aggregate(h=total))["h"][0]
        return f"{self._engine.kind} {self.rows} {int(found)}".encode()

    def rows_left(self, domain: Domain) -> int:
        """Return how many rows there are if at most ``max_rows`` of each person are kept. For the custodian only."""
        people = check_id(self.name, self.kinds, domain)
        if people.id is None:
            return self.rows
        person = person_expr(self._table, people.id, self._engine)
        return int(self._engine.table(left_expr(self._table, person, people.max_rows))["n"][0])

    def encode(self, domain: Domain, key: str, doubt: Progress | None) -> Coded:
        """Return the codes of all rows, or of those of each person that are used."""
        if domain.people is None:
            return Coded(self._encode_all(domain), None)
        missing = count_made_up(self.name, domain, self.rows_left(domain), doubt)
        chosen = chosen_expr(self._table, self._codes(domain), domain, key, self._engine)
        more = MemoryTable(fillers(domain, 0, missing), domain.sizes) if missing else None
        return Coded(self._engine.keep(chosen), more)

    def table(self, domain: Domain, coded: Coded, progress: Progress | None) -> EngineTable:
        """Return the table, encoded where it is."""
        names, sizes = aliases_of(domain), domain.sizes
        return EngineTable(self._engine, coded.expr, names, sizes, domain.rows, more=coded.more, progress=progress)

    def pull(self, domain: Domain, coded: Coded, progress: Progress | None) -> MemoryTable:
        """Load the codes of all rows into memory."""
        parts: dict[str, list[IntArray]] = {name: [] for name in domain}
        kinds = {name: narrowest(domain.size(name)) for name in domain}
        done = 0
        for batch in self._engine.batches(coded.expr, PULL_BATCH):
            for name, alias in aliases_of(domain).items():
                parts[name].append(batch[alias].astype(kinds[name]))
            done += len(batch[alias])
            if domain.people is None:  # how many rows people have is not public
                words = f"{self.name}: {done:,} of {domain.rows:,} rows loaded"
                tell(progress, words, READ.at(done, domain.rows))
        for name, values in zip(domain, [] if coded.more is None else coded.more.values(list(domain)), strict=False):
            parts[name].append(values.astype(kinds[name]))
        return MemoryTable({name: np.concatenate(arrays) for name, arrays in parts.items()}, domain.sizes)

    def keep(self) -> None:
        """Leave the values where they are."""

    def which(self, name: str, column: Categorical) -> tuple[str, ...]:
        """Return the categories that occur in a column, for a draft."""
        code = code_of(name, self._table[name], column, self._engine)
        met = set(self._engine.table(self._table.select(code=code).distinct())["code"].tolist())
        return tuple(label for i, label in enumerate(column.categories) if i in met)

    def look(self, name: str, most: int, reading: Numeric) -> Look:
        """Look at one column, for a draft: as text, and as the numbers that it is read as."""
        raw, engine = self._table[name], self._engine
        missing, number = missing_of(raw, reading, engine), number_of(raw, reading, engine)
        kept = self._table.filter(~missing).select(label=raw.cast("string"), value=number)
        counted = kept.group_by("label").aggregate(n=kept.count())
        common = engine.table(counted.order_by([counted.n.desc(), counted.label]).limit(most))
        finite = kept.value.notnull() & (kept.value.abs() < double(math.inf))
        found = engine.table(
            kept.aggregate(
                different=kept.label.nunique(),
                present=kept.count(),
                strange=kept.count(where=kept.value.isnull()),
                low=kept.value.min(where=finite),
                high=kept.value.max(where=finite),
                broken=kept.count(where=finite & (kept.value != kept.value.floor())),
            )
        )
        one = {key: values[0] for key, values in found.items()}
        low, high = (None if one[k] is None or math.isnan(one[k]) else float(one[k]) for k in ("low", "high"))
        labels = {str(label): int(n) for label, n in zip(common["label"], common["n"], strict=True)}
        timed = raw.type().is_temporal() or raw.type().is_interval()
        counts = (int(one["different"]), self.rows - int(one["present"]), int(one["strange"]))
        return Look(labels, *counts, low, high, low is not None and not one["broken"], timed)

    def _encode_all(self, domain: Domain) -> Expr:
        """Return the codes of all rows, as the engine keeps them."""
        if self._kept is None or self._kept[0] is not domain:
            self._kept = domain, self._engine.keep(self._table.select(**self._codes(domain)))
        return self._kept[1]

    def _codes(self, domain: Domain) -> dict[str, Expr]:
        """Return expressions for the codes of all declared columns, under names of our own."""
        check_present(self.name, self.kinds, domain)
        self._engine.check_names(domain)
        return {alias: code_of(n, self._table[n], domain[n], self._engine) for n, alias in aliases_of(domain).items()}


def aliases_of(domain: Domain) -> dict[str, str]:
    """Return what columns are called in queries."""
    return {name: f"c{i}" for i, name in enumerate(domain)}
