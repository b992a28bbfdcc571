"""Differentially private causal discovery.

``discover`` finds a causal graph of a table under a proven privacy guarantee; see its docstring to begin.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet._moved import MOVED, install
from discreet._version import __version__

if TYPE_CHECKING:
    from discreet.data.draft import draft
    from discreet.data.load import load
    from discreet.domain import Categorical, Domain, Numeric, People
    from discreet.domain.knowledge import Knowledge
    from discreet.errors import BudgetError, DiscreetError, InputError
    from discreet.ledger.account import Account
    from discreet.methods.check import check
    from discreet.methods.direction import direction
    from discreet.methods.discover import discover, discover_in
    from discreet.methods.independence.examine import test_independence
    from discreet.privacy.budget import Budget
    from discreet.privacy.explanation import explain
    from discreet.progress import Bar
    from discreet.release.discovery import Discovery
    from discreet.release.search import search_again
    from discreet.release.settings import Marginals
    from discreet.release.synthesis import synthesize
    from discreet.room import Room
    from discreet.search.graph import Graph, cpdag_f1, skeleton_f1
    from discreet.search.orientation import cpdag
    from discreet.search.pc import pc
    from discreet.simulation.bayesian import Network
    from discreet.simulation.forecast import plan
    from discreet.simulation.networks import network

_HOMES = {
    "Account": "ledger.account",
    "Bar": "progress",
    "Budget": "privacy.budget",
    "BudgetError": "errors",
    "Categorical": "domain",
    "DiscreetError": "errors",
    "Discovery": "release.discovery",
    "Domain": "domain",
    "Graph": "search.graph",
    "InputError": "errors",
    "Knowledge": "domain.knowledge",
    "Marginals": "release.settings",
    "Network": "simulation.bayesian",
    "Numeric": "domain",
    "People": "domain",
    "Room": "room",
    "check": "methods.check",
    "cpdag": "search.orientation",
    "cpdag_f1": "search.graph",
    "direction": "methods.direction",
    "discover": "methods.discover",
    "discover_in": "methods.discover",
    "draft": "data.draft",
    "explain": "privacy.explanation",
    "load": "data.load",
    "network": "simulation.networks",
    "pc": "search.pc",
    "plan": "simulation.forecast",
    "search_again": "release.search",
    "skeleton_f1": "search.graph",
    "synthesize": "release.synthesis",
    "test_independence": "methods.independence.examine",
}

__all__ = [
    "Account",
    "Bar",
    "Budget",
    "BudgetError",
    "Categorical",
    "Discovery",
    "DiscreetError",
    "Domain",
    "Graph",
    "InputError",
    "Knowledge",
    "Marginals",
    "Network",
    "Numeric",
    "People",
    "Room",
    "__version__",
    "check",
    "cpdag",
    "cpdag_f1",
    "direction",
    "discover",
    "discover_in",
    "draft",
    "explain",
    "load",
    "network",
    "pc",
    "plan",
    "search_again",
    "skeleton_f1",
    "synthesize",
    "test_independence",
]


install()


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: the command line starts fast."""
    if name in MOVED:
        return import_module(f"discreet.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    value = getattr(import_module(f"discreet.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
