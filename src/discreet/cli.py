"""The command line. Heavy imports wait until a command needs them.

stdout carries the result only; words and progress go to stderr. Exit codes: 0 ok, 1 failed, 2 usage or bad input,
3 budget refused, 141 who reads stdout went away.
"""

from __future__ import annotations

import io
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO

import click

from discreet._version import __version__
from discreet.cli_audit import audit
from discreet.cli_direction import direction
from discreet.cli_domain import domain
from discreet.cli_experiment import experiment
from discreet.cli_explain import explain
from discreet.cli_inputs import domain_from, telling
from discreet.cli_ledger import ledger
from discreet.cli_output import untaken
from discreet.cli_plan import plan
from discreet.cli_recording import Record, engine_option, ledger_options
from discreet.cli_report import report
from discreet.cli_show import show
from discreet.cli_synthesize import synthesize
from discreet.cli_test import test as test_command
from discreet.errors import DiscreetError, DoubtWarning

if TYPE_CHECKING:
    from discreet.graph import Graph


class _Group(click.Group):
    """Turns errors into one line on stderr and an exit code; no traceback ever shows, since it may hold data."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().main(*args, **kwargs)
        except OSError as error:  # the page of help goes nowhere
            if (code := untaken(error)) is None:
                raise
        return sys.exit(code)

    def invoke(self, ctx: click.Context) -> Any:
        code = 1
        try:
            return super().invoke(ctx)
        except DiscreetError as error:
            failed, code = str(error), error.exit_code
        except (click.ClickException, click.exceptions.Exit, click.Abort, KeyboardInterrupt):
            raise
        except Exception as error:  # noqa: BLE001 - the last line of defence
            if isinstance(error, OSError) and (lost := untaken(error)) is not None:
                return sys.exit(lost)
            failed = (
                f"something failed inside discreet ({type(error).__name__}); please report what you ran, without data"
            )
        click.echo(f"error: {failed}", err=True)
        return sys.exit(code)


def _doubt(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Say a warning in one line on stderr."""
    click.echo(f"{'warning' if issubclass(category, DoubtWarning) else category.__name__}: {message}", err=True)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="discreet")
def main() -> None:
    """Find out what causes what in sensitive tables, and publish it with a proven privacy guarantee."""
    warnings.showwarning = _doubt
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


