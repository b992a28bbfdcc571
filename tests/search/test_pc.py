"""Search with the truth as oracle: exact CPDAGs, no dependence on column order, knowledge respected."""

from __future__ import annotations

from itertools import combinations, permutations, product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.domain.knowledge import Knowledge
from discreet.errors import KnowledgeError, SettingError
from discreet.search.dseparation import DSeparation
from discreet.search.graph import Graph, colliders, from_parents
from discreet.search.interop import to_networkx
from discreet.search.oracle import Verdict
from discreet.search.orientation import Claim, Pattern, cpdag, extend, orient
from discreet.search.pc import find_skeleton, pc

NAMES = "abcdefgh"


def all_dags(n):
    pairs = list(combinations(NAMES[:n], 2))
    for marks in product((0, 1, 2), repeat=len(pairs)):
        arcs = [(a, b) if m == 1 else (b, a) for (a, b), m in zip(pairs, marks, strict=True) if m]
        if nx.is_directed_acyclic_graph(nx.DiGraph(arcs)):
            yield Graph(tuple(NAMES[:n]), frozenset(arcs))


def class_by_enumeration(dag):
    """The CPDAG by its definition: an edge is directed if every equivalent DAG directs it so."""
    pairs = sorted(tuple(sorted(p)) for p in dag.skeleton)
    same = []
    for flips in product((False, True), repeat=len(pairs)):
        arcs = [(b, a) if flip else (a, b) for (a, b), flip in zip(pairs, flips, strict=True)]
        other = Graph(dag.nodes, frozenset(arcs))
        if nx.is_directed_acyclic_graph(nx.DiGraph(arcs)) and colliders(other) == colliders(dag):
            same.append(set(arcs))
    directed = set.intersection(*same)
    return Graph(dag.nodes, frozenset(directed), dag.skeleton - {frozenset(a) for a in directed})


def random_dag(rng, n, density):
    order = rng.permutation(n)
    arcs = [(NAMES[order[i]], NAMES[order[j]]) for i, j in combinations(range(n), 2) if rng.random() < density]
    return Graph(tuple(NAMES[:n]), frozenset(arcs))


@pytest.mark.parametrize(("n", "number"), [(1, 1), (2, 3), (3, 25), (4, 543)])
def test_every_small_dag_gives_its_exact_class(n, number):
    seen = 0
    for dag in all_dags(n):
        truth = class_by_enumeration(dag)
        assert cpdag(dag) == truth
        assert pc(dag.nodes, DSeparation(dag)) == truth
        seen += 1
    assert seen == number


def test_500_random_dags_give_their_exact_class():
    rng = np.random.default_rng(0)
    for _ in range(500):
        dag = random_dag(rng, int(rng.integers(5, 9)), rng.uniform(0.1, 0.7))
        assert pc(dag.nodes, DSeparation(dag)) == cpdag(dag)


def test_cpdag_agrees_with_enumeration_on_larger_dags():
    rng = np.random.default_rng(1)
    for _ in range(40):
        dag = random_dag(rng, 6, 0.45)
        assert cpdag(dag) == class_by_enumeration(dag)


class Rumour:
    """An oracle whose answers are noise: what comes out must still be a graph that makes sense."""

    free = True
    max_order = 2

    def __init__(self, seed, nodes, rename=None):
        self.seed, self.place = seed, {n: i for i, n in enumerate(sorted(nodes))}
        self.rename = rename or {n: n for n in nodes}

    def answers(self, x, y, given):
        return True

    def ask(self, x, y, given):
        x, y, given = self.rename[x], self.rename[y], [self.rename[g] for g in given]
        key = [self.seed, *sorted(self.place[n] for n in (x, y)), 99, *sorted(self.place[g] for g in given)]
        evidence = float(np.random.default_rng(key).normal())
        return Verdict(evidence < 0.3, evidence)


