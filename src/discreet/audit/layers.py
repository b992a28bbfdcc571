"""The plan of the house: who may import whom, by folder. What stands nowhere on it is refused.

Only the folders of ``ROWS`` have a path to rows, and only those of ``EXACT_DOORS`` to what is not private. A file that
is new or forgotten stands in some folder, and the folder decides; a folder that is not on the plan imports nothing.
"""

from __future__ import annotations

DOOR = "discreet"
"""The library's front door, which imports by constant names when one is first used."""

DYNAMIC = (DOOR, "discreet._moved", "discreet.audit.commands")
"""Who may import by such names: the door, and an auditor that runs the whole command as it is typed."""

GROUND: tuple[str, ...] = ("_moved", "_version", "arrays", "bisection", "errors", "progress", "sealed")
"""What everybody stands on: types, errors and arithmetic."""

_PUBLIC = (*GROUND, "domain")
_ASKED = (*_PUBLIC, "statistics")
_AFTER = (*_ASKED, "privacy", "search", "release")
_HELD = (*_AFTER, "data", "ledger", "room")
_RUN = (*_HELD, "methods", "simulation")

MAY_IMPORT: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(GROUND, GROUND),
    "domain": _PUBLIC,
    "statistics": _ASKED,
    "privacy": (*_ASKED, "privacy"),
    "search": (*_PUBLIC, "search"),
    "release": _AFTER,
    "report": (*_AFTER, "ledger", "report"),
    "ledger": (*_PUBLIC, "statistics", "privacy", "ledger"),
    "data": (*_ASKED, "data"),
    "room": (*_AFTER, "data"),
    "testing": (*GROUND, "privacy"),
    "methods": (*_HELD, "methods"),
    "simulation": _RUN,
    "baselines": (*_HELD, "baselines"),
    "experiments": (*_RUN, "baselines", "experiments", "report"),
    "audit": (*_RUN, "audit"),
    "cli": (*_RUN, "audit", "baselines", "cli", "experiments", "report"),
    "__main__": ("cli",),
    "": _RUN,
}
"""What each folder may import: packages and modules that stand in the hall, the door itself as the empty name."""

EXCEPTIONS = frozenset(
    {
        ("discreet.release.discovery", "discreet.report"),
        ("discreet.release.discovery", "discreet.report.picture"),
        ("discreet.release.expectation", "discreet.report.plan"),
        ("discreet.baselines.not_private", "discreet.report.svg"),
        ("discreet.audit.broken.methods", "discreet.baselines.published"),
        ("discreet.audit.broken.methods", "discreet.baselines.published.pcd"),
        ("discreet.audit.broken.methods", "discreet.baselines.published.discover"),
    }
)
"""Imports beyond that: what is found draws itself, and published methods are broken as a whole."""

ROWS = frozenset({"data", "room", "methods", "simulation", "baselines", "experiments", "audit", "cli", "__main__", ""})
"""Folders on the side of the rows: they hold rows, or a room that does, or start what does. No other gets there."""

STORES = "discreet.ledger.stores"
"""Where a ledger's entries are kept: nothing that follows a release opens them."""

EXACT = "discreet.baselines"
"""Answers without privacy."""

EXACT_DOORS = ("discreet.cli", "discreet.__main__", "discreet.experiments", "discreet.audit", EXACT)
"""Who may ask for answers without privacy: nobody else has a path to them."""

MADE_UP = ("discreet.data.memory", "discreet.data.counting")
"""Tables of made-up rows, which auditors may build. Everything else in that folder reads what a custodian hands in."""

LOADERS = ("discreet.audit.loading",)
"""Auditors that load, through the real load, tables which they have just written themselves."""

BROKEN = "discreet.audit.broken"
UNASKED = "discreet.audit.statistics"
"""Statistics that no method asks for: as total as those that are."""

AUDITORS = tuple(
    f"discreet.audit.{name}"
    for name in ("laws", "tape", "subjects", "broken", "books", "commands", "gates", "ledgers", "piles")
)
"""Auditors that evaluate and blur themselves, on made-up rows."""

LISTENERS = ("discreet.audit.samplers",)
"""Auditors that draw noise to look at it, or make choices with given bits: nothing is blurred by it."""

SEEDED = (
    *(f"discreet.{name}" for name in ("audit", "baselines", "cli", "experiments", "simulation", "testing")),
    *(f"discreet.release.{name}" for name in ("classifier", "search", "synthesis")),
    *(f"discreet.methods.independence.{name}" for name in ("gcm", "tables")),
    "discreet.statistics.permutation",
)
"""Who may make a generator from a seed: for made-up rows, public permutations and post-processing, never for noise."""

ENTROPY = ("discreet.privacy.noise", "discreet.ledger.keys", "discreet.data.people")
"""Who draws from the system's entropy: noise, the secret key of a ledger, and which rows of a person are kept."""

HOLDERS = frozenset({"statistics", "privacy", "room", "data"})
"""Layers in which rows, exact values or noise pass by."""

NOISY = frozenset({"privacy", "room"})
"""Layers in which noise is made or handed on."""
