"""Whether two columns are independent given others, privately: one answer by one test."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from discreet.domain import Domain, Numeric
from discreet.domain.domain import check_domain
from discreet.errors import DoubtWarning, SettingError
from discreet.ledger.account import Account
from discreet.methods.independence.gcm import check_gcm, run_gcm
from discreet.methods.independence.permutation import check_krr, check_permutation, run_permuted
from discreet.methods.independence.tables import check_tables, into_bins, run_moments, run_tables
from discreet.methods.method import refuse_spent
from discreet.methods.session import Request, Session, promised_delta
from discreet.privacy.accounting import Currency, check_guarantee
from discreet.privacy.budget import Budget
from discreet.privacy.statement import Privacy
from discreet.progress import Progress
from discreet.release.answer import Answer, Found, Inquiry, Level
from discreet.release.missing import LEAVE_OUT, LEVEL
from discreet.room import Room
from discreet.statistics.curves import between_bounds

LEAST_TEST_ROWS = 50


@dataclass(frozen=True)
class Kind:
    """A test.

    Parameters
    ----------
    check
        Refuses what it cannot answer, from public facts and the budget's currency alone.
    run
        Asks a room, with all that is left of its budget.
    level
        What is promised of its level.
    numbers
        Whether it takes numbers between bounds, with or without bins.
    pure
        Whether it needs no delta; then none is promised away.
    level_given
        What is promised where numbers are given, if that is something else.
    rows
        Whether it looks at rows, not at counts alone.
    prepare
        Says how columns are encoded, from public facts alone.
    """

    check: Callable[[Inquiry, Domain, Currency], None]
    run: Callable[[Room, Inquiry], Found]
    level: Level
    numbers: bool = True
    pure: bool = False
    level_given: Level | None = None
    rows: bool = False
    prepare: Callable[[Inquiry, Domain, Budget], Domain] = lambda _, domain, __: domain


_MOMENTS = (
    "at alpha 0.05, 0.01 to 0.05 given one column of which both are a curve (0.05 to 0.3 given two), and up to 1 on "
    "functions that turn several times within a bin"
)
_KRR = (
    "at alpha 0.05, 0 to 0.11 on smooth functions of what is given and up to 0.35 on others; and below 10,000 rows it "
    "hardly finds any dependence"
)
_GCM = (
    "at alpha 0.05, 0 to 0.07 on smooth functions of what is given (0.25 with two columns and 200,000 rows), and 0.5 "
    "to 1 on functions that polynomials cannot follow"
)

TESTS: dict[str, Kind] = {
    "permutation": Kind(
        check_permutation,
        run_permuted,
        Level(controlled=True, found="at most alpha, exactly, for rows drawn independently"),
        pure=True,
        rows=True,
    ),
    "tables": Kind(
        check_tables,
        run_tables,
        Level(controlled=True, found="about alpha, with a null law that includes the noise"),
        numbers=False,
    ),
    "moments": Kind(
        check_tables,
        run_moments,
        Level(controlled=True, found="about alpha, with a null law that includes the noise"),
        numbers=False,
        level_given=Level(controlled=False, found=_MOMENTS),
        prepare=into_bins,
    ),
    "krr": Kind(check_krr, run_permuted, Level(controlled=False, found=_KRR), pure=True, rows=True),
    "gcm": Kind(check_gcm, run_gcm, Level(controlled=False, found=_GCM), rows=True),
}
"""Tests by name. Whatever stands here is audited."""

NAMES = ("auto", *TESTS)


def examine(
    data: object,
    x: str,
    y: str,
    given: Sequence[str] = (),
    *,
    domain: Domain,
    epsilon: float,
    delta: float | None = None,
    test: str = "auto",
    alpha: float = 0.05,
    missing: str = LEVEL,
    account: Account | str | None = None,
    engine_pull: bool = False,
    progress: Progress | None = None,
) -> Answer:
    """Say whether two columns are independent given others, under differential privacy.

    Parameters
    ----------
    data
        A path (CSV, TSV, Parquet, DuckDB), a table in memory, or one in an engine.
    x, y, given
        Columns; those that are not named are not read.
    domain
        What is public about the table. Never read from the data.
    epsilon, delta
        The total promise. Where no delta is named it is 1e-6, and less from a million rows on. Tests that need none
        (`permutation`, `krr`) promise 0 whatever is allowed.
    test
        ``"permutation"``: numbers, nothing given. ``"tables"``: categories and bins, up to two given. ``"moments"``:
        numbers among them. ``"krr"`` and ``"gcm"``: numbers given others, with a level that is not controlled.
        ``"auto"`` takes one of the first three.
    alpha
        Level: the share of independent columns that is called dependent. Fixed before anything is asked.
    missing
        ``"level"``: missing values are a level like any other. ``"leave-out"``: the test is about rows in which values
        are known, at no further cost; for `tables` and `moments`.
    account
        Where the run is recorded, and what limits it: an ``Account``, or a data set's name in the user's own ledger.
        Without one, what else was asked of these rows is not counted.
    engine_pull
        Load the rows of a server's table as codes, for what looks at rows; else they stay there, and are counted there.
    progress
        Called with a line of words at each step.

    Guarantee
    ---------
    The returned object is (epsilon, delta)-differentially private with respect to replacing any one row; or, if the
    domain names people, any one person with all their rows.

    Warns
    -----
    DoubtWarning
        If the test's level is not controlled, or the noise leaves little to be seen. Nothing was spent yet.

    Raises
    ------
    InputError
        If something handed in does not fit. Nothing was spent.
    BudgetError
        If the account's limit does not allow the run. Nothing was spent, and no rows were read.
    LedgerError
        If the ledger cannot be read or written. What was reserved before that stays spent.
    """
    check_domain(domain)
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise SettingError("given: a list of names")
    inquiry = Inquiry(x, y, tuple(given), alpha, missing)
    name = chosen(test, inquiry, domain)
    delta = 0.0 if delta is None and TESTS[name].pure else promised_delta(delta, domain.rows, progress)
    check_guarantee(epsilon, delta, domain.rows)  # also where a test promises no delta
    kind = TESTS[name]
    request = Request(
        command="test",
        method=name,
        epsilon=epsilon,
        delta=0.0 if kind.pure else delta,
        domain=domain,
        public={"columns": [x, y], "given": list(inquiry.given), "alpha": float(alpha)}
        | ({} if missing == LEVEL else {"missing": missing}),
        result=Answer,
        encode=lambda budget: check_inquiry(name, inquiry, domain, budget),
        run=lambda room: examine_in(room, inquiry, name),
        looks_at_rows=f"the test `{name}`" if kind.rows else None,
    )
    return Session(account=account, engine_pull=engine_pull, progress=progress).answer(data, request)


test_independence = examine
"""The public name."""

test_independence.__test__ = False  # type: ignore[attr-defined]  # it is none for pytest


def chosen(test: str, asked: Inquiry, domain: Domain) -> str:
    """Return the name of a test, with `auto` settled from public facts."""
    if test not in NAMES:
        raise SettingError(f"test: one of {', '.join(NAMES)}")
    if test != "auto":
        return test
    columns = [domain[name] for name in asked.columns]
    if not asked.given and all(isinstance(c, Numeric) and (c.bins, c.missing, c.other) == (None,) * 3 for c in columns):
        return "permutation"
    widest = domain.widest()
    if all(widest[name].tabulable for name in asked.columns):
        return "tables"
    return "moments"


def check_inquiry(name: str, asked: Inquiry, domain: Domain, budget: Budget) -> Domain:
    """Return the domain of the columns that are asked about, after refusing what the test cannot answer."""
    kind = TESTS[name]
    plain = between_bounds(domain) if kind.numbers else domain
    narrow = replace(domain, columns={c: plain[c] for c in asked.columns})
    if narrow.rows < LEAST_TEST_ROWS:
        raise SettingError(f"rows: a test takes at least {LEAST_TEST_ROWS}")
    if asked.missing == LEAVE_OUT and kind.numbers:
        raise SettingError(f"missing: `{name}` takes a value in every row; `tables` and `moments` can leave values out")
    narrow = kind.prepare(asked, narrow, budget)
    kind.check(asked, narrow, budget.currency)
    return narrow


def level_of(kind: Kind, asked: Inquiry, domain: Domain) -> Level:
    """Return what is promised of a test's level, from public facts."""
    numbers = any(isinstance(domain[name], Numeric) for name in asked.given)
    return kind.level_given if numbers and kind.level_given is not None else kind.level


def examine_in(room: Room, asked: Inquiry, test: str) -> Answer:
    """Test independence with all that is left of a room's budget."""
    budget = room.budget
    name = chosen(test, asked, room.domain)
    check_inquiry(name, asked, room.domain, budget)
    refuse_spent(budget)
    kind = TESTS[name]
    level = level_of(kind, asked, room.domain)
    if not level.controlled:
        warnings.warn(f"the level of `{name}` is not controlled: {level.found}", DoubtWarning, stacklevel=4)
    independent, p_value = kind.run(room, asked)
    privacy = Privacy.of(budget, room.domain, private=room.private)
    columns, rows = (asked.x, asked.y, asked.given), room.domain.rows
    gaps = sum(room.domain[column].missing is not None for column in asked.columns) > 1
    return Answer(*columns, name, float(asked.alpha), independent, p_value, level, privacy, rows, asked.missing, gaps)
