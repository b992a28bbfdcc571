"""The exact auditor: eight definitions of what privacy promises, each by its own quantity, and how they relate."""

from __future__ import annotations

import math
from itertools import chain, combinations
from statistics import NormalDist

import numpy as np
import pytest

from discreet.audit.claims import renyi, smallest_epsilon, smallest_epsilons, smallest_mu, smallest_rho
from discreet.audit.exact import (
    Definition,
    all_definitions,
    at_population,
    audit_definition,
    correlated,
    geometric_count,
)
from discreet.errors import SettingError
from discreet.privacy.accounting import gdp_delta

SAME = (2, 4, 5, 6, 8)


def drawn_law(rng, shape, zeros):
    law = rng.dirichlet(np.full(shape[-1], rng.choice([0.1, 1.0, 5.0])), size=shape[:-1])
    if zeros:
        law = np.where(rng.random(shape) < 0.15, 0, law)
        law[..., 0] += law.sum(axis=-1) == 0
    return law / law.sum(axis=-1, keepdims=True)


def drawn(rng):
    cells, values = int(rng.integers(1, 4)), int(rng.integers(2, 4))
    mechanism = drawn_law(rng, (values,) * cells + (int(rng.integers(2, 5)),), zeros=rng.random() < 0.3)
    population = drawn_law(rng, (values**cells,), zeros=rng.random() < 0.3).reshape((values,) * cells)
    return mechanism, population, float(rng.choice([0.0, 0.0, 0.01, 0.1, 0.3]))


def close(a, b):
    return a == b or abs(a - b) <= 1e-9 * max(1, abs(b))


def above(a, b):
    return a > b and not close(a, b)


def events(outputs):
    return chain.from_iterable(combinations(range(outputs), size) for size in range(1, outputs + 1))


@pytest.mark.parametrize("drawings", [300, pytest.param(2000, marks=pytest.mark.slow)])
def test_the_table_of_relations_holds_in_random_mechanisms(drawings):
    rng = np.random.default_rng(1)
    inferred_more = at_this_population = infinite = 0
    for _ in range(drawings):
        mechanism, population, delta = drawn(rng)
        found = {d: w.epsilon for d, w in all_definitions(mechanism, population, delta).items()}
        plain = found[1]
        assert all(close(found[d], plain) for d in SAME)
        assert not above(found[7], plain)
        assert not above(plain, found[3])
        at = {d: audit_definition(mechanism, d, population, delta).epsilon for d in (2, 3, 8)}
        assert not any(above(at[d], found[d]) for d in at)
        assert close(at[8], found[7])
        inferred_more += above(found[3], plain)
        at_this_population += above(at[3], plain)
        infinite += math.isinf(plain)
    assert inferred_more > 0.2 * drawings
    assert at_this_population > 0.005 * drawings
    assert 0.025 < infinite / drawings < 0.75


def test_random_populations_with_independent_cells_never_exceed():
    rng = np.random.default_rng(2)
    for _ in range(300):
        mechanism, _, delta = drawn(rng)
        *shape, _ = mechanism.shape
        population = np.ones(())
        for size in shape:
            population = np.multiply.outer(population, rng.dirichlet(np.ones(size)))
        at = audit_definition(mechanism, 4, population, delta).epsilon
        assert close(at, audit_definition(mechanism, 3, population, delta).epsilon)
        assert close(at, audit_definition(mechanism, 7, population, delta).epsilon)  # knowing is setting
        assert not above(at, audit_definition(mechanism, 1, None, delta).epsilon)


def test_epsilon_0_is_noninterference():
    rng = np.random.default_rng(4)
    deaf = np.broadcast_to(rng.dirichlet(np.ones(4)), (2, 2, 2, 4))
    population = rng.dirichlet(np.ones(8)).reshape(2, 2, 2)
    assert all(found.epsilon == pytest.approx(0, abs=1e-12) for found in all_definitions(deaf, population).values())
    for place in np.ndindex(2, 2, 2):
        hears = deaf.copy()
        hears[place] = rng.dirichlet(np.ones(4))
        assert audit_definition(hears, 1).epsilon > 0.01


