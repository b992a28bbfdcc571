"""`discreet audit`: every promise of the library put to the test, on made-up rows."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from discreet.audit import Finding
    from discreet.audit.running import Report
    from discreet.report.audit import Mark


@click.command()
@click.option("--method", help="Audit this method, and all that it makes use of.")
@click.option("--all", "everything", is_flag=True, help="Audit everything, and what is broken on purpose.")
@click.option("--quick", is_flag=True, help="Fewer runs and neighbours: five minutes for everything on two cores.")
@click.option("--jobs", type=click.IntRange(1), help="Processes.  [default: one a core]")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder for audit.json, audit.md, audit.svg. What is done there is not done again.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def audit(method: str | None, everything: bool, quick: bool, jobs: int | None, out: Path | None, as_json: bool) -> None:
    """Put the promises to the test: claim, bound found, runs and verdict of every audit. Touches no data.

    No violation means none was found at this power; the guarantee is the proof.
    """
    from discreet.audit.neighbours import can_guide
    from discreet.audit.running import left_out, run, tasks
    from discreet.errors import SettingError

    if (method is None) != everything:
        raise SettingError("audit: name a method with --method, or say --all")
    start = time.monotonic()

    def tell(words: str) -> None:
        click.echo(f"[{time.monotonic() - start:5.1f} s] {words}", err=True)

    if not can_guide():
        tell("Hypothesis is not installed: its guided search for neighbours is left out (pip install discreet[audit])")
    report = run(tasks(method, quick=quick), jobs=jobs or os.cpu_count() or 1, folder=out, progress=tell)
    if as_json:
        click.echo(json.dumps(report.to_dict(), ensure_ascii=False))
    else:
        click.echo(_text(report, left_out(method) if quick else []))
    if out is not None:
        _write(report, out)
    if report.violated:
        sys.exit(1)


def _text(report: Report, left: Sequence[str]) -> str:
    """Return the verdict in the first line, then all audits; of what is broken on purpose only what was not caught."""
    from discreet.audit.running import as_table

    wrong = [f for f in report.library if f.violated]
    lines = [
        _verdict(report),
        "",
        *(f"VIOLATION in {f.name}: {f.evidence}\n" for f in wrong),
        *as_table(report.library),
    ]
    if left:
        lines.append(f"\nLeft to the full run: {'; '.join(left)}")
    if report.broken:
        lines += [f"\nThe auditors themselves. {_caught(report)}. {_twins(report)}. Each of them: --out, or --json."]
    return "\n".join(lines)


def _verdict(report: Report) -> str:
    """Say in a line whether anything of the library was found wrong."""
    wrong, number = sum(f.violated for f in report.library), len(report.library)
    if wrong:
        return f"VIOLATIONS in {wrong} of {number} audits of the library."
    return (
        f"Nothing wrong was found in {number} audits of the library. That is no proof; the proofs are beside the code."
    )


def _caught(report: Report) -> str:
    missed = f", missed {', '.join(report.missed)}" if report.missed else ""
    return f"Broken on purpose: {len(report.broken) - len(report.missed)} of {len(report.broken)} caught{missed}"


def _twins(report: Report) -> str:
    flagged = f": {', '.join(report.alarms)}" if report.alarms else ""
    return f"Sound twins of what is broken: {len(report.alarms)} of {len(report.sound)} flagged{flagged}"


def _page(report: Report) -> str:
    """Return all that was found as a page, with the evidence."""
    from discreet.audit.running import as_table, broken_table

    lines = ["# What the audits found", "", _verdict(report), "", "![found against promised](audit.svg)", ""]
    lines += [*as_table(report.library), ""]
    if report.broken:
        lines += [f"## {_caught(report)}", "", *broken_table(report.broken), ""]
        lines += [f"## {_twins(report)}", "", *as_table(report.sound), ""]
    lines += ["## Evidence", ""]
    lines += [f"- **{f.name}** ({f.auditor}): {f.evidence}" for f in (*report.library, *report.broken) if f.violated]
    return "\n".join(lines) + "\n"


def _write(report: Report, folder: Path) -> None:
    from discreet.report import write_whole
    from discreet.report.audit import audit_svg

    groups = {"The library": report.library, "Broken on purpose": report.broken}
    groups["Sound twins of what is broken"] = report.sound
    chart = audit_svg({title: [_mark(finding) for finding in findings] for title, findings in groups.items()})
    data = json.dumps(report.to_dict(), ensure_ascii=False, indent=1) + "\n"
    texts = {"audit.json": data, "audit.svg": chart, "audit.md": _page(report)}
    written = [str(write_whole(folder / name, text)) for name, text in texts.items()]
    click.echo(f"\nWritten: {', '.join(written)}", err=True)


def _mark(finding: Finding) -> Mark:
    from discreet.report.audit import Mark

    if not finding.claimed or finding.found is None:
        return Mark(finding.name, None, finding.violated, "")
    found = f"{finding.claim}, found {finding.found:.3g}, {finding.verdict}"
    words = f"{finding.name} ({finding.auditor}): {found}"
    return Mark(finding.name, finding.found / finding.claimed, finding.violated, words)
