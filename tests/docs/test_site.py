"""The docs as a site: built without a warning, with proofs and commands in it, and without requests to other hosts."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
LOADING = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "object": "data"}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("mkdocs", reason="pip install discreet[docs]")
    folder = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    return folder


class Loaded(HTMLParser):
    """Collects what a page loads, and where its links lead."""

    def __init__(self):
        super().__init__()
        self.loads, self.links, self.names = [], [], set()

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if LOADING.get(tag) in found:
            self.loads.append(found[LOADING[tag]])
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        self.names |= {found[key] for key in ("id", "name") if found.get(key)}


def parsed(page):
    reader = Loaded()
    reader.feed(page.read_text(encoding="utf-8"))
    return reader


def test_nothing_is_loaded_from_elsewhere(site):
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 60
    for page in pages:
        assert not [each for each in parsed(page).loads if re.match(r"(https?:)?//", each)], page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//|@import", sheet.read_text(encoding="utf-8")), sheet


def test_links_between_pages_lead_somewhere(site):
    seen = {page.resolve(): parsed(page) for page in site.rglob("*.html")}
    for page, found in seen.items():
        for link in found.links:
            if re.match(r"\w+:|//", link) or page.name == "404.html":
                continue
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            target = target / "index.html" if target.is_dir() else target
            assert target.exists(), f"{page}: {link}"
            if anchor and target in seen and not anchor.startswith("__"):
                assert anchor in seen[target].names, f"{page}: {link}"


def test_proofs_and_commands_are_there(site):
    for proof in (ROOT / "src/discreet").rglob("*.md"):
        page = site / "theory/proofs" / proof.relative_to(ROOT / "src/discreet").with_suffix(".html")
        assert page.exists(), proof
    if find_spec("typst"):
        assert (site / "theory/proofs.pdf").read_bytes().startswith(b"%PDF-")
        assert "proofs.pdf" in parsed(site / "theory/index.html").links
    text = (site / "reference/command-line.html").read_text(encoding="utf-8")
    for name in ("discreet discover", "discreet ledger verify", "discreet experiment accuracy"):
        assert f"Usage: {name} " in text
    assert "--round-epsilon" in text
    names = parsed(site / "reference/python.html").names
    assert {"discreet.discover", "discreet.Domain.from_yaml"} <= names
