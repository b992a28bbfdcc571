"""The sections of the report that speak of budget, assumptions, settings, and of what can be done with a release."""

from __future__ import annotations

from html import escape

from discreet._version import __version__
from discreet.discovery import Discovery
from discreet.report.budget import balance, few, steps, unspent
from discreet.report.layout import visible
from discreet.report.words import spent

YEAR = 2026
AUTHORS = "The discreet authors"
TITLE = "discreet: differentially private causal discovery"
LICENCE = "MIT"
"""As in CITATION.cff."""

LABELLED = 0.03
"""Share of the bar from which a segment has room for its number; below, the list tells."""

ASSUMED = (
    (
        "No hidden common causes.",
        "If something that is not a column causes two columns, these may be joined although neither causes the other.",
    ),
    (
        "No effects that cancel out (faithfulness).",
        "If a cause acts along two ways that balance exactly, the columns look independent, and an edge is missing.",
    ),
    ("No circles.", "A column does not cause itself, not through others either: feedback is not shown."),
    (
        "Rows were not selected by what they hold.",
        "If rows are there because of two columns (only patients who came "
        "to the hospital), these look linked. Rows that depend on each other count for fewer than they are.",
    ),
)

READ = (
    (
        "An undirected edge is a link whose direction these rows cannot tell.",
        "Several graphs fit equally well, and they "
        "differ in that direction. It does not mean that both directions hold.",
    ),
    ("A missing edge is no proof of independence.", "Weak dependence drowns in sampling error and privacy noise."),
)


def budget_section(discovery: Discovery) -> str:
    """Return the bar of what was spent, and its list: what was measured, with which noise, for how much."""
    privacy = discovery.privacy
    found = steps(privacy)
    shown, left = few(found), unspent(found)
    total = sum(step.amount for step in found) or 1.0
    bar, x = "", 0.0
    for i, step in enumerate(shown, 1):
        share = step.share if step.share is not None else step.amount / total
        bar += _segment(i, x, share, visible(f"{i}: {step.what}, {share:.1%}"))
        x += share
    if left:
        words = f'<text class="left-words" x="{50 * (x + 1):.2f}%" y="22" text-anchor="middle">not spent</text>'
        bar += (
            f'<g><title>not spent, {left:.1%}</title><rect class="left" x="{100 * x:.2f}%" y="1" '
            f'width="{100 * left:.2f}%" height="32"/>{words if left > 0.12 else ""}</g>'
        )
    drawn = (
        f'<svg class="bar" role="img" aria-label="Share of the budget by step, as listed below">{bar}</svg>'
        if bar
        else ""
    )
    items = "".join(f"<li>{escape(visible(line))}</li>" for line in spent(discovery))
    return (
        f'<h2>What the budget was spent on</h2>{drawn}<p>{escape(balance(privacy))}</p><ol class="steps">{items}</ol>'
    )


def _segment(number: int, x: float, share: float, words: str) -> str:
    label = (
        f'<text x="{100 * (x + share / 2):.2f}%" y="22" text-anchor="middle">'
        f"{number}{f' · {share:.0%}' if share > 0.08 else ''}</text>"
        if share > LABELLED
        else ""
    )
    return (
        f'<g><title>{escape(words)}</title><rect class="s{(number - 1) % 8 + 1}" x="{100 * x:.2f}%" '
        f'width="{max(100 * share - 0.25, 0.1):.2f}%" height="34"/>{label}</g>'
    )


def assumptions() -> str:
    """Return what a reader must believe to read an arrow as a cause, and what the other marks mean."""
    return (
        '<div class="pair"><section><h2>What an arrow takes</h2>'
        "<p>An arrow says: if one could set the first column from outside, the second would change, and the other "
        f"columns here do not pass all of it on. That follows only if:</p>{_points(ASSUMED)}</section>"
        f"<section><h2>What the rest means</h2>{_points(READ)}</section></div>"
    )


def _points(points: tuple[tuple[str, str], ...]) -> str:
    return "<ul>" + "".join(f"<li><strong>{escape(a)}</strong> {escape(b)}</li>" for a, b in points) + "</ul>"


def facts(discovery: Discovery) -> str:
    """Return how the graph was made: method and settings."""
    settings = {
        key: value
        for key, value in discovery.settings.items()
        if value is not None and (key != "alpha" or discovery.settings.get("search") in (None, "pc"))
    }
    known = {
        "method": discovery.method,
        **{key.replace("_", " "): f"{v:.3g}" if isinstance(v, float) else _word(v) for key, v in settings.items()},
        "columns": f"{len(discovery.graph.nodes)}",
        "rows": f"{discovery.domain.rows:,}",
        "what one row is": _unit(discovery),
        "version": f"discreet {__version__}",
    }
    items = "".join(f"<dt>{escape(visible(k))}</dt><dd>{escape(visible(v))}</dd>" for k, v in known.items())
    return f'<h2>How it was made</h2><dl class="facts">{items}</dl>'


def _unit(discovery: Discovery) -> str:
    unit, most = discovery.privacy.unit, discovery.privacy.max_rows
    if most is not None:
        return f"one of several of a {unit}, of which {most:,} are used at most"
    return f"{'an' if unit[:1].lower() in 'aeio' else 'a'} {unit}"


def _word(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def again(discovery: Discovery) -> str:
    """Return how to read the release again, in Python and in a shell; what a release cannot do is not offered."""
    python = ["import discreet as dc", "", 'found = dc.Discovery.load("release.json")', "found.plot()"]
    python += ["print(found.graph.directed, found.graph.undirected)"]
    shell = ["discreet report release.json --out graph.pdf"]
    free = "Neither costs any budget."
    if discovery.measurements:
        python += ["again = dc.search_again(found, max_order=1)", "rows = dc.synthesize(found, 1000)"]
        shell += ["discreet discover release.json --search pc", "discreet synthesize release.json --rows 1000"]
        free = "The noisy tables are in the release: searching them again, or drawing rows from them, costs no budget."
    return (
        f"<h2>How to use it again</h2><p>With the file <code>release.json</code> that belongs to this page. {free}</p>"
        f"<pre>{escape(chr(10).join(python))}</pre><pre>{escape(chr(10).join(shell))}</pre>"
    )


def citation() -> str:
    """Return how to cite the library."""
    entry = (
        f"@software{{discreet,\n  author  = {{{{{AUTHORS}}}}},\n  title   = {{{TITLE}}},\n"
        f"  version = {{{__version__}}},\n  year    = {{{YEAR}}},\n  license = {{{LICENCE}}}\n}}"
    )
    return (
        f"<h2>How to cite</h2><p>{AUTHORS} ({YEAR}). <cite>{escape(TITLE)}</cite>, version {escape(__version__)} "
        f"({LICENCE} licence). Say epsilon, delta and the method beside the graph.</p><pre>{escape(entry)}</pre>"
    )
