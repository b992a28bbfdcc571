"""What a part of `marginals` gains: the fit to all pairs on releases of whole rows, or clipped rows on the same tables.

Run: python benchmarks/gains.py fit|clip [networks with commas] [rows] [epsilons] [runs] [jobs].

Without networks, 40 drawn at random, half of them skewed, on which no setting was chosen: of 10 to 60 columns for the
fit, of 27 to 80 for clipped rows, whose releases have noise of their own.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

from discreet.data.memory import MemoryTable
from discreet.experiments.harness import group_by, markdown
from discreet.methods.discover import discover_in
from discreet.privacy.budget import Budget
from discreet.release import search
from discreet.release.discovery import Discovery
from discreet.release.settings import Marginals
from discreet.room import Room
from discreet.search.graph import cpdag_f1, skeleton_f1
from discreet.search.orientation import cpdag
from discreet.simulation.networks import network
from discreet.simulation.processes import run_all

WIDTHS = (10, 15, 20, 25, 30, 35, 40, 45, 50, 60)
WIDER = (27, 30, 35, 40, 45, 50, 55, 60, 70, 80)
FRESH = {
    what: [f"{family}:{columns}:{5000 + i}" for family in ("drawn", "skew") for i, columns in enumerate(widths * 2)]
    for what, widths in (("fit", WIDTHS), ("clip", WIDER))
}

Scores = tuple[float, float]


class Setting(NamedTuple):
    """One table, and what is tried on it."""

    what: str
    network: str
    rows: int
    epsilon: float
    seed: int


def compare(setting: Setting) -> tuple[Setting, Scores, Scores]:
    """Return skeleton and CPDAG F1 without and with."""
    net = network(setting.network)
    domain, truth = net.domain(setting.rows), cpdag(net.dag)
    codes = net.sample_codes(setting.rows, np.random.default_rng([setting.seed, setting.rows, 7]))
    table = MemoryTable(codes, {c: domain.size(c) for c in domain})

    def release(settings: Marginals) -> Discovery:
        budget = Budget(epsilon=setting.epsilon, delta=min(1e-6, 0.1 / setting.rows))
        return discover_in(Room(table, domain, budget), settings)

    if setting.what == "clip":
        found, without = release(Marginals()), release(Marginals(clip="never"))
    else:
        found = release(Marginals(clip="never"))
        with patch.object(search, "refine", lambda *_: None):
            without = search.search_again(found)
    first, second = ((skeleton_f1(f.graph, truth), cpdag_f1(f.graph, truth)) for f in (without, found))
    return setting, first, second


def line(name: str, members: Sequence[tuple[Setting, Scores, Scores]]) -> list[str]:
    """Return a line of the table: means, and the mean gain with its standard error."""
    before, after = (np.array([m[i] for m in members]) for i in (1, 2))
    gain = after - before
    error = gain.std(axis=0, ddof=1) / len(gain) ** 0.5 if len(gain) > 1 else np.zeros(2)
    means = (f"{scores.mean(axis=0)[0]:.3f} / {scores.mean(axis=0)[1]:.3f}" for scores in (before, after))
    gained = " / ".join(f"{g:+.3f} ± {e:.3f}" for g, e in zip(gain.mean(axis=0), error, strict=True))
    return [name, str(len(members)), *means, gained]


def main(
    what: str, names: str = "", rows: str = "5000,20000,100000", epsilons: str = "1", runs: str = "1", jobs: str = "2"
) -> None:
    """Compare, and print a table."""
    chosen = names.split(",") if names else FRESH[what]
    planned = [
        Setting(what, name, int(n), float(e), i + 500 * run)
        for n in rows.split(",")
        for e in epsilons.split(",")
        for i, name in enumerate(chosen, start=500)
        for run in range(int(runs))
    ]
    found = list(run_all(compare, planned, int(jobs)))
    cells = group_by(found, lambda f: (f[0].network.split(":")[0], f[0].rows, f[0].epsilon))
    table = [line(f"{name}, {n:,} rows, epsilon {e:g}", members) for (name, n, e), members in cells.items()]
    for row in markdown(["networks", "releases", "without", "with", "gain"], [*table, line("all", found)]):
        print(row)


if __name__ == "__main__":
    main(*sys.argv[1:])
