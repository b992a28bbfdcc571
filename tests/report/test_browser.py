"""The report in a real browser: what it shows, what it does, and that it asks nobody for anything."""

from __future__ import annotations

import functools
import shutil
import threading
from dataclasses import replace
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise

import numpy as np
import pytest

import discreet as dc
from discreet.release.discovery import Confidence
from discreet.report.html import report_html

playwright = pytest.importorskip("playwright.sync_api", reason="needs the extra `browser`")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium or Chrome on this machine"),
]
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]
HOSTILE = (
    "<script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked = 1">',
    "</title></svg><script>window.hacked = 1</script>",
    "a & b ]]> ' \" `",
    "n" * 90,
    "עברית",
    "東京",
)


@pytest.fixture(scope="module")
def asia():
    net = dc.network("asia")
    return dc.discover(net.sample(20_000, np.random.default_rng(0)), domain=net.domain(20_000), epsilon=3.0)


@pytest.fixture(scope="module")
def alarm(asia):
    """The graph of alarm, some of its edges without a direction, with a confidence for each."""
    dag, rng = dc.network("alarm").dag, np.random.default_rng(0)
    arcs = sorted(dag.directed)
    graph = dc.Graph(dag.nodes, frozenset(arcs[6:]), frozenset(frozenset(arc) for arc in arcs[:6]))
    sure = {frozenset(arc): Confidence(p, p * 0.9) for arc, p in zip(arcs, rng.uniform(0.3, 0.99, 46), strict=True)}
    return replace(asia, graph=graph, confidence=sure, domain=dc.network("alarm").domain(20_000), measurements=())


@pytest.fixture(scope="module")
def hostile(asia):
    arcs = frozenset(pairwise(HOSTILE))
    sure = {frozenset(arc): Confidence(0.5, 0.5) for arc in arcs}
    domain = dc.Domain(dict.fromkeys(HOSTILE, dc.Categorical(categories=("no", "yes"))), rows=20_000)
    return replace(asia, graph=dc.Graph(HOSTILE, arcs), confidence=sure, domain=domain, measurements=())


@pytest.fixture(scope="module")
def warned():
    """A survey whose blocks of questions rotate: every edge has a warning."""
    rng = np.random.default_rng(0)
    asked = rng.integers(3, size=9_000)
    answers = {c: np.where(asked == i, "", rng.choice(["no", "yes"], 9_000)) for i, c in enumerate("abc")}
    column = dc.Categorical(categories=("no", "yes"), missing="not asked")
    return dc.discover(answers, domain=dc.Domain(dict.fromkeys("abc", column), rows=9_000), epsilon=3.0)


@pytest.fixture(scope="module")
def chromium():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium, tmp_path):
    """Open a page from a server of our own; nothing may be said on the console, and nothing else be asked for."""

    class Silent(SimpleHTTPRequestHandler):
        def log_message(self, *args):
            asked.append(self.path)

    asked, said, contexts = [], [], []
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Silent, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def open_page(text, width=1280, **settings):
        (tmp_path / "page.html").write_text(text, encoding="utf-8")
        contexts.append(chromium.new_context(viewport={"width": width, "height": 800}, **settings))
        page = contexts[-1].new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"http://127.0.0.1:{server.server_port}/page.html", wait_until="networkidle")
        return page

    yield open_page
    for context in contexts:
        context.close()
    server.shutdown()
    server.server_close()
    assert not said
    assert {url.rpartition("/")[2] for url in asked} == {"page.html"}
    assert len(asked) == 2 * len(contexts)  # as the page says, and as the server does


def shown(page):
    """Return the numbers of the edges that are seen in the graph, and in the table."""
    seen = "all => all.filter(e => getComputedStyle(e).display !== 'none').map(e => Number(e.dataset.edge))"
    return tuple(sorted(page.eval_on_selector_all(what, seen)) for what in (".dc-edge", "#edges tbody tr"))


def test_a_slider_hides_edges(opened, alarm):
    page = opened(report_html(alarm))
    everything = list(range(46))
    assert shown(page) == (everything, everything)
    sure = [alarm.confidence[edge.pair].edge for edge in alarm.drawn.edges()]
    for cut in (60, 99, 0, 75):
        page.locator("#cut").fill(str(cut))
        kept = [i for i in everything if round(sure[i], 3) >= cut / 100]
        assert shown(page) == (kept, kept)
        assert page.locator(".shown").inner_text().startswith(f"{len(kept)} of 46 edges shown, ")
    assert 0 < len(kept) < 46


