"""Methods as published: they are what the papers say, and they are not private."""

from __future__ import annotations

import ast
import json
import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.stats import chi2, norm

import discreet as dc
from discreet.audit import table_of
from discreet.audit.broken import domain_of
from discreet.audit.broken.methods import REPRODUCED
from discreet.audit.register import QUICK, broken_cases, levels_of
from discreet.audit.source import project_trees
from discreet.audit.statistics import StratifiedKendall
from discreet.baselines.exact import ExactCounts
from discreet.baselines.published import METHODS, REASONS, discover_published
from discreet.baselines.published.discover import compose, reported_epsilon
from discreet.baselines.published.em_pc import Distances, Score, distance, draw_dropped, scores_of_numbers
from discreet.baselines.published.kendall import p_value, strata_of
from discreet.baselines.published.priv_pc import default_share, epsilon_of_sample
from discreet.baselines.published.reading import READINGS
from discreet.cli import main
from discreet.data.memory import MemoryTable
from discreet.errors import SettingError, TableError
from discreet.methods.ci_tests import IndependenceTest
from discreet.methods.priv_pc import SieveAndExamine, examined_round
from discreet.privacy.budget import Budget
from discreet.room import Room
from discreet.search.dseparation import DSeparation
from discreet.search.oracle import Verdict
from discreet.search.pc import find_skeleton, pc
from discreet.statistics.dependence import MOVED
from discreet.statistics.ranks import StratifiedKendallDet


def test_every_module_says_first_what_it_is():
    modules = {name: tree for name, tree in project_trees().items() if name.startswith("discreet.baselines.published")}
    assert len(modules) > 5
    assert all(ast.get_docstring(tree).startswith("NOT PRIVATE") for tree in modules.values())


def drawn(name, rows, seed=0):
    net = dc.network(name)
    domain = net.domain(rows)
    sizes = {c: domain.size(c) for c in domain}
    return net, domain, MemoryTable(net.sample_codes(rows, np.random.default_rng(seed)), sizes)


def p_value_of(source, x, y, given):
    return p_value(strata_of(source, x, y, given))


def naive_p(x, y, z):
    """The p-value by going through all pairs of rows."""
    above = below = 0.0
    for k in np.unique(z):
        a, b = x[z == k], y[z == k]
        n = len(a)
        if n > 2 and len(set(a.tolist())) > 1 and len(set(b.tolist())) > 1:
            both = sum(np.sign(a[i] - a[j]) * np.sign(b[i] - b[j]) for i in range(n) for j in range(i))
            weight = 9 * n * (n - 1) / (4 * n + 10)
            above += weight * both / (n * (n - 1) / 2)
            below += weight
    return norm.sf(abs(above) / math.sqrt(below)) if below else math.nan


@pytest.mark.parametrize("seed", range(12))
def test_the_p_value_is_that_of_all_pairs_of_rows(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 40))
    x, y, z = rng.integers(0, rng.integers(1, 4), n), rng.integers(0, 3, n), rng.integers(0, rng.integers(1, 9), n)
    strata = np.zeros((9, 4, 3), dtype=np.int64)
    np.add.at(strata, (z, x, y), 1)
    assert p_value(strata) == pytest.approx(naive_p(x, y, z), nan_ok=True)


def far_strata(rows=100_000):
    """Three rows that rise in one stratum, and many in the other with x constant but for, perhaps, one row."""
    rng = np.random.default_rng(0)
    codes = np.stack([np.zeros(rows), rng.integers(0, 4, rows), np.zeros(rows)], axis=1).astype(np.int64)
    codes[:3] = [(1, 1, 1), (2, 2, 1), (3, 3, 1)]
    codes[3, 1] = 0
    changed = codes.copy()
    changed[3, 0] = 1
    domain = domain_of(rows, x=4, y=4, z=2)
    return domain, table_of(codes, domain), table_of(changed, domain)


def test_dropped_strata_make_one_row_matter():
    domain, first, second = far_strata()
    before, after = (p_value_of(t, "x", "y", frozenset("z")) for t in (first, second))
    assert before == pytest.approx(0.0586, abs=1e-3)
    assert after == pytest.approx(0.498, abs=3e-3)
    assert after - before > 50 * READINGS["code"].sensitivity(domain.rows)
    for repaired in (StratifiedKendallDet("x", "y", ("z",)), StratifiedKendall("x", "y", ("z",))):
        moved = abs(int(repaired.evaluate(first)[0]) - int(repaired.evaluate(second)[0]))
        assert moved <= MOVED
        assert repaired.sensitivity(domain).largest == MOVED


