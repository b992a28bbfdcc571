"""A ledger under kills, many writers, and faults of disks and people: small runs of `benchmarks/ledger.py`."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from discreet.errors import LedgerError
from discreet.ledger.ledger import open_ledger
from discreet.ledger.prices import Limit, Price
from discreet.ledger.records import Asked
from discreet.ledger.stores import sqlite
from discreet.ledger.stores.sqlite import Turn, line_at
from discreet.ledger.verify import verify_ledger
from support.silent import silent

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "ledger.py"
ASKED = Asked("discover", "marginals", 1.0, 1e-6, "0" * 64)
PRICE = Price(1, 1, 1)

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")


def run(*words: str) -> str:
    """Run the benchmark in a process of its own, since it forks."""
    command = [sys.executable, BENCHMARK, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)  # noqa: S603
    assert not done.returncode, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


@forks
def test_kills_at_every_point():
    assert "26 kills" in run("kills", "26")


@pytest.mark.slow
@forks
def test_kills_at_every_point_on_a_server():
    assert "26 kills" in run("kills", "26", "--postgresql")


@forks
def test_writers_keep_to_the_limit():
    lines = run("writers", "4", "--reservations", "40").splitlines()
    assert [line.split()[:3] for line in lines if "4" in line.split()[1:2]] == [
        ["SQLite", "4", "40"],
        ["PostgreSQL", "4", "40"],
    ]


@pytest.mark.slow
@forks
def test_writers_in_other_journals_and_out_of_line():
    assert "without line" in run("writers", "4", "--on", "sqlite", "--reservations", "40", "--journals")


@forks
def test_faults_of_files():
    assert "0 violations" in run("faults", "--on", "sqlite", "--flips", "12")


@pytest.mark.slow
@forks
def test_faults_of_servers_and_more_of_files():
    assert "0 violations" in run("faults", "--flips", "100")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "ledger.db"
    ledger = open_ledger(path)
    ledger.declare("people", Limit(5.0, 1e-6))
    for i in range(3):
        ledger.reserve("people", f"request-{i}", ASKED, PRICE)
    return path


def test_a_journal_that_a_dead_process_left_is_rolled_back(path):
    """Taken in the middle of a transaction that has written to the file already, both files are what a kill leaves."""
    left = path.with_name("left.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA cache_size = 1")
        writer.execute("BEGIN IMMEDIATE")
        for i in range(50):
            writer.execute("INSERT INTO discreet_releases VALUES (?, ?)", (f"never-{i}", "x" * 5000))
        for name in ("ledger.db", "ledger.db-journal"):
            shutil.copy(path.with_name(name), path.with_name(name.replace("ledger", "left")))
    assert path.with_name("left.db-journal").stat().st_size > 5000
    ledger = open_ledger(left)
    assert ledger.standing("people").runs == 3
    assert not ledger.read_all().releases
    assert not verify_ledger(ledger).problems


def test_an_index_that_hides_an_entry_is_not_believed(path):
    with closing(sqlite3.connect(path)) as file:
        found = file.execute("SELECT rootpage FROM sqlite_master WHERE name = 'discreet_by_dataset'").fetchone()
    page, whole = 4096 * (found[0] - 1), path.read_bytes()
    index = whole[page : page + 4096]
    assert index.count(b"people") == 4
    path.write_bytes(whole[:page] + index.replace(b"people", b"nobody") + whole[page + 4096 :])
    ledger = open_ledger(path)
    with pytest.raises(LedgerError, match="is damaged"):
        ledger.reserve("people", "new", ASKED, PRICE)
    with pytest.raises(LedgerError, match="lost or another one"):
        ledger.standing("nobody")
    assert "the file is damaged" in verify_ledger(ledger).problems[0]


@pytest.mark.parametrize(("words", "lose"), [("is empty, and was not before", "empty"), ("is gone", "delete")])
def test_a_ledger_that_was_lost_is_not_taken_for_a_new_one(path, words, lose):
    ledger = open_ledger(path)
    path.write_bytes(b"") if lose == "empty" else path.unlink()
    tries = (
        lambda: open_ledger(path),
        lambda: open_ledger(path, begin=False).book(),
        lambda: verify_ledger(open_ledger(path, begin=False)),
        lambda: ledger.reserve("people", "new", ASKED, PRICE),
        lambda: ledger.standing("people"),
    )
    for attempt in tries:
        with pytest.raises(LedgerError, match=f"{words}.*what was spent.*ledger.db.lock"):
            attempt()
    assert path.exists() == (lose == "empty")
    path.unlink(missing_ok=True)
    line_at(path).unlink()
    assert open_ledger(path).fresh


def test_a_beginning_that_was_killed_is_begun_again(tmp_path):
    path = tmp_path / "ledger.db"
    path.touch()  # what is left of it
    with pytest.raises(LedgerError, match="there is no ledger"):
        open_ledger(path, begin=False).book()
    assert not line_at(path).exists()
    assert open_ledger(path).fresh


def test_a_server_that_accepts_and_says_nothing_is_cut_off():
    with silent() as mute, pytest.raises(LedgerError, match="cannot be reached"):
        open_ledger(f"postgresql://postgres@127.0.0.1:{mute.port}/postgres?connect_timeout=2")


@pytest.mark.parametrize("words", [b"discreet_entries", b"COMMIT"])
def test_a_server_that_falls_silent_in_the_middle_is_cut_off(server, monkeypatch, words):
    uri, name = server.get_uri(), f"silent_{len(words)}"
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    behind = f"{psycopg.conninfo.conninfo_to_dict(uri)['host']}/.s.PGSQL.5432"
    ledger = open_ledger(uri.replace("/postgres?", f"/{name}?"))
    monkeypatch.setattr("discreet.ledger.stores.postgres.LONGEST", 1)
    with silent(behind, words) as mute:
        through = open_ledger(f"postgresql://postgres@127.0.0.1:{mute.port}/{name}?connect_timeout=2", begin=False)
        with pytest.raises(LedgerError, match="the connection was lost"):
            through.reserve("people", "one", ASKED, PRICE)
        assert mute.silent.is_set()
    assert ledger.standing("people").runs == 0


def test_a_turn_ends_when_it_is_told_to(path):
    with Turn(path, 5) as first:
        first.end()
        with Turn(path, 5):
            assert line_at(path).stat().st_mode == path.stat().st_mode


def test_a_turn_that_takes_too_long_is_done_without(path):
    pytest.importorskip("fcntl")
    with Turn(path, 5):
        before = threading.active_count()
        with Turn(path, 0.05) as impatient:
            assert threading.active_count() == before + 1
        handle = impatient._handle
        assert handle is not None
    for thread in threading.enumerate():
        if thread.name.endswith("(_take)"):
            thread.join(5)
    assert impatient._handle is None
    with Turn(path, 0) as free:
        assert not free._waiting


@pytest.mark.parametrize("missing", ["fcntl", "file"])
def test_a_ledger_without_lines(path, monkeypatch, missing):
    line_at(path).unlink(missing_ok=True)
    if missing == "fcntl":
        monkeypatch.setattr(sqlite, "fcntl", None)
    else:
        line_at(path).symlink_to(path.with_name("no-such-folder") / "x")
    ledger = open_ledger(path)
    ledger.reserve("people", "new", ASKED, PRICE)
    assert ledger.standing("people").runs == 4
    assert not line_at(path).exists()