def test_edges_with_a_warning_are_dotted_and_the_page_works(opened, warned):
    page = opened(report_html(warned))
    everything = list(range(len(warned.edges)))
    assert shown(page) == (everything, everything)
    dots = "nodes => nodes.map(node => getComputedStyle(node).strokeDasharray)"
    assert set(page.locator(".dc-edge .dc-line").evaluate_all(dots)) == {"1.5px, 4px"}


ARROWS = """() => [...document.querySelectorAll(".dc-edge")].filter(edge => {
  const line = getComputedStyle(edge.querySelector(".dc-line")), head = edge.querySelector(".dc-head");
  const pointed = head !== null && getComputedStyle(head).visibility === "visible";
  if (pointed !== (line.strokeDasharray === "none")) { throw new Error("half an arrow"); }
  return pointed;
}).map(edge => edge.querySelector("title").textContent)"""


def test_a_slider_withholds_arrows(opened, alarm):
    page = opened(report_html(alarm))
    likely = {arc: alarm.confidence[frozenset(arc)].arrow for arc in alarm.graph.directed}
    assert 0 < len(alarm.drawn.directed) < len(likely)
    for cut in (50, 0, 75, 100, 50):
        page.locator("#turn").fill(str(cut))
        kept = {(a, b) for (a, b), p in likely.items() if round(p, 3) >= cut / 100}
        said = page.evaluate(ARROWS)
        assert {tuple(words.split(":")[0].split(" causes ")) for words in said} == kept
        rows = page.eval_on_selector_all("#edges tbody tr", "all => all.map(r => [...r.cells].map(c => c.textContent))")
        told = {(r[0], r[2]) for r in rows if r[1] == "causes"} | {(r[2], r[0]) for r in rows if r[1] == "caused by"}
        assert told == kept
        assert page.locator(".least").inner_text() == f"{cut}%"
        assert page.locator(".shown").inner_text().endswith(f", {len(kept)} with a direction")
        cause, effect = min(kept, default=(None, None))
        if cause:
            page.locator(".dc-node", has=page.locator(f"title:text-is('{cause}')")).focus()
            words = page.locator(".about").inner_text()
            assert effect in words.partition("causes ")[2].partition(";")[0]
    assert set(alarm.drawn.directed) == kept


def test_zoom_and_pan(opened, alarm):
    page = opened(report_html(alarm))
    wide = "() => document.querySelector('.dc-graph').getBoundingClientRect().width"
    at = "() => { const g = document.querySelector('.graph'); return [g.scrollLeft, g.scrollTop]; }"
    before = page.evaluate(wide)
    for _ in range(3):
        page.get_by_role("button", name="Larger").click()
    assert page.evaluate(wide) == pytest.approx(before * 1.25**3, rel=0.02)
    box = page.locator(".graph").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    first = page.evaluate(at)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y - 40, steps=3)
    page.mouse.up()
    assert page.evaluate(at) == pytest.approx([first[0] + 60, first[1] + 40], abs=2)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    assert page.evaluate(wide) > before * 2
    page.get_by_role("button", name="As at first").click()
    assert page.evaluate(wide) == pytest.approx(before, rel=0.001)
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def lit(page):
    return set(page.eval_on_selector_all(".dc-node.on title", "all => all.map(e => e.textContent)"))


def test_a_node_shows_its_neighbourhood(opened, alarm):
    page = opened(report_html(alarm))
    node = page.locator(".dc-node", has_text="VENTALV")
    near = alarm.drawn.neighbors("VENTALV") | {"VENTALV"}
    node.hover()
    assert lit(page) == near
    page.mouse.move(0, 0)
    assert not lit(page)
    node.click()
    page.mouse.move(0, 0)
    assert lit(page) == near
    assert page.locator(".dc-edge.on").count() == len(near) - 1
    assert page.locator("#edges tr.on").count() == len(near) - 1
    assert "VENTALV" in page.locator(".about").inner_text()
    faint = page.locator(".dc-node", has_text="HISTORY").evaluate("e => Number(getComputedStyle(e).opacity)")
    assert faint < 0.3
    page.keyboard.press("Escape")
    assert not lit(page)
    node.focus()
    page.keyboard.press("Enter")
    assert node.get_attribute("aria-pressed") == "true"
    page.locator("h1").click()
    page.locator("h1").focus()
    assert page.locator(".pinned").count() == 0


