"""Disks that are full, and files that may not be read or written."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

from discreet.errors import LedgerError
from discreet.ledger.ledger import open_ledger, user_name
from discreet.ledger.prices import NOTHING, Limit
from discreet.ledger.stores.sqlite import SQLite
from discreet.ledger.verify import verify_ledger
from ledgers.cases import PRICE, Case, expect_refusal, expect_whole, insist, release
from ledgers.places import ASKED, Fresh, folder

NOBODY = 65534


def disk_full(its: Case, fresh: Fresh) -> str:
    """Fill a real small disk if the system lets one be mounted; else let SQLite believe that it is full."""
    with folder() as disk:
        mounted = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=256k tmpfs "$1" && shift && exec "$@"', "sh"]
        try:
            can = not subprocess.run([*mounted, disk, "true"], capture_output=True, check=False).returncode
        except OSError:
            can = False
        if can:
            command = [sys.executable, str(Path(__file__).parents[1] / "ledger.py"), "full", str(disk)]
            done = subprocess.run([*mounted, disk, *command], capture_output=True, text=True, check=False)
            insist(not done.returncode, done.stdout + done.stderr)
            return f"{done.stdout.strip()} (a disk of 256 kB)"
        opened, pages = SQLite._open, 40

        def small(self: SQLite, mode: str) -> sqlite3.Connection:
            connection = opened(self, mode)
            connection.execute(f"PRAGMA max_page_count = {pages}")
            return connection

        def more() -> None:
            nonlocal pages
            pages = 400

        with patch.object(SQLite, "_open", small):
            return f"{fill(disk, more)} (no disk could be mounted: 40 pages for SQLite)"


def fill(disk: Path, more: Callable[[], None]) -> str:
    """Spend until there is no more room, check what is left, and go on when there is room again."""
    ledger = open_ledger(f"sqlite:///{disk / 'full.db'}")
    ledger.declare("people", Limit(5.0, 1e-6))
    reserved, committed, failed = NOTHING, [], []
    body = release().to_json()
    for i in range(200):
        try:
            ledger.reserve("people", f"request-{i}", ASKED, PRICE)
            reserved = reserved.plus(PRICE)
            ledger.commit("people", f"request-{i}", body, [])
            committed.append(f"request-{i}")
        except LedgerError as error:
            failed.append(str(error))
    insist(len(failed) > 10, "it was never full")
    insist(all("full" in words for words in failed), f"told: {set(failed)}")
    insist(ledger.standing("people").spent == reserved, "what is spent is not what was reserved")
    insist(list(ledger.read_all().releases) == committed, "a release was lost")
    insist(not verify_ledger(ledger).problems, "not whole")
    more()
    ledger.reserve("people", "with room", ASKED, PRICE)
    ledger.commit("people", "with room", body, [])
    insist(
        ledger.standing("people").spent == reserved.plus(PRICE) and not verify_ledger(ledger).problems, "not as before"
    )
    return max(failed, key=failed.count)


def fill_disk(disk: str) -> bool:
    """Fill a disk that was mounted for it, and print what the user is told."""

    def more() -> None:
        subprocess.run(["mount", "-o", "remount,size=8m", disk], check=True)

    warnings.simplefilter("ignore")
    print(fill(Path(disk), more))
    return True


def read_only(its: Case, fresh: Fresh) -> str:
    """Take the right to write away, of the file and of its folder."""
    its.path.chmod(0o444)
    its.path.parent.chmod(0o555)
    told = _as_nobody(lambda: _only_read(its))
    its.path.parent.chmod(0o755)
    return told


def read_only_folder(its: Case, fresh: Fresh) -> str:
    """Take the right to make files in the folder away, not that to write the ledger."""
    its.path.chmod(0o666)
    told = _as_nobody(lambda: _only_read(its))
    its.path.chmod(0o644)
    return told


def unreadable(its: Case, fresh: Fresh) -> str:
    """Take the right to read away."""
    its.path.chmod(0o000)
    told = _as_nobody(lambda: expect_refusal(lambda: open_ledger(its.url), "cannot be opened: "))
    its.path.chmod(0o644)
    return told


def _only_read(its: Case) -> str:
    """Insist that all can be read, and nothing written."""
    its.ledger = open_ledger(its.url)
    its.check_unchanged()
    expect_whole(its, *its.handed)
    return expect_refusal(lambda: its.ledger.reserve("people", "new", ASKED, PRICE), "read-only")


def _as_nobody(act: Callable[[], str]) -> str:
    """Do something in a process that is not root's, and return what it returns."""
    user_name()  # imports what nobody may not
    receive, send = os.pipe()
    if not (pid := os.fork()):
        code = 1
        try:
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            os.write(send, json.dumps(["told", act()]).encode())
            code = 0
        except BaseException as error:  # noqa: BLE001 - handed on
            os.write(send, json.dumps(["failed", f"{type(error).__name__}: {error}"]).encode())
        finally:
            os._exit(code)
    os.close(send)
    with os.fdopen(receive, "rb") as pipe:
        found = pipe.read()
    os.waitpid(pid, 0)
    kind, words = json.loads(found)
    insist(kind == "told", words)
    return str(words)
