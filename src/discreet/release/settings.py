"""Settings of methods that measure first: which release they want next, and how they read it.

They stand on this side because they are written into a release, and to search it again takes them without any rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.privacy.accounting import Currency
from discreet.release.oracles.components import Components
from discreet.release.oracles.released import Released, check_alpha
from discreet.release.oracles.smooth import Smooth
from discreet.release.selection import even_noise, select_next
from discreet.search.hybrid import EvidenceSkeleton
from discreet.statistics.counts import Counts
from discreet.statistics.interactions import Interactions

MOST_BINS = 20
"""Bins of a continuous column: tables of two take time with the fourth power of it."""

CLIPS = ("auto", "never")
"""Whether rows may be clipped."""

SEARCHES = ("hybrid", "pc", "greedy")
"""Ways to search a release; ``release/search.py`` has a function for each."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of a method, by which it is also known."""

    name: ClassVar[str]
    """The method's name."""

    def __post_init__(self) -> None:
        for name, values in self.choices.items():
            if getattr(self, name) not in values:
                raise SettingError(f"{name.replace('_', '-')}: one of {', '.join(values)}")

    @property
    def choices(self) -> Mapping[str, Sequence[str]]:
        """Settings that are one of a few words, with all of these. Every one of them is audited."""
        return {}

    def changed(self, **given: Any) -> Self:
        """Return them with those changed that are given, that is, not None."""
        given = {name: value for name, value in given.items() if value is not None}
        known = {f.name for f in fields(self)}
        for name in given:
            if name not in known:
                raise SettingError(f"{name.replace('_', '-')}: the method `{self.name}` has no such setting")
        return replace(self, **given)


@dataclass(frozen=True, kw_only=True)
class Marginals(Settings):
    """Adaptively selected marginals: measure once, search for free.

    Half of the budget goes to all pairs, the other half to what the first look calls for: the pairs that are left,
    and three columns at a time around them. Everything else is post-processing.

    Parameters
    ----------
    search
        ``"hybrid"``: the skeleton by evidence, directions by the best fit to all triples; where noise rules, both are
        refined by a fit to all pairs at once. ``"pc"``: the textbook's algorithm with tests at a level. ``"greedy"``:
        climbs by scores made of evidence.
    max_order
        Largest conditioning set: 0, 1 or 2.
    alpha
        Level of the tests of ``"pc"``.
    clip
        ``"auto"``: rows are clipped where noise rules and it pays, as a few percent of the budget tell.
        ``"never"``: they are measured as they are.
    """

    name: ClassVar[str] = "marginals"

    search: str = "hybrid"
    max_order: int = 2
    alpha: float = 0.01
    clip: str = "auto"

    rounds: ClassVar[int] = 2
    """Releases, each for the same part of the budget; what the earlier ones show decides what the next one asks."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_alpha(self.alpha, "gaussian")
        if self.max_order not in (0, 1, 2):
            raise SettingError("max-order: 0, 1 or 2; the method measures up to three columns at a time")

    @property
    def choices(self) -> Mapping[str, Sequence[str]]:
        """How rows are measured, and the release searched."""
        return {"search": SEARCHES, "clip": CLIPS}

    def select(
        self, seen: EvidenceSkeleton, domain: Domain, currency: Currency, amount: Fraction
    ) -> Counts | Interactions | None:
        """Return what is measured next, for an amount of the budget."""
        return select_next(seen, domain, currency, amount)

    def oracle(self, parts: Components, domain: Domain, rng: np.random.Generator) -> Released:
        """Return what answers from a release."""
        del domain
        return Released(parts, alpha=self.alpha, rng=rng)


@dataclass(frozen=True, kw_only=True)
class Moments(Marginals):
    """Measure once, search for free, with continuous columns among the others.

    Numbers go into bins at private quantiles, as many as the noise bears. What is released are second moments of
    functions of one column each: contrasts of bins and categories. Dependence between numbers is expected to be
    smooth, and what coarse bins leave unexplained is estimated and taken away.

    Parameters
    ----------
    bins
        Bins of continuous columns for which none were declared. By default chosen from public facts.
    """

    name: ClassVar[str] = "moments"

    bins: int | None = None

    rounds: ClassVar[int] = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bins is not None and (type(self.bins) is not int or not 2 <= self.bins <= MOST_BINS):
            raise SettingError(f"bins: a whole number from 2 to {MOST_BINS}")

    def select(
        self, seen: EvidenceSkeleton, domain: Domain, currency: Currency, amount: Fraction
    ) -> Counts | Interactions | None:
        """Return what is measured next, for an amount of the budget."""
        return select_next(seen, domain, currency, amount, triples=0, noise=even_noise(domain))

    def oracle(self, parts: Components, domain: Domain, rng: np.random.Generator) -> Released:
        """Return what answers from a release."""
        return Smooth(parts, bins=domain.bins, alpha=self.alpha, rng=rng)


MEASURING: dict[str, type[Marginals]] = {"marginals": Marginals, "moments": Moments}
"""Methods whose releases can be searched again."""