def test_an_edge_tells_its_number(opened, alarm):
    page = opened(report_html(alarm))
    number = page.locator(".dc-edge").nth(9).locator(".dc-number")
    assert number.evaluate("e => getComputedStyle(e).visibility") == "hidden"
    page.locator(".dc-edge").nth(9).focus()
    assert number.evaluate("e => getComputedStyle(e).visibility") == "visible"
    edge = list(alarm.drawn.edges())[9]
    a, b = edge.a, edge.b
    assert number.inner_html() == f"{alarm.confidence[frozenset((a, b))].edge:.0%}"


@pytest.mark.parametrize("width", [360, 800, 1280])
def test_the_table_is_sorted_by_confidence(opened, alarm, width):
    page = opened(report_html(alarm), width=width)
    for expected in (True, False):
        page.get_by_role("button", name="Edge").click()
        found = page.eval_on_selector_all("#edges tbody tr", "all => all.map(r => parseInt(r.cells[3].textContent))")
        assert found == sorted(found, reverse=expected)
    page.get_by_role("button", name="Column").first.click()
    names = page.eval_on_selector_all("#edges tbody tr", "all => all.map(r => r.cells[0].textContent.toLowerCase())")
    assert names == sorted(names)


def test_without_scripts_it_is_a_picture(opened, asia):
    page = opened(report_html(asia), java_script_enabled=False)
    assert page.locator(".dc-graph").is_visible()
    assert page.locator(".dc-node").count() == 8
    assert page.locator("#edges tbody tr").count() == len(asia.graph.skeleton)
    assert not page.locator(".tools").is_visible()


