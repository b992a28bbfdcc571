"""Background knowledge: what is publicly known about causes before any data are read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from discreet.domain.yaml import Node, as_labels, as_list, as_mapping, load_yaml, refuse_unknown
from discreet.errors import KnowledgeError

Arc = tuple[str, str]
"""A direct cause and its effect."""


@dataclass(frozen=True)
class Knowledge:
    """Required and forbidden arrows, and tiers.

    ``forbidden`` holds single directions: (a, b) means that a is no direct cause of b. A pair forbidden both
    ways is never adjacent and never asked about. Nothing in a later tier causes anything in an earlier one.
    """

    required: frozenset[Arc] = field(default_factory=frozenset)
    forbidden: frozenset[Arc] = field(default_factory=frozenset)
    tiers: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        for key in ("required", "forbidden"):
            object.__setattr__(self, key, _read_arcs({key: _listed(getattr(self, key), key)}, key))
        tiers = [as_labels(_listed(tier, "tiers"), KnowledgeError, "tiers") for tier in _listed(self.tiers, "tiers")]
        object.__setattr__(self, "tiers", tuple(tiers))
        named = [c for tier in self.tiers for c in tier]
        if len(set(named)) != len(named):
            raise KnowledgeError("tiers: a column stands in two tiers")
        for a, b in sorted(self.required):
            if a == b:
                raise KnowledgeError(f"required: {a!r} cannot cause itself")
            if not self.allows(a, b):
                raise KnowledgeError(f"required: {a!r} -> {b!r} is also forbidden, by name or by its tiers")
        self._refuse_cycle()

    def __repr__(self) -> str:
        """Say in a line how much is known."""
        counts = {"required": len(self.required), "forbidden": len(self.forbidden), "tiers": len(self.tiers)}
        return f"<Knowledge: {', '.join(f'{n} {name}' for name, n in counts.items() if n) or 'nothing'}>"

    def _refuse_cycle(self) -> None:
        """Refuse required arrows that form a cycle, tiers included."""
        arcs = set(self.required)
        for i, early in enumerate(self.tiers):
            arcs |= {(a, b) for a in early for late in self.tiers[i + 1 :] for b in late}
        while arcs:
            sources = {a for a, _ in arcs} - {b for _, b in arcs}
            if not sources:
                raise KnowledgeError("required: the arrows (and tiers) lead in a circle")
            arcs = {(a, b) for a, b in arcs if a not in sources}

    @cached_property
    def _tier(self) -> dict[str, int]:
        return {column: i for i, tier in enumerate(self.tiers) for column in tier}

    def allows(self, a: str, b: str) -> bool:
        """Whether a may be a direct cause of b."""
        first, second = self._tier.get(a), self._tier.get(b)
        backwards = first is not None and second is not None and first > second
        return (a, b) not in self.forbidden and (b, a) not in self.required and not backwards

    def may_touch(self, a: str, b: str) -> bool:
        """Whether a and b may be adjacent at all."""
        return self.allows(a, b) or self.allows(b, a)

    def requires(self, a: str, b: str) -> bool:
        """Whether a and b must be adjacent."""
        return (a, b) in self.required or (b, a) in self.required

    def forces(self, a: str, b: str) -> bool:
        """Whether an edge between a and b must point from a to b."""
        return self.allows(a, b) and not self.allows(b, a)

    def without(self, pairs: Iterable[Arc]) -> Knowledge:
        """Return it with some pairs forbidden both ways, but for those that must be adjacent."""
        more = {arc for a, b in pairs if not self.requires(a, b) for arc in ((a, b), (b, a))}
        return replace(self, forbidden=self.forbidden | more)

    def settles(self, a: str, b: str) -> str | None:
        """Return by what an edge between a and b must point from a to b: required, forbidden or tiers, if by any."""
        if not self.forces(a, b):
            return None
        return "required" if (a, b) in self.required else "forbidden" if (b, a) in self.forbidden else "tiers"

    def untiered(self, columns: Iterable[str]) -> list[str]:
        """Return the columns that stand in no tier, where there are tiers."""
        return [column for column in columns if self.tiers and column not in self._tier]

    def check(self, columns: Iterable[str]) -> None:
        """Refuse names that are not among the columns."""
        known = set(columns)
        arcs = [c for arc in (*self.required, *self.forbidden) for c in arc]
        strange = sorted({*arcs, *(c for tier in self.tiers for c in tier)} - known)
        if strange:
            named = ", ".join(map(repr, strange))
            raise KnowledgeError(f"knowledge names {named}: not among the columns of the domain")

    @classmethod
    def from_yaml(cls, source: str | Path) -> Knowledge:
        """Read knowledge from YAML: a path, or the text itself if it holds a line break."""
        return cls.from_dict(load_yaml(source, KnowledgeError, "knowledge"))

    @classmethod
    def from_dict(cls, node: Node) -> Knowledge:
        """Build knowledge from plain data: lists of [cause, effect], and a list of tiers."""
        top = as_mapping({} if node in (None, "") else node, KnowledgeError, "knowledge")
        refuse_unknown(top, ("required", "forbidden", "tiers"), KnowledgeError, "knowledge")
        tiers = [as_labels(t, KnowledgeError, "tiers") for t in as_list(top.get("tiers", []), KnowledgeError, "tiers")]
        return cls(_read_arcs(top, "required"), _read_arcs(top, "forbidden"), tuple(tiers))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; ``from_dict`` reads it back."""
        return {
            "required": sorted([a, b] for a, b in self.required),
            "forbidden": sorted([a, b] for a, b in self.forbidden),
            "tiers": [list(tier) for tier in self.tiers],
        }


def _listed(given: Any, key: str) -> list[Any]:
    """Return a collection as a list; a text is none."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise KnowledgeError(f"{key}: expected a list")
    return [list(item) if isinstance(item, tuple) else item for item in given]


def check_knowledge(knowledge: object, columns: Iterable[str]) -> None:
    """Refuse what is no knowledge, and names that are not among the columns."""
    if not isinstance(knowledge, Knowledge):
        raise KnowledgeError("knowledge: a Knowledge; Knowledge.from_yaml(path) reads a file")
    knowledge.check(columns)


def _read_arcs(top: Any, key: str) -> frozenset[Arc]:
    arcs = [as_labels(item, KnowledgeError, key) for item in as_list(top.get(key, []), KnowledgeError, key)]
    if any(len(arc) != 2 for arc in arcs):
        raise KnowledgeError(f"{key}: a list of [cause, effect] pairs")
    return frozenset((arc[0], arc[1]) for arc in arcs)


NOTHING_KNOWN = Knowledge()
