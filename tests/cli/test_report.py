"""`discreet report`: the page and the pictures once more, from a release alone; and what a terminal shows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli import main


def run(*args):
    return CliRunner().invoke(main, [str(a) for a in args])


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    folder = tmp_path_factory.mktemp("release")
    net = dc.network("asia")
    found = dc.discover(net.sample(5_000, np.random.default_rng(0)), domain=net.domain(5_000), epsilon=3.0)
    found.save(folder)
    return folder / "release.json"


def test_the_page_is_made_again_beside_the_release(release):
    page = release.parent / "report.html"
    before = page.read_text(encoding="utf-8")
    page.unlink()
    result = run("report", release)
    assert result.exit_code == 0
    assert not result.stdout
    assert result.stderr == f"Written: {page}\n"
    assert page.read_text(encoding="utf-8") == before


def test_a_page_has_a_title(release, tmp_path):
    out = tmp_path / "a.html"
    assert run("report", release, "--out", out, "--title", "Lungs & smoke").exit_code == 0
    assert "<h1>Lungs &amp; smoke</h1>" in out.read_text(encoding="utf-8")
    assert run("report", release, "--out", out, "--title", "x" * 300).exit_code == 2
    (tmp_path / "data.csv").write_text("a,b\n" + "0,0\n1,1\n" * 50, encoding="utf-8")
    (tmp_path / "domain.yaml").write_text(
        "rows: 100\ncolumns: {a: {categories: ['0', '1']}, b: {categories: ['0', '1']}}\n", encoding="utf-8"
    )
    command = ["discover", tmp_path / "data.csv", "--domain", tmp_path / "domain.yaml", "--title", "Two"]
    private = ("--epsilon", 5, "--ledger", tmp_path / "book.db", "--dataset", "pairs", "--out", tmp_path / "made")
    result = run(*command, *private)
    assert result.exit_code == 0, result.output
    assert "report.html" in result.stderr
    assert "Promised:" not in result.stderr
    made = tmp_path / "made" / "release.json"
    page = (tmp_path / "made" / "report.html").read_text(encoding="utf-8")
    assert "<h1>Two</h1>" in page
    assert "<dd>pairs</dd>" in page
    assert "data.csv" not in page
    assert run("ledger", "verify", "--ledger", tmp_path / "book.db", "--against", made).exit_code == 0
    assert dc.search_again(dc.Discovery.load(made)).about.title == "Two"
    assert "title" in run("discover", made, "--title", "Three").stderr
    assert "title" in run(*command, "--method", "pc", "--not-private").stderr


def test_the_ending_decides(release, tmp_path):
    outs = [tmp_path / f"graph.{ending}" for ending in ("html", "svg", "png", "pdf")]
    result = run("report", release, *(part for out in outs for part in ("--out", out)))
    assert result.exit_code == 0, result.output
    assert result.stderr.count("Written: ") == 4
    starts = [b"<!doctype html>", b"<svg", b"\x89PNG", b"%PDF"]
    assert all(out.read_bytes().startswith(start) for out, start in zip(outs, starts, strict=True))
    ET.parse(outs[1])  # noqa: S314 - our own SVG


def test_pictures_need_no_program_and_no_font_of_the_machine(release, tmp_path):
    command = [sys.executable, "-m", "discreet", "report", str(release)]
    known = {"PATH": "", "HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    for out in ("a.png", "a.pdf"):
        done = subprocess.run(  # noqa: S603
            [*command, "--out", str(tmp_path / out)], capture_output=True, check=False, env=known, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr.decode() == f"Written: {tmp_path / out}\n"
    assert b"DejaVuSans" in (tmp_path / "a.pdf").read_bytes()


@pytest.mark.parametrize(
    ("content", "out", "words", "code"),
    [
        (None, "a.gif", ".html, .svg, .png or .pdf", 2),
        (None, "a", ".html, .svg, .png or .pdf", 2),
        (None, "release.json", ".html", 2),
        ("absent", "a.html", "cannot be read", 2),
        ("", "a.html", "not a release", 2),
        ("{}", "a.html", "not a release", 2),
        ('{"schema": 1, "graph": {}, "private": false}', "a.html", "not a release", 2),
        (b"\xff\xfe\x00", "a.html", "cannot be read", 2),
        (None, "nowhere/a.html", "folder", 2),
    ],
)
def test_bad_input_writes_nothing(release, tmp_path, content, out, words, code):
    file = release
    if content is not None:
        file = tmp_path / "given.json"
        if content != "absent":
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = sorted(p.name for p in tmp_path.iterdir())
    result = run("report", file, "--out", tmp_path / "first.svg", "--out", tmp_path / out)
    assert result.exit_code == code, result.output
    assert words in result.stderr
    assert result.stderr.splitlines()[-1].startswith("error: ")
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_what_is_not_private_says_so(release, tmp_path):
    data = json.loads(release.read_text(encoding="utf-8"))
    data["privacy"]["private"] = False
    (tmp_path / "test.json").write_text(json.dumps(data), encoding="utf-8")
    result = run("report", tmp_path / "test.json", "--out", tmp_path / "a.html", "--out", tmp_path / "a.svg")
    assert result.exit_code == 0
    for name in ("a.html", "a.svg"):
        assert "NOT PRIVATE" in (tmp_path / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
@pytest.mark.parametrize("columns", ["40", "80", "120"])
def test_a_terminal_of_any_kind(release, encoding, columns):
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "discreet", "discover", str(release)],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": encoding, "COLUMNS": columns},
    )
    assert done.returncode == 0
    shown = done.stdout.decode(encoding)
    assert ("──▶" if encoding == "utf-8" else "-->") in shown
    assert "?" not in shown
    assert "\x1b" not in shown + done.stderr.decode(encoding)
    assert max(len(line) for line in shown.splitlines()[1:]) <= int(columns)
    assert "% of epsilon" in done.stderr.decode(encoding) or "All of epsilon" in done.stderr.decode(encoding)
