"""`discreet test`: whether two columns are independent given others."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.cli.options import (
    Record,
    delta_option,
    domain_option,
    engine_option,
    json_option,
    ledger_options,
    missing_option,
    read_domain,
)
from discreet.cli.output import quiet_option, say, teller


@click.command()
@click.argument("data")
@click.argument("x")
@click.argument("y")
@click.argument("more", nargs=-1, metavar="")
@click.option("--given", multiple=True, help="A column that is given; others may follow it, or --given again.")
@domain_option
@click.option("--epsilon", type=float, required=True, help="Total privacy budget. No default.")
@delta_option
@click.option(
    "--test",
    default="auto",
    show_default=True,
    help="auto, permutation (numbers), tables (categories and bins), moments (numbers among them), or krr or gcm "
    "(numbers given others; their level is not controlled).",
)
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of the test.")
@missing_option
@engine_option
@ledger_options
@click.option("--out", type=click.Path(path_type=Path), help="File for the result (JSON).")
@quiet_option
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
    missing: str | None,
    engine_pull: bool,
    record: Record,
    out: Path | None,
    as_json: bool,
) -> None:
    """Say whether columns X and Y of DATA are independent given others, at one level fixed before."""
    from discreet.errors import SettingError
    from discreet.methods.independence.examine import examine
    from discreet.report import check_new, write_new
    from discreet.report.terminal import answer_statement, answer_text

    if more and not given:
        raise SettingError("columns: X and Y are tested; name what is given with --given")
    if out is not None:
        check_new(out, again=record.answered())
    domain = read_domain(domain_file, published=True)
    with record.follow(data) as account:
        found = examine(
            data,
            x,
            y,
            (*given, *more),
            domain=domain,
            epsilon=epsilon,
            delta=delta,
            test=test,
            alpha=alpha,
            missing=missing or "level",
            account=account,
            engine_pull=engine_pull,
            progress=teller(),
        )
        click.echo(found.to_json() if as_json else answer_text(found))
        if not as_json:
            say(f"\n{answer_statement(found)}")
        if out is not None:
            say(f"\nWritten: {write_new(out, found.to_json())}")
