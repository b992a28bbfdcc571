"""NOT PRIVATE: the one door to methods without privacy, and a result that says so wherever it is shown.

What they find depends on the exact rows and promises nothing to anybody: for simulated or public tables, or for the
custodian's eyes only. ``pc`` and ``greedy_bic`` return a bare graph, for comparisons.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from types import MappingProxyType
from typing import Any

from discreet._version import __version__
from discreet.baselines.exact import ExactBIC, ExactCounts, GTest, greedy_bic, pc
from discreet.baselines.published import METHODS as COUNTING
from discreet.baselines.published import PCD, Outcome, discover_published
from discreet.baselines.published.discover import Settings
from discreet.baselines.published.outcome import reason_for
from discreet.baselines.published.pcd import PcdSettings, discover_pcd
from discreet.domain import Domain
from discreet.domain.domain import check_domain
from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.errors import SettingError
from discreet.progress import WHOLE, Progress, tell
from discreet.search.graph import Graph

__all__ = [
    "METHODS",
    "PUBLISHED",
    "ExactBIC",
    "ExactCounts",
    "GTest",
    "NotPrivate",
    "discover",
    "greedy_bic",
    "pc",
    "warning_of",
]

PUBLISHED = (*COUNTING, PCD)
METHODS = ("pc", "greedy-bic", *PUBLISHED)
"""Methods that answer from exact counts, or whose noise does not keep what it promises."""

WARNING = "NOT PRIVATE: this graph is made of exact answers about the rows and promises nothing. Do not publish it."

REPORTED = "what the paper's own accounting would report; it does not hold"

_TESTING = frozenset({"alpha", "max_order"})
_SETTINGS: dict[str, frozenset[str]] = {
    "pc": _TESTING,
    "greedy-bic": frozenset(),
    **dict.fromkeys(COUNTING, _TESTING | {"round_epsilon", "sample", "as"}),
    PCD: _TESTING | {"round_epsilon"},
}
"""Settings that each method has."""

_NONE_GIVEN: Mapping[str, Any] = MappingProxyType({})


def stamp_of(method: str) -> str:
    """Return the warning in one line of a picture."""
    if method not in PUBLISHED:
        return WARNING
    return f"NOT PRIVATE: the noise of `{method}` protects nobody. Do not publish it."


def warning_of(method: str, settings: Mapping[str, Any]) -> str:
    """Return what is said loudly: of a published method, why its noise protects nobody."""
    if method not in PUBLISHED:
        return WARNING
    return f"{stamp_of(method)} Why: {reason_for(method, settings.get('as') or settings.get('reading') or 'code')}."


@dataclass(frozen=True)
class NotPrivate:
    """NOT PRIVATE: a graph that promises nothing to anybody, and what it was found by. Do not publish it.

    Parameters
    ----------
    graph
        The CPDAG.
    method, settings
        What it was found by.
    domain
        The columns and their levels.
    outcome
        Of a published method, what its paper would report; it does not hold.
    """

    graph: Graph
    method: str
    settings: Mapping[str, Any]
    domain: Domain
    outcome: Outcome | None = None

    @property
    def warning(self) -> str:
        """What it is, and why."""
        return warning_of(self.method, self.settings)

    def __repr__(self) -> str:
        """Say in a line what was found, and that it is not private."""
        return f"<NOT PRIVATE, do not publish: {self.graph!r}, by {self.method}>"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with the warning in the place of a privacy statement."""
        privacy = {"epsilon": None, "delta": None, "neighbors": None, "unit": self.domain.unit, "private": False}
        found: dict[str, Any] = {"schema": 2, "method": self.method, "graph": self.graph.to_dict()}
        found |= {"privacy": {**privacy, "spent": [], "warning": self.warning}, "rows": self.domain.rows}
        found["version"] = __version__
        if self.outcome is not None:
            found["reported"] = {
                "epsilon": self.outcome.reported,
                "delta": self.outcome.delta,
                "rounds": self.outcome.rounds,
                "tests": self.outcome.tests,
                "holds": False,
                "note": REPORTED,
            }
        return found

    def svg(self) -> str:
        """Return a picture, with the warning above it."""
        from discreet.report.svg import graph_svg

        return graph_svg(self.graph, stamp=stamp_of(self.method))

    def _repr_html_(self) -> str:
        """Show the picture in a notebook, and why it is not private."""
        return f"<div>{self.svg()}<div>{escape(self.warning)}</div></div>"


def discover(
    data: object,
    *,
    domain: Domain,
    method: str = "pc",
    settings: Mapping[str, Any] = _NONE_GIVEN,
    knowledge: Knowledge = NOTHING_KNOWN,
    progress: Progress | None = None,
) -> NotPrivate:
    """NOT PRIVATE: find a graph by a method without privacy, to compare private ones with.

    The graph PUBLISHES EXACT ANSWERS about the rows, or has noise that protects nobody.

    Parameters
    ----------
    data
        A path, a table in memory, or what ``load`` returned.
    domain
        The columns and their levels.
    method
        One of ``METHODS``: ``"pc"``, ``"greedy-bic"``, or a published method.
    settings
        Settings of the method by name: ``alpha``, ``max_order``; of published ones ``round_epsilon``, ``sample``,
        ``as``.
    knowledge
        Required and forbidden arrows, and tiers.
    progress
        Called with a line of words at each step. They depend on exact answers.
    """
    check_domain(domain, published=False)
    checked = check_settings(method, settings)
    if method in PUBLISHED:
        if method == PCD:
            outcome = discover_pcd(data, domain, knowledge=knowledge, progress=progress, **checked)
        else:
            outcome = discover_published(data, domain, method, knowledge=knowledge, progress=progress, **checked)
        graph = outcome.graph
    else:
        outcome, run = None, pc if method == "pc" else greedy_bic
        graph = run(data, domain, knowledge=knowledge, progress=progress, **checked)
    tell(progress, "finished", WHOLE.end)
    return NotPrivate(graph, method, checked, domain, outcome)


def check_settings(method: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return all settings of a method, after refusing those that it does not have."""
    if method not in METHODS:
        raise SettingError(f"method: what is not private is one of {', '.join(METHODS)}, not {method!r}")
    if not isinstance(given, Mapping):
        raise SettingError("settings: by name, as in {'alpha': 0.05}")
    given = {name: value for name, value in given.items() if value is not None}
    if "search" in given:
        raise SettingError(f"search: it is for releases, and the method `{method}` makes none")
    for name in given:
        if name not in _SETTINGS[method]:
            raise SettingError(f"{str(name).replace('_', '-')}: the method `{method}` has no such setting")
    if method == "greedy-bic":
        return {"max_parents": 5, "restarts": 40, "seed": 0}
    if method == "pc":
        if not isinstance(given.get("max_order", 0), int) or given.get("max_order", 0) < 0:
            raise SettingError("max-order: a whole number from 0")
        return {"alpha": given.get("alpha", 0.01), "max_order": given.get("max_order")}
    if method == PCD:
        named = {"epsilon" if name == "round_epsilon" else name: value for name, value in given.items()}
        pcd = PcdSettings(**{"epsilon": 1.0, "alpha": 0.05, "max_order": None, **named})
        named = {name: getattr(pcd, name) for name in ("alpha", "max_order", "permutations", "lam")}
        return {"round_epsilon": pcd.epsilon, **named}
    counting = Settings(method, **{"reading" if name == "as" else name: value for name, value in given.items()})
    kept = ("round_epsilon", "alpha", "sample", "max_order", "reading", "delta")
    return {name: getattr(counting, name) for name in kept}
