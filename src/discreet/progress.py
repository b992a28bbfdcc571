"""How a run tells what it does: words at each step, made of public facts and released values only, and a bar of them.

No clock: how long a step takes may tell something about the rows.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import Any, Protocol, Self, TextIO

Progress = Callable[[str], None]
"""Whoever wants to know is called with each line."""

WIDE = 24
"""Characters of a bar."""

PART = 0.15
"""A line is written each time a run gets so much further, where nothing can be drawn."""


class Step(str):
    """Words about a step, and how far the run is with it, from 0 to 1: that is fixed by public facts."""

    __slots__ = ("share",)
    share: float

    def __new__(cls, words: str, share: float) -> Self:
        """Take the words as they are."""
        step = super().__new__(cls, words)
        step.share = share
        return step


@dataclass(frozen=True)
class Stage:
    """A part of every run."""

    start: float
    end: float

    def at(self, done: int = 0, of: int = 1) -> float:
        """Return how far a run is when so many of the stage's steps are done."""
        return self.start + (self.end - self.start) * min(done / max(of, 1), 1.0)


READ, MEASURE, SEARCH = Stage(0.0, 0.25), Stage(0.25, 0.5), Stage(0.5, 1.0)
WHOLE = Stage(0.0, 1.0)


def tell(progress: Progress | None, words: str, share: float | None = None) -> None:
    """Tell a step to whoever wants to know; without a share it is a note that stays."""
    if progress is not None:
        progress(words if share is None else Step(words, share))


class _Shown(Protocol):
    """Where a bar is shown."""

    def step(self, share: float, words: str) -> None:
        """Show how far a run is."""

    def note(self, words: str) -> None:
        """Say something that stays."""

    def close(self) -> None:
        """Take the bar away."""


class _Terminal:
    """One line that is written over."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        try:
            "█░".encode(stream.encoding or "ascii")
            self._marks = "█░"
        except (LookupError, UnicodeError):
            self._marks = "#-"

    def step(self, share: float, words: str) -> None:
        full = round(WIDE * share)
        line = f"{self._marks[0] * full}{self._marks[1] * (WIDE - full)}  {words}"
        self._write(line[: max(shutil.get_terminal_size().columns - 1, 1)])

    def note(self, words: str) -> None:
        self._write(f"{words}\n")

    def close(self) -> None:
        self._write("")

    def _write(self, text: str) -> None:
        self._stream.write(f"{ERASE}{text}")
        self._stream.flush()


ERASE = "\r\x1b[K"
"""Empties the line of a terminal."""


class _Lines:
    """A few plain lines."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._next = 0.0

    def step(self, share: float, words: str) -> None:
        if share >= self._next:
            self._next = share + PART
            self.note(words)

    def note(self, words: str) -> None:
        self._stream.write(f"{words}\n")
        self._stream.flush()

    def close(self) -> None:
        return None


class _Notebook:
    """One output of a cell that is updated."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._notes: list[str] = []
        self._bar = ""

    def step(self, share: float, words: str) -> None:
        self._bar = f'<progress max="1" value="{share:.3f}"></progress> {escape(words)}'
        self._show()

    def note(self, words: str) -> None:
        self._notes.append(escape(words))
        self._show()

    def close(self) -> None:
        self._bar = ""
        self._show()

    def _show(self) -> None:
        import IPython.display

        notebook: Any = IPython.display
        lines = "".join(f"<div>{line}</div>" for line in (*self._notes, self._bar) if line)
        shown = notebook.HTML(f"<div>{lines}</div>")
        if self._handle is None:
            self._handle = notebook.display(shown, display_id=True)
        else:
            self._handle.update(shown)


class Bar:
    """How far a run is: one line that moves, in a terminal and in a notebook; elsewhere a few plain lines.

    Hand one to what takes ``progress``, as in ``discover(..., progress=Bar())``.
    """

    def __init__(self) -> None:
        self._shown: _Shown | None = None
        self._share = 0.0

    def __call__(self, words: str) -> None:
        """Take a step, which never leads back, or say a note."""
        if isinstance(words, Step) and words.share >= 1:
            return self.close()
        if self._shown is None:
            self._shown = _where()
        if not isinstance(words, Step):
            return self._shown.note(words)
        self._share = max(self._share, words.share)
        return self._shown.step(self._share, words)

    def close(self) -> None:
        """Take the bar away; it may be used once more."""
        if self._shown is not None:
            self._shown.close()
        self._shown, self._share = None, 0.0


def _where() -> _Shown:
    """Return where a bar can be shown: a notebook's cell, a terminal, or nowhere but in lines."""
    with suppress(NameError):  # under IPython only is there such a name
        if getattr(get_ipython(), "kernel", None) is not None:  # type: ignore[name-defined]  # noqa: F821
            return _Notebook()
    stream = sys.stderr or StringIO()  # there is none in a process whose stderr is closed
    return _Terminal(stream) if stream.isatty() else _Lines(stream)
