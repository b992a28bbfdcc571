"""What people see: files whose names and texts are escaped, and words that tell the truth."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

import discreet as dc
from discreet.discovery import Privacy
from discreet.errors import DoubtWarning, SettingError
from discreet.report import check_folder
from discreet.report.html import report_html
from discreet.report.svg import graph_svg
from discreet.report.text import graph_text, statement_text, summary_text
from discreet.report.words import promised
from discreet.testing import SeededNoise

HOSTILE = ('<script>alert("x")</script>', "a & b", "back\\N slash", "ünï 😀 &#1; &amp;", "plain")


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    data = {name: np.where(rng.random(5_000) < 0.5, "<i>", "no") for name in HOSTILE}
    data[HOSTILE[1]] = data[HOSTILE[0]]
    data[HOSTILE[2]] = data[HOSTILE[3]]
    columns = {name: dc.Categorical(categories=("<i>", "no")) for name in HOSTILE}
    return dc.discover(data, domain=dc.Domain(columns, rows=5_000, unit="<b>visit</b>"), epsilon=2.0)


def test_files(found, tmp_path):
    paths = found.save(tmp_path / "new" / "folder")
    assert [p.name for p in paths] == ["release.json", "graph.svg", "graph.gml", "report.html"]
    assert all(p.stat().st_size for p in paths)
    assert not list(tmp_path.rglob("*.part"))


def test_nothing_hostile_survives_in_the_page(found):
    page = report_html(found)
    assert "<script" not in page
    assert "<b>visit" not in page
    assert "&lt;script&gt;" in page
    assert "a &amp; b" in page


def test_the_picture_shows_names_as_they_are(found):
    root = ET.fromstring(graph_svg(found.graph))  # noqa: S314 - our own SVG
    texts = {t.text for t in root.iter() if t.tag.endswith("text")}
    assert texts == set(HOSTILE)
    assert "<script" not in graph_svg(found.graph)
    assert found._repr_html_().startswith("<svg")


def test_text(found):
    assert f"{HOSTILE[0]}  ───  a & b" in graph_text(found.graph)
    assert "no edge: plain" in graph_text(found.graph)
    assert summary_text(found).startswith("5 columns, 5,000 rows: 2 edges")
    statement = statement_text(found)
    for words in ("epsilon 2", "7.39 times", "Not promised", "several rows", "1e-06", "delta"):
        assert words in statement


def test_the_statement_follows_the_promise(found):
    pure = replace(found.privacy, delta=0.0)
    assert not [line for line in promised(pure, 10) if "delta" in line]
    weak = replace(found.privacy, epsilon=100.0)
    assert "no protection" in promised(weak, 10)[0]
    stamped = replace(found, privacy=Privacy(1.0, 1e-6, "row", private=False, spent=()))
    assert "NOT PRIVATE" in statement_text(stamped)
    assert "NOT PRIVATE" in report_html(stamped)
    assert "NOT PRIVATE" not in report_html(found)


def test_an_empty_graph(found):
    empty = replace(found, graph=dc.Graph(("a", "b")))
    assert "No edge was found" in report_html(empty)
    assert graph_text(empty.graph) == "  no edge: a, b"


def test_a_file_that_cannot_be_written(found, tmp_path):
    (tmp_path / "graph.svg").mkdir()
    with pytest.raises(SettingError, match=r"graph\.svg"):
        found.save(tmp_path)


def test_a_folder_that_cannot_be_written_to(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingError, match="out"):
        check_folder(tmp_path / "file")


def test_what_predictable_noise_touched_is_stamped(tmp_path):
    net = dc.network("cancer")
    domain = net.domain(2_000)
    table = dc.load(net.sample(2_000, np.random.default_rng(0)), domain)
    room = dc.Room(table, domain, dc.Budget(epsilon=1, delta=1e-6), noise=SeededNoise(0))
    found = dc.discover_in(room, dc.Marginals())
    for path in found.save(tmp_path):
        text = path.read_text(encoding="utf-8")
        assert "NOT PRIVATE" in text or '"private": false' in text
    assert "NOT PRIVATE" in "".join(ET.parse(tmp_path / "graph.svg").getroot().itertext())  # noqa: S314 - our own SVG
    with pytest.warns(DoubtWarning, match="NOT PRIVATE"):
        dc.synthesize(found, 5)
