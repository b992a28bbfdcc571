"""`discreet plan`: what accuracy to expect of a budget, before anything is spent."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from discreet.cli.options import delta_option, domain_option, json_option, numbers_in, read_domain, whole_numbers_in
from discreet.cli.output import quiet_option, say, teller


@click.command()
@domain_option
@click.option("--epsilon", "epsilons", required=True, help="Total budgets to look at, with commas.")
@click.option(
    "--rows",
    default="",
    help="Numbers of rows to look at, with commas.  [default: the domain's, beside it a quarter and 4 times as many]",
)
@delta_option
@click.option(
    "--method",
    "methods",
    multiple=True,
    default=["auto"],
    help="Method to look at; may be given several times.  [default: auto]",
)
@click.option("--knowledge", "knowledge_file", help="Background knowledge (YAML): required, forbidden, tiers.")
@click.option("--networks", type=int, help="How many networks to draw.  [default: what 35 s allow, from 6 to 36]")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the networks and rows, never of noise.")
@click.option("--jobs", type=click.IntRange(1), help="Processes.  [default: one a processor]")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for plan.json and plan.svg.")
@quiet_option
@json_option
def plan(
    domain_file: str,
    epsilons: str,
    rows: str,
    delta: float | None,
    methods: tuple[str, ...],
    knowledge_file: str | None,
    networks: int | None,
    seed: int,
    jobs: int | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Say what to expect of a budget: accuracy, the weakest effect seen, what is asked and what it costs.

    Methods run as they would on the table, on made-up rows of networks drawn at random over the declared columns. No
    data are read, and nothing is spent.
    """
    from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
    from discreet.report import PLAN_FILES, check_folder, write_folder
    from discreet.report.plan import plan_svg, plan_text, plan_words
    from discreet.simulation.forecast import forecast

    if out is not None:
        check_folder(out, PLAN_FILES)
    found = forecast(
        read_domain(domain_file),
        epsilons=numbers_in(epsilons, "epsilon"),
        rows=whole_numbers_in(rows, "rows"),
        methods=[name for given in methods for name in given.split(",") if name],
        delta=delta,
        knowledge=Knowledge.from_yaml(Path(knowledge_file)) if knowledge_file else NOTHING_KNOWN,
        networks=networks,
        seed=seed,
        jobs=jobs or os.cpu_count() or 1,
        progress=teller(),
    )
    text = json.dumps(found.to_dict(), ensure_ascii=False)
    if as_json:
        click.echo(text)
    else:
        click.echo(plan_text(found))
        say("\n" + plan_words(found))
    if out is not None:
        written = write_folder(out, PLAN_FILES, (text + "\n", plan_svg(found)))
        say("\nWritten: " + ", ".join(str(path) for path in written))