def is_extendable(graph, unasked=frozenset()):
    """Whether a directed acyclic graph has the same skeleton, arrows and colliders, but for unasked pairs."""
    pattern = Pattern(graph.nodes, graph.skeleton)
    for a, b in graph.directed:
        pattern.direct(a, b)
    arcs = extend(pattern, frozenset((pair, z) for pair in unasked for z in graph.nodes))
    return arcs is not None and nx.is_directed_acyclic_graph(nx.DiGraph(arcs))


@pytest.mark.parametrize("seed", range(60))
def test_contradictory_answers_still_give_an_extendable_graph_in_any_column_order(seed):
    nodes = list(NAMES[:7])
    graph = pc(nodes, Rumour(seed, nodes))
    assert is_extendable(graph)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        shuffled = [nodes[i] for i in rng.permutation(len(nodes))]
        assert pc(shuffled, Rumour(seed, nodes)) == graph


@pytest.mark.parametrize("seed", range(30))
def test_names_do_not_matter_either(seed):
    """Renaming the columns renames the graph: ties aside, no rule looks at the alphabet."""
    nodes = list(NAMES[:6])
    graph = pc(nodes, Rumour(seed, nodes))
    renamed = dict(zip(reversed(nodes), nodes, strict=True))
    back = {new: old for old, new in renamed.items()}
    other = pc(nodes, Rumour(seed, nodes, rename=back))
    expected = Graph(
        tuple(nodes),
        frozenset((renamed[a], renamed[b]) for a, b in graph.directed),
        frozenset(frozenset(renamed[n] for n in pair) for pair in graph.undirected),
    )
    assert other.skeleton == expected.skeleton
    if is_chordal_enough(graph):
        assert other == expected


def is_chordal_enough(graph):
    """Chordless cycles are the one case in which the alphabet breaks ties."""
    return nx.is_chordal(to_networkx(graph).to_undirected())


def test_the_stronger_collider_wins_and_equals_cancel():
    # a - b - c - d in a line; claims a -> b <- c and b -> c <- d contradict each other on b - c.
    pairs = [frozenset(p) for p in ("ab", "bc", "cd")]
    left = Claim(frozenset("ac"), "b", 2.0)
    right = Claim(frozenset("bd"), "c", 1.0)
    assert ("c", "b") in orient("abcd", pairs, [left, right]).directed
    assert ("c", "b") in orient("dcba", pairs, [right, left]).directed
    strong_right = Claim(frozenset("bd"), "c", 3.0)
    assert ("b", "c") in orient("abcd", pairs, [left, strong_right]).directed
    even = Claim(frozenset("bd"), "c", 2.0)
    assert not orient("abcd", pairs, [left, even]).directed


def test_a_chordless_cycle_gets_a_collider():
    pairs = [frozenset(p) for p in ("ab", "bc", "cd", "da")]
    graph = orient("abcd", pairs, [])
    assert is_extendable(graph)
    assert len(colliders(graph)) == 1
    assert graph.skeleton == frozenset(pairs)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_skeleton_and_claims_give_an_extendable_graph(data):
    nodes = NAMES[: data.draw(st.integers(2, 7))]
    pairs = data.draw(st.sets(st.sampled_from([frozenset(p) for p in combinations(nodes, 2)])))
    triples = [
        (frozenset((x, y)), z)
        for z in nodes
        for x, y in combinations([n for n in nodes if frozenset((n, z)) in pairs], 2)
        if frozenset((x, y)) not in pairs
    ]
    chosen = data.draw(st.lists(st.sampled_from(triples), unique=True)) if triples else []
    claims = [Claim(causes, z, data.draw(st.sampled_from([0.5, 1.0, 2.0]))) for causes, z in chosen]
    tiers = data.draw(st.sampled_from([(), (tuple(nodes[:1]), tuple(nodes[1:]))]))
    knowledge = Knowledge(tiers=tiers)
    graph = orient(nodes, pairs, claims, knowledge)
    assert graph.skeleton == frozenset(pairs)
    assert is_extendable(graph)
    assert all(knowledge.allows(a, b) for a, b in graph.directed)
    assert orient(nodes[::-1], pairs, claims[::-1], knowledge) == graph


