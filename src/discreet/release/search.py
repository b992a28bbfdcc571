"""Searching a release: post-processing, which costs nothing and sees no rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from discreet.domain import Domain
from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.errors import DoubtWarning, ReleaseError, SettingError
from discreet.privacy.statement import Privacy
from discreet.progress import Progress
from discreet.release.confidence import (
    BY_EVIDENCE,
    BY_FIT,
    confidences,
    edge_features,
    fit_features,
    mark_features,
)
from discreet.release.discovery import CHANGED, Confidence, Discovery
from discreet.release.global_fit import refine
from discreet.release.missing import LEAVE_OUT, LEVEL, MISSING, leave_out
from discreet.release.oracles.components import Components
from discreet.release.oracles.released import EFFECT, Released
from discreet.release.release import Measurement
from discreet.release.selection import components, pairs_to_ask
from discreet.release.settings import MEASURING, Marginals
from discreet.search.graph import Graph, Pair
from discreet.search.greedy import evidence_score, greedy
from discreet.search.hybrid import (
    NO_FUNCTIONS,
    Bar,
    EvidenceSkeleton,
    Functions,
    direct,
    find_by_evidence,
    list_triples,
    weigh_triples,
)
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

NAMED = 8
"""Pairs that a warning names."""

NOT_MEASURED = "not measured, since they were forbidden when the release was made"
NEVER_TOGETHER = "not judged, since hardly a row has both values"
"""Why pairs cannot be judged."""

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
    missing: str = LEVEL,
    progress: Progress | None = None,
) -> Discovery:
    """Search what was released: post-processing, which costs nothing and sees no rows."""
    knowledge.check(domain)
    graph, sure = Graph(tuple(domain)), dict[Pair, Confidence]()
    if measurements:
        parts = components(_looks(measurements)[0], domain)
        if not all(parts.has(column) for column in domain if domain.size(column) > 1):
            raise ReleaseError("the release lacks tables that the search needs")
        judged = knowledge.without(unjudged(measurements, domain, knowledge, missing))
        graph, sure = _SEARCHES[settings.search](measurements, domain, settings, judged, missing, earlier, progress)
    written = {"search": settings.search, "max_order": settings.max_order, "alpha": settings.alpha, "missing": missing}
    return Discovery(graph, privacy, settings.name, written, domain, knowledge, measurements, sure)


def search_again(
    found: Discovery,
    *,
    max_order: int | None = None,
    alpha: float | None = None,
    search_by: str | None = None,
    knowledge: Knowledge | None = None,
    missing: str | None = None,
) -> Discovery:
    """Search a release again with other settings: no data, no budget.

    Parameters
    ----------
    found
        The release.
    max_order, alpha, search_by
        Settings of the search; those of the release by default.
    knowledge
        Takes the place of what the release was made with; ``Knowledge()`` drops it.
    missing
        ``"level"``: missing values are a level like any other. ``"leave-out"``: every pair is judged among the rows in
        which both values are known.

    Warns
    -----
    DoubtWarning
        If some pairs cannot be judged: they were forbidden when the release was made, and not measured, or hardly a row
        has both values. No edge is drawn between them unless it is required.
    """
    if not isinstance(found, Discovery):
        raise SettingError("found: a Discovery; Discovery.load(path) reads a release")
    if found.method not in MEASURING:
        raise SettingError(f"method: a release by `{found.method}` holds a graph and no tables that could be searched")
    written = found.settings
    settings = MEASURING[found.method](
        search=written["search"], alpha=float(written["alpha"]), max_order=int(written["max_order"])
    ).changed(search=search_by, max_order=max_order, alpha=alpha)
    known = found.knowledge if knowledge is None else knowledge
    if not isinstance(known, Knowledge):
        raise SettingError("knowledge: a Knowledge; Knowledge.from_yaml(path) reads a file")
    missing = written.get("missing", LEVEL) if missing is None else missing
    if missing not in MISSING:
        raise SettingError(f"missing: one of {', '.join(MISSING)}")
    known.check(found.domain)
    if pairs := unjudged(found.measurements, found.domain, known, missing):
        warnings.warn(unjudged_words(pairs), DoubtWarning, stacklevel=2)
    again = search(found.measurements, found.privacy, found.domain, settings, knowledge=known, missing=missing)
    later = written.get("knowledge") if known == found.knowledge else CHANGED
    settled = again.settings if later is None else {**again.settings, "knowledge": later}
    return replace(again, about=found.about, settings=settled, directions=found.directions)


def unjudged(
    measurements: Sequence[Measurement], domain: Domain, knowledge: Knowledge, missing: str = LEVEL
) -> dict[tuple[str, str], str]:
    """Return the pairs that may be adjacent but cannot be judged from a release, each with the reason."""
    found = {}
    looked = _looks(measurements)
    released = components(looked[0], domain)
    looks = [_components(part, domain, missing) for part in (looked[0], measurements) if missing == LEAVE_OUT]
    for pair in pairs_to_ask(domain, knowledge):
        if not released.has(*pair):
            found[pair] = NOT_MEASURED
        elif not all(parts.has(*pair) or min(parts.sizes[c] for c in pair) < 2 for parts in looks):
            found[pair] = NEVER_TOGETHER
    return found


def unjudged_words(pairs: Mapping[tuple[str, str], str]) -> str:
    """Return which pairs cannot be judged, and why."""
    words = []
    for why in dict.fromkeys(pairs.values()):
        named = [f"{a} and {b}" for (a, b), reason in pairs.items() if reason == why]
        more = [f"{len(named) - NAMED} more pairs"] if len(named) > NAMED else []
        words.append(f"{', '.join([*named[:NAMED], *more])}: {why}")
    return f"{'; '.join(words)}. That no edge is drawn there says nothing about them"


def seeded_generator() -> np.random.Generator:
    """Return a generator for searches and simulated nulls: the same release gives the same graph. No privacy noise."""
    return np.random.default_rng(0)


def functions_in(found: Discovery) -> Functions:
    """Return the columns of a release that look like functions of one or two others: no data, no budget."""
    if found.method not in MEASURING or not found.measurements:
        return NO_FUNCTIONS
    missing = found.settings.get("missing", LEVEL)
    return _oracle(found.measurements, found.domain, MEASURING[found.method](), missing).determined


def look(
    measurements: Sequence[Measurement],
    domain: Domain,
    settings: Marginals,
    knowledge: Knowledge,
    earlier: EvidenceSkeleton | None = None,
    missing: str = LEVEL,
) -> EvidenceSkeleton:
    """Return the pairs that all releases so far leave open: decides what is measured next."""
    oracle = _oracle(measurements, domain, settings.changed(alpha=Marginals.alpha), missing, max_order=1)
    bar = _bar(domain, keep=0.0, drop=FIRST_DROP)
    return find_by_evidence(
        tuple(domain), oracle, bar, knowledge=knowledge, max_order=1, earlier=earlier, determined=oracle.determined
    )


def looks_before(
    measurements: Sequence[Measurement], domain: Domain, settings: Marginals, knowledge: Knowledge, missing: str
) -> EvidenceSkeleton | None:
    """Return what was seen before the last release, one look after the other."""
    earlier, looked = None, _looks(measurements)
    for part in looked[:-1] or looked:
        earlier = look(part, domain, settings, knowledge, earlier, missing)
    return earlier


def _looks(measurements: Sequence[Measurement]) -> list[Sequence[Measurement]]:
    """Return what had been released whenever pairs were looked at, at least once."""
    ends = [i for i, measured in enumerate(measurements, start=1) if measured.pairs]
    return [measurements[:end] for end in ends or [len(measurements)]]


def _components(measurements: Sequence[Measurement], domain: Domain, missing: str) -> Components:
    parts = components(measurements, domain)
    return leave_out(parts, domain) if missing == LEAVE_OUT else parts


def _oracle(
    measurements: Sequence[Measurement],
    domain: Domain,
    settings: Marginals,
    missing: str,
    max_order: int = Released.max_order,
) -> Released:
    oracle = settings.oracle(_components(measurements, domain, missing), domain, seeded_generator())
    return oracle.leave_out_determined(max_order)


def _bar(domain: Domain, *, keep: float, drop: float) -> Bar:
    return Bar(keep=keep, drop=drop, bridge=drop - BRIDGE * math.log1p(EFFECT * domain.rows))


Found = tuple[Graph, dict[Pair, Confidence]]


def _pc(
    measurements: Sequence[Measurement],
    domain: Domain,
    settings: Marginals,
    knowledge: Knowledge,
    missing: str,
    _earlier: EvidenceSkeleton | None,
    progress: Progress | None,
) -> Found:
    """Search by the textbook's algorithm, with tests at a level."""
    oracle = _oracle(measurements, domain, settings, missing)
    return pc(tuple(domain), oracle, knowledge=knowledge, max_order=settings.max_order, progress=progress), {}