@pytest.mark.parametrize("cells", [2, 3, 4, 6])
def test_what_copies_of_you_tell_is_not_bounded_by_epsilon(cells):
    count = geometric_count(cells, 1.0)
    copies = correlated(cells, 1.0)
    assert audit_definition(count, 3, copies).epsilon == pytest.approx(cells, rel=1e-12)
    found = all_definitions(count, copies)
    assert found[3].epsilon == pytest.approx(cells, rel=1e-12)
    assert {d for d, w in found.items() if w.epsilon != pytest.approx(1, rel=1e-12)} == {3}


def test_two_cells_that_agree_in_nine_cases_of_ten():
    assert audit_definition(geometric_count(2, 1.0), 3, correlated(2, 0.9)).epsilon == pytest.approx(1.776, abs=2e-4)
    assert audit_definition(geometric_count(2, 1.0), 8, correlated(2, 0.9)).epsilon == pytest.approx(1, rel=1e-12)


def test_every_definition_can_be_asked_of_one_population_of_independent_ones_or_of_all():
    count = geometric_count(2, 1.0)
    given = at_population(count, correlated(2, 0.9))
    assert {d: round(w.epsilon, 3) for d, w in given.items()} == {1: 1, 2: 1, 3: 1.776, 5: 1, 6: 1, 7: 1, 8: 1}
    assert {round(w.epsilon, 9) for w in at_population(count, "independent").values()} == {1}
    everywhere = at_population(count, "all")
    assert {d: round(w.epsilon, 9) for d, w in everywhere.items()} == {d: 2 if d == 3 else 1 for d in range(1, 9)}
    assert {d: w.epsilon for d, w in all_definitions(count).items()} == {d: w.epsilon for d, w in everywhere.items()}
    independent = at_population(count, np.full((2, 2), 0.25))
    assert independent[3].epsilon == independent[4].epsilon <= 1
    with pytest.raises(SettingError, match="independent"):
        audit_definition(count, 3, "some")


def law_of_witness(mechanism, witness, side):
    """Return the compared law, computed in another way: by summing over databases one by one."""
    total, law = 0.0, np.zeros(mechanism.shape[-1])
    if witness.databases is not None:
        return mechanism[witness.databases[side]]
    for database, weight in np.ndenumerate(witness.population):
        if witness.definition in (3, 4):
            taken = weight if database[witness.cell] == witness.values[side] else 0.0
            law += taken * mechanism[database]
        else:
            taken = weight
            changed = list(database)
            changed[witness.cell] = witness.values[side]
            law += taken * mechanism[tuple(changed)]
        total += taken
    return law / total


def test_a_witness_shows_its_epsilon():
    rng = np.random.default_rng(3)
    for _ in range(200):
        mechanism, population, delta = drawn(rng)
        for definition, witness in all_definitions(mechanism, population, delta).items():
            assert witness.definition is definition
            one, two = (law_of_witness(mechanism, witness, side) for side in (0, 1))
            if not witness.event:
                assert witness.epsilon == 0
                continue
            event = list(witness.event)
            needed = one[event].sum() - delta
            if math.isinf(witness.epsilon):
                assert two[event].sum() == 0 < needed
            else:
                assert needed / two[event].sum() == pytest.approx(math.exp(witness.epsilon), rel=1e-9)
            assert str(witness.values[0]) in witness.compared


def test_smallest_epsilon_by_all_events():
    rng = np.random.default_rng(4)
    for _ in range(500):
        outputs = int(rng.integers(1, 7))
        p, q = (drawn_law(rng, (outputs,), zeros=rng.random() < 0.4) for _ in range(2))
        delta = float(rng.choice([0.0, 0.05, 0.4]))
        needed = 1.0
        for event in map(list, events(outputs)):
            left, right = p[event].sum() - delta, q[event].sum()
            if left > 0:
                needed = max(needed, left / right if right else math.inf)
        found, _ = smallest_epsilon(p, q, delta)
        assert close(found, math.log(needed))
        if math.isfinite(found):
            assert np.maximum(0, p - math.exp(found) * q).sum() <= delta + 1e-12
            assert found == 0 or np.maximum(0, p - math.exp(found - 1e-6) * q).sum() > delta


