"""`discreet domain`: the public domain of a table, drafted and checked. For the custodian, who holds the rows."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.options import read_domain
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.data.engines.source import EngineSource
    from discreet.data.files import Source
    from discreet.domain import Column, Domain


@click.group()
def domain() -> None:
    """Write and check the public domain of a table."""


@domain.command()
@click.argument("data")
def draft(data: str) -> None:
    """Write a draft domain of DATA to stdout, for the custodian to edit. It looks at the data."""
    from discreet.data.draft import draft_yaml
    from discreet.data.load import open_source

    text = draft_yaml(open_source(data))
    click.echo(
        "This draft was made by LOOKING AT THE DATA. It is not public until you have judged every line.", err=True
    )
    click.echo(text, nl=False)


@domain.command()
@click.argument("data")
@click.option("--domain", "domain_file", required=True, help="Domain file (YAML).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout instead of words on stderr.")
def check(data: str, domain_file: str, as_json: bool) -> None:
    """Tell the custodian what of DATA does not fit the domain: by column, never by value."""
    from discreet.data.load import open_source
    from discreet.domain import Domain

    declared = read_domain(domain_file, published=False)
    source = open_source(data, declared)
    problems: list[dict[str, Any]] = [{"column": c, "problem": "absent"} for c in declared if c not in source.kinds]
    left = _count_left(source, declared, problems)
    if left is None and source.rows != declared.rows:
        problems.append({"column": None, "problem": "rows", "declared": declared.rows, "found": source.rows})
    present = {c: declared[c] for c in declared if c in source.kinds}
    for misfit in source.misfits(Domain(present, rows=declared.rows)) if present else []:
        problems += [
            {"column": misfit.column, "problem": kind, "values": number}
            for kind, number in (("missing", misfit.missing), ("foreign", misfit.foreign))
            if number
        ]
    known = {*declared.columns, *(() if declared.people is None else (declared.people.id,))}
    extra = [name for name in source.kinds if name not in known]
    clipped = source.count_clipped(Domain(present, rows=declared.rows)) if present else {}
    placed = _count_placed(source, present)
    if as_json:
        found = {"schema": 1, "fits": not problems, "problems": problems, "ignored": extra, "clipped": clipped}
        found["placed"] = placed
        click.echo(json.dumps(found | ({} if left is None else {"left": left})))
    else:
        for name, count in clipped.items():
            click.echo(f"column {name!r}: {count:,} values beyond the bounds are clipped to them", err=True)
        for one in placed:
            words = "column {column!r}: {values:,} of {of:,} values are {kind} and go to {place!r}"
            click.echo(words.format(of=source.rows, **one), err=True)
        if left is not None and declared.people is not None:
            click.echo(
                f"{source.rows:,} rows, of which {left:,} are left if at most {declared.people.max_rows:,} are kept of "
                f"each {declared.unit}. That is for the custodian only; declare a round number below as `rows`.",
                err=True,
            )
        _say_check(problems, extra)
    if problems:
        sys.exit(InputError.exit_code)


def _count_placed(source: Source | EngineSource, columns: dict[str, Column]) -> list[dict[str, Any]]:
    """Return how many values go to the places that are declared for missing and foreign ones."""
    from discreet.domain import Categorical, Domain

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


def _count_left(source: Source | EngineSource, declared: Domain, problems: list[dict[str, Any]]) -> int | None:
    """Return how many rows are left of all people, and note what is wrong; None if rows stand for themselves."""
    from discreet.data.people import MADE_UP

    if declared.people is None:
        return None
    if declared.people.id not in source.kinds:
        problems.append({"column": declared.people.id, "problem": "absent"})
        return 0
    left = source.rows_left(declared)
    if declared.rows - left > MADE_UP * declared.rows:
        problems.append({"column": None, "problem": "left", "declared": declared.rows, "found": left})
    return left


def _say_check(problems: list[dict[str, Any]], extra: list[str]) -> None:
    words = {
        "absent": "column {column!r}: declared, but not in the data",
        "rows": "rows: the domain declares {declared}, the data have {found}",
        "left": "rows: the domain declares {declared}, and {found} are left",
        "missing": "column {column!r}: {values} missing values without a place (declare `missing:`)",
        "foreign": "column {column!r}: {values} values outside the declaration without a place (declare `other:`)",
    }
    for problem in problems:
        click.echo(words[problem["problem"]].format(**problem), err=True)
    if extra:
        click.echo(f"ignored, because not declared: {', '.join(extra)}", err=True)
    click.echo("The data do not fit the domain." if problems else "The data fit the domain.", err=True)
