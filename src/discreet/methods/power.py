"""Power: what a budget, rows and a domain can hardly show, said before anything is spent. Public facts only."""

from __future__ import annotations

import math
import warnings

from discreet.bisection import bisect, bracket
from discreet.domain import Domain
from discreet.errors import DoubtWarning
from discreet.privacy.accounting import Currency, limit_of
from discreet.privacy.mechanisms.additive import Additive, additive_for
from discreet.release.release import STANDS_OUT, STRONGEST, weakest_seen
from discreet.statistics.counts import Counts
from discreet.statistics.interactions import Interactions

HOPELESS, GOAL = 0.2, 0.05
"""Total variation of the weakest dependence seen: beyond the first there is a doubt; the second is worth having."""

MEANT = 10.0
"""Largest epsilon that passes without a doubt."""

ROWS_A_CELL = 5
LARGEST_EPSILON = 1_000.0


def doubts(
    domain: Domain,
    statistic: Counts | Interactions,
    epsilon: float,
    delta: float,
    currency: Currency,
    *,
    rounds: int = 1,
) -> list[str]:
    """Return a sentence for each reason to expect little, with what would be needed."""
    return [*_too_noisy(domain, statistic, epsilon, delta, currency, rounds), *_too_large(domain, statistic)]


def warn_of_weak(epsilon: float) -> None:
    """Warn of an epsilon that protects hardly anybody."""
    if epsilon > MEANT:
        warnings.warn(
            f"epsilon {epsilon:g} promises hardly anything: what is concluded about a row may become e^{epsilon:g} "
            "times as likely by it. `discreet explain` puts a promise into chances",
            DoubtWarning,
            stacklevel=3,
        )


def _too_noisy(
    domain: Domain, statistic: Counts | Interactions, epsilon: float, delta: float, currency: Currency, rounds: int
) -> list[str]:
    sensitivity = statistic.sensitivity(domain)

    def noise(budget: float) -> Additive:
        return additive_for(currency, limit_of(currency, budget, delta, domain.group) / rounds, sensitivity)

    variance = noise(epsilon).variance
    seen = weakest_seen(domain.rows, variance)
    if seen <= HOPELESS:
        return []

    def shows_enough(budget: float) -> bool:
        return weakest_seen(domain.rows, noise(budget).variance) <= GOAL

    around = bracket(shows_enough, epsilon, epsilon, most=LARGEST_EPSILON)
    enough = None if around is None else bisect(shows_enough, *around, steps=6, geometric=True)[1]
    half = (STANDS_OUT / GOAL) ** 2
    rows = math.ceil((half / 4 + math.sqrt(half**2 / 16 + 4 * half * variance)) / 2)
    needed = f"{rows:,} rows" + (f", or an epsilon of about {enough:.2g}" if enough is not None else "")
    what = (
        "nothing stands out of the noise, not even one column that copies another"
        if seen >= STRONGEST
        else f"only dependences of total variation {seen:.2f} or more stand out of the noise (a copy has {STRONGEST:g})"
    )
    return [f"with {domain.rows:,} rows and epsilon {epsilon:g} {what}; to see {GOAL:g} it takes {needed}"]


def drowning_words(rows: int, epsilon: float, deviation: float) -> str | None:
    """Return a doubt about a method that asks, from the noise of its answers in total variation of binary columns."""
    seen = STANDS_OUT * deviation
    if seen <= HOPELESS:
        return None
    what = (
        "nothing stands out of an answer's noise, not even one column that copies another"
        if seen >= STRONGEST
        else f"only dependences of total variation {seen:.2f} or more stand out of an answer's noise"
    )
    needed = math.ceil(rows * seen / GOAL)
    return f"with {rows:,} rows and epsilon {epsilon:g} {what}; to see {GOAL:g} it takes {needed:,} rows"


def _too_large(domain: Domain, statistic: Counts | Interactions) -> list[str]:
    pairs = [s for s in statistic.sets if len(s) == 2]
    large = [s for s in pairs if math.prod(domain.shape(s)) * ROWS_A_CELL > domain.rows]
    if not large:
        return []
    a, b = max(large, key=lambda s: math.prod(domain.shape(s)))
    more = f" and {len(large) - 1} other pairs" if len(large) > 1 else ""
    rows = ROWS_A_CELL * math.prod(domain.shape((a, b)))
    return [
        f"columns {a!r} and {b!r}{more} have more combinations of levels than {domain.rows:,} rows can fill: declare "
        f"fewer categories or bins, or bring {rows:,} rows"
    ]
