"""The register: which audits there are, of the library and of what is broken on purpose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain, islice
from typing import Literal

import numpy as np

from discreet.arrays import IntArray
from discreet.audit import Auditor, Finding, Neighbours, blackbox
from discreet.audit.books import CHECKS, Check, audit_check
from discreet.audit.bounds import bounds, refusals
from discreet.audit.broken import Asking, Blurred, Broken, Code, Finite, Measured, Sampled
from discreet.audit.broken.code import CODE
from discreet.audit.broken.gradients import GRADIENTS
from discreet.audit.broken.kernels import KERNELS
from discreet.audit.broken.methods import HARD, METHODS, REPRODUCED
from discreet.audit.broken.noise import NOISE
from discreet.audit.broken.ranks import DISTANCES, RANKS
from discreet.audit.broken.sound import SOUND
from discreet.audit.broken.sparse import SPARSE
from discreet.audit.claims import claim_of
from discreet.audit.commands import Command, audit_command
from discreet.audit.finite import exact_finding, exact_finite
from discreet.audit.gates import audit_gate
from discreet.audit.ledgers import LEDGERS
from discreet.audit.loading import WAYS, audit_people, audit_rows
from discreet.audit.neighbours import ALL, SUMS, climb, every, hand_made, how_many, random_pairs, worst
from discreet.audit.piles import piles
from discreet.audit.replay import audit_method, audit_statistic
from discreet.audit.samplers import Sampler, audit_sampler, audit_thresholds, samplers
from discreet.audit.source import check_code, source_finding
from discreet.audit.subjects import (
    COMMANDS,
    GATES,
    MECHANISMS,
    STATISTICS,
    TWO,
    Subject,
    blurring,
    frame_of,
    methods,
    objective,
    small_subjects,
    subjects_of,
)
from discreet.audit.tape import exact_value, record
from discreet.audit.vectors import Vectors
from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.privacy.mechanisms import Mechanism
from discreet.privacy.mechanisms.sparse_vector import AboveThreshold
from discreet.statistics import Statistic

ALPHA = 0.001
"""Probability that the black box raises any false alarm at all, over everything in the register that is sound."""

REPEATS = 5
"""How often a hand-made pair is replayed, with fresh answers each time."""

BROKEN: tuple[Broken, ...] = (
    *NOISE,
    *SPARSE,
    *RANKS,
    *DISTANCES,
    *KERNELS,
    *GRADIENTS,
    *REPRODUCED,
    *METHODS,
    *CODE,
    *HARD,
)
"""All that is broken on purpose."""


@dataclass(frozen=True)
class Power:
    """How hard an audit tries."""

    name: str
    runs: int
    """Runs of a mechanism a table, for the black box."""
    method_runs: int
    """Runs of a whole method a table."""
    tries: int
    """Neighbours drawn at random."""
    steps: int
    """Steps of a climb."""
    replays: int
    """Neighbours that a method is replayed on."""
    draws: int = 200_000
    """Draws of a sampler."""
    loads: int = 4
    """Tables that are loaded each way."""
    twin_runs: int = 20_000
    """Runs a table of what is broken on purpose, and of its sound twins."""


QUICK = Power("quick", runs=2_000, method_runs=1_000, tries=15, steps=60, replays=20)
FULL = Power("full", runs=20_000, method_runs=2_000, tries=300, steps=1_000, replays=100, draws=2_000_000, loads=16)


@dataclass(frozen=True)
class Case:
    """One audit: of what, by whom, and how it is run at a power and a level."""

    name: str
    subject: str
    kind: Literal["statistic", "mechanism", "method", "house", "broken", "sound"]
    auditor: Auditor
    run: Callable[[Power, float], Finding]
    slow: bool = False
    """Whether it is left to the full run: at quick power it finds nothing."""


def cases() -> list[Case]:
    """Return all audits of the library."""
    return [*_statistics(), *_mechanisms(), *_gates(), *_methods(), *_house()]


def cases_for(method: str) -> list[Case]:
    """Return the audits of a method, of every statistic and mechanism that it makes use of, and of the house."""
    used = _find_used(method)
    return [case for case in cases() if case.subject in used or case.kind == "house"]


@cache
def _find_used(method: str) -> frozenset[str]:
    """Return the names of the classes that a method passes through the door, found by running it."""
    found = {method}
    for subject in subjects_of(method):
        by_chance = next(random_pairs(subject.domain, np.random.default_rng(0)))
        for pair in (by_chance, _with_edges(subject.domain)):
            for asked in record(subject.release, pair.first).asked:
                found |= {type(asked.statistic).__name__, type(asked.mechanism).__name__}
    return frozenset(found)


def _statistics() -> Iterator[Case]:
    for cls, examples in STATISTICS.items():
        for i, (statistic, domain) in enumerate(examples):
            which = f" ({i + 1})" if i else ""
            name = f"{cls.__name__}, {'every pair of a tiny table' if _tiny(domain) else 'worst neighbours'}{which}"
            yield Case(
                name, cls.__name__, "statistic", "replay", partial(_sensitivity, name, statistic, domain, seed=i)
            )


def _tiny(domain: Domain) -> bool:
    return domain.rows <= 4 and how_many(domain) <= ALL


def _sensitivity(
    name: str, statistic: Statistic, domain: Domain, power: Power, alpha: float, *, seed: int = 0
) -> Finding:
    with suppress(SettingError):  # what is remembered of a larger table may not do for a smaller one
        large = domain.with_rows(50 * domain.rows)
        exact_value(statistic, next(random_pairs(large, np.random.default_rng(seed))).first, large)
    return audit_statistic(name, statistic, domain, _pairs(statistic, domain, power, seed))


def _pairs(statistic: Statistic, domain: Domain, power: Power, seed: int = 0) -> Iterator[Neighbours]:
    if _tiny(domain):
        return every(domain)
    rng = np.random.default_rng(seed)
    return worst(objective(statistic, domain), domain, rng, tries=power.tries, steps=power.steps)


def _mechanisms() -> Iterator[Case]:
    for cls, examples in MECHANISMS.items():
        for i, (mechanism, statistic, domain) in enumerate(examples):
            which = f" ({i + 1})" if i else ""
            exact, sampled = f"{cls.__name__}, exact law{which}", f"{cls.__name__}, sampled{which}"
            yield Case(exact, cls.__name__, "mechanism", "exact", partial(_law, exact, mechanism, statistic, domain))
            if not isinstance(statistic, Vectors):  # any numbers at all are for exact laws
                run = partial(_sample_mechanism, sampled, mechanism, statistic, domain)
                yield Case(sampled, cls.__name__, "mechanism", "black box", run, slow=i > 0)


def _gates() -> Iterator[Case]:
    for cls, examples in GATES.items():
        for gate in examples:
            name = f"{gate.name[0].upper()}{gate.name[1:]}"
            yield Case(name, cls.__name__, "mechanism", "exact", partial(_listen, name, gate))


def _listen(name: str, gate: AboveThreshold, power: Power, alpha: float) -> Finding:
    return audit_gate(name, gate, TWO)


def _law(name: str, mechanism: Mechanism, statistic: Statistic, domain: Domain, power: Power, alpha: float) -> Finding:
    return exact_finding(name, mechanism, statistic, domain)


def _sample_mechanism(
    name: str, mechanism: Mechanism, statistic: Statistic, domain: Domain, power: Power, alpha: float
) -> Finding:
    used = objective(statistic, domain)
    pair = max(_pairs(statistic, domain, power), key=used)
    claim = claim_of(mechanism.cost(statistic.sensitivity(domain)))
    return blackbox.audit(
        name, blurring(mechanism, statistic, domain), [pair], claim, alpha=alpha, most_runs=power.runs
    )


def _methods() -> Iterator[Case]:
    for method in methods():
        for subject in subjects_of(method):
            yield Case(subject.name, method, "method", "replay", partial(_replay, subject))
        whole = subjects_of(method)[0]
        name = f"{method}, from a file's labels to the release"
        yield Case(name, method, "method", "replay", partial(_replay_whole, name, whole))
        for small in small_subjects(method):
            name = small.name + ", sampled"
            yield Case(name, method, "method", "black box", partial(_run_often, small), slow=True)
    for command in COMMANDS:
        yield Case(command.name, command.method, "method", "replay", partial(_replay_command, command))


def _neighbours(run: Callable[[IntArray], object], domain: Domain, number: int, steps: int) -> list[Neighbours]:
    """Return pairs for a method: some by hand, some by chance, and one climbed on the first thing it asks."""
    rng = np.random.default_rng(1)
    by_hand = list(hand_made(domain))
    chosen = [by_hand[i] for i in rng.permutation(len(by_hand))[: number // 2]]
    chosen.append(_with_edges(domain))
    chosen += list(islice(random_pairs(domain, rng), number - len(chosen)))
    first = [asked for asked in record(run, chosen[0].first).asked if asked.exact is not None][:1]
    if first and first[0].domain == domain:
        used = objective(first[0].statistic, domain)
        chosen.append(climb(used, max(chosen, key=used), domain, rng, steps=min(steps, 300)))
    return chosen


def _with_edges(domain: Domain) -> Neighbours:
    return next(pair for pair in hand_made(domain) if pair.kind == SUMS)


def _replay(subject: Subject, power: Power, alpha: float) -> Finding:
    pairs = _neighbours(subject.release, subject.domain, power.replays, power.steps)
    return audit_method(subject.name, subject.release, subject.claim, pairs)


def _replay_whole(name: str, subject: Subject, power: Power, alpha: float) -> Finding:
    pairs = _neighbours(subject.publish, subject.domain, power.replays, 0)
    return audit_method(name, subject.publish, subject.claim, pairs)


def _replay_command(command: Command, power: Power, alpha: float) -> Finding:
    pairs = _by_chance(command.domain, max(power.replays // 10, 2))
    return audit_command(command, islice(pairs, max(power.replays // 5, 4)), frame_of)


def _run_often(subject: Subject, power: Power, alpha: float) -> Finding:
    tape = record(subject.release, next(hand_made(subject.domain)).first)
    first = next(asked for asked in tape.asked if asked.exact is not None)
    pair = max(hand_made(subject.domain), key=objective(first.statistic, subject.domain))

    def sample(rows: IntArray, times: int) -> list[object]:
        return [subject.numbers(rows) for _ in range(times)]

    name = subject.name + ", sampled"
    return blackbox.audit(name, sample, [pair], subject.claim, alpha=alpha, most_runs=power.method_runs)


def _house() -> Iterator[Case]:
    """Yield what every method rests on: samplers, accounting, the room, loading, people, and the code itself."""
    for sampler in samplers():
        yield Case(sampler.name, "noise", "house", "fit", partial(_fit, sampler))
    name = "samplers, where draws change"
    yield Case(name, "noise", "house", "exact", lambda power, alpha: audit_thresholds(name))
    statistics: dict[str, tuple[str, str, Check]] = {
        "bounds": ("statistics", "declared as proved", bounds),
        "refusals": ("statistics", "refused where nothing is proved", refusals),
        "piles": ("statistics", "a row moves no more where there are billions", piles),
    }
    for title, (subject, promise, check) in (CHECKS | LEDGERS | statistics).items():
        yield Case(title, subject, "house", "exact", partial(_reckon, title, promise, check))
    for way in WAYS:
        rows, people = f"loading, {way}", f"people, {way}"
        yield Case(rows, "loading", "house", "replay", partial(_load, rows, way))
        others = not way.startswith(("a CSV file", "lists", "an engine"))  # whose rows are chosen by the same code
        yield Case(people, "people", "house", "replay", partial(_load_people, people, way), slow=others)
    yield Case(SOURCE, "source", "house", "source", lambda power, alpha: replace(source_finding(), name=SOURCE))


SOURCE = "the library's code"


def _fit(sampler: Sampler, power: Power, alpha: float) -> Finding:
    return audit_sampler(sampler, power.draws, alpha)


def _reckon(name: str, promise: str, check: Check, power: Power, alpha: float) -> Finding:
    return audit_check(name, promise, check)


def _load(name: str, way: str, power: Power, alpha: float) -> Finding:
    return audit_rows(name, way, 6 * power.loads)


def _load_people(name: str, way: str, power: Power, alpha: float) -> Finding:
    return audit_people(name, way, 2 * power.loads)


def broken_cases() -> list[Case]:
    """Return the audits of what is broken on purpose: each must end with a violation."""
    return [Case(b.name, b.name, "broken", b.catcher, partial(_catch, b)) for b in BROKEN]


def sound_cases() -> list[Case]:
    """Return the audits of sound twins of what is broken: none may end with a violation."""
    return [Case(b.name, b.name, "sound", b.catcher, partial(_catch, b)) for b in SOUND]


def _catch(broken: Broken, power: Power, alpha: float) -> Finding:
    """Put something broken before the auditor that must catch it."""
    subject = broken.subject
    if isinstance(subject, Code):
        return _read(broken.name, subject)
    if isinstance(subject, Finite):
        return exact_finite(broken.name, subject.law, subject.cells, subject.values, subject.claim)
    if isinstance(subject, Sampled):
        return _catch_sampled(broken.name, subject, power, alpha)
    if isinstance(subject, Asking):
        both_ways = [*subject.pairs, *(pair.swapped for pair in subject.pairs)] * REPEATS
        more = _by_chance(subject.domain, power.replays)
        return audit_method(broken.name, subject.run, subject.claim, chain(both_ways, more))
    if isinstance(subject, Measured):
        pairs = chain(subject.pairs, _pairs(subject.statistic, subject.domain, power))
        return audit_statistic(broken.name, subject.statistic, subject.domain, pairs)
    return _catch_blurred(broken, subject, power, alpha)


def _catch_blurred(broken: Broken, subject: Blurred, power: Power, alpha: float) -> Finding:
    if broken.catcher == "exact":
        return exact_finding(broken.name, subject.mechanism, subject.statistic, subject.domain)
    if not subject.pairs:
        return _sample_mechanism(broken.name, subject.mechanism, subject.statistic, subject.domain, power, alpha)
    claim = claim_of(subject.mechanism.cost(subject.statistic.sensitivity(subject.domain)))
    sample = blurring(subject.mechanism, subject.statistic, subject.domain)
    return blackbox.audit(broken.name, sample, subject.pairs, claim, alpha=alpha, most_runs=power.twin_runs)


def _catch_sampled(name: str, subject: Sampled, power: Power, alpha: float) -> Finding:
    rng = np.random.default_rng()

    def sample(rows: IntArray, times: int) -> list[object]:
        return [subject.run(rows, rng) for _ in range(times)]

    return blackbox.audit(name, sample, subject.pairs, subject.claim, alpha=alpha, most_runs=power.twin_runs)


def _by_chance(domain: Domain, number: int) -> Iterator[Neighbours]:
    return chain(islice(random_pairs(domain, np.random.default_rng(2)), number), islice(hand_made(domain), number))


def _read(name: str, code: Code) -> Finding:
    found = check_code(code)
    evidence = "; ".join(map(str, found[:3]))
    return Finding(name, "source", "the rules of the house", None, None, 1, bool(found), evidence)


def levels_of(chosen: list[Case], alpha: float = ALPHA) -> dict[str, float]:
    """Share the level among the audits that draw: those of the black box and of samplers."""
    often = [case for case in chosen if case.auditor in ("black box", "fit")]
    return {case.name: alpha / len(often) for case in often}
