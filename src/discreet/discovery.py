"""What is handed out: a graph, its privacy statement, and the noisy tables it was found in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet._version import __version__
from discreet.arrays import IntArray
from discreet.declaration import MAX_BYTES
from discreet.domain import Domain
from discreet.errors import DiscreetError, ReleaseError
from discreet.graph import Graph
from discreet.knowledge import Knowledge
from discreet.mechanisms.additive import Additive, DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.privacy.budget import Budget
from discreet.release import Release
from discreet.statistics.counts import Counts

if TYPE_CHECKING:
    import networkx

SCHEMA = 1
MAX_RELEASE_BYTES = 64 * MAX_BYTES

_MECHANISMS: dict[str, type[RoundedGaussian] | type[DiscreteGaussian] | type[DiscreteLaplace]] = {
    "rounded-gaussian": RoundedGaussian,
    "discrete-gaussian": DiscreteGaussian,
    "discrete-laplace": DiscreteLaplace,
}


@dataclass(frozen=True)
class Spending:
    """One line of what was spent."""

    statistic: str
    mechanism: str
    currency: str
    amount: float


@dataclass(frozen=True)
class Privacy:
    """The promise, and what it was spent on."""

    epsilon: float
    delta: float
    unit: str
    private: bool
    spent: tuple[Spending, ...]

    @classmethod
    def of(cls, budget: Budget, domain: Domain, *, private: bool) -> Privacy:
        """Return the statement of a budget."""
        spent = tuple(Spending(e.statistic, e.mechanism, e.currency.value, float(e.amount)) for e in budget.entries)
        return cls(budget.epsilon, budget.delta, domain.unit, private, spent)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "neighbors": "replace-one-row",
            "unit": self.unit,
            "private": self.private,
            "spent": [vars(spending) for spending in self.spent],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Privacy:
        """Read it back."""
        spent = tuple(
            Spending(str(s["statistic"]), str(s["mechanism"]), str(s["currency"]), float(s["amount"]))
            for s in data["spent"]
        )
        return cls(float(data["epsilon"]), float(data["delta"]), str(data["unit"]), data["private"] is True, spent)


@dataclass(frozen=True, eq=False)
class Measurement:
    """Noisy contingency tables and the mechanism that blurred them."""

    sets: tuple[tuple[str, ...], ...]
    tables: tuple[IntArray, ...]
    mechanism: Additive

    @classmethod
    def of(cls, release: Release[Counts], domain: Domain) -> Measurement:
        """Cut a release into tables."""
        if not isinstance(release.mechanism, RoundedGaussian | DiscreteGaussian | DiscreteLaplace):
            raise ReleaseError("only additive noise can be written down")
        tables = release.statistic.split(release.values, domain)
        return cls(release.statistic.sets, tuple(tables), release.mechanism)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        kind = next(name for name, cls in _MECHANISMS.items() if isinstance(self.mechanism, cls))
        return {
            "mechanism": {"kind": kind, **vars(self.mechanism)},
            "tables": [
                {"columns": list(s), "counts": t.ravel().tolist()} for s, t in zip(self.sets, self.tables, strict=True)
            ],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], domain: Domain) -> Measurement:
        """Read it back; shapes come from the domain."""
        mechanism = dict(data["mechanism"])
        kind = _MECHANISMS[mechanism.pop("kind")]
        sets = tuple(tuple(t["columns"]) for t in data["tables"])
        tables = []
        for columns, table in zip(sets, data["tables"], strict=True):
            counts = np.array(table["counts"], dtype=np.int64)
            if len(columns) != 2 or columns[0] >= columns[1] or counts.size != prod(domain.shape(columns)):
                raise ReleaseError("a table does not have the shape that the domain declares")
            tables.append(counts.reshape(domain.shape(columns)))
        return cls(sets, tuple(tables), kind(**{key: float(value) for key, value in mechanism.items()}))


@dataclass(frozen=True, eq=False)
class Discovery:
    """A graph found under differential privacy. Holds released values and public facts only."""

    graph: Graph
    privacy: Privacy
    method: str
    settings: Mapping[str, Any]
    domain: Domain
    knowledge: Knowledge
    measurements: tuple[Measurement, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "schema": SCHEMA,
            "method": self.method,
            "graph": self.graph.to_dict(),
            "privacy": self.privacy.to_dict(),
            "rows": self.domain.rows,
            "version": __version__,
        }

    def to_json(self) -> str:
        """Return everything, with the noisy tables: enough to search again."""
        extra = {
            "settings": dict(self.settings),
            "domain": self.domain.to_dict(),
            "knowledge": self.knowledge.to_dict(),
            "measurements": [m.to_dict() for m in self.measurements],
        }
        return json.dumps({**self.to_dict(), **extra}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Discovery:
        """Read a release back."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            raise ReleaseError("not a release: the file is not JSON") from None
        if not isinstance(data, dict) or "schema" not in data or "measurements" not in data:
            raise ReleaseError("not a release: expected what `discover --out` writes to release.json")
        if data["schema"] != SCHEMA:
            raise ReleaseError(f"the release has schema {data['schema']!r}, this version reads {SCHEMA}")
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
        settings = {"alpha": float(data["settings"]["alpha"]), "max_order": int(data["settings"]["max_order"])}
        return cls(
            graph, Privacy.from_dict(data["privacy"]), str(data["method"]), settings, domain, knowledge, measurements
        )

    @classmethod
    def load(cls, path: str | Path) -> Discovery:
        """Read a release file."""
        try:
            size = Path(path).stat().st_size
            if size > MAX_RELEASE_BYTES:
                raise ReleaseError(f"the release file is larger than {MAX_RELEASE_BYTES // 2**20} MiB")
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            raise ReleaseError(f"the release file {Path(path).name!r} cannot be read") from None

    def to_networkx(self) -> networkx.DiGraph[str]:
        """Return the graph for networkx."""
        from discreet.interop import to_networkx

        return to_networkx(self.graph)

    def save(self, folder: str | Path) -> list[Path]:
        """Write release.json, graph.svg, graph.gml and report.html; return their paths."""
        from discreet.report import write_files

        return write_files(self, Path(folder))

    def _repr_html_(self) -> str:
        """Show the graph in a notebook."""
        from discreet.report.svg import graph_svg

        return graph_svg(self.graph)
