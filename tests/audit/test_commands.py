"""Whole commands under replay: whatever they print, write or keep that depends on rows is found."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from discreet.audit.commands import audit_command
from discreet.audit.neighbours import random_pairs
from discreet.audit.subjects import COMMANDS, frame_of
from discreet.cli import output
from discreet.data import load
from discreet.errors import LedgerError
from discreet.ledger import account
from discreet.ledger.prices import NOTHING, Price
from discreet.methods import session
from discreet.privacy.statement import Stamp

BY_METHOD = {command.method: command for command in COMMANDS}
DISCOVER, DIRECTION = COMMANDS[0], BY_METHOD["direction"]


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
        session.tell(print, f"{int(table.counts([(next(iter(domain)),)])[0][0])} rows")
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
    assert found(COMMANDS[2]).violated


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
