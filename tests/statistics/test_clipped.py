"""Interactions of shortened rows: sensitivity by brute force over neighbours, and what they are sums of."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data.counting import WEIGHTED_CHUNK
from discreet.data.memory import JointTable, MemoryTable
from discreet.errors import SettingError
from discreet.release.clipping import make_frame
from discreet.statistics import Weight
from discreet.statistics.clipped import GRID, Centre, ClippedInteractions, Frame
from discreet.statistics.interactions import whole_contrasts
from support.contrasts import domain_of, scaled_change, values_of


def frame_at(steps, scales, base, limit):
    centres = {f"c{i}": Centre(s, scale) for i, (s, scale) in enumerate(zip(steps, scales, strict=True))}
    return Frame(centres, base, limit * GRID**2)


FRAMES = [
    ((2, 3), frame_at(((200, 56), (250, 0, 6)), (16, 40), 32, 60)),
    ((2, 2, 2), frame_at(((256, 0),) * 3, (16, 113, 113), 1, 40)),
    ((3, 2, 2), frame_at(((86, 85, 85), (128, 128), (30, 226)), (16, 16, 20), 4, 10)),
    ((2, 4), frame_at(((256, 0), (0, 0, 1, 255)), (113, 113), 32, 10_000)),
]


@pytest.mark.parametrize(("sizes", "frame"), FRAMES)
@pytest.mark.parametrize("n", [1, 2])
def test_sensitivity_over_all_neighbours(sizes, frame, n):
    domain, statistic = domain_of(sizes, n), ClippedInteractions(frame)
    bound = statistic.sensitivity(domain)
    cells = list(product(*(range(s) for s in sizes)))
    worst = Fraction(0)
    for rest in product(cells, repeat=n - 1):
        found = [values_of(statistic, domain, [*rest, cell]) for cell in cells]
        for a, b in combinations(found, 2):
            worst = max(worst, scaled_change(statistic, domain, a, b))
            roots = [abs(int(d)) / float(s) ** 0.5 for d, s in zip(a - b, statistic.squares(domain), strict=True)]
            assert sum(roots) <= bound.l1
    assert worst <= bound.l2_squared == Fraction(frame.limit) ** 2
    assert n == 2 or frame.limit > 1000 * GRID**2 or worst > bound.l2_squared * Fraction(1, 5)


def test_the_bound_is_nearly_reached():
    """Many binary columns of which all rows have one common level, and two long rows with nothing in common."""
    sizes, half = (2,) * 12, (0,) * 6
    frame = frame_at(((256, 0),) * 12, (16,) * 12, 1, 64)
    domain, statistic = domain_of(sizes, 1), ClippedInteractions(frame)
    one, other = (values_of(statistic, domain, [row]) for row in (half + (1,) * 6, (1,) * 6 + half))
    assert scaled_change(statistic, domain, one, other) > Fraction(4, 5) * frame.limit**2


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_sensitivity_at_random(data):
    sizes = data.draw(st.lists(st.integers(2, 5), min_size=2, max_size=6))
    shares = {
        f"c{i}": np.array(data.draw(st.lists(st.integers(1, 50), min_size=s, max_size=s))) for i, s in enumerate(sizes)
    }
    domain = domain_of(sizes, 1)
    statistic = ClippedInteractions(make_frame({c: s / s.sum() for c, s in shares.items()}))
    rows = data.draw(st.lists(st.tuples(*(st.integers(0, s - 1) for s in sizes)), min_size=2, max_size=6))
    found = [values_of(statistic, domain, [row]) for row in rows]
    bound = statistic.sensitivity(domain).l2_squared
    assert all(scaled_change(statistic, domain, a, b) <= bound for a, b in combinations(found, 2))


def slow_sums(frame, domain, rows):
    """The statistic by its definition, one row after the other, in whole numbers."""
    statistic, totals = ClippedInteractions(frame), {}
    for row in rows:
        codes = dict(zip(domain, row, strict=True))
        told = {c: GRID * np.eye(domain.size(c), dtype=int)[codes[c]] - np.array(frame.centres[c].steps) for c in codes}
        load = frame.base * GRID**2 + sum(frame.centres[c].scale * int(v @ v) for c, v in told.items())
        weight = min(Weight.WHOLE, Weight.WHOLE * frame.limit // load)
        for s in statistic.sets:
            value = np.array(weight)
            for c in s:
                value = np.multiply.outer(value, told[c] @ whole_contrasts(domain.size(c)))
            totals[s] = totals.get(s, 0) + value
    return np.concatenate([np.ravel(totals[s]) for s in statistic.sets])


@pytest.mark.parametrize(("sizes", "frame"), FRAMES)
def test_what_it_sums_up(sizes, frame):
    rng = np.random.default_rng(0)
    rows = [tuple(int(rng.integers(s)) for s in sizes) for _ in range(50)]
    domain = domain_of(sizes, 50)
    expected = slow_sums(frame, domain, rows).tolist()
    assert values_of(ClippedInteractions(frame), domain, rows).tolist() == expected
    kinds, how_often = np.unique(np.array(rows), axis=0, return_counts=True)
    joint = JointTable({c: kinds[:, i] for i, c in enumerate(domain)}, how_often, {c: domain.size(c) for c in domain})
    assert ClippedInteractions(frame).evaluate(joint).tolist() == expected


def test_many_rows_of_large_weight_add_up_exactly():
    frame, n = FRAMES[3][1], 3 * WEIGHTED_CHUNK + 5
    domain = domain_of((2, 4), n)
    one = values_of(ClippedInteractions(frame), domain, [(1, 3)])
    assert values_of(ClippedInteractions(frame), domain, [(1, 3)] * n).tolist() == (n * one).tolist()


def test_tables_of_three_columns_with_weights():
    rng, sizes = np.random.default_rng(1), {"a": 2, "b": 3, "c": 2}
    codes = {c: rng.integers(s, size=100).astype(np.uint8) for c, s in sizes.items()}
    weight = Weight(1, {"a": np.array([0, 5]), "b": np.array([0, 2, 9])}, 4)
    load = 1 + np.array([0, 5])[codes["a"]] + np.array([0, 2, 9])[codes["b"]]
    expected = np.zeros((3, 2, 2), dtype=int)
    np.add.at(expected, (codes["b"], codes["c"], codes["a"]), np.minimum(256, 256 * 4 // load))
    assert MemoryTable(codes, sizes).weighted([("b", "c", "a")], weight)[0].tolist() == expected.tolist()


def test_what_makes_no_sense_is_refused():
    with pytest.raises(SettingError, match="centre"):
        Centre((1, 2), 16)
    with pytest.raises(SettingError, match="centre"):
        Centre((256,), 16)
    with pytest.raises(SettingError, match="centre"):
        Centre((257, -1), 16)
    with pytest.raises(SettingError, match="scale"):
        Centre((256, 0), 0)
    with pytest.raises(SettingError, match="limit"):
        frame_at(((256, 0),) * 2, (16, 16), 32, 31)
    with pytest.raises(SettingError, match="two columns"):
        frame_at(((256, 0),), (16,), 1, 31)
    statistic = ClippedInteractions(FRAMES[0][1])
    with pytest.raises(SettingError, match="as many shares"):
        statistic.sensitivity(domain_of((2, 2), 5))
    with pytest.raises(SettingError, match="too many rows"):
        statistic.sensitivity(domain_of((2, 3), 1 << 40))
