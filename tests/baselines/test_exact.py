"""NOT PRIVATE baselines: exact tests and scores are right, searches find what there is, and the flag is needed."""

from __future__ import annotations

import copy
import json
from itertools import combinations, product

import networkx
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.stats import chi2, chi2_contingency

import discreet as dc
from discreet.baselines import exact
from discreet.baselines import exact as not_private
from discreet.baselines.exact import ExactCounts, GTest, g_statistic
from discreet.cli import main
from discreet.data.memory import MemoryTable
from discreet.errors import KnowledgeError, RoomError, SettingError, UnansweredError
from discreet.search.greedy import greedy
from discreet.search.orientation import equivalents

ROWS = 5_000


def held(codes, sizes):
    return ExactCounts(MemoryTable({c: np.asarray(v, dtype=np.uint8) for c, v in codes.items()}, sizes), sizes)


def drawn(name, rows, seed=0):
    net = dc.network(name)
    domain = net.domain(rows)
    sizes = {c: domain.size(c) for c in domain}
    return net, domain, MemoryTable(net.sample_codes(rows, np.random.default_rng(seed)), sizes)


def random_counts(seed, rows=400):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 3, rows), rng.integers(0, 2, rows)
    c = (a + b + (rng.random(rows) < 0.3)) % 4
    d = np.where(rng.random(rows) < 0.7, c % 2, rng.integers(0, 2, rows))
    return held({"a": a, "b": b, "c": c, "d": d}, {"a": 3, "b": 2, "c": 4, "d": 2})


@pytest.mark.parametrize("pair", list(combinations("abcd", 2)))
def test_the_g_test_of_a_pair_is_scipys(pair):
    counts = random_counts(1)
    verdict = GTest(counts, alpha=0.05).ask(*pair, frozenset())
    theirs = chi2_contingency(counts.table(pair), lambda_="log-likelihood", correction=False)
    statistic, freedom = g_statistic(counts.table(pair)[None])
    assert statistic == pytest.approx(theirs.statistic, abs=1e-9)
    assert freedom == theirs.dof
    assert verdict.p_value == pytest.approx(theirs.pvalue, rel=1e-9)
    assert verdict.independent == (theirs.pvalue > 0.05)
    assert verdict.independent == (verdict.evidence < 0)


def test_a_conditional_g_test_by_hand():
    first = np.array([[10, 20], [30, 15]])
    second = np.array([[8, 0, 4], [6, 0, 9], [0, 0, 0]])  # y = 1 and x = 2 do not occur here
    strata = np.zeros((3, 3, 3), dtype=np.int64)  # the third stratum is empty
    strata[0, :2, :2] = first
    strata[1] = second
    by_hand = 0.0
    for table in (first, second):
        for i, j in np.argwhere(table):
            expected = table[i].sum() * table[:, j].sum() / table.sum()
            by_hand += 2 * table[i, j] * np.log(table[i, j] / expected)
    statistic, freedom = g_statistic(strata)
    assert statistic == pytest.approx(by_hand)
    assert freedom == 1 + 1
    z, x, y = (np.repeat(axis.ravel(), strata.ravel()) for axis in np.indices(strata.shape))
    counts = held({"x": x, "y": y, "z": z, "one": 0 * z}, {"x": 3, "y": 3, "z": 3, "one": 1})
    for given in ("z", "z one"):
        verdict = GTest(counts).ask("y", "x", frozenset(given.split()))
        assert verdict.p_value == pytest.approx(chi2.sf(by_hand, 2))
    assert GTest(counts).ask("x", "one", frozenset()).p_value == 1.0


def test_evidence_does_not_vanish_with_the_p_value():
    strong = []
    for rows in (1_000, 4_000, 16_000):
        x = np.arange(rows) % 2
        verdict = GTest(held({"x": x, "y": x}, {"x": 2, "y": 2})).ask("x", "y", frozenset())
        assert not verdict.independent
        strong.append(verdict.evidence)
    assert strong[0] < strong[1] < strong[2] < np.inf
    assert strong[2] == pytest.approx(16_000 * np.log(2), rel=0.01)
    near = exact._log_tail(1_300.0, 5)
    assert near == pytest.approx(np.log(chi2.sf(1_300.0, 5)), rel=1e-6)


def test_what_is_too_large_is_not_counted(monkeypatch):
    monkeypatch.setattr(exact, "MAX_CELLS", 20)
    monkeypatch.setattr(exact, "MAX_HELD_CELLS", 10)
    counts = random_counts(2)
    oracle = GTest(counts)
    assert not oracle.answers("a", "c", frozenset("b"))
    with pytest.raises(UnansweredError, match="20 cells"):
        oracle.ask("a", "c", frozenset("b"))
    assert not_private.ExactBIC(counts)("a", frozenset("bc")) == -np.inf
    assert oracle.ask("a", "b", frozenset("d")).p_value is not None
    assert counts.table(("d", "a")).sum() == 400


