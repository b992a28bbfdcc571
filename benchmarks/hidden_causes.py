"""Confidences where effects are weak and causes hidden.

Run: python benchmarks/hidden_causes.py [networks] [jobs] [hubs].

Dense networks as surveys may be: most effects weak, a few strong, and columns that nobody asked about. Half of them
have categories only and are searched by `marginals`; the other half have numbers and are searched by `moments`. An
edge is right if nothing that was asked separates its ends, an arrow if it leads from a cause to its effect, maybe by
way of others. With `hubs`, a few columns are causes of nearly all others. The curves of
`discreet.release.confidence` were not fitted on such networks.
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from functools import partial

import networkx
import numpy as np

from discreet.data.memory import MemoryTable
from discreet.domain import Categorical, Column, Domain, Numeric
from discreet.domain.knowledge import NOTHING_KNOWN
from discreet.experiments.calibration import Claims, reliability
from discreet.methods.discover import discover_in
from discreet.methods.registry import budget_for, method_of
from discreet.release.settings import Marginals, Moments
from discreet.room import Room
from discreet.search.dseparation import DSeparation
from discreet.search.graph import Arc, Graph, Pair
from discreet.simulation import declared
from discreet.simulation.processes import run_all

ROWS = (1_000, 2_000, 5_000, 20_000)
EPSILONS = (0.5, 1.0, 3.0, 10.0)
COLUMNS = (12, 24)

ARROWS, MOST_CAUSES = (1.5, 3.0), 4
"""Arrows a column; any column before it may be its cause, so that the first act on many."""

EFFECTS = (0.1, 1.5)
"""Between which deviations an arrow moves log odds, or a number whose noise has deviation 1: any ratio as likely."""

HUBS, FROM_HUBS = (2, 4), 0.7
"""How many columns are causes of nearly all others, where there are such, and the share of arrows they send out."""

HIDDEN = (0.15, 0.3)
"""Share of the columns that nobody asked about."""

DRAWN = 0.5
"""From this confidence on people are shown an arrow."""


class Truth:
    """What is right, by the whole network."""

    def __init__(self, dag: Graph, asked: Domain) -> None:
        graph = networkx.DiGraph(list(dag.directed))
        graph.add_nodes_from(dag.nodes)
        self._causes = {node: frozenset(networkx.ancestors(graph, node)) for node in dag.nodes}
        self._asked = frozenset(asked)
        self._independence = DSeparation(dag)

    def edge(self, pair: Pair) -> bool:
        """Whether no columns that were asked separate two; if any do, all their causes do."""
        a, b = sorted(pair)
        return not self._independence.ask(a, b, (self._causes[a] | self._causes[b]) & self._asked - pair).independent

    def arrow(self, arc: Arc) -> bool:
        """Whether the first is a cause of the second."""
        cause, effect = arc
        return cause in self._causes[effect]


def claims(seed: int, *, hubs: bool = False) -> Claims:
    """Find the graph of one network drawn at random, and say what is right of it."""
    rng = np.random.default_rng([seed, 7])
    rows, epsilon = int(rng.choice(ROWS)), float(rng.choice(EPSILONS))
    columns = _draw_columns(rng, numbers=seed % 2 == 1)
    hidden = rng.choice(sorted(columns), round(float(rng.uniform(*HIDDEN)) * len(columns)), replace=False).tolist()
    asked = {name: column for name, column in columns.items() if name not in hidden}
    settings = Moments() if any(isinstance(c, Numeric) for c in asked.values()) else Marginals()
    budget = budget_for(settings, epsilon, 1e-6)
    domain = method_of(settings).encode(settings, Domain(asked, rows=rows), budget, NOTHING_KNOWN)
    net = _draw_dense(Domain({**columns, **domain.columns}, rows=rows), rng, hubs=hubs)
    codes, _ = net.sample(rows, rng)
    table = MemoryTable({c: codes[c] for c in domain}, {c: domain.size(c) for c in domain})
    found = discover_in(Room(table, domain, budget), settings)
    truth = Truth(net.dag, domain)
    edges = [(sure.edge, truth.edge(pair)) for pair, sure in found.confidence.items()]
    arrows = [(found.confidence[frozenset(arc)].arrow or 0.0, truth.arrow(arc)) for arc in found.graph.directed]
    return Claims(edges, arrows)


def _draw_columns(rng: np.random.Generator, *, numbers: bool) -> dict[str, Column]:
    columns: dict[str, Column] = {}
    for i in range(int(rng.integers(*COLUMNS, endpoint=True))):
        levels = tuple(f"l{k}" for k in range(int(rng.choice([2, 2, 2, 3, 3, 4, 6]))))
        number = numbers and (i < 2 or rng.random() < 0.4)
        bounds = (-declared.WIDEST, declared.WIDEST)
        columns[f"c{i:02d}"] = Numeric(bounds=bounds) if number else Categorical(categories=levels)
    return columns


def _draw_dense(domain: Domain, rng: np.random.Generator, *, hubs: bool) -> declared.Declared:
    kind = declared.Kind(0.0, declared.STRENGTHS[0], bool(rng.random() < 0.5))
    net = declared.draw_over(domain, rng, kind, required=_draw_arrows(sorted(domain), rng, hubs=hubs))
    return replace(net, laws={name: _draw_law(name, net, rng) for name in net.laws})


def _draw_arrows(names: list[str], rng: np.random.Generator, *, hubs: bool) -> list[Arc]:
    order = [names[i] for i in rng.permutation(len(names))]
    first = int(rng.integers(*HUBS, endpoint=True)) if hubs else 0
    wanted = round(float(rng.uniform(*ARROWS)) * (len(order) - first))
    causes: dict[str, set[str]] = {name: set() for name in order}
    while sum(map(len, causes.values())) < wanted:
        cause, effect = sorted(rng.choice(len(order), 2, replace=False).tolist())
        if hubs and rng.random() < FROM_HUBS:
            cause = int(rng.integers(first))
        if effect >= first and len(causes[order[effect]]) < MOST_CAUSES:
            causes[order[effect]].add(order[cause])
    return sorted((a, b) for b, found in causes.items() for a in found)


def _draw_law(name: str, net: declared.Declared, rng: np.random.Generator) -> declared.Shares | declared.Curve:
    """Draw how a column follows its causes, each by an effect of its own; without causes it stays as it is."""
    law, causes = net.laws[name], net.parents[name]
    if not causes:
        return law
    effects = np.exp(rng.uniform(math.log(EFFECTS[0]), math.log(EFFECTS[1]), len(causes)))
    if isinstance(law, declared.Curve):
        total = float(effects @ effects)
        weights = effects * rng.choice([-1.0, 1.0], size=len(causes))
        return replace(law, weights=tuple(weights.tolist()), explained=total / (1 + total))
    levels, shape = law.table.shape[1], [declared.groups_of(net.domain[p]) for p in causes]
    logits = np.log(0.8 * rng.dirichlet(np.full(levels, 1.5)) + 0.2 / levels)[None, :]
    places = np.unravel_index(np.arange(len(law.table)), shape)
    for place, size, effect in zip(places, shape, effects, strict=True):
        logits = logits + effect * rng.normal(size=(size, levels))[place]
    shares = np.exp(logits)
    return declared.Shares(shares / shares.sum(axis=1, keepdims=True))


def main() -> None:
    """Print what is right in each range of confidence, and of the arrows that people are shown."""
    networks = int(sys.argv[1]) if len(sys.argv) > 1 else 240
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    found = list(run_all(partial(claims, hubs="hubs" in sys.argv), list(range(networks)), jobs))
    arrows = [pair for c in found for pair in c.arrows]
    print("| | stated from | to | claims | stated, mean | right |\n|---|---|---|---|---|---|")
    for name, said in (("edges", [pair for c in found for pair in c.edges]), ("arrowheads", arrows)):
        for r in reliability(said):
            numbers = f"{r['from']:.2f} | {r['to']:.2f} | {r['claims']} | {r['said']:.3f} | {r['right']:.3f}"
            print(f"| {name} | {numbers} |")
    stated, right = np.mean([pair for pair in arrows if pair[0] >= DRAWN], axis=0)
    print(f"{sum(a[0] >= DRAWN for a in arrows)} arrows are drawn, stated at {stated:.3f}, {right:.3f} of them right")


if __name__ == "__main__":
    main()
