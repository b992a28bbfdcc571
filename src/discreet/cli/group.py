"""The command line. Heavy imports wait until a command needs them.

stdout carries the result only; words and progress go to stderr. Exit codes: 0 ok, 1 failed, 2 usage or bad input,
3 budget refused, 141 who reads stdout went away.
"""

from __future__ import annotations

import io
import sys
import warnings
from contextlib import suppress
from typing import Any, TextIO

import click

from discreet._version import __version__
from discreet.cli.audit import audit
from discreet.cli.demo import demo
from discreet.cli.direction import direction
from discreet.cli.discover import discover
from discreet.cli.domain import domain
from discreet.cli.experiment import experiment
from discreet.cli.explain import explain
from discreet.cli.ledger import ledger
from discreet.cli.output import exit_code_of
from discreet.cli.plan import plan
from discreet.cli.registry import registry
from discreet.cli.report import report
from discreet.cli.synthesize import synthesize
from discreet.cli.test import test as test_command
from discreet.errors import DiscreetError, DoubtWarning
from discreet.progress import ERASE


class _Group(click.Group):
    """Turns errors into one line on stderr and an exit code; no traceback ever shows, since it may hold data."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().main(*args, **kwargs)
        except OSError as error:  # the page of help goes nowhere
            if (code := exit_code_of(error)) is None:
                raise
        return sys.exit(code)

    def invoke(self, ctx: click.Context) -> Any:
        code = 1
        try:
            return super().invoke(ctx)
        except DiscreetError as error:
            failed, code = str(error), error.exit_code
        except (click.ClickException, click.exceptions.Exit, click.Abort, KeyboardInterrupt):
            raise
        except Exception as error:  # noqa: BLE001 - the last line of defence
            if isinstance(error, OSError) and (lost := exit_code_of(error)) is not None:
                return sys.exit(lost)
            failed = (
                f"something failed inside discreet ({type(error).__name__}); please report what you ran, without data"
            )
        click.echo(f"error: {failed}", err=True)
        return sys.exit(code)


def _say_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Say a warning in one line on stderr, in place of a bar that may stand there."""
    bare = ERASE if sys.stderr is not None and sys.stderr.isatty() else ""
    click.echo(f"{bare}{'warning' if issubclass(category, DoubtWarning) else category.__name__}: {message}", err=True)


def _leave_no_core() -> None:
    """Let a crash leave no file that holds the process's memory, where the system knows such files."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="discreet")
def main() -> None:
    """Find out what causes what in sensitive tables, and publish it with a proven privacy guarantee."""
    warnings.showwarning = _say_warning
    _leave_no_core()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


for command in (
    demo,
    discover,
    experiment,
    audit,
    direction,
    domain,
    explain,
    ledger,
    plan,
    registry,
    report,
    synthesize,
    test_command,
):
    main.add_command(command)