@main.command()
@click.option("--network", default="asia", show_default=True, help="Bundled network to draw rows from.")
@click.option("--rows", default=100_000, show_default=True, help="Number of rows to draw.")
@click.option("--epsilon", default=1.0, show_default=True, help="Privacy budget of the demo.")
@click.option("--seed", default=0, show_default=True, help="Seed of the drawn rows (never of the privacy noise).")
@click.option(
    "--out", default="discreet-demo", show_default=True, type=click.Path(path_type=Path), help="Folder for the files."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def demo(network: str, rows: int, epsilon: float, seed: int, out: Path, as_json: bool) -> None:
    """Run the main job on bundled data: graph, report, privacy statement."""
    import numpy as np

    from discreet.discovering import DELTA
    from discreet.discovering import discover as run
    from discreet.errors import SettingError
    from discreet.networks import network as load_network
    from discreet.report import check_folder

    if rows < 1 or seed < 0:
        raise SettingError("rows, seed: rows from 1, seed from 0")
    check_folder(out)
    tell = telling()
    net = load_network(network)
    tell(f"drawing {rows:,} rows of the network {network!r}, as if they were {rows:,} people's records")
    data = net.sample(rows, np.random.default_rng(seed))
    found = run(data, domain=net.domain(rows), epsilon=epsilon, delta=min(DELTA, 0.1 / rows), progress=tell)
    show(found, out, as_json)
    if not as_json:
        _compare(found.graph, net.dag)


@main.command()
@click.argument("data")
@click.option("--domain", "domain_file", help="Domain file (YAML): what is public about the table.")
@click.option("--epsilon", type=float, help="Total privacy budget. No default.")
@click.option("--delta", type=float, help="Default 1e-6. 0 means pure epsilon, with Laplace noise.")
@click.option(
    "--method",
    default="auto",
    show_default=True,
    help="auto: marginals, or moments if a column is a number without bins. Also em-pc, svt-pc, priv-pc, "
    "flipped-top-k, flipped-svt; pcd for numbers alone. With --not-private: pc, greedy-bic, "
    "{em,svt,priv}-pc-published, pcd-published.",
)
@click.option("--knowledge", "knowledge_file", help="Background knowledge (YAML): required, forbidden, tiers.")
@click.option("--max-order", type=int, help="Largest conditioning set.  [default: 2]")
@click.option(
    "--search", type=click.Choice(["hybrid", "pc", "greedy"]), help="How the release is searched.  [default: hybrid]"
)
@click.option("--alpha", type=float, help="Level of tests: of `--search pc` and of methods that ask.  [default: 0.01]")
@click.option(
    "--test",
    type=click.Choice(["total-variation", "kendall", "spearman", "information"]),
    help="Test of methods that ask.  [default: total-variation]",
)
@click.option("--bins", type=int, help="Bins of numbers without any, with moments.  [default: what the noise bears]")
@click.option("--round-epsilon", type=float, help="What a round of svt-pc, priv-pc or em-pc costs.  [default: a share]")
@click.option("--edges", type=int, help="How many edges may stay, with flipped-*.  [default: 2 a column]")
@click.option("--sample", type=float, help="Share of the rows that priv-pc's sieve looks at.  [default: all]")
@click.option("--not-private", is_flag=True, help="Allow methods WITHOUT privacy. Do not publish.")
@engine_option
@ledger_options
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder for release.json, graph.svg, graph.gml, report.html."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def discover(
    data: str,
    domain_file: str | None,
    epsilon: float | None,
    delta: float | None,
    method: str,
    knowledge_file: str | None,
    max_order: int | None,
    search: Literal["hybrid", "pc", "greedy"] | None,
    alpha: float | None,
    test: str | None,
    bins: int | None,
    round_epsilon: float | None,
    edges: int | None,
    sample: float | None,
    not_private: bool,
    engine_pull: bool,
    record: Record,
    out: Path | None,
    as_json: bool,
) -> None:
    """Find a private causal graph of DATA: a CSV, TSV, Parquet or DuckDB file, or a table of a server.

    postgresql://user@host/database?table=NAME and spark://host:port?table=NAME are counted where they are.

    With a release.json as DATA, search that release again: no data, no domain, no budget.
    """
    from discreet import cli_not_private as exact

    if not_private or method in exact.METHODS:
        exact.check_method(method, not_private=not_private, epsilon=epsilon, delta=delta)
        exact.refuse_private_settings(test=test, edges=edges, bins=bins)
        record.refuse("what is not private is not recorded")
        typed = (data, domain_file, method, knowledge_file, max_order, search, alpha, out, as_json)
        exact.discover(exact.Request(*typed, round_epsilon, sample), telling())
        return

    from discreet.discovering import DELTA
    from discreet.discovering import discover as run
    from discreet.discovery import Discovery
    from discreet.errors import SettingError
    from discreet.knowledge import NOTHING_KNOWN, Knowledge
    from discreet.methods import changed, recipe_for
    from discreet.recipes import search_again
    from discreet.report import check_folder

    if out is not None:
        check_folder(out)
    if data.endswith(".json"):
        given = {"domain": domain_file, "epsilon": epsilon, "delta": delta, "knowledge": knowledge_file}
        given |= {"test": test, "bins": bins, "round-epsilon": round_epsilon, "edges": edges, "sample": sample}
        given["method"] = None if method == "auto" else method
        if clash := [key for key, value in given.items() if value is not None]:
            raise SettingError(f"{clash[0]}: a release already has it and is searched as it is; leave the option out")
        record.refuse("to search a release again costs nothing, and is not recorded")
        again = search_again(Discovery.load(data), max_order=max_order, alpha=alpha, search_by=search)
        show(again, out, as_json)
        click.echo("\nNothing was spent by searching again.", err=True)
        return
    if domain_file is None:
        raise SettingError(
            "domain: name the domain file with --domain; `discreet domain draft` writes a first one. Only a release, "
            "whose name ends in .json, needs none"
        )
    if epsilon is None:
        raise SettingError("epsilon: set the total privacy budget with --epsilon")
    domain = domain_from(domain_file)
    recipe = changed(
        recipe_for(method, domain.widest()),
        search=search,
        max_order=max_order,
        alpha=alpha,
        test=test,
        bins=bins,
        round_epsilon=round_epsilon,
        edges=edges,
        sample=sample,
    )
    knowledge = Knowledge.from_yaml(Path(knowledge_file)) if knowledge_file else NOTHING_KNOWN
    delta = DELTA if delta is None else delta
    with record.running(data) as account:
        found = run(
            data,
            domain=domain,
            epsilon=epsilon,
            delta=delta,
            method=recipe,
            knowledge=knowledge,
            account=account,
            engine_pull=engine_pull,
            progress=telling(),
        )
        show(found, out, as_json)


main.add_command(experiment)
main.add_command(audit)
main.add_command(direction)
main.add_command(domain)
main.add_command(explain)
main.add_command(ledger)
main.add_command(plan)
main.add_command(report)
main.add_command(synthesize)
main.add_command(test_command)


def _compare(found: Graph, true: Graph) -> None:
    """Say how near a simulated network's graph came to the truth."""
    from discreet.graph import skeleton_f1

    right = len(found.skeleton & true.skeleton)
    click.echo(
        f"\nThe network the rows were drawn from has {len(true.skeleton)} edges; {right} of them were found, and "
        f"{len(found.skeleton) - right} that it does not have (F1 {skeleton_f1(found, true):.2f}).",
        err=True,
    )
