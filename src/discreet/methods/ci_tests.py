"""Tests of conditional independence that methods may ask a room, one after the other: a statistic and its threshold.

No rows come here. The registry is ``CI_TESTS``; how to add a test: CONTRIBUTING.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from scipy.special import chdtri, gammaln, ndtri

from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.statistics.dependence import Dependence
from discreet.statistics.information import ConditionalInformation, ConditionalTotalVariation
from discreet.statistics.margins import Margin
from discreet.statistics.ranks import StratifiedKendallDet, StratifiedSpearman

MAX_CELLS = 1 << 20
"""Cells of the largest table that is counted for one question."""

Spread = Callable[[tuple[float, ...]], float]
"""How far a column varies, from the shares of its levels."""


@dataclass(frozen=True)
class Null:
    """Two columns that are independent given others: what chance alone does to them.

    Parameters
    ----------
    alpha
        The level: how often chance may exceed the threshold.
    rows, strata
        Rows, and combinations of levels of what is given.
    x, y
        Shares of the levels of both columns.
    given
        Whether anything is given.
    """

    alpha: float
    rows: int
    strata: int
    x: tuple[float, ...]
    y: tuple[float, ...]
    given: bool

    @property
    def freedom(self) -> int:
        """Degrees of freedom."""
        return (len(self.x) - 1) * (len(self.y) - 1) * self.strata

    def spread(self, of: Spread) -> float:
        """Return a bound on how far chance moves a pair, from how far each of its columns varies.

        With nothing given it is the product. Within strata a column varies less on average, and the other at most as
        if its levels were even.
        """
        x, y = of(self.x), of(self.y)
        if not self.given:
            return x * y
        return min(x * of(_even(len(self.y))), of(_even(len(self.x))) * y)


@dataclass(frozen=True)
class CiTest:
    """A test of conditional independence.

    Parameters
    ----------
    statistic
        What is asked of the rows, with its sensitivity and proof: the larger, the more dependent.
    threshold
        The value that chance exceeds with probability alpha if the columns are independent, without noise.
    needs_shares
        Whether the threshold depends on the shares of levels, which cost a small part of the budget.
    """

    statistic: type[Dependence]
    threshold: Callable[[Null], float]
    needs_shares: bool = True


def _information_threshold(null: Null) -> float:
    """Half the likelihood ratio over the rows, whose law is about the chi-square's."""
    return chi2_quantile(null.freedom, null.alpha) / (2 * null.rows)


def _total_variation_threshold(null: Null) -> float:
    """The root of the chi-square's quantile, scaled to the spread that chance gives at most; strata add up as roots."""
    mean = _mean_root(null.freedom)
    least = min(mean, math.sqrt(2 / math.pi) * math.sqrt(null.strata) * null.spread(_indicator_deviations))
    return math.sqrt(chi2_quantile(null.freedom, null.alpha) / null.rows) / 2 * least / mean


def _rank_threshold(null: Null) -> float:
    """The normal law's quantile, times the deviation of ranks with ties."""
    return normal_quantile(null.alpha) * math.sqrt(null.spread(_rank_variance))


CI_TESTS: dict[str, CiTest] = {
    "total-variation": CiTest(ConditionalTotalVariation, _total_variation_threshold),
    "kendall": CiTest(StratifiedKendallDet, _rank_threshold),
    "spearman": CiTest(StratifiedSpearman, _rank_threshold),
    "information": CiTest(ConditionalInformation, _information_threshold, needs_shares=False),
}
"""Tests by name. Whatever stands here can be asked for, and is audited with every method that asks."""


@dataclass(frozen=True)
class IndependenceTest:
    """When two columns count as independent: a test, and the level that its threshold has without noise.

    Parameters
    ----------
    name
        The test's name: ``"total-variation"`` sees any dependence; ``"kendall"`` and ``"spearman"`` see what rises or
        falls together; ``"information"`` is the G-test's.
    alpha
        Share of independent pairs that would be called dependent if there were no noise.
    shares
        How often each level of each column occurs, about, from a release; they tell how far chance moves a pair. Where
        there are none, chance is taken to move it as far as it can.
    """

    name: str
    alpha: float
    shares: Mapping[str, tuple[float, ...]] | None = None

    def __post_init__(self) -> None:
        if self.name not in CI_TESTS:
            raise SettingError(f"test: one of {', '.join(CI_TESTS)}")
        if not 0 < self.alpha < 1:
            raise SettingError("alpha: a number between 0 and 1")

    def statistic(self, x: str, y: str, given: frozenset[str]) -> Dependence:
        """Return the statistic of a question; the order of the two columns does not count."""
        a, b = sorted((x, y))
        return CI_TESTS[self.name].statistic(a, b, tuple(sorted(given)))

    def threshold(self, statistic: Dependence, domain: Domain) -> int:
        """Return the largest value, in steps, at which a pair counts as independent."""
        unit, levels = statistic.unit(domain), (domain.size(statistic.x), domain.size(statistic.y))
        if not unit or 1 in levels:
            return 0
        x, y = map(_even, levels)
        if self.shares is not None:
            x, y = self.shares[statistic.x], self.shares[statistic.y]
        strata = math.prod(domain.shape(statistic.given))
        null = Null(self.alpha, domain.rows, strata, x, y, bool(statistic.given))
        return math.floor(CI_TESTS[self.name].threshold(null) / unit)

    def countable(self, x: str, y: str, given: Iterable[str], domain: Domain) -> bool:
        """Whether the table that a question takes is small enough to be counted."""
        return math.prod(domain.shape((x, y, *sorted(given)))) <= MAX_CELLS

    def margin(self, x: str, y: str, sets: Iterable[frozenset[str]], domain: Domain, slack: int = 0) -> Margin:
        """Return how far a pair stays clear of independence whatever of some sets is given.

        ``slack`` raises all thresholds, in steps, to leave room for noise.
        """
        statistics = tuple(self.statistic(x, y, given) for given in sets)
        return Margin(statistics, tuple(self.threshold(s, domain) + slack for s in statistics))


@lru_cache(maxsize=4096)
def _even(levels: int) -> tuple[float, ...]:
    return (1 / levels,) * levels


@lru_cache(maxsize=4096)
def _indicator_deviations(shares: tuple[float, ...]) -> float:
    """Return the sum of the standard deviations of all levels' indicators."""
    return math.fsum(math.sqrt(p * (1 - p)) for p in shares)


@lru_cache(maxsize=4096)
def _rank_variance(shares: tuple[float, ...]) -> float:
    """Return the variance of ranks, as a share of what it is without ties."""
    return 1 - math.fsum(p**3 for p in shares)


@lru_cache(maxsize=4096)
def chi2_quantile(freedom: int, alpha: float) -> float:
    """Return what a chi-square variable exceeds with a probability."""
    return float(chdtri(freedom, alpha))


@lru_cache(maxsize=4096)
def _mean_root(freedom: int) -> float:
    """Return the mean of the root of a chi-square variable."""
    return math.sqrt(2) * math.exp(gammaln((freedom + 1) / 2) - gammaln(freedom / 2))


@lru_cache(maxsize=4096)
def normal_quantile(alpha: float) -> float:
    """Return what the size of a standard normal variable exceeds with a probability."""
    return -float(ndtri(alpha / 2))
