"""`discreet synthesize`: rows drawn from a release."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("release")
@click.option("--rows", type=int, required=True, help="How many rows to draw.")
@click.option("--seed", type=int, help="Seed of the drawn rows.  [default: a fresh one]")
@click.option("--out", type=click.Path(path_type=Path), help="CSV file.  [default: stdout]")
def synthesize(release: str, rows: int, seed: int | None, out: Path | None) -> None:
    """Draw rows from a release.json as CSV: no data, no budget, as private as the release."""
    from discreet.release.discovery import Discovery
    from discreet.release.synthesis import csv_blocks
    from discreet.report import write_blocks

    blocks = csv_blocks(Discovery.load(release), rows, seed=seed)
    if out is not None:
        click.echo(f"Written: {write_blocks(out, blocks)}", err=True)
        return
    for block in blocks:
        click.echo(block.encode(), nl=False)
