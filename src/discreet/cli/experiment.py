"""`discreet experiment`: what the methods reach, measured again."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Literal

import click
from click.core import ParameterSource

from discreet.cli.options import Choice, names_in, numbers_in, searches, whole_numbers_in


@click.group()
def experiment() -> None:
    """Measure what the methods reach, on networks whose graph is known."""


@experiment.command()
@click.option(
    "--networks",
    default="",
    help="Names with commas; drawn:COLUMNS:SEED, skew:COLUMNS:SEED too.  [default: all bundled]",
)
@click.option("--rows", default="100000", show_default=True, help="Numbers of rows, with commas.")
@click.option("--epsilons", default="0.1,0.3,1,3", show_default=True, help="Total budgets, with commas.")
@click.option("--runs", default=10, show_default=True, help="Runs a setting, each with fresh rows and fresh noise.")
@click.option("--search", type=Choice(searches), default="hybrid", show_default=True)
@click.option("--ceilings/--no-ceilings", default=True, show_default=True, help="Also the methods without privacy.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder for runs, the table and charts.")
def accuracy(
    networks: str,
    rows: str,
    epsilons: str,
    runs: int,
    search: str,
    ceilings: bool,
    jobs: int,
    out: Path,
) -> None:
    """Skeleton and CPDAG F1 (mean of the runs, with its standard error) as a Markdown table.

    Finished runs are kept in OUT/runs.jsonl and not done again. The table shows what was asked for.
    """
    from discreet.experiments.accuracy import Task, as_text, charts, perform, plan, summary
    from discreet.experiments.harness import KeptRuns, go_on, write_files

    budgets = numbers_in(epsilons, "epsilons")
    planned = plan(names_in(networks), whole_numbers_in(rows, "rows"), budgets, runs, ceilings=ceilings, search=search)
    kept = KeptRuns(out / "runs.jsonl")
    _, interrupted = go_on(kept, planned, kept.finished(Task), perform, jobs=jobs, effort=lambda task: task.rows)
    finished = kept.finished(Task)
    found = [finished[task] for task in planned if task in finished]
    lines = summary(found)
    for line in as_text(lines):
        click.echo(line)
    click.echo(f"Written: {', '.join(write_files(out, {'accuracy.csv': lines, **charts(lines)}))}", err=True)
    if interrupted:
        raise click.Abort


@experiment.command()
@click.option("--networks", type=click.IntRange(1), default=200, show_default=True, help="How many to draw at random.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder for runs, tables and a chart.")
def calibration(networks: int, jobs: int, out: Path) -> None:
    """Whether edges and arrowheads are right as often as their confidence says, on networks it was not fitted on.

    Finished runs are kept in OUT/runs.jsonl and not done again. The tables show all that is there.
    """
    from discreet.experiments.calibration import KINDS, Task, by_regime, perform, reliability, reliability_svg, said_in
    from discreet.experiments.harness import KeptRuns, go_on, markdown, write_files

    kept, planned = KeptRuns(out / "runs.jsonl"), [Task(seed) for seed in range(networks)]
    _, interrupted = go_on(kept, planned, kept.finished(Task), perform, jobs=jobs, effort=lambda _: 1)
    records = list(kept.finished(Task).values())
    by_kind = {kind: reliability(said_in(records, kind)) for kind in KINDS}
    rows = [{"kind": kind, **line} for kind, lines in by_kind.items() for line in lines]
    regimes = by_regime(records)
    for table in (rows, regimes):
        if table:
            cells = [[f"{v:.3f}" if isinstance(v, float) else str(v) for v in line.values()] for line in table]
            for line in (*markdown(list(table[0]), cells), ""):
                click.echo(line)
    pictures = {"calibration.svg": reliability_svg(by_kind)}
    written = write_files(out, {"calibration.csv": rows, "regimes.csv": regimes, **pictures})
    click.echo(f"Written: {', '.join(written)}", err=True)
    if interrupted:
        raise click.Abort


@experiment.command("priv-pc")
@click.option("--part", type=click.Choice(["tables", "figure", "all"]), default="all", show_default=True)
@click.option("--networks", default="", help="Names with commas.  [default: all bundled]")
@click.option("--methods", default="", help="Names with commas: private ones and em-, svt-, priv-pc-published.")
@click.option("--rows", type=click.IntRange(2), default=100_000, show_default=True, help="Rows of each run.")
@click.option("--runs", type=click.IntRange(2), default=5, show_default=True, help="Runs a setting, with fresh rows.")
@click.option("--budgets", type=click.IntRange(2), default=21, show_default=True, help="Budgets along the figure.")
@click.option("--limit", type=click.FloatRange(0.1), help="Give up a run after so many seconds, and its like too.")
@click.option("--jobs", type=click.IntRange(1), default=2, show_default=True, help="Processes.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder for runs, tables and charts.")
def priv_pc(
    part: Literal["tables", "figure", "all"],
    networks: str,
    methods: str,
    rows: int,
    runs: int,
    budgets: int,
    limit: float | None,
    jobs: int,
    out: Path,
) -> None:
    """Wang, Pang, Song 2020 again: tables, Figure 1, Theorem 2 and claims, methods as published and private ones.

    Finished runs are kept in OUT/runs.jsonl and not done again. The tables and charts show all that is there.
    """
    from discreet.experiments.harness import KeptRuns, go_on
    from discreet.experiments.priv_pc import Part, effort, finished, perform, plan
    from discreet.experiments.priv_pc_tables import as_text, claims_text, results_in, table, write_all

    parts: dict[str, tuple[Part, ...]] = {"tables": ("table",), "figure": ("figure",), "all": ("table", "figure")}
    planned = plan(parts[part], names_in(networks), names_in(methods), rows, runs, budgets)
    kept = KeptRuns(out / "runs.jsonl")
    records, interrupted = go_on(
        kept, planned, finished(kept, limit), partial(perform, limit=limit), jobs=jobs, effort=effort
    )
    failed = Counter(record["failed"] for record in records if record["failed"])
    for kind, count in failed.items():
        click.echo(f"{count} runs ended with {kind}: no graph", err=True)
    results = results_in(kept, rows)
    if part != "figure":
        for line in as_text(table(results, "seconds"), table(results, "tests")):
            click.echo(line)
    for line in ("", *claims_text(results)):
        click.echo(line)
    click.echo(f"Written: {', '.join(write_all(out, results, rows))}", err=True)
    if interrupted:
        raise click.Abort


@experiment.command()
@click.option(
    "--pairs",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Cause-effect pairs (CSV: pair, x, y, direction; numbers with blanks between).  [default: only simulated]",
)
@click.option("--part", type=click.Choice(["table", "figures", "all"]), default="all", show_default=True)
@click.option("--number", type=click.IntRange(0), default=200, show_default=True, help="Simulated pairs of each size.")
@click.option("--rows", default="500,2000,7800", show_default=True, help="Rows of simulated pairs, with commas.")
@click.option("--epsilons", default="0.1,1,2", show_default=True, help="Budgets of the tables, with commas.")
@click.option("--runs", type=click.IntRange(1), default=10, show_default=True, help="Random halves of each given pair.")
@click.option("--jobs", type=click.IntRange(1), default=2, show_default=True, help="Processes.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder for runs, tables and charts.")
def direction(
    pairs: Path | None,
    part: Literal["table", "figures", "all"],
    number: int,
    rows: str,
    epsilons: str,
    runs: int,
    jobs: int,
    out: Path,
) -> None:
    """Kusner, Sun, Sridharan, Weinberger 2016 again: Tables 1 and 2, Figures 1 and 2, by halves and for all rows.

    Finished runs are kept in OUT/runs.jsonl and not done again. The tables and charts show all that is there. Given
    pairs are scaled by their own ranges, which is not private. As published means twice: with epsilon for each score,
    as printed, and in total; columns say which.
    """
    from discreet.experiments.direction import Part, Task, perform, plan
    from discreet.experiments.direction_tables import as_text, write_all
    from discreet.experiments.harness import KeptRuns, go_on

    parts: dict[str, tuple[Part, ...]] = {"table": ("table",), "figures": ("figures",), "all": ("table", "figures")}
    budgets = numbers_in(epsilons, "epsilons")
    planned = plan(parts[part], number, whole_numbers_in(rows, "rows"), budgets, runs, pairs)
    kept = KeptRuns(out / "runs.jsonl")
    work = partial(perform, pairs=pairs)
    _, interrupted = go_on(kept, planned, kept.finished(Task), work, jobs=jobs, effort=lambda task: task.rows)
    results = kept.finished(Task)
    if part != "figures":
        for line in as_text(results, budgets):
            click.echo(line)
    click.echo(f"Written: {', '.join(write_all(out, results, budgets, figures=part != 'table'))}", err=True)
    if interrupted:
        raise click.Abort


@experiment.command()
@click.option("--part", type=click.Choice(["tests", "graphs", "sachs", "all"]), default="all", show_default=True)
@click.option("--models", default="printed,ours", show_default=True, help="Rows as the paper draws them, or as we do.")
@click.option("--networks", default="cancer,asia,child,alarm", show_default=True, help="Graphs of the models.")
@click.option("--methods", default="", help="Names with commas.  [default: all]")
@click.option("--rows", default="", help="With commas.  [default: 200,500 for tests, 1000,2000,4000,8000 for graphs]")
@click.option("--epsilons", default="0.1,0.2,0.4,0.8,1,2,4,8", show_default=True, help="Budgets, with commas.")
@click.option("--runs", type=click.IntRange(1), help="Runs a setting.  [default: 100 for tests, 25 for graphs]")
@click.option("--quick", is_flag=True, help="Few runs on small graphs, to see that all works.")
@click.option("--sachs", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Measured proteins (CSV).")
@click.option("--edges", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Their arrows (CSV).")
@click.option("--jobs", type=click.IntRange(1), default=2, show_default=True, help="Processes.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder for runs, tables and charts.")
def pcd(
    part: Literal["tests", "graphs", "sachs", "all"],
    models: str,
    networks: str,
    methods: str,
    rows: str,
    epsilons: str,
    runs: int | None,
    quick: bool,
    sachs: Path | None,
    edges: Path | None,
    jobs: int,
    out: Path,
) -> None:
    """Zhang, Xia, Ren, Guan, Zhou 2023 again: Figures 1, 2 and 3, with methods as published and private ones.

    Finished runs are kept in OUT/runs.jsonl and not done again. The tables and charts show all that is there.
    """
    from discreet.errors import SettingError
    from discreet.experiments.harness import KeptRuns, go_on
    from discreet.experiments.pcd import PARTS, Task, perform, plan
    from discreet.experiments.pcd_tables import as_text, write_all

    if (sachs is None) != (edges is None) or (part == "sachs" and sachs is None):
        raise SettingError("sachs, edges: both files are needed")
    parts = [p for p in PARTS if part in (p, "all") and (p != "sachs" or sachs is not None)]
    budgets = numbers_in(epsilons, "epsilons")
    if quick:
        typed = click.get_current_context().get_parameter_source
        rows, runs = rows or "200", runs or 2
        networks = "cancer" if typed("networks") is ParameterSource.DEFAULT else networks
        budgets = [1.0, 8.0] if typed("epsilons") is ParameterSource.DEFAULT else budgets
    chosen = (names_in(methods), names_in(networks), whole_numbers_in(rows, "rows"), budgets)
    planned = plan(parts, names_in(models), *chosen, runs, sachs, edges)
    kept = KeptRuns(out / "runs.jsonl")
    work = partial(perform, sachs=sachs, edges=edges, epsilons=budgets)
    _, interrupted = go_on(kept, planned, kept.finished(Task), work, jobs=jobs, effort=lambda task: task.rows)
    results = kept.finished(Task)
    for line in as_text(results):
        click.echo(line)
    click.echo(f"Written: {', '.join(write_all(out, results))}", err=True)
    if interrupted:
        raise click.Abort


@experiment.command()
@click.option("--networks", default="", help="Names with commas.  [default: all bundled]")
@click.option("--rows", default="10000,100000", show_default=True, help="Numbers of rows, with commas.")
@click.option("--epsilons", default="0.3,1,3", show_default=True, help="Total budgets, with commas.")
@click.option("--runs", type=click.IntRange(1), default=3, show_default=True, help="Runs a setting, with fresh rows.")
@click.option(
    "--methods", default="", help="Names with commas: marginals, none, mst, aim, aim-triples.  [default: all]"
)
@click.option("--limit", type=click.FloatRange(0.1), default=1800.0, show_default=True, help="Seconds of a run.")
@click.option("--command", help="What makes synthetic rows.  [default: that of `make synthetic`]")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder for runs, table and charts.")
def synthetic(
    networks: str,
    rows: str,
    epsilons: str,
    runs: int,
    methods: str,
    limit: float,
    command: str | None,
    jobs: int,
    out: Path,
) -> None:
    """Synthetic rows by MST and AIM at the same epsilon and delta, then PC and a greedy search, beside marginals.

    The rows are made in an environment of their own, which `make synthetic` makes. Finished runs are kept in
    OUT/runs.jsonl and not done again, nor those that did not finish, unless they get more time. The table and charts
    show all that is there.
    """
    from discreet.experiments.harness import KeptRuns, go_on
    from discreet.experiments.synthetic import COMMAND, Task, as_text, finished, perform, plan, stop, table, write_all

    budgets = numbers_in(epsilons, "epsilons")
    planned = plan(names_in(networks), whole_numbers_in(rows, "rows"), budgets, runs, names_in(methods))
    kept = KeptRuns(out / "runs.jsonl")
    work = partial(perform, command=command or COMMAND, limit=limit)
    try:
        _, interrupted = go_on(kept, planned, finished(kept, limit), work, jobs=jobs, effort=lambda task: task.rows)
    finally:
        stop()
    lines = table(kept.finished(Task))
    for line in as_text(lines):
        click.echo(line)
    click.echo(f"Written: {', '.join(write_all(out, lines))}", err=True)
    if interrupted:
        raise click.Abort
