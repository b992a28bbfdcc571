"""`discreet explain`: what epsilon and delta promise, and what they do not."""

from __future__ import annotations

import json

import click

from discreet.cli.options import delta_option, json_option


@click.command()
@click.option("--epsilon", type=float, required=True, help="The promise's epsilon. No default.")
@delta_option
@click.option("--rows", type=int, help="Number of rows of the table, if it is known.")
@click.option(
    "--correlation", type=float, help="Share of cases, 0.5 to 1, in which another row has the same value as yours."
)
@click.option("--alike", type=int, help="With --correlation: how many such rows there are besides yours.  [default: 1]")
@json_option
def explain(
    epsilon: float, delta: float | None, rows: int | None, correlation: float | None, alike: int | None, as_json: bool
) -> None:
    """Say what epsilon and delta promise to a person in the data, and what they do not."""
    from discreet.privacy.explanation import explain as run

    found = run(epsilon, delta, rows=rows, correlation=correlation, alike=alike)
    click.echo(json.dumps(found.to_dict()) if as_json else str(found))
