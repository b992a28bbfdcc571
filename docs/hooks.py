"""What mkdocs needs to know of the repository: proofs and sources become pages, the command line writes its own.

Pages are written so that their links work in the repository's own file browser. A link that leaves docs/ is turned
here into one to the page made of that file: proofs (`src/discreet/**.md`) always, other files as soon as they are
linked to.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import proofs
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")
FENCE = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)
COMMAND_LINE = "<!-- every command -->"
DOCUMENT = "theory/proofs.pdf"
"""All proofs as one document, where typst is installed."""
ITEM = re.compile(r"(?:[-*]|\d+\.) ")
SHIM, OURS = "https://unpkg.com/iframe-worker/shim", "assets/search-from-disk.js"
"""What the theme would load from elsewhere so that search works from disk, and what it loads instead."""
FOLDERS = {
    "privacy": "Noise, mechanisms and accounting",
    "statistics": "Statistics",
    "release": "Evidence from releases",
    "data": "People",
    "ledger": "Ledger",
    "audit": "Auditors",
}


def _proofs() -> list[str]:
    """Return the proofs, as paths from the root of the repository."""
    return sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "src/discreet").rglob("*.md"))


def _title(path: str) -> str:
    first = (ROOT / path).read_text(encoding="utf-8").splitlines()[0]
    return first.lstrip("# ").replace("`", "")


def _page_of(path: str) -> str:
    """Return where on the site a file of the repository stands."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path.startswith("src/discreet/") and path.endswith(".md"):
        return "theory/proofs/" + path.removeprefix("src/discreet/")
    return f"repository/{path}" if path.endswith(".md") else f"repository/{path}.md"


def _links(path: str, text: str) -> Iterator[str]:
    """Yield the files of the repository that a page links to, as paths from its root."""
    for part in FENCE.split(text)[::2]:
        for match in LINK.finditer(part):
            if "://" not in match[2]:
                yield posixpath.normpath(posixpath.join(posixpath.dirname(path), match[2]))


def _content(path: str) -> str:
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".md"):
        return text
    language = "python" if path.endswith(".py") else "text"
    return f"# {Path(path).name}\n\n`{path}`\n\n````{language}\n{text}\n````\n"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List the proofs under Theory, by folder."""
    groups: dict[str, list[Any]] = {title: [] for title in FOLDERS.values()}
    for path in _proofs():
        group = FOLDERS.get(path.split("/")[2], "More")
        groups.setdefault(group, []).append({_title(path): _page_of(path)})
    for item in config.nav or []:
        if "Theory" in item:
            item["Theory"].append({"Proofs": [{title: pages} for title, pages in groups.items() if pages]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add proofs, and all files of the repository that some page links to."""
    waiting = _proofs()
    for file in files.documentation_pages():
        waiting += _links(f"docs/{file.src_uri}", file.content_string)
    done: set[str] = set()
    while waiting:
        path = waiting.pop()
        if path in done or path.startswith(("docs/", "..")) or not (ROOT / path).is_file():
            continue
        done.add(path)
        content = _content(path)
        files.append(File.generated(config, _page_of(path), content=content))
        if path.endswith(".md"):
            waiting += _links(path, content)
    if find_spec("typst"):
        files.append(File.generated(config, DOCUMENT, content=proofs.compile_pdf()))
    return files


def _path_of(page: Page) -> str:
    """Return which file of the repository a page was made of."""
    uri = page.file.src_uri
    if uri.startswith("theory/proofs/"):
        return "src/discreet/" + uri.removeprefix("theory/proofs/")
    if uri.startswith("repository/"):
        path = uri.removeprefix("repository/")
        return path if (ROOT / path).is_file() else path.removesuffix(".md")
    return f"docs/{uri}"


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links between files of the repository into links between pages; fill in the command line."""
    path = _path_of(page)
    if path.endswith((".py", "docs/audit/audit.md")):
        page.meta["search"] = {"exclude": True}
    here = posixpath.dirname(page.file.src_uri)

    def turned(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), match[2]))
        uri = _page_of(target)
        if "://" in match[2] or files.get_file_from_path(uri) is None:
            return match[0]
        return f"{match[1]}{posixpath.relpath(uri, here or '.')}{match[3] or ''}{match[4]}"

    parts = FENCE.split(markdown)
    parts[::2] = [LINK.sub(turned, _with_lists(part)) for part in parts[::2]]
    whole = "".join(parts)
    if find_spec("typst"):
        whole = whole.replace(f"`site/{DOCUMENT}`", f"[`{DOCUMENT}`]({posixpath.relpath(DOCUMENT, here or '.')})")
    return whole.replace(COMMAND_LINE, _commands()) if COMMAND_LINE in whole else whole


def _with_lists(text: str) -> str:
    """Put an empty line before a list that follows a paragraph: mkdocs' Markdown would not see it otherwise."""
    lines: list[str] = []
    for line in text.split("\n"):
        before = lines[-1] if lines else ""
        if ITEM.match(line) and before.strip() and not ITEM.match(before) and not before.startswith(("  ", "#", "<")):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Let nothing be loaded from other hosts."""
    here = posixpath.dirname(page.file.dest_uri)
    return output.replace(SHIM, posixpath.relpath(OURS, here or "."))


def on_post_template(output_content: str, template_name: str, config: MkDocsConfig) -> str:
    """Let nothing be loaded from other hosts, on the page for what is not found."""
    return output_content.replace(SHIM, f"/{OURS}")


def _commands() -> str:
    """Return the help of every command, as the command line prints it."""
    from discreet.cli import main

    return "\n\n".join(f"## `{name}`\n\n```text\n{text}\n```" for name, text in _helps(main, "discreet", None))


def _helps(command: click.Command, name: str, parent: click.Context | None) -> Iterator[tuple[str, str]]:
    context = click.Context(command, info_name=name.rsplit(maxsplit=1)[-1], parent=parent, terminal_width=90)
    context.help_option_names = ["-h", "--help"]
    with context:
        yield name, command.get_help(context)
        if isinstance(command, click.Group):
            for each in command.list_commands(context):
                inner = command.get_command(context, each)
                if inner is not None:
                    yield from _helps(inner, f"{name} {each}", context)
