"""What statistics declare against what is proved: the bounds of all proofs, written down once more.

Where a bound is not reached by any table that an audit tries, a wrong one would pass unseen. So each is stated here
apart from the code, as its proof has it, and compared at many sizes: what is declared may be more, and never less.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from discreet.audit.statistics import AverageTau, GStatistic, KendallA, SpearmanA
from discreet.domain import Categorical, Domain
from discreet.errors import SettingError
from discreet.statistics import Statistic
from discreet.statistics.clipped import Centre, ClippedInteractions, Frame
from discreet.statistics.counts import Counts
from discreet.statistics.curves import UNIT, BinnedSums, Curve, Scaled
from discreet.statistics.dependence import Dependence, Size
from discreet.statistics.direction import (
    HSIC,
    Difference,
    FeatureHSIC,
    KendallResiduals,
    RootHSIC,
    SpearmanResiduals,
    SquaredErrors,
)
from discreet.statistics.information import ConditionalInformation, ConditionalTotalVariation
from discreet.statistics.margins import Contrasts, HowMany, Margin, Margins, Separators
from discreet.statistics.pairwise_hsic import Kernels, MeanLengths, PairwiseHSIC
from discreet.statistics.permutation import Compared, PermutedHSIC
from discreet.statistics.quantiles import Quartiles
from discreet.statistics.ranks import StratifiedKendallDet, StratifiedSpearman
from discreet.statistics.residual_products import FINE, FitSums, ResidualProduct, powers_of

CLOSE = 1 - 1e-13
"""Floats that stand for the same number may differ by this share."""

ROUNDING = 1e-10
"""What a root of HSIC is granted for rounding on either table, if it is made of tables of steps."""


def _sums(n: int) -> float:
    """Return what sums over rows are granted for rounding."""
    return 13 * n / 2**53 + 2e-11


WAVES = 6e-11
"""What waves in place of the kernel are granted."""

SIZES = [
    Size(rows, x, y, strata)
    for rows, x, y, strata in product((2, 3, 4, 5, 17, 40, 101, 5000), (2, 3, 5), (2, 3, 4), (1, 2, 3, 8))
]
ROWS = (2, 3, 4, 5, 12, 50, 301, 10_000)


def _most(size: Size, within: float, across: float) -> float:
    return within if size.strata == 1 else max(within, across)


def _halves(size: Size, removed: Callable[[int], float]) -> float:
    """Return what taking a row out of one stratum and putting it into another may do: worst where both are halves."""
    return removed(-(-size.rows // 2)) + removed(size.rows // 2 + 1)


def _kendall_sum(size: Size) -> float:
    n, both = size.rows, max(size.x, size.y) <= 2

    def removed(m: int) -> float:
        return 4.5 * (m - 1) / (m + 2.5) if both else 2.25 * (m - 1) * (3 * m + 1) / ((m + 1.5) * (m + 2.5))

    return _most(size, (4.5 if both else 9) * (n - 1) / (n + 2.5), _halves(size, removed))


def _spearman(size: Size) -> float:
    n, both = size.rows, max(size.x, size.y) <= 2

    def removed(m: int) -> float:
        return max((3 * (m - 1) if both else 5 * m - 7) / (m + 1), 0.0)

    return _most(size, (3 if both else 6) * (n - 1) / (n + 1), _halves(size, removed)) / math.sqrt(n)


def _weight(m: int) -> float:
    """Return what a stratum of m rows weighs: the inverse of tau's variance if nothing depends."""
    return 4.5 * m * (m - 1) / (m + 2.5) / 2


def _information(size: Size) -> float:
    def gain(t: float) -> float:
        return t * math.log(t) - (t - 1) * math.log(t - 1) if t > 1 else 0.0

    n = size.rows
    alone = size.strata == 1 and min(size.x, size.y) <= 2
    return gain(n) / n if alone else 2 * gain((n + 1) / 2) / n


def _total_variation(size: Size) -> float:
    n = size.rows
    return _most(size, (2 if min(size.x, size.y) <= 2 else 3) * (n - 1) / n**2, 4 * (n - 1) / (n * (n + 1)))


