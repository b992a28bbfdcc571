"""The plan of the house: who holds rows, who comes after a release, and who may import whom."""

from __future__ import annotations

DOOR = "discreet"
"""The library's front door, which imports by constant names when one is first used."""

_PUBLISHED: tuple[str, ...] = ("kendall", "threshold", "sieve", "distance", "em", "running", "iqr", "scores", "halves")
_PUBLISHED += ("rcit", "pcd")
PUBLISHED = frozenset({"discreet.published"} | {f"discreet.published.{name}" for name in _PUBLISHED})
"""Methods as published, which are not private."""

EXACT = frozenset({"discreet.oracles.exact", "discreet.not_private", "discreet.cli_not_private"}) | PUBLISHED
"""Answers without privacy."""

ENGINES = frozenset(
    {"discreet.tables.engines"}
    | {f"discreet.tables.engines.{name}" for name in ("codes", "engine", "opening", "source", "table")}
    | {f"discreet.tables.engines.{name}" for name in ("people", "postgres", "spark")}
)
"""Modules that ask an engine that holds rows."""

ROWS = frozenset(
    {"discreet.room", "discreet.discovering", "discreet.drafting", "discreet.settling", "discreet.asking"}
    | {"discreet.opening", "discreet.keeping", "discreet.dropping", "discreet.directing"}
    | {"discreet.pcd", "discreet.forecasting"}
    | {f"discreet.examining{name}" for name in ("", "_numbers", "_tables")}
    | {f"discreet.tables.{name}" for name in ("memory", "source", "load", "counting", "encode", "frames", "header")}
    | {f"discreet.tables.{name}" for name in ("coarse", "joint", "blocks", "misfits", "people", "stream", "made_up")}
    | ENGINES
    | EXACT
)
"""Modules that hold rows, or hold a room that does."""

_READING = ("source", "load", "encode", "frames", "header", "misfits", "people", "stream", "made_up", "engines")
CUSTODIAN = tuple(f"discreet.tables.{name}" for name in _READING)
"""Modules that read what a custodian hands in."""

_AFTER = ("oracles", "search", "graph", "discovery", "report", "interop", "release", "recipes", "planning")
_AFTER_TOO = ("methods", "directions", "knowledge", "confidence", "synthesis", "doubts", "measurement", "answers")
AFTER = tuple(f"discreet.{name}" for name in (*_AFTER, *_AFTER_TOO, "expectations"))
"""What follows a release: these modules, and all whose names begin like theirs."""

EXACT_DOORS = frozenset(
    {"discreet.cli", "discreet.cli_direction", "discreet.audit.broken.reproduced"}
    | {f"discreet.experiments.{name}" for name in ("accuracy", "priv_pc", "direction", "pcd")}
)
"""Who may ask for answers without privacy."""

BROKEN = "discreet.audit.broken"
AUDITORS = tuple(f"discreet.audit.{name}" for name in ("laws", "tape", "subjects", "settings", "broken"))
"""Auditors that evaluate and blur themselves, on made-up rows."""

_SEEDED: tuple[str, ...] = ("cli", "cli_audit", "cli_plan", "cli_synthesize", "recipes", "testing", "not_private")
_SEEDED += ("audit", "published", "statistics.shifts", "examining_numbers", "examining_tables", "experiments")
_SEEDED += ("synthesis", "forecasting")
SEEDED = tuple(f"discreet.{name}" for name in _SEEDED)
"""Who may make a generator from a seed: for made-up rows, public permutations and post-processing, never for noise."""

ENTROPY = ("discreet.privacy.noise", "discreet.ledger.keys", "discreet.tables.made_up")
"""Who draws from the system's entropy: noise, the secret key of a ledger, and which rows of a person are kept."""

HOLDERS = frozenset({"statistics", "mechanisms", "room", "tables", "privacy"})
"""Layers in which rows, exact values or noise pass by."""

NOISY = frozenset({"mechanisms", "privacy", "room"})
"""Layers in which noise is made or handed on."""

_LIBRARY: tuple[str, ...] = (
    "columns",
    "declaration",
    "discovering",
    "discovery",
    "domain",
    "graph",
    "knowledge",
    "measurement",
)
_LIBRARY += ("mechanisms", "networks", "oracles", "planning", "privacy", "recipes", "release", "room", "search")
_LIBRARY += ("methods", "settling", "statistics", "synthesis", "tables", "experiments", "published")
_LIBRARY += ("directing", "directions", "examining", "answers")

_BELOW = ("arrays", "domain", "errors", "graph", "knowledge", "sealed", "tables")
_BESIDE = ("not_private", "oracles", "published", "search", "statistics")

MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "discreet.errors": (),
    "discreet.sealed": ("errors",),
    "discreet.arrays": (),
    "discreet.declaration": ("errors",),
    "discreet.columns": ("errors", "declaration"),
    "discreet.domain": ("errors", "declaration", "columns"),
    "discreet.knowledge": ("errors", "declaration"),
    "discreet.graph": ("errors",),
    "discreet.tables": ("arrays", "errors", "declaration", "domain", "sealed", "tables"),
    "discreet.privacy": ("arrays", "errors", "privacy", "sealed"),
    "discreet.statistics": ("arrays", "errors", "domain", "tables", "statistics"),
    "discreet.mechanisms": ("arrays", "errors", "privacy", "statistics", "mechanisms"),
    "discreet.ledger": ("errors", "ledger", "privacy", "sealed"),  # what was spent, and no rows
    "discreet.oracles": ("arrays", "errors", "graph", "oracles"),
    "discreet.oracles.exact": ("arrays", "errors", "oracles", "sealed", "tables"),  # not private: asks rows directly
    "discreet.published": (*_BELOW, *_BESIDE),
    "discreet.search": ("arrays", "errors", "graph", "knowledge", "oracles", "search"),
    "discreet.networks": ("columns", "declaration", "domain", "errors", "graph", "networks"),
    "discreet.audit": (*_LIBRARY, "arrays", "audit", "errors"),
}
"""What each layer may import. The longest name that fits a module counts."""
