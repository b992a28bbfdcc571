"""From the fine grid to released bins: where each code goes, by public edges alone."""

from __future__ import annotations

import numpy as np

from discreet.arrays import IntArray
from discreet.domain import STEPS, Domain, Numeric
from discreet.tables import Recodable


def coarsened(table: Recodable, fine: Domain, settled: Domain) -> Recodable:
    """Return the rows of a table encoded by ``fine`` as ``settled`` encodes them.

    Each row's new code is a function of its own old code and of public edges, so what is proved of tables encoded row
    by row still holds.
    """
    places = {name: places_of(fine, settled, name) for name in fine.unsettled if name not in settled.unsettled}
    return table.recoded(places, {name: settled.size(name) for name in settled})


def places_of(fine: Domain, settled: Domain, name: str) -> IntArray:
    """Return the new code of every old code of a column: the bin of each step, then the extra levels in their order."""
    before, after = fine[name], settled[name]
    if not isinstance(before, Numeric) or not isinstance(after, Numeric):
        raise TypeError("only numeric columns have steps")
    inner = np.array(after.edges[1:-1])
    steps = np.searchsorted(inner, np.array(before.edges[:-1]), side="right")
    extra = len(inner) + 1 + np.arange(before.size - STEPS)
    return np.concatenate([steps, extra]).astype(np.int64)
