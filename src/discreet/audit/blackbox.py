"""Black box: run anything on two neighbouring tables, and bound its epsilon from below.

An event is chosen on the runs so far and bet on in the runs that follow. If the promise holds, no event's
probability on one table exceeds e^epsilon times that on the other plus delta, and nobody can expect to win; a
capital of 1/alpha is reached with probability at most alpha, however long it goes on and whenever it stops.
What is found is an effect: how many times as likely do(row = this) makes an output as do(row = that).
Proof: ``blackbox.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from discreet.arrays import BoolArray, FloatArray, IntArray
from discreet.audit import Finding, Neighbours, row_words
from discreet.audit.claims import Claim
from discreet.audit.events import Event, Outputs, candidates
from discreet.errors import SettingError
from discreet.privacy.accounting import Currency

LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0)
"""Multiples of the claim that are tested."""

STAKES = np.array([0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97])
"""Stakes, as parts of the largest that cannot ruin."""

TANGENTS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
"""Where a curve of promises is touched: epsilon in units of mu."""

LARGEST = 500.0
"""Epsilon beyond which there is nothing to bet against."""

Rows = TypeVar("Rows")

Sample = Callable[[Rows, int], Sequence[object]]
"""Runs something on a table so many times, and returns the outputs."""

BETS = 3
"""Bets that are laid side by side."""

FIRST_RUNS = 250
"""Runs a table that the first events are learned from; every later stage doubles the runs so far."""


@dataclass(frozen=True)
class Line:
    """One consequence of a promise: P[E] <= e^epsilon Q[E] + delta for every event E."""

    epsilon: float
    delta: float

    @property
    def factor(self) -> float:
        """Return e^epsilon."""
        return math.exp(self.epsilon)

    @property
    def largest_stake(self) -> float:
        """The stake at which the worst outcome takes everything."""
        return 1 / (self.factor + self.delta)


def lines(claim: Claim) -> list[Line]:
    """Return the consequences of a promise that are bet against."""
    if claim.currency is Currency.PURE:
        return [Line(claim.amount, claim.delta)] if claim.amount <= LARGEST else []
    mu = claim.amount if claim.currency is Currency.GDP else math.sqrt(2 * claim.amount)
    return [Line(mu * t, claim.delta_at(mu * t)) for t in TANGENTS if mu * t <= LARGEST]


@dataclass(frozen=True)
class Bet:
    """An event that is said to be too likely on the first table (or, turned, on the second), and a stake."""

    event: Event
    turned: bool
    line: Line
    stake: float

    def capital(self, first: BoolArray, second: BoolArray) -> float:
        """Return the logarithm of what a capital of 1 became, for runs on both tables taken in pairs."""
        x, y = (second, first) if self.turned else (first, second)
        both, only_x, only_y = ((x & y).sum(), (x & ~y).sum(), (~x & y).sum())
        none = len(x) - both - only_x - only_y
        a, d = self.line.factor, self.line.delta
        gains = (1 - a - d, 1 - d, -a - d, -d)
        return float(
            sum(n * math.log1p(self.stake * g) for n, g in zip((both, only_x, only_y, none), gains, strict=True) if n)
        )


def growth(p: FloatArray, q: FloatArray, line: Line) -> FloatArray:
    """Return how fast capital grows, by event (rows) and stake (columns), if events have these probabilities."""
    stakes = STAKES * line.largest_stake
    a, d = line.factor, line.delta
    p, q = p[:, None], q[:, None]
    return (
        p * q * np.log1p(stakes * (1 - a - d))
        + p * (1 - q) * np.log1p(stakes * (1 - d))
        + (1 - p) * q * np.log1p(stakes * (-a - d))
        + (1 - p) * (1 - q) * np.log1p(stakes * -d)
    )


def best_bets(events: Sequence[Event], first: FloatArray, second: FloatArray, runs: int, claim: Claim) -> list[Bet]:
    """Return the bets that would have won most; shares of the runs are moved a standard error to the safe side."""
    found: list[tuple[float, Bet]] = []
    for turned, p, q in ((False, first, second), (True, second, first)):
        low, high = _shifted(p, runs, -1), _shifted(q, runs, 1)
        for line in lines(claim):
            speed = growth(low, high, line)
            stake = speed.argmax(axis=1)
            top = speed.max(axis=1)
            for i in np.argsort(-top, kind="stable")[:BETS]:
                if top[i] > 0:
                    bet = Bet(events[i], turned, line, float(STAKES[stake[i]] * line.largest_stake))
                    found.append((float(top[i]), bet))
    return [bet for _, bet in sorted(found, key=lambda f: -f[0])[:BETS]]


def _shifted(shares: FloatArray, runs: int, side: int) -> FloatArray:
    middle = (shares * runs + 0.5) / (runs + 1)
    moved: FloatArray = middle + side * np.sqrt(middle * (1 - middle) / (runs + 1))
    return np.clip(moved, 1e-9, 1 - 1e-9)


@dataclass(frozen=True)
class Bound:
    """What so many runs show: the claim's own number is certainly above ``amount``."""

    amount: float
    refuted: bool
    runs: int
    bet: Bet | None
    seen: tuple[int, int]
    """In how many of the last runs the event of the bet was seen, on the first and the second table."""
    of: int


