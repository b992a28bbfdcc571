"""Raw rows in an engine, with the names and types of their columns: the custodian's side.

What goes wrong here is told to the custodian, by column and never by value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from discreet.arrays import IntArray
from discreet.data.counting import narrowest
from discreet.data.engines.encoding import Expr, beyond, code_of, double_of, gone
from discreet.data.engines.engine import Engine
from discreet.data.engines.table import EngineTable
from discreet.data.memory import MemoryTable
from discreet.data.misfits import Look, Misfit, check_present, check_rows
from discreet.data.padding import check_id, fillers, made_up
from discreet.domain import Domain, Numeric, People
from discreet.errors import MisfitError, TableError
from discreet.sealed import Sealed

_WHOLE = 1 << 53
"""Floats below this that are whole numbers are written as such."""

HALF = 32
"""Digits of half a hash."""


def person_of(raw: Expr, engine: str) -> Expr:
    """Return a person's id as text; all rows without one have the empty text."""
    import ibis

    text = ibis.coalesce(raw.cast("string"), ibis.literal(""))
    if raw.type().is_decimal() and engine == "postgres":  # 1 and 1.00 are equal there, and NaN is a number
        short = text.re_replace(r"[.]0+$", "").re_replace(r"([.][0-9]*[1-9])0+$", r"\1")
        return ibis.cases((gone(raw, engine), ""), else_=short)
    if not raw.type().is_floating():
        return text
    value = raw.cast("float64")
    there = ~(raw.isnull() | raw.isnan() | value.isinf())
    small = there & (value.abs() < _WHOLE)
    whole = ibis.cases((small, value), else_=0.0).cast("int64")  # what cannot be cast never is
    same = small & (whole.cast("float64") == value)
    return ibis.cases((raw.isnull() | raw.isnan(), ""), (same, whole.cast("string")), else_=text)


def left_of(table: Expr, person: Expr, most: int) -> Expr:
    """Return the number of rows that are left if so many are kept of each person, as a table of one."""
    import ibis

    people = table.select(person=person).group_by("person").aggregate(n=lambda t: t.count())
    return people.aggregate(n=ibis.least(people.n, ibis.literal(most, type="int64")).sum().cast("int64"))


def chosen(
    table: Expr,
    person: Expr,
    codes: Mapping[str, Expr],
    *,
    key: str,
    most: int,
    rows: int,
    sha256: Callable[[Expr], Expr],
) -> Expr:
    """Return the codes of the rows that are used.

    Parameters
    ----------
    table, person, codes
        The raw table, the id as text, and the code of each column by its alias, in the domain's order.
    key
        What decides; 64 hexadecimal digits.
    most
        Rows that are kept of each person.
    rows
        Rows that are used in all.
    sha256
        How the engine hashes a text, in lower-case hexadecimal digits.
    """
    import ibis

    coded = table.select(person=person, **codes)
    written = coded.mutate(codes=ibis.literal(",").join([coded[alias].cast("string") for alias in codes]))
    nth = ibis.row_number().over(group_by=[written.person, written.codes], order_by=written.codes) + 1
    numbered = written.mutate(nth=nth)
    label = numbered.codes + ";" + numbered.nth.cast("string") + ";" + numbered.person
    labelled = numbered.mutate(label=label)
    hashed = labelled.mutate(digest=sha256(ibis.literal(key + ";") + labelled.label))
    first, last = hashed.digest.left(HALF), hashed.digest.right(HALF)
    line = ibis.row_number().over(group_by=hashed.person, order_by=[first, hashed.label])
    ranked = hashed.mutate(place=line, last=last)
    kept = ranked.filter(ranked.place < most)
    return kept.order_by([kept["last"], kept.label]).limit(rows).select(*codes)


BATCH = 1 << 18
"""Rows that are pulled at once."""

