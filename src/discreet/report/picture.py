"""A picture of a graph: what stands for a discovery in a notebook, and files of SVG, PNG and PDF.

PNG and PDF are drawn by the Graphviz inside the pygraphviz wheel, at the positions of the SVG, in a process of its
own, since fonts are set up once in a process. A font comes with the package: the machine needs none, and other
scripts than Latin, Greek and Cyrillic take what it has.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path

from discreet.errors import OutputError, SettingError
from discreet.release.discovery import Discovery
from discreet.report import check_file, path_of, write_bytes
from discreet.report.layout import FONT_SIZE, Layout, lay_out, text_width
from discreet.report.svg import ARROW, FILL, FONTS, INK, LINE, PAPER, STAMP, STAMP_HEIGHT, UNKNOWN, graph_svg, stroke_of
from discreet.report.words import NO_CONFIDENCE, casts_doubt, edge_notes, neighbour_words, summary_words
from discreet.search.graph import Edge, Mark

ENDINGS = ("svg", "png", "pdf")
SHARPNESS = 144
"""Dots an inch of a PNG: two to a CSS pixel."""

SECONDS = 120
_DRAW = (
    "import sys, pygraphviz\n"
    "sys.stdin.reconfigure(encoding='utf-8')\n"
    "made = pygraphviz.AGraph(string=sys.stdin.read()).draw(format=sys.argv[1], prog='nop2')\n"
    "sys.stdout.buffer.write(made)\n"
)
_SYSTEM = (
    "<dir>/usr/share/fonts</dir><dir>/usr/local/share/fonts</dir><dir>/System/Library/Fonts</dir>"
    '<dir>/Library/Fonts</dir><dir>WINDOWSFONTDIR</dir><dir>~/.fonts</dir><dir prefix="xdg">fonts</dir>'
    '<cachedir>/var/cache/fontconfig</cachedir><cachedir prefix="xdg">fontconfig</cachedir>'
)
"""Fonts of the machine: looked at only for letters that ours does not have."""

_OURS = re.compile("[\\s -~\u00a0-\u017f\u0370-\u045f\u2010-\u2027]*")


_FRAME = (
    f"background:{PAPER};color:{INK};border:1px solid #d3dce5;border-radius:8px;padding:10px 12px;max-width:100%;"
    f"box-sizing:border-box;overflow-x:auto;font-size:14px;line-height:1.5;font-family:{FONTS}"
)
"""Dark themes change neither colour, so that the picture is read on what it was drawn for."""


def stamp_of(discovery: Discovery) -> str:
    """Return what is written above a picture of what is not private."""
    return "" if discovery.privacy.private else "NOT PRIVATE: made with predictable noise, for a test"


@dataclass(frozen=True, eq=False)
class Picture:
    """The graph of a discovery. A notebook shows it; ``save`` writes it."""

    discovery: Discovery

    def _repr_svg_(self) -> str:
        return self.svg()

    def svg(self) -> str:
        """Return the picture as SVG."""
        found = self.discovery
        return graph_svg(found.drawn, found.confidence, notes=edge_notes(found), stamp=stamp_of(found))

    def png(self) -> bytes:
        """Return the picture as PNG, with two dots to a pixel."""
        return _draw(self.discovery, "png:cairo")

    def pdf(self) -> bytes:
        """Return the picture as a PDF of one page."""
        return _draw(self.discovery, "pdf:cairo")

    def save(self, path: str | Path) -> Path:
        """Write the picture to a file; its ending says how: .svg, .png or .pdf."""
        path = path_of(path)
        ending = ending_of(path, ENDINGS)
        check_file(path)
        made = self.svg().encode() + b"\n" if ending == "svg" else getattr(self, ending)()
        return write_bytes(path, made)


def notebook_html(discovery: Discovery) -> str:
    """Return what stands for a discovery in a notebook."""
    privacy, graph = discovery.privacy, discovery.drawn
    key = [
        summary_words(discovery),
        f"epsilon {privacy.epsilon:g}, delta {privacy.delta:g} for {neighbour_words(privacy)}",
        f"method {discovery.method}",
    ]
    stamp = stamp_of(discovery)
    bad = f'<div style="color:{STAMP};font-weight:bold">{escape(stamp)}</div>' if stamp else ""
    dashed = "dashed: direction unknown. " if graph.undirected else ""
    wide = "The wider an edge, the surer; point at it for its confidence." if discovery.confidence else NO_CONFIDENCE
    note = f'<div style="color:#4a5a6a;font-size:12px">Arrows: from cause to effect; {dashed}{wide}</div>'
    picture = graph_svg(graph, discovery.confidence, notes=edge_notes(discovery), background=None)
    return f'<div style="{_FRAME}">{bad}<div>{escape(" · ".join(key))}</div>{picture}{note}</div>'


def ending_of(path: Path, endings: tuple[str, ...]) -> str:
    """Return how a file is to be written, or refuse an ending that means nothing."""
    ending = path.suffix.lower().removeprefix(".")
    if ending not in endings:
        known = ", ".join(f".{e}" for e in endings[:-1])
        raise SettingError(f"out: the ending of {path.name!r} must be {known} or .{endings[-1]}")
    return ending


def dot_of(discovery: Discovery) -> str:
    """Return the picture in DOT, with all positions and strokes as in the SVG."""
    graph, stamp = discovery.drawn, stamp_of(discovery)
    layout = lay_out(graph)
    lines = [
        "digraph g {",
        f"graph [bgcolor=white, pad=0, dpi={SHARPNESS}, outputorder=edgesfirst, notranslate=true];",
        f'node [shape=box, style="rounded,filled", fixedsize=true, fillcolor="{FILL}", color="{LINE}", '
        f'fontcolor="{INK}", fontname="DejaVu Sans", fontsize={FONT_SIZE:g}, penwidth=1]; edge [arrowsize=0.9];',
        *_frame(layout, stamp),
    ]
    for i, box in enumerate(layout.boxes):
        at = f'pos="{box.x:.2f},{layout.height - box.y:.2f}", width={box.width / 72:.4f}, height={box.height / 72:.4f}'
        lines.append(f"{i} [{at}, label={_quote(box.label)}];")
    notes = edge_notes(discovery)
    for curve, edge in zip(layout.curves, graph.edges(), strict=True):
        warned = casts_doubt(notes.get(edge.pair, ()))
        width, opacity = stroke_of(discovery.confidence.get(edge.pair), warned=warned)
        points = " ".join(f"{x:.2f},{layout.height - y:.2f}" for x, y in curve.points)
        tip = f"e,{curve.tip[0]:.2f},{layout.height - curve.tip[1]:.2f} " if curve.tip else ""
        colour = f"{ARROW if edge.directed else UNKNOWN}{round(opacity * 255):02x}"
        how = "" if edge.directed else f", {_ends(edge)}"
        how += ", style=dotted" if warned else "" if edge.directed else ", style=dashed"
        lines.append(
            f'{curve.tail} -> {curve.head} [pos="{tip}{points}", color="{colour}", penwidth={width:.2f}{how}];'
        )
    return "\n".join([*lines, "}"])


def _ends(edge: Edge) -> str:
    """Return how the ends of an edge without a direction are drawn."""
    if edge.undirected:
        return "dir=none"
    shapes = {Mark.TAIL: "none", Mark.ARROW: "normal", Mark.CIRCLE: "odot"}
    return f"dir=both, arrowtail={shapes[edge.at_a]}, arrowhead={shapes[edge.at_b]}"


def _frame(layout: Layout, stamp: str) -> list[str]:
    """Return nodes that nobody sees, in the corners, and the stamp."""
    width = max(layout.width, text_width(stamp) + 28 if stamp else 0.0)
    height = layout.height + (STAMP_HEIGHT if stamp else 0.0)
    corners = [(0.0, 0.0), (width, height)]
    lines = [
        f'c{i} [pos="{x:.2f},{y:.2f}", width=0.001, height=0.001, style=invis, label=""];'
        for i, (x, y) in enumerate(corners)
    ]
    if stamp:
        at = f"{text_width(stamp) / 2 + 14:.2f},{layout.height + STAMP_HEIGHT / 2 - 4:.2f}"
        lines.append(f'stamp [pos="{at}", shape=plaintext, style="", fontcolor="{STAMP}", label={_quote(stamp)}];')
    return lines


def _quote(text: str) -> str:
    """Return a text that Graphviz takes for nothing but text."""
    return '"' + text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"') + '"'


def _draw(discovery: Discovery, form: str) -> bytes:
    """Let Graphviz draw, in a process that knows our font."""
    dot = dot_of(discovery)
    with tempfile.TemporaryDirectory() as folder:
        known = {**os.environ, "FONTCONFIG_FILE": str(_fonts(Path(folder), every=not _OURS.fullmatch(dot)))}
        known["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        try:
            done = subprocess.run(  # noqa: S603 - our own words, to our own Python
                [sys.executable, "-c", _DRAW, form],
                input=dot.encode(),
                capture_output=True,
                check=False,
                timeout=SECONDS,
                env=known,
            )
        except (OSError, subprocess.TimeoutExpired):
            raise OutputError("out: the picture could not be drawn; SVG needs less and may work") from None
    if done.returncode or not done.stdout:
        raise OutputError(
            "out: Graphviz could not draw the picture. SVG works without it; PNG and PDF need libraries of the system "
            "that a bare machine lacks (on Debian: apt-get install libglib2.0-0 libx11-6 libxext6 libxrender1)"
        )
    return done.stdout


def _fonts(folder: Path, *, every: bool) -> Path:
    """Write which fonts are used: a copy of ours, since marks are left beside fonts; and the machine's if need be."""
    ours, told = folder / "fonts", folder / "fonts.conf"
    ours.mkdir()
    (ours / "ours.ttf").write_bytes((files("discreet.report") / "fonts" / "DejaVuSans.ttf").read_bytes())
    told.write_text(
        '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>'
        f"<dir>{escape(str(ours))}</dir>{_SYSTEM if every else ''}"
        f"<cachedir>{escape(str(folder))}</cachedir></fontconfig>",
        encoding="utf-8",
    )
    return told
