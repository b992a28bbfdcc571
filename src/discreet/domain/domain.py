"""The public domain: what may be known about a table before anyone looks at it."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from discreet.domain.columns import QUANTILES, Column, Numeric, read_column, write_column
from discreet.domain.yaml import Node, as_int, as_mapping, as_text, dump_yaml, load_yaml, refuse_unknown, text_of
from discreet.errors import DomainError, DoubtWarning, SettingError

MAX_ROWS = 1 << 48
"""Largest number of rows: counts and their noise must fit in 64 bits."""

UNIT = "row"
"""What is protected when the domain does not say what one row stands for."""

PERSON = "person"
"""What is protected when rows have ids and the domain does not say whose."""

DRAFT = "# DRAFT: made by LOOKING AT THE DATA. As it stands it is NOT PUBLIC and must not be published."
"""The first line of a draft, until somebody has judged it and deletes it."""

MAX_ROWS_OF_PERSON = 1_000_000
"""Largest number of rows that a person may have."""


@dataclass(frozen=True)
class People:
    """Whose rows they are: the promise is made to all rows of a person together (``../data/people.md``).

    Parameters
    ----------
    id
        The column that tells people apart. It is no declared column; rows without an id are one person's. None if
        every row is a person of its own, who may be there or not: ``max_rows`` is 1.
    max_rows
        So many rows of a person are used at most. Noise is so many times as large.
    """

    id: str | None
    max_rows: int

    def __post_init__(self) -> None:
        if self.id is not None and (not isinstance(self.id, str) or not self.id or not self.id.isprintable()):
            raise DomainError("unit: `id` names the column that tells people apart")
        whole = isinstance(self.max_rows, int) and not isinstance(self.max_rows, bool)
        if not whole or not 1 <= self.max_rows <= MAX_ROWS_OF_PERSON:
            raise DomainError(f"unit: `max_rows` is a whole number from 1 to {MAX_ROWS_OF_PERSON:,}")
        if self.id is None and self.max_rows > 1:
            raise DomainError("unit: with several rows of a person, `id` names the column that tells people apart")


@dataclass(frozen=True)
class Domain:
    """Public columns, the public number of rows, and what one row stands for.

    Parameters
    ----------
    columns
        Declared columns by name; the order is that of the table for nameless arrays.
    rows
        The public number of rows; the table must have exactly as many. With ``people``, how many rows are used.
    unit
        What one row stands for ("patient", "visit"): the promise is made to it. With ``people``, what a person is.
    people
        How people with several rows are told apart, and how many rows of each are used; by default every row stands
        for itself.
    draft
        Whether it was made by looking at the data and nobody has judged it yet: nothing is published with it.
    """

    columns: Mapping[str, Column]
    rows: int
    unit: str = UNIT
    people: People | None = None
    draft: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.columns, Mapping):
            raise DomainError("columns: declared columns by name, as in {'age': Numeric(bounds=(0, 120))}")
        object.__setattr__(self, "columns", dict(self.columns))
        if not self.columns:
            raise DomainError("columns: declare at least one column")
        if not all(isinstance(column, Column) for column in self.columns.values()):
            raise DomainError("columns: each one a Categorical or a Numeric")
        if any(not isinstance(name, str) or not name or not name.isprintable() for name in self.columns):
            raise DomainError("columns: a column's name is empty or holds control characters")
        if len({name.lower() for name in self.columns}) != len(self.columns):
            raise DomainError("columns: two names differ only in case, which SQL engines cannot tell apart")
        if isinstance(self.rows, bool) or not isinstance(self.rows, int) or not 1 <= self.rows <= MAX_ROWS:
            raise DomainError("rows: the public number of rows, a whole number from 1")
        if not isinstance(self.unit, str) or not self.unit.strip() or not self.unit.isprintable():
            raise DomainError("unit: say in a word what one row stands for")
        if self.people is not None:
            self._check_people(self.people)

    def _check_people(self, people: People) -> None:
        if not isinstance(people, People):
            raise DomainError("unit: People(id, max_rows) says how people are told apart")
        if self.unit == UNIT:
            object.__setattr__(self, "unit", PERSON)
        if people.id is not None and people.id.lower() in {name.lower() for name in self.columns}:
            raise DomainError(f"unit: the id {people.id!r} is also a declared column; an id tells people apart only")

    def __repr__(self) -> str:
        """Say in a line what is declared."""
        numbers = sum(isinstance(column, Numeric) for column in self.columns.values())
        kinds = f"{len(self.columns)} columns, {numbers} of them numbers" if numbers else f"{len(self.columns)} columns"
        whose = "" if self.people is None else f", at most {self.people.max_rows:,} of each {self.unit}"
        return f"<Domain{' (A DRAFT)' * self.draft}: {kinds}, {self.rows:,} rows{whose}>"

    @property
    def group(self) -> int:
        """How many rows may change at once: those of one person."""
        return 1 if self.people is None else self.people.max_rows

    @property
    def protects(self) -> str:
        """What the promise is made to, as a ledger notes it."""
        if self.people is None:
            return UNIT
        return "one row, there or not" if self.people.id is None else f"all rows of one {self.people.id}"

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __getitem__(self, name: str) -> Column:
        try:
            return self.columns[name]
        except (KeyError, TypeError):
            raise DomainError(f"column {name!r} is not declared in the domain") from None

    def size(self, name: str) -> int:
        """Number of levels of a column."""
        return self[name].size

    @property
    def sizes(self) -> dict[str, int]:
        """Number of levels of each column."""
        return {name: column.size for name, column in self.columns.items()}

    def shape(self, names: Sequence[str]) -> tuple[int, ...]:
        """Shape of the contingency table over some columns."""
        return tuple(self.size(name) for name in names)

    def select(self, columns: Iterable[str]) -> Domain:
        """Return the domain with these columns only, in this order: others are neither read nor asked about."""
        names = () if isinstance(columns, str) or not isinstance(columns, Iterable) else tuple(columns)
        if not names or not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
            raise DomainError("columns: a list of different names, as in domain.select(['age', 'smoker'])")
        return replace(self, columns={name: self[name] for name in names})

    def with_rows(self, rows: int) -> Domain:
        """Return the same columns with another public number of rows."""
        return replace(self, rows=rows)

    def check_tabulable(self) -> None:
        """Refuse a domain with columns that cannot be counted."""
        for name, column in self.columns.items():
            if not column.tabulable:
                raise SettingError(
                    f"column {name!r} is numeric: declare `bins` so that it can be counted, or take `moments`"
                )

    def check_graph(self) -> None:
        """Refuse a domain in which no causal graph can be looked for."""
        if len(self.columns) < 2:
            raise SettingError("domain: a causal graph takes at least two columns")
        self.check_tabulable()

    def check_numeric(self) -> None:
        """Refuse a domain in which a method for continuous columns cannot look for a graph."""
        if len(self.columns) < 2:
            raise SettingError("domain: a causal graph takes at least two columns")
        for name, column in self.columns.items():
            if not isinstance(column, Numeric) or column.bins is not None:
                raise SettingError(f"column {name!r}: this method takes numbers; declare `bounds`, and no `bins`")
            if column.missing is not None or column.other is not None:
                raise SettingError(
                    f"column {name!r}: this method takes numbers alone; take `moments` where some are missing"
                )

    @property
    def unsettled(self) -> tuple[str, ...]:
        """Columns whose bins begin at quantiles that are not released yet."""
        return tuple(name for name, c in self.columns.items() if isinstance(c, Numeric) and not c.settled)

    def settle(self, edges: Mapping[str, Sequence[float]]) -> Domain:
        """Return the domain with public edges for the bins of columns that wait for their quantiles."""
        columns = dict(self.columns)
        for name, chosen in edges.items():
            column = self[name]
            if not isinstance(column, Numeric):
                raise DomainError(f"column {name!r} is not numeric")
            try:
                columns[name] = column.settle(chosen)
            except DomainError as error:
                raise DomainError(f"column {name!r}: {error}") from None
        return replace(self, columns=columns)

    def widest(self) -> Domain:
        """Return the domain with as many bins as were asked for, wherever they will begin: for checks in advance."""
        waiting = {name: c for name, c in self.columns.items() if isinstance(c, Numeric) and not c.settled}
        equal = {name: replace(c, at="equal-width") for name, c in waiting.items()}
        return replace(self, columns={**self.columns, **equal})

    @property
    def bins(self) -> dict[str, int]:
        """The number of bins of every continuous column."""
        return {name: len(c.edges) - 1 for name, c in self.columns.items() if isinstance(c, Numeric)}

    def with_bins(self, bins: int, columns: Collection[str] | None = None) -> Domain:
        """Return the domain with that many bins, at quantiles to be released, for continuous columns that have none.

        All of them, or those among ``columns``.
        """
        without = {name: c for name, c in self.columns.items() if isinstance(c, Numeric) and c.bins is None}
        chosen = without.keys() if columns is None else without.keys() & columns
        found = {name: replace(without[name], bins=bins, at=QUANTILES) for name in chosen}
        return replace(self, columns={**self.columns, **found})

    @classmethod
    def from_yaml(cls, source: str | Path) -> Domain:
        """Read a domain from YAML: a path, or the text itself if it holds a line break."""
        text = text_of(source, DomainError, "domain")
        found = cls.from_dict(load_yaml(f"{text}\n", DomainError, "domain"))
        return replace(found, draft=text.lstrip("\ufeff \n").startswith(DRAFT))

    @classmethod
    def from_dict(cls, node: Node) -> Domain:
        """Build a domain from nested dictionaries, as YAML or JSON give them."""
        if not node:
            raise DomainError("the domain is empty: declare `rows` and `columns`")
        top = as_mapping(node, DomainError, "domain")
        refuse_unknown(top, ("rows", "columns", "unit"), DomainError, "domain")
        if "rows" not in top:
            raise DomainError("rows: declare the public number of rows")
        if "columns" not in top:
            raise DomainError("columns: declare the columns")
        columns = {}
        for name, spec in as_mapping(top["columns"], DomainError, "columns").items():
            try:
                columns[name] = read_column(as_mapping(spec, DomainError, "its declaration"))
            except DomainError as error:
                raise DomainError(f"column {name!r}: {error}") from None
        unit, people = _read_unit(top.get("unit", UNIT))
        return cls(columns, rows=as_int(top["rows"], DomainError, "rows"), unit=unit, people=people)

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries, ready for YAML or JSON; ``from_dict`` reads them back."""
        columns = {name: write_column(column) for name, column in self.columns.items()}
        unit: str | dict[str, Any] = self.unit
        if self.people is not None:
            told_apart = {} if self.people.id is None else {"id": self.people.id}
            unit = {"name": self.unit, **told_apart, "max_rows": self.people.max_rows}
        return {"rows": self.rows, "unit": unit, "columns": columns}

    def to_yaml(self) -> str:
        """Return the domain as YAML text; labels that YAML would misread are quoted, and a draft says so."""
        return f"{DRAFT}\n" * self.draft + dump_yaml(self.to_dict())


