"""Runs the blocks of a page of the docs, in order: ``python docs_page.py PAGE`` in an empty folder.

A block is run if it is Python or shell, written to a file if it has a title, and read as a domain or as knowledge if it
is YAML. A comment before it may say otherwise, and is meant to be read by people too:

    <!-- test: parse, why -->     commands that take hours, servers or a reader's own files: only read
    <!-- test: needs NAME -->     run where the package NAME can be imported
    <!-- test: output -->         output of the block before: every line must occur there, whatever its numbers
    <!-- test: example -->        output that differs from run to run: not checked
    <!-- test: file PATH -->      a file of the repository that the page tells the reader to save

What was not run is printed at the end, one line each.
"""

from __future__ import annotations

import importlib.util
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
LANGUAGES = ("python", "sh", "yaml", "json", "text")
BLOCK = re.compile(
    r"(?:<!-- test: (?P<mark>[^>]*?) -->\s*)?^[ ]*```(?P<language>\w*)(?P<info>[^\n]*)\n(?P<body>.*?)^[ ]*```$",
    re.MULTILINE | re.DOTALL,
)
FILE = re.compile(r"<!-- test: file ([^ ]+) -->")
NUMBER = re.compile(r"\d[\d.,]*(?:e[+-]?\d+)?")


@dataclass(frozen=True)
class Block:
    """A fenced block, what a comment says about it, and the line it begins at."""

    line: int
    language: str
    title: str
    mark: str
    body: str


def blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of a page."""
    for found in BLOCK.finditer(text):
        title = re.search(r'title="([^"]*)"', found["info"])
        line = text.count("\n", 0, found.start("language")) + 1
        mark = found["mark"] or ""
        mark = "" if mark.startswith("file ") else mark
        yield Block(line, found["language"], title[1] if title else "", mark, found["body"])


def commands(body: str) -> list[str]:
    """Return the commands of a shell block, with lines joined that belong together."""
    joined = body.replace("\\\n", " ")
    return [line for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def check_words(line: str) -> None:
    """Check that a command exists and takes these words, without running it."""
    words = shlex.split(line, comments=True)
    words = words[: words.index(">")] if ">" in words else words
    for word in words:
        if re.fullmatch(r"[\w-]+(\.\w+)+", word):  # files of a reader's own
            Path(word).touch()
    head, rest = Path(words[0]).name, words[1:]
    if head == "discreet":
        _check_click(rest)
    elif head == "python":
        assert (ROOT / rest[0]).is_file(), f"no such file: {rest[0]}"
    elif head == "make":
        assert f"\n{rest[0]}:" in (ROOT / "Makefile").read_text(encoding="utf-8"), f"no such target: {rest[0]}"
    elif words[:2] == ["pip", "install"]:
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
            "optional-dependencies"
        ]
        for extra in re.findall(r"(?:discreet|\.)\[([^]]*)\]", line):
            assert set(extra.split(",")) <= set(extras), f"no such extra: {extra}"
    elif words[0] == ".":
        assert rest == [".venv/bin/activate"], f"not what `make` makes: {rest}"
    else:
        raise AssertionError(f"a command that this test does not know: {head}")


def _check_click(words: list[str]) -> None:
    """Let click read the words of a command, without running it."""
    import click

    from discreet.cli import main

    command: click.Command = main
    context = None
    name = "discreet"
    while True:
        context = command.make_context(name, list(words), parent=context)
        if not isinstance(command, click.Group):
            return
        name, found, words = command.resolve_command(context, [*context._protected_args, *context.args])
        assert found is not None
        command = found


class Page:
    """One page, run in the folder it is called in."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.told: list[str] = []
        self.output = ""
        self.names: dict[str, object] = {"__name__": "__main__"}
        text = path.read_text(encoding="utf-8")
        self.blocks = list(blocks(text))
        for name in FILE.findall(text):
            Path(Path(name).name).write_bytes((ROOT / name).read_bytes())
        fences = len(re.findall(r"^[ ]*```", text, re.MULTILINE))
        assert fences == 2 * len(self.blocks), "a fence that is not closed, or not seen"

    def run(self) -> None:
        """Run all blocks."""
        for block in self.blocks:
            try:
                self._one(block)
            except BaseException as error:
                raise SystemExit(f"{self.path.name}, line {block.line}: {type(error).__name__}: {error}") from error

    def _one(self, block: Block) -> None:
        kind, _, rest = block.mark.partition(" ")
        kind = kind.rstrip(",")
        assert kind in ("", "parse", "needs", "output", "example"), f"a mark that means nothing: {block.mark!r}"
        assert block.language in LANGUAGES, f"say what the block is: one of {', '.join(LANGUAGES)}"
        if block.title:
            Path(block.title).write_text(block.body, encoding="utf-8")
        if kind == "needs" and importlib.util.find_spec(rest) is None:
            self._tell(block, f"not run: {rest} is not installed")
        elif block.language == "yaml":
            self._yaml(block)
        elif block.language == "json":
            json.loads(block.body)
        elif block.language == "text":
            self._text(block, kind)
        elif kind == "parse":
            self._parse(block, rest)
        elif block.language == "python":
            self._python(block)
        else:
            self._shell(block)

    def _tell(self, block: Block, words: str) -> None:
        self.told.append(f"{self.path.name}, line {block.line}: {words}")

    def _yaml(self, block: Block) -> None:
        from discreet.domain import Domain
        from discreet.domain.knowledge import Knowledge

        is_domain = re.search(r"^columns:", block.body, re.MULTILINE)
        (Domain if is_domain else Knowledge).from_yaml(block.body)

    def _text(self, block: Block, kind: str) -> None:
        if kind != "output":
            assert kind == "example", "text is output to be checked (output) or one of many (example): say which"
            return
        seen = [NUMBER.sub("#", line).strip() for line in self.output.splitlines()]
        for line in block.body.splitlines():
            wanted = NUMBER.sub("#", line).strip()
            assert any(wanted in each for each in seen) or wanted == "...", f"not among the output: {line.strip()!r}"

    def _parse(self, block: Block, why: str) -> None:
        assert why, "say why the block is not run"
        if block.language == "python":
            compile(block.body, str(self.path), "exec")
        else:
            for line in commands(block.body):
                check_words(line)
        self._tell(block, f"read, not run: {why}")

    def _python(self, block: Block) -> None:
        kept = io.StringIO()
        sys.path[:0] = [] if sys.path[0] == "" else [""]
        with redirect_stdout(kept), redirect_stderr(kept):
            exec(compile(block.body, f"{self.path.name}:{block.line}", "exec"), self.names)  # noqa: S102
        self.output = kept.getvalue()

    def _shell(self, block: Block) -> None:
        done = subprocess.run(  # noqa: S603
            ["bash", "-e", "-o", "pipefail", "-c", "\n".join(commands(block.body))],  # noqa: S607
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}"
        self.output = done.stdout


def _commands_here() -> None:
    """Put `discreet` and `python` on the path, as they are installed where the test runs."""
    folder = Path(".bin")
    folder.mkdir()
    for name, words in {"discreet": "-m discreet", "python": ""}.items():
        (folder / name).write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {words} "$@"\n', encoding="utf-8")
        (folder / name).chmod(0o755)
    os.environ["PATH"] = f"{folder.absolute()}{os.pathsep}{os.environ['PATH']}"
    os.environ["DISCREET_LEDGER"] = str(Path("own-ledger.db").absolute())


if __name__ == "__main__":
    _commands_here()
    page = Page(Path(sys.argv[1]))
    page.run()
    sys.stdout.write("\n".join(page.told) + "\n")