class Listening(DSeparation):
    """The truth, with a memory of what it was asked."""

    def __init__(self, dag):
        super().__init__(dag)
        self.asked = []

    def ask(self, x, y, given):
        self.asked.append((frozenset((x, y)), given))
        return super().ask(x, y, given)


def test_knowledge_is_respected_and_saves_questions():
    dag = from_parents({"a": "", "b": "a", "c": "b", "d": "c"})
    oracle = Listening(dag)
    knowledge = Knowledge(required={("b", "c")}, forbidden={("a", "d"), ("d", "a"), ("b", "a")})
    graph = pc(dag.nodes, oracle, knowledge=knowledge)
    assert graph.directed == {("a", "b"), ("b", "c"), ("c", "d")}
    assert not [pair for pair, _ in oracle.asked if pair in (frozenset("ad"), frozenset("bc"))]


def test_tiers_orient_and_limit_conditioning():
    dag = from_parents({"a": "", "b": "a", "c": "b"})
    assert not pc(dag.nodes, DSeparation(dag)).directed
    graph = pc(dag.nodes, DSeparation(dag), knowledge=Knowledge(tiers=(("a",), ("b", "c"))))
    assert graph.directed == {("a", "b"), ("b", "c")}


@pytest.mark.parametrize("seed", range(40))
def test_true_knowledge_never_hurts(seed):
    rng = np.random.default_rng(seed)
    dag = random_dag(rng, 6, 0.4)
    arcs = sorted(dag.directed)
    required = frozenset(a for a in arcs if rng.random() < 0.3)
    order = list(nx.topological_sort(to_networkx(dag)))
    knowledge = Knowledge(required=required, tiers=(tuple(order[:2]), tuple(order[2:])))
    graph = pc(dag.nodes, DSeparation(dag), knowledge=knowledge)
    assert graph.skeleton == dag.skeleton
    assert graph.directed <= dag.directed
    assert graph.directed >= cpdag(dag).directed | required
    assert is_extendable(graph)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Knowledge(required={("a", "b"), ("b", "a")}), "forbidden|circle"),
        (lambda: Knowledge(required={("a", "b"), ("b", "c"), ("c", "a")}), "circle"),
        (lambda: Knowledge(required={("a", "a")}), "itself"),
        (lambda: Knowledge(required={("a", "b")}, forbidden={("a", "b")}), "forbidden"),
        (lambda: Knowledge(required={("b", "a")}, tiers=(("a",), ("b",))), "forbidden"),
        (lambda: Knowledge(tiers=(("a",), ("a",))), "two tiers"),
        (lambda: Knowledge.from_yaml("required: [[a, b, c]]\n"), "pairs"),
        (lambda: Knowledge.from_yaml("requierd: []\n"), "requierd"),
        (lambda: Knowledge(required={("a", "z")}).check("abc"), "'z'"),
    ],
)
def test_contradictory_knowledge_is_refused(make, words):
    with pytest.raises(KnowledgeError, match=words):
        make()


def test_knowledge_round_trip():
    text = "required: [[a, b]]\nforbidden: [[b, c], [c, b]]\ntiers: [[a], [b, c]]\n"
    knowledge = Knowledge.from_yaml(text)
    assert Knowledge.from_dict(knowledge.to_dict()) == knowledge
    assert not knowledge.may_touch("b", "c")
    assert Knowledge.from_yaml("\n") == Knowledge()


def test_an_oracle_that_costs_is_not_asked_further_than_needed():
    dag = from_parents({"a": "", "b": "a", "c": "a", "d": "a"})

    class Costly(DSeparation):
        free = False
        asked = 0

        def ask(self, x, y, given):
            Costly.asked += 1
            return super().ask(x, y, given)

    assert pc(dag.nodes, Costly(dag)) == cpdag(dag)
    costly = Costly.asked
    assert costly > 0
    for order in permutations("abcd"):
        Costly.asked = 0
        assert pc(order, Costly(dag)) == cpdag(dag)
        assert Costly.asked == costly


