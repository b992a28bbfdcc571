"""What commands show: results on stdout, words and progress on stderr, then the files; and when nobody takes it."""

from __future__ import annotations

import errno
import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from discreet.progress import Bar, Progress

if TYPE_CHECKING:
    from discreet.release.discovery import Discovery

_QUIET = "discreet.quiet"


def _hush(context: click.Context, _: click.Parameter, quiet: bool) -> None:
    context.meta[_QUIET] = quiet


quiet_option = click.option(
    "--quiet",
    "-q",
    is_flag=True,
    expose_value=False,
    callback=_hush,
    help="Results and warnings only: no progress, no statement.",
)

NOT_TAKEN = 141
"""Exit code where who reads has had enough: what a shell makes of SIGPIPE, as with other tools."""

_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG}


def _quiet() -> bool:
    return bool(click.get_current_context().meta.get(_QUIET))


def say(words: str) -> None:
    """Say something on stderr that is no result, unless only results are wanted."""
    if not _quiet():
        click.echo(words, err=True)


def teller() -> Progress | None:
    """Return what shows on stderr how far a run is, until the command ends; None if only results are wanted."""
    if _quiet():
        return None
    bar = Bar()
    click.get_current_context().call_on_close(bar.close)
    return bar


def show(found: Discovery, out: Path | None, as_json: bool) -> None:
    """Print the result first, so that it is not lost if a file cannot be written; then write the files."""
    from discreet.report import terminal

    if as_json:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False))
    else:
        marks = terminal.marks_for(sys.stdout)
        click.echo(terminal.discovery_text(found, marks))
        say("\n" + (terminal.statement_text(found) if out is None else terminal.statement_line(found)))
    if out is not None:
        say("\nWritten: " + ", ".join(str(path) for path in found.save(out)))


def exit_code_of(error: OSError) -> int | None:
    """Return the exit code where output could not be written, after saying so unless nobody listens; else None."""
    gone = isinstance(error, BrokenPipeError)
    if not gone and error.errno not in _FULL:
        return None
    _drop()
    if not gone:
        with suppress(OSError):
            click.echo("error: the output cannot be written: no space is left where it goes", err=True)
    return NOT_TAKEN if gone else 1


def _drop() -> None:
    """Let what is left of the output go nowhere, since Python would try once more at its end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            with suppress(OSError):  # not a file of the system
                os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
        except (AttributeError, ValueError):  # closed
            continue
