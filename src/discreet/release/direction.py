"""What is handed out about pairs of columns: directions, how sure the noise leaves them, and the privacy statement."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from discreet._version import __version__
from discreet.errors import ReleaseError
from discreet.privacy.statement import Privacy
from discreet.release.classifier import probability, read
from discreet.release.pair_table import PairTable

NOT_TRUTH = (
    "How sure this is, is about the margin's noise alone, given the curves, which are blurred too. It is not the "
    "probability that the causal claim is true: that rests on columns that depend on each other, on bounds that fit "
    "them, on there being no common cause, and on noise that does not depend on the cause."
)
"""Said of scores that are asked."""

FAMILIES = (
    "The probability of being right is that over simulated pairs, with all noise and chance: effects that are a curve "
    "of the cause plus noise, times noise, with noise whose spread varies, bent afterwards, or any smooth function of "
    "cause and noise, some with a common cause besides. It is not the probability that the causal claim is true: one "
    "of both must cause the other, and where real pairs are like none of these (in tables of economics and surveys, "
    "say), it was no better than a coin, however sure."
)
"""Said of what is read off a table."""


COPULA = "copula"
"""The score that is read off a noisy table of both columns' ranks."""

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
        How much worse x over y fits than y over x, with noise, or the log odds of x: above 0 for x as the cause.
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
    table
        The released table that was read; None where curves and a score were asked.
    unflipped
        How often fresh noise leaves the answer of a table alone.
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
    table: PairTable | None = field(default=None, repr=False)
    unflipped: float | None = None

    @property
    def right(self) -> float | None:
        """The probability that the likelier direction is right, over the families that the reader of tables learned.

        Noise, chance and which family it is are all included. None where curves and a score were asked.
        """
        return None if self.table is None else probability(self.margin)

    @property
    def not_flipped(self) -> float | None:
        """The probability that the noise did not turn the answer round, given what was released.

        That is, if beforehand any margin was as likely as any other. None where the score's noise has no simple law.
        """
        if self.table is not None:
            return self.unflipped
        return None if self.scale is None else 1 - math.exp(-abs(self.margin) / self.scale) / 2

    @property
    def sure(self) -> float | None:
        """What is compared with what is wanted: the probability of being right, else that the noise did not flip it."""
        return self.not_flipped if self.table is None else self.right

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
            return "the curves hardly rise or fall" if self.table is None else "the columns hardly depend on each other"
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
            "right": self.right,
            "not_flipped": self.not_flipped,
            "sure_wanted": self.wanted,
            "doubt": self.doubt,
            "score": self.score,
            "blurred": self.blurred,
            "flat": self.flat,
            "curves": {"y_over_x": list(self.curves[0]), "x_over_y": list(self.curves[1])},
            **({} if self.table is None else {"table": self.table.to_dict()}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], rows: int) -> Direction:
        """Read it back."""
        scale = None if data["noise_scale"] is None else float(data["noise_scale"])
        found = (float(data["margin"]), scale, float(data["sure_wanted"]), bool(data["blurred"]), bool(data["flat"]))
        over = [tuple(map(float, data["curves"][name])) for name in ("y_over_x", "x_over_y")]
        table = PairTable.from_dict(data["table"], rows) if "table" in data else None
        unflipped = None if table is None else float(data["not_flipped"])
        sound = math.isfinite(found[0]) and (scale is None or 0 < scale < math.inf) and ANY <= found[2] < 1
        if not sound or not all(math.isfinite(h) for heights in over for h in heights) or data["x"] == data["y"]:
            raise ReleaseError("a direction is about two columns, and its numbers are finite")
        if not 0 <= (unflipped or 0.0) <= 1:
            raise ReleaseError("a probability is a number from 0 to 1")
        return cls(str(data["x"]), str(data["y"]), str(data["score"]), *found, (over[0], over[1]), table, unflipped)


def read_pairs(pairs: Sequence[tuple[str, str]], tables: Sequence[PairTable], wanted: float) -> list[Direction]:
    """Read released tables, one for each pair."""
    readings = [read(table) for table in tables]
    return [
        Direction(
            x, y, COPULA, said.log_odds, None, wanted, flat=not said.depends, table=table, unflipped=said.unflipped
        )
        for (x, y), table, said in zip(pairs, tables, readings, strict=True)
    ]


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

    @property
    def note(self) -> str:
        """What the probabilities mean, and what they do not."""
        return NOT_TRUTH if any(pair.table is None for pair in self.pairs) else FAMILIES

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "schema": 1,
            "method": "direction",
            "pairs": [pair.to_dict() for pair in self.pairs],
            "privacy": self.privacy.to_dict(),
            "rows": self.rows,
            "note": self.note,
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
            rows = int(data["rows"])
            pairs = tuple(Direction.from_dict(pair, rows) for pair in data["pairs"])
            if not pairs or rows < 1:
                raise ReleaseError("no pairs, or no rows")
            return cls(pairs, Privacy.from_dict(data["privacy"]), rows)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, ReleaseError):
            raise ReleaseError("not a result about directions") from None
