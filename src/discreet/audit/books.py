"""Accounting, budgets, limits and the room's door, checked against a reckoning of their own.

Nothing here calls what it checks to know what is right: deltas are computed once more from their definition, sums once
more in fractions. Each check yields what is wrong, in words, or nothing.
"""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from flint import arb, ctx

from discreet.arrays import IntArray
from discreet.audit import FOREIGN, Finding, table_of
from discreet.domain import Categorical, Column, Domain, Numeric, People
from discreet.domain.domain import check_domain
from discreet.errors import BudgetError, DiscreetError, RoomError
from discreet.ledger.prices import NOTHING, Limit, Price
from discreet.privacy import accounting
from discreet.privacy.accounting import Currency, limit_of
from discreet.privacy.budget import Budget, Cost
from discreet.privacy.mechanisms.additive import DiscreteLaplace, additive_for
from discreet.privacy.mechanisms.exponential import selection_for, top_k_for
from discreet.privacy.mechanisms.noisy_rank import NoisyRank, noisy_rank_for
from discreet.privacy.mechanisms.sparse_vector import AboveThreshold, above_threshold_for
from discreet.privacy.noise import ExactNoise
from discreet.room import Room
from discreet.statistics import Sensitivity, Statistic, Table

SLACK = 1e-9
"""What a reckoning in floats may be off by, as a share."""

PRECISION = 300

EPSILONS, DELTAS, GROUPS = (0.01, 0.1, 0.7, 1.0, 3.0, 12.0), (1e-3, 1e-6, 1e-10), (1, 2, 5)

Check = Callable[[], Iterator[str]]


def audit_check(name: str, promise: str, check: Check) -> Finding:
    """Go through a check to the first thing that is wrong."""
    looked = 0
    for wrong in check():
        looked += 1
        if wrong:
            return Finding(name, "exact", promise, None, None, looked, True, wrong)
    return Finding(name, "exact", promise, None, None, looked, False)


