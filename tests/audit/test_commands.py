"""Whole commands under replay: whatever they print, write or keep that depends on rows is found."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path

import click
import numpy as np
import pytest

from discreet.audit.commands import audit_command
from discreet.audit.neighbours import random_pairs
from discreet.audit.subjects import COMMANDS, frame_of
from discreet.cli import options, output
from discreet.data import load
from discreet.errors import LedgerError, MisfitError
from discreet.ledger import account
from discreet.ledger.prices import NOTHING, Price
from discreet.methods import session
from discreet.privacy.statement import Privacy, Stamp
from discreet.room import Room

BY_METHOD = {command.method: command for command in COMMANDS}
DISCOVER, DIRECTION = COMMANDS[0], BY_METHOD["direction"]
SECRET = next(command for command in COMMANDS if "secret" in command.name)


def found(command, number=2):
    return audit_command(command, islice(random_pairs(command.domain, np.random.default_rng(0)), number), frame_of)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_commands_keep_their_promises(command):
    result = found(command)
    assert not result.violated, result.evidence


def test_progress_that_counts_rows_is_found(monkeypatch):
    real = load._hold

    def hold(source, domain):
        table = real(source, domain)
        session.tell(sys.stderr.write, f"{int(table.counts([(next(iter(domain)),)])[0][0])} rows")
        return table

    monkeypatch.setattr(load, "_hold", hold)
    assert "words on the screen" in found(DIRECTION).evidence


def test_a_run_that_is_not_reserved_is_found(monkeypatch):
    monkeypatch.setattr(account.Run, "_reserve", lambda self, budget: self._book(NOTHING))
    assert "ledger" in found(DISCOVER).evidence


def test_a_price_that_forgets_people_is_found(monkeypatch):
    real = Price.of_budget
    monkeypatch.setattr(
        Price,
        "of_budget",
        classmethod(lambda cls, budget: real(budget).plus(NOTHING) if budget.group == 1 else NOTHING),
    )
    assert found(next(command for command in COMMANDS if "of people" in command.name)).violated


def test_a_purpose_made_of_rows_is_found_in_the_ledger(monkeypatch):
    real = account.Run.note_rows

    def note(self, raw):
        real(self, raw)
        self._account.purpose = str(sum(raw))

    monkeypatch.setattr(account.Run, "note_rows", note)
    assert found(DISCOVER).violated


def test_a_file_beside_the_release_is_looked_into(monkeypatch):
    real, seen = output.show, []

    def show(result, out, as_json):
        real(result, out, as_json)
        if out is not None:
            (out / "cells.txt").write_text(str(seen[-1]))

    hold = load._hold

    def held(source, domain):
        table = hold(source, domain)
        seen.append(table.counts([tuple(domain)])[0].tolist())
        return table

    monkeypatch.setattr(load, "_hold", held)
    monkeypatch.setattr("discreet.cli.discover.show", show)
    assert "another result" in found(DISCOVER).evidence


def test_a_run_that_is_reserved_at_its_end_is_found(monkeypatch):
    real = account.Run.commit

    def commit(self, body, budget):
        self._book(Price.of_budget(budget))
        return real(self, body, budget)

    monkeypatch.setattr(account.Run, "_reserve", lambda self, budget: None)
    monkeypatch.setattr(account.Run, "commit", commit)
    assert "before it is reserved" in found(DISCOVER).evidence


def test_a_run_that_goes_on_without_its_ledger_is_found(monkeypatch):
    real = account.Run.budget

    def unrecorded(self, make):
        try:
            return real(self, make)
        except LedgerError:
            self.commit = lambda body, budget: nowhere
            return make(None, None)

    nowhere = Stamp("none", 0, "none")
    monkeypatch.setattr(account.Run, "budget", unrecorded)
    assert "although the ledger fails" in found(DIRECTION).evidence


def test_columns_that_are_left_out_where_they_do_not_fit_are_found(monkeypatch):
    real = session.load

    def lenient(data, domain, **settings):
        try:
            return real(data, domain, **settings)
        except MisfitError:
            return real(data, domain.select(list(domain)[1:]), **settings)

    monkeypatch.setattr(session, "load", lenient)
    monkeypatch.setattr(
        session, "Room", lambda table, domain, budget: Room(table, domain.select(list(table._sizes)), budget)
    )
    assert "foreign value" in found(DISCOVER).evidence


def test_words_for_the_custodian_in_the_result_are_found(monkeypatch):
    told = []
    monkeypatch.setattr(session, "_warn_custodian", told.append)
    monkeypatch.setattr("discreet.cli.discover.show", lambda *given: (output.show(*given), click.echo(str(told))))
    assert "how many rows" in found(SECRET).evidence


def test_what_is_left_lying_about_is_found(monkeypatch):
    real = load._hold

    def hold(source, domain):
        table = real(source, domain)
        Path("cache.txt").write_text(str(table.counts([tuple(domain)])[0].tolist()))
        return table

    monkeypatch.setattr(load, "_hold", hold)
    assert "another result" in found(DIRECTION).evidence


def test_a_release_that_promises_more_than_was_kept_is_found(monkeypatch):
    real = Privacy.of.__func__
    monkeypatch.setattr(
        Privacy, "of", classmethod(lambda cls, *given, **named: replace(real(cls, *given, **named), epsilon=1.0))
    )
    assert "another epsilon" in found(DISCOVER).evidence


def test_a_run_that_is_broken_off_and_given_back_is_found(monkeypatch):
    real = account.Run._book

    def book(self, price):
        self.reserved = lambda: real(self, price)

    def commit(self, body, budget):
        self.reserved()
        return done(self, body, budget)

    done = account.Run.commit
    monkeypatch.setattr(account.Run, "_book", book)
    monkeypatch.setattr(account.Run, "commit", commit)
    assert found(DIRECTION).violated


def test_rows_that_a_ledger_would_not_know_again_are_found(monkeypatch):
    monkeypatch.setattr(load, "_show", lambda *_: None)
    assert "know these rows again" in found(DISCOVER).evidence


def test_a_name_that_changes_with_the_day_is_found(monkeypatch):
    real = options.source_name
    monkeypatch.setattr(options, "source_name", lambda data: f"{real(data)} {Path(data).stat().st_mtime:g}")
    assert found(next(command for command in COMMANDS if command.dataset == "data.csv")).violated
