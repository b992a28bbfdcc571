"""What is handed out: a graph, its privacy statement, and the noisy tables it was found in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet._version import __version__
from discreet.domain import Domain
from discreet.domain.knowledge import Knowledge
from discreet.errors import DiscreetError, ReleaseError, SettingError
from discreet.privacy.statement import Privacy
from discreet.release.direction import Direction
from discreet.release.file import read_release
from discreet.release.release import Measurement
from discreet.search.graph import Arc, Edge, Graph, Pair

if TYPE_CHECKING:
    import networkx

    from discreet.release.edges import EdgeTable
    from discreet.report.picture import Picture

SCHEMA = 2
READABLE = (1, 2)
"""Schemas that are read: the first has no marks at the ends of edges."""

LIKELY = 0.5
"""A direction that is less likely than this is not shown to people: its arrow is drawn as a line."""

LONGEST_TITLE = 200


def _plain(value: Any) -> Any:
    """Return a number of NumPy as a plain one."""
    if not hasattr(value, "item"):
        raise TypeError(f"a {type(value).__name__} has no place in a release")
    return value.item()


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _confidence(edges: list[Mapping[str, Any]]) -> dict[Pair, Confidence]:
    """Read the confidence of the edges back, where there is one."""
    found = {}
    for edge in edges:
        if edge["confidence"] is not None:
            arrow = edge["arrow_confidence"]
            numbers = (float(edge["confidence"]), None if arrow is None else float(arrow))
            if not all(number is None or 0 <= number <= 1 for number in numbers):
                raise ReleaseError("a confidence is a number from 0 to 1")
            found[frozenset((edge["from"], edge["to"]))] = Confidence(*numbers)
    return found


CHANGED = "changed after the release"
"""What the setting `knowledge` says where a release was searched again with other knowledge."""


def _settings(method: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Read a method's settings back."""
    if method in ("marginals", "moments"):
        numbers = {"max_order": int(given["max_order"]), "alpha": float(given["alpha"])}
        later = {"knowledge": CHANGED} if given.get("knowledge") == CHANGED else {}
        return {"search": str(given["search"]), **numbers, "missing": str(given.get("missing", "level")), **later}
    if any(not isinstance(value, str | int | float | None) for value in given.values()):
        raise ReleaseError("a setting is a number or a word")
    return {str(name): value for name, value in given.items()}


def _directions(data: Mapping[str, Any], domain: Domain) -> tuple[Direction, ...] | None:
    """Read back what was found about edges without a direction; None if that was not asked."""
    if "directions" not in data:
        return None
    found = tuple(Direction.from_dict(pair, domain.rows) for pair in data["directions"])
    if any(name not in domain.columns for pair in found for name in (pair.x, pair.y)):
        raise ReleaseError("a direction names a column that is not declared")
    if any(pair.table is None for pair in found):
        raise ReleaseError("a direction of a graph's edge lacks its table")
    return found


@dataclass(frozen=True)
class Confidence:
    """How sure an edge is, and the arrowhead if it has one: probabilities, fitted on random networks."""

    edge: float
    arrow: float | None


@dataclass(frozen=True)
class About:
    """What a release is called, in its custodian's words, and on which day it was made: public facts."""

    title: str = ""
    made: str = ""

    def __post_init__(self) -> None:
        if not all(isinstance(text, str) and len(text) <= LONGEST_TITLE for text in (self.title, self.made)):
            raise SettingError(f"title: a text of {LONGEST_TITLE} characters at most")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> About:
        """Read it back."""
        return cls(data.get("title", ""), data.get("made", ""))


