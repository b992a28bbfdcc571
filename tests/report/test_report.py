"""What people see: files whose names and texts are escaped, and words that tell the truth."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import discreet as dc
from discreet.errors import DoubtWarning, OutputError, SettingError
from discreet.privacy.statement import Privacy, Spending, Stamp
from discreet.release.discovery import About, Confidence, Discovery
from discreet.report import check_folder
from discreet.report.budget import balance, merge_small, share_left, steps
from discreet.report.html import AUTHORS, LICENCE, TITLE, YEAR, report_html
from discreet.report.layout import lay_out, shorten, text_width, visible
from discreet.report.picture import dot_of
from discreet.report.svg import graph_svg
from discreet.report.terminal import (
    ASCII,
    discovery_text,
    graph_text,
    layers,
    statement_line,
    statement_text,
    summary_text,
)
from discreet.report.words import NO_CONFIDENCE, promised_words
from discreet.search.orientation import cpdag
from discreet.testing import SeededNoise

HOSTILE = ('<script>alert("x")</script>', "a & b", "back\\N slash", "ünï 😀 &#1; &amp; ]]>", "plain")


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


class Tags(HTMLParser):
    """All elements of a page, with their attributes."""

    def __init__(self, page):
        super().__init__()
        self.seen = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))


def test_nothing_hostile_survives_in_the_page(found):
    page = report_html(found)
    assert page.count("<script") == 1
    assert "<b>visit" not in page
    assert "<i>" not in page
    assert "&lt;script&gt;" in page
    assert "a &amp; b" in page
    assert "]]&gt;" in page
    tags = Tags(page).seen
    assert not [name for _, attrs in tags for name in attrs if name.startswith("on") or name == "style"]
    assert not {tag for tag, _ in tags} & {"iframe", "object", "embed", "img", "a", "form", "base", "b"}
    script = page[page.index("<script>") : page.index("</script>")]
    assert not [name for name in HOSTILE if name in script]


def test_the_policy_lets_nothing_in_but_what_is_there(found):
    page = report_html(found)
    policy = next(a["content"] for t, a in Tags(page).seen if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none';")
    for tag in ("style", "script"):
        inside = page[page.index(f"<{tag}>") + len(tag) + 2 : page.index(f"</{tag}>")]
        told = b64encode(sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{told}'" in policy
    assert "unsafe" not in policy
    linked = [v for _, attrs in Tags(page).seen for n, v in attrs.items() if n in ("src", "href", "xlink:href")]
    assert linked == ["data:,"]
    assert "innerHTML" not in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")


def test_the_picture_shows_names_as_they_are(found):
    root = ET.fromstring(graph_svg(found.graph))  # noqa: S314 - our own SVG
    texts = {t.text for t in root.iter() if t.tag.endswith("text")}
    assert texts == set(HOSTILE)
    assert "<script" not in graph_svg(found.graph)


def test_a_notebook_shows_the_graph_and_its_facts(found):
    shown = found._repr_html_()
    assert "<script" not in shown
    assert "<style" not in shown
    assert "epsilon 2, delta 1e-06" in shown
    assert "NOT PRIVATE" not in shown
    ET.fromstring(shown)  # noqa: S314 - our own
    stamped = replace(found, privacy=replace(found.privacy, private=False))
    assert "NOT PRIVATE" in stamped._repr_html_()


@pytest.mark.parametrize(
    "name", ["\x00\x1b[31m", "\u202edesrever", "a\u2028b", "\ud800", "עברית", "東京", "x" * 200, " "]
)
def test_odd_names(name):
    graph = dc.Graph((name, "b"), frozenset({(name, "b")}))
    for text in (graph_svg(graph), graph_svg(graph, focusable=True)):
        root = ET.fromstring(text)  # noqa: S314 - our own SVG
        titles = [t.text for t in root.iter() if t.tag.endswith("title")]
        assert visible(name) in titles
    (box, _), drawn = lay_out(graph).boxes, graph_text(graph, width=60)
    assert text_width(box.label) < box.width
    assert len(box.label) <= 32
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e\u2028\ud800]", drawn + visible(name))
    assert all(len(line) <= 60 for line in drawn.splitlines())


def test_long_names_keep_both_ends():
    assert shorten("a" * 32) == "a" * 32
    assert shorten("blood_pressure_" * 5 + "left") == "blood_pressure_blood_…ssure_left"
    page = graph_svg(dc.Graph(("n" * 70,)))
    assert f"<title>{'n' * 70}</title>" in page
    assert f">{'n' * 70}</text>" not in page


def test_text(found):
    assert f"{HOSTILE[0]}  ───  a & b" in graph_text(found.graph)
    assert "no edge: plain" in graph_text(found.graph)
    assert summary_text(found).startswith("5 columns, 5,000 rows: 2 edges")
    statement = statement_text(found)
    for words in ("epsilon 2", "7.39 times", "Not promised", "several rows", "1e-06", "delta"):
        assert words in statement


def test_the_statement_follows_the_promise(found):
    pure = replace(found.privacy, delta=0.0)
    assert not [line for line in promised_words(pure, 10) if "delta" in line]
    weak = replace(found.privacy, epsilon=100.0)
    assert "no protection" in promised_words(weak, 10)[0]
    stamped = replace(found, privacy=Privacy(1.0, 1e-6, "row", private=False, spent=()))
    assert "NOT PRIVATE" in statement_text(stamped)
    assert "NOT PRIVATE" in report_html(stamped)
    assert "NOT PRIVATE" not in report_html(found)


def test_an_empty_graph(found):
    empty = replace(found, graph=dc.Graph(("a", "b")), confidence={})
    assert "No edge was found" in report_html(empty)
    assert graph_text(empty.graph) == "  no edge: a, b"
    alone = replace(found, graph=dc.Graph(("a",)), confidence={})
    assert "1 column," in report_html(alone)
    assert "1 column," in summary_text(alone)
    assert 'id="cut"' not in report_html(alone)


@pytest.fixture
def unsure(found):
    """Three arrows, one of them less likely than not, and a line."""
    names = HOSTILE
    arcs = {(names[1], names[0]): 0.499, (names[1], names[2]): 0.5, (names[2], names[3]): 0.93}
    sure = {frozenset(arc): Confidence(0.95, p) for arc, p in arcs.items()}
    line = frozenset((names[3], names[4]))
    return replace(found, graph=dc.Graph(names, arcs, [line]), confidence=sure | {line: Confidence(0.6, None)})


def test_people_see_no_arrow_that_is_less_likely_than_not(unsure, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    a, b, c, d, e = HOSTILE
    assert unsure.withheld == {(b, a)}
    assert unsure.drawn == dc.Graph(HOSTILE, [(b, c), (c, d)], [(a, b), (d, e)])
    assert unsure.graph.directed == {(b, a), (b, c), (c, d)}
    assert "2 arrows and 2 lines" in repr(unsure)
    counted = "4 edges, 2 with a direction, 2 without; 1 direction withheld as less likely than not"
    assert counted in report_html(unsure)
    assert counted in unsure._repr_html_()
    shown = discovery_text(unsure, ASCII)
    assert "1 direction withheld" in shown
    assert shown.count("-->") == 3  # two arrows, and one in the summary
    assert re.search(rf"{re.escape(a)} +--- +{re.escape(b)}", shown)
    assert shown.count("arrow ") == 2
    for picture in (unsure.plot().svg(), unsure._repr_html_()):
        titles = [t.text for t in ET.fromstring(picture).iter() if t.tag.endswith("title")]  # noqa: S314 - our own
        for told in (
            f"{a} and {b} are linked, direction unknown: edge 95%, ",
            f"{b} causes {c}: edge 95%, arrow 50%, ",
        ):
            assert sum(title.startswith(told) and "Cramer's V" in title for title in titles) == 1
        assert picture.count("dc-head") == 2
    assert dot_of(unsure).count("dir=none") == 2
    unsure.save(tmp_path)
    marks = nx.parse_gml((tmp_path / "graph.gml").read_text(encoding="utf-8")).edges
    assert marks[b, a] == {"kind": "directed", "confidence": 0.95, "arrow_confidence": 0.499}
    again = Discovery.load(tmp_path / "release.json")
    assert (again.graph, again.drawn, again.withheld) == (unsure.graph, unsure.drawn, unsure.withheld)


def test_warnings_stand_beside_edges_and_are_spelled_out_once_in_a_terminal():
    rng = np.random.default_rng(0)
    asked = rng.integers(3, size=9_000)
    answers = {c: np.where(asked == i, "", rng.choice(["no", "yes"], 9_000)) for i, c in enumerate("abc")}
    column = dc.Categorical(categories=("no", "yes"), missing="not asked")
    found = dc.discover(answers, domain=dc.Domain(dict.fromkeys("abc", column), rows=9_000), epsilon=3.0)
    shown = discovery_text(found, ASCII)
    assert len(found.edges) >= 2
    assert shown.count("; warning 1") == len(found.edges)
    assert shown.count("missing values may explain it") == 1
    page = report_html(found)
    assert page.count("missing values may explain it") >= len(found.edges)
    assert (
        page.count('class="dc-edge ') == page.count(' dc-warned"') == len(found.edges)
    )  # the script knows edges by it
    assert "may come from how the table was made" in page


def test_the_page_withholds_what_it_can_show(unsure):
    (edge,) = [attrs for _, attrs in Tags(report_html(unsure)).seen if attrs.get("data-arrow") == "0.499"]
    a, b, *_ = HOSTILE
    assert edge["class"] == "dc-edge dc-unknown"
    assert edge["data-other"].startswith(f"{b} causes {a}: edge 95%, arrow 50%, ")
    assert (edge["data-from"], edge["data-to"]) == ("1", "0")
    cell = next(attrs for tag, attrs in Tags(report_html(unsure)).seen if tag == "td" and "data-other" in attrs)
    assert cell["data-other"] == "caused by"


def test_what_knowledge_settles_is_drawn_and_says_so(unsure):
    a, b, c, *_ = HOSTILE
    settled = replace(unsure, knowledge=dc.Knowledge(tiers=((b,), (a, c)), required={(c, HOSTILE[3])}))
    assert not settled.withheld
    assert settled.drawn == settled.graph
    shown = discovery_text(settled, ASCII)
    assert shown.count("settled by tiers") == 2
    assert shown.count("settled by required") == 1
    assert "In no tier: " in shown
    page = report_html(settled)
    assert '<th class="note" scope="col">Notes</th>' in page
    assert "data-arrow" not in page.partition("<script>")[0].partition("</style>")[2]
    assert "Given by the custodian, not found in the rows." in page
    assert "given by the custodian" not in report_html(unsure).lower()
    edges = {(e["from"], e["to"]): e["settled_by"] for e in settled.to_dict()["graph"]["edges"]}
    assert (edges[b, a], edges[c, HOSTILE[3]]) == ("tiers", "required")
    narrow = graph_text(settled.drawn, settled.confidence, notes={frozenset((b, a)): ["a note"]}, width=40)
    assert "\n    a note\n" in narrow
    assert max(map(len, narrow.splitlines())) <= 40


def test_where_no_confidence_is_stated_arrows_are_drawn_and_that_is_said(unsure):
    bare = replace(unsure, confidence={})
    assert bare.drawn == bare.graph
    assert NO_CONFIDENCE in " ".join(discovery_text(bare).split())
    assert NO_CONFIDENCE in report_html(bare)
    assert NO_CONFIDENCE in bare._repr_html_()
    assert NO_CONFIDENCE not in discovery_text(unsure) + report_html(unsure) + unsure._repr_html_()


def test_a_report_tells_what_it_rests_on(found):
    stamp = Stamp("book", 7, "f00d", "visits <of> 2025")
    told = replace(found, privacy=replace(found.privacy, ledger=stamp), about=About("A <i>title", "2026-01-31"))
    page = report_html(told)
    assert "<h1>A &lt;i&gt;title</h1>" in page
    assert "<title>A &lt;i&gt;title</title>" in page
    for words in ("visits &lt;of&gt; 2025", "made on 2026-01-31", "Entry 7 of ledger book", "5 columns as they were"):
        assert words in page
    assert "<h1>Private causal graph of visits &lt;of&gt; 2025</h1>" in report_html(replace(told, about=About()))
    assert "<h1>Private causal graph</h1>" in report_html(replace(found, about=About()))
    assert Discovery.from_json(told.to_json()).about == told.about
    assert Discovery.from_json(told.to_json()).privacy.ledger.dataset == stamp.dataset
    number = re.search(r"A correlation of ([0-9.]+) between", page)[1]
    variance = found.measurements[0].mechanism.variance
    assert float(number) == pytest.approx(4 * (variance + 1250) ** 0.5 / 5000 / 0.5, rel=0.05)
    assert "not even a copy" in report_html(replace(found, domain=replace(found.domain, rows=5)))
    with pytest.raises(SettingError, match="title"):
        About("x" * 201)


def test_numbers_of_specialists_are_folded_away(found):
    page = report_html(found)
    assert "GDP mu^2" in page
    assert "GDP mu^2" not in re.sub(r"<details>.*?</details>", "", page)
    assert "GDP" not in statement_text(found) + statement_line(found) + discovery_text(found)
    assert "\n" not in statement_line(found)


def boxes_apart(graph):
    boxes = lay_out(graph).boxes
    for i, a in enumerate(boxes):
        assert a.x - a.width / 2 >= 0
        assert a.y - a.height / 2 >= 0
        for b in boxes[:i]:
            assert abs(a.x - b.x) >= (a.width + b.width) / 2 or abs(a.y - b.y) >= (a.height + b.height) / 2
    assert all(box.x + box.width / 2 <= lay_out(graph).width for box in boxes)
    assert all(box.y + box.height / 2 <= lay_out(graph).height for box in boxes)


@pytest.mark.parametrize("name", ["asia", "alarm", "child"])
def test_no_two_boxes_overlap(name):
    dag = dc.network(name).dag
    boxes_apart(dag)
    boxes_apart(dc.Graph(dag.nodes))
    boxes_apart(dc.Graph(dag.nodes, frozenset(sorted(dag.directed)[:3])))


def test_the_layout_puts_causes_above_effects():
    dag = dc.network("alarm").dag
    boxes = dict(zip(dag.nodes, lay_out(dag).boxes, strict=True))
    assert all(boxes[a].y < boxes[b].y for a, b in dag.directed)
    depth = layers(dag)
    assert all(depth[a] < depth[b] for a, b in dag.directed)


def test_marks_differ_by_more_than_colour():
    graph = dc.Graph(("a", "b", "c"), frozenset({("a", "b")}), frozenset({frozenset(("b", "c"))}))
    sure = {frozenset(("a", "b")): Confidence(0.9, 0.8), frozenset(("b", "c")): Confidence(0.3, None)}
    root = ET.fromstring(graph_svg(graph, sure))  # noqa: S314 - our own SVG
    arrow, line = (g for g in root.iter() if "dc-edge " in g.get("class", ""))
    drawn = [[e.get("class") for e in edge.iter()] for edge in (arrow, line)]
    assert ("dc-head" in drawn[0], "dc-head" in drawn[1]) == (True, False)
    strokes = [next(e for e in edge.iter() if e.get("class") == "dc-line") for edge in (arrow, line)]
    assert [s.get("stroke-dasharray") for s in strokes] == [None, "6 4"]
    assert float(strokes[0].get("stroke-width")) > float(strokes[1].get("stroke-width"))
    assert "edge 90%, arrow 80%" in "".join(arrow.itertext())
    assert "direction unknown: edge 30%" in "".join(line.itertext())


def test_the_terminal_groups_by_cause(found):
    graph = dc.Graph(("z", "y", "x", "w"), frozenset({("y", "x"), ("y", "z"), ("z", "w")}))
    sure = {frozenset(arc): Confidence(p, p) for arc, p in ((("y", "x"), 0.5), (("y", "z"), 0.9), (("z", "w"), 0.7))}
    assert graph_text(graph, sure, marks=ASCII, width=80).splitlines() == [
        "  y  -->  z  ####. edge 90%, arrow 90%",
        "     -->  x  ##... edge 50%, arrow 50%",
        "  z  -->  w  ####. edge 70%, arrow 70%",
    ]
    for width in (40, 60, 80, 200):
        drawn = graph_text(found.graph, found.confidence, width=width)
        assert max(len(line) for line in drawn.splitlines()) <= max(width, 40)
        assert ("edge 99%" if width > 60 else " 99%") in drawn
    circle = dc.Graph(("a", "b"), frozenset({("a", "b")}))
    object.__setattr__(circle, "directed", frozenset({("a", "b"), ("b", "a")}))
    assert layers(circle)  # comes to an end


def test_the_budget_is_told_step_by_step():
    many = tuple(Spending(f"sieve {i % 3}", "above threshold", "zCDP rho", 1e-5) for i in range(400))
    privacy = Privacy(1.0, 1e-6, "row", private=True, spent=many)
    (one,) = steps(privacy)
    assert one.what == "400 questions, such as sieve 0"
    assert one.share == pytest.approx(0.004 / 0.02435, rel=0.01)
    assert share_left([one]) == pytest.approx(1 - one.share)
    assert "was not" in balance(privacy)
    kinds = tuple(Spending("s", f"mechanism {i}", "pure epsilon", 0.05) for i in range(20))
    pure = Privacy(1.0, 0.0, "row", private=True, spent=kinds)
    assert balance(pure) == "All of epsilon 1, delta 0 was spent."
    assert len(merge_small(steps(pure))) == 8
    assert sum(s.share for s in merge_small(steps(pure))) == pytest.approx(1)
    assert merge_small(steps(pure))[-1].what == "13 smaller steps"
    four = Privacy(1.0, 0.0, "patient", private=True, spent=kinds[:5], max_rows=4)
    assert sum(s.share for s in steps(four)) == pytest.approx(1)
    odd = replace(pure, spent=(Spending("s", "m", "shells", 1.0),))
    assert steps(odd)[0].share is None
    assert balance(odd) == "The budget was epsilon 1, delta 0."
    assert balance(replace(pure, spent=())).startswith("Nothing of")


def test_a_secret_number_of_rows_is_not_told(found):
    """Only how many are used, not how many there are."""
    rows = f"{found.domain.rows:,}"
    hidden = report_html(replace(found, privacy=replace(found.privacy, absent=True)))
    for words in (f"{rows} used", "behind any one row:", "The number of rows that are used"):
        assert words in hidden
        assert words not in report_html(found)
    assert f"any one of the {rows} rows" in report_html(found)
    assert f"any one of the {rows} rows" not in hidden


def test_the_bar_fits_its_numbers(found):
    kinds = tuple(Spending("s", f"mechanism {i}", "pure epsilon", 0.04) for i in range(20))
    page = report_html(replace(found, privacy=Privacy(1.0, 0.0, "row", private=True, spent=kinds)))
    widths = [float(w) for w in re.findall(r'<rect class="(?:s\d|left)"[^>]*width="([0-9.]+)%"', page)]
    assert len(widths) == 9
    assert 95 < sum(widths) <= 100
    assert "not spent" in page


def test_the_citation_is_that_of_the_file():
    known = (Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8")
    for words in (f'title: "{TITLE}"', f"name: {AUTHORS}", f"license: {LICENCE}", f"date-released: {YEAR}-"):
        assert words in known


def test_what_a_release_cannot_do_is_not_offered(found):
    assert "search_again" in report_html(found)
    assert "search_again" not in report_html(replace(found, measurements=()))


@pytest.mark.parametrize("method", ["marginals", "svt-pc", "priv-pc", "em-pc", "flipped-top-k", "flipped-svt"])
def test_every_method_is_shown(method, tmp_path):
    net = dc.network("cancer")
    table = net.sample(3_000, np.random.default_rng(0))
    made = dc.discover(table, domain=net.domain(3_000), epsilon=2.0, method=method)
    made.save(tmp_path)
    again = Discovery.load(tmp_path / "release.json")
    assert report_html(again) == (tmp_path / "report.html").read_text(encoding="utf-8")
    assert ('id="cut"' in report_html(again)) == bool(again.confidence)
    ET.fromstring(again._repr_html_())  # noqa: S314 - our own


@pytest.mark.parametrize("method", ["moments", "pcd"])
def test_numbers_are_shown(method):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=2_000), rng.normal(size=2_000)
    domain = dc.Domain({n: dc.Numeric(bounds=(-5, 5)) for n in ("a", "b", "c")}, rows=2_000)
    made = dc.discover({"a": a, "b": b, "c": a + b}, domain=domain, epsilon=5.0, method=method)
    assert f"method {method}" in report_html(made)
    assert "3 columns" in summary_text(made)


def test_pictures(found, tmp_path):
    picture = found.plot()
    ET.fromstring(picture._repr_svg_())  # noqa: S314 - our own SVG
    found.plot(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == picture.svg() + "\n"
    found.plot(tmp_path / "a.PNG")
    png = (tmp_path / "a.PNG").read_bytes()
    layout = lay_out(found.graph)
    size = [int.from_bytes(png[i : i + 4]) for i in (16, 20)]
    assert size == pytest.approx([2 * layout.width, 2 * layout.height], abs=4)
    found.plot(tmp_path / "a.pdf")
    pdf = (tmp_path / "a.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    assert b"DejaVuSans" in pdf
    here = Path(dc.__file__).parent / "report" / "fonts"
    assert sorted(p.name for p in here.iterdir()) == ["DejaVuSans.ttf", "LICENSE"]
    for bad in ("a.gif", "a", "nowhere/a.png"):
        with pytest.raises((SettingError, OutputError), match="out"):
            found.plot(tmp_path / bad)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.PNG", "a.pdf", "a.svg"]


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
    found.plot(tmp_path / "not.pdf")
    assert (
        found.plot(tmp_path / "not.png").png()
        != replace(found, privacy=replace(found.privacy, private=True)).plot().png()
    )
    for path in found.save(tmp_path):
        text = path.read_text(encoding="utf-8")
        assert "NOT PRIVATE" in text or '"private": false' in text
    assert "NOT PRIVATE" in "".join(ET.parse(tmp_path / "graph.svg").getroot().itertext())  # noqa: S314 - our own SVG
    with pytest.warns(DoubtWarning, match="NOT PRIVATE"):
        dc.synthesize(found, 5)


@pytest.mark.parametrize("name", ["asia", "alarm", "sachs"])
def test_a_machine_without_the_libraries_of_graphviz_gets_a_plainer_picture(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    graph = cpdag(dc.network(name).dag)
    layout = lay_out(graph)
    for a, b in combinations(layout.boxes, 2):
        assert abs(a.x - b.x) >= (a.width + b.width) / 2 or abs(a.y - b.y) >= (a.height + b.height) / 2
    for box in layout.boxes:
        assert box.width / 2 < box.x < layout.width - box.width / 2
        assert box.height / 2 < box.y < layout.height - box.height / 2
    for curve, edge in zip(layout.curves, graph.edges(), strict=True):
        tail, head = layout.boxes[curve.tail], layout.boxes[curve.head]
        assert (curve.tip is not None) == edge.directed
        if edge.directed:
            assert tail.y < head.y
            assert curve.tip == pytest.approx((head.x, head.y - head.height / 2))
        assert {curve.points[0][0], curve.points[-1][0]} == {tail.x, head.x}
        assert all(0 < x < layout.width and 0 < y < layout.height for x, y in curve.points)
    assert graph_svg(graph).count("<title>") >= len(graph.nodes)
