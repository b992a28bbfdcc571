"""Second moments, with continuous columns among the others: the rounds of `marginals`, in bins that it chooses."""

from __future__ import annotations

from fractions import Fraction

from discreet.domain import Domain
from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.errors import SettingError
from discreet.methods import marginals
from discreet.methods.method import Method
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Budget
from discreet.release.selection import SETTLING, noise_of, select_first
from discreet.release.settings import Moments

NOISE_AT: dict[int, float] = {8: 0.006, 6: 0.02, 4: 0.06}
"""So many bins are worth it if the noise of the first release, in correlation, is at most this; else ``FEWEST``."""

FEWEST = 3


def bins_for(
    domain: Domain, currency: Currency, limit: Fraction, rounds: int, knowledge: Knowledge = NOTHING_KNOWN
) -> int:
    """Return how many bins continuous columns should have for a budget: the finer, the more noise."""
    first = limit * (1 - SETTLING) / rounds
    for bins, bearable in NOISE_AT.items():
        try:
            noise = noise_of(domain.with_bins(bins).widest(), knowledge, currency, first)
        except SettingError:  # too fine to be counted
            continue
        if noise <= bearable:
            return bins
    return FEWEST


def _encode(settings: Moments, domain: Domain, budget: Budget, knowledge: Knowledge) -> Domain:
    """Put continuous columns into bins, as many as were asked for or as the noise bears."""
    bins = settings.bins or bins_for(domain, budget.currency, budget.limit, settings.rounds, knowledge)
    domain = domain.with_bins(bins)
    select_first(domain.widest(), knowledge, budget.currency)
    return domain


def _any_domain(_domain: Domain) -> None:
    """Take every domain."""


METHOD = Method(Moments, marginals.run, check=_any_domain, encode=_encode)
