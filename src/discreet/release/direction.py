"""What is handed out about pairs of columns: directions, how sure the noise leaves them, and the privacy statement."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet._version import __version__
from discreet.errors import ReleaseError
from discreet.privacy.statement import Privacy

NOT_TRUTH = (
    "How sure this is, is about the margin's noise alone, given the curves, which are blurred too. It is not the "
    "probability that the causal claim is true: that rests on columns that depend on each other, on bounds that fit "
    "them, on there being no common cause, and on noise that does not depend on the cause."
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
    flat
        Whether the released curves hardly rise or fall, so that the columns may not depend on each other: likewise.
    curves
        The released curves, of y over x and of x over y, on a scale from -1 to 1.
    """

    x: str
    y: str
    score: str
    margin: float
    scale: float | None
    wanted: float
    blurred: bool = False
    flat: bool = False
    curves: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())

    @property
    def sure(self) -> float | None:
        """The probability that the margin's noise did not turn it round, given the curves and the noisy margin.

        That is, if beforehand any margin was as likely as any other. None where the score's noise has no simple law.
        """
        return None if self.scale is None else 1 - math.exp(-abs(self.margin) / self.scale) / 2

    @property
    def cause(self) -> str | None:
        """The column that causes the other; None if that is too close to call."""
        unsure = self.blurred or self.flat or self.sure is None or self.sure < self.wanted
        if not self.margin or (unsure and self.wanted > ANY):
            return None
        return self.x if self.margin > 0 else self.y

    @property
    def doubt(self) -> str | None:
        """Why no direction is told; None if one is."""
        if self.cause is not None:
            return None
        if self.blurred:
            return "the curves are mostly noise"
        if self.flat:
            return "the curves hardly rise or fall"
        return "too close to call" if self.sure is not None else "this score cannot say how sure it is"

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
            "sure_wanted": self.wanted,
            "doubt": self.doubt,
            "score": self.score,
            "blurred": self.blurred,
            "flat": self.flat,
            "curves": {"y_over_x": list(self.curves[0]), "x_over_y": list(self.curves[1])},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Direction:
        """Read it back."""
        scale = None if data["noise_scale"] is None else float(data["noise_scale"])
        found = (float(data["margin"]), scale, float(data["sure_wanted"]), bool(data["blurred"]), bool(data["flat"]))
        over = [tuple(map(float, data["curves"][name])) for name in ("y_over_x", "x_over_y")]
        return cls(str(data["x"]), str(data["y"]), str(data["score"]), *found, (over[0], over[1]))


@dataclass(frozen=True)
class Directions:
    """What was found about all pairs, and the privacy statement. Holds released values and public facts only."""

    pairs: tuple[Direction, ...]
    privacy: Privacy
    rows: int

    def __repr__(self) -> str:
        """Say in a line what was found, under which promise."""
        told = [f"{p.x} and {p.y}: {p.doubt}" if p.cause is None else f"{p.cause} -> {p.effect}" for p in self.pairs]
        return f"<Directions: {', '.join(told)}; {self.privacy!r}>"

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

    @classmethod
    def from_json(cls, text: str) -> Directions:
        """Read it back."""
        try:
            data = json.loads(text)
            pairs = tuple(Direction.from_dict(pair) for pair in data["pairs"])
            return cls(pairs, Privacy.from_dict(data["privacy"]), int(data["rows"]))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ReleaseError("not a result about directions") from None
