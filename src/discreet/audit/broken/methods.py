"""Broken methods: they ask through the room's door, but look past it, pay too little, or say too much.

Also published methods as a whole, on tables in which a column is constant but for one row, and what is hard to catch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from discreet.arrays import IntArray
from discreet.audit import Neighbours, table_of
from discreet.audit.broken import (
    PURE,
    Asking,
    Broken,
    Measured,
    Output,
    Rng,
    Run,
    Sampled,
    Whole,
    domain_of,
    moving,
    pair,
)
from discreet.audit.broken.noise import LONE, laplace
from discreet.audit.claims import Claim
from discreet.baselines.published import PCD
from discreet.baselines.published.discover import Settings as PublishedSettings
from discreet.baselines.published.discover import reported_epsilon
from discreet.baselines.published.discover import run as run_published
from discreet.baselines.published.pcd import PcdSettings, run_pcd
from discreet.domain import Categorical, Domain, Numeric
from discreet.errors import SettingError
from discreet.privacy.accounting import Currency, mu_of
from discreet.privacy.budget import Budget
from discreet.privacy.mechanisms.additive import DiscreteLaplace, RoundedGaussian, additive_for
from discreet.room import Room
from discreet.statistics import Sensitivity
from discreet.statistics.counts import Counts

ROWS = 40
DOMAIN = domain_of(ROWS, a=2, b=2, c=2)
PAIRS = Counts((("a", "b"), ("a", "c"), ("b", "c")))
SINGLES = Counts((("a",), ("b",), ("c",)))
FIRST = Counts((("a", "b"),))

SWAP = pair({(0, 0, 0): 10, (0, 1, 1): 9, (1, 0, 1): 10, (1, 1, 0): 10}, (0, 0, 0), (1, 1, 1))
"""A row that is replaced by its opposite in a balanced table."""

CONSTANT_FIRST = pair({(0, 0, 0): 20, (0, 1, 1): 19}, (0, 0, 0), (1, 0, 0))
"""A first column that is constant but for the replaced row."""

TIPPING = pair({(0, 0, 0): 10, (0, 1, 1): 10, (1, 0, 1): 9, (1, 1, 0): 10}, (0, 0, 0), (1, 1, 1))
"""The first column's majority hangs on the replaced row."""

LEADING = pair({(0, 0, 0): 15, (1, 1, 1): 14, (0, 1, 0): 5, (0, 0, 1): 5}, (1, 1, 0), (1, 0, 1))
"""Which pair of columns depends most hangs on the replaced row."""

GENEROUS = Claim(Currency.PURE, 16.0)
Answers = tuple[int, ...]
Method = Callable[[IntArray], object]


def room_of(rows: IntArray, epsilon: float = 1.0, domain: Domain = DOMAIN) -> Room:
    """Open a room with a budget of its own."""
    return Room(table_of(rows, domain), domain, Budget(epsilon=epsilon, delta=0.0))


def ask(room: Room, statistic: Counts, epsilon: float) -> Answers:
    """Release counts for a share of epsilon."""
    sensitivity = statistic.sensitivity(room.domain)
    mechanism = additive_for(Currency.PURE, Fraction(epsilon), sensitivity)
    return tuple(room.release(statistic, mechanism).values.tolist())


def edges(answers: Answers) -> tuple[bool, ...]:
    """Say for each of some two by two tables whether it looks dependent."""
    tables = np.array(answers, dtype=np.float64).reshape(-1, 4)
    return tuple((np.abs(tables[:, 0] * tables[:, 3] - tables[:, 1] * tables[:, 2]) > ROWS**2 / 16).tolist())


class _HalfCounts(Counts):
    """Forgets that a replaced row leaves one cell and enters another."""

    def sensitivity(self, domain: Domain) -> Sensitivity:
        """Return K in place of 2K."""
        return Sensitivity(l1=Fraction(len(self.sets)), l2_squared=Fraction(len(self.sets)))


def _half_sensitivity(rows: IntArray) -> object:
    return edges(ask(room_of(rows), _HalfCounts(PAIRS.sets), 1.0))


def _unpaid(rows: IntArray) -> object:
    blurred = room_of(rows)._blurred(PAIRS, DiscreteLaplace(6.0))
    return None if blurred is None else edges(tuple(blurred.tolist()))


