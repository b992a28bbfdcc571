"""The truth: independence read off a known graph by d-separation. For tests and simulations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.search.graph import Graph
from discreet.search.oracle import Verdict

if TYPE_CHECKING:
    import networkx


class DSeparation:
    """Answers from a known directed acyclic graph."""

    free = True
    max_order = None

    def __init__(self, dag: Graph) -> None:
        import networkx

        self._dag: networkx.DiGraph[str] = networkx.DiGraph()
        self._dag.add_nodes_from(dag.nodes)
        self._dag.add_edges_from(dag.directed)

    def answers(self, x: str, y: str, given: frozenset[str]) -> bool:
        """Whether it can answer: always."""
        return True

    def ask(self, x: str, y: str, given: frozenset[str]) -> Verdict:
        """Answer by d-separation."""
        import networkx

        independent = bool(networkx.is_d_separator(self._dag, {x}, {y}, set(given)))
        return Verdict(independent, -1.0 if independent else 1.0)