def members(dag, knowledge):
    """All directed acyclic graphs of the same class that knowledge allows: every one agrees with some order."""
    seen = set()
    for order in permutations(dag.nodes):
        place = {node: i for i, node in enumerate(order)}
        arcs = frozenset(tuple(sorted(pair, key=place.get)) for pair in dag.skeleton)
        if arcs not in seen and all(knowledge.allows(a, b) for a, b in arcs):
            seen.add(arcs)
            if colliders(Graph(dag.nodes, arcs)) == colliders(dag):
                yield set(arcs)


def test_true_knowledge_orients_exactly_what_it_implies():
    """Against all members of the class: Meek's four rules are sound and complete."""
    rng = np.random.default_rng(2)
    for _ in range(300):
        dag = random_dag(rng, int(rng.integers(4, 7)), rng.uniform(0.4, 0.9))
        required = frozenset(arc for arc in dag.directed if rng.random() < 0.15)
        forbidden = frozenset((b, a) for a, b in dag.directed if rng.random() < 0.1)
        knowledge = Knowledge(required=required, forbidden=forbidden)
        implied = set.intersection(*members(dag, knowledge))
        assert pc(dag.nodes, DSeparation(dag), knowledge=knowledge).directed == implied


def test_rule_four_by_hand():
    # d - a, d -> c -> b, a - c, a - b, and d not adjacent to b: b -> a would need a -> d, and so a circle.
    pairs = [frozenset(p) for p in ("da", "dc", "cb", "ac", "ab")]
    graph = orient("abcd", pairs, [], Knowledge(required={("d", "c"), ("c", "b")}))
    assert ("a", "b") in graph.directed


def test_nothing_is_concluded_from_a_pair_that_was_not_asked():
    """a -> c <- b with a, b forbidden: the collider is not seen, and must not be denied either."""
    dag = from_parents({"a": "", "b": "", "c": "ab"})
    both = {("a", "b"), ("b", "a")}
    assert pc(dag.nodes, DSeparation(dag), knowledge=Knowledge(forbidden=both)).undirected == dag.skeleton
    tiers = Knowledge(forbidden=both, tiers=(("a",), ("c",)))
    graph = pc(dag.nodes, DSeparation(dag), knowledge=tiers)
    assert graph.directed == {("a", "c")}
    assert graph.undirected == {frozenset("bc")}


def test_random_true_knowledge_with_forbidden_pairs_never_gives_a_false_arrow():
    rng = np.random.default_rng(3)
    for _ in range(300):
        dag = random_dag(rng, 6, rng.uniform(0.2, 0.7))
        apart = [p for p in permutations(dag.nodes, 2) if frozenset(p) not in dag.skeleton]
        closed = {arc for a, b in apart if a < b and rng.random() < 0.4 for arc in ((a, b), (b, a))}
        against = {(b, a) for a, b in dag.directed if rng.random() < 0.3}
        knowledge = Knowledge(forbidden=frozenset(closed | against))
        graph = pc(dag.nodes, DSeparation(dag), knowledge=knowledge)
        assert graph.skeleton == dag.skeleton
        assert graph.directed <= dag.directed
        apart_pairs = frozenset(frozenset(arc) for arc in closed)
        assert is_extendable(graph, apart_pairs)


def test_a_direction_that_nobody_asked_about_is_not_guessed():
    """d -> a -> c <- b with a, b and c, d forbidden: whichever way a - c points, it meets an arrow unasked."""
    dag = from_parents({"d": "", "a": "d", "b": "", "c": "ab"})
    apart = {("a", "b"), ("b", "a"), ("c", "d"), ("d", "c")}
    knowledge = Knowledge(required={("d", "a"), ("b", "c")}, forbidden=apart)
    graph = pc(dag.nodes, DSeparation(dag), knowledge=knowledge)
    assert graph.directed == {("d", "a"), ("b", "c")}
    assert graph.undirected == {frozenset("ac")}


