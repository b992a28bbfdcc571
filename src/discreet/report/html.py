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
from discreet.release.discovery import Discovery
from discreet.report.budget import balance, merge_small, share_left, steps
from discreet.report.layout import lay_out, visible
from discreet.report.svg import DASHES, graph_svg, verb_of
from discreet.report.words import found_words, not_promised_words, promised_words, recorded_words, spent_words

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

CONFIDENCE = (
    "<p>A confidence is how often an edge (or the direction of its arrow) was right among those that looked as sure, "
    "on networks drawn at random whose graph was known. It knows of sampling and noise, not of hidden causes.</p>"
)
SMALLEST, LARGEST = 0.8, 1.2
"""How far a graph is scaled to fit: names stay readable; what is wider is scrolled in its box."""

PAGE_WIDE = 760
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
        f"<div{' class=wide' if layout.width > PAGE_WIDE else ''}>{_head(discovery)}{_figure(discovery, picture)}</div>"
        f"{_edges(discovery)}{_budget(discovery)}"
        f'<div class="pair"><section><h2>What was promised</h2>'
        f"{_list(promised_words(discovery.privacy, discovery.domain.rows))}</section>"
        f"<section><h2>What was not promised</h2>{_list(not_promised_words(discovery.privacy))}</section></div>"
        f"{_assumptions()}<h2>Where it is recorded</h2>{_list([recorded_words(discovery.privacy)])}"
        f"{_facts(discovery)}{_use_again(discovery)}{_citation()}"
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
    least, most = SMALLEST * width, max(width, min(LARGEST * width, PAGE_WIDE))
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
    rows = []
    for i, drawn in enumerate(discovery.graph.edges()):
        a, b = drawn.a, drawn.b
        numbers = ""
        if sure:
            one = sure.get(frozenset((a, b)))
            edge = "" if one is None else f"{one.edge:.0%}"
            arrow = "" if one is None or one.arrow is None else f"{one.arrow:.0%}"
            numbers = f'<td class="n">{edge}</td><td class="n">{arrow}</td>'
        rows.append(
            f'<tr data-edge="{i}"><td>{_name(a)}</td><td class="v">{verb_of(drawn)}</td><td>{_name(b)}</td>'
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


def _budget(discovery: Discovery) -> str:
    """Return the bar of what was spent, and its list: what was measured, with which noise, for how much."""
    privacy = discovery.privacy
    found = steps(privacy)
    shown, left = merge_small(found), share_left(found)
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
    items = "".join(f"<li>{escape(visible(line))}</li>" for line in spent_words(discovery))
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


def _assumptions() -> str:
    """Return what a reader must believe to read an arrow as a cause, and what the other marks mean."""
    return (
        '<div class="pair"><section><h2>What an arrow takes</h2>'
        "<p>An arrow says: if one could set the first column from outside, the second would change, and the other "
        f"columns here do not pass all of it on. That follows only if:</p>{_points(ASSUMED)}</section>"
        f"<section><h2>What the rest means</h2>{_points(READ)}</section></div>"
    )


def _facts(discovery: Discovery) -> str:
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


def _use_again(discovery: Discovery) -> str:
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


def _citation() -> str:
    """Return how to cite the library."""
    entry = (
        f"@software{{discreet,\n  author  = {{{{{AUTHORS}}}}},\n  title   = {{{TITLE}}},\n"
        f"  version = {{{__version__}}},\n  year    = {{{YEAR}}},\n  license = {{{LICENCE}}}\n}}"
    )
    return (
        f"<h2>How to cite</h2><p>{AUTHORS} ({YEAR}). <cite>{escape(TITLE)}</cite>, version {escape(__version__)} "
        f"({LICENCE} licence). Say epsilon, delta and the method beside the graph.</p><pre>{escape(entry)}</pre>"
    )


def _name(name: str) -> str:
    return f"<bdi>{escape(visible(name))}</bdi>"


def _list(points: list[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(visible(point))}</li>" for point in points) + "</ul>"


def _points(points: tuple[tuple[str, str], ...]) -> str:
    return "<ul>" + "".join(f"<li><strong>{escape(a)}</strong> {escape(b)}</li>" for a, b in points) + "</ul>"
