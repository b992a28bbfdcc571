"""How commands show a discovery: the graph on stdout, words on stderr, then the files."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from discreet.discovery import Discovery


def show(found: Discovery, out: Path | None, as_json: bool) -> None:
    """Print the result first, so that it is not lost if a file cannot be written; then write the files."""
    from discreet.report import text
    from discreet.report.terminal import marks_for

    if as_json:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False))
    else:
        marks = marks_for(sys.stdout)
        drawn = text.graph_text(found.graph, found.confidence, marks=marks)
        click.echo(f"{text.summary_text(found, marks)}\n\n{drawn}")
        click.echo("\n" + text.statement_text(found), err=True)
    if out is not None:
        click.echo("\nWritten: " + ", ".join(str(path) for path in found.save(out)), err=True)