def _unless(fine: object, wrong: str) -> str:
    return "" if fine else wrong


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Return the probability mass that N(mu, 1) has beyond e^epsilon times that of N(0, 1)."""
    with ctx.workprec(PRECISION):
        cut = arb(epsilon) / arb(mu) + arb(mu) / 2  # where the densities' ratio is e^epsilon
        root = arb(2).sqrt()
        first, second = (((cut - centre) / root).erfc() / 2 for centre in (arb(mu), arb(0)))
        return float((first - arb(epsilon).exp() * second).mid())


def concentrated_delta(rho: float, epsilon: float) -> float:
    """Return the least delta that rho-zCDP gives at an epsilon, over finer and finer grids of orders."""
    low, high = -20.0, 40.0
    for _ in range(6):
        places = np.linspace(low, high, 2001)
        above = np.exp(places)  # the order less 1
        logs = above * ((above + 1) * rho - epsilon) - (above + 1) * np.log1p(1 / above) - places
        best = int(logs.argmin())
        low, high = places[max(best - 1, 0)], places[min(best + 1, 2000)]
    return math.exp(min(float(logs[best]), 700.0))


def _delta(currency: Currency, amount: Fraction, group: int, epsilon: float) -> float:
    """Return the delta of what is spent on one row, if a group of rows changes."""
    if currency is Currency.GDP:
        return gaussian_delta(group * math.sqrt(amount), epsilon)
    return concentrated_delta(group**2 * float(amount), epsilon)


def conversions() -> Iterator[str]:
    """Whether what may be spent implies what is promised, for one row and for several."""
    for epsilon, delta in product(EPSILONS, DELTAS):
        most = delta * (1 + SLACK)
        for currency, group in product((Currency.GDP, Currency.ZCDP), GROUPS):
            spent = limit_of(currency, epsilon, delta, group)
            reached = _delta(currency, spent, group, epsilon)
            yield _unless(reached <= most, f"{currency.value}, ({epsilon:g}, {delta:g}), {group} rows: {reached:.6g}")
        mu, rho = accounting.mu_of(epsilon, delta), accounting.rho_of(epsilon, delta)
        yield _unless(gaussian_delta(mu, epsilon) <= most, f"mu of ({epsilon:g}, {delta:g})")
        yield _unless(concentrated_delta(rho, epsilon) <= most, f"rho of ({epsilon:g}, {delta:g})")
        for amount in (mu / 3, mu, 2 * mu):
            enough = accounting.epsilon_of_mu(amount, delta)
            yield _unless(gaussian_delta(amount, enough) <= most, f"epsilon of mu {amount:.6g}")
            told = accounting.gdp_delta(amount, epsilon)
            yield _unless(told * (1 + SLACK) >= gaussian_delta(amount, epsilon), f"delta of mu {amount:.6g}")
        for amount in (rho / 5, rho, 3 * rho):
            enough = accounting.epsilon_of_rho(amount, delta)
            yield _unless(concentrated_delta(amount, enough) <= most, f"epsilon of rho {amount:.6g}")
            told = accounting.zcdp_delta(amount, epsilon)
            yield _unless(told * (1 + SLACK) >= concentrated_delta(amount, epsilon), f"delta of rho {amount:.6g}")
    for epsilon, group in product(EPSILONS, GROUPS):
        whole = group * limit_of(Currency.PURE, epsilon, 0.0, group)
        yield _unless(whole <= Fraction(repr(epsilon)), f"pure epsilon {epsilon:g} for {group} rows")
    yield from _amplification()
    yield from _meaningless()


def _amplification() -> Iterator[str]:
    """Samples of rows cost log(1 + share (e^epsilon - 1)); a bounded range costs as two answers do."""
    for epsilon, share in product(EPSILONS, (Fraction(1, 100), Fraction(3, 5), Fraction(1))):
        exact = math.log1p(float(share) * math.expm1(epsilon))
        told = float(accounting.amplified(Fraction(epsilon), share))
        yield _unless(told >= exact * (1 - SLACK), f"a sample of {share} at epsilon {epsilon:g}")
        inner = float(accounting.sample_epsilon(Fraction(epsilon), share))
        outer = math.log1p(float(share) * math.expm1(inner))
        yield _unless(outer <= epsilon * (1 + SLACK), f"an epsilon for a sample of {share}, {epsilon:g} in all")
        with ctx.workprec(PRECISION):
            mu, tail = arb(accounting.mu_of_range(Fraction(epsilon))), 1 / (1 + (arb(epsilon) / 2).exp())
            fine = bool((mu / (2 * arb(2).sqrt())).erfc() / 2 <= tail * (1 + SLACK))
        yield _unless(fine, f"mu of a bounded range {epsilon:g}")


def _meaningless() -> Iterator[str]:
    """Promises that mean nothing are refused; a delta that nobody named is well below 1/rows."""
    for epsilon, delta, rows in ((0, 0, 9), (-1, 0, 9), (math.inf, 0, 9), (math.nan, 0, 9), (1, 1, 9), (1, 0.2, 9)):
        yield _unless(_refused(accounting.check_guarantee, epsilon, delta, rows), f"({epsilon}, {delta}) was allowed")
    for rows in (10, 999_999, 10**6, 10**6 + 1, 123_456_789, 10**10):
        delta = accounting.delta_for(rows)
        yield _unless(delta * rows < 1 and delta * max(rows, 10**6) <= 1, f"delta {delta:g} for {rows:,} rows")


def _refused(ask: Callable[..., object], *args: Any, **settings: Any) -> bool:
    try:
        ask(*args, **settings)
    except DiscreetError:
        return True
    return False


_MOVED = (
    Sensitivity(l1=Fraction(6), l2_squared=Fraction(6), largest=Fraction(3), first=Fraction(2)),
    Sensitivity(l1=Fraction(1001), l2_squared=Fraction(1001**2), largest=Fraction(1001), first=Fraction(1001)),
)
_SHAPED = Sensitivity(l1=Fraction(3), l2_squared=Fraction(7, 3), squares=(Fraction(2), Fraction(3, 2)))


def made_for_an_amount() -> Iterator[str]:
    """Whether mechanisms that are made for an amount cost at most that."""
    amounts = (Fraction(1, 1000), Fraction(1, 7), Fraction(0.3), Fraction(2), Fraction(9))
    for currency, amount, moved in product(Currency, amounts, _MOVED):
        made: list[Any] = [additive_for(currency, amount, moved)]
        made += [selection_for(currency, amount, moved, n) for n in (1, 4)]
        made += [top_k_for(currency, amount, moved, 2), noisy_rank_for(currency, amount, moved, 2)]
        if currency is Currency.PURE:
            made += [above_threshold_for(amount, moved, passes=n, geometric=g) for n in (1, 3) for g in (False, True)]
        for mechanism in made:
            cost = mechanism.cost(moved).amount(currency)
            yield _unless(cost <= amount, f"{mechanism.name} costs {float(cost / amount):.9g} times its amount")
    for currency, amount in product((Currency.GDP, Currency.ZCDP), amounts):
        shaped = additive_for(currency, amount, _SHAPED)
        yield _unless(shaped.cost(_SHAPED).amount(currency) <= amount, f"{shaped.name} costs more than its amount")


def bits() -> Iterator[str]:
    """Whether a rank among many is told as one bit: the rank itself is not paid for."""
    rng, noise = np.random.default_rng(2), ExactNoise()
    for others, places in product((1, 2, 5, 40), (1, 2)):
        seen = set()
        for _ in range(30):
            told = NoisyRank(3.0, places).blur(rng.integers(-9, 9, others + 1), noise)
            seen.add(tuple(told.tolist()))
        yield _unless(seen <= {(0,), (1,)}, f"a rank among {others} others tells more than a bit")


def budgets() -> Iterator[str]:
    """Whether a budget admits charges up to its limit and none beyond, and keeps what it books."""
    rng = np.random.default_rng(0)
    for trial in range(60):
        currency, group = list(Currency)[trial % 3], GROUPS[trial % 2]
        reserved: list[Fraction] = []

        def reserve(asking: Budget, seen: list[Fraction] = reserved) -> None:
            seen.append(asking.spent)

        budget = Budget(
            epsilon=1.0,
            delta=0.0 if currency is Currency.PURE else 1e-6,
            currency=currency,
            group=group,
            reserve=reserve,
        )
        allowed, total = limit_of(currency, 1.0, budget.delta or 1e-6, group), Fraction(0)
        for _ in range(30):
            amount = allowed * Fraction(int(rng.integers(0, 700)), 1000 * int(rng.integers(1, 9)))
            try:
                budget.charge(Cost(dict.fromkeys(Currency, amount)), statistic="s", mechanism="m")
                total += amount
            except BudgetError:
                yield _unless(total + amount > allowed * Fraction(999_999, 10**6), "a charge that fits was refused")
            yield _unless(total <= allowed, "charges beyond the limit were admitted")
            yield _unless(budget.spent >= total and budget.left <= allowed - total, "a charge was not booked in full")
        yield _unless(sum(e.amount for e in budget.entries) >= total, "an entry is missing")
        yield _unless(reserved in ([], [Fraction(0)]), "the ledger was not asked once, before the first charge")
    yield from _exact_charges()


def _exact_charges() -> Iterator[str]:
    """A charge of all that is left is admitted, and then nothing is; what has no price in a currency is refused."""
    budget = Budget(epsilon=1.0, delta=0.0)
    budget.charge(Cost({Currency.PURE: Fraction(1)}), statistic="s", mechanism="m")
    little = Cost({Currency.PURE: Fraction(1, 10**30)})
    yield _unless(_refused(budget.charge, little, statistic="s", mechanism="m"), "a budget that is spent is charged")
    other = Budget(epsilon=1.0, delta=1e-6)
    yield _unless(_refused(other.charge, little, statistic="s", mechanism="m"), "paid in another currency")
    yield _unless(_refused(Budget, epsilon=1.0, delta=1e-6, group=0), "a group of no rows")
    yield _unless(_refused(Cost, {Currency.PURE: Fraction(-1)}), "a cost below 0")
    failing = Budget(epsilon=1.0, delta=0.0, reserve=_refuse)
    yield _unless(
        _refused(failing.charge, little, statistic="s", mechanism="m"), "a reservation that failed is ignored"
    )
    yield _unless(not failing.entries, "something was booked that the ledger refused")


def _refuse(budget: Budget) -> None:
    raise BudgetError("no")


def limits() -> Iterator[str]:
    """Whether runs that a data set's limit admits keep its promise together."""
    rng = np.random.default_rng(1)
    for trial in range(12):
        delta = (1e-6, 0.0)[trial % 2]
        limit, spent, runs = Limit(2.0, delta), NOTHING, []
        for _ in range(40):
            epsilon, kind = float(rng.uniform(0.05, 0.8)), list(Currency)[int(rng.integers(3))]
            run = Budget(epsilon=epsilon, delta=1e-7 if kind is not Currency.PURE else 0.0, currency=kind, group=2)
            if limit.allows(spent.plus(Price.of_budget(run))):
                spent = spent.plus(Price.of_budget(run))
                runs.append(run)
        yield _unless(runs, "nothing is admitted")
        if not delta:
            yield _unless(all(r.currency is Currency.PURE for r in runs), "a run with a delta is within a pure limit")
            yield _unless(
                sum(Fraction(repr(r.epsilon)) for r in runs) <= 2, "pure epsilons add up to more than the limit"
            )
            continue
        rho = sum(_rho(run) for run in runs)
        yield _unless(concentrated_delta(rho, 2.0) <= delta * (1 + SLACK), f"admitted runs have rho {rho:.6g} in all")
        total = spent.epsilon(delta)
        fine = total is not None and concentrated_delta(rho, total) <= delta * (1 + SLACK)
        yield _unless(fine or _gaussian_enough(runs, total, delta), "the total that is shown is below what was spent")
    outside = Price.of_outside(1.0, 1e-7)
    yield _unless(not Limit(2.0, 1e-6).allows(outside), "a delta of others is admitted where none was put by")


