"""The promise is about sets of rows: what depends on their order is asked of rows in a secret order."""

import numpy as np
import pytest

import discreet as dc
from discreet.audit.subjects import STATISTICS
from discreet.audit.tape import exact_value
from discreet.data.load import load
from discreet.privacy.noise import ExactNoise, sorted_keys
from discreet.statistics.permutation import Compared, PermutedHSIC, Shifts


def test_every_order_is_equally_likely():
    drawn = [tuple(ExactNoise().order(3)) for _ in range(6_000)]
    counts = np.unique(drawn, axis=0, return_counts=True)[1]
    assert len(counts) == 6
    assert np.abs(counts - 1_000).max() < 150


def test_keys_that_tie_are_drawn_again():
    keys = iter([np.array([5, 5, 1], dtype=np.uint64), np.array([3, 2, 9], dtype=np.uint64)])
    assert sorted_keys(lambda: next(keys)).tolist() == [1, 0, 2]


def sorted_neighbours(rows):
    """Return two tables sorted by x that differ in one row: y follows public shifts of x in the order of the first."""
    shifts = Shifts(rows, 20)
    order = shifts.order()
    x = (np.arange(rows) + 0.5) / rows
    along = x[order]
    followed = sum(shifts.shifted(along, -k) - 0.5 for k in range(1, 15)) / 14 * 2.2 + 0.5 + 0.12 * (along - 0.5)
    y = np.empty(rows)
    y[order] = np.clip(followed, 0, 1)
    moved = x.copy()
    moved[0] = 1.0
    again = np.argsort(moved, kind="stable")
    return {"x": x, "y": y}, {"x": moved[again], "y": y[again]}


def test_a_sorted_file_gives_nothing_away():
    """In place these neighbours are 100 times further apart than declared; in the room they are not told apart."""
    rows = 20_000
    domain = dc.Domain({c: dc.Numeric(bounds=(0.0, 1.0)) for c in "xy"}, rows=rows)
    first, second = sorted_neighbours(rows)
    statistic = PermutedHSIC(Compared.of("x", "y", (), domain), 20)
    far = np.abs(statistic.evaluate(load(first, domain)) - statistic.evaluate(load(second, domain))).max()
    assert far > 100 * float(statistic.sensitivity(domain).largest)
    called = [
        sum(
            dc.test_independence(table, "x", "y", domain=domain, epsilon=0.5, test="permutation", alpha=0.5).independent
            for _ in range(25)
        )
        for table in (first, second)
    ]
    assert abs(called[0] - called[1]) < 15  # without a secret order: 25 and 0


@pytest.mark.parametrize("kind", STATISTICS, ids=lambda kind: kind.__name__)
def test_other_statistics_do_not_depend_on_the_order(kind):
    rng = np.random.default_rng(0)
    for statistic, domain in STATISTICS[kind]:
        if not getattr(statistic, "symmetric", True):
            continue
        rows = np.stack([rng.integers(0, domain.size(c), domain.rows) for c in domain], axis=1)
        first, second = (exact_value(statistic, r, domain) for r in (rows, rows[rng.permutation(len(rows))]))
        assert np.abs(first - second).max() <= 1
