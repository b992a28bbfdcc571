"""`discreet direction`: which of two columns causes the other."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.cli.options import Record, domain_option, engine_option, json_option, ledger_options, read_domain
from discreet.cli.output import quiet_option, say, teller


@click.command()
@click.argument("data")
@click.argument("columns", nargs=-1, required=True)
@domain_option
@click.option("--epsilon", type=float, required=True, help="Total privacy budget for all pairs together. No default.")
@click.option(
    "--score",
    type=click.Choice(["copula", "reci", "kendall", "spearman", "root-hsic", "hsic", "hsic-features", "iqr"]),
    help="copula reads one noisy table of both columns' ranks; the others compare what both directions leave under "
    "additive noise.  [default: copula; with --not-private reci]",
)
@click.option(
    "--protects",
    type=click.Choice(["everything", "test-half", "training-half", "both-halves"]),
    default="everything",
    show_default=True,
    help="Which rows are protected. By halves, as in the paper, takes --not-private.",
)
@click.option("--not-private", is_flag=True, help="Allow what is not private. Do not publish.")
@click.option("--sure", type=float, help="Below this probability it is too close to call.  [default: 0.8]")
@engine_option
@ledger_options
@click.option("--out", type=click.Path(path_type=Path), help="File for the result (JSON).")
@quiet_option
@json_option
def direction(
    data: str,
    columns: tuple[str, ...],
    domain_file: str,
    epsilon: float,
    score: str | None,
    protects: str,
    not_private: bool,
    sure: float | None,
    engine_pull: bool,
    record: Record,
    out: Path | None,
    as_json: bool,
) -> None:
    """Say which of two COLUMNS of DATA causes the other; with four, six, ... columns, for each two of them in turn.

    Pure epsilon, and everything is protected. Columns need bounds, or ordered categories.
    """
    import json

    from discreet.errors import SettingError
    from discreet.methods.direction import SURE
    from discreet.methods.direction import direction as run
    from discreet.report import check_new, write_new, write_whole
    from discreet.report.terminal import direction_statement, direction_text

    if out is not None:
        check_new(out, again=not_private or record.answered())
    if len(columns) % 2:
        raise SettingError("columns: two for each pair, one after the other")
    pairs = list(zip(columns[::2], columns[1::2], strict=True))
    domain = read_domain(domain_file, published=not not_private)
    if (protects != "everything") != not_private:
        raise SettingError("protects: halves go with --not-private, and nothing else does")
    if not_private:
        from discreet.cli.not_private import direction_of_half

        if sure is not None:
            raise SettingError("sure: only what protects everything says how sure it is")
        record.refuse("what is not private is not recorded")
        if score == "copula":
            raise SettingError(
                "score: halves are for the scores that are asked: reci, kendall, spearman, hsic, iqr, ..."
            )
        found_half = direction_of_half(data, pairs, domain, protects, score or "reci", epsilon, as_json=as_json)
        if out is not None:
            say(f"\nWritten: {write_whole(out, found_half)}")
        return
    with record.follow(data) as account:
        found = run(
            data,
            *pairs,
            domain=domain,
            epsilon=epsilon,
            score=score or "copula",
            sure=SURE if sure is None else sure,
            account=account,
            engine_pull=engine_pull,
            progress=teller(),
        )
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False) if as_json else direction_text(found))
        if not as_json:
            say(f"\n{direction_statement(found)}")
        if out is not None:
            say(f"\nWritten: {write_new(out, found.to_json())}")
