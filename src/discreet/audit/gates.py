"""Gates, exactly: how answers follow from the noise is found by listening, and the law of answers is computed from it.

A gate is asked for numbers with a source that is no noise. Setting one draw at a time shows which number it belongs to:
one draw must move the threshold, each number must have one of its own, and all of them must be fresh. Then the law of
a stream of answers is a sum over the threshold's noise of products of tails, and what two neighbouring streams cost is
its largest ratio. Proof of what a gate may cost: ``../privacy/mechanisms/sparse_vector.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np
from scipy.special import logsumexp

from discreet.arrays import FloatArray, IntArray
from discreet.audit import Finding, table_of
from discreet.audit.finite import TOLERANCE
from discreet.domain import Domain
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Budget
from discreet.privacy.mechanisms.sparse_vector import AboveThreshold
from discreet.privacy.noise import ExactNoise
from discreet.room import Room
from discreet.statistics import Sensitivity, Table

ASKED = 14
"""Numbers that are asked of a gate that is listened to: more than noise is drawn for at once."""

BELOW = (0, 1, 3, 10, 40)
"""How many numbers stay below before each that passes."""


@dataclass(frozen=True)
class RowsAt:
    """How many rows have the second level of a column: a row moves it by one."""

    column: str

    @property
    def name(self) -> str:
        """What it is."""
        return f"rows at {self.column}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return 1."""
        return Sensitivity(l1=Fraction(1), l2_squared=Fraction(1), largest=Fraction(1))

    def evaluate(self, table: Table) -> IntArray:
        """Return the number."""
        return table.counts([(self.column,)])[0][1:2]


@dataclass(frozen=True)
class Drawn:
    """One draw that was asked for."""

    kind: str
    scale: float


class Script(ExactNoise):
    """A source that answers with 0, or with given numbers by place; it notes what is asked, and which rows."""

    def __init__(self, given: dict[int, int], rows: IntArray | None = None) -> None:
        self._given, self._rows = given, rows
        self.drawn: list[Drawn] = []
        self.subsets: list[tuple[int, int]] = []

    @property
    def private(self) -> bool:
        """Nobody may think so."""
        return False

    def discrete_laplace(self, scale: float, size: int) -> IntArray:
        """Answer as written."""
        return self._answer("discrete Laplace", scale, size)

    def one_sided(self, scale: float, size: int) -> IntArray:
        """Answer as written."""
        return self._answer("geometric", scale, size)

    def subset(self, size: int, of: int) -> IntArray:
        """Answer with the rows that were given."""
        self.subsets.append((size, of))
        return np.arange(size) if self._rows is None else self._rows

    def _answer(self, kind: str, scale: float, size: int) -> IntArray:
        start = len(self.drawn)
        self.drawn += [Drawn(kind, scale)] * size
        return np.array([self._given.get(start + i, 0) for i in range(size)], dtype=np.int64)


def audit_gate(name: str, gate: AboveThreshold, domain: Domain) -> Finding:
    """Listen to a gate, compute what its answers may cost, and compare with what it charges."""
    moved = RowsAt("a").sensitivity(domain)
    claimed = float(gate.cost(moved).amount(Currency.PURE))
    promise = f"epsilon = {claimed:.4g}"
    heard = _Heard(gate, domain)
    wrong = next(heard.faults(), None)
    if wrong is not None:
        return Finding(name, "exact", promise, claimed, None, heard.runs, True, wrong)
    found, evidence = max(_ratios(heard.threshold, heard.question, gate.passes))
    if gate.sample is not None:
        share = gate.sample / domain.rows
        found = math.log1p(share * math.expm1(found))
    violated = bool(found > claimed * (1 + TOLERANCE))
    return Finding(name, "exact", promise, claimed, found, heard.runs, violated, evidence)


