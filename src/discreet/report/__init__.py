"""What people see: files, pages, pictures and words. Made from released values and public facts only."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import OutputError, ReleaseError, SettingError

if TYPE_CHECKING:
    from discreet.release.discovery import Discovery


FILES = ("release.json", "graph.svg", "graph.gml", "report.html")
"""What is written."""

EXACT_FILES = ("not-private.json", "not-private.svg", "not-private.gml")
"""What is written of a graph that is not private: under names of its own, and never beside a release."""

PLAN_FILES = ("plan.json", "plan.svg")
"""What is written of a plan."""


def path_of(given: object) -> Path:
    """Return a path, or refuse what is none."""
    if not isinstance(given, str | Path):
        raise SettingError("out: a path")
    return Path(given)


def check_folder(folder: Path, names: tuple[str, ...] = FILES) -> None:
    """Refuse a folder that cannot be written to, or that holds files of the other kind, before anything is spent."""
    foreign = {FILES: EXACT_FILES, EXACT_FILES: FILES}.get(names, ())
    if beside := [name for name in foreign if (folder / name).exists()]:
        raise SettingError(
            f"out: folder {str(folder)!r} holds {beside[0]!r}; what is private and what is not go to different folders"
        )
    try:
        there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise SettingError(f"out: folder {str(folder)!r} cannot be written to: {error.strerror or 'error'}") from None
    if taken := [name for name in names if (folder / name).is_dir()]:
        raise SettingError(f"out: {taken[0]!r} in folder {str(folder)!r} is a folder itself")


def refuse_release(folder: Path) -> None:
    """Refuse a folder that holds a release, before anything is spent: it was paid for, and is not overwritten."""
    if (folder / FILES[0]).exists():
        raise SettingError(
            f"out: folder {str(folder)!r} holds the release of another run, which was paid for and is not overwritten; "
            "name another folder, or move it away"
        )


def free_folder(folder: Path) -> Path:
    """Return the folder, or the first with a number behind its name, that holds no release."""
    numbered = (folder.with_name(f"{folder.name}-{i}") for i in count(2))
    return next(path for path in chain([folder], numbered) if not (path / FILES[0]).exists())


def write_files(discovery: Discovery, folder: Path) -> list[Path]:
    """Write release.json, graph.svg, graph.gml and report.html, each whole or not at all."""
    from discreet.report.html import report_html
    from discreet.report.picture import Picture, stamp_of
    from discreet.search.interop import to_gml

    check_folder(folder)
    if not _holds(folder, discovery):
        refuse_release(folder)
    facts = {edge: discovery.facts_of(edge) for edge in discovery.graph.marked}
    stamp, graph = stamp_of(discovery), to_gml(discovery.graph, facts)
    picture = Picture(discovery).svg() + "\n"
    texts = (discovery.to_json(), picture, f"# {stamp}\n{graph}" if stamp else graph, report_html(discovery))
    return write_folder(folder, FILES, texts)


def _holds(folder: Path, discovery: Discovery) -> bool:
    """Whether a folder holds the same release, however it was searched: nothing that was paid for is lost with it."""
    try:
        kept = type(discovery).load(folder / FILES[0])
    except ReleaseError:
        return False
    return (kept.privacy, kept.measurements) == (discovery.privacy, discovery.measurements) and (
        bool(kept.measurements) or kept == discovery
    )


def write_folder(folder: Path, names: Sequence[str], texts: Sequence[str]) -> list[Path]:
    """Write some files into a folder, which is made if it is not there, each whole or not at all."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"out: folder {str(folder)!r} cannot be made: {error.strerror or 'error'}") from None
    return [write_whole(folder / name, text) for name, text in zip(names, texts, strict=True)]


def check_new(path: Path, *, again: bool = False) -> None:
    """Refuse a file that cannot be written, or is there, before anything is spent; not so if it is to be the same."""
    check_file(path)
    if path.exists() and not again:
        raise SettingError(
            f"out: {str(path)!r} is there already, and is not overwritten; name another, or move it away"
        )


def write_new(path: Path, text: str) -> Path:
    """Write a file whole or not at all, and never over another."""
    if path.exists() and path.read_bytes() != text.encode():
        raise SettingError(f"out: {str(path)!r} holds something else, and is not overwritten; name another")
    return write_whole(path, text)


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
