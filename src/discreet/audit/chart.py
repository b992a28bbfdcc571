"""A chart of audits: what was found, as a part of what is promised."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from discreet.audit import Finding
from discreet.audit.running import Report

WIDTH, LEFT, RIGHT, STEP = 860, 400, 40, 19
LOW, HIGH = 0.05, 100.0
GOOD, BAD, LINE = "#4477aa", "#cc3311", "#222222"


def audit_svg(report: Report) -> str:
    """Return a dot a number that was found: left of the line it keeps the promise, right of it it breaks it."""
    parts, top = [_legend()], 70
    panels = [("The library", report.library), ("Broken on purpose", report.broken)]
    panels.append(("Sound twins of what is broken", report.sound))
    for title, findings in panels:
        shown = [f for f in findings if f.claimed and f.found is not None]
        if shown:
            parts.append(_panel(title, shown, top))
            top += STEP * len(shown) + 70
            rest = [f for f in findings if f not in shown]
            if rest:
                kept = sum(not f.violated for f in rest)
                words = f"and {len(rest)} without a number: {len(rest) - kept} with a violation, {kept} without"
                parts.append(_text(LEFT, top - 22, words, anchor="start"))
                top += STEP
    height = top
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" role="img">'
        f'<title>Audits: found against promised</title><rect width="{WIDTH}" height="{height}" fill="white"/>'
        + "".join(parts)
        + "</svg>\n"
    )


def _legend() -> str:
    parts = [_mark(30, 20, violated=False), _text(44, 24, "no violation found", anchor="start")]
    parts += [_mark(190, 20, violated=True), _text(204, 24, "violation", anchor="start")]
    parts += [f'<path d="M300 12v16" stroke="{LINE}" stroke-width="2"/>', _text(310, 24, "the promise", anchor="start")]
    return "".join(parts)


def _mark(across: float, up: float, *, violated: bool) -> str:
    if violated:
        return f'<path d="M{across - 5:.1f} {up - 5:g}h10v10h-10z" fill="{BAD}"/>'
    return f'<circle cx="{across:.1f}" cy="{up:g}" r="5" fill="{GOOD}"/>'


def _panel(title: str, findings: Sequence[Finding], top: int) -> str:
    bottom = top + STEP * len(findings)
    parts = [_text(20, top - 14, title, size=15, anchor="start", weight="bold")]
    for tick in (0.1, 0.2, 0.5, 1, 2, 5, 10, 100):
        across = _across(tick)
        colour, width = (LINE, 2.0) if tick == 1 else ("#e2e2e2", 1.0)
        parts.append(f'<path d="M{across:.1f} {top - 6}V{bottom}" stroke="{colour}" stroke-width="{width:g}"/>')
        parts.append(_text(across, bottom + 16, f"{tick:g}"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, bottom + 33, "found, as a multiple of what is promised"))
    for i, finding in enumerate(findings):
        up = top + STEP * i + 6
        ratio = (finding.found or 0.0) / (finding.claimed or 1.0)
        words = finding.name if len(finding.name) <= 50 else finding.name[:49] + "…"
        parts.append(_text(LEFT - 18, up + 4, words, anchor="end"))
        across, colour = _across(ratio), BAD if finding.violated else GOOD
        parts.append(f'<path d="M{LEFT} {up}H{across:.1f}" stroke="{colour}" stroke-width="1" opacity="0.35"/>')
        mark = _mark(across, up, violated=finding.violated)
        said = f"{finding.name} ({finding.auditor}): {finding.claim}, found {finding.found:.3g}, {finding.verdict}"
        parts.append(f"<g><title>{escape(said)}</title>{mark}</g>")
    return "".join(parts)


def _across(ratio: float) -> float:
    clipped = min(max(ratio, LOW), HIGH)
    return LEFT + (math.log(clipped / LOW) / math.log(HIGH / LOW)) * (WIDTH - LEFT - RIGHT)


def _text(x: float, y: float, words: str, *, size: int = 12, anchor: str = "middle", weight: str = "normal") -> str:
    style = f'font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" fill="{LINE}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(words)}</text>'