def _hybrid(
    measurements: Sequence[Measurement],
    domain: Domain,
    settings: Marginals,
    knowledge: Knowledge,
    missing: str,
    earlier: EvidenceSkeleton | None,
    _progress: Progress | None,
) -> Found:
    """Decide pairs by evidence, directions by the best fit to all triples; refine both by a fit where noise rules."""
    earlier = earlier or looks_before(measurements, domain, settings, knowledge, missing)
    oracle, names, order = _oracle(measurements, domain, settings, missing), tuple(domain), settings.max_order
    bar = last_bar(domain)
    found = find_by_evidence(
        names, oracle, bar, knowledge=knowledge, max_order=order, earlier=earlier, determined=oracle.determined
    )
    found = replace(found, pairs=break_cycles(found.pairs, knowledge))
    around = list_triples(found, oracle, max_order=order)
    questions = list(dict.fromkeys(q for t in around for q in t.questions))
    weights = weigh_triples(around, dict(zip(questions, oracle.weigh(questions), strict=True)))
    graph = direct(names, found.pairs, weights, knowledge, seeded_generator(), unasked=found.unasked)
    fitted = refine(graph, found, oracle, bar.keep, knowledge, order)
    if fitted is not None:
        edges, arrows = fit_features(fitted, bar, oracle, seeded_generator())
        return fitted.graph, confidences(fitted.graph, edges, arrows, BY_FIT, knowledge)

    def again(evidence: Mapping[Question, float]) -> Graph:
        weighed = weigh_triples(around, evidence)
        return direct(names, found.pairs, weighed, knowledge, seeded_generator(), unasked=found.unasked, restarts=0)

    rng = seeded_generator()
    edges = edge_features(found, bar, oracle, rng)
    marks = mark_features(graph, found, around, oracle, again, rng)
    return graph, confidences(graph, edges, marks, BY_EVIDENCE, knowledge)


def _greedy(
    measurements: Sequence[Measurement],
    domain: Domain,
    settings: Marginals,
    knowledge: Knowledge,
    missing: str,
    earlier: EvidenceSkeleton | None,
    _progress: Progress | None,
) -> Found:
    """Climb by scores among the pairs that look dependent and were not dropped at the first look."""
    earlier = earlier or looks_before(measurements, domain, settings, knowledge, missing)
    oracle, bar = _oracle(measurements, domain, settings, missing), last_bar(domain)
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


def last_bar(domain: Domain) -> Bar:
    """Return what evidence decides in the end: more is needed where more columns make a neighbour rarer."""
    rare = max(len(domain.columns) - 1 - NEIGHBOURS, 1.0) / NEIGHBOURS
    return _bar(domain, keep=max(math.log(rare), LEAST_EVIDENCE), drop=DROP)
