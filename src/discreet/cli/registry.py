"""`discreet registry`: a release as a privacy office asks for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click


@click.command()
@click.argument("release")
@click.option(
    "--tier", type=click.IntRange(1, 3), default=3, show_default=True, help="How much the entry of the registry tells."
)
@click.option("--ledger", help="The release's ledger, checked and asked for what all releases from the rows come to.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder for registry.yaml, statement.md and statement.pdf."
)
def registry(release: str, tier: int, ledger: str | None, out: Path | None) -> None:
    """Draft what a privacy office asks for, from a release.json or the result of a test or of directions.

    Printed is an entry for the public registry of deployments of differential privacy (YAML). With --out there is also
    a statement in the order of NIST SP 800-226. What only people know is a question, marked TODO: answer all of them.
    """
    from discreet.report import check_folder, check_new, write_bytes, write_folder
    from discreet.report.deployment import Deployment
    from discreet.report.registry import TODO, registry_yaml
    from discreet.report.statement import NO_TYPST, statement_markdown, statement_pdf

    names = ("registry.yaml", "statement.md", "statement.pdf")
    deployment = Deployment.load(release)
    if ledger is not None:
        deployment = replace(deployment, totals=_totals(ledger, release))
    entry = registry_yaml(deployment, tier)
    if out is None:
        click.echo(entry, nl=False)
    else:
        check_folder(out, names)
        for name in names:
            if (out / name).exists():
                check_new(out / name)
        pdf = statement_pdf(deployment)
        written = write_folder(out, names[:2], (entry, statement_markdown(deployment)))
        written += [] if pdf is None else [write_bytes(out / names[2], pdf)]
        click.echo(f"Written: {', '.join(map(str, written))}", err=True)
        if pdf is None:
            click.echo(NO_TYPST, err=True)
    click.echo(
        f"A draft: {entry.count(TODO)} questions in the entry are left to you, marked {TODO.strip(': ')}.", err=True
    )


def _totals(url: str, release: str) -> tuple[str, ...]:
    """Return what the release's ledger tells of the data set, after checking that it is whole and holds the release."""
    from discreet.errors import LedgerError
    from discreet.ledger.ledger import open_ledger
    from discreet.ledger.verify import read_anchor, verify_ledger
    from discreet.report.ledger import totals_words

    found, anchor = open_ledger(url, begin=False), read_anchor(release)
    verdict = verify_ledger(found, [anchor])
    if not verdict.whole or anchor.stamp is None:
        raise LedgerError(f"ledger: {(verdict.problems + verdict.astray)[0]}")
    book = found.book()
    name = next(entry.dataset for entry in book.entries if entry.number == anchor.stamp.entry)
    while (standing := book.standings[name]).into is not None:
        name = standing.into
    checked = f"The ledger was checked: it is whole, and holds this release as entry {anchor.stamp.entry}."
    return (checked, *totals_words(standing, found.plain_sum(standing)))
