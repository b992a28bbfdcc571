"""How finely numbers are looked at: the number of bins, from public facts alone."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from fractions import Fraction

from discreet.columns import QUANTILES
from discreet.domain import Domain, Numeric
from discreet.errors import SettingError
from discreet.knowledge import NOTHING_KNOWN, Knowledge
from discreet.planning import SETTLING, noise_of
from discreet.privacy.accounting import Currency

NOISE_AT: dict[int, float] = {8: 0.006, 6: 0.02, 4: 0.06}
"""So many bins are worth it if the noise of the first release, in correlation, is at most this; else ``FEWEST``."""

FEWEST = 3


def in_bins(domain: Domain, bins: int, columns: Collection[str] | None = None) -> Domain:
    """Return the domain with that many bins, at quantiles to be released, for numeric columns that have none.

    All of them, or those among ``columns``.
    """
    without = {name: c for name, c in domain.columns.items() if isinstance(c, Numeric) and c.bins is None}
    chosen = without.keys() if columns is None else without.keys() & columns
    found = {name: replace(without[name], bins=bins, at=QUANTILES) for name in chosen}
    return replace(domain, columns={**domain.columns, **found})


def bins_of(domain: Domain) -> dict[str, int]:
    """Return the number of bins of every numeric column."""
    return {name: len(c.edges) - 1 for name, c in domain.columns.items() if isinstance(c, Numeric)}


def bins_for(
    domain: Domain, currency: Currency, limit: Fraction, rounds: int, knowledge: Knowledge = NOTHING_KNOWN
) -> int:
    """Return how many bins numeric columns should have for a budget: the finer, the more noise."""
    first = limit * (1 - SETTLING) / rounds
    for bins, bearable in NOISE_AT.items():
        try:
            noise = noise_of(in_bins(domain, bins).widest(), knowledge, currency, first)
        except SettingError:  # too fine to be counted
            continue
        if noise <= bearable:
            return bins
    return FEWEST
