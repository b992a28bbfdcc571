"""Pairs by evidence, directions by the best fit to all triples, and how sure both are."""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np
import pytest

import discreet as dc
from discreet.data.memory import MemoryTable
from discreet.domain.knowledge import Knowledge
from discreet.errors import DoubtWarning, SettingError
from discreet.experiments.calibration import fit_curve
from discreet.methods.power import doubts
from discreet.privacy.accounting import Currency, limit_of
from discreet.release.confidence import _curve, collider_features
from discreet.release.oracles.components import Components, contrasts, pool, taken_apart
from discreet.release.oracles.released import Released
from discreet.release.release import weakest_seen
from discreet.release.search import look, search_again, seeded_generator
from discreet.release.selection import select_first, select_next, single_weight
from discreet.release.settings import Marginals
from discreet.search.colliders import arrange
from discreet.search.dseparation import DSeparation
from discreet.search.graph import Graph, colliders, from_parents
from discreet.search.greedy import evidence_score
from discreet.search.hybrid import Bar, EvidenceSkeleton, direct, find_by_evidence, list_triples, weigh_triples
from discreet.search.orientation import cpdag, extension
from discreet.statistics.counts import Counts
from discreet.statistics.interactions import Interactions
from discreet.testing import SeededNoise

BAR = Bar(keep=0.0, drop=0.0, bridge=0.0)


class Truth:
    """Weighs questions as one who knows the graph: plainly dependent, or plainly not."""

    max_order = 2

    def __init__(self, dag):
        self._known = DSeparation(dag)

    def answers(self, x, y, given):
        return len(given) <= 2

    def weigh(self, questions):
        return [-5.0 if self._known.ask(*q).independent else 50.0 for q in questions]


def random_dag(rng, nodes, parents=2):
    names = [f"n{i}" for i in range(nodes)]
    most = rng.integers(0, parents + 1, nodes)
    return from_parents({n: rng.permutation(names[:i])[: most[i]].tolist() for i, n in enumerate(names)})


def test_the_truth_is_found_where_two_columns_separate():
    """With an oracle that knows the graph the class is found exactly, as long as orders up to 2 suffice."""
    rng = np.random.default_rng(0)
    exact = 0
    for _ in range(60):
        dag = random_dag(rng, int(rng.integers(3, 8)))
        known = DSeparation(dag)
        pairs = [p for p in combinations(dag.nodes, 2) if frozenset(p) not in dag.skeleton]
        rest = {p: [z for z in dag.nodes if z not in p] for p in pairs}
        small = all(
            any(known.ask(*p, frozenset(s)).independent for k in range(3) for s in combinations(rest[p], k))
            for p in pairs
        )
        found = find_by_evidence(dag.nodes, Truth(dag), BAR)
        if not small or found.pairs.keys() != dag.skeleton:
            continue
        exact += 1
        scorer = Truth(dag)
        around = list_triples(found, scorer)
        questions = list(dict.fromkeys(q for t in around for q in t.questions))
        weights = weigh_triples(around, dict(zip(questions, scorer.weigh(questions), strict=True)))
        assert direct(
            found.nodes, found.pairs, weights, Knowledge(), seeded_generator(), unasked=found.unasked
        ) == cpdag(dag)
    assert exact >= 40


def brute_force(nodes, pairs, weights):
    """The best weight of colliders over all acyclic directions of a small skeleton."""
    best = -np.inf
    pairs = [tuple(sorted(p)) for p in pairs]
    for flips in product((False, True), repeat=len(pairs)):
        arcs = frozenset((b, a) if f else (a, b) for f, (a, b) in zip(flips, pairs, strict=True))
        orders = (order for order in permutations(nodes) if all(order.index(a) < order.index(b) for a, b in arcs))
        if next(orders, None) is not None:
            best = max(best, sum(weights.get(c, 0.0) for c in colliders(Graph(tuple(nodes), arcs))))
    return best


@pytest.mark.parametrize("seed", range(12))
def test_directions_are_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    nodes = tuple("abcde")
    pairs = {frozenset(p) for p in combinations(nodes, 2) if rng.random() < 0.55}
    weights = {
        (frozenset((x, y)), z): float(rng.normal() * 10)
        for z in nodes
        for x, y in combinations(nodes, 2)
        if frozenset((x, y)) not in pairs and {frozenset((x, z)), frozenset((y, z))} <= pairs
    }
    arcs = arrange(nodes, frozenset(pairs), weights, np.random.default_rng(0), restarts=30)
    found = Graph(nodes, arcs)
    assert found.skeleton == pairs
    assert sum(weights.get(c, 0.0) for c in colliders(found)) == pytest.approx(brute_force(nodes, pairs, weights))


