"""The report: one page that stands by itself, asks nobody for anything, and has every name escaped.

Its policy lets nothing run but the one script and the one style sheet in it, by their hashes. The script reads
numbers and texts from the page and writes texts, never markup. Without it the page is a still picture.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files

from discreet._version import __version__
from discreet.discovery import Discovery
from discreet.report.layout import lay_out, visible
from discreet.report.sections import again, assumptions, budget_section, citation, facts
from discreet.report.svg import DASHES, graph_svg
from discreet.report.words import found_words, not_promised, promised, recorded

CONFIDENCE = (
    "<p>A confidence is how often an edge (or the direction of its arrow) was right among those that looked as sure, "
    "on networks drawn at random whose graph was known. It knows of sampling and noise, not of hidden causes.</p>"
)
SMALLEST, LARGEST = 0.8, 1.2
"""How far a graph is scaled to fit: names stay readable; what is wider is scrolled in its box."""

WIDE = 760
"""A graph wider than this is printed on a page across."""


def report_html(discovery: Discovery) -> str:
    """Return the report page."""
    layout = lay_out(discovery.graph)
    style = _text("page.css") + _sizes(layout.width)
    script = _text("page.js")
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    picture = graph_svg(discovery.graph, discovery.confidence, focusable=True, layout=layout)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="referrer" content="no-referrer"><title>{_title(discovery)}</title><link rel="icon" href="data:,">'
        f"<style>{style}</style></head><body><main>"
        f"<div{' class=wide' if layout.width > WIDE else ''}>{_head(discovery)}{_figure(discovery, picture)}</div>"
        f"{_edges(discovery)}{budget_section(discovery)}"
        f'<div class="pair"><section><h2>What was promised</h2>'
        f"{_list(promised(discovery.privacy, discovery.domain.rows))}</section>"
        f"<section><h2>What was not promised</h2>{_list(not_promised(discovery.privacy))}</section></div>"
        f"{assumptions()}<h2>Where it is recorded</h2>{_list([recorded(discovery.privacy)])}"
        f"{facts(discovery)}{again(discovery)}{citation()}"
        f"<footer>Made by discreet {escape(__version__)} from a release and public facts alone.</footer></main>"
        f"<script>{script}</script></body></html>\n"
    )


def _title(discovery: Discovery) -> str:
    return "Private causal graph" if discovery.privacy.private else "Causal graph, NOT PRIVATE"


def _text(name: str) -> str:
    return (files("discreet.report") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _sizes(width: float) -> str:
    """Return how wide this graph may be."""
    least, most = SMALLEST * width, max(width, min(LARGEST * width, WIDE))
    return (
        f".graph svg {{ width: 100%; max-width: {most:.0f}px; min-width: {least:.0f}px; }}\n"
        "@media print { .graph svg { min-width: 0; } }\n"
    )


def _head(discovery: Discovery) -> str:
    privacy = discovery.privacy
    badges = [
        f"epsilon {privacy.epsilon:g}",
        f"delta {privacy.delta:g}",
        "replace one row" if privacy.max_rows is None else f"change all rows of one {privacy.unit}",
        f"method {discovery.method}",
    ]
    bad = (
        '<p class="bad" role="alert">NOT PRIVATE: this was made with predictable noise, for a test. '
        "Do not publish it.</p>"
        if not privacy.private
        else ""
    )
    return (
        f"<header><h1>{_title(discovery)}</h1>"
        f'<p class="lead">{found_words(discovery.graph, discovery.domain.rows)}</p>{bad}<ul class="badges">'
        f"{''.join(f'<li>{escape(badge)}</li>' for badge in badges)}</ul></header>"
    )


def _figure(discovery: Discovery, picture: str) -> str:
    sure, total = discovery.confidence, len(discovery.graph.skeleton)
    tools = (
        '<div class="tools" hidden><label for="cut">Hide edges less sure than '
        '<input id="cut" type="range" min="0" max="99" step="1" value="0"><output id="cut-value" for="cut">0%</output>'
        f'</label><span class="shown" role="status">{total} of {total} edges shown</span></div>'
        if sure
        else ""
    )
    arrow = (
        '<svg width="40" height="12" aria-hidden="true" class="dc-arrow"><path class="dc-line" d="M1 6H30" '
        'stroke-width="2.5"/><path class="dc-head" d="M40 6 30 1.4V10.6Z"/></svg>'
    )
    line = (
        '<svg width="40" height="12" aria-hidden="true" class="dc-unknown"><path class="dc-line" d="M1 6H39" '
        f'stroke-width="2.5" stroke-dasharray="{DASHES}"/></svg>'
    )
    legend = [f"{arrow}from cause to effect", f"{line}linked; the data cannot tell which way"]
    if sure:
        legend.append('the wider and darker, the surer<i class="screen">; point at an edge for its number</i>')
    return (
        f'<figure>{tools}<div class="graph" tabindex="0" role="region" '
        f'aria-label="The graph">{picture}</div><p class="about" aria-live="polite"></p>'
        f"<figcaption>{''.join(f'<span>{part}</span>' for part in legend)}</figcaption></figure>"
    )


def _edges(discovery: Discovery) -> str:
    """Return the table of edges; confidence is left out where a method has none."""
    sure = discovery.confidence
    verbs = {True: "causes", False: "linked to"}
    rows = []
    for i, (a, b, directed) in enumerate(discovery.graph.edges()):
        numbers = ""
        if sure:
            one = sure.get(frozenset((a, b)))
            edge = "" if one is None else f"{one.edge:.0%}"
            arrow = "" if one is None or one.arrow is None else f"{one.arrow:.0%}"
            numbers = f'<td class="n">{edge}</td><td class="n">{arrow}</td>'
        rows.append(
            f'<tr data-edge="{i}"><td>{_name(a)}</td><td class="v">{verbs[directed]}</td><td>{_name(b)}</td>'
            f"{numbers}</tr>"
        )
    if not rows:
        return (
            "<h2>Edges</h2><p>No edge was found. Either nothing here depends on anything else, "
            "or the noise hides it.</p>"
        )
    heads = '<th class="n" scope="col">Edge</th><th class="n" scope="col">Arrow</th>' if sure else ""
    return (
        '<h2>Edges</h2><div class="table"><table id="edges"><thead><tr><th scope="col">Column</th><td></td>'
        f'<th scope="col">Column</th>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
        f"{CONFIDENCE if sure else '<p>This method states no confidence.</p>'}"
    )


def _name(name: str) -> str:
    return f"<bdi>{escape(visible(name))}</bdi>"


def _list(points: list[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(visible(point))}</li>" for point in points) + "</ul>"
