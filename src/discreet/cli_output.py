"""What a command does when its output is not taken: a reader that went away, or a full disk."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress

import click

NOT_TAKEN = 141
"""Exit code where who reads has had enough: what a shell makes of SIGPIPE, as with other tools."""

_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG}


def untaken(error: OSError) -> int | None:
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
