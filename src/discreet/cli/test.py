"""`discreet test`: whether two columns are independent given others."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.cli.options import Record, domain_option, engine_option, json_option, ledger_options, read_domain
from discreet.cli.output import teller


@click.command()
@click.argument("data")
@click.argument("x")
@click.argument("y")
@click.argument("more", nargs=-1, metavar="")
@click.option("--given", multiple=True, help="A column that is given; others may follow it, or --given again.")
@domain_option
@click.option("--epsilon", type=float, required=True, help="Total privacy budget. No default.")
@click.option("--delta", type=float, help="Default 1e-6. 0 means pure epsilon; permutation and krr need no delta.")
@click.option(
    "--test",
    default="auto",
    show_default=True,
    help="auto, permutation (numbers), tables (categories and bins), moments (numbers among them), or krr or gcm "
    "(numbers given others; their level is not controlled).",
)
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of the test.")
@engine_option
@ledger_options
@click.option("--out", type=click.Path(path_type=Path), help="File for the result (JSON).")
@json_option
def test(
    data: str,
    x: str,
    y: str,
    more: tuple[str, ...],
    given: tuple[str, ...],
    domain_file: str,
    epsilon: float,
    delta: float | None,
    test: str,
    alpha: float,
    engine_pull: bool,
    record: Record,
    out: Path | None,
    as_json: bool,
) -> None:
    """Say whether columns X and Y of DATA are independent given others, at one level fixed before."""
    from discreet.errors import SettingError
    from discreet.methods.independence.examine import examine
    from discreet.methods.session import DELTA
    from discreet.report import check_file, write_whole
    from discreet.report.terminal import answer_statement, answer_text

    if more and not given:
        raise SettingError("columns: X and Y are tested; name what is given with --given")
    if out is not None:
        check_file(out)
    with record.follow(data) as account:
        found = examine(
            data,
            x,
            y,
            (*given, *more),
            domain=read_domain(domain_file),
            epsilon=epsilon,
            delta=DELTA if delta is None else delta,
            test=test,
            alpha=alpha,
            account=account,
            engine_pull=engine_pull,
            progress=teller(),
        )
        click.echo(found.to_json() if as_json else answer_text(found))
        if not as_json:
            click.echo(f"\n{answer_statement(found)}", err=True)
        if out is not None:
            click.echo(f"\nWritten: {write_whole(out, found.to_json())}", err=True)
