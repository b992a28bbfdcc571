"""How precisely balls are computed: one setting for all threads, so that one at a time may change it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

from flint import ctx

_ALONE = RLock()


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Compute with so many bits; other threads wait. With fewer, balls would still hold the truth, and be too wide."""
    with _ALONE, ctx.workprec(bits):
        yield
