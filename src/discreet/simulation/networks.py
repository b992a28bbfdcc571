"""Benchmark networks that come with the package, and rows sampled from them.

The files are from the bnlearn repository (M. Scutari; CC BY-SA 3.0): asia (Lauritzen & Spiegelhalter 1988), cancer
and earthquake (Korb & Nicholson 2010), survey (Scutari & Denis 2014), alarm (Beinlich et al. 1989), sachs (Sachs et
al. 2005, discretised), child (Spiegelhalter & Cowell 1992).
"""

from __future__ import annotations

import gzip
import re
from importlib.resources import files
from math import prod
from pathlib import Path

import numpy as np
import numpy.typing as npt

from discreet.domain.yaml import read_text
from discreet.errors import NetworkError
from discreet.simulation.bayesian import Network, Node
from discreet.simulation.drawn import FAMILIES, draw_named

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_BLOCK = re.compile(r"(network|variable|probability)\s+([^{]*)\{((?:[^{}]|\{[^{}]*\})*)\}", re.DOTALL)
_LEVELS = re.compile(r"type\s+discrete\s*\[\s*(\d+)\s*\]\s*\{([^}]*)\}")
_ENTRY = re.compile(r"\s*(?:property[^;]*|(table|default|\([^)]*\))([^;]*));")


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


def names() -> tuple[str, ...]:
    """Return the names of the bundled networks."""
    folder = files("discreet.simulation") / "data"
    return tuple(sorted(f.name.removesuffix(".bif.gz") for f in folder.iterdir() if f.name.endswith(".bif.gz")))


def network(name: str) -> Network:
    """Return a bundled network by name, or one drawn at random for ``drawn:COLUMNS:SEED`` or ``skew:COLUMNS:SEED``."""
    if name.partition(":")[0] in FAMILIES:
        return draw_named(name)
    if name not in names():
        known = [*names(), *(f"{family}:COLUMNS:SEED" for family in FAMILIES)]
        raise NetworkError(f"no network {name!r}; there are {', '.join(known)}")
    packed = (files("discreet.simulation") / "data" / f"{name}.bif.gz").read_bytes()
    return Network(name, parse(gzip.decompress(packed).decode("utf-8")))


def read_bif(path: str | Path) -> Network:
    """Read a network from a BIF file."""
    return Network(Path(path).stem, parse(read_text(path, NetworkError, "network")))