def constant_column(rows=20_000):
    codes = np.stack([np.zeros(rows), np.arange(rows) % 2], axis=1).astype(np.int64)
    changed = codes.copy()
    changed[0, 0] = 1
    domain = domain_of(rows, x=2, y=2)
    return domain, table_of(codes, domain), table_of(changed, domain)


def share_removed(table, domain, method, runs, **settings):
    graphs = [discover_published(table, domain, method, seed=s, **settings).graph for s in range(runs)]
    return sum(not g.skeleton for g in graphs) / runs


def test_a_constant_column_has_no_p_value_and_keeps_its_edge():
    domain, first, second = constant_column()
    assert math.isnan(p_value_of(first, "x", "y", frozenset()))
    assert p_value_of(second, "x", "y", frozenset()) == pytest.approx(0.498, abs=0.01)
    assert share_removed(first, domain, "svt-pc-published", 100) == 0
    assert share_removed(second, domain, "svt-pc-published", 100) >= 0.95
    assert share_removed(first, domain, "priv-pc-published", 100) == 0
    rate = default_share(0.5)
    assert share_removed(second, domain, "priv-pc-published", 300) == pytest.approx(rate, abs=0.07)
    assert share_removed(second, domain, "priv-pc-published", 100, sample=1.0) >= 0.95


def loss_on_one_threshold(passes, epsilon=1.0, asked=1e9):
    """The loss of many questions that do not pass, then some that do, all with one noisy threshold: exact sums.

    On the second table what does not pass lies one higher, and what passes one lower.
    """
    shift = np.arange(0, 400)
    threshold = -shift * epsilon / 2

    def log_chance(moved):
        tail = np.exp(-(shift - moved) * epsilon / 4) / (1 + math.exp(-epsilon / 4))
        none = np.where(tail < 0.5, asked * np.log1p(-np.minimum(tail, 0.5)), -np.inf)
        passed = -passes * (shift + moved + 1000) * epsilon / 4
        return np.logaddexp.reduce(threshold + none + passed)

    return log_chance(0) - log_chance(1)


@pytest.mark.parametrize("passes", [1, 2, 4, 8])
def test_a_threshold_that_is_kept_costs_more_with_every_pass(passes):
    for epsilon in (0.5, 1.0):
        assert loss_on_one_threshold(passes, epsilon) == pytest.approx(epsilon * (1 + passes) / 2, rel=1e-3)


def test_the_repaired_methods_draw_a_fresh_threshold_at_every_pass():
    _, domain, table = drawn("asia", 5_000)
    room = Room(table, domain, Budget(epsilon=1e4, delta=0))
    oracle = SieveAndExamine(
        room, IndependenceTest("kendall", 0.01), examined_round(Fraction(1, 10), Fraction(1, 10), 5_000)
    )
    gates = []
    for _ in range(200):
        oracle.ask("asia", "smoke", frozenset())
        if oracle._gate not in gates:
            gates.append(oracle._gate)
    assert len(gates) == oracle.rounds > 20
    assert all(gate._mechanism.passes == 1 for gate in gates)
    assert not any(gate.open for gate in gates[:-1])
    assert len({gate._threshold for gate in gates}) > 10


GREEDY = {
    (11, 23, 2, 4): 9, (11, 22, 2, 5): 2, (33, 3, 4, 0): 29, (33, 2, 4, 1): 1, (35, 0, 5, 0): 39, (34, 0, 5, 1): 0,
}  # fmt: skip


@pytest.mark.parametrize(("cells", "expected"), GREEDY.items())
def test_greedy_distances_jump(cells, expected):
    table = np.array(cells).reshape(1, 2, 2)
    assert distance(table, chi2.isf(0.05, 1), block=1) == expected
    codes = np.argwhere(np.ones((2, 2), dtype=bool)).repeat(cells, axis=0)
    domain = domain_of(40, x=2, y=2)
    score = Distances(ExactCounts(table_of(codes, domain), {"x": 2, "y": 2}), 0.05).score("x", "y", frozenset())
    assert abs(score.signed) == expected
    assert score.independent == (cells != (34, 0, 5, 1))
    assert distance(table.transpose(0, 2, 1), chi2.isf(0.05, 1), block=1) == expected


