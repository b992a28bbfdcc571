"""Differentially private causal discovery.

``discover`` finds a causal graph of a table under a proven privacy guarantee; see its docstring to begin.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet._version import __version__

if TYPE_CHECKING:
    from discreet.directing import direction
    from discreet.discovering import discover, discover_in
    from discreet.discovery import Discovery
    from discreet.domain import Categorical, Domain, Numeric, People
    from discreet.errors import BudgetError, DiscreetError, InputError
    from discreet.examining import test_independence
    from discreet.graph import Graph, cpdag_f1, skeleton_f1
    from discreet.knowledge import Knowledge
    from discreet.ledger.accounts import Account
    from discreet.networks import Network, network
    from discreet.privacy.budget import Budget
    from discreet.recipes import Marginals, search_again
    from discreet.room import Room
    from discreet.search.orient import cpdag
    from discreet.search.pc import pc
    from discreet.synthesis import synthesize
    from discreet.tables.load import load

_HOMES = {
    "Account": "ledger.accounts",
    "Budget": "privacy.budget",
    "BudgetError": "errors",
    "Categorical": "domain",
    "DiscreetError": "errors",
    "Discovery": "discovery",
    "Domain": "domain",
    "Graph": "graph",
    "InputError": "errors",
    "Knowledge": "knowledge",
    "Marginals": "recipes",
    "Network": "networks",
    "Numeric": "domain",
    "People": "domain",
    "Room": "room",
    "cpdag": "search.orient",
    "cpdag_f1": "graph",
    "direction": "directing",
    "discover": "discovering",
    "discover_in": "discovering",
    "load": "tables.load",
    "network": "networks",
    "pc": "search.pc",
    "search_again": "recipes",
    "skeleton_f1": "graph",
    "synthesize": "synthesis",
    "test_independence": "examining",
}

__all__ = [
    "Account",
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
    "cpdag",
    "cpdag_f1",
    "direction",
    "discover",
    "discover_in",
    "load",
    "network",
    "pc",
    "search_again",
    "skeleton_f1",
    "synthesize",
    "test_independence",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: the command line starts fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    value = getattr(import_module(f"discreet.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
