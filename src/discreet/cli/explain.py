"""`discreet explain`: what epsilon and delta promise, and what they do not."""

from __future__ import annotations

import json

import click

from discreet.cli.options import delta_option, json_option


@click.command()
@click.argument("release", required=False)
@click.option("--epsilon", type=float, help="The promise's epsilon. No default.")
@delta_option
@click.option("--rows", type=int, help="Number of rows of the table, if it is known.")
@click.option(
    "--correlation", type=float, help="Share of cases, 0.5 to 1, in which another row has the same value as yours."
)
@click.option("--alike", type=int, help="With --correlation: how many such rows there are besides yours.  [default: 1]")
@json_option
def explain(
    release: str | None,
    epsilon: float | None,
    delta: float | None,
    rows: int | None,
    correlation: float | None,
    alike: int | None,
    as_json: bool,
) -> None:
    """Say what epsilon and delta promise to a person in the data, and what they do not.

    With a release.json as RELEASE, say it of that release and of the method that made it.
    """
    from discreet.errors import SettingError
    from discreet.privacy.explanation import explain as run

    if release is not None:
        from discreet.release.discovery import Discovery

        if clash := [name for name, value in (("epsilon", epsilon), ("rows", rows)) if value is not None]:
            raise SettingError(f"{clash[0]}: the release has it; leave the option out")
        kept = Discovery.load(release)
        found = run(kept, delta, correlation=correlation, alike=alike)
    elif epsilon is None:
        raise SettingError("epsilon: name it with --epsilon, or name a release.json that has one")
    else:
        found = run(epsilon, delta, rows=rows, correlation=correlation, alike=alike)
    click.echo(json.dumps(found.to_dict()) if as_json else str(found))
