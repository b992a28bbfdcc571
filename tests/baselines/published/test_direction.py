"""Kusner et al. 2016 as published: spreads and their promise, halves and their noise, and both theorems on signs."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.baselines.published.direction import (
    LEAST_ROWS,
    PRINTED,
    REASONS,
    SCORES,
    HalfSettings,
    Residuals,
    change_by_test_row,
    change_by_training_row,
    fit_halves,
    half_direction,
    judge,
    residual_change,
    score,
    steps_to_instability,
)
from discreet.baselines.published.iqr import spread, steps_away, steps_from_zero, steps_out, threshold
from discreet.errors import SettingError
from discreet.statistics.hsic import hsic_v
from discreet.statistics.ridge import stability

EVEN = np.arange(401) * math.exp(0.002) / 200
CLOSER = np.append(np.delete(EVEN, 400), EVEN[200])


def brute_steps(values, inside, choices):
    """Try all replacements: the fewest that take the spread out of where it is."""
    m = len(values)
    for many in range(m + 1):
        for kept in combinations(range(m), m - many):
            rest = [values[i] for i in kept]
            for put in product(choices, repeat=many):
                ordered = sorted([*rest, *put])
                if not inside(ordered[3 * m // 4] - ordered[m // 4]):
                    return many
    return m


@pytest.mark.parametrize("m", [4, 5, 6, 7])
def test_steps_out_of_a_bin_are_the_fewest(m):
    rng = np.random.default_rng(m)
    for _ in range(12):
        values = np.sort(rng.choice([0.0, 1.0, 2.0, 3.5, 4.25, 7.0, 11.0], m))
        width = values[3 * m // 4] - values[m // 4]
        choices = (-100.0, *sorted(set(values.tolist())), 100.0)
        if width == 0:
            assert steps_from_zero(values) == brute_steps(values, lambda w: w == 0, choices)
            continue
        low, high = width * rng.uniform(0.1, 1.0), width * rng.uniform(1.01, 4.0)
        expected = brute_steps(values, lambda w, a=low, b=high: a <= w < b, choices)
        assert steps_out(values, low, high) == expected
        assert steps_out(values, high, 2 * high) == 0


def test_as_printed_one_value_turns_an_answer_into_none():
    first, second = spread(EVEN, printed=True), spread(CLOSER, printed=True)
    assert (first.steps, second.steps) == ((1, 79), (1, 0))
    assert first.log == pytest.approx(0.002)
    assert second.log == pytest.approx(-0.003, abs=1e-4)
    answered, silent = 1 - first.answer_probability(0.5, 1e-6), 1 - second.answer_probability(0.5, 1e-6)
    fail_first = 1 - math.exp(-math.log(1e6) / 2) / 2
    assert first.answer_probability(0.5, 1e-6) == pytest.approx(
        1 - fail_first * math.exp(-(78 - math.log(1e6)) / 2) / 2
    )
    assert answered < 1e-13
    assert fail_first * math.exp(-(78 - math.log(1e6)) / 2) / 2 == pytest.approx(5.8e-15, rel=0.01)
    assert silent == pytest.approx(0.999, abs=1e-3)
    assert excess(second, first, 3 * 0.5, 0.5, 1e-6) > 0.99
    assert 1 - second.answer_probability(0.1, 1e-6) == pytest.approx(0.775, abs=1e-3)
    assert 1 - first.answer_probability(0.1, 1e-6) == pytest.approx(7.1e-4, rel=0.01)


def test_as_printed_the_threshold_is_for_another_epsilon():
    at_the_edge = spread(np.array([0.0, 1.0, 2.0, 3.0]), printed=True)
    assert at_the_edge.steps[0] == 1
    assert threshold(0.1, 1e-6, printed=True) == pytest.approx(1 + math.log(1e6))
    assert 1e-6**0.1 / 2 <= at_the_edge.answer_probability(0.1, 1e-6) <= 1e-6**0.1


def excess(first, second, bound, epsilon, delta):
    """Return by how much the first law exceeds e^bound times the second, over all events, exactly."""
    p, q, factor = first.answer_probability(epsilon, delta), second.answer_probability(epsilon, delta), math.exp(bound)
    found = max((1 - p) - factor * (1 - q), 0.0)
    if math.isinf(first.log) or math.isinf(second.log):
        return found + max(p - factor * (q if first.log == second.log else 0.0), 0.0)
    apart = abs(first.log - second.log)
    if p == 0:
        return found
    level = math.log(factor * q / p) / epsilon if q else -math.inf  # of |z - apart| - |z|, z from the first centre
    if level >= apart:
        return found
    if level < -apart:
        return found + p - factor * q
    at = (apart - level) / 2
    below_first = 1 - math.exp(-epsilon * at) / 2 if at >= 0 else math.exp(epsilon * at) / 2
    below_second = math.exp(epsilon * (at - apart)) / 2
    return found + p * below_first - factor * q * below_second


def test_repaired_the_same_pair_is_close_and_everything_is_defined():
    first, second = spread(EVEN, printed=False), spread(CLOSER, printed=False)
    assert max(first.steps) > 50
    for epsilon in (0.1, 0.5, 2.0):
        assert excess(first, second, 2 * epsilon, epsilon, 1e-6) <= 1e-6
        assert excess(second, first, 2 * epsilon, epsilon, 1e-6) <= 1e-6
    flat = spread(np.repeat([0.0, 1.0, 2.0], [3, 30, 3]), printed=False)
    assert flat.log == -math.inf
    assert flat.steps == (6, 6)
    assert flat.release(50.0, 1e-6, np.random.default_rng(0)) == -math.inf
    assert spread(np.zeros(9), printed=True).release(50.0, 1e-6, np.random.default_rng(0)) is None
    assert spread(np.zeros(9), printed=False).steps == (3, 3)
    with pytest.raises(SettingError, match="at least 4"):
        spread(np.zeros(3), printed=False)


@pytest.mark.parametrize("m", [4, 5, 6])
def test_no_fewer_rows_of_both_halves_leave_a_bin(m):
    """Training rows move all values by ``by``, at the worst to both sides; test rows replace one each."""
    rng = np.random.default_rng(m)
    for _ in range(10):
        values, by = np.sort(rng.uniform(0, 4, m)), float(rng.choice([0.15, 0.4, 3.0]))
        width = values[3 * m // 4] - values[m // 4]
        low, high = width * rng.uniform(0.3, 0.95), width * rng.uniform(1.05, 2.0)
        choices = (-100.0, *values.tolist(), 100.0)

        def inside(w, cut, low=low, high=high):
            return low + cut <= w < high - cut

        by_rows = [b + brute_steps(values, partial(inside, cut=2 * b * by), choices) for b in range(m + 1)]
        assert steps_away(values, low, high, by) == min(by_rows)
        alone = [b for b in range(1000) if not inside(width, 2 * b * by)]
        assert steps_away(values, low, high, by, replaced=False) == alone[0]
        assert steps_away(values, high, 2 * high, by) == 0


@pytest.mark.parametrize("replaced", [True, False])
def test_no_row_moves_the_steps_out_of_a_bin_by_two(replaced):
    rng, most = np.random.default_rng(5), 0
    for _ in range(3000):
        m, by = int(rng.integers(6, 30)), 10 ** rng.uniform(-3, -1)
        values, other = np.sort(rng.choice([rng.uniform(0, 2, m), rng.integers(0, 9, m) / 4])), np.zeros(m)
        if replaced and rng.random() < 0.5:
            other = values.copy()
            other[rng.integers(m)] = rng.choice([-50.0, 50.0, float(rng.choice(values)), rng.uniform(0, 2)])
        else:
            other = values + by * rng.choice([-1, 1], m) if rng.random() < 0.5 else values * (1 - by / 2)
        low, high = np.sort(rng.uniform(0.1, 2.5, 2))
        steps = [steps_away(np.sort(column), low, high, by, replaced=replaced) for column in (values, other)]
        most = max(most, abs(steps[1] - steps[0]))
    assert most == 1


def climbed(m, printed, epsilon, delta, bound, rng, steps, by=0.0, billed=0.0, replaced=True):
    """Look for neighbouring columns whose laws are as far apart as can be: one value differs, or all by a little."""
    best, found = None, -1.0
    for step in range(steps):
        first = best[0].copy() if best is not None and step % 50 else rng.choice([0, 1, 2, 4, 7, 12, 20], m) / 4.0
        for place in rng.integers(m, size=rng.integers(1, 3)):
            first[place] = rng.choice(first) if rng.random() < 0.5 else first[place] * math.exp(rng.normal(0, 0.3))
        second = first.copy()
        if by and (not replaced or rng.random() < 0.5):
            second += by * np.sign(first - np.median(first)) * rng.choice([-1, 1])
        else:
            new = [-50.0, 50.0, float(rng.choice(first)), float(rng.choice(first)) * 1.1]
            second[rng.integers(m)] = rng.choice(new)
        laws = [spread(column, printed=printed, by=billed, replaced=replaced) for column in (first, second)]
        value = max(excess(*laws, bound, epsilon, delta), excess(*laws[::-1], bound, epsilon, delta))
        if value > found:
            best, found = (first, second), value
    return found


@pytest.mark.parametrize(("m", "epsilon", "delta"), [(6, 1.0, 0.1), (17, 1.5, 0.05), (40, 0.7, 0.02), (40, 3.0, 1e-3)])
def test_repaired_no_climb_finds_more_than_is_promised(m, epsilon, delta):
    found = climbed(m, False, epsilon, delta, 2 * epsilon, np.random.default_rng(m), 1500)
    assert 0 <= found <= delta
    if m == 40:
        assert climbed(m, True, epsilon, delta, 3 * epsilon, np.random.default_rng(m), 1500) > 2 * delta


@pytest.mark.parametrize("replaced", [True, False])
@pytest.mark.parametrize("by", [0.05, 0.6])
def test_repaired_no_training_row_does_more_than_is_promised(by, replaced):
    climb = partial(climbed, 20, False, 0.7, 0.02, 1.4, steps=800, by=by, replaced=replaced)
    assert 0 <= climb(rng=np.random.default_rng(8), billed=by) <= 0.02
    if by == 0.6:
        assert climb(rng=np.random.default_rng(8), billed=by / 100) > 0.04


def test_releases_follow_their_law():
    law, rng = spread(EVEN[:60], printed=False), np.random.default_rng(2)
    told = [law.release(1.0, 0.05, rng) for _ in range(20_000)]
    heard = np.array([value for value in told if value is not None])
    assert len(heard) / len(told) == pytest.approx(law.answer_probability(1.0, 0.05), abs=0.01)
    assert np.median(heard) == pytest.approx(law.log, abs=0.05)
    assert np.abs(heard - law.log).mean() == pytest.approx(1.0, abs=0.05)


def simulated(rows, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, rows)
    return x, 0.8 * x**3 + rng.uniform(-0.1, 0.1, rows)


def test_scores_are_what_they_are_called():
    rng = np.random.default_rng(1)
    by, left = rng.normal(size=50), rng.normal(size=50)
    frame = pd.DataFrame({"by": by, "left": left})
    assert score("kendall", by, left, 0.5) == pytest.approx(abs(frame.corr("kendall").iloc[0, 1]))
    assert score("spearman", by, left, 0.5) == pytest.approx(abs(frame.corr("spearman").iloc[0, 1]))
    assert score("root-hsic", by, left, 0.5) == pytest.approx(hsic_v(by, left, 0.5, 0.5) ** 0.5)
    assert score("hsic", by, left, 0.5) == pytest.approx(hsic_v(by, left, 0.5, 0.5) * (50 / 49) ** 2)
    assert score("reci", by, np.array([0.5, -3.0]), 0.5) == pytest.approx(0.625)
    with pytest.raises(SettingError, match="score"):
        score("best", by, left, 0.5)


@pytest.mark.parametrize("name", SCORES[:-1])
def test_no_test_row_moves_a_score_further_than_is_proved(name):
    rng = np.random.default_rng(3)
    m, most = 24, 0.0
    for _ in range(400):
        if rng.random() < 0.3:
            by, left = rng.uniform(-1, 1, m), rng.uniform(-2, 2, m)
        elif rng.random() < 0.3:
            by = left = np.repeat([-1.0, 1.0], [m // 3, m - m // 3])
        else:
            by, left = np.linspace(-1, 1, m), np.linspace(-1, 1, m) * rng.choice([0, 1]) + rng.normal(0, 1e-6, m)
        new = by.copy(), left.copy()
        at = rng.integers(m)
        new[0][at], new[1][at] = rng.choice([-1, 1, 0.01]), rng.choice([-2, 2, 0.01])
        most = max(most, abs(score(name, by, left, 0.1) - score(name, *new, 0.1)))
    assert most <= change_by_test_row(name, m, "proved") * (1 + 1e-9)
    assert most > 0.3 * change_by_test_row(name, m, "proved")
    if name in PRINTED:
        assert change_by_test_row(name, m, "proved") <= change_by_test_row(name, m, "paper")


@pytest.mark.parametrize("name", ["hsic", "root-hsic", "reci"])
def test_no_training_row_moves_a_score_further_than_is_proved(name):
    rng = np.random.default_rng(4)
    (x, y), ridge, width = simulated(60, 5), 0.1, 0.5
    by = residual_change(30, ridge, "proved")
    assert by == stability(30, ridge) < residual_change(30, ridge, "paper")
    found = fit_halves(x, y, width, ridge, np.random.default_rng(6))
    for _ in range(60):
        places = np.random.default_rng(6).permutation(60)
        new = x.copy(), y.copy()
        at = places[rng.integers(30)]
        new[0][at], new[1][at] = rng.choice([-1, 1]), rng.choice([-1, 1])
        other = fit_halves(*new, width, ridge, np.random.default_rng(6))
        np.testing.assert_array_equal(other.x, found.x)
        assert np.abs(other.of_y - found.of_y).max() <= by
        for first, second in zip(found.scores(name, width), other.scores(name, width), strict=True):
            assert abs(first - second) <= change_by_training_row(name, 30, by, width, "proved")
    if name == "hsic":
        assert change_by_training_row(name, 30, by, width, "paper") > 20 * by


@pytest.mark.parametrize("name", SCORES[:-1])
def test_no_row_of_either_half_moves_a_score_further_than_is_said_of_both(name):
    rng, rows, most = np.random.default_rng(7), 24, {True: 0.0, False: 0.0}
    for ridge, source in product((0.3, 1.0), ("paper", "proved")):
        if source == "paper" and name not in PRINTED:
            continue
        settings = HalfSettings("both halves", name, 1.0, ridge=ridge, sensitivities=source)
        halves = [HalfSettings(half, name, 1.0, ridge=ridge, sensitivities=source) for half in list(REASONS)[:2]]
        bound = settings.change(rows // 2, rows // 2)
        assert bound == max(half.change(rows // 2, rows // 2) for half in halves)
        for _ in range(60):
            x = np.linspace(-1, 1, rows) if rng.random() < 0.5 else rng.choice([-1.0, 1.0], rows)
            y, seed, at = np.clip(x + rng.normal(0, 0.01, rows), -1, 1), int(rng.integers(99)), rng.integers(rows)
            new = x.copy(), y.copy()
            new[0][at], new[1][at] = rng.choice([-1, 1], 2)
            found, other = (fit_halves(*pair, 0.5, ridge, np.random.default_rng(seed)) for pair in ((x, y), new))
            for first, second in zip(found.scores(name, 0.5), other.scores(name, 0.5), strict=True):
                assert abs(first - second) <= bound
                in_training = at in np.random.default_rng(seed).permutation(rows)[: rows // 2]
                most[in_training] = max(most[in_training], abs(first - second) / bound)
    assert min(most.values()) > 0.01
    assert max(most.values()) > 0.05


@pytest.mark.parametrize(
    ("name", "protects", "source", "parts"),
    [
        ("hsic", "test half", "paper", (2, 0)),
        ("hsic", "training half", "paper", (2, 0)),
        ("kendall", "both halves", "proved", (2, 0)),
        ("kendall", "training half", "paper", (2, 2)),
        ("iqr", "test half", "paper", (9, 3)),
        ("iqr", "training half", "paper", (6, 2)),
        ("iqr", "both halves", "paper", (9, 3)),
        ("iqr", "test half", "proved", (8, 4)),
        ("iqr", "training half", "proved", (4, 2)),
        ("iqr", "both halves", "proved", (8, 4)),
    ],
)
def test_epsilon_is_that_of_each_score_or_of_all(name, protects, source, parts):
    total = HalfSettings(protects, name, 1.0, 1e-6, source)
    each = HalfSettings(protects, name, 1.0, 1e-6, source, epsilon_is="per score")
    assert total.promised == (1.0, 1e-6 if parts[1] else 0.0)
    assert total.each == pytest.approx((1 / parts[0], 1e-6 / max(parts[1], 1)))
    assert each.each == (1.0, 1e-6)
    assert each.promised == pytest.approx((parts[0], parts[1] * 1e-6))
    frame, domain = table_of(*simulated(60))
    found = half_direction(
        frame, "a", "b", domain, protects=protects, score=name, epsilon=1.0, sensitivities=source,
        epsilon_is="per score", seed=0,
    )  # fmt: skip
    assert (found.epsilon, found.delta) == each.promised


def test_ranks_stay_for_as_many_training_rows_as_is_said():
    gap, train, ridge = 0.5, 10_000, 1.0
    assert steps_to_instability(gap, train, ridge, "proved") == math.ceil(gap / 2 / stability(train, ridge)) - 1 > 400
    assert steps_to_instability(gap, train, ridge, "paper") == math.floor(train * gap / 16)
    assert steps_to_instability(0.0, train, ridge, "proved") == 0


def table_of(x, y):
    domain = dc.Domain({c: dc.Numeric(bounds=(-1.0, 1.0)) for c in ("a", "b")}, rows=len(x))
    return pd.DataFrame({"a": x, "b": y}), domain


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("draws", [1, 2])
def test_with_little_noise_the_direction_is_that_of_the_exact_scores(name, draws):
    frame, domain = table_of(*simulated(400))
    settings = {"protects": "test half", "score": name, "epsilon": 1e6, "sensitivities": "proved", "draws": draws}
    found = half_direction(frame, "a", "b", domain, **settings, seed=4)
    assert not found.abstained
    assert (found.protects, found.epsilon, found.delta) == ("test half", 1e6, 1e-6 if name == "iqr" else 0.0)
    assert found.reason == REASONS["test half"]
    assert (found.scores is None) == (draws == 1 and name != "iqr")
    if name not in ("spearman", "kendall", "iqr"):
        assert found.cause == "a"
        assert found.margin > 0
    assert found == half_direction(frame, "a", "b", domain, **settings, seed=4)


def test_noise_has_the_scale_that_is_said():
    found, rng = fit_halves(*simulated(200), 0.5, 1e-3, np.random.default_rng(0)), np.random.default_rng(1)
    forward, backward = found.scores("hsic", 0.5)
    for draws, deviation in ((1, math.sqrt(2)), (2, 2.0)):
        settings = HalfSettings("test half", "hsic", 1.0, sensitivities="proved", draws=draws)
        margins = [judge(found, ("a", "b"), settings, rng).margin for _ in range(1_000)]
        assert np.mean(margins) == pytest.approx(backward - forward, abs=0.015)
        assert np.std(margins) == pytest.approx(deviation * 2 * math.sqrt(6) / 99, rel=0.1)
    paper = HalfSettings("training half", "hsic", 2.0, ridge=0.5)
    theorem7 = 32 / (0.5 * math.sqrt(math.e)) * math.sqrt(100) / 80 * 8 / 0.5**1.5
    assert paper.scale(100, 80) == pytest.approx(theorem7)
    assert replace(paper, epsilon_is="per score").scale(100, 80) == pytest.approx(theorem7 / 2)
    better = HalfSettings("training half", "hsic", 2.0, ridge=0.5, sensitivities="proved")
    assert better.scale(100, 80) == pytest.approx((100 / 99) ** 1.5 / (0.5 * math.sqrt(math.e)) * stability(80, 0.5))


def test_ranks_for_the_training_half_abstain_unless_gaps_are_wide():
    frame, domain = table_of(*simulated(200))
    settings = {"protects": "training half", "score": "kendall", "epsilon": 1.0, "seed": 0}
    found = half_direction(frame, "a", "b", domain, **settings)
    assert found.abstained
    assert (found.cause, found.margin, found.delta) == (None, None, 1e-6)
    apart = np.linspace(-1, 1, 10)
    wide = Residuals(apart, apart, apart, -np.abs(apart - 0.01), 10**8)
    told = judge(wide, ("a", "b"), HalfSettings("training half", "kendall", 1.0, ridge=1.0), np.random.default_rng(0))
    assert not told.abstained
    assert told.cause == "a"
    assert told.scores == wide.scores("kendall", 0.5)
    both = HalfSettings("training half", "kendall", 1.0, ridge=1.0, draws=1)
    assert judge(wide, ("a", "b"), both, np.random.default_rng(0)).scores is None
    assert wide.stable_steps(both) == [min(wide.stable_steps(replace(both, draws=2)))]
    near = replace(wide, of_x=np.append(apart[:-1], apart[0]))
    assert near.stable_steps(replace(both, draws=2))[0] == 0 < near.stable_steps(replace(both, draws=2))[1]
    assert judge(near, ("a", "b"), replace(both, draws=2), np.random.default_rng(0)).abstained


def test_spreads_for_the_training_half_are_those_of_residuals():
    apart = np.linspace(-1, 1, 101)
    found = Residuals(apart, apart, 0.6 * apart, 0.3 * apart, 10**6)
    settings = HalfSettings("training half", "iqr", 1e9, ridge=1.0)
    of_x, of_y = found.spreads(settings)
    low, width = math.exp(math.floor(math.log(0.6))), 0.6
    assert of_x.steps[0] == math.floor((width - low) / (2 * 8e-6)) + 1
    assert of_x.log == pytest.approx(math.log(width))
    told = judge(found, ("a", "b"), settings, np.random.default_rng(0))
    assert told.cause == "a"
    assert told.scores == pytest.approx((0 + of_y.log, 0 + of_x.log))
    both = found.spreads(replace(settings, protects="both halves"))
    tested = found.spreads(replace(settings, protects="test half"))
    assert [one.log for one in both] == [one.log for one in tested] == pytest.approx([of_x.log, of_y.log, 0, 0])
    for joint, test, train in zip(both, tested, (of_x, of_y), strict=False):
        assert all(0 < a <= min(b, c) for a, b, c in zip(joint.steps, test.steps, train.steps, strict=True) if b)


def test_spreads_abstain_and_say_that_they_are_broken_as_printed():
    frame, domain = table_of(*simulated(200))
    settings = {"protects": "test half", "score": "iqr", "seed": 0}
    found = half_direction(frame, "a", "b", domain, epsilon=0.01, sensitivities="proved", **settings)
    assert found.abstained
    assert found.cause is None
    assert "does not keep its promise" in half_direction(frame, "a", "b", domain, epsilon=9e3, **settings).reason


@pytest.mark.parametrize(
    ("match", "settings"),
    [
        ("protects", {"protects": "all"}),
        ("score", {"score": "best"}),
        ("epsilon_is", {"epsilon_is": "each"}),
        ("in total only", {"epsilon_is": "per score", "draws": 1}),
        ("at most 1", {"protects": "both halves", "ridge": 1.5}),
        ("epsilon", {"epsilon": 0.0}),
        ("delta", {"delta": 1.0}),
        ("sensitivities", {"sensitivities": "best"}),
        ("proved ones", {"score": "reci"}),
        ("proved ones", {"score": "root-hsic", "protects": "training half"}),
        ("draws", {"draws": 3}),
        ("ridge", {"ridge": 0.0}),
        ("width", {"width": 0.0}),
    ],
)
def test_what_cannot_be_asked_is_refused(match, settings):
    frame, domain = table_of(*simulated(40))
    with pytest.raises(SettingError, match=match):
        half_direction(
            frame, "a", "b", domain, **{"protects": "test half", "score": "kendall", "epsilon": 1.0, **settings}
        )


def test_few_rows_are_refused():
    frame, domain = table_of(*simulated(LEAST_ROWS - 1))
    with pytest.raises(SettingError, match="rows"):
        half_direction(frame, "a", "b", domain, protects="test half", score="kendall", epsilon=1.0)
