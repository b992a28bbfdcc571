"""The edges of a graph as a table: marks, confidence, strength and warnings, one row an edge."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from discreet.errors import SettingError
from discreet.release.discovery import Discovery
from discreet.release.selection import components
from discreet.release.strength import Strength, strength_in
from discreet.release.traps import traps
from discreet.search.graph import Edge, Mark

if TYPE_CHECKING:
    import pandas

_STARTS = {Mark.TAIL: "-", Mark.ARROW: "<", Mark.CIRCLE: "o"}
_ENDS = {Mark.TAIL: "-", Mark.ARROW: ">", Mark.CIRCLE: "o"}

HEADINGS = ("from", "", "to", "edge", "arrow", "strength", "warnings")
"""What is shown of a row."""


@dataclass(frozen=True)
class EdgeRow:
    """An edge with all that is known about it.

    Parameters
    ----------
    a, b
        Its ends; an arrow points from a to b.
    mark
        ``-->`` a cause and its effect, ``---`` a direction that is unknown.
    confidence, arrow_confidence
        How sure the edge and its arrowhead are; None where a method says nothing, or the edge has no arrow.
    settled_by
        What knowledge gave its direction: required, forbidden or tiers; None if it was found.
    withheld
        Whether its direction is less likely than not: people are shown a line.
    strength
        How strongly its ends go together by themselves, which is no effect; None where their table was not released.
    warnings
        What else the edge may come from.
    """

    a: str
    b: str
    mark: str
    confidence: float | None
    arrow_confidence: float | None
    settled_by: str | None
    withheld: bool
    strength: Strength | None
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, one value a column."""
        strong = self.strength
        return {
            "from": self.a,
            "to": self.b,
            "mark": self.mark,
            "confidence": self.confidence,
            "arrow_confidence": self.arrow_confidence,
            "settled_by": self.settled_by,
            "withheld": self.withheld,
            "strength": None if strong is None else strong.value,
            "strength_low": None if strong is None else strong.low,
            "strength_high": None if strong is None else strong.high,
            "measure": None if strong is None else strong.measure,
            "trend": None if strong is None else strong.trend,
            "warnings": "; ".join(self.warnings),
        }

    def _shown(self) -> tuple[str, ...]:
        """Return it in words, one a heading."""
        sure = ["" if number is None else f"{number:.0%}" for number in (self.confidence, self.arrow_confidence)]
        strong = "" if self.strength is None else self.strength.words
        arrow = "given" if self.settled_by else f"{sure[1]} ({self.mark})" if self.withheld else sure[1]
        mark = "---" if self.withheld else self.mark
        return (self.a, mark, self.b, sure[0], arrow, strong, "; ".join(self.warnings))


class EdgeTable(tuple[EdgeRow, ...]):
    """Rows of edges, the surest first. Shown as a table; ``to_pandas`` makes a frame of it."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return the rows in lines, columns below each other."""
        lines = [HEADINGS, *(row._shown() for row in self)]
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
        )

    def _repr_html_(self) -> str:
        """Show the rows in a notebook."""
        styles = ["text-align:left;white-space:nowrap"] * (len(HEADINGS) - 1) + ["text-align:left"]
        rows = []
        for line, tag in [(HEADINGS, "th"), *((row._shown(), "td") for row in self)]:
            cells = (f'<{tag} style="{s}">{escape(c)}</{tag}>' for c, s in zip(line, styles, strict=True))
            rows.append(f"<tr>{''.join(cells)}</tr>")
        return f"<table>{''.join(rows)}</table>"

    def to_pandas(self) -> pandas.DataFrame:
        """Return a frame of pandas, one column a number."""
        try:
            import pandas
        except ImportError:
            raise SettingError("pandas is not installed: pip install pandas") from None
        columns = list(EdgeRow("", "", "", None, None, None, False, None, ()).to_dict())
        return pandas.DataFrame([row.to_dict() for row in self], columns=columns)


def edge_table(found: Discovery) -> EdgeTable:
    """Return the edges of a discovery as a table: no data, no budget."""
    parts, warned = components(found.measurements, found.domain), traps(found)

    def row(edge: Edge) -> EdgeRow:
        sure = found.confidence.get(edge.pair)
        return EdgeRow(
            edge.a,
            edge.b,
            f"{_STARTS[edge.at_a]}-{_ENDS[edge.at_b]}",
            None if sure is None else sure.edge,
            None if sure is None else sure.arrow,
            found.knowledge.settles(edge.a, edge.b) if edge.directed else None,
            (edge.a, edge.b) in found.withheld,
            strength_in(parts, found.domain[edge.a], found.domain[edge.b], (edge.a, edge.b)),
            tuple(trap.words for trap in warned if trap.concerns(edge.a, edge.b)),
        )

    return EdgeTable(sorted(map(row, found.graph.edges()), key=lambda r: -(r.confidence or 0.0)))