def _binary(size: Size, few: float, many: float) -> float:
    return few if max(size.x, size.y) <= 2 else many


DEPENDENCE: dict[type[Dependence], Callable[[Size], float]] = {
    KendallA: lambda s: _binary(s, 2, 4) / s.rows,
    SpearmanA: lambda s: _binary(s, 3, 6) / (s.rows + 1),
    StratifiedKendallDet: lambda s: _kendall_sum(s) / (1.5 * math.sqrt(s.rows)),
    StratifiedSpearman: _spearman,
    AverageTau: lambda s: (_binary(s, 2, 4) if s.strata == 1 else _binary(s, 4, 6)) / s.rows,
    ConditionalTotalVariation: _total_variation,
    ConditionalInformation: _information,
    GStatistic: lambda s: 2 * s.rows * _information(s),
}
"""The proved change of the real value; what is declared may be less where no two values are so far apart."""

_SIX = math.sqrt(6)

DIFFERENCES: dict[type[Difference], Callable[[int], float]] = {
    SquaredErrors: lambda n: 2 / n,
    KendallResiduals: lambda n: 8 / n,
    SpearmanResiduals: lambda n: 12 / (n + 1),
    RootHSIC: lambda n: 2 * _SIX * (n - 1) / n**2 + 4 * (WAVES + _sums(n)),
    HSIC: lambda n: 2 * _SIX / (n - 1) + 4 * _sums(n) * (n / (n - 1)) ** 2,
    FeatureHSIC: lambda n: 4 * _SIX * (n - 1) / n**2 + 4 * _sums(n),
}
"""The proved change of the difference of both scores."""


def bounds() -> Iterator[str]:
    """Whether nothing declares less than its proof grants."""
    for kind, proved in DEPENDENCE.items():
        for size in SIZES:
            if size.strata > 1 and issubclass(kind, KendallA | SpearmanA):
                continue
            statistic = kind("x", "y", () if size.strata == 1 else ("z",))
            apart = _farthest(statistic, size)
            declared = statistic.largest_change(_domain(size))
            yield _less(statistic, declared, min(proved(size), apart), f"{size}")
            yield _steps(statistic, _domain(size))
    for score, change in DIFFERENCES.items():
        for n in ROWS:
            domain = _pair(n)
            difference = score(Scaled.of("x", "y", domain), _FLAT, _FLAT)
            yield _less(difference, difference.unit(n) * 1000, change(n), f"{n} rows")
            yield _steps(difference, domain)
    yield from _kernels()
    yield from _others()


def _less(statistic: Statistic, declared: float, proved: float, where: str) -> str:
    kind = type(statistic).__name__
    return "" if declared >= proved * CLOSE else f"{kind} declares {declared:.17g}, proved is {proved:.17g} ({where})"


def _steps(statistic: Statistic, domain: Domain, each: int = 1001) -> str:
    """Numbers in thousandths of a change move by one more, for rounding."""
    declared = statistic.sensitivity(domain)
    fine = declared.l1 >= each and declared.l2_squared >= each**2 and (declared.largest or 0) >= each
    return "" if fine else f"{type(statistic).__name__} declares fewer than {each} steps"


def _levels(number: int) -> Categorical:
    return Categorical(categories=tuple(map(str, range(number))), ordered=True)


def _domain(size: Size) -> Domain:
    return Domain({"x": _levels(size.x), "y": _levels(size.y), "z": _levels(size.strata)}, rows=size.rows)


def _pair(rows: int) -> Domain:
    return Domain({c: _levels(5) for c in "wxyz"}, rows=rows)


_FLAT = Curve((0, 0))


def _farthest(statistic: Dependence, size: Size) -> float:
    """Return how far two values of a statistic are apart at most."""
    n, few = size.rows, min(size.x, size.y)
    most = {
        KendallA: 1.0,
        SpearmanA: 1.0,
        AverageTau: 1.0,
        StratifiedKendallDet: _weight(n) / (1.5 * math.sqrt(n)),
        StratifiedSpearman: (n - 1) / math.sqrt(n),
        ConditionalTotalVariation: 1 - 1 / few,
        ConditionalInformation: math.log(few),
        GStatistic: 2 * n * math.log(few),
    }
    return most[type(statistic)]


