"""The command line: one file a command."""

from discreet.cli.group import main

__all__ = ["main"]