def test_directions_keep_to_knowledge_and_close_no_cycle():
    nodes = tuple("abcd")
    pairs = frozenset(frozenset(p) for p in (("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")))
    weights = {(frozenset("ac"), "b"): 5.0, (frozenset("ac"), "d"): 5.0, (frozenset("bd"), "a"): -5.0}
    knowledge = Knowledge(forbidden={("a", "b")})
    arcs = arrange(nodes, pairs, weights, np.random.default_rng(0), knowledge=knowledge)
    assert ("b", "a") in arcs
    assert extension(Graph(nodes, arcs)) is not None


def test_components_of_overlapping_tables_are_pooled_by_inverse_variance():
    rng = np.random.default_rng(1)
    table = rng.integers(0, 100, (2, 3, 4)).astype(float)
    parts = pool([*taken_apart(("a", "b", "c"), table, 2.0), *taken_apart(("a", "b"), table.sum(2), 3.0)])
    once = {columns: (values, v) for columns, values, v in taken_apart(("a", "b", "c"), table, 2.0)}
    assert once["a", "b"][1] == 8.0  # four cells of variance 2 make one of the pair's
    assert parts["a", "b"].variance == pytest.approx(1 / (1 / 8 + 1 / 3))
    np.testing.assert_allclose(parts["a", "b"].values, once["a", "b"][0])  # the same counts say the same
    assert parts["a", "b", "c"].variance == 2.0
    assert parts["c",].variance == 12.0
    moved = table.copy()
    moved[0, 0, 0] += 8.0
    mixed = pool([*taken_apart(("a", "b", "c"), moved, 2.0), *taken_apart(("a", "b"), table.sum(2), 3.0)])
    change = mixed["a", "b"].values - parts["a", "b"].values
    np.testing.assert_allclose(change, (3 / 11) * (contrasts(2)[0][:, None] * contrasts(3)[0]) * 8)


def released_from(counts, variance, names):
    """Everything about three columns, hardly blurred."""
    sizes = dict(zip(names, counts.shape, strict=True))
    return Components(int(counts.sum()), sizes, pool(taken_apart(names, counts, variance)))


def test_strata_show_what_pooling_hides():
    """x XOR y: invisible in pairs and in the pooled residual, plain within the levels of z."""
    counts = np.zeros((2, 2, 2))
    for i, j in product((0, 1), repeat=2):
        counts[i, j, i ^ j] = 25_000.0
    oracle = Released(released_from(counts, 100.0, ("x", "y", "z")), alpha=0.01, rng=np.random.default_rng(0))
    alone, given = oracle.weigh([("x", "y", frozenset()), ("x", "y", frozenset("z"))])
    assert alone < 0
    assert given > 1_000
    assert oracle.ask("x", "y", frozenset("z")).independent  # the test pools, and says so


def test_two_columns_explain_what_neither_does_alone():
    rng = np.random.default_rng(2)
    z, w = rng.integers(0, 2, (2, 50_000))
    x = (rng.random(50_000) < 0.1 + 0.4 * z + 0.4 * w).astype(int)
    y = (rng.random(50_000) < 0.1 + 0.4 * z + 0.4 * w).astype(int)
    codes = {"w": w, "x": x, "y": y, "z": z}
    parts = []
    for columns in combinations(codes, 3):
        table = np.zeros((2, 2, 2))
        np.add.at(table, tuple(codes[c] for c in columns), 1.0)
        parts += taken_apart(columns, table, 50.0)
    oracle = Released(Components(50_000, dict.fromkeys(codes, 2), pool(parts)), alpha=0.01, rng=rng)
    sets = [frozenset(), frozenset("z"), frozenset("w"), frozenset("zw")]
    weighed = oracle.weigh([("x", "y", s) for s in sets])
    assert min(weighed[:3]) > 20
    assert weighed[3] < 0
    assert oracle.ask("x", "y", frozenset("zw")).independent