@dataclass(frozen=True)
class _Moved:
    """What is proved of a vector: its L1 norm, the square of its L2 norm, and its largest number."""

    l1: float
    l2_squared: float
    largest: float | None = None


def _kernels() -> Iterator[str]:
    for n in ROWS:
        domain = _pair(n)
        lengths = MeanLengths(("x", "y", "z"), domain.shape("xyz"))
        yield _less(lengths, lengths.unit(n) * 1000, math.sqrt(2) / n + 2 * ROUNDING, f"{n} rows")
        pairs = PairwiseHSIC(("x", "y", "z"), domain.shape("xyz"), pairs=((0, 1), (0, 2)))
        yield _less(pairs, pairs.unit(n) * 1000, _SIX * (n - 1) / n**2 + 2 * ROUNDING, f"{n} rows")
        yield _vector(lengths, domain, _Moved(3 * 1001, 3 * 1001**2, 1001))
        yield _vector(pairs, domain, _Moved(2 * 1001, 2 * 1001**2, 1001))
        for given, ridge in (((), 1.0), (("z",), 50.0), (("z",), 0.5), (("w", "z"), 50.0)):
            yield from _permuted(n, domain, given, ridge)


def _permuted(n: int, domain: Domain, given: tuple[str, ...], ridge: float) -> Iterator[str]:
    try:
        permuted = PermutedHSIC(Compared.of("x", "y", given, domain), 6, ridge=ridge)
        permuted.check(domain)
    except SettingError:  # too small a ridge for so many rows
        return
    by_fit = 2 * _residual(n, len(given), ridge) / permuted.behind if given else 0.0
    rounding = 2 * (WAVES + _sums(n)) if given else 2 * ROUNDING
    first, others = (min(factor * (n - 1) / n**2 + by_fit, 0.5) + rounding for factor in (_SIX, 4))
    unit = permuted.unit(n)
    yield _less(permuted, unit * 1000, first + others, f"{n} rows, {len(given)} given")
    steps = permuted.sensitivity(domain)
    yield _less(permuted, float(steps.first or 0), first / unit, "the first number")
    yield _less(permuted, float(steps.largest or 0), others / unit, "the others")
    yield _vector(permuted, domain, _Moved((first + 5 * others) / unit, (first**2 + 5 * others**2) / unit**2))


def _residual(n: int, given: int, ridge: float) -> float:
    """Return how far a row moves the residual of another: by the fit's stability, and by rounding on both tables."""
    places = (i / 20_000 for i in range(20_001))
    steepest = max(q + math.sqrt(2 / ridge) * math.pow(q, 1.5) * math.sqrt(1 - q) for q in places)
    error = 5e-8 * max(1 / math.pow(ridge, 1.5), 1.0) if given == 1 else 7e-16 * math.pow(n, 2.5) * (1 / ridge + 0.5)
    return min(4 * steepest / (n * ridge) + 2 * error, 4.0)


def _others() -> Iterator[str]:
    domain = _pair(9)
    of, scaled = Compared.of("x", "y", ("z",), domain), Scaled.of("x", "y", domain)
    p = len(powers_of(1))
    squared, numbers = FINE**4 * (p * p + 5 * p + 5), p * (p + 1) // 2 - 1 + 2 * p + 2
    yield _vector(FitSums(of), domain, _Moved(math.sqrt(numbers * squared), squared))
    yield _vector(ResidualProduct(of, ((0.0,) * p,) * 2, (7, 11)), domain, _Moved(154, 154**2, 154))
    yield _vector(BinnedSums(scaled, 3), domain, _Moved(8 * UNIT, 8 * UNIT**2, 2 * UNIT))
    quartiles = Quartiles(scaled, _FLAT, _FLAT)
    yield _vector(quartiles, domain, _Moved(4, 16, 4))
    yield _vector(Counts((("x",), ("x", "y"), ("z",))), domain, _Moved(6, 6))
    frame = Frame({c: Centre((256 - 4 * i, i, i, i, i), 20 + i) for i, c in enumerate("wxyz")}, 32, 40 * 256**2)
    contrasts = 1 + 4 * 4 + 6 * 16
    yield _vector(ClippedInteractions(frame), domain, _Moved(40 * 256**2 * math.sqrt(contrasts), (40 * 256**2) ** 2))
    one = Margin((ConditionalTotalVariation("x", "y"),), (0,))
    other = Margin((ConditionalTotalVariation("x", "z"),), (0,))
    for kind in (Margins, Separators, HowMany):
        number = 3 if kind is HowMany else 2
        yield _vector(kind((one, other)), domain, _Moved(number * 1001, number * 1001**2, 1001))
    yield _vector(Contrasts((one, other), (other, one)), domain, _Moved(2 * 2002, 2 * 2002**2, 2002))


