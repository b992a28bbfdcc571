"""What is true in a network, computed exactly: every configuration is enumerated."""

from __future__ import annotations

from itertools import product
from math import prod

from discreet.simulation.bayesian import Network


def share(network: Network, event: dict[str, str], *, do: dict[str, str] | None = None) -> float:
    """Return the probability of an event; columns under ``do`` are set, whatever their causes."""
    forced, total = do or {}, 0.0
    names = list(network.nodes)
    for row in product(*(network.nodes[name].levels for name in names)):
        at = dict(zip(names, row, strict=True))
        if all(at[name] == level for name, level in {**event, **forced}.items()):
            total += prod(_given_causes(network, name, at) for name in names if name not in forced)
    return total


def _given_causes(network: Network, name: str, at: dict[str, str]) -> float:
    """Return how likely a column's level is, given those of its causes."""
    node, place = network.nodes[name], 0
    for parent in node.parents:
        levels = network.nodes[parent].levels
        place = place * len(levels) + levels.index(at[parent])
    return float(node.table[place][node.levels.index(at[name])])


def effect(network: Network, cause: str, outcome: str, levels: tuple[str, str] = ("no", "yes")) -> float:
    """Return how much likelier the outcome is if the cause is set to the second level in place of the first."""
    less, more = (share(network, {outcome: "yes"}, do={cause: level}) for level in levels)
    return more - less


def difference(network: Network, cause: str, outcome: str) -> float:
    """Return how much likelier the outcome is where the cause is seen, which is no effect if they share causes."""
    less, more = (share(network, {outcome: "yes", cause: at}) / share(network, {cause: at}) for at in ("no", "yes"))
    return more - less
