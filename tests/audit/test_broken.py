"""The broken set: each is really broken, and its sound twin is not."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from discreet.audit import Neighbours, table_of
from discreet.audit.broken import Asking, Blurred, Finite, Measured, Sampled
from discreet.audit.broken.gradients import GRADIENTS
from discreet.audit.broken.kernels import KERNELS
from discreet.audit.broken.methods import METHODS, REPRODUCED
from discreet.audit.broken.noise import NOISE
from discreet.audit.broken.ranks import DISTANCES, RANKS
from discreet.audit.broken.sound import SOUND
from discreet.audit.broken.sparse import SPARSE
from discreet.audit.claims import claim_of
from discreet.errors import SettingError
from discreet.privacy.noise import ExactNoise

PUBLISHED = RANKS + DISTANCES + KERNELS + GRADIENTS + REPRODUCED
BROKEN = NOISE + SPARSE + PUBLISHED + METHODS
CATCHERS = {Sampled: "black box", Asking: "replay", Measured: "replay", Finite: "exact"}


def of(kind, among=BROKEN + SOUND):
    return [pytest.param(b, id=b.name) for b in among if isinstance(b.subject, kind)]


def test_names_are_unique_and_short():
    names = [b.name for b in BROKEN + SOUND]
    assert len(set(names)) == len(names)
    assert all(len(name) < 32 and name == name.lower() and " " not in name for name in names)


def test_there_are_enough_of_each_kind():
    assert len(BROKEN) >= 60
    assert sum(b.origin == "planted" for b in BROKEN) >= 32
    assert sum("20" in b.origin for b in BROKEN) >= 16
    assert {b.catcher for b in BROKEN} == {"exact", "replay", "black box"}


@pytest.mark.parametrize("b", [pytest.param(b, id=b.name) for b in BROKEN + SOUND])
def test_each_says_what_is_wrong_and_who_must_catch_it(b):
    assert bool(b.wrong) == (b in BROKEN)
    assert b.origin
    assert b.catcher == CATCHERS.get(type(b.subject), b.catcher)


def test_twins_are_named_after_what_is_broken():
    assert {b.origin.removeprefix("twin of ") for b in SOUND} <= {b.name for b in BROKEN}


@pytest.mark.parametrize("b", of(Asking) + of(Measured) + of(Blurred))
def test_neighbours_lie_in_the_domain(b):
    subject = b.subject
    for shown in subject.pairs:
        for rows in (shown.first, shown.second):
            assert rows.shape == (subject.domain.rows, len(subject.domain.columns))
            assert rows.min() >= 0
            assert (rows < [subject.domain.size(name) for name in subject.domain]).all()


@pytest.mark.parametrize("b", of(Sampled))
def test_what_is_sampled_runs_on_both_tables(b):
    rng = np.random.default_rng(0)
    for shown in b.subject.pairs:
        kinds = {type(b.subject.run(rows, rng)) for rows in (shown.first, shown.second) for _ in range(5)}
        assert len(kinds) == 1 or kinds == {int, float}


def changes(subject, shown):
    exact = [subject.statistic.evaluate(table_of(rows, subject.domain)) for rows in (shown.first, shown.second)]
    return np.abs(exact[0] - exact[1])


def exceeded(subject, shown):
    moved, stated = changes(subject, shown), subject.statistic.sensitivity(subject.domain)
    return moved.sum() > stated.l1 or (moved**2).sum() > stated.l2_squared or moved.max() > stated.largest


@pytest.mark.parametrize("b", of(Measured, BROKEN))
def test_measured_statistics_exceed_their_sensitivity(b):
    assert b.subject.pairs
    assert all(exceeded(b.subject, shown) for shown in b.subject.pairs)


@pytest.mark.parametrize("b", of(Measured, SOUND))
def test_sound_statistics_do_not(b):
    rng = np.random.default_rng(0)
    domain = b.subject.domain
    sizes = [domain.size(name) for name in domain]
    assert not any(exceeded(b.subject, shown) for shown in b.subject.pairs)
    for _ in range(20):
        first = rng.integers(0, sizes, (domain.rows, len(sizes)))
        second = first.copy()
        second[0] = rng.integers(0, sizes)
        assert not exceeded(b.subject, Neighbours(first, second, "drawn"))


def loss(finite):
    """The largest logarithm of a ratio of probabilities over all neighbouring tables."""
    worst = 0.0
    for cells in product(range(finite.values), repeat=finite.cells):
        law = finite.law(cells)
        assert sum(law.values()) == pytest.approx(1)
        for i, value in product(range(finite.cells), range(finite.values)):
            other = finite.law((*cells[:i], value, *cells[i + 1 :]))
            worst = max(worst, *(math.log(p / other[o]) for o, p in law.items()))
    return worst


@pytest.mark.parametrize("b", of(Finite, BROKEN))
def test_finite_laws_lose_more_than_they_claim(b):
    assert loss(b.subject) > 1.2 * b.subject.claim.amount


@pytest.mark.parametrize("b", of(Finite, SOUND))
def test_sound_laws_lose_what_they_claim(b):
    assert loss(b.subject) == pytest.approx(b.subject.claim.amount)


@pytest.mark.parametrize("b", of(Blurred))
def test_mechanisms_state_a_cost_and_blur(b):
    subject = b.subject
    assert claim_of(subject.mechanism.cost(subject.statistic.sensitivity(subject.domain))).amount > 0
    exact = subject.statistic.evaluate(table_of(subject.pairs[0].first, subject.domain))
    assert len(subject.mechanism.blur(exact, ExactNoise())) > 0
    stated = subject.statistic.sensitivity(subject.domain)
    assert all(0 < changes(subject, shown).sum() <= stated.l1 for shown in subject.pairs)


@pytest.mark.parametrize("b", of(Asking))
def test_methods_run_on_both_tables(b):
    for shown in b.subject.pairs:
        for rows in (shown.first, shown.second):
            try:
                found = b.subject.run(rows)
            except SettingError:
                assert b.name == "refuses-constants"
            else:
                assert found == found  # noqa: PLR0124 - answers can be compared
                assert not isinstance(found, np.ndarray)


ONE_SIDED = {"nan-never-passes": 0.98, "sure-branch": 0.476, "filled-cells-only": 1.0, "sparse-bare-questions": 0.197}


@pytest.mark.parametrize(("name", "chance"), ONE_SIDED.items())
def test_some_outputs_are_possible_on_one_side_only(name, chance):
    subject = next(b.subject for b in BROKEN if b.name == name)
    rng = np.random.default_rng(1)
    shown = subject.pairs[0]
    sides = [[subject.run(rows, rng) for _ in range(2000)] for rows in (shown.first, shown.second)]
    only = set(sides[0]) ^ set(sides[1])
    assert only
    share = max(np.mean([o == out for o in side]) for side in sides for out in only)
    assert share == pytest.approx(chance, abs=0.04)


def test_published_numbers_come_out():
    found = {b.name: changes(b.subject, b.subject.pairs[0])[0] for b in PUBLISHED if isinstance(b.subject, Measured)}
    assert found["residuals-of-their-own-row"] == 887
    assert found["hsic-permuted-as-plain"] == 76_000
    assert found["kendall-strata-constant"] == pytest.approx(850_500, abs=100)
    assert found["greedy-distance"] == 7