@pytest.mark.parametrize(
    ("levels", "epsilon"),
    [
        pytest.param(*each, marks=pytest.mark.slow if each in [(2, 1), (3, 0.3)] else pytest.mark.nightly)
        for each in product([2, 3], [0.3, 1, 10])
    ],
)
def test_the_level_of_order_two(levels, epsilon):
    """x and y given two others: at most 1.5 times the nominal level over 1,500 data sets."""
    rng = np.random.default_rng(levels)
    variance, rejected, runs = 40 / limit_of(Currency.GDP, epsilon, 1e-6), {0.05: 0, 0.01: 0}, 1_500
    names = ("w", "x", "y", "z")
    for _ in range(runs):
        given = rng.dirichlet(np.full(levels**2, 2.0))
        px, py = (0.6 * rng.dirichlet(np.full(levels, 1.0), levels**2) + 0.4 / levels for _ in "xy")
        joint = np.einsum("k,ki,kj->ijk", given, px, py).reshape((levels,) * 4)  # x, y, w, z
        counts = rng.multinomial(20_000, joint.ravel()).reshape(joint.shape).transpose(2, 0, 1, 3).astype(float)
        parts = []
        for kept in combinations(range(4), 3):
            table = counts.sum(axis=tuple(set(range(4)) - set(kept)))
            noisy = table + rng.normal(0, float(variance) ** 0.5, table.shape)
            parts += taken_apart(tuple(names[i] for i in kept), noisy, float(variance))
        oracle = Released(Components(20_000, dict.fromkeys(names, levels), pool(parts)), alpha=0.01, rng=rng)
        p_value = oracle.ask("x", "y", frozenset("wz")).p_value
        for level in rejected:
            rejected[level] += p_value <= level
    for level, count in rejected.items():
        assert count <= 1.5 * level * runs


def seeded(name, *, rows=20_000, epsilon=1.0, delta=1e-6, seed=0, progress=None, **settings):
    net = dc.network(name)
    domain = net.domain(rows)
    table = MemoryTable(net.sample_codes(rows, np.random.default_rng(seed)), {c: domain.size(c) for c in domain})
    room = dc.Room(table, domain, dc.Budget(epsilon=epsilon, delta=delta), noise=SeededNoise(seed))
    return net, dc.discover_in(room, dc.Marginals(**settings), progress=progress)


@pytest.mark.parametrize("search", ["hybrid", "pc", "greedy"])
@pytest.mark.parametrize("delta", [1e-6, 0])
def test_every_search_finds_a_network(search, delta):
    net, found = seeded("earthquake", rows=100_000, epsilon=3.0, delta=delta, search=search)
    assert dc.skeleton_f1(found.graph, net.dag) >= 0.85
    assert search_again(found, search_by="pc").settings["search"] == "pc"
    assert bool(found.confidence) == (search == "hybrid")


def test_two_releases_find_what_pairs_alone_do_not():
    """child and sachs need conditioning sets of two: pair tables alone left false edges at any epsilon."""
    scores = {name: [] for name in ("sachs", "survey")}
    for name, seed in product(scores, range(3)):
        net, found = seeded(name, rows=100_000, seed=seed)
        scores[name].append((dc.skeleton_f1(found.graph, net.dag), dc.cpdag_f1(found.graph, cpdag(net.dag))))
    assert np.mean(scores["sachs"], axis=0).min() >= 0.95
    assert np.mean(scores["survey"], axis=0).min() >= 0.85


def test_confidences_are_redrawn_not_guessed():
    _, found = seeded("asia", rows=100_000)
    assert found.confidence.keys() == found.graph.skeleton
    assert all(0 < c.edge < 1 for c in found.confidence.values())
    for pair, sure in found.confidence.items():
        assert (sure.arrow is None) == (pair in found.graph.undirected)
        assert sure.arrow is None or sure.arrow <= sure.edge
    again = search_again(found)
    assert again.confidence == found.confidence
    _, blurred = seeded("asia", rows=100_000, epsilon=0.1)
    assert min(c.edge for c in blurred.confidence.values()) < max(c.edge for c in found.confidence.values())


def test_required_edges_have_no_confidence():
    net = dc.network("cancer")
    data = net.sample(5_000, np.random.default_rng(0))
    knowledge = Knowledge(required={("Xray", "Dyspnoea")})
    found = dc.discover(data, domain=net.domain(5_000), epsilon=1.0, knowledge=knowledge)
    assert frozenset(("Xray", "Dyspnoea")) not in found.confidence
    assert ("Xray", "Dyspnoea") in found.graph.directed


