"""Rooms over the bundled networks, and tests of independence without noise."""

from __future__ import annotations

import numpy as np

import discreet as dc
from discreet.audit.tape import exact_value
from discreet.data.memory import MemoryTable
from discreet.methods.ci_tests import IndependenceTest
from discreet.methods.registry import budget_for
from discreet.search.oracle import Verdict


def drawn(name, rows=20_000, seed=0):
    net = dc.network(name)
    domain = net.domain(rows)
    codes = net.sample_codes(rows, np.random.default_rng(seed))
    return net, domain, codes


def room_of(name, recipe, epsilon, delta=1e-6, rows=20_000, seed=0, noise=None):
    net, domain, codes = drawn(name, rows, seed)
    table = MemoryTable(codes, {c: domain.size(c) for c in domain})
    return net, dc.Room(table, domain, budget_for(recipe, epsilon, delta), noise=noise)


def shares_of(rows, domain):
    counted = {c: np.bincount(rows[:, j], minlength=domain.size(c)) for j, c in enumerate(domain)}
    return {c: tuple((numbers / len(rows)).tolist()) for c, numbers in counted.items()}


class WithoutNoise:
    """The same test on the same rows, without noise."""

    free = False
    max_order = None

    def __init__(self, name, test, alpha=0.01, rows=20_000):
        _, self.domain, codes = drawn(name, rows)
        self.rows = np.stack([codes[c] for c in self.domain], axis=1).astype(np.int64)
        self.test = IndependenceTest(test, alpha, shares_of(self.rows, self.domain))

    def answers(self, x, y, given):
        return True

    def ask(self, x, y, given):
        statistic = self.test.statistic(x, y, given)
        value = int(exact_value(statistic, self.rows, self.domain)[0])
        independent = value <= self.test.threshold(statistic, self.domain)
        return Verdict(independent, -1.0 if independent else 1.0)
