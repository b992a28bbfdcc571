"""Bounds are stated twice: a statistic that declares less than its proof is found."""

from __future__ import annotations

import pytest

from discreet.audit.bounds import DEPENDENCE, DIFFERENCES, bounds, refusals
from discreet.audit.subjects import STATISTICS
from discreet.statistics import pairwise_hsic
from discreet.statistics.curves import Scaled
from discreet.statistics.interactions import Interactions
from discreet.statistics.quantiles import Quantiles


def fault():
    return next(filter(None, bounds()), "")


def test_nothing_declares_less_than_its_proof():
    assert not fault()


@pytest.mark.parametrize("kind", [*DEPENDENCE, *DIFFERENCES], ids=lambda kind: kind.__name__)
def test_a_bound_that_is_a_little_too_small_is_found(monkeypatch, kind):
    real = kind._change
    monkeypatch.setattr(kind, "_change", lambda self, size: real(self, size) * (1 - 1e-10))
    assert kind.__name__ in fault()


def test_less_for_rounding_is_found(monkeypatch):
    monkeypatch.setattr(pairwise_hsic, "ROOT_ERROR", pairwise_hsic.ROOT_ERROR / 2)
    assert "MeanLengths" in fault()


def test_every_statistic_has_its_bound_here_or_is_reached_by_tables():
    """Of those that are not here, all that is declared is reached by a table that audits try."""
    from discreet.audit import bounds as here

    missing = {kind.__name__ for kind in STATISTICS if kind.__name__ not in vars(here)}
    assert missing == {Interactions.__name__, Quantiles.__name__, "StratifiedKendall", "SeparationHSIC"}


def test_domains_that_no_proof_is_about_are_refused(monkeypatch):
    assert not any(refusals())
    monkeypatch.setattr(Scaled, "whole", lambda self, domain: True)
    assert any("takes a domain" in wrong for wrong in refusals())
