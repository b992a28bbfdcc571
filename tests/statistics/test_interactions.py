"""Interactions: sensitivity by brute force over neighbours, the noise in proportion, and what tables are made of."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.domain import Domain, Numeric
from discreet.errors import SettingError
from discreet.privacy.accounting import Currency
from discreet.privacy.mechanisms.additive import DiscreteLaplace, RoundedGaussian, ShapedGaussian, additive_for
from discreet.statistics import Sensitivity
from discreet.statistics import interactions as module
from discreet.statistics.counts import Counts, all_pairs
from discreet.statistics.interactions import Interactions, largest_change, whole_contrasts
from discreet.testing import SeededNoise
from support.contrasts import domain_of, scaled_change, values_of

CASES = [
    ((2, 2, 3), [("c0",), ("c0", "c1"), ("c1", "c2")], [2, 1, 1]),
    ((2, 3, 2), [("c0", "c1", "c2"), ("c0", "c2")], [1, 3]),
    ((4, 3), [("c0",), ("c1",), ("c0", "c1")], [1, 1, 1]),
    ((2, 2, 2, 2), [*combinations(("c0", "c1", "c2", "c3"), 2)], [1] * 6),
    ((1, 3), [("c0",), ("c1",), ("c0", "c1")], [1, 2, 1]),
]


@pytest.mark.parametrize(("sizes", "sets", "weights"), CASES)
@pytest.mark.parametrize("n", [1, 2])
def test_sensitivity_over_all_neighbours(sizes, sets, weights, n):
    """Never above the claim, and attained."""
    domain, statistic = domain_of(sizes, n), Interactions(tuple(sets), tuple(weights))
    cells = list(product(*(range(s) for s in sizes)))
    worst = Fraction(0)
    for rest in product(cells, repeat=n - 1):
        found = [values_of(statistic, domain, [*rest, cell]) for cell in cells]
        for a, b in combinations(found, 2):
            worst = max(worst, scaled_change(statistic, domain, a, b))
    assert worst == statistic.sensitivity(domain).l2_squared


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_bounds_hold_for_every_pair_of_rows(data):
    """Also where too many columns forbid looking at all sets of differing ones."""
    sizes = data.draw(st.lists(st.integers(1, 5), min_size=2, max_size=6))
    domain = domain_of(sizes, 1)
    names = tuple(domain)
    everything = [s for k in (1, 2, 3) for s in combinations(names, k)]
    sets = data.draw(st.lists(st.sampled_from(everything), min_size=1, max_size=12, unique=True))
    weights = data.draw(st.lists(st.integers(1, 3), min_size=len(sets), max_size=len(sets)))
    statistic = Interactions(tuple(sets), tuple(weights))
    row = st.tuples(*(st.integers(0, s - 1) for s in sizes))
    a, b = data.draw(row), data.draw(row)
    moved = scaled_change(statistic, domain, values_of(statistic, domain, [a]), values_of(statistic, domain, [b]))
    exact = statistic.sensitivity(domain).l2_squared
    shapes, by_set = {s: domain.shape(s) for s in sets}, dict(zip(sets, weights, strict=True))
    kept = module.MAX_ENUMERATED
    try:
        module.MAX_ENUMERATED = 0
        bound = largest_change(shapes, by_set)
    finally:
        module.MAX_ENUMERATED = kept
    assert moved <= exact <= bound


@pytest.mark.parametrize("sizes", [(2,) * 9, (2, 3, 4, 2, 3), (5, 2, 2, 2, 2, 7), (3,) * 7])
def test_the_bound_on_all_pairs_is_exact(sizes, monkeypatch):
    names = [f"c{i}" for i in range(len(sizes))]
    sets = [*((n,) for n in names), *combinations(names, 2)]
    shapes = {s: tuple(sizes[names.index(c)] for c in s) for s in sets}
    weights = {s: 2 if len(s) == 1 else 1 for s in sets}
    exact = largest_change(shapes, weights)
    monkeypatch.setattr(module, "MAX_ENUMERATED", 0)
    assert largest_change(shapes, weights) == exact


def test_numbers_that_do_not_fit_are_bounded_instead():
    """Twelve columns or fewer: all sets are looked at in 64 bits, or not at all."""
    sizes = (31, 37, 41, 43, 47, 53)
    names = [f"c{i}" for i in range(len(sizes))]
    sets = [*((n,) for n in names), *combinations(names, 2)]
    shapes = {s: tuple(sizes[names.index(c)] for c in s) for s in sets}
    for weight, fits in ((1, True), (1 << 30, False)):
        weights = dict.fromkeys(sets, weight)
        assert (module._enumerated(shapes, weights, dict(zip(names, sizes, strict=True))) is not None) == fits
        every = (
            sum((weight * change(shapes[s], [n in differing for n in s]) for s in sets), start=Fraction(0))
            for k in range(len(names) + 1)
            for differing in combinations(names, k)
        )
        assert max(every) <= largest_change(shapes, weights)


def change(shape, differs):
    """Return t_U(F) of the proof."""
    same = prod(1 - Fraction(1, a) for a in shape)
    return 2 * (same - prod(-Fraction(1, a) if d else 1 - Fraction(1, a) for a, d in zip(shape, differs, strict=True)))


def test_pairs_of_binary_columns_cost_a_quarter_of_their_tables():
    domain = domain_of((2,) * 20, 100)
    pairs = all_pairs(tuple(domain))
    cost = Interactions(pairs, (1,) * len(pairs)).sensitivity(domain).l2_squared
    assert cost == 100  # p^2 / 4
    assert Counts(pairs).sensitivity(domain).l2_squared == 380


def test_a_table_is_the_sum_of_its_interactions():
    rng = np.random.default_rng(0)
    sizes = (2, 3, 4)
    table = rng.integers(0, 50, sizes)
    unit = [whole_contrasts(s) / np.sqrt((whole_contrasts(s) ** 2).sum(0)) for s in sizes]
    rebuilt = np.zeros(sizes)
    for k in range(4):
        for chosen in combinations(range(3), k):
            part = table.sum(axis=tuple(i for i in range(3) if i not in chosen)).astype(float)
            for i in chosen:
                part = np.tensordot(part, unit[i], (0, 0))
            for place, i in enumerate(chosen):
                part = np.moveaxis(np.tensordot(part, unit[i], (place, 1)), -1, place)
            shape = [sizes[i] if i in chosen else 1 for i in range(3)]
            rebuilt += np.asarray(part).reshape(shape) / prod(sizes[i] for i in range(3) if i not in chosen)
    np.testing.assert_allclose(rebuilt, table, atol=1e-9)


def test_the_noise_is_in_proportion_to_the_scales():
    squares = (Fraction(2), Fraction(12), Fraction(1, 2))
    mechanism = ShapedGaussian(5.0, squares * 4000)
    drawn = mechanism.blur(np.zeros(12_000, dtype=np.int64), SeededNoise(1)).reshape(4000, 3)
    for column, square in zip(drawn.T, squares, strict=True):
        expected = 25 * float(square) + 1 / 12
        assert column.var() == pytest.approx(expected, rel=5 * np.sqrt(2 / 4000))


@settings(max_examples=50, deadline=None)
@given(st.floats(1e-4, 50), st.sampled_from([Currency.GDP, Currency.ZCDP]))
def test_the_budget_is_used_to_the_last_digit_and_never_exceeded(amount, currency):
    domain = domain_of((2, 3, 4), 10)
    sensitivity = Interactions((("c0", "c1"), ("c0", "c2")), (1, 2)).sensitivity(domain)
    mechanism = additive_for(currency, Fraction(amount), sensitivity)
    spent = mechanism.cost(sensitivity).amount(currency)
    assert Fraction(amount) * (1 - Fraction(1, 10**14)) < spent <= Fraction(amount)


def test_even_noise_refuses_scaled_statistics_and_the_other_way_round():
    shaped = Interactions((("c0",),), (1,)).sensitivity(domain_of((3,), 5))
    plain = Sensitivity(Fraction(2), Fraction(2))
    for mechanism in (RoundedGaussian(3.0), DiscreteLaplace(3.0)):
        with pytest.raises(SettingError, match="proportions"):
            mechanism.cost(shaped)
    with pytest.raises(SettingError, match="other scales"):
        ShapedGaussian(3.0, (Fraction(2),)).cost(plain)
    with pytest.raises(SettingError, match="pure"):
        additive_for(Currency.PURE, Fraction(1), shaped)


def test_interactions_refuse_what_cannot_be_asked():
    with pytest.raises(SettingError, match="twice"):
        Interactions((("a",), ("a",)), (1, 1))
    with pytest.raises(SettingError, match="sorted"):
        Interactions((("b", "a"),), (1,))
    with pytest.raises(SettingError, match="weight"):
        Interactions((("a",),), (0,))
    with pytest.raises(SettingError, match="at least one"):
        Interactions((), ())
    with pytest.raises(SettingError, match="bins"):
        Interactions((("x",),), (1,)).sensitivity(Domain({"x": Numeric(bounds=(0, 1))}, rows=5))


@pytest.mark.parametrize("limit", [12, 0])
def test_a_column_with_one_level_moves_nothing(limit, monkeypatch):
    monkeypatch.setattr(module, "MAX_ENUMERATED", limit)
    sizes, weights = {("a",): (2,), ("a", "b"): (2, 3)}, {("a",): 1, ("a", "b"): 1}
    alone = largest_change(sizes, weights)
    more = {("o",): (1,), ("a", "o"): (2, 1), ("a", "b", "o"): (2, 3, 1)}
    assert largest_change(sizes | more, weights | dict.fromkeys(more, 1)) == alone
    assert largest_change(more, dict.fromkeys(more, 1)) == 0
