"""`discreet ledger`, and the options by which other commands are recorded in one."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from discreet.ledger.accounts import Account
    from discreet.ledger.ledger import Ledger

_WHERE = "Ledger: a file, sqlite:///path or postgresql://host/db.  [default: DISCREET_LEDGER, else one of your own]"


@dataclass(frozen=True)
class Record:
    """How a command's run is recorded."""

    ledger: str | None
    dataset: str | None
    request: str | None
    purpose: str | None
    off: bool

    def refuse(self, why: str) -> None:
        """Refuse options that mean nothing here."""
        from discreet.errors import SettingError

        given = {"ledger": self.ledger, "dataset": self.dataset, "request": self.request, "purpose": self.purpose}
        if clash := [name for name, value in given.items() if value is not None]:
            raise SettingError(f"{clash[0]}: {why}; leave the option out")

    def account(self, data: str) -> Account | None:
        """Return where the run is recorded; None with --no-ledger, which is said."""
        from discreet.ledger.accounts import Account
        from discreet.ledger.ledger import open_ledger

        if self.off:
            self.refuse("goes with a ledger, and --no-ledger turns it off")
            click.echo(
                "Not recorded (--no-ledger): what else was asked of these rows is not counted, nor will this run be.",
                err=True,
            )
            return None
        ledger = open_ledger(self.ledger)
        if ledger.fresh:
            click.echo(f"A new ledger was begun: {ledger.place}", err=True)
        name = self.dataset if self.dataset is not None else source_name(data)
        return Account(name, ledger, request=self.request, purpose=self.purpose or "")

    def tell(self, account: Account | None) -> None:
        """Say where the data set stands after the run."""
        from discreet.report.ledger import standing_line

        if account is not None:
            click.echo(f"\n{standing_line(account.standing())}", err=True)


def source_name(data: str) -> str:
    """Return the name of a source where none is declared: the file's, and the table's if one is named."""
    path, _, table = data.partition("?table=")
    name = Path(path).name + (f":{table}" if table else "")
    return "".join(c if c.isprintable() else "?" for c in name)[:200] or "data"


