"""Releases of tables that a test makes up, with predictable noise."""

from __future__ import annotations

import discreet as dc
from discreet.testing import SeededNoise


def release_of(table, columns, *, epsilon=3.0, delta=1e-6, seed=0, knowledge=dc.Knowledge(), settings=None):  # noqa: B008
    """Measure and search a table of labels."""
    domain = dc.Domain(columns, rows=len(next(iter(table.values()))))
    budget = dc.Budget(epsilon=epsilon, delta=delta)
    room = dc.Room(dc.load(table, domain), domain, budget, noise=SeededNoise(seed))
    return dc.discover_in(room, settings or dc.Marginals(), knowledge=knowledge)