def _rho(run: Budget) -> float:
    """Return what a whole run costs everybody in its group, in zCDP."""
    if run.currency is Currency.PURE:
        return run.epsilon**2 / 2
    amount = float(limit_of(run.currency, run.epsilon, run.delta))
    return amount / 2 if run.currency is Currency.GDP else amount


def _gaussian_enough(runs: list[Budget], total: float | None, delta: float) -> bool:
    """Whether a total follows in Gaussian accounting, where all runs have a price in it."""
    if total is None or any(run.currency is Currency.ZCDP for run in runs):
        return False
    squares = []
    for run in runs:
        pure = run.currency is Currency.PURE
        range_ = 2 * Fraction(repr(run.epsilon))
        squares.append(
            accounting.mu_of_range(range_) ** 2 if pure else float(limit_of(Currency.GDP, run.epsilon, run.delta))
        )
    return gaussian_delta(math.sqrt(sum(squares)), total) <= delta * (1 + SLACK)


_ROOM = Domain({"a": Categorical(categories=("n", "y")), "b": Categorical(categories=("n", "y"))}, rows=6)


class _Spy:
    """A statistic that looks around while it is evaluated."""

    name, columns = "spy", ("a",)

    def __init__(self, look: Callable[[Table], object]) -> None:
        self._look = look

    def sensitivity(self, domain: Domain) -> Sensitivity:
        return Sensitivity(l1=Fraction(2), l2_squared=Fraction(2), largest=Fraction(1))

    def evaluate(self, table: Table) -> IntArray:
        self._look(table)
        return np.zeros(1, dtype=np.int64)


