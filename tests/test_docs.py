"""Every block of README and docs runs, or says openly why it is only read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from docs_page import Page, blocks, check_words

import discreet

ROOT = Path(__file__).parent.parent
SLOW = ("tutorial.md",)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def _param(path):
    name = path.relative_to(ROOT).as_posix()
    return pytest.param(path, id=name, marks=[pytest.mark.slow] if name in SLOW else [])


@pytest.mark.parametrize("path", map(_param, PAGES) if False else [_param(p) for p in PAGES])
def test_every_block_runs(path, tmp_path, record_property):
    here = Path(__file__).parent / "docs_page.py"
    done = subprocess.run(  # noqa: S603
        [sys.executable, str(here), str(path)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        record_property("not run", line)
        sys.stdout.write(line + "\n")
