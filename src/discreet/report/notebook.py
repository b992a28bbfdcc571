"""What a notebook shows: the graph with its key facts, on paper of its own, without a script or a style sheet."""

from __future__ import annotations

from html import escape

from discreet.discovery import Discovery
from discreet.report.picture import stamp_of
from discreet.report.svg import FONTS, INK, PAPER, STAMP, graph_svg
from discreet.report.words import found_words, kept_to

_FRAME = (
    f"background:{PAPER};color:{INK};border:1px solid #d3dce5;border-radius:8px;padding:10px 12px;max-width:100%;"
    f"box-sizing:border-box;overflow-x:auto;font-size:14px;line-height:1.5;font-family:{FONTS}"
)
"""Dark themes change neither colour, so that the picture is read on what it was drawn for."""


def notebook_html(discovery: Discovery) -> str:
    """Return what stands for a discovery in a notebook."""
    privacy, graph = discovery.privacy, discovery.graph
    key = [
        found_words(graph, discovery.domain.rows),
        f"epsilon {privacy.epsilon:g}, delta {privacy.delta:g} for {kept_to(privacy)}",
        f"method {discovery.method}",
    ]
    stamp = stamp_of(discovery)
    bad = f'<div style="color:{STAMP};font-weight:bold">{escape(stamp)}</div>' if stamp else ""
    dashed = "dashed: direction unknown. " if graph.undirected else ""
    wide = "The wider an edge, the surer; point at it for its confidence." if discovery.confidence else ""
    note = f'<div style="color:#4a5a6a;font-size:12px">Arrows: from cause to effect; {dashed}{wide}</div>'
    picture = graph_svg(graph, discovery.confidence, background=None)
    return f'<div style="{_FRAME}">{bad}<div>{escape(" · ".join(key))}</div>{picture}{note}</div>'
