"""Draws the picture of the house from the import graph: `python docs/house.py` writes docs/house.svg.

Packages are boxes, and an arrow leads from one to what it imports, unless that is reached by way of others.
"""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pygraphviz

from discreet.audit.house import House, Module
from discreet.audit.layers import EXACT, EXCEPTIONS, GROUND, ROWS
from discreet.audit.source import project_trees

PICTURE = Path(__file__).parent / "house.svg"

WORDS = {
    "audit": "auditors, rules,\nwhat is broken on purpose",
    "baselines": "NOT PRIVATE: exact PC and BIC,\nmethods as published",
    "cli": "one file a command",
    "data": "the custodian's side:\nfiles, frames, engines",
    "domain": "what is public:\ncolumns, knowledge",
    "experiments": "published tables again",
    "ledger": "budgets across runs",
    "methods": "hold a room:\none file a method",
    "privacy": "noise, mechanisms,\nbudget, accounting",
    "release": "what was released,\noracles, confidence, rows drawn",
    "report": "page, pictures, terminal",
    "room": "the only holder of rows",
    "search": "graph, PC, hybrid, greedy,\norientation, interop",
    "simulation": "networks, forecasts",
    "statistics": "queries, sensitivities,\nproofs",
}
"""What each package is, on its box."""

FILLS = {"rows": "#fde9d9", "after": "#dcebf9", "exact": "#f8d7da"}


def package_graph() -> nx.DiGraph[str]:
    """Return which package imports which, without what goes by way of others and without the named exceptions."""
    house = House(Module(name, tree) for name, tree in project_trees().items())
    graph: nx.DiGraph[str] = nx.DiGraph()
    for name, targets in house.graph.items():
        for target in targets:
            a, b = house.modules[name].layer, house.modules[target].layer
            if a != b and {a, b} <= WORDS.keys() and (name, target) not in EXCEPTIONS:
                graph.add_edge(a, b)
    missing = {house.modules[name].layer for name in house.modules} - WORDS.keys() - set(GROUND)
    if missing - {"", "__main__", "testing"}:
        raise SystemExit(f"packages without a word: {sorted(missing)}")
    return nx.transitive_reduction(graph)


def side_of(package: str) -> str:
    """Return on which side of the house a package stands."""
    if package == EXACT.partition(".")[2]:
        return "exact"
    return "rows" if package in ROWS else "after"


def draw() -> str:
    """Return the picture as SVG."""
    lines = [
        "digraph house {",
        'graph [rankdir=TB, nodesep=0.25, ranksep=0.45, bgcolor=white, fontname="DejaVu Sans"];',
        'node [shape=box, style="rounded,filled", fontname="DejaVu Sans", fontsize=11, color="#555555"];',
        'edge [color="#777777", arrowsize=0.7];',
    ]
    for name, words in sorted(WORDS.items()):
        text = f"<b>{name}</b><br/><font point-size='9'>{words.replace(chr(10), '<br/>')}</font>"
        lines.append(f'"{name}" [label=<{text}>, fillcolor="{FILLS[side_of(name)]}"];')
    lines += [f'"{a}" -> "{b}";' for a, b in sorted(package_graph().edges)]
    svg: bytes = pygraphviz.AGraph(string="\n".join([*lines, "}"])).draw(format="svg", prog="dot")
    text = svg.decode()
    return text[text.index("<svg") :]


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
