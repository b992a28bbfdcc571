"""Methods by name, with their settings. No rows come here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from discreet.domain import Domain, Numeric
from discreet.errors import SettingError
from discreet.oracles.pairwise import LARGEST_ALPHA
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Budget
from discreet.recipes import Marginals, Moments

FALSE_NEIGHBOURS = 0.5
"""So many columns are taken for a column's neighbours by chance, at most, where a method chooses its level."""

TestName = Literal["total-variation", "kendall", "spearman", "information"]
TESTS: tuple[TestName, ...] = ("total-variation", "kendall", "spearman", "information")


@dataclass(frozen=True, kw_only=True)
class Asking(ABC):
    """What methods that ask the room about tests have in common.

    Parameters
    ----------
    test
        What independence means: ``"total-variation"`` sees any dependence, ``"kendall"`` and ``"spearman"`` what
        rises or falls together, ``"information"`` is the G-test's.
    alpha
        Share of independent pairs that would be called dependent if there were no noise.
    max_order
        Largest conditioning set.
    """

    test: TestName = "total-variation"
    alpha: float = 0.01
    max_order: int = 2

    def __post_init__(self) -> None:
        if self.test not in TESTS:
            raise SettingError(f"test: one of {', '.join(TESTS)}")
        if not 0 < self.alpha < 1:
            raise SettingError("alpha: a number between 0 and 1")
        if self.max_order < 0:
            raise SettingError("max-order: a whole number from 0")

    @property
    @abstractmethod
    def name(self) -> str:
        """The method's name."""


@dataclass(frozen=True, kw_only=True)
class InRounds(Asking):
    """A method that pays for every edge it removes.

    Parameters
    ----------
    round_epsilon
        What a round may cost, as a pure epsilon, to whom the promise is made. By default the budget covers as many
        rounds as there are pairs.
    """

    round_epsilon: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.round_epsilon is not None and not 0 < self.round_epsilon < float("inf"):
            raise SettingError("round-epsilon: a finite number above 0")


@dataclass(frozen=True, kw_only=True)
class SvtPC(InRounds):
    """PC whose tests are asked one by one; a pair that looks independent is removed and costs a round."""

    @property
    def name(self) -> str:
        """The method's name."""
        return "svt-pc"


@dataclass(frozen=True, kw_only=True)
class PrivPC(SvtPC):
    """PC by sieve and examine: a sieve looks for pairs that seem independent, each is then examined on all rows.

    Wang, Pang, Song 2020, repaired: every pair that passes the sieve costs a round, gets a fresh threshold and a fresh
    sample, whatever the examination says, and the total is fixed before anything is asked.

    Parameters
    ----------
    sample
        Share of the rows that the sieve looks at; all of them by default, which sees most.
    """

    sample: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sample is not None and not 0 < self.sample <= 1:
            raise SettingError("sample: a share of the rows, above 0 and at most 1")

    @property
    def name(self) -> str:
        """The method's name."""
        return "priv-pc"


@dataclass(frozen=True, kw_only=True)
class EmPC(InRounds):
    """For every column and order: choose how many of its neighbours to drop, and which, by exponential mechanisms.

    Xu, Yuan, Wu 2017, repaired: the scores have a proved sensitivity, and the total is fixed before anything is asked.
    ``round_epsilon`` is what one choice costs.
    """

    @property
    def name(self) -> str:
        """The method's name."""
        return "em-pc"


@dataclass(frozen=True, kw_only=True)
class Flipped(Asking):
    """The other way round: pairs are kept, not removed, and what costs is an edge that stays.

    Every pair has one number, the least dependence whatever is given. So it is asked about once, not once a set.

    Parameters
    ----------
    edges
        How many edges may stay at most, beside required ones. By default twice as many as there are columns are looked
        for, and as many stay as are clear.
    """

    edges: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.edges is not None and self.edges < 1:
            raise SettingError("edges: a whole number from 1")