def test_exact_counts_are_sealed_and_alpha_is_checked():
    counts = random_counts(3)
    for thing in (counts, GTest(counts)):
        with pytest.raises(RoomError):
            copy.deepcopy(thing)
        assert "rows are held" in repr(thing)
    for alpha in (0, 1, -1, float("nan")):
        with pytest.raises(SettingError, match="alpha"):
            GTest(counts, alpha=alpha)


def test_axes_are_in_the_order_asked_for():
    counts = random_counts(4)
    for columns in (("c", "a"), ("d", "a", "c"), ("b",)):
        table = counts.table(columns)
        assert table.shape == tuple(counts.sizes[c] for c in columns)
        np.testing.assert_array_equal(
            table, counts.table(tuple(sorted(columns))).transpose(np.argsort(np.argsort(columns)))
        )


def test_bic_by_hand():
    x, y = np.array([0, 0, 0, 1, 1, 1, 1, 1]), np.array([0, 0, 1, 1, 1, 1, 0, 2])
    score = not_private.ExactBIC(held({"x": x, "y": y}, {"x": 2, "y": 3}))
    alone = 3 * np.log(3 / 8) + 4 * np.log(4 / 8) + np.log(1 / 8)
    assert score("y", frozenset()) == pytest.approx(alone - np.log(8) / 2 * 2)
    within = 2 * np.log(2 / 3) + np.log(1 / 3) + 3 * np.log(3 / 5) + 2 * np.log(1 / 5)
    assert score("y", frozenset("x")) == pytest.approx(within - np.log(8) / 2 * 4)


@pytest.mark.parametrize(
    ("name", "textbook"),
    [("earthquake", False), ("survey", False), ("sachs", False), ("earthquake", True), ("sachs", True)],
)
def test_pc_finds_the_class_from_many_rows(name, textbook):
    net, domain, table = drawn(name, 400_000)
    assert not_private.pc(table, domain, alpha=1e-4, textbook=textbook) == dc.cpdag(net.dag)


def test_pc_goes_as_far_as_it_is_let():
    net, domain, table = drawn("asia", 20_000)
    words = []
    not_private.pc(table, domain, max_order=0, progress=words.append)
    assert [w.split(":")[0] for w in words] == ["order 0"]
    assert dc.skeleton_f1(not_private.pc(table, domain), net.dag) > 0.7


@pytest.mark.parametrize("name", ["earthquake", "cancer", "asia", "survey"])
def test_greedy_finds_the_class_from_many_rows(name):
    net, domain, table = drawn(name, 400_000)
    assert not_private.greedy_bic(table, domain, restarts=5) == dc.cpdag(net.dag)


def all_dags(nodes):
    pairs = list(combinations(nodes, 2))
    for marks in product((0, 1, 2), repeat=len(pairs)):
        arcs = [(a, b) if m == 1 else (b, a) for (a, b), m in zip(pairs, marks, strict=True) if m]
        if networkx.is_directed_acyclic_graph(networkx.DiGraph(arcs)):
            yield frozenset(arcs)


def total(score, nodes, arcs):
    return sum(score(n, frozenset(a for a, b in arcs if b == n)) for n in nodes)


@pytest.mark.parametrize("seed", range(5))
def test_greedy_finds_the_best_of_all_small_graphs(seed):
    score = not_private.ExactBIC(random_counts(seed))
    dag = greedy("abcd", score, rng=np.random.default_rng(seed))
    assert dag.undirected == frozenset()
    best = max(total(score, "abcd", arcs) for arcs in all_dags("abcd"))
    assert total(score, "abcd", dag.directed) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(5))
def test_greedy_keeps_to_knowledge_whatever_the_score(seed):
    """Scores that mean nothing, and are not even the same for equivalent graphs."""
    rng = np.random.default_rng(seed)
    values = {}

    def score(node, parents):
        assert (node, parents) not in values, "asked twice"
        return values.setdefault((node, parents), rng.normal() + 0.5 * len(parents))

    known = dc.Knowledge(
        required=[("a", "b"), ("e", "f")], forbidden=[("c", "d"), ("d", "c")], tiers=[["a", "c"], ["f", "d"]]
    )
    dag = greedy("fedcba", score, rng=rng, knowledge=known, max_parents=2, restarts=4)
    assert dag.nodes == tuple("fedcba")
    assert networkx.is_directed_acyclic_graph(networkx.DiGraph(dag.directed))
    assert known.required <= dag.directed
    assert all(known.allows(a, b) for a, b in dag.directed)
    assert max(sum(b == n for _, b in dag.directed) for n in dag.nodes) <= 2
    graph = equivalents(dag, known)
    assert graph.skeleton == dag.skeleton
    assert known.required <= graph.directed
    assert all(known.allows(a, b) for a, b in graph.directed)


