"""The registry: private methods by name. A new one is a file, and a line here; whatever stands here is audited."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from discreet.domain import Domain, Numeric
from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.errors import SettingError
from discreet.methods import em_pc, flipped, marginals, moments, pcd, priv_pc, svt_pc
from discreet.methods.method import Method
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Budget
from discreet.release.settings import Settings

METHODS: dict[str, Method[Any]] = {
    "marginals": marginals.METHOD,
    "moments": moments.METHOD,
    "svt-pc": svt_pc.METHOD,
    "priv-pc": priv_pc.METHOD,
    "em-pc": em_pc.METHOD,
    "flipped-svt": flipped.SVT,
    "flipped-top-k": flipped.TOP_K,
    "pcd": pcd.METHOD,
}
"""Methods by name."""

NAMES = ("auto", *METHODS)
"""Names that may be asked for."""


def method_of(settings: Settings) -> Method[Any]:
    """Return the method that some settings are for."""
    if METHODS.get(settings.name) is None or not isinstance(settings, METHODS[settings.name].settings):
        raise SettingError(f"method: nothing runs {settings.name!r}")
    return METHODS[settings.name]


def settings_for(method: str | Settings, domain: Domain) -> Settings:
    """Return the settings for a method's name; `auto` follows from public facts."""
    if isinstance(method, Settings):
        return method
    if method not in NAMES:
        raise SettingError(f"method: {method!r} is not one of {', '.join(NAMES)}")
    if method == "auto":
        continuous = any(isinstance(column, Numeric) and column.bins is None for column in domain.columns.values())
        method = "moments" if continuous else "marginals"
    METHODS[method].check(domain)
    settings: Settings = METHODS[method].settings()
    return settings


def budget_for(
    settings: Settings,
    epsilon: float,
    delta: float,
    currency: Currency | None = None,
    reserve: Callable[[Budget], None] | None = None,
    *,
    group: int = 1,
) -> Budget:
    """Return a budget in the currency in which a method's costs add up best, or in one that is named."""
    if currency is None and delta and method_of(settings).in_zcdp:
        currency = Currency.ZCDP
    return Budget(epsilon=epsilon, delta=delta, currency=currency, group=group, reserve=reserve)


def refuse_unaskable(
    settings: Settings, domain: Domain, epsilon: float, delta: float, knowledge: Knowledge = NOTHING_KNOWN
) -> None:
    """Refuse what a run would refuse, from public facts alone."""
    budget = budget_for(settings, epsilon, delta, group=domain.group)
    method_of(settings).encode(settings, domain, budget, knowledge)
