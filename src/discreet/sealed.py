"""What may not be copied: rows must not spread, and a budget must not be spent twice."""

from __future__ import annotations

import logging
import os
from typing import NoReturn, Self

from discreet.errors import RoomError

_forks = 0


def _count_fork() -> None:
    global _forks  # noqa: PLW0603 - a fact about the process, and no datum
    _forks += 1


if hasattr(os, "register_at_fork"):  # a system without forks has no copies
    os.register_at_fork(after_in_child=_count_fork)


def this_process() -> tuple[int, int]:
    """Return what tells this process from copies of it; a number alone may be given to another when its owner ends."""
    return os.getpid(), _forks


class Sealed:
    """Something that holds rows or a budget: it cannot be copied or pickled, and its repr shows nothing.

    A fork copies it all the same, so it remembers which process made it, and what spends or answers is refused in
    others: both would spend the same budget, draw the same noise, or pass the same gate.
    """

    _process: tuple[int, int]

    def __new__(cls, *_args: object, **_settings: object) -> Self:
        """Remember which process makes it."""
        made = super().__new__(cls)
        object.__setattr__(made, "_process", this_process())  # some are frozen
        return made

    def refuse_copies(self) -> None:
        """Refuse to go on in a copy of the process that made it."""
        if self._process != this_process():
            raise RoomError(f"this {type(self).__name__} was made by another process, of which this is a copy")

    def __copy__(self) -> NoReturn:
        raise RoomError(f"a {type(self).__name__} cannot be copied: what it guards would be there twice")

    def __deepcopy__(self, memo: dict[int, object]) -> NoReturn:
        self.__copy__()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise RoomError(f"a {type(self).__name__} cannot be pickled: what it guards would leave")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: rows are held here>"


def hush(logger: str) -> None:
    """Keep a library from logging: what it logs may quote data."""
    logging.getLogger(logger).disabled = True
