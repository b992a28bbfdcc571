"""Gates, exactly: what a gate costs is reached, and what is wrong with one is found."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet import room
from discreet.audit.gates import audit_gate
from discreet.audit.subjects import GATES, TWO
from discreet.privacy.budget import Cost
from discreet.privacy.mechanisms.sparse_vector import AboveThreshold
from discreet.room import Gate, Room

PLAIN, SAMPLED = AboveThreshold(3.0, 5.0), AboveThreshold(2.0, 3.0, sample=6, rows=12)


@pytest.mark.parametrize("gate", GATES[AboveThreshold], ids=lambda gate: gate.name)
def test_a_gate_costs_what_it_charges_to_the_last_digits(gate):
    found = audit_gate("gate", gate, TWO)
    assert not found.violated, found.evidence
    assert found.found == pytest.approx(found.claimed, rel=1e-9)


def cheaper(monkeypatch):
    real = AboveThreshold.cost

    def cost(self, sensitivity):
        return Cost({c: a * Fraction(999, 1000) for c, a in real(self, sensitivity).amounts.items()})

    monkeypatch.setattr(AboveThreshold, "cost", cost)


def one_draw_for_all(monkeypatch):
    monkeypatch.setattr(room._Ahead, "pop", lambda self, noise: int(self._mechanism.draw(noise, self._scale, 1)[0] * 0))


def never_popped(monkeypatch):
    def pop(self, noise):
        self._drawn = self._drawn or self._mechanism.draw(noise, self._scale, 8).tolist()
        return self._drawn[-1]

    monkeypatch.setattr(room._Ahead, "pop", pop)


def threshold_kept(monkeypatch):
    """The second gate of a room has the threshold of the first."""
    real = Gate.__init__

    def init(self, owner, *args):
        real(self, owner, *args)
        self._threshold = vars(owner).setdefault("_kept", self._threshold)

    monkeypatch.setattr(Gate, "__init__", init)


def strictly(monkeypatch):
    monkeypatch.setattr(
        Room,
        "_passes",
        lambda self, gate, statistic, threshold: bool(
            int(self._evaluated(statistic, gate._table)[0])
            + self._fresh(gate._mechanism, gate._mechanism.question_scale)
            > threshold + gate._threshold
        ),
    )


def never_closed(monkeypatch):
    monkeypatch.setattr(Gate, "open", property(lambda self: True))


@pytest.mark.parametrize("fault", [cheaper, one_draw_for_all, never_popped, threshold_kept, strictly, never_closed])
def test_what_is_wrong_with_a_gate_is_found(monkeypatch, fault):
    fault(monkeypatch)
    assert audit_gate("gate", PLAIN, TWO).violated


def test_rows_that_are_not_sampled_are_found(monkeypatch):
    monkeypatch.setattr(Room, "_chosen", lambda self, size: self._noise.subset(size, size))
    assert audit_gate("gate", SAMPLED, TWO).violated


def test_an_amplification_that_is_too_good_is_found(monkeypatch):
    from discreet.privacy.mechanisms import sparse_vector

    monkeypatch.setattr(sparse_vector, "amplified", lambda epsilon, share: epsilon * share)
    assert audit_gate("gate", SAMPLED, TWO).violated