class _Game:
    """Capital against the claim and against its multiples, stage after stage."""

    def __init__(self, claim: Claim, alpha: float) -> None:
        self.nulls = [claim.at(claim.amount * level) for level in LEVELS]
        self.goal = math.log(1 / alpha)
        self.before = np.zeros(len(LEVELS))
        self.highest = np.zeros(len(LEVELS))
        self.bets: list[list[Bet]] = [[] for _ in LEVELS]

    @property
    def refuted(self) -> int:
        """How many multiples are refuted, from the smallest on without a gap."""
        return int(np.argmin(np.append(self.highest >= self.goal, False)))

    @property
    def shown(self) -> Bet | None:
        """The first bet against the largest multiple that is refuted, or against the smallest."""
        laid = self.bets[max(self.refuted - 1, 0)]
        return laid[0] if laid else None

    def learn(self, first: Outputs, second: Outputs) -> None:
        """Choose new bets from all runs so far."""
        events = candidates(first, second)
        shares = [np.array([event.holds(side).mean() for event in events]) for side in (first, second)]
        self.bets = [best_bets(events, shares[0], shares[1], len(first), null) for null in self.nulls]

    def play(self, first: Outputs, second: Outputs, *, end: bool) -> None:
        """Settle the bets with the runs of a stage so far."""
        held = {bet.event: (bet.event.holds(first), bet.event.holds(second)) for laid in self.bets for bet in laid}
        now = self.before + [_together([bet.capital(*held[bet.event]) for bet in laid]) for laid in self.bets]
        self.highest = np.maximum(self.highest, now)
        if end:
            self.before = now


