"""What people see: files, pages, pictures and words. Made from released values and public facts only."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import OutputError, SettingError

if TYPE_CHECKING:
    from discreet.release.discovery import Discovery


FILES = ("release.json", "graph.svg", "graph.gml", "report.html")
"""What is written."""

EXACT_FILES = ("not-private.json", "not-private.svg", "not-private.gml")
"""What is written of a graph that is not private: under names of its own, and never beside a release."""

PLAN_FILES = ("plan.json", "plan.svg")
"""What is written of a plan."""


def check_folder(folder: Path, names: tuple[str, ...] = FILES) -> None:
    """Refuse a folder that cannot be written to, or that holds files of the other kind, before anything is spent."""
    foreign = {FILES: EXACT_FILES, EXACT_FILES: FILES}.get(names, ())
    if beside := [name for name in foreign if (folder / name).exists()]:
        raise SettingError(
            f"out: folder {str(folder)!r} holds {beside[0]!r}; what is private and what is not go to different folders"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise SettingError(f"out: folder {str(folder)!r} cannot be written to: {error.strerror or 'error'}") from None
    if taken := [name for name in names if (folder / name).is_dir()]:
        raise SettingError(f"out: {taken[0]!r} in folder {str(folder)!r} is a folder itself")


def write_files(discovery: Discovery, folder: Path) -> list[Path]:
    """Write release.json, graph.svg, graph.gml and report.html, each whole or not at all."""
    from discreet.report.html import report_html
    from discreet.report.picture import Picture, stamp_of
    from discreet.search.interop import to_gml

    check_folder(folder)
    facts = {edge: discovery.facts_of(edge) for edge in discovery.graph.marked}
    stamp, graph = stamp_of(discovery), to_gml(discovery.graph, facts)
    picture = Picture(discovery).svg() + "\n"
    texts = (discovery.to_json(), picture, f"# {stamp}\n{graph}" if stamp else graph, report_html(discovery))
    return [write_whole(folder / name, text) for name, text in zip(FILES, texts, strict=True)]


def check_file(path: Path) -> None:
    """Refuse a file that cannot be written, before anything is spent."""
    if path.is_dir() or not path.parent.is_dir():
        raise SettingError(f"out: {str(path)!r} is a folder, or its folder does not exist; name a file")


def write_whole(path: Path, text: str) -> Path:
    """Write a file whole or not at all."""
    return write_blocks(path, [text])


def write_blocks(path: Path, blocks: Iterable[str]) -> Path:
    """Write a file block by block, whole or not at all."""
    return _write(path, (block.encode("utf-8") for block in blocks))


def write_bytes(path: Path, content: bytes) -> Path:
    """Write a file that is not text, whole or not at all."""
    return _write(path, [content])


def _write(path: Path, blocks: Iterable[bytes]) -> Path:
    part = path.with_name(path.name + ".part")
    try:
        with part.open("wb") as file:
            file.writelines(blocks)
        return part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise OutputError(f"out: {str(path)!r} cannot be written: {error.strerror or 'error'}") from None