def _vector(statistic: Statistic, domain: Domain, proved: _Moved) -> str:
    """Compare all norms that are declared with what is proved."""
    declared = statistic.sensitivity(domain)
    pairs = [("L1", declared.l1, proved.l1), ("L2 squared", declared.l2_squared, proved.l2_squared)]
    pairs += [("largest", declared.largest or Fraction(0), proved.largest)] if proved.largest else []
    faults = (_less(statistic, float(found), wanted, norm) for norm, found, wanted in pairs)
    return next((fault for fault in faults if fault), "")


_GAPS = Domain({c: Categorical(categories=("a", "b"), ordered=True, missing="none") for c in "xyz"}, rows=9)
_PLAIN = Domain({c: Categorical(categories=("a", "b")) for c in "xyz"}, rows=9)

MOST_ROWS = {Dependence: 1 << 31, Difference: 1 << 24, PermutedHSIC: 1 << 24, Kernels: 1 << 31}
MOST_ROWS |= {ClippedInteractions: (1 << 54) // (256 * 5) ** 2}
MOST_ROWS |= {FitSums: 1 << 30, ResidualProduct: 1 << 30}
"""Up to so many rows proofs hold: sums fit, and rounding is what it is said to be."""


def refusals() -> Iterator[str]:
    """Whether domains that proofs are not about are refused: absent rows, no order, too many rows or too few."""
    domain = _pair(9)
    scaled, compared = Scaled.of("x", "y", domain), Compared.of("x", "y", ("z",), domain)
    weights = ((0.0,) * len(powers_of(1)),) * 2
    ordered: list[Statistic] = [BinnedSums(scaled, 3), Quartiles(scaled, _FLAT, _FLAT)]
    ordered += [kind(scaled, _FLAT, _FLAT) for kind in DIFFERENCES]
    ordered += [MeanLengths(("x", "y"), (5, 5)), PairwiseHSIC(("x", "y"), (5, 5), pairs=((0, 1),))]
    ordered += [FitSums(compared), ResidualProduct(compared, weights, (1, 1)), PermutedHSIC(compared, 6, ridge=50.0)]
    for statistic in ordered:
        for wrong in (_PLAIN, _GAPS, Domain({c: _levels(4) for c in "xyz"}, rows=9)):
            yield _taken(statistic, wrong)
    ordered += [ClippedInteractions(Frame({c: Centre((256, 0, 0, 0, 0), 16) for c in "xy"}, 32, 40 * 256**2))]
    ordered += [dependence("x", "y") for dependence in DEPENDENCE]
    for statistic, (kind, most) in product(ordered, MOST_ROWS.items()):
        if isinstance(statistic, kind):
            yield _taken(statistic, _pair(most + 1))
    for score in DIFFERENCES:
        absent = Scaled.of("x", "y", _GAPS)
        if score not in (SquaredErrors, KendallResiduals):
            yield _taken(score(absent, _FLAT, _FLAT), _GAPS)
        yield _taken(score(scaled, _FLAT, _FLAT), _pair(1))
    yield _taken(PermutedHSIC(Compared.of("x", "y", (), domain), 6), _pair(1))
    yield _taken(PairwiseHSIC(("x", "y"), (5, 5), pairs=((0, 1),)), _pair(1))


def _taken(statistic: Statistic, domain: Domain) -> str:
    try:
        statistic.sensitivity(domain)
    except SettingError:
        return ""
    return f"{type(statistic).__name__} takes a domain that its proof is not about ({domain.rows:,} rows)"
