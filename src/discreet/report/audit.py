"""A chart of audits: what was found, as a multiple of what is promised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from discreet.report.charts import GRID, Axis, Frame, svg_line, svg_page, svg_text

WIDTH, STEP = 860, 19
GOOD, BAD, PROMISE = "#4477aa", "#cc3311", "#222222"
LONGEST_NAME = 50
MULTIPLE = Axis("found, as a multiple of what is promised", 0.05, 100.0, (0.1, 0.2, 0.5, 1, 2, 5, 10, 100), log=True)


@dataclass(frozen=True)
class Mark:
    """What one audit found: as a multiple of the promise, None if that is no number; and all of it in words."""

    name: str
    multiple: float | None
    violated: bool
    words: str


def audit_svg(groups: Mapping[str, Sequence[Mark]]) -> str:
    """Return a dot a number that was found: left of the line it keeps the promise, right of it it breaks it."""
    parts, top = _legend(), 70
    for title, marks in groups.items():
        shown = [mark for mark in marks if mark.multiple is not None]
        if not shown:
            continue
        frame = Frame(MULTIPLE, Axis("", 0, 1, ()), 400, WIDTH - 40, top, top + STEP * len(shown))
        parts += _panel(title, shown, frame)
        top += STEP * len(shown) + 70
        if rest := [mark for mark in marks if mark.multiple is None]:
            bad = sum(mark.violated for mark in rest)
            words = f"and {len(rest)} without a number: {bad} with a violation, {len(rest) - bad} without"
            parts.append(svg_text(frame.left, top - 22, words, anchor="start"))
            top += STEP
    return svg_page("Audits: found against promised", WIDTH, top, parts)


def _legend() -> list[str]:
    parts = [_symbol(30, 20, violated=False), svg_text(44, 24, "no violation found", anchor="start")]
    parts += [_symbol(190, 20, violated=True), svg_text(204, 24, "violation", anchor="start")]
    return [*parts, svg_line(300, 12, 300, 28, PROMISE, 2), svg_text(310, 24, "the promise", anchor="start")]


def _symbol(across: float, down: float, *, violated: bool) -> str:
    if violated:
        return f'<path d="M{across - 5:.1f} {down - 5:g}h10v10h-10z" fill="{BAD}"/>'
    return f'<circle cx="{across:.1f}" cy="{down:g}" r="5" fill="{GOOD}"/>'


def _panel(title: str, marks: Sequence[Mark], frame: Frame) -> list[str]:
    parts = [svg_text(20, frame.top - 14, title, size=15, anchor="start", weight="bold")]
    for tick in MULTIPLE.ticks:
        at, look = frame.across(tick), (PROMISE, 2.0) if tick == 1 else (GRID, 1.0)
        parts += [svg_line(at, frame.top - 6, at, frame.bottom, *look), svg_text(at, frame.bottom + 16, f"{tick:g}")]
    parts.append(svg_text((frame.left + frame.right) / 2, frame.bottom + 33, MULTIPLE.label))
    for i, mark in enumerate(marks):
        down, colour = frame.top + STEP * i + 6, BAD if mark.violated else GOOD
        name = mark.name if len(mark.name) <= LONGEST_NAME else mark.name[: LONGEST_NAME - 1] + "…"
        at = frame.across(min(max(mark.multiple or 0.0, MULTIPLE.low), MULTIPLE.high))
        parts.append(svg_text(frame.left - 18, down + 4, name, anchor="end"))
        parts.append(svg_line(frame.left, down, at, down, colour, opacity=0.35))
        parts.append(f"<g><title>{escape(mark.words)}</title>{_symbol(at, down, violated=mark.violated)}</g>")
    return parts
