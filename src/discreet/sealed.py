"""What may not be copied: rows must not spread, and a budget must not be spent twice."""

from __future__ import annotations

import logging
import os
from typing import NoReturn

from discreet.errors import RoomError


def this_process() -> int:
    """Return what tells this process from copies of it: what was drawn before must not be used by both."""
    return os.getpid()


class Sealed:
    """Something that holds rows or a budget: it cannot be copied or pickled, and its repr shows nothing."""

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
