"""`discreet report` and `discreet synthesize`: what can be made again from a release, for free."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("release")
@click.option(
    "--out",
    "outs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="File to write, as its ending says: .html (the page), .svg, .png or .pdf (the graph). May be given several "
    "times.  [default: report.html beside the release]",
)
def report(release: str, outs: tuple[Path, ...]) -> None:
    """Make the page, or a picture of the graph, of a release.json: no data, no budget."""
    from discreet.discovery import Discovery
    from discreet.report import check_file, write_whole
    from discreet.report.html import report_html
    from discreet.report.picture import ENDINGS, Picture, ending_of

    wanted = [(path, ending_of(path, ("html", *ENDINGS))) for path in outs or (Path(release).parent / "report.html",)]
    found = Discovery.load(release)
    for path, _ in wanted:
        check_file(path)
    for path, ending in wanted:
        written = write_whole(path, report_html(found)) if ending == "html" else Picture(found).save(path)
        click.echo(f"Written: {written}", err=True)


@click.command()
@click.argument("release")
@click.option("--rows", type=int, required=True, help="How many rows to draw.")
@click.option("--seed", type=int, help="Seed of the drawn rows.  [default: a fresh one]")
@click.option("--out", type=click.Path(path_type=Path), help="CSV file.  [default: stdout]")
def synthesize(release: str, rows: int, seed: int | None, out: Path | None) -> None:
    """Draw rows from a release.json as CSV: no data, no budget, as private as the release."""
    from discreet.discovery import Discovery
    from discreet.report import write_blocks
    from discreet.synthesis import csv_blocks

    blocks = csv_blocks(Discovery.load(release), rows, seed=seed)
    if out is not None:
        click.echo(f"Written: {write_blocks(out, blocks)}", err=True)
        return
    for block in blocks:
        click.echo(block.encode(), nl=False)
