"""Import paths that were printed before things moved: each still leads to where its module is now."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "forecasting": "simulation.forecast",
    "interop": "search.interop",
    "networks": "simulation.networks",
    "networks.drawn": "simulation.drawn",
    "networks.nonlinear": "simulation.nonlinear",
    "not_private": "baselines.not_private",
    "published": "baselines.published",
    "published.halves": "baselines.published.direction",
    "published.pcd": "baselines.published.pcd",
    "published.rcit": "baselines.published.rcit",
}
"""Old paths and new ones, within the library. The library itself may not take the old ones."""


class _Finder(MetaPathFinder, Loader):
    """Finds modules under their old paths."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        package, _, name = fullname.partition(".")
        if package != "discreet" or name not in MOVED:
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def exec_module(self, module: ModuleType) -> None:
        found = import_module(f"discreet.{MOVED[module.__name__.partition('.')[2]]}")
        module.__dict__.update({name: value for name, value in vars(found).items() if not name.startswith("__")})
        module.__doc__ = found.__doc__


def install() -> None:
    """Let old paths be found, once."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
