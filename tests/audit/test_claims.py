"""What docs/theory/published.md says of papers and no auditor shows: formulas that do not follow, and what does."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest

import discreet as dc
from discreet.audit.broken.kernels import equation_3, sure_or_noisy
from discreet.baselines.published.sieve import difference_tail
from discreet.statistics.ridge import stability


@pytest.mark.parametrize(("rows", "times"), [(1000, 4.7), (2000, 9.5), (10_000, 47.4)])
def test_equation_3_is_exceeded_even_if_theorem_2_is_granted(rows, times):
    """Zhang et al. 2023: no residual moves by more than 8/m, but kernels are steep at a distance of their width."""
    half = np.arange(rows) % 2

    def hsic(apart):
        """HSIC of two groups, apart so far in one column and very far in the other, with widths of 1."""
        kernel = 1 - math.exp(-(apart**2) / 2)
        return kernel * (np.mean(half) * np.mean(1 - half)) ** 2 * 4 * (rows / (rows - 1)) ** 2

    assert (hsic(1 + 16 / rows) - hsic(1)) / equation_3(rows) == pytest.approx(times, abs=0.05)


def test_two_groups_have_that_hsic():
    """The same number from whole kernel matrices."""
    rows, apart = 40, 1.3
    group = np.arange(rows) % 2
    same = group[:, None] == group
    centre = np.eye(rows) - 1 / rows
    one = np.where(same, 1, math.exp(-(apart**2) / 2))
    value = np.trace(one @ centre @ same @ centre) / (rows - 1) ** 2
    assert value == pytest.approx((1 - math.exp(-(apart**2) / 2)) / 4 * (rows / (rows - 1)) ** 2)


@pytest.mark.parametrize("ridge", [0.01, 0.1, 0.5, 1.0])
def test_the_proof_of_theorem_5_stops_at_twice_its_number(ridge):
    """Kusner et al. 2016: what its steps give lies between 8 and 16, above the number it prints; which holds."""
    rows, printed = 1000, 8 / ridge**1.5
    its_steps = 4 / ridge * (2 / math.sqrt(ridge) + 2)
    assert printed < its_steps <= 2 * printed * (1 + 1e-12)
    assert 4 / ridge * (2 * math.sqrt(2 / ridge) + 2) > its_steps  # with the norm that plugging in 0 gives
    assert rows * stability(rows, ridge) <= printed


def table(*cells):
    return np.repeat([(0, 0), (0, 1), (1, 0), (1, 1)], cells, axis=0).astype(np.int64)


def test_where_pcd_adds_noise_it_nearly_tosses_a_coin():
    """Zhang et al. 2023, algorithm 1: two independent columns, and how far any noisy decision can be from one half."""
    rng = np.random.default_rng(0)
    for rows in (table(50, 50, 50, 50), table(250, 250, 250, 250)):
        gone = np.mean([sure_or_noisy(rows, rng) for _ in range(20_000)])
        assert gone == pytest.approx(0.578, abs=0.012)
    # a p-value lies from alpha no farther than the sensitivity that scales the noise
    farthest = difference_tail(1, 4, 2)
    assert (farthest, 1 - farthest) == pytest.approx((0.418, 0.582), abs=5e-4)
    assert math.log((1 - farthest) / farthest) < 1
    assert not any(sure_or_noisy(table(150, 50, 50, 150), rng) for _ in range(1000))


def test_thresholds_that_the_true_graph_picks_flatter():
    """NoLeaks, code: the best of 2,000 thresholds, for weights that are nothing but noise."""
    true = dc.network("asia").dag
    rng = np.random.default_rng(0)
    best, mean = [], []
    for _ in range(100):
        arcs = [(a, b) for a in true.nodes for b in true.nodes if a != b]
        ranked = [arcs[i] for i in rng.permutation(len(arcs))]
        scores = []
        for k in range(1, len(ranked)):
            if not nx.is_directed_acyclic_graph(nx.DiGraph(ranked[:k])):
                break
            found = {frozenset(arc) for arc in ranked[:k]}
            scores.append(2 * len(true.skeleton & found) / (len(true.skeleton) + len(found)))
        best.append(max(scores))
        mean.append(np.mean(scores))
    assert np.mean(best) == pytest.approx(0.30, abs=0.03)
    assert np.mean(mean) == pytest.approx(0.18, abs=0.03)
