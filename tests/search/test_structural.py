"""Search by the fit of linear structural equations, against its definition and against all graphs."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

from discreet.errors import KnowledgeError
from discreet.search.structural import (
    PRIOR,
    Climber,
    Correlations,
    Profile,
    Rules,
    fit,
    local_costs,
    search,
)

SIZES = (1, 2, 1, 3)


def made_up(rng, sizes=SIZES, price=1.0, noise=0.05):
    """Correlations of a random chain of columns, with noise."""
    starts = np.concatenate([[0], np.cumsum(sizes)])
    width = int(starts[-1])
    mixed = rng.normal(size=(width, 3 * width))
    true = np.corrcoef(mixed + 2 * rng.normal(size=(1, 3 * width)) * rng.integers(0, 2, (width, 1)))
    seen = true + noise * np.triu(rng.normal(size=true.shape), 1)
    seen = np.triu(seen, 1) + np.triu(seen, 1).T
    weights = np.full((width, width), 1 / noise**2) * rng.uniform(0.5, 1, (width, 1))
    return Correlations(starts, seen, np.minimum(weights, weights.T), price)


def free(count):
    near = [frozenset(set(range(count)) - {x}) for x in range(count)]
    return Rules(near, ~np.eye(count, dtype=bool), np.zeros((count, count), dtype=bool))


def all_graphs(count):
    """All acyclic graphs, by the parents of every column."""
    pairs = list(combinations(range(count), 2))
    seen = set()
    for order in permutations(range(count)):
        for chosen in range(2 ** len(pairs)):
            parents = [[] for _ in range(count)]
            for i, (a, b) in enumerate(pairs):
                if chosen >> i & 1:
                    parents[order[b]].append(order[a])
            seen.add(tuple(tuple(sorted(p)) for p in parents))
    return sorted(seen)


def test_the_cost_is_that_of_its_definition():
    data = made_up(np.random.default_rng(0))
    parents = ((), (0,), (0,), (1, 2))
    model = np.eye(7)
    places = [list(range(a, b)) for a, b in zip(data.starts[:-1], data.starts[1:], strict=True)]
    earlier, cost = [], 0.0
    for x in range(4):
        causes = [i for p in parents[x] for i in places[p]]
        for i in places[x]:
            seen, w = data.seen[i, earlier], data.weights[i, earlier]
            design = model[np.ix_(causes, earlier)].T
            covariance = np.diag(1 / w) + PRIOR * design @ design.T  # of what is seen, coefficients integrated out
            cost += 0.5 * seen @ np.linalg.solve(covariance, seen) if earlier else 0.0
            cost += 0.5 * (np.linalg.slogdet(covariance)[1] + np.log(w).sum()) if earlier else 0.0
            if causes:
                inner = np.eye(len(causes)) / PRIOR + design.T @ (w[:, None] * design)
                model[i, earlier] = np.clip(design @ np.linalg.solve(inner, design.T @ (w * seen)), -1, 1)
            else:
                model[i, earlier] = 0.0
            model[earlier, i] = model[i, earlier]
        cost += data.price * len(parents[x])
        earlier += places[x]
    assert fit(data, parents).cost == pytest.approx(cost, rel=1e-10)


def test_what_is_the_same_need_not_be_fitted_again():
    data = made_up(np.random.default_rng(1))
    before = fit(data, ((), (0,), (1,), (2,)))
    after = fit(data, ((), (0,), (), (1, 2)), before)
    alone = fit(data, ((), (0,), (), (1, 2)))
    assert after.cost == pytest.approx(alone.cost, rel=1e-12)
    assert fit(data, ((1,), (0,), (), ()), before) is None


def test_local_costs_are_those_of_the_last_column():
    """Nothing comes after the last column: what it costs with other parents is what the whole graph would."""
    data = made_up(np.random.default_rng(2))
    at = fit(data, ((), (0,), (0,), ()))
    sets = [(), (0,), (1,), (0, 2), (0, 1, 2)]
    found = local_costs(data, at, [(3, given) for given in sets])
    for given, cost in zip(sets, found, strict=True):
        assert cost == pytest.approx(fit(data, (*at.parents[:3], given), at).costs[-1], rel=1e-10)


def test_the_best_graph_of_all_is_found_mostly():
    """What a graph costs depends a little on the order of columns that do not lead to each other."""
    graphs, beyond = all_graphs(4), []
    for seed in range(20):
        data = made_up(np.random.default_rng(seed), (1, 1, 2, 1))
        found, profile = search(data, ((), (), (), ()), free(4), lambda _: [])
        beyond.append(found.cost - min(fit(data, parents).cost for parents in graphs))
        for b, given in enumerate(found.parents):
            for a in given:  # the profile is of graphs that were tried, and none is better
                assert profile.apart[a, b] >= found.cost - 1e-6
                assert profile.directed[b, a] >= found.cost - 1e-6
    assert np.median(beyond) < 1e-6
    assert np.mean(np.array(beyond) < 0.5) >= 0.75


def test_rules_are_kept():
    for seed in range(5):
        data = made_up(np.random.default_rng(seed))
        rules = free(4)
        rules.allowed[1, 0] = rules.allowed[3, 2] = False
        rules.required[0, 1] = rules.required[1, 0] = True
        found, _ = search(data, ((), (0,), (), ()), rules.without([(0, 3)]), lambda _: [])
        arcs = {(a, b) for b, given in enumerate(found.parents) for a in given}
        assert (0, 1) in arcs
        assert not arcs & {(1, 0), (3, 2), (0, 3), (3, 0)}


def test_arrows_that_are_not_borne_out_are_left_out_for_good():
    data = made_up(np.random.default_rng(3))
    free_graph, _ = search(data, ((),) * 4, free(4), lambda _: [])
    arcs = [(a, b) for b, given in enumerate(free_graph.parents) for a in given]
    wrong = {frozenset(arcs[0])}
    found, _ = search(
        data,
        ((),) * 4,
        free(4),
        lambda at: [(a, b) for b, given in enumerate(at.parents) for a in given if {a, b} in wrong],
    )
    assert not wrong & {frozenset((a, b)) for b, given in enumerate(found.parents) for a in given}
    assert found.cost >= free_graph.cost


def test_a_chain_needs_no_third_arrow():
    """Noise hides the pairs of a chain, but not that its ends are explained by its middle."""
    true = np.array([[1, 0.6, 0.36], [0.6, 1, 0.6], [0.36, 0.6, 1]])
    data = Correlations(np.arange(4), true, np.full((3, 3), 400.0), 1.0)
    found, profile = search(data, ((), (), ()), free(3), lambda _: [])
    pairs = {frozenset((a, b)) for b, given in enumerate(found.parents) for a in given}
    assert pairs == {frozenset((0, 1)), frozenset((1, 2))}
    assert 1 in found.parents[0] or 1 in found.parents[2]  # no collider in the middle
    assert profile.apart[0, 1] > found.cost + 10


def test_a_climb_ends_where_no_single_change_helps():
    data = made_up(np.random.default_rng(4))
    climber = Climber(data, free(4), Profile(4))
    at = climber.climb(fit(data, ((),) * 4))
    assert climber.climb(at).cost == at.cost


def test_columns_with_one_level_are_there_but_say_nothing():
    some = made_up(np.random.default_rng(5), (1, 2))
    data = Correlations(np.array([0, 1, 1, 3]), some.seen, some.weights, 1.0)
    required = free(3)
    required.required[0, 1] = required.required[1, 0] = True
    found, _ = search(data, ((), (0,), ()), required, lambda _: [])
    assert found.parents[1] == (0,) or found.parents[0] == (1,)
    assert found.cost == pytest.approx(1.0 + search(some, ((), ()), free(2), lambda _: [])[0].cost)


def test_a_circle_is_refused():
    with pytest.raises(KnowledgeError, match="circle"):
        search(made_up(np.random.default_rng(0)), ((1,), (0,), (), ()), free(4), lambda _: [])