@dataclass(frozen=True, kw_only=True)
class FlippedSvt(Flipped):
    """Pairs that clearly depend are let pass by a gate, one after the other."""

    @property
    def name(self) -> str:
        """The method's name."""
        return "flipped-svt"


@dataclass(frozen=True, kw_only=True)
class FlippedTopK(Flipped):
    """The pairs that depend most are chosen at once."""

    @property
    def name(self) -> str:
        """The method's name."""
        return "flipped-top-k"


@dataclass(frozen=True, kw_only=True)
class Pcd:
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

    alpha: float | None = None
    max_order: int = 1
    width: float = 0.3

    def __post_init__(self) -> None:
        if self.alpha is not None and not 0 < self.alpha <= LARGEST_ALPHA:
            raise SettingError(f"alpha: above 0, and at most {LARGEST_ALPHA:g}")
        if self.max_order not in (0, 1):
            raise SettingError("max-order: 0 or 1; the method `pcd` looks at three columns at most")
        if not 0.05 <= self.width <= 2:
            raise SettingError("width: a number from 0.05 to 2")

    @property
    def name(self) -> str:
        """The method's name."""
        return "pcd"

    def level(self, columns: int) -> float:
        """Return the level for so many columns."""
        return min(0.05, FALSE_NEIGHBOURS / max(columns - 1, 1)) if self.alpha is None else self.alpha


Recipe = Marginals | Asking | Pcd

RECIPES: dict[str, type[Recipe]] = {
    "marginals": Marginals,
    "moments": Moments,
    "svt-pc": SvtPC,
    "priv-pc": PrivPC,
    "em-pc": EmPC,
    "flipped-svt": FlippedSvt,
    "flipped-top-k": FlippedTopK,
    "pcd": Pcd,
}
"""Methods by name. Whatever stands here is audited."""

NUMERIC = ("pcd",)
"""Methods for columns of numbers. All others count."""

METHODS = ("auto", *RECIPES)
"""Names of methods that may be asked for."""


def recipe_for(method: str | Recipe, domain: Domain) -> Recipe:
    """Return the recipe for a method's name."""
    if isinstance(method, Recipe):
        return method
    if method not in METHODS:
        raise SettingError(f"method: {method!r} is not one of {', '.join(METHODS)}")
    numbers = any(isinstance(column, Numeric) and column.bins is None for column in domain.columns.values())
    recipe = RECIPES[("moments" if numbers else "marginals") if method == "auto" else method]()
    if recipe.name in NUMERIC:
        domain.check_numeric()
    elif not isinstance(recipe, Moments):
        domain.check_tabulable()
    return recipe


def changed(recipe: Recipe, **settings: Any) -> Recipe:
    """Return a recipe with the settings that are given, that is, not None."""
    given = {name: value for name, value in settings.items() if value is not None}
    known = {f.name for f in fields(recipe)}
    for name in given:
        if name not in known:
            raise SettingError(f"{name.replace('_', '-')}: the method `{recipe.name}` has no such setting")
    return replace(recipe, **given)


def looks_at_rows(recipe: Recipe) -> str | None:
    """Return the name of a method that looks at rows and not at counts alone; None for others."""
    if isinstance(recipe, PrivPC) and recipe.sample is not None:
        return f"{recipe.name} with a sample"
    return recipe.name if isinstance(recipe, Pcd) else None


def budget_for(
    recipe: Recipe,
    epsilon: float,
    delta: float,
    currency: Currency | None = None,
    reserve: Callable[[Budget], None] | None = None,
    *,
    group: int = 1,
) -> Budget:
    """Return a budget in the currency in which a method's costs add up best, or in one that is named."""
    if currency is None and isinstance(recipe, Asking) and delta:
        currency = Currency.ZCDP
    return Budget(epsilon=epsilon, delta=delta, currency=currency, group=group, reserve=reserve)
