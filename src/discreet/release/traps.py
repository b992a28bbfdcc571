"""Traps of real tables that a release shows: edges that are there because of how a table was made.

``missing``: two columns depend on each other through values that are missing (a questionnaire whose blocks rotate), and
where both are known no dependence is seen. ``dummies``: columns of 0 and 1 of which never two are 1, as those that one
column with several levels was cut into. ``close``: two columns go together so closely that they may both follow a
number within its bins, which these do not show. ``unjudged``: pairs about which the release says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from discreet.arrays import FloatArray
from discreet.domain import Categorical, Domain
from discreet.release.discovery import Discovery
from discreet.release.missing import LEAVE_OUT, leave_out, missing_or_not, regroup
from discreet.release.oracles.components import Components
from discreet.release.oracles.released import Released
from discreet.release.search import last_bar, seeded_generator, unjudged
from discreet.release.selection import components
from discreet.release.settings import MEASURING
from discreet.release.strength import ordered_levels, strength_in
from discreet.release.tables import PairTable, has_table, known_levels, missing_level
from discreet.search.graph import Pair
from discreet.search.oracle import EMPTY

NAMED = 4
"""Columns that a warning names."""

EXCLUDED = 0.2
"""Columns exclude each other if less than this part of what chance would give has two of them,"""

SURELY = 2.0
"""also with so many standard deviations of the noise,"""

LACKING = 3.0
"""and if the rows that any two have in common may be none, and are fewer than by chance, at so many."""

CLOSE = 0.85
"""Rank correlation from which on two columns may both follow a third one within its bins."""


@dataclass(frozen=True)
class Trap:
    """Columns between which an edge may mean something else than cause and effect, and what."""

    columns: tuple[str, ...]
    kind: Literal["missing", "dummies", "close", "unjudged"]
    words: str

    def concerns(self, a: str, b: str) -> bool:
        """Whether it is about a pair."""
        return {a, b} <= set(self.columns)


def traps(found: Discovery) -> tuple[Trap, ...]:
    """Return the traps that a release shows: no data, no budget. None where no tables were released."""
    if found.method not in MEASURING or not found.measurements:
        return ()
    parts = components(found.measurements, found.domain)
    gone = [] if found.settings.get("missing") == LEAVE_OUT else _missing(found, parts)
    open_pairs = unjudged(found.measurements, found.domain, found.knowledge, found.settings.get("missing", "level"))
    apart = (Trap(pair, "unjudged", why) for pair, why in open_pairs.items())
    return (*gone, *_dummies(found.domain, parts), *_close(found, parts), *apart)


def _missing(found: Discovery, parts: Components) -> Iterable[Trap]:
    """Yield the edges that are there for missing values alone: searched without them, the pair would not be kept."""
    domain, keep = found.domain, last_bar(found.domain).keep
    known = MEASURING[found.method]().oracle(leave_out(parts, domain), domain, seeded_generator())
    for a, b in sorted((a, b) for a, b in map(sorted, found.graph.skeleton)):
        if not has_table(parts, a, b) or {missing_level(domain[a]), missing_level(domain[b])} == {None}:
            continue
        together = known.answers(a, b, EMPTY)
        if together and known.weigh([(a, b, EMPTY)])[0] > keep:
            continue
        if max(_evidence(parts, views) for views in _missing_views(domain, a, b)) > keep:
            seen = (
                "where both are known, little or no dependence is seen; search again with them left out"
                if together
                else "hardly a row has both"
            )
            yield Trap((a, b), "missing", f"missing values may explain it: {seen}")


def _missing_views(domain: Domain, a: str, b: str) -> Iterable[dict[str, FloatArray]]:
    """Yield views of a pair in which what is missing tells something of the other column."""
    views = {}
    for c in (a, b):
        views[c] = [np.eye(domain.size(c))[known_levels(domain[c])]]
        if missing_level(domain[c]) is not None:
            views[c].append(missing_or_not(domain, c))
    for i, of_a in enumerate(views[a]):
        for j, of_b in enumerate(views[b]):
            if i or j:
                yield {a: of_a, b: of_b}


def _evidence(parts: Components, views: Mapping[str, FloatArray]) -> float:
    """Return the evidence for dependence of a pair in views of its levels."""
    oracle = Released(regroup(parts, views), alpha=0.01, rng=seeded_generator())
    a, b = views
    return oracle.weigh([(a, b, EMPTY)])[0] if oracle.answers(a, b, EMPTY) else 0.0


def _dummies(domain: Domain, parts: Components) -> Iterable[Trap]:
    """Yield sets of columns of 0 and 1 of which no two are 1 at once, each as large as it goes."""
    orders = {c: ordered_levels(domain[c]) for c in domain if isinstance(domain[c], Categorical)}
    ones = {c: order[1] for c, order in orders.items() if order is not None and len(order) == 2}
    pairs = [pair for pair in combinations(sorted(ones), 2) if has_table(parts, *pair)]
    shared = {frozenset((a, b)): _shared(PairTable.of(parts, a, b), ones[a], ones[b]) for a, b in pairs}
    apart = {pair for pair, (seen, expected, noise) in shared.items() if _lacks(seen, expected, noise)}
    covered: set[Pair] = set()
    for pair in sorted(apart, key=sorted):
        if pair in covered:
            continue
        group = sorted(pair)
        for c in sorted(ones.keys() - pair):
            if all(frozenset((c, other)) in apart for other in group):
                group.append(c)
        inside = list(map(frozenset, combinations(group, 2)))
        covered |= set(inside)
        seen, expected, noise = np.array([shared[p] for p in inside]).sum(axis=0)
        if seen + SURELY * noise**0.5 < EXCLUDED * expected:
            rest = f" and {len(group) - NAMED} more" if len(group) > NAMED else ""
            words = f"never 1 together, as if levels of one column: {', '.join(sorted(group)[:NAMED])}{rest}"
            yield Trap(tuple(sorted(group)), "dummies", words)


def _close(found: Discovery, parts: Components) -> Iterable[Trap]:
    """Yield the edges that may be there for a number which both columns follow more closely than its bins show."""
    domain, keep = found.domain, last_bar(found.domain).keep
    oracle = MEASURING[found.method]().oracle(parts, domain, seeded_generator())
    numbers = [c for c in domain if not isinstance(domain[c], Categorical)]
    for a, b in sorted((a, b) for a, b in map(sorted, found.graph.skeleton)):
        strong = strength_in(parts, domain[a], domain[b], (a, b))
        if strong is None or strong.measure != "rank correlation" or abs(strong.value) < CLOSE:
            continue
        asked = {z: [(side, z, EMPTY) for side in (a, b)] for z in numbers if z not in (a, b)}
        shared = {z: min(oracle.weigh(qs)) for z, qs in asked.items() if all(oracle.answers(*q) for q in qs)}
        causes = [z for z in sorted(shared, key=lambda z: -shared[z]) if shared[z] > keep]
        if causes:
            most = f"both follow a third column within its bins: {', '.join(causes[:NAMED])}"
            yield Trap((a, b), "close", f"so close (rank correlation {strong.value:.2f}) that they may {most}")


def _shared(table: PairTable, i: int, j: int) -> tuple[float, float, float]:
    """Return how many rows have two levels, how many would by chance, and the variance of the noise."""
    counts = table.counts
    expected = counts[i].sum() * counts[:, j].sum() / counts.sum()
    noise = table.noise(*(np.eye(size)[[k]] for size, k in zip(counts.shape, (i, j), strict=True)))
    return float(counts[i, j]), float(expected), float(noise[0, 0])


def _lacks(seen: float, expected: float, noise: float) -> bool:
    """Whether a number of rows may be 0 but for its noise, and is clearly less than chance would give."""
    return bool(abs(seen) <= LACKING * noise**0.5 + 1 < expected - seen)
