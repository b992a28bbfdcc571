"""The report: one self-contained page, without scripts, everything escaped."""

from __future__ import annotations

from html import escape
from importlib.resources import files

from discreet._version import __version__
from discreet.discovery import Discovery
from discreet.report.svg import graph_svg
from discreet.report.text import confidence_words
from discreet.report.words import not_promised, promised, recorded, spent

CONFIDENCE = (
    "<p>A confidence is how often an edge (or the direction of its arrow) was right among those that looked as sure, "
    "on networks drawn at random whose graph was known. It knows of sampling and noise, not of hidden causes.</p>"
)


def report_html(discovery: Discovery) -> str:
    """Return the report page."""
    privacy, graph = discovery.privacy, discovery.graph
    badges = [
        f"epsilon {privacy.epsilon:g}",
        f"delta {privacy.delta:g}",
        "replace one row" if privacy.max_rows is None else f"change all rows of one {privacy.unit}",
        f"method {discovery.method}",
        *(
            f"{key.replace('_', ' ')} {f'{value:.3g}' if isinstance(value, float) else value}"
            for key, value in discovery.settings.items()
            if value is not None and (key != "alpha" or discovery.settings.get("search") in (None, "pc"))
        ),
    ]
    marks = "".join(f'<span class="badge">{escape(badge)}</span>' for badge in badges)
    if not privacy.private:
        marks = '<span class="badge bad">NOT PRIVATE</span>' + marks
    verbs = {True: "causes", False: "is linked to (direction unknown)"}
    sure = confidence_words(discovery.confidence)
    rows = [(escape(a), verbs[d], escape(b), sure.get(frozenset((a, b)), "")) for a, b, d in graph.edges()]
    edges = "".join(f"<tr><td>{a}</td><td>{verb}</td><td>{b}</td><td>{c}</td></tr>" for a, verb, b, c in rows)
    style = (files("discreet.report") / "style.css").read_text(encoding="utf-8")
    found = "1 edge" if len(graph.skeleton) == 1 else f"{len(graph.skeleton)} edges"
    lead = f"{len(graph.nodes)} columns, {discovery.domain.rows:,} rows, {found}"
    table = (
        f"<table><tr><th>Column</th><th></th><th>Column</th><th>{'Confidence' if sure else ''}</th></tr>{edges}</table>"
        if edges
        else "<p>No edge was found.</p>"
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Private causal graph</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{style}</style></head><body><h1>Private causal graph</h1>"
        f'<p class="lead">{lead}</p>{marks}'
        f'<div class="graph">{graph_svg(graph)}</div>'
        "<p>An arrow points from cause to effect. "
        "A plain line joins two columns whose direction the data cannot tell.</p>"
        f"<h2>Edges</h2>{table}{CONFIDENCE if sure else ''}"
        f"<h2>What was promised</h2>{_list(promised(privacy, discovery.domain.rows))}"
        f"<h2>What was not promised</h2>{_list(not_promised(privacy))}"
        f"<h2>What the budget was spent on</h2>{_list(spent(discovery))}"
        f"<h2>Where it is recorded</h2>{_list([recorded(privacy)])}"
        f"<footer>discreet {__version__}</footer></body></html>\n"
    )


def _list(points: list[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(point)}</li>" for point in points) + "</ul>"
