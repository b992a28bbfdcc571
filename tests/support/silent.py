"""A server that stops answering: what stands before a real one, and passes everything on until it falls silent."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread


class Silent:
    """Takes connections on a port of this machine and passes them on, until it is silent or meets some words."""

    def __init__(self, behind: str | None, words: bytes | None) -> None:
        self._behind, self._words = behind, words
        self.silent = Event()
        self._ends: list[socket.socket] = []
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port = self._door.getsockname()[1]
        self._porter = Thread(target=self._welcome, daemon=True)
        self._porter.start()

    def _welcome(self) -> None:
        with suppress(OSError):
            while True:
                guest, _ = self._door.accept()
                self._ends.append(guest)
                if self._behind is None or self.silent.is_set():
                    continue
                host = socket.socket(socket.AF_UNIX)
                self._ends.append(host)
                host.connect(self._behind)
                Thread(target=self._pass_on, args=(guest, host), daemon=True).start()
                Thread(target=self._pass_on, args=(host, guest), daemon=True).start()

    def _pass_on(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while data := one.recv(1 << 16):
                if self._words is not None and self._words in data:
                    self.silent.set()
                if self.silent.is_set():
                    return
                other.sendall(data)
            other.close()

    def close(self) -> None:
        self._door.shutdown(socket.SHUT_RDWR)  # so that nobody is let in after the others are sent away
        self._porter.join()
        for end in (self._door, *self._ends):
            end.close()


@contextmanager
def silent(behind: str | None = None, words: bytes | None = None) -> Iterator[Silent]:
    """Stand before a server's socket, or before none."""
    found = Silent(behind, words)
    try:
        yield found
    finally:
        found.close()
