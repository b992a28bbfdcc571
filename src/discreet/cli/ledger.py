"""`discreet ledger`: limits, what was spent, and whether the record is whole."""

from __future__ import annotations

import json
import sys
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import click

from discreet.cli.options import WHERE, greet, json_option

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger
    from discreet.ledger.records import Book, Standing


@click.group()
def ledger() -> None:
    """Keep budgets across runs: limits of data sets, and a record of everything that was spent."""


_ledger = click.option("--ledger", "url", help=WHERE)
_epsilon = click.option("--epsilon", type=float, help="Total epsilon of everything asked of the data set.")
_delta = click.option(
    "--delta", type=float, help="Total delta; 0 counts in pure epsilon, else zCDP.  [default: as declared, else 1e-6]"
)
_approximate = click.option(
    "--approximate",
    type=float,
    help="Part of delta put by for releases of other tools with a delta.  [default: as declared, else 0]",
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
@json_option
def init(
    url: str | None,
    dataset: str | None,
    epsilon: float | None,
    delta: float | None,
    approximate: float | None,
    owner: str | None,
    purpose: str,
    as_json: bool,
) -> None:
    """Begin a ledger, and declare the limit of a data set if one is named."""
    from discreet.errors import SettingError

    if (dataset is None) != (epsilon is None):
        raise SettingError("dataset, epsilon: a limit takes both")
    if dataset is None and any(given is not None for given in (delta, approximate, owner)):
        raise SettingError("dataset: a limit is declared for a data set; name it with --dataset")
    found = _open(url)
    if dataset is None or epsilon is None:
        greet(found)
    if not found.fresh:
        click.echo(f"The ledger is there: {found.place}", err=True)
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
@json_option
def limit(
    url: str | None,
    dataset: str,
    epsilon: float,
    delta: float | None,
    approximate: float | None,
    owner: str | None,
    purpose: str,
    as_json: bool,
) -> None:
    """Declare or change the limit of a data set. What was spent before counts; the change is an entry like others."""
    _declare(_open(url), dataset, epsilon, delta, approximate, owner, purpose, as_json=as_json)


def _open(url: str | None, *, begin: bool = True) -> Ledger:
    from discreet.ledger.ledger import open_ledger

    return open_ledger(url, begin=begin)


def _declare(
    found: Ledger,
    dataset: str,
    epsilon: float,
    delta: float | None,
    approximate: float | None,
    owner: str | None,
    purpose: str,
    *,
    as_json: bool,
    fresh: bool = False,
) -> None:
    from discreet.ledger.prices import Change
    from discreet.ledger.words import check_purpose

    greet(found)
    change = Change(epsilon, delta, approximate)
    standing = found.declare(dataset, change, owner=owner, purpose=check_purpose(purpose), fresh=fresh)
    _show_standing(found, standing, as_json=as_json)


def _show_standing(found: Ledger, standing: Standing, *, as_json: bool) -> None:
    from discreet.report.ledger import standing_dict, standing_text

    plain = found.plain_sum(standing)
    if as_json:
        click.echo(json.dumps({"schema": 1, **standing_dict(standing, plain)}, ensure_ascii=False))
    else:
        click.echo(standing_text(standing, plain))


@ledger.command()
@_ledger
@click.option("--dataset", required=True, help="The data set.")
@click.option("--epsilon", type=float, required=True, help="Epsilon of what was released by other means.")
@click.option("--delta", type=float, default=0.0, show_default=True, help="Its delta.")
@click.option("--purpose", required=True, help="What was released, by what tool, and why.")
@json_option
def spend(url: str | None, dataset: str, epsilon: float, delta: float, purpose: str, as_json: bool) -> None:
    """Book what was spent by other tools, so that it counts. It is booked even where it passes the limit."""
    from discreet.ledger.prices import Price
    from discreet.ledger.words import check_purpose

    price = Price.of_outside(epsilon, delta)
    what = {"command": "other means", "method": "", "epsilon": epsilon, "delta": delta}
    found = _open(url)
    greet(found)
    standing = found.spend(dataset, price, what=what, purpose=check_purpose(purpose))
    _show_standing(found, standing, as_json=as_json)


@ledger.command()
@_ledger
@click.option("--dataset", help="Show this data set alone.")
@click.option("--all", "everything", is_flag=True, help="Show all entries, not the last 20 of a data set.")
@json_option
def show(url: str | None, dataset: str | None, everything: bool, as_json: bool) -> None:
    """Show what was spent on which data set, and what is left."""
    from discreet.report.ledger import ledger_dict, ledger_text

    found = _open(url, begin=False)
    book = found.book()
    dataset = _check_known(book, dataset)
    if as_json:
        click.echo(json.dumps(ledger_dict(book, dataset), ensure_ascii=False))
    else:
        click.echo(ledger_text(found.place, book, dataset, last=None if everything else 20))


def _check_known(book: Book, dataset: str | None) -> str | None:
    """Return a name in the spelling of the ledger, which must know it."""
    from discreet.errors import SettingError
    from discreet.ledger.words import check_name

    if dataset is None:
        return None
    dataset = check_name(dataset, "dataset")
    if dataset not in book.standings:
        near = get_close_matches(dataset, list(book.standings), n=1, cutoff=0.5)
        raise SettingError(
            f"dataset: the ledger knows no {dataset!r}" + (f"; did you mean {near[0]!r}?" if near else "")
        )
    return dataset


@ledger.command()
@_ledger
@click.option("--dataset", required=True, help="The name that is given up.")
@click.option("--into", required=True, help="The name under which both are counted from now on.")
@_purpose
@json_option
def merge(url: str | None, dataset: str, into: str, purpose: str, as_json: bool) -> None:
    """Count a data set under another name, with all that was spent on it: the same rows had two names."""
    from discreet.ledger.words import check_purpose

    found = _open(url, begin=False)
    standing = found.merge(dataset, into, purpose=check_purpose(purpose))
    _show_standing(found, standing, as_json=as_json)


@ledger.command()
@_ledger
@click.option("--request", required=True, help="Id of the run, as `show` lists it.")
@click.option("--out", type=click.Path(path_type=Path), help="File.  [default: stdout]")
def release(url: str | None, request: str, out: Path | None) -> None:
    """Write a release that was committed once more: no data, no budget."""
    from discreet.report import check_file, write_whole

    if out is not None:
        check_file(out)
    text = _open(url, begin=False).find_release(request).to_json()
    if out is None:
        click.echo(text)
    else:
        click.echo(f"Written: {write_whole(out, text)}", err=True)


@ledger.command()
@_ledger
@click.option("--against", multiple=True, help="A release that was handed out; others may follow it.")
@click.option("--head", multiple=True, help="A head that was noted earlier; may be given several times.")
@click.argument("more", nargs=-1, metavar="")
@json_option
def verify(
    url: str | None, against: tuple[str, ...], head: tuple[str, ...], more: tuple[str, ...], as_json: bool
) -> None:
    """Check that nothing in the ledger was changed, taken out or cut off.

    Whoever can write the ledger could make up a new chain as a whole; releases that were handed out hold the chain's
    head of their time, and tell: name them with --against.
    """
    from discreet.errors import SettingError
    from discreet.ledger.verify import read_anchor, verify_ledger
    from discreet.report.ledger import verdict_dict, verdict_text

    if more and not against:
        raise SettingError("verify: name releases with --against")
    anchors = [read_anchor(path) for path in (*against, *more)]
    found = _open(url, begin=False)
    verdict = verify_ledger(found, anchors, head)
    click.echo(json.dumps(verdict_dict(verdict), ensure_ascii=False) if as_json else verdict_text(found.place, verdict))
    if not verdict.whole:
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
    from discreet.report import write_whole
    from discreet.report.ledger import export_csv, export_json

    if as_json and form == "csv":
        raise SettingError("json: --format csv says something else")
    found = _open(url, begin=False)
    book = found.book()
    dataset = _check_known(book, dataset)
    text = export_csv(book, dataset) if form == "csv" else export_json(book, dataset)
    if out is None:
        click.echo(text, nl=False)
    else:
        click.echo(f"Written: {write_whole(out, text)}", err=True)
