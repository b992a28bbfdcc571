"""Total variation and information: values against plain definitions, and neighbours that reach the bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb, ctx
from scipy import stats

from discreet.audit import table_of
from discreet.audit.broken import domain_of, pair
from discreet.audit.statistics import GStatistic
from discreet.statistics.dependence import MOVED, STEPS
from discreet.statistics.information import ConditionalInformation, ConditionalTotalVariation, _entropy_terms, gain


def naive(rows, sizes):
    """Return the conditional total variation and the conditional information, cell by cell."""
    variation = information = 0.0
    for key in np.unique(rows[:, 2:], axis=0):
        part = rows[(rows[:, 2:] == key).all(axis=1)]
        m = len(part)
        for x in range(sizes["x"]):
            for y in range(sizes["y"]):
                joint = float(((part[:, 0] == x) & (part[:, 1] == y)).sum()) / m
                apart = float((part[:, 0] == x).mean() * (part[:, 1] == y).mean())
                variation += m / len(rows) * abs(joint - apart) / 2
                information += m / len(rows) * joint * math.log(joint / apart) if joint else 0.0
    return variation, information


def steps(statistic, rows, domain):
    return int(statistic.evaluate(table_of(rows, domain))[0])


@pytest.mark.parametrize(
    "sizes", [{"x": 2, "y": 2}, {"x": 4, "y": 3, "z": 3}, {"x": 3, "y": 3, "u": 2, "z": 4}], ids=str
)
@pytest.mark.parametrize("n", [1, 2, 9, 100, 1000])
def test_values_are_those_of_the_definitions(sizes, n):
    rng = np.random.default_rng(n)
    domain = domain_of(n, **sizes)
    given = tuple(sorted(set(sizes) - {"x", "y"}))
    for _ in range(5):
        rows = rng.integers(0, list(sizes.values()), size=(n, len(sizes)))
        rows[:, 1] = np.where(rng.random(n) < 0.4, rows[:, 0] % sizes["y"], rows[:, 1])
        variation, information = naive(rows, sizes)
        for kind, expected in (
            (ConditionalTotalVariation, variation),
            (ConditionalInformation, information),
            (GStatistic, 2 * n * information),
        ):
            statistic = kind("x", "y", given)
            found = statistic.real(steps(statistic, rows, domain), domain)
            assert abs(found - expected) <= 0.5001 * statistic.unit(domain) + 1e-12


def test_the_g_statistic_is_that_of_scipy_and_in_steps_the_information():
    rng = np.random.default_rng(2)
    rows = rng.integers(0, (3, 4), size=(500, 2))
    domain = domain_of(500, x=3, y=4)
    known = stats.chi2_contingency(table_of(rows, domain).counts([("x", "y")])[0], lambda_="log-likelihood").statistic
    g = GStatistic("x", "y")
    assert g.real(steps(g, rows, domain), domain) == pytest.approx(known, abs=g.unit(domain))
    assert steps(g, rows, domain) == steps(ConditionalInformation("x", "y"), rows, domain)


def moved(statistic, domain, neighbours):
    values = [steps(statistic, rows, domain) for rows in (neighbours.first, neighbours.second)]
    return abs(values[0] - values[1])


@pytest.mark.parametrize("n", [4, 10, 101, 1000])
def test_bounds_for_one_stratum_and_a_binary_column_are_exact(n):
    alone = pair({(0, 0): n - 1}, (1, 1), (0, 0))
    for kind in (ConditionalTotalVariation, ConditionalInformation, GStatistic):
        assert abs(moved(kind("x", "y"), domain_of(n, x=2, y=2), alone) - STEPS) <= 1
        assert abs(moved(kind("x", "y"), domain_of(n, x=2, y=5), alone) - STEPS) <= 1


def test_pairs_that_come_near_the_other_bounds():
    half = 100
    n = 2 * half + 1
    apart = pair({(1, 0): half, (0, 1): half}, (1, 1), (2, 2))
    assert abs(moved(ConditionalInformation("x", "y"), domain_of(n, x=3, y=3), apart) - STEPS) <= 1
    across = pair({(1, 0, 0): half // 2, (0, 1, 0): half // 2, (0, 0, 1): half}, (1, 1, 0), (1, 1, 1))
    domain = domain_of(n, x=2, y=2, z=2)
    information = ConditionalInformation("x", "y", ("z",))
    assert 0.8 * STEPS < moved(information, domain, across) <= MOVED
    assert moved(information, domain, across) * information.unit(domain) > 1.2 * gain(n) / n
    variation = ConditionalTotalVariation("x", "y", ("z",))
    few = 11
    rest = {(0, 0, 1): half - 2 * few, (0, 1, 1): few, (1, 0, 1): few}
    far = pair({(0, 0, 0): half} | rest, (1, 1, 0), (1, 1, 1))
    assert 0.85 * STEPS < moved(variation, domain, far) <= MOVED


def test_declared_changes_are_those_of_the_theory():
    n = 101

    def change(kind, **sizes):
        domain = domain_of(n, **sizes)
        return kind("x", "y", tuple(sorted(set(sizes) - {"x", "y"}))).largest_change(domain)

    assert change(ConditionalTotalVariation, x=2, y=7) == pytest.approx(2 * (n - 1) / n**2)
    assert change(ConditionalTotalVariation, x=3, y=3) == pytest.approx(3 * (n - 1) / n**2)
    assert 3.9 / n < change(ConditionalTotalVariation, x=2, y=2, z=2) < 4 / n
    assert change(ConditionalInformation, x=7, y=2) == pytest.approx(gain(n) / n)
    both = 2 / n * math.log((n + 1) / 2) + (n - 1) / n * math.log((n + 1) / (n - 1))
    assert change(ConditionalInformation, x=3, y=3) == pytest.approx(both)
    assert change(ConditionalInformation, x=2, y=2, z=2) == pytest.approx(both)
    assert change(GStatistic, x=3, y=3) == pytest.approx(4 * gain((n + 1) / 2))
    assert change(ConditionalInformation, x=1, y=2, z=2) == 0
    assert gain(1) == 0


def test_logarithms_are_as_exact_as_the_proof_takes_them_to_be():
    """Terms t ln t, to 2^-49 of themselves, against certified ones."""
    rng = np.random.default_rng(11)
    powers = (1 << np.arange(1, 32))[:, None] + np.array([-1, 0, 1])
    counts = np.unique(np.concatenate([np.arange(2, 3000), powers.ravel(), rng.integers(2, 1 << 31, 5000)]))
    counts = counts[(counts > 1) & (counts <= 1 << 31)]
    with ctx.workprec(150):
        for count, term in zip(counts.tolist(), _entropy_terms(counts), strict=True):
            exact = arb(count) * arb(count).log()
            assert abs(arb(term) - exact) <= exact * arb(2) ** -49