def test_greedy_tells_refuses_and_repeats():
    score, words = not_private.ExactBIC(random_counts(0)), []
    one, two = (
        greedy("abcd", score, rng=np.random.default_rng(7), restarts=2, progress=words.append) for _ in range(2)
    )
    assert one == two
    assert words[:2] == ["restart 1 of 2", "restart 2 of 2"]
    for setting in ("max_parents", "tabu", "patience", "restarts"):
        with pytest.raises(SettingError, match=setting.replace("_", "-")):
            greedy("abcd", score, rng=np.random.default_rng(0), **{setting: -1})
    with pytest.raises(KnowledgeError):
        greedy("abcd", score, rng=np.random.default_rng(0), knowledge=dc.Knowledge(required=[("a", "z")]))
    assert not greedy("abcd", score, rng=np.random.default_rng(0), max_parents=0).directed


def test_both_keep_to_knowledge():
    _, domain, table = drawn("cancer", 100_000)
    known = dc.Knowledge(required=[("Xray", "Dyspnoea")], forbidden=[("Smoker", "Cancer"), ("Cancer", "Smoker")])
    for method in (not_private.pc, not_private.greedy_bic):
        graph = method(table, domain, knowledge=known)
        assert ("Xray", "Dyspnoea") in graph.directed
        assert frozenset(("Smoker", "Cancer")) not in graph.skeleton


@pytest.mark.parametrize("method", [not_private.pc, not_private.greedy_bic])
def test_what_cannot_be_searched_is_refused(method):
    frame = pd.DataFrame({"x": ["a", "b"] * 5, "y": [0.5, 1.0] * 5})
    numeric = dc.Domain({"x": dc.Categorical(categories=("a", "b")), "y": dc.Numeric(bounds=(0, 1))}, rows=10)
    with pytest.raises(SettingError, match="'y' is numeric"):
        method(frame, numeric)
    with pytest.raises(SettingError, match="two columns"):
        method(frame, dc.Domain({"x": dc.Categorical(categories=("a", "b"))}, rows=10))
    binned = dc.Domain({**numeric.columns, "y": dc.Numeric(bounds=(0, 1), bins=4)}, rows=10)
    assert method(frame, binned).skeleton == {frozenset("xy")}
    assert "NOT PRIVATE" in method.__doc__
    assert "EXACT ANSWERS" in method.__doc__


@pytest.fixture
def files(tmp_path):
    net = dc.network("earthquake")
    pd.DataFrame(net.sample(ROWS, np.random.default_rng(0))).to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "domain.yaml").write_text(net.domain(ROWS).to_yaml())
    return tmp_path


def run(folder, *args):
    given = ["discover", folder / "data.csv", "--domain", folder / "domain.yaml", *args]
    return CliRunner().invoke(main, [str(a) for a in given])


@pytest.mark.parametrize("method", ["pc", "greedy-bic"])
def test_the_command_line_says_what_it_is(files, method):
    out = files / "o"
    result = run(files, "--method", method, "--not-private", "--out", out)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("NOT PRIVATE")
    assert "5 columns, 5,000 rows: 4 edges" in result.stdout
    assert "Do not publish" in result.stderr
    assert {p.name for p in out.iterdir()} == {"not-private.json", "not-private.svg", "not-private.gml"}
    assert all("NOT PRIVATE" in p.read_text(encoding="utf-8") for p in out.iterdir())
    assert len(networkx.read_gml(out / "not-private.gml").edges) == 4
    saved = json.loads((out / "not-private.json").read_text(encoding="utf-8"))
    assert saved["settings"]
    again = CliRunner().invoke(main, ["discover", str(out / "not-private.json")])
    assert again.exit_code == 2
    assert "not a release" in again.stderr


def test_the_json_says_what_it_is(files):
    result = run(files, "--method", "pc", "--not-private", "--json", "--max-order", 2, "--alpha", 0.001)
    found = json.loads(result.stdout)
    assert found["privacy"]["private"] is False
    assert found["privacy"]["epsilon"] is None
    assert found["method"] == "pc"
    assert found["schema"] == 2
    assert len(found["graph"]["edges"]) == 4
    assert "NOT PRIVATE" in result.stderr


def test_a_knowledge_file(files):
    (files / "k.yaml").write_text("required: [[Burglary, MaryCalls]]\n")
    result = run(files, "--method", "greedy-bic", "--not-private", "--json", "--knowledge", files / "k.yaml")
    arrows = {(e["from"], e["to"]) for e in json.loads(result.stdout)["graph"]["edges"] if e["directed"]}
    assert ("Burglary", "MaryCalls") in arrows