def test_smallest_epsilons_are_the_same_in_batches():
    rng = np.random.default_rng(5)
    p, q = drawn_law(rng, (4, 3, 5), zeros=True), drawn_law(rng, (4, 3, 5), zeros=True)
    found = smallest_epsilons(p, q, 0.1)
    assert found.shape == (4, 3)
    assert all(found[i] == smallest_epsilon(p[i], q[i], 0.1)[0] for i in np.ndindex(4, 3))


def test_smallest_mu_by_its_curve():
    rng = np.random.default_rng(6)
    for _ in range(60):
        p, q = (drawn_law(rng, (5,), zeros=False) for _ in range(2))
        mu, event = smallest_mu(p, q)
        for one, two in ((p, q), (q, p)):
            for epsilon in np.linspace(0, 4 * mu + 1, 20):
                reached = np.maximum(0, one - math.exp(epsilon) * two).sum()
                assert reached <= gdp_delta(mu, epsilon) + 1e-12
        a, b = p[event].sum(), q[event].sum()
        epsilon = -mu * NormalDist().inv_cdf(b) - mu**2 / 2  # where the curves touch
        x, y = (a, b) if epsilon >= 0 else (1 - b, 1 - a)
        assert x - math.exp(abs(epsilon)) * y > gdp_delta(0.999 * mu, abs(epsilon))


def test_what_one_law_can_do_and_the_other_cannot_costs_everything():
    p, q = np.array([0.5, 0.5, 0.0]), np.array([0.0, 0.5, 0.5])
    assert smallest_epsilon(p, q) == (math.inf, (0,))
    assert smallest_epsilon(p, q, 0.5)[0] == 0
    assert math.isinf(smallest_mu(p, q)[0])
    with np.errstate(divide="ignore"):
        assert math.isinf(smallest_rho(renyi(np.log(p), np.log(q)))[0])
    assert smallest_mu(p, p)[0] == 0


def test_renyi_by_hand():
    p, q = np.array([0.3, 0.7, 0.0]), np.array([0.5, 0.4, 0.1])
    with np.errstate(divide="ignore"):
        found = renyi(np.log(p), np.log(q))
    assert found[4] == pytest.approx(math.log((p**2 / q).sum()), rel=1e-12)  # order 2


def test_nothing_to_compare():
    certain = np.zeros((2, 2))
    certain[0, 1] = 1
    for definition in (2, 3, 4):
        witness = audit_definition(geometric_count(2, 1.0), definition, certain)
        assert (witness.epsilon, witness.cell, witness.compared) == (0.0, None, "nothing to compare")


@pytest.mark.parametrize(
    ("mechanism", "definition", "population", "delta"),
    [
        (geometric_count(2, 1.0), 4, correlated(2, 0.9), 0.0),
        (geometric_count(2, 1.0), 6, None, 0.0),
        (geometric_count(2, 1.0), 1, correlated(2, 0.9), 0.0),
        (geometric_count(2, 1.0), 3, correlated(3, 0.9), 0.0),
        (geometric_count(2, 1.0), 3, 2 * correlated(2, 0.9), 0.0),
        (2 * geometric_count(2, 1.0), 1, None, 0.0),
        (geometric_count(2, 1.0), 1, None, 1.0),
        (np.full((2, 3, 2), 0.5), 1, None, 0.0),
        (np.ones((1, 1)), 1, None, 0.0),
        (geometric_count(10, 1.0), 1, None, 0.0),
    ],
)
def test_what_does_not_fit_is_refused(mechanism, definition, population, delta):
    with pytest.raises(SettingError):
        audit_definition(mechanism, definition, population, delta)


def test_every_definition_says_what_it_is():
    assert len({d.words for d in Definition}) == 8
