"""What people see: files, pages, pictures and words. Made from released values and public facts only."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import SettingError

if TYPE_CHECKING:
    from discreet.discovery import Discovery


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be written to, before anything is spent."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise SettingError(f"out: folder {str(folder)!r} cannot be written to: {error.strerror or 'error'}") from None


def write_files(discovery: Discovery, folder: Path) -> list[Path]:
    """Write release.json, graph.svg, graph.gml and report.html, each whole or not at all."""
    from discreet.interop import to_gml
    from discreet.report.html import report_html
    from discreet.report.svg import graph_svg

    check_folder(folder)
    makers: dict[str, Callable[[], str]] = {
        "release.json": discovery.to_json,
        "graph.svg": lambda: graph_svg(discovery.graph),
        "graph.gml": lambda: to_gml(discovery.graph),
        "report.html": lambda: report_html(discovery),
    }
    return [_write(folder / name, make()) for name, make in makers.items()]


def _write(path: Path, text: str) -> Path:
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    return part.replace(path)
