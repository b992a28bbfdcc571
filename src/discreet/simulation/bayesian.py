"""A Bayesian network over categorical columns, and rows sampled from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.domain import Categorical, Domain
from discreet.errors import NetworkError
from discreet.search.graph import Graph, from_parents


@dataclass(frozen=True, eq=False)
class Node:
    """One variable: its levels, its parents, and a row of probabilities for each configuration of the parents."""

    levels: tuple[str, ...]
    parents: tuple[str, ...]
    table: npt.NDArray[np.float64]


Codes = dict[str, npt.NDArray[np.uint8]]


@dataclass(frozen=True)
class Network:
    """A Bayesian network over categorical columns."""

    name: str
    nodes: dict[str, Node]

    @property
    def dag(self) -> Graph:
        """The true graph."""
        return from_parents({name: node.parents for name, node in self.nodes.items()})

    def domain(self, rows: int) -> Domain:
        """Return the public domain of a table of that many rows."""
        columns = {name: Categorical(categories=node.levels) for name, node in self.nodes.items()}
        return Domain(columns, rows=rows)

    def sample_codes(self, rows: int, rng: np.random.Generator) -> Codes:
        """Draw rows by forward sampling, as codes."""
        drawn: Codes = {}
        for name in self.in_order():
            node = self.nodes[name]
            if max(len(self.nodes[n].levels) for n in (name, *node.parents)) > 256:
                raise NetworkError(f"{name}: more than 256 levels")
            at = np.zeros(rows, dtype=np.uint32)
            for parent in node.parents:
                at = at * np.uint32(len(self.nodes[parent].levels)) + drawn[parent]
            drawn[name] = draw_codes(node.table, at if node.parents else None, rows, rng).astype(np.uint8)
        return {name: drawn[name] for name in self.nodes}

    def sample(self, rows: int, rng: np.random.Generator) -> dict[str, npt.NDArray[np.str_]]:
        """Draw rows as labels, one array a column."""
        codes = self.sample_codes(rows, rng)
        return {name: np.array(self.nodes[name].levels)[code] for name, code in codes.items()}

    def in_order(self) -> list[str]:
        """Return the names of the nodes, parents first."""
        done: dict[str, None] = {}
        while len(done) < len(self.nodes):
            ready = [n for n, node in self.nodes.items() if n not in done and all(p in done for p in node.parents)]
            if not ready:
                raise NetworkError(f"network {self.name!r} has a cycle")
            done.update(dict.fromkeys(ready))
        return list(done)


def draw_codes(
    table: npt.NDArray[np.float64], at: npt.NDArray[np.uint32] | None, rows: int, rng: np.random.Generator
) -> npt.NDArray[np.uint16]:
    """Draw a code a row, by the shares in the table's row that each stands at; all at the first without ``at``."""
    steps = np.cumsum(table, axis=1, dtype=np.float64)[:, :-1].astype(np.float32)
    u = rng.random(rows, dtype=np.float32)
    if at is None:
        return np.searchsorted(steps[0], u, side="right").astype(np.uint16)
    code = np.zeros(rows, dtype=np.uint16)
    for step in steps.T:
        code += u >= step[at]
    return code
