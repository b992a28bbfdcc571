"""The graph as a picture, laid out by Graphviz (which comes inside the pygraphviz wheel)."""

from __future__ import annotations

from discreet.graph import Graph
from discreet.interop import to_dot

STYLE = """
  graph [bgcolor="transparent", rankdir=TB, nodesep=0.35, ranksep=0.55, pad=0.2];
  node [shape=box, style="rounded,filled", fillcolor="#eef3f8", color="#4a6785", fontcolor="#16202b",
        fontname="Helvetica,Arial,sans-serif", fontsize=12, margin="0.14,0.07"];
  edge [color="#4a6785", arrowsize=0.8];
"""


def graph_svg(graph: Graph, *, stamp: str = "") -> str:
    """Return the graph as an SVG element: arrows where the direction is known, lines where it is not.

    A stamp is written above the picture.
    """
    import pygraphviz

    head, _, rest = to_dot(graph).partition("{\n")
    label = (
        f'  label="{stamp}"; labelloc=t; fontcolor="#b00020"; fontname="Helvetica,Arial,sans-serif";\n' if stamp else ""
    )
    drawn = pygraphviz.AGraph(string=f"{head}{{{STYLE}{label}{rest}").draw(format="svg", prog="dot")
    text = drawn.decode("utf-8") if isinstance(drawn, bytes) else str(drawn)
    return text[text.index("<svg") :]