def ledger_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of the ledger to a command, handed over as one ``record``."""

    @wraps(command)
    def run(
        *args: Any,
        ledger: str | None,
        dataset: str | None,
        request: str | None,
        purpose: str | None,
        no_ledger: bool,
        **kwargs: Any,
    ) -> None:
        command(*args, record=Record(ledger, dataset, request, purpose, no_ledger), **kwargs)

    for option in (
        click.option("--no-ledger", is_flag=True, help="Do not record what is spent."),
        click.option("--purpose", help="What the release is for; kept in the ledger."),
        click.option("--request", help="Id of the run: asked again, it shows the same release and spends nothing."),
        click.option("--dataset", help="Name under which the budget is kept.  [default: the file's name]"),
        click.option("--ledger", help=_WHERE),
    ):
        run = option(run)
    return run


@click.group()
def ledger() -> None:
    """Keep budgets across runs: limits of data sets, and a record of everything that was spent."""


_ledger = click.option("--ledger", "url", help=_WHERE)
_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
_epsilon = click.option("--epsilon", type=float, help="Total epsilon of everything asked of the data set.")
_delta = click.option("--delta", type=float, help="Total delta; 0 counts in pure epsilon, else zCDP.  [default: 1e-6]")
_approximate = click.option(
    "--approximate", type=float, default=0.0, help="Part of delta put by for releases of other tools with a delta."
)
_owner = click.option("--owner", help="Who answers for the data set.  [default: you]")
_purpose = click.option("--purpose", default="", help="Why; kept in the ledger.")


@ledger.command()
@_ledger
@click.option("--dataset", help="A data set to declare a limit for, with --epsilon.")
@_epsilon
@_delta
@_approximate
@_owner
@_purpose
@_json
def init(
    url: str | None,
    dataset: str | None,
    epsilon: float | None,
    delta: float | None,
    approximate: float,
    owner: str | None,
    purpose: str,
    as_json: bool,
) -> None:
    """Begin a ledger, and declare the limit of a data set if one is named."""
    from discreet.errors import SettingError
    from discreet.ledger.ledger import open_ledger

    if (dataset is None) != (epsilon is None):
        raise SettingError("dataset, epsilon: a limit takes both")
    if dataset is None and (delta is not None or approximate or owner is not None):
        raise SettingError("dataset: a limit is declared for a data set; name it with --dataset")
    found = open_ledger(url)
    words = f"A new ledger was begun: {found.place}" if found.fresh else f"The ledger is there: {found.place}"
    click.echo(words, err=True)
    if dataset is not None and epsilon is not None:
        _declare(found, dataset, epsilon, delta, approximate, owner, purpose, as_json=as_json, fresh=True)
    elif as_json:
        click.echo(json.dumps({"schema": 1, "ledger": found.identity(), "begun": found.fresh}))


@ledger.command()
@_ledger
@click.option("--dataset", required=True, help="The data set.")
@click.option("--epsilon", type=float, required=True, help="Total epsilon of everything asked of the data set.")
@_delta
@_approximate
@_owner
@_purpose
@_json
def limit(
    url: str | None,
    dataset: str,
    epsilon: float,
    delta: float | None,
    approximate: float,
    owner: str | None,
    purpose: str,
    as_json: bool,
) -> None:
    """Declare or change the limit of a data set. What was spent before counts; the change is an entry like others."""
    from discreet.ledger.ledger import open_ledger

    _declare(open_ledger(url), dataset, epsilon, delta, approximate, owner, purpose, as_json=as_json)


def _declare(
    found: Ledger,
    dataset: str,
    epsilon: float,
    delta: float | None,
    approximate: float,
    owner: str | None,
    purpose: str,
    *,
    as_json: bool,
    fresh: bool = False,
) -> None:
    from discreet.ledger.prices import SHOWN_DELTA, Limit
    from discreet.ledger.words import check_purpose
    from discreet.report.ledger import standing_dict, standing_text

    declared = Limit(epsilon, SHOWN_DELTA if delta is None else delta, approximate)
    standing = found.declare(dataset, declared, owner=owner, purpose=check_purpose(purpose), fresh=fresh)
    if as_json:
        click.echo(json.dumps({"schema": 1, **standing_dict(standing)}, ensure_ascii=False))
    else:
        click.echo(standing_text(standing))


@ledger.command()
@_ledger
@click.option("--dataset", required=True, help="The data set.")
@click.option("--epsilon", type=float, required=True, help="Epsilon of what was released by other means.")
@click.option("--delta", type=float, default=0.0, show_default=True, help="Its delta.")
@click.option("--purpose", required=True, help="What was released, by what, and why.")
@_json
def spend(url: str | None, dataset: str, epsilon: float, delta: float, purpose: str, as_json: bool) -> None:
    """Book what was spent by other tools, so that it counts. It is booked even where it passes the limit."""
    from discreet.ledger.ledger import open_ledger
    from discreet.ledger.prices import Price
    from discreet.ledger.words import check_purpose
    from discreet.report.ledger import standing_dict, standing_text

    price = Price.of_outside(epsilon, delta)
    what = {"command": "other means", "method": "", "epsilon": epsilon, "delta": delta}
    standing = open_ledger(url).spend(dataset, price, what=what, purpose=check_purpose(purpose))
    if as_json:
        click.echo(json.dumps({"schema": 1, **standing_dict(standing)}, ensure_ascii=False))
    else:
        click.echo(standing_text(standing))


@ledger.command()
@_ledger
@click.option("--dataset", help="Show this data set alone.")
@click.option("--all", "everything", is_flag=True, help="Show all entries, not the last 20 of a data set.")
@_json
def show(url: str | None, dataset: str | None, everything: bool, as_json: bool) -> None:
    """Show what was spent on which data set, and what is left."""
    from discreet.errors import SettingError
    from discreet.ledger.ledger import open_ledger
    from discreet.report.ledger import ledger_dict, ledger_text

    found = open_ledger(url, begin=False)
    book = found.book()
    if dataset is not None and dataset not in book.standings:
        raise SettingError(f"dataset: the ledger knows no {dataset!r}")
    if as_json:
        click.echo(json.dumps(ledger_dict(book, dataset), ensure_ascii=False))
    else:
        click.echo(ledger_text(found.name, book, dataset, last=None if everything else 20))


@ledger.command()
@_ledger
@click.option("--against", multiple=True, help="A release that was handed out; may be given several times.")
@click.argument("more", nargs=-1, metavar="")
@_json
def verify(url: str | None, against: tuple[str, ...], more: tuple[str, ...], as_json: bool) -> None:
    """Check that nothing in the ledger was changed, taken out or cut off.

    Whoever can write the ledger could make up a new chain as a whole; releases that were handed out hold the chain's
    head of their time, and tell: name them with --against.
    """
    from discreet.errors import SettingError
    from discreet.ledger.ledger import open_ledger
    from discreet.ledger.verifying import anchor_of, verified
    from discreet.report.ledger import verdict_dict, verdict_text

    if more and not against:
        raise SettingError("verify: name releases with --against")
    anchors = [anchor_of(path) for path in (*against, *more)]
    found = open_ledger(url, begin=False)
    verdict = verified(found, anchors)
    click.echo(json.dumps(verdict_dict(verdict), ensure_ascii=False) if as_json else verdict_text(found.name, verdict))
    if verdict.problems:
        sys.exit(1)


@ledger.command()
@_ledger
@click.option("--dataset", help="Only the entries of this data set.")
@click.option("--format", "form", type=click.Choice(["json", "csv"]), default="json", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="File.  [default: stdout]")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def export(url: str | None, dataset: str | None, form: str, out: Path | None, as_json: bool) -> None:
    """Write all entries, for an auditor: no rows, no marks of rows, no keys."""
    from discreet.errors import SettingError
    from discreet.ledger.ledger import open_ledger
    from discreet.report import write_whole
    from discreet.report.ledger import export_csv, export_json

    if as_json and form == "csv":
        raise SettingError("json: --format csv says something else")
    found = open_ledger(url, begin=False)
    book = found.book()
    text = export_csv(book, dataset) if form == "csv" else export_json(book, dataset)
    if out is None:
        click.echo(text, nl=False)
    else:
        click.echo(f"Written: {write_whole(out, text)}", err=True)
