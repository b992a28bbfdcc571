"""`discreet experiment pcd`: tests and graphs over columns of numbers, measured again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from discreet.experiments.pcd_plan import Part, Task


@click.command()
@click.option("--part", type=click.Choice(["tests", "graphs", "sachs", "all"]), default="all", show_default=True)
@click.option("--networks", default="cancer,asia,child,alarm", show_default=True, help="Graphs of the models.")
@click.option("--methods", default="", help="Names with commas.  [default: all]")
@click.option("--rows", default="", help="With commas.  [default: 200,500 for tests, 1000,2000,4000,8000 for graphs]")
@click.option("--epsilons", default="0.1,0.2,0.4,0.8,1,2,4,8", show_default=True, help="Budgets, with commas.")
@click.option("--runs", type=click.IntRange(1), help="Runs a setting.  [default: 100 for tests, 10 for graphs]")
@click.option("--quick", is_flag=True, help="Few runs on small graphs, to see that all works.")
@click.option("--sachs", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Measured proteins (CSV).")
@click.option("--edges", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Their arrows (CSV).")
@click.option("--jobs", type=click.IntRange(1), default=2, show_default=True, help="Processes.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder for runs, tables and charts.")
def pcd(
    part: Literal["tests", "graphs", "sachs", "all"],
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
    from discreet.cli_experiment import go_on, names_in
    from discreet.cli_inputs import numbers_in, whole_numbers_in
    from discreet.errors import SettingError
    from discreet.experiments.kept import KeptRuns
    from discreet.experiments.pcd import perform
    from discreet.experiments.pcd_plan import PARTS, finished
    from discreet.experiments.pcd_results import as_text, write_all

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
    planned = _planned(parts, *chosen, runs, sachs, edges)
    kept = KeptRuns(out / "runs.jsonl")
    work = partial(perform, sachs=sachs, edges=edges, epsilons=budgets)
    _, interrupted = go_on(planned, finished(kept), kept, work, jobs, lambda task: task.rows)
    results = finished(kept)
    for line in as_text(results):
        click.echo(line)
    click.echo(f"Written: {', '.join(write_all(out, results))}", err=True)
    if interrupted:
        raise click.Abort


def _planned(
    parts: Sequence[Part],
    methods: Sequence[str],
    networks: Sequence[str],
    rows: Sequence[int],
    epsilons: Sequence[float],
    runs: int | None,
    sachs: Path | None,
    edges: Path | None,
) -> list[Task]:
    """Return all runs, after refusing what there is not."""
    from discreet.errors import SettingError
    from discreet.experiments.pcd import GRAPHS, MOST_GIVEN, TESTS
    from discreet.experiments.pcd_plan import (
        GRAPH_ROWS,
        TEST_ROWS,
        check_plan,
        given_in,
        plan_graphs,
        plan_sachs,
        plan_tests,
        read_sachs,
    )

    if unknown := [name for name in methods if name not in TESTS and name not in GRAPHS]:
        raise SettingError(f"methods: {unknown[0]!r} is not one of {', '.join({**GRAPHS, **TESTS})}")
    check_plan(rows, epsilons, 1 if runs is None else runs)
    of_tests = [name for name in TESTS if name in (methods or TESTS)]
    of_graphs = [name for name in GRAPHS if name in (methods or GRAPHS)]
    planned: list[Task] = []
    if "tests" in parts:
        tests = plan_tests(of_tests, rows or TEST_ROWS, runs or 100)
        planned += [t for t in tests if given_in(t) <= MOST_GIVEN.get(t.method, given_in(t))]
    if "graphs" in parts:
        planned += plan_graphs(of_graphs, networks, rows or GRAPH_ROWS, epsilons, runs or 10)
    if "sachs" in parts and sachs is not None and edges is not None:
        planned += plan_sachs(of_graphs, epsilons, runs or 10, min([read_sachs(sachs, edges).domain.rows, *rows]))
    return planned