class _Heard:
    """A gate that is listened to: which draw moves which answer."""

    threshold: Drawn
    question: Drawn

    def __init__(self, gate: AboveThreshold, domain: Domain) -> None:
        self._gate = replace(gate, passes=ASKED + 1)  # stays open while it is listened to
        self._domain = domain
        self.runs = 0
        rows = gate.sample or domain.rows
        self._table = np.zeros((domain.rows, len(domain.columns)), dtype=np.int64)
        self._table[: rows // 2, 0] = 1
        self._exact = rows // 2

    def _ask(self, given: dict[int, int], over: int, gate: AboveThreshold | None = None) -> tuple[list[bool], Script]:
        """Ask two gates of one room for a number, with a threshold so far above it; return answers and draws."""
        self.runs += 1
        mechanism, moved, source = gate or self._gate, RowsAt("a").sensitivity(self._domain), Script(given)
        price = float(mechanism.cost(moved).amount(Currency.PURE)) * 2.01
        room = Room(table_of(self._table, self._domain), self._domain, Budget(epsilon=price, delta=0), noise=source)
        answers = []
        for _ in range(2):
            opened = room.open(mechanism, moved, purpose="x")
            at = self._exact + over - mechanism.shift
            answers += [opened.passes(RowsAt("a"), at) for _ in range(ASKED) if opened.open]
        return answers, source

    def faults(self) -> Iterator[str]:
        """Yield what is not as it must be; fill in what is drawn for the threshold and for the numbers."""
        (at, source), (above, _) = self._ask({}, 0), self._ask({}, 1)
        if not all(at) or any(above):
            yield "without noise, a number at its threshold passes and one below does not; here that is not so"
            return
        draws = range(len(source.drawn))
        lowered = {i: [j for j, yes in enumerate(self._ask({i: 1}, 0)[0]) if not yes] for i in draws}
        raised = {i: [j for j, yes in enumerate(self._ask({i: 1}, 1)[0]) if yes] for i in draws}
        thresholds = sorted((moved, i) for i, moved in lowered.items() if moved)
        if [moved for moved, _ in thresholds] != [list(range(ASKED)), list(range(ASKED, 2 * ASKED))]:
            yield "a gate's threshold has no draw of its own"
            return
        own = sorted((moved, i) for i, moved in raised.items() if moved)
        if [moved for moved, _ in own] != [[j] for j in range(2 * ASKED)]:
            yield "a number has no draw of its own, or shares it"
            return
        (self.threshold, *_), (self.question, *_) = ([source.drawn[i] for _, i in some] for some in (thresholds, own))
        if {source.drawn[i] for _, i in own} != {self.question}:
            yield "numbers get noise of different scales"
        rng = np.random.default_rng(0)
        for _ in range(6):
            given = {i: int(z) for i, z in enumerate(rng.integers(-3, 4, len(source.drawn)))}
            expected = [given[i] >= given[thresholds[j // ASKED][1]] for j, (_, i) in enumerate(own)]
            if self._ask(given, 0)[0] != expected:
                yield "answers are not those of a number with its noise against a threshold with its noise"
        yield from self._too_many()
        yield from self._not_sampled()

    def _too_many(self) -> Iterator[str]:
        """Yield whether it answers after it let as many pass as it is paid for."""
        for passes in (1, 2, 5):
            if len(self._ask({}, 0, replace(self._gate, passes=passes))[0]) != 2 * passes:
                yield f"it lets {passes} pass and does not close"

    def _not_sampled(self) -> Iterator[str]:
        """Yield whether anything but a fresh sample of as many rows is asked."""
        sample = self._gate.sample
        _, source = self._ask({}, 0)
        wanted = [] if sample is None else [(sample, self._domain.rows)] * 2
        if source.subsets != wanted:
            yield "rows are not drawn as often, or from as many, as must be"


def _tails(drawn: Drawn, reach: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return logarithms: of the probability of each number from -reach to reach, of it or more, and of less."""
    k = np.arange(-reach, reach + 1)
    rate = 1 / drawn.scale
    with np.errstate(divide="ignore", invalid="ignore"):
        if drawn.kind == "geometric":
            mass = np.where(k >= 0, np.log(-np.expm1(-rate)) - k * rate, -np.inf)
            more = np.where(k > 0, -k * rate, 0.0)
            return mass, more, np.where(k > 0, np.log(-np.expm1(np.minimum(-k * rate, 0.0))), -np.inf)
        even = np.log1p(np.exp(-rate))
        mass = np.log(-np.expm1(-rate)) - even - np.abs(k) * rate
        up = np.where(k > 0, -k * rate - even, np.log1p(-np.exp((k - 1) * rate - even) * (k <= 0)))
        return mass, up, np.where(k > 0, np.log1p(-np.exp(-k * rate - even)), (k - 1) * rate - even)


def _ratios(threshold: Drawn, question: Drawn, passes: int) -> Iterator[tuple[float, str]]:
    """Yield how much more likely streams of answers are if one row moves their numbers, up or down, by one."""
    reach = math.ceil(45 * max(threshold.scale, question.scale))
    mass, more, less = (_tails(threshold, reach)[0], *_tails(question, reach)[1:])

    def stream(below: int, at: tuple[int, int]) -> float:
        """Return the log probability that ``below`` numbers stay below before each of the numbers that pass."""
        needed = np.arange(-reach, reach + 1)[:, None] - np.array(at)  # noise that reaches the threshold's
        place = np.clip(needed + reach, 0, 2 * reach)
        each = (below * less[place[:, 0]] if below else 0.0) + more[place[:, 1]]
        return float(logsumexp(mass + passes * each))

    far = range(-math.ceil(8 * question.scale), math.ceil(8 * question.scale) + 1, max(1, int(question.scale)))
    for below, low, high in product(BELOW, far, (0, math.ceil(-4 * question.scale), math.ceil(4 * question.scale))):
        before = stream(below, (low, high))
        for one, other in product((-1, 1), repeat=2):
            after = stream(below, (low + one, high + other))
            if max(before, after) > -600:
                words = f"{below} numbers below before each of {passes} that pass"
                yield abs(before - after), f"{words}: e^{before:.4g} against e^{after:.4g}"
