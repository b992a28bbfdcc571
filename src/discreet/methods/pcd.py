"""PCD, repaired: a graph over columns of numbers from the dependence of all pairs, released at once.

After Zhang, Xia, Ren, Guan, Zhou 2023 (*Differentially Private Nonlinear Causal Discovery from Numerical Data*), whose
noise protects nobody. What differs: kernels have public widths; all pairs get noise, in one release, whatever they
show; and a third column explains a pair by a rule on what was released, since tests of residuals either see nothing
under noise or do not keep their level.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import combinations
from typing import ClassVar

import numpy as np

from discreet.bisection import bisect, bracket
from discreet.domain import Domain
from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.errors import BudgetError, DoubtWarning, SettingError
from discreet.methods.method import Method, refuse_spent
from discreet.privacy.accounting import MAX_EPSILON, limit_of
from discreet.privacy.budget import Budget
from discreet.privacy.mechanisms.additive import Additive, DiscreteLaplace, additive_for
from discreet.privacy.statement import Privacy
from discreet.progress import MEASURE, Progress, tell
from discreet.release.discovery import Discovery
from discreet.release.oracles.pairwise import LARGEST_ALPHA, Law, NoiseLaw, PairwiseReleased, thresholds
from discreet.release.settings import Settings
from discreet.room import Room
from discreet.search.graph import Pair
from discreet.search.pc import Skeleton, orient_skeleton, pc
from discreet.statistics.pairwise_hsic import LEAST_ROWS, Kernels, MeanLengths, PairwiseHSIC

LENGTHS_SHARE = Fraction(1, 20)
"""Share of the budget for single columns, which tell how far chance moves a pair."""

LENGTH_DOUBT = 2.0
"""So many standard deviations are taken off the length of a mean feature: where noise is large, columns vary most."""

LARGEST = 0.5
"""No dependence is larger."""

FAINT = 0.1
"""Dependence that is worth seeing: about that of a cause whose effect has a third of its variance from elsewhere."""


FALSE_NEIGHBOURS = 0.5
"""So many columns are taken for a column's neighbours by chance, at most, where the level is not named."""


@dataclass(frozen=True, kw_only=True)
class Pcd(Settings):
    """For columns of numbers: the dependence of all pairs by kernels, released at once, and what follows from it.

    Zhang, Xia, Ren, Guan, Zhou 2023, repaired.

    Parameters
    ----------
    alpha
        Share of independent pairs that are called dependent, noise included; a limit for many rows. By default 0.05, or
        less where there are many columns, so that each has half a false neighbour at most.
    max_order
        1: a third column may explain a pair, by a rule of thumb. 0: pairs alone are looked at, so that all stay that
        depend in any way.
    width
        Width of the kernels on a scale from -1 to 1 between the bounds.
    """

    name: ClassVar[str] = "pcd"

    alpha: float | None = None
    max_order: int = 1
    width: float = 0.3

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.alpha is not None and not 0 < self.alpha <= LARGEST_ALPHA:
            raise SettingError(f"alpha: above 0, and at most {LARGEST_ALPHA:g}")
        if self.max_order not in (0, 1):
            raise SettingError("max-order: 0 or 1; the method `pcd` looks at three columns at most")
        if not 0.05 <= self.width <= 2:
            raise SettingError("width: a number from 0.05 to 2")

    def level(self, columns: int) -> float:
        """Return the level for so many columns."""
        return min(0.05, FALSE_NEIGHBOURS / max(columns - 1, 1)) if self.alpha is None else self.alpha


def run(
    room: Room, settings: Pcd, *, knowledge: Knowledge = NOTHING_KNOWN, progress: Progress | None = None
) -> Discovery:
    """Find a graph over columns of numbers with all that is left of a room's budget.

    Raises
    ------
    BudgetError
        If no dependence could stand out of the noise. Nothing was spent.
    """
    names, pairs = check_numbers(room, knowledge)
    if not pairs:
        return _make_discovery(room, settings, knowledge, None, 0, 0.0, progress)
    levels = room.domain.shape(names)
    dependence, lengths = PairwiseHSIC(names, levels, settings.width, pairs), MeanLengths(names, levels, settings.width)
    _doubt(room, dependence, settings)
    singles = _mechanism(room, lengths, room.budget.left * LENGTHS_SHARE)
    tell(progress, f"measuring {lengths.name}", MEASURE.at())
    varied = _measure_variation(room, lengths, singles)
    mechanism = _mechanism(room, dependence, room.budget.left)
    tell(progress, f"measuring {dependence.name}", MEASURE.at(1, 2))
    unit, rows = dependence.unit(room.domain.rows), room.domain.rows
    values = room.release(dependence, mechanism).values
    named: list[Pair] = [frozenset((names[i], names[j])) for i, j in pairs]
    seen = {pair: float(value) * unit for pair, value in zip(named, values.tolist(), strict=True)}
    chance = {frozenset((names[i], names[j])): math.sqrt(varied[i] * varied[j] / rows) for i, j in pairs}
    noise = _noise(mechanism, unit)
    oracle = PairwiseReleased(seen, chance, noise, settings.level(len(names)))
    if settings.max_order:
        tell(progress, "a third column explains a pair by a rule of thumb: nothing is promised about its level")
    return _make_discovery(room, settings, knowledge, oracle, len(pairs), noise.deviation, progress)