def test_an_arrow_that_knowledge_settles_is_as_sure_as_its_edge():
    net = dc.network("cancer")
    data = net.sample(5_000, np.random.default_rng(0))
    settled = {}
    for knowledge in (Knowledge(tiers=[["Smoker"], ["Cancer"]]), Knowledge(forbidden={("Cancer", "Smoker")})):
        found = dc.discover(data, domain=net.domain(5_000), epsilon=5.0, knowledge=knowledge)
        sure = found.confidence[frozenset(("Smoker", "Cancer"))]
        assert sure.arrow == sure.edge
        assert ("Smoker", "Cancer") in found.drawn.directed
        settled[knowledge.settles("Smoker", "Cancer")] = found
    assert settled.keys() == {"tiers", "forbidden"}
    assert Knowledge(required={("a", "b")}).settles("a", "b") == "required"
    assert Knowledge(required={("a", "b")}).settles("b", "a") is None
    assert Knowledge(tiers=[["a"], ["b"]]).untiered("abc") == ["c"]
    assert Knowledge(required={("a", "b")}).untiered("abc") == []


class Told:
    """Answers with evidence by the columns that are given."""

    def __init__(self, evidence):
        self.evidence = evidence

    def answers(self, x, y, given):
        return given in self.evidence

    def weigh(self, questions):
        return [self.evidence[given] for _, _, given in questions]


@pytest.mark.parametrize(("given_both", "against"), [(9.0, 0.0), (-1.0, -3.0), (-90.0, -5.0), (None, 0.0)])
def test_a_collider_that_another_neighbour_explains_away_counts_less(given_both, against):
    """x -> z <- y, then z -> v; w touches x only."""
    graph = dc.Graph("xyzvw", [("x", "z"), ("y", "z"), ("z", "v")], [("x", "w")])
    found = EvidenceSkeleton(graph.nodes, dict.fromkeys(graph.skeleton, 9.0), {}, {}, {})
    evidence = {frozenset(): 0.0, frozenset("z"): 9.0, frozenset("w"): 1.0, frozenset("zw"): given_both}
    oracle = Told({given: e for given, e in evidence.items() if e is not None})
    features = collider_features(graph, found, oracle)
    assert features == {("x", "z"): (1.0, against), ("y", "z"): (1.0, against), ("z", "v"): (0.0, 0.0)}


def test_the_curves_are_fitted_as_said():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(20_000, 2))
    chance = [_curve((0.3, 1.0, -0.5), tuple(row)) for row in features]
    weights = fit_curve(features, (rng.random(20_000) < chance).astype(float))
    np.testing.assert_allclose(weights, [0.3, 1.0, -0.5], atol=0.1)


def test_the_first_release_asks_for_all_pairs_and_the_second_for_what_is_left():
    net, found = seeded("asia", rows=100_000)
    first, second = (m.statistic for m in found.measurements)
    assert isinstance(first, Interactions)
    assert {len(s) for s in first.sets} == {1, 2}
    assert {len(s) for s in second.sets} == {1, 2, 3}
    assert {s for s in second.sets if len(s) == 2} < {s for s in first.sets if len(s) == 2}
    earlier = look(found.measurements[:1], found.domain, Marginals(), Knowledge())
    left = limit_of(Currency.GDP, 1.0, 1e-6) / 2
    assert select_next(earlier, found.domain, Currency.GDP, left) == second  # a function of the first release alone
    assert net.nodes.keys() == found.domain.columns.keys()


def test_a_pure_promise_asks_for_whole_tables():
    _, found = seeded("asia", delta=0, epsilon=2.0)
    assert all(isinstance(m.statistic, Counts) for m in found.measurements)
    big = dc.Categorical(categories=tuple(map(str, range(30))))
    domain = dc.Domain({"a": big, "b": big}, rows=100)
    with pytest.raises(SettingError, match="too many"):
        select_first(domain, Knowledge(), Currency.PURE)


def test_single_columns_weigh_more_among_many():
    weights = [single_weight(p) for p in (2, 8, 20, 37, 80)]
    assert weights == sorted(weights)
    assert weights[0] == 1
    assert weights[-1] == 3


def test_scores_are_the_evidence_of_adding_parents():
    dag = from_parents({"a": [], "b": [], "c": ["a", "b"]})
    score = evidence_score(Truth(dag), [frozenset("ac"), frozenset("bc")], price=1.0)
    assert score("c", frozenset()) == 0
    assert score("c", frozenset("a")) == 49.0
    assert score("c", frozenset("ab")) == 98.0
    assert score("a", frozenset("b")) == -np.inf  # no candidates


