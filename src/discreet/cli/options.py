"""What commands take: options that several share, what is handed in with them, and how their runs are recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.output import say
from discreet.errors import LedgerError, RequestError, SettingError

if TYPE_CHECKING:
    from discreet.domain import Domain
    from discreet.ledger.account import Account
    from discreet.ledger.ledger import Ledger

WHERE = "Ledger: a file, sqlite:///path or postgresql://host/db.  [default: DISCREET_LEDGER, else one of your own]"
"""What `--ledger` takes."""

domain_option = click.option(
    "--domain", "domain_file", required=True, help="Domain file (YAML): what is public about the table."
)
delta_option = click.option(
    "--delta", type=float, help="Default 1e-6, and less from a million rows on. 0 means pure epsilon."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
title_option = click.option("--title", help="What the report is called. Public.  [default: by its data set]")
engine_option = click.option(
    "--engine-pull", is_flag=True, help="Load a server's rows as codes, for methods that look at rows."
)


class Choice(click.ParamType[str]):
    """One of a few words that are looked up when they are needed: commands start without what knows them."""

    name = "choice"

    def __init__(self, words: Callable[[], Sequence[str]]) -> None:
        self._words = words

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return how the words stand in a page of help."""
        return f"[{'|'.join(self._words())}]"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuse any other word."""
        if value not in self._words():
            self.fail(f"{value!r} is not one of {', '.join(map(repr, self._words()))}.", param, ctx)
        return value


def _readings() -> tuple[str, ...]:
    from discreet.release.missing import MISSING

    return MISSING


missing_option = click.option(
    "--missing",
    type=Choice(_readings),
    help="Missing values are a level like any other, or left out: a pair is judged where both values are known. "
    "`discover` takes it with a release.  [default: level]",
)


def searches() -> tuple[str, ...]:
    """Return the ways to search a release."""
    from discreet.release.settings import SEARCHES

    return SEARCHES


def read_domain(path: str, *, published: bool = False) -> Domain:
    """Read a domain file; one that is published with a release is no draft, and that is told before anything begins."""
    from discreet.domain.domain import Domain, check_domain

    found = Domain.from_yaml(Path(path))
    if published:
        check_domain(found)
    return found


def names_in(text: str) -> list[str]:
    """Return names with commas between them."""
    return [name.strip() for name in text.split(",") if name.strip()]


def numbers_in(text: str, option: str) -> list[float]:
    """Return numbers with commas between them."""
    try:
        return [float(part) for part in text.split(",")] if text else []
    except ValueError:
        raise SettingError(f"{option}: numbers with commas between them, as in 0.3,1,3") from None


def whole_numbers_in(text: str, option: str) -> list[int]:
    """Return whole numbers with commas between them."""
    try:
        return [_whole(part.strip()) for part in text.split(",")] if text else []
    except (ValueError, OverflowError):
        raise SettingError(
            f"{option}: whole numbers with commas between them, and no other marks, as in 5000,20000"
        ) from None


def _whole(part: str) -> int:
    """Return a whole number; 1e5 is one, 20.000 is not."""
    number = float(part) if "e" in part.lower() and "." not in part else int(part)
    if number != int(number) or number < 1:
        raise ValueError
    return int(number)


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
        click.option("--ledger", help=WHERE),
    ):
        run = option(run)
    return run


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
        given = {"ledger": self.ledger, "dataset": self.dataset, "request": self.request, "purpose": self.purpose}
        if clash := [name for name, value in given.items() if value is not None]:
            raise SettingError(f"{clash[0]}: {why}; leave the option out")

    def account(self, data: str) -> Account | None:
        """Return where the run is recorded; None with --no-ledger, which is said."""
        from discreet.ledger.account import Account
        from discreet.ledger.ledger import open_ledger

        if self.off:
            self.refuse("goes with a ledger, and --no-ledger turns it off")
            say("Not recorded (--no-ledger): what else was asked of these rows is not counted, nor will this run be.")
            return None
        ledger = open_ledger(self.ledger)
        greet(ledger)
        name = self.dataset if self.dataset is not None else source_name(data)
        return Account(name, ledger, request=self.request, purpose=self.purpose or "")

    def answered(self) -> bool:
        """Whether the run was answered before: then its release is shown again, and nothing is spent."""
        from discreet.ledger.ledger import open_ledger

        if self.off or self.request is None:
            return False
        try:
            open_ledger(self.ledger, begin=False).find_release(self.request)
        except (LedgerError, RequestError, SettingError):
            return False
        return True

    @contextmanager
    def follow(self, data: str) -> Iterator[Account | None]:
        """Say afterwards where the data set stands; or what is spent, and what is kept, if the run was broken off."""
        from discreet.report.ledger import standing_line

        account = self.account(data)
        try:
            yield account
        except BaseException:
            if account is not None and (words := _say_broken_off(account)):
                click.echo(words, err=True)
            raise
        if account is not None and account.last is not None:
            standing = account.standing()
            plain = account.ledger.plain_sum(standing)
            say(f"\n{standing_line(standing, account.last.request, plain)}")


def _say_broken_off(account: Account) -> str | None:
    """Return what is spent, or kept, of a run that did not come to its end."""
    run = account.last
    if run is not None and run.committed:
        return f"The release is kept: `discreet ledger release --request {run.request}` writes it once more."
    if run is not None and run.reserved:
        return f"Broken off: epsilon {run.epsilon:g} of {account.dataset!r} stays spent (request {run.request})."
    return None


def greet(ledger: Ledger) -> None:
    """Say that a ledger was not there before: a name mistyped, or one deleted, is noticed by that."""
    if ledger.fresh:
        click.echo(f"A new ledger was begun: {ledger.place}", err=True)


def source_name(data: str) -> str:
    """Return the name of a source where none is declared: the file's, and the table's if one is named."""
    if "://" in data:
        name = _url_name(data)
    else:
        path, _, table = data.partition("?table=")
        name = Path(path).name + (f":{table}" if table else "")
    return "".join(c if c.isprintable() else "?" for c in name.strip())[:200].strip() or "data"


def _url_name(url: str) -> str:
    """Return the database and the table of a URL: who connects, and from where, does not matter."""
    from urllib.parse import parse_qsl, urlsplit

    try:
        parts = urlsplit(url)
        tables = [value for key, value in parse_qsl(parts.query) if key in ("table", "parquet")]
    except ValueError:
        return "data"
    if "@" in parts.path:  # a password that was not quoted
        return "data"
    return ":".join([parts.path.strip("/") or parts.scheme, *tables])
