"""The report: one page that stands by itself, asks nobody for anything, and has every name escaped.

Its policy lets nothing run but the one script and the one style sheet in it, by their hashes. The script reads
numbers and texts from the page and writes texts, never markup. Without it the page is a still picture.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files

from discreet._version import __version__
from discreet.domain.knowledge import NOTHING_KNOWN
from discreet.privacy.statement import Privacy
from discreet.release.discovery import LIKELY, Confidence, Discovery
from discreet.report.budget import balance, merge_small, share_left, steps
from discreet.report.layout import lay_out, visible
from discreet.report.svg import DASHES, DOTS, graph_svg, verb_of
from discreet.report.words import (
    NO_CONFIDENCE,
    clipped_words,
    cut_short_words,
    declared_words,
    edge_notes,
    function_words,
    knowledge_words,
    not_promised_words,
    promised_words,
    recorded_words,
    shape_words,
    spending_words,
    summary_words,
    title_words,
    weakest_words,
)
from discreet.search.graph import Edge, Mark, Pair

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
    "on networks drawn at random whose graph was known. It knows of sampling and noise, not of hidden causes. A "
    "direction that is less likely than not is drawn as a line; its arrow (&rarr; to the second column, &larr; to the "
    "first) stands beside its number. What knowledge settles is as sure as its edge.</p>"
)
EDGES = (
    "<p>An arrow is a hypothesis worth testing, not a finding. Strength (in the notes, with an interval that holds in "
    "95% of cases) is how much two columns go together by themselves: an association, never an effect. Rank "
    "correlation goes from -1 to 1, Cramer's V from 0 to 1.</p>"
)
SMALLEST, LARGEST = 0.8, 1.2
"""How far a graph is scaled to fit: names stay readable; what is wider is scrolled in its box."""

PAGE_WIDE = 760
"""A graph wider than this is printed on a page across."""


def report_html(discovery: Discovery) -> str:
    """Return the report page."""
    layout = lay_out(discovery.drawn)
    style = _text("page.css") + _sizes(layout.width)
    script = _text("page.js")
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    notes, turns, title = edge_notes(discovery), _turns(discovery), escape(visible(title_words(discovery)))
    picture = graph_svg(discovery.drawn, discovery.confidence, notes=notes, turns=turns, focusable=True, layout=layout)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="referrer" content="no-referrer"><title>{title}</title><link rel="icon" href="data:,">'
        f"<style>{style}</style></head><body><main>"
        f"<div{' class=wide' if layout.width > PAGE_WIDE else ''}>{_head(discovery)}{_figure(discovery, picture)}</div>"
        f"{_edges(discovery, notes, turns)}{_basis(discovery)}{_budget(discovery)}"
        f'<div class="pair"><section><h2>What was promised</h2>'
        f"{_list(promised_words(discovery.privacy, discovery.domain.rows))}</section>"
        f"<section><h2>What was not promised</h2>{_list(not_promised_words(discovery.privacy))}</section></div>"
        f"{_assumptions()}{_facts(discovery)}{_use_again(discovery)}{_citation()}"
        f"<footer>Made by discreet {escape(__version__)} from a release and public facts alone.</footer></main>"
        f"<script>{script}</script></body></html>\n"
    )


def _turns(discovery: Discovery) -> dict[Pair, Edge]:
    """Return the edges whose direction may be shown or withheld, as they are the other way."""
    sure, found = discovery.confidence, {}
    for edge in discovery.graph.marked:
        known = edge.pair in sure and sure[edge.pair].arrow is not None
        if edge.directed and known and not discovery.knowledge.settles(edge.a, edge.b):
            line = Edge(edge.a, edge.b, Mark.TAIL, Mark.TAIL)
            found[edge.pair] = edge if (edge.a, edge.b) in discovery.withheld else line
    return found


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
    privacy, title = discovery.privacy, escape(visible(title_words(discovery)))
    badges = [
        *([f"made on {discovery.about.made}"] if discovery.about.made else []),
        f"epsilon {privacy.epsilon:g}",
        f"delta {privacy.delta:g}",
        _neighbours(privacy),
        f"method {discovery.method}",
    ]
    bad = (
        '<p class="bad" role="alert">NOT PRIVATE: this was made with predictable noise, for a test. '
        "Do not publish it.</p>"
        if not privacy.private
        else ""
    )
    return (
        f"<header><h1>{title}</h1>"
        f'<p class="lead">{summary_words(discovery)}</p>{bad}<ul class="badges">'
        f"{''.join(f'<li>{escape(badge)}</li>' for badge in badges)}</ul></header>"
    )


def _figure(discovery: Discovery, picture: str) -> str:
    sure = discovery.confidence
    sliders = (
        f"{_slider('cut', 'Hide edges less sure than', 0)}{_slider('turn', 'Draw arrows from', round(100 * LIKELY))}"
        '<span class="shown" role="status"></span>'
        if sure
        else ""
    )
    zoom = "".join(
        f'<button type="button" data-zoom="{step}" aria-label="{words}">{sign}</button>'
        for step, words, sign in (("1.25", "Larger", "+"), ("0.8", "Smaller", "&minus;"), ("0", "As at first", "fit"))
    )
    tools = f'<div class="tools" hidden>{sliders}<span class="zoom" role="group" aria-label="Zoom">{zoom}</span></div>'
    arrow = (
        '<svg width="40" height="12" aria-hidden="true" class="dc-arrow"><path class="dc-line" d="M1 6H30" '
        'stroke-width="2.5"/><path class="dc-head" d="M40 6 30 1.4V10.6Z"/></svg>'
    )
    line = (
        '<svg width="40" height="12" aria-hidden="true" class="dc-unknown"><path class="dc-line" d="M1 6H39" '
        f'stroke-width="2.5" stroke-dasharray="{DASHES}"/></svg>'
    )
    settled = "" if discovery.knowledge == NOTHING_KNOWN else ", or settled by knowledge"
    least = f', <output class="least">{LIKELY:.0%}</output> sure or more{settled}' if sure else ""
    doubts = any(row.warnings for row in discovery.edges)
    doubtful = (
        '<svg width="40" height="12" aria-hidden="true" class="dc-unknown"><path class="dc-line" '
        f'd="M1 6H39" stroke-width="1.5" stroke-dasharray="{DOTS}"/></svg>'
    )
    legend = [
        f"{arrow}<span>from cause to effect{least}</span>",
        f"{line}<span>linked; the data cannot tell which way</span>",
        *([f"{doubtful}<span>may come from how the table was made: see its warning</span>"] if doubts else []),
        '<span>the wider and darker, the surer<i class="screen">; point at an edge for its number</i></span>'
        if sure
        else f"<span>{NO_CONFIDENCE}</span>",
    ]
    return (
        f'<figure>{tools}<div class="graph" tabindex="0" role="region" '
        f'aria-label="The graph">{picture}</div><p class="about" aria-live="polite"></p>'
        f"<figcaption>{''.join(f'<div>{part}</div>' for part in legend)}</figcaption></figure>"
    )


def _slider(name: str, words: str, at: int) -> str:
    """Return a slider over percents."""
    return (
        f'<label for="{name}">{words} <input id="{name}" type="range" min="0" max="100" step="1" value="{at}">'
        f'<output id="{name}-value" for="{name}">{at}%</output></label>'
    )


def _edges(discovery: Discovery, notes: Mapping[Pair, Sequence[str]], turns: Mapping[Pair, Edge]) -> str:
    """Return the table of edges; confidence is left out where a method has none, and notes where there are none."""
    sure = discovery.confidence
    rows = []
    for i, drawn in enumerate(discovery.drawn.edges()):
        one, other = sure.get(drawn.pair), turns.get(drawn.pair)
        given = drawn.directed and discovery.knowledge.settles(drawn.a, drawn.b) is not None
        edge, arrow = _numbers(drawn, one, other)
        cells = [f'<td class="n">{cell}</td>' for cell in (edge, "given" if given else arrow)] if sure else []
        cells += [f'<td class="v note">{escape("; ".join(notes.get(drawn.pair, ())))}</td>'] if notes else []
        turned = "" if other is None else f' data-other="{_turned_verb(drawn, other)}"'
        rows.append(
            f'<tr data-edge="{i}"><td>{_name(drawn.a)}</td><td class="v"{turned}>{verb_of(drawn)}</td>'
            f"<td>{_name(drawn.b)}</td>{''.join(cells)}</tr>"
        )
    if not rows:
        return (
            "<h2>Edges</h2><p>No edge was found. Either nothing here depends on anything else, "
            "or the noise hides it.</p>"
        )
    heads = '<th class="n" scope="col">Edge</th><th class="n" scope="col">Arrow</th>' if sure else ""
    heads += '<th class="note" scope="col">Notes</th>' if notes else ""
    return (
        f'<h2>Edges</h2>{EDGES}<div class="table"><table id="edges"><thead><tr><th scope="col">Column</th><td></td>'
        f'<th scope="col">Column</th>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
        f"{CONFIDENCE if sure else f'<p>{NO_CONFIDENCE}</p>'}"
    )


def _numbers(drawn: Edge, sure: Confidence | None, other: Edge | None) -> tuple[str, str]:
    """Return how sure an edge and its arrow are; of an arrow that is withheld, which way it would point."""
    if sure is None or sure.arrow is None:
        return "" if sure is None else f"{sure.edge:.0%}", ""
    way = "" if other is None or not other.directed else " &rarr;" if other.a == drawn.a else " &larr;"
    return f"{sure.edge:.0%}", f"{sure.arrow:.0%}{way}"


def _turned_verb(drawn: Edge, other: Edge) -> str:
    return verb_of(other) if other.a == drawn.a or other.undirected else "caused by"


def _basis(discovery: Discovery) -> str:
    """Return what the graph rests on: public facts, what was given, and what could be seen."""
    stamp = discovery.privacy.ledger
    given = knowledge_words(discovery) or ["None: no direction was given, all were found."]
    known = {
        **({"data set": [stamp.dataset]} if stamp and stamp.dataset else {}),
        **({"made on": [discovery.about.made]} if discovery.about.made else {}),
        "rows": [
            f"{discovery.domain.rows:,}{' used' * discovery.privacy.chosen}"
            + ("" if _unit(discovery) == "a row" else f", each {_unit(discovery)}")
        ],
        "background knowledge": given,
        **({"functions": told} if (told := function_words(discovery)) else {}),
        **({"clipped": told} if (told := clipped_words(discovery)) else {}),
        **({"directions by shape": told} if (told := shape_words(discovery)) else {}),
        "weakest dependence seen": [weakest_words(discovery)],
        "recorded": [recorded_words(discovery.privacy)],
    }
    items = "".join(
        f"<dt>{key}</dt><dd>{'<br>'.join(escape(visible(line)) for line in lines)}</dd>" for key, lines in known.items()
    )
    columns = "".join(
        f"<tr><td>{_name(name)}</td><td>{escape(visible(declared_words(column)))}</td></tr>"
        for name, column in discovery.domain.columns.items()
    )
    return (
        f'<h2>What it rests on</h2><dl class="facts">{items}</dl><details><summary>{len(discovery.domain.columns)} '
        f'columns as they were declared</summary><div class="table"><table>{columns}</table></div></details>'
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
    items = "".join(f"<li>{escape(visible(line))}</li>" for line in spending_words(privacy))
    cut_short = cut_short_words(discovery)
    return (
        f"<h2>What the budget was spent on</h2>{drawn}<p>{escape(balance(privacy))}</p>"
        f"{_list(cut_short) if cut_short else ''}<details><summary>Step by step, with mechanisms and "
        f'amounts</summary><ol class="steps">{items}</ol></details>'
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
        "version": f"discreet {__version__}",
    }
    items = "".join(f"<dt>{escape(visible(k))}</dt><dd>{escape(visible(v))}</dd>" for k, v in known.items())
    return f'<h2>How it was made</h2><dl class="facts">{items}</dl>'


def _neighbours(privacy: Privacy) -> str:
    if privacy.absent:
        return "add, remove or replace one row"
    return "replace one row" if privacy.max_rows is None else f"change all rows of one {privacy.unit}"


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
