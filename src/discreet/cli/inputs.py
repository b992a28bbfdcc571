"""What commands are handed (a domain file that somebody has judged, numbers with commas) and how they tell progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from discreet.errors import DomainError, SettingError

if TYPE_CHECKING:
    from discreet.domain import Domain

STILL = "it still carries the notice of a draft that was made by looking at the data"


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


def searches() -> tuple[str, ...]:
    """Return the ways to search a release."""
    from discreet.release.settings import SEARCHES

    return SEARCHES


def domain_from(path: str, *, published: bool = True) -> Domain:
    """Read a domain file. What is published with a domain refuses one that is still a draft; others warn."""
    from discreet.data.draft import NOTICE
    from discreet.domain import Domain
    from discreet.domain.yaml import read_text

    draft = read_text(path, DomainError, "domain").lstrip("\ufeff \n").startswith(NOTICE.splitlines()[0])
    if draft and published:
        raise DomainError(f"the domain file {path!r}: {STILL}. Judge every line of it, then delete the notice")
    if draft:
        click.echo(f"warning: the domain file {path!r}: {STILL}; `discover` will refuse it", err=True)
    return Domain.from_yaml(Path(path))


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


def telling() -> Callable[[str], None]:
    """Return what says a line of words on stderr, with the seconds since now."""
    start = time.monotonic()

    def tell(words: str) -> None:
        click.echo(f"[{time.monotonic() - start:5.1f} s] {words}", err=True)

    return tell
