"""When two columns count as independent, for methods that ask: a statistic and its threshold. No rows come here."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from scipy.special import chdtri, gammaln, ndtri

from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.methods import TestName
from discreet.statistics.dependence import Dependence
from discreet.statistics.information import ConditionalInformation, ConditionalTotalVariation
from discreet.statistics.margins import Margin
from discreet.statistics.ranks import StratifiedKendallDet, StratifiedSpearman

_STATISTICS: dict[str, type[Dependence]] = {
    "total-variation": ConditionalTotalVariation,
    "kendall": StratifiedKendallDet,
    "spearman": StratifiedSpearman,
    "information": ConditionalInformation,
}

MAX_CELLS = 1 << 20
"""Cells of the largest table that is counted for one question."""


@dataclass(frozen=True)
class Criterion:
    """When two columns count as independent: a statistic, and the level that its threshold has without noise.

    Parameters
    ----------
    name
        ``"total-variation"`` sees any dependence; ``"kendall"`` and ``"spearman"`` see what rises or falls together;
        ``"information"`` is the G-test's.
    alpha
        Share of independent pairs that would be called dependent if there were no noise.
    shares
        How often each level of each column occurs, about, from a release; they tell how far chance moves a pair. Where
        there are none, chance is taken to move it as far as it can.
    """

    name: TestName
    alpha: float
    shares: Mapping[str, tuple[float, ...]] | None = None

    def __post_init__(self) -> None:
        if self.name not in _STATISTICS:
            raise SettingError(f"test: one of {', '.join(_STATISTICS)}")
        if not 0 < self.alpha < 1:
            raise SettingError("alpha: a number between 0 and 1")

    def statistic(self, x: str, y: str, given: frozenset[str]) -> Dependence:
        """Return the statistic of a question; the order of the two columns does not count."""
        a, b = sorted((x, y))
        return _STATISTICS[self.name](a, b, tuple(sorted(given)))

    def threshold(self, statistic: Dependence, domain: Domain) -> int:
        """Return the largest value, in steps, at which a pair counts as independent.

        Information is half the likelihood ratio over the rows, whose law is about the chi-square's if nothing depends.
        Total variation and ranks are compared with the quantile of that law or of the normal one, times the spread
        that chance gives them at most.
        """
        unit = statistic.unit(domain)
        levels = domain.size(statistic.x), domain.size(statistic.y)
        if not unit or 1 in levels:
            return 0
        strata = math.prod(domain.shape(statistic.given))
        freedom = (levels[0] - 1) * (levels[1] - 1) * strata
        if self.name == "information":
            value = _quantile(freedom, self.alpha) / (2 * domain.rows)
        elif self.name == "total-variation":
            mean = _mean_root(freedom)
            least = min(mean, math.sqrt(2 / math.pi) * self._spread(statistic, levels, _roots, strata))
            value = math.sqrt(_quantile(freedom, self.alpha) / domain.rows) / 2 * least / mean
        else:
            value = _two_sided(self.alpha) * math.sqrt(self._spread(statistic, levels, _ties, 1))
        return math.floor(value / unit)

    def _spread(self, statistic: Dependence, levels: tuple[int, int], of: Spread, strata: int) -> float:
        """Return a bound on how far chance moves a pair, from how far each of its columns varies.

        With nothing given it is the product. Within strata a column varies less on average, and the other at most as
        if its levels were even; chance in many strata adds up to the root of their number.
        """
        even = [of((1 / k,) * k) for k in levels]
        x, y = even
        if self.shares is not None:
            x, y = of(self.shares[statistic.x]), of(self.shares[statistic.y])
        return math.sqrt(strata) * min(x * even[1], even[0] * y) if statistic.given else x * y

    def countable(self, x: str, y: str, given: Iterable[str], domain: Domain) -> bool:
        """Whether the table that a question takes is small enough to be counted."""
        return math.prod(domain.shape((x, y, *sorted(given)))) <= MAX_CELLS

    def margin(self, x: str, y: str, sets: Iterable[frozenset[str]], domain: Domain, slack: int = 0) -> Margin:
        """Return how far a pair stays clear of independence whatever of some sets is given.

        ``slack`` raises all thresholds, in steps, to leave room for noise.
        """
        statistics = tuple(self.statistic(x, y, given) for given in sets)
        return Margin(statistics, tuple(self.threshold(s, domain) + slack for s in statistics))


Spread = Callable[[tuple[float, ...]], float]


@lru_cache(maxsize=4096)
def _roots(shares: tuple[float, ...]) -> float:
    """Return the sum of the standard deviations of all levels' indicators."""
    return math.fsum(math.sqrt(p * (1 - p)) for p in shares)


@lru_cache(maxsize=4096)
def _ties(shares: tuple[float, ...]) -> float:
    """Return the variance of ranks, as a share of what it is without ties."""
    return 1 - math.fsum(p**3 for p in shares)


@lru_cache(maxsize=4096)
def _quantile(freedom: int, alpha: float) -> float:
    return float(chdtri(freedom, alpha))


@lru_cache(maxsize=4096)
def _mean_root(freedom: int) -> float:
    """Return the mean of the root of a chi-square variable."""
    return math.sqrt(2) * math.exp(gammaln((freedom + 1) / 2) - gammaln(freedom / 2))


@lru_cache(maxsize=4096)
def _two_sided(alpha: float) -> float:
    return -float(ndtri(alpha / 2))
