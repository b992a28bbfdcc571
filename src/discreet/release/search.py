"""Searching a release: post-processing, which costs nothing and sees no rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from discreet.domain import Domain
from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.errors import ReleaseError, SettingError
from discreet.privacy.accounting import Currency
from discreet.privacy.statement import Privacy
from discreet.progress import Progress
from discreet.release.confidence import confidences
from discreet.release.discovery import Confidence, Discovery
from discreet.release.oracles.released import EFFECT, Released
from discreet.release.release import Measurement
from discreet.release.selection import components, select_first
from discreet.release.settings import MEASURING, Marginals
from discreet.search.graph import Graph, Pair
from discreet.search.greedy import evidence_score, greedy
from discreet.search.hybrid import Bar, EvidenceSkeleton, direct, find_by_evidence, list_triples, weigh_triples
from discreet.search.oracle import Question
from discreet.search.orientation import equivalents
from discreet.search.pc import break_cycles, pc

NEIGHBOURS = 2.5
"""Neighbours that a column is expected to have: what a pair's evidence must make up for grows with the columns."""

LEAST_EVIDENCE = 1.0
"""Evidence that a pair needs at least."""

FIRST_DROP, DROP = -3.0, -1.0
"""Evidence below which a pair is dropped, at the first look and at the last."""

BRIDGE = 0.325
"""How much more it takes to drop a link between two parts, in units of log(1 + EFFECT n)."""

CLIMBS = 5
"""Restarts of the search by scores."""


def search(
    measurements: tuple[Measurement, ...],
    privacy: Privacy,
    domain: Domain,
    settings: Marginals,
    *,
    knowledge: Knowledge = NOTHING_KNOWN,
    earlier: EvidenceSkeleton | None = None,
    progress: Progress | None = None,
) -> Discovery:
    """Search what was released: post-processing, which costs nothing and sees no rows."""
    names = tuple(domain)
    currency = Currency.PURE if privacy.delta == 0 else Currency.GDP
    selected = select_first(domain, knowledge, currency)
    measured = {s for m in measurements[:1] for s in m.statistic.sets}
    if selected is not None and not measured.issuperset(selected.sets):
        raise ReleaseError("the release lacks tables that the search needs")
    graph, sure = Graph(names), dict[Pair, Confidence]()
    if measurements:
        graph, sure = _SEARCHES[settings.search](measurements, domain, settings, knowledge, earlier, progress)
    written = {"search": settings.search, "max_order": settings.max_order, "alpha": settings.alpha}
    return Discovery(graph, privacy, settings.name, written, domain, knowledge, measurements, sure)


def search_again(
    found: Discovery, *, max_order: int | None = None, alpha: float | None = None, search_by: str | None = None
) -> Discovery:
    """Search a release again with other settings: no data, no budget."""
    if found.method not in MEASURING:
        raise SettingError(f"method: a release by `{found.method}` holds a graph and no tables that could be searched")
    written = found.settings
    settings = MEASURING[found.method](
        search=written["search"], alpha=float(written["alpha"]), max_order=int(written["max_order"])
    ).changed(search=search_by, max_order=max_order, alpha=alpha)
    again = search(found.measurements, found.privacy, found.domain, settings, knowledge=found.knowledge)
    return replace(again, about=found.about)


def seeded_generator() -> np.random.Generator:
    """Return a generator for searches and simulated nulls: the same release gives the same graph. No privacy noise."""
    return np.random.default_rng(0)


def look(
    measurements: Sequence[Measurement],
    domain: Domain,
    settings: Marginals,
    knowledge: Knowledge,
    earlier: EvidenceSkeleton | None = None,
) -> EvidenceSkeleton:
    """Return the pairs that all releases so far leave open: decides what is measured next."""
    oracle = _oracle(measurements, domain, settings.changed(alpha=Marginals.alpha))
    bar = _bar(domain, keep=0.0, drop=FIRST_DROP)
    return find_by_evidence(tuple(domain), oracle, bar, knowledge=knowledge, max_order=1, earlier=earlier)