def test_forbidden_arrows_in_a_circle_are_fine_until_all_are_adjacent():
    knowledge = Knowledge(forbidden={("a", "b"), ("b", "c"), ("c", "a")})
    chain = from_parents({"a": "", "c": "", "b": "c"})
    assert pc("abc", DSeparation(chain), knowledge=knowledge).directed == {("c", "b")}
    strengths = {frozenset("ab"): 3.0, frozenset("bc"): 1.0, frozenset("ac"): 2.0}

    class AllAdjacent(DSeparation):
        def ask(self, x, y, given):
            return Verdict(independent=False, evidence=strengths[frozenset((x, y))])

    graph = pc("abc", AllAdjacent(chain), knowledge=knowledge)
    assert graph.directed == {("b", "a"), ("a", "c")}  # the weakest edge of the circle went
    with pytest.raises(KnowledgeError, match="circle"):
        orient("abc", strengths, [], knowledge)


def test_later_tiers_are_never_conditioned_on():
    dag = from_parents({"a": "", "b": "a", "c": "ab", "d": "abc"})
    oracle = Listening(dag)
    pc(dag.nodes, oracle, knowledge=Knowledge(tiers=(("a", "b"), ("c", "d"))))
    assert oracle.asked
    assert not [given for pair, given in oracle.asked if pair == frozenset("ab") and given]


def test_a_claim_that_must_go_does_not_take_the_weaker_ones_with_it():
    # Claims on a line e - f - g are independent of the contradiction among a, b, c, d.
    square = [frozenset(p) for p in ("ab", "bc", "cd", "da")]
    apart = [frozenset(p) for p in ("ef", "fg")]
    claims = [
        Claim(frozenset("ac"), "b", 5.0),
        Claim(frozenset("ac"), "d", 4.0),
        Claim(frozenset("eg"), "f", 1.0),
    ]
    graph = orient("abcdefg", square + apart, claims)
    assert {("e", "f"), ("g", "f")} <= graph.directed
    assert is_extendable(graph)


def test_evidence_that_speaks_neither_way_leaves_a_triple_undirected():
    """a - c - b: the textbook says collider, conditioning on c says nothing: no arrow is drawn."""

    class Doubtful:
        free, max_order = True, 1

        def __init__(self, gain):
            self.gain = gain

        def answers(self, x, y, given):
            return len(given) <= 1

        def ask(self, x, y, given):
            if {x, y} != {"a", "b"}:
                return Verdict(independent=False, evidence=9.0)
            return Verdict(independent=not given, evidence=-3.0 + (self.gain if given else 0))

    assert pc("abc", Doubtful(2.0)).directed == {("a", "c"), ("b", "c")}
    for gain in (0.3, 0.0, -0.3):
        assert not pc("abc", Doubtful(gain)).directed
    tiers = Knowledge(tiers=(("a",), ("c",)))
    assert pc("abc", Doubtful(0.3), knowledge=tiers).directed == {("a", "c")}  # nothing follows for b
    assert pc("abc", Doubtful(-2.0), knowledge=tiers).directed == {("a", "c"), ("c", "b")}  # c is no common effect


def test_a_doubtful_separation_claims_nothing():
    """A pair held apart although the evidence speaks for dependence makes no collider where z cannot be asked about."""

    class Hesitant:
        free, max_order = True, 0

        def answers(self, x, y, given):
            return not given

        def ask(self, x, y, given):
            apart = {x, y} == {"a", "b"}
            return Verdict(independent=apart, evidence=2.1 if apart else 9.0)

    assert not pc("abc", Hesitant()).directed


def test_max_order():
    dag = from_parents({"a": "", "b": "", "c": "ab", "d": "ab"})
    skeleton = find_skeleton(dag.nodes, DSeparation(dag), max_order=1)
    assert frozenset("cd") in skeleton.pairs
    assert frozenset("cd") not in find_skeleton(dag.nodes, DSeparation(dag)).pairs
    with pytest.raises(SettingError, match="max-order"):
        find_skeleton(dag.nodes, DSeparation(dag), max_order=-1)