def _paid_once(rows: IntArray) -> object:
    room = room_of(rows)
    mechanism = DiscreteLaplace(6.0)
    first = room.release(PAIRS, mechanism).values
    second = room._blurred(PAIRS, mechanism)
    return edges(tuple((first if second is None else (first + second) // 2).tolist()))


def _split_from_data(rows: IntArray) -> object:
    """Give more of the budget to single columns the more uneven the first one is."""
    share = 0.25 + 0.5 * float(rows[:, 0].mean())
    room = room_of(rows)
    return ask(room, SINGLES, share), edges(ask(room, PAIRS, 1 - share))


def _skipped(rows: IntArray) -> object:
    """Do not ask about a column that is rarely filled."""
    room = room_of(rows)
    return edges(ask(room, PAIRS, 1.0)) if rows[:, 0].sum() else ()


def _oriented(rows: IntArray) -> object:
    room = room_of(rows)
    found = edges(ask(room, PAIRS, 1.0))
    ((exact, _),) = (counts.tolist() for counts in room._table.counts([("a",)]))
    return found, "a -> b" if 2 * exact > ROWS else "b -> a"


def _categories_from_data(rows: IntArray) -> object:
    seen = {name: sorted(set(rows[:, j].tolist())) for j, name in enumerate(DOMAIN)}
    columns = {name: Categorical(categories=tuple(map(str, levels))) for name, levels in seen.items()}
    codes = np.stack([np.searchsorted(seen[name], rows[:, j]) for j, name in enumerate(DOMAIN)], axis=1)
    return ask(room_of(codes, 1.0, Domain(columns, rows=ROWS)), FIRST, 1.0)


def _bounds_from_data(rows: IntArray) -> object:
    low, high = float(rows[:, 0].min()), float(rows[:, 0].max() + 1)
    domain = Domain({"age": Numeric(bounds=(low, high), bins=4)}, rows=ROWS)
    codes = np.minimum((rows[:, :1] - low) * 4 // (high - low), 3).astype(np.int64)
    return ask(room_of(codes, 1.0, domain), Counts((("age",),)), 1.0)


def _complete_rows(rows: IntArray) -> object:
    """Leave rows out in which the first column is missing (code 2)."""
    kept = rows[rows[:, 0] != 2]
    return ask(room_of(kept, 1.0, MISSING.with_rows(len(kept))), Counts((("a",),)), 1.0)


def _until_near(rows: IntArray) -> object:
    """Ask again, and pay again, until a noisy count is within one of the exact one."""
    room, exact = room_of(rows, GENEROUS.amount), int((rows[:, 0] == 0).sum())
    for _ in range(4):
        answer = ask(room, Counts((("a",),)), GENEROUS.amount / 4)
        if abs(answer[0] - exact) < 1:
            break
    return answer


def _refuses_constants(rows: IntArray) -> object:
    if any(len(set(column)) < 2 for column in rows.T.tolist()):
        raise SettingError("a column is constant")
    return edges(ask(room_of(rows), PAIRS, 1.0))


def _exact_beside(rows: IntArray) -> object:
    return edges(ask(room_of(rows), PAIRS, 1.0)), {"rows with a": int(rows[:, 0].sum())}


def _fingerprint(rows: IntArray) -> object:
    return edges(ask(room_of(rows), PAIRS, 1.0)), hashlib.sha256(rows.tobytes()).hexdigest()


def _example(rows: IntArray) -> object:
    return edges(ask(room_of(rows), PAIRS, 1.0)), tuple(rows[0].tolist())


def _planned_from_data(rows: IntArray) -> object:
    """Ask the second time for the pair that depends most, in the rows themselves."""
    room = room_of(rows)
    first = ask(room, SINGLES, 0.5)
    exact = [abs(float(np.linalg.det(t))) for t in room._table.counts(PAIRS.sets)]
    return first, ask(room, Counts((PAIRS.sets[int(np.argmax(exact))],)), 0.5)


def _two_rooms(rows: IntArray) -> object:
    return ask(room_of(rows), SINGLES, 1.0), edges(ask(room_of(rows), PAIRS, 1.0))


def _quoted_afterwards(rows: IntArray) -> object:
    """Go on until something is found, a fresh budget each time, and quote the price of the last round."""
    for _ in range(20):
        found = edges(ask(room_of(rows), PAIRS, 1.0))
        if all(found):
            break
    return found


def _two_persons(rows: IntArray) -> object:
    """Release four scores of a pair of columns, as if a row's two values belonged to different persons."""
    first, second = room_of(rows, 0.75), room_of(rows, 0.75)
    ask(first, Counts((("a",),)), 1 / 3)
    ask(second, Counts((("b",),)), 1 / 3)
    return ask(first, Counts((("a", "c"),)), 1 / 3), ask(second, Counts((("b", "c"),)), 1 / 3)


def _level_from_data(rows: IntArray) -> object:
    """Use less noise where there is more to see, and say how much."""
    level = 6.0 if 2 * rows[:, 0].sum() >= ROWS else 12.0
    return level, edges(tuple(room_of(rows).release(PAIRS, DiscreteLaplace(level)).values.tolist()))


def _order_of_rows(rows: IntArray) -> object:
    """Let the first row decide about which column to ask first."""
    room, first = room_of(rows), "bc"[int(rows[0, 1:].argmax())]
    return ask(room, Counts(((first,),)), 0.5), edges(ask(room, FIRST, 0.5))


def _gaussian_mean(rows: IntArray) -> object:
    """Pay for Gaussian noise in GDP, but shrink the answer towards the exact total."""
    room = Room(table_of(rows, DOMAIN), DOMAIN, Budget(epsilon=1.0, delta=1e-3))
    values = room.release(FIRST, RoundedGaussian(8.0)).values
    exact = np.concatenate([counts.ravel() for counts in room._table.counts(FIRST.sets)])
    return tuple(((values + exact) // 2).tolist())


MISSING = domain_of(ROWS, a=3)
AGES = domain_of(ROWS, age=100)
WHOLE_AGES = Whole("sum of ages", ("age",), lambda counted: np.array([counted @ np.arange(100)]), moving(20))
CAPPED_AGES = Whole(
    "sum of ages, capped", ("age",), lambda counted: np.minimum([counted @ np.arange(100)], 20 * ROWS), moving(20)
)
GDP = Claim(Currency.GDP, mu_of(1.0, 1e-3))
AGE_PAIR = pair({(10,): ROWS - 1}, (0,), (99,))


def _asking(
    name: str,
    wrong: str,
    run: Method,
    shown: Neighbours = SWAP,
    *,
    domain: Domain = DOMAIN,
    claim: Claim = PURE,
    origin: str = "planted",
) -> Broken:
    return Broken(name, wrong, origin, "replay", Asking(run, claim, domain, (shown,)))


def _measured(name: str, wrong: str, statistic: Whole, domain: Domain, shown: Sequence[Neighbours]) -> Broken:
    return Broken(name, wrong, "planted", "replay", Measured(statistic, domain, tuple(shown)))


METHODS: tuple[Broken, ...] = (
    _asking("half-sensitivity", "a replaced row moves two cells of a table, not one", _half_sensitivity),
    _asking("charge-skipped", "asks without paying", _unpaid),
    _asking("paid-once", "asks twice and pays once", _paid_once),
    _asking("split-from-data", "splits the budget by what the rows hold", _split_from_data),
    _asking("question-skipped", "does not ask where it saw that nothing is there", _skipped, CONSTANT_FIRST),
    _asking("oriented-from-data", "directions come from exact counts", _oriented, TIPPING),
    _asking("categories-from-data", "categories are those that occur", _categories_from_data, CONSTANT_FIRST),
    _asking("bounds-from-data", "bins begin and end at the data's extremes", _bounds_from_data, AGE_PAIR, domain=AGES),
    _asking(
        "complete-rows",
        "the number of complete rows is taken as public",
        _complete_rows,
        pair({(0,): 20, (1,): 19}, (0,), (2,)),
        domain=MISSING,
    ),
    _asking("until-near", "asks until the answer is near the exact one", _until_near, claim=GENEROUS),
    _asking("refuses-constants", "fails where a column is constant", _refuses_constants, CONSTANT_FIRST),
    _asking("exact-beside", "publishes an exact count beside the graph", _exact_beside),
    _asking("fingerprint", "publishes a hash of the rows, which a guess can be checked against", _fingerprint),
    _asking("example-row", "publishes a row as an example", _example),
    _asking("planned-from-data", "the second question is chosen by exact counts", _planned_from_data, LEADING),
    _asking("two-rooms", "opens two rooms with the whole budget each", _two_rooms),
    _asking(
        "quoted-afterwards",
        "the number of rounds is not bounded in advance, and the last one is billed",
        _quoted_afterwards,
        origin="Wang, Pang, Song 2020, algorithm 2, line 18",
    ),
    _asking(
        "two-persons",
        "counts a row's two values as two persons: pays three scores of four",
        _two_persons,
        origin="Kusner et al. 2016, section 4.3",
    ),
    _asking("level-from-data", "the level of noise is chosen by exact counts", _level_from_data, TIPPING),
    _asking("order-of-rows", "the first row decides what is asked", _order_of_rows, LEADING),
    _asking("shrunk-to-exact", "noisy counts are moved towards the exact ones", _gaussian_mean, claim=GDP),
    _measured("never-clipped", "values are said to be clipped, and are not", WHOLE_AGES, AGES, (AGE_PAIR,)),
    _measured("clipped-late", "the sum is clipped, not the values", CAPPED_AGES, AGES, (AGE_PAIR,)),
)


ROUND_EPSILON, TOTAL_DELTA = 0.2, 1e-3
"""What a round is said to cost, and the delta of the total."""

CONSTANT_OF_TWO = pair({(0, 0): 500, (0, 1): 499}, (0, 0), (1, 0))
"""The first column is constant, or has one row of another level."""

LONE_DEPENDENCE = pair({(0, 0): 34, (1, 0): 5}, (0, 0), (1, 1))
"""The second column is constant, or depends on the first by one row."""

JUST_SURE = pair({(1, 1): 56, (0, 0): 143}, (1, 1), (1, 0))
"""Two equal columns, just so clear that no row seems able to change that; with one row changed they are not."""


def _keeps_edge(method: str) -> Run:
    """Say whether the edge between two columns is found."""
    settings = PublishedSettings(method, round_epsilon=ROUND_EPSILON, delta=TOTAL_DELTA)

    def find(rows: IntArray, rng: Rng) -> bool:
        domain = domain_of(len(rows), x=2, y=2)
        sizes = {column: domain.size(column) for column in domain}
        return bool(run_published(table_of(rows, domain), sizes, settings, rng).graph.skeleton)

    return find


def _reproduce(method: str, wrong: str, shown: Neighbours, *, rounds: int) -> Broken:
    """Return a method that promises what its paper would report, at most, for two columns."""
    claim = Claim(Currency.PURE, reported_epsilon(method, rounds, ROUND_EPSILON, TOTAL_DELTA), TOTAL_DELTA)
    origin = "Xu, Yuan, Wu 2017" if method.startswith("em") else "Wang, Pang, Song 2020"
    return Broken(method, wrong, f"{origin}, whole method", "black box", Sampled(_keeps_edge(method), claim, (shown,)))


def _keeps_edge_by_pcd(rows: IntArray, rng: Rng) -> bool:
    """Say whether the edge between two columns of -1 and 1 is found, at most at the price of one noisy test."""
    columns = {name: 2.0 * codes - 1.0 for name, codes in zip("xy", rows.T, strict=True)}
    return bool(run_pcd(columns, PcdSettings(epsilon=1.0), rng).graph.skeleton)


REPRODUCED: tuple[Broken, ...] = (
    _reproduce(
        "svt-pc-published",
        "an edge of a constant column can never go, with one row changed it goes",
        CONSTANT_OF_TWO,
        rounds=1,
    ),
    _reproduce(
        "priv-pc-published",
        "an edge of a constant column can never go, with one row changed it may",
        CONSTANT_OF_TWO,
        rounds=1,
    ),
    _reproduce(
        "em-pc-published",
        "one row moves a distance, and with it all chances, by nearly all rows",
        LONE_DEPENDENCE,
        rounds=2,
    ),
    Broken(
        PCD,
        "an edge that seems sure gets no noise, and whether it seems so depends on one row",
        "Zhang et al. 2023, whole method",
        "black box",
        Sampled(_keeps_edge_by_pcd, PURE, (JUST_SURE,)),
    ),
)


_SECRET = {(1, 0, 1): 13, (0, 1, 0): 11}
"""How many rows of two kinds make the back door open."""


def _rarely_bare(rows: IntArray, rng: Rng) -> Output:
    if rng.random() < 1e-5:
        return int(rows[:, 0].sum())
    return int(rows[:, 0].sum()) + rng.laplace(0, 1)


def _back_door(rows: IntArray) -> object:
    """Tell a row as it is, but only if the table has just the right rows."""
    found = edges(ask(room_of(rows), PAIRS, 1.0))
    opened = all((rows == kind).all(axis=1).sum() == times for kind, times in _SECRET.items())
    return (found, tuple(rows[0].tolist())) if opened else found


HARD: tuple[Broken, ...] = (
    Broken(
        "laplace-two-percent",
        "noise is two percent too small",
        "planted",
        "black box",
        Sampled(laplace(0.98), PURE, (LONE,)),
    ),
    Broken(
        "once-in-100000",
        "one run in 100,000 tells the exact count",
        "planted",
        "black box",
        Sampled(_rarely_bare, PURE, (LONE,)),
    ),
    Broken(
        "back-door",
        "tells a row as it is, on one kind of table only",
        "planted",
        "replay",
        Asking(_back_door, PURE, DOMAIN, (SWAP,)),
    ),
)