class _Ordered(_Spy):
    """A statistic whose value depends on the order of rows."""

    symmetric = False


def _room(**settings: Any) -> Room:
    rows = np.zeros((6, 2), dtype=np.int64)
    return Room(table_of(rows, _ROOM), _ROOM, Budget(epsilon=1.0, delta=0.0, **settings))


def doors() -> Iterator[str]:
    """Whether the room charges first, shows a statistic its columns alone, and tells nothing when one fails."""
    room, noise = _room(), DiscreteLaplace(8.0)
    booked: list[Fraction] = []
    room.release(_Spy(lambda table: booked.append(room.budget.spent)), noise)
    yield _unless(booked == [Fraction(1, 4)], "a statistic is evaluated before it is paid for")
    failing = _room()
    for look in (_raise_value, lambda table: table.counts([("b",)]), lambda table: table.values(("b",))):
        yield _told(failing, _Spy(look), noise)
    yield _unless(failing.budget.spent == Fraction(3, 4), "what fails is not paid for")
    dear = DiscreteLaplace(1.0)
    yield _unless(_refused(room.release, _Spy(_raise_value), dear), "more than the budget is asked")
    yield _unless(_refused(_room, group=2), "a budget for another group of rows is taken")
    short = table_of(np.zeros((5, 2), dtype=np.int64), _ROOM)
    yield _unless(_refused(Room, short, _ROOM, Budget(epsilon=1.0, delta=0.0)), "a table of other rows is taken")
    yield from _answers()
    yield from _gates()
    yield from _copies(room)