REFUSED = {
    "no flag": (["--method", "pc"], "--not-private"),
    "no flag, but a budget": (["--method", "greedy-bic", "--epsilon", "1"], "--not-private"),
    "epsilon": (["--method", "pc", "--not-private", "--epsilon", "1"], "epsilon"),
    "delta": (["--method", "pc", "--not-private", "--delta", "0"], "delta"),
    "a private method": (["--method", "marginals", "--not-private"], "pc, greedy-bic"),
    "the default method": (["--not-private"], "pc, greedy-bic"),
    "an unknown method": (["--method", "magic", "--not-private"], "'magic'"),
    "an order for scores": (["--method", "greedy-bic", "--not-private", "--max-order", "1"], "max-order"),
    "a level for scores": (["--method", "greedy-bic", "--not-private", "--alpha", "0.1"], "alpha"),
    "a search for tests": (["--method", "pc", "--not-private", "--search", "pc"], "search"),
    "a search for scores": (["--method", "greedy-bic", "--not-private", "--search", "greedy"], "search"),
    "a level that is none": (["--method", "pc", "--not-private", "--alpha", "2"], "alpha"),
    "an order below 0": (["--method", "pc", "--not-private", "--max-order", "-1"], "max-order"),
    "no flag, published": (["--method", "svt-pc-published"], "--not-private"),
    "no flag, but a budget, published": (["--method", "priv-pc-published", "--epsilon", "1"], "--not-private"),
    "epsilon, published": (["--method", "em-pc-published", "--not-private", "--epsilon", "1"], "epsilon"),
    "delta, published": (["--method", "em-pc-published", "--not-private", "--delta", "0.1"], "delta"),
    "a test": (["--method", "svt-pc-published", "--not-private", "--test", "kendall"], "test"),
    "a search": (["--method", "svt-pc-published", "--not-private", "--search", "pc"], "search"),
    "a sample without a sieve": (["--method", "svt-pc-published", "--not-private", "--sample", "0.5"], "sample"),
    "a round of nothing": (["--method", "priv-pc-published", "--not-private", "--round-epsilon", "0"], "round-epsilon"),
    "a round for exact tests": (["--method", "pc", "--not-private", "--round-epsilon", "1"], "round-epsilon"),
    "a sample for exact tests": (["--method", "greedy-bic", "--not-private", "--sample", "1"], "sample"),
}


@pytest.mark.parametrize(("args", "words"), REFUSED.values(), ids=REFUSED)
def test_refusals(files, args, words):
    result = run(files, *args, "--out", files / "o")
    assert result.exit_code == 2, result.output
    assert words in result.stderr
    assert not result.stdout
    assert not list((files / "o").glob("*"))


def test_it_takes_a_domain_and_a_folder_without_a_release(files):
    no_domain = CliRunner().invoke(main, ["discover", str(files / "data.csv"), "--method", "pc", "--not-private"])
    assert no_domain.exit_code == 2
    assert "--domain" in no_domain.stderr
    assert run(files, "--epsilon", 1, "--out", files / "o").exit_code == 0
    beside = run(files, "--method", "pc", "--not-private", "--out", files / "o")
    assert beside.exit_code == 2
    assert "different folders" in beside.stderr
    assert run(files, "--method", "pc", "--not-private", "--out", files / "exact").exit_code == 0
    into = run(files, "--epsilon", 1, "--out", files / "exact")
    assert into.exit_code == 2
    assert "different folders" in into.stderr


@pytest.mark.parametrize("method", ["pc", "greedy-bic", "svt-pc-published"])
def test_from_python_it_says_what_it_is(files, method):
    domain = dc.Domain.from_yaml(files / "domain.yaml")
    found = dc.not_private.discover(files / "data.csv", domain=domain, method=method)
    assert repr(found).startswith("<NOT PRIVATE, do not publish")
    assert "NOT PRIVATE" in found.svg()
    assert "NOT PRIVATE" in found._repr_html_()
    assert found.to_dict()["privacy"] | {"warning": ""} == {
        "epsilon": None,
        "delta": None,
        "neighbors": None,
        "unit": "row",
        "private": False,
        "spent": [],
        "warning": "",
    }
    assert ("reported" in found.to_dict()) == (method == "svt-pc-published")
    typed = json.loads(run(files, "--method", method, "--not-private", "--json").stdout)
    assert typed.keys() == found.to_dict().keys()
    with pytest.raises(dc.InputError, match="no such setting"):
        dc.not_private.discover(files / "data.csv", domain=domain, method=method, settings={"edges": 3})
