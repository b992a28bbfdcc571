"""Quantile bins: private quantiles become the public edges of bins, before anything else is asked."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import SettingError
from discreet.privacy.mechanisms.exponential import selection_for
from discreet.progress import MEASURE, Progress, tell
from discreet.release.release import Release
from discreet.release.selection import SETTLING
from discreet.room import Room
from discreet.statistics.quantiles import Quantiles, waiting_for


def settle(
    room: Room, share: Fraction = SETTLING, *, progress: Progress | None = None
) -> tuple[Room, tuple[Release[Quantiles], ...]]:
    """Buy the quantiles that a room's domain waits for; return the room with settled bins, and what was released.

    A domain that waits for nothing costs nothing, and its room is returned as it is.
    """
    edges, releases = choose_edges(room, share, progress=progress)
    return (room.settle(edges) if releases else room), releases


def choose_edges(
    room: Room, share: Fraction = SETTLING, *, progress: Progress | None = None
) -> tuple[dict[str, tuple[float, ...]], tuple[Release[Quantiles], ...]]:
    """Buy the quantiles that a room's domain waits for, each for the same; return the edges of its bins too."""
    if not 0 < share < 1:
        raise SettingError("share: above 0 and below 1")
    asked = waiting_for(room.domain)
    if not asked:
        return {}, ()
    each = room.budget.left * share / sum(statistic.choices for statistic in asked)
    mechanisms = [
        selection_for(room.budget.currency, each * s.choices, s.sensitivity(room.domain), s.choices) for s in asked
    ]
    releases = []
    for statistic, mechanism in zip(asked, mechanisms, strict=True):
        tell(progress, f"choosing {statistic.name}", MEASURE.at())
        releases.append(room.release(statistic, mechanism))
    edges = {name: e for r in releases for name, e in r.statistic.edges(r.values, room.domain).items()}
    return edges, tuple(releases)
