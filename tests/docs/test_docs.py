"""Every block of README and docs runs, or says openly why it is only read."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import click
import pytest

import discreet
from support.docs_page import Page, blocks, check_words

ROOT = Path(__file__).parents[2]
PAGES = {
    path.relative_to(ROOT).as_posix(): path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
}

ONLY_READ = {
    "README.md": 2,
    "docs/benchmarks/accuracy.md": 1,
    "docs/benchmarks/asking.md": 1,
    "docs/benchmarks/audit.md": 1,
    "docs/benchmarks/direction.md": 2,
    "docs/benchmarks/engines.md": 1,
    "docs/benchmarks/forecast.md": 1,
    "docs/benchmarks/ledger.md": 1,
    "docs/benchmarks/moments.md": 1,
    "docs/benchmarks/mutants.md": 1,
    "docs/benchmarks/pcd.md": 1,
    "docs/benchmarks/priv-pc.md": 1,
    "docs/benchmarks/real-tables.md": 1,
    "docs/benchmarks/synthetic.md": 1,
    "docs/benchmarks/tests.md": 1,
    "docs/how-to/audit.md": 1,
    "docs/how-to/engines.md": 1,
    "docs/index.md": 2,
    "docs/theory/published.md": 1,
}
"""Blocks whose commands are only read: hours, servers, installations, a reader's own files. Each says why."""


SLOW = {
    f"docs/{page}.md"
    for page in ("tutorial", "how-to/budget", "how-to/engines", "how-to/ledger", "methods/direction", "methods/tests")
}
"""Pages whose blocks take long: run by `make test-all`."""


def run(path, folder):
    words = [sys.executable, str(Path(__file__).parents[1] / "support" / "docs_page.py"), str(path)]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in PAGES])
def test_every_block_runs(name, tmp_path):
    done = run(PAGES[name], tmp_path)
    assert done.returncode == 0, done.stderr
    sys.stdout.write(done.stdout)


def test_one_page_needs_other_libraries():  # its blocks run in their own environment: tests/interop
    assert [name for name, path in PAGES.items() if "<!-- test: needs" in path.read_text("utf-8")] == [
        "docs/how-to/interop.md"
    ]


def test_what_is_only_read_is_listed():
    found = Counter(name for name, path in PAGES.items() for b in blocks(path.read_text("utf-8")) if "parse" in b.mark)
    assert found == ONLY_READ


PAGE = """
```python
x = {x}
```

```python
print("seen", x + 1)
```

<!-- test: output -->
```text
{said}
```

```sh
{command}
```
"""


@pytest.mark.parametrize(
    ("x", "said", "command", "wrong"),
    [
        ("1", "seen 3", "discreet --version", None),
        ("y", "seen 3", "discreet --version", "line 2: NameError"),
        ("1", "heard 3", "discreet --version", "not among the output"),
        ("1", "seen 3", "discreet --nothing", "line 15: AssertionError: exit code 2"),
        ("1", "seen 3", "discreet demo --rows 0 || echo $?", None),
        ("1", "seen 3", "discreet --version\n```\n\n```\nwhat is this?", "say what the block is"),
        ("1", "seen 3", "discreet --version\n```\n\n```text\nwhat is this?", "say which"),
        ("1", "seen 3", "discreet --version\n```\n\n<!-- test: skip -->\n```sh\nfalse", "a mark that means nothing"),
        ("1", "seen 3", "discreet --version\n```\n\n<!-- test: parse -->\n```sh\ntrue", "say why"),
        ("1", "seen 3", "discreet --version\n```\n\n<!-- test: parse, long -->\n```sh\nmake tea", "no such target"),
        ("1", "seen 3", "discreet --version\n```\n\n```yaml\nrows: 1", "KnowledgeError"),
        ("1", "seen 3", "discreet --version\n```\n\n```yaml\nrows: 1\ncolumns: {a: {}}", "DomainError"),
    ],
)
def test_a_page_that_is_wrong_fails(x, said, command, wrong, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE.format(x=x, said=said, command=command), encoding="utf-8")
    (tmp_path / "empty").mkdir()
    done = run(page, tmp_path / "empty")
    assert done.returncode == (wrong is not None), done.stderr
    assert wrong is None or wrong in done.stderr


@pytest.mark.parametrize("line", ["discreet discover", "discreet discover a.csv --epsilom 1", "discreet tea", "tea"])
def test_words_that_no_command_takes_are_refused(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((click.UsageError, AssertionError)):
        check_words(line)


def test_a_fence_that_is_not_closed_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 1\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="not closed"):
        Page(page)


def test_every_public_name_is_in_the_reference():
    listed = re.findall(r"^::: discreet\.(\w+)$", PAGES["docs/reference/python.md"].read_text("utf-8"), re.MULTILINE)
    assert sorted([*listed, "__version__"]) == discreet.__all__


def test_every_link_between_files_leads_somewhere():
    others = [*ROOT.glob("*.md"), *(ROOT / "src").rglob("*.md")]
    for path in (*PAGES.values(), *others):
        text = re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)\s#]+)", text):
            assert "://" in target or (path.parent / target).exists(), f"{path}: {target}"
