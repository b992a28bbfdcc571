"""When two columns count as independent, for methods that ask: a statistic and its threshold. No rows come here."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

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
        if not unit:
            return 0
        strata = math.prod(domain.shape(statistic.given))
        freedom = (domain.size(statistic.x) - 1) * (domain.size(statistic.y) - 1) * strata
        if not freedom:
            return 0
        quantile = float(chdtri(freedom, self.alpha))
        if self.name == "information":
            value = quantile / (2 * domain.rows)
        elif self.name == "total-variation":
            mean = math.sqrt(2) * math.exp(gammaln((freedom + 1) / 2) - gammaln(freedom / 2))
            least = min(mean, math.sqrt(2 / math.pi) * self._spread(statistic, domain, _roots, strata))
            value = math.sqrt(quantile / domain.rows) / 2 * least / mean
        else:
            value = -float(ndtri(self.alpha / 2)) * math.sqrt(self._spread(statistic, domain, _ties, 1))
        return math.floor(value / unit)

    def _spread(self, statistic: Dependence, domain: Domain, of: Spread, strata: int) -> float:
        """Return a bound on how far chance moves a pair, from how far each of its columns varies.

        With nothing given it is the product. Within strata a column varies less on average, and the other at most as
        if its levels were even; chance in many strata adds up to the root of their number.
        """
        x, y = (of(self._of(c, domain)) for c in (statistic.x, statistic.y))
        if not statistic.given:
            return x * y
        even = [of(_even(domain.size(c))) for c in (statistic.x, statistic.y)]
        return math.sqrt(strata) * min(x * even[1], even[0] * y)

    def _of(self, column: str, domain: Domain) -> Sequence[float]:
        return _even(domain.size(column)) if self.shares is None else self.shares[column]

    def countable(self, x: str, y: str, given: Iterable[str], domain: Domain) -> bool:
        """Whether the table that a question takes is small enough to be counted."""
        return math.prod(domain.shape((x, y, *sorted(given)))) <= MAX_CELLS

    def margin(self, x: str, y: str, sets: Iterable[frozenset[str]], domain: Domain, slack: int = 0) -> Margin:
        """Return how far a pair stays clear of independence whatever of some sets is given.

        ``slack`` raises all thresholds, in steps, to leave room for noise.
        """
        statistics = tuple(self.statistic(x, y, given) for given in sets)
        return Margin(statistics, tuple(self.threshold(s, domain) + slack for s in statistics))


Spread = Callable[[Sequence[float]], float]


def _even(levels: int) -> list[float]:
    return [1 / levels] * levels


def _roots(shares: Sequence[float]) -> float:
    """Return the sum of the standard deviations of all levels' indicators."""
    return math.fsum(math.sqrt(p * (1 - p)) for p in shares)


def _ties(shares: Sequence[float]) -> float:
    """Return the variance of ranks, as a share of what it is without ties."""
    return 1 - math.fsum(p**3 for p in shares)
