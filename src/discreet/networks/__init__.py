"""Benchmark networks that come with the package, and rows sampled from them.

The files are from the bnlearn repository (M. Scutari; CC BY-SA 3.0): asia (Lauritzen & Spiegelhalter 1988), cancer
and earthquake (Korb & Nicholson 2010), survey (Scutari & Denis 2014), alarm (Beinlich et al. 1989), sachs (Sachs et
al. 2005, discretised), child (Spiegelhalter & Cowell 1992).
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
import numpy.typing as npt

from discreet.declaration import read_text
from discreet.domain import Categorical, Domain
from discreet.errors import NetworkError
from discreet.graph import Graph, from_parents
from discreet.networks.bif import Node, parse

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
        for name in self._sorted():
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

    def _sorted(self) -> list[str]:
        """Return the nodes, parents first."""
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


def names() -> tuple[str, ...]:
    """Return the names of the bundled networks."""
    folder = files("discreet.networks") / "data"
    return tuple(sorted(f.name.removesuffix(".bif.gz") for f in folder.iterdir() if f.name.endswith(".bif.gz")))


def network(name: str) -> Network:
    """Return a bundled network by name."""
    if name not in names():
        raise NetworkError(f"no network {name!r}; there are {', '.join(names())}")
    packed = (files("discreet.networks") / "data" / f"{name}.bif.gz").read_bytes()
    return Network(name, parse(gzip.decompress(packed).decode("utf-8")))


def read_bif(path: str | Path) -> Network:
    """Read a network from a BIF file."""
    return Network(Path(path).stem, parse(read_text(path, NetworkError, "network")))
