"""The secret key of a ledger, and what rows are known by under it: never printed, never exported.

A plain hash of a table would tell whoever can guess it who is in it; under a key that stays with the custodian, it
tells nothing. What it catches and what not: ``keys.md``.
"""

from __future__ import annotations

import hmac
import os
import secrets
from pathlib import Path

from discreet.errors import LedgerError
from discreet.sealed import Sealed

KEY_VARIABLE = "DISCREET_LEDGER_KEY"
"""Names the file of the key where a team shares one."""

BYTES = 32


class Key(Sealed):
    """A key, and whether it was made just now."""

    def __init__(self, secret: bytes, *, fresh: bool) -> None:
        self.secret = secret
        self.fresh = fresh


class Marker(Sealed):
    """Holds the key."""

    def __init__(self, key: Key) -> None:
        self._key = key.secret
        self.fresh = key.fresh

    def mark(self, raw: bytes) -> str:
        """Return the mark of a table's rows."""
        return hmac.digest(self._key, raw, "sha256").hex()


def load_key(beside: Path | None, identity: str) -> Key:
    """Return the key, made at its first use and readable by its owner alone."""
    named = os.environ.get(KEY_VARIABLE)
    path = Path(named) if named else beside or _folder() / f"{identity}.key"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = _make(path)
        key = path.read_bytes()
        open_to_all = os.name == "posix" and not named and bool(path.stat().st_mode & 0o077)
    except OSError:
        raise LedgerError(
            f"the key file {path.name!r} of the ledger cannot be made or read; {KEY_VARIABLE} may name another one"
        ) from None
    if open_to_all:
        raise LedgerError(f"the key file {path.name!r} of the ledger can be read by others: `chmod 600` it")
    if len(key) != BYTES:
        raise LedgerError(
            f"the key file {path.name!r} of the ledger is damaged: restore it, or delete it for a new key"
        )
    return Key(key, fresh=fresh)


def _make(path: Path) -> bool:
    """Write a fresh key unless there is one, whole or not at all; whether it was."""
    if path.exists():
        return False
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        _write(draft)
        try:
            os.link(draft, path)  # fails if another process was quicker
        except FileExistsError:
            return False
        except OSError:  # a file system without links
            draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return True


def _write(path: Path) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secrets.token_bytes(BYTES))
        file.flush()
        os.fsync(file.fileno())


def _folder() -> Path:
    from platformdirs import user_data_path

    return user_data_path("discreet", appauthor=False)