def bound_below(
    sample: Sample[Rows], first: Rows, second: Rows, claim: Claim, *, alpha: float, most_runs: int
) -> Bound:
    """Run something on two neighbouring tables and return a lower bound on the claim's own number.

    Parameters
    ----------
    sample
        Returns the outputs of so many independent runs on a table.
    first, second
        The tables: whatever ``sample`` takes.
    alpha
        Probability with which the bound may be above the truth.
    most_runs
        Runs a table at most. Once the claim is refuted, as many runs again sharpen the bound.
    """
    if not 0 < alpha < 1:
        raise SettingError("alpha: a number between 0 and 1")
    if most_runs < 2 * FIRST_RUNS:
        raise SettingError(f"most_runs: at least {2 * FIRST_RUNS} runs a table")
    if claim.amount <= 0 or not lines(claim):
        raise SettingError(f"claim: above 0, and so small that something can be bet against it (epsilon {LARGEST:g})")
    game = _Game(claim, alpha)
    past = (list(sample(first, FIRST_RUNS)), list(sample(second, FIRST_RUNS)))
    fresh: tuple[list[object], list[object]] = ([], [])
    while len(past[0]) + len(fresh[0]) < most_runs:
        if not fresh[0]:
            game.learn(Outputs.of(past[0]), Outputs.of(past[1]))
        stage = len(past[0])
        times = min(max(FIRST_RUNS // 2, stage // 4), stage - len(fresh[0]), most_runs - stage - len(fresh[0]))
        fresh[0].extend(sample(first, times))
        fresh[1].extend(sample(second, times))
        over = len(fresh[0]) == stage
        sides = (Outputs.of(fresh[0]), Outputs.of(fresh[1]))
        wins = game.refuted > LEVELS.index(1.0)
        game.play(*sides, end=over)
        if not wins and game.refuted > LEVELS.index(1.0):
            most_runs = min(most_runs, 2 * (stage + len(fresh[0])))
        last = sides
        if over:
            past[0].extend(fresh[0])
            past[1].extend(fresh[1])
            fresh = ([], [])
    amount = game.nulls[game.refuted - 1].amount if game.refuted else 0.0
    bet = game.shown
    seen = tuple(int(bet.event.holds(side).sum()) if bet else 0 for side in last)
    runs = 2 * (len(past[0]) + len(fresh[0]))
    return Bound(amount, game.refuted > LEVELS.index(1.0), runs, bet, (seen[0], seen[1]), len(last[0]))


def _together(winnings: Sequence[float]) -> float:
    """Return the capital if half stays at home and the rest is laid on all bets in equal parts."""
    if not winnings:
        return 0.0
    laid = math.log(0.5) + float(np.logaddexp.reduce(winnings)) - math.log(len(winnings))
    return float(np.logaddexp(math.log(0.5), laid))


def audit(
    name: str, sample: Sample[IntArray], pairs: Sequence[Neighbours], claim: Claim, *, alpha: float, most_runs: int
) -> Finding:
    """Bound something's own number from below on pairs of neighbours, one after the other.

    ``alpha`` is for all pairs together; the first refutation ends the audit.
    """
    if not pairs:
        raise SettingError("black box: no pairs of neighbours")
    runs, best = 0, 0.0
    for pair in pairs:
        bound = bound_below(sample, pair.first, pair.second, claim, alpha=alpha / len(pairs), most_runs=most_runs)
        runs += bound.runs
        best = max(best, bound.amount)
        if bound.refuted:
            here, there = (f"row = {row_words(table[pair.row])}" for table in (pair.first, pair.second))
            evidence = f"{effect(bound, here, there)}; {pair.words()}"
            return Finding(name, "black box", claim.words, claim.amount, best, runs, True, evidence)
    return Finding(name, "black box", claim.words, claim.amount, best, runs, False)


def black_box(
    run: Callable[[Rows], object],
    first: Rows,
    second: Rows,
    *,
    epsilon: float,
    delta: float = 0.0,
    alpha: float = 0.001,
    most_runs: int = 10_000,
) -> Finding:
    """Put any function's promise of (epsilon, delta) to the test on two neighbouring tables of your own.

    Parameters
    ----------
    run
        Takes a table and returns something comparable: a number, an array, words, None, or a tuple of such.
    first, second
        Two tables, of whatever kind, that differ in one person's row.
    epsilon, delta
        What is promised.
    alpha
        Probability of a false alarm.
    most_runs
        Runs a table at most.
    """

    def once(rows: Rows) -> object:
        try:
            return run(rows)
        except Exception as error:  # noqa: BLE001 - an error is an output like any other
            return f"error {type(error).__name__}"

    def sample(rows: Rows, times: int) -> list[object]:
        return [once(rows) for _ in range(times)]

    claim = Claim(Currency.PURE, epsilon, delta)
    bound = bound_below(sample, first, second, claim, alpha=alpha, most_runs=most_runs)
    evidence = effect(bound, "the row of the first table", "the row of the second")
    return Finding("run", "black box", claim.words, epsilon, bound.amount, bound.runs, bound.refuted, evidence)


def effect(bound: Bound, here: str, there: str) -> str:
    """Say what was found as the effect of an intervention on one row."""
    if bound.bet is None:
        return ""
    seen = [f"{hits} of {bound.of} runs under do({row})" for hits, row in zip(bound.seen, (here, there), strict=True)]
    beyond = f" beyond {bound.bet.line.delta:.2g}" if bound.bet.line.delta else ""
    certain = f"; a risk ratio above {bound.bet.line.factor:.3g}{beyond} is certain" if bound.amount else ""
    return f"output {bound.bet.event.words}: {' and '.join(seen)}{certain}"
