"""How a run tells what it does: a line of words at each step, made of public facts and released values only."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str], None]
"""Whoever wants to know is called with each line."""


def tell(progress: Progress | None, words: str) -> None:
    """Tell a step to whoever wants to know."""
    if progress is not None:
        progress(words)