Tell = Callable[[str], None]


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
        self.name = engine.name
        self.kinds = {str(name): str(kind) for name, kind in table.schema().items()}
        if len({name.lower() for name in self.kinds}) != len(self.kinds):
            raise TableError(f"{self.name} has two columns whose names are the same or differ only in case")
        self._kept: tuple[Domain, Expr] | None = None
        self.rows = int(engine.table(table.aggregate(n=table.count()))["n"][0])

    def check_rows(self, domain: Domain) -> None:
        """Refuse a table whose number of rows is not the declared one."""
        check_rows(self.name, self.rows, domain)

    def misfits(self, domain: Domain) -> list[Misfit]:
        """Count, column by column, the values without a declared place, in one look."""
        aliases = aliases_of(domain)
        coded = self._whole(domain)
        wanted = {}
        for name, alias in aliases.items():
            size = domain.size(name)
            wanted[f"m{alias}"] = coded.count(where=coded[alias] == size)
            wanted[f"f{alias}"] = coded.count(where=coded[alias] == size + 1)
        found = {name: int(values[0]) for name, values in self._engine.table(coded.aggregate(**wanted)).items()}
        misfits = [Misfit(name, found[f"m{alias}"], found[f"f{alias}"]) for name, alias in aliases.items()]
        return [m for m in misfits if m.missing or m.foreign]

    def clipped(self, domain: Domain) -> dict[str, int]:
        """Count the values of numeric columns that lie beyond their bounds, where there are any."""
        numeric = {name: c for name, c in domain.columns.items() if isinstance(c, Numeric)}
        if not numeric:
            return {}
        outside = {f"b{i}": beyond(self._table[n], c, self._engine.kind) for i, (n, c) in enumerate(numeric.items())}
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

    def left(self, people: People) -> int:
        """Return how many rows there are if at most ``max_rows`` of each person are kept. For the custodian only."""
        return int(self._engine.table(left_of(self._table, self._person(people), people.max_rows))["n"][0])

    def coded(self, domain: Domain, key: str, doubt: Tell | None) -> Coded:
        """Return the codes of all rows, or of those of each person that are used."""
        if domain.people is None:
            return Coded(self._whole(domain), None)
        check_id(self.name, self.kinds, domain)
        missing = made_up(self.name, domain, self.left(domain.people), doubt)
        person = self._person(domain.people)
        most, rows = domain.people.max_rows, domain.rows
        cut = chosen(
            self._table, person, self._codes(domain), key=key, most=most, rows=rows, sha256=self._engine.sha256
        )
        more = fillers(domain, 0, missing)
        return Coded(self._engine.kept(cut), MemoryTable(more, sizes_of(domain)) if missing else None)

    def table(self, domain: Domain, coded: Coded, tell: Tell | None) -> EngineTable:
        """Return the table, encoded where it is."""
        names, sizes = aliases_of(domain), sizes_of(domain)
        return EngineTable(self._engine, coded.expr, names, sizes, domain.rows, more=coded.more, tell=tell)

    def pulled(self, domain: Domain, coded: Coded, tell: Tell | None) -> MemoryTable:
        """Load the codes of all rows into memory."""
        parts: dict[str, list[IntArray]] = {name: [] for name in domain}
        kinds = {name: narrowest(domain.size(name)) for name in domain}
        done = 0
        for batch in self._engine.batches(coded.expr, BATCH):
            for name, alias in aliases_of(domain).items():
                parts[name].append(batch[alias].astype(kinds[name]))
            done += len(batch[alias])
            if tell is not None and domain.people is None:  # how many rows people have is not public
                tell(f"{self.name}: {done:,} of {domain.rows:,} rows loaded")
        for name, values in zip(domain, [] if coded.more is None else coded.more.values(list(domain)), strict=False):
            parts[name].append(values.astype(kinds[name]))
        return MemoryTable({name: np.concatenate(arrays) for name, arrays in parts.items()}, sizes_of(domain))

    def look(self, name: str, most: int) -> Look:
        """Look at one column, for a draft."""
        kind, raw, engine = self._table[name].type(), self._table[name], self._engine
        missing = gone(raw, engine.kind)
        text = raw.cast("string")
        there = self._table.filter(~missing)
        seen = engine.table(there.select(label=text).distinct().limit(most))["label"]
        nothing = int(engine.table(self._table.aggregate(n=self._table.count(where=missing)))["n"][0])
        low = high = None
        if kind.is_numeric():
            value = double_of(raw, engine.kind)
            finite = there.filter(~value.isinf()) if kind.is_floating() else there
            found = engine.table(finite.aggregate(low=value.min(), high=value.max()))
            low, high = (None if found[k][0] is None else float(found[k][0]) for k in ("low", "high"))
        endless = kind.is_floating() and any(str(label).lower().lstrip("+-").startswith("inf") for label in seen)
        return Look(tuple(str(label) for label in seen), nothing > 0, endless, low, high)

    def _person(self, people: People) -> Expr:
        return person_of(self._table[people.id], self._engine.kind)

    def _whole(self, domain: Domain) -> Expr:
        """Return the codes of all rows, as the engine keeps them."""
        if self._kept is None or self._kept[0] is not domain:
            self._kept = domain, self._engine.kept(self._table.select(**self._codes(domain)))
        return self._kept[1]

    def _codes(self, domain: Domain) -> dict[str, Expr]:
        """Return expressions for the codes of all declared columns, under names of our own."""
        check_present(self.name, self.kinds, domain)
        kind = self._engine.kind
        if kind == "pyspark" and any("${" in name for name in domain):
            raise MisfitError(f"{self.name}: a column's name holds `${{`, which Spark replaces: rename it in a view")
        return {alias: code_of(n, self._table[n], domain[n], kind) for n, alias in aliases_of(domain).items()}


def aliases_of(domain: Domain) -> dict[str, str]:
    """Return what columns are called in queries."""
    return {name: f"c{i}" for i, name in enumerate(domain)}


def sizes_of(domain: Domain) -> dict[str, int]:
    """Return the number of levels of each column."""
    return {column: domain.size(column) for column in domain}