def check_domain(domain: object, *, published: bool = True) -> None:
    """Refuse what is no domain, and a draft that nobody has judged; warn of that where nothing is published."""
    if not isinstance(domain, Domain):
        raise SettingError("domain: a Domain; Domain.from_yaml(path) reads a file")
    words = "the domain still carries the notice of a draft that was made by looking at the data"
    if domain.draft and published:
        raise DomainError(f"{words}. Judge every line of it, then delete the notice")
    if domain.draft:
        warnings.warn(f"{words}; `discover` will refuse it", DoubtWarning, stacklevel=3)


def _read_unit(node: Node) -> tuple[str, People | None]:
    """Read what is protected: a word for what one row stands for, or whose rows they are."""
    if not isinstance(node, Mapping):
        return as_text(node, DomainError, "unit"), None
    given = as_mapping(node, DomainError, "unit")
    refuse_unknown(given, ("name", "id", "max_rows"), DomainError, "unit")
    if "max_rows" not in given:
        raise DomainError("unit: `id` (the column that tells people apart) and `max_rows` (rows kept of each)")
    told_apart = as_text(given["id"], DomainError, "unit: id") if "id" in given else None
    people = People(told_apart, as_int(given["max_rows"], DomainError, "unit: max_rows"))
    return as_text(given.get("name", PERSON), DomainError, "unit: name"), people
