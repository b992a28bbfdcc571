"""`discreet report`: the page and pictures of a release, made again for free."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from discreet.cli.options import title_option


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
@title_option
def report(release: str, outs: tuple[Path, ...], title: str | None) -> None:
    """Make the page, or a picture of the graph, of a release.json: no data, no budget."""
    from discreet.release.discovery import Discovery
    from discreet.report import check_file, write_whole
    from discreet.report.html import report_html
    from discreet.report.picture import ENDINGS, Picture, ending_of

    wanted = [(path, ending_of(path, ("html", *ENDINGS))) for path in outs or (Path(release).parent / "report.html",)]
    found = Discovery.load(release)
    if title is not None:
        found = replace(found, about=replace(found.about, title=title))
    for path, _ in wanted:
        check_file(path)
    for path, ending in wanted:
        written = write_whole(path, report_html(found)) if ending == "html" else Picture(found).save(path)
        click.echo(f"Written: {written}", err=True)
