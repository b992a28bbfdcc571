"""The page about other libraries: all its blocks run where these are installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_block_of_the_page_runs(tmp_path):
    runner, page = ROOT / "tests" / "support" / "docs_page.py", ROOT / "docs" / "how-to" / "interop.md"
    words = [sys.executable, str(runner), str(page)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    assert "not run" not in done.stdout
