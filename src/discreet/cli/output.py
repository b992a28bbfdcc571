"""What commands show: results on stdout, words and progress on stderr, then the files; and when nobody takes it."""

from __future__ import annotations

import errno
import json
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from discreet.release.discovery import Discovery


NOT_TAKEN = 141
"""Exit code where who reads has had enough: what a shell makes of SIGPIPE, as with other tools."""

_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG}


def teller() -> Callable[[str], None]:
    """Return what says a line of words on stderr, with the seconds since now."""
    start = time.monotonic()

    def tell(words: str) -> None:
        click.echo(f"[{time.monotonic() - start:5.1f} s] {words}", err=True)

    return tell


def show(found: Discovery, out: Path | None, as_json: bool) -> None:
    """Print the result first, so that it is not lost if a file cannot be written; then write the files."""
    from discreet.report import terminal

    if as_json:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False))
    else:
        marks = terminal.marks_for(sys.stdout)
        click.echo(terminal.discovery_text(found, marks))
        click.echo("\n" + (terminal.statement_text(found) if out is None else terminal.statement_line(found)), err=True)
    if out is not None:
        click.echo("\nWritten: " + ", ".join(str(path) for path in found.save(out)), err=True)


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