def test_names_are_names(opened, hostile):
    page = opened(report_html(hostile))
    for node in page.locator(".dc-node").all():
        node.hover()
        node.click()
    assert page.evaluate("window.hacked") is None
    assert page.locator("img, body script").count() == 1
    titles = page.eval_on_selector_all(".dc-node title", "all => all.map(e => e.textContent)")
    assert titles == list(HOSTILE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    notebook = opened(f"<!doctype html><meta charset=utf-8><link rel=icon href='data:,'>{hostile._repr_html_()}")
    assert notebook.evaluate("window.hacked") is None
    assert notebook.locator("img, script").count() == 0


@pytest.mark.parametrize("which", ["asia", "alarm", "hostile"])
def test_a_telephone_scrolls_down_only(opened, which, request):
    page = opened(report_html(request.getfixturevalue(which)), width=360)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    size = page.locator(".dc-node text").first.evaluate(
        "e => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a"
    )
    assert size >= 10
    page.locator(".graph").evaluate("e => e.scrollTo(e.scrollWidth, 0)")  # what is wider can be scrolled to
    assert page.locator(".graph").evaluate("e => e.scrollLeft + e.clientWidth >= e.scrollWidth - 1")
    legend = page.eval_on_selector_all(
        "figcaption, figcaption *, .tools, .tools *",
        "all => Math.max(...all.map(e => e.getBoundingClientRect().right))",
    )
    assert legend <= 360
    right = page.eval_on_selector_all(".dc-node", "all => Math.max(...all.map(e => e.getBoundingClientRect().right))")
    assert right <= 360


GEOMETRY = """() => {
  const svg = document.querySelector(".dc-graph"), frame = svg.getBoundingClientRect();
  const box = e => { const r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
  return {
    frame: [frame.left, frame.top, frame.right, frame.bottom],
    nodes: [...document.querySelectorAll(".dc-node rect")].map(box),
    labels: [...document.querySelectorAll(".dc-node text")].map(box),
    numbers: [...document.querySelectorAll(".dc-number")].map(box),
    edges: [...document.querySelectorAll(".dc-graph .dc-line, .dc-graph .dc-head")].map(box),
  };
}"""


def inside(inner, outer):
    return (
        inner[0] >= outer[0] - 1 and inner[1] >= outer[1] - 1 and inner[2] <= outer[2] + 1 and inner[3] <= outer[3] + 1
    )


@pytest.mark.parametrize("which", ["asia", "alarm", "hostile"])
@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_overlaps_and_nothing_is_cut(opened, which, width, request):
    found = opened(report_html(request.getfixturevalue(which)), width=width).evaluate(GEOMETRY)
    nodes = found["nodes"]
    for i, a in enumerate(nodes):
        for b in nodes[:i]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
    for number in found["numbers"]:
        assert not [n for n in nodes if number[0] < n[2] and n[0] < number[2] and number[1] < n[3] and n[1] < number[3]]
    assert all(inside(label, node) for label, node in zip(found["labels"], nodes, strict=True))
    for kind in ("nodes", "numbers", "edges"):
        assert all(inside(box, found["frame"]) for box in found[kind])


CONTRASTS = """() => {
  const parse = c => { const v = (c.match(/[\\d.]+/g) || []).map(Number); return v.length < 4 ? [...v, 1] : v; };
  const channel = v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
  const light = c => 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]);
  const over = (c, below, share) => c.slice(0, 3).map((v, i) => v * share + below[i] * (1 - share));
  const contrast = (a, b) => {
    const [x, y] = [light(a), light(b)].sort((p, q) => p - q);
    return (y + 0.05) / (x + 0.05);
  };
  const paper = e => {
    for (let at = e; at; at = at.parentElement) {
      const c = parse(getComputedStyle(at).backgroundColor);
      if (c[3] > 0.99) { return c; }
    }
    return [255, 255, 255, 1];
  };
  const result = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    if (!walk.currentNode.textContent.trim() || e.closest("svg, script, style") || !e.checkVisibility()) { continue; }
    result.push([e.textContent.slice(0, 30), 4.5, contrast(parse(getComputedStyle(e).color), paper(e))]);
  }
  for (const node of document.querySelectorAll(".dc-node")) {
    const [rect, text] = ["rect", "text"].map(what => getComputedStyle(node.querySelector(what)));
    const below = paper(node.closest("div"));
    result.push(["node", 4.5, contrast(parse(text.fill), parse(rect.fill))]);
    result.push(["box", 3, contrast(parse(rect.stroke), below)]);
  }
  for (const line of document.querySelectorAll(".dc-line")) {
    const below = paper(line.closest("div, figcaption")), share = Number(getComputedStyle(line.parentElement).opacity);
    result.push(["edge", 3, contrast(over(parse(getComputedStyle(line).stroke), below, share), below)]);
  }
  for (const part of document.querySelectorAll(".bar g")) {
    const [rect, text] = ["rect", "text"].map(what => part.querySelector(what));
    if (!text) { continue; }
    result.push(["bar", 4.5, contrast(...[text, rect].map(e => parse(getComputedStyle(e).fill)))]);
  }
  return result;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(opened, alarm, scheme):
    stamped = replace(alarm, privacy=replace(alarm.privacy, private=False))
    for text in (report_html(alarm), report_html(stamped)):
        found = opened(text, color_scheme=scheme).evaluate(CONTRASTS)
        assert len(found) > 200
        assert {kind for kind, _, _ in found} >= {"node", "box", "edge", "bar"}
        assert not [one for one in found if one[2] < one[1]]
    dark = f"<!doctype html><link rel=icon href='data:,'><body style='background:#111;color:#eee'>{alarm._repr_html_()}"
    assert not [one for one in opened(dark, color_scheme=scheme).evaluate(CONTRASTS) if one[2] < one[1]]


def test_print(opened, alarm):
    page = opened(report_html(alarm), color_scheme="dark")
    page.locator("#cut").fill("90")
    page.locator(".dc-node", has_text="VENTALV").click()
    page.emulate_media(media="print")
    assert not page.locator(".tools").is_visible()
    assert shown(page) == (list(range(46)), list(range(46)))
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    faint = page.eval_on_selector_all(".dc-node", "all => all.map(e => getComputedStyle(e).opacity)")
    assert set(faint) == {"1"}
    made = page.pdf(format="A4")
    assert made.startswith(b"%PDF")
    assert len(made) > 20_000
