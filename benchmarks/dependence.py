"""How fast a test of dependence is, against SciPy stratum by stratum. Run: python benchmarks/dependence.py."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import stats

from discreet.audit.statistics import StratifiedKendall
from discreet.data.memory import MemoryTable
from discreet.simulation.bayesian import Codes
from discreet.simulation.networks import network
from discreet.statistics.dependence import Dependence
from discreet.statistics.information import ConditionalInformation, ConditionalTotalVariation
from discreet.statistics.margins import Margin, Margins
from discreet.statistics.ranks import StratifiedKendallDet, StratifiedSpearman

ROWS = 100_000
REPEATS = 50
ASKED = (
    ("HR", "CO", ()),
    ("HR", "CO", ("STROKEVOLUME",)),
    ("HR", "CO", ("CATECHOL", "STROKEVOLUME")),
)
KINDS: tuple[type[Dependence], ...] = (
    StratifiedKendall,
    StratifiedKendallDet,
    StratifiedSpearman,
    ConditionalTotalVariation,
    ConditionalInformation,
)


def milliseconds(work: Callable[[], object], repeats: int) -> float:
    """Return the best of some runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1000 * min(times)


def naive(codes: Codes, x: str, y: str, given: tuple[str, ...]) -> float:
    """Return stratified Kendall: tau of every stratum by SciPy, its ties undone, weighted."""
    strata = np.zeros(len(codes[x]), dtype=np.int64)
    for column in given:
        strata = strata * (int(codes[column].max()) + 1) + codes[column]
    above = below = 0.0
    for stratum in np.unique(strata):
        rows = strata == stratum
        a, b = codes[x][rows], codes[y][rows]
        n = len(a)
        pairs = n * (n - 1) / 2
        untied = [pairs - float((c * (c - 1) // 2).sum()) for c in (np.bincount(a), np.bincount(b))]
        if min(untied) > 0:
            tau = stats.kendalltau(a, b, variant="b").statistic
            above += 9 * float(tau) * math.sqrt(untied[0] * untied[1]) / (2 * n + 5)
        below += 9 * n * (n - 1) / (4 * n + 10)
    return abs(above) / math.sqrt(below)


def main() -> None:
    """Print the table."""
    net = network("alarm")
    codes = net.sample_codes(ROWS, np.random.default_rng(0))
    sizes = {name: len(node.levels) for name, node in net.nodes.items()}
    table, domain = MemoryTable(codes, sizes), net.domain(ROWS)
    print(f"alarm, {ROWS:,} rows, milliseconds a test with counting, best of {REPEATS}")
    for x, y, given in ASKED:
        slow = milliseconds(partial(naive, codes, x, y, given), REPEATS)
        kendall = StratifiedKendall(x, y, given)
        same = kendall.real(int(kendall.evaluate(table)[0]), domain)
        print(f"{x} and {y} given {', '.join(given) or 'nothing'} ({math.prod(domain.shape(given))} strata)")
        print(f"  SciPy {slow:8.2f} ms; value {naive(codes, x, y, given):.3f}, here {same:.3f}")
        for kind in KINDS:
            fast = milliseconds(partial(kind(x, y, given).evaluate, table), REPEATS)
            print(f"  {kind.__name__:28}{fast:8.3f} ms, {slow / fast:6.0f} times faster")
    statistics = tuple(ConditionalTotalVariation(x, y, given) for x, y, given in ASKED)
    least = Margins((Margin(statistics, (0,) * len(statistics)),))
    print(f"least of all {len(ASKED)} sets: {milliseconds(partial(least.evaluate, table), REPEATS):.3f} ms")


if __name__ == "__main__":
    main()