def looks_before(
    measurements: Sequence[Measurement], domain: Domain, settings: Marginals, knowledge: Knowledge
) -> EvidenceSkeleton | None:
    """Return what was seen before the last release, one look after the other."""
    earlier = None
    for count in range(1, max(len(measurements), 2)):
        earlier = look(measurements[:count], domain, settings, knowledge, earlier)
    return earlier


def _oracle(measurements: Sequence[Measurement], domain: Domain, settings: Marginals) -> Released:
    return settings.oracle(components(measurements, domain), domain, seeded_generator())


def _bar(domain: Domain, *, keep: float, drop: float) -> Bar:
    return Bar(keep=keep, drop=drop, bridge=drop - BRIDGE * math.log1p(EFFECT * domain.rows))


Found = tuple[Graph, dict[Pair, Confidence]]


def _pc(
    measurements: Sequence[Measurement],
    domain: Domain,
    settings: Marginals,
    knowledge: Knowledge,
    _earlier: EvidenceSkeleton | None,
    progress: Progress | None,
) -> Found:
    """Search by the textbook's algorithm, with tests at a level."""
    oracle = _oracle(measurements, domain, settings)
    return pc(tuple(domain), oracle, knowledge=knowledge, max_order=settings.max_order, progress=progress), {}


def _hybrid(
    measurements: Sequence[Measurement],
    domain: Domain,
    settings: Marginals,
    knowledge: Knowledge,
    earlier: EvidenceSkeleton | None,
    _progress: Progress | None,
) -> Found:
    """Decide pairs by evidence, and directions by the best fit to all triples."""
    earlier = earlier or looks_before(measurements, domain, settings, knowledge)
    oracle, names, order = _oracle(measurements, domain, settings), tuple(domain), settings.max_order
    bar = _last_bar(domain)
    found = find_by_evidence(names, oracle, bar, knowledge=knowledge, max_order=order, earlier=earlier)
    found = replace(found, pairs=break_cycles(found.pairs, knowledge))
    around = list_triples(found, oracle, max_order=order)
    questions = list(dict.fromkeys(q for t in around for q in t.questions))
    weights = weigh_triples(around, dict(zip(questions, oracle.weigh(questions), strict=True)))
    graph = direct(names, found.pairs, weights, knowledge, seeded_generator(), unasked=found.unasked)

    def again(evidence: Mapping[Question, float]) -> Graph:
        weighed = weigh_triples(around, evidence)
        return direct(names, found.pairs, weighed, knowledge, seeded_generator(), unasked=found.unasked, restarts=0)

    sure = confidences(graph, found, bar, around, oracle, again, seeded_generator(), knowledge=knowledge)
    return graph, {pair: c for pair, c in sure.items() if not knowledge.requires(*pair)}


def _greedy(
    measurements: Sequence[Measurement],
    domain: Domain,
    settings: Marginals,
    knowledge: Knowledge,
    earlier: EvidenceSkeleton | None,
    _progress: Progress | None,
) -> Found:
    """Climb by scores among the pairs that look dependent and were not dropped at the first look."""
    earlier = earlier or looks_before(measurements, domain, settings, knowledge)
    oracle, bar = _oracle(measurements, domain, settings), _last_bar(domain)
    found = find_by_evidence(tuple(domain), oracle, bar, knowledge=knowledge, max_order=0, earlier=earlier)
    score = evidence_score(oracle, found.pairs, bar.keep, knowledge)
    dag = greedy(
        tuple(domain),
        score,
        rng=seeded_generator(),
        knowledge=knowledge,
        max_parents=settings.max_order + 1,
        restarts=CLIMBS,
    )
    return equivalents(dag, knowledge), {}


_SEARCHES = {"hybrid": _hybrid, "pc": _pc, "greedy": _greedy}


def _last_bar(domain: Domain) -> Bar:
    """Return what evidence decides in the end: more is needed where more columns make a neighbour rarer."""
    rare = max(len(domain.columns) - 1 - NEIGHBOURS, 1.0) / NEIGHBOURS
    return _bar(domain, keep=max(math.log(rare), LEAST_EVIDENCE), drop=DROP)
