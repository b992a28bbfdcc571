"""Dependence of all pairs at once: what is computed, how far a row moves it, and what is made of the release."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import norm

from discreet.audit import table_of
from discreet.audit.tape import exact_value
from discreet.domain import Domain
from discreet.domain.columns import Categorical, Numeric
from discreet.errors import SettingError
from discreet.release.oracles.pairwise import NoiseLaw, PairwiseReleased, thresholds
from discreet.statistics.dependence import MOVED
from discreet.statistics.hsic import ROOT_ERROR, hsic_v
from discreet.statistics.pairwise_hsic import LEVELS, MAX_ROWS, MeanLengths, PairwiseHSIC

NAMES = ("a", "b", "c")


def numbers(rows, names=NAMES):
    return Domain({name: Numeric(bounds=(0.0, 1.0)) for name in names}, rows=rows)


def both(domain, width=0.3):
    names = tuple(domain)
    pairs = tuple(combinations(range(len(names)), 2))
    levels = domain.shape(names)
    return PairwiseHSIC(names, levels, width, pairs), MeanLengths(names, levels, width)


def middles(codes, levels):
    """Middles of the steps that codes are in, on a scale from -1 to 1."""
    scaled = (2 * codes + 1) * (1 << 15) // levels - (1 << 15)
    return (2 * ((scaled + (1 << 15)) * LEVELS // (1 << 16)) + 1) / LEVELS - 1


@pytest.mark.parametrize("rows", [2, 40, 3000])
@pytest.mark.parametrize("width", [0.05, 0.3, 2.0])
def test_values_are_those_of_kernels(rows, width):
    domain = numbers(rows)
    codes = np.random.default_rng(0).integers(0, domain.size("a"), size=(rows, 3))
    codes[:, 1] = codes[:, 0] // 2 + codes[:, 1] // 3
    dependence, lengths = both(domain, width)
    placed = middles(codes, domain.size("a")).T
    values = exact_value(dependence, codes, domain) * dependence.unit(rows)
    expected = [math.sqrt(hsic_v(placed[i], placed[j], width, width)) for i, j in dependence.pairs]
    assert values == pytest.approx(expected, abs=dependence.unit(rows))
    kernels = [np.exp(-(np.subtract.outer(x, x) ** 2) / (2 * width**2)) for x in placed[:, :1000]]
    if rows <= 1000:
        found = exact_value(lengths, codes, domain) * lengths.unit(rows)
        assert found == pytest.approx([math.sqrt(k.mean()) for k in kernels], abs=lengths.unit(rows))


@pytest.mark.parametrize("width", [0.05, 0.3])
def test_no_row_moves_a_number_further_than_is_declared(width):
    """Climbing over rows at the ends, in the middle and anywhere, for all pairs at once."""
    rng = np.random.default_rng(0)
    seen = {}
    for rows in (2, 3, 12, 60):
        domain = numbers(rows)
        top = domain.size("a") - 1
        for statistic in both(domain, width):
            for _ in range(15):
                base = rng.choice([0, top // 2, top, rng.integers(0, top)], size=(rows, 3))
                base[:, 1:] = np.where(rng.random((rows, 2)) < 0.9, base[:, :1], base[:, 1:])
                best = 0
                for _ in range(6):
                    other = base.copy()
                    other[0] = rng.choice([0, top // 2, top], size=3)
                    change = np.abs(exact_value(statistic, base, domain) - exact_value(statistic, other, domain)).max()
                    if change > best:
                        best, base = change, other
                seen[statistic.kind] = max(seen.get(statistic.kind, 0), best)
    assert all(0.5 * MOVED < found <= MOVED for found in seen.values()), seen


@pytest.mark.parametrize("rows", [2, 1000, MAX_ROWS])
def test_changes_are_those_that_are_proved(rows):
    dependence, lengths = both(numbers(rows))
    assert dependence.change(rows) == pytest.approx(math.sqrt(6) * (rows - 1) / rows**2 + 2 * ROOT_ERROR, rel=1e-13)
    assert lengths.change(rows) == pytest.approx(math.sqrt(2) / rows + 2 * ROOT_ERROR, rel=1e-13)
    assert dependence.sensitivity(numbers(rows)).largest == MOVED


@pytest.mark.parametrize("rows", [1, MAX_ROWS + 1])
def test_too_few_or_too_many_rows_are_refused(rows):
    for statistic in both(numbers(rows)):
        with pytest.raises(SettingError, match="rows"):
            statistic.sensitivity(numbers(rows))


def test_all_pairs_are_billed():
    domain = numbers(100)
    dependence, lengths = both(domain)
    assert dependence.sensitivity(domain).l1 == 3 * MOVED == lengths.sensitivity(domain).l1
    assert dependence.sensitivity(domain).l2_squared == 3 * MOVED**2


@pytest.mark.parametrize(
    ("column", "says"),
    [(Categorical(categories=("u", "v")), "no order"), (Numeric(bounds=(0, 1), bins=4), "without bins")],
)
def test_columns_without_a_scale_are_refused(column, says):
    domain = Domain({"a": Numeric(bounds=(0.0, 1.0)), "b": column}, rows=10)
    with pytest.raises(SettingError, match=says):
        PairwiseHSIC(("a", "b"), domain.shape("ab"), pairs=((0, 1),)).sensitivity(domain)


@pytest.mark.parametrize(
    "wrong",
    [{"pairs": ()}, {"pairs": ((1, 0),)}, {"pairs": ((0, 2),)}, {"width": 0.01}, {"names": ("a", "a")}],
    ids=str,
)
def test_settings_are_checked(wrong):
    with pytest.raises(SettingError):
        PairwiseHSIC(**{"names": ("a", "b"), "levels": (9, 9), "pairs": ((0, 1),), **wrong})


def test_another_domain_is_refused():
    dependence, _ = both(numbers(10))
    other = Domain({name: Categorical(categories=("u", "v"), ordered=True) for name in NAMES}, rows=10)
    with pytest.raises(SettingError, match="other numbers of levels"):
        dependence.sensitivity(other)


@pytest.mark.parametrize("law", ["gaussian", "laplace"])
@pytest.mark.parametrize(("spread", "deviation"), [(1.0, 0.0), (1.0, 0.5), (0.2, 1.0), (0.0, 1.0)])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_thresholds_have_their_level(law, spread, deviation, alpha):
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 1, 400_000) if law == "gaussian" else rng.laplace(0, math.sqrt(0.5), 400_000)
    drawn = spread * np.abs(rng.normal(0, 1, 400_000)) + deviation * noise
    found = np.mean(drawn > thresholds(np.array([spread]), NoiseLaw(law, deviation), alpha)[0])
    assert found == pytest.approx(alpha, abs=0.003)


def test_no_sum_of_squares_exceeds_the_half_normal_bound():
    """The law that chance has in the limit, whatever its weights."""
    rng = np.random.default_rng(0)
    for weights in ([1.0], [0.5, 0.5], [0.8, 0.1, 0.1], np.full(30, 1 / 30)):
        squares = rng.normal(size=(200_000, len(weights))) ** 2 @ np.array(weights)
        assert np.mean(squares > norm.ppf(0.975) ** 2) < 0.0515


def oracle(alpha=0.05, **dependence):
    seen = {frozenset(pair): value for pair, value in dependence.items()}
    return PairwiseReleased(seen, dict.fromkeys(seen, 0.01), NoiseLaw("gaussian", 0.01), alpha)


def test_the_weakest_of_three_is_explained():
    three = oracle(xy=0.1, xz=0.3, yz=0.2)
    assert not three.ask("x", "y", frozenset()).independent
    assert three.ask("x", "y", frozenset("z")).independent
    assert not three.ask("x", "z", frozenset("y")).independent
    assert not three.ask("y", "z", frozenset("x")).independent


def test_what_does_not_stand_out_explains_nothing():
    assert not oracle(xy=0.1, xz=0.3, yz=0.001).ask("x", "y", frozenset("z")).independent
    assert oracle(xy=0.001, xz=0.3, yz=0.3).ask("x", "y", frozenset()).independent


def test_only_what_was_released_is_answered():
    some = oracle(xy=0.1, xz=0.3)
    assert some.answers("x", "y", frozenset())
    assert not some.answers("x", "y", frozenset("z"))
    assert not some.answers("x", "y", frozenset("zw"))
    with pytest.raises(SettingError, match="alpha"):
        oracle(alpha=0.3, xy=0.1)


def test_tables_are_asked_for_codes_only():
    class Narrow:
        rows = 3

        def values(self, columns):
            return table_of(np.zeros((3, 2), dtype=np.int64), numbers(3, "ab")).values(columns)

    assert MeanLengths(("a", "b"), (9, 9)).evaluate(Narrow()).shape == (2,)