def check_numbers(room: Room, knowledge: Knowledge) -> tuple[tuple[str, ...], tuple[tuple[int, int], ...]]:
    """Refuse what cannot be asked, and return the columns and the places of all pairs that may touch."""
    domain = room.domain
    domain.check_numeric()
    knowledge.check(domain)
    if domain.rows < LEAST_ROWS:
        raise SettingError(f"rows: the method `pcd` takes at least {LEAST_ROWS}")
    refuse_spent(room.budget)
    names = tuple(sorted(domain))
    places = combinations(range(len(names)), 2)
    return names, tuple((i, j) for i, j in places if knowledge.may_touch(names[i], names[j]))


def _make_discovery(
    room: Room,
    settings: Pcd,
    knowledge: Knowledge,
    oracle: PairwiseReleased | None,
    pairs: int,
    deviation: float,
    progress: Progress | None,
) -> Discovery:
    nodes = tuple(room.domain)
    if oracle is None:
        graph = orient_skeleton(Skeleton(nodes, {}, {}), None, knowledge)
    else:
        graph = pc(nodes, oracle, knowledge=knowledge, max_order=settings.max_order, progress=progress)
    written = {f.name: getattr(settings, f.name) for f in fields(settings)}
    written |= {"alpha": settings.level(len(nodes)), "pairs": pairs, "deviation": deviation}
    privacy = Privacy.of(room.budget, room.domain, private=room.private)
    return Discovery(graph, privacy, settings.name, written, room.domain, knowledge, ())


def _mechanism(room: Room, statistic: Kernels, amount: Fraction) -> Additive:
    return additive_for(room.budget.currency, amount, statistic.sensitivity(room.domain))


def _noise(mechanism: Additive, unit: float) -> NoiseLaw:
    law: Law = "laplace" if isinstance(mechanism, DiscreteLaplace) else "gaussian"
    return NoiseLaw(law, math.sqrt(mechanism.variance) * unit)


def _measure_variation(room: Room, statistic: MeanLengths, mechanism: Additive) -> list[float]:
    """Release how far each column varies, rather more than less."""
    released = room.release(statistic, mechanism).values
    unit = statistic.unit(room.domain.rows)
    doubt = LENGTH_DOUBT * math.sqrt(mechanism.variance)
    least = [min(max((value - doubt) * unit, 0.0), 1.0) for value in released.tolist()]
    return [1 - length**2 for length in least]


def _bar(domain: Domain, statistic: PairwiseHSIC, budget: Budget, epsilon: float, alpha: float) -> float:
    """Return the dependence that stands out of the noise alone, at a budget. From public facts."""
    amount = limit_of(budget.currency, epsilon, budget.delta, budget.group) * (1 - LENGTHS_SHARE)
    mechanism = additive_for(budget.currency, amount, statistic.sensitivity(domain))
    return _stands_out(_noise(mechanism, statistic.unit(domain.rows)), alpha)


def _stands_out(noise: NoiseLaw, alpha: float) -> float:
    return float(thresholds(np.zeros(1), noise, alpha)[0])


def _doubt(room: Room, statistic: PairwiseHSIC, settings: Pcd) -> None:
    """Refuse, or warn, if little or nothing can stand out of the noise. Nothing is spent."""
    domain, budget, level = room.domain, room.budget, settings.level(len(statistic.names))
    mechanism = _mechanism(room, statistic, budget.left * (1 - LENGTHS_SHARE))
    bar = _stands_out(_noise(mechanism, statistic.unit(domain.rows)), level)
    if bar <= FAINT:
        return
    enough = _enough(domain, statistic, budget, level, LARGEST if bar > LARGEST else FAINT)
    to = f"an epsilon of about {enough:.2g}" if enough is not None else "another budget"
    at = f"with {domain.rows:,} rows and epsilon {budget.epsilon:g}"
    if bar > LARGEST:
        rows = math.ceil(domain.rows * bar / LARGEST)
        raise BudgetError(
            f"{at} no dependence can stand out of the noise; nothing was asked. It takes {to}, or {rows:,} rows"
        )
    rows = math.ceil(domain.rows * bar / FAINT)
    doubt = (
        f"{at} only dependences of {bar:.2f} or more stand out of the noise (clear causes have about {FAINT:g}, none "
        f"is above {LARGEST:g}); for {FAINT:g} it takes {to}, or {rows:,} rows"
    )
    warnings.warn(doubt, DoubtWarning, stacklevel=4)


def _enough(domain: Domain, statistic: PairwiseHSIC, budget: Budget, alpha: float, goal: float) -> float | None:
    """Return about the smallest epsilon at which a dependence stands out, if there is one."""

    def stands_out(epsilon: float) -> bool:
        return _bar(domain, statistic, budget, epsilon, alpha) <= goal

    around = bracket(stands_out, budget.epsilon, budget.epsilon, most=MAX_EPSILON)
    return None if around is None else bisect(stands_out, *around, steps=8, geometric=True)[1]


METHOD = Method(Pcd, run, check=Domain.check_numeric, looks_at_rows=lambda settings: settings.name, numeric=True)