def test_blocks_of_rows_change_little():
    net, _, table = drawn("sachs", 10_000)
    sizes = {c: len(net.nodes[c].levels) for c in net.nodes}
    counts = ExactCounts(table, sizes)
    one, many = Distances(counts, 0.1, block=1), Distances(counts, 0.1)
    for x, y, given in (("Akt", "Erk", ""), ("Jnk", "PKC", ""), ("Akt", "PKA", "Erk"), ("Jnk", "P38", "PKC")):
        exact, fast = (d.score(x, y, frozenset(given.split())).signed for d in (one, many))
        assert fast == pytest.approx(exact, rel=0.005, abs=2)


def test_how_many_neighbours_go_is_scored_at_the_cut():
    scores = [Score(-5, False), Score(7, True), Score(-2, False), Score(3, True)]
    assert scores_of_numbers(scores) == [-8, -3, 1, -2, -6]
    assert scores_of_numbers([Score(0, False)]) == [0, -1]
    assert scores_of_numbers([Score(4, True)]) == [-5, 4]
    rng = np.random.default_rng(0)
    assert sorted(draw_dropped(scores, 400.0, rng)) == [1, 3]
    assert draw_dropped([], 1.0, rng) == []


class PlainKendall:
    """The same test without noise."""

    free = False
    max_order = None

    def __init__(self, counts, alpha=0.1):
        self.counts, self.alpha = counts, alpha

    def answers(self, x, y, given):
        return self.counts.countable((x, y, *given))

    def ask(self, x, y, given):
        independent = p_value_of(self.counts, x, y, given) >= self.alpha
        return Verdict(independent, -1.0 if independent else 1.0)


def test_without_noise_they_are_pc():
    _, domain, table = drawn("asia", 20_000)
    oracle = PlainKendall(ExactCounts(table, {c: domain.size(c) for c in domain}))
    plain = pc(tuple(domain), oracle, stable=False)
    for method in ("svt-pc-published", "priv-pc-published"):
        assert discover_published(table, domain, method, round_epsilon=500, seed=0).graph == plain


def drop_all_that_separate(tests, names, alpha=0.1):
    """EM-PC's loop without noise: at every visit all neighbours go that some set separates."""
    around = {n: {m for m in names if m != n} for n in names}
    for order in range(len(names)):
        for node in sorted(names):
            near = sorted(around[node])
            for other in near:
                sets = map(frozenset, combinations([z for z in near if z != other], order))
                if max((tests.p_value(node, other, s) for s in sets), default=0) > alpha:
                    around[node].remove(other)
                    around[other].remove(node)
    return {frozenset((a, b)) for a in names for b in around[a]}


@pytest.mark.parametrize("name", ["cancer", "survey"])
def test_em_pc_without_noise_drops_all_that_some_set_separates(name):
    _, domain, table = drawn(name, 20_000)
    found = discover_published(table, domain, "em-pc-published", round_epsilon=500, seed=0)
    tests = Distances(ExactCounts(table, {c: domain.size(c) for c in domain}), 0.1)
    assert found.graph.skeleton == drop_all_that_separate(tests, list(domain))
    assert found.tests == tests.tests


def test_neighbours_of_the_moment_ask_less():
    dag = dc.network("asia").dag

    class Asked(DSeparation):
        free = False
        asked = 0

        def ask(self, x, y, given):
            self.asked += 1
            return super().ask(x, y, given)

    stable, moment = Asked(dag), Asked(dag)
    assert find_skeleton(dag.nodes, stable).pairs == find_skeleton(dag.nodes, moment, stable=False).pairs
    assert moment.asked < stable.asked


def test_totals_are_those_of_the_papers():
    assert compose(0, 1.0, 1e-3) == 0
    assert compose(9, 0.5, 1e-3) == pytest.approx(math.sqrt(18 * math.log(1000)) * 0.5 + 4.5 * (math.e**0.5 - 1))
    assert reported_epsilon("priv-pc-published", 9, 1.0, 2e-3) == pytest.approx(2 * compose(9, 0.5, 1e-3))
    assert reported_epsilon("em-pc-published", 3, 1.0, 1e-3) == compose(3, 1.0, 1e-3)
    x = np.linspace(1, 20, 200_001)
    for epsilon in (0.25, 0.5, 1.0):
        best = x[np.argmin(np.sqrt(x) / np.log1p(x * math.expm1(epsilon)))]
        assert default_share(epsilon) == pytest.approx(max(1 / best, 1 / 20), rel=1e-3)
        assert epsilon_of_sample(epsilon, 0.3) == pytest.approx(math.log1p(math.expm1(epsilon) / 0.3))
    assert default_share(0.01) == 1 / 20
    assert default_share(250.0) == 1