class _Turned(ExactNoise):
    """Puts rows in the opposite order, and counts how often it is asked to."""

    orders = 0

    def order(self, of: int) -> IntArray:
        """Return the opposite order."""
        self.orders += 1
        return np.arange(of)[::-1]


class _Foreseen(ExactNoise):
    """Says that it can be foreseen."""

    private = False


class _Echo:
    """A mechanism that answers with what it is given, moved by ten, and notes that it was asked."""

    name = "echo"

    def __init__(self) -> None:
        self.heard: list[tuple[list[int], object]] = []

    def cost(self, sensitivity: Sensitivity) -> Cost:
        return Cost({Currency.PURE: Fraction(1, 8)})

    def blur(self, exact: IntArray, noise: object) -> IntArray:
        self.heard.append((exact.tolist(), noise))
        return exact + 10


def _answers() -> Iterator[str]:
    """A release is what the mechanism made of the exact value, once, and rows are seen in a fresh order each time."""
    for number in (6, 100_000):
        rows, source, seen = np.zeros((number, 2), dtype=np.int64), _Turned(), list[list[int]]()
        rows[0, 0] = 1
        domain = _ROOM.with_rows(number)
        room = Room(table_of(rows, domain), domain, Budget(epsilon=1.0, delta=0.0), noise=source)
        look = _Spy(partial(_note, seen))
        echo = _Echo()
        released = [room.release(look, echo).values.tolist() for _ in range(2)]
        yield _unless(released == [[10], [10]], "a release is not what the mechanism made of the exact value")
        yield _unless(
            [exact for exact, _ in echo.heard] == [[0], [0]], "a mechanism is not asked once for each release"
        )
        yield _unless(all(noise is source for _, noise in echo.heard), "a mechanism gets noise of another source")
        yield _unless(seen == [rows[::-1, 0].tolist()] * 4, "rows are not seen in the order that was drawn")
        yield _unless(source.orders == 2, "an order of rows is not drawn afresh for every question")
    yield _unless(isinstance(_room()._noise, ExactNoise) and _room().private, "a room's noise is not the exact one")
    rows = np.zeros((6, 2), dtype=np.int64)
    seeded = Room(table_of(rows, _ROOM), _ROOM, Budget(epsilon=1.0, delta=0.0), noise=_Foreseen())
    yield _unless(not seeded.private, "a room whose noise can be foreseen says that it is private")


def _note(seen: list[list[int]], table: Table) -> None:
    """Look at rows twice."""
    seen += [column.tolist() for _ in range(2) for column in table.values(("a",))]


def _raise_value(table: Table) -> None:
    raise ValueError(FOREIGN)


def _told(room: Room, statistic: Statistic, noise: DiscreteLaplace) -> str:
    """Return what is wrong with how a statistic fails."""
    try:
        room.release(statistic, noise)
    except RoomError as error:
        hidden = error.__cause__ is None and error.__context__ is None and FOREIGN not in str(error)
        return _unless(hidden, "an error tells why a statistic failed")
    return "a statistic sees what it did not name, or fails and is answered"