@dataclass(frozen=True)
class Discovery:
    """A graph found under differential privacy. Holds released values and public facts only.

    ``graph`` is the class that the search found, in its formal sense. What people are shown is ``drawn``.
    ``directions`` are about edges that it leaves open, by the shape of both columns, which is another assumption; None
    if that was not asked.
    """

    graph: Graph
    privacy: Privacy
    method: str
    settings: Mapping[str, Any]
    domain: Domain
    knowledge: Knowledge
    measurements: tuple[Measurement, ...]
    confidence: Mapping[Pair, Confidence] = field(default_factory=dict)
    about: About = About()
    directions: tuple[Direction, ...] | None = None

    @cached_property
    def withheld(self) -> frozenset[Arc]:
        """Arrows of the class that are less likely than not, and that no knowledge settles."""
        arrows = {(a, b): self.confidence.get(frozenset((a, b))) for a, b in self.graph.directed}
        return frozenset(
            arc
            for arc, sure in arrows.items()
            if sure is not None and sure.arrow is not None and sure.arrow < LIKELY and not self.knowledge.settles(*arc)
        )

    @cached_property
    def drawn(self) -> Graph:
        """The graph as people see it: the class, with what is withheld as lines."""
        lines = {frozenset(arc) for arc in self.withheld}
        kept = [edge for edge in self.graph.marked if edge.pair not in lines]
        return Graph(self.graph.nodes, undirected=lines, edges=kept, kind=self.graph.kind)

    def facts_of(self, edge: Edge) -> dict[str, float | str | None]:
        """Return what is known of an edge besides its marks: how sure it is, and by what its direction is settled."""
        sure = self.confidence.get(edge.pair)
        return {
            "confidence": None if sure is None else sure.edge,
            "arrow_confidence": None if sure is None else sure.arrow,
            "settled_by": self.knowledge.settles(edge.a, edge.b) if edge.directed else None,
        }

    def __hash__(self) -> int:
        return hash((self.graph, self.privacy, self.method))

    def __repr__(self) -> str:
        """Say in a line what was found, under which promise."""
        arrows, lines = len(self.drawn.directed), len(self.drawn.undirected)
        privacy = f"epsilon {self.privacy.epsilon:g}, delta {self.privacy.delta:g}"
        return (
            f"<Discovery: {len(self.graph.nodes)} columns, {self.domain.rows:,} rows, {arrows} arrows and {lines} "
            f"lines, by {self.method} with {privacy if self.privacy.private else 'NO PRIVACY'}>"
        )

    @cached_property
    def edges(self) -> EdgeTable:
        """The edges as a table: marks, confidence, strength and warnings; ``edges.to_pandas()`` makes a frame."""
        from discreet.release.edges import edge_table

        return edge_table(self)

    @cached_property
    def functions(self) -> dict[str, list[list[str]]]:
        """The columns that look like functions of one or two others (sums, codes, copies), and of which."""
        from discreet.release.search import functions_in

        return {column: sorted(map(sorted, sets)) for column, sets in sorted(functions_in(self).items())}

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "schema": SCHEMA,
            "method": self.method,
            "graph": self._graph_dict(),
            "privacy": self.privacy.to_dict(),
            "rows": self.domain.rows,
            "functions": self.functions,
            **({} if self.directions is None else {"directions": [pair.to_dict() for pair in self.directions]}),
            "version": __version__,
        }

    def _graph_dict(self) -> dict[str, Any]:
        """Return the graph with what is known of every edge, null where a method has no confidence."""
        data = self.graph.to_dict()
        for written, edge in zip(data["edges"], self.graph.edges(), strict=True):
            written.update(self.facts_of(edge))
        return data

    def to_json(self) -> str:
        """Return everything, with the noisy tables: enough to search again."""
        extra = {
            "settings": dict(self.settings),
            "domain": self.domain.to_dict(),
            "knowledge": self.knowledge.to_dict(),
            "measurements": [m.to_dict() for m in self.measurements],
            "about": vars(self.about),
        }
        return json.dumps({**self.to_dict(), **extra}, ensure_ascii=False, allow_nan=False, default=_plain)

    @classmethod
    def from_json(cls, text: str) -> Discovery:
        """Read a release back."""
        try:
            data = json.loads(text, parse_constant=_refuse)
        except (ValueError, TypeError, RecursionError):
            raise ReleaseError("not a release (the .json file that `discover --out` writes): not JSON") from None
        if not isinstance(data, dict) or "schema" not in data or "measurements" not in data:
            raise ReleaseError("not a release: expected what `discover --out` writes to release.json")
        if data["schema"] not in READABLE:
            raise ReleaseError(f"the release has schema {data['schema']!r}, this version reads up to {SCHEMA}")
        try:
            return cls._from_dict(data)
        except DiscreetError as error:
            raise ReleaseError(f"the release is damaged: {error}") from None
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError) as error:
            raise ReleaseError(f"the release is damaged ({type(error).__name__})") from None

    @classmethod
    def _from_dict(cls, data: Mapping[str, Any]) -> Discovery:
        domain = Domain.from_dict(data["domain"])
        knowledge = Knowledge.from_dict(data["knowledge"])
        measurements = tuple(Measurement.from_dict(m, domain) for m in data["measurements"])
        graph = Graph.from_dict(data["graph"])
        if set(graph.nodes) != set(domain):
            raise ReleaseError("the graph and the domain name different columns")
        method = str(data["method"])
        return cls(
            graph,
            Privacy.from_dict(data["privacy"]),
            method,
            _settings(method, data["settings"]),
            domain,
            knowledge,
            measurements,
            _confidence(data["graph"]["edges"]),
            About.from_dict(data.get("about", {})),
            _directions(data, domain),
        )

    @classmethod
    def load(cls, path: str | Path) -> Discovery:
        """Read a release file."""
        return cls.from_json(read_release(path))

    def to_networkx(self) -> networkx.DiGraph[str]:
        """Return the graph for networkx, with what is known of its edges: ``confidence``, ``arrow_confidence``..."""
        from discreet.search.interop import to_networkx

        return to_networkx(self.graph, {edge: self.facts_of(edge) for edge in self.graph.marked})

    def save(self, folder: str | Path) -> list[Path]:
        """Write release.json, graph.svg, graph.gml and report.html; return their paths."""
        from discreet.report import path_of, write_files

        return write_files(self, path_of(folder))

    def plot(self, path: str | Path | None = None) -> Picture:
        """Return a picture of the graph, which a notebook shows; with a path, write it as .svg, .png or .pdf too."""
        from discreet.report.picture import Picture

        picture = Picture(self)
        if path is not None:
            picture.save(path)
        return picture

    def _repr_html_(self) -> str:
        """Show the graph with its key facts in a notebook."""
        from discreet.report.picture import notebook_html

        return notebook_html(self)
