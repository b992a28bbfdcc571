"""Edges that a graph leaves without a direction, asked about once more: by the shape of both columns."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from discreet.domain import Domain, Numeric
from discreet.errors import SettingError
from discreet.methods.direction import SURE
from discreet.methods.pair_tables import measure_pairs
from discreet.privacy.statement import Privacy
from discreet.progress import MEASURE, Progress, tell
from discreet.release.direction import read_pairs
from discreet.release.discovery import Discovery
from discreet.release.pair_table import has_shape
from discreet.release.settings import Marginals, Settings
from discreet.room import Room
from discreet.statistics.curves import ordered_levels

DIRECT_SHARE = Fraction(1, 5)
"""Share of the budget that is kept for this."""


def check_direct(settings: Settings) -> None:
    """Refuse a method whose release does not say in what bins columns are."""
    if not isinstance(settings, Marginals):
        raise SettingError(f"direct-pairs: goes with marginals and moments, not with `{settings.name}`")


def direct_edges(room: Room, found: Discovery, *, progress: Progress | None = None) -> Discovery:
    """Return a discovery with what tables of its open edges say, for all that is left of the room's budget."""
    open_edges = sorted(tuple(sorted(pair)) for pair in found.drawn.undirected)
    pairs = [(a, b) for a, b in open_edges if all(_has_shape(room.domain, name) for name in (a, b))]
    if not pairs:
        return replace(found, directions=())
    tell(progress, f"measuring {len(pairs)} pairs without a direction", MEASURE.at())
    columns = found.domain.columns
    edges = {name: c.edges for name, c in columns.items() if isinstance(c, Numeric)}
    directions = read_pairs(pairs, measure_pairs(room, pairs, room.budget.left, edges), SURE)
    privacy = Privacy.of(room.budget, found.domain, private=room.private)
    return replace(found, directions=tuple(directions), privacy=privacy)


def _has_shape(domain: Domain, name: str) -> bool:
    """Whether a column has an order and enough levels, or will have."""
    try:
        levels = ordered_levels(name, domain[name])
    except SettingError:
        return False
    return name in domain.unsettled or has_shape(levels)
