"""`discreet experiment`: what the methods reach, measured again."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click


@click.group()
def experiment() -> None:
    """Measure what the methods reach, on networks whose graph is known."""


@experiment.command()
@click.option("--networks", default="", help="Names with commas, or drawn:COLUMNS:SEED.  [default: all bundled]")
@click.option("--rows", default="100000", show_default=True, help="Numbers of rows, with commas.")
@click.option("--epsilons", default="0.1,0.3,1,3", show_default=True, help="Total budgets, with commas.")
@click.option("--runs", default=10, show_default=True, help="Runs a setting, each with fresh rows and fresh noise.")
@click.option("--search", type=click.Choice(["hybrid", "pc", "greedy"]), default="hybrid", show_default=True)
@click.option("--ceilings/--no-ceilings", default=True, show_default=True, help="Also the methods without privacy.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder for runs.csv, accuracy.csv, and charts if there are several epsilons.",
)
def accuracy(
    networks: str,
    rows: str,
    epsilons: str,
    runs: int,
    search: Literal["hybrid", "pc", "greedy"],
    ceilings: bool,
    jobs: int,
    out: Path | None,
) -> None:
    """Skeleton and CPDAG F1 (mean of the runs, with its standard error) as a Markdown table."""
    from discreet.experiments import write_csv, write_text
    from discreet.experiments.accuracy import as_text, charts, named, plan, run_experiment, summary

    chosen = [name for name in networks.split(",") if name]
    for name in chosen:
        named(name)
    planned = plan(chosen, _whole(rows), _numbers(epsilons), runs, ceilings=ceilings, search=search)
    found = []
    for i, row in enumerate(run_experiment(planned, jobs), start=1):
        found.append(row)
        if i % 20 == 0 or i == len(planned):
            click.echo(f"{i} of {len(planned)} runs", err=True)
    lines = summary(found)
    for line in as_text(lines):
        click.echo(line)
    if out is not None:
        write_csv(out / "runs.csv", found)
        write_csv(out / "accuracy.csv", lines)
        for name, chart in charts(lines).items():
            write_text(out / name, chart)


@experiment.command()
@click.option("--networks", type=click.IntRange(1), default=200, show_default=True, help="How many to draw at random.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for calibration.csv and calibration.svg.")
def calibration(networks: int, jobs: int, out: Path | None) -> None:
    """Whether edges and arrowheads are right as often as their confidence says, on networks it was not fitted on."""
    from discreet.experiments import run_all, write_csv, write_text
    from discreet.experiments.calibration import claims, reliability, reliability_svg

    said: dict[str, list[tuple[float, bool]]] = {"edges": [], "arrowheads": []}
    for found in run_all(claims, list(range(networks)), jobs):
        said["edges"] += found.edges
        said["arrowheads"] += found.arrows
    by_kind = {kind: reliability(pairs) for kind, pairs in said.items()}
    for kind, lines in by_kind.items():
        for line in lines:
            between = f"{line['from']:.2f} to {line['to']:.2f}"
            click.echo(
                f"{kind:>10}  {between}  {line['claims']:6d}  said {line['said']:.3f}  right {line['right']:.3f}"
            )
    if out is not None:
        rows = [{"kind": kind, **line} for kind, lines in by_kind.items() for line in lines]
        write_csv(out / "calibration.csv", rows)
        write_text(out / "calibration.svg", reliability_svg(by_kind))


def _numbers(text: str) -> list[float]:
    from discreet.errors import SettingError

    try:
        return [float(part) for part in text.split(",") if part]
    except ValueError:
        raise SettingError("expected numbers with commas between them") from None


def _whole(text: str) -> list[int]:
    return [int(number) for number in _numbers(text)]