def test_doubts_are_said_before_anything_is_spent():
    net = dc.network("asia")
    small = net.sample(5_000, np.random.default_rng(0))
    with pytest.warns(DoubtWarning, match="rows, or an epsilon of about"):
        dc.discover(small, domain=net.domain(5_000), epsilon=0.05)
    wide = dc.Domain({c: dc.Categorical(categories=tuple(map(str, range(20)))) for c in "ab"}, rows=1_000)
    statistic = select_first(wide, Knowledge(), Currency.GDP)
    (words,) = doubts(wide, statistic, 10.0, 1e-6, Currency.GDP, rounds=2)
    assert "'a' and 'b'" in words
    assert "2,000 rows" in words
    enough = net.domain(100_000)
    assert doubts(enough, select_first(enough, Knowledge(), Currency.GDP), 1.0, 1e-6, Currency.GDP, rounds=2) == []


def test_the_rows_that_are_said_to_be_needed_are_enough():
    net = dc.network("asia")
    domain = net.domain(1_000)
    statistic = select_first(domain, Knowledge(), Currency.GDP)
    (words,) = doubts(domain, statistic, 0.05, 1e-6, Currency.GDP, rounds=2)
    rows = int(words.split("it takes ")[1].split(" rows")[0].replace(",", ""))
    variance = float(statistic.sensitivity(domain).l2_squared / (limit_of(Currency.GDP, 0.05, 1e-6) / 2))
    assert weakest_seen(rows, variance) == pytest.approx(0.05, rel=1e-3)


def test_columns_with_one_level_are_left_out_but_may_be_required():
    labels = {"one": ("a",), "x": ("0", "1"), "y": ("0", "1")}
    domain = dc.Domain({c: dc.Categorical(categories=levels) for c, levels in labels.items()}, rows=2_000)
    x = np.random.default_rng(0).integers(0, 2, 2_000).astype(str)
    data = {"one": np.full(2_000, "a"), "x": x, "y": x}
    for search in ("hybrid", "pc", "greedy"):
        recipe = dc.Marginals(search=search)
        found = dc.discover(data, domain=domain, epsilon=2.0, method=recipe)
        assert found.graph.skeleton == {frozenset("xy")}
        required = Knowledge(required={("one", "x")})
        tied = dc.discover(data, domain=domain, epsilon=2.0, method=recipe, knowledge=required)
        assert ("one", "x") in tied.graph.directed
    alone = dc.Domain({c: dc.Categorical(categories=("a",)) for c in "ab"}, rows=5)
    nothing = dc.discover({"a": ["a"] * 5, "b": ["a"] * 5}, domain=alone, epsilon=1.0)
    assert nothing.privacy.spent == ()


def test_a_second_release_that_would_drown_is_left_out(monkeypatch):
    """What fails after the first release is no input error: the first release stands."""

    def drowned(*_):
        raise SettingError("sigma: the noise would drown everything")

    monkeypatch.setattr("discreet.release.settings.select_next", drowned)
    words = []
    _, found = seeded("cancer", progress=words.append)
    assert any("drown in noise" in said for said in words)
    assert len(found.measurements) == len(found.privacy.spent) == 1
    assert search_again(found).graph == found.graph


def test_required_arrows_that_nobody_can_judge_leave_the_others_alone():
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (4, 20_000))
    f = rng.integers(0, 2, 20_000)
    data = {**dict(zip("abcd", bits.astype(str), strict=True)), "e": (bits.sum(0) % 2).astype(str)}
    data |= {"f": f.astype(str), "g": np.where(rng.random(20_000) < 0.9, f, 1 - f).astype(str)}
    domain = dc.Domain({c: dc.Categorical(categories=("0", "1")) for c in data}, rows=20_000)
    knowledge = Knowledge(required={(c, "e") for c in "abcd"}, forbidden={("a", "b"), ("b", "a")})
    for search in ("hybrid", "pc", "greedy"):
        found = dc.discover(data, domain=domain, epsilon=5.0, method=dc.Marginals(search=search), knowledge=knowledge)
        assert frozenset("fg") in found.graph.skeleton
        assert {(c, "e") for c in "abcd"} <= found.graph.directed