def _gates() -> Iterator[str]:
    """A gate does not take numbers that move further than was paid for, nor answers once something else is asked."""
    moved = Sensitivity(l1=Fraction(1), l2_squared=Fraction(1), largest=Fraction(1, 2))
    room = _room()
    gate = room.open(AboveThreshold(40.0, 40.0), moved, purpose="x")
    yield _unless(_refused(gate.passes, _Spy(lambda table: None), 0), "a number that moves further is asked of a gate")
    whole = _Spy(lambda table: None).sensitivity(_ROOM)
    gate = room.open(AboveThreshold(40.0, 40.0), whole, purpose="x")
    room.release(_Spy(lambda table: None), DiscreteLaplace(40.0))
    yield _unless(_refused(gate.passes, _Spy(lambda table: None), 0), "a gate answers after something else was asked")
    gate = room.open(AboveThreshold(40.0, 40.0, passes=9), whole, purpose="x")
    yield _unless(_refused(gate.passes, _Spy(_raise_value), 0), "a number that fails is answered")
    yield _unless(_refused(gate.passes, _Spy(lambda table: None), 0), "a gate answers after a number failed")
    gate = room.open(AboveThreshold(80.0, 80.0, sample=3, rows=6), whole, purpose="x")
    yield _unless(_refused(gate.passes, _Ordered(lambda table: None), 0), "an order is asked of a sample")
    other = AboveThreshold(40.0, 40.0, sample=3, rows=9)
    yield _unless(_refused(room.open, other, whole, purpose="x"), "a gate samples from another number of rows")


def _copies(room: Room) -> Iterator[str]:
    """What holds rows or a budget is not copied, and does not go on in a copy of the process."""
    gate = room.open(AboveThreshold(80.0, 80.0), _Spy(lambda table: None).sensitivity(_ROOM), purpose="x")
    for thing in (room, room.budget, gate, room._table):
        for make in (copy.copy, copy.deepcopy, pickle.dumps):
            yield _unless(_refused(make, thing), f"a {type(thing).__name__} can be copied")
        yield _unless(FOREIGN not in repr(thing) and "[" not in repr(thing), f"a {type(thing).__name__} shows itself")
    for thing in (room.budget, gate):
        thing._process = (-1, -1)  # as it would be in a copy of this process
    cost = Cost({Currency.PURE: Fraction(1, 1000)})
    yield _unless(_refused(room.budget.charge, cost, statistic="s", mechanism="m"), "a copy of a budget is charged")
    yield _unless(_refused(gate.passes, _Spy(lambda table: None), 0), "a copy of a gate answers")


def domains() -> Iterator[str]:
    """Whether a domain that is changed still says to whom the promise is made, and that it is a draft."""
    columns: dict[str, Column] = {
        "a": Categorical(categories=("n", "y")),
        "x": Numeric(bounds=(0.0, 1.0), bins=2, at="quantiles"),
    }
    for people, draft in product((None, People("who", 3), People(None, 1)), (False, True)):
        whole = Domain(columns, rows=6, unit="patient", people=people, draft=draft)
        changed = {
            "select": whole.select(["x"]),
            "with_rows": whole.with_rows(9),
            "settle": whole.settle({"x": [0.0, 0.5, 1.0]}),
            "widest": whole.widest(),
            "with_bins": whole.with_bins(4),
            "YAML": Domain.from_yaml(whole.to_yaml()),
        }
        for name, domain in changed.items():
            same = (domain.unit, domain.people, domain.group, domain.draft, domain.rows == 9)
            fine = same == (whole.unit, people, whole.group, draft, name == "with_rows")
            yield _unless(fine, f"a domain is about somebody else, or no draft any more, after {name}")
            refused = _refused(check_domain, domain, published=True)
            yield _unless(refused == draft, f"a draft is published with, after {name}")


CHECKS: dict[str, tuple[str, str, Check]] = {
    "conversions": ("accounting", "what may be spent implies the promise", conversions),
    "made for an amount": ("accounting", "mechanisms cost at most their amount", made_for_an_amount),
    "bits": ("NoisyRank", "a rank is told as one bit", bits),
    "budgets": ("budget", "charges stay within the limit", budgets),
    "limits": ("ledger", "runs that are admitted keep the limit's promise", limits),
    "domains": ("domain", "a changed domain promises the same", domains),
    "doors": ("room", "charged first, nothing told, nothing copied", doors),
}
"""All checks by name: what they are about, and what is promised."""
