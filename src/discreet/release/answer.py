"""What is handed out about independence: a decision, what is promised of it, and the privacy statement."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from discreet._version import __version__
from discreet.errors import ReleaseError, SettingError
from discreet.privacy.statement import Privacy
from discreet.release.missing import LEVEL, MISSING
from discreet.statistics import Between

NOT_PROOF = (
    "Independent means that no dependence was found at this level: it may be too weak for these rows and this "
    "budget, or hidden where most rows lie in a small part of the declared bounds. "
    "A test that finds a dependence says nothing about its direction or cause."
)


Found = tuple[bool, float | None]
"""Whether columns look independent, and the p-value where there is one."""


@dataclass(frozen=True)
class Inquiry(Between):
    """What is asked: whether x and y are independent given others, by a test at a level.

    Missing values are a level like any other, or left out.
    """

    given: tuple[str, ...] = ()
    alpha: float = 0.05
    missing: str = LEVEL

    def __post_init__(self) -> None:
        if not all(isinstance(name, str) for name in self.columns):
            raise SettingError("columns: names")
        object.__setattr__(self, "given", tuple(sorted(self.given)))
        if self.x == self.y:
            raise SettingError("columns: two different ones")
        if len(set(self.columns)) != len(self.columns):
            raise SettingError("given: each column once, and neither of the two that are tested")
        if isinstance(self.alpha, bool) or not isinstance(self.alpha, float | int) or not 0 < self.alpha < 1:
            raise SettingError("alpha: a number between 0 and 1")
        if self.missing not in MISSING:
            raise SettingError(f"missing: one of {', '.join(MISSING)}")


@dataclass(frozen=True)
class Level:
    """How often a test calls independent columns dependent.

    Parameters
    ----------
    controlled
        Whether that is at most its alpha.
    found
        What is promised or, where nothing is, what was measured.
    """

    controlled: bool
    found: str


@dataclass(frozen=True)
class Answer:
    """What was found about two columns, and the privacy statement. Holds released values and public facts only.

    Parameters
    ----------
    x, y, given
        The columns.
    test
        The test's name.
    alpha
        Its level.
    independent
        Whether both columns look independent given the others.
    p_value
        Probability of as much apparent dependence if there is none; None where only the decision is released.
    level
        What is promised of the level.
    missing
        Whether missing values were a level, or left out.
    gaps
        Whether two or more of the columns have a level for missing values.
    """

    x: str
    y: str
    given: tuple[str, ...]
    test: str
    alpha: float
    independent: bool
    p_value: float | None
    level: Level
    privacy: Privacy
    rows: int
    missing: str = LEVEL
    gaps: bool = False

    def __repr__(self) -> str:
        """Say in a line what was found, under which promise."""
        given = f" given {', '.join(self.given)}" if self.given else ""
        found = "no dependence found" if self.independent else "dependent"
        return (
            f"<Answer: {self.x} and {self.y}{given}: {found} by {self.test} at alpha {self.alpha:g}; {self.privacy!r}>"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "schema": 1,
            "x": self.x,
            "y": self.y,
            "given": list(self.given),
            "test": self.test,
            "alpha": self.alpha,
            "independent": self.independent,
            "p_value": self.p_value,
            "level": {"controlled": self.level.controlled, "found": self.level.found},
            "privacy": self.privacy.to_dict(),
            "rows": self.rows,
            "missing": self.missing,
            "gaps": self.gaps,
            "note": NOT_PROOF,
            "version": __version__,
        }

    def to_json(self) -> str:
        """Return it as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Answer:
        """Read it back."""
        try:
            data = json.loads(text)
            level = Level(bool(data["level"]["controlled"]), str(data["level"]["found"]))
            p_value = None if data["p_value"] is None else float(data["p_value"])
            columns = (str(data["x"]), str(data["y"]), tuple(map(str, data["given"])))
            return cls(
                *columns,
                test=str(data["test"]),
                alpha=float(data["alpha"]),
                independent=bool(data["independent"]),
                p_value=p_value,
                level=level,
                privacy=Privacy.from_dict(data["privacy"]),
                rows=int(data["rows"]),
                missing=str(data.get("missing", LEVEL)),
                gaps=bool(data.get("gaps", False)),
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ReleaseError("not the result of a test") from None