@pytest.mark.parametrize("method", METHODS)
def test_runs_repeat_tell_and_keep_to_knowledge(method):
    _, domain, table = drawn("cancer", 5_000)
    known = dc.Knowledge(required=[("Xray", "Dyspnoea")], forbidden=[("Smoker", "Cancer"), ("Cancer", "Smoker")])
    words = []
    one, two = (
        discover_published(table, domain, method, knowledge=known, seed=3, max_order=1, progress=words.append)
        for _ in range(2)
    )
    assert one == two
    assert words[0].startswith("order 0")
    assert not any(w.startswith("order 2") for w in words)
    assert ("Xray", "Dyspnoea") in one.graph.directed
    assert frozenset(("Smoker", "Cancer")) not in one.graph.skeleton
    assert one.tests > 0
    assert one.reported == reported_epsilon(method, one.rounds, 1.0, 1e-3)
    assert one.reason == REASONS[method]
    assert "NOT PRIVATE" in discover_published.__doc__


BAD = [{"method": "priv-pc"}, {"round_epsilon": 0}, {"round_epsilon": 1e9}, {"delta": 0}, {"alpha": 1}, {"sample": 2}]
BAD += [{"max_order": -1}, {"reading": "listing"}, {"method": "em-pc-published", "sample": 0.5}]
BAD += [{"method": "em-pc-published", "reading": "text"}]


@pytest.mark.parametrize("wrong", BAD, ids=str)
def test_settings_are_checked(wrong):
    _, domain, table = drawn("cancer", 100)
    settings = {"method": "priv-pc-published", **wrong}
    with pytest.raises(SettingError):
        discover_published(table, domain, **settings)


def test_a_stream_cannot_be_sampled(tmp_path, monkeypatch):
    net = dc.network("cancer")
    pd.DataFrame(net.sample(500, np.random.default_rng(0))).to_csv(tmp_path / "data.csv", index=False)
    monkeypatch.setattr("discreet.data.load.MEMORY_BYTES", 0)
    with pytest.raises(TableError, match="samples rows"):
        discover_published(tmp_path / "data.csv", net.domain(500), "priv-pc-published")
    assert discover_published(tmp_path / "data.csv", net.domain(500), "priv-pc-published", sample=1.0).tests


@pytest.mark.parametrize("name", [b.name for b in REPRODUCED])
def test_the_black_box_catches_them(name):
    case = next(c for c in broken_cases() if c.name == name)
    found = case.run(QUICK, levels_of(broken_cases())[name])
    assert found.violated
    assert found.found > found.claimed


@pytest.fixture
def files(tmp_path):
    net = dc.network("earthquake")
    pd.DataFrame(net.sample(2_000, np.random.default_rng(0))).to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "domain.yaml").write_text(net.domain(2_000).to_yaml())
    return tmp_path


def command(folder, *args):
    given = ["discover", folder / "data.csv", "--domain", folder / "domain.yaml", *args]
    return CliRunner().invoke(main, [str(a) for a in given])


@pytest.mark.parametrize("method", METHODS)
def test_the_json_says_what_it_is(files, method):
    result = command(files, "--method", method, "--not-private", "--json", "--max-order", 1, "--alpha", 0.05)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["method"] == method
    assert found["privacy"]["private"] is False
    assert found["privacy"]["epsilon"] is None
    assert REASONS[method] in found["privacy"]["warning"]
    assert set(found["reported"]) == {"epsilon", "delta", "rounds", "tests", "holds", "note"}
    assert found["reported"]["holds"] is False
    assert "does not hold" in found["reported"]["note"]
    assert found["reported"]["epsilon"] > 1
    assert "NOT PRIVATE" in result.stderr


def test_every_file_says_what_it_is(files):
    out = files / "o"
    args = ("--method", "priv-pc-published", "--not-private", "--round-epsilon", 3, "--sample", 0.5, "--out", out)
    result = command(files, *args)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("NOT PRIVATE")
    assert "it does not hold" in result.stderr
    assert {p.name for p in out.iterdir()} == {"not-private.json", "not-private.svg", "not-private.gml"}
    assert all("NOT PRIVATE" in p.read_text(encoding="utf-8") for p in out.iterdir())
    saved = json.loads((out / "not-private.json").read_text(encoding="utf-8"))
    assert saved["settings"]["sample"] == 0.5
    assert saved["settings"]["round_epsilon"] == 3
    assert CliRunner().invoke(main, ["discover", str(out / "not-private.json")]).exit_code == 2
