"""Benchmark networks that come with the package, and rows sampled from them.

The files are from the bnlearn repository (M. Scutari; CC BY-SA 3.0): asia (Lauritzen & Spiegelhalter 1988), cancer
and earthquake (Korb & Nicholson 2010), survey (Scutari & Denis 2014), alarm (Beinlich et al. 1989), sachs (Sachs et
al. 2005, discretised), child (Spiegelhalter & Cowell 1992).
"""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from importlib.resources import files
from math import prod
from pathlib import Path

import numpy as np
import numpy.typing as npt

from discreet.domain import Categorical, Domain
from discreet.domain.yaml import read_text
from discreet.errors import NetworkError
from discreet.search.graph import Graph, from_parents

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_BLOCK = re.compile(r"(network|variable|probability)\s+([^{]*)\{((?:[^{}]|\{[^{}]*\})*)\}", re.DOTALL)
_LEVELS = re.compile(r"type\s+discrete\s*\[\s*(\d+)\s*\]\s*\{([^}]*)\}")
_ENTRY = re.compile(r"\s*(?:property[^;]*|(table|default|\([^)]*\))([^;]*));")


@dataclass(frozen=True, eq=False)
class Node:
    """One variable: its levels, its parents, and a row of probabilities for each configuration of the parents."""

    levels: tuple[str, ...]
    parents: tuple[str, ...]
    table: npt.NDArray[np.float64]


def parse(text: str) -> dict[str, Node]:
    """Return the nodes of a network written in BIF."""
    plain = _COMMENT.sub(" ", text)
    levels: dict[str, tuple[str, ...]] = {}
    tables: dict[str, tuple[tuple[str, ...], str]] = {}
    for kind, head, body in _BLOCK.findall(plain):
        if kind == "variable":
            levels[_word(head)] = _levels(_word(head), body)
        elif kind == "probability":
            child, _, given = head.strip().removeprefix("(").rstrip().removesuffix(")").partition("|")
            tables[_word(child)] = (_words(given), body)
    if not levels:
        raise NetworkError("not a BIF file: it declares no variable")
    if missing := sorted(set(levels) - set(tables)):
        raise NetworkError(f"variable {missing[0]!r} has no probabilities")
    return {name: _node(name, levels, *tables[name]) for name in levels}


def _word(text: str) -> str:
    return text.strip().strip('"')


def _words(text: str) -> tuple[str, ...]:
    return tuple(_word(w) for w in text.split(",") if w.strip())


def _levels(name: str, body: str) -> tuple[str, ...]:
    found = _LEVELS.search(body)
    labels = _words(found[2]) if found else ()
    if not found or len(labels) != int(found[1]) or len(set(labels)) != len(labels):
        raise NetworkError(f"variable {name!r}: expected `type discrete [ k ] {{ k different levels }}`")
    return labels


def _node(name: str, levels: dict[str, tuple[str, ...]], parents: tuple[str, ...], body: str) -> Node:
    """Build one node from the body of its probability block."""
    if strange := [p for p in parents if p not in levels]:
        raise NetworkError(f"variable {name!r}: its parent {strange[0]!r} is not declared")
    shape = tuple(len(levels[p]) for p in parents)
    table = np.full((prod(shape), len(levels[name])), np.nan)
    for key, row in _ENTRY.findall(body):
        numbers = _numbers(name, row) if key else np.empty(0)
        if key == "table":
            table[:] = _reshape(name, numbers, table.shape)
        elif key == "default":
            open_rows = np.isnan(table[:, 0])
            table[open_rows] = _reshape(name, numbers, (1, table.shape[1]))
        elif key:
            config = _words(key[1:-1])
            table[_row(name, config, parents, levels, shape)] = _reshape(name, numbers, (1, table.shape[1]))[0]
    if not np.isfinite(table).all() or (table < 0).any() or not np.allclose(table.sum(axis=1), 1, atol=1e-3):
        raise NetworkError(f"variable {name!r}: its probabilities are incomplete or do not add up to 1")
    return Node(levels[name], parents, table / table.sum(axis=1, keepdims=True))


def _numbers(name: str, row: str) -> npt.NDArray[np.float64]:
    try:
        return np.array([float(w) for w in row.replace(",", " ").split()])
    except ValueError:
        raise NetworkError(f"variable {name!r}: a probability is not a number") from None


def _reshape(name: str, numbers: npt.NDArray[np.float64], shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    if numbers.size != shape[0] * shape[1]:
        raise NetworkError(f"variable {name!r}: a row of probabilities has the wrong length")
    return numbers.reshape(shape)


def _row(
    name: str,
    config: tuple[str, ...],
    parents: tuple[str, ...],
    levels: dict[str, tuple[str, ...]],
    shape: tuple[int, ...],
) -> int:
    try:
        codes = [levels[p].index(label) for p, label in zip(parents, config, strict=True)]
    except ValueError:
        raise NetworkError(f"variable {name!r}: a row names a level that a parent does not have") from None
    return int(np.ravel_multi_index(codes, shape)) if codes else 0


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


def names() -> tuple[str, ...]:
    """Return the names of the bundled networks."""
    folder = files("discreet.simulation") / "data"
    return tuple(sorted(f.name.removesuffix(".bif.gz") for f in folder.iterdir() if f.name.endswith(".bif.gz")))


def network(name: str) -> Network:
    """Return a bundled network by name."""
    if name not in names():
        raise NetworkError(f"no network {name!r}; there are {', '.join(names())}")
    packed = (files("discreet.simulation") / "data" / f"{name}.bif.gz").read_bytes()
    return Network(name, parse(gzip.decompress(packed).decode("utf-8")))


def read_bif(path: str | Path) -> Network:
    """Read a network from a BIF file."""
    return Network(Path(path).stem, parse(read_text(path, NetworkError, "network")))
