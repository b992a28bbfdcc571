"""`discreet domain`: the public domain of a table, drafted and checked. For the custodian, who holds the rows."""

from __future__ import annotations

import json
import sys

import click

from discreet.cli.options import read_domain
from discreet.errors import InputError


@click.group()
def domain() -> None:
    """Write and check the public domain of a table."""


@domain.command()
@click.argument("data")
def draft(data: str) -> None:
    """Write a draft domain of DATA to stdout, for the custodian to edit. It looks at the data."""
    from discreet.data.draft import draft as run

    text = run(data)
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
    from discreet.methods.check import check as run

    found = run(data, read_domain(domain_file))
    click.echo(json.dumps(found.to_dict()) if as_json else str(found), err=not as_json)
    if not found.fits:
        sys.exit(InputError.exit_code)
