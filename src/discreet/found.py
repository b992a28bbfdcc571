"""What is handed out about pairs of columns: directions, how sure the noise leaves them, and the privacy statement."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from discreet._version import __version__
from discreet.discovery import Privacy

NOT_TRUTH = (
    "How sure this is, is about the margin's noise alone, given the curves: it is not the probability that the causal "
    "claim is true, which rests on there being no common cause and on noise that does not depend on the cause."
)


ANY = 0.5
"""Who wants to be no surer than this takes any guess."""


@dataclass(frozen=True)
class Direction:
    """What was found about one pair.

    Parameters
    ----------
    x, y
        The columns.
    margin
        How much worse x over y fits than y over x, with noise: above 0 for x as the cause.
    scale
        Scale of the margin's Laplace noise; None where the score has none.
    wanted
        How sure it must be for a direction to be told.
    blurred
        Whether the curves are mostly noise, from public facts: then nothing is told unless any guess is wanted.
    """

    x: str
    y: str
    score: str
    margin: float
    scale: float | None
    wanted: float
    blurred: bool = False

    @property
    def sure(self) -> float | None:
        """The probability that the margin's noise did not turn it round, given the curves and the noisy margin."""
        return None if self.scale is None else 1 - math.exp(-abs(self.margin) / self.scale) / 2

    @property
    def cause(self) -> str | None:
        """The column that causes the other; None if that is too close to call."""
        unsure = self.blurred or (self.sure is not None and self.sure < self.wanted)
        if not self.margin or (unsure and self.wanted > ANY):
            return None
        return self.x if self.margin > 0 else self.y

    @property
    def effect(self) -> str | None:
        """The column that is caused; None if that is too close to call."""
        return None if self.cause is None else self.y if self.cause == self.x else self.x

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "x": self.x,
            "y": self.y,
            "cause": self.cause,
            "effect": self.effect,
            "margin": self.margin,
            "noise_scale": self.scale,
            "not_flipped": self.sure,
            "curves_mostly_noise": self.blurred,
            "score": self.score,
        }


@dataclass(frozen=True)
class Directions:
    """What was found about all pairs, and the privacy statement. Holds released values and public facts only."""

    pairs: tuple[Direction, ...]
    privacy: Privacy
    rows: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "schema": 1,
            "method": "direction",
            "pairs": [pair.to_dict() for pair in self.pairs],
            "privacy": self.privacy.to_dict(),
            "rows": self.rows,
            "note": NOT_TRUTH,
            "version": __version__,
        }

    def to_json(self) -> str:
        """Return it as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)
