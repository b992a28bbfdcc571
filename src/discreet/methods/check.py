"""What of a table does not fit its domain, and what goes where: by column, never by value. For the custodian only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

from discreet.data.engines.source import EngineSource
from discreet.data.files import Source
from discreet.data.load import open_source
from discreet.data.people import MADE_UP
from discreet.domain import Categorical, Column, Domain
from discreet.domain.domain import check_domain
from discreet.errors import SettingError
from discreet.methods.registry import refuse_unaskable, settings_for
from discreet.privacy.accounting import delta_for

_PROBLEMS = {
    "absent": "column {column!r}: declared, but not in the data",
    "rows": "rows: the domain declares {declared}, the data have {found}",
    "left": "rows: the domain declares {declared}, and {found} are left",
    "missing": "column {column!r}: {values:,} missing values without a place (declare `missing:`)",
    "foreign": "column {column!r}: {values:,} values outside the declaration without a place. Are they written "
    "otherwise (`merge`, `ignore`, `missing_codes`; of numbers `decimal`, `thousands`, `units`)? Else declare `other:`",
    "refused": "{words}",
}
_PLACED = "column {column!r}: {values:,} of {of:,} values are {kind} and go to {place!r}"
_MOSTLY = "LOOK AT THIS COLUMN: more than half of it is {kind}. Is it declared as it is written in the table?"


@dataclass(frozen=True)
class Check:
    """What was found out about a table and its domain. For the custodian only: it counts, and its repr does not.

    Parameters
    ----------
    domain, rows
        What is declared, and how many rows the table has.
    problems
        What has to be mended before a run.
    ignored
        Columns that are not declared.
    clipped
        How many values of each column lie beyond its bounds.
    placed
        How many values go to the places that are declared for missing and foreign ones.
    left
        How many rows are left of all people; None if rows stand for themselves.
    """

    domain: Domain
    rows: int
    problems: tuple[Mapping[str, Any], ...] = ()
    ignored: tuple[str, ...] = ()
    clipped: Mapping[str, int] = field(default_factory=dict)
    placed: tuple[Mapping[str, Any], ...] = ()
    left: int | None = None

    @property
    def fits(self) -> bool:
        """Whether a run would take the table as it is."""
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        found: dict[str, Any] = {"schema": 1, "fits": self.fits, "problems": [dict(one) for one in self.problems]}
        found |= {"ignored": list(self.ignored), "clipped": dict(self.clipped)}
        found["placed"] = [dict(one) for one in self.placed]
        return found if self.left is None else {**found, "left": self.left}

    def __str__(self) -> str:
        """Say it in words, a line each."""
        lines = [
            f"column {name!r}: {n:,} values beyond the bounds are clipped to them" for name, n in self.clipped.items()
        ]
        for one in self.placed:
            lines.append(_PLACED.format(of=self.rows, **one))
            if one["kind"] == "foreign" and 2 * one["values"] > self.rows:
                lines.append("  " + _MOSTLY.format(**one))
        if self.left is not None and self.domain.people is not None:
            most = f"at most {self.domain.people.max_rows:,} are kept of each {self.domain.unit}"
            left = "" if self.domain.people.id is None else f", of which {self.left:,} are left if {most}"
            lines.append(
                f"{self.rows:,} rows{left}. That is for the custodian only; declare a round number below as `rows`."
            )
        lines += [_PROBLEMS[one["problem"]].format(**one) for one in self.problems]
        if self.ignored:
            lines.append(f"ignored, because not declared: {', '.join(self.ignored)}")
        return "\n".join([*lines, f"The data {'fit' if self.fits else 'do not fit'} the domain."])

    def __repr__(self) -> str:
        """Say whether it fits, and no number of the table."""
        return f"<Check: the data {'fit' if self.fits else 'do not fit'} the domain; print it to see what goes where>"

    def _repr_html_(self) -> str:
        """Show the words in a notebook."""
        return f'<pre style="font-family:monospace">{escape(str(self))}</pre>'


def check(data: object, domain: Domain) -> Check:
    """Tell the custodian what of a table does not fit the domain: by column, never by value.

    Parameters
    ----------
    data
        A path, a table in memory, or one in an engine, as ``discover`` takes it.
    domain
        What is public about the table; a draft may be checked.

    Raises
    ------
    TableError
        If the data cannot be read as a table.
    """
    check_domain(domain, published=False)
    source = open_source(data, domain)
    problems: list[dict[str, Any]] = [{"column": c, "problem": "absent"} for c in domain if c not in source.kinds]
    left = _count_left(source, domain, problems)
    if left is None and source.rows != domain.rows:
        problems.append({"column": None, "problem": "rows", "declared": domain.rows, "found": source.rows})
    present = {c: domain[c] for c in domain if c in source.kinds}
    for misfit in source.misfits(Domain(present, rows=domain.rows)) if present else []:
        problems += [
            {"column": misfit.column, "problem": kind, "values": number}
            for kind, number in (("missing", misfit.missing), ("foreign", misfit.foreign))
            if number
        ]
    if refusal := _refusal(domain):
        problems.append({"column": None, "problem": "refused", "words": refusal})
    known = {*domain.columns, *(() if domain.people is None else (domain.people.id,))}
    return Check(
        domain,
        source.rows,
        tuple(problems),
        ignored=tuple(name for name in source.kinds if name not in known),
        clipped=source.count_clipped(Domain(present, rows=domain.rows)) if present else {},
        placed=tuple(_count_placed(source, present)),
        left=left,
    )


def _refusal(domain: Domain) -> str | None:
    """Return why `discover` would refuse the domain, whatever its budget; None if it would not."""
    try:
        refuse_unaskable(settings_for("auto", domain.widest()), domain, 1.0, delta_for(domain.rows))
    except SettingError as error:
        return str(error)
    return None


def _count_placed(source: Source | EngineSource, columns: Mapping[str, Column]) -> list[dict[str, Any]]:
    """Return how many values go to the places that are declared for missing and foreign ones."""
    bare: dict[str, Column] = {}
    for name, column in columns.items():
        if column.missing is not None or column.other is not None:
            rest = replace(column, missing=None, other=None)
            bare[name] = replace(rest, categories=column.levels) if isinstance(rest, Categorical) else rest
    if not bare:
        return []
    found = []
    for misfit in source.misfits(Domain(bare, rows=1)):
        places = columns[misfit.column].missing, columns[misfit.column].other
        for kind, place, number in zip(("missing", "foreign"), places, (misfit.missing, misfit.foreign), strict=True):
            if number and place is not None:
                found.append({"column": misfit.column, "kind": kind, "place": place, "values": number})
    return found


def _count_left(source: Source | EngineSource, domain: Domain, problems: list[dict[str, Any]]) -> int | None:
    """Return how many rows are left of all people, and note what is wrong; None if rows stand for themselves."""
    if domain.people is None:
        return None
    if domain.people.id is not None and domain.people.id not in source.kinds:
        problems.append({"column": domain.people.id, "problem": "absent"})
        return 0
    left = source.rows_left(domain)
    if domain.rows - left > MADE_UP * domain.rows:
        problems.append({"column": None, "problem": "left", "declared": domain.rows, "found": left})
    return left
